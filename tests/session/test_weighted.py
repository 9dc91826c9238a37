"""Scores of persons, joins of their ids, flags and lists of values have the bounds of their plain spellings."""

from __future__ import annotations

import pytest
from each import each
from session.conftest import Named


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


PARENTS = "SELECT tid, list(parent) AS l FROM sales JOIN food ON node = item GROUP BY tid"


@each("met", ["l IS NULL", "list_has_all(['dairy'], l)", "l = ['dairy']", "l[1] = 'dairy'"])
def test_other_conditions_on_looked_up_values_have_no_bounds(named: Named, met: str) -> None:
    result = named[1].sql(f"SELECT count(*) AS n FROM ({PARENTS}) WHERE {met}")
    assert result.fetchall()[0][1:] == (None, None)
    assert not any("Internal error" in note for note in result.notes)


def test_no_number_is_the_greatest_of_no_rows(named: Named) -> None:
    sql = "SELECT max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS n FROM sales WHERE item = 'no such item'"
    result = named[1].sql(sql)
    assert any("may be NULL" in note for note in result.notes)
    assert named[0] == "suppressed" or result.fetchall()[0][0] is None
