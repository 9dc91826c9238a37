"""Groups beside the other groups: those that come up to one in an order of counts, that none exceeds, that is one item's."""

from __future__ import annotations

import pandas as pd
from each import each
from session.checker import rows
from session.conftest import Named

import anondb

COUNTS = "SELECT item, count(*) AS n FROM sales GROUP BY item"
LENGTHS = f"WITH c AS (SELECT item, length(item) AS l, n FROM ({COUNTS}))"
BEST = f"{LENGTHS} SELECT item, n FROM c WHERE NOT EXISTS (SELECT 1 FROM c d WHERE d.l = c.l AND d.n > c.n)"
PAIRS = "FROM sales a JOIN sales b ON a.tid = b.tid AND"
OF_PAIRS = [
    (
        f"SELECT least(a.item, b.item) AS i, greatest(a.item, b.item) AS j, count(*) // 2 AS n {PAIRS} a.item <> b.item "
        "GROUP BY i, j",
        f"SELECT a.item AS i, b.item AS j, count(*) AS n {PAIRS} a.item < b.item GROUP BY 1, 2",
    ),
    (
        f"SELECT a.item || b.item AS i, count(*) AS n {PAIRS} a.item < b.item GROUP BY i HAVING count(*) > 2",
        f"SELECT i || j AS i, n FROM (SELECT a.item AS i, b.item AS j, count(*) AS n {PAIRS} a.item < b.item GROUP BY 1, 2) "
        "WHERE n > 2",
    ),
]


def test_groups_by_an_expression_of_both_items_are_sums(named: Named) -> None:
    """Where items were suppressed, a group may have further rows."""
    for sql, plain in OF_PAIRS:
        if named[0] != "suppressed":
            assert rows(named, sql) == rows(named, plain)
        else:
            assert set(bounds(named[1].sql(sql))) == {(None, None)}


def test_a_comparison_with_all_rows_reads_the_table_and_not_a_name_of_another_subquery(named: Named) -> None:
    """The least count is no NULL, and a price may be."""
    named[1].register("limits", pd.DataFrame({"k": [1.0, None]}))
    sql = (
        "SELECT count(*) >= ALL (SELECT k FROM limits) AS above, "
        "(WITH limits AS (SELECT count(*) AS k FROM prices) SELECT k > 0 FROM limits) AS priced FROM sales"
    )
    assert named[1].sql(sql).fetchall()[0][:1] == (None,)


def test_rows_without_a_greater_one_have_the_bounds_of_not_exists(named: Named) -> None:
    """Their estimates differ: where a join keeps rows, worlds without the row count 0; where NOT EXISTS does, none."""
    best = {(item, *ends) for item, _, *ends in rows(named, BEST)}
    for join in ("LEFT JOIN c b ON b.l = a.l AND b.n > a.n WHERE b.n IS NULL", "ANTI JOIN c b ON b.l = a.l AND b.n > a.n"):
        listed = rows(named, f"{LENGTHS} SELECT a.item, a.n FROM c a {join}")
        assert {(item, *ends) for item, _, *ends in listed} == best


ALIKE = [
    (
        f"{LENGTHS} SELECT a.item, sum(CASE WHEN b.n IS NULL THEN 1 ELSE 0 END) AS k FROM ({COUNTS}) a LEFT JOIN c b "
        "ON b.n > a.n + 99 GROUP BY a.item",
        f"SELECT item, 1 AS k FROM ({COUNTS})",
    ),
    (
        "SELECT item, l.other, count(*) AS k FROM sales s, LATERAL (SELECT t.item AS other FROM sales t WHERE t.tid = s.tid "
        "AND t.item <> s.item) l GROUP BY 1, 2",
        f"SELECT a.item, b.item AS other, count(*) AS k {PAIRS} a.item <> b.item GROUP BY 1, 2",
    ),
    (
        "SELECT DISTINCT ON (l) l, n AS k FROM (SELECT item, left(item, 1) AS l, count(*) OVER (PARTITION BY item) AS n "
        "FROM sales) ORDER BY l, n DESC",
        "SELECT DISTINCT left(item, 1) AS l FROM sales",
    ),
    (
        "SELECT DISTINCT 'a' AS l, count(*) OVER (PARTITION BY 1) + (SELECT count(DISTINCT tid) FROM sales) AS k",
        "SELECT 'a' AS l, 1 + count(DISTINCT tid) AS k FROM sales",
    ),
    (
        f"WITH c AS ({COUNTS}) SELECT c.item, (SELECT count(*) FROM (SELECT item, n + 99 AS n FROM c) d WHERE d.n > c.n) "
        "AS k FROM c WHERE EXISTS (FROM c d WHERE d.item = 'milk')",
        f"WITH c AS ({COUNTS}) SELECT c.item, (SELECT count(*) FROM c) AS k FROM c",
    ),
]


def test_queries_that_look_like_these_shapes_have_their_own_answers(named: Named) -> None:
    """Matches that are counted where there is none, names that are unique beside LATERAL, DISTINCT ON, no FROM, one alias
    for two sources."""
    for sql, plain in ALIKE:
        result, other = (named[1].sql(text) for text in (sql, plain))
        assert not any("Internal error" in note for note in result.notes)
        shared = [column for column in other.columns if column in ("item", "other", "l", "k")]
        one, two = (
            sorted(tuple(dict(zip(of.columns, row, strict=True))[name] for name in shared) for row in of.fetchall())
            for of in (result, other)
        )
        assert one and len(set(one)) == len(one) and set(one) <= set(two)


def bounds(result: anondb.Result) -> list[tuple[object, ...]]:
    """The lower and the upper bounds of the rows of an answer with one number."""
    place = next(n for n, column in enumerate(result.columns) if column.endswith("_lower"))
    return [row[place : place + 2] for row in result.fetchall()]


def test_a_row_is_in_its_running_total(named: Named) -> None:
    """So it counts once at least, and has its own number at least, in whatever order."""
    for way in ("", " DESC"):
        for total, least in (("count(*)", 1), ("sum(n) FILTER (WHERE n > 0)", 1), ("max(n)", 1)):
            result = named[1].sql(f"SELECT item, {total} OVER (ORDER BY n{way}) AS n FROM ({COUNTS})")
            assert all(low is None or low >= least for low, _ in bounds(result))


def test_equal_groups_come_in_any_order_before_a_row(named: Named) -> None:
    """So ROWS in an order with ties takes those with a smaller number for certain, and those with an equal one possibly."""
    if named[0] == "suppressed":
        return
    running = f"SELECT item, sum(n) OVER (ORDER BY n DESC{{}} ROWS UNBOUNDED PRECEDING) AS s FROM ({COUNTS})"
    of_all, *others = (dict(_by_item(named[1].sql(running.format(ties)))) for ties in ("", ", item", ", item DESC"))
    assert of_all and all(low is not None for low, _ in of_all.values())
    for ordered in others:
        assert all(of_all[item][0] <= low and high <= of_all[item][1] for item, (low, high) in ordered.items())


@each("call, bounded", [("sum(n)", True), ("row_number()", True), ("lag(n)", False), ("first_value(n)", False)])
def test_rows_that_an_exact_order_does_not_tell_apart_have_any_place(named: Named, call: str, bounded: bool) -> None:
    """Bounds hold the value of every order of equal rows, or there are none."""
    if named[0] == "suppressed":
        return
    places = (
        f"SELECT item, {call} OVER (ORDER BY length(item){{}}{' ROWS UNBOUNDED PRECEDING' if call == 'sum(n)' else ''}) AS s"
    )
    of_all, *others = (named[1].sql(f"{places.format(ties)} FROM ({COUNTS})") for ties in ("", ", item", ", item DESC"))
    assert not any("Internal error" in note for note in of_all.notes)
    if not bounded:
        assert of_all.columns == ["item", "s"] or all(low is None for low, _ in dict(_by_item(of_all)).values())
        return
    wide = dict(_by_item(of_all))
    for ordered in map(dict, map(_by_item, others)):
        assert ordered and all(wide[item][0] <= low and high <= wide[item][1] for item, (low, high) in ordered.items())


def _by_item(result: anondb.Result) -> list[tuple[object, tuple[float, float]]]:
    return [(row[0], row[2:4]) for row in result.fetchall()]


@each(
    "window",
    [
        "sum(n) OVER (ORDER BY n, item ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
        "sum(n) OVER (ORDER BY n, item ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW)",
        "count(DISTINCT n) OVER (ORDER BY n)",
        "sum(n) OVER (ORDER BY n, nullif(item, 'milk'))",
    ],
)
def test_other_windows_in_an_order_of_counts_have_no_bounds(named: Named, window: str) -> None:
    result = named[1].sql(f"SELECT item, {window} AS k FROM ({COUNTS})")
    assert result.columns == ["item", "k", "k_lower", "k_upper", "certain"]
    assert len(result) and set(bounds(result)) == {(None, None)}


def test_rows_with_equal_keys_have_the_bounds_of_all(named: Named) -> None:
    """Of these one may be there, and a possible original does not say which of them it is."""
    result = named[1].sql(f"WITH c AS ({COUNTS}) SELECT item, n FROM c UNION ALL SELECT item, n + 9 FROM c")
    assert not any("Internal error" in note for note in result.notes)
    ends = {(row[0], *row[2:4]) for row in result.fetchall()}
    assert len({item for item, *_ in ends}) == len(ends) > 0


def test_rows_may_differ_in_a_key_that_is_not_shown(named: Named) -> None:
    """They are those of a query that shows it, and match between worlds as these do."""
    joined = f"WITH c AS ({COUNTS}) SELECT a.item, {{}}a.n - b.n AS d FROM c a JOIN c b ON b.n = a.n + 1"
    one, other = (named[1].sql(joined.format(shown)).fetchall() for shown in ("", "b.item, "))
    assert sorted(one, key=repr) == sorted(((row[0], *row[2:]) for row in other), key=repr) and len(one) > 0


def test_the_number_of_a_group_is_null_where_the_group_is_not(named: Named) -> None:
    """It is 1 at least where the group is there, so that nothing is divided by 0."""
    if named[0] == "suppressed":
        return
    one = f"(SELECT n FROM ({COUNTS}) WHERE item = 'milk')"
    ((low, high),) = bounds(named[1].sql(f"SELECT 12 / {one} AS n"))
    ((few, many),) = bounds(named[1].sql(f"SELECT coalesce({one}, 0) AS n"))
    plain = bounds(named[1].sql("SELECT count(*) AS n FROM sales WHERE item = 'milk'"))
    assert [(few, many)] == plain and (low, high) == (12 / many, 12 / max(few, 1))
    assert named[1].sql(f"SELECT (SELECT n FROM ({COUNTS}) WHERE item = 'caviar') AS n").fetchall()[0][0] is None


def test_rows_with_a_null_have_matches(named: Named) -> None:
    """A column that may be NULL does not tell rows without a match from others."""
    listed = f"SELECT nullif(item, 'milk') AS i, n FROM ({COUNTS})"
    result = named[1].sql(f"WITH c AS ({listed}) SELECT a.n FROM c a LEFT JOIN c b ON b.n > a.n WHERE b.i IS NULL")
    assert any("LEFT JOIN" in note for note in result.notes)
