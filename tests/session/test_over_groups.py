"""A SELECT over groups is one of groups: its averages, running totals and chosen groups have the bounds of plain ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from each import each

import anondb
from anondb import Session

COUNTS = "SELECT item, count(*) AS n FROM sales GROUP BY item"
SIZES = "SELECT m AS k, count(*) AS n FROM (SELECT tid, count(*) AS m FROM sales GROUP BY tid) GROUP BY ALL"


@pytest.fixture(scope="module")
def session(shop: Path, food: pd.DataFrame, prices: pd.DataFrame) -> Iterator[Session]:
    with anondb.open(shop / "supports.duckdb") as opened:
        opened.register("food", food)
        opened.register("prices", prices)
        yield opened


def rows(session: Session, sql: str) -> list[tuple[object, ...]]:
    """The rows of an answer, whose numbers all have bounds, without what says whether a row is certain."""
    result = session.sql(sql)
    shown = [n for n, name in enumerate(result.columns) if name != "certain"]
    ends = [n for n, name in enumerate(result.columns) if name.endswith(("_lower", "_upper"))]
    listed = result.fetchall()
    assert listed and ends and all(row[n] is not None for row in listed for n in ends), sql
    return sorted(
        (tuple(round(c, 9) if isinstance(c, float) else c for n in shown for c in [row[n]]) for row in listed), key=repr
    )


@each(
    "compared",
    [
        "JOIN c b ON a.item <> b.item AND a.n >= b.n",
        "CROSS JOIN c b WHERE a.n >= b.n AND a.item <> b.item",
        "JOIN c b ON a.item <> b.item WHERE a.n >= b.n",
    ],
)
def test_a_condition_means_the_same_in_on_and_in_where(plain: Session, compared: str) -> None:
    """Worlds that do not keep a row have numbers in it, wherever the condition stands."""
    counts = f"WITH c AS ({COUNTS}) SELECT a.item, b.item AS other, a.n, b.n AS m FROM c a"
    one, other = (
        rows(plain, f"{counts}{between}") for between in (f" {compared}", ", c b WHERE b.item <> a.item AND b.n <= a.n")
    )
    assert one == other and len({row[:2] for row in one}) == len(one) > 9


def test_a_sum_up_to_a_group_is_that_of_all_less_the_others(plain: Session) -> None:
    """Whatever the sizes of baskets are: nobody is counted twice, and all have one item at least."""
    result = plain.sql(f"WITH c AS ({SIZES}) SELECT k, sum(n) OVER (ORDER BY k DESC) AS n FROM c").fetchall()
    (everybody,) = plain.sql("SELECT count(DISTINCT tid) AS n FROM sales", bounds="none").fetchall()[0]
    assert {high for *_, high, _ in result} <= {*range(int(everybody) + 1)}
    assert [row[2:4] for row in result if row[0] == 1] == [(everybody, everybody)]


def test_a_group_without_a_key_is_in_no_list(session: Session) -> None:
    """NULL IN (...) is not true."""
    groups = "SELECT cheap FROM prices GROUP BY cheap HAVING count(*) > 0"
    sql = f"SELECT cheap, count(*) AS n FROM prices WHERE cheap IN ({groups}) GROUP BY cheap"
    assert sorted(session.sql(sql).fetchall()) == [(False, 1), (True, 2)]
