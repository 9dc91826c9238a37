"""Arithmetic of numbers of which the bounds are known."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Bounds = tuple[float | None, float | None]
"""Lower bound and upper bound of a number; None where there is none."""
Row = tuple[Any, ...]
NONE: Bounds = (0, 0)


def both_of(one: Bounds, other: Bounds) -> Bounds:
    """A number that lies within two bounds."""
    lows, highs = ([end for end in ends if end is not None] for ends in zip(one, other, strict=True))
    low, high = max(lows, default=None), min(highs, default=None)
    turned = low is not None and high is not None and low > high  # by the rounding of floating numbers
    return (high, low) if turned else (low, high)


def quotient(number: Bounds, rows: Bounds) -> Bounds:
    """A number by a number of rows, of which there is one at least."""
    least, most = max(rows[0] or 0, 1), None if rows[1] is None else max(rows[1], 1)

    def divided(end: float | None, outward: bool) -> float | None:
        by = least if outward else most
        return None if end is None else 0.0 if by is None else end / by

    low, high = number
    return divided(low, low is not None and low < 0), divided(high, high is not None and high > 0)


def average_of(values: Sequence[float], numbers: Sequence[Bounds]) -> Bounds:
    """The average of values, of each of which there are some: the least one has the smallest as often, and the others as
    rarely, as possible."""
    rising = sorted(zip(map(Fraction, values), numbers, strict=True), key=lambda of: of[0])
    ends: list[float | None] = []
    for ordered, best in ((rising, min), (rising[::-1], max)):
        means = []
        for place in range(1, len(ordered) + 1):
            many = [(v, most) for v, (_, most) in ordered[:place]] + [(v, least or 0) for v, (least, _) in ordered[place:]]
            if any(n is None for _, n in many):
                return None, None
            total = sum(Fraction(n) for _, n in many if n)
            means += [sum(v * Fraction(n) for v, n in many if n) / total] if total else []
        ends.append(float(best(means)) if means else None)
    return ends[0], ends[1]
