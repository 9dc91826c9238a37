"""The privacy constraints "all m-itemsets" of COAT, of which only the violated ones are kept.

The image of an m-itemset is a set of at most m blocks. The constraint is unsatisfied if and only if its image contains a
*threat*, a set of blocks that at least one and fewer than k transactions hold. A threat is the image of some m-itemset if
its blocks and the suppressed items together have m items or more. The constraint with the largest support (tie: smallest
sorted labels, docs/algorithms/conventions.md#ties) is one of these. Only if none is left, m-itemsets of support 0 that
contain a smaller threat are chosen.

The support of a set of blocks changes only when one of them is merged or suppressed. So SQL mines the threats among
unchanged items once, and they are walked in order; each merge adds one batch, the threats that hold the new block.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.algorithms.coat.blocks import Blocks
from anondb.engine.arrays import Flags, Ints, Ints32, stretches
from anondb.errors import BudgetExceeded

MAX_SETS = 150_000_000  # sets that are held at once: about 4 GB
_WORD = 2**62
_DENSE = 2**22

Key = tuple[int, ...]
Items = npt.NDArray[Any]  # of int32 or int64
Sets = Ints32
Mined = dict[int, tuple[Sequence[Items], Items]]
"""For each size: one column per item of the set, ascending, and the supports."""


@dataclass
class _Order:
    """Packs (k - 1 - support, item 1, ..., item m) into as few integers as possible, in lexicographic order."""

    radices: list[int]

    def words(self, columns: Sequence[Items]) -> list[Ints]:
        """The packed columns, most significant first."""
        words: list[Ints] = []
        room = 0
        for radix, column in zip(self.radices, columns, strict=True):
            if room * radix >= _WORD or not words:
                words.append(column.astype(np.int64))
                room = radix
            else:
                words[-1] = words[-1] * radix + column
                room *= radix
        return words


def _least(words: list[Ints], among: Ints) -> int:
    """The position in ``among`` with the smallest words."""
    for word in words:
        values = word[among]
        among = among[values == values.min()]
    return int(among[0])


@dataclass
class _Batch:
    """Threats of one size, mined at the same clock."""

    sets: Sets  # the blocks of each threat, one row each
    support: Ints  # their supports
    clock: int  # the clock when they were mined; a threat is still valid if none of its blocks changed later
    words: list[Ints] | None = None  # the packed order of the threats; None until it is needed
    image: Flags | None = None  # marks of the threats that are images of m-itemsets

    def without_dead(self, born: Ints) -> _Batch:
        """Remove threats with a block that changed later, and return the batch."""
        valid = (born[self.sets] <= self.clock).all(axis=1)
        if not valid.all():
            self.sets, self.support = self.sets[valid], self.support[valid]
            if self.words is not None and self.image is not None:
                self.words, self.image = [w[valid] for w in self.words], self.image[valid]
        return self


class Implicit:
    """All m-itemsets of the items (at most all of them) as privacy constraints over the blocks before the first merge. A
    threat has a support below k; those among the unchanged items were ``mined`` for each size from 1 to m."""

    def __init__(self, blocks: Blocks, k: int, m: int, mined: Mined) -> None:
        self._blocks, self._k, self._m = blocks, k, m
        self._ceiling = min(k - 1, blocks.n_transactions)
        self._order = _Order([self._ceiling + 1] + [blocks.n + 1] * m)
        self._heap: list[tuple[Key, int, int, tuple[int, ...], _Batch]] = []
        self._count = 0
        self._version = 0  # counts suppressions, on which the images of fewer than m blocks depend
        self._small: list[_Batch] = []
        self._fresh: dict[int, None] = {}
        self._limit = 64
        nothing = np.empty(0, dtype=np.int32)
        self._walk(*mined.get(m, ([nothing] * m, nothing)))
        for size in range(1, m):
            columns, supports = mined.get(size, ([], nothing))
            if len(supports):
                self._small.append(_Batch(np.column_stack(columns), supports.astype(np.int64), clock=0))

    def choose(self) -> tuple[Ints, int] | None:
        """The items of the unsatisfied constraint with the largest support, and that support; None if all hold."""
        for block in self._fresh:
            if self._blocks.born[block] <= self._blocks.clock:
                self._add_threats(block)
        self._fresh = {}
        self._drop_dead_batches()
        walked, listed = self._first_unchanged(), self._first_of_batches()
        if walked is not None and (listed is None or walked[0] < listed[0]):
            return walked[1], walked[2]
        if listed is not None:
            return self._representatives(listed[1].reshape(1, -1))[0], listed[2]
        return self._unsupported()

    def support(self, blocks: list[int]) -> int:
        """The support of the chosen constraint's image; caches the row of a new block, which is needed later."""
        if len(blocks) == 2:
            self._blocks.row(max(blocks, key=self._blocks.born.item))
        return self._blocks.support_of(blocks) if blocks else 0

    def merged(self, kept: int, gone: int, support_kept: int, support_gone: int) -> None:
        """Record that two blocks became one, which has the number ``kept``."""
        self._fresh[kept] = None

    def suppressed(self, block: int) -> None:
        """Record that a block was suppressed: sets of fewer than m blocks are then the images of more itemsets."""
        self._version += 1
        self._prune_small()
        for batch in self._small:
            batch.words = None
            self._push(batch)

    def name(self, items: Ints) -> str:
        """The name of a constraint in messages, without its items, which are data."""
        return f"a constraint of all itemsets of {len(items)} items"

    def _walk(self, columns: Sequence[Items], supports: Items) -> None:
        words = self._order.words([self._ceiling - supports, *columns])
        self._at = 0
        if len(words) == 1:  # the packed numbers contain the sets
            self._walk_keys, self._walk_sets = np.sort(words[0]), None
        else:
            order = np.lexsort(words[::-1])
            self._walk_keys, self._walk_sets = supports[order].astype(np.int64), np.column_stack(columns)[order]

    def _next_sets(self, count: int) -> tuple[Items, Ints]:
        """The next itemsets of the walk and their supports."""
        keys = self._walk_keys[self._at : self._at + count]
        if self._walk_sets is not None:
            return self._walk_sets[self._at : self._at + count], keys
        columns = []
        for radix in self._order.radices[:0:-1]:
            keys, column = np.divmod(keys, radix)
            columns.append(column)
        return np.column_stack(columns[::-1]), self._ceiling - keys

    def _first_unchanged(self) -> tuple[Key, Ints, int] | None:
        """The first remaining threat of m unchanged items: its key, its items and its support."""
        born, step = self._blocks.born, 16
        while self._at < len(self._walk_keys):
            sets, supports = self._next_sets(step)
            untouched = (born[sets] == 0).all(axis=1)
            first = int(untouched.argmax())
            if untouched[first]:
                self._at += first
                items, support = sets[first].astype(np.int64), int(supports[first])
                return (self._ceiling - support, *items.tolist()), items, support
            self._at += len(untouched)
            step = min(step * 2, 2**16)
        return None

    def _first_of_batches(self) -> tuple[Key, Sets, int] | None:
        """The first threat of all batches: its key, its blocks and its support."""
        while self._heap:
            key, _, version, chosen, batch = self._heap[0]
            alive = (self._blocks.born[list(chosen)] <= batch.clock).all()
            if alive and (version == self._version or len(chosen) == self._m):
                return key, np.array(chosen, dtype=np.int32), self._ceiling - key[0]
            heapq.heappop(self._heap)
            if version == self._version or len(chosen) == self._m:
                self._push(batch.without_dead(self._blocks.born))
        return None

    def _drop_dead_batches(self) -> None:
        """Remove the batches of merged blocks that no longer exist."""
        if len(self._heap) + len(self._small) > self._limit:
            born = self._blocks.born
            self._small = [p for p in self._small if not p.clock or born[p.sets[:1, 0]].max(initial=0) <= p.clock]
            self._heap = [e for e in self._heap if not e[4].clock or born[e[4].sets[:1, 0]].max(initial=0) <= e[4].clock]
            heapq.heapify(self._heap)
            self._limit = 2 * (len(self._heap) + len(self._small)) + 64

    def _prune_small(self) -> None:
        """Remove the dead threats of fewer than m blocks."""
        self._small = [batch for batch in self._small if len(batch.without_dead(self._blocks.born).support)]

    def _push(self, batch: _Batch) -> None:
        """Put the first threat of a batch on the heap."""
        if not len(batch.support):
            return
        if batch.words is None:
            self._pack_order(batch)
        assert batch.words is not None and batch.image is not None
        images = np.flatnonzero(batch.image)
        if not len(images):
            return
        best = _least(batch.words, images)
        chosen = batch.sets[best]
        if len(chosen) == self._m:
            whole = sorted(map(self._blocks.least.item, chosen.tolist()))
        else:
            whole = self._representatives(chosen.reshape(1, -1))[0].tolist()
        key = (self._ceiling - int(batch.support[best]), *whole)
        self._count += 1
        heapq.heappush(self._heap, (key, self._count, self._version, tuple(chosen.tolist()), batch))

    def _pack_order(self, batch: _Batch) -> None:
        """Mark the threats of a batch that are images of m-itemsets, and pack their order."""
        size = batch.sets.shape[1]
        items = self._blocks.size[batch.sets].sum(axis=1) + len(self._blocks.suppressed)
        batch.image = np.asarray(items >= self._m) if size < self._m else np.ones(len(batch.support), dtype=np.bool_)
        whole = self._representatives(batch.sets) if batch.image.any() else np.zeros((len(batch.sets), self._m), np.int64)
        batch.words = self._order.words([self._ceiling - batch.support, *(whole[:, i] for i in range(self._m))])

    def _representatives(self, sets: Sets) -> Ints:
        """The smallest m-itemset whose image is a set of blocks, for each set. It has the least item of each block, and then
        the smallest other items of these blocks and of the suppressed items."""
        blocks, m = self._blocks, self._m
        least = blocks.least[sets]
        if missing := m - sets.shape[1]:
            merged, where = np.unique(sets, return_inverse=True)
            rest = np.full((len(merged), missing), blocks.n, dtype=np.int64)
            for i in np.flatnonzero(blocks.size[merged] > 1).tolist():
                more = sorted(blocks.members[merged[i]])[1 : missing + 1]
                rest[i, : len(more)] = more
            gone = np.full(missing, blocks.n, dtype=np.int64)
            more = sorted(blocks.suppressed)[:missing]
            gone[: len(more)] = more
            pool = rest[where.reshape(sets.shape)].reshape(len(sets), -1)
            pool = np.sort(np.hstack((pool, np.tile(gone, (len(sets), 1)))), axis=1)[:, :missing]
            least = np.hstack((least, pool))
        return np.asarray(np.sort(least, axis=1))

    def _unsupported(self) -> tuple[Ints, int] | None:
        """The smallest m-itemset whose image contains a threat, if no threat is the image of an m-itemset."""
        best: Ints | None = None
        self._prune_small()
        for batch in self._small:
            least = self._blocks.least[batch.sets]
            fill = np.tile(np.arange(self._m, dtype=np.int64), (len(least), 1))
            taken = (fill[:, :, None] == least[:, None, :]).any(axis=2)
            fill = np.sort(np.where(taken, self._blocks.n, fill), axis=1)[:, : self._m - least.shape[1]]
            whole = np.sort(np.hstack((least, fill)), axis=1)
            first = whole[_least([whole[:, i] for i in range(self._m)], np.arange(len(whole)))]
            best = first if best is None or first.tolist() < best.tolist() else best
        return None if best is None else (best, 0)

    def _add_threats(self, block: int) -> None:
        """Add the threats of up to m blocks that hold ``block``."""
        blocks, k = self._blocks, self._k
        support_of_block = int(blocks.support[block])
        threats: list[tuple[Ints, Ints]] = []
        if 0 < support_of_block < k:
            threats.append((np.empty((1, 0), dtype=np.int64), np.array([support_of_block], dtype=np.int64)))
        if self._m > 1:
            row = blocks.row(block)
            others = np.flatnonzero((row > 0) & (row < k))
            others = others[others != block]
            threats.append((others.reshape(-1, 1), row[others]))
        if self._m > 2:
            threats += self._larger_threats(block)
        for others, support in threats:
            if len(support):
                sets = np.hstack((np.full((len(others), 1), block, dtype=np.int64), others)).astype(np.int32)
                batch = _Batch(sets, support, blocks.clock)
                if sets.shape[1] < self._m:
                    self._small.append(batch)
                self._push(batch)

    def _larger_threats(self, block: int) -> list[tuple[Ints, Ints]]:
        """Sets of 2 to m-1 other blocks with ``block``, by extending each set by later blocks of its transaction."""
        blocks, k, n = self._blocks, self._k, self._blocks.n
        slots, begins = blocks.slots_of(block)
        which = np.zeros(len(slots), dtype=np.int64)
        which[begins[1:]] = 1
        packed = np.cumsum(which) * (n + 1) + slots
        packed = np.sort(packed[(slots != n) & (slots != block)])
        owner, last = packed // (n + 1), packed % (n + 1)
        ends = np.cumsum(np.bincount(owner, minlength=len(begins)))[owner] if len(owner) else owner
        at = np.arange(len(last))
        code, coded = last, np.arange(n).reshape(-1, 1)
        threats: list[tuple[Ints, Ints]] = []
        for size in range(2, self._m):
            later = ends[at] - at - 1
            check_sets(int(later.sum()), size + 1)
            first = np.repeat(np.arange(len(at)), later)
            at = stretches(at + 1, later)
            last_size = size == self._m - 1
            code, coded, counts = _numbered(code[first] * n + last[at], len(coded) * n, coded, n, number=not last_size)
            few = np.flatnonzero(counts < k)
            threats.append((coded[few], counts[few]))
        return threats


def _numbered(code: Ints, top: int, prefixes: Ints, n: int, *, number: bool) -> tuple[Ints, Ints, Ints]:
    """Number the codes densely, if ``number``; return the numbers, the sets that they stand for, and their counts."""
    if top <= _DENSE:
        counts = np.bincount(code, minlength=1)
        present = np.flatnonzero(counts)
        if number:
            dense = np.zeros(len(counts), dtype=np.int64)
            dense[present] = np.arange(len(present))
            code = dense[code]
        counts = counts[present]
    elif not number:
        present, counts = np.unique(code, return_counts=True)
    else:
        present, code, counts = np.unique(code, return_inverse=True, return_counts=True)
    return code, np.hstack((prefixes[present // n], (present % n).reshape(-1, 1))), counts


def check_sets(total: int, size: int, limit: int = MAX_SETS) -> None:
    """Refuse to enumerate too many sets."""
    if total > limit:
        raise BudgetExceeded(
            f"COAT would enumerate {total:,} sets of {size} items in transactions; the limit is {limit:,}.",
            hint="Lower m, or protect every transaction by --privacy-constraints=pgen.",
        )
