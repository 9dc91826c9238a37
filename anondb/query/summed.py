"""Sums over the items of a person: what each released item adds, and as SQL the least and the greatest value of each
transaction, or how it compares with a number; or their greatest or least number, or how many values they have.

**Bounds.** A released item stands for any non-empty set of its members. If all of them have a number, the greatest number of
a transaction is at least the least of these; it is at most the greatest number that any member of a released item has.
The least number is the mirror image. Values are the bits of a number: a released item has those for certain that all of its
members have, and possibly those of any member. There are at least two values if no one value is possible for all released
items of a transaction whose members all have a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import fsum, inf, nan
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.query.classes import Group, Size, Sums, passing_of
from anondb.query.item_tests import finite, patterns
from anondb.query.predicates import Weights
from anondb.query.refusals import unsupported

if TYPE_CHECKING:
    from anondb.query.cached_release import Opened


SUM, MAX, MIN, VALUES = "sum", "max", "min", "values"
MAX_VALUES = 52  # bits that a double holds
NO_VALUE = 1 << MAX_VALUES  # the bit of a released item with a member that has no value
NEUTRAL = {SUM: 0.0, MAX: -inf, MIN: inf, VALUES: 0.0}
"""What adds nothing."""

Array = npt.NDArray[Any]
ROUNDED = 1e-12  # the relative error of a sum of doubles


def shares_of(kind: str, numbers: Array, starts: Array) -> dict[str, Array]:
    """What each released item adds: the columns of ``classes.Size``.

    Args:
        kind: ``SUM``, ``MAX``, ``MIN`` or ``VALUES``.
        numbers: the number of each member; for members without one 0 in sums, else NaN.
        starts: where the members of each released item begin.
    """
    if kind == SUM:
        least, greatest = np.minimum.reduceat(numbers, starts), np.maximum.reduceat(numbers, starts)
        low = np.where(least < 0, np.add.reduceat(np.minimum(numbers, 0.0), starts), least)
        high = np.where(greatest > 0, np.add.reduceat(np.maximum(numbers, 0.0), starts), greatest)
        return {"least": low, "greatest": high}
    none, there = np.isnan(numbers), ~np.isnan(numbers)
    if kind == VALUES:
        bits = np.where(there, numbers, 0.0).astype(np.int64)
        certain, possible = (how.reduceat(bits, starts).astype(float) for how in (np.bitwise_and, np.bitwise_or))
        return {"least": certain, "greatest": possible + np.where(np.logical_or.reduceat(none, starts), NO_VALUE, 0)}
    low = np.minimum.reduceat(np.where(there, numbers, inf), starts)
    high = np.maximum.reduceat(np.where(there, numbers, -inf), starts)
    lacking = np.logical_or.reduceat(none, starts)
    if kind == MAX:
        low = np.where(lacking, NEUTRAL[kind], low)
    else:
        high = np.where(lacking, NEUTRAL[kind], high)
    return {"least": low, "greatest": high}


def of_suppressed(kind: str, numbers: Sequence[float]) -> tuple[float, float]:
    """What suppressed items with these numbers may add at least and at most."""
    if kind == SUM:
        return fsum(n for n in numbers if n < 0), fsum(n for n in numbers if n > 0)
    if kind == VALUES:
        return 0.0, float(reduce(or_, map(int, numbers), 0))
    return (-inf, max(numbers, default=-inf)) if kind == MAX else (min(numbers, default=inf), inf)


@dataclass(frozen=True)
class Summed:
    """A sum over the items of each transaction.

    Attributes:
        labels: released items.
        shares: the columns ``least`` and ``greatest``: what each of them adds.
        low, high: what suppressed items may add to an incomplete transaction.
        least, open: the number that the sum is compared with, and whether it has to be above it; None for a measure.
        listed: whether transactions are grouped by the sum.
        error: at most how much rounding may change a sum, so that a comparison is not decided.
        kind: that of the weights (``Weights.kind``); ``merged`` says what the shares are of others than sums.
        ends: the least and the greatest weight, for others than sums.
    """

    labels: Sequence[str]
    shares: Mapping[str, npt.NDArray[Any]]
    low: float
    high: float
    least: float | None = None
    open: bool = False
    listed: bool = False
    error: float = 0.0
    kind: str = SUM
    ends: tuple[float, float] = (0.0, 0.0)

    def columns(self, complete: exp.Expr, place: int) -> list[exp.Expr]:
        """The columns of sum number ``place``: its least and its greatest value, or its state."""
        ends = self._ends(complete, place)
        if self.least is None:
            return [ends[name].as_(f"{name}_{place}") for name in Size._fields]
        above: type[exp.Expr] = exp.GT if self.open else exp.GTE
        error = self.error + abs(self.least) * ROUNDED if self.error else 0.0
        ways = (("least", error), ("greatest", -error))
        certain, possible = (above(this=ends[name], expression=_double(self.least + more)) for name, more in ways)
        one, two = exp.Literal.number(1), exp.Literal.number(2)
        no, yes = exp.If(this=exp.Not(this=possible), true=exp.Literal.number(0)), exp.If(this=certain, true=one)
        return [exp.Case(ifs=[yes, no], default=two).as_(f"state_{place}")]

    def _ends(self, complete: exp.Expr, place: int) -> dict[str, exp.Expr]:
        """The least and the greatest value of a transaction: what its released items and suppressed ones make together.

        Whoever counts has an item, and so a number beyond the least or the greatest of all, and at least the fewest values.
        """
        ends: dict[str, exp.Expr] = {}
        for name, more in zip(Size._fields, (self.low, self.high), strict=True):
            column = exp.column(f"{name}_{place}", "held")
            total: exp.Expr = exp.Coalesce(this=column, expressions=[self._literal(NEUTRAL[self.kind])])
            if more != NEUTRAL[self.kind]:
                none = exp.If(this=complete.copy(), true=self._literal(NEUTRAL[self.kind]))
                total = self._together(total, exp.Case(ifs=[none], default=self._literal(more)))
            if self.kind == VALUES:
                values = exp.BitwiseAnd(this=exp.paren(total), expression=self._literal(NO_VALUE - 1))
                total = exp.cast(exp.BitwiseCount(this=values), "DOUBLE")
                if name == "least":
                    several = exp.column(f"common_{place}", "held").eq(0)
                    two = exp.Case(ifs=[exp.If(this=several, true=_double(2))], default=_double(0))
                    total = _call("GREATEST", total, two)
            least, greatest = map(_double, self.ends)
            limited = {SUM: total, MIN: _call("LEAST", total, greatest)}
            ends[name] = exp.cast(limited.get(self.kind, _call("GREATEST", total, least)), "DOUBLE")
        return ends

    def _literal(self, number: float) -> exp.Expr:
        return exp.convert(int(number)) if self.kind == VALUES else _double(number)

    def _together(self, one: exp.Expr, other: exp.Expr) -> exp.Expr:
        """What two parts of the items of a transaction make together."""
        if self.kind in (MAX, MIN):
            return _call("GREATEST" if self.kind == MAX else "LEAST", one, other)
        return (exp.Add if self.kind == SUM else exp.BitwiseOr)(this=one, expression=other)

    def grouped(self, place: int) -> list[exp.Expr]:
        """The columns by which records are grouped."""
        if self.listed:
            return [exp.column(f"{name}_{place}") for name in Size._fields]
        return [] if self.least is None else [exp.column(f"state_{place}")]

    def aggregates(self, place: int) -> list[exp.Expr]:
        """The aggregates of a group: those of ``Sums``; none for a sum by which records are grouped."""
        if self.listed or self.least is not None:
            return []
        ends = [exp.column(f"{name}_{place}") for name in Size._fields]
        sums = [exp.Sum(this=end.copy()) for end in ends]
        extremes = [kind(this=end.copy()) for end in ends for kind in (exp.Min, exp.Max)]
        return [one.as_(f"of_{place}_{n}") for n, one in enumerate([*sums, *extremes])]


def shares_by_item(
    sums: Sequence[Summed], codes: Mapping[str, int], wide: bool, numbers: Mapping[str, int]
) -> dict[str, Any]:
    """The columns of a table of what released items add to a signature (``weight``) and to each sum.

    Args:
        sums: the sums; the columns of number n end with ``_n``.
        codes: what released items add to a signature; others add nothing.
        wide: whether signatures are texts.
        numbers: the number of each released item, by which the table names them.
    """
    places = {label: n for n, label in enumerate(dict.fromkeys([*codes, *(x for s in sums for x in s.labels)]))}
    if wide:
        texts = {label: str(code) for label, code in codes.items()}
        weights = np.array([texts.get(label) for label in places], dtype=object)
    else:
        weights = np.array([codes.get(label, 0) for label in places], dtype=np.int64)
    columns = {"released_item": np.array([numbers[label] for label in places], dtype=np.int32), "weight": weights}
    for n, one in enumerate(sums):
        taken = np.array([places[label] for label in one.labels], dtype=np.int64)
        for name in Size._fields:
            columns[f"{name}_{n}"] = np.full(len(places), NEUTRAL[one.kind])
            columns[f"{name}_{n}"][taken] = one.shares[name]
    return columns


def with_sums(held: exp.Query, sums: Sequence[Summed]) -> exp.Query:
    """The query for the signature of each transaction, with its sums."""
    together: Mapping[str, type[exp.Expr]] = {SUM: exp.Sum, MAX: exp.Max, MIN: exp.Min, VALUES: exp.BitwiseOrAgg}
    names = [(one.kind, f"{name}_{n}") for n, one in enumerate(sums) for name in Size._fields]
    columns = [(kind, exp.cast(exp.column(n, "weights"), "BIGINT" if kind == VALUES else "DOUBLE"), n) for kind, n in names]
    for place, one in enumerate(sums):
        if one.kind == VALUES:  # those that each released item whose members all have a value may have
            possible = exp.cast(exp.column(f"greatest_{place}", "weights"), "BIGINT")
            told = exp.Where(this=exp.and_(possible > 0, possible < NO_VALUE))
            held = held.select(exp.Filter(this=exp.BitwiseAndAgg(this=possible), expression=told).as_(f"common_{place}"))
    return held.select(*(together[kind](this=column).as_(name) for kind, column, name in columns))


def of_sums(group: Group, states: Sequence[float], numbers: Sequence[float], sums: Sequence[Summed]) -> Group:
    """A group with its sums.

    Args:
        group: the group.
        states: the values of the columns that ``with_sums`` groups by.
        numbers: the values of its aggregates.
        sums: the sums, of which the first may be a measure, or one to group by.
    """
    size = total = None
    if sums and sums[0].listed:
        size, states = Size(*states[: len(Size._fields)]), states[len(Size._fields) :]
    elif numbers:
        total = Sums(*map(float, numbers))
    return replace(group, sums=total, size=size, states=tuple(map(int, states)))


def _call(name: str, *operands: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[operand.copy() for operand in operands])


def _double(number: float) -> exp.Expr:
    return exp.cast(exp.Literal.string(str(float(number))), "DOUBLE")


def summed(release: Opened, weights: Weights) -> Summed:
    """What the released items of a transaction add to a sum or the like, and what suppressed ones may (``Opened.summed``).

    Raises:
        InputError: ``unsupported_query`` for bags, whose items repeat.
    """
    if release.bags is not None:
        raise unsupported("a sum over the items of a bag", "Use count(DISTINCT id).")
    kind, members, listed = weights.kind, release.listed_members, [weight for _, weight in weights.by_label or ()]
    ends = (0.0, float(MAX_VALUES)) if kind == VALUES else (min(listed, default=0.0), max(listed, default=0.0))
    none: Mapping[str, Array] = {name: np.zeros(0) for name in Size._fields}
    one = Summed([], none, *hidden(release, weights), error=weights.error, kind=kind, ends=ends)
    numbers = _numbers(weights, members.items)
    if not len(numbers):
        return one
    there = numbers != 0 if kind == SUM else ~np.isnan(numbers)
    counted = np.flatnonzero(np.logical_or.reduceat(there, members.starts))
    shares = {name: column[counted] for name, column in shares_of(kind, numbers, members.starts).items()}
    return replace(one, labels=[members.labels[n] for n in counted.tolist()], shares=shares)


def _numbers(weights: Weights, items: Sequence[str]) -> Array:
    """The weight of each of these items; 0, or NaN for others than sums, for those that do not count."""
    passing, none = passing_of((weights.test,)), 0.0 if weights.kind == SUM else nan
    if weights.by_label is None and not passing.special:
        return np.full(len(items), 1.0 if passing.usual[0] else none)
    weight = dict.fromkeys(items, 1.0) if weights.by_label is None else dict(weights.by_label)
    return np.array([weight.get(i, none) if passing.of(i)[0] else none for i in items], dtype=float)


def hidden(release: Opened, weights: Weights) -> tuple[float, float]:
    """What suppressed items may add at least and at most to the sum of an incomplete transaction."""
    if not release.suppressed:
        return of_suppressed(weights.kind, ())
    labels = finite(weights.test)
    if weights.by_label is None:
        if labels is None:
            return 0.0, inf
        listed = dict.fromkeys(labels, 1.0)
    else:
        passing, matches = passing_of((weights.test,)), bool(patterns(weights.test))
        listed = {
            label: weight
            for label, weight in weights.by_label
            if passing.of(label)[0] or (matches and label not in release.images)  # patterns are tried on listed items only
        }
    unseen = [w for label, w in listed.items() if release.differing or label not in release.images]
    low, high = of_suppressed(weights.kind, unseen)
    others = labels is None or any(label not in listed for label in labels)  # named ones may weigh any number, too
    return (low + weights.others[0], high + weights.others[1]) if others else (low, high)
