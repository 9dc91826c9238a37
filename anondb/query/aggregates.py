"""Aggregates of numbers over persons, each of whom has a number between two ends, and some of whom may be left out.

**Quantiles.** The number at a place is at most v if enough persons are at most v. If that holds for any choice, it holds for
the one that counts every person whose lower end is at most v, and of the others only those who cannot be left out: one
person more moves the place by at most one. So the lower bound is the least v for which it holds there; the upper bound is
the mirror image. A quantile between two places lies between their numbers.

**Variances, upper bound.** The mean square distance of numbers from their mean is at most that from any other point. From a
point, a person is at most as far away as the farther end. Persons who may be left out count while they raise the mean
square. The point is chosen so that the bound is small.

**Variances, lower bound.** The sum of squares about the mean is the least one about any point, and with those who may be
left out no less than without them. From a point, a person is at least as far away as the nearer end; not at all if it lies
between them.

**The average over several releases** is the mean of the averages, weighted by the numbers of persons. Each average and each
number lies between its bounds; the bounds of the whole are its least and its greatest value for all of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, fsum, isinf, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.query.classes import Size, Sums
from anondb.query.evaluate import Outcome
from anondb.query.parsing import bare
from anondb.query.refusals import only, unsupported

CONT, DISC = "quantile_cont", "quantile_disc"
QUANTILES = (exp.Median, exp.Quantile, exp.PercentileCont, exp.PercentileDisc)
Persons = tuple[float, int, bool]
"""A number, how many persons have it, and whether these count for certain."""
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
Number = float | None
Aggregated = tuple[Number, Number]
"""Lower bound and upper bound; None where there is none."""


def quantile_of(call: exp.Expr) -> tuple[str, Fraction]:
    """The kind of a quantile, and its share of the persons, from 0 to 1.

    Raises:
        InputError: ``unsupported_query``: the share is not a number from 0 to 1.
    """
    if isinstance(call, exp.Median):
        only(call, "this")
        return CONT, Fraction(1, 2)
    only(call, "this", "expression", "quantile")
    share = bare(call.args.get("quantile") or call.expression)
    if not isinstance(share, exp.Literal) or share.is_string or not 0 <= Fraction(share.name) <= 1:
        raise unsupported("a quantile whose share is not a number from 0 to 1", "Ask for one quantile at a time.")
    return CONT if isinstance(call, exp.PercentileCont) else DISC, Fraction(share.name)


def one_by_one(call: exp.Expr) -> list[exp.Expr]:
    """The quantiles that a call with a list of shares asks for; none for other calls."""
    key = "quantile" if isinstance(call, exp.Quantile) else "expression"
    shares = call.args.get(key) if isinstance(call, QUANTILES) else None
    calls = []
    for share in shares.expressions if isinstance(shares, exp.Array) else ():
        calls.append(call.copy())
        calls[-1].set(key, share.copy())
    return calls


def places(kind: str, share: Fraction, number: int) -> tuple[int, int]:
    """The first and the last place, from 0, between which a quantile of so many numbers lies."""
    if kind == DISC:
        place = max(1, ceil(number * share)) - 1
        return place, place
    exact, rounded = (number - 1) * share, float(number - 1) * float(share)  # DuckDB computes the second one
    return max(min(floor(exact), floor(rounded)), 0), min(max(ceil(exact), ceil(rounded)), number - 1)


def bounds_of(kind: str, share: Fraction, least: Iterable[Persons], greatest: Iterable[Persons]) -> tuple[float, float]:
    """The least and the greatest quantile of some persons, of whom one is certain.

    Args:
        kind, share: the quantile.
        least, greatest: the least and the greatest numbers of the persons.
    """
    low = _first(sorted(least), lambda number: places(kind, share, number)[0] + 1)
    high = _first(sorted(greatest, reverse=True), lambda number: number - places(kind, share, number)[1])
    return low, high


def _first(ordered: Sequence[Persons], wanted: Callable[[int], int]) -> float:
    """The first number up to which, with everybody who may be left out, as many lie as are wanted."""
    number, before = sum(persons for _, persons, certain in ordered if certain), 0
    for place, (value, persons, certain) in enumerate(ordered):
        before += persons
        number += 0 if certain else persons
        last = place + 1 == len(ordered) or ordered[place + 1][0] != value
        if last and before >= wanted(number):
            return value
    raise AssertionError("all persons lie up to the last number")


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
    distances = (np.maximum(np.maximum(point - high, low - point), 0) for point in (left, right))
    return min(float((number * distance**2).sum()) for distance in distances)


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


@dataclass(frozen=True)
class Group:
    """Persons who meet a condition alike.

    Attributes:
        outcome: whether each of them does.
        persons: how many they are.
        sums: their values.
        size: the value of each of them.
    """

    outcome: Outcome
    persons: int
    sums: Sums
    size: Size | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest value of each of them."""
        if self.size is not None:
            return self.size.least, self.size.greatest
        return self.sums.min_least, self.sums.max_greatest


def aggregated(function: str, groups: Iterable[Group], share: Fraction | None = None) -> Aggregated:
    """An aggregate over all persons who meet a condition.

    Args:
        function: ``sum``, ``avg``, ``min``, ``max``, or the kind of a quantile.
        groups: the persons.
        share: that of the quantile.

    Returns:
        Lower bound and upper bound of the aggregate, which is NULL in the originals where nobody meets the
        condition.
    """
    possible = [g for g in groups if g.outcome.greatest and g.persons]
    certain = [g for g in possible if g.outcome.least]
    if not possible:
        return (0.0, 0.0) if function == "sum" else (None, None)
    if certain and share is not None:
        ends = [[(g.ends[place], g.persons, g.outcome.least > 0) for g in possible] for place in (0, 1)]
        lower, upper = bounds_of(function, share, *ends)
    elif certain or function == "sum":
        lower, upper = _BOUNDS[function](certain, [g for g in possible if not g.outcome.least])
    else:  # at least one of these persons, if there is a value at all
        lower, upper = min(g.ends[0] for g in possible), max(g.ends[1] for g in possible)
    return None if isinf(lower) else lower, None if isinf(upper) else upper


def _sum(certain: Sequence[Group], others: Sequence[Group]) -> tuple[float, float]:
    low = fsum(g.sums.least for g in certain) + fsum(g.persons * min(g.sums.min_least, 0.0) for g in others)
    high = fsum(g.sums.greatest for g in certain)
    for g in others:
        high += g.sums.greatest if g.sums.min_greatest >= 0 else g.persons * max(g.sums.max_greatest, 0.0)
    return low, high


def _avg(certain: Sequence[Group], others: Sequence[Group]) -> tuple[float, float]:
    """Persons who may be left out are counted as long as they move the average."""
    ends = []
    for name, sign in (("least", 1), ("greatest", -1)):
        total, number = fsum(getattr(g.sums, name) for g in certain), sum(g.persons for g in certain)
        extreme = "min_least" if sign > 0 else "max_greatest"
        for value, more in sorted((sign * getattr(g.sums, extreme), g.persons) for g in others):
            if number == 0 or value * number < sign * total:
                total, number = total + sign * value * more, number + more
        ends.append(total / number)
    return ends[0], ends[1]


def _min(certain: Sequence[Group], others: Sequence[Group]) -> tuple[float, float]:
    return min(g.sums.min_least for g in (*certain, *others)), min(g.sums.min_greatest for g in certain)


def _max(certain: Sequence[Group], others: Sequence[Group]) -> tuple[float, float]:
    return max(g.sums.max_least for g in certain), max(g.sums.max_greatest for g in (*certain, *others))


_BOUNDS = {"sum": _sum, "avg": _avg, "min": _min, "max": _max}


def spread(function: str, groups: Iterable[Group], *, error: bool) -> Aggregated:
    """A variance or a standard deviation over all persons who meet a condition; ``error`` says that numbers are rounded."""
    persons = []
    for g in (g for g in groups if g.outcome.greatest and g.persons):
        low, high = g.ends
        if isinf(low) or isinf(high):
            return None, None
        persons.append(Alike(low, high, g.persons, g.outcome.least > 0))
    return spread_of(function, persons, error=error) if persons else (None, None)
