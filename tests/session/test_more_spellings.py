"""Queries as analysts write them otherwise: each has the bounds of its plain spelling, or fewer where a name is not the table's."""

from __future__ import annotations

import pytest
from session.conftest import Named
from session.test_other_spellings import rows

SIZES = "(SELECT tid, count(*) AS n FROM sales GROUP BY tid)"
PARENTS = "SELECT k, count(*) AS n FROM (SELECT tid, count(DISTINCT parent) AS k FROM sales JOIN food ON node = item GROUP BY tid) GROUP BY k"
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
EQUAL = {"rows of kinds of items are counted as the kinds": KINDS, "CASE may stand in CASE": BANDS}


@pytest.mark.parametrize("pairs", EQUAL.values(), ids=EQUAL)
def test_more_spellings_have_the_bounds_of_plain_ones(named: Named, pairs: list[tuple[str, str]]) -> None:
    if named[0] == "suppressed":
        pairs = [(sql, plain) for sql, plain in pairs if "food" not in sql]
    assert not [sql for sql, plain in pairs if rows(named, sql) != rows(named, plain)]
