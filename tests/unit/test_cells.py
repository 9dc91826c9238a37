"""Bounds from a linear program over cells: never beyond what any numbers of transactions attain, and mostly attained."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement, product

import numpy as np

from anondb.answers.rules.cells import Cells


def test_bounds_enclose_all_ways_to_fill_the_cells() -> None:
    rnd, attained, ends = random.Random(3), 0, 0
    for _ in range(150):
        sizes = [rnd.randint(1, 4) for _ in range(rnd.randint(1, 2))]
        starts, width, known = np.cumsum([0, *sizes[:-1]]), sum(sizes), rnd.randint(1, 3)
        sums = np.array([[rnd.randint(0, 5) for _ in range(width)] for _ in range(known)])
        values = np.array([rnd.randint(-1, 5) for _ in range(width)])
        numbers = np.array([rnd.randint(0, 5) for _ in sizes])
        ways = (combinations_with_replacement(range(s, s + n), k) for s, n, k in zip(starts, sizes, numbers, strict=True))
        filled = np.array([np.bincount(np.concatenate(way).astype(int), minlength=width) for way in product(*ways)])
        found = filled @ sums.T
        true = found[rnd.randrange(len(found))]
        low, high = true - rnd.randint(0, 2), true + rnd.randint(0, 1)
        possible = (filled @ values)[((low <= found) & (found <= high)).all(axis=1)]
        cells = Cells(starts, sums)
        ((least,), (most,)) = cells.bounds(values, numbers[None], low[None], high[None])
        assert least <= possible.min() and possible.max() <= most
        attained += int(least == possible.min()) + int(most == possible.max())
        ends += 2
    print(attained, ends)
    assert attained > 0.7 * ends
