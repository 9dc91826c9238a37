"""The outcomes of all transactions and their sums, and sums over the items of each transaction.

What the rows of a release of sets say is read from memory, which is quicker than a join.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anondb.engine import has_nulls
from anondb.query.classes import Classes, Group, Passing, Size, Sums
from anondb.query.evaluate import Evaluator, Outcome, Part, Question, suppressed_part
from anondb.query.item_tests import mentioned
from anondb.query.predicates import Plan
from anondb.query.summed import ROUNDED, Summed, of_sums

if TYPE_CHECKING:
    from anondb.query.cached_release import Opened

Array = npt.NDArray[Any]

FEW = 8  # released items whose rows are added up one by one
FEW_SIGNATURES = 4  # by which rows are counted one after the other
PIECE = 1 << 15  # rows that are added up at once


@dataclass(frozen=True, eq=False)
class HeldRows:
    """The rows of a release: those of each released item lie together, those of the first one first.

    Attributes:
        transactions: the transaction of each row, from 0 on.
        items: the number of its released item, from 1 on.
        size: the number of transactions, with those without items.
        numbers: the number of each released item.
    """

    transactions: Array
    items: Array
    size: int
    numbers: Mapping[str, int]

    @classmethod
    def of(cls, ids: Array, items: Array, size: int, numbers: Mapping[str, int]) -> HeldRows | None:
        """The rows from the ids of their transactions; None unless all numbers are those of a release."""
        for values, most in ((ids, size), (items, len(numbers))):
            if has_nulls(values):
                return None
            if len(values) and not (values.dtype.kind in "iu" and values.min() >= 1 and values.max() <= most):
                return None
        if (items[1:] < items[:-1]).any():
            order = np.argsort(items, kind="stable")
            ids, items = ids[order], items[order]
        return cls(ids - 1, items, size, numbers)

    @cached_property
    def supports(self) -> Array:
        """The number of transactions of each released item, by its number."""
        return np.diff(self.ends, prepend=0)

    @cached_property
    def ends(self) -> Array:
        """The place behind the last row of each released item, by its number."""
        return np.searchsorted(self.items, np.arange(len(self.numbers) + 1, dtype=self.items.dtype), side="right")

    def of_item(self, label: str) -> Array:
        """The transactions of a released item."""
        number = self.numbers[label]
        return self.transactions[self.ends[number - 1] : self.ends[number]]

    @cached_property
    def held(self) -> int:
        """The number of transactions with an item."""
        with_items = np.zeros(self.size, dtype=bool)
        for transactions, _ in self.pieces():
            with_items[indices(transactions)] = True
        return int(with_items.sum())

    def pieces(self) -> Iterator[tuple[Array, Array]]:
        """The rows in slices (transactions, items) that fit in the processor's cache.

        Computing with all rows at once would spend more time on pages of memory than on the computation.
        """
        for start in range(0, len(self.items), PIECE):
            piece = slice(start, start + PIECE)
            yield self.transactions[piece], self.items[piece]

    def by_number(self, labels: Sequence[str], values: Array) -> Array:
        """The values of released items by their numbers; 0 for others."""
        by_number = np.zeros(len(self.numbers) + 1, values.dtype)
        by_number[[self.numbers[label] for label in labels]] = values
        return by_number

    def totals(self, labels: Sequence[str], values: Array) -> Array:
        """The sum of the values of the released items of each transaction."""
        if len(labels) <= FEW:
            added = np.zeros(self.size, values.dtype)
            for label, value in zip(labels, values, strict=True):
                added[indices(self.of_item(label))] += value
            return added
        by_number, added = self.by_number(labels, values), np.zeros(self.size, values.dtype)
        for transactions, items in self.pieces():
            np.add.at(added, indices(transactions), by_number[indices(items)])
        return added

    def signatures(self, codes: Mapping[str, int]) -> Array:
        """The signature of each transaction, from what released items add to it."""
        return self.totals(list(codes), np.array(list(codes.values()), dtype=np.int64))

    def by_item(self, codes: Mapping[str, int]) -> tuple[Array, Array]:
        """The number of transactions of each released item with each signature: the signatures in ascending order, and an
        array with a row for the number of each released item, from 0 on."""
        signatures, of_each = _numbered(self.signatures(codes))
        several = len(signatures)
        counts = np.zeros((len(self.numbers) + 1, several), dtype=np.int64)
        if several <= FEW_SIGNATURES:
            for n in range(1, several):
                counts[:, n] = self._among(of_each == n)
            counts[:, :1] = self.supports[:, None] - counts.sum(axis=1, keepdims=True)  # there may be no transaction
            return signatures, counts
        flat = counts.reshape(-1)
        for transactions, items in self.pieces():
            np.add.at(flat, indices(items) * several + of_each[indices(transactions)], 1)
        return signatures, counts

    def _among(self, chosen: Array) -> Array:
        """The number of rows of each released item that are of some transactions."""
        held = np.concatenate([chosen[:0], *(chosen.take(indices(transactions)) for transactions, _ in self.pieces())])
        there = np.flatnonzero(self.supports)
        counts = np.zeros(len(self.supports), dtype=np.int64)
        counts[there] = np.add.reduceat(held, self.ends[there - 1], dtype=np.int64)
        return counts


def indices(numbers: Array) -> Array:
    """Numbers as the type of NumPy's indices: it converts others itself, which takes three times as long."""
    return numbers.astype(np.intp, copy=False)


def added_up(rows: HeldRows, complete: bool, one: Summed) -> tuple[tuple[int, Sums], tuple[int, Sums]]:
    """How many transactions have items, and how many have none, each with the sums of their values. The extremes of those
    with items are infinite: they would need the sum of each."""

    def sums(name: str) -> float:
        return float(rows.supports @ rows.by_number(one.labels, one.shares[name]))

    low, high = (0.0, 0.0) if complete else (one.low, one.high)
    some, none = rows.held, rows.size - rows.held
    ends = sums("least") + _times(some, low), sums("greatest") + _times(some, high)
    without = _times(none, low), _times(none, high)
    return (some, Sums(*ends, -inf, inf, -inf, inf)), (none, Sums(*without, low, low, high, high))


def _times(number: int, value: float) -> float:
    return number * value if number else 0.0


def grouped_sums(
    rows: HeldRows, complete: bool, classes: Classes, codes: Mapping[str, int], sums: Sequence[Summed]
) -> list[Group]:
    """The transactions by their signature and sums, as ``Opened.records`` groups them.

    Args:
        rows: the rows of the release.
        complete: whether no item of any transaction is missing.
        classes: the classes of the signature, which is a number.
        codes: what released items add to a signature; others add nothing.
        sums: the sums, the one of the measure first.
    """
    keys: list[Array] = [rows.signatures(codes) if codes else np.zeros(rows.size, dtype=np.int64)]
    measure: list[Array] = []
    for one in sums:
        ends = [rows.totals(one.labels, one.shares[name]) for name in Size._fields]
        if not complete:
            ends = [ends[0] + one.low, ends[1] + one.high]
        if one.least is not None:
            keys.append(_compared(one, *ends))
        elif one.listed:
            keys += ends
        else:
            measure = ends
    return _groups(keys, measure, complete, classes, sums)


def _compared(one: Summed, least: Array, greatest: Array) -> Array:
    """Whether each sum is above a number: 0, 1, or 2 for unknown (``Summed.columns``)."""
    assert one.least is not None
    error = one.error + abs(one.least) * ROUNDED if one.error else 0.0
    above = np.greater if one.open else np.greater_equal
    certain, possible = above(least, one.least + error), above(greatest, one.least - error)
    return np.where(certain, 1, np.where(possible, 2, 0))


def _groups(
    keys: Sequence[Array], ends: Sequence[Array], complete: bool, classes: Classes, sums: Sequence[Summed]
) -> list[Group]:
    """The groups of equal keys, with the sums and the extremes of the ends of a measure."""
    size = len(keys[0])
    index, number = np.zeros(size, dtype=np.int64), min(size, 1)
    for key in keys:
        values, codes = _numbered(key)
        if len(values) > 1:
            values, index = _numbered(index * len(values) + codes)
            number = len(values)
    first = np.zeros(number, dtype=np.int64)
    first[index[::-1]] = np.arange(size)[::-1]
    persons = np.bincount(index, minlength=number)
    columns = [np.bincount(index, values, number) for values in ends]
    if ends and number:
        order = np.argsort(index.astype(np.uint16) if number < 1 << 16 else index, kind="stable")
        starts = np.append(0, np.cumsum(persons)[:-1])
        columns += [kind.reduceat(values[order], starts) for values in ends for kind in (np.minimum, np.maximum)]
    chosen = [key[first].tolist() for key in keys]
    groups = []
    for signature, *rest in zip(*chosen, persons.tolist(), *(c.tolist() for c in columns), strict=True):
        states, (count, *aggregates) = rest[: len(keys) - 1], rest[len(keys) - 1 :]
        group = Group(classes.counts(signature), (), complete, int(count))
        groups.append(of_sums(group, states, aggregates, sums))
    return groups


def counted(keys: Array) -> tuple[Array, Array]:
    """The distinct values of non-negative integers in ascending order, each with its number of occurrences."""
    values, places = _numbered(keys)
    return values, np.bincount(places, minlength=len(values))


def _numbered(key: Array) -> tuple[Array, Array]:
    """The different values in ascending order, and the place of each value among them."""
    if key.dtype.kind == "f" and np.isfinite(key).all() and (key == np.trunc(key)).all():
        key = key.astype(np.int64)
    if key.dtype.kind == "i" and len(key) and key.min() >= 0 and key.max() <= 4 * len(key):
        seen = np.bincount(key) > 0
        return np.flatnonzero(seen), (np.cumsum(seen) - 1)[key]
    values, places = np.unique(key, return_inverse=True)
    return values, places


Bounds = tuple[int, int]
"""Lower bound and upper bound of a count."""


def total(outcomes: Sequence[tuple[Outcome, int]]) -> Bounds:
    """The sum over transactions, from outcomes and the number of transactions with each."""
    return sum(o.least * n for o, n in outcomes), sum(o.greatest * n for o, n in outcomes)


def labels_of(plan: Plan) -> frozenset[str]:
    """The items that a query names."""
    return frozenset().union(*map(mentioned, plan.tests))


def outside_of(release: Opened, plan: Plan, question: Question, passing: Passing) -> list[Part]:
    """The parts of suppressed items, if any: arbitrary items if suppression differs between transactions, including items
    released elsewhere; else only items without a released item."""
    labels = labels_of(plan)
    unknown = release.unknown(labels)
    if not release.suppressed:
        return []
    named = sorted(labels) if release.differing else unknown
    part = suppressed_part(question, [p for p in map(passing.of, named) if any(p)])
    return [part] if not part.fixed else []


def chosen(classes: Classes, counts: Sequence[int]) -> list[Part]:
    """The parts of a transaction; fixed parts come first, because they decide most conditions."""
    return [classes.parts[n] for n in classes.fixed_first for _ in range(counts[n])]


def of_some_item(release: Opened, evaluator: Evaluator, classes: Classes, outside: Sequence[Part]) -> Bounds | None:
    """What ``Evaluator.outcome`` adds up to over all transactions.

    Args:
        release: the release, of a global recoding.
        evaluator: the question.
        classes: the classes of released items with a member that passes the test.
        outside: the parts of suppressed items.

    Returns:
        None for another question, and where the rows are not in memory, or are not needed.
    """
    if evaluator.some is None or release.numbered is None or len(classes.of) < 2:
        return None
    rows = release.numbered.rows_for(classes)
    if rows is None:
        return None
    zero = (0,) * len(evaluator.question.caps)
    certain = [part.vectors[0] != zero for part in classes.parts]
    sure = np.zeros(rows.size, dtype=bool)
    sure[_transactions(rows, [label for label, n in classes.of.items() if certain[n]])] = True
    held = sure.copy()
    held[_transactions(rows, [label for label, n in classes.of.items() if not certain[n]])] = True
    least = rows.size if any(part.vectors[0] != zero for part in outside) else int(sure.sum())
    greatest = rows.size if any(part.most != zero for part in outside) else int(held.sum())
    return (least, greatest) if evaluator.some else (rows.size - greatest, rows.size - least)


def _transactions(rows: HeldRows, labels: Sequence[str]) -> Array:
    """The transactions of each of some released items, one after the other."""
    return indices(np.concatenate([rows.transactions[:0], *map(rows.of_item, labels)]))
