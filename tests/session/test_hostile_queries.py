"""Queries that read persons in odd ways: the truth lies within the bounds of every answer that has some."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from portions import portions
from session.random_analyst import Analyst
from session.random_asking import Case, Fault, opened
from session.random_hostile import Hostile
from session.random_releases import draw_narrow, draw_sealed
from session.random_worlds import worlds as others

import anondb
from anondb.answers.persons import rows
from anondb.session.answer import NO_BOUNDS

WORLDS = 4  # other originals of a release


def asked(case: Case, rnd: random.Random, tally: Counter[str]) -> str | None:
    """Ask a query; returns what is wrong with the answer."""
    query = Hostile(Analyst(rnd, case.sealed.original)).query()
    try:
        case.originals[0][1].execute(query.truth)
        unread = any(note.startswith(NO_BOUNDS) for note in case.session.sql(query.sql).notes)
    except (duckdb.Error, anondb.InputError):
        unread = True
    if unread:
        return None
    tally["bounds"] += 1
    found: list[Fault] = case.outcome(query)[1]
    return case.shown(query, found) if found else None


@pytest.mark.parametrize("seeds", portions(0, 1, 200))
def test_no_bound_is_wrong(tmp_path: Path, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    tally, failures = Counter[str](), []
    for seed in seeds:
        rnd = random.Random(seed)
        monkeypatch.setattr(rows, "MAX_LABELS", rnd.choice([12, 12, 2, 1]))  # as if there were more items
        sealed = (draw_sealed if seed % 4 == 3 else draw_narrow)(rnd, tmp_path, seed % 3 == 1)
        with opened(sealed, others(sealed, rnd, WORLDS)) as case:
            for _ in range(30):
                tally["asked"] += 1
                if wrong := asked(case, rnd, tally):
                    failures.append(f"seed {seed}: {wrong}")
    assert not failures, "\n\n".join([f"{len(failures)} wrong answers", *failures[:3]])
    assert 3 * tally["bounds"] > tally["asked"]
