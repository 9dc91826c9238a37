"""The state of COAT: generalized items ("blocks"), the transactions that hold them, and the cost of merging two.

The items of the data and of the constraints are numbered 0..n-1 in code-point order of their labels. A block has the number
of one of its items. Occurrences lie in one array, transaction by transaction. So a row of co-occurrence counts takes one
gather and one ``bincount`` over the transactions that hold a block.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from anondb.algorithms.coat.companions import Companions

Ints = npt.NDArray[np.int64]
Slots = npt.NDArray[np.int32]

NEVER = 2**62  # ``born`` of a dead block: later than any clock
_DENSE = 64  # a block held by at least one in this many transactions gets a bitmap
_FEW = 128  # up to this many transactions are checked item by item
_SPARSE = 4  # a row is sorted if its slots are fewer than the items by this factor
_FAR = 2**31  # above any support
_SOME = 8  # up to this many losses are compared exactly at once
_CHUNK = 4_000_000  # occurrences that are counted together: about 100 MB
_NEAR = 1e-6  # logarithms closer than this are compared exactly


class Weights(Protocol):
    """w of generalized items (Definition 3.14): a key for each union of two blocks, and the weight of each key."""

    def keys(self, block: int, others: Ints) -> Ints:
        """A key for the union of ``block`` with each of the others (or, where equal, for the block itself)."""

    def merge(self, kept: int, gone: int) -> None:
        """Record that ``kept`` now stands for both blocks."""

    def values(self, keys: Ints) -> npt.NDArray[np.float64]:
        """The weights of keys as floats."""

    def exact(self, key: int) -> Fraction:
        """The exact weight of a key."""


def _values(keys: Ints, values: Ints, wanted: Ints) -> Ints:
    """The values of the wanted keys, 0 for those that are missing; the keys are ascending."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(keys.searchsorted(wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], 0)


def _positions(item: Slots, support: Ints) -> list[Slots]:
    """The positions of each item, ascending; sorts parts of the array, since a sort takes many times its memory."""
    order = np.empty(len(item), dtype=np.int32)
    free = np.cumsum(support) - support  # where the next position of each item belongs
    for low in range(0, len(item), _CHUNK):
        part = item[low : low + _CHUNK]
        by_item = np.argsort(part.astype(np.uint16) if len(support) < 2**16 else part, kind="stable")
        here = np.bincount(part, minlength=len(support))
        place = np.repeat(free - (np.cumsum(here) - here), here) + np.arange(len(part))
        order[place] = by_item + low
        free += here
    return np.split(order, np.cumsum(support)[:-1]) if len(support) else []


class Blocks:
    """Generalized items and their transactions.

    Attributes:
        n: number of items; block numbers are below it.
        n_transactions: N.
        support: number of transactions that hold each block.
        size: number of original items of each block.
        least: smallest item of each block, which orders blocks by their labels.
        born: the clock of the last change of each block, 0 for unchanged items, ``NEVER`` for dead blocks.
        clock: number of merges and suppressions so far.
        block_of: block of each item, -1 if suppressed.
        members: items of each block, in no order.
        suppressed: items suppressed so far, in order.
    """

    def __init__(
        self, n: int, n_transactions: int, tid: Slots, item: Slots, group: Ints, weights: Weights | None
    ) -> None:
        """Make one block of each item.

        Args:
            n, n_transactions: number of items; N.
            tid, item: the occurrences, sorted by transaction; transactions are numbered from 0. Merging changes ``item``.
            group: utility constraint of each item, numbered from 0.
            weights: w, None for 1.
        """
        self.n, self.n_transactions = n, n_transactions
        self.tid = tid
        self.slot = item
        self.length: Ints = np.bincount(tid, minlength=n_transactions).astype(np.int64)
        self.start: Ints = np.cumsum(self.length) - self.length
        self.support: Ints = np.bincount(item, minlength=n).astype(np.int64)
        self.position: list[Slots] = _positions(item, self.support)
        self.size: Ints = np.ones(n, dtype=np.int64)
        self.least: Ints = np.arange(n, dtype=np.int64)
        self.born: Ints = np.zeros(n, dtype=np.int64)
        self.block_of: Ints = np.arange(n, dtype=np.int64)
        self.members: list[list[int]] = [[i] for i in range(n)]
        self.clock = 0
        self.suppressed: list[int] = []
        self.group = group
        self._alive: list[int] = np.bincount(group).tolist()
        self._weights = weights
        self._companions = Companions(group, self.support)
        self._single: Ints = np.append(self.support, _FAR)  # supports of unchanged items, _FAR for all other blocks
        self._grown = np.full(n + 1, np.inf)  # size + log2(support) of merged blocks, infinite for all other blocks
        self._group_of = np.append(group, -1)
        self._counts: Ints = np.zeros(n + 1, dtype=np.int64)
        sizes = np.arange(n + 1, dtype=np.float64)
        with np.errstate(divide="ignore"):
            self._subsets_log2 = sizes + np.log2(1.0 - np.exp2(-sizes))  # of 2^size - 1
        self._seen = np.zeros(-(-n_transactions // 64) * 64, dtype=np.bool_)
        self._mark = np.zeros(n + 1, dtype=np.bool_)
        self._bitmaps: dict[int, npt.NDArray[np.uint64]] = {}
        nothing = np.empty(0, dtype=np.int64)
        self._row: tuple[int, int, tuple[Ints, Ints]] = (-1, -1, (nothing, nothing))

    # ------------------------------------------------------------------ supports

    def slots_of(self, block: int) -> tuple[Slots, Ints]:
        """The blocks in the transactions that hold ``block``, one transaction after the other, and the start of each."""
        return self._slots(self.tid[self.position[block]])

    def _slots(self, tids: Slots) -> tuple[Slots, Ints]:
        length = self.length[tids]
        ends = np.cumsum(length)
        total = int(ends[-1]) if len(ends) else 0
        begins = ends - length
        index = np.repeat(self.start[tids] - begins, length)
        index += np.arange(total)
        return self.slot.take(index), begins

    def row(self, block: int) -> tuple[Ints, Ints]:
        """The blocks in the transactions that hold ``block``, ascending, and how many of these transactions hold each."""
        if self._row[:2] != (block, self.clock):
            tids = self.tid[self.position[block]]
            total = int(self.length[tids].sum())
            if total * _SPARSE < self.n:
                slots = self._slots(tids)[0].astype(np.int64)
                held, times = np.unique(slots[slots < self.n], return_counts=True)
                counts = times.astype(np.int64)
            else:
                counts = np.zeros(self.n + 1, dtype=np.int64)
                for part in np.array_split(tids, total // _CHUNK + 1):
                    counts += np.bincount(self._slots(part)[0], minlength=self.n + 1)
                held = np.flatnonzero(counts[: self.n].astype(np.bool_))  # much faster than of integers
                counts = counts[held]
            self._row = (block, self.clock, (held, counts))
        return self._row[2]

    def shared(self, block: int, others: Ints) -> Ints:
        """The number of transactions that hold both ``block`` and each of the others."""
        return _values(*self.row(block), others)

    def support_of(self, blocks: Collection[int]) -> int:
        """The number of transactions that hold all of the blocks."""
        if not blocks:
            return self.n_transactions
        rarest = min(blocks, key=self.support.item)
        if len(blocks) == 1 or not self.support[rarest]:
            return int(self.support[rarest])
        rest = sorted(blocks, key=self.support.item)[1:]
        if self._is_frequent(rarest):
            together = self._bitmap(rarest)
            for block in rest:
                together = together & self._bitmap(block)
            return int(np.bitwise_count(together).sum())
        tids = self.tid[self.position[rarest]]
        while rest and len(tids) > _FEW:
            tids = self._among(tids, rest.pop(0))
        if not rest or not len(tids):
            return len(tids)
        slots, begins = self._slots(tids)
        self._mark[rest] = True
        held = np.add.reduceat(self._mark[slots], begins, dtype=np.int32)
        self._mark[rest] = False
        return int(np.count_nonzero(held == len(rest)))

    def _among(self, tids: Slots, block: int) -> Slots:
        """The transactions among ``tids`` that hold a block."""
        if self._is_frequent(block):
            held = self._bitmap(block).view(np.uint8)[tids >> 3] >> (tids & 7).astype(np.uint8)
            return np.asarray(tids[(held & 1).view(np.bool_)])
        others = self.tid[self.position[block]]
        self._seen[tids] = True
        result = others[self._seen[others]]
        self._seen[tids] = False
        return result

    def _is_frequent(self, block: int) -> bool:
        return bool(self.support[block] * _DENSE >= self.n_transactions)

    def _bitmap(self, block: int) -> npt.NDArray[np.uint64]:
        """The transactions that hold a block as bits.

        Only frequent blocks have bitmaps, so all of them together are no larger than the occurrences.
        """
        bits = self._bitmaps.get(block)
        if bits is None:
            tids = self.tid[self.position[block]]
            self._seen[tids] = True
            bits = self._bitmaps[block] = np.packbits(self._seen, bitorder="little").view(np.uint64)
            self._seen[tids] = False
        return bits

    def holds(self, blocks: Sequence[int], whole: int, k: int) -> bool:
        """Whether no transaction or at least k hold each non-empty part of ``blocks``, whose support is ``whole``
        (docs/algorithms/models.md#constraints)."""
        if not blocks or whole:
            return not blocks or whole >= k
        supports = self.support[list(blocks)]
        if ((supports > 0) & (supports < k)).any():
            return False
        if len(blocks) < 3:
            return True
        return self._parts_hold([b for b in blocks if self.support[b]], k)

    def _parts_hold(self, blocks: Sequence[int], k: int) -> bool:
        """Check the parts of ``blocks`` for ``holds``, as bit masks."""
        tids = np.concatenate([self.tid[self.position[b]] for b in blocks] or [np.empty(0, dtype=np.int32)])
        touched = np.unique(tids)
        bits = np.zeros((len(touched), (len(blocks) + 7) // 8), dtype=np.uint8)
        for i, block in enumerate(blocks):
            bits[np.searchsorted(touched, self.tid[self.position[block]]), i // 8] |= np.uint8(1 << i % 8)
        parts, copies = np.unique(bits, axis=0, return_counts=True)
        few = parts[copies < k]
        return all(int(copies[((parts & part) == part).all(axis=1)].sum()) >= k for part in few)

    def image(self, items: Ints) -> list[int]:
        """The blocks that stand for items, without suppressed ones, in the order of their labels."""
        return sorted(set(self.block_of[items].tolist()) - {-1}, key=self.least.item)

    # ------------------------------------------------------------------ the choice of what to merge

    def has_companion(self, block: int) -> bool:
        """Whether the utility constraint of a block holds another block."""
        return self._alive[int(self.group[block])] > 1

    def companion(self, block: int) -> int:
        """The block of the same utility constraint whose union with ``block`` has the least UL (tie: by label)."""
        candidates, shared = self._candidates(block)
        if len(candidates) == 1:
            return int(candidates[0])
        sizes = self.size[candidates] + self.size[block]
        supports = self.support[candidates] + self.support[block] - shared
        return int(candidates[self._cheapest(block, candidates, sizes, supports)])

    def _candidates(self, block: int) -> tuple[Ints, Ints]:
        """Blocks of the utility constraint of ``block``, with the best companion, and their supports together with it."""
        if self._weights is not None:
            inside = (self.born < NEVER) & (self.group == self.group[block])
            inside[block] = False
            others = np.flatnonzero(inside)
            return others, self.shared(block, others)
        first, bound = self._companions.first(block, int(self.support[block]))
        others, counts = self._beside(block, np.array(first, dtype=np.int64))
        hidden = self._single[block], self._grown[block]
        self._single[block], self._grown[block] = _FAR, np.inf
        kept = np.flatnonzero(self._grown.take(others) <= bound)
        unions = (self._single.take(others) - counts) * (self.n + 1) + others
        best = unions.argmin()  # of the unchanged items, the one with the smallest union
        if self._single[others[best]] < _FAR:
            kept = np.append(kept, best)
        self._single[block], self._grown[block] = hidden
        return others[kept], counts[kept]

    def _beside(self, block: int, first: Ints) -> tuple[Ints, Ints]:
        """The blocks of the same utility constraint in the transactions that hold ``block``, perhaps repeated, and those
        of ``first``; and how many of these transactions hold each."""
        tids = self.tid[self.position[block]]
        if self._row[:2] == (block, self.clock) or int(self.length[tids].sum()) > self.n:
            others, counts = self.row(block)
            others, counts = np.append(others, first), np.append(counts, self.shared(block, first))
        else:
            slots = self._slots(tids)[0].astype(np.int64)
            others = np.append(slots, first)
            np.add.at(self._counts, slots, 1)
            counts = self._counts.take(others)
            np.subtract.at(self._counts, slots, 1)
        if len(self._alive) == 1:
            return others, counts
        inside = self._group_of.take(others) == self.group[block]
        return others[inside], counts[inside]

    def _cheapest(self, block: int, candidates: Ints, sizes: Ints, supports: Ints) -> int:
        """The position of the least (2^size - 1) x w x support: by logarithms, and exactly if these are close."""
        if self._weights is None and len(candidates) <= _SOME:
            exactly = zip(
                sizes.tolist(), supports.tolist(), self.least[candidates].tolist(), range(_SOME), strict=False
            )
            return min((((1 << size) - 1) * support, least, i) for size, support, least, i in exactly)[2]
        keys = None if self._weights is None else self._weights.keys(block, candidates)
        with np.errstate(divide="ignore"):
            losses = self._subsets_log2[sizes] + np.log2(supports)
            if self._weights is not None and keys is not None:
                losses += np.log2(self._weights.values(keys))
        near = np.flatnonzero(losses <= losses.min() + _NEAR)
        if len(near) == 1:
            return int(near[0])
        best: dict[tuple[int, int, int], int] = {}
        for i in near[np.argsort(self.least[candidates[near]])].tolist():
            best.setdefault((int(sizes[i]), int(supports[i]), -1 if keys is None else int(keys[i])), i)

        def exact(entry: tuple[tuple[int, int, int], int]) -> tuple[Fraction | int, int]:
            (size, support, key), i = entry
            loss = ((1 << size) - 1) * support
            return (loss if self._weights is None else loss * self._weights.exact(key)), int(self.least[candidates[i]])

        return min(best.items(), key=exact)[1]

    def loss(self, block: int) -> Fraction | int:
        """UL of a block times N (2^M - 1), exact."""
        loss = ((1 << int(self.size[block])) - 1) * int(self.support[block])
        if self._weights is None:
            return loss
        return loss * self._weights.exact(int(self._weights.keys(block, np.array([block]))[0]))

    # ------------------------------------------------------------------ the two operations

    def merge(self, a: int, b: int) -> int:
        """Generalize two blocks together (Algorithm 2) and return the number of the union."""
        if len(self.position[a]) < len(self.position[b]):
            a, b = b, a
        ours, theirs = self.position[a], self.position[b]
        tids, others = self.tid[ours], self.tid[theirs]
        self._seen[tids] = True
        double = self._seen[others]
        self._seen[tids] = False
        self.slot[theirs[double]] = self.n
        fresh = theirs[~double]
        self.slot[fresh] = a
        self.clock += 1
        self._leave(b)
        self._bitmaps.pop(a, None)
        self.position[a] = np.concatenate((ours, fresh))
        self.support[a] = len(self.position[a])
        self.size[a] += self.size[b]
        self.least[a] = min(self.least[a], self.least[b])
        self.born[a] = self.clock
        self._single[a] = _FAR
        self._grown[a] = self.size[a] + (math.log2(self.support[a]) if self.support[a] else -math.inf)
        self._companions.put(a, int(self.size[a]), int(self.support[a]), int(self.least[a]))
        if self._weights is not None:
            self._weights.merge(a, b)
        self.block_of[self.members[b]] = a
        self.members[a] += self.members[b]
        self.members[b] = []
        return a

    def suppress(self, block: int) -> None:
        """Remove a block from all transactions and constraints (Algorithm 3)."""
        self.slot[self.position[block]] = self.n
        self.clock += 1
        self._leave(block)
        self.block_of[self.members[block]] = -1
        self.suppressed += sorted(self.members[block])
        self.members[block] = []

    def _leave(self, block: int) -> None:
        self._bitmaps.pop(block, None)
        self._alive[int(self.group[block])] -= 1
        self._companions.remove(block)
        self._single[block], self._grown[block] = _FAR, np.inf
        self.position[block] = np.empty(0, dtype=np.int32)
        self.born[block] = NEVER
