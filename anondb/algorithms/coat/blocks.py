"""The state of COAT: generalized items ("blocks"), the transactions that hold them, and the cost of merging two.

The items of the data and of the constraints are numbered 0..n-1 in code-point order of their labels. A block has the number
of one of its items. Occurrences lie in one array, transaction by transaction. So a row of co-occurrence counts takes one
gather and one ``bincount`` over the transactions that hold a block.
"""

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from anondb.engine.arrays import Floats, Ints, Ints32, Words, places_of, stretches

NEVER = 2**62  # ``born`` of a dead block: later than any clock
_DENSE = 64  # a block held by at least one in this many transactions gets a bitmap
_FEW = 128  # up to this many transactions are checked item by item
_FAR = 2**61  # above the loss of any block
_CHUNK = 4_000_000  # occurrences that are sorted together: about 100 MB
_PART = 2**16  # transactions whose items are counted together
NEAR = 1e-6  # logarithms closer than this are compared exactly


class Weights(Protocol):
    """w of generalized items (Definition 3.14): a key for each union of two blocks, and the weight of each key."""

    def keys(self, block: int, others: Ints) -> Ints:
        """A key for the union of ``block`` with each of the others (or, where equal, for the block itself)."""

    def merge(self, kept: int, gone: int) -> None:
        """Record that ``kept`` now stands for both blocks."""

    def values(self, keys: Ints) -> Floats:
        """The weights of keys as floats."""

    def exact(self, key: int) -> Fraction:
        """The exact weight of a key."""


def subsets_log2(n: int) -> Floats:
    """The base-2 logarithms of 2^size - 1, by size from 0 to n."""
    sizes = np.arange(n + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(sizes + np.log2(1.0 - np.exp2(-sizes)))


def _positions(item: Ints32, support: Ints) -> list[Ints32]:
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
    """Generalized items and their transactions. Each merge looks at all blocks for the cheapest union. Heaps of the blocks
    by size gained nothing at 30,000 to 100,000 items, where reading the transactions of a block takes the time."""

    def __init__(self, n: int, n_transactions: int, tid: Ints32, item: Ints32, group: Ints, weights: Weights | None) -> None:
        """Make one block of each of n items, with block numbers below n. The occurrences ``tid, item`` are sorted by
        transaction, numbered from 0; merging changes ``item``. ``group`` is the utility constraint of each item, from 0;
        ``weights`` are w, None for 1."""
        self.n, self.n_transactions = n, n_transactions
        self.tid = tid
        self.slot = item
        self.length: Ints = np.bincount(tid, minlength=n_transactions).astype(np.int64)
        self.start: Ints = np.cumsum(self.length) - self.length
        # number of transactions that hold each block
        self.support: Ints = np.bincount(item, minlength=n).astype(np.int64)
        self.position: list[Ints32] = _positions(item, self.support)
        self.size: Ints = np.ones(n, dtype=np.int64)  # number of original items of each block
        # smallest item of each block, which orders blocks by their labels
        self.least: Ints = np.arange(n, dtype=np.int64)
        # the clock of the last change of each block, 0 for unchanged items, ``NEVER`` for dead blocks
        self.born: Ints = np.zeros(n, dtype=np.int64)
        self.block_of: Ints = np.arange(n, dtype=np.int64)  # block of each item, -1 if suppressed
        self.members: list[list[int]] = [[i] for i in range(n)]  # items of each block, in no order
        self.clock = 0  # number of merges and suppressions so far
        self.suppressed: list[int] = []  # items suppressed so far, in order
        self.group = group
        groups = int(group.max()) + 1 if n else 0
        self._items = places_of(group, groups) if groups > 1 else []
        self._alive: list[int] = np.bincount(group).tolist()
        self._merged: list[set[int]] = [set() for _ in range(groups)]
        self._weights = weights
        self._single = self.support.copy()  # supports of unchanged items, _FAR for all other blocks
        self._subsets_log2 = subsets_log2(n)
        self._seen = np.zeros(-(-n_transactions // 64) * 64, dtype=np.bool_)
        self._mark = np.zeros(n + 1, dtype=np.bool_)
        self._bitmaps: dict[int, Words] = {}
        self._cached: tuple[int, int, Ints] = (-1, -1, np.empty(0, dtype=np.int64))

    def slots_of(self, block: int) -> tuple[Ints32, Ints]:
        """The blocks in the transactions that hold ``block``, one transaction after the other, and the start of each."""
        return self._slots(self.tid[self.position[block]])

    def _slots(self, tids: Ints32) -> tuple[Ints32, Ints]:
        length = self.length[tids]
        return self.slot.take(stretches(self.start[tids], length)), np.cumsum(length) - length

    def row(self, block: int) -> Ints:
        """The number of transactions that hold both ``block`` and each other block."""
        if self._cached[:2] != (block, self.clock):
            tids = self.tid[self.position[block]]
            counts = np.zeros(self.n + 1, dtype=np.int64)
            for low in range(0, len(tids), _PART):
                counts += np.bincount(self._slots(tids[low : low + _PART])[0], minlength=self.n + 1)
            counts = counts[: self.n]
            self._cached = (block, self.clock, counts)
        return self._cached[2]

    def support_of(self, blocks: Collection[int]) -> int:
        """The number of transactions that hold all of the blocks."""
        if not blocks:
            return self.n_transactions
        rarest = min(blocks, key=self.support.item)
        if len(blocks) == 1 or not self.support[rarest]:
            return int(self.support[rarest])
        if len(blocks) == 2 and self._cached[1] == self.clock and self._cached[0] in blocks:
            return int(self._cached[2][sum(blocks) - self._cached[0]])
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

    def _among(self, tids: Ints32, block: int) -> Ints32:
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

    def _bitmap(self, block: int) -> Words:
        """The transactions that hold a block as bits. Only frequent blocks have bitmaps, so all of them together are no
        larger than the occurrences."""
        if (bits := self._bitmaps.get(block)) is None:
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
        blocks = self.block_of[items]
        image = np.unique(blocks[blocks >= 0])
        return sorted(image.tolist(), key=self.least.item)

    def has_companion(self, block: int) -> bool:
        """Whether the utility constraint of a block holds another block."""
        return self._alive[int(self.group[block])] > 1

    def companion(self, block: int) -> int:
        """The block of the same utility constraint whose union with ``block`` has the least UL (tie: by label)."""
        row, group = self.row(block), int(self.group[block])
        merged = np.array([*self._merged[group]], dtype=np.int64)
        merged = merged[merged != block]
        hidden = self._single[block]
        self._single[block] = _FAR
        if self._weights is None:  # unchanged items have equal sizes: the one with the smallest union is best
            if self._items:
                inside = self._items[group]
                together = self._single[inside] - row[inside]
                best = int(together.argmin())
                least, single = int(together[best]), int(inside[best])
            else:
                together = self._single - row
                single = int(together.argmin())
                least = int(together[single])
            candidates = np.concatenate(([single], merged)) if least < _FAR // 2 else merged
        else:
            inside = self._items[group] if self._items else np.arange(self.n)
            candidates = np.concatenate((inside[self._single[inside] < _FAR], merged))
        self._single[block] = hidden
        if len(candidates) == 1:
            return int(candidates[0])
        sizes = self.size[candidates] + self.size[block]
        supports = self.support[candidates] + self.support[block] - row[candidates]
        return int(candidates[self._cheapest(block, candidates, sizes, supports)])

    def _cheapest(self, block: int, candidates: Ints, sizes: Ints, supports: Ints) -> int:
        """The position of the least (2^size - 1) x w x support: by logarithms, and exactly if these are close."""
        keys = None if self._weights is None else self._weights.keys(block, candidates)
        with np.errstate(divide="ignore"):
            losses = self._subsets_log2[sizes] + np.log2(supports)
            if self._weights is not None and keys is not None:
                losses += np.log2(self._weights.values(keys))
        near = np.flatnonzero(losses <= losses.min() + NEAR)
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
        self._merged[int(self.group[a])].add(a)
        self.position[a] = np.concatenate((ours, fresh))
        self.support[a] = len(self.position[a])
        self.size[a] += self.size[b]
        self.least[a] = min(self.least[a], self.least[b])
        self.born[a] = self.clock
        self._single[a] = _FAR
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
        group = int(self.group[block])
        self._alive[group] -= 1
        self._merged[group].discard(block)
        self._single[block] = _FAR
        self.position[block] = np.empty(0, dtype=np.int32)
        self.born[block] = NEVER
