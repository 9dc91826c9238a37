"""Places in an order: rows that windows number, rows up to each, EXISTS of rows with other values."""

from __future__ import annotations

import pytest

from anondb import Session

Named = tuple[str, Session]
SIZES = "SELECT tid, count(*) AS n FROM sales GROUP BY tid"
P = f"WITH p AS ({SIZES})"
PARENT_OF = "WITH s AS (SELECT tid, item, parent FROM sales JOIN food ON node = item)"
FLAGS = (
    "SELECT max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS x, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS y "
    "FROM sales GROUP BY tid"
)


def test_the_correlation_of_flags_is_that_of_the_definition(named: Named) -> None:
    number = "covar_pop(x, y) / (stddev_pop(x) * stddev_pop(y))"
    one, two = (named[1].sql(f"SELECT {r} AS r FROM ({FLAGS})").fetchall()[0] for r in ("corr(x, y)", number))
    assert one == pytest.approx(two)


def test_item_supports_tell_the_sizes_of_baskets(named: Named) -> None:
    """At most 54 items of 30 persons leave 24 with two: so the median is at most 2."""
    sizes = {n: ends for n, _, *ends, _ in named[1].sql(f"SELECT n, count(*) AS c FROM ({SIZES}) GROUP BY n").fetchall()}
    having = named[1].sql("SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 1)").fetchall()[0]
    median = named[1].sql(f"SELECT median(n) AS m FROM ({SIZES})").fetchall()[0]
    assert sizes[1] == list(having[1:])
    if named[0] == "supports":
        assert sizes[1] == [6, 28] and sizes[6] == [0, 4] and median[1:] == (1, 2)


def test_rows_are_compared_beside_values_that_are_null(named: Named) -> None:
    """NOT EXISTS of a greater value holds where the value of the row is NULL."""
    rows = "SELECT count(*) FROM sales s JOIN prices p ON p.item = s.item WHERE "
    exists = "EXISTS (SELECT 1 FROM sales t JOIN prices q ON q.item = t.item WHERE t.tid = s.tid AND q.cheap > p.cheap)"
    every, some, none = (named[1].sql(rows + met).fetchall()[0] for met in ("TRUE", exists, f"NOT {exists}"))
    assert every[0] == pytest.approx(some[0] + none[0])


def test_pairs_within_a_category_are_those_of_its_items(named: Named) -> None:
    """As many pairs as the numbers of items in the category make."""
    pairs = f"{PARENT_OF} SELECT a.parent AS k, count(*) AS n FROM s a JOIN s b ON a.tid = b.tid AND a.item < b.item "
    numbers = f"{PARENT_OF}, c AS (SELECT tid, parent AS k, count(*) AS n FROM s GROUP BY 1, 2) "
    one = named[1].sql(f"{pairs} WHERE a.parent = b.parent GROUP BY a.parent").fetchall()
    two = named[1].sql(f"{numbers} SELECT k, sum(n * (n - 1) / 2) AS n FROM c WHERE n > 1 GROUP BY k").fetchall()
    assert {row[0]: row[1] for row in one if row[1]} == pytest.approx({row[0]: row[1] for row in two if row[1]})


def test_a_window_of_two_groups_is_no_running_total(named: Named) -> None:
    """The least size of which it and the one before have half of the persons is no median."""
    groups = f"{P}, h AS (SELECT n, count(*) AS c FROM p GROUP BY n)"
    frame = "sum(c) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS r, sum(c) OVER () AS t"
    result = named[1].sql(f"{groups} SELECT min(n) AS n FROM (SELECT n, {frame} FROM h) WHERE r >= 0.5 * t")
    assert result.fetchall()[0][1:] == (None, None) or any("may be NULL" in note for note in result.notes)


def test_a_condition_on_matches_may_name_no_table(named: Named) -> None:
    sizes = f"{P}, q AS (SELECT tid, n AS m FROM p) SELECT a.n, count(*) AS c FROM (SELECT DISTINCT n FROM p) a "
    sizes += "JOIN q b ON b.m <= a.n"
    one, two = (named[1].sql(f"{sizes} WHERE {m} > 1 GROUP BY a.n ORDER BY a.n").fetchall() for m in ("m", "b.m"))
    assert one and one == two


def test_a_window_that_counts_rows_has_bounds_where_these_are_there(named: Named) -> None:
    """It has none, with a note, where one of them need not exist; the current row is there where the number is."""
    if named[0] == "suppressed":
        return
    groups = f"{P}, h AS (SELECT n, count(*) AS c FROM p GROUP BY n)"
    frame = "sum(c) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)"
    result = named[1].sql(
        f"{groups} SELECT n, {frame} AS s, sum(c) OVER (ORDER BY n ROWS CURRENT ROW) AS c FROM h ORDER BY n"
    )
    rows = result.fetchall()
    sure = [row[0] for row in rows if row[-1]]
    for place, (n, _, low, high, *_) in enumerate(rows):
        beside = [row[0] for row in rows[max(0, place - 1) : place + 2] if row[0] != n]
        assert (low is not None and high is not None) == (set(beside) <= set(sure))
    assert any("window may reach" in note for note in result.notes) == any(row[2] is None for row in rows)
    assert all(row[5] is not None for row in rows)


def test_the_second_row_before_has_its_own_bounds_where_all_between_are_there(named: Named) -> None:
    if named[0] == "suppressed":
        return
    groups = (
        f"{P}, h AS (SELECT n, count(*) AS c FROM p GROUP BY n)",
        "WITH h AS (SELECT item AS n, count(*) AS c FROM sales GROUP BY item)",
    )
    compared = 0
    for sql in groups:
        rows = named[1].sql(f"{sql} SELECT n, c, lag(c, 2) OVER (ORDER BY n) AS d FROM h ORDER BY n").fetchall()
        for place, row in enumerate(rows):
            before, far = rows[max(0, place - 2) : place], rows[:place]
            if len(before) < 2:
                assert row[5:7] == (None, None)
            elif all(one[-1] for one in before):
                compared += 1
                assert row[5:7] == before[0][2:4]
            elif row[5] is not None:
                assert row[5] >= min(one[2] for one in far) and row[6] <= max(one[3] for one in far)
    assert compared
