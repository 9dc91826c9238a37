# ruff: noqa: E501
"""Lists that are empty or NULL, with and without relational values: bounds hold for every original that may be meant."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from portions import portions

import anondb
from anondb.errors import AnondbError, InputError

TESTS = [
    "list_contains(item, '{0}')", "'{0}' IN item", "list_has_any(item, ['{0}', '{1}'])", "list_has_all(item, ['{0}', '{1}'])",
    "item <@ ['{0}', '{1}']", "list_has_all(item, [])", "'{0}' = ANY(item)", "'{0}' <> ALL(item)", "item IS NULL", "item IS NOT NULL",
    "list_contains(item, '{0}') IS NOT TRUE", "list_contains(item, '{0}') IS FALSE",
]  # fmt: skip
VALUES = ["r.age > 20", "r.age <= 20", "r.age IS NULL", "r.town = 'x'", "r.age IN (10, 30)"]


def condition(draw: random.Random, depth: int, relational: bool) -> str:
    """A random condition on lists and, if there are some, values."""
    if depth and draw.random() < 0.7:
        one, two = (condition(draw, depth - 1, relational) for _ in range(2))
        return draw.choice([f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})", f"(({one}) IS NOT TRUE AND {two})"])
    if relational and draw.random() < 0.4:
        return draw.choice(VALUES)
    return draw.choice(TESTS).format(draw.choice("abcz"), draw.choice("abcz"))


def shop(draw: random.Random) -> anondb.Database:
    """Fourteen persons, some with an empty list, some with NULL."""
    database = anondb.connect(threads=1)
    connection = database.engine.connection
    connection.execute("CREATE TABLE t (tid INTEGER, item VARCHAR[])")
    connection.execute("CREATE TABLE people (tid INTEGER, age INTEGER, town VARCHAR)")
    for tid in range(14):
        items: Any = draw.choice([None, [], ["a"], ["a", "b"], ["b", "c", "b"], ["a", "c"]])
        connection.execute("INSERT INTO t VALUES (?, ?)", [tid, items])
        connection.execute("INSERT INTO people VALUES (?, ?, ?)", [tid, draw.choice([10, 20, 30, None]), draw.choice("xy")])
    return database


def released(database: anondb.Database, draw: random.Random, kind: str) -> Any:
    if kind == "anatomy":
        return database.anonymize("t", model=anondb.Anatomy(2, empty_values="ignore"), columns=2, name="r", queries=1)
    if kind == "relational":
        model = anondb.KkmAnonymity(k=draw.choice([1, 2, 3]), m=1)
        return database.anonymize("t", model=model, records="people", quasi_identifiers="age,town", name="r", queries=1)
    k = draw.choice([1, 3, 5])
    return database.anonymize("t", model=anondb.KmAnonymity(k=k, m=1), name="r", queries=1, max_suppression=100)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["items", "relational", "anatomy"])
@pytest.mark.parametrize("seeds", portions(1, night=98, first=2))
def test_bounds(kind: str, seeds: range) -> None:
    answered, sensitive = 0, 0
    for seed in seeds:
        draw = random.Random(seed)
        database = shop(draw)
        connection = database.engine.connection
        connection.execute("CREATE VIEW records AS FROM people")
        try:
            release = released(database, draw, kind)
        except AnondbError as error:
            assert error.code != "internal", error
            continue
        for _ in range(20):
            where = condition(draw, 2, kind == "relational")
            joined = kind == "relational" and draw.random() < 0.8
            sql = f"SELECT count({draw.choice(['*', 'DISTINCT t.tid'])}) FROM t {'JOIN records r ON r.tid = t.tid ' * joined}WHERE {where}"
            try:
                named = sql.replace("FROM t ", f"FROM {release.manifest['table']} t ")  # other than t where rows repeat
                low, _, high = release.query(named).bounds
            except InputError as error:
                assert error.code in ("unsupported_query", "query_too_complex", "bad_sql"), (sql, error)
                continue
            ((truth,),) = connection.execute(sql).fetchall()
            high = math.inf if high is None else high  # rows of suppressed items, which nothing bounds
            assert low <= truth <= high, (seed, sql, truth, low, high)
            ((other,),) = connection.execute(
                sql.replace("FROM t", "FROM (SELECT tid, nullif(item, []) AS item FROM t) t")
            ).fetchall()
            assert low <= other <= high, (seed, sql, other, low, high)
            answered += 1
            sensitive += truth != other
        database.close()
    assert len(seeds) < 2 or (answered > 5 * len(seeds) and sensitive > 0)
