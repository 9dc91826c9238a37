"""The portable statements, the search and the verifier on other engines than DuckDB: the same rows, cuts and violations."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import reference as ref
import sqlglot
from portions import portions, some
from properties.trees import random_transactions, random_tree, taxonomy_of
from realdata import DATA, needs
from sqlglot import exp
from warehouse.warehouses import OnDataFusion, OnDuckDB, OnPostgres, OnSpark, OnSQLite, image_of

from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.mhghs import mhghs
from anondb.data.sources import open_source
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import load_transactions
from anondb.engine import DuckDBEngine, Origin, Query, Table, all_names, load, reads
from anondb.errors import BudgetExceeded, InfeasibleError, InputError
from anondb.models.transactional import KmAnonymity, TransactionalK
from anondb.pipeline.on_engine import EngineReport, anonymize_on
from anondb.utility import workload
from anondb.verify.km import verify_km
from anondb.warehouse.conformance import CHECKS, LABELS, STATEMENTS, conform, statements, table
from anondb.warehouse.duckdb import DuckDBWarehouse
from anondb.warehouse.loading import load_from
from anondb.warehouse.statements import text_in, tree_of

SPARK = pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.filterwarnings("ignore")])
DATAFUSION = pytest.param("datafusion", marks=pytest.mark.slow)
ENGINES = ["duckdb", "sqlite", DATAFUSION, "postgres", SPARK]
SPARK_LATER = pytest.param("spark", marks=[pytest.mark.nightly, pytest.mark.filterwarnings("ignore")])
MADE = {"duckdb": OnDuckDB, "sqlite": OnSQLite, "datafusion": OnDataFusion, "postgres": OnPostgres, "spark": OnSpark}
FIXTURES = {"duckdb": "tmp_path", "sqlite": "tmp_path", "datafusion": "tmp_path", "postgres": "sales", "spark": "spark"}


@pytest.fixture
def on(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Any]]:
    """Makes the engine of a name, or skips the test."""
    with contextlib.ExitStack() as stack:

        def made(name: str) -> Any:
            place = MADE[name](request.getfixturevalue(FIXTURES[name]))
            stack.callback(getattr(place, "close", lambda: None))
            return place

        yield made


# ---------------------------------------------------------------------- what each engine does


LATE = {("recodings", "datafusion"), ("recodings", "postgres"), ("statements", "sqlite"), ("statements", "postgres")}
"""Checks that take long are made of one engine in ``make test``."""
ON_ENGINES = [
    pytest.param(check, engine, id=f"{name}-{engine}", marks=[pytest.mark.slow] if (name, engine) in LATE else [])
    for name, check in ((check.__name__, check) for check in CHECKS)
    for engine in ("sqlite", "datafusion", "postgres")
]
FEW = {"seeds": range(1)}
FEW_ON_SPARK = {"statements": {"names": STATEMENTS[::6]}, "classes": FEW, "supports": FEW}
"""What ``make check`` takes of checks with hundreds of statements, which take Spark a quarter of a second each."""
LATER_ON_SPARK = {"ids", "recodings"}  # test_spark.py has releases that are those of DuckDB, and digests of odd ids
ON_SPARK = [
    pytest.param(partial(check, **few), "spark", id=f"{check.__name__}-{name}", marks=[*SPARK.marks, mark])
    for check in CHECKS
    for name, few, mark in (
        (
            "spark",
            FEW_ON_SPARK.get(check.__name__, {}),
            getattr(pytest.mark, "nightly" if check.__name__ in LATER_ON_SPARK else "slow"),
        ),
        ("all-spark", {}, pytest.mark.nightly),
    )
    if name == "spark" or check.__name__ in FEW_ON_SPARK
]


@pytest.mark.parametrize("check, engine", [*ON_ENGINES, *ON_SPARK])
def test_conforms(on: Callable[[str], Any], engine: str, check: Callable[[Any], None]) -> None:
    check(on(engine).warehouse)


@pytest.mark.parametrize("engine", ["sqlite", "datafusion", "postgres", SPARK])
def test_a_table_is_read_as_its_rows_are(on: Callable[[str], Any], engine: str) -> None:
    place = on(engine)
    source = place.source([(n % 40, label) for n, label in enumerate(LABELS * 5)])
    if engine != "spark":
        table(place.warehouse, (source, "tid", "item"))
    with place.warehouse.snapshot():
        dataset = load_from(place.warehouse, source, id_column="tid", item_column="item")
    assert dataset.labels == tuple(sorted(LABELS)) and dataset.n_transactions == 40


@pytest.mark.parametrize("engine", [*ENGINES[:-1], SPARK_LATER])
def test_queries_are_drawn_as_from_fetched_rows(
    on: Callable[[str], Any], duck: DuckDBEngine, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same supports, in each way of drawing them, whatever the numbers of persons are there."""
    rnd, place = random.Random(1), on(engine)
    pairs = [(n - 40, item) for n in rnd.sample(range(80), 80) for item in rnd.sample("abcdefghij", rnd.randint(1, 6))]
    sales = place.source(pairs)
    with place.warehouse.snapshot(), duck.transaction():
        there = load_from(place.warehouse, sales, id_column="tid", item_column="item")
        rows = pa.table({"tid": [t for t, _ in pairs], "item": [i for _, i in pairs]})
        with open_source(duck, rows, "rows") as source:
            here = load_transactions(duck, source)
        asked = replace(there, items=here.items, origin=Origin(place.warehouse, there.transactions, there.ids, list))
        for mass, acceptance, wanted in ((10**6, 0.02, 9), (1, 0.02, 300), (1, 0.02, 9), (1, 2.0, 9)):
            monkeypatch.setattr(workload, "SMALL_MASS", mass)
            monkeypatch.setattr(workload, "MIN_ACCEPTANCE", acceptance)
            drawn = []
            for dataset in (here, asked):
                made = workload.random_workload(duck, dataset, queries=wanted, size=3, pool=np.arange(1, 10), target="drawn")
                items = duck.select(reads.rows(made.queries, "query_id, item"))["item"]
                drawn.append((items.tolist(), list(made.supports)))
                duck.drop(made.queries)
            assert drawn[0] == drawn[1] and drawn[0][0], (mass, acceptance)


class Merges(DuckDBWarehouse):
    """Compares texts without their case."""

    def load(self, table: Table, kinds: Any, rows: Any) -> None:
        low = {c: [v.lower() if isinstance(v, str) else v for v in rows[c].to_pylist()] for c in rows.column_names}
        super().load(table, kinds, pa.table(low, schema=rows.schema))


class Loses(DuckDBWarehouse):
    """Returns no more than three rows."""

    def rows(self, query: Any, what: str) -> Any:
        return super().rows(query, what).slice(0, 3)


class Orders(DuckDBWarehouse):
    """Numbers persons in the order of their ids."""

    draw = "id"


class Leaves(DuckDBWarehouse):
    """Keeps work tables."""

    def sweep(self) -> None:
        pass


class Tells(DuckDBWarehouse):
    """Writes texts into a statement."""

    def load(self, table: Table, kinds: Any, rows: Any) -> None:
        super().load(table, kinds, rows)
        self.said(exp.select(*(exp.convert(v) for c in rows.columns for v in c.to_pylist())))


class Ignores(DuckDBWarehouse):
    """Knows no HAVING."""

    def said(self, statement: exp.Expr) -> str:
        made = statement.copy()
        for select in made.find_all(exp.Select):
            select.set("having", None)
        return super().said(made)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "failing"),
    some(
        [
            (Merges, {"statements", "texts", "ids"}),
            (Loses, {"statements", "texts", "ids", "refusals", "recodings"}),
            (Orders, {"ids"}),
            (Leaves, {"refusals"}),
            (Tells, {"texts"}),
            (Ignores, {"statements", "recodings", "classes"}),
        ],
        *((Orders, {"ids"}), (Tells, {"texts"})),
        check=(),
        ids=lambda case: case[0].__name__,
    ),
)
def test_what_does_not_conform_is_told(engine: Any, failing: set[str]) -> None:
    """By the name of a check, and without data."""
    failures = {name: failure for name, failure, _ in conform(engine()) if failure}
    assert failing <= set(failures), failures
    assert engine not in (Orders, Tells) or set(failures) == failing


DIALECTS = ["snowflake", "bigquery", "databricks", "trino", "clickhouse"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_statements_are_rendered_for_other_warehouses(dialect: str) -> None:
    """They are parsed again there to the same text."""
    for name in STATEMENTS:
        tables = {read: Table("", "", read) for read in load(name).reads}
        text = text_in(dialect, load(name).bind(tables, dict.fromkeys(load(name).params, 2)))
        assert sqlglot.parse_one(text, dialect=dialect).sql(dialect=dialect) == text, name


class Rendered(DuckDBWarehouse):
    """DuckDB, which runs what another dialect's text says when it is translated back."""

    def __init__(self, dialect: str) -> None:
        super().__init__()
        self.read_back = lambda query: sqlglot.parse_one(text_in(dialect, query), dialect=dialect)

    def create(self, target: str, name: Any, tables: Any = None, **values: Any) -> Table:
        return super().create(target, self.read_back(tree_of(name, tables, values)))

    def rows(self, query: exp.Query, what: str) -> pa.Table:
        return super().rows(self.read_back(query), what)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", some(DIALECTS, "snowflake", "bigquery", check=()))
def test_rendered_statements_return_the_same_rows(dialect: str) -> None:
    statements(Rendered(dialect))


# ---------------------------------------------------------------------- search and verifier


def naive_image(transactions: Sequence[Sequence[str]], tree: Any, k: int, m: int, algorithm: str) -> dict[str, str | None]:
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


@pytest.mark.parametrize("engine", ["duckdb"])
@pytest.mark.parametrize("seeds", portions(3, 9, 600))
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


@pytest.mark.parametrize("engine", ["duckdb"])
@pytest.mark.parametrize("seeds", portions(5, 16, 1200, first=5000))
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


# ---------------------------------------------------------------------- limits and refusals


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


@pytest.mark.parametrize("engine", [*ENGINES[:-1], SPARK_LATER])
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
    if isinstance(given, Query):
        return names_in(given.what.removeprefix("query "))
    if isinstance(given, dict | tuple):
        return {n for value in (given.values() if isinstance(given, dict) else given) for n in names_in(value)}
    return {given} & set(all_names()) if isinstance(given, str) else set()


@pytest.mark.slow
def test_a_run_with_pairs_uses_few_statements(on: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine named statements serve m = 2, and all are portable."""
    place, used = on("duckdb"), set[str]()
    for method in ("create", "fetch"):
        run = getattr(place.warehouse, method)
        monkeypatch.setattr(place.warehouse, method, lambda *a, _run=run, **v: (used.update(names_in(a)), _run(*a, **v))[1])
    for seed in range(3):
        rnd = random.Random(seed)
        tree = random_tree(rnd, 14)
        transactions = [rnd.sample(ref.leaves(*tree), rnd.randint(0, len(ref.leaves(*tree)))) for _ in range(60)]
        anonymized(place, transactions, taxonomy_of(*tree), model=KmAnonymity(5, 2))
    assert len(used) == 9 and used <= set(STATEMENTS)


# ---------------------------------------------------------------------- real data

REAL = {"bms1": "1790569/496", "bms2": "24169072/3339", "t10i4d100k": "4418960/869"}
FETCHED = {"bms1": 40_000, "bms2": 120_000, "t10i4d100k": 400_000}  # rows, at most
QUICK = ("sqlite", "datafusion")
ON_REAL = [
    *(pytest.param(engine, "bms1", marks=pytest.mark.slow) for engine in QUICK),
    *(
        pytest.param(engine, data, marks=pytest.mark.nightly)
        for engine in ("duckdb", *QUICK, "postgres", "spark")
        for data in REAL
        if (data, engine in QUICK) != ("bms1", True)
    ),
]


@pytest.mark.filterwarnings("ignore")
@needs(*(f"{data}.{ending}" for data in REAL for ending in ("dat", "f5.tree")))
@pytest.mark.parametrize(("engine", "data"), ON_REAL)
def test_real_data(on: Callable[[str], Any], duck: Any, engine: str, data: str) -> None:
    """The published information loss, item by item the recoding of arrays in DuckDB, and few rows fetched."""
    taxonomy = load_taxonomy(duck, DATA / f"{data}.f5.tree")
    model = KmAnonymity(5, 2)
    with duck.transaction():
        with open_source(duck, DATA / f"{data}.dat", "transactions") as source:
            dataset = load_transactions(duck, source)
        known = mhghs(duck, dataset, taxonomy, model)
    expected = {
        label: known.labels[n] if n >= 0 else None for label, n in zip(dataset.labels, known.image.tolist(), strict=True)
    }
    place = on(engine)
    report = anonymize_on(place.warehouse, place.source(pairs_of(data)), taxonomy=taxonomy, model=model)
    assert str(report.loss.lm_total) == REAL[data]
    assert image_of(report) == expected
    assert report.fetched <= FETCHED[data]


def pairs_of(data: str, times: int = 1) -> list[tuple[int, str]]:
    lines = [sorted(set(line.split())) for line in (DATA / f"{data}.dat").read_text("utf-8").splitlines()]
    return [(n + copy * len(lines), item) for copy in range(times) for n, items in enumerate(lines, 1) for item in items]


@pytest.mark.nightly
@needs("bms1.dat", "bms1.f5.tree")
@pytest.mark.parametrize("engine", ENGINES[1:])
def test_what_is_fetched_does_not_follow_the_persons(on: Callable[[str], Any], duck: Any, engine: str) -> None:
    """bms1 ten times over under other ids, with ten times k."""
    place = on(engine)
    taxonomy = load_taxonomy(duck, DATA / "bms1.f5.tree")
    report = anonymize_on(place.warehouse, place.source(pairs_of("bms1", 10)), taxonomy=taxonomy, model=KmAnonymity(50, 2))
    assert report.loss.lm_total == 10 * Fraction(REAL["bms1"])
    assert report.fetched <= 40_000
