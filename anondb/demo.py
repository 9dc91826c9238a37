"""``anondb demo``: a small realistic shop, anonymized, published, and asked questions whose true answers are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from anondb.database import Database, connect
from anondb.engine import Table
from anondb.errors import EngineError, InputError
from anondb.models.km import KmAnonymity
from anondb.pipeline import Report

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


@dataclass(frozen=True)
class Answer:
    """A question to the release beside the truth."""

    items: tuple[str, ...]
    truth: int
    lower_bound: int
    estimate: float
    upper_bound: int


@dataclass(frozen=True)
class Story:
    """What the demo did: the owner's database, the sealed file, the report, and the answers."""

    database: Path
    sealed: Path
    report: Report
    answers: tuple[Answer, ...]

    def to_json(self) -> dict[str, Any]:
        """The story as JSON values."""
        return {
            "database": str(self.database),
            "sealed": str(self.sealed),
            "report": self.report.to_json(),
            "answers": [{**vars(a), "items": list(a.items)} for a in self.answers],
        }


def products(words: str) -> list[str]:
    """The products of a category: words, or the known names of several words."""
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


def baskets(seed: int = 1) -> list[tuple[int, str]]:
    """(tid, item) rows: each customer shops in a few favourite categories; a few products are rare."""
    draw = np.random.default_rng(seed)
    categories = [products(words) for department in SHOP.values() for words in department.values()]
    liking = draw.dirichlet(np.full(len(categories), 1.2), size=CUSTOMERS)
    rows = []
    for customer in range(CUSTOMERS):
        wanted = draw.poisson(2.2) + 1
        basket = set()
        for category in draw.choice(len(categories), size=wanted, p=liking[customer]):
            choices = categories[category]
            weights = 0.5 ** np.arange(len(choices))
            basket.add(choices[draw.choice(len(choices), p=weights / weights.sum())])
        rows += [(customer + 1, item) for item in sorted(basket)]
    return rows


def make_shop(database: Database) -> None:
    """Write the tables ``sales``, ``food`` (the taxonomy) and ``customers`` into the owner's database."""
    engine = database.engine
    draw = np.random.default_rng(2)
    rows, edges = baskets(), taxonomy_edges()
    towns = np.array(["Aarhus", "Bergen", "Cork", "Delft"], dtype=object)
    tables: dict[str, dict[str, tuple[str, Any]]] = {
        "sales": {"tid": ("INTEGER", [t for t, _ in rows]), "item": ("VARCHAR", [i for _, i in rows])},
        "food": {"node": ("VARCHAR", [n for n, _ in edges]), "parent": ("VARCHAR", [p for _, p in edges])},
        "customers": {
            "tid": ("INTEGER", np.arange(1, CUSTOMERS + 1)),
            "age": ("INTEGER", draw.integers(18, 91, CUSTOMERS)),
            "town": ("VARCHAR", towns[draw.integers(0, len(towns), CUSTOMERS)]),
        },
    }
    with engine.transaction():
        place = engine.query("release/current_place")
        for name, columns in tables.items():
            engine.put(Table(str(place["catalog_name"][0]), str(place["schema_name"][0]), name), columns)


def run_demo(
    directory: Path,
    *,
    on_statement: Callable[[str], None] | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Story:
    """Make the shop in ``directory``, release it with k=5 and m=2, seal it, and ask the sealed file.

    Raises:
        InputError: the directory has a shop already, or cannot be made.
    """
    owner, sealed = directory / "shop.duckdb", directory / "spring.duckdb"
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError(f"The directory {directory.name!r} cannot be made.", code="not_writable") from None
    if owner.exists() or sealed.exists():
        raise InputError(
            f"There is a shop in {directory.name!r} already.", code="target_exists", hint="Name another directory."
        )
    with connect(owner, on_statement=on_statement, on_progress=on_progress) as database:
        make_shop(database)
        release = database.anonymize(
            "sales", model=KmAnonymity(k=5, m=2), taxonomy="food", name="spring", publish=sealed
        )
        bought: dict[int, set[str]] = {}
        for customer, item in baskets():
            bought.setdefault(customer, set()).add(item)
    if release.report is None:
        raise EngineError("The demo made no report.")
    answers = []
    with duckdb.connect(str(sealed), read_only=True) as analyst:
        for items in QUESTIONS:
            found = analyst.execute("SELECT * FROM count_bounds($items)", {"items": list(items)}).fetchall()[0]
            truth = sum(set(items) <= basket for basket in bought.values())
            answers.append(Answer(items, truth, int(found[0]), float(found[1]), int(found[2])))
    return Story(owner, sealed, release.report, tuple(answers))
