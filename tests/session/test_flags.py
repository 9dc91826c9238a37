"""Numbers and conditions of each person in the words of analysts, and queries that are answered as others."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pytest
import sqlglot
from each import each
from session.conftest import Named
from session.test_chosen_items import wrong

from anondb.answers.ranged.equivalents import with_known_names

FLAGS = (
    "SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS milk, bool_or(item = 'bread')::INTEGER AS bread,"
    " sum(CASE WHEN item LIKE 'b%' THEN 1 ELSE 0 END) > 1 AS two FROM sales GROUP BY tid"
)
NUMBER = "CASE WHEN item LIKE 'b%' THEN 2 WHEN item = 'milk' THEN 1.5 ELSE -1 END"
POINTS = [
    f"SELECT avg(v) AS n0, max(v) AS n1, min(v) AS n2 FROM (SELECT tid, sum({NUMBER}) AS v FROM sales GROUP BY tid)",
    f"SELECT count(*) AS c0 FROM (SELECT tid FROM sales AS s WHERE item <> 'bread' GROUP BY tid HAVING sum({NUMBER}) > 1)",
    f"WITH p AS (SELECT tid, sum({NUMBER}) AS v, sum(if(s.item = 'milk', 3, 1)) AS w FROM sales s GROUP BY tid)"
    " SELECT count(*) AS c0 FROM p WHERE v > 2 AND w < 5",
]
BY_ESTIMATE = {  # the answer by estimates, and the same asked in another way
    "SELECT mode(item) FROM sales WHERE item LIKE 'b%'": "SELECT item FROM sales WHERE item LIKE 'b%' GROUP BY item"
    " ORDER BY count(*) DESC LIMIT 1",
    "SELECT DISTINCT ON (parent) parent, item, count(*) AS n FROM sales JOIN food ON item = node GROUP BY parent, item"
    " ORDER BY parent, n DESC, item": "SELECT parent, item, count(*) AS n FROM sales JOIN food ON item = node"
    " GROUP BY parent, item QUALIFY row_number() OVER (PARTITION BY parent ORDER BY count(*) DESC, item) = 1"
    " ORDER BY parent",
    "SELECT arg_max(item, n) FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)": "SELECT item FROM sales"
    " GROUP BY item ORDER BY count(*) DESC LIMIT 1",
}


@each("sql", POINTS)
def test_sums_of_numbers_of_items(named: Named, shop: Path, sql: str) -> None:
    assert not wrong(named, shop, sql, filtered=False)


def test_sums_of_computed_numbers_need_all_items(named: Named, shop: Path) -> None:
    sql = "SELECT avg(v) AS n FROM (SELECT tid, sum(if(item = 'milk', 1, length(item))) AS v FROM sales GROUP BY tid)"
    assert not wrong(named, shop, sql, filtered=False)
    assert not wrong(named, shop, sql.replace("length(item)", "NULL"), filtered=False)


EACH_NUMBER = "SELECT item, count(*) AS n FROM sales GROUP BY item"


@pytest.mark.slow
def test_the_item_of_the_greatest_number(named: Named) -> None:
    session = named[1]
    first = session.sql("SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC LIMIT 1").fetchall()
    last = session.sql("SELECT item FROM sales GROUP BY item ORDER BY count(*) LIMIT 1").fetchall()
    for result, rows in (
        (session.sql("SELECT mode(item) AS m FROM sales"), first),
        (session.sql(f"SELECT arg_max(item, n) AS n FROM ({EACH_NUMBER})"), first),
        (session.sql(f"SELECT max_by(item, n) AS m FROM ({EACH_NUMBER}) WHERE n > 0"), first),
        (session.sql(f"SELECT arg_min(item, n) AS m FROM ({EACH_NUMBER})"), last),
        (session.sql(f"SELECT arg_max(item, n) AS m FROM ({EACH_NUMBER}) WHERE item = 'no such'"), [(None,)]),
    ):
        assert len(result.columns) == 1 and result.fetchall() == rows
    assert len(session.sql(f"SELECT arg_max(item, 1) FROM ({EACH_NUMBER})")) == 1
    assert len(session.sql("SELECT mode(DISTINCT item) FROM sales")) == 1


@each("sql", BY_ESTIMATE)
def test_answers_by_estimates(named: Named, sql: str) -> None:
    result, other = named[1].sql(sql), named[1].sql(BY_ESTIMATE[sql])
    assert result.fetchall() == other.fetchall() and len(result.fetchall()) > 0
    assert any("estimate" in note for note in result.notes)


def test_a_quotient_by_the_number_of_those_with_a_flag_is_an_average(named: Named) -> None:
    flags = ", ".join(f"max(CASE WHEN item = '{item}' THEN 1 ELSE 0 END) AS {item}" for item in ("milk", "rolls"))
    quotient, average = "sum(milk * rolls) / nullif(sum(rolls), 0)", "avg(milk) FILTER (WHERE rolls = 1)"
    for group in ("", " GROUP BY two"):
        rows = f"(SELECT tid, {flags}, count(*) > 1 AS two FROM sales GROUP BY tid){group}"
        one, other = (named[1].sql(f"SELECT {number} AS n FROM {rows}").fetchall() for number in (quotient, average))
        assert sorted(one) == sorted(other) and one


def test_a_flag_has_the_bounds_of_its_count(named: Named) -> None:
    session = named[1]
    ((_, low, high),) = session.sql("SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk'").fetchall()
    ((_, *bounds),) = session.sql(f"SELECT sum(milk) AS n FROM ({FLAGS})").fetchall()
    assert bounds == [low, high]


UNKNOWN = "(VALUES ('milk', NULL), ('bread', 1.0), ('butter', 3.0)) AS np(item, price)"
EACH = f"SELECT count(*) AS c0 FROM (SELECT tid FROM sales JOIN {UNKNOWN} USING (item) GROUP BY tid HAVING {{}})"


@pytest.mark.slow
@each(
    "test",
    [
        "NOT max(price) > 2",
        "(max(price) > 2) = false",
        "(min(price) > 2) IS NULL",
        "coalesce(max(price) = 1, true)",
        "sum((price > 2)::INTEGER) = 0",
        "count_if(price > 2) = 0",
        "sum(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) FILTER (WHERE price > 0) = 0",
        "max(price, 2) > '[1]'",
        "max(DISTINCT price) > 2",
    ],
)
def test_what_may_be_unknown(named: Named, shop: Path, test: str) -> None:
    assert not wrong(named, shop, EACH.format(test), filtered=False)


def test_the_mode_of_no_rows_is_null(named: Named) -> None:
    assert named[1].sql("SELECT mode(item) AS m FROM sales WHERE item = 'nothing'").fetchall() == [(None,)]


def _rows(rnd: random.Random) -> list[tuple[int, int | None, bool | None]]:
    return [
        (rnd.randint(1, 4), rnd.choice([None, 1, 2, 3]), rnd.choice([None, False, True])) for _ in range(rnd.randint(1, 9))
    ]


OTHERS = [
    "SELECT DISTINCT ON (id) id, x FROM t ORDER BY id, x, b",
    "SELECT DISTINCT ON (id, b) id AS i, b, x FROM t ORDER BY 1, 2, 3 DESC LIMIT 3",
]


@pytest.mark.slow
@pytest.mark.parametrize("sql", OTHERS)
def test_queries_give_the_same(sql: str) -> None:
    made = with_known_names(sqlglot.parse_one(sql, dialect="duckdb"), "item")
    assert made.find(sqlglot.exp.Distinct) is None
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE u AS SELECT unnest([1, 2, 3, 4, 5]) AS id")
        for seed in range(100):
            rows = ", ".join(str(row).replace("None", "NULL") for row in _rows(random.Random(seed)))
            connection.execute(f"CREATE OR REPLACE TABLE t AS FROM (VALUES {rows}) AS t(id, x, b)")
            assert connection.sql(sql).fetchall() == connection.sql(made.sql("duckdb")).fetchall()
