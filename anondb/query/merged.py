"""The greatest or the least number of a person's items, or how many values they have, in place of the sum of their numbers.

**Bounds.** A released item stands for any non-empty set of its members. If all of them have a number, the greatest number of
a transaction is at least the least of these; it is at most the greatest number that any member of a released item has.
The least number is the mirror image. Values are the bits of a number: a released item has those for certain that all of its
members have, and possibly those of any member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import fsum, inf
from operator import or_
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

SUM, MAX, MIN, VALUES = "sum", "max", "min", "values"
MAX_VALUES = 52  # bits that a double holds
NEUTRAL = {SUM: 0.0, MAX: -inf, MIN: inf, VALUES: 0.0}
"""What adds nothing."""

Array = npt.NDArray[Any]


def shares_of(kind: str, numbers: Array, starts: Array) -> dict[str, Array]:
    """What each released item adds: the columns of ``classes.Size``.

    Args:
        kind: ``MAX``, ``MIN`` or ``VALUES``.
        numbers: the number of each member, NaN for members without one.
        starts: where the members of each released item begin.
    """
    none, there = np.isnan(numbers), ~np.isnan(numbers)
    if kind == VALUES:
        bits = np.where(there, numbers, 0.0).astype(np.int64)
        certain, possible = (how.reduceat(bits, starts).astype(float) for how in (np.bitwise_and, np.bitwise_or))
        return {"least": certain, "greatest": possible}
    low = np.minimum.reduceat(np.where(there, numbers, inf), starts)
    high = np.maximum.reduceat(np.where(there, numbers, -inf), starts)
    some = np.logical_or.reduceat(none, starts)
    if kind == MAX:
        low = np.where(some, NEUTRAL[kind], low)
    else:
        high = np.where(some, NEUTRAL[kind], high)
    return {"least": low, "greatest": high}


def of_suppressed(kind: str, numbers: Sequence[float]) -> tuple[float, float]:
    """What suppressed items with these numbers may add at least and at most."""
    if kind == SUM:
        return fsum(n for n in numbers if n < 0), fsum(n for n in numbers if n > 0)
    if kind == VALUES:
        return 0.0, float(reduce(or_, map(int, numbers), 0))
    return (-inf, max(numbers, default=-inf)) if kind == MAX else (min(numbers, default=inf), inf)


def added(kind: str, column: exp.Expr) -> exp.Expr:
    """The aggregate that puts the shares of the items of a transaction together."""
    if kind == VALUES:
        return exp.BitwiseOrAgg(this=exp.cast(column, "BIGINT"))
    aggregate: type[exp.Expr] = {SUM: exp.Sum, MAX: exp.Max, MIN: exp.Min}[kind]
    return aggregate(this=column)


def ends_of(
    kind: str, shown: Mapping[str, exp.Expr], complete: exp.Expr, hidden: tuple[float, float], all_ends: Sequence[float]
) -> dict[str, exp.Expr]:
    """The least and the greatest number of a transaction.

    Args:
        kind: ``MAX``, ``MIN`` or ``VALUES``.
        shown: what the released items add; NULL without one that counts.
        complete: whether the transaction has no suppressed items.
        hidden: what these may add at least and at most.
        all_ends: the least and the greatest number that any item has, or the fewest values.
    """
    if kind == VALUES:
        zero = exp.Literal.number(0)
        bits: dict[str, exp.Expr] = {
            name: exp.Coalesce(this=column, expressions=[zero.copy()]) for name, column in shown.items()
        }
        more = exp.Case(ifs=[exp.If(this=complete, true=zero)], default=exp.convert(int(hidden[1])))
        bits["greatest"] = exp.BitwiseOr(this=exp.paren(bits["greatest"]), expression=exp.paren(more))
        return {
            name: _call("GREATEST", exp.cast(exp.BitwiseCount(this=of), "DOUBLE"), _double(all_ends[0]))
            for name, of in bits.items()
        }
    extreme, place = ("GREATEST", 1) if kind == MAX else ("LEAST", 0)
    limit = all_ends[1 - place]  # whoever counts has an item, and so a number beyond it
    ends = {
        name: _call(extreme, exp.Coalesce(this=column, expressions=[_double(NEUTRAL[kind])]), _double(limit))
        for name, column in shown.items()
    }
    end = "greatest" if kind == MAX else "least"
    more = exp.Case(ifs=[exp.If(this=complete, true=_double(NEUTRAL[kind]))], default=_double(hidden[place]))
    return {**ends, end: _call(extreme, ends[end], more)}


def _call(name: str, *operands: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[operand.copy() for operand in operands])


def _double(number: float) -> exp.Expr:
    return exp.cast(exp.Literal.string(str(float(number))), "DOUBLE")
