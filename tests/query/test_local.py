"""Analysts' queries on local recodings of sets, against brute force over all originals of each transaction."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import combinations, product

import duckdb
import pytest
from reference import ancestors, leaves, nonempty_subsets

from anondb.engine import Engine
from anondb.errors import InputError
from anondb.query import run
from anondb.release.objects import LOCAL, MANIFEST_KEYS, SchemaName, create_view_and_macro

CHILDREN, ROOT = {"r": ["a", "b", "c"], "a": ["a1", "a2"], "b": ["b1", "b2"]}, "r"
NODES = ["r", "a", "b", "c", "a1", "a2", "b1", "b2"]
MEMBERS = {v: leaves(CHILDREN, v) for v in NODES}
SCHEMA = SchemaName("memory", "release_r")
Queries = dict[str, Callable[[frozenset[str]], int]]
QUERIES: Queries = {
    "SELECT count(DISTINCT tid) FROM sales WHERE item = 'a1'": lambda o: "a1" in o,
    "SELECT count(DISTINCT tid) FROM sales WHERE item IN ('a1', 'b1')": lambda o: bool(o & {"a1", "b1"}),
    "SELECT count(*) FROM sales WHERE item IN ('a1', 'a2', 'c')": lambda o: len(o & {"a1", "a2", "c"}),
    "SELECT count(*) FROM (SELECT tid FROM sales WHERE item = 'a1' INTERSECT SELECT tid FROM sales WHERE item = 'b2')": (
        lambda o: {"a1", "b2"} <= o
    ),
    "SELECT count(DISTINCT tid) FROM sales WHERE item LIKE 'a%'": lambda o: any(i.startswith("a") for i in o),
    "SELECT count(DISTINCT tid) FROM sales WHERE item = 'unknown'": lambda o: "unknown" in o,
}


@pytest.fixture(scope="module")
def bench() -> Iterator[Engine]:
    engine = Engine(duckdb.connect(config={"threads": "1"}), owned=True)
    for statement in (
        "CREATE SCHEMA release_r",
        "CREATE TABLE release_r.transactions(transaction_id INTEGER, item VARCHAR, copies INTEGER)",
        "CREATE TABLE release_r.transaction_ids(transaction_id INTEGER, complete BOOLEAN)",
        "CREATE TABLE release_r.released_items(released_item VARCHAR, item VARCHAR)",
        "CREATE TABLE release_r.manifest(key VARCHAR, value VARCHAR)",
    ):
        engine.connection.execute(statement)
    create_view_and_macro(engine, SCHEMA, "number", LOCAL)
    yield engine
    engine.close()


def fill(engine: Engine, published: list[list[str]], incomplete: set[int] = frozenset(), **manifest: str) -> None:  # type: ignore[assignment]
    said = dict.fromkeys(MANIFEST_KEYS, "x") | {"id_column": "tid", "item_column": "item", "table": "sales"}
    said |= {"model": "k", "semantics": "set", "suppression": "none", "transactions": str(len(published))} | manifest
    rows = {
        "transactions": [(n, v, 1) for n, t in enumerate(published, 1) for v in t],
        "transaction_ids": [(n, n not in incomplete) for n in range(1, len(published) + 1)],
        "released_items": [(v, i) for v in sorted({v for t in published for v in t}) for i in MEMBERS[v]],
        "manifest": list(said.items()),
    }
    for table, values in rows.items():
        engine.connection.execute(f"TRUNCATE release_r.{table}")
        if values:
            marks = ", ".join("(" + ", ".join("?" * len(values[0])) + ")" for _ in values)
            engine.connection.execute(
                f"INSERT INTO release_r.{table} VALUES {marks}", [x for row in values for x in row]
            )


def antichain(rnd: random.Random) -> list[str]:
    nodes = rnd.sample(NODES, rnd.randint(0, 4))
    return [v for v in nodes if not set(ancestors(CHILDREN, v)[1:]) & set(nodes)]


def test_bounds_are_attained(bench: Engine) -> None:
    rnd = random.Random(6)
    for _ in range(40):
        published = [antichain(rnd) for _ in range(rnd.randint(1, 6))]
        fill(bench, published)
        possible = [
            {frozenset[str]().union(*parts) for parts in product(*(nonempty_subsets(MEMBERS[v]) for v in t))}
            for t in published
        ]
        for sql, value in QUERIES.items():
            lower, estimate, upper = run(bench, SCHEMA, sql).bounds
            values = [[value(o) for o in originals] for originals in possible]
            assert (lower, upper) == (sum(map(min, values)), sum(map(max, values))), (published, sql)
            assert lower <= estimate <= upper


def test_incomplete_transactions(bench: Engine) -> None:
    """Where something was suppressed, any items may have been in the transactions of its class, in no others."""
    rnd = random.Random(7)
    anything = [frozenset(s) for n in range(7) for s in combinations([*MEMBERS["r"], "unknown"], n)]
    for _ in range(40):
        published = [antichain(rnd) for _ in range(rnd.randint(1, 6))]
        incomplete = {n for n in range(1, len(published) + 1) if rnd.random() < 0.4}
        fill(bench, published, incomplete, suppression="some")
        certain = [
            {frozenset[str]().union(*parts) for parts in product(*(nonempty_subsets(MEMBERS[v]) for v in t))}
            for t in published
        ]
        for sql, value in QUERIES.items():
            lower, estimate, upper = run(bench, SCHEMA, sql).bounds
            values = [
                [value(o | more) for o in originals for more in (anything if n in incomplete else [frozenset()])]
                for n, originals in enumerate(certain, 1)
            ]
            assert (lower, upper) == (sum(map(min, values)), sum(map(max, values))), (published, incomplete, sql)
            assert lower <= estimate <= upper


def test_what_is_refused(bench: Engine) -> None:
    fill(bench, [["a"], ["a1"], []], semantics="atomic")
    with pytest.raises(InputError, match="bags"):
        run(bench, SCHEMA, "SELECT count(DISTINCT tid) FROM sales WHERE item = 'a1'")
    for sql in ("SELECT item, count(*) FROM sales GROUP BY item", "SELECT count(*) FROM sales"):
        fill(bench, [["a"], ["a1"], []], {1}, suppression="some")
        with pytest.raises(InputError) as refusal:
            run(bench, SCHEMA, sql)
        assert refusal.value.code == "unsupported_query"
