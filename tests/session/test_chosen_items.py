"""Items and persons that counts of other queries choose: set operations, anti-joins, and lists under IN."""

from __future__ import annotations

import functools
from pathlib import Path

import duckdb
import pytest
from each import each
from session.checker import check_bounds, faults, says_null
from session.conftest import RELEASES, Named
from session.test_odd_queries import refused

TABLES = ("food", "prices")  # of the analyst
WITH_MILK = "FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'milk'"
LISTS = [
    "SELECT item AS k FROM sales EXCEPT SELECT item FROM prices",
    "SELECT item AS k FROM sales WHERE item LIKE 'b%' UNION SELECT item FROM sales GROUP BY item HAVING count(*) > 9",
    "SELECT item AS k FROM sales GROUP BY item HAVING count(*) > 5 INTERSECT SELECT node FROM food WHERE parent = 'dairy'",
    "SELECT node AS k FROM food WHERE parent = 'dairy' EXCEPT SELECT item FROM sales WHERE item LIKE 'm%'",
    f"SELECT DISTINCT item AS k FROM sales WHERE item NOT IN (SELECT b.item {WITH_MILK})",
    f"SELECT DISTINCT item AS k FROM sales s WHERE NOT EXISTS (SELECT 1 {WITH_MILK} AND b.item = s.item)",
    f"SELECT item AS k, count(*) AS c FROM sales s WHERE EXISTS (SELECT 1 {WITH_MILK} AND b.item = s.item) GROUP BY item",
]
FIRST = "SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC LIMIT 2"
NUMBERS = [
    f"SELECT count(DISTINCT item) AS c FROM sales WHERE item NOT IN (SELECT b.item {WITH_MILK})",
    f"SELECT count(DISTINCT tid) AS c FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item IN ({FIRST}))",
    f"SELECT count(DISTINCT tid) AS c FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item IN ({FIRST}))",
    "SELECT stddev(n) AS n0, var_pop(n) AS n1 FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)",
]


@functools.cache
def original(named: Named, shop: Path) -> duckdb.DuckDBPyConnection:
    """The table that a release comes from, in memory, beside the analyst's tables."""
    name, session = named
    raw = duckdb.connect()
    raw.execute(f"ATTACH '{shop / RELEASES[name]}.duckdb' AS shop (READ_ONLY)")
    raw.execute("CREATE TABLE sales AS FROM shop.main.sales")
    raw.execute("DETACH shop")
    for table in TABLES:
        raw.register(table, session.sql(f'FROM "{table}"').df())
    return raw


def wrong(named: Named, shop: Path, sql: str, *, filtered: bool) -> list[tuple[str, str]]:
    name, session = named
    true = original(named, shop).execute(sql)
    names, truth = [column[0] for column in true.description or []], true.fetchall()
    result = session.sql(sql)
    if any("Internal error" in note for note in result.notes):
        return [("", "an answer of a world is outside of the bounds")]
    every = name != "suppressed"
    how = {"filtered": filtered, "every": every, "nullable": says_null(result.notes)}
    return faults(result.columns, result.fetchall(), names, truth, **how)


def check_shop(named: Named, shop: Path, sql: str, words: str | None = None, *, empty: bool = False) -> None:
    """Check the bounds of a query, or that it has none, as ``words`` say (``check_bounds``).

    ``empty`` says that nobody may be counted where no item is certain, as in the release ``plain``.
    """
    name, session = named
    raw = original(named, shop)
    for table, *_ in session._database.shapes:
        if table not in TABLES:
            raw.register(table, session.sql(f'FROM "{table}"').df())
    check_bounds(session, raw, sql, words, suppressed=name == "suppressed", empty=empty and name == "plain")


@pytest.mark.slow
@each("sql", LISTS)
def test_lists(named: Named, shop: Path, sql: str) -> None:
    assert not wrong(named, shop, sql, filtered=True)


@each("sql", NUMBERS)
def test_numbers(named: Named, shop: Path, sql: str) -> None:
    if named[0] == "suppressed" and "LIMIT" in sql:
        refused(named[1], sql, "suppressed rows")
    else:
        assert not wrong(named, shop, sql, filtered=False)


def test_items_are_certain_or_possible(named: Named) -> None:
    sql = f"SELECT DISTINCT item FROM sales WHERE item NOT IN (SELECT b.item {WITH_MILK}) ORDER BY item"
    result = named[1].sql(sql)
    assert result.columns == ["item", "certain"] and not all(certain for _, certain in result.fetchall())


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT item FROM sales GROUP BY item HAVING count(*) > 5 EXCEPT ALL SELECT item FROM prices", "EXCEPT ALL"),
        (
            "SELECT item, count(*) AS n FROM sales GROUP BY item INTERSECT SELECT 'milk', 3",
            "INTERSECT that compares estimates",
        ),
    ],
)
def test_refusals_name_the_construct(named: Named, sql: str, words: str) -> None:
    refused(named[1], sql, words)
