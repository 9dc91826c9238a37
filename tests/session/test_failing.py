"""What DuckDB cannot compute, and functions that are not known here: a right answer, or a typed error."""

from __future__ import annotations

import math

import pytest
from each import each
from session.conftest import TREE, Named
from session.test_odd_queries import equal, refused

OF_ITEMS = "(SELECT item, count(*) AS n FROM sales GROUP BY item) l"
OF_PERSONS = "(SELECT tid, count(*) AS n FROM sales GROUP BY tid) p"
ROWS = "(VALUES (1, 'ab'), (2, 'cd'), (3, 'ef')) k(x, s)"


@each(
    "sql, words",
    [
        ("SELECT CAST(item AS BIGINT), count(*) FROM sales GROUP BY 1", "CAST"),
        ("SELECT item::DATE FROM sales GROUP BY item", "TRY_CAST"),
        ("SELECT item FROM sales GROUP BY item ORDER BY CAST(item AS BIGINT)", "CAST"),
        ("SELECT count(*) * 9223372036854775807 FROM sales", "multiplication"),
        (f"SELECT x + 9223372036854775807 FROM {ROWS}", "addition"),
        ("SELECT item FROM sales GROUP BY item HAVING count(*) * 9223372036854775807 > 3", "does not fit its type"),
        (f"SELECT x // 0 FROM {ROWS}", "division by zero"),
        ("SELECT item COLLATE NOCASE AS k, count(*) FROM sales GROUP BY 1", "COLLATE"),
        ("SELECT count(*) FROM sales WHERE item COLLATE NOCASE IN (SELECT item FROM prices)", "COLLATE"),
        ("SELECT count(*) FROM prices WHERE 'MILK' COLLATE NOCASE IN (SELECT item FROM sales)", "COLLATE"),
        (f"SELECT strptime(s, '%Y') FROM {ROWS}", "a function of a value"),
        (f"SELECT s FROM {ROWS} LIMIT 'a'", "CAST"),
        (f"SELECT s FROM {ROWS} LIMIT 99999999999999999999", "CAST"),
        (f"SELECT s FROM {ROWS} ORDER BY s OFFSET 99999999999999999999", "CAST"),
        ("SELECT item, count(*) FROM sales GROUP BY item ORDER BY 2 DESC LIMIT 'a'", "CAST"),
        (f"SELECT s FROM {ROWS} LIMIT (SELECT count(*) FROM sales)", "LIMIT of an estimate"),
        (
            "SELECT sum(a * b) FROM (SELECT bool_or(item = 'milk')::INTEGER AS a,"
            " avg(CASE WHEN item = 'figs' THEN 3 ELSE 0 END) AS b FROM sales GROUP BY tid)",
            "GROUP BY an expression",
        ),
        (f"SELECT max(n, 2) FROM {OF_ITEMS}", "several values of the function MAX"),
        (f"SELECT max(n, 2) FROM {OF_PERSONS}", "several values of the function MAX"),
        (f"SELECT arg_max(item, n, 2) FROM {OF_ITEMS}", "several values of the function ARG_MAX"),
        (f"SELECT count(*) FROM {OF_PERSONS} WHERE n = DATE '2024-02-29'", "CAST"),
    ],
)
def test_refused_by_name(named: Named, sql: str, words: str) -> None:
    refused(named[1], sql, words)


@pytest.mark.slow
@each("function", ["product", "mad", "entropy", "bit_xor", "bit_or", "geomean"])
@each("over", ["OVER ()", "OVER (ORDER BY item)"])
def test_windows_that_take_no_estimates(named: Named, function: str, over: str) -> None:
    refused(named[1], f"SELECT item, {function}(n) {over} FROM {OF_ITEMS}", "of estimates")


@each("call", ["product(2)", "histogram(item)", "entropy(2)", "arbitrary(item)", "sem(2)"])
def test_aggregates_that_are_not_known_need_certain_rows(named: Named, call: str) -> None:
    """Whether an item occurs at all is not known."""
    refused(named[1], f"SELECT 1 AS k, {call} AS v FROM {OF_ITEMS} GROUP BY 1", "of rows that counts choose")


@each(
    "sql",
    [
        f"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM {ROWS}",
        f"SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY x) FROM {ROWS}",
        f"SELECT max(x, 2), arg_max(s, x, 2), min(s, 5) FROM {ROWS}",
        f"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x DESC), mode() WITHIN GROUP (ORDER BY x) FROM {ROWS}",
        f"SELECT unnest({{'a': x, 'b': s}}, recursive := true) FROM {ROWS} ORDER BY 1",
        "SELECT (SELECT 'a'::ENUM('a', 'b'))",
        "SELECT MAP {'a': 1}['a'], MAP {'a': 1, 'b': 2}['c']",
        f"SELECT MAP {{s: x}}[s] FROM {ROWS} ORDER BY 1",
        f"SELECT unnest([[x], [x + 1]], recursive := true) AS u FROM {ROWS} ORDER BY u",
        f"SELECT s FROM {ROWS} ORDER BY s LIMIT (SELECT 1 + 1) OFFSET 0 + 1",
        f"SELECT s FROM {ROWS} ORDER BY s LIMIT '2'",
        f"SELECT x, product(x) OVER (ORDER BY x), mean(x) OVER (), any_value(s) OVER (ORDER BY x) FROM {ROWS} ORDER BY x",
        f"SELECT product(x), mad(x), mean(x), any_value(s ORDER BY x) FROM {ROWS}",
        "SELECT typeof((SELECT 3::UTINYINT)), typeof((SELECT 3)), typeof((SELECT 3::FLOAT)), typeof((SELECT NULL))",
        "SELECT typeof((SELECT 3::DECIMAL(18, 3))), typeof((SELECT 3::UTINYINT WHERE false)), (SELECT DATE '2024-02-29')",
        "SELECT (SELECT 'infinity'::DATE) > DATE '9999-12-31', isfinite((SELECT '-infinity'::TIMESTAMP)), (SELECT 'a''b')",
        f"SELECT (SELECT {2**128 - 1}::UHUGEINT), (SELECT {2**127 - 1}::HUGEINT), typeof((SELECT NULL::DATE))",
        f"SELECT (SELECT max(x)::UTINYINT FROM {ROWS}) + 1::UTINYINT, (SELECT TIMESTAMP '2024-02-29 01:02:03')",
    ],
)
def test_own_rows_give_what_duckdb_gives(named: Named, sql: str) -> None:
    equal(named[1], sql)


def test_the_mean_is_the_average(named: Named) -> None:
    one, two = (named[1].sql(f"SELECT {name}(n) AS n FROM {OF_PERSONS}") for name in ("mean", "avg"))
    assert one.fetchall() == two.fetchall() and one.columns == ["n", "n_lower", "n_upper"]


@each("call", ["max(sqrt(n - 6))", "min(ln(n - 6))", "avg(sqrt(n - 17))", "sum(ln(n - 17))"])
def test_an_estimate_is_a_number(named: Named, call: str) -> None:
    ((estimate, lower, upper),) = named[1].sql(f"SELECT {call} AS v FROM {OF_ITEMS}").fetchall()
    assert estimate is None or not math.isnan(estimate)
    assert None in (lower, estimate) or lower <= estimate
    assert None in (upper, estimate) or estimate <= upper


def test_a_difference_of_infinite_numbers_is_null(named: Named) -> None:
    sql = "SELECT exp(count(*) * 1000) - exp(count(*) * 1000) AS v FROM sales"
    assert named[1].sql(sql).fetchall() == [(None, None, None)]


def test_a_percentage_is_no_number_of_rows(named: Named) -> None:
    items = len(TREE) + 2
    listed = "SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC LIMIT {} "
    half = f"SELECT count(*) AS n FROM sales WHERE item IN ({listed.format('50%')})"
    if named[0] == "suppressed":
        refused(named[1], half, "IN with a subquery")
    else:
        low, estimate, high = named[1].sql(half).bounds
        assert 0 == low < estimate < high
        assert named[1].sql(f"SELECT count(*) FROM sales WHERE item IN ({listed.format(items)})").fetchall()
