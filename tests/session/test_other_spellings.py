"""Queries that are written with windows or other forms have the bounds of their plain spellings."""

from __future__ import annotations

import pytest
from each import each
from portions import FIRST_AND_OTHERS
from session.conftest import Named

SIZES = "(SELECT tid, count(*) AS n FROM sales GROUP BY tid)"
WINDOWS = [
    (
        "SELECT count(DISTINCT tid) AS n FROM (SELECT tid, count(*) OVER (PARTITION BY tid) AS c FROM sales) WHERE c = 1",
        f"SELECT count(*) AS n FROM {SIZES} WHERE n = 1",
    ),
    (
        "SELECT item, count(*) AS n FROM (SELECT * FROM sales QUALIFY count(*) OVER (PARTITION BY tid) > 1) GROUP BY item",
        "SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 1) "
        "GROUP BY item",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT tid, item, bool_or(item = 'milk') OVER (PARTITION BY tid) AS m FROM sales "
        "QUALIFY NOT m) WHERE item = 'bread'",
        "SELECT count(*) AS n FROM sales WHERE item = 'bread' AND tid NOT IN (SELECT tid FROM sales WHERE item = 'milk')",
    ),
    (
        "SELECT avg(c) AS n FROM (SELECT DISTINCT tid, count(*) FILTER (WHERE item <> 'milk') OVER (PARTITION BY tid) AS c "
        "FROM sales)",
        "SELECT avg(c) AS n FROM (SELECT tid, count(*) FILTER (WHERE item <> 'milk') AS c FROM sales GROUP BY tid)",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT count(*) OVER (PARTITION BY tid) AS c FROM sales WHERE item IN ('milk', 'figs')) "
        "WHERE c = 2",
        "SELECT 2 * count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'figs') GROUP BY tid "
        "HAVING count(*) = 2)",
    ),
    (
        "SELECT count(DISTINCT tid) AS n FROM (SELECT tid, sum(price) OVER (PARTITION BY tid) AS s FROM sales JOIN prices "
        "USING (item)) WHERE s > 3",
        "SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) > 3)",
    ),
]

NUMBERS = [
    (
        "SELECT sum(a * b) AS n FROM (SELECT count(*) FILTER (WHERE item = 'milk') AS a, "
        "count(*) FILTER (WHERE item = 'bread') AS b FROM sales GROUP BY tid)",
        "SELECT count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'milk' AND b.item = 'bread'",
    ),
    (
        "SELECT sum(a * (1 - b)) AS n FROM (SELECT count(*) FILTER (WHERE item = 'milk') AS a, "
        "count(*) FILTER (WHERE item = 'bread') AS b FROM sales GROUP BY tid)",
        "SELECT count(*) AS n FROM sales WHERE item = 'milk' AND tid NOT IN (SELECT tid FROM sales WHERE item = 'bread')",
    ),
    (
        "SELECT sum(d) AS n FROM (SELECT count(*) FILTER (WHERE item = 'milk') - count(*) FILTER (WHERE item = 'figs') AS d "
        "FROM sales GROUP BY tid)",
        "SELECT sum(CASE item WHEN 'milk' THEN 1 WHEN 'figs' THEN -1 ELSE 0 END) AS n FROM sales",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid "
        "HAVING max(price) = min(price) AND max(price) = 2)",
        "SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid "
        "HAVING max(price) = 2 AND min(price) = 2)",
    ),
    (
        "SELECT sum((t > 3)::INTEGER) AS n FROM (SELECT sum(price) AS t FROM sales JOIN prices USING (item) GROUP BY tid)",
        "SELECT count(*) AS n FROM (SELECT sum(price) AS t FROM sales JOIN prices USING (item) GROUP BY tid) WHERE t > 3",
    ),
    (
        "SELECT count(CASE item WHEN 'milk' THEN tid END) AS n FROM sales",
        "SELECT count(*) AS n FROM sales WHERE item = 'milk'",
    ),
]
TOTALS = [
    (
        "WITH t AS (SELECT count(*) AS t FROM sales) SELECT item, count(*) / any_value(t) AS n FROM sales, t GROUP BY item",
        "SELECT item, count(*) / (SELECT count(*) FROM sales) AS n FROM sales GROUP BY item",
    ),
    (
        "SELECT item, count(*) * 100.0 / t.n AS n FROM (SELECT count(DISTINCT tid) AS n FROM sales) t JOIN sales ON true "
        "GROUP BY item, t.n",
        "SELECT item, count(*) * 100.0 / (SELECT count(DISTINCT tid) FROM sales) AS n FROM sales GROUP BY item",
    ),
    (
        "WITH m AS (SELECT tid FROM sales WHERE item = 'milk'), k AS (SELECT count(*) AS k FROM sales) SELECT item, "
        "count(*) / max(k) AS n FROM sales JOIN m USING (tid) CROSS JOIN k GROUP BY ALL",
        "SELECT item, count(*) / (SELECT count(*) FROM sales) AS n FROM sales WHERE tid IN "
        "(SELECT tid FROM sales WHERE item = 'milk') GROUP BY item",
    ),
]

DISTINCT = [
    (
        "SELECT DISTINCT item, count(*) OVER (PARTITION BY item) AS n FROM sales",
        "SELECT item, count(*) AS n FROM sales GROUP BY item",
    ),
    (
        "SELECT DISTINCT item, count(*) OVER (PARTITION BY item) / count(*) OVER () AS n FROM sales",
        "SELECT item, count(*) / sum(count(*)) OVER () AS n FROM sales GROUP BY item",
    ),
    (
        "SELECT DISTINCT item, count(*) OVER (PARTITION BY item) AS n FROM sales QUALIFY n > 9",
        "SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 9",
    ),
    (
        "SELECT DISTINCT parent, item, sum(price) OVER (PARTITION BY parent) AS n FROM sales JOIN prices USING (item) "
        "JOIN food ON node = item",
        "SELECT parent, item, sum(sum(price)) OVER (PARTITION BY parent) AS n FROM sales JOIN prices USING (item) "
        "JOIN food ON node = item GROUP BY parent, item",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT DISTINCT item, count(*) OVER (PARTITION BY item) AS c FROM sales) WHERE c > 9",
        "SELECT count(*) AS n FROM (SELECT item FROM sales GROUP BY item HAVING count(*) > 9)",
    ),
]

GROUPS = [
    (
        "SELECT item, count(*) AS n FROM sales GROUP BY item QUALIFY count(*) > avg(count(*)) OVER ()",
        "WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE n > "
        "(SELECT avg(n) FROM c)",
    ),
    (
        "SELECT item, price * count(*) AS n FROM sales JOIN prices USING (item) GROUP BY item, price",
        "SELECT item, sum(price) AS n FROM sales JOIN prices USING (item) GROUP BY item",
    ),
    (
        "SELECT count(*) // 2 AS n FROM sales WHERE item = 'milk'",
        "SELECT trunc(count(*) / 2) AS n FROM sales WHERE item = 'milk'",
    ),
]
DEPENDENT = [
    (
        "WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT a.item, a.n, sum(b.n) AS m FROM c a "
        "JOIN c b ON b.item <= a.item GROUP BY a.item, a.n",
        "WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n, sum(n) OVER (ORDER BY item) AS m "
        "FROM c",
    ),
    (
        "SELECT c.item, c.n, count(*) FILTER (WHERE p.price > c.n) AS m, sum(c.n) OVER () AS t FROM (SELECT item, "
        "count(*) AS n FROM sales GROUP BY 1) c JOIN prices p USING (item) GROUP BY 1, 2 ORDER BY c.n",
        "SELECT c.item, c.n, (p.price > c.n)::INTEGER AS m, sum(c.n) OVER () AS t FROM (SELECT item, count(*) AS n "
        "FROM sales GROUP BY 1) c JOIN prices p USING (item)",
    ),
]

MILK, BREAD = (f"(SELECT tid FROM sales WHERE item = '{item}')" for item in ("milk", "bread"))
OUTER = [
    (
        f"SELECT count(*) AS n FROM {MILK} x FULL JOIN {BREAD} y ON x.tid = y.tid WHERE x.tid IS NULL",
        f"SELECT count(*) AS n FROM sales WHERE item = 'bread' AND tid NOT IN {MILK}",
    ),
    (
        f"SELECT count(*) AS n FROM {MILK} x FULL JOIN {BREAD} y ON x.tid = y.tid WHERE x.tid IS NULL OR y.tid IS NULL",
        "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid HAVING count(*) = 1)",
    ),
    (
        f"SELECT count(DISTINCT tid) AS n FROM {MILK} x FULL OUTER JOIN {BREAD} y USING (tid)",
        "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'bread')",
    ),
    (
        f"SELECT count(*) AS n FROM {MILK} x RIGHT JOIN (SELECT DISTINCT tid FROM sales) y ON y.tid = x.tid "
        "WHERE x.tid IS NULL",
        f"SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN {MILK}",
    ),
]

OFTEN = "(SELECT item FROM sales GROUP BY item HAVING count(*) > 9)"
CHOSEN = [
    (
        f"SELECT count(*) AS n FROM sales s JOIN {OFTEN} f USING (item)",
        f"SELECT count(*) AS n FROM sales WHERE item IN {OFTEN}",
    ),
    (
        "WITH c AS (SELECT item, count(*) AS k FROM sales GROUP BY item) SELECT count(DISTINCT tid) AS n FROM sales s "
        "JOIN c ON c.item = s.item WHERE c.k > 9 AND s.item <> 'milk'",
        f"SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN {OFTEN} AND item <> 'milk'",
    ),
    (
        f"SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN sales m USING (tid) JOIN {OFTEN} f ON f.item = s.item "
        "WHERE m.item = 'milk'",
        f"SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN {OFTEN} AND tid IN {MILK}",
    ),
    (
        f"SELECT tid IN {MILK} AS m, count(*) AS n FROM (SELECT DISTINCT tid FROM sales JOIN {OFTEN} f USING (item)) "
        "GROUP BY 1",
        f"SELECT tid IN {MILK} AS m, count(DISTINCT tid) AS n FROM sales WHERE item IN {OFTEN} GROUP BY 1",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) p WHERE 'milk' <> ALL (SELECT item FROM sales o "
        "WHERE o.tid = p.tid) AND 'bread' IN (SELECT item FROM sales o WHERE o.tid = p.tid)",
        f"SELECT count(*) AS n FROM sales WHERE item = 'bread' AND tid NOT IN {MILK}",
    ),
]


def rows(named: Named, sql: str) -> list[tuple[object, ...]]:
    """The rows of an answer, whose numbers all have lower bounds where nothing was suppressed."""
    result = named[1].sql(sql)
    bounds = [n for n, column in enumerate(result.columns) if column.endswith("_lower")]
    listed = result.fetchall()
    assert bounds and (named[0] == "suppressed" or all(row[n] is not None for row in listed for n in bounds)), sql
    rounded = [tuple(round(cell, 9) if isinstance(cell, float) else cell for cell in row) for row in listed]
    return sorted(rounded, key=repr)


@each(
    "sql",
    [
        "SELECT count(*) AS n FROM sales s FULL JOIN prices p ON p.item = s.item",
        "SELECT count(p.price) AS n FROM sales s RIGHT JOIN prices p USING (item)",
        "SELECT count(*) AS n FROM sales x FULL JOIN sales y ON x.tid = y.tid AND x.item = y.item",
    ],
)
def test_other_outer_joins_have_no_bounds(named: Named, sql: str) -> None:
    assert named[1].sql(sql).fetchall()[0][1:] == (None, None)


@each("sql, plain", DEPENDENT)
def test_a_number_of_a_group_is_no_key_beside_the_keys_of_the_group(named: Named, sql: str, plain: str) -> None:
    """A group that need not exist may have wider bounds."""
    one, two = (named[1].sql(text) for text in (sql, plain))
    assert one.columns == two.columns
    shown = [n for n, column in enumerate(one.columns) if not column.endswith(("_lower", "_upper"))]
    assert sorted([row[n] for n in shown] for row in one.fetchall()) == sorted(
        [row[n] for n in shown] for row in two.fetchall()
    )


@each("sql, plain", CHOSEN)
def test_a_join_with_chosen_items_is_a_condition_on_items(named: Named, sql: str, plain: str) -> None:
    if named[0] != "suppressed" or "<> ALL" in sql:
        assert rows(named, sql) == rows(named, plain)


def test_a_join_with_groups_by_more_than_the_item_has_no_bounds(named: Named) -> None:
    """An item may be in several of its groups, and each is a row."""
    of_two = "(SELECT item, count(*) AS k, left(item, 1) AS l FROM sales GROUP BY item, l)"
    for listed, on in ((of_two, "ON s.item = f.item"), (OFTEN, "ON s.item <> f.item"), (of_two, "ON s.item = f.l")):
        sql = f"SELECT count(*) AS n FROM sales s JOIN {listed} f {on}"
        assert named[1].sql(sql).fetchall()[0][1:] == (None, None)


OFTEN_SOLD = "(SELECT item FROM sales GROUP BY item HAVING count(*) > 9)"
BY_ITEM = [
    (
        "SELECT count(*) AS n FROM (SELECT item, count(*) OVER (PARTITION BY item) AS c FROM sales) WHERE c > 9",
        f"SELECT count(*) AS n FROM sales WHERE item IN {OFTEN_SOLD}",
    ),
    (
        "SELECT item, count(*) AS n FROM (SELECT tid, item FROM sales QUALIFY count(*) OVER (PARTITION BY item) > 9) "
        "GROUP BY item",
        f"SELECT item, count(*) AS n FROM sales WHERE item IN {OFTEN_SOLD} GROUP BY item",
    ),
    (
        "SELECT count(DISTINCT tid) AS n FROM "
        "(SELECT tid, item, count(DISTINCT tid) OVER (PARTITION BY item) AS c FROM sales) x "
        "WHERE x.c > 9 AND x.item <> 'milk'",
        f"SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN {OFTEN_SOLD} AND item <> 'milk'",
    ),
    (
        "SELECT sum(price) AS n FROM "
        "(SELECT price, count(*) OVER (PARTITION BY item) AS c FROM sales JOIN prices USING (item) WHERE item <> 'figs') "
        "WHERE c > 9",
        f"SELECT sum(price) AS n FROM sales JOIN prices USING (item) WHERE item <> 'figs' AND item IN {OFTEN_SOLD}",
    ),
]


PRICE = "(SELECT price FROM prices p WHERE p.item = s.item)"
LOOKED_UP = [
    (f"SELECT sum({PRICE}) AS n FROM sales s", "SELECT sum(price) AS n FROM sales JOIN prices USING (item)"),
    (
        f"SELECT count(*) AS n FROM sales s WHERE {PRICE} > 1.5",
        "SELECT count(*) AS n FROM sales JOIN prices USING (item) WHERE price > 1.5",
    ),
    (
        f"SELECT sum({PRICE}) AS n FROM sales s, sales o WHERE s.tid = o.tid AND o.item = 'milk'",
        "SELECT sum(price) AS n FROM sales s JOIN prices USING (item) JOIN sales o ON s.tid = o.tid WHERE o.item = 'milk'",
    ),
    (
        f"SELECT item, v, {PRICE} AS p, n FROM (SELECT item, 1 AS v, count(*) AS n FROM sales GROUP BY item) s ORDER BY 1",
        "SELECT item, 1 AS v, price AS p, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) "
        "LEFT JOIN prices USING (item) ORDER BY 1",
    ),
    (
        f"SELECT {PRICE} AS p, count(*) AS n FROM sales s GROUP BY {PRICE} ORDER BY 1, 2",
        "SELECT price AS p, count(*) AS n FROM sales LEFT JOIN prices USING (item) GROUP BY price ORDER BY 1, 2",
    ),
    (
        f"SELECT s.item, count(*) * coalesce({PRICE}, 0) AS n FROM sales s GROUP BY s.item ORDER BY 1",
        "SELECT item, count(*) * coalesce(price, 0) AS n FROM sales LEFT JOIN prices USING (item) GROUP BY item, price "
        "ORDER BY 1",
    ),
    (
        f"SELECT item, n, {PRICE} AS p FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) s ORDER BY 1",
        "SELECT item, n, price AS p FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) "
        "LEFT JOIN prices USING (item) ORDER BY 1",
    ),
    (
        f"SELECT count(*) AS n FROM (SELECT tid FROM sales s GROUP BY tid HAVING sum({PRICE}) > 3)",
        "SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) > 3)",
    ),
]


WRITTEN = [
    (
        "SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING min(item) = max(item))",
        f"SELECT count(*) AS n FROM {SIZES} WHERE n = 1",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item <> 'milk' GROUP BY tid HAVING min(item) <> max(item))",
        "SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item <> 'milk' GROUP BY tid HAVING count(*) > 1)",
    ),
    (f"SELECT pow(stddev_pop(n), 2) AS n FROM {SIZES}", f"SELECT var_pop(n) AS n FROM {SIZES}"),
    (
        "SELECT count(*) ** 2 AS n FROM sales WHERE item = 'milk'",
        "SELECT count(*) * count(*) AS n FROM sales WHERE item = 'milk'",
    ),
]

EQUAL = {
    "an aggregate over the rows of a person is that of GROUP BY the id": WINDOWS,
    "a value of several numbers of a person is that for each value of one": NUMBERS,
    "a row of totals beside persons is a constant": TOTALS,
    "different rows of windows are groups": DISTINCT,
    "numbers of groups may be written in another way": GROUPS,
    "persons of an outer join are those of either side": OUTER,
    "a condition on all rows of an item chooses items": BY_ITEM,
    "a value that a subquery looks up is that of a join": LOOKED_UP,
    "numbers of persons may be written in another way": WRITTEN,
}


@pytest.mark.parametrize("part", FIRST_AND_OTHERS)
@pytest.mark.parametrize("pairs", EQUAL.values(), ids=EQUAL)
def test_other_spellings_have_the_bounds_of_plain_ones(named: Named, pairs: list[tuple[str, str]], part: slice) -> None:
    assert not [sql for sql, plain in pairs[part] if rows(named, sql) != rows(named, plain)]


def test_a_name_for_other_rows_than_the_tables_is_read_as_it_is(named: Named) -> None:
    """NULL is a value of PARTITION BY, and none of IN."""
    milk = "WITH sales AS (SELECT tid, CASE WHEN item = 'milk' THEN item END AS item FROM sales)"
    result = named[1].sql(
        f"{milk} SELECT count(*) AS n FROM (SELECT tid FROM sales QUALIFY count(*) OVER (PARTITION BY item) > 1)"
    )
    (((number, *bounds),)) = result.fetchall()
    assert number > 0 and bounds == [None, None]
