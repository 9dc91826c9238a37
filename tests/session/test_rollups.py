"""Groups that are added up again, lists of a person's items, and joins in which columns of one name are equal."""

from __future__ import annotations

from pathlib import Path

import pytest
from each import each
from session.conftest import Named
from session.test_chosen_items import wrong

COUNTED = "SELECT item, count(*) AS c FROM sales GROUP BY"
SIZES = "(SELECT tid, count(*) AS n FROM sales GROUP BY tid)"
HISTOGRAM = f"(SELECT n, count(*) AS c FROM {SIZES} GROUP BY n)"
LISTS = "(SELECT tid, list(item) AS l FROM sales GROUP BY tid)"
SEVERAL = [
    f"SELECT sum(c) AS n0 FROM ({COUNTED} ROLLUP (item))",
    f"SELECT sum(c) AS n0 FROM ({COUNTED} GROUPING SETS ((item), (), (item)))",
    "SELECT coalesce(sum(c), 0) AS n0 FROM (SELECT count(*) AS c FROM sales WHERE item = 'figs' GROUP BY ALL)",
    "WITH a AS (SELECT * FROM sales WHERE item < 'c'), c AS (SELECT item, count(*) AS n FROM a GROUP BY item) "
    "SELECT max(n) AS n0 FROM (WITH a AS (SELECT * FROM sales) SELECT sum(n) AS n FROM c)",
    "SELECT sum(n * n) AS n0 FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)",
    "SELECT count(*) AS c0 FROM sales JOIN (SELECT 'milk' AS item UNION ALL SELECT 'dates') USING (item)",
    "SELECT count(*) AS c0 FROM sales NATURAL JOIN (SELECT item FROM prices WHERE price > 1)",
    "SELECT count(*) AS c0 FROM sales NATURAL JOIN (SELECT unnest({'item': 'milk', 'z': 1}))",
]
OTHERS = [
    f"SELECT coalesce(sum(c), 0) AS n0, coalesce(sum(n * c), 0) AS n1 FROM {HISTOGRAM} WHERE n > 1",
    f"SELECT n % 2 AS k0, sum(c) AS n1 FROM {HISTOGRAM} GROUP BY 1 HAVING sum(c) > 0",
    f"SELECT left(item, 1) AS k0, sum(c) AS n1 FROM ({COUNTED} item) GROUP BY ALL",
    "SELECT coalesce(sum(price), 0) AS n0, coalesce(sum(price - 2), 0) AS n1 FROM sales JOIN prices USING (item)",
    "SELECT avg(v) AS n0 FROM (SELECT tid, sum(price - 2) AS v FROM sales JOIN prices USING (item) GROUP BY tid)",
    "SELECT coalesce(sum(CASE WHEN item < 'c' THEN 0.1::DOUBLE ELSE -0.1::DOUBLE END), 0) AS n0 FROM sales",
    f"SELECT count(*) AS c0 FROM {LISTS} WHERE list_contains(l, 'milk') AND NOT list_contains(l, 'dates')",
    f"SELECT count(*) FILTER (WHERE len(l) > 2) AS c0, count(*) FILTER (WHERE list_has_any(l, ['figs'])) AS c1 FROM {LISTS}",
    "SELECT count(*) AS c0 FROM (SELECT tid, list(item) AS l FROM sales WHERE item <> 'milk' GROUP BY tid) "
    "WHERE len(l) = 1 AND NOT list_contains(l, 'milk')",
    f"SELECT x AS k0, count(*) AS c1 FROM (SELECT tid, unnest(l) AS x FROM {LISTS}) GROUP BY x",
    "SELECT count(*) AS c0 FROM sales a NATURAL JOIN sales b WHERE item IN (VALUES ('milk'), ('dates'))",
    "SELECT p.price AS k0, count(s.tid) AS c1, count(DISTINCT s.tid) AS c2 "
    "FROM prices p LEFT JOIN sales s USING (item) GROUP BY p.price",
    "SELECT p.item AS k0, max(s.n) AS n1, count(s.n) AS c2 FROM (SELECT DISTINCT item, length(item) AS l FROM prices) p "
    f"LEFT JOIN {SIZES} s ON s.n > p.l GROUP BY ALL HAVING count(s.n) > 0",
    "SELECT k0, (SELECT max(n) FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) q WHERE q.item = k0) AS n1 "
    "FROM (VALUES ('milk'), ('ghost')) v(k0)",
    "SELECT v.k0, coalesce(q.n, 0) AS n1, coalesce(q.n + 1, 0) AS n2 FROM (VALUES ('milk'), ('ghost')) v(k0) LEFT JOIN "
    "(SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 2) q ON q.item = v.k0",
    "SELECT v.i AS k0, (SELECT count(*) FROM sales WHERE item = v.i) AS c1 FROM (VALUES ('milk'), ('saffron')) v(i)",
    "SELECT item AS k0, count(*) AS c1 FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item < 'd') GROUP BY item",
]


@each("sql", SEVERAL)
def test_the_truth_is_inside_where_texts_mislead(named: Named, shop: Path, sql: str) -> None:
    """Several sets of keys, none, a name that means another query elsewhere, and subqueries without a name."""
    assert not wrong(named, shop, sql, filtered=False)


@pytest.mark.slow
@each("sql", OTHERS)
def test_the_truth_is_inside(named: Named, shop: Path, sql: str) -> None:
    assert not wrong(named, shop, sql, filtered=False)
