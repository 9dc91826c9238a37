"""Chunks of the threat miner: ranges of keys of bounded mass that cover every key once."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from each import each

from anondb.algorithms.hghs import budget


@each("seed", range(50))
def test_chunks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rnd = random.Random(seed)
    limit = rnd.randint(1, 30)
    monkeypatch.setattr(budget, "CHUNK_ROWS", limit)
    keys = np.array(sorted(rnd.sample(range(100), rnd.randint(0, 20))), dtype=np.int64)
    mass = np.array([rnd.choice([0, 1, 5, 20, 50]) for _ in keys], dtype=np.int64)
    ranges = budget.chunks(keys, mass)
    inside = [[(k, w) for k, w in zip(keys.tolist(), mass.tolist(), strict=True) if a <= k <= b] for a, b in ranges]
    assert [k for part in inside for k, _ in part] == keys.tolist()
    for part in inside:
        assert sum(w for _, w in part) <= limit or len([w for _, w in part if w]) == 1
    for one, two in itertools.pairwise(inside):
        assert sum(w for _, w in one) + two[0][1] > limit


def test_a_single_range_where_all_fits() -> None:
    assert budget.chunks(np.array([3, 9]), np.array([1, 1])) == [(3, 9)]
    assert budget.chunks(np.array([], dtype=np.int64), np.array([], dtype=np.int64)) == []
