"""A release that shows each item as it is: bounds hold the truth, in whatever way a query reads persons."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from each import each
from session.checker import check_sound

import anondb

ITEMS = "abcdefghijklmn"
BASKETS = ["abc", "bcdefg", "ghi", "a", "jklmn", "bn"] * 2  # each twice, so that k = 2 hides no item
Case = tuple[anondb.Session, duckdb.DuckDBPyConnection]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    """A session, and the original."""
    rows = ", ".join(f"({n}, '{item}')" for n, basket in enumerate(BASKETS, 1) for item in basket)
    made = f"CREATE TABLE sales AS FROM (VALUES {rows}) t(tid, item)"
    file = tmp_path_factory.mktemp("exact") / "sales.duckdb"
    with anondb.connect(":memory:") as db:
        db.sql(made)
        db.anonymize("sales", model=anondb.KmAnonymity(2, 1), algorithm="coat", name="r").publish(file)
    with anondb.open(file) as session, duckdb.connect(":memory:") as original:
        original.execute(made)
        original.execute("CREATE TABLE food AS FROM (VALUES ('a', 'x'), ('b', 'x'), ('c', 'y'), ('q', 'z')) t(node, parent)")
        session.register("food", original.table("food").to_arrow_table())
        yield session, original


COPIES = "sales a JOIN sales b ON a.tid = b.tid"
CS = "SELECT tid, count(*) FILTER (WHERE item = 'c') AS n FROM sales GROUP BY tid"
COUNTED = "SELECT count(*) AS n FROM"
SIZES = "SELECT tid, count(*) AS n FROM sales WHERE item < 'c' GROUP BY tid"


@pytest.mark.slow
@each(
    "sql",
    [
        f"SELECT count(*) AS n FROM (SELECT DISTINCT a.tid, a.item FROM {COPIES} WHERE a.item < b.item)",
        f"SELECT count(*) AS n FROM (SELECT DISTINCT a.tid, a.item FROM {COPIES} WHERE a.item <> b.item)",
        f"SELECT a.item, count(DISTINCT a.tid) AS n FROM {COPIES} WHERE a.item < b.item GROUP BY a.item",
        f"SELECT sum(x) AS n, max(x) AS m FROM (SELECT a.tid, sum(ascii(a.item)) AS x FROM {COPIES} "
        "WHERE b.item IN ('b', 'c') GROUP BY a.tid)",
        "SELECT max(CASE WHEN item = 'a' THEN 1 ELSE 0 END) AS n FROM sales WHERE item IS NULL",
        "SELECT count(DISTINCT tid) AS n FROM (SELECT DISTINCT tid, item, length(item) AS x FROM sales WHERE item IS NULL)",
        f"{COUNTED} (SELECT DISTINCT a.tid, a.item < b.item AS x FROM {COPIES})",
        f"{COUNTED} sales a WHERE EXISTS (SELECT count(*) FROM sales b WHERE b.tid = a.tid AND b.item = 'c')",
        f"{COUNTED} sales a WHERE NOT EXISTS (SELECT max(item) FROM sales b WHERE b.tid = a.tid AND b.item = 'c')",
        f"{COUNTED} sales a WHERE EXISTS (SELECT product(2) FROM sales b WHERE b.tid = a.tid AND b.item = 'c')",
        f"{COUNTED} (SELECT product(2) AS p FROM sales)",
        f"{COUNTED} (SELECT tid FROM sales GROUP BY tid HAVING product(2) > 4)",
        f"{COUNTED} food f SEMI JOIN sales s ON f.node = s.item",
        f"{COUNTED} food f ANTI JOIN sales s ON f.node = s.item",
        f"{COUNTED} sales a WHERE (SELECT count(*) FROM sales b WHERE b.tid = a.tid HAVING count(*) > 2) > 1",
        f"{COUNTED} sales a WHERE (SELECT count(*) FROM sales b WHERE b.tid = a.tid LIMIT 0) > 1",
        f"{COUNTED} sales a WHERE (SELECT count(*) FROM sales b WHERE b.tid = a.tid OFFSET 1) IS NULL",
        f"{COUNTED} sales a WHERE coalesce((SELECT x.n FROM ({SIZES}) x WHERE x.tid = a.tid), 7) = 7",
        f"{COUNTED} sales a WHERE (SELECT 5 FROM sales b WHERE b.tid = a.tid AND b.item = 'c') = 5",
        f"{COUNTED} (SELECT tid FROM (SELECT tid, 7 AS g FROM sales UNION ALL SELECT tid, 7 FROM sales) GROUP BY tid, g)",
        f"{COUNTED} (SELECT tid, g FROM (SELECT tid, 1 AS g FROM sales UNION ALL {SIZES}) GROUP BY tid, g)",
        f"{COUNTED} (SELECT tid, 10 AS g FROM sales UNION ALL SELECT tid, '9' FROM sales) WHERE g < '9'",
        "SELECT x, y, count(*) AS n FROM (SELECT tid, item AS x, item AS y FROM sales) GROUP BY x, y",
        f"{COUNTED} ({CS}) WHERE n",
        f"{COUNTED} ({CS}) WHERE NOT n - 1",
        f"{COUNTED} ({CS}) WHERE n < 'inf'::DOUBLE",
        f"{COUNTED} ({CS}) WHERE n = 'nan'::DOUBLE",
        f"{COUNTED} (SELECT tid FROM sales GROUP BY tid HAVING count(*) FILTER (WHERE item = 'c'))",
        f"{COUNTED} (SELECT tid, sum(CASE WHEN item = 'a' THEN 1.5::DOUBLE ELSE 0 END) AS s, count(*) AS c "
        "FROM sales GROUP BY tid) WHERE s::BIGINT + c = 5",
        f"{COUNTED} sales WHERE 'no' OR item = 'a'",
        f"{COUNTED} sales WHERE CASE WHEN item = 'a' THEN 'false' ELSE 'true' END",
        f"{COUNTED} (SELECT tid, 5 AS g FROM sales UNION ALL SELECT tid, 2.5 FROM sales) WHERE g // 2 = 2",
    ],
)
def test_bounds_hold_the_truth(case: Case, sql: str) -> None:
    check_sound(*case, sql)


@pytest.mark.slow
def test_two_copies_with_other_items_are_counted_exactly(case: Case) -> None:
    sql = f"SELECT count(*) AS n FROM (SELECT DISTINCT a.tid, a.item FROM {COPIES} WHERE a.item <> b.item)"
    ((_, lower, upper),) = case[0].sql(sql).fetchall()
    assert lower == upper == sum(len(basket) for basket in BASKETS if len(basket) > 1)


@pytest.mark.parametrize("grouped", ["ROLLUP (parent)", "CUBE (k)", "GROUPING SETS ((1), ())"])
def test_totals_are_told_from_groups_of_null(case: Case, grouped: str) -> None:
    sql = f"SELECT parent AS k, count(*) AS n FROM sales LEFT JOIN food ON node = item GROUP BY {grouped}"
    true = sorted((str(k), n, n, n) for k, n in case[1].execute(sql).fetchall())
    assert sorted((str(row[0]), *row[1:]) for row in case[0].sql(sql).fetchall()) == true


@pytest.mark.slow
@each(
    "where",
    [
        "(a.item, b.item) IN (('a', 'b'), ('c', 'd'), ('j', 'k'), ('a', 'n'))",
        "(a.item, b.item) NOT IN (('a', 'b'), ('c', 'd')) AND a.item < b.item",
        "(a.item, b.item) = ('c', 'd') OR (b.item, a.item) = ('c', 'd')",
        "(a.item = 'a' AND b.item = 'b') OR (a.item = 'c' AND b.item <> 'd')",
        "(a.item = 'a' OR b.item = 'a') AND a.item <> b.item",
        "a.item < b.item AND NOT (a.item = 'b' AND b.item IN ('c', 'n'))",
        "(a.item IN ('a', 'b') OR b.item LIKE 'c%') AND b.item <> 'e'",
    ],
)
def test_conditions_on_both_items_of_a_pair(case: Case, where: str) -> None:
    sql = f"SELECT a.item AS one, b.item AS other, count(*) AS n FROM {COPIES} WHERE {where} GROUP BY a.item, b.item"
    check_sound(*case, sql)
    listed = {row[:2]: row[2:5] for row in case[0].sql(sql).fetchall() if row[4]}
    assert listed == {row[:2]: (row[2],) * 3 for row in case[1].execute(sql).fetchall()}
