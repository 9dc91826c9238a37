"""All pairs of items in one query have the bounds that ``count_bounds`` gives for each pair."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from portions import portions
from session.random_asking import opened
from session.random_releases import draw_sealed

import anondb
from anondb import Session

SIGNS: dict[str, Callable[[str, str], bool]] = {
    "a.item < b.item": lambda x, y: x < y,
    "b.item <= a.item": lambda x, y: x >= y,
    "a.item <> b.item": lambda x, y: x != y,
    "a.item > b.item AND a.item <> b.item": lambda x, y: x > y,
    "true": lambda x, y: True,
}
Pair = tuple[str, str]


def expected(file: Path, sign: str) -> dict[Pair, tuple[int, float, int]]:
    """The bounds of each pair that may occur."""
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"ATTACH '{file}' AS f (READ_ONLY)")
        connection.execute("USE f")
        items = [item for (item,) in connection.execute("SELECT DISTINCT item FROM released_items").fetchall()]
        bounds = {}
        for pair in [(x, y) for x in items for y in items if SIGNS[sign](x, y)]:
            row = connection.execute("FROM count_bounds(?)", [sorted(set(pair))]).fetchone()
            assert row is not None
            bounds[pair] = row
    return {pair: row for pair, row in bounds.items() if row[2]}


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(2, night=200))
def test_all_pairs_have_the_bounds_of_single_pairs(tmp_path: Path, seeds: range) -> None:
    answered = 0
    for seed in seeds:
        rnd = random.Random(seed)
        sealed = draw_sealed(rnd, tmp_path)
        sign = rnd.choice(list(SIGNS))
        sql = f"SELECT a.item, b.item, count(*) FROM sales a JOIN sales b USING (tid) WHERE {sign} GROUP BY 1, 2"
        with opened(sealed) as case:
            result = case.session.sql(sql)
            if any(note.startswith("No bounds") for note in result.notes):
                continue
            rows = result.fetchall()
        answered += 1
        if len(sealed.files) == 1:
            wanted = expected(sealed.files[0], sign)
            assert {row[:2]: (row[3], row[4]) for row in rows} == {
                pair: (low, high) for pair, (low, _, high) in wanted.items()
            }
    assert answered > len(seeds) / 3


@pytest.mark.slow
def test_nothing_is_listed_where_every_item_was_suppressed(tmp_path: Path) -> None:
    with anondb.connect(tmp_path / "raw.duckdb") as db:
        db.sql("CREATE TABLE sales AS FROM (VALUES (1, 'a'), (2, 'b'), (3, 'c')) t(tid, item)")
        db.anonymize("sales", model=anondb.KmAnonymity(5, 2), name="none", max_suppression=100).publish(
            tmp_path / "none.duckdb"
        )
    sql = "SELECT a.item, b.item, count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item < b.item GROUP BY 1, 2"
    with anondb.open(tmp_path / "none.duckdb") as session:
        assert session.sql(sql).fetchall() == []


def test_pairs_of_some_persons_have_bounds_within_those_of_all(supports: Session) -> None:
    """Whatever the condition; what no rule reads of it narrows no pair, and the number of these persons does."""
    pairs = "SELECT a.item, b.item AS other, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item"
    plain = {row[:2]: row[3:5] for row in supports.sql(f"{pairs} GROUP BY ALL").fetchall()}
    for ids in (
        "SELECT tid FROM sales WHERE item = 'milk'",
        "SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 3",
        "SELECT tid FROM sales EXCEPT SELECT tid FROM sales WHERE item = 'milk'",
    ):
        persons = supports.sql(f"SELECT count(*) AS n FROM ({ids})").fetchall()[0][2]
        rows = supports.sql(f"{pairs} WHERE a.tid IN ({ids}) GROUP BY ALL").fetchall()
        assert rows
        for row in rows:
            low, high = plain[row[:2]]
            assert 0 <= row[3] <= low and row[4] <= min(high, persons)


def test_pairs_of_persons_without_a_list_are_of_nobody(tmp_path: Path) -> None:
    """Which persons have none is what no release shows, and a condition on it is answered like others."""
    with anondb.connect() as db:
        db.sql("CREATE TABLE t AS SELECT i AS tid, CASE WHEN i % 7 > 0 THEN ['a', 'b'] END AS items FROM range(60) r(i)")
        db.anonymize("t", model=anondb.KmAnonymity(3, 2), item="items", name="r").publish(tmp_path / "r.duckdb")
    rows = "(SELECT tid, unnest(items) AS item FROM t)"
    pairs = (
        f"SELECT a.item, b.item AS other, count(*) AS n FROM {rows} a JOIN {rows} b ON a.tid = b.tid AND a.item < b.item "
    )
    with anondb.open(tmp_path / "r.duckdb") as session:
        nobody, every, plain = (
            session.sql(f"{pairs} {more} GROUP BY ALL").fetchall()
            for more in (*(f"JOIN t u ON u.tid = a.tid WHERE u.items IS {met}" for met in ("NULL", "NOT NULL")), "")
        )
    assert [row[2:4] for row in nobody] == [(0, 0)] and every == plain == [("a", "b", 51, 51, 51)]


def test_pairs_of_some_records_where_items_are_missing_in_some_transactions(tmp_path: Path) -> None:
    """The truth is between the bounds; of the last class only one person has an item, which is suppressed."""
    with anondb.connect() as db:
        db.sql("CREATE TABLE people AS SELECT i AS tid, 20 + i // 4 AS age FROM range(40) r(i)")
        db.sql("CREATE TABLE sales AS SELECT tid, unnest(['a', 'b', 'c'][: 2 + tid // 4 % 2]) AS item FROM people")
        db.sql("DELETE FROM sales WHERE tid >= 36; INSERT INTO sales VALUES (36, 'a')")
        sql = (
            "SELECT a.item, b.item AS other, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item "
            "JOIN people p ON p.tid = a.tid WHERE p.age BETWEEN 25 AND 29 GROUP BY ALL ORDER BY ALL"
        )
        true = {row[:2]: row[2] for row in db.sql(sql).fetchall()}
        how = {"records": "people", "quasi_identifiers": "age", "algorithm": "rfirst", "infeasible": "suppress"}
        db.anonymize("sales", model=anondb.KkmAnonymity(4, 1), name="r", **how).publish(tmp_path / "r.duckdb")
    with anondb.open(tmp_path / "r.duckdb") as session:
        bounds = {row[:2]: row[3:5] for row in session.sql(sql).fetchall()}
    assert bounds.keys() == true.keys()
    assert all(low <= true[pair] <= high <= 20 for pair, (low, high) in bounds.items())
    assert bounds["a", "b"][0] == true["a", "b"]
