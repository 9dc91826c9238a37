"""Bounds of variances against all choices of numbers between the ends, and of the persons who may be left out."""

from __future__ import annotations

import random
import statistics
from itertools import product

import pytest

from anondb.query.aggregates import Alike, spread_of

EXACT = {
    "var_pop": statistics.pvariance,
    "var_samp": statistics.variance,
    "stddev_pop": statistics.pstdev,
    "stddev_samp": statistics.stdev,
}


def persons(rnd: random.Random) -> list[Alike]:
    listed = []
    for _ in range(rnd.randint(1, 4)):
        low = rnd.randint(-3, 5)
        high = low + rnd.choice([0, 0, 1, 3])
        listed.append(Alike(low, high, rnd.randint(1, 2), rnd.random() < 0.7))
    return listed


def choices(alike: list[Alike]) -> list[list[int]]:
    """The numbers of the persons in each case; whole ones, which include the ends."""
    each = [[*range(int(a.low), int(a.high) + 1), *([] if a.certain else [None])] for a in alike for _ in range(a.persons)]
    return [[number for number in chosen if number is not None] for chosen in product(*each)]


@pytest.mark.slow
@pytest.mark.parametrize("function", EXACT)
def test_bounds_enclose_all_choices(function: str) -> None:
    rnd = random.Random(21)
    bounded = 0
    for _ in range(150):
        alike = persons(rnd)
        lower, upper = spread_of(function, alike)
        if lower is None or upper is None:
            least = sum(a.persons for a in alike if a.certain)
            assert least < (2 if function.endswith("samp") else 1)
            continue
        bounded += 1
        exact = [EXACT[function](numbers) for numbers in choices(alike)]
        assert lower <= min(exact) + 1e-9 and max(exact) <= upper + 1e-9
        if all(a.certain for a in alike) and all(a.low == a.high for a in alike):
            assert lower == pytest.approx(upper, abs=1e-6) == pytest.approx(exact[0], abs=1e-6)
    assert bounded > 50


def test_the_bounds_are_narrow_where_the_ends_are() -> None:
    alike = [Alike(0, 0, 50, True), Alike(10, 11, 50, True)]
    lower, upper = spread_of("var_pop", alike)
    assert lower is not None and upper is not None and 24.9 < lower <= 25 and 30.25 <= upper < 31
