"""Subqueries that name columns around them, joins with counts of items, and set operations of rows of persons."""

from __future__ import annotations

import pytest
from each import each
from portions import FIRST_AND_OTHERS
from session.conftest import Named
from session.test_other_spellings import rows

COUNTS = "SELECT item, count(*) AS n FROM sales GROUP BY item"
SIZES = "SELECT c, count(*) AS k FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid) GROUP BY c"
AROUND = [
    (
        f"WITH c AS ({COUNTS}) SELECT item, (SELECT count(*) FROM c d WHERE d.n > c.n) AS n FROM c",
        f"WITH c AS ({COUNTS}) SELECT c.item, l.n FROM c, LATERAL (SELECT count(*) AS n FROM c d WHERE c.n < d.n) l",
    ),
    (
        f"WITH h AS ({SIZES}) SELECT c, (SELECT sum(k) FROM h g WHERE g.c <= h.c) AS n FROM h",
        f"WITH h AS ({SIZES}) SELECT h.c, sum(g.k) AS n FROM h JOIN h g ON g.c <= h.c GROUP BY h.c",
    ),
    (
        f"WITH c AS ({COUNTS}) SELECT item, n FROM c WHERE EXISTS (SELECT 1 FROM prices WHERE prices.item = c.item AND "
        "price > 2)",
        f"WITH c AS ({COUNTS}) SELECT item, n FROM c WHERE item IN (SELECT item FROM prices WHERE price > 2)",
    ),
    *(
        (
            f"WITH c AS ({COUNTS}) SELECT item, n FROM c WHERE {of} IN (SELECT {rows} FROM c)",
            f"WITH c AS ({COUNTS}) SELECT item, n FROM c WHERE n = (SELECT max(n) FROM c)",
        )
        for of, rows in (("n", "max(n)"), ("(n, 1)", "max(n), 1"))
    ),
]
JOINED = [
    (
        f"SELECT s.item, c.n, count(*) AS k FROM sales s JOIN ({COUNTS}) c ON c.item = s.item GROUP BY s.item, c.n",
        "SELECT item, greatest(count(*), 1) AS n, count(*) AS k FROM sales GROUP BY item",
    ),
    (
        f"WITH c AS ({COUNTS}) SELECT b.item, count(*) / c.n AS n FROM sales a JOIN sales b USING (tid) JOIN c ON "
        "c.item = a.item WHERE a.item = 'milk' AND b.item <> 'milk' GROUP BY b.item, c.n",
        "SELECT item, count(*) / greatest((SELECT count(*) FROM sales WHERE item = 'milk'), 1) AS n FROM sales WHERE "
        "item <> 'milk' AND tid IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY item",
    ),
    (
        "SELECT item, count(*) / t.n AS n FROM sales, (SELECT count(DISTINCT tid) AS n FROM sales) t GROUP BY item, t.n",
        "SELECT item, count(*) / (SELECT count(DISTINCT tid) FROM sales) AS n FROM sales GROUP BY item",
    ),
    (
        "SELECT count(*) FILTER (WHERE item = 'milk') / t.n AS n FROM sales CROSS JOIN (SELECT count(DISTINCT tid) AS n "
        "FROM sales) t GROUP BY t.n",
        "SELECT (SELECT count(*) FROM sales WHERE item = 'milk') / (SELECT count(DISTINCT tid) FROM sales) AS n",
    ),
]
OF_EITHER = "SELECT tid, item FROM sales WHERE item IN ('milk', 'bread')"
SETS = [
    (
        f"SELECT count(*) AS n FROM ({OF_EITHER} UNION SELECT tid, item FROM sales WHERE item > 'bz')",
        "SELECT count(*) AS n FROM sales WHERE item IN ('milk', 'bread') OR item > 'bz'",
    ),
    (
        f"SELECT item, count(*) AS n FROM ({OF_EITHER} INTERSECT SELECT tid, item FROM sales WHERE item > 'bz') GROUP BY 1",
        "SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread') AND item > 'bz' GROUP BY item",
    ),
    (
        f"SELECT count(DISTINCT tid) AS n FROM (SELECT tid, item FROM sales EXCEPT {OF_EITHER})",
        "SELECT count(DISTINCT tid) AS n FROM sales WHERE item NOT IN ('milk', 'bread')",
    ),
    (
        "SELECT i, count(*) AS n FROM (SELECT item AS i, tid FROM sales WHERE tid IN (SELECT tid FROM sales WHERE "
        f"item = 'milk') EXCEPT SELECT x.item, x.tid FROM ({OF_EITHER}) x) GROUP BY i",
        "SELECT item AS i, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') AND "
        "item NOT IN ('milk', 'bread') GROUP BY item",
    ),
]
SELF_JOINS = [
    (
        "SELECT a.item, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid GROUP BY a.item",
        "SELECT item, sum(c) AS n FROM (SELECT item, count(*) OVER (PARTITION BY tid) AS c FROM sales) GROUP BY item",
    ),
    (
        "SELECT item, count(*) AS n FROM sales s WHERE NOT EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND "
        "o.item < s.item) GROUP BY item",
        "SELECT item, count(*) AS n FROM (SELECT tid, min(item) AS item FROM sales GROUP BY tid) GROUP BY item",
    ),
]
FLAGS = "SELECT tid, " + ", ".join(
    f"max(CASE WHEN item = '{item}' THEN 1 ELSE 0 END) AS {name}" for name, item in (("x", "milk"), ("y", "bread"))
)
FLAGS += " FROM sales GROUP BY tid"
RATIOS = [
    (
        "SELECT (count(*) - count(DISTINCT tid)) / nullif(count(DISTINCT tid), 0) AS n FROM sales",
        "SELECT avg(c) - 1 AS n FROM (SELECT count(*) AS c FROM sales GROUP BY tid)",
    ),
    (
        "SELECT 100.0 * (count(*) - count(*) FILTER (WHERE item = 'milk')) / nullif(count(*), 0) AS n FROM sales",
        "SELECT 100.0 * (1 - avg(CASE WHEN item = 'milk' THEN 1 ELSE 0 END)) AS n FROM sales",
    ),
    (
        "SELECT sum(length(item)) / count(*) AS n FROM sales WHERE item IN ('milk', 'bread', 'dates')",
        "SELECT avg(length(item)) AS n FROM sales WHERE item IN ('milk', 'bread', 'dates')",
    ),
    (
        "SELECT sum(CASE WHEN a.tid IS NOT NULL AND b.tid IS NOT NULL THEN 1 ELSE 0 END) / nullif(count(*), 0) AS n FROM "
        "(SELECT tid FROM sales WHERE item = 'milk') a FULL JOIN (SELECT tid FROM sales WHERE item = 'bread') b "
        "ON a.tid = b.tid",
        "SELECT avg(CASE WHEN c = 2 THEN 1 ELSE 0 END) AS n FROM (SELECT count(*) AS c FROM sales WHERE item IN ('milk', "
        "'bread') GROUP BY tid)",
    ),
    *(
        (
            f"SELECT {kind}(x, y) AS n FROM ({FLAGS})",
            f"SELECT (avg(x * y) - avg(x) * avg(y)){factor} AS n FROM ({FLAGS})",
        )
        for kind, factor in (("covar_pop", ""), ("covar_samp", " * count(*) / nullif(count(*) - 1, 0)"))
    ),
]
PARENTS = "SELECT DISTINCT parent FROM food WHERE parent IS NOT NULL"
OF_PARENT = "SELECT node FROM food WHERE parent = p.parent"
SIZE = "(SELECT tid, count(*) AS c FROM sales GROUP BY tid)"
OF_EACH = [
    (
        f"SELECT p.parent, (SELECT count(DISTINCT tid) FROM sales WHERE item IN ({OF_PARENT})) AS n FROM ({PARENTS}) p",
        "SELECT f.parent, count(DISTINCT s.tid) AS n FROM food f LEFT JOIN sales s ON s.item = f.node WHERE f.parent IS NOT "
        "NULL GROUP BY f.parent",
    ),
    (
        "SELECT node, (SELECT count(DISTINCT tid) FROM sales WHERE item = node) AS n FROM food",
        "SELECT f.node, count(DISTINCT s.tid) AS n FROM food f LEFT JOIN sales s ON s.item = f.node GROUP BY f.node",
    ),
    (
        f"SELECT count(*) AS n FROM ({PARENTS}) p WHERE EXISTS (SELECT 1 FROM sales s WHERE s.item IN ({OF_PARENT}))",
        f"SELECT count(*) AS n FROM ({PARENTS}) p WHERE parent IN (SELECT f.parent FROM sales JOIN food f ON node = item)",
    ),
    (
        "SELECT k, (SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= g.k)) AS n FROM (SELECT "
        "unnest([1, 2]) AS k) g",
        f"SELECT 1 AS k, count(*) AS n FROM {SIZE} WHERE c > 0 UNION ALL SELECT 2, count(*) FROM {SIZE} WHERE c > 1",
    ),
    (
        "SELECT p.x, l.n FROM (VALUES ('milk', 'bread'), ('dates', 'milk')) p(x, y), LATERAL (SELECT count(*) AS n FROM "
        "(SELECT tid FROM sales WHERE item = p.x INTERSECT SELECT tid FROM sales WHERE item = p.y)) l",
        "SELECT 'milk' AS x, count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk' AND b.item = 'bread' "
        "UNION ALL SELECT 'dates', count(*) FROM sales WHERE item = 'milk' AND tid IN (SELECT tid FROM sales WHERE item = "
        "'dates')",
    ),
]
UP = "sales s JOIN food f ON f.node = s.item JOIN food p ON p.node = f.parent"
OWN_TABLES = [
    *(
        (
            f"SELECT p.parent, count(*) AS n FROM {places} WHERE p.node = f.parent AND s.item = f.node GROUP BY 1",
            f"SELECT p.parent, count(*) AS n FROM {UP} GROUP BY 1",
        )
        for places in ("sales s, food f, food p", "food p, food f, sales s", "sales s, food p, food f")
    ),
    (
        "SELECT parent, count(*) FILTER (WHERE node IN (SELECT item FROM sales)) AS n FROM food GROUP BY parent",
        "SELECT parent, count(*) FILTER (WHERE node IN (SELECT DISTINCT item FROM sales)) AS n FROM food GROUP BY parent",
    ),
    (
        "SELECT DISTINCT item, count(*) OVER w AS n, count(*) OVER w * 2 AS r FROM sales WINDOW w AS (PARTITION BY item)",
        "SELECT item, count(*) AS n, count(*) * 2 AS r FROM sales GROUP BY item",
    ),
]
EQUAL = {
    "subqueries are of each value around them": OF_EACH,
    "own tables are joined in any order": OWN_TABLES,
    "subqueries name columns of the rows around them": AROUND,
    "counts of items are joined": JOINED,
    "set operations are of rows": SETS,
    "rows of self-joins are counted by item": SELF_JOINS,
    "quotients are averages": RATIOS,
}


@pytest.mark.parametrize("part", FIRST_AND_OTHERS)
@pytest.mark.parametrize("pairs", EQUAL.values(), ids=EQUAL)
def test_equal_queries_have_equal_bounds(named: Named, pairs: list[tuple[str, str]], part: slice) -> None:
    if named[0] == "suppressed":
        shown = [] if pairs is SELF_JOINS else pairs
        pairs = [pair for pair in shown if not {"prices", "food"} & {*pair[0].replace("(", " ").replace(",", " ").split()}]
    unlike = [sql for sql, plain in pairs[part] if rows(named, sql) != rows(named, plain)]
    assert not unlike


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
