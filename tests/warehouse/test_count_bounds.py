"""``count_bounds`` returns the same in DuckDB, PostgreSQL and Spark."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from portions import portions
from postgres.databases import make
from postgres.server import Server
from properties.trees import taxonomy_of
from sqlglot import exp

import anondb
from anondb.engine import DuckDBEngine, load
from anondb.warehouse.spark.release import bounds_of


def random_release(rnd: random.Random, duck: DuckDBEngine) -> tuple[dict[str, Any], list[str]]:
    """The tables of a release of sets, as they may be, and the items that it stands for."""
    blocks = [[f"{b}{n}" for n in range(rnd.randint(1, 4))] for b in "abcde"[: rnd.randint(0, 5)]]
    occurring = [n for n in range(len(blocks)) if rnd.random() < 0.8]
    persons = rnd.randint(0, 9)
    rows = [(t, n) for t in range(persons) for n in occurring if rnd.random() < 0.5]
    members = [(f"block {n}", item) for n in occurring for item in blocks[n]]
    columns: dict[str, dict[str, tuple[str, list[Any]]]] = {
        "transaction_items": {
            "transaction_id": ("INTEGER", [t for t, _ in rows]),
            "item_id": ("INTEGER", [n for _, n in rows]),
        },
        "transaction_ids": {"transaction_id": ("INTEGER", list(range(persons)))},
        "labels": {"item_id": ("INTEGER", occurring), "item": ("VARCHAR", [f"block {n}" for n in occurring])},
        "released_items": {
            "released_item": ("VARCHAR", [m[0] for m in members]),
            "item": ("VARCHAR", [m[1] for m in members]),
        },
        "manifest": {"key": ("VARCHAR", ["suppression"]), "value": ("VARCHAR", [rnd.choice(["some", "none"])])},
        "checked": {"passed": ("BOOLEAN", [True])},
    }
    made: dict[str, Any] = {name: duck.put(f"random_{name}", parts) for name, parts in columns.items()}
    return made, [item for block in blocks for item in block]


def supported_release(rnd: random.Random, duck: DuckDBEngine) -> tuple[dict[str, Any], list[str]]:
    """A random release with item supports of random bounds for some of its released items."""
    made, items = random_release(rnd, duck)
    members = duck.fetch(load("answers/members").bind({**_none(made), **made_of(made, "answers/members")}, {}), most=99)
    listed = list(zip(*(members[c].tolist() for c in ("name", "item", "support")), strict=True))
    names = [name for name, _, _ in listed]
    with_bounds = {name for name in names if names.count(name) > 1 and rnd.random() < 0.8}
    rows = []
    for name, item, support in listed:
        low, high = sorted((rnd.randint(0, support), rnd.randint(1, support)))
        rows += [(name, item, low, high)] if name in with_bounds else []
    kinds = {"released_item": "VARCHAR", "item": "VARCHAR", "at_least": "BIGINT", "at_most": "BIGINT"}
    columns = {c: (kind, [row[n] for row in rows]) for n, (c, kind) in enumerate(kinds.items())}
    made["item_supports"] = duck.put("random_supports", columns)
    return made, items


def _none(tables: dict[str, Any]) -> dict[str, Any]:
    """The table of item supports of a release that has none."""
    return {"item_supports": load("release/no_item_supports").bind({"released_items": tables["released_items"]}, {})}


def made_of(tables: dict[str, Any], query: str) -> dict[str, Any]:
    """The tables that a query reads."""
    return {name: table for name, table in tables.items() if name in load(query).reads}


def of_macro(tables: dict[str, Any], items: exp.Expr) -> exp.Query:
    """The body of the macro of a sealed file, from its parts."""
    known = {**_none(tables), **tables, "wanted": load("release/wanted_items").bind({}, {"items": items})}
    parts = {
        "asked": "asked_labels",
        "middles": "middles",
        "expected": "expected_local",  # which holds of a global recoding, too
        "weighted": "weighted_members",
        "blocks": "supported_blocks",
        "answer": "count_bounds",
    }
    for part, query in parts.items():
        known[part] = load(f"release/{query}").bind(made_of(known, f"release/{query}"), {})
    return known["answer"]


@pytest.mark.slow
@pytest.mark.parametrize("supported", [False, True], ids=["rows", "supports"])
@pytest.mark.parametrize("seeds", portions(3, night=1000))
def test_all_bodies_agree(duck: DuckDBEngine, seeds: range, supported: bool) -> None:
    """The bodies of Spark, and of Snowflake and BigQuery, run in DuckDB, and the macro of a sealed file."""
    for seed in seeds:
        rnd = random.Random(seed)
        with duck.transaction():
            tables, items = (supported_release if supported else random_release)(rnd, duck)
            for _ in range(3):
                asked = rnd.sample([*items, "x", "y"], rnd.randint(0, min(5, len(items) + 2)))
                asked += asked[:1] if rnd.random() < 0.2 else []
                listed = exp.cast(exp.Array(expressions=[*map(exp.convert, asked)]), "TEXT[]", dialect="duckdb")
                bodies = [of_macro(tables, listed), bounds_of(tables, listed)]
                if not supported:
                    plain = "warehouse/plain/count_bounds"
                    bodies.append(load(plain).bind(made_of(tables, plain), {"items": listed}))
                wanted, *found = ([column[0] for column in duck.select(body).values()] for body in bodies)
                for answer in found:
                    assert answer == [wanted[0], pytest.approx(wanted[1], rel=1e-9, abs=1e-9), wanted[2]], (seed, asked)


TREE = (
    {"all": ["food", "home", "odd"], "food": ["milk", "bread", "it's", "œuf"], "home": ["soap", "pen\\s", 'a "b"', "cup"],
     "odd": [" x", "x ", "X", "\U0001f600"]},
    "all",
)  # fmt: skip
LEAVES = [leaf for node in ("food", "home", "odd") for leaf in TREE[0][node]]


@pytest.fixture(scope="module", params=[False, True], ids=["rows", "supports"])
def engines(
    request: pytest.FixtureRequest, spark: Any, server: Server
) -> Iterator[dict[str, Callable[[list[list[str]]], list[tuple[int, float, int]]]]]:
    """Releases of the same transactions on three engines, each as a function that answers many queries; without and with
    item supports."""
    rnd = random.Random(17)
    rows = [(t, item) for t in range(300) for item in rnd.sample(LEAVES, rnd.choice([0, 1, 1, 2, 3, 5]))]
    rows += [(1, "cup")] if (1, "cup") not in rows else []
    frame = pa.table({"tid": [t for t, _ in rows], "item": [i for _, i in rows]})
    options: dict[str, Any] = {
        "taxonomy": taxonomy_of(*TREE),
        "model": anondb.KmAnonymity(9, 2),
        "max_suppression": 100,
        "item_supports": request.param,
    }
    databases = make(server)
    spark.sql("DROP SCHEMA IF EXISTS three CASCADE")
    anondb.connect(spark).anonymize(spark.createDataFrame(frame), to="three", **options)
    with anondb.connect() as db:
        release = db.anonymize(frame, name="three", **options)
        release.publish(databases.url("three"))
        assert not request.param or len(release.table("item_supports").fetchall()) > 5

        def in_spark(queries: list[list[str]]) -> list[tuple[int, float, int]]:
            calls = [
                exp.select(exp.convert(n), "*").from_(
                    exp.Table(this=exp.func("count_bounds", exp.Array(expressions=[*map(exp.convert, q)])), db="three")
                )
                for n, q in enumerate(queries)
            ]
            text = " UNION ALL ".join(
                call.sql("spark").replace("ARRAY()", "CAST(ARRAY() AS ARRAY<STRING>)") for call in calls
            )
            return [tuple(row)[1:] for row in sorted(spark.sql(text).collect())]

        def in_postgres(queries: list[list[str]]) -> list[tuple[int, float, int]]:
            call = "SELECT * FROM three.count_bounds(%s::text[])"
            with databases.session(databases.releases) as connection:
                return [connection.execute(call, [q]).fetchone() for q in queries]

        yield {"duckdb": lambda queries: [*map(release.count_bounds, queries)], "spark": in_spark, "postgres": in_postgres}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seeds", portions(0, night=1000))
def test_three_engines(engines: dict[str, Any], seeds: range) -> None:
    queries = []
    for seed in seeds:
        rnd = random.Random(seed)
        queries.append(rnd.sample([*LEAVES, "unknown", "MILK"], rnd.choice([0, 1, 1, 2, 2, 3, 4])))
    for start in range(0, len(queries), 10):
        part = queries[start : start + 10]
        wanted = engines["duckdb"](part)
        for name in ("postgres", "spark"):
            for query, told, expected in zip(part, engines[name](part), wanted, strict=True):
                assert (told[0], told[2]) == (expected[0], expected[2]), (name, query)
                assert told[1] == pytest.approx(expected[1], rel=1e-9, abs=1e-12), (name, query)
