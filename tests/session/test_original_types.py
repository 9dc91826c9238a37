"""Columns of a session have the types of the original, where ranges are released in a coarser one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import duckdb
import pytest
from each import each
from session.checker import check_bounds

import anondb

Both = tuple[anondb.Session, duckdb.DuckDBPyConnection]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """A session on a release with days that are timestamps, tenths that are doubles and years that are INTEGER, and the
    original."""
    file = tmp_path_factory.mktemp("types") / "r.duckdb"
    with duckdb.connect() as original:
        original.execute("CREATE TABLE people (tid INTEGER, seen TIMESTAMP, score DOUBLE, visits HUGEINT, age INTEGER)")
        original.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        for tid in range(12):
            row = [tid, datetime(2024, 3, 1) + timedelta(days=tid % 2), 1.5 + tid % 3, 5 + tid % 4, 60 + tid % 5]
            original.execute("INSERT INTO people VALUES (?, ?, ?, ?, ?)", row)
            original.execute("INSERT INTO sales VALUES (?, ?)", [tid, "ab"[tid % 2]])
        options = {"records": "people", "quasi_identifiers": "seen,score,visits,age"}
        made = anondb.connect(original).anonymize(
            "sales", name="r", queries=0, model=anondb.KkmAnonymity(6, 1), delta=1.0, **options
        )
        made.publish(file)
        with anondb.open(file) as session:
            yield session, original


def test_columns_have_the_types_of_the_original(both: Both) -> None:
    kinds = [[row[1] for row in of.sql("DESCRIBE people").fetchall()[1:3]] for of in both]
    assert kinds[0] == kinds[1] == ["TIMESTAMP", "DOUBLE"]


@each(
    "sql",
    [
        "SELECT seen, count(*) AS n FROM people GROUP BY seen",
        "SELECT seen::VARCHAR AS day, count(*) AS n FROM people GROUP BY 1",
        "SELECT count(*) AS n FROM people WHERE seen::VARCHAR LIKE '%00:00'",
        "SELECT count(*) AS n FROM people WHERE seen BETWEEN '2024-03-01 05:00' AND '2024-03-02 23:00'",
        "SELECT count(*) AS n FROM people WHERE seen IN ('2024-03-02 12:00')",
        "SELECT max(seen) AS n, min(seen) AS m FROM people",
        "SELECT floor(visits / 4) AS k, count(*) AS n, sum(floor(visits / 4)) AS m FROM people GROUP BY k",
        "SELECT sum(score) AS n FROM people WHERE score = 2.5",
        "SELECT chr(age) AS c, count(*) AS n FROM people GROUP BY 1",
        "SELECT DATE '2024-01-01' + p.age AS d, count(*) AS n FROM people p JOIN sales s USING (tid) GROUP BY 1",
    ],
)
def test_bounds_hold(both: Both, sql: str) -> None:
    check_bounds(*both, sql)
