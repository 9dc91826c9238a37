"""What a session keeps between queries changes no answer: short answers, sums, and the encoding of classes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import anondb
from anondb.query import cached_release
from anondb.session import releases

SIZES = [
    "SELECT avg(n) AS a, max(n) AS b FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING bool_or(item = 'milk'))",
    "SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales WHERE item IN ('milk', 'figs') GROUP BY tid) "
    "GROUP BY n",
    "SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 2 AND bool_or(item = 'bread'))",
    "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'dates')",
    "SELECT sum(price) AS s FROM sales JOIN prices USING (item)",
]


def test_answers_are_kept(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    answer = releases.answer_plan
    monkeypatch.setattr(releases, "answer_plan", lambda r, p, **more: asked.append(p) or answer(r, p, **more))  # type: ignore[func-returns-value]
    monkeypatch.setattr(releases, "MAX_KEPT", 2)
    texts = [f"SELECT count(DISTINCT tid) AS n FROM sales WHERE item = '{item}'" for item in ("milk", "bread", "figs")]
    with anondb.open(shop / "supports.duckdb") as session:
        first = [session.sql(text).fetchall() for text in texts]
        number = len(asked)
        assert [session.sql(text).fetchall() for text in texts[1:]] == first[1:] and len(asked) == number
        assert session.sql(texts[0]).fetchall() == first[0] and len(asked) > number


@pytest.mark.parametrize("release", ["supports", "suppressed"])
def test_wide_signatures_answer_alike(
    shop: Path, prices: pd.DataFrame, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More classes than a number has places for are encoded as texts."""

    def answers() -> list[list[tuple[object, ...]]]:
        with anondb.open(shop / f"{release}.duckdb") as session:
            session.register("prices", prices)
            return [session.sql(text).fetchall() for text in SIZES]

    narrow = answers()
    monkeypatch.setattr(cached_release, "MAX_BITS", 1)
    for wide, expected in zip(answers(), narrow, strict=True):
        assert [pytest.approx(row) for row in expected] == wide


def test_a_table_that_is_registered_again_changes_the_answer(shop: Path) -> None:
    with anondb.open(shop / "supports.duckdb") as session:
        sums = []
        for price in (1.0, 2.0):
            session.register("prices", pd.DataFrame({"item": ["milk"], "price": [price]}))
            sums.append(session.sql("SELECT sum(price) AS s FROM sales JOIN prices USING (item)").fetchall()[0])
    assert sums[1] == pytest.approx([2 * number for number in sums[0]])
