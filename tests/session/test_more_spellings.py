"""Further queries that are written in other ways, and have the bounds of their plain spellings."""

from __future__ import annotations

import pytest
from each import each
from portions import FIRST_AND_OTHERS
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
MILK = "(SELECT tid FROM sales WHERE item = 'milk')"
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
OFTEN = "(SELECT item FROM sales GROUP BY item HAVING count(*) > 9)"
COUNTS = "SELECT item, count(*) AS n FROM sales GROUP BY item"
BEST = f"WITH c AS ({COUNTS}) SELECT item, n FROM c WHERE n = (SELECT max(n) FROM c)"
BY_ITEM = [
    ("SELECT DISTINCT item, (SELECT count(*) FROM sales o WHERE o.item = s.item) AS n FROM sales s", COUNTS),
    (
        "SELECT count(*) AS n FROM sales s WHERE (SELECT count(*) FROM sales o WHERE o.item = s.item) > 9",
        f"SELECT count(*) AS n FROM sales WHERE item IN {OFTEN}",
    ),
    (
        "SELECT count(DISTINCT tid) AS n FROM sales s JOIN prices USING (item) WHERE price < 3 AND "
        "9 < (SELECT count(o.tid) FROM sales AS o WHERE s.item = o.item)",
        f"SELECT count(DISTINCT tid) AS n FROM sales JOIN prices USING (item) WHERE price < 3 AND item IN {OFTEN}",
    ),
    (
        "SELECT count(*) AS n FROM sales JOIN (SELECT item, count(*) AS c FROM sales GROUP BY item) USING (item) "
        "WHERE c > 9",
        f"SELECT count(*) AS n FROM sales WHERE item IN {OFTEN}",
    ),
]
LATERAL = [
    (
        "SELECT i.item, l.n FROM (SELECT DISTINCT item FROM sales) i, LATERAL (SELECT count(*) AS n FROM sales s "
        "WHERE s.item = i.item) l",
        COUNTS,
    ),
    (
        f"SELECT c.item, c.n * 100.0 / l.s AS n FROM ({COUNTS}) c CROSS JOIN LATERAL (SELECT count(*) AS s FROM sales) l",
        "SELECT item, count(*) * 100.0 / (SELECT count(*) FROM sales) AS n FROM sales GROUP BY item",
    ),
    (
        "SELECT i, n FROM (VALUES ('milk'), ('figs'), ('caviar')) v(i) LEFT JOIN LATERAL (SELECT count(*) FROM sales "
        "WHERE item = v.i) l(n) ON true ORDER BY n",
        "SELECT i, (SELECT count(*) FROM sales WHERE item = v.i) AS n FROM (VALUES ('milk'), ('figs'), ('caviar')) v(i)",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) p, LATERAL (SELECT count(*) AS k FROM sales s WHERE "
        "s.tid = p.tid AND s.item <> 'milk') l WHERE l.k > 1",
        "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item <> 'milk' GROUP BY tid HAVING count(*) > 1)",
    ),
]
GREATER = "d.n > c.n AND d.item <> c.item"
EXTREMES = [
    (
        f"SELECT item, first_value(n) OVER (ORDER BY n DESC) - n AS n FROM ({COUNTS})",
        f"SELECT item, max(n) OVER () - n AS n FROM ({COUNTS})",
    ),
    (
        "SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) >= ALL "
        "(SELECT count(*) FROM sales GROUP BY item)",
        BEST,
    ),
    (
        f"WITH c AS ({COUNTS}) SELECT item, n FROM c WHERE NOT EXISTS (SELECT 1 FROM c d WHERE d.n > c.n)",
        f"WITH c AS ({COUNTS}) SELECT item, n FROM c WHERE NOT EXISTS (FROM c d WHERE {GREATER})",
    ),
    (f"WITH c AS ({COUNTS}) SELECT item, n FROM c WHERE n >= ALL (SELECT n FROM c)", BEST),
    (
        f"WITH c AS ({COUNTS}) SELECT item, n FROM c WHERE EXISTS (SELECT 1 FROM c d WHERE c.n < d.n)",
        f"WITH c AS ({COUNTS}) SELECT item, n FROM c WHERE EXISTS (FROM c d WHERE {GREATER})",
    ),
]
ALL_THREE = (
    "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'butter', 'rolls') GROUP BY tid "
    "HAVING count(*) = 3)"
)
DAIRY = "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'butter') GROUP BY tid HAVING count(*) = 2)"
DIVISION = [
    (
        "SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales s WHERE NOT EXISTS (SELECT 1 FROM (VALUES ('milk'), "
        "('butter'), ('rolls')) v(i) WHERE NOT EXISTS (SELECT 1 FROM sales t WHERE t.tid = s.tid AND t.item = v.i)))",
        ALL_THREE,
    ),
    (
        "SELECT count(DISTINCT s.tid) AS n FROM sales s WHERE NOT EXISTS (FROM food f WHERE parent = 'dairy' AND "
        "f.node NOT IN (SELECT t.item FROM sales t WHERE t.tid = s.tid))",
        DAIRY,
    ),
    (
        "SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON node = item AND parent = 'dairy' GROUP BY tid "
        "HAVING count(*) = (SELECT count(*) FROM food WHERE parent = 'dairy'))",
        DAIRY,
    ),
    (
        "SELECT count(DISTINCT s.tid) AS n FROM sales s WHERE EXISTS (SELECT 1 FROM food f WHERE f.parent = 'dairy' AND "
        "EXISTS (SELECT 1 FROM sales t WHERE t.tid = s.tid AND t.item = node))",
        "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'butter')",
    ),
]
LISTS = [
    (
        f"SELECT count(*) AS n FROM (SELECT item FROM sales EXCEPT SELECT item FROM sales WHERE tid IN {MILK})",
        f"SELECT count(DISTINCT item) AS n FROM sales WHERE item NOT IN (SELECT item FROM sales WHERE tid IN {MILK})",
    ),
    (
        f"SELECT count(*) AS n FROM (SELECT item FROM sales WHERE tid IN {MILK} INTERSECT SELECT item FROM sales "
        "WHERE tid IN (SELECT tid FROM sales WHERE item = 'bread'))",
        f"SELECT count(*) AS n FROM (SELECT item FROM sales GROUP BY item HAVING bool_or(tid IN {MILK}) AND "
        "bool_or(tid IN (SELECT tid FROM sales WHERE item = 'bread')))",
    ),
]
DEAREST = [
    (
        "SELECT price AS m, count(DISTINCT tid) AS n FROM (SELECT tid, price, max(price) OVER (PARTITION BY tid) AS t "
        "FROM sales JOIN prices USING (item)) WHERE price = t GROUP BY price",
        "SELECT m, count(*) AS n FROM (SELECT tid, max(price) AS m FROM sales JOIN prices USING (item) GROUP BY tid) "
        "GROUP BY m",
    ),
    (
        "SELECT item AS i, count(*) AS n FROM sales s WHERE item = (SELECT min(item) FROM sales o WHERE o.tid = s.tid) "
        "GROUP BY item",
        FIRST,
    ),
]
CLASS = "CASE WHEN n > 9 THEN 'often' WHEN n > 4 THEN 'some' END"
BY_CLASS = [
    (
        f"SELECT {CLASS} AS c, count(*) AS n FROM ({COUNTS}) GROUP BY 1",
        f"WITH c AS ({COUNTS}) SELECT 'often' AS c, count(*) AS n FROM c WHERE n > 9 HAVING count(*) > 0 UNION ALL SELECT "
        "'some', count(*) FROM c WHERE n > 4 AND NOT n > 9 HAVING count(*) > 0 UNION ALL SELECT NULL, count(*) FROM c "
        "WHERE NOT n > 4 HAVING count(*) > 0",
    ),
    (
        f"SELECT c, count(*) AS n FROM (SELECT {CLASS} AS c FROM ({COUNTS})) x WHERE c IS NOT NULL GROUP BY x.c",
        f"WITH c AS ({COUNTS}) SELECT 'often' AS c, count(*) AS n FROM c WHERE n > 9 HAVING count(*) > 0 UNION ALL SELECT "
        "'some', count(*) FROM c WHERE n > 4 AND NOT n > 9 HAVING count(*) > 0",
    ),
]
TWO_OF_THREE = (
    "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread', 'figs') GROUP BY tid "
    "HAVING count(*) >= 2)"
)
ITEMS = "(SELECT tid, list(item) AS l FROM sales GROUP BY tid)"
PARTS = [
    (f"SELECT count(*) AS n FROM {ITEMS} WHERE len(list_intersect(l, ['milk', 'bread', 'figs'])) >= 2", TWO_OF_THREE),
    (
        f"SELECT count(*) AS n FROM {ITEMS} WHERE len(list_filter(l, lambda item: item IN ('milk', 'bread', 'figs'))) > 1",
        TWO_OF_THREE,
    ),
    (
        "SELECT count(*) AS n FROM (SELECT tid, sum((item = 'milk')::INT) + count(*) FILTER (item = 'bread') + "
        "count_if(item = 'figs') AS k FROM sales GROUP BY tid) WHERE k > 1.5",
        TWO_OF_THREE,
    ),
    ("SELECT count(DISTINCT (tid, item)) AS n FROM sales", "SELECT count(*) AS n FROM sales"),
]
NOTHING_ELSE = (
    "SELECT item, count(*) AS n FROM sales s WHERE NOT EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND "
    "o.item <> s.item) GROUP BY item"
)
ONE_ITEM = (
    "SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 1) "
    "GROUP BY item"
)
EQUAL = {
    "parts of the items of a person are counted": PARTS,
    "persons may have all items of a list": DIVISION,
    "lists of items are compared": LISTS,
    "the value of a row is compared with that of its person": DEAREST,
    "rows of kinds of items are counted as the kinds": KINDS,
    "CASE may stand in CASE": BANDS,
    "rows have places": PLACES,
    "rows of the item of a row are a group": BY_ITEM,
    "LATERAL aggregates are subqueries": LATERAL,
    "all counts are compared with an extreme": EXTREMES,
}


@pytest.mark.parametrize("part", FIRST_AND_OTHERS)
@pytest.mark.parametrize("pairs", EQUAL.values(), ids=EQUAL)
def test_more_spellings_have_the_bounds_of_plain_ones(named: Named, pairs: list[tuple[str, str]], part: slice) -> None:
    if named[0] == "suppressed":
        pairs = [(sql, plain) for sql, plain in pairs if "food" not in sql and pairs is not PLACES]
    assert not [sql for sql, plain in pairs[part] if rows(named, sql) != rows(named, plain)]


def test_those_who_have_nothing_else_lie_within_those_with_one_item(named: Named) -> None:
    """Each of the few items is asked for, of which item supports tell more."""
    plain = {row[0]: row for row in rows(named, ONE_ITEM)}
    found = {row[0]: row for row in rows(named, NOTHING_ELSE)}
    assert found.keys() == plain.keys()
    for item, (_, estimate, low, high, *_) in found.items():
        _, other, lower, upper, *_ = plain[item]
        assert estimate == other and lower <= low and (upper is None or high <= upper)
        assert named[0] == "supports" or (low, high) == (lower, upper)


@each("sql", UNKNOWN_PLACES)
def test_the_items_at_a_place_are_not_known(named: Named, sql: str) -> None:
    assert {row[-2:] for row in named[1].sql(sql).fetchall()} == {(None, None)}


OTHERS = [
    "WITH sales AS (SELECT tid, item FROM sales WHERE item <> 'figs') SELECT count(*) AS n FROM sales s WHERE "
    "(SELECT count(*) FROM sales o WHERE o.item = s.item) > 9",
    "SELECT count(DISTINCT s.tid) AS n FROM sales s LEFT JOIN sales m ON m.tid = s.tid AND m.item = 'milk' WHERE "
    "(SELECT count(*) FROM sales o WHERE o.item = m.item) < 9",
    "SELECT count(*) AS n FROM sales s WHERE (SELECT count(*) FROM sales o(item, tid) WHERE o.item = s.tid) = 1",
]


@each("sql", OTHERS)
def test_other_rows_than_those_of_the_item_are_no_group(named: Named, sql: str) -> None:
    (((number, low, high)),) = named[1].sql(sql).fetchall()
    assert low is None or (low <= number and (high is None or number <= high))


@each("sql, plain", BY_CLASS)
def test_a_case_of_counts_divides_groups(named: Named, sql: str, plain: str) -> None:
    """A group that some worlds lack counts 0 there in one spelling alone."""
    if named[0] != "suppressed":
        one, two = ([(row[0], *row[2:]) for row in rows(named, text)] for text in (sql, plain))
        assert one == two
