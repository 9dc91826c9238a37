"""BTD, the distance of clusters by their transactions (Poulis et al., section 5;
docs/algorithms/rum_tum_bound.md#btd), which approximates the order by Tum.

BTD(r1, r2) = (ones(b1 XOR b2) + 1) / (ones(b1 AND b2) + 1), and BTD(C) is the largest BTD of two records in C. It
orders the candidates of a merge instead of Tum(T(C u X)), which takes far more work. Different ratios of integers
below 2^26 are different doubles in the same order, so the comparison is exact.

Most pairs of records have no item in common, and then BTD is one more than their lengths. So the longest records of two
clusters bound the BTD of their union from both sides, mostly exactly. Other pairs are compared only for clusters that may
be among the first, and only if their lengths exceed the lower bound: in one step pairs of some of the longest records, and
all pairs only if these do not decide. Items are bits, so that a few words tell whether two records have one in common.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from anondb.algorithms.relational.cluster import head
from anondb.algorithms.relational.items import ItemSets, slices
from anondb.engine.arrays import Floats, Ints, Words, stretches

_BOUND = 2  # records of a cluster that bound its distances
_LONGEST = 5  # records of a cluster that are kept at hand; all but the last are compared in the first step
_FEW = 8  # records of the seed that are compared with these
_WORDS = 16  # of 64 bits, for the items of a record; at least 3
_PAIRS = 4_000  # of records that are looked at together


class Order(Protocol):
    """An order of candidates for a merge, by their items. Clusters are numbered from 0."""

    def first(self, seed: int, count: int) -> Ints:
        """The first ``count`` other clusters in the order of preference for a merge with the seed."""

    def merge(self, kept: int, gone: int) -> None:
        """Record that two clusters became one, which has the number ``kept``."""

    def keep(self, clusters: Ints) -> None:
        """Number these clusters, which are all that are left, from 0."""


class BtdOrder:
    """The order by BTD(C u X); ties go to the first cluster."""

    def __init__(self, items: ItemSets, clusters: Sequence[Ints]) -> None:
        self._items = items
        self._length = np.append(np.diff(items.start), -2 * items.n_items - 2)  # the last record stands for none
        self._keys = np.append(np.repeat(np.arange(items.n), self._length[:-1]) * items.n_items + items.item, -1)
        self._marks = _marks(items)
        self._own = self._marks.shape[1] - (items.n_items > 64 * _WORDS)
        first, second, rest = self._marks[:, 0], self._marks[:, 1:2], self._marks[:, 2:]
        # the words of the most frequent items, and the others as one
        self._folded = np.stack((first, np.bitwise_or.reduce(second, axis=1), np.bitwise_or.reduce(rest, axis=1)))
        size = np.array([len(c) for c in clusters])
        flat, owner = np.concatenate(clusters), np.repeat(np.arange(len(size)), size)
        self._flat = flat[np.lexsort((-self._length[flat], owner))]  # the longest first
        self._start, self._size = np.cumsum(size) - size, size
        self._inner = self._within(owner)  # infinite for clusters that are no more
        self._of_seed: dict[int, tuple[Floats, Floats]] = {}  # the bounds for the current seed
        self._number()

    def _number(self) -> None:
        """Lay the records of clusters side by side again."""
        flat = self._flat[stretches(self._start, self._size)]
        self._flat, self._end = np.empty(2 * self._items.n, dtype=np.int64), len(flat)
        self._flat[: self._end] = flat
        self._start = np.cumsum(self._size) - self._size
        rank = np.minimum(np.arange(_LONGEST)[:, None], self._size - 1)
        self._longest = np.where(rank == np.arange(_LONGEST)[:, None], self._flat[self._start + rank], len(self._length) - 1)
        self._reach = np.ascontiguousarray(self._length[self._longest], dtype=np.int32)
        self._bits = self._folded.take(self._longest[:_BOUND], axis=1)

    def _within(self, owner: Ints) -> Floats:
        """The largest distance within each cluster; 0 for a single record."""
        flat = self._flat
        inner, end, length = np.zeros(len(self._size)), (self._start + self._size)[owner], self._length[flat]
        first, gap = np.arange(len(flat)), 1
        while len(first := first[first + gap < end[first]]):
            first = first[length[first] + length[first + gap] + 1 > inner[owner[first]]]
            distance = self._distances(flat[first], flat[first + gap])
            np.maximum.at(inner, owner[first], distance)
            gap += 1
        return inner

    def _distances(self, first: Ints, second: Ints) -> Floats:
        """The BTD of pairs of records."""
        bits = self._marks.take(first, axis=0) & self._marks.take(second, axis=0)
        common = np.bitwise_count(bits[:, : self._own]).sum(axis=1, dtype=np.int64)
        if self._own < bits.shape[1] and len(shared := np.flatnonzero(bits[:, -1])):
            place, pair = slices(self._items.start, first[shared])
            wanted = second[shared][pair] * self._items.n_items + self._items.item[place]
            present = self._keys[np.searchsorted(self._keys[:-1], wanted)] == wanted
            common[shared] = np.bincount(pair[present], minlength=len(shared))
        apart = self._length[first] + self._length[second] - 2 * common
        return np.asarray((apart + 1) / (common + 1), dtype=np.float64)

    def _bounds(self, seed: int, begin: int, end: int) -> tuple[Floats, Floats]:
        """A lower and an upper bound of BTD(C u X) for these clusters X; infinity for clusters that are no more. It compares
        pairs of their longest records whose ranks have a small sum; the pairs of the next sum bound all others."""
        reach, mine = self._reach[:, begin:end], self._reach[:, seed, None] + 1
        apart = np.zeros(reach.shape[1], dtype=np.int32)  # the most of pairs without a common item
        unknown = (reach[0] + mine[0]) // 2  # the most of other pairs, and of those not looked at
        for first in range(_BOUND + 1):
            for i in range(first + 1):
                total = reach[first - i] + mine[i]
                if first == _BOUND:
                    np.maximum(unknown, total, out=unknown)
                    continue
                bits, own = self._bits[:, first - i, begin:end], self._bits[:, i, seed]
                both = bits[0] & own[0]
                both |= bits[1] & own[1]
                np.maximum(unknown, total * (both == 0), out=unknown)
                both |= bits[2] & own[2]
                np.maximum(apart, total * (both == 0), out=apart)
        low = np.maximum(self._inner[begin:end], np.maximum(apart, self._inner[seed]))
        high = np.maximum(low, unknown)
        if begin <= seed < end:
            low[seed - begin] = high[seed - begin] = np.inf
        return low, high

    def _exact(self, seed: int, clusters: Ints, low: Floats, limit: float = np.inf) -> Floats:
        """BTD(C u X) of some clusters, from a lower bound; only a better bound for those beyond the limit."""
        lower = low.copy()
        mine = self._flat[self._start[seed] : self._start[seed] + self._size[seed]]
        reach = self._length[mine] + 1
        records, length = self._longest.take(clusters, axis=1), self._reach.take(clusters, axis=1)
        far = reach[:_FEW, None, None] + length[:-1]
        frequent = self._folded[0]
        apart = frequent[mine[:_FEW], None, None] & frequent.take(records[:-1]) == 0
        first, rank, whose = ((far > lower) & (apart | (far > 2 * lower + 2))).nonzero()
        self._raise(lower, mine[first], records[rank, whose], whose, far[first, rank, whose])
        rest = length[-1] + reach[0]  # no pair that was not looked at is farther apart
        if len(mine) > _FEW:
            rest = np.maximum(rest, length[0] + reach[_FEW])
        left = ((rest > lower) & (lower <= limit)).nonzero()[0]
        if len(left):
            lower[left] = self._all_pairs(mine, clusters[left], lower[left], limit)
        return lower

    def _all_pairs(self, mine: Ints, clusters: Ints, lower: Floats, limit: float) -> Floats:
        """The same, from the records of the seed, the longest first, and all records of the clusters."""
        reach = self._length[mine] + 1
        size = self._size[clusters]
        records, owner = self._flat[stretches(self._start[clusters], size)], np.repeat(np.arange(len(size)), size)
        length, frequent, at = self._length[records], self._folded[0], 0
        while at < len(mine):
            least = lower[owner]
            near = ((reach[at] + length > least) & (least <= limit)).nonzero()[0]
            if not len(near):
                break
            records, owner, length, least = records[near], owner[near], length[near], least[near]
            end = at + max(1, _PAIRS // len(records))
            far = reach[at:end, None] + length
            apart = frequent[mine[at:end], None] & frequent.take(records) == 0
            first, second = ((far > least) & (apart | (far > 2 * least + 2))).nonzero()
            self._raise(lower, mine[at + first], records[second], owner[second], far[first, second])
            at = end
        return lower

    def _raise(self, lower: Floats, first: Ints, second: Ints, whose: Ints, far: Ints) -> None:
        """Raise bounds to the distances of pairs of records, which are at most ``far``."""
        bits = self._marks.take(first, axis=0) & self._marks.take(second, axis=0)
        shared, perhaps = bits[:, : self._own].any(axis=1), bits[:, self._own :].any(axis=1)
        apart = np.flatnonzero(~(shared | perhaps))
        np.maximum.at(lower, whose[apart], far[apart].astype(np.float64))  # of another type it takes longer
        more = np.where(shared, far - 2 > 2 * lower.take(whose), perhaps).nonzero()[0]
        if len(more):
            np.maximum.at(lower, whose[more], self._distances(first[more], second[more]))

    def distances(self, seed: int, others: Ints) -> Floats:
        """BTD(C u X) for each of the others."""
        return self._exact(seed, others, np.maximum(self._inner[others], self._inner[seed]))

    def first(self, seed: int, count: int) -> Ints:
        """The first ``count`` other clusters by BTD. No cluster is nearer than the largest distance within the seed. Many
        have just this distance, and ties go to the first, so most often it is enough to compare the first clusters of
        all."""
        low, high = self._of_seed.get(seed) or self._bounds(seed, 0, 16 * count)
        limit, last = self._inner[seed], len(low)
        while True:
            if whole := len(low) == len(self._inner):
                last = head(high, count)[-1]
                limit = high[last]
            elif len(sure := (high <= limit).nonzero()[0]) >= count:
                last = sure[count - 1]
            unsure = ((low <= limit) & (low < high)).nonzero()[0]
            unsure = unsure[(low[unsure] < limit) | (unsure < last)]
            exact = self._exact(seed, unsure, low[unsure], limit)
            low[unsure], high[unsure] = exact, np.where(exact <= limit, exact, high[unsure])
            self._of_seed = {seed: (low, high)}
            if whole:
                return head(low, count)
            if len(first := np.flatnonzero(low <= limit)[:count]) == count:
                return first
            more = self._bounds(seed, len(low), 4 * len(low))
            low, high = np.append(low, more[0]), np.append(high, more[1])
            last = len(low)

    def merge(self, kept: int, gone: int) -> None:
        """Record that two clusters became one, which has the number ``kept``."""
        self._inner[kept] = self._united(kept, gone)
        self._inner[gone] = np.inf
        both = self._flat[stretches(self._start[[kept, gone]], self._size[[kept, gone]])]
        both = both[np.argsort(-self._length[both], kind="stable")]
        self._size[[kept, gone]] = 0
        if self._end + len(both) > len(self._flat):
            self._number()
        self._start[kept], self._size[kept] = self._end, len(both)
        self._end += len(both)
        self._flat[self._start[kept] : self._end] = both
        self._longest[:, kept] = np.append(both, np.full(_LONGEST, len(self._length) - 1))[:_LONGEST]
        self._reach[:, kept] = self._length[self._longest[:, kept]]
        self._bits[:, :, kept] = self._folded[:, self._longest[:_BOUND, kept]]
        self._of_seed = {}

    def _united(self, kept: int, gone: int) -> float:
        """The largest distance within the union of two clusters."""
        for seed, (low, high) in self._of_seed.items():
            other = kept + gone - seed
            if seed in (kept, gone) and other < len(low) and low[other] == high[other]:
                return float(low[other])
        return float(self.distances(kept, np.array([gone]))[0])

    def keep(self, clusters: Ints) -> None:
        """Number these clusters, which are all that are left, from 0."""
        self._start, self._size = self._start[clusters], self._size[clusters]
        self._inner, self._of_seed = self._inner[clusters], {}
        self._number()


def _marks(items: ItemSets) -> Words:
    """The items of each record as bits: frequent ones have bits of their own, others share those of the last word."""
    rank = np.argsort(np.argsort(-np.bincount(items.item, minlength=items.n_items), kind="stable"))
    words = min(max(1, -(-items.n_items // 64)), _WORDS)
    bit = np.where(rank < 64 * words - 64, rank, 64 * words - 64 + rank % 64)[items.item]
    marks = np.zeros((items.n + 1, words), dtype=np.uint64)
    record = np.repeat(np.arange(items.n), np.diff(items.start))
    np.bitwise_or.at(marks, (record, bit >> 6), np.uint64(1) << (bit & 63).astype(np.uint64))
    return marks
