"""Bounds of groups that need not exist hold where these do: an average, an extreme, a share of a group has some row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from each import each
from portions import parts

import anondb
from anondb import Session

PEOPLE = [("Cork", 20), ("Bonn", 21), ("Cork", 80), ("Bonn", 81), ("Oslo", 50), ("Oslo", 50)]
"""Each class shows several towns, so that none of them needs to exist."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    file = tmp_path_factory.mktemp("groups") / "r.duckdb"
    with anondb.connect() as db:
        sales = pd.DataFrame([(n, "milk") for n in range(6)], columns=["tid", "item"])
        people = pd.DataFrame([(n, *of) for n, of in enumerate(PEOPLE)], columns=["tid", "town", "age"])
        db.anonymize(
            sales, model=anondb.KkmAnonymity(2, 1), records=people, quasi_identifiers="town,age", name="r", queries=1
        ).publish(file)
    with anondb.open(file) as opened:
        yield opened


OF_GROUPS = [
    ("avg(age)", 20, 81),
    ("min(age)", 20, 81),
    ("median(age)", 20, 81),
    ("sum(1)", 0, 6),
    ("avg(1)", 1, 1),
    ("avg(age) FILTER (WHERE age > 25)", 26, 81),
    ("count(*) FILTER (WHERE age > 25) * 100.0 / count(*)", 0, 100),
    ("count(*) FILTER (WHERE age > 25)::DOUBLE / nullif(count(*), 0)", 0, 1),
    ("sum(CASE WHEN age > 25 THEN 3 ELSE 2 END) / count(*)", 2, 3),
    ("avg(CASE WHEN age > 25 THEN 3 ELSE 2 END)", 2, 3),
    ("avg(CASE WHEN age > 25 THEN age END)", 26, 81),
    ("12 / count(DISTINCT tid)", 2, 12),
    ("count(*) - 1", -1, 5),
]


@pytest.mark.parametrize("numbers", parts(OF_GROUPS))
def test_a_number_of_a_group_has_bounds_where_the_group_exists(
    session: Session, numbers: list[tuple[str, float, float]]
) -> None:
    for number, low, high in numbers:
        result = session.sql(f"SELECT town, {number} AS n FROM records GROUP BY town ORDER BY town")
        assert result.columns == ["town", "n", "n_lower", "n_upper", "certain"]
        assert [(row[0], *row[2:]) for row in result.fetchall()[:2]] == [(t, low, high, False) for t in ("Bonn", "Cork")]
        if number in ("avg(age)", "count(*) - 1"):
            inside = session.sql(f"SELECT * FROM (SELECT town, {number} AS n FROM records GROUP BY town) ORDER BY town")
            assert inside.columns == result.columns and inside.fetchall() == result.fetchall()


@each(
    "number, low, high",
    [
        ("avg(age)", 20, 81),
        ("round(min(age) / 2, 1)", 10, 40.5),
        ("coalesce(max(age), 0)", 0, 81),
        ("sum(1)", 0, 6),
        ("sum(1) FILTER (WHERE age > 25)", 0, 6),
        ("count(*) FILTER (WHERE age > 25) / count(*)", None, None),
    ],
)
def test_a_number_of_perhaps_nobody_has_bounds_where_it_is_not_null(
    session: Session, number: str, low: float | None, high: float | None
) -> None:
    """Without GROUP BY the row is there, and its number may be NULL."""
    sql = f"SELECT {number} AS n FROM records WHERE town = 'Cork'"
    for query in (sql, f"SELECT n FROM ({sql})"):
        result = session.sql(query)
        ((_, *ends),) = result.fetchall()
        assert ends == [low, high]
        assert any("may be NULL" in note for note in result.notes) == (low is not None and "coalesce" not in number)


def test_what_may_be_null_is_not_compared(session: Session) -> None:
    asked = "SELECT n IS NULL, n > 0 FROM (SELECT avg(age) AS n FROM records WHERE town = 'Cork')"
    assert session.sql(asked).fetchall() == [(None, None)]
    result = session.sql(
        "SELECT avg(c) AS n, avg(c) IS NULL FROM (SELECT CASE WHEN town = 'Cork' THEN 1 END AS c FROM records)"
    )
    ((_, *others),) = result.fetchall()
    assert others == [1, 1, None] and any("may be NULL" in note for note in result.notes)


@each(
    "number, low, high",
    [
        ("CASE WHEN n > 2 THEN n + 1 END", 1, 7),
        ("nullif(n, 0)", 1, 6),
        ("12 / nullif(n, 0)", 2, 12),
        ("coalesce(nullif(n, 0), 1)", 1, 6),
        ("coalesce(CASE WHEN n > 9 THEN n END, 7)", 7, 7),
        ("sum(nullif(n, 0))", 0, 6),
    ],
)
def test_a_number_that_a_condition_makes_null_keeps_its_bounds(
    session: Session, number: str, low: float, high: float
) -> None:
    result = session.sql(f"SELECT {number} AS x FROM (SELECT count(*) AS n FROM records WHERE town = 'Cork')")
    ((_, *ends),) = result.fetchall()
    assert ends == [low, high]
    assert any("may be NULL" in note for note in result.notes) == (not number.startswith("coalesce"))


def test_rows_whose_number_may_be_null_are_counted_as_such(session: Session) -> None:
    groups = "(SELECT town, nullif(count(*) - 1, 0) AS n FROM records GROUP BY town)"
    sql = f"SELECT count(n), sum(n), count(*) FILTER (WHERE n IS NULL), count(*) FILTER (WHERE n > 1) FROM {groups}"
    result = session.sql(sql)
    (row,) = result.fetchall()
    assert [(row[n + 1], row[n + 2]) for n in range(0, 12, 3)] == [(0, 3), (-3, 13), (0, 3), (0, 3)]


def test_a_join_of_several_rows_that_counts_chose_has_no_bounds(session: Session) -> None:
    """Which of them are there, and how many rows the join has, differs between originals."""
    towns = "(SELECT town, count(*) AS n FROM records GROUP BY town)"
    result = session.sql(f"SELECT v.i, q.n FROM (VALUES (1), (2)) v(i) LEFT JOIN {towns} q ON q.town = q.town")
    assert {row[2:] for row in result.fetchall()} == {(None, None)}


def test_averages_lie_where_their_conditions_say(session: Session) -> None:
    ((_, *ends),) = session.sql("SELECT avg(age) FROM records WHERE town = 'Cork' AND age BETWEEN 30 AND 60").fetchall()
    assert ends == [30, 50]
    asked = "SELECT avg(n) FROM (SELECT tid, count(*) AS n FROM transactions WHERE item = 'milk' GROUP BY tid)"
    assert session.sql(asked).fetchall() == [(1, 1, 1)]


@pytest.mark.slow
@each(
    "numbers",
    [
        "avg(n), min(n), max(n), sum(n) FROM (SELECT town, count(*) AS n FROM records GROUP BY town HAVING count(*) > 2)",
        "avg(n), min(n), max(n), sum(n) FROM (SELECT town, count(*) AS n FROM records GROUP BY town) WHERE 2 < n",
        "avg(n) FILTER (WHERE n > 2), min(n) FILTER (WHERE n > 2), max(n) FILTER (WHERE n >= 3), sum(n) FILTER (WHERE n > 2)"
        " FROM (SELECT town, count(*) AS n FROM records GROUP BY town)",
        "avg(c), min(c), max(c), sum(c) FROM (SELECT CASE WHEN n >= 3 THEN n END AS c FROM (SELECT town, count(*) AS n"
        " FROM records GROUP BY town))",
    ],
)
def test_a_condition_on_a_number_limits_what_is_aggregated_of_it(session: Session, numbers: str) -> None:
    (row,) = session.sql(f"SELECT {numbers}").fetchall()
    assert [row[n + 1 : n + 3] for n in range(0, 9, 3)] == [(3, 6)] * 3 and row[-2] == 0


def test_a_condition_from_both_sides_limits_a_number(session: Session) -> None:
    towns = "(SELECT town, count(*) AS n FROM records GROUP BY town HAVING count(*) BETWEEN 2 AND 4)"
    (row,) = session.sql(f"SELECT avg(n), max(n), avg(n) FILTER (WHERE n <> 4), avg(coalesce(n, 0)) FROM {towns}").fetchall()
    assert [row[n + 1 : n + 3] for n in range(0, 12, 3)] == [(2, 4)] * 4
    listed = session.sql(f"SELECT n FROM {towns}").fetchall()  # of a row that need not be there, the bounds have 0
    assert {low for _, low, *_ in listed} == {0}


def test_a_condition_on_the_number_of_rows_keeps_each_group(session: Session) -> None:
    result = session.sql("SELECT town FROM records GROUP BY town HAVING count(*) >= 1 AND 2 * count(*) > 1")
    assert [row[0] for row in result.fetchall()] == ["Bonn", "Cork", "Oslo"]
    ((number, low, high),) = session.sql(
        "SELECT count(*) FROM (SELECT town FROM records GROUP BY town HAVING count(*) > 0)"
    ).fetchall()
    assert 0 <= low <= number <= high == 3


def test_a_key_is_null_where_filter_chooses_nobody(session: Session) -> None:
    chosen = "any_value(town) FILTER (WHERE age > 100), first(CASE WHEN age > 100 THEN town END)"
    rows = session.sql(f"SELECT town, {chosen} FROM records GROUP BY town").fetchall()
    assert rows and {row[1:3] for row in rows} == {(None, None)}


@pytest.mark.slow
def test_a_number_with_one_bound_may_be_null_too(tmp_path: Path) -> None:
    """Suppressed items have any number: there is no least value, and perhaps nobody at all."""
    sales = pd.DataFrame([(n, item) for n in range(4) for item in ("milk", f"x{n}")], columns=["tid", "item"])
    tree = pd.DataFrame([(item, "all") for item in sales["item"].unique()], columns=["node", "parent"])
    km = anondb.KmAnonymity(2, 1)
    with anondb.connect() as db:
        made = db.anonymize(sales, taxonomy=tree, model=km, max_suppression=100, name="r", queries=1)
        made.publish(tmp_path / "r.duckdb")
    sizes = "(SELECT tid, count(*) AS n FROM transactions WHERE item ^@ 'x' GROUP BY tid)"
    with anondb.open(tmp_path / "r.duckdb") as session:
        result = session.sql(f"SELECT avg(5 - n) AS a FROM {sizes}")
        assert result.fetchall()[0][1:] == (None, 4)
        assert any("may be NULL" in note for note in result.notes)


@pytest.mark.slow
@each(
    "condition, decided",
    [
        ("nullif(n, 0) IS DISTINCT FROM 0", True),
        ("nullif(n, 0) IS DISTINCT FROM 7", True),
        ("nullif(n, 0) IS NOT DISTINCT FROM 7", False),
        ("nullif(n, 0) IS DISTINCT FROM NULL", None),  # nobody or somebody may be of the town
        ("n IS DISTINCT FROM NULL", True),
        ("n IS NOT DISTINCT FROM 3", None),
        ("(n > 7) IS NOT DISTINCT FROM false", True),
        ("(nullif(n, 0) > 7) IS NOT DISTINCT FROM false", None),
    ],
)
def test_is_distinct_from_compares_null_too(session: Session, condition: str, decided: bool | None) -> None:
    counted = "(SELECT count(*) AS n FROM records WHERE town = 'Bonn')"
    assert session.sql(f"SELECT {condition} AS b FROM {counted}").fetchall() == [(decided,)]


def test_is_distinct_from_chooses_groups(session: Session) -> None:
    by_town = "SELECT town, count(*) AS n FROM records GROUP BY town HAVING count(*) {} 7"
    one, two = (session.sql(by_town.format(sign)) for sign in ("<>", "IS DISTINCT FROM"))
    assert one.fetchall() == two.fetchall() and one.notes == two.notes


@pytest.mark.slow
@each(
    "sql",
    [
        "SELECT town, n / sum(n) OVER () AS s FROM (SELECT town, count(*) AS n FROM records GROUP BY town)",
        "SELECT town, n / nullif(sum(n) OVER (), 0) AS s FROM (SELECT town, count(*) AS n FROM records GROUP BY town)",
        "SELECT town, age, n / sum(n) OVER (PARTITION BY town) AS s FROM "
        "(SELECT town, age, count(*) AS n FROM records GROUP BY town, age)",
        "SELECT town, count(*) / sum(count(*)) OVER (PARTITION BY town) AS s FROM records GROUP BY town, age",
    ],
)
def test_a_share_of_groups_that_need_not_exist_is_1_at_most(session: Session, sql: str) -> None:
    """The sum is over a group at least: that of the row."""
    result = session.sql(sql)
    assert not any("NULL" in note for note in result.notes)
    assert all(low == 0 < high <= 1 for *_, low, high, _ in result.fetchall())
