"""Queries that are written with windows or other forms have the bounds of their plain spellings."""

from __future__ import annotations

from each import each
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


def rows(named: Named, sql: str) -> list[tuple[object, ...]]:
    """The rows of an answer, whose numbers all have lower bounds."""
    result = named[1].sql(sql)
    bounds = [n for n, column in enumerate(result.columns) if column.endswith("_lower")]
    listed = result.fetchall()
    assert bounds and all(row[n] is not None for row in listed for n in bounds), sql
    rounded = [tuple(round(cell, 9) if isinstance(cell, float) else cell for cell in row) for row in listed]
    return sorted(rounded, key=repr)


@each("sql, plain", WINDOWS)
def test_an_aggregate_over_the_rows_of_a_person_is_that_of_group_by_the_id(named: Named, sql: str, plain: str) -> None:
    assert rows(named, sql) == rows(named, plain)
