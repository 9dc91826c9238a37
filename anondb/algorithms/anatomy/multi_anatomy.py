"""Multi-Anatomy: *Privacy Preservation in Transaction Databases based on Anatomy technique* (ICCSE 2010), section IV;
docs/algorithms/multi_anatomy.md, with the corrected residue step.

1. item partition: the columns (``item_columns``);
2. feasibility: a partition into l-diverse buckets exists if and only if the whole table is one, since counts and sizes add;
3. record partition: one pass that closes the current bucket as soon as it is l-diverse (Figure 2, lines 1 to 9);
4. residue: each transaction is added to a closed bucket that stays l-diverse; the rest is merged with buckets until the
   union is l-diverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from anondb.algorithms.anatomy.item_columns import item_columns
from anondb.data.transactions import Dataset
from anondb.engine import Engine, put_integers, reads
from anondb.engine.arrays import Ints, Ints32, places_of, stretches
from anondb.engine.telling import Tell, silent, told
from anondb.errors import InfeasibleError
from anondb.models.anatomy import Anatomy
from anondb.recoding import BucketRecoding

CHUNK = 50_000  # transactions converted to Python integers at a time
TRIALS = 20  # closed buckets tried for the residue, per transaction of the data; keeps the pass linear


def multi_anatomy(
    engine: Engine,
    dataset: Dataset,
    model: Anatomy,
    columns: Any = None,
    *,
    correlation: str = "truncated",
    spread: bool = False,
) -> BucketRecoding:
    """Partition the items into columns and the transactions into l-diverse buckets.

    Args:
        model: l, the number of columns unless ``columns`` defines them, and how empty values count.
        columns: the owner's (``data.constraints.load_columns``); None lets PAM make ``model.columns``, 2 by default.
        correlation: the correlation of items for PAM, ``truncated`` (as printed) or ``full``.
        spread: whether to take transactions round-robin by their most frequent value instead of in input order, which makes
            buckets smaller.

    Raises:
        InputError: bad columns, or the package kmedoids is needed and missing.
        InfeasibleError: no bucket partition is l-diverse; the message has the column and the largest feasible l.
        BudgetExceeded: too many items to cluster.
    """
    column, names = item_columns(engine, dataset, (model.columns or 2) if columns is None else columns, correlation)
    records = _read(engine, dataset, column, names, model)
    order = records.round_robin() if spread else np.arange(records.number)
    buckets = bucketize(records.take(order), model.l, engine.progress)
    bucket = np.empty(records.number, dtype=np.int64)
    bucket[order] = buckets
    return BucketRecoding(column, bucket, names)


@dataclass(frozen=True)
class Records:
    """Transactions as sets of numbered column values. Different columns have different numbers, so a count of each number is
    enough to check l-diversity."""

    # start, value: transaction r has the values ``value[start[r] : start[r + 1]]``
    start: Ints
    value: Ints32

    @property
    def number(self) -> int:
        """The number of transactions."""
        return len(self.start) - 1

    def take(self, order: Ints) -> Records:
        """The transactions at these positions, in this order."""
        sizes = np.diff(self.start)[order]
        return Records(np.append(0, np.cumsum(sizes)), self.value[stretches(self.start[order], sizes)])

    def lists(self, tell: Tell, first: int = 0) -> Iterator[list[int]]:
        """Iterate over the values of the transactions, starting with transaction ``first``."""
        for begin in told(tell, "forming buckets", range(first, self.number, CHUNK)):
            bounds = self.start[begin : min(begin + CHUNK, self.number) + 1]
            values = self.value[bounds[0] : bounds[-1]].tolist()
            places = (bounds - bounds[0]).tolist()
            for left, right in pairwise(places):
                yield values[left:right]

    def round_robin(self) -> Ints:
        """An order that spreads the transactions of each group evenly; a group shares its most frequent value. The i-th of
        the c transactions of a group (in input order) has the relative position (2i - 1) / 2c; ties go by value."""
        if not len(self.value):
            return np.arange(self.number)
        counts = np.bincount(self.value)
        rank = np.argsort(np.argsort(-counts, kind="stable"))  # 0 = the most frequent value, ties by number
        sizes = np.diff(self.start)
        group = np.full(self.number, len(counts), dtype=np.int64)
        filled = np.flatnonzero(sizes)
        group[filled] = np.minimum.reduceat(rank[self.value], self.start[:-1][filled])
        together = np.argsort(group, kind="stable")
        members = np.bincount(group)[group[together]]
        first = np.searchsorted(group[together], group[together])
        place = (2 * (np.arange(self.number) - first) + 1) / (2 * members)
        return together[np.lexsort((group[together], place))]


def _read(engine: Engine, dataset: Dataset, column: Ints, names: Sequence[str], model: Anatomy) -> Records:
    """Number the column values in SQL, refuse infeasible data, and fetch the values of each transaction. With ``empty_values
    = "count"``, the empty value of column j gets the j-th number after those of the other values."""
    columns = put_integers(engine, "anatomy_columns", item=np.arange(len(column)), column_id=column)
    sorted_items = "one.tid, other.column_id, array_sort(list(one.item)) AS items"
    held = engine.create(
        "anatomy_held", reads.joined(dataset.transactions, columns, "item", sorted_items, group="one.tid, other.column_id")
    )
    number = "CAST(row_number() OVER (ORDER BY column_id, items) - 1 AS INTEGER) AS value, column_id, items, copies"
    numbers = engine.create("anatomy_numbers", reads.rows(reads.counted(held, "column_id, items", count="copies"), number))
    counts = engine.select(reads.rows(numbers, "column_id, copies", order="value"))
    of_value, copies = counts["column_id"].astype(np.int64), counts["copies"].astype(np.int64)
    n = dataset.n_transactions
    tops = np.zeros(len(names) + 1, dtype=np.int64)
    np.maximum.at(tops, of_value, copies)
    if model.empty_values == "count":
        tops[1:] = np.maximum(tops, n - np.bincount(of_value, copies, len(tops)).astype(np.int64))[1:]
    _check_feasible(tops[1:].tolist(), n, names, model.l)

    rows = engine.select(reads.joined(held, numbers, "column_id, items", "one.tid, other.value", order="tid, value"))
    engine.drop(columns, held, numbers)
    tid, value = rows["tid"].astype(np.int64), rows["value"].astype(np.int32)
    if model.empty_values == "count":
        present = np.zeros((n, len(names)), dtype=bool)
        present[tid - 1, of_value[value] - 1] = True
        empty_tid, empty_column = np.nonzero(~present)
        tid = np.concatenate((tid, empty_tid + 1))
        value = np.concatenate((value, (len(of_value) + empty_column).astype(np.int32)))
        value = value[np.argsort(tid, kind="stable")]
    start = np.concatenate(([0], np.cumsum(np.bincount(tid, minlength=n + 1)[1:])))
    return Records(start.astype(np.int64), value)


def _check_feasible(tops: Sequence[int], transactions: int, names: Sequence[str], l: Fraction) -> None:
    """Refuse data whose whole table is not l-diverse as one bucket, since then no partition is."""
    worst = max(range(len(tops)), key=lambda j: (tops[j], -j))
    if tops[worst] * l <= transactions:
        return
    largest = Fraction(transactions, tops[worst])
    shown = str(largest) if largest.denominator == 1 else f"{largest} (about {float(largest):.3f})"
    raise InfeasibleError(
        f"No buckets are l-diverse with l = {l}: the most frequent value of column {names[worst]!r} is too frequent. The"
        f" largest l that is feasible with these columns is {shown}.",
        hint="Lower --l, choose other --columns, or use --empty-values=ignore if the empty value is the frequent one.",
    )


class _Bucket:
    """A closed bucket to which transactions can be added."""

    def __init__(self, size: int, values: Iterable[int], l: Fraction) -> None:
        # size, counts: number of transactions, and of those with each value
        self.size, self.counts, self._l = size, Counter(values), l
        # floor((size + 1) / l), the largest allowed count of a value after one more transaction
        self.room = (size + 1) * l.denominator // l.numerator
        # the values with that count. If another transaction increases ``room`` by one, no count exceeds the old
        # ``room``, so no value is full then.
        self.full = {value for value, count in self.counts.items() if count >= self.room}

    def blocking(self, values: list[int]) -> list[int]:
        """The values that prevent adding a transaction; without room (a bucket of empty values only) all of them."""
        return [v for v in values if v in self.full] if self.room else values

    def add(self, values: Sequence[int]) -> bool:
        """Add a transaction that fits, and return whether ``room`` increased."""
        self.size += 1
        for value in values:
            self.counts[value] += 1
            if self.counts[value] >= self.room:
                self.full.add(value)
        room = (self.size + 1) * self._l.denominator // self._l.numerator
        if more := room > self.room:
            self.room, self.full = room, set()
        return more


def bucketize(records: Records, l: Fraction, tell: Tell = silent) -> Ints:
    """The bucket of each transaction, numbered from 1; the whole table must be l-diverse. The cost is linear: each value is
    counted a bounded number of times, and at most ``TRIALS`` closed buckets per transaction of the data are tried for the
    residue."""
    ends = _bucket_ends(records, l, tell)
    bucket = np.repeat(np.arange(len(ends) + 1), np.diff([0, *ends, records.number]))
    left = np.arange(ends[-1] if ends else 0, records.number)
    bucket[left] = _place_residue(records, ends, int(left[0]), l, tell) if len(left) else left
    if (bucket == len(ends)).any():
        bucket = _merge_residue(records, bucket, len(ends), l)
    return bucket + 1


def _bucket_ends(records: Records, l: Fraction, tell: Tell) -> list[int]:
    """The end of each bucket: the first at which no value of any column is too frequent (lines 3 to 9)."""
    over, under = l.numerator, l.denominator
    ends: list[int] = []
    counts: dict[int, int] = {}
    size = top = 0
    for position, values in enumerate(records.lists(tell), 1):
        size += 1
        for value in values:
            count = counts.get(value, 0) + 1
            counts[value] = count
            if count > top:
                top = count
        if top * over <= size * under:
            ends.append(position)
            counts = {}
            size = top = 0
    return ends


def _place_residue(records: Records, ends: Sequence[int], first: int, l: Fraction, tell: Tell) -> list[int]:
    """The bucket of each transaction from ``first`` on, numbered from 0: in order, the first closed one that stays
    l-diverse; ``len(ends)`` if none does. A full value of a bucket stays full until the bucket has more room, so the search
    skips the buckets at the front that are all full of one of a transaction's values."""
    buckets: list[_Bucket] = []
    placed: list[int] = []
    skip: dict[int, int] = {}  # for each value, the number of buckets at the front that are full of it
    trials = TRIALS * records.number
    for values in records.lists(tell, first):
        number = max((skip.get(v, 0) for v in values), default=0)
        while number < len(ends) and trials:
            trials -= 1
            if number >= len(buckets):
                buckets += (_closed_bucket(records, ends, n, l) for n in range(len(buckets), number + 1))
            bucket = buckets[number]
            blocking = bucket.blocking(values)
            if not blocking:
                released = bucket.full if bucket.room else set(skip)
                if bucket.add(values):
                    skip.update({v: min(skip.get(v, 0), number) for v in released})
                break
            for value in blocking:
                if skip.get(value, 0) == number:
                    skip[value] = number + 1
            number += 1
        else:
            number = len(ends)
        placed.append(number)
    return placed


def _closed_bucket(records: Records, ends: Sequence[int], number: int, l: Fraction) -> _Bucket:
    """The bucket that the pass closed."""
    first, last = (ends[number - 1] if number else 0), ends[number]
    return _Bucket(last - first, records.value[records.start[first] : records.start[last]].tolist(), l)


def _merge_residue(records: Records, bucket: Ints, closed: int, l: Fraction) -> Ints:
    """Pool the transactions in no closed bucket with the smallest buckets (ties by number) until the pool is l-diverse. At
    the latest the whole table is. The other buckets keep their order; the pool is the last bucket."""
    members = places_of(bucket, closed + 1)
    counts: Counter[int] = Counter()
    size = top = 0
    number_of = np.arange(closed + 1)
    for number in (closed, *sorted(range(closed), key=lambda number: len(members[number]))):
        number_of[number] = -1
        size += len(members[number])
        for value in records.take(members[number]).value.tolist():
            counts[value] += 1
            top = max(top, counts[value])
        if top * l <= size:
            break
    kept = number_of >= 0
    number_of = np.where(kept, np.cumsum(kept) - 1, kept.sum())
    return number_of[bucket]
