"""Queries that set different persons side by side: bounds, where there are some, hold the truth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from answers.shop import Shop, asked
from each import each

OTHERS = [
    "SELECT count(DISTINCT a.tid) AS n FROM sales a, sales b WHERE a.item = 'milk' AND b.item = 'tea' AND NOT EXISTS"
    " (SELECT 1 FROM sales c WHERE c.tid = a.tid AND c.tid = b.tid)",
    "SELECT count(*) AS n FROM sales a WHERE item = 'milk' AND tid NOT IN"
    " (SELECT tid FROM (SELECT tid AS p FROM sales WHERE item = 'tea') b)",
    "SELECT count(*) AS n FROM sales a WHERE item = 'milk' AND EXISTS"
    " (SELECT 1 FROM sales c WHERE c.item = 'tea' AND NOT EXISTS"
    " (SELECT 1 FROM sales d WHERE d.tid = c.tid AND d.tid = a.tid))",
    "SELECT count(*) AS n FROM sales a WHERE item = 'milk' AND EXISTS"
    " (SELECT 1 FROM sales c WHERE c.tid = a.tid OR c.item = 'tea')",
    "SELECT count(*) AS n FROM customers, sales WHERE age > 90 AND item = 'milk'",
    "SELECT count(*) AS n FROM customers a, customers b WHERE a.age = b.age AND a.town < b.town AND a.age > 90",
    "SELECT count(*) AS n FROM sales a WHERE item = 'milk' AND tid IN"
    " (SELECT tid FROM sales WHERE item = 'tea' UNION SELECT a.tid)",
    "SELECT count(*) AS n FROM customers a WHERE (SELECT count(*) FROM sales c WHERE c.tid >= a.tid AND c.item = 'tea') = 0",
]
ONE = [
    "SELECT count(*) AS n FROM sales a WHERE item = 'milk' AND EXISTS"
    " (SELECT c.tid FROM sales c WHERE c.tid = a.tid AND EXISTS"
    " (SELECT a.tid FROM sales d WHERE d.tid = c.tid AND d.tid = a.tid AND d.item = 'tea'))",
    "SELECT count(*) AS n FROM sales a JOIN sales b USING (tid) JOIN customers p ON p.tid = b.tid WHERE a.item = 'milk'"
    " AND b.item = 'tea' AND NOT EXISTS (SELECT 1 FROM sales c WHERE c.tid = p.tid AND c.item = 'bread')",
]


@pytest.fixture(scope="module")
def kkm(shop: Shop) -> Iterator[Any]:
    with asked(shop, "kkm") as both:
        yield both


@pytest.mark.slow
@each("sql", [*OTHERS, *ONE])
def test_the_truth_is_inside(kkm: Any, sql: str) -> None:
    session, original = kkm
    ((_, low, high),) = session.sql(sql).fetchall()
    ((truth,),) = original.execute(sql).fetchall()
    assert (low is None or low <= truth) and (high is None or truth <= high)
    assert sql in OTHERS or (low is not None and high is not None)
