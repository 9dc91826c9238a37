"""An id is compared with nothing but ids: a modelled row must not be found by the number of a real person."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from each import each
from session.conftest import Named

import anondb

SHOWN = "SELECT count(*) AS n FROM"
COMPARED = [
    f"{SHOWN} sales WHERE 17 IN (tid)",
    f"{SHOWN} sales WHERE NOT (17 NOT IN (tid, tid))",
    f"{SHOWN} sales WHERE (17, 'milk') IN ((tid, item))",
    f"{SHOWN} sales WHERE (tid, item) IN ((tid, item), (17, 'milk'))",
    f"{SHOWN} sales WHERE #1 = 17",
    f"{SHOWN} sales GROUP BY tid HAVING 17 IN (tid)",
    "SELECT count(*) FILTER (WHERE 17 IN (tid)) AS n FROM sales",
    f"{SHOWN} sales s LEFT JOIN food f ON f.node = 'milk' AND 17 IN (s.tid)",
    f"{SHOWN} sales s WHERE EXISTS (SELECT 1 FROM (VALUES (s.tid)) v(x) WHERE x = 17)",
    f"{SHOWN} sales s, LATERAL (VALUES (s.tid)) v(x) WHERE x = 17",
    f"{SHOWN} (SELECT tid AS p FROM sales) s, (SELECT s.p AS x) v WHERE x = 17",
    f"{SHOWN} (SELECT tid AS p FROM sales) s JOIN (SELECT s.p AS x) v ON x = 17",
    f"{SHOWN} (SELECT tid AS p FROM sales) s, range(s.p, s.p + 1) r(x) WHERE x = 17",
    f"{SHOWN} sales s WHERE EXISTS (SELECT 1 FROM food WHERE struct_extract(s, 'tid') = 17)",
    f"{SHOWN} sales s WHERE EXISTS (SELECT 1 WHERE s = {{'tid': 17, 'item': 'milk'}})",
    f"{SHOWN} (SELECT tid, item FROM sales) UNPIVOT (v FOR n IN (tid)) WHERE v = 17",
    f"{SHOWN} (SELECT tid, item FROM sales) PIVOT (count(*) FOR tid IN (17))",
    f"{SHOWN} (SELECT * REPLACE (17 AS tid) FROM sales) x JOIN sales s ON x.tid = s.tid",
    f"{SHOWN} (SELECT * RENAME (tid AS foo) FROM sales) WHERE foo = 17",
    f"{SHOWN} (SELECT * RENAME (tid AS item, item AS tid) FROM sales) WHERE item = 17",
    f"{SHOWN} (SELECT (tid, tid) AS t, tid AS p FROM sales) x WHERE x.t = (17, x.p)",
    f"{SHOWN} (SELECT (tid, tid) AS t FROM sales INTERSECT SELECT (17, tid) FROM sales)",
    f"{SHOWN} sales a WHERE (a.tid, 17) = ANY (SELECT (tid, tid) FROM sales)",
    f"{SHOWN} (SELECT tid AS a, item AS b FROM sales UNION ALL BY NAME SELECT item AS a, tid AS b FROM sales) WHERE b = ''",
    f"{SHOWN} sales WHERE tid IN (SELECT unnest([17]))",
    f"{SHOWN} sales s JOIN (SELECT tid FROM sales WHERE false UNION SELECT 17) v USING (tid)",
    f"{SHOWN} (sales JOIN food ON item = node AND tid = 17)",
    f"{SHOWN} food f LEFT JOIN (sales s JOIN prices p ON p.item = s.item AND s.tid = 17) ON f.node = s.item",
    f"{SHOWN} sales JOIN food ON tid",
    f"{SHOWN} sales WHERE (item, tid) IN (SELECT (item, 17) FROM sales)",
    f"{SHOWN} sales WHERE tid.add(0) = 17",
    f"{SHOWN} sales s WHERE (s.tid + 0).abs() = 17",
    f"{SHOWN} sales OFFSET (SELECT count(*) FROM sales WHERE tid = 17)",
    f"{SHOWN} ((SELECT tid FROM sales) LIMIT (SELECT count(*) FROM sales WHERE tid = 17))",
    "SELECT tid FROM sales UNION ALL SELECT tid FROM sales ORDER BY tid = 17 DESC LIMIT 1",
    "(SELECT tid FROM sales) ORDER BY tid = 17 DESC LIMIT 1",
    "SELECT tid AS item, count(*) AS n FROM sales GROUP BY tid HAVING item = 17",
    "SELECT item, count(*) OVER (ORDER BY tid RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM sales",
    "SELECT item, count(*) OVER (w RANGE 1 PRECEDING) AS n FROM sales WINDOW w AS (ORDER BY tid)",
    "SELECT count(*) OVER (ROWS (SELECT count(*) FROM sales WHERE tid = 17) PRECEDING) AS n FROM sales",
]
ALLOWED = {
    f"{SHOWN} sales WHERE (tid, item) IN (SELECT tid, item FROM sales)": f"{SHOWN} sales",
    f"{SHOWN} sales a WHERE a.tid IN (a.tid)": f"{SHOWN} sales",
    f"{SHOWN} sales s WHERE s.item.upper() = 'MILK'": f"{SHOWN} sales WHERE item = 'milk'",
    f"{SHOWN} (SELECT row_number() OVER w AS r FROM sales WINDOW w AS (PARTITION BY tid ORDER BY item)) WHERE r = 1": (
        "SELECT count(DISTINCT tid) AS n FROM sales"
    ),
    "SELECT count(DISTINCT (tid, item)) AS n FROM sales": f"{SHOWN} sales",
    f"{SHOWN} (SELECT tid FROM sales UNION ALL BY NAME SELECT item, tid FROM sales)": "SELECT 2 * count(*) AS n FROM sales",
    f"{SHOWN} sales s, (SELECT s.tid AS x) v WHERE x = s.tid": f"{SHOWN} sales",
    f"{SHOWN} (SELECT * RENAME (tid AS foo) FROM sales) x JOIN sales s ON x.foo = s.tid": (
        f"{SHOWN} sales x JOIN sales s ON x.tid = s.tid"
    ),
}


@pytest.fixture(scope="module")
def empty() -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables without rows."""
    with duckdb.connect(":memory:") as raw:
        raw.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        raw.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        raw.execute("CREATE TABLE prices (item VARCHAR, price DOUBLE)")
        yield raw


@pytest.mark.slow
@each("sql", COMPARED)
def test_a_comparison_of_an_id_is_refused(named: Named, empty: duckdb.DuckDBPyConnection, sql: str) -> None:
    empty.execute(sql)  # DuckDB itself answers each of them
    with pytest.raises(anondb.InputError) as error:
        named[1].sql(sql)
    assert error.value.code == "unsupported_query"


@each("sql", ALLOWED)
def test_ids_may_be_compared_with_ids(named: Named, sql: str) -> None:
    assert named[1].sql(sql).df()["n"].tolist() == named[1].sql(ALLOWED[sql]).df()["n"].tolist()
