"""Aggregates of numbers over persons: sums, averages, extremes, quantiles and variances, with bounds (see ``measures``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, isinf

from anondb.query.classes import Size, Sums
from anondb.query.evaluate import Outcome
from anondb.query.quantiles import bounds_of
from anondb.query.variances import Alike, spread_of

Number = float | None
Aggregated = tuple[Number, Number]
"""Lower bound and upper bound; None where there is none."""


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
