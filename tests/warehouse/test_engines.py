"""The portable statements, the search and the verifier on other engines than DuckDB: the same rows, cuts and violations."""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import reference as ref
from portions import portions
from properties.trees import random_transactions, random_tree, taxonomy_of
from realdata import DATA, needs
from warehouse.warehouses import OnDuckDB, OnPostgres, OnSpark, image_of, kind_of, put, rows_of, selected

from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.mhghs import mhghs
from anondb.data.sources import open_source
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import load_transactions
from anondb.engine import NamedRows, all_names, load
from anondb.errors import BudgetExceeded, InfeasibleError, InputError
from anondb.models.km import KmAnonymity
from anondb.models.transactional import TransactionalK
from anondb.pipeline.on_engine import EngineReport, anonymize_on
from anondb.release.item_supports import SupportRule, item_supports
from anondb.verify.classes import classes_of, verify_k, verify_k_on
from anondb.verify.item_supports import verify_item_supports
from anondb.verify.km import verify_km

STATEMENTS = [
    n for n in all_names() if n.startswith("warehouse/") and not n.startswith(("warehouse/spark/", "warehouse/plain/"))
]
SPARK = pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.filterwarnings("ignore")])
ENGINES = ["duckdb", "postgres", SPARK]
OTHERS = ENGINES[1:]
VALUES = {
    "k": 3,
    "least": 2,
    "low": 1,
    "high": 3,
    "first_from": 0,
    "first_to": 2,
    "most": 2,
    "chunk": 3,
    "how_many": 4,
    "step": 1,
}


@pytest.fixture
def on(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Any]]:
    """Makes the engine of a name, or skips the test."""
    with contextlib.ExitStack() as stack:

        def made(name: str) -> Any:
            if name == "duckdb":
                return OnDuckDB(request.getfixturevalue("duck"))
            if name == "spark":
                return OnSpark(request.getfixturevalue("spark"))
            place = OnPostgres(request.getfixturevalue("sales"))
            stack.callback(place.server.close)
            return place

        yield made


# ---------------------------------------------------------------------- each statement


def random_rows(rnd: random.Random, query: str, table: str) -> list[tuple[Any, ...]]:
    """Rows of small numbers and short texts, at most one for each combination of all columns but the support."""
    columns = load(query).reads[table]
    texts = ["a", "b", "B", "é", " a", "a ", "\\", "'", '"', "\n", "\U0001f600", ""]
    keys = [c for c in columns if c not in ("support", "last", "label", "n", "copies", "at_least", "at_most", "weight")]
    rows = {}
    for _ in range(rnd.choice([0, 1, 5, 12, 12])):
        row = {c: rnd.choice(texts) if kind_of(query, table, c) == "VARCHAR" else rnd.randint(0, 4) for c in columns}
        if query == "warehouse/load/checks" and rnd.random() < 0.3:
            row[rnd.choice(columns)] = None
        rows[tuple(row[c] for c in keys)] = tuple(row.values())
    if columns == ("item", "label"):  # of a dictionary, both are unique
        rows = {label: (n, label) for n, (_, label) in enumerate({r[1]: r for r in rows.values()}.values())}
    return list(rows.values())


@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize("query", STATEMENTS)
def test_each_statement_returns_what_duckdb_returns(on: Callable[[str], Any], engine: str, query: str) -> None:
    pair = [on("duckdb").warehouse, on(engine).warehouse]
    values = {p: VALUES.get(p, 2) for p in load(query).params}
    for seed in range(1 if engine == "spark" else 2):
        rnd = random.Random(f"{query} {seed}")
        rows = {table: random_rows(rnd, query, table) for table in load(query).reads}
        found = []
        for warehouse in pair:
            with warehouse.snapshot():
                tables = {table: put(warehouse, query, table, content) for table, content in rows.items()}
                found.append(rows_of(warehouse.fetch(load(query).bind(tables, values), most=1000)))
                if seed == 0 and (engine != "spark" or query == "warehouse/threats/extended"):
                    made = warehouse.create("result", query, tables, **values)
                    assert rows_of(warehouse.fetch(selected(made, *load(query).returns), most=1000)) == found[-1]
        assert found[0] == found[1]


# ---------------------------------------------------------------------- search and verifier


def naive_image(
    transactions: Sequence[Sequence[str]], tree: Any, k: int, m: int, algorithm: str
) -> dict[str, str | None]:
    """The image of each item by the naive reference."""
    result = ref.hghs(*tree, transactions, k, m) if algorithm == "hghs" else ref.mhghs(*tree, transactions, k, m)[-1]
    image = {}
    for item in sorted({i for t in transactions for i in t}):
        (node,) = set(ref.ancestors(tree[0], item)) & set(result.cut)
        image[item] = None if node in result.suppressed else node
    return image


def anonymized(on_engine: Any, transactions: Sequence[Sequence[str]], taxonomy: Any, **arguments: Any) -> EngineReport:
    pairs = [(tid, item) for tid, t in enumerate(transactions, 1) for item in t]
    arguments = {"max_suppression": Fraction(100), **arguments}
    return anonymize_on(on_engine.warehouse, on_engine.source(pairs), taxonomy=taxonomy, **arguments)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seeds", portions(3, 24, 600))
def test_random_cases(on: Callable[[str], Any], engine: str, seeds: range) -> None:
    """The recoding is that of the naive reference, and its rows have no violation."""
    place = on(engine)
    for seed in seeds[:1] if engine == "spark" else seeds:
        rnd = random.Random(seed)
        tree = random_tree(rnd, 10)
        transactions, taxonomy = random_transactions(rnd, ref.leaves(*tree)), taxonomy_of(*tree)
        k, m, algorithm = rnd.randint(1, 4), rnd.randint(1, 4), rnd.choice(["hghs", "mhghs"])
        report = anonymized(place, transactions, taxonomy, model=KmAnonymity(k, m), algorithm=algorithm)
        assert image_of(report) == naive_image(transactions, tree, k, m, algorithm)
        assert report.verification.verified and report.dataset.n_transactions == sum(map(bool, transactions))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seeds", portions(5, 48, 1200, first=5000))
def test_violations_of_random_rows(on: Callable[[str], Any], engine: str, seeds: range) -> None:
    """The number of minimal threats, in rows that keep no promise."""
    warehouse = on(engine).warehouse
    for seed in seeds[:1] if engine == "spark" else seeds:
        rnd = random.Random(seed)
        items = range(rnd.randint(1, 6))
        transactions = [[str(i) for i in items if rnd.random() < 0.5] for _ in range(rnd.randint(0, 14))]
        k, m = rnd.randint(2, 4), rnd.randint(1, 5)
        pairs = [(tid, int(i)) for tid, t in enumerate(transactions) for i in t]
        columns = {"tid": ("INTEGER", [t for t, _ in pairs]), "item": ("INTEGER", [i for _, i in pairs])}
        with warehouse.snapshot():
            rows = warehouse.put("rows", columns)
            items_table = warehouse.put("names", {"item": ("INTEGER", [0]), "label": ("VARCHAR", ["a"])})
            found = verify_km(warehouse, rows, items_table, KmAnonymity(k, m))
            assert found.violations == len(ref.minimal_threats(transactions, k, m))
            for refused in ({"model": KmAnonymity(k, float("inf"))}, {"model": KmAnonymity(k, m), "witnesses": 1}):
                with pytest.raises(InputError, match="only DuckDB runs"):
                    verify_km(warehouse, rows, items_table, **refused)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seeds", portions(2, 36, 800, first=9000))
def test_small_classes(on: Callable[[str], Any], engine: str, seeds: range) -> None:
    """The classes of equal transactions with fewer than k members: as many as a counter has, and as lists give."""
    warehouse = on(engine).warehouse
    for seed in seeds[:1] if engine == "spark" else seeds:
        rnd = random.Random(seed)
        items = range(rnd.randint(1, 12))
        kinds = [frozenset((i, rnd.randint(1, 2)) for i in items if rnd.random() < 0.6) for _ in range(5)]
        drawn = [(rnd.choice(kinds), rnd.random() < 0.8) for _ in range(rnd.randint(0, 25))]
        k = rnd.randint(1, 5)
        rows = [(tid, i, n) for tid, (held, _) in enumerate(drawn, 3) for i, n in held]
        columns = {c: ("INTEGER", [row[p] for row in rows]) for p, c in enumerate(("tid", "item", "copies"))}
        ids = {"tid": range(3, 3 + len(drawn)), "complete": [int(whole) for _, whole in drawn]}
        with warehouse.snapshot():
            tables = [warehouse.put("rows", columns), warehouse.put("ids", {c: ("INTEGER", v) for c, v in ids.items()})]
            assert verify_k_on(warehouse, *tables, k) == sum(n < k for n in Counter(drawn).values())
            if engine == "duckdb":
                lists = classes_of(warehouse._engine, *tables)
                assert (
                    verify_k_on(warehouse, *tables, k)
                    == verify_k(warehouse._engine, lists, tables[0], TransactionalK(k)).violations
                )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seeds", portions(2, 36, 800, first=7000))
def test_item_supports(on: Callable[[str], Any], engine: str, seeds: range) -> None:
    """The item supports of random rows are those of DuckDB, row by row; the verifier accepts them, but not others."""
    pair = [on("duckdb").warehouse, on(engine).warehouse]
    for seed in seeds[:1] if engine == "spark" else seeds:
        rnd = random.Random(seed)
        k, m = rnd.randint(1, 4), rnd.choice([1, 2, 3, None])
        members = {f"U{n}": [f"{chr(97 + n)}{i}é" for i in range(rnd.randint(1, 4))] for n in range(rnd.randint(1, 4))}
        originals = [{i for below in members.values() for i in below if rnd.random() < 0.4} for _ in range(30)]
        made, judged, wrong = zip(*(supports_in(w, members, originals, k, m, seed) for w in pair), strict=True)
        assert made[0] == made[1] and judged == (0, 0) and wrong[0] == wrong[1]
        assert wrong[0] or not any(row[0] for row in made[0])


def supports_in(
    warehouse: Any, below: dict[str, list[str]], originals: Sequence[set[str]], k: int, m: int | None, seed: int
) -> tuple[list[tuple[Any, ...]], int, int]:
    """The item supports of a release of these originals, and their violations, as they are and when they are changed."""
    labels, items = sorted(below), sorted(i for inside in below.values() for i in inside)
    shown = [(t, n) for t, o in enumerate(originals) for n, u in enumerate(labels) if o & set(below[u])]
    pairs = [(u, i) for u in labels for i in below[u]]

    def put_rows(name: str, kinds: dict[str, str], rows: Sequence[Sequence[Any]]) -> Any:
        return warehouse.put(name, {c: (kind, [row[p] for row in rows]) for p, (c, kind) in enumerate(kinds.items())})

    with warehouse.snapshot():
        texts = {"released_item": "VARCHAR", "item": "VARCHAR"}
        released = put_rows("members", texts, pairs)
        rows = put_rows("shown", {"transaction_id": "INTEGER", "item_id": "INTEGER"}, shown)
        names = put_rows("labels", {"item_id": "INTEGER", "item": "VARCHAR"}, list(enumerate(labels)))
        counts = NamedRows("warehouse/release/label_counts", {"transaction_items": rows, "labels": names}, {})
        counted = [(i, sum(i in o for o in originals)) for i in items]
        known = put_rows("known", {"label": "VARCHAR", "n": "BIGINT"}, counted)
        members = {"held": known, "released_items": released, "supports": counts}
        holders = NamedRows("warehouse/release/item_holders", members, {})
        columns = item_supports(warehouse, holders, SupportRule(k, m))
        made = list(zip(*(np.asarray(v).tolist() for _, v in columns.values()), strict=True))
        coded = put_rows("coded", {"tid": "INTEGER", "item": "INTEGER"}, shown)
        names = put_rows("names", {"item": "INTEGER", "label": "VARCHAR"}, list(enumerate(labels)))

        def violations(table: dict[str, tuple[str, Any]]) -> int:
            written = warehouse.put("written", table)
            count = verify_item_supports(warehouse, coded, names, released, written, k, m)
            warehouse.drop(written)
            return count

        change = random.Random(seed)
        column = change.choice(["at_least", "at_most", "weight"])
        kind, values = columns[column]
        off = {**columns, column: (kind, [v + change.choice([-2, -1, 1, 2]) for v in np.asarray(values).tolist()])}
        return made, violations(columns), violations(off)


LABELS = [
    "'",
    '"',
    "''",
    "\\",
    "\\n",
    "\n",
    "a",
    "A",
    "a ",
    " a",
    "a\t",
    "é",
    "e\u0301",
    "\U0001f600",
    "%",
    "NULL",
    "$1",
    "ß",
    "ss",
    "{}",
    "--",
    "",
]


@pytest.mark.parametrize("engine", ENGINES)
def test_labels_stay_what_they_are(on: Callable[[str], Any], engine: str) -> None:
    """Items that differ by case, blanks or marks stay distinct, and stand in no statement."""
    place = on(engine)
    taxonomy = taxonomy_of({"root": LABELS}, "root")
    transactions = [[label, LABELS[n - 1]] for n, label in enumerate(LABELS)] * 2 + [[label] for label in LABELS]
    report = anonymized(place, transactions, taxonomy, model=KmAnonymity(2, 2))
    assert report.dataset.labels == tuple(sorted(LABELS))
    assert report.dataset.supports.tolist() == [5] * len(LABELS)
    assert image_of(report) == {label: label for label in LABELS}
    assert place.texts and not [t for t in place.texts if "é" in t or "\U0001f600" in t or "a\t" in t]


# ---------------------------------------------------------------------- limits and refusals


@pytest.mark.parametrize("engine", ENGINES)
def test_no_more_rows_are_fetched_than_stated(on: Callable[[str], Any], engine: str) -> None:
    warehouse = on(engine).warehouse
    with warehouse.snapshot():
        rows = warehouse.put("rows", {"n": ("INTEGER", range(5))})
        assert rows_of(warehouse.fetch(selected(rows, "n"), most=5)) == [(n,) for n in range(5)]
        before = warehouse.fetched
        with pytest.raises(BudgetExceeded, match="more than 4 rows"):
            warehouse.fetch(selected(rows, "n"), most=4)
        assert warehouse.fetched - before <= 5


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_refused(on: Callable[[str], Any], engine: str) -> None:
    place = on(engine)
    taxonomy, model = taxonomy_of({"r": ["a", "b"]}, "r"), KmAnonymity(2, 2)
    for pairs, code in (([(None, "a")], "null_id"), ([(1, None)], "null_item"), ([(1, "c")], "unknown_item")):
        with pytest.raises(InputError) as caught:
            anonymize_on(place.warehouse, place.source(pairs), taxonomy=taxonomy, model=model)
        assert caught.value.code == code
    source = place.source([(1, "a")])
    with pytest.raises(InfeasibleError):
        anonymize_on(place.warehouse, source, taxonomy=taxonomy, model=model)
    for wrong in ({"model": TransactionalK(2)}, {"model": KmAnonymity(2, float("inf"))}, {"algorithm": "apriori"}):
        with pytest.raises(InputError) as caught:
            anonymize_on(place.warehouse, source, **{"taxonomy": taxonomy, "model": model, **wrong})
        assert caught.value.code == "not_on_engine"
    with pytest.raises(InputError):
        anonymize_on(place.warehouse, source, taxonomy=taxonomy, model=model, item_column="nothing")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_long_join_is_refused_before_it_runs(
    on: Callable[[str], Any], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = on(engine)
    monkeypatch.setattr(budget, "MAX_PAIR_ROWS", 3)
    monkeypatch.setattr(place.warehouse, "worker_bytes", 0, raising=False)
    with pytest.raises(BudgetExceeded, match="a join of about"):
        anonymized(place, [["a", "b"]] * 4, taxonomy_of({"r": ["a", "b"]}, "r"), model=KmAnonymity(2, 2))


def names_in(given: Any) -> set[str]:
    """The names of the queries among the arguments of a call, nested ones included."""
    if isinstance(given, NamedRows):
        return {given.name} | names_in(given.tables)
    if isinstance(given, dict | tuple):
        return {n for value in (given.values() if isinstance(given, dict) else given) for n in names_in(value)}
    return {given} & set(all_names()) if isinstance(given, str) else set()


def test_a_run_with_pairs_uses_few_statements(on: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten named statements serve m = 2, and all are portable."""
    place, used = on("duckdb"), set[str]()
    for method in ("create", "fetch"):
        run = getattr(place.warehouse, method)
        monkeypatch.setattr(
            place.warehouse, method, lambda *a, _run=run, **v: (used.update(names_in(a)), _run(*a, **v))[1]
        )
    for seed in range(3):
        rnd = random.Random(seed)
        tree = random_tree(rnd, 14)
        transactions = [rnd.sample(ref.leaves(*tree), rnd.randint(0, len(ref.leaves(*tree)))) for _ in range(60)]
        anonymized(place, transactions, taxonomy_of(*tree), model=KmAnonymity(5, 2))
    assert len(used) == 10 and used <= set(STATEMENTS)


# ---------------------------------------------------------------------- real data

REAL = [("bms1", "1790569/496"), ("bms2", "24169072/3339")]


@pytest.mark.nightly
@needs("bms1.dat", "bms1.f5.tree", "bms2.dat", "bms2.f5.tree")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("data", "total"), REAL)
def test_real_data(on: Callable[[str], Any], duck: Any, engine: str, data: str, total: str) -> None:
    """The published information loss, item by item the recoding of arrays in DuckDB, and few rows fetched."""
    taxonomy = load_taxonomy(duck, DATA / f"{data}.f5.tree")
    model = KmAnonymity(5, 2)
    with duck.transaction():
        with open_source(duck, DATA / f"{data}.dat", "transactions") as source:
            dataset = load_transactions(duck, source, id_column="tid", item_column="item")
        known = mhghs(duck, dataset, taxonomy, model)
    expected = {
        label: known.labels[n] if n >= 0 else None
        for label, n in zip(dataset.labels, known.image.tolist(), strict=True)
    }
    place = on(engine)
    report = anonymize_on(place.warehouse, place.source(pairs_of(data)), taxonomy=taxonomy, model=model)
    assert str(report.loss.lm_total) == total
    assert image_of(report) == expected
    assert report.fetched <= {"bms1": 40_000, "bms2": 120_000}[data]


def pairs_of(data: str, times: int = 1) -> list[tuple[int, str]]:
    lines = [sorted(set(line.split())) for line in (DATA / f"{data}.dat").read_text("utf-8").splitlines()]
    return [
        (n + copy * len(lines), item) for copy in range(times) for n, items in enumerate(lines, 1) for item in items
    ]


@pytest.mark.nightly
@needs("bms1.dat", "bms1.f5.tree")
@pytest.mark.parametrize("engine", OTHERS)
def test_what_is_fetched_does_not_follow_the_persons(on: Callable[[str], Any], duck: Any, engine: str) -> None:
    """bms1 ten times over under other ids, with ten times k."""
    place = on(engine)
    taxonomy = load_taxonomy(duck, DATA / "bms1.f5.tree")
    report = anonymize_on(
        place.warehouse, place.source(pairs_of("bms1", 10)), taxonomy=taxonomy, model=KmAnonymity(50, 2)
    )
    assert report.loss.lm_total == 10 * Fraction(REAL[0][1])
    assert report.fetched <= 40_000
