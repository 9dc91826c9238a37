"""Random queries of all kinds on random releases: the truth lies within the bounds of every answer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from portions import portions
from session.random_asking import Tally, ask

QUERIES = 40  # of each release


@pytest.mark.parametrize("seeds", portions(1, 5, 500))
def test_no_answer_is_wrong(tmp_path: Path, seeds: range) -> None:
    """The first seed of a range has no records, the next one has, and so on."""
    tally = Tally()
    for seed in seeds:
        ask(seed, tmp_path, QUERIES, tally, records=seed % 4 == 1)
    assert not tally.failures, "\n\n".join([str(len(tally.failures)), *tally.failures[:3]])
    assert not tally.invalid, tally.invalid
    assert sum(tally.answered.values()) > sum(tally.refused.values()) / 2
