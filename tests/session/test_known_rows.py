"""Windows, casts, roots, random numbers and decimals over known rows: values and bounds that hold, or none."""

from __future__ import annotations

import duckdb
import pytest
from each import each
from session.checker import without_bounds
from session.conftest import Named

ITEMS = ("milk", "bread", "figs", "rolls")
COUNTS = " UNION ALL ".join(f"SELECT '{item}' AS k, count(*) AS n FROM sales WHERE item = '{item}'" for item in ITEMS)


@each("function", ["stddev", "variance", "var_pop", "skewness", "mode"])
def test_a_window_function_that_does_not_rise_with_its_values_has_no_bounds(named: Named, function: str) -> None:
    for row in named[1].sql(f"SELECT k, {function}(n) OVER () AS v FROM ({COUNTS})").fetchall():
        assert row[2:] == (None, None)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["nullif(n, 4)", "n / (n - 5)"])
def test_the_median_over_rows_without_bounds_has_none(named: Named, value: str) -> None:
    session = named[1]
    known = session.sql(f"SELECT k, {value} AS v FROM ({COUNTS})").fetchall()
    open_ends = any(low is None for _, _, low, _ in known)
    for _, _, low, high in session.sql(f"SELECT k, median({value}) OVER () AS v FROM ({COUNTS})").fetchall():
        assert not open_ends or (low is None and high is None)


def test_a_row_that_an_estimate_chooses_has_no_bounds(named: Named) -> None:
    result = named[1].sql(f"SELECT k, lag(n, n::INTEGER) OVER (ORDER BY k) AS v FROM ({COUNTS})")
    assert len(result) and all(row[2:] == (None, None) for row in result.fetchall())
    result = named[1].sql(f"SELECT k, ntile(n::INTEGER + 1) OVER (ORDER BY k) AS v FROM ({COUNTS})")
    assert len(result) and all(row[2:] == (None, None) for row in result.fetchall())
    assert result.columns == ["k", "v", "v_lower", "v_upper"]
    assert any("No bounds" in note or "no bounds" in note for note in result.notes)


def test_the_value_of_another_row_has_its_bounds(named: Named) -> None:
    rows = named[1].sql(f"SELECT k, n, lag(n) OVER (ORDER BY k) AS v FROM ({COUNTS}) ORDER BY k").fetchall()
    assert [row[4:] for row in rows[1:]] == [row[1:4] for row in rows[:-1]]


@pytest.mark.slow
@each("value", ["TRY_CAST(n * 20 AS TINYINT)", "sqrt(n - 5)", "ln(n - 5)"])
def test_a_number_that_may_be_null_or_no_number_has_no_bounds(named: Named, value: str) -> None:
    for shown in (value, f"coalesce({value}, -7)"):
        for _, _, low, high in named[1].sql(f"SELECT k, {shown} AS v FROM ({COUNTS})").fetchall():
            assert (low is None) == (high is None)


def test_a_cast_that_fits_for_certain_has_bounds(named: Named) -> None:
    rows = named[1].sql(f"SELECT k, n, TRY_CAST(n AS DOUBLE) AS v FROM ({COUNTS})").fetchall()
    assert all(row[5:] == row[2:4] for row in rows)


@each(
    "sql",
    [
        f"SELECT k, n * random() AS v FROM ({COUNTS})",
        f"SELECT sum(n + random()) AS v FROM ({COUNTS})",
        f"SELECT sum(n) FILTER (WHERE random() < 0.5) AS v FROM ({COUNTS})",
        "SELECT sum(random()) AS v FROM (SELECT item FROM sales GROUP BY item HAVING count(*) > 3)",
    ],
)
def test_a_random_number_beside_an_estimate_is_refused(named: Named, sql: str) -> None:
    assert "random number" in without_bounds(named[1], sql)


def test_an_aggregate_of_two_known_columns_reads_both(named: Named) -> None:
    known = "(VALUES (1, 2), (2, 3), (3, 5)) k(a, b)"
    assert named[1].sql(f"SELECT regr_slope(b, a) AS v FROM {known}").fetchall() == [(1.5,)]
    swapped = f"(SELECT b AS a, a AS b FROM {known})"
    assert named[1].sql(f"SELECT regr_slope(a, b) AS v FROM {swapped}").fetchall() == [(1.5,)]


@each(
    "number",
    ["0.00000000012::DECIMAL(38, 15)", "-1.50::DECIMAL(9, 2)", "12345678901234567890123456789012345678::DECIMAL(38, 0)"],
)
def test_the_decimal_of_a_scalar_subquery_is_exact(named: Named, number: str) -> None:
    sql = f"SELECT (SELECT max(d) FROM (VALUES ({number})) t(d)) AS v"
    assert named[1].sql(sql).fetchall() == duckdb.sql(sql).fetchall()


@pytest.mark.slow
@each("test", ["n = '7'", "n <> '7'", "DATE '2024-01-01' + n::INTEGER = DATE '2024-01-08'"])
def test_a_count_is_compared_with_a_text_or_a_date(named: Named, test: str) -> None:
    plain = "n <> 7" if "<>" in test else "n = 7"
    shown = [named[1].sql(f"SELECT k, {one} AS b FROM ({COUNTS}) ORDER BY k").fetchall() for one in (test, plain)]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("test", ["n > ANY([5, 6])", "n > ALL([5, 6])"])
def test_any_and_all_of_estimates_are_refused(named: Named, test: str) -> None:
    assert "ANY or ALL" in without_bounds(named[1], f"SELECT k, {test} AS b FROM ({COUNTS})")
