"""Sums over the items of each transaction of a release of sets, from its rows in memory, which is quicker than a join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.query.classes import Classes, Group, Size
from anondb.query.summed import LOGISTIC, ROUNDED, Summed, of_sums

AT_ONCE = 1 << 16  # transactions whose values are looked up together

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class HeldRows:
    """The rows of a release by transaction.

    Attributes:
        items: the numbers of the released items, those of a transaction one after the other.
        starts: where each transaction begins.
        numbers: the number of each released item.
    """

    items: Array
    starts: Array
    numbers: Mapping[str, int]

    @classmethod
    def of(cls, transactions: Array, items: Array, numbers: Mapping[str, int]) -> HeldRows:
        """The rows, ordered by transaction."""
        first = np.ones(len(transactions), dtype=bool)
        np.not_equal(transactions[1:], transactions[:-1], out=first[1:])
        return cls(items.astype(np.int32, copy=False), np.flatnonzero(first), numbers)

    def totals(self, labels: Sequence[str], values: Array, others: bool) -> Array:
        """The sum of the values of the released items of each transaction; at the end 0 if there are others without any."""
        by_number = np.zeros(max(self.numbers.values(), default=0) + 1, values.dtype)
        by_number[[self.numbers[label] for label in labels]] = values
        held = np.empty(len(self.starts), values.dtype)
        for begin in range(0, len(self.starts), AT_ONCE):
            starts = self.starts[begin : begin + AT_ONCE]
            end = self.starts[begin + AT_ONCE] if begin + AT_ONCE < len(self.starts) else len(self.items)
            held[begin : begin + AT_ONCE] = np.add.reduceat(by_number[self.items[starts[0] : end]], starts - starts[0])
        return np.append(held, values.dtype.type(0)) if others else held


def grouped_sums(
    rows: HeldRows, size: int, complete: bool, classes: Classes, codes: Mapping[str, int], sums: Sequence[Summed]
) -> list[Group]:
    """The transactions by their signature and sums, as ``Opened.records`` groups them.

    Args:
        rows: the rows of the release.
        size: the number of transactions, with those without items.
        complete: whether no item of any transaction is missing.
        classes: the classes of the signature, which is a number.
        codes: what released items add to a signature; others add nothing.
        sums: the sums, the one of the measure first.
    """
    others = max(size - len(rows.starts), 0)
    weights = np.ones(len(rows.starts) + (others > 0), dtype=np.int64)
    weights[len(rows.starts) :] = others
    signature = np.zeros(len(weights), dtype=np.int64)
    if codes:
        signature = rows.totals(list(codes), np.array(list(codes.values()), dtype=np.int64), others > 0)
    keys: list[Array] = [signature]
    numbers: list[Array] = []
    extremes: list[Array] = []
    for one in sums:
        ends = {
            name: rows.totals(one.labels, one.shares[name], others > 0)
            for name in Size._fields
            if name != "variance" or one.listed or one.least is not None
        }
        if not complete:
            ends |= {"least": ends["least"] + one.low, "greatest": ends["greatest"] + one.high}
        if one.least is not None:
            state, likely = _compared(one, ends)
            keys.append(state)
            numbers.append(likely * weights)
        elif one.listed:
            keys += [np.round(end, 1) if name in ("mean", "variance") else end for name, end in ends.items()]
        else:
            numbers += [end * weights for end in ends.values()]
            extremes += [ends["least"], ends["greatest"]]
    return _groups(keys, numbers, extremes, weights, complete, classes, sums)


def _compared(one: Summed, ends: Mapping[str, Array]) -> tuple[Array, Array]:
    """Whether each sum is above a number (0, 1, or 2 for unknown), and how likely it is (``Summed.columns``)."""
    assert one.least is not None
    error = one.error + abs(one.least) * ROUNDED if one.error else 0.0
    above = np.greater if one.open else np.greater_equal
    certain, possible = above(ends["least"], one.least + error), above(ends["greatest"], one.least - error)
    distance = (ends["mean"] - one.least) / np.sqrt(ends["variance"] + 1e-9)
    likely = 1 / (1 + np.exp(np.clip(-LOGISTIC * distance, -700.0, 700.0)))
    return np.where(certain, 1, np.where(possible, 2, 0)), np.where(certain, 1.0, np.where(possible, likely, 0.0))


def _groups(
    keys: Sequence[Array],
    numbers: Sequence[Array],
    extremes: Sequence[Array],
    weights: Array,
    complete: bool,
    classes: Classes,
    sums: Sequence[Summed],
) -> list[Group]:
    """The groups of equal keys, with the sums of the numbers and the extremes of others."""
    index, number = np.zeros(len(weights), dtype=np.int64), min(len(weights), 1)
    for key in keys:
        codes, several = _numbered(key)
        if several > 1:
            index, number = _numbered(index * several + codes)
    first = np.zeros(number, dtype=np.int64)
    first[index[::-1]] = np.arange(len(weights))[::-1]

    def total(values: Array) -> Array:
        return np.bincount(index, weights=values, minlength=number)

    persons = total(weights)
    columns = [total(values) for values in numbers]
    if extremes:  # of the measure: they follow its sums
        order = np.argsort(index.astype(np.uint16) if number < 1 << 16 else index, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(index, minlength=number))[:-1])
        ordered = [values[order] for values in extremes]
        columns[3:3] = (
            [kind.reduceat(v, starts) for v in ordered for kind in (np.minimum, np.maximum)] if number else []
        )
    chosen = [key[first].tolist() for key in keys]
    groups = []
    for signature, *rest in zip(*chosen, persons.tolist(), *(c.tolist() for c in columns), strict=True):
        states, (count, *aggregates) = rest[: len(keys) - 1], rest[len(keys) - 1 :]
        counts = classes.counts(signature) if classes.parts else ()
        group = Group(counts, (), complete, int(count))
        groups.append(of_sums(group, states, aggregates, sums))
    return groups


def _numbered(key: Array) -> tuple[Array, int]:
    """The place of each value among the different ones in ascending order, and how many these are."""
    if key.dtype.kind == "i" and len(key) and key.min() >= 0 and key.max() <= 4 * len(key):
        seen = np.bincount(key) > 0
        return (np.cumsum(seen) - 1)[key], int(seen.sum())
    values, codes = np.unique(key, return_inverse=True)
    return codes, len(values)
