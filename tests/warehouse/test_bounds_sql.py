"""The bounds.*.sql of a folder of Parquet files in PostgreSQL and Spark say what those of DuckDB say."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pytest
from postgres.databases import Databases

import anondb

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ASKED = [list(items) for n in range(4) for items in combinations("abcdx", n)]
Answers = list[tuple[int, float, int]]


@pytest.fixture(scope="module", params=[False, True], ids=["rows", "supports"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Answers]]:
    """A folder of Parquet files, and DuckDB's bounds of some sets of items; x is suppressed."""
    place = tmp_path_factory.mktemp("bounds")
    rng = random.Random(2)
    with anondb.connect(place / "owner.duckdb", threads=1) as db:
        connection = db.engine.connection
        connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        rows = [(tid, item) for tid in range(50) for item in "abcd" if rng.random() < 0.5]
        connection.executemany("INSERT INTO sales VALUES (?, ?)", [*rows, (60, "x")])
        tree = [("all", None), ("AB", "all"), ("a", "AB"), ("b", "AB"), *((i, "all") for i in "cdx")]
        connection.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO food VALUES (?, ?)", tree)
        made = db.anonymize(
            "sales",
            taxonomy="food",
            model=anondb.KmAnonymity(12, 2),
            name="r",
            queries=1,
            max_suppression=100,
            item_supports=request.param,
        )
        made.publish(place / "pq", format="parquet")
        answers = [made.count_bounds(items) for items in ASKED]
    assert len({low for low, _, _ in answers}) > 1 and len({high for _, _, high in answers}) > 3
    yield place / "pq", answers


def script(folder: Path, engine: str) -> str:
    return (folder / f"bounds.{engine}.sql").read_text("utf-8")


def agree(found: list[Any], wanted: Answers) -> None:
    assert [(low, high) for low, _, high in found] == [(low, high) for low, _, high in wanted]
    assert [estimate for _, estimate, _ in found] == pytest.approx([estimate for _, estimate, _ in wanted], rel=1e-9)


@pytest.fixture
def postgres(sales: Databases) -> Iterator[Any]:
    """A connection to a server of PostgreSQL."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(sales.raw_url(), autocommit=True) as connection:
        yield connection


def test_postgres(postgres: Any, folder: tuple[Path, Answers]) -> None:
    place, wanted = folder
    postgres.execute("DROP SCHEMA IF EXISTS release CASCADE")
    postgres.execute(script(place, "postgres"))
    for file in place.glob("*.parquet"):
        rows = duckdb.sql(f"FROM read_parquet('{file}')").fetchall()
        with postgres.cursor() as cursor, cursor.copy(f"COPY release.{file.stem} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    agree([postgres.execute("SELECT * FROM release.count_bounds(%s)", [items]).fetchone() for items in ASKED], wanted)
    postgres.execute("DROP SCHEMA release CASCADE")


@pytest.mark.nightly
def test_spark(spark: Any, folder: tuple[Path, Answers]) -> None:
    place, wanted = folder
    text = script(place, "spark").replace("(path '", f"(path '{place}/")  # the driver began in another folder
    statements = [s for s in text.split(";\n") if not s.strip().startswith("--") or "\nCREATE" in s]
    for statement in statements:
        if statement.strip():
            spark.sql(statement)
    found = []
    for items in ASKED[::5]:  # each takes Spark seconds to plan
        listed = ", ".join(f"'{item}'" for item in items)
        array = f"array({listed})" if items else "CAST(array() AS ARRAY<STRING>)"
        found.append(tuple(spark.sql(f"SELECT * FROM count_bounds({array})").collect()[0]))
    agree(found, wanted[::5])
    for items, words in (
        ("NULL", "is NULL"),
        ("array('x', NULL)", "has a NULL"),
        ("array(CAST(NULL AS STRING))", "has a NULL"),
    ):
        with pytest.raises(Exception, match=f"count_bounds: the list of items {words}"):
            spark.sql(f"SELECT upper_bound FROM count_bounds({items})").collect()
