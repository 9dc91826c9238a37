"""Subqueries that name columns around them, joins with counts of items, and set operations of rows of persons."""

from __future__ import annotations

from each import each
from session.conftest import Named

SIZES = "SELECT c, count(*) AS k FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid) GROUP BY c"


@each(
    "sql",
    [
        "SELECT count(*) AS n FROM (SELECT tid, item FROM sales UNION SELECT tid, item || 'x' FROM sales)",
        "SELECT count(*) AS n FROM (SELECT tid, item FROM sales EXCEPT ALL SELECT tid, item FROM sales)",
        "SELECT count(*) AS n FROM (SELECT a.tid, a.item, b.item FROM sales a JOIN sales b USING (tid) UNION "
        "SELECT tid, item, item FROM sales)",
    ],
)
def test_other_rows_have_no_bounds(named: Named, sql: str) -> None:
    assert named[1].sql(sql).fetchall()[0][1:] == (None, None)


def test_a_running_total_is_estimated_where_its_row_is(named: Named) -> None:
    """A size that some worlds lack has the total of the others, and not 0, there."""
    totals = named[1].sql(f"WITH h AS ({SIZES}) SELECT c, sum(k) OVER (ORDER BY c) AS n FROM h ORDER BY c").df()
    known = totals[totals.n.notna()].n
    assert len(known) and known.is_monotonic_increasing


def test_lists_that_keys_cut_off_tell_of_rows_that_need_not_exist(named: Named) -> None:
    """A listed item that nobody has takes the place of one that somebody has."""
    listed = "SELECT item, count(*) AS n FROM sales GROUP BY item"
    for end in ("ORDER BY item LIMIT 2", "QUALIFY row_number() OVER (ORDER BY item) = 2"):
        told = any("need not exist" in note for note in named[1].sql(f"{listed} {end}").notes)
        assert told or named[0] == "suppressed"  # of which items may not be listed at all
    for end in ("ORDER BY item LIMIT 99", "LIMIT 0"):
        assert not any("need not exist" in note for note in named[1].sql(f"{listed} {end}").notes)


def test_try_cast_may_be_null(named: Named) -> None:
    """Its average is over the items that are converted alone."""
    number = "TRY_CAST(CASE item WHEN 'milk' THEN '4' WHEN 'bread' THEN '9' ELSE item END AS INTEGER)"
    for average in (f"avg({number})", f"sum({number}) / nullif(count({number}), 0)"):
        result = named[1].sql(f"SELECT {average} AS n FROM sales")
        low, estimate, high = result.bounds
        assert 4 < estimate < 9 and not any("Internal error" in note for note in result.notes)
        assert named[0] == "suppressed" or 4 <= low <= estimate <= high <= 9


def test_a_statement_turns_numbers_that_it_names(named: Named) -> None:
    numbers = "WITH w AS (SELECT count(*) AS a, count(DISTINCT tid) AS b FROM sales)"
    turned = named[1].sql(f"{numbers} UNPIVOT w ON a, b INTO NAME k VALUE n")
    ((*a, _), (*b, _)) = turned.fetchall()
    assert turned.columns[:2] == ["k", "n"] and (a[0], b[0]) == ("a", "b")
    assert (*a[1:], *b[1:]) == named[1].sql(f"{numbers} FROM w").fetchall()[0]
