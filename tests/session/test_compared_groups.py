"""Groups beside the other groups: those that come up to one in an order of counts, that none exceeds, that is one item's."""

from __future__ import annotations

import pytest
from each import each
from portions import FIRST_AND_OTHERS
from session.conftest import Named
from session.test_other_spellings import rows

import anondb

COUNTS = "SELECT item, count(*) AS n FROM sales GROUP BY item"
LENGTHS = f"WITH c AS (SELECT item, length(item) AS l, n FROM ({COUNTS}))"
FIRST = "sum(n) OVER (ORDER BY n DESC, item ROWS UNBOUNDED PRECEDING)"
TOTALS = [
    (
        f"SELECT item, sum(n) OVER (ORDER BY n DESC, item) AS n FROM ({COUNTS})",
        "SELECT item, sum(count(*)) OVER (ORDER BY count(*) DESC, item ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) "
        "AS n FROM sales GROUP BY item",
    ),
    (
        f"SELECT item, count(*) OVER (ORDER BY n, item DESC) AS n FROM ({COUNTS})",
        f"SELECT item, count(n) OVER (ORDER BY n, item DESC ROWS UNBOUNDED PRECEDING) AS n FROM ({COUNTS})",
    ),
    (
        f"SELECT k, count(*) AS n FROM (SELECT CASE WHEN {FIRST} > 8 THEN 'a' ELSE 'b' END AS k FROM ({COUNTS})) GROUP BY k",
        f"SELECT CASE WHEN s > 8 THEN 'a' ELSE 'b' END AS k, count(*) AS n FROM (SELECT {FIRST} AS s FROM ({COUNTS})) GROUP "
        "BY 1",
    ),
]
BEST = f"{LENGTHS} SELECT item, n FROM c WHERE NOT EXISTS (SELECT 1 FROM c d WHERE d.l = c.l AND d.n > c.n)"
COMPARED = [
    (f"{LENGTHS} SELECT item, n FROM c WHERE n >= ALL (SELECT n FROM c d WHERE d.l = c.l)", BEST),
    (f"{LENGTHS} SELECT a.item, a.n FROM c a LEFT JOIN c b ON b.l = a.l AND b.n > a.n WHERE b.n IS NULL", BEST),
    (
        f"{LENGTHS} SELECT item, n FROM c WHERE n > ANY (SELECT n FROM c d WHERE d.l = c.l)",
        f"{LENGTHS} SELECT item, n FROM c WHERE n > (SELECT min(n) FROM c d WHERE d.l = c.l)",
    ),
    (
        f"WITH c AS ({COUNTS}) SELECT count(*) AS n FROM c a LEFT JOIN c b ON b.n > a.n WHERE b.n IS NULL AND a.n > 2",
        f"WITH c AS ({COUNTS}) SELECT count(*) AS n FROM c a WHERE NOT EXISTS (FROM c b WHERE b.n > a.n) AND a.n > 2",
    ),
]
POWERS = [
    (
        "SELECT power(count(*) FILTER (WHERE item = 'milk') - count(*) FILTER (WHERE item = 'figs'), 2) AS n FROM sales",
        "SELECT abs(count(*) FILTER (WHERE item = 'milk') - count(*) FILTER (WHERE item = 'figs')) ** 2 AS n FROM sales",
    ),
    (
        f"SELECT item, (n - 3) ** 3 AS n FROM ({COUNTS})",
        f"SELECT item, CASE WHEN n >= 3 THEN power(n - 3, 3) ELSE -power(3 - n, 3) END AS n FROM ({COUNTS})",
    ),
]
EQUAL = {
    "running totals are in an order of counts": TOTALS,
    "groups are compared with the other ones": COMPARED,
    "whole powers are of any number": POWERS,
}


@pytest.mark.parametrize("part", FIRST_AND_OTHERS)
@pytest.mark.parametrize("pairs", EQUAL.values(), ids=EQUAL)
def test_equal_queries_have_equal_bounds(named: Named, pairs: list[tuple[str, str]], part: slice) -> None:
    unlike = [sql for sql, plain in pairs[part] if rows(named, sql) != rows(named, plain)]
    assert not unlike


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


@each(
    "window",
    [
        "sum(n) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING)",
        "sum(n) OVER (ORDER BY n, length(item) ROWS UNBOUNDED PRECEDING)",
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
