"""Queries that are answered as others: grouping sets, persons beside the rows of a table, averages of categories."""

from __future__ import annotations

from pathlib import Path

import pytest
from each import each
from session.conftest import Named
from session.test_chosen_items import check_shop, wrong
from session.test_odd_queries import refused

SIZES = "(SELECT tid, count(*) AS n FROM sales GROUP BY tid)"
ASKED = [
    "SELECT item AS k0, count(*) AS c0 FROM sales GROUP BY ROLLUP (item)",
    "SELECT coalesce(item, 'all') AS k0, count(*) AS c0 FROM sales GROUP BY ROLLUP (item) ORDER BY count(*) DESC, k0",
    "SELECT parent AS k0, item AS k1, grouping(parent, item) AS k2, count(*) AS c0 FROM sales JOIN food ON item = node"
    " GROUP BY CUBE (1, item)",
    "SELECT parent AS k0, count(DISTINCT tid) AS c0 FROM sales JOIN food ON item = node"
    " GROUP BY GROUPING SETS ((parent), ())",
    "SELECT k0, k1, sum(n) AS n0 FROM (SELECT item AS k0, item LIKE 'b%' AS k1, count(*) AS n FROM sales GROUP BY 1, 2)"
    " GROUP BY ROLLUP (k1, k0)",
    f"SELECT b.lo AS k0, count(*) AS c0 FROM (VALUES (1, 1), (2, 3)) AS b(lo, hi) JOIN {SIZES} s"
    " ON s.n BETWEEN b.lo AND b.hi GROUP BY b.lo ORDER BY b.lo",
    f"SELECT b.name AS k0, b.lo AS k1, count(*) AS c0 FROM (VALUES ('x', 1), ('x', 2), (NULL, 1)) AS b(name, lo)"
    f" JOIN {SIZES} s ON s.n >= b.lo GROUP BY b.name, b.lo",
    f"SELECT t.k + 1 AS k0, count(s.tid) AS c0 FROM generate_series(0, 4) t(k) LEFT JOIN {SIZES} s ON s.n = t.k + 1"
    " GROUP BY 1",
    f"SELECT range AS k0, count(*) AS c0 FROM {SIZES} s JOIN range(3) ON s.n > range WHERE range > 0 GROUP BY range",
    "SELECT avg(c) AS n0 FROM (SELECT tid, count(DISTINCT parent) AS c FROM sales JOIN food ON item = node GROUP BY tid)",
    "WITH p AS (SELECT tid, count(DISTINCT parent) AS c FROM sales JOIN food ON item = node WHERE item <> 'milk'"
    " GROUP BY tid) SELECT avg(c) AS n0 FROM p",
]


APART = [  # groups with several rows of a table, whose persons would have to be added up
    ("name", "(VALUES ('x', 1), ('x', 2), ('y', 3)) AS b(name, lo)"),
    ("lo", "(VALUES (1), (1), (2)) AS b(lo)"),
    ("lo", "(VALUES (NULL), (NULL), (2)) AS b(lo)"),
    ("lo % 2", "range(1, 4) AS b(lo)"),
    ("'all'", "range(1, 4) AS b(lo)"),
]


@pytest.mark.slow
@each("sql", ASKED[1::2])
def test_the_truth_is_inside_more_bounds(named: Named, shop: Path, sql: str) -> None:
    check_truth(named, shop, sql)


@each("sql", ASKED[::2])
def test_the_truth_is_inside_the_bounds(named: Named, shop: Path, sql: str) -> None:
    check_truth(named, shop, sql)


def check_truth(named: Named, shop: Path, sql: str) -> None:
    if named[0] == "suppressed" and "coalesce" in sql:  # which rows there are is not known
        assert named[1].sql(sql).columns == ["k0", "c0", "c0_lower", "c0_upper", "certain"]
    else:
        assert not wrong(named, shop, sql, filtered=False)


def test_a_total_is_the_count_of_all(named: Named) -> None:
    asked = "SELECT parent, count(DISTINCT tid) AS n FROM sales JOIN food ON item = node GROUP BY ROLLUP (parent)"
    *_, total = named[1].sql(f"{asked} ORDER BY parent NULLS LAST").fetchall()
    ((_, *alone),) = named[1].sql("SELECT NULL, count(DISTINCT tid) AS n FROM sales JOIN food ON item = node").fetchall()
    assert total[:4] == (None, *alone)


@each(
    "sql, words",
    [
        ("SELECT item, rank() OVER () FROM sales GROUP BY ROLLUP (item)", "GROUP BY several sets"),
        ("SELECT DISTINCT count(*) FROM sales GROUP BY ROLLUP (item)", "GROUP BY several sets"),
        ("SELECT item FROM sales GROUP BY ROLLUP (item)", "an empty set without an aggregate"),
        (f"SELECT k, count(*) FROM range(101) t(k) JOIN {SIZES} s ON s.n > k GROUP BY k", "without an equal item"),
        (f"SELECT k, count(*) FROM range(3) t(k) LEFT JOIN {SIZES} s ON s.n > k GROUP BY k", "count(id)"),
        ("SELECT count(*) FROM generate_series(1, (SELECT count(*) FROM sales))", "arguments that are not constants"),
        ("SELECT mode(length(item)) FROM sales WHERE item <> 'milk' HAVING count(*) > 1", "LIMIT 1"),
        ("SELECT string_agg(item, ',') FROM sales", "put them together"),
    ],
)
def test_refusals_say_what_to_do(named: Named, sql: str, words: str) -> None:
    refused(named[1], sql, words)


@pytest.mark.slow
@each(
    "sql",
    [
        f"SELECT k, n, count(*) FROM range(3) t(k) JOIN {SIZES} s ON s.n > k GROUP BY k, n",
        *(f"SELECT {key}, count(*) FROM {table} JOIN {SIZES} s ON s.n >= lo GROUP BY {key}" for key, table in APART),
    ],
)
def test_persons_beside_several_rows(named: Named, shop: Path, sql: str) -> None:
    check_shop(named, shop, sql)
