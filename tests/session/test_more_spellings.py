"""Further queries that are written in other ways, and have the bounds of their plain spellings."""

from __future__ import annotations

import pytest
from each import each
from session.conftest import Named
from session.test_other_spellings import rows

SIZES = "(SELECT tid, count(*) AS n FROM sales GROUP BY tid)"
PARENTS = (
    "SELECT k, count(*) AS n FROM (SELECT tid, count(DISTINCT parent) AS k FROM sales JOIN food ON node = item "
    "GROUP BY tid) GROUP BY k"
)
KINDS = [
    (
        "SELECT k, count(*) AS n FROM (SELECT tid, count(*) AS k FROM (SELECT DISTINCT tid, parent FROM sales JOIN food "
        "ON node = item) GROUP BY tid) GROUP BY k",
        PARENTS,
    ),
    (
        "WITH p AS (SELECT tid, parent FROM sales, food WHERE node = item GROUP BY tid, parent) SELECT k, count(*) AS n "
        "FROM (SELECT tid, count(parent) AS k FROM p GROUP BY tid) GROUP BY 1",
        PARENTS,
    ),
]
BANDS = [
    (
        "SELECT b, count(*) AS n FROM (SELECT tid, if(sum(price) >= 5, 'high', if(sum(price) >= 3, 'mid', 'low')) AS b "
        "FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY b",
        "SELECT CASE WHEN t >= 5 THEN 'high' WHEN t >= 3 THEN 'mid' ELSE 'low' END AS b, count(*) AS n FROM (SELECT tid, "
        "sum(price) AS t FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY 1",
    ),
]
NUMBERED = "SELECT tid, item, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales"
FIRST = "SELECT i, count(*) AS n FROM (SELECT tid, min(item) AS i FROM sales GROUP BY tid) GROUP BY i"
PLACES = [
    (f"SELECT count(*) AS n FROM ({NUMBERED}) WHERE r = 1", "SELECT count(DISTINCT tid) AS n FROM sales"),
    (
        "SELECT count(*) AS n FROM (SELECT tid FROM sales QUALIFY rank() OVER (PARTITION BY tid ORDER BY item) <= 2)",
        f"SELECT sum(least(n, 2)) AS n FROM {SIZES}",
    ),
    (
        f"SELECT count(DISTINCT tid) AS n FROM ({NUMBERED}) WHERE r = 3",
        f"SELECT count(*) AS n FROM {SIZES} WHERE n >= 3",
    ),
    (f"SELECT item AS i, count(*) AS n FROM ({NUMBERED}) WHERE r = 1 GROUP BY item", FIRST),
    (
        "SELECT i, count(*) AS n FROM (SELECT DISTINCT ON (tid) tid, item AS i FROM sales ORDER BY tid, item) GROUP BY i",
        FIRST,
    ),
    (
        f"SELECT count(*) AS n FROM ({NUMBERED}) WHERE item = 'milk' AND r = 1",
        f"SELECT n FROM ({FIRST}) WHERE i = 'milk'".replace("SELECT n FROM", "SELECT sum(n) AS n FROM"),
    ),
    (
        "SELECT price AS m, count(*) AS n FROM (SELECT tid, price FROM sales JOIN prices USING (item) QUALIFY "
        "row_number() OVER (PARTITION BY tid ORDER BY price DESC, item) = 1) GROUP BY ALL",
        "SELECT m, count(*) AS n FROM (SELECT tid, max(price) AS m FROM sales JOIN prices USING (item) GROUP BY tid) "
        "GROUP BY m",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT tid, row_number() OVER (PARTITION BY tid) AS r FROM sales WHERE "
        "item IN ('milk', 'bread', 'figs') UNION ALL SELECT tid, 5 AS r FROM sales) WHERE r = 2",
        "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread', 'figs') GROUP BY tid "
        "HAVING count(*) > 1)",
    ),
]
UNKNOWN_PLACES = [
    f"SELECT item, count(*) AS n FROM ({NUMBERED}) WHERE r = 2 GROUP BY item",
    "SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) QUALIFY rank() OVER (PARTITION BY tid "
    "ORDER BY price) = 1)",
    "SELECT item, count(*) AS n FROM (SELECT tid, item, row_number() OVER (PARTITION BY tid ORDER BY item NULLS FIRST) "
    "AS r FROM sales) WHERE r = 1 GROUP BY item",
    f"SELECT count(*) AS n FROM ({NUMBERED}) x JOIN sales y USING (tid) WHERE x.item = y.item AND r = 2",
]
EQUAL = {
    "rows of kinds of items are counted as the kinds": KINDS,
    "CASE may stand in CASE": BANDS,
    "rows have places": PLACES,
}


@pytest.mark.parametrize("pairs", EQUAL.values(), ids=EQUAL)
def test_more_spellings_have_the_bounds_of_plain_ones(named: Named, pairs: list[tuple[str, str]]) -> None:
    if named[0] == "suppressed":
        pairs = [(sql, plain) for sql, plain in pairs if "food" not in sql and pairs is not PLACES]
    assert not [sql for sql, plain in pairs if rows(named, sql) != rows(named, plain)]


@each("sql", UNKNOWN_PLACES)
def test_the_items_at_a_place_are_not_known(named: Named, sql: str) -> None:
    assert {row[-2:] for row in named[1].sql(sql).fetchall()} == {(None, None)}
