"""Sums over the items of a transaction as SQL: the least and the greatest value, or how it compares with a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.query.classes import Group, Size, Sums
from anondb.query.merged import NEUTRAL, SUM, added, ends_of

ROUNDED = 1e-12  # the relative error of a sum of doubles


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
        """The least and the greatest value of a transaction."""
        shown = {name: exp.column(f"{name}_{place}", "held") for name in Size._fields}
        if self.kind != SUM:
            return ends_of(self.kind, shown, complete.copy(), (self.low, self.high), self.ends)
        ends: dict[str, exp.Expr] = {}
        for name, more in (("least", self.low), ("greatest", self.high)):
            zero = exp.Literal.number(0)
            total: exp.Expr = exp.Coalesce(this=shown[name], expressions=[zero])
            if more:
                hidden = exp.Case(ifs=[exp.If(this=complete.copy(), true=zero.copy())], default=_double(more))
                total = exp.Add(this=total, expression=hidden)
            ends[name] = exp.cast(total, "DOUBLE")
        return ends

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
        sums = [exp.Sum(this=exp.Mul(this=end.copy(), expression=exp.column("weight"))) for end in ends]
        extremes = [kind(this=end.copy()) for end in ends for kind in (exp.Min, exp.Max)]
        return [one.as_(f"of_{place}_{n}") for n, one in enumerate([*sums, *extremes])]


def shares_by_item(
    sums: Sequence[Summed], codes: Mapping[str, int], wide: bool, numbers: Mapping[str, int] | None
) -> dict[str, Any]:
    """The columns of a table of what released items add to a signature (``weight``) and to each sum.

    Args:
        sums: the sums; the columns of number n end with ``_n``.
        codes: what released items add to a signature; others add nothing.
        wide: whether signatures are texts.
        numbers: the number of each released item, by which the table names them (``item_id``); None for their labels.
    """
    places = {label: n for n, label in enumerate(dict.fromkeys([*codes, *(x for s in sums for x in s.labels)]))}
    if wide:
        texts = {label: str(code) for label, code in codes.items()}
        weights = np.array([texts.get(label) for label in places], dtype=object)
    else:
        weights = np.array([codes.get(label, 0) for label in places], dtype=np.int64)
    if numbers is None:
        columns = {"released_item": np.array(list(places), dtype=object), "weight": weights}
    else:
        columns = {"item_id": np.array([numbers[label] for label in places], dtype=np.int32), "weight": weights}
    for n, one in enumerate(sums):
        taken = np.array([places[label] for label in one.labels], dtype=np.int64)
        for name in Size._fields:
            columns[f"{name}_{n}"] = np.full(len(places), NEUTRAL[one.kind])
            columns[f"{name}_{n}"][taken] = one.shares[name]
    return columns


def with_sums(held: exp.Query, sums: Sequence[Summed]) -> exp.Query:
    """The query for the signature of each transaction, with its sums."""
    names = [(one.kind, f"{name}_{n}") for n, one in enumerate(sums) for name in Size._fields]
    return held.select(*(added(kind, exp.column(name, "weights")).as_(name) for kind, name in names))


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


def _double(number: float) -> exp.Expr:
    return exp.cast(exp.Literal.string(str(float(number))), "DOUBLE")
