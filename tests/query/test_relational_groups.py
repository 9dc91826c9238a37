"""Groups of a release with records: a group with rows is listed, whatever is counted in it."""

from __future__ import annotations

from pathlib import Path

import pytest

import anondb
from anondb.session.session import Session

JOINED = "FROM people p LEFT JOIN sales s ON s.tid = p.tid AND s.item = 'jam' GROUP BY p.town"


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release, ``k.duckdb``, of a third of persons of town A, B and C each; those of A buy jam."""
    folder = tmp_path_factory.mktemp("towns")
    with anondb.connect(folder / "owner.duckdb") as db:
        db.sql(
            "CREATE TABLE sales AS SELECT range AS tid, unnest(CASE WHEN range % 3 = 0 THEN ['jam', 'bread']"
            " WHEN range % 3 = 1 THEN ['bread'] ELSE ['milk', 'bread'] END) AS item FROM range(60)"
        )
        db.sql("CREATE TABLE people AS SELECT range AS tid, ['A', 'B', 'C'][1 + range % 3] AS town FROM range(60)")
        db.sql("CREATE TABLE food AS FROM (VALUES ('jam', 'all'), ('bread', 'all'), ('milk', 'all')) t(node, parent)")
        release = db.anonymize(
            "sales",
            model=anondb.KkmAnonymity(k=3, m=1),
            taxonomy="food",
            records="people",
            quasi_identifiers="town",
            delta=0.1,
            name="k",
        )
        release.publish(folder / "k.duckdb")
    return folder


@pytest.fixture(scope="module")
def session(owner: Path) -> Session:
    return anondb.open(owner / "k.duckdb")


@pytest.mark.parametrize("counts", ["count(s.tid), count(*)", "count(*), count(s.tid)", "count(s.tid)", "count(s.item)"])
def test_a_town_without_a_joined_row_is_a_group(session: Session, counts: str) -> None:
    rows = session.sql(f"SELECT p.town, {counts} {JOINED} ORDER BY p.town", bounds="none").fetchall()
    assert [row[0] for row in rows] == ["A", "B", "C"]
    assert rows[2][1 + counts.split(", ").index(next(c for c in counts.split(", ") if c != "count(*)"))] == 0


def test_one_count_is_listed_with_its_empty_groups(owner: Path) -> None:
    asked = f"SELECT p.town, count(s.tid) {JOINED} ORDER BY p.town"
    with anondb.connect(owner / "owner.duckdb", read_only=True) as db:
        rows = db.release("k").query(asked).fetchall()
    assert [row[0] for row in rows] == ["A", "B", "C"] and rows[2][1:4] == (0.0, 0, 0)
