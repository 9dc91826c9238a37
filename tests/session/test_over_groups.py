"""A SELECT over groups is one of groups: its averages, running totals and chosen groups have the bounds of plain ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from each import each

import anondb
from anondb import Session

COUNTS = "SELECT item, count(*) AS n FROM sales GROUP BY item"
SIZES = "SELECT m AS k, count(*) AS n FROM (SELECT tid, count(*) AS m FROM sales GROUP BY tid) GROUP BY ALL"
OF_PRICES = "FROM sales JOIN prices USING (item)"
OF_FOOD = "FROM sales JOIN food ON node = item"
OFTEN = "(SELECT item FROM sales GROUP BY item HAVING count(*) > 9)"
HAVE = "(SELECT tid FROM sales WHERE item = '{}')"


@pytest.fixture(scope="module")
def session(shop: Path, food: pd.DataFrame, prices: pd.DataFrame) -> Iterator[Session]:
    with anondb.open(shop / "supports.duckdb") as opened:
        opened.register("food", food)
        opened.register("prices", prices)
        yield opened


def rows(session: Session, sql: str) -> list[tuple[object, ...]]:
    """The rows of an answer, whose numbers all have bounds, without what says whether a row is certain."""
    result = session.sql(sql)
    shown = [n for n, name in enumerate(result.columns) if name != "certain"]
    ends = [n for n, name in enumerate(result.columns) if name.endswith(("_lower", "_upper"))]
    listed = result.fetchall()
    assert listed and ends and all(row[n] is not None for row in listed for n in ends), sql
    return sorted(
        (tuple(round(c, 9) if isinstance(c, float) else c for n in shown for c in [row[n]]) for row in listed), key=repr
    )


@pytest.mark.slow
@each(
    "sql, plain",
    [
        (
            f"SELECT item, s / n AS m FROM (SELECT item, sum(price) AS s, count(*) AS n {OF_PRICES} GROUP BY item)",
            f"SELECT item, avg(price) AS m {OF_PRICES} GROUP BY item",
        ),
        (
            f"SELECT sum(price) / count(DISTINCT tid) AS m {OF_PRICES}",
            f"SELECT avg(v) AS m FROM (SELECT tid, sum(price) AS v {OF_PRICES} GROUP BY tid)",
        ),
        (
            f"SELECT item, s / n AS m FROM (SELECT item, sum(price) AS s, count(*) AS n {OF_PRICES} GROUP BY item) "
            "ORDER BY n, m",
            f"SELECT item, avg(price) AS m {OF_PRICES} GROUP BY item",
        ),
        (
            f"SELECT parent, count(*) AS n FROM (SELECT *, row_number() OVER (PARTITION BY tid, parent ORDER BY item) AS r "
            f"{OF_FOOD}) WHERE r = 1 AND parent <> 'fruit' GROUP BY parent",
            f"SELECT parent, count(DISTINCT tid) AS n {OF_FOOD} WHERE parent <> 'fruit' GROUP BY parent",
        ),
        (
            "SELECT item, count(*) AS n FROM (SELECT b.item, row_number() OVER (PARTITION BY a.item, b.item ORDER BY a.tid) "
            "AS r FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk') WHERE r = 1 GROUP BY item",
            "SELECT item, count(*) AS n FROM (SELECT b.item FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk' "
            "GROUP BY a.item, b.item) GROUP BY item",
        ),
        (
            f"SELECT parent, count(*) AS n FROM (SELECT tid, parent {OF_FOOD} QUALIFY row_number() OVER (PARTITION BY tid, "
            "parent) = 1) GROUP BY parent",
            f"SELECT parent, count(DISTINCT tid) AS n {OF_FOOD} GROUP BY parent",
        ),
        (
            "SELECT parent, max(k) AS n FROM (SELECT DISTINCT parent, tid, count(*) OVER (PARTITION BY parent, tid) AS k "
            f"{OF_FOOD}) GROUP BY parent",
            f"SELECT parent, max(k) AS n FROM (SELECT parent, tid, count(*) AS k {OF_FOOD} GROUP BY ALL) GROUP BY parent",
        ),
        (
            f"SELECT item, max(n) AS m, avg(n) AS a FROM ({COUNTS}) GROUP BY item",
            f"SELECT item, n AS m, n::DOUBLE AS a FROM ({COUNTS})",
        ),
        (
            f"WITH c AS ({COUNTS}), d AS ({COUNTS}) SELECT c.item, d.n - c.n AS x FROM c LEFT JOIN d USING (item)",
            f"WITH c AS ({COUNTS}), d AS ({COUNTS}) SELECT c.item, d.n - c.n AS x FROM c LEFT JOIN d ON c.item = d.item",
        ),
        (
            f"WITH c AS ({COUNTS}), d AS ({COUNTS}) SELECT d.n - c.n AS x FROM c LEFT JOIN d USING (item)",
            f"WITH c AS ({COUNTS}), d AS ({COUNTS}) SELECT d.n - c.n AS x FROM c LEFT JOIN d ON c.item = d.item",
        ),
        (f"SELECT sum(price) / count() AS m {OF_PRICES}", f"SELECT avg(price) AS m {OF_PRICES}"),
        (
            f"WITH c AS ({SIZES}) SELECT x.k, sum(y.n) AS n FROM c x JOIN c y ON y.k >= x.k GROUP BY x.k",
            f"WITH c AS ({SIZES}) SELECT k, sum(n) OVER (ORDER BY k DESC) AS n FROM c",
        ),
        (
            f"WITH c AS ({COUNTS}) SELECT x.item, sum(y.n) AS n FROM c x, c y WHERE y.n > x.n OR (y.n = x.n AND "
            "x.item >= y.item) GROUP BY x.item",
            "SELECT item, sum(count(*)) OVER (ORDER BY count(*) DESC, item) AS n FROM sales GROUP BY item",
        ),
        (
            f"SELECT item, count(*) * max(price) AS v {OF_PRICES} GROUP BY item",
            f"SELECT item, sum(price) AS v {OF_PRICES} GROUP BY item",
        ),
        (
            "SELECT count(DISTINCT tid) AS n FROM (SELECT tid, item FROM sales WHERE item > 'c') WHERE item < 'g'",
            "SELECT count(DISTINCT tid) AS n FROM sales WHERE item > 'c' AND item < 'g'",
        ),
        (
            f"SELECT count(a.tid) AS x, count(b.tid) AS y, count(c.tid) AS z FROM {HAVE.format('milk')} a LEFT JOIN "
            f"{HAVE.format('figs')} b ON b.tid = a.tid LEFT JOIN {HAVE.format('bread')} c ON c.tid = b.tid",
            "SELECT count(*) FILTER (WHERE a) AS x, count(*) FILTER (WHERE a AND b) AS y, count(*) FILTER (WHERE a "
            "AND b AND c) AS z FROM (SELECT tid, bool_or(item = 'milk') AS a, bool_or(item = 'figs') AS b, "
            "bool_or(item = 'bread') AS c FROM sales GROUP BY tid)",
        ),
        (
            f"SELECT count(*) FILTER (WHERE a.tid = b.tid) AS n FROM {HAVE.format('milk')} a FULL JOIN "
            f"{HAVE.format('figs')} b ON a.tid = b.tid",
            f"SELECT count(*) AS n FROM {HAVE.format('milk')} a JOIN {HAVE.format('figs')} b USING (tid)",
        ),
        (
            "SELECT v.p, l.item, l.n FROM (SELECT DISTINCT parent AS p FROM food WHERE parent <> 'all') v, LATERAL (SELECT "
            "item, count(*) AS n FROM sales JOIN food ON node = item WHERE parent = v.p GROUP BY item) l",
            f"SELECT parent AS p, item, count(*) AS n {OF_FOOD} WHERE parent <> 'all' GROUP BY ALL",
        ),
        (
            f"WITH i AS (SELECT parent, item, count(*) AS n {OF_FOOD} GROUP BY ALL), c AS (SELECT parent, sum(n) AS n FROM "
            "i GROUP BY parent) SELECT i.item, i.n AS n FROM i JOIN c USING (parent) WHERE i.parent = c.parent",
            COUNTS,
        ),
        (
            f"SELECT item, count(*) AS n FROM sales WHERE item IN {OFTEN} AND EXISTS (SELECT 1 FROM sales o WHERE o.tid = "
            "sales.tid AND o.item = 'milk') GROUP BY item",
            f"SELECT item, count(*) AS n FROM sales WHERE item IN {OFTEN} AND tid IN {HAVE.format('milk')} GROUP BY item",
        ),
        (
            "SELECT item, count(*) AS n FROM (SELECT tid, item FROM sales QUALIFY count(*) OVER (PARTITION BY item) > 0) "
            "GROUP BY item",
            "SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 0",
        ),
        (f"SELECT s.item, min(t.n) AS n FROM sales s JOIN ({COUNTS}) t USING (item) GROUP BY s.item", COUNTS),
        (
            "SELECT f.parent, count(tid) AS n FROM food f LEFT JOIN sales s ON s.item = f.node GROUP BY f.parent",
            "SELECT f.parent, count(s.tid) AS n FROM food f LEFT JOIN sales s ON s.item = f.node GROUP BY f.parent",
        ),
    ],
)
def test_groups_have_the_bounds_of_plain_ones(session: Session, sql: str, plain: str) -> None:
    assert rows(session, sql) == rows(session, plain)


@each(
    "compared",
    [
        "JOIN c b ON a.item <> b.item AND a.n >= b.n",
        "CROSS JOIN c b WHERE a.n >= b.n AND a.item <> b.item",
        "JOIN c b ON a.item <> b.item WHERE a.n >= b.n",
    ],
)
def test_a_condition_means_the_same_in_on_and_in_where(plain: Session, compared: str) -> None:
    """Worlds that do not keep a row have numbers in it, wherever the condition stands."""
    counts = f"WITH c AS ({COUNTS}) SELECT a.item, b.item AS other, a.n, b.n AS m FROM c a"
    one, other = (
        rows(plain, f"{counts}{between}") for between in (f" {compared}", ", c b WHERE b.item <> a.item AND b.n <= a.n")
    )
    assert one == other and len({row[:2] for row in one}) == len(one) > 9


def test_a_sum_up_to_a_group_is_that_of_all_less_the_others(plain: Session) -> None:
    """Whatever the sizes of baskets are: nobody is counted twice, and all have one item at least."""
    result = plain.sql(f"WITH c AS ({SIZES}) SELECT k, sum(n) OVER (ORDER BY k DESC) AS n FROM c").fetchall()
    (everybody,) = plain.sql("SELECT count(DISTINCT tid) AS n FROM sales", bounds="none").fetchall()[0]
    assert {high for *_, high, _ in result} <= {*range(int(everybody) + 1)}
    assert [row[2:4] for row in result if row[0] == 1] == [(everybody, everybody)]


def test_a_group_without_a_key_is_in_no_list(session: Session) -> None:
    """NULL IN (...) is not true."""
    groups = "SELECT cheap FROM prices GROUP BY cheap HAVING count(*) > 0"
    sql = f"SELECT cheap, count(*) AS n FROM prices WHERE cheap IN ({groups}) GROUP BY cheap"
    assert sorted(session.sql(sql).fetchall()) == [(False, 1), (True, 2)]
