"""Releases of relational and transaction data: from random records to frozen rows, verified, asked, sealed."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import duckdb
import pytest
from reference_expected import expected_count
from reference_expected import expected_holders as naive_holders

from anondb.algorithms.relational import METHODS
from anondb.algorithms.relational.rt import relational
from anondb.data.records import Records, load_records
from anondb.data.sources import open_source
from anondb.data.taxonomy import from_edges
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import DuckDBEngine, Engine
from anondb.errors import InfeasibleError
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.promises.check import verify_release
from anondb.release.coded import CodedRelease
from anondb.release.freeze import drop_schema, freeze
from anondb.release.item_supports import expected_holders
from anondb.release.objects import SchemaName, release_schema
from anondb.release.publish import publish
from anondb.utility.local_accuracy import measure_local
from anondb.utility.relational import ExpectedEstimator, Original, RtEstimator, average_relative_error
from anondb.utility.workload import random_workload

ITEMS = ["p", "q", "r", "s", "t", "u", "it's", "z"]
TREE = from_edges(
    [("food", None), *(("ab"[i % 2], "food") for i in range(2)), *((x, "ab"[i % 2]) for i, x in enumerate(ITEMS[:7]))]
)
PLACES = from_edges([("all", None), ("north", "all"), ("south", "all"), ("a", "north"), ("b", "north"), ("c", "south")])


def draw(rng: random.Random) -> tuple[list[dict[str, Any]], list[set[str]]]:
    nulls = rng.random() < 0.5

    def value(known: list[Any]) -> Any:
        return None if nulls and rng.random() < 0.2 else rng.choice(known)

    share = rng.choice([0.2, 0.5])
    rows = [
        {
            "age": value([20, 21, 30, 44]),
            "size": value(["1.5", "2.25", "-3.0"]),
            "born": value(["2001-02-03", "2001-02-05", "1999-12-31"]),
            "place": value(["a", "b", "c"]),
            "col'or": value(["red", "green", "NULL"]),
        }
        for _ in range(rng.randint(4, 12))
    ]
    return rows, [{i for i in ITEMS if rng.random() < share} for _ in rows]


def put(engine: Engine, rows: list[dict[str, Any]], sets: list[set[str]]) -> None:
    kinds = {"age": "BIGINT", "size": "DECIMAL(9,2)", "born": "DATE", "place": "VARCHAR", "col'or": "VARCHAR"}
    columns: dict[str, Any] = {"tid": ("INTEGER", list(range(len(rows))))}
    for name in kinds:
        columns[name] = ("VARCHAR", [None if r[name] is None else str(r[name]) for r in rows])
    raw = engine.put("raw", columns)
    typed = ", ".join(f'CAST("{name}" AS {kind}) AS "{name}"' for name, kind in kinds.items())
    engine.call(lambda: engine.connection.execute(f"CREATE TEMP TABLE people AS SELECT tid, {typed} FROM {raw.sql()}"))
    pairs = [(t, i) for t, s in enumerate(sets) for i in sorted(s)]
    engine.call(lambda: engine.connection.execute("CREATE TEMP TABLE held (tid INTEGER, item VARCHAR)"))
    for pair in pairs:
        engine.call(lambda pair=pair: engine.connection.execute("INSERT INTO held VALUES (?, ?)", pair))  # type: ignore[misc]


def clear(engine: Engine, schema: SchemaName | None) -> None:
    with engine.transaction():
        if schema is not None:
            drop_schema(engine, schema)
    for table in ("people", "held"):
        engine.call(lambda table=table: engine.connection.execute(f"DROP TABLE temp.{table}"))  # type: ignore[misc]


def asked(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    conditions: dict[str, Any] = {}
    if rng.random() < 0.6:
        conditions["age"] = sorted(rng.choice([20, 20.5, 25, 30, 50]) for _ in range(2))
    if rng.random() < 0.3:
        conditions["size"] = rng.choice([[-3, 2], [1.5, 1.5], [None, 0], [2, 1]])
    if rng.random() < 0.3:
        conditions["born"] = rng.choice([["2000-01-01", None], ["2001-02-03", "2001-02-04"]])
    if rng.random() < 0.3:
        conditions["place"] = rng.sample(["a", "b", "c", "nowhere"], 2)
    if rng.random() < 0.3:
        conditions["col'or"] = rng.sample(["red", "NULL"], 1)
    return conditions, rng.sample([*ITEMS, "unheard"], rng.choice([0, 1, 1, 2, 3]))


def fits(row: dict[str, Any], conditions: dict[str, Any]) -> bool:
    for name, wanted in conditions.items():
        value = row[name]
        if value is None:
            return False
        if name in ("place", "col'or"):
            if value not in wanted:
                return False
            continue
        low, high = wanted
        exact: Any = value if name == "born" else Fraction(str(value))
        for end, sign in ((low, 1), (high, -1)):
            bound: Any = end if name == "born" or end is None else Fraction(str(end))
            if bound is not None and ((exact < bound) if sign > 0 else (exact > bound)):
                return False
    return True


def call(conditions: dict[str, Any], items: list[str]) -> str:
    def text(value: Any) -> str:
        if value is None:
            return "NULL"
        return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)

    def listed(name: str, values: list[Any]) -> str:
        kind = {"born": "::DATE[]"}.get(name, "")
        return "[" + ", ".join(map(text, values)) + "]" + kind

    parts = ["[" + ", ".join(map(text, items)) + "]::VARCHAR[]"]
    parts += [f'"{name}" := {listed(name, values)}' for name, values in conditions.items()]
    return f"FROM count_bounds({', '.join(parts)})"


def read(engine: Engine) -> tuple[Dataset, Records]:
    """The tables of ``put``, read by all quasi-identifiers."""
    with open_source(engine, "held", "transactions") as source, open_source(engine, "people", "records") as people:
        dataset = load_transactions(engine, source, more_ids=people)
    records = load_records(
        engine, "people", dataset, quasi_identifiers="age,size,born,place,col'or:categorical", hierarchies={"place": PLACES}
    )
    return dataset, records


@pytest.mark.slow
@pytest.mark.parametrize("number", [8, pytest.param(400, marks=pytest.mark.nightly)])
def test_every_algorithm_end_to_end(engine: Engine, number: int) -> None:
    """Verified, truthful, and every true count within its bounds, for each algorithm."""
    released = 0
    for seed in range(number):
        rng = random.Random(seed)
        rows, sets = draw(rng)
        algorithm = METHODS[seed % len(METHODS)].name
        k, m = rng.randint(1, 3), rng.choice([1, 2, inf])
        model = rng.choice([KkmAnonymity(k, m), KlmDiversity(k, rng.randint(1, 3), m)])
        sensitive = frozenset(["z"] if rng.random() < 0.7 else ["z", "p"])
        schema = release_schema("memory", "case")
        with engine.transaction():
            put(engine, rows, sets)
            dataset, records = read(engine)
            taxonomy = TREE if rng.random() < 0.4 and "z" in sensitive else None
            try:
                recoding = relational(
                    engine,
                    dataset,
                    records,
                    model,
                    algorithm,
                    delta=rng.choice([0.5, 0.8, 1]),
                    taxonomy=taxonomy,
                    sensitive=sensitive if not set(dataset.labels) <= sensitive else frozenset(),
                    infeasible=rng.choice(["suppress", "suppress", "merge"]),
                    subtrees=taxonomy is not None and rng.random() < 0.5,
                )
                frozen = freeze(engine, dataset, recoding, model, release_schema=schema)
            except InfeasibleError:
                frozen = None
            if frozen is not None:
                released += 1
                assert verify_release(engine, schema, model).verified, seed
                assert (frozen.suppression == "some") == bool(recoding.suppressed), seed
                workload = random_workload(engine, dataset, queries=5, size=2, seed=seed)
                coded, members = CodedRelease(engine, schema), schema.table("released_items")
                accuracy = measure_local(engine, dataset, coded.classes, coded.items, members, "set", workload)
                assert accuracy.outside == 0, seed
                engine.call(lambda: engine.connection.execute("USE memory.release_case"))
                try:
                    for _ in range(6):
                        conditions, items = asked(rng)
                        truth = sum(fits(r, conditions) and set(items) <= s for r, s in zip(rows, sets, strict=True))
                        text = call(conditions, items)
                        low, estimate, high = engine.call(
                            lambda text=text: engine.connection.execute(text).fetchall()  # type: ignore[misc]
                        )[0]
                        assert low <= truth <= high, (seed, text, low, truth, high)
                        assert low - 1e-9 <= estimate <= high + 1e-9, (seed, text)
                finally:
                    engine.call(lambda: engine.connection.execute("USE memory.main"))
        clear(engine, None if frozen is None else schema)
    assert released > number // 2


@pytest.mark.slow
def test_sealed(engine: Engine, tmp_path: Path) -> None:
    """A sealed file is asked and verified without the owner's database; its estimates are the expected numbers."""
    rng = random.Random(5)
    rows, sets = draw(rng)
    schema = release_schema("memory", "sealed")
    with engine.transaction():
        put(engine, rows, sets)
        with open_source(engine, "held", "transactions") as source, open_source(engine, "people", "records") as people:
            dataset = load_transactions(engine, source, more_ids=people)
        records = load_records(engine, "people", dataset, quasi_identifiers="age,place,col'or:categorical")
        recoding = relational(engine, dataset, records, KkmAnonymity(2, 2), "rum_bound_rt", delta=1)
        kind = freeze(engine, dataset, recoding, KkmAnonymity(2, 2), release_schema=schema).kind
        publish(engine, schema, tmp_path / "sealed.duckdb")
        original = Original.load(engine, dataset, records)
        estimator = RtEstimator(engine, dataset, records, recoding)
        queries = [*original.draw(1, 1, 10, seed=1), *original.draw(1, 2, 10, seed=1)]
        assert average_relative_error(original, estimator, queries) >= 0
        tables = {name: schema.table(name) for name in kind.tables}
        answering = ExpectedEstimator(engine, dataset, records, recoding, expected_holders(tables, local=kind.local))
        with duckdb.connect(str(tmp_path / "sealed.duckdb"), read_only=True) as reader:
            baskets = [items for (items,) in reader.execute("SELECT items FROM baskets").fetchall()]
            listed = "SELECT released_item, list(item ORDER BY item) FROM released_items GROUP BY released_item"
            members = dict(reader.execute(listed).fetchall())
            holders = naive_holders(baskets, members)
            for query in queries:
                conditions: dict[str, Any] = {}
                for i, code in query.values:
                    attribute = records.attributes[i]
                    value = attribute.values[code] if attribute.values else code
                    conditions[attribute.name] = [value] if attribute.values else [value, value]
                items = [dataset.labels[i] for i in query.items]
                low, estimate, high = reader.execute(call(conditions, items)).fetchall()[0]
                assert low <= original.count(query) <= high
                assert low <= estimate <= high
                assert answering.estimate(query) == pytest.approx(estimate)
                alone = reader.execute(call(conditions, [])).fetchall()[0][1]
                assert alone == pytest.approx(estimator.estimate(replace(query, items=())))
                expected = expected_count(baskets, members, items, holders)
                assert reader.execute(call({}, items)).fetchall()[0][1] == pytest.approx(expected, abs=1e-9)
            with pytest.raises(duckdb.Error, match="range"):
                reader.execute("FROM count_bounds([], age := [1])").fetchall()
            with pytest.raises(duckdb.Error, match="NULL"):
                reader.execute("FROM count_bounds(NULL)").fetchall()
        sealed = DuckDBEngine.open(tmp_path / "sealed.duckdb", read_only=True)
        with sealed.transaction():
            assert verify_release(sealed, SchemaName("sealed", "main"), KkmAnonymity(2, 2)).verified
            assert not verify_release(sealed, SchemaName("sealed", "main"), KkmAnonymity(100, 2)).verified
        sealed.close()
    clear(engine, schema)
