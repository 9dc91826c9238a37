"""``anondb demo``: anonymize and publish a small realistic shop, and compare answers from the file with the truth."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from anondb.api.connect import connect
from anondb.api.database import Database
from anondb.engine.files import private_files, removed_after_error
from anondb.errors import EngineError, InputError
from anondb.models import AsJson
from anondb.models.transactional import KmAnonymity
from anondb.pipeline.reports import Report

CUSTOMERS = 3000
SHOP: dict[str, dict[str, str]] = {
    "fresh food": {
        "fruit": "apples bananas oranges pears grapes mangoes figs",
        "vegetables": "tomatoes potatoes carrots onions peppers fennel",
        "dairy": "milk butter yogurt cheddar brie goat cheese",
        "bakery": "bread rolls croissants rye bread",
    },
    "pantry": {
        "breakfast": "muesli cornflakes honey jam",
        "drinks": "coffee tea orange juice cola water",
        "sweets": "chocolate biscuits liquorice crisps",
        "cooking": "rice pasta olive oil flour saffron",
    },
    "household": {
        "cleaning": "detergent sponges bleach",
        "paper": "napkins kitchen roll toilet paper",
        "baby": "nappies baby food wipes",
    },
    "pharmacy": {
        "pain": "aspirin ibuprofen migraine tablets",
        "care": "toothpaste shampoo sun cream hand cream",
        "tests": "pregnancy test glucose test strips",
    },
}
TWO_WORDS = (
    *("goat cheese", "rye bread", "orange juice", "olive oil", "kitchen roll", "toilet paper", "baby food"),
    *("migraine tablets", "sun cream", "hand cream", "pregnancy test", "glucose test strips"),
)
QUESTIONS = (("milk",), ("milk", "bread"), ("coffee", "chocolate"), ("nappies", "wipes"), ("aspirin",), ("saffron",))
# What the three kinds of customers like: it decides, with some chance, whether a customer is young, has children, or is old.
TASTES = (("sweets", "drinks", "breakfast"), ("baby", "paper", "bakery"), ("pain", "care", "dairy", "vegetables"))
RELEASES = {"spring": False, "spring_supports": True}  # whether they have item supports


@dataclass(frozen=True)
class Answer:
    """The true answer to a question, and the bounds and estimate from the release."""

    items: tuple[str, ...]
    truth: int
    lower_bound: int
    estimate: float
    upper_bound: int


@dataclass(frozen=True)
class Published(AsJson):
    """A release of the demo: its sealed file, the report, and the answers from the file."""

    sealed: Path
    report: Report
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Story:
    """The results of the demo: the owner's database, and the same rows published without and with item supports."""

    database: Path
    plain: Published
    supported: Published

    def to_json(self) -> dict[str, Any]:
        """The results as JSON values."""
        return {"database": str(self.database), **self.plain.to_json(), "with_item_supports": self.supported.to_json()}


def products(words: str) -> list[str]:
    """Split the text of a category into products; names in ``TWO_WORDS`` stay together."""
    for name in TWO_WORDS:
        words = words.replace(name, name.replace(" ", "_"))
    return [word.replace("_", " ") for word in words.split()]


def taxonomy_edges() -> list[tuple[str, str | None]]:
    """The shop's taxonomy as (node, parent) rows."""
    edges: list[tuple[str, str | None]] = [("everything", None)]
    for department, categories in SHOP.items():
        edges.append((department, "everything"))
        for category, words in categories.items():
            edges.append((category, department))
            edges += [(product, category) for product in products(words)]
    return edges


@cache
def baskets(seed: int = 1) -> list[tuple[int, str]]:
    """Draw (tid, item) rows: each customer buys from a few favourite categories; a few products are rare."""
    draw = np.random.default_rng(seed)
    categories = [products(words) for department in SHOP.values() for words in department.values()]
    shares = [0.5 ** np.arange(len(choices)) for choices in categories]
    odds = [share / share.sum() for share in shares]
    liking = draw.dirichlet(np.full(len(categories), 1.2), size=CUSTOMERS)
    rows = []
    for customer in range(CUSTOMERS):
        picks = draw.poisson(2.2) + 1
        basket = set()
        for category in draw.choice(len(categories), size=picks, p=liking[customer]):
            choices = categories[category]
            basket.add(choices[draw.choice(len(choices), p=odds[category])])
        rows += [(customer + 1, item) for item in sorted(basket)]
    return rows


def customers(rows: list[tuple[int, str]]) -> dict[str, tuple[str, Any]]:
    """Draw age, sex, town and household (number of persons) of each customer, which agree with what the customer buys."""
    draw = np.random.default_rng(2)
    category = {item: name for of in SHOP.values() for name, words in of.items() for item in products(words)}
    bought = np.zeros((CUSTOMERS, len(TASTES)))
    for tid, item in rows:
        bought[tid - 1] += [category[item] in taste for taste in TASTES]
    odds = np.exp(3 * (bought - bought.max(axis=1, keepdims=True)))
    bounds = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    kind = (bounds[:, :-1] < draw.random((CUSTOMERS, 1))).sum(axis=1)
    age = draw.normal(np.array([26, 38, 66])[kind], np.array([5, 6, 8])[kind])
    household = draw.integers(np.array([1, 3, 1])[kind], np.array([3, 6, 3])[kind])
    town = draw.choice(np.array(["Cork", "Delft", "Bergen", "Aarhus"], dtype=object), CUSTOMERS, p=[0.4, 0.3, 0.2, 0.1])
    sex = draw.choice(np.array(["female", "male"], dtype=object), CUSTOMERS)
    return {
        "tid": ("INTEGER", np.arange(1, CUSTOMERS + 1)),
        "age": ("INTEGER", np.clip(np.rint(age), 18, 95).astype(np.int64)),
        "sex": ("VARCHAR", sex),
        "town": ("VARCHAR", town),
        "household": ("INTEGER", household),
    }


def make_shop(database: Database) -> None:
    """Write the tables ``sales``, ``food`` (the taxonomy) and ``customers`` into the owner's database."""
    engine = database.engine
    rows, edges = baskets(), taxonomy_edges()
    tables: dict[str, dict[str, tuple[str, Any]]] = {
        "sales": {"tid": ("INTEGER", [t for t, _ in rows]), "item": ("VARCHAR", [i for _, i in rows])},
        "food": {"node": ("VARCHAR", [n for n, _ in edges]), "parent": ("VARCHAR", [p for _, p in edges])},
        "customers": customers(rows),
    }
    with engine.transaction():
        for name, columns in tables.items():
            engine.put(engine.here(name), columns)


def run_demo(
    directory: Path, *, on_statement: Callable[[str], None] | None = None, on_progress: Callable[[str], None] | None = None
) -> Story:
    """Make the shop in ``directory``, publish it with k=5 and m=2 without and with item supports, and query both files.

    Raises:
        InputError: the directory already has a shop, or cannot be created.
    """
    owner, files = directory / "shop.duckdb", [directory / f"{name}.duckdb" for name in RELEASES]
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError(f"The directory {directory.name!r} cannot be created.", code="not_writable") from None
    if any(file.exists() for file in (owner, *files)):
        raise InputError(
            f"The directory {directory.name!r} already has a shop.", code="target_exists", hint="Name another directory."
        )
    published = []
    with (
        removed_after_error([owner, owner.with_name(f"{owner.name}.wal"), *files]),
        private_files(),
        connect(owner, on_statement=on_statement, on_progress=on_progress) as database,
    ):
        make_shop(database)
        for sealed, (name, item_supports) in zip(files, RELEASES.items(), strict=True):
            release = database.anonymize(
                "sales",
                model=KmAnonymity(k=5, m=2),
                taxonomy="food",
                name=name,
                item_supports=item_supports,
                publish=sealed,
                allow_overlap=item_supports,  # the second release is of the same persons as the first
            )
            if not isinstance(release.report, Report):
                raise EngineError("The demo made no report.")
            published.append(Published(sealed, release.report, _answers(sealed)))
    return Story(owner, *published)


def _answers(sealed: Path) -> tuple[Answer, ...]:
    """Ask a sealed file the questions, and count the truth."""
    bought: dict[int, set[str]] = {}
    for customer, item in baskets():
        bought.setdefault(customer, set()).add(item)
    answers = []
    with duckdb.connect(str(sealed), read_only=True) as analyst:
        for items in QUESTIONS:
            bounds = analyst.execute("SELECT * FROM count_bounds($items)", {"items": list(items)}).fetchall()[0]
            truth = sum(set(items) <= basket for basket in bought.values())
            answers.append(Answer(items, truth, int(bounds[0]), float(bounds[1]), int(bounds[2])))
    return tuple(answers)
