"""Functions of lists that aggregates make: the answers of aggregates."""

from __future__ import annotations

import pytest
from each import each

from anondb import Session

Named = tuple[str, Session]
SIZES = "SELECT count(*) AS n FROM sales GROUP BY tid"
LISTS = "SELECT tid, list(item) AS l FROM sales GROUP BY tid"
PRICED = "FROM sales JOIN prices USING (item)"
PAIRS = [
    (
        f"SELECT sum(s) / count(*) AS n FROM (SELECT list_sum(list(price)) AS s {PRICED} GROUP BY tid)",
        f"SELECT sum(s) / count(*) AS n FROM (SELECT sum(price) AS s {PRICED} GROUP BY tid)",
    ),
    (
        f"SELECT list_min(l) AS a, list_aggregate(l, 'max') AS b, list_avg(l) AS c "
        f"FROM (SELECT list(n) AS l FROM ({SIZES}))",
        f"SELECT min(n) AS a, max(n) AS b, avg(n) AS c FROM ({SIZES})",
    ),
    (
        f"SELECT q[1] AS a, q[2] AS b FROM (SELECT quantile_disc(n, [.25, .5]) AS q FROM ({SIZES}))",
        f"SELECT quantile_disc(n, .25) AS a, quantile_disc(n, .5) AS b FROM ({SIZES})",
    ),
    (
        f"SELECT l[1] AS a FROM (SELECT list(n ORDER BY n DESC) AS l FROM ({SIZES}))",
        f"SELECT max(n) AS a FROM ({SIZES})",
    ),
    (
        f"WITH p AS ({LISTS}) SELECT len(p.l) AS k, count(*) AS n FROM p GROUP BY len(p.l)",
        f"SELECT n AS k, count(*) AS n FROM ({SIZES}) GROUP BY k",
    ),
    (
        f"SELECT count(*) AS n FROM ({LISTS}) WHERE list_unique(l) > 2 AND list_contains(l, 'milk')",
        "SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 2 AND bool_or(item = 'milk'))",
    ),
    (
        "SELECT len(l) AS k, count(*) AS n FROM (SELECT list(DISTINCT parent) AS l FROM sales JOIN food ON item = node "
        "GROUP BY tid) GROUP BY 1",
        "SELECT k, count(*) AS n FROM (SELECT count(DISTINCT parent) AS k FROM sales JOIN food ON item = node GROUP BY tid) "
        "GROUP BY k HAVING k > 0",
    ),
    (
        "SELECT item, len(list(tid)) AS n FROM sales GROUP BY item",
        "SELECT item, count(*) AS n FROM sales GROUP BY item",
    ),
]


@each("sql, plain", PAIRS)
def test_a_function_of_a_list_is_an_aggregate(named: Named, sql: str, plain: str) -> None:
    one, two = ({str(r[0]): r for r in named[1].sql(text).fetchall()} for text in (sql, plain))
    assert two and {key: one[key] for key in two} == {key: pytest.approx(row) for key, row in two.items()}


def test_an_index_may_be_computed_from_the_length(named: Named) -> None:
    counts = "SELECT count(*) AS n FROM sales GROUP BY item"
    last = f"SELECT l[len(l)] AS m FROM (SELECT list(n ORDER BY n) AS l FROM ({counts}))"
    one, two = (named[1].sql(text).fetchall()[0][0] for text in (last, f"SELECT max(n) AS m FROM ({counts})"))
    assert one == two


def test_a_list_of_no_rows_has_no_length(named: Named) -> None:
    result = named[1].sql("SELECT len(list(item)) FROM sales WHERE item = 'no such item'")
    assert result.columns[0] == "len(list(item))"
    assert named[0] == "suppressed" or result.fetchall()[0][0] is None


def test_the_length_of_a_list_counts_its_nulls(named: Named) -> None:
    listed = "list(DISTINCT CASE WHEN item < 'c' THEN 'b' END)"
    result = named[1].sql(f"SELECT max(len(l)) AS a FROM (SELECT {listed} AS l FROM sales GROUP BY tid)").fetchall()[0]
    assert result[2] is None or result[2] >= 2
