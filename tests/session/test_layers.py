"""Subqueries that compute columns of rows are read as part of the SELECT around them."""

from __future__ import annotations

from pathlib import Path

import pytest
from portions import parts
from session.conftest import Named
from session.test_chosen_items import wrong

LINES = (
    "WITH lines AS (SELECT s.tid AS basket, s.item AS product, coalesce(p.price, 0) AS amount,"
    " CASE WHEN p.price > 1.6 THEN 'dear' ELSE 'cheap' END AS tier FROM sales AS s LEFT JOIN prices AS p ON p.item = s.item)"
)
ASKED = [
    f"{LINES} SELECT tier AS k, count(*) AS c0, count(DISTINCT basket) AS c1, sum(amount) AS n2 FROM lines GROUP BY tier",
    f"{LINES} SELECT product AS k, avg(amount) AS n FROM lines WHERE tier = 'dear' GROUP BY product",
    f"{LINES}, per AS (SELECT basket, sum(amount) AS total, count(*) AS n FROM lines GROUP BY basket)"
    " SELECT count(*) AS c FROM per WHERE total >= 3",
    f"{LINES} SELECT a.product AS k0, b.product AS k1, count(*) AS c FROM (SELECT basket, product FROM lines) a"
    " JOIN (SELECT basket, product FROM lines) b ON a.basket = b.basket AND a.product < b.product GROUP BY 1, 2",
    "WITH l AS (SELECT tid, item, parent FROM sales JOIN food ON item = node) SELECT a.item AS k0, b.item AS k1,"
    " count(*) AS c FROM l a JOIN l b ON a.tid = b.tid WHERE a.parent = 'dairy' AND b.parent = 'bakery' GROUP BY ALL",
    f"{LINES} SELECT 'dear' AS k, count(*) AS c FROM lines WHERE tier = 'dear' UNION ALL SELECT 'all', count(*) FROM lines",
    "WITH b AS (SELECT * FROM sales JOIN food ON item = node) SELECT parent AS k, count(DISTINCT tid) AS c FROM b"
    " GROUP BY parent",
    "WITH b AS (SELECT sales.*, price > 1 AS dear FROM sales JOIN prices USING (item)),"
    " d AS (SELECT tid, item, dear FROM b WHERE item <> 'bread') SELECT dear AS k, count(*) AS c FROM d GROUP BY dear",
    "SELECT count(*) AS c FROM (SELECT tid, upper(item) AS name FROM sales) WHERE name = 'MILK'",
    "SELECT k, count(*) AS c FROM (SELECT tid, item LIKE 'b%' AS k FROM sales) GROUP BY k",
    f"{LINES} SELECT count(*) FILTER (WHERE tier IN ('dear', 'none')) AS c,"
    " count(*) FILTER (WHERE tier NOT IN ('dear')) AS c1 FROM lines",
    "SELECT count(*) AS c FROM sales WHERE CASE WHEN item LIKE 'b%' THEN 2 WHEN item = 'milk' THEN 1 ELSE 0 END >= 1",
]


@pytest.mark.parametrize("queries", parts(ASKED))
def test_the_truth_is_inside_the_bounds(named: Named, shop: Path, queries: list[str]) -> None:
    assert not {sql: faults for sql in queries if (faults := wrong(named, shop, sql, filtered=False))}


def test_the_columns_keep_their_names(named: Named) -> None:
    result = named[1].sql(f"{LINES} SELECT Tier, sum(amount), count(*) FROM lines GROUP BY ALL", bounds="none")
    assert result.columns == ["tier", "sum(amount)", "count_star()"]
