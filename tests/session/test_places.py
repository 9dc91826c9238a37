"""Places in an order: rows that windows number, rows up to each, EXISTS of rows with other values."""

from __future__ import annotations

import pytest
from each import each

from anondb import Session

Named = tuple[str, Session]
SIZES = "SELECT tid, count(*) AS n FROM sales GROUP BY tid"
SPENT = "SELECT tid, sum(price) AS n FROM sales JOIN prices USING (item) GROUP BY tid"
P = f"WITH p AS ({SIZES})"
UP_TO = f"{P} SELECT k.n, (SELECT count(*) FROM p WHERE p.n <= k.n) AS c FROM (SELECT DISTINCT n FROM p) k"
NUMBERED = "n, row_number() OVER (ORDER BY n) AS r, count(*) OVER () AS t, cume_dist() OVER (ORDER BY n) AS c"
PRICED = "sales s JOIN prices p ON p.item = s.item"
OTHERS = "SELECT 1 FROM sales t JOIN prices q ON q.item = t.item WHERE t.tid = s.tid AND q.price"
PARENT_OF = "WITH s AS (SELECT tid, item, parent FROM sales JOIN food ON node = item)"
PARENTS = "sales s JOIN food f ON f.node = s.item"
ITEMS = "SELECT item, count(*) AS n FROM sales GROUP BY item"
FLAGS = (
    "SELECT max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS x, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS y "
    "FROM sales GROUP BY tid"
)
PAIRS = [
    (
        "SELECT max(k) AS n FROM (SELECT dense_rank() OVER (ORDER BY tid) AS k FROM sales)",
        "SELECT count(DISTINCT tid) AS n FROM sales",
    ),
    (
        "SELECT item, max(k) AS n FROM (SELECT item, row_number() OVER (PARTITION BY item ORDER BY tid) AS k FROM sales) "
        "GROUP BY item HAVING max(k) > 4",
        "SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 4",
    ),
    (
        "SELECT k, count(*) AS n FROM (SELECT tid, max(d) AS k FROM (SELECT s.tid, dense_rank() OVER (PARTITION BY s.tid "
        f"ORDER BY f.parent) AS d FROM {PARENTS}) GROUP BY tid) GROUP BY k",
        f"SELECT k, count(*) AS n FROM (SELECT count(DISTINCT f.parent) AS k FROM {PARENTS} GROUP BY s.tid) GROUP BY k",
    ),
    (
        "SELECT count(*) FILTER (WHERE r = 1) / count(DISTINCT tid) AS n FROM (SELECT tid, row_number() OVER (PARTITION BY "
        f"tid, parent ORDER BY item) AS r FROM {PARENTS})",
        f"SELECT count(*) / (SELECT count(DISTINCT tid) FROM {PARENTS}) AS n "
        f"FROM (SELECT DISTINCT s.tid, f.parent FROM {PARENTS})",
    ),
    (
        f"SELECT count(*) AS n FROM (SELECT min(price) AS v, max(price) AS w FROM {PRICED} GROUP BY s.tid) WHERE v = w",
        f"SELECT count(*) AS n FROM (SELECT s.tid FROM {PRICED} GROUP BY s.tid HAVING count(DISTINCT price) = 1)",
    ),
    (
        f"SELECT count(*) AS n FROM (SELECT min(f.parent) AS v, max(f.parent) AS w FROM {PARENTS} GROUP BY s.tid) "
        "WHERE v < w",
        f"SELECT count(*) AS n FROM (SELECT s.tid FROM {PARENTS} GROUP BY s.tid HAVING count(DISTINCT f.parent) >= 2)",
    ),
    (
        f"WITH c AS ({ITEMS}), t AS (SELECT sum(n) AS total FROM c) SELECT c.item, c.n / t.total AS n, t.total FROM c, t",
        f"WITH c AS ({ITEMS}) SELECT item, n / sum(n) OVER () AS n, (SELECT sum(d.n) FROM c d) AS total FROM c",
    ),
    (
        f"SELECT s.item, sum(CASE WHEN price > 1 THEN n ELSE 0 END) / sum(n) AS n, max(price) AS p FROM (SELECT s.item, "
        f"price, count(*) AS n FROM {PRICED} GROUP BY ALL) s GROUP BY s.item",
        f"SELECT s.item, avg(CASE WHEN price > 1 THEN 1 ELSE 0 END) AS n, max(price) AS p FROM {PRICED} GROUP BY s.item",
    ),
    (
        f"SELECT price, count(*) - sum(CASE WHEN s.item = 'milk' THEN 1 ELSE 0 END) AS n FROM {PRICED} GROUP BY price",
        f"SELECT price, count(*) FILTER (WHERE s.item <> 'milk') AS n FROM {PRICED} GROUP BY price",
    ),
    (
        "SELECT price, count(*) - count(*) FILTER (WHERE s.item = 'milk') - count(CASE WHEN s.item = 'bread' THEN 1 END) "
        f"AS n FROM {PRICED} GROUP BY price",
        f"SELECT price, count(*) FILTER (WHERE s.item NOT IN ('milk', 'bread')) AS n FROM {PRICED} GROUP BY price",
    ),
    (
        f"WITH c AS (SELECT DISTINCT s.tid, f.parent AS v FROM {PARENTS}) SELECT least(a.v, b.v) AS k, greatest(a.v, b.v) "
        "AS l, count(DISTINCT a.tid) AS n FROM c a JOIN c b USING (tid) WHERE a.v <> b.v GROUP BY 1, 2",
        f"WITH c AS (SELECT s.tid, f.parent AS v FROM {PARENTS}) SELECT a.v AS k, b.v AS l, count(DISTINCT a.tid) AS n "
        "FROM c a JOIN c b ON a.tid = b.tid WHERE b.v > a.v GROUP BY 1, 2",
    ),
    (
        "SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN prices p ON p.item = s.item JOIN sales t ON t.tid = s.tid "
        "JOIN prices q ON q.item = t.item WHERE s.item = 'milk' AND p.price < q.price",
        "SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN sales t USING (tid) WHERE s.item = 'milk' "
        "AND t.item IN ('bread', 'butter')",
    ),
    (
        "WITH d AS (SELECT count(*) AS n FROM sales WHERE item = 'dates'), t AS (SELECT count(DISTINCT tid) AS n FROM "
        "sales) SELECT 1 AS k, 1 / nullif(d.n / t.n, 0) AS n FROM d, t",
        "SELECT 1 AS k, count(DISTINCT tid) / nullif(count(*) FILTER (WHERE item = 'dates'), 0) AS n FROM sales",
    ),
    (f"SELECT 1 AS k, covar_pop(n, n) AS n FROM ({SIZES})", f"SELECT 1 AS k, var_pop(n) AS n FROM ({SIZES})"),
    (
        f"SELECT 1 AS k, var_pop(x) AS n, corr(x, y) AS r FROM ({FLAGS})",
        f"SELECT 1 AS k, avg(x) * (1 - avg(x)) AS n, covar_pop(x, y) / (stddev_pop(x) * stddev_pop(y)) AS r FROM ({FLAGS})",
    ),
    (
        f"SELECT avg(n) AS n FROM (SELECT {NUMBERED} FROM ({SIZES})) WHERE r IN ((t + 1) // 2, (t + 2) // 2)",
        f"SELECT median(n) AS n FROM ({SIZES})",
    ),
    (
        f"SELECT min(n) FILTER (WHERE c >= 0.25) AS a, max(n) FILTER (WHERE r = ceil(0.9 * t)) AS b "
        f"FROM (SELECT {NUMBERED} FROM ({SPENT}))",
        f"SELECT quantile_disc(n, 0.25) AS a, quantile_disc(n, 0.9) AS b FROM ({SPENT})",
    ),
    (
        f"{P}, h AS (SELECT n, count(*) AS c FROM p GROUP BY n) SELECT min(n) AS n FROM (SELECT n, sum(c) OVER (ORDER BY n) "
        "AS r, sum(c) OVER () AS t FROM h) WHERE r * 10 >= t * 9",
        f"SELECT quantile_disc(n, 0.9) AS n FROM ({SIZES})",
    ),
    (f"{P} SELECT a.n, count(DISTINCT b.tid) AS c FROM p a JOIN p b ON b.n <= a.n GROUP BY a.n", UP_TO),
    (f"{P} SELECT a.n, count(*) AS c FROM (SELECT DISTINCT n FROM p) a, p b WHERE b.n <= a.n GROUP BY a.n", UP_TO),
    (f"{P} SELECT a.n, count(b.tid) AS c FROM (SELECT n FROM p GROUP BY n) a LEFT JOIN p b ON b.n <= a.n GROUP BY 1", UP_TO),
    (f"{P} SELECT DISTINCT n, count(*) OVER (ORDER BY n) AS c FROM p", UP_TO),
    (
        f"{P} SELECT DISTINCT n, cume_dist() OVER (ORDER BY n) AS c FROM p",
        UP_TO.replace(" AS c", " / (SELECT count(*) FROM p) AS c"),
    ),
    (f"{P} SELECT n, sum(count(*)) OVER (ORDER BY n) AS c FROM p GROUP BY n", UP_TO),
    (f"{P}, h AS (SELECT n, count(*) AS k FROM p GROUP BY n) SELECT n, sum(k) OVER (ORDER BY n) AS c FROM h", UP_TO),
    (
        "SELECT i.item, avg(CASE WHEN s.tid IS NULL THEN 0 ELSE 1 END) AS n FROM (SELECT DISTINCT item FROM sales) i "
        "CROSS JOIN (SELECT DISTINCT tid FROM sales) p LEFT JOIN sales s ON s.item = i.item AND s.tid = p.tid GROUP BY 1",
        "SELECT item, count(*) / (SELECT count(DISTINCT tid) FROM sales) AS n FROM sales GROUP BY item",
    ),
    (
        f"SELECT p.price, count(DISTINCT s.tid) AS n FROM {PRICED} WHERE NOT EXISTS ({OTHERS} > p.price) GROUP BY p.price",
        f"SELECT top, count(*) AS n FROM (SELECT max(p.price) AS top FROM {PRICED} GROUP BY tid) GROUP BY top",
    ),
    (
        f"SELECT count(DISTINCT s.tid) AS n FROM {PRICED} WHERE EXISTS ({OTHERS} <> p.price)",
        f"SELECT count(*) AS n FROM (SELECT tid FROM {PRICED} GROUP BY tid HAVING count(DISTINCT p.price) > 1)",
    ),
    (
        "SELECT c AS n, count(*) / c AS k FROM (SELECT count(*) OVER (PARTITION BY tid) AS c FROM sales) GROUP BY c",
        f"SELECT n, count(*) AS k FROM ({SIZES}) GROUP BY n",
    ),
    (
        "WITH g AS (SELECT i.item, p.tid, EXISTS (SELECT 1 FROM sales s WHERE s.tid = p.tid AND s.item = i.item) AS has "
        "FROM (SELECT DISTINCT item FROM sales) i CROSS JOIN (SELECT DISTINCT tid FROM sales) p) "
        "SELECT item, avg(has::INT) AS n FROM g GROUP BY item",
        "SELECT item, count(*) / (SELECT count(DISTINCT tid) FROM sales) AS n FROM sales GROUP BY item",
    ),
    (
        "SELECT b[1] AS k, count(*) AS n FROM (SELECT list(item) AS b FROM sales GROUP BY tid) WHERE len(b) = 1 GROUP BY 1",
        "SELECT k, count(*) AS n FROM (SELECT min(item) AS k FROM sales GROUP BY tid HAVING count(*) = 1) GROUP BY k",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT list(item) AS l FROM sales GROUP BY tid) WHERE list_has_any(l, "
        "(SELECT list(node) FROM food WHERE parent = 'dairy'))",
        "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN (SELECT node FROM food WHERE parent = 'dairy')",
    ),
    (
        "SELECT avg(n) FILTER (WHERE n > 0) AS n FROM (SELECT sum(CASE WHEN parent = 'dairy' THEN price ELSE 0 END) AS n "
        "FROM sales JOIN prices USING (item) JOIN food ON node = item GROUP BY tid)",
        "SELECT avg(n) AS n FROM (SELECT sum(price) AS n FROM sales JOIN prices USING (item) JOIN food ON node = item "
        "WHERE parent = 'dairy' GROUP BY tid)",
    ),
    (
        "SELECT a.item, count(*) / count(DISTINCT a.tid) AS n FROM sales a JOIN sales b ON b.tid = a.tid GROUP BY a.item",
        f"SELECT item, avg(n) AS n FROM sales JOIN ({SIZES}) USING (tid) GROUP BY item",
    ),
    (
        "WITH RECURSIVE d AS (SELECT node FROM food WHERE parent = 'all' UNION SELECT f.node FROM d, food f WHERE "
        "f.parent = d.node), b AS (SELECT count(*) AS k FROM sales WHERE item IN (SELECT node FROM d) GROUP BY tid) "
        "SELECT sum(k) AS n FROM b",
        "SELECT count(*) AS n FROM sales WHERE item IN (SELECT node FROM food)",
    ),
    (
        "WITH p AS (SELECT least(a.item, b.item) AS i, greatest(a.item, b.item) AS j, a.tid FROM sales a JOIN sales b "
        "USING (tid) WHERE a.item <> b.item) SELECT i || ' ' || j AS k, count(DISTINCT tid) AS n FROM p GROUP BY i, j",
        "SELECT a.item || ' ' || b.item AS k, count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item < b.item "
        "GROUP BY a.item, b.item",
    ),
    (
        f"{PARENT_OF} SELECT a.parent AS k, count(*) AS n FROM s a, s b WHERE a.tid = b.tid AND a.item < b.item "
        "AND a.parent = b.parent GROUP BY a.parent",
        f"{PARENT_OF} SELECT a.parent AS k, count(*) AS n FROM s a JOIN s b ON b.tid = a.tid AND b.item > a.item "
        "AND b.parent = a.parent GROUP BY a.parent",
    ),
    (
        "SELECT k, count(tid) AS n FROM (SELECT tid, arg_max(price, price) AS k FROM sales JOIN prices USING (item) "
        "GROUP BY tid) GROUP BY 1",
        "SELECT k, count(*) AS n FROM (SELECT max(price) AS k FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY k",
    ),
    (
        f"{P}, m AS (SELECT avg(n) AS m FROM p) SELECT avg((p.n - m.m) * (p.n - m.m)) AS v FROM p, m",
        f"SELECT var_pop(n) AS v FROM ({SIZES})",
    ),
    (
        f"{P} SELECT sum(pow(n - (SELECT avg(n) FROM p), 2)) / count(*) AS v FROM p",
        f"SELECT var_pop(n) AS v FROM ({SIZES})",
    ),
    (
        "SELECT sum(n * price) / nullif(sum(n), 0) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) "
        "JOIN prices USING (item)",
        "SELECT avg(price) AS m FROM sales JOIN prices USING (item)",
    ),
    (
        "SELECT f.parent, sum(c.n * p.price) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) c JOIN prices "
        "p ON p.item = c.item JOIN food f ON f.node = c.item GROUP BY f.parent",
        "SELECT parent, sum(price) AS m FROM sales JOIN prices USING (item) JOIN food ON node = item GROUP BY parent",
    ),
    (
        "SELECT k, count(*) AS n FROM range(1, 4) r(k) JOIN prices ON price = k JOIN sales USING (item) GROUP BY k",
        "SELECT k, count(*) AS n FROM sales JOIN prices USING (item) JOIN range(1, 4) r(k) ON price = k GROUP BY k",
    ),
]


@each("sql, plain", PAIRS)
def test_two_ways_to_ask_have_one_answer(named: Named, sql: str, plain: str) -> None:
    """Key by key: what is shown, and the bounds; a way may list more keys that need not exist."""
    one, two = ({str(r[0]): r for r in named[1].sql(text).fetchall()} for text in (sql, plain))
    width = min(len(row) for row in (*one.values(), *two.values()))
    assert two and {key: one[key][:width] for key in two} == {key: pytest.approx(row[:width]) for key, row in two.items()}


def test_item_supports_tell_the_sizes_of_baskets(named: Named) -> None:
    """At most 54 items of 30 persons leave 24 with two: so the median is at most 2."""
    sizes = {n: ends for n, _, *ends, _ in named[1].sql(f"SELECT n, count(*) AS c FROM ({SIZES}) GROUP BY n").fetchall()}
    having = named[1].sql("SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 1)").fetchall()[0]
    median = named[1].sql(f"SELECT median(n) AS m FROM ({SIZES})").fetchall()[0]
    assert sizes[1] == list(having[1:])
    if named[0] == "supports":
        assert sizes[1] == [6, 28] and sizes[6] == [0, 4] and median[1:] == (1, 2)


def test_rows_are_compared_beside_values_that_are_null(named: Named) -> None:
    """NOT EXISTS of a greater value holds where the value of the row is NULL."""
    rows = "SELECT count(*) FROM sales s JOIN prices p ON p.item = s.item WHERE "
    exists = "EXISTS (SELECT 1 FROM sales t JOIN prices q ON q.item = t.item WHERE t.tid = s.tid AND q.cheap > p.cheap)"
    every, some, none = (named[1].sql(rows + met).fetchall()[0] for met in ("TRUE", exists, f"NOT {exists}"))
    assert every[0] == pytest.approx(some[0] + none[0])


def test_pairs_within_a_category_are_those_of_its_items(named: Named) -> None:
    """As many pairs as the numbers of items in the category make."""
    pairs = f"{PARENT_OF} SELECT a.parent AS k, count(*) AS n FROM s a JOIN s b ON a.tid = b.tid AND a.item < b.item "
    numbers = f"{PARENT_OF}, c AS (SELECT tid, parent AS k, count(*) AS n FROM s GROUP BY 1, 2) "
    one = named[1].sql(f"{pairs} WHERE a.parent = b.parent GROUP BY a.parent").fetchall()
    two = named[1].sql(f"{numbers} SELECT k, sum(n * (n - 1) / 2) AS n FROM c WHERE n > 1 GROUP BY k").fetchall()
    assert {row[0]: row[1] for row in one if row[1]} == pytest.approx({row[0]: row[1] for row in two if row[1]})


def test_a_window_of_two_groups_is_no_running_total(named: Named) -> None:
    """The least size of which it and the one before have half of the persons is no median."""
    groups = f"{P}, h AS (SELECT n, count(*) AS c FROM p GROUP BY n)"
    frame = "sum(c) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS r, sum(c) OVER () AS t"
    result = named[1].sql(f"{groups} SELECT min(n) AS n FROM (SELECT n, {frame} FROM h) WHERE r >= 0.5 * t")
    assert result.fetchall()[0][1:] == (None, None) or any("may be NULL" in note for note in result.notes)


def test_a_condition_on_matches_may_name_no_table(named: Named) -> None:
    sizes = f"{P}, q AS (SELECT tid, n AS m FROM p) SELECT a.n, count(*) AS c FROM (SELECT DISTINCT n FROM p) a "
    sizes += "JOIN q b ON b.m <= a.n"
    one, two = (named[1].sql(f"{sizes} WHERE {m} > 1 GROUP BY a.n ORDER BY a.n").fetchall() for m in ("m", "b.m"))
    assert one and one == two


def test_a_window_that_counts_rows_has_bounds_where_these_are_there(named: Named) -> None:
    """It has none, with a note, where one of them need not exist; the current row is there where the number is."""
    if named[0] == "suppressed":
        return
    groups = f"{P}, h AS (SELECT n, count(*) AS c FROM p GROUP BY n)"
    frame = "sum(c) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)"
    result = named[1].sql(
        f"{groups} SELECT n, {frame} AS s, sum(c) OVER (ORDER BY n ROWS CURRENT ROW) AS c FROM h ORDER BY n"
    )
    rows = result.fetchall()
    sure = [row[0] for row in rows if row[-1]]
    for place, (n, _, low, high, *_) in enumerate(rows):
        beside = [row[0] for row in rows[max(0, place - 1) : place + 2] if row[0] != n]
        assert (low is not None and high is not None) == (set(beside) <= set(sure))
    assert any("window may reach" in note for note in result.notes) == any(row[2] is None for row in rows)
    assert all(row[5] is not None for row in rows)


def test_the_second_row_before_has_its_own_bounds_where_all_between_are_there(named: Named) -> None:
    if named[0] == "suppressed":
        return
    groups = (
        f"{P}, h AS (SELECT n, count(*) AS c FROM p GROUP BY n)",
        "WITH h AS (SELECT item AS n, count(*) AS c FROM sales GROUP BY item)",
    )
    compared = 0
    for sql in groups:
        rows = named[1].sql(f"{sql} SELECT n, c, lag(c, 2) OVER (ORDER BY n) AS d FROM h ORDER BY n").fetchall()
        for place, row in enumerate(rows):
            before, far = rows[max(0, place - 2) : place], rows[:place]
            if len(before) < 2:
                assert row[5:7] == (None, None)
            elif all(one[-1] for one in before):
                compared += 1
                assert row[5:7] == before[0][2:4]
            elif row[5] is not None:
                assert row[5] >= min(one[2] for one in far) and row[6] <= max(one[3] for one in far)
    assert compared
