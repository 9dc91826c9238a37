"""Queries that are written in other ways have the bounds and estimates of their plain spellings."""

from __future__ import annotations

from pathlib import Path

import pytest
from answers.groups import Group, groups
from each import each
from portions import parts
from session.checker import rows
from session.conftest import Named

RULES: dict[str, list[Group]] = {}
for group in groups(Path(__file__).with_name("equal.sql")):
    RULES.setdefault(group.name, []).append(group)
CASES = [
    pytest.param(part.values[0], id=f"{rule}-{part.id}", marks=part.marks)
    for rule, found in RULES.items()
    for part in parts(found, 6)
    if part.values[0]
]


@pytest.mark.parametrize("equal", CASES)
def test_equal_queries_have_equal_bounds(named: Named, equal: list[Group]) -> None:
    for group in equal:
        if named[0] != "suppressed" or group.needs != "listed":
            *others, plain = ((sql, rows(named, sql)) for sql in group.spellings)
            assert not [sql for sql, found in others if found != plain[1]], plain[0]


DEPENDENT = [
    (
        "WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT a.item, a.n, sum(b.n) AS m FROM c a "
        "JOIN c b ON b.item <= a.item GROUP BY a.item, a.n",
        "WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n, sum(n) OVER (ORDER BY item) AS m "
        "FROM c",
    ),
    (
        "SELECT c.item, c.n, count(*) FILTER (WHERE p.price > c.n) AS m, sum(c.n) OVER () AS t FROM (SELECT item, "
        "count(*) AS n FROM sales GROUP BY 1) c JOIN prices p USING (item) GROUP BY 1, 2 ORDER BY c.n",
        "SELECT c.item, c.n, (p.price > c.n)::INTEGER AS m, sum(c.n) OVER () AS t FROM (SELECT item, count(*) AS n "
        "FROM sales GROUP BY 1) c JOIN prices p USING (item)",
    ),
]


OFTEN = "(SELECT item FROM sales GROUP BY item HAVING count(*) > 9)"


@each(
    "sql",
    [
        "SELECT count(*) AS n FROM sales s FULL JOIN prices p ON p.item = s.item",
        "SELECT count(p.price) AS n FROM sales s RIGHT JOIN prices p USING (item)",
        "SELECT count(*) AS n FROM sales x FULL JOIN sales y ON x.tid = y.tid AND x.item = y.item",
    ],
)
def test_other_outer_joins_have_no_bounds(named: Named, sql: str) -> None:
    assert named[1].sql(sql).fetchall()[0][1:] == (None, None)


@each("sql, plain", DEPENDENT)
def test_a_number_of_a_group_is_no_key_beside_the_keys_of_the_group(named: Named, sql: str, plain: str) -> None:
    """A group that need not exist may have wider bounds."""
    one, two = (named[1].sql(text) for text in (sql, plain))
    assert one.columns == two.columns
    shown = [n for n, column in enumerate(one.columns) if not column.endswith(("_lower", "_upper"))]
    assert sorted([row[n] for n in shown] for row in one.fetchall()) == sorted(
        [row[n] for n in shown] for row in two.fetchall()
    )


def test_a_join_with_groups_by_more_than_the_item_has_no_bounds(named: Named) -> None:
    """An item may be in several of its groups, and each is a row."""
    of_two = "(SELECT item, count(*) AS k, left(item, 1) AS l FROM sales GROUP BY item, l)"
    for listed, on in ((of_two, "ON s.item = f.item"), (OFTEN, "ON s.item <> f.item"), (of_two, "ON s.item = f.l")):
        sql = f"SELECT count(*) AS n FROM sales s JOIN {listed} f {on}"
        assert named[1].sql(sql).fetchall()[0][1:] == (None, None)


def test_a_name_for_other_rows_than_the_tables_is_read_as_it_is(named: Named) -> None:
    """NULL is a value of PARTITION BY, and none of IN."""
    milk = "WITH sales AS (SELECT tid, CASE WHEN item = 'milk' THEN item END AS item FROM sales)"
    result = named[1].sql(
        f"{milk} SELECT count(*) AS n FROM (SELECT tid FROM sales QUALIFY count(*) OVER (PARTITION BY item) > 1)"
    )
    (((number, *bounds),)) = result.fetchall()
    assert number > 0 and bounds == [None, None]


NUMBERED = "SELECT tid, item, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales"
UNKNOWN_PLACES = [
    f"SELECT item, count(*) AS n FROM ({NUMBERED}) WHERE r = 2 GROUP BY item",
    "SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) QUALIFY rank() OVER (PARTITION BY tid "
    "ORDER BY price) = 1)",
    "SELECT item, count(*) AS n FROM (SELECT tid, item, row_number() OVER (PARTITION BY tid ORDER BY item NULLS FIRST) "
    "AS r FROM sales) WHERE r = 1 GROUP BY item",
    f"SELECT count(*) AS n FROM ({NUMBERED}) x JOIN sales y USING (tid) WHERE x.item = y.item AND r = 2",
]
COUNTS = "SELECT item, count(*) AS n FROM sales GROUP BY item"
CLASS = "CASE WHEN n > 9 THEN 'often' WHEN n > 4 THEN 'some' END"
BY_CLASS = [
    (
        f"SELECT {CLASS} AS c, count(*) AS n FROM ({COUNTS}) GROUP BY 1",
        f"WITH c AS ({COUNTS}) SELECT 'often' AS c, count(*) AS n FROM c WHERE n > 9 HAVING count(*) > 0 UNION ALL SELECT "
        "'some', count(*) FROM c WHERE n > 4 AND NOT n > 9 HAVING count(*) > 0 UNION ALL SELECT NULL, count(*) FROM c "
        "WHERE NOT n > 4 HAVING count(*) > 0",
    ),
    (
        f"SELECT c, count(*) AS n FROM (SELECT {CLASS} AS c FROM ({COUNTS})) x WHERE c IS NOT NULL GROUP BY x.c",
        f"WITH c AS ({COUNTS}) SELECT 'often' AS c, count(*) AS n FROM c WHERE n > 9 HAVING count(*) > 0 UNION ALL SELECT "
        "'some', count(*) FROM c WHERE n > 4 AND NOT n > 9 HAVING count(*) > 0",
    ),
]
NOTHING_ELSE = (
    "SELECT item, count(*) AS n FROM sales s WHERE NOT EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND "
    "o.item <> s.item) GROUP BY item"
)
ONE_ITEM = (
    "SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 1) "
    "GROUP BY item"
)


def test_those_who_have_nothing_else_lie_within_those_with_one_item(named: Named) -> None:
    """Each of the few items is asked for, of which item supports tell more."""
    plain = {row[0]: row for row in rows(named, ONE_ITEM)}
    found = {row[0]: row for row in rows(named, NOTHING_ELSE)}
    assert found.keys() == plain.keys()
    for item, (_, estimate, low, high, *_) in found.items():
        _, other, lower, upper, *_ = plain[item]
        assert estimate == other and lower <= low and (upper is None or high <= upper)
        assert named[0] == "supports" or (low, high) == (lower, upper)


@each("sql", UNKNOWN_PLACES)
def test_the_items_at_a_place_are_not_known(named: Named, sql: str) -> None:
    assert {row[-2:] for row in named[1].sql(sql).fetchall()} == {(None, None)}


OTHERS = [
    "WITH sales AS (SELECT tid, item FROM sales WHERE item <> 'figs') SELECT count(*) AS n FROM sales s WHERE "
    "(SELECT count(*) FROM sales o WHERE o.item = s.item) > 9",
    "SELECT count(DISTINCT s.tid) AS n FROM sales s LEFT JOIN sales m ON m.tid = s.tid AND m.item = 'milk' WHERE "
    "(SELECT count(*) FROM sales o WHERE o.item = m.item) < 9",
    "SELECT count(*) AS n FROM sales s WHERE (SELECT count(*) FROM sales o(item, tid) WHERE o.item = s.tid) = 1",
]


@each("sql", OTHERS)
def test_other_rows_than_those_of_the_item_are_no_group(named: Named, sql: str) -> None:
    (((number, low, high)),) = named[1].sql(sql).fetchall()
    assert low is None or (low <= number and (high is None or number <= high))


@each("sql, plain", BY_CLASS)
def test_a_case_of_counts_divides_groups(named: Named, sql: str, plain: str) -> None:
    """A group that some worlds lack counts 0 there in one spelling alone."""
    if named[0] != "suppressed":
        one, two = ([(row[0], *row[2:]) for row in rows(named, text)] for text in (sql, plain))
        assert one == two
