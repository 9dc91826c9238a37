"""Arithmetic of aggregates has the bounds that the possible numbers of items of each published transaction give."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import duckdb
import pandas as pd
import pytest
from each import each

import anondb
from anondb import Session

FOOD = {"apple": "fruit", "pear": "fruit", "fig": "fruit", "milk": "dairy", "curd": "dairy", "rye": "bread"}
FOOD |= {f"wine {n}": "wine" for n in range(8)}
SIZES = "(SELECT tid, count(*) AS n FROM transactions GROUP BY tid)"
Ranges = list[tuple[int, int]]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Ranges]]:
    """A session, and how many items each transaction may have: one to all members of each of its labels."""
    file = tmp_path_factory.mktemp("arithmetic") / "r.duckdb"
    baskets = ["apple milk rye", "pear milk", "fig curd rye", "apple pear", "milk curd", "rye", "apple curd", "fig rye"]
    sales = pd.DataFrame(
        [(n, item) for n, of in enumerate(baskets) for item in [*of.split(), f"wine {n}"]], columns=["tid", "item"]
    )
    nodes = [*FOOD.items(), *((node, "food") for node in ("fruit", "dairy", "bread", "wine"))]
    with anondb.connect() as db:
        tree = pd.DataFrame(nodes, columns=["node", "parent"])
        made = db.anonymize(sales, taxonomy=tree, model=anondb.KmAnonymity(3, 1), item_supports=False, name="r", queries=1)
        made.publish(file)
    members = {node: {node} for node in FOOD} | {"food": set(FOOD)}
    for item, node in FOOD.items():
        members.setdefault(node, set()).add(item)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{file}' AS f (READ_ONLY)")
        rows = [row[0] for row in connection.execute("SELECT items FROM f.baskets").fetchall()]
    with anondb.open(file) as session:
        yield session, [(len(labels), sum(len(members[label]) for label in labels)) for labels in rows]


def ends(result: anondb.Result) -> tuple[float, float]:
    ((_, low, high),) = result.fetchall()
    return low, high


@each(
    "sql, of_size",
    [
        (f"SELECT sum(n * (n - 1) / 2) AS v FROM {SIZES}", lambda n: n * (n - 1) / 2),
        (f"SELECT sum(CASE WHEN n > 11 THEN 7 ELSE 1 END) AS v FROM {SIZES}", lambda n: 7 if n > 11 else 1),
        (f"SELECT sum(CASE WHEN n > 11 THEN 6 ELSE 0 END) + count(*) AS v FROM {SIZES}", lambda n: 7 if n > 11 else 1),
        (
            f"SELECT sum(CASE WHEN n > 3 THEN 5 WHEN n > 2 THEN 3 ELSE -2 END) AS v FROM {SIZES}",
            lambda n: (-2, 3, 5)[(n > 2) + (n > 3)],
        ),
        (
            "SELECT count(*) AS v FROM transactions x JOIN transactions y ON x.tid = y.tid AND x.item < y.item",
            lambda n: n * (n - 1) / 2,
        ),
        (
            "SELECT count(*) AS v FROM transactions x JOIN transactions y ON x.tid = y.tid AND x.item <> y.item",
            lambda n: n * (n - 1),
        ),
        (f"SELECT sum(n * n) AS v FROM {SIZES}", lambda n: n * n),
    ],
)
def test_sums_that_rise_with_sizes_are_tight(
    release: tuple[Session, Ranges], sql: str, of_size: Callable[[int], float]
) -> None:
    session, ranges = release
    assert any(low < high for low, high in ranges)
    assert ends(session.sql(sql)) == (sum(of_size(low) for low, _ in ranges), sum(of_size(high) for _, high in ranges))


@each(
    "sql",
    [
        f"SELECT count(*) FILTER (WHERE n >= 3) - count(*) FILTER (WHERE n > 3) AS v FROM {SIZES}",
        f"SELECT (SELECT count(*) FROM {SIZES} WHERE n >= 3) - (SELECT count(*) FROM {SIZES} WHERE n > 3) AS v",
        f"SELECT count(*) - count(*) FILTER (WHERE n < 3) - count(*) FILTER (WHERE n > 3) AS v FROM {SIZES}",
    ],
)
def test_differences_of_counts_are_counts_of_what_differs(release: tuple[Session, Ranges], sql: str) -> None:
    session, ranges = release
    assert ends(session.sql(sql)) == (
        sum(low == high == 3 for low, high in ranges),
        sum(low <= 3 <= high for low, high in ranges),
    )


@each(
    "sql",
    [
        f"SELECT avg(n) AS v FROM {SIZES} WHERE n BETWEEN 3 AND 4",
        f"SELECT sum(n) / nullif(count(*), 0) AS v FROM {SIZES} WHERE n BETWEEN 3 AND 4",
        f"SELECT sum(n) FILTER (WHERE n IN (3, 4)) / count(*) FILTER (WHERE n IN (3, 4)) AS v FROM {SIZES}",
        f"SELECT avg(CASE WHEN n > 2 AND n < 5 THEN n END) AS v FROM {SIZES}",
    ],
)
def test_averages_of_sizes_lie_where_their_condition_says(release: tuple[Session, Ranges], sql: str) -> None:
    low, high = ends(release[0].sql(sql))
    assert 3 <= low <= high <= 4


def test_what_is_exact_gets_no_bounds(release: tuple[Session, Ranges]) -> None:
    inner = "(SELECT v, count(*) AS n FROM (VALUES (1), (1), (2)) t(v) GROUP BY v)"
    result = release[0].sql(
        f"SELECT (SELECT max(n) * 1.0 / sum(n) FROM {inner}) AS m, (SELECT sum(n) / count(*) FROM {inner}) AS a, "
        "count(*) AS c FROM transactions"
    )
    assert result.columns == ["m", "a", "c", "c_lower", "c_upper"]
    assert result.fetchall()[0][:2] == (2 / 3, 1.5)


APPLES = "(SELECT count(*) FROM transactions WHERE item = 'apple')"


@pytest.mark.slow
@each(
    "both",
    [
        "count(*) FROM transactions x JOIN transactions y USING (tid) WHERE x.item = 'apple' AND y.item = 'milk'",
        "count(DISTINCT y.tid) FROM transactions x, transactions y "
        "WHERE x.tid = y.tid AND x.item = 'apple' AND y.item = 'milk'",
        "count(DISTINCT t.tid) FROM transactions t WHERE item = 'apple' AND tid IN "
        "(SELECT tid FROM transactions WHERE item = 'milk')",
    ],
)
def test_a_part_of_the_persons_is_no_more_than_all_of_them(release: tuple[Session, Ranges], both: str) -> None:
    """Whatever rows each of two subqueries counts persons over."""
    session, _ = release
    low, high = ends(session.sql(f"SELECT (SELECT {both}) / nullif({APPLES}, 0) AS v"))
    assert 0 <= low <= high <= 1
    without = "SELECT tid FROM transactions WHERE item = 'apple' EXCEPT SELECT tid FROM transactions WHERE item = 'milk'"
    asked = ends(session.sql(f"SELECT {APPLES} - (SELECT {both}) AS v"))
    assert asked == ends(session.sql(f"SELECT count(*) AS v FROM ({without})")) and asked[0] >= 0


def test_a_person_whom_a_join_leaves_out_is_not_counted(release: tuple[Session, Ranges]) -> None:
    session, _ = release
    joined = "transactions x LEFT JOIN transactions y ON x.tid = y.tid AND y.item = 'curd' WHERE x.item = 'apple'"
    low, high = ends(session.sql(f"SELECT {APPLES} - (SELECT count(DISTINCT y.tid) FROM {joined}) AS v"))
    assert low <= 2 <= high  # three with an apple, of whom one has curd


def test_a_number_without_bounds_says_how_to_divide(release: tuple[Session, Ranges]) -> None:
    session, _ = release
    rare = "(SELECT count(DISTINCT tid) FROM transactions WHERE item = 'pear')"
    plain = session.sql(f"SELECT 1.0 * {APPLES} / {rare} AS v")
    assert ends(plain) == (None, None) and ["nullif" in note for note in plain.notes] == [True]
    assert not any("nullif" in n for n in session.sql(f"SELECT 1.0 * {APPLES} / nullif({rare}, 0) AS v").notes)


def test_products_of_differences_have_bounds(release: tuple[Session, Ranges]) -> None:
    """Each product repeats both bounds of both factors."""
    session, _ = release
    counts = "SELECT count(DISTINCT tid) FILTER (WHERE item = 'wine 1') AS m, count(DISTINCT tid) - 4 AS n FROM transactions"
    low, high = ends(session.sql(f"SELECT m - n AS d FROM ({counts})"))
    assert low < 0 < high
    lower, upper = low, high
    for _ in range(7):
        products = [one * other for one in (lower, upper) for other in (low, high)]
        lower, upper = min(products), max(products)
    assert ends(session.sql(f"SELECT {' * '.join(['(m - n)'] * 8)} AS d FROM ({counts})")) == (lower, upper)


@each("divisor", [2, 3, 5, 100])
def test_a_remainder_is_within_one_multiple_or_less_than_the_divisor(release: tuple[Session, Ranges], divisor: int) -> None:
    session, _ = release
    for asked in ("count(*) FROM transactions WHERE item = 'milk'", "sum(n) FROM " + SIZES):
        ((_, low, high),) = session.sql(f"SELECT {asked}").fetchall()
        ((_, *ends),) = session.sql(
            f"SELECT n % {divisor} AS m FROM (SELECT {asked.replace(' FROM', ' AS n FROM', 1)})"
        ).fetchall()
        every = [int(n) % divisor for n in range(int(low), int(high) + 1)]
        inside = low // divisor == high // divisor
        assert ends == ([min(every), max(every)] if inside else [0, divisor - 1])
