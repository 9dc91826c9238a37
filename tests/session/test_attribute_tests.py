"""Conditions on expressions of an attribute: answered like conditions on the values for which they hold."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from each import each

import anondb
from anondb import Session
from anondb.query.values import OneOf, OnValue, Span, Stretches

PEOPLE = [("Bergen", 20, "2026-03-02"), ("Cork", 31, "2026-03-03"), (None, 42, "2026-03-08"), ("Bonn", None, None)]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("attributes")
    with anondb.connect() as db:
        sales = pd.DataFrame(
            [(n, item) for n in range(24) for item in ("milk", "figs")[: 1 + n % 2]], columns=["tid", "item"]
        )
        people = pd.DataFrame([(n, *PEOPLE[n % 4]) for n in range(24)], columns=["tid", "town", "age", "day"])
        people["day"], people["age"] = pd.to_datetime(people["day"]).dt.date, people["age"].astype("Int64")
        release = db.anonymize(
            sales, model=anondb.KkmAnonymity(2, 1), records=people, quasi_identifiers="town,age,day", name="r", queries=1
        )
        release.publish(place / "r.duckdb")
    with anondb.open(place / "r.duckdb") as opened:
        yield opened


@pytest.mark.slow
@each(
    "condition, plain",
    [
        ("town LIKE 'B%'", "town IN ('Bergen', 'Bonn')"),
        ("town NOT LIKE 'B%'", "town = 'Cork'"),
        ("NOT (town LIKE 'B%')", "town = 'Cork'"),
        ("NOT (lower(town) = 'cork')", "town IN ('Bergen', 'Bonn')"),
        ("NOT (upper(town) = 'oslo')", "town IS NOT NULL"),
        ("coalesce(town, 'none') = 'none'", "town IS NULL"),
        ("NOT (coalesce(town, 'none') = 'Cork')", "town IS NULL OR town IN ('Bergen', 'Bonn')"),
        (
            "age % 2 = 0 AND starts_with(town, 'B')",
            "age IN (20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42) AND town IN ('Bergen', 'Bonn')",
        ),
        ("dayname(day) = 'Monday'", "day = DATE '2026-03-02'"),
        ("nullif(age, 20) < 35", "age BETWEEN 21 AND 34"),
        ("day <= '2026-03-03 00:00:00.000000'", "day <= DATE '2026-03-03'"),  # as tools write times
        ("day < '2026-03-08T00:00:00'", "day < DATE '2026-03-08'"),
        ("day <= '2026-03-02 23:59:59'", "day <= DATE '2026-03-02'"),
        ("day > TIMESTAMP '2026-03-02T12:00:00'", "day > DATE '2026-03-02'"),
        ("regexp_matches(town, '^B')", "town IN ('Bergen', 'Bonn')"),
    ],
)
def test_a_condition_is_one_on_values(session: Session, condition: str, plain: str) -> None:
    one, two = (
        session.sql(f"SELECT count(*) AS n FROM records WHERE {c}").fetchall() for c in (condition, plain)
    )  # fmt: skip
    assert one == [pytest.approx(row) for row in two]
    filtered = session.sql(f"SELECT count(*) FILTER (WHERE {condition}) AS n FROM records").fetchall()
    assert filtered == [pytest.approx(row) for row in two]


def test_not_of_a_condition_that_is_null_for_a_value(session: Session) -> None:
    ((number, *ends),) = session.sql("SELECT count(*) FROM records WHERE NOT (nullif(age, 20) < 35)").fetchall()
    ((other, low, high),) = session.sql("SELECT count(*) FROM records WHERE age >= 35 AND age <> 20").fetchall()
    assert [number, *ends] == [other, low, high]


CHARTS = {
    "a time grain": (
        "SELECT DATE_TRUNC('week', day) AS __timestamp, town AS town, COUNT(*) AS count FROM main.records "
        "WHERE day >= '2026-03-01 00:00:00.000000' AND day < '2026-04-01T00:00:00' "
        "GROUP BY DATE_TRUNC('week', day), town ORDER BY count DESC LIMIT 1000",
        "SELECT date_trunc('week', day) AS __timestamp, town, count(*) AS count FROM records "
        "WHERE day BETWEEN DATE '2026-03-01' AND DATE '2026-03-31' GROUP BY ALL ORDER BY count DESC",
    ),
    "distinct values": (
        'SELECT COUNT(DISTINCT town) AS "n" FROM main.records',
        "SELECT count(DISTINCT town) AS n FROM records",
    ),
    "a filter": ("SELECT town AS town FROM main.records GROUP BY town LIMIT 1000", "SELECT DISTINCT town FROM records"),
    "a virtual data set": (
        "SELECT town AS town, SUM(n) AS n FROM (SELECT town, count(*) AS n FROM records GROUP BY town) AS virtual_table "
        "WHERE town IS NOT NULL GROUP BY town LIMIT 100",
        "SELECT town, count(*) AS n FROM records WHERE town IS NOT NULL GROUP BY town",
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_of_bi_tools_have_the_answers_of_plain_sql(session: Session, name: str) -> None:
    one, two = map(session.sql, CHARTS[name])
    width = len(one.columns)  # a LIMIT of a tool leaves out whether a group is certain to exist
    assert one.columns == two.columns[:width] and {*two.columns[width:]} <= {"certain"}
    first, second = (
        [[v if isinstance(v, int | float) else str(v) for v in row[:width]] for row in sorted(r.fetchall(), key=str)]
        for r in (one, two)
    )
    assert len(first) > 0 and first == [pytest.approx(row) for row in second]


def test_a_date_may_be_written_in_another_way(session: Session) -> None:
    sql = "SELECT dayname(day) AS d, count(*) FROM records WHERE day < '{}' GROUP BY d"
    found, same = (session.sql(sql.format(day)).fetchall() for day in ("2026-4-1", "2026-04-01"))
    assert found == same and found and all(None not in row for row in found)


@pytest.mark.slow
@each(
    "key, expected",
    [
        ("town LIKE 'B%'", {True: 12, False: 6, None: 6}),
        ("starts_with(town, 'B')", {True: 12, False: 6, None: 6}),
        ("upper(town) = 'CORK'", {True: 6, False: 12, None: 6}),
        ("age % 2 = 0", {True: 12, False: 6, None: 6}),
        ("town LIKE 'B%' OR age > 40", {True: 18, False: 6}),
        ("town LIKE 'B%' AND age > 40", {False: 12, None: 12}),
    ],
)
def test_a_condition_to_group_by_is_null_for_null(session: Session, key: str, expected: dict[bool | None, int]) -> None:
    rows = session.sql(f"SELECT {key} AS k, count(*) AS n FROM records GROUP BY k").fetchall()
    bounds = {k: (low, high) for k, _, low, high, *_ in rows}
    assert all(bounds[k][0] <= n <= bounds[k][1] for k, n in expected.items()), rows


@pytest.mark.slow
def test_values_that_are_missing_in_one_of_two_files(tmp_path: Path) -> None:
    with anondb.connect() as db:
        for name, ages, towns in (("a", [20, 21, 22], "ABA"), ("b", [20, None, 23], ["B", None, "A"])):
            ids = [f"{name}{n}" for n in range(12)]
            people = pd.DataFrame({"tid": ids, "age": pd.array(ages * 4, dtype="Int64"), "town": [*towns] * 4})
            sales = pd.DataFrame({"tid": ids, "item": ["milk", "figs"] * 6})
            options: Any = {"records": people, "quasi_identifiers": "age,town", "name": name, "queries": 1}
            db.anonymize(sales, model=anondb.KkmAnonymity(2, 1), **options).publish(tmp_path / f"{name}.duckdb")
    for order in ("ab", "ba"):
        with anondb.open([tmp_path / f"{name}.duckdb" for name in order]) as session:
            for column in ("age", "town"):
                (counted,) = session.sql(f"SELECT count({column}) AS n FROM records").fetchall()
                (held,) = session.sql(f"SELECT count(*) AS n FROM records WHERE {column} IS NOT NULL").fetchall()
                assert counted == held
                assert counted[1] <= 20 < counted[2] == 24


def test_a_count_of_values_leaves_out_records_that_are_null(session: Session) -> None:
    """Whose town is NULL in all records of a cluster, so that no published label stands for it."""
    one, two = (
        session.sql(f"SELECT {counted} AS n FROM records{where}").fetchall()
        for counted, where in (("count(town)", ""), ("count(*)", " WHERE town IS NOT NULL"))
    )
    assert one == two and one[0][1] is not None


BY_TOWN = "SELECT town, count(*) AS n FROM records GROUP BY town"
LINES = "SELECT r.town, count(*) AS k FROM records r JOIN transactions s ON s.tid = r.tid GROUP BY r.town"
SIZES = "SELECT town, (SELECT count(*) FROM transactions WHERE tid = r.tid) AS size FROM records r WHERE town IS NOT NULL"
OLD = "tid IN (SELECT tid FROM records WHERE age > 25)"
SHARES = [
    (
        f"SELECT x.town, y.k / x.n AS m FROM ({BY_TOWN}) x JOIN ({LINES}) y ON y.town = x.town",
        f"SELECT town, avg(size) AS m FROM ({SIZES}) GROUP BY town",
    ),
    (
        f"WITH x AS ({BY_TOWN}), y AS ({LINES}) SELECT y.town, y.k / x.n AS m FROM y JOIN x USING (town)",
        f"SELECT town, avg(size) AS m FROM ({SIZES}) GROUP BY town",
    ),
    (
        "WITH a AS (SELECT item, count(*) AS n FROM transactions GROUP BY item), w AS (SELECT item, count(*) AS k FROM "
        f"transactions WHERE {OLD} GROUP BY item) SELECT a.item, coalesce(w.k, 0) / a.n AS m FROM a LEFT JOIN w "
        "USING (item)",
        f"SELECT item, avg(CASE WHEN {OLD} THEN 1 ELSE 0 END) AS m FROM transactions GROUP BY item",
    ),
]


TOWNS = "(VALUES ('Cork', 'west'), ('Bonn', 'east'), ('Bergen', 'east')) v(town, side)"
AGES = "(VALUES (20, 'a'), (31, 'b'), (32, 'b')) v(x, y)"
SIDES = "CASE WHEN town = 'Cork' THEN 'west' WHEN town IN ('Bonn', 'Bergen') THEN 'east'"
JOINED = [
    (
        f"SELECT count(*) AS n FROM records JOIN {AGES} ON age = x",
        "SELECT count(*) AS n FROM records WHERE age IN (20, 31, 32)",
    ),
    (
        "SELECT count(*) AS n FROM records JOIN range(20, 32) g(x) ON age = x",
        "SELECT count(*) AS n FROM records WHERE age < 32",
    ),
    (
        f"SELECT count(*) AS n FROM records JOIN transactions USING (tid) JOIN {TOWNS} USING (town)",
        "SELECT count(*) AS n FROM records JOIN transactions USING (tid) WHERE town IS NOT NULL",
    ),
    (
        f"SELECT side, count(*) AS n FROM records JOIN {TOWNS} USING (town) GROUP BY side",
        f"SELECT {SIDES} END AS side, count(*) AS n FROM records WHERE town IS NOT NULL GROUP BY side",
    ),
    (
        f"SELECT coalesce(side, 'none') AS side, count(*) AS n FROM records LEFT JOIN {TOWNS} USING (town) GROUP BY 1",
        f"SELECT {SIDES} ELSE 'none' END AS side, count(*) AS n FROM records GROUP BY side",
    ),
    (
        f"SELECT count(*) AS n FROM records SEMI JOIN {TOWNS} ON records.town = v.town AND side = 'east'",
        "SELECT count(*) AS n FROM records WHERE town IN ('Bonn', 'Bergen')",
    ),
    (
        f"SELECT count(*) AS n FROM records ANTI JOIN {AGES} ON x = age",
        "SELECT count(*) AS n FROM records WHERE age NOT IN (20, 31, 32) OR age IS NULL",
    ),
]


@each("sql, plain", JOINED)
def test_a_join_with_unique_values_of_an_attribute_is_a_condition(session: Session, sql: str, plain: str) -> None:
    """Of rows of the table that exclude each other, a person has one."""
    one, two = (sorted(session.sql(text).fetchall(), key=str) for text in (sql, plain))
    assert one == [pytest.approx(row) for row in two] and None not in one[0]


def test_values_of_an_attribute_that_meet_no_two_conditions_exclude_each_other() -> None:
    """All pairs of conditions on a few values, and on NULL."""
    numbers = [Fraction(n, 2) for n in range(-1, 8)]
    ends = [None, Fraction(1), Fraction(2), Fraction(3)]
    tests = [Span(low, high, is_open) for low in ends for high in ends for is_open in (False, True)]
    tests = [test for test in tests if None in (test.low, test.high) or test.low <= test.high]
    one_of = [OneOf(frozenset(of)) for size in range(4) for of in combinations(ends[1:], size)]
    stretches = [Stretches(((None, ends[1]), (ends[2], ends[3]))), Stretches(((ends[1], ends[2]), (ends[3], None)))]
    every = [
        OnValue("x", t, n, null) for t in (*tests, *one_of, *stretches) for n in (False, True) for null in (None, False)
    ]
    for one, two in product(every, repeat=2):
        apart = not any(one.holds(n) and two.holds(n) for n in numbers) and False in (one.null, two.null)
        assert one.excludes(two) == apart, (one, two)


NAMED = "SELECT town AS {}, count(*) AS n FROM records GROUP BY town"


@each(
    "sql",
    [
        f"SELECT a, z, y.n AS n FROM ({NAMED.format('a')}) x JOIN ({NAMED.format('z')}) y ON y.z = x.a",
        f"WITH x AS ({NAMED.format('a')}), y AS ({NAMED.format('z')}) SELECT a, z, y.n FROM x JOIN y ON x.a = y.z",
        f"WITH y AS (WITH x AS ({NAMED.format('z')}) SELECT z, n AS m FROM x), x AS ({NAMED.format('a')}) "
        "SELECT x.a, y.z, y.m AS n FROM x JOIN y ON x.a = y.z",
    ],
)
def test_groups_are_joined_under_their_own_names(session: Session, sql: str) -> None:
    plain = session.sql("SELECT town AS a, town AS z, count(*) AS n FROM records WHERE town IS NOT NULL GROUP BY town")
    assert sorted(row[:5] for row in session.sql(sql).fetchall()) == sorted(row[:5] for row in plain.fetchall())


@each("value", ["-k", "n - k", "x.n"])
def test_a_name_of_the_select_orders_joined_groups(session: Session, value: str) -> None:
    """Though the groups have a column of this name."""
    groups = f"WITH x AS ({BY_TOWN}), y AS ({LINES})"
    sql = f"{groups} SELECT town, {value} AS {{0}} FROM x JOIN y USING (town) ORDER BY {{0}}, town"
    one, two = (session.sql(sql.format(name)).fetchall() for name in ("k", "other"))
    assert len(one) > 1 and [row[:4] for row in one] == [row[:4] for row in two]


@each("sql, plain", SHARES)
def test_numbers_of_joined_groups_are_of_the_same_rows(session: Session, sql: str, plain: str) -> None:
    one, two = (sorted(row[:4] for row in session.sql(text).fetchall()) for text in (sql, plain))
    assert one == [pytest.approx(row) for row in two]
    assert two and all(row[2] is not None for row in two)


@each("met, failed", [("town = 'Cork'", "town IS DISTINCT FROM 'Cork'"), ("age > 25", "age <= 25 OR age IS NULL")])
def test_pairs_of_some_persons_are_among_those_of_all(session: Session, met: str, failed: str) -> None:
    """A pair is counted with a condition, or without, or in part of the persons who meet each of two opposite ones."""
    pairs = "SELECT a.item, b.item AS other, count(*) AS n FROM transactions a JOIN transactions b ON a.tid = b.tid "
    pairs += "AND a.item < b.item"
    join = f"{pairs} JOIN records p ON p.tid = a.tid WHERE {{}} GROUP BY ALL"
    chosen = join.replace("count(*)", f"count(*) FILTER (WHERE {met})").format("true")
    one, other, every, plain, counted = (
        {row[:2]: row[3:5] for row in session.sql(sql).fetchall()}
        for sql in (
            join.format(met),
            join.format(failed),
            join.format(f"({met}) OR {failed}"),
            f"{pairs} GROUP BY ALL",
            chosen,
        )
    )
    assert counted == {pair: one.get(pair, (0, 0)) for pair in plain}
    assert every == plain and plain
    for pair, (low, high) in plain.items():
        (low1, high1), (low2, high2) = one.get(pair, (0, 0)), other.get(pair, (0, 0))
        assert low1 + low2 <= low and max(high1, high2) <= high <= high1 + high2
