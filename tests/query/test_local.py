"""Analysts' queries on local recodings of sets and bags, against brute force over all originals of each transaction."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import combinations, count, product
from typing import Any

import duckdb
import pandas as pd
import pytest
from portions import portions, some
from query.sealing import Asked, Sessions, answer_of, opened
from reference import ancestors, leaves, nonempty_subsets
from release.benches import SCHEMA, ReleaseBench, coded
from session.checker import without_bounds

import anondb
from anondb.api.database import Database
from anondb.engine import DuckDBEngine, Engine
from anondb.errors import InputError
from anondb.release.manifest import types_text
from anondb.release.objects import LOCAL, MANIFEST_KEYS

CHILDREN = {"top": ["r"], "r": ["a", "b", "c"], "a": ["a1", "a2"], "b": ["b1", "b2"]}
NODES = ["top", "r", "a", "b", "c", "a1", "a2", "b1", "b2"]
MEMBERS = {v: leaves(CHILDREN, v) for v in NODES}
NUMBERS = count()
Queries = dict[str, Callable[[frozenset[str]], int]]
THREE, ROWS = ("SELECT count(*) FROM sales WHERE item IN ('a1', 'a2', 'c')", "SELECT count(*) FROM sales WHERE item <> 'a1'")
QUERIES: Queries = {
    "SELECT count(DISTINCT tid) FROM sales WHERE item = 'a1'": lambda o: "a1" in o,
    "SELECT count(DISTINCT tid) FROM sales WHERE item IN ('a1', 'b1')": lambda o: bool(o & {"a1", "b1"}),
    THREE: lambda o: len(o & {"a1", "a2", "c"}),
    "SELECT count(*) FROM (SELECT tid FROM sales WHERE item = 'a1' INTERSECT SELECT tid FROM sales WHERE item = 'b2')": (
        lambda o: {"a1", "b2"} <= o
    ),
    "SELECT count(DISTINCT tid) FROM sales WHERE item LIKE 'a%'": lambda o: any(i.startswith("a") for i in o),
    "SELECT count(DISTINCT tid) FROM sales WHERE item = 'unknown'": lambda o: "unknown" in o,
}


@pytest.fixture(scope="module")
def bench() -> Iterator[Engine]:
    engine = ReleaseBench(LOCAL).engine
    yield engine
    engine.close()


def persons(condition: str) -> str:
    return f"SELECT count(*) FROM (SELECT tid FROM sales {condition})"


def items_of(condition: str) -> str:
    return f"SELECT item, count(DISTINCT tid) FROM sales WHERE {condition} GROUP BY item"


def anybody(_: frozenset[str]) -> bool:
    return True


BY_ITEM: Queries = {
    "SELECT item, count(DISTINCT tid) FROM sales GROUP BY item": anybody,
    items_of("item LIKE 'a%'"): anybody,
    items_of("tid IN (SELECT tid FROM sales WHERE item IN ('a1', 'c'))"): lambda o: bool(o & {"a1", "c"}),
    items_of("tid NOT IN (SELECT tid FROM sales WHERE item IN ('a1', 'b2'))"): lambda o: not o & {"a1", "b2"},
    items_of("tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(DISTINCT item) >= 3)"): lambda o: len(o) >= 3,
}
MORE: Queries = {
    persons("EXCEPT SELECT tid FROM sales WHERE item IN ('a1', 'b2')"): lambda o: bool(o) and not o & {"a1", "b2"},
    persons("WHERE item IN ('a1', 'a2', 'b1') GROUP BY tid HAVING count(DISTINCT item) >= 2"): (
        lambda o: len(o & {"a1", "a2", "b1"}) >= 2
    ),
    persons("WHERE item IN ('a1', 'b1', 'c') GROUP BY tid HAVING count(DISTINCT item) = 1"): (
        lambda o: len(o & {"a1", "b1", "c"}) == 1
    ),
    persons("WHERE item LIKE '%' GROUP BY tid HAVING count(DISTINCT item) <= 2"): lambda o: 0 < len(o) <= 2,
    ROWS: lambda o: len(o - {"a1"}),
}


Published = list[list[str]] | list[dict[str, int]]


def fill(engine: Engine, published: Published, incomplete: set[int] = frozenset(), **manifest: str) -> None:  # type: ignore[assignment]
    said = dict.fromkeys(MANIFEST_KEYS, "x") | {"id_column": "tid", "item_column": "item", "table": "sales"}
    said |= {"layout": "rows", "types": types_text({"tid": "BIGINT", "item": "VARCHAR"})}
    said |= {
        "release_id": str(next(NUMBERS)),
        "model": "k",
        "k": "1",
        "semantics": "set",
        "suppression": "none",
        "transactions": str(len(published)),
    } | manifest
    rows: dict[str, list[tuple[Any, ...]]] = {
        **coded([(n, v, t[v] if isinstance(t, dict) else 1) for n, t in enumerate(published, 1) for v in t]),
        "transaction_ids": [(n, n not in incomplete) for n in range(1, len(published) + 1)],
        "released_items": [(v, i) for v in sorted({v for t in published for v in t}) for i in MEMBERS[v]],
        "manifest": list(said.items()),
    }
    for table, values in rows.items():
        engine.connection.execute(f"TRUNCATE release_r.{table}")
        if values:
            marks = ", ".join("(" + ", ".join("?" * len(values[0])) + ")" for _ in values)
            engine.connection.execute(f"INSERT INTO release_r.{table} VALUES {marks}", [x for row in values for x in row])


def antichain(rnd: random.Random) -> list[str]:
    nodes = rnd.sample(NODES, rnd.randint(0, 4))
    return [v for v in nodes if not set(ancestors(CHILDREN, v)[1:]) & set(nodes)]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(4, night=40))
def test_bounds_are_attained(bench: Engine, asked: Sessions, seeds: range) -> None:
    for seed in seeds:
        rnd = random.Random(6_000 + seed)
        published = [antichain(rnd) for _ in range(rnd.randint(1, 6))]
        fill(bench, published)
        release = asked(bench, SCHEMA)
        possible = [
            {frozenset[str]().union(*parts) for parts in product(*(nonempty_subsets(MEMBERS[v]) for v in t))}
            for t in published
        ]
        for sql, value in QUERIES.items():
            lower, estimate, upper = release.answer(sql).bounds
            values = [[value(o) for o in originals] for originals in possible]
            assert (lower, upper) == (sum(map(min, values)), sum(map(max, values))), (published, sql)
            assert lower <= estimate <= upper


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(3, night=40))
def test_incomplete_transactions(bench: Engine, asked: Sessions, seeds: range) -> None:
    """Where something was suppressed, any items may have been in the transactions of its class, in no others."""
    anything = [frozenset(s) for n in range(7) for s in combinations([*MEMBERS["r"], "unknown"], n)]
    for seed in seeds:
        rnd = random.Random(7_000 + seed)
        published = [antichain(rnd) for _ in range(rnd.randint(1, 6))]
        incomplete = {n for n in range(1, len(published) + 1) if rnd.random() < 0.4}
        fill(bench, published, incomplete, suppression="some")
        release = asked(bench, SCHEMA)
        certain = [
            {frozenset[str]().union(*parts) for parts in product(*(nonempty_subsets(MEMBERS[v]) for v in t))}
            for t in published
        ]
        for sql, value in QUERIES.items():
            lower, estimate, upper = release.answer(sql).bounds
            values = [
                [value(o | more) for o in originals for more in (anything if n in incomplete else [frozenset()])]
                for n, originals in enumerate(certain, 1)
            ]
            assert (lower, upper) == (sum(map(min, values)), sum(map(max, values))), (published, incomplete, sql)
            assert lower <= estimate <= upper


def bag(rnd: random.Random) -> dict[str, int]:
    return {v: rnd.randint(1, 3) for v in rnd.sample(NODES, rnd.randint(0, 4))}


def nested(published: dict[str, int]) -> bool:
    return any(set(ancestors(CHILDREN, v)[1:]) & published.keys() for v in published)


def of_bag(published: dict[str, int]) -> set[frozenset[str]]:
    """The sets of items of all bags that these copies may stand for."""
    choices = [[s for s in nonempty_subsets(MEMBERS[v]) if len(s) <= copies] for v, copies in published.items()]
    return {frozenset[str]().union(*parts) for parts in product(*choices)}


def hiding(originals: set[frozenset[str]]) -> set[frozenset[str]]:
    """The same where any items were suppressed besides."""
    anything = [frozenset(s) for n in range(7) for s in combinations([*MEMBERS["r"], "unknown"], n)]
    return {o | more for o in originals for more in anything}


def compare(
    release: Asked, sql: str, value: Callable[[frozenset[str]], int], possible: list[set[frozenset[str]]], tight: bool
) -> None:
    lower, estimate, upper = release.answer(sql).bounds
    low, high = sum(min(map(value, o)) for o in possible), sum(max(map(value, o)) for o in possible)
    assert lower <= low and high <= upper and lower <= estimate <= upper, (sql, lower, low, high, upper)
    assert not tight or (lower, upper) == (low, high), (sql, lower, low, high, upper)


def compare_by_item(
    release: Asked,
    sql: str,
    value: Callable[[frozenset[str]], int],
    possible: list[set[frozenset[str]]],
    known: set[str],
    tight: bool,
) -> None:
    rows = {row[0]: row[1:] for row in release.answer(sql).rows}
    listed = {i for i in known if "LIKE" not in sql or i.startswith("a")}
    assert rows.keys() <= listed
    for item in listed:
        lower, estimate, upper = rows.get(item, (0, 0.0, 0))  # what nobody can hold is not listed
        values = [[int(item in o and value(o)) for o in originals] for originals in possible]
        low, high = sum(map(min, values)), sum(map(max, values))
        assert lower <= low and high <= upper and lower <= estimate <= upper, (sql, item, lower, low, high, upper)
        assert not tight or (lower, upper) == (low, high), (sql, item, lower, low, high, upper)


def random_bags(
    bench: Engine, rnd: random.Random, hides: bool, flat: bool = False
) -> tuple[list[set[frozenset[str]]], bool]:
    """A random release of bags; returns the originals of each transaction, and whether no node lies below another, which
    none does if ``flat``."""
    published = [bag(rnd) for _ in range(rnd.randint(1, 6))]
    if flat:
        published = [{v: rnd.randint(1, 3) for v in antichain(rnd)} for _ in published]
    incomplete = {n for n in range(1, len(published) + 1) if hides and rnd.random() < 0.4}
    fill(bench, published, incomplete, semantics="atomic", suppression="some" if hides else "none")
    possible = [hiding(of_bag(t)) if n in incomplete else of_bag(t) for n, t in enumerate(published, 1)]
    return possible, not incomplete and not any(map(nested, published))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(2, night=620))
def test_bags(bench: Engine, asked: Sessions, seeds: range) -> None:
    """Bounds hold for every original of a release of bags, and are attained where no node lies below another."""
    tight = 0
    for n in seeds:
        rnd = random.Random(8_000 + n)
        possible, exact = random_bags(bench, rnd, hides=n % 2 == 1, flat=n % 4 == 0)
        tight += exact
        release = asked(bench, SCHEMA)
        for sql, value in (QUERIES | MORE).items():
            if sql not in (THREE, ROWS):
                compare(release, sql, value, possible, exact)
    assert tight >= max(len(seeds) // 4 - 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(2, night=620))
def test_by_item(bench: Engine, asked: Sessions, seeds: range) -> None:
    """GROUP BY item: where several released items stand for one item, the transactions of each are added up."""
    for n in seeds:
        rnd = random.Random(10_000 + n)
        hides = n % 4 > 1
        if n % 2:
            possible, exact = random_bags(bench, rnd, hides)
        else:
            published = [antichain(rnd) for _ in range(rnd.randint(1, 6))]
            incomplete = {n for n in range(1, len(published) + 1) if hides and rnd.random() < 0.4}
            fill(bench, published, incomplete, suppression="some" if hides else "none")
            possible = [of_bag(dict.fromkeys(t, 9)) for t in published]
            possible = [hiding(o) if n in incomplete else o for n, o in enumerate(possible, 1)]
            exact = not incomplete
        known = {i for (i,) in bench.connection.execute("SELECT DISTINCT item FROM release_r.released_items").fetchall()}
        release = asked(bench, SCHEMA)
        for sql, value in BY_ITEM.items():
            compare_by_item(release, sql, value, possible, known, exact or value is anybody)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(2, night=20))
def test_one_item_has_the_bounds_of_count_bounds(bench: Engine, asked: Sessions, seeds: range) -> None:
    for n in seeds:
        random_bags(bench, random.Random(12_000 + n), hides=n % 2 == 1)
        bench.connection.execute("UPDATE release_r.manifest SET value = 'number' WHERE key = 'release_id'")
        session = asked(bench, SCHEMA)
        bench.connection.execute("USE memory.release_r")
        for item in ("a1", "c"):
            macro = bench.connection.execute(f"SELECT * FROM count_bounds(['{item}'])").fetchone()
            found = session.answer(f"SELECT count(DISTINCT tid) FROM sales WHERE item = '{item}'").bounds
            assert macro is not None and macro[::2] == found[::2]
        bench.connection.execute("USE memory.main")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", some(["partition", "clump"], "clump", check=()))
@pytest.mark.parametrize("seeds", portions(1, night=8))
def test_truth(algorithm: str, seeds: range) -> None:
    """On releases of both algorithms every true count lies within its bounds, also for a connection passed in."""
    leaf, suppressing = sorted(MEMBERS["r"]), 0
    edges = pd.DataFrame(
        [("top", None), *((c, p) for p, below in CHILDREN.items() for c in below)], columns=["node", "parent"]
    )
    for n in seeds:
        rnd = random.Random(13_000 + n)
        sizes = [0, 1, 1, 2, 3, 4] if n % 2 else [1, 2, 3]
        persons = [frozenset(rnd.sample(leaf, rnd.choice(sizes))) for _ in range(rnd.randint(8, 24))]
        rows = pd.DataFrame({"tid": range(len(persons)), "item": [sorted(p) for p in persons]})
        with duckdb.connect() as connection:
            connection.register("rows", rows)
            nothing = "CASE WHEN len(item) = 0 THEN [NULL] ELSE item END"
            connection.execute(f"CREATE TABLE sales AS SELECT tid, unnest({nothing})::VARCHAR AS item FROM rows")
            release = anondb.connect(connection).anonymize(
                "sales",
                model=anondb.TransactionalK(rnd.randint(2, 5)),
                taxonomy=edges,
                algorithm=algorithm,
                name="r",
                queries=5,
                max_suppression=100,
                drop_missing_items=True,
            )
            suppressed = release.manifest["suppression"] != "none"
            suppressing += suppressed
            for sql, value in (QUERIES | MORE).items():
                if sql not in (THREE, ROWS) or (algorithm == "partition" and not (suppressed and sql == ROWS)):
                    lower, _, upper = release.query(sql.replace("sales", release.manifest["table"])).bounds
                    assert lower <= sum(map(value, persons)) <= upper, sql
            for sql, value in BY_ITEM.items():
                for item, _, lower, upper, *_ in release.query(sql.replace("sales", release.manifest["table"])).fetchall():
                    assert lower <= sum(item in p and value(p) for p in persons) <= upper, (sql, item)
            assert connection.sql("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
    assert suppressing or len(seeds) < 2


@pytest.mark.slow
def test_what_is_refused(bench: Engine) -> None:
    fill(bench, [["a"], ["a1"], []], {1}, suppression="some")
    assert answer_of(bench, SCHEMA, ROWS).bounds[2] is None
    fill(bench, [{"a": 1}, {"b": 1}], semantics="atomic")
    bench.connection.execute("INSERT INTO release_r.released_items VALUES ('b', 'a1')")
    by_item = "SELECT item, count(DISTINCT tid) FROM sales GROUP BY item"
    assert "share only some members" in without_bounds(opened(bench, SCHEMA).session, by_item)
    bench.connection.execute("DELETE FROM release_r.released_items WHERE released_item = 'b' AND item = 'a1'")
    bench.connection.execute("UPDATE release_r.manifest SET value = 'bags' WHERE key = 'release_id'")
    session = opened(bench, SCHEMA).session
    assert [row[2:4] for row in session.sql(by_item).fetchall()] == [(0, 1)] * 4
    for sql in (ROWS, "SELECT item, count(*) FROM sales GROUP BY item", persons("GROUP BY tid HAVING count(*) > 1")):
        assert "a bag may repeat" in without_bounds(session, sql)
    lent = DuckDBEngine(bench.connection)
    bench.connection.execute("SET default_collation = 'nocase'")
    with pytest.raises(InputError, match="default_collation"):
        Database(lent).release("r").query("SELECT count(DISTINCT tid) FROM sales WHERE item = 'c'")
    bench.connection.execute("RESET default_collation")
    bench.connection.execute("UPDATE release_r.transaction_items SET copies = NULL")
    bench.connection.execute("UPDATE release_r.manifest SET value = 'damaged' WHERE key = 'release_id'")
    for engine in (lent, bench):
        with pytest.raises(InputError) as damaged:
            answer_of(engine, SCHEMA, "SELECT count(DISTINCT tid) FROM sales WHERE item = 'c'")
        assert damaged.value.code == "not_a_release"


def test_bags_that_show_nothing(bench: Engine) -> None:
    fill(bench, [{}, {}, {}], {1, 2}, suppression="some", semantics="atomic")
    assert answer_of(bench, SCHEMA, "SELECT count(DISTINCT tid) FROM sales WHERE item = 'c'").bounds == (0, 0, 2)


def test_rows_of_sets_count_once(bench: Engine) -> None:
    fill(bench, [["a1", "b1"], ["a1"]])
    found = answer_of(bench, SCHEMA, persons("WHERE item LIKE '%' GROUP BY tid HAVING count(*) >= 2"))
    assert found.bounds == (1, 1.0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("owned", [False, True])
def test_a_replaced_release(bench: Engine, owned: bool) -> None:
    """An open release of bags goes on with what takes its place, and keeps its rows once."""
    engine, sql = (DuckDBEngine(bench.connection, owned=owned), "SELECT item, count(DISTINCT tid) FROM sales GROUP BY item")
    before = bench.connection.sql("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall()
    fill(bench, [{"a1": 1}, {"b": 2}], semantics="atomic")
    database = Database(engine)
    release = database.release("r")

    def rows() -> list[tuple[str, int, int]]:
        return [(item, low, high) for item, _, low, high, *_ in release.query(sql).fetchall()]

    assert rows() == [("a1", 1, 1), ("b1", 0, 1), ("b2", 0, 1)]
    assert database.release("r").query(sql).fetchall() == release.query(sql).fetchall()
    after = bench.connection.sql("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall()
    assert after[0][0] - before[0][0] == 2 * owned
    fill(bench, [{"a1": 2}, {"c": 5}], semantics="atomic")
    assert [row[::2] for row in rows()] == [("a1", 1), ("c", 1)]
    fill(bench, [["a"], ["a"]])
    assert [row[::2] for row in rows()] == [("a1", 2), ("a2", 2)]
