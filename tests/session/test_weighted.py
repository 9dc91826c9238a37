"""Scores of persons, joins of their ids, flags and lists of values have the bounds of their plain spellings."""

from __future__ import annotations

import pytest
from each import each
from session.conftest import Named
from session.test_other_spellings import rows

CASES = "CASE item WHEN 'milk' THEN 1 WHEN 'bread' THEN 1 WHEN 'figs' THEN -2"
FLAGS = [f"max(CASE WHEN item = '{item}' THEN 1 ELSE 0 END) AS {item}" for item in ("milk", "bread", "figs")]
SCORES = "SELECT milk + bread - 2 * figs AS v FROM (SELECT tid, " + ", ".join(FLAGS) + " FROM sales GROUP BY tid)"
WEIGHTS = "(VALUES ('milk', 1), ('bread', 1), ('figs', -2)) w(item, weight)"
PRICED = "sales s LEFT JOIN prices p ON p.item = s.item"
GROUPED = [
    f"SELECT v, count(*) AS n FROM ({SCORES}) GROUP BY v",
    f"SELECT v, count(*) AS n FROM (SELECT sum({CASES} ELSE 0 END) AS v FROM sales GROUP BY tid) GROUP BY v",
    f"SELECT v, count(*) AS n FROM (SELECT coalesce(sum({CASES} END), 0) AS v FROM sales GROUP BY tid) GROUP BY v",
    f"SELECT v, count(*) AS n FROM (SELECT coalesce(sum(weight), 0) AS v FROM sales LEFT JOIN {WEIGHTS} USING (item) "
    "GROUP BY tid) GROUP BY v",
]
FILLED = [
    (
        f"SELECT count(*) AS n FROM (SELECT coalesce(sum(price), 0) AS v FROM {PRICED} GROUP BY s.tid) WHERE v < 3",
        f"SELECT count(*) AS n FROM (SELECT sum(coalesce(price, 0)) AS v FROM {PRICED} GROUP BY s.tid) WHERE v < 3",
    ),
    (
        f"SELECT avg(coalesce(v, 0)) AS n FROM (SELECT sum(price) AS v FROM {PRICED} GROUP BY s.tid)",
        f"SELECT avg(v) AS n FROM (SELECT sum(coalesce(price, 0)) AS v FROM {PRICED} GROUP BY s.tid)",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) b WHERE coalesce((SELECT sum(price) FROM sales JOIN "
        "prices USING (item) WHERE tid = b.tid), 0) >= 3",
        f"SELECT count(*) AS n FROM (SELECT sum(coalesce(price, 0)) AS v FROM {PRICED} GROUP BY s.tid) WHERE v >= 3",
    ),
    (
        f"SELECT count(*) AS n FROM (SELECT coalesce(sum({CASES} END), 5) AS v FROM sales GROUP BY tid) WHERE v > 4",
        "SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING NOT bool_or(item IN ('milk', 'bread', "
        "'figs')))",
    ),
]

A, B = ("(SELECT tid FROM sales WHERE item = 'milk') a", "(SELECT tid FROM sales WHERE item = 'bread') b")
EITHER = "SELECT tid FROM sales WHERE item IN ('milk', 'bread')"
OUTER = [
    (
        "SELECT count(CASE WHEN a.tid IS NOT NULL AND b.tid IS NOT NULL THEN 1 END) / nullif(count(*), 0) AS n "
        f"FROM {A} FULL JOIN {B} ON a.tid = b.tid",
        f"SELECT avg(CASE WHEN c = 2 THEN 1 ELSE 0 END) AS n FROM (SELECT count(*) AS c FROM ({EITHER}) GROUP BY tid)",
    ),
    (
        f"SELECT count(coalesce(a.tid, b.tid)) AS n FROM {A} FULL JOIN {B} ON a.tid = b.tid",
        f"SELECT count(DISTINCT tid) AS n FROM ({EITHER})",
    ),
    (
        f"SELECT item, count(*) AS n FROM sales JOIN (SELECT coalesce(a.tid, b.tid) AS tid FROM {A} FULL JOIN {B} "
        "ON b.tid = a.tid WHERE a.tid IS NULL OR b.tid IS NULL) USING (tid) GROUP BY item",
        f"SELECT item, count(*) AS n FROM sales WHERE tid IN ({EITHER} GROUP BY tid HAVING count(*) = 1) GROUP BY item",
    ),
]


@each("sql", GROUPED[1:])
def test_a_score_of_few_items_has_the_groups_of_their_flags(named: Named, sql: str) -> None:
    found = rows(named, sql)
    assert found == rows(named, GROUPED[0]) and len({row[0] for row in found}) > 3


@each("sql, plain", FILLED)
def test_a_sum_of_nothing_is_what_takes_its_place(named: Named, sql: str, plain: str) -> None:
    assert named[0] == "suppressed" or rows(named, sql) == rows(named, plain)


@pytest.mark.slow
def test_keys_of_scores_have_the_type_of_the_sum(named: Named) -> None:
    """So the estimates of a row are those of the rows of worlds, and its text is the same."""
    for one, two, texts in (
        ("1.5", "2", {"0.0", "1.5", "2.0", "3.5"}),
        ("1.50", "-0.25", {"0.00", "1.50", "-0.25", "1.25"}),
        ("1::DOUBLE", "3", {"0.0", "1.0", "3.0", "4.0"}),
        ("0.5::DOUBLE", "3", {"0.0", "0.5", "3.0", "3.5"}),
        ("1::DOUBLE", "0", {"0.0", "1.0"}),
        ("1.0", "0", {"0.0", "1.0"}),
        ("1", "2", {"0", "1", "2", "3"}),
    ):
        score = f"sum(CASE item WHEN 'milk' THEN {one} WHEN 'bread' THEN {two} ELSE 0 END)"
        scores = f"SELECT {score} AS v FROM sales GROUP BY tid"
        found = named[1].sql(f"SELECT v::VARCHAR AS v, count(*) AS n FROM ({scores}) GROUP BY v::VARCHAR").fetchall()
        assert {row[0] for row in found} == texts and all(row[2] <= row[1] <= row[3] for row in found)
        listed = named[1].sql(f"SELECT v, count(*) AS n FROM ({scores}) GROUP BY v").fetchall()
        assert sorted((str(row[0]), *row[1:4]) for row in listed) == sorted(row[:4] for row in found)


@each(
    "score",
    [
        "sum(CASE item WHEN 'milk' THEN 0.1::DOUBLE WHEN 'bread' THEN 0.2 ELSE 0 END)",
        "sum(ascii(item))",
        "coalesce(sum(CASE item WHEN 'milk' THEN 0.1::DOUBLE WHEN 'bread' THEN 0.2 END), 0)",
    ],
)
def test_sums_that_are_rounded_or_of_unknown_weights_are_not_listed(named: Named, score: str) -> None:
    """Six items have 64 sums, which are listed where no item was suppressed."""
    result = named[1].sql(f"SELECT v, count(*) AS n FROM (SELECT {score} AS v FROM sales GROUP BY tid) GROUP BY v")
    if score == "sum(ascii(item))" and named[0] != "suppressed":
        assert result.columns == ["v", "n", "n_lower", "n_upper", "certain"]
        assert len(result) and all(low <= n <= high for _, n, low, high, _ in result.fetchall())
    else:
        assert result.columns == ["v", "n", "n_lower", "n_upper"]
        assert len(result) and all(row[2:] == (None, None) for row in result.fetchall())


@pytest.mark.slow
@each("sql, plain", OUTER)
def test_sides_of_a_full_join_are_persons_with_a_row(named: Named, sql: str, plain: str) -> None:
    assert rows(named, sql) == rows(named, plain)


WITH_MILK = "tid IN (SELECT tid FROM sales WHERE item = 'milk')"
FLAGGED = [
    (
        f"SELECT item, max(CASE WHEN {WITH_MILK} THEN 1 ELSE 0 END) AS n FROM sales GROUP BY item",
        f"SELECT item, CASE WHEN count(*) FILTER (WHERE {WITH_MILK}) > 0 THEN 1 ELSE 0 END AS n FROM sales GROUP BY item",
    ),
    (
        f"SELECT item, min(CASE WHEN {WITH_MILK} THEN 2.5 ELSE 0 END) AS n FROM sales GROUP BY item",
        f"SELECT item, CASE WHEN bool_and({WITH_MILK}) THEN 2.5 ELSE 0 END AS n FROM sales GROUP BY item",
    ),
    (
        f"SELECT max(CASE WHEN {WITH_MILK} THEN 0 ELSE 4 END) FILTER (WHERE item = 'bread') AS n FROM sales",
        f"SELECT CASE WHEN count(*) FILTER (WHERE item = 'bread') > 0 THEN CASE WHEN count(*) FILTER (WHERE item = 'bread' "
        f"AND NOT {WITH_MILK}) > 0 THEN 4 ELSE 0 END END AS n FROM sales",
    ),
]
PARENTS = "SELECT tid, list(parent) AS l FROM sales JOIN food ON node = item GROUP BY tid"
OF_PARENT = "SELECT tid FROM sales JOIN food ON node = item WHERE parent = "
LISTED = [
    (
        f"SELECT count(*) AS n FROM ({PARENTS}) WHERE list_has_all(l, ['dairy', 'bakery'])",
        f"SELECT count(*) AS n FROM ({OF_PARENT}'dairy' INTERSECT {OF_PARENT}'bakery')",
    ),
    (
        f"SELECT count(*) AS n FROM ({PARENTS}) WHERE list_contains(l, 'dairy') AND NOT 'fruit' = ANY(l)",
        f"SELECT count(*) AS n FROM ({OF_PARENT}'dairy' EXCEPT {OF_PARENT}'fruit')",
    ),
    (
        f"SELECT count(*) AS n FROM ({PARENTS}) WHERE list_has_any(l, ['fruit', 'bakery', 'none'])",
        f"SELECT count(DISTINCT tid) AS n FROM ({OF_PARENT}'fruit' UNION ALL {OF_PARENT}'bakery')",
    ),
    (
        f"SELECT count(*) AS n FROM ({PARENTS}) WHERE len(l) > 1",
        "SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON node = item GROUP BY tid HAVING count(*) > 1)",
    ),
    (
        "SELECT count(*) AS n FROM (SELECT list(left(item, 1)) AS l FROM sales GROUP BY tid) WHERE list_contains(l, 'm')",
        "SELECT count(DISTINCT tid) AS n FROM sales WHERE left(item, 1) = 'm'",
    ),
]


@each("sql, plain", LISTED)
def test_a_list_of_looked_up_values_has_a_text_with_an_item(named: Named, sql: str, plain: str) -> None:
    assert named[0] == "suppressed" or rows(named, sql) == rows(named, plain)


@each("met", ["l IS NULL", "list_has_all(['dairy'], l)", "l = ['dairy']", "l[1] = 'dairy'"])
def test_other_conditions_on_looked_up_values_have_no_bounds(named: Named, met: str) -> None:
    result = named[1].sql(f"SELECT count(*) AS n FROM ({PARENTS}) WHERE {met}")
    assert result.fetchall()[0][1:] == (None, None)
    assert not any("Internal error" in note for note in result.notes)


@pytest.mark.slow
@each("sql, plain", FLAGGED)
def test_the_greatest_of_two_numbers_is_whether_some_row_has_it(named: Named, sql: str, plain: str) -> None:
    assert rows(named, sql) == rows(named, plain)


def test_no_number_is_the_greatest_of_no_rows(named: Named) -> None:
    sql = "SELECT max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS n FROM sales WHERE item = 'no such item'"
    result = named[1].sql(sql)
    assert any("may be NULL" in note for note in result.notes)
    assert named[0] == "suppressed" or result.fetchall()[0][0] is None
