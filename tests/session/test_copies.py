"""Copies of a table that are joined and compared, in a release that shows each item as it is: bounds hold the truth."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from session.checker import unsound

import anondb

ITEMS = "abcdefghijklmn"
BASKETS = ["abc", "bcdefg", "ghi", "a", "jklmn", "bn"] * 2  # each twice, so that k = 2 hides no item
Case = tuple[anondb.Session, duckdb.DuckDBPyConnection]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    """A session, and the original."""
    rows = ", ".join(f"({n}, '{item}')" for n, basket in enumerate(BASKETS, 1) for item in basket)
    made = f"CREATE TABLE sales AS FROM (VALUES {rows}) t(tid, item)"
    file = tmp_path_factory.mktemp("copies") / "sales.duckdb"
    with anondb.connect(":memory:") as db:
        db.sql(made)
        db.anonymize("sales", model=anondb.KmAnonymity(2, 1), algorithm="coat", name="r").publish(file)
    with anondb.open(file) as session, duckdb.connect(":memory:") as original:
        original.execute(made)
        yield session, original


COPIES = "sales a JOIN sales b ON a.tid = b.tid"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT count(*) AS n FROM (SELECT DISTINCT a.tid, a.item FROM {COPIES} WHERE a.item < b.item)",
        f"SELECT count(*) AS n FROM (SELECT DISTINCT a.tid, a.item FROM {COPIES} WHERE a.item <> b.item)",
        f"SELECT a.item, count(DISTINCT a.tid) AS n FROM {COPIES} WHERE a.item < b.item GROUP BY a.item",
        f"SELECT sum(x) AS n, max(x) AS m FROM (SELECT a.tid, sum(ascii(a.item)) AS x FROM {COPIES} "
        "WHERE b.item IN ('b', 'c') GROUP BY a.tid)",
        "SELECT max(CASE WHEN item = 'a' THEN 1 ELSE 0 END) AS n FROM sales WHERE item IS NULL",
        "SELECT count(DISTINCT tid) AS n FROM (SELECT DISTINCT tid, item, length(item) AS x FROM sales WHERE item IS NULL)",
        f"SELECT count(*) AS n FROM (SELECT DISTINCT a.tid, a.item < b.item AS x FROM {COPIES})",
    ],
)
def test_bounds_hold_the_truth(case: Case, sql: str) -> None:
    assert not unsound(*case, sql)
    assert not [note for note in case[0].sql(sql).notes if "Internal error" in note]


def test_two_copies_with_other_items_are_counted_exactly(case: Case) -> None:
    sql = f"SELECT count(*) AS n FROM (SELECT DISTINCT a.tid, a.item FROM {COPIES} WHERE a.item <> b.item)"
    ((_, lower, upper),) = case[0].sql(sql).fetchall()
    assert lower == upper == sum(len(basket) for basket in BASKETS if len(basket) > 1)
