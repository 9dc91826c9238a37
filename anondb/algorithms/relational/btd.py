"""BTD, the distance of clusters by their transactions (Poulis et al., section 5;
docs/algorithms/rum_tum_bound.md#btd), which approximates the order by Tum.

BTD(r1, r2) = (ones(b1 XOR b2) + 1) / (ones(b1 AND b2) + 1), and BTD(C) is the largest BTD of two records in C. It
orders the candidates of a merge instead of Tum(T(C u X)), which takes far more work. Different ratios of integers
below 2^26 are different doubles in the same order, so the comparison is exact.

Most pairs of records have no item in common, and then BTD is one more than their lengths. So the longest records of two
clusters bound the BTD of their union from both sides, mostly exactly; other pairs of records are looked at only if their
lengths exceed what is known, and only of the clusters that may be among the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from anondb.algorithms.relational.items import Ints, ItemSets, slices
from anondb.algorithms.relational.neighbours import head

_LONGEST = 3  # records of a cluster that bound its distances
Floats = npt.NDArray[np.float64]


class Order(Protocol):
    """An order of candidates for a merge, by their items. Clusters are numbered from 0."""

    def first(self, seed: int, count: int) -> Ints:
        """The first ``count`` other clusters in the order of preference for a merge with the seed."""

    def merge(self, kept: int, gone: int) -> None:
        """Record that two clusters became one, which has the number ``kept``."""

    def keep(self, clusters: Ints) -> None:
        """Number these clusters, which are all that are left, from 0."""


class BtdOrder:
    """The order by BTD(C u X); ties go to the first cluster.

    Args:
        items: the item sets.
        clusters: the initial clusters.
    """

    def __init__(self, items: ItemSets, clusters: Sequence[Ints]) -> None:
        self._items = items
        self._length = np.diff(items.start)
        self._flags = np.zeros(items.n_items, dtype=np.bool_)
        rarity = np.bincount(items.item, minlength=items.n_items)
        sums = np.append(0, np.cumsum(rarity[items.item]))
        often = sums[items.start[1:]] - sums[items.start[:-1]]
        flat, owner = np.concatenate(clusters), np.repeat(np.arange(len(clusters)), [len(c) for c in clusters])
        flat = flat[np.lexsort((often[flat], -self._length[flat], owner))]
        ends = np.cumsum([len(c) for c in clusters])
        self._records = np.split(flat, ends[:-1])  # the longest first, of equal ones that with the rarest items
        self._alive = np.ones(len(clusters), dtype=np.bool_)
        self._inner = self._within(flat, owner, ends)
        self._known: dict[int, tuple[Floats, Floats]] = {}  # the bounds for the current seed
        self._count()

    def _count(self) -> None:
        """Find the longest record of each cluster, and the clusters in whose longest record each item is."""
        self._longest = np.array([records[0] for records in self._records], dtype=np.int64)
        place, holder = slices(self._items.start, self._longest)
        held = self._items.item[place]
        self._held_by = holder[np.argsort(held, kind="stable")]
        self._held_from = np.append(0, np.cumsum(np.bincount(held, minlength=self._items.n_items)))
        self._at = np.arange(len(self._records))

    def _within(self, flat: Ints, owner: Ints, ends: Ints) -> Floats:
        """The largest distance within each cluster; 0 for a single record."""
        keys = np.repeat(np.arange(self._items.n), self._length) * self._items.n_items + self._items.item
        inner, end, length = np.zeros(len(ends)), ends[owner], self._length[flat]
        first, gap = np.arange(len(flat)), 1
        while len(first := first[first + gap < end[first]]):
            first = first[length[first] + length[first + gap] + 1 > inner[owner[first]]]
            place, pair = slices(self._items.start, flat[first])
            wanted = flat[first + gap][pair] * self._items.n_items + self._items.item[place]
            found = np.append(keys, -1)[np.searchsorted(keys, wanted)] == wanted
            common = np.bincount(pair[found], minlength=len(first))
            distance = _distance(length[first], length[first + gap], common)
            np.maximum.at(inner, owner[first], distance)
            gap += 1
        return inner

    def _bounds(self, seed: int) -> tuple[Floats, Floats]:
        """A lower and an upper bound of BTD(C u X) for each cluster X; infinity for clusters that are no more."""
        length = self._length[self._longest]
        inner = np.maximum(self._inner, self._inner[seed])
        low, high = inner, np.maximum(inner, _distance(length, length[seed], 0))
        for record in self._records[seed][:_LONGEST].tolist():
            place, _ = slices(
                self._held_from, self._items.item[self._items.start[record] : self._items.start[record + 1]]
            )
            common = np.bincount(self._held_by[place], minlength=len(self._at))[self._at]
            low = np.maximum(low, _distance(length, self._length[record], common))
        gone = np.append(np.flatnonzero(~self._alive), seed)
        low[gone] = high[gone] = np.inf
        return low, high

    def _exact(self, seed: int, clusters: Ints, known: Floats) -> Floats:
        """BTD(C u X) of some clusters, from a lower bound that the longest records have given."""
        found = known.copy()
        theirs = [self._records[x] for x in clusters.tolist()]
        records, owner = np.concatenate(theirs), np.repeat(np.arange(len(clusters)), [len(r) for r in theirs])
        length, row = self._length[records], self._items.item[:0]
        for record in self._records[seed].tolist():
            own = int(self._length[record])
            near = np.flatnonzero(own + length + 1 > found[owner])
            if not len(near):
                break
            if not len(row) or 2 * len(near) < len(records):
                records, owner, length = records[near], owner[near], length[near]
                place, row = slices(self._items.start, records)
                held = self._items.item[place]
            mine = self._items.item[self._items.start[record] : self._items.start[record + 1]]
            self._flags[mine] = True
            common = np.bincount(row[self._flags[held]], minlength=len(records))
            self._flags[mine] = False
            np.maximum.at(found, owner, _distance(length, own, common))
        return found

    def distances(self, seed: int, others: Ints) -> Floats:
        """BTD(C u X) for each of the others."""
        low, _ = self._bounds(seed)
        return self._exact(seed, others, low[others])

    def first(self, seed: int, count: int) -> Ints:
        """The first ``count`` other clusters by BTD."""
        if seed not in self._known:
            self._known = {seed: self._bounds(seed)}
        low, high = self._known[seed]
        while True:
            limit = np.partition(low, count - 1)[count - 1]
            unsure = np.flatnonzero((low <= limit) & (low < high))
            if not len(unsure):
                return head(low, count)
            low[unsure] = high[unsure] = self._exact(seed, unsure, low[unsure])

    def merge(self, kept: int, gone: int) -> None:
        """Record that two clusters became one, which has the number ``kept``."""
        self._inner[kept] = self.distances(kept, np.array([gone]))[0]
        if self._length[self._longest[gone]] > self._length[self._longest[kept]]:
            self._longest[kept], self._at[kept] = self._longest[gone], self._at[gone]
        both = np.concatenate((self._records[kept], self._records[gone]))
        self._records[kept] = both[np.argsort(-self._length[both], kind="stable")]
        self._alive[gone] = False
        self._known = {}

    def keep(self, clusters: Ints) -> None:
        """Number these clusters, which are all that are left, from 0."""
        self._records = [self._records[x] for x in clusters.tolist()]
        self._inner, self._alive, self._known = self._inner[clusters], self._alive[clusters], {}
        self._count()


def _distance(first: Ints, second: Ints | int, common: Ints | int) -> Floats:
    return np.asarray((first + second - 2 * common + 1) / (common + 1), dtype=np.float64)
