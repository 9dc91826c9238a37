"""SQL as tools such as ibis and Superset generate it: nested, quoted, with bound values; the answers of plain SQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from each import each

import anondb
from anondb import Session

ITEMS = 'SELECT "t0"."item", COUNT(*) AS "n" FROM "sales" AS "t0" GROUP BY 1'
GENERATED = [
    (
        'SELECT COUNT(*) AS "n" FROM (SELECT * FROM "sales" AS "t0" WHERE "t0"."item" = $a) AS "t1"',
        "SELECT count(*) AS n FROM sales WHERE item = 'milk'",
        {"a": "milk"},
    ),
    (
        'SELECT COUNT(DISTINCT "t1"."tid") AS "n" FROM '
        '(SELECT * FROM "sales" AS "t0" WHERE "t0"."item" IN ($a, $b)) AS "t1"',
        "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'bread')",
        {"a": "milk", "b": "bread"},
    ),
    (
        f'SELECT * FROM (SELECT "t1"."item", "t1"."n" FROM ({ITEMS}) AS "t1" WHERE "t1"."n" > $a) AS "t2" '
        'ORDER BY "t2"."n" DESC LIMIT $b',
        "SELECT item, count(*) AS n FROM sales GROUP BY item HAVING n > 5 ORDER BY n DESC LIMIT 2",
        {"a": 5, "b": 2},
    ),
    (
        'SELECT SUM(CAST("t0"."item" = $a AS INTEGER)) / COUNT(DISTINCT "t0"."tid") AS "n" FROM "sales" AS "t0"',
        "SELECT count(*) FILTER (WHERE item = 'milk') / count(DISTINCT tid) AS n FROM sales",
        {"a": "milk"},
    ),
    (
        f'SELECT "t1"."item", "t1"."n", "t1"."n" / SUM("t1"."n") OVER () AS "p" FROM ({ITEMS}) AS "t1" ORDER BY 1',
        "SELECT item, count(*) AS n, count(*) / sum(count(*)) OVER () AS p FROM sales GROUP BY item ORDER BY item",
        None,
    ),
    (
        f'SELECT item AS item, AVG("n") AS "AVG(n)" FROM ({ITEMS}) AS virtual_table GROUP BY item ORDER BY "AVG(n)" DESC '
        "LIMIT 1000",
        'SELECT item, count(*) AS "AVG(n)" FROM sales GROUP BY item ORDER BY 2 DESC',
        None,
    ),
]


@pytest.fixture(scope="module")
def asked(shop: Path) -> Iterator[Session]:
    with anondb.open(shop / "supports.duckdb") as session:
        yield session


@pytest.mark.slow
@each("generated, plain, values", GENERATED)
def test_generated_sql_has_the_answers_of_plain_sql(
    asked: Session, generated: str, plain: str, values: dict[str, object] | None
) -> None:
    first, second = asked.sql(generated, values), asked.sql(plain)
    width = len(first.columns)  # a LIMIT of a tool leaves out whether a group is certain to exist
    assert first.columns == second.columns[:width] and {*second.columns[width:]} <= {"certain"}
    one, two = (sorted(row[:width] for row in result.fetchall()) for result in (first, second))
    assert one == [pytest.approx(row) for row in two]


def test_columns_have_different_names(asked: Session) -> None:
    result = asked.sql("SELECT count(*) AS n, 1 AS n_lower, 2 AS certain FROM sales HAVING count(*) > 0")
    assert result.columns == ["n", "n_lower", "n_upper", "n_lower_1", "certain", "certain_1"]
