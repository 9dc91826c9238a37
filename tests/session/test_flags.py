"""Numbers and conditions of each person in the words of analysts, and queries that are answered as others."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
import sqlglot
from session.checker import without_bounds
from session.conftest import Named
from session.test_chosen_items import wrong
from session.test_odd_queries import refused
from sqlglot import exp

from anondb.query.flags import as_counts, decided
from anondb.session.equivalents import equivalent
from anondb.session.weighed import weighed

FLAGS = (
    "SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS milk, bool_or(item = 'bread')::INTEGER AS bread,"
    " sum(CASE WHEN item LIKE 'b%' THEN 1 ELSE 0 END) > 1 AS two FROM sales GROUP BY tid"
)
ASKED = [
    f"SELECT sum(milk) AS c0, avg(bread) AS n1, sum(milk * bread) * 1.0 / sum(bread) AS n2 FROM ({FLAGS})",
    f"WITH p AS ({FLAGS}) SELECT milk AS k0, two AS k1, count(*) AS c0 FROM p GROUP BY milk, two",
    f"SELECT count(*) AS c0 FROM ({FLAGS}) WHERE milk = 1 AND bread <> 1 AND NOT two",
    "SELECT count(*) AS c0 FROM (SELECT tid FROM sales GROUP BY tid"
    " HAVING bool_or(item = 'milk') <> bool_or(item = 'bread'))",
    f"SELECT two = (milk = 1) AS k0, count(*) AS c0, count_if(two <> (bread = 0)) AS n0 FROM ({FLAGS}) GROUP BY 1",
    "SELECT count(*) AS c0 FROM sales WHERE (item = 'milk') = (item LIKE 'm%')",
    f"SELECT count(*) FILTER (WHERE milk = bread) AS c0, count_if(two = true) AS n1 FROM ({FLAGS})",
    "SELECT sum(CASE WHEN m AND NOT b THEN 1 ELSE 0 END) AS n0 FROM (SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0"
    " END) = 1 AS m, min(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) > 0 AS b FROM sales GROUP BY tid)",
    "SELECT count(*) AS c0 FROM (SELECT tid FROM sales GROUP BY tid HAVING max(CASE item WHEN 'milk' THEN 1 ELSE 0 END) = 1"
    " AND sum((item = 'bread')::INTEGER) = 0)",
    "SELECT count(*) AS c0 FROM (SELECT tid FROM sales GROUP BY tid HAVING count(CASE WHEN item = 'milk' THEN 1 END) >="
    " count(*) FILTER (WHERE item IN ('bread', 'butter')))",
    "SELECT count(*) AS c0 FROM (SELECT tid FROM sales GROUP BY tid HAVING coalesce(bool_or(item = 'milk'), false))",
    "SELECT count(*) AS c0 FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING max(price) <= 2)",
    "SELECT count(*) AS c0 FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING 1 > min(price))",
    "SELECT count(*) AS c0 FROM (SELECT tid, max(CASE WHEN parent = 'dairy' THEN 1 ELSE 0 END) AS d,"
    " count(*) FILTER (WHERE parent = 'bakery') > 0 AS b FROM sales JOIN food ON item = node GROUP BY tid)"
    " WHERE d = 1 AND b",
    "SELECT x.parent AS k0, y.parent AS k1, count(DISTINCT s.tid) AS c0 FROM sales s JOIN sales u ON s.tid = u.tid"
    " JOIN food x ON s.item = x.node JOIN food y ON u.item = y.node WHERE x.parent < y.parent GROUP BY 1, 2",
]
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


@pytest.mark.parametrize("sql", ASKED)
def test_the_truth_is_inside_the_bounds(named: Named, shop: Path, sql: str) -> None:
    assert not wrong(named, shop, sql, filtered=False)


@pytest.mark.parametrize("sql", POINTS)
def test_sums_of_numbers_of_items(named: Named, shop: Path, sql: str) -> None:
    assert not wrong(named, shop, sql, filtered=False)


def test_sums_of_computed_numbers_need_all_items(named: Named, shop: Path) -> None:
    sql = "SELECT avg(v) AS n FROM (SELECT tid, sum(if(item = 'milk', 1, length(item))) AS v FROM sales GROUP BY tid)"
    if named[0] == "suppressed":
        refused(named[1], sql, "may be suppressed", "CASE of numbers")
    else:
        assert not wrong(named, shop, sql, filtered=False)
    refused(named[1], sql.replace("length(item)", "NULL"), "NULL for an item")


def test_other_tables_of_the_name_have_other_items() -> None:
    items = SimpleNamespace(persons="sales", manifest={"item_column": "item"}, items=[], typed=False, suppressed=False)
    items.weigh = lambda weights: 0
    sql = f"SELECT avg(v) FROM (SELECT tid, sum({NUMBER}) AS v FROM sales GROUP BY tid)"
    hiding = f"WITH sales AS (SELECT tid, upper(item) AS item FROM sales) {sql}"
    tree, other = (sqlglot.parse_one(text, dialect="duckdb") for text in (sql, hiding))
    assert isinstance(tree, exp.Select) and isinstance(other, exp.Select)
    assert weighed(tree, set(), items) is not None
    drawn = sqlglot.parse_one(sql.replace("item = 'milk'", "random() < 0.5"), dialect="duckdb")
    assert isinstance(drawn, exp.Select) and weighed(drawn, set(), items) is None  # it is drawn anew for each row
    assert weighed(tree, {"sales"}, items) is None and weighed(other, set(), items) is None


@pytest.mark.parametrize("sql", BY_ESTIMATE)
def test_answers_by_estimates(named: Named, sql: str) -> None:
    result, other = named[1].sql(sql), named[1].sql(BY_ESTIMATE[sql])
    assert result.fetchall() == other.fetchall() and len(result.fetchall()) > 0
    assert any("estimate" in note for note in result.notes)


def test_a_flag_has_the_bounds_of_its_count(named: Named) -> None:
    session = named[1]
    ((_, low, high),) = session.sql("SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk'").fetchall()
    ((_, *bounds),) = session.sql(f"SELECT sum(milk) AS n FROM ({FLAGS})").fetchall()
    assert bounds == [low, high]


UNKNOWN = "(VALUES ('milk', NULL), ('bread', 1.0), ('butter', 3.0)) AS np(item, price)"
EACH = f"SELECT count(*) AS c0 FROM (SELECT tid FROM sales JOIN {UNKNOWN} USING (item) GROUP BY tid HAVING {{}})"


@pytest.mark.parametrize(
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
def test_what_may_be_unknown_is_refused(named: Named, test: str) -> None:
    assert without_bounds(named[1], EACH.format(test))


def test_operands_of_case_are_whole() -> None:
    made = as_counts(sqlglot.parse_one("sum(CASE a OR b WHEN false THEN 1 ELSE 0 END)", dialect="duckdb"))
    assert "(a OR b) = (FALSE)" in made.sql("duckdb")


def test_the_mode_of_no_rows_is_null(named: Named) -> None:
    assert named[1].sql("SELECT mode(item) AS m FROM sales WHERE item = 'nothing'").fetchall() == [(None,)]


CALLS = [
    "sum(CASE WHEN b THEN 1 ELSE 0 END)",
    "sum(CASE WHEN x > 1 THEN 0 ELSE 1 END)",
    "count(CASE WHEN x > 1 THEN 1 END)",
    "count(CASE WHEN b THEN x END)",
    "count(DISTINCT CASE WHEN b THEN x END)",
    "max(CASE WHEN b THEN 1 ELSE 0 END)",
    "min(CASE WHEN b THEN 1 ELSE 0 END)",
    "max(CASE WHEN x = 2 THEN false ELSE true END)",
    "min(if(b, true, false))",
    "max(CASE x WHEN 2 THEN 1 ELSE 0 END)",
    "max(x = 2)",
    "min((x = 2)::INTEGER)",
    "max(NOT b)",
]
TESTS = [
    f"{call}(x) {sign} {number}"
    for call in ("min", "max")
    for sign in (">", ">=", "<", "<=", "=")
    for number in (1, -1)
]


def _rows(rnd: random.Random) -> list[tuple[int, int | None, bool | None]]:
    return [
        (rnd.randint(1, 4), rnd.choice([None, 1, 2, 3]), rnd.choice([None, False, True]))
        for _ in range(rnd.randint(1, 9))
    ]


@pytest.mark.parametrize(("texts", "rewrite"), [(CALLS, as_counts), (TESTS, decided)], ids=["calls", "tests"])
def test_groups_give_the_same(texts: list[str], rewrite: Callable[[exp.Expr], exp.Expr]) -> None:
    """On random rows, also with NULLs, in DuckDB."""
    pairs = [(text, rewrite(sqlglot.parse_one(text, dialect="duckdb"))) for text in texts]
    assert all(made.sql("duckdb").lower() != text.lower() for text, made in pairs)
    listed = ", ".join(f"({text}) IS NOT DISTINCT FROM ({made.sql('duckdb')})" for text, made in pairs)
    with duckdb.connect() as connection:
        for seed in range(100):
            rows = ", ".join(str(row).replace("None", "NULL") for row in _rows(random.Random(seed)))
            for row in connection.sql(f"SELECT {listed} FROM (VALUES {rows}) AS t(id, x, b) GROUP BY id").fetchall():
                assert all(row), [text for text, same in zip(texts, row, strict=True) if not same]


OTHERS = [
    "SELECT DISTINCT ON (id) id, x FROM t ORDER BY id, x, b",
    "SELECT DISTINCT ON (id, b) id AS i, b, x FROM t ORDER BY 1, 2, 3 DESC LIMIT 3",
    "SELECT count(*) FROM u WHERE (SELECT count(*) FROM t WHERE t.id = u.id) >= 2",
    "SELECT count(*) FROM u WHERE 2 > (SELECT count(*) FROM t WHERE t.id = u.id)",
    "SELECT count(*) FROM u WHERE NOT (SELECT count(x) FROM t WHERE t.id = u.id AND b) = 0",
    "SELECT count(*) FROM u WHERE (SELECT count(DISTINCT x) FROM t WHERE u.id = t.id) <> 1",
    "SELECT t.id, v.x, count(*) FROM t JOIN t v ON t.id = v.id WHERE t.id < v.x AND t.b GROUP BY t.id, v.x ORDER BY ALL",
]


@pytest.mark.parametrize("sql", OTHERS)
def test_queries_give_the_same(sql: str) -> None:
    made = equivalent(sqlglot.parse_one(sql, dialect="duckdb"))
    assert made is not None
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE u AS SELECT unnest([1, 2, 3, 4, 5]) AS id")
        for seed in range(100):
            rows = ", ".join(str(row).replace("None", "NULL") for row in _rows(random.Random(seed)))
            connection.execute(f"CREATE OR REPLACE TABLE t AS FROM (VALUES {rows}) AS t(id, x, b)")
            assert connection.sql(sql).fetchall() == connection.sql(made.sql("duckdb")).fetchall()


def test_other_queries_stay() -> None:
    for sql in (
        "SELECT count(*) FROM u WHERE (SELECT max(x) FROM t WHERE t.id = u.id) > 1",
        "SELECT DISTINCT x FROM t",
    ):
        assert equivalent(sqlglot.parse_one(sql, dialect="duckdb")) is None
