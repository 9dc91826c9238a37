"""Random queries of all kinds on random releases: the truth lies within the bounds of every answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from each import each
from portions import portions
from session.checker import faults
from session.random_asking import Tally, ask

from anondb.answers import worlds

NAMES = ["k0", "c1", "n2", "b3"]
COLUMNS = ["k0", "c1", "c1_lower", "c1_upper", "n2", "n2_lower", "n2_upper", "b3"]
RIGHT = ("milk", 4.5, 3, 6, 1.0, 0.5, None, None)


@pytest.fixture(scope="module", autouse=True)
def few_worlds() -> Iterator[None]:
    """Hundreds of sessions: three worlds each are compared with the bounds."""
    before, worlds.MOST_WORLDS = worlds.MOST_WORLDS, 3
    yield
    worlds.MOST_WORLDS = before


def asked(folder: Path, seeds: range, queries: int) -> None:
    tally = Tally()
    for seed in seeds:
        ask(seed, folder, queries, tally, records=seed % 4 == 1)
    assert not tally.failures, "\n\n".join([f"{len(tally.failures)} wrong answers", *tally.failures[:3]])
    assert 2 * sum(tally.answered.values()) > sum(tally.refused.values())


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(1, night=4))
def test_no_answer_is_wrong(tmp_path: Path, seeds: range) -> None:
    asked(tmp_path, seeds, 40)


@pytest.mark.parametrize("seeds", portions(0, 0, 200, first=1000))
def test_no_answer_of_20_000_is_wrong(tmp_path: Path, seeds: range) -> None:
    asked(tmp_path, seeds, 100)


@each(
    "row, true, wrong",
    [
        (RIGHT, ("milk", 3, 0.5, True), ""),
        (RIGHT, ("milk", 7, 0.5, True), "true is 7"),
        (RIGHT, ("milk", 3, 0.4, True), "true is 0.4"),
        (RIGHT, ("milk", 3, None, True), "NULL"),
        ((*RIGHT[:7], False), ("milk", 3, 0.5, True), "true is True"),
        ((*RIGHT[:7], False), ("milk", 3, 0.5, None), "true is None"),
        (RIGHT, ("bread", 3, 0.5, True), "a row is missing"),
        (("milk", 2.5, *RIGHT[2:]), ("milk", 3, 0.5, True), "the estimate is outside"),
        (("milk", 4.5, 6, 3, *RIGHT[4:]), ("milk", 4, 0.5, True), "above the upper one"),
        (("milk", 4.5, 3, float("inf"), *RIGHT[4:]), ("milk", 4, 0.5, True), "not finite"),
    ],
)
def test_wrong_answers_are_found(row: tuple[object, ...], true: tuple[object, ...], wrong: str) -> None:
    found = [text for _, text in faults(COLUMNS, [row], NAMES, [true])]
    assert any(wrong in text for text in found) if wrong else not found


def test_rows_that_are_no_rows_of_the_truth_are_found() -> None:
    assert faults(COLUMNS, [RIGHT], NAMES, []) == [
        ("c1", f"the original has no such row: {dict(zip(COLUMNS, RIGHT, strict=True))}")
    ]
    kept = [*COLUMNS, "certain"]
    assert not faults(kept, [(*RIGHT, False)], NAMES, [], filtered=True)
    assert faults(kept, [(*RIGHT, True)], NAMES, [], filtered=True)
    assert faults(COLUMNS, [RIGHT], NAMES, [], filtered=True)
