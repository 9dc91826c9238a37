"""Functions of lists that aggregates make: the answers of aggregates."""

from __future__ import annotations

from anondb import Session

Named = tuple[str, Session]


def test_an_index_may_be_computed_from_the_length(named: Named) -> None:
    counts = "SELECT count(*) AS n FROM sales GROUP BY item"
    last = f"SELECT l[len(l)] AS m FROM (SELECT list(n ORDER BY n) AS l FROM ({counts}))"
    one, two = (named[1].sql(text).fetchall()[0][0] for text in (last, f"SELECT max(n) AS m FROM ({counts})"))
    assert one == two


def test_a_list_of_no_rows_has_no_length(named: Named) -> None:
    result = named[1].sql("SELECT len(list(item)) FROM sales WHERE item = 'no such item'")
    assert result.columns[0] == "len(list(item))"
    assert named[0] == "suppressed" or result.fetchall()[0][0] is None


def test_the_length_of_a_list_counts_its_nulls(named: Named) -> None:
    listed = "list(DISTINCT CASE WHEN item < 'c' THEN 'b' END)"
    result = named[1].sql(f"SELECT max(len(l)) AS a FROM (SELECT {listed} AS l FROM sales GROUP BY tid)").fetchall()[0]
    assert result[2] is None or result[2] >= 2
