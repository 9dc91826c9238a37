"""Views and functions in PostgreSQL say what those in DuckDB do: every kind of release, random queries."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from portions import portions, some
from postgres.databases import ITEMS, TAXONOMY, Databases, make
from postgres.server import Server

import anondb
from anondb.release.reader import sealed_release
from anondb.warehouse.at_hand import at_hand

MODELS: dict[str, dict[str, Any]] = {
    "global": {"model": anondb.KmAnonymity(3, 2)},
    "suppressing": {"model": anondb.KmAnonymity(12, 2), "algorithm": "coat", "max_suppression": 100, "taxonomy": None},
    "supports": {"model": anondb.KmAnonymity(3, 2), "item_supports": True},
    "local": {"model": anondb.TransactionalK(3)},
    "local_supports": {"model": anondb.TransactionalK(3), "item_supports": True},
    "bags": {"model": anondb.TransactionalK(3), "algorithm": "clump"},
    "records": {
        "model": anondb.KkmAnonymity(3, 1),
        "records": "people",
        "delta": 0.9,
        "quasi_identifiers": ["age", "town", "money", "born", "member"],
    },
    "anatomy": {"model": anondb.Anatomy("11/10"), "columns": 2, "taxonomy": None},
}
CONDITIONS = {
    "age": ("[{0}, {1}]", "ARRAY[{0}, {1}]::numeric[]", [(20, 30), (25, 26), (50, 90), (None, 40)]),
    "town": ("['{0}']", "ARRAY['{0}']", [("Delft",), ("nowhere",)]),
    "money": ("[{0}, {1}]", "ARRAY[{0}, {1}]::numeric[]", [("1.5", "20.25"), ("7.5", "7.5")]),
    "born": ("['{0}', '{1}']", "ARRAY['{0}', '{1}']::timestamp[]", [("2001-01-03", "2001-01-20")]),
    "member": ("['{0}']", "ARRAY['{0}']", [("true",), ("false",)]),
}


Shop = tuple[Databases, anondb.Database, Callable[[str], None]]


@pytest.fixture(scope="module")
def shop(server: Server) -> Iterator[Shop]:
    """Tables in DuckDB, and a function that makes a release of a kind there and in PostgreSQL, once."""
    databases = make(server)
    rng = random.Random(7)
    with anondb.connect(one_shot=True) as db:
        connection = db.engine.connection
        connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        rows = [(t, item) for t in range(90) for item in rng.sample(sorted(ITEMS), rng.choice((1, 2, 2, 3)))]
        connection.executemany("INSERT INTO sales VALUES (?, ?)", rows)
        connection.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO food VALUES (?, ?)", TAXONOMY)
        connection.execute(
            "CREATE TABLE people AS SELECT range::INTEGER AS tid, 20 + range % 40 AS age, "
            "['Delft', 'Leiden', 'Gouda'][1 + range % 3] AS town, (range % 11) * 2.75::DECIMAL(6, 2) AS money, "
            "DATE '2001-01-01' + (range % 28)::INTEGER AS born, range % 4 = 0 AS member FROM range(90)"
        )

        @cache
        def release(name: str) -> None:
            made = db.anonymize("sales", **{"taxonomy": "food", "name": name, "queries": 5, **MODELS[name]})
            made.publish(databases.url(name))

        yield databases, db, release


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(3, night=400))
@pytest.mark.parametrize("name", list(MODELS))
def test_bounds(name: str, seeds: range, shop: Shop) -> None:
    databases, db, release = shop
    release(name)
    labels = [*ITEMS, "unknown", "it's"]
    duckdb = db.engine.connection
    with databases.session(databases.releases) as connection:
        for seed in seeds:
            rng = random.Random(f"{name} {seed}")
            items = rng.sample(labels, rng.choice((0, 1, 1, 2, 2, 3, 4)))
            here = there = ""
            if name == "records":
                for column in rng.sample(sorted(CONDITIONS), rng.randrange(4)):
                    one, other, values = CONDITIONS[column]
                    chosen = ["NULL" if v is None else v for v in rng.choice(values)]
                    here += f", {column} := {one.format(*chosen)}"
                    there += f", {column} => {other.format(*chosen)}"
            listed = ", ".join("'" + item.replace("'", "''") + "'" for item in items)
            wanted = duckdb.execute(f"SELECT * FROM release_{name}.count_bounds([{listed}]{here})").fetchone()
            answer = connection.execute(f"SELECT * FROM {name}.count_bounds(ARRAY[{listed}]::text[]{there})").fetchone()
            assert (answer[0], answer[2]) == (wanted[0], wanted[2]), (items, here)
            assert answer[1] == pytest.approx(wanted[1], rel=1e-9, abs=1e-12), (items, here)


def rounded(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(repr([f"{v:.9g}" if isinstance(v, float) else v for v in row]) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(MODELS, "global", "anatomy", "records", check=()))
def test_views(name: str, shop: Shop) -> None:
    databases, _, release = shop
    release(name)
    with at_hand(databases.url(name)) as file, sealed_release(file) as local:
        for view, columns in local.kind.views.items():
            listed = ", ".join(columns)
            wanted = local.engine.connection.execute(f"SELECT {listed} FROM main.{view}").fetchall()
            assert rounded(databases.sql(f"SELECT {listed} FROM {name}.{view}", databases.releases)) == rounded(wanted)
        if name == "anatomy":
            wanted = local.engine.connection.execute("SELECT * FROM main.reconstruct(5) ORDER BY 1").fetchall()
            answer = databases.sql("SELECT * FROM anatomy.reconstruct(5) ORDER BY 1", databases.releases)
            assert answer == wanted and len(answer) == 90


@pytest.mark.slow
def test_a_range_has_two_ends(shop: Shop) -> None:
    import psycopg

    shop[2]("records")
    with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="is a range"):
        shop[0].sql("SELECT * FROM records.count_bounds(ARRAY['milk'], age => ARRAY[1])", shop[0].releases)
