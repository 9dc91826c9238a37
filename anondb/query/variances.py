"""Variances and standard deviations over persons, each of whom has a number between two ends.

**Upper bound.** The mean square distance of numbers from their mean is at most that from any other point. From a point, a
person is at most as far away as the farther end. Persons who may be left out count while they raise the mean square. The
point is chosen so that the bound is small.

**Lower bound.** The sum of squares about the mean is the least one about any point, and with those who may be left out no
less than without them. From a point, a person is at least as far away as the nearer end; not at all if it lies between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlglot import exp

SPREADS: Mapping[type[exp.Expr], str] = {
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
}
STEPS = 80  # of a search for a point
ROUNDING = 1e-9  # relative; of DuckDB's doubles, and of the search

Array = npt.NDArray[Any]


class Alike(NamedTuple):
    """Persons with the same ends: how many, and whether they count for certain."""

    low: float
    high: float
    persons: int
    certain: bool


def spread_of(function: str, persons: Sequence[Alike], *, error: bool = False) -> tuple[float | None, float | None]:
    """A variance or a standard deviation: lower bound and upper bound.

    Args:
        function: one of ``SPREADS``.
        persons: some persons.
        error: whether the numbers are sums of doubles.

    Returns:
        No bounds if it may be NULL, because too few persons count for certain.
    """
    *numbers, certain = (np.array(column) for column in zip(*persons, strict=True))
    low, high, number = (column.astype(float) for column in numbers)
    fewer = 1 if function.endswith("samp") else 0
    least, most = number[certain].sum(), number.sum()
    if least <= fewer:
        return None, None
    size = max(float(np.abs(low).max()), float(np.abs(high).max()))
    slack = ROUNDING * size**2 * (1.0 if error else ROUNDING)
    squares = _least_squares(low[certain], high[certain], number[certain])
    lower = max(squares * (1 - ROUNDING) / (most - fewer) - slack, 0.0)
    upper = _greatest_mean(low, high, number, certain) * least / (least - fewer) * (1 + ROUNDING) + slack
    root = sqrt if function.startswith("stddev") else float
    return root(float(lower)), root(float(upper))


def _least_squares(low: Array, high: Array, number: Array) -> float:
    """The least sum of squares about a point: it rises where those below the point weigh more than those above it."""
    left, right = float(low.min()), float(high.max())
    for _ in range(STEPS):
        point = (left + right) / 2
        rising = (number * (np.maximum(point - high, 0) - np.maximum(low - point, 0))).sum() > 0
        left, right = (left, point) if rising else (point, right)
    return min(_squares(np.maximum(np.maximum(point - high, low - point), 0), number) for point in (left, right))


def _squares(distance: Array, number: Array) -> float:
    return float((number * distance**2).sum())


def _greatest_mean(low: Array, high: Array, number: Array, certain: Array) -> float:
    """The least, over points, of the greatest mean square distance from the point."""

    def from_point(point: float) -> float:
        farthest = np.maximum(point - low, high - point) ** 2
        total, count = float((number * farthest)[certain].sum()), float(number[certain].sum())
        others = ~certain
        for square, more in sorted(zip(farthest[others].tolist(), number[others].tolist(), strict=True), reverse=True):
            if square * count <= total:
                break
            total, count = total + square * more, count + more
        return total / count

    return _lowest(from_point, float(low.min()), float(high.max()))


def _lowest(of: Callable[[float], float], left: float, right: float) -> float:
    """The lowest value that a search finds of a function that falls and then rises."""
    for _ in range(STEPS):
        one, two = left + (right - left) / 3, right - (right - left) / 3
        left, right = (left, two) if of(one) <= of(two) else (one, right)
    return of((left + right) / 2)
