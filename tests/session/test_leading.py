"""IN with the items of the largest counts: bounds hold for every order of the items that the counts allow."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import duckdb
import pytest
from each import each
from session.conftest import RELEASES
from sqlglot import exp, parse_one

import anondb
from anondb import Session
from anondb.answers.ranged.leading import leading

TOP = "SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC LIMIT {}"


@pytest.mark.slow
@pytest.mark.parametrize("largest", [True, False])
def test_flags_hold_for_every_order(largest: bool) -> None:
    """All counts within the bounds and all orders of equal counts, for random rows, some of which may be missing."""
    connection, rnd = duckdb.connect(), random.Random(7)
    for _ in range(60):
        rows = []
        for n in range(rnd.randint(1, 4)):
            low = rnd.randint(0, 3)
            rows.append((n, low, low + rnd.randint(0, 2), rnd.random() < 0.7))
        most = rnd.randint(0, 3)
        values = ", ".join(f"({n}, {low}, {high}, {sure})" for n, low, high, sure in rows)
        tree = parse_one(f"SELECT * FROM (VALUES {values}) AS v(c0, c1_l, c1_u, sure)", dialect="duckdb")
        assert isinstance(tree, exp.Query)
        made = leading(tree, 1, ["c0"], most, largest=largest)
        listed = dict.fromkeys((n for n, *_ in rows), (False, False))
        for value, sure in connection.execute(made.sql("duckdb")).fetchall():
            listed[value] = True, sure
        always, ever = dict.fromkeys(listed, True), dict.fromkeys(listed, False)
        for counts in product(*(range(low, high + 1) for _, low, high, _ in rows)):
            for there in product(*((True,) if sure else (True, False) for *_, sure in rows)):
                for n, count in enumerate(counts):
                    ahead = [
                        (c > count) if largest else (c < count)
                        for m, c in enumerate(counts) if m != n and there[m]
                    ]  # fmt: skip
                    equal = sum(c == count for m, c in enumerate(counts) if m != n and there[m])
                    always[n] = always[n] and there[n] and sum(ahead) + equal < most
                    ever[n] = ever[n] or (there[n] and sum(ahead) < most)
        for n, (possible, sure) in listed.items():
            assert sure == always[n]
            assert possible == ever[n]


def test_certain_items_are_as_good_as_named_ones(supports: Session) -> None:
    named = supports.sql("SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'bread')").fetchall()
    for top in (
        TOP.format(2),
        "SELECT item FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) ORDER BY n DESC LIMIT 2",
        "WITH t AS (SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 2) SELECT item FROM t",
    ):
        assert supports.sql(f"SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ({top})").fetchall() == named


def test_uncertain_items_widen_the_bounds(supports: Session) -> None:
    """The first item is certain; of the others it is not known which come next, and in some worlds they add nobody."""
    one, two, three = (
        supports.sql(f"SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ({TOP.format(n)})").fetchall()[0]
        for n in (1, 2, 3)
    )
    assert one[1] == two[1] == three[1] and one[0] < two[0] <= three[0] and one[2] < two[2] <= three[2]


def test_rows_that_are_shown_are_cut_by_the_estimates(supports: Session) -> None:
    result = supports.sql(f"SELECT * FROM ({TOP.format(3)}) LIMIT 1000")
    assert len(result) == 3 and any("estimates" in note for note in result.notes)


def test_a_percentage_is_no_number_of_rows(supports: Session) -> None:
    most = "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT {}"
    some, notes = supports.sql(most.format("40%")), supports.sql(most.format(3)).notes
    assert any("first rows" in note for note in notes) and not any("first rows" in note for note in some.notes)
    assert len(some.fetchall()) == 2 * len(supports.sql("SELECT DISTINCT item FROM sales").fetchall()) // 5


def test_a_total_may_stand_on_both_sides_of_a_count_that_is_looked_up(supports: Session) -> None:
    looked_up = "(SELECT count(*) FROM sales s WHERE s.item = sales.item) AS n"
    most, share = "max(count(*)) OVER () AS most", "count(*) / sum(count(*)) OVER () AS share"
    rows = supports.sql(f"SELECT item, {share}, {looked_up}, {most} FROM sales GROUP BY item ORDER BY item").fetchall()
    alone = supports.sql(f"SELECT item, {looked_up} FROM sales GROUP BY item ORDER BY item").fetchall()
    assert [(row[0], *row[4:7]) for row in rows] == [row[:4] for row in alone] and all(row[8] is not None for row in rows)


@pytest.mark.parametrize("direction", ["", " DESC"])
def test_order_by_all_is_by_the_columns_from_left_to_right(supports: Session, direction: str) -> None:
    listed = "SELECT count(DISTINCT tid) AS n, item FROM sales GROUP BY ALL ORDER BY"
    by_all = supports.sql(f"{listed} ALL{direction} LIMIT 3").fetchall()
    assert by_all == supports.sql(f"{listed} n{direction}, item{direction} LIMIT 3").fetchall()
    (largest, *_, first), *_ = by_all
    assert (first == "milk" and largest == 20) == bool(direction)


LISTED = "SELECT left(item, 1) AS letter, item, count(*) AS n FROM sales GROUP BY item"


def test_the_first_row_of_each_group_has_the_estimate_of_the_row(plain: Session) -> None:
    every = {row[1]: row[:5] for row in plain.sql(LISTED).fetchall()}
    first = plain.sql(f"SELECT DISTINCT ON (letter) letter, item, n FROM ({LISTED}) ORDER BY letter, n DESC")
    assert [row[:5] for row in first.fetchall()] == [every[item] for _, item, *_ in first.fetchall()] != []


@pytest.mark.slow
@each(
    "rank, met, told",
    [
        ("rank() OVER (ORDER BY n DESC)", "r <= 1", {True, False}),
        ("row_number() OVER (ORDER BY n DESC, item)", "r < 3", {True, False}),
        ("dense_rank() OVER (PARTITION BY letter ORDER BY n DESC)", "r = 1", {True, False}),
        ("rank() OVER (ORDER BY n)", "r <= 2", {False}),
        ("rank() OVER (ORDER BY n DESC)", "r BETWEEN 2 AND 3", {False}),
    ],
)
def test_rows_that_ranks_choose_say_whether_they_belong(
    shop: Path, plain: Session, supports: Session, rank: str, met: str, told: set[bool]
) -> None:
    sql = f"SELECT letter, item, n FROM (SELECT *, {rank} AS r FROM ({LISTED})) WHERE {met}"
    said = set[bool]()
    with duckdb.connect(str(shop / "shop.duckdb"), read_only=True) as owner:
        truth = {row[:2] for row in owner.execute(sql).fetchall()}
    for session in (plain, supports):
        result = session.sql(sql)
        assert result.columns[-1] == "certain"
        said |= {row[-1] for row in result.fetchall()}
        assert {row[:2] for row in result.fetchall() if row[-1]} <= truth
    assert said == told


@each(
    "rows",
    [
        f"({LISTED} ORDER BY n DESC LIMIT 3) t ON p.item = t.item",
        f"(SELECT *, rank() OVER (ORDER BY n DESC) AS r FROM ({LISTED})) t ON p.item = t.item AND t.r <= 3",
    ],
)
def test_first_rows_inside_a_query_keep_their_bounds(shop: Path, rows: str) -> None:
    with anondb.open(shop / "plain.duckdb") as session:
        session.sql("CREATE TABLE p AS SELECT unnest(['milk', 'bread', 'butter', 'rolls', 'dates', 'figs']) AS item")
        every = {row[1]: row[3:5] for row in session.sql(LISTED).fetchall()}
        shown = session.sql(f"SELECT p.item, t.n FROM p JOIN {rows}").fetchall()
        assert shown and all(row[2:4] == every[row[0]] for row in shown)


def test_what_no_rule_reads_leaves_the_rest_with_its_bounds(supports: Session) -> None:
    counted = supports.sql("SELECT count(*) AS n FROM sales WHERE item = 'milk'").bounds
    result = supports.sql("SELECT count(*) AS n, count(*) & 7 AS m, mode(item) AS k FROM sales WHERE item = 'milk'")
    ((*bounds, _, lower, upper, _, certain),) = [(row[1], row[0], row[2], *row[3:]) for row in result.fetchall()]
    assert tuple(bounds) == counted and (lower, upper) == (None, None)
    assert result.columns[-1] == "certain" and not certain  # estimates choose the label
    assert any("'m'" in note and "the operator &" in note for note in result.notes)


def test_a_join_on_a_count_and_distinct_rows_are_certain_or_possible(supports: Session) -> None:
    counts = "SELECT item, count(*) AS n FROM sales GROUP BY item"
    joined = f"SELECT t.item FROM (VALUES (5), (9)) AS v(least) JOIN ({counts}) t ON t.n > v.least"
    expected = {row[0]: row[-1] for row in supports.sql(f"{counts} HAVING count(*) > 5").fetchall()}
    assert dict(supports.sql(f"SELECT DISTINCT item FROM ({joined})").fetchall()) == expected


ENDS = [
    "ORDER BY n DESC LIMIT 1",
    "ORDER BY n DESC LIMIT 3",
    "ORDER BY n LIMIT 2",
    "ORDER BY n DESC LIMIT 1 OFFSET 2",
    "ORDER BY n OFFSET 1",
    "ORDER BY n DESC FETCH FIRST 2 ROWS ONLY",
    "ORDER BY max(item) LIMIT 2",
    "QUALIFY row_number() OVER (ORDER BY count(*) DESC) = 1",
    "QUALIFY rank() OVER (ORDER BY count(*) DESC) <= 2 ORDER BY n DESC",
    "QUALIFY dense_rank() OVER (ORDER BY count(*)) <= 2 ORDER BY n",
]


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_rows_without_keys_have_the_bounds_of_any_that_may_be_meant(shop: Path, release: str) -> None:
    original = shop / f"{RELEASES[release]}.duckdb"
    with anondb.open(shop / f"{release}.duckdb") as session, duckdb.connect(original, read_only=True) as con:
        for end in ENDS:
            sql = f"SELECT count(*) AS n, count(DISTINCT tid) * 2 AS m FROM sales GROUP BY item {end}"
            truth = con.execute(sql).fetchall()
            for (n, m), row in zip(truth, session.sql(sql).fetchall(), strict=False):
                assert (row[1] is None or row[1] <= n) and (row[2] is None or n <= row[2]), sql
                assert (row[4] is None or row[4] <= m) and (row[5] is None or m <= row[5]), sql
