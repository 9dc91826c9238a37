"""T by sets: PCTA within a cluster (Gkoulalas-Divanis and Loukides, Trans. Data Privacy 2012;
docs/algorithms/rum_tum_bound.md#t).

The privacy constraints are all m-itemsets. The algorithm takes the unsatisfied constraint of largest support, and unites the
rarest of its generalized items with the item of the whole domain that makes the least UL (``Companions``), until the
constraint is satisfied. This is COAT without utility constraints, whose main loop is used for larger m. The case m <= 2 must
be fast, since thousands of clusters need it; it uses an array of pair supports, whose order is that of the constraints.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from anondb.algorithms.coat.blocks import NEAR, Blocks, subsets_log2
from anondb.algorithms.coat.coat import Run
from anondb.algorithms.coat.explicit import Explicit
from anondb.algorithms.coat.implicit import Implicit, Mined
from anondb.algorithms.coat.weights import TaxonomyWeights
from anondb.algorithms.relational.items import ClusterRecoding, ItemSets, ItemTree, Recoder, recoding
from anondb.engine.arrays import Flags, Ints, Words
from anondb.errors import BudgetExceeded

MAX_SETS = 20_000_000  # m-itemsets of one cluster
MAX_DENSE = 3_000_000  # items x records of a cluster up to which the supports of all pairs are the fastest
_CELLS = 100_000  # words that are compared at once


def set_recoder(items: ItemSets, k: int, m: int | float, tree: ItemTree | None = None) -> Recoder:
    """Make T by PCTA with all m-itemsets of a cluster as constraints; ``tree`` weighs unions by a taxonomy. If fewer than k
    records of a cluster hold items, all of its items are suppressed (docs/algorithms/rum_tum_bound.md#r2)."""

    def recode(records: Ints) -> ClusterRecoding:
        held, marks = items.marks(records)
        if int(marks.any(axis=0).sum()) < k:
            block = np.full(len(held), -1)
        elif m <= 2 and marks.size <= MAX_DENSE and len(held) >= m:
            pairs = _Pairs(marks, k, int(m), None if tree is None else tree.common(held))
            pairs.run()
            block = pairs.block_of
        else:
            block = _by_coat(marks, k, m, None if tree is None else TaxonomyWeights(tree.leaf[held], tree.taxonomy))
        return partition(held, marks, block)

    return recode


def partition(items: Ints, marks: Flags, block: Ints) -> ClusterRecoding:
    """Make the recoding of a partition of items; ``block`` has a block number for each item, -1 if suppressed."""
    kept = np.flatnonzero(block >= 0)
    names, first, of_kept = np.unique(block[kept], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # blocks by their first items
    place = np.argsort(order)
    numbered = np.full(len(items), -1, dtype=np.int64)
    numbered[kept] = place[of_kept]
    keys: list[list[int]] = [[] for _ in names]
    for item, b in zip(items[kept].tolist(), numbered[kept].tolist(), strict=True):
        keys[b].append(item)
    sizes = np.array([len(key) for key in keys], dtype=np.int64)
    return recoding(items, marks, numbered, tuple(map(tuple, keys)), sizes)


class _Pairs:
    """PCTA for m <= 2. A block has the number of its smallest item. ``_open[a, b]`` (a < b) is the support of the
    unsatisfied constraint {a, b}, where a and b are the smallest items of two blocks, or the two smallest of one; on the
    diagonal for m = 1. So the first maximum, row by row, is the constraint of largest support with the smallest items."""

    def __init__(self, marks: Flags, k: int, m: int, leaves: Ints | None) -> None:
        self.n, self.k, self.m = len(marks), k, m
        self._bits = np.ascontiguousarray(packed([marks])[0].T)  # a column of words for each block: its records
        self.support: Ints = marks.sum(axis=1).astype(np.int64)
        self._companions = Companions(self.n, leaves)
        self.second = np.full(self.n, self.n)  # second smallest item of each block
        self.alive = np.ones(self.n, dtype=np.bool_)
        self.block_of = np.arange(self.n)
        self.pairs = counted_together(marks)
        if m == 1:
            self._open = np.diag(np.where(self.support < k, self.support, 0)).astype(np.int32)
        else:
            self._open = np.triu(np.where(self.pairs < k, self.pairs, 0), 1).astype(np.int32)

    def run(self) -> None:
        """Satisfy all constraints in turn."""
        while (constraint := self._choose()) is not None:
            while (image := self._unsatisfied(constraint)) is not None:
                rarest = min(image, key=lambda b: (self.support[b], b))
                if (companion := self._companions.best(rarest, self.alive, self.support, self.pairs[rarest])) is None:
                    self._suppress(rarest)
                else:
                    self._merge(rarest, companion)

    def _choose(self) -> tuple[int, ...] | None:
        best = int(self._open.argmax()) if self.n else 0
        if self.n and self._open.flat[best]:
            a, b = divmod(best, self.n)
            return (a,) if a == b else (a, b)
        rare = np.flatnonzero(self.alive & (self.support > 0) & (self.support < self.k))
        if not len(rare):
            return None
        first = int(rare[0])  # it shares no record with another block, so constraints with it have support 0
        return (0, first) if first else tuple(range(min(self.n, 2)))

    def _unsatisfied(self, constraint: tuple[int, ...]) -> list[int] | None:
        """The image of a constraint if it is unsatisfied, else None (docs/algorithms/models.md#constraints)."""
        image = sorted({int(self.block_of[i]) for i in constraint} - {-1})
        supports = [int(self.support[b]) for b in image]
        if not image:
            return None
        whole = supports[0] if len(image) == 1 else int(self.pairs[image[0], image[1]])
        holds = whole >= self.k or (whole == 0 and all(s == 0 or s >= self.k for s in supports))
        return None if holds else image

    def _merge(self, a: int, b: int) -> None:
        kept, gone = min(a, b), max(a, b)
        self.second[kept] = min(int(self.second[kept]), gone)
        self._companions.unite(kept, gone)
        self.alive[gone] = False
        self.block_of[self.block_of == gone] = kept
        own = self._bits[:, kept] | self._bits[:, gone]
        self._bits[:, kept], self._bits[:, gone] = own, 0
        row = np.bitwise_count(self._bits & own[:, None]).sum(axis=0, dtype=np.int64)
        self.pairs[kept] = self.pairs[:, kept] = row
        self.support[kept] = row[kept]
        self.support[gone] = 0
        self._open[gone] = 0
        self._open[:, gone] = 0
        self._open[kept] = 0
        self._open[:, kept] = 0
        if self.m == 1:
            self._open[kept, kept] = row[kept] if row[kept] < self.k else 0
            return
        few = np.where(row < self.k, row, 0)
        self._open[kept, kept + 1 :] = few[kept + 1 :]
        self._open[:kept, kept] = few[:kept]
        self._open[kept, self.second[kept]] = few[kept]

    def _suppress(self, block: int) -> None:
        self.alive[block] = False
        self.block_of[self.block_of == block] = -1
        self.support[block] = 0
        self._open[:] = 0


def _by_coat(marks: Flags, k: int, m: int | float, weights: TaxonomyWeights | None) -> Ints:
    """The block of each item for any m, by the main loop of COAT; -1 if suppressed. If m is at least the longest
    transaction, the constraints are those of Pgen (docs/algorithms/coat.md#pgen)."""
    record, item = np.nonzero(marks.T)
    n, longest = len(marks), int(marks.sum(axis=0).max(initial=0))
    blocks = Blocks(n, marks.shape[1], record.astype(np.int32), item.astype(np.int32), np.zeros(n, dtype=np.int64), weights)
    constraints: Implicit | Explicit
    if m > n or (m > 2 and m >= longest):
        sets = _maximal_rare(marks, k)
        lengths = [len(s) for s in sets]
        start = np.append(0, np.cumsum(lengths)).astype(np.int64)
        members = np.array([i for s in sets for i in s], dtype=np.int64)
        constraints = Explicit(blocks, k, start, members, [""] * len(sets))
    else:
        constraints = Implicit(blocks, k, int(m), _mined(marks, k, int(m)))
    Run((), blocks, constraints, k, ("",), Fraction(100), False).run()
    return np.where(blocks.block_of < 0, -1, blocks.least[np.maximum(blocks.block_of, 0)])


def _maximal_rare(marks: Flags, k: int) -> list[list[int]]:
    """The distinct transactions that no other contains and that have fewer than k copies, by size, then items."""
    distinct, copies = np.unique(marks.T, axis=0, return_counts=True)
    order = np.argsort(-distinct.sum(axis=1), kind="stable")
    maximal: list[Flags] = []
    rare = []
    for row, number in zip(distinct[order], copies[order].tolist(), strict=True):
        if row.any() and not any((row <= larger).all() for larger in maximal):
            maximal.append(row)
            if number < k:
                rare.append(np.flatnonzero(row).tolist())
    return sorted(rare, key=lambda s: (-len(s), s))


def _mined(marks: Flags, k: int, m: int) -> Mined:
    """For each size up to m, the itemsets that at least one and fewer than k records hold."""
    supports = marks.sum(axis=1).astype(np.int64)
    rare = np.flatnonzero(supports < k)
    mined: Mined = {1: ([rare], supports[rare])}
    if m > 1:
        together = np.triu(counted_together(marks), 1)
        first, second = np.nonzero((together > 0) & (together < k))
        mined[2] = ([first, second], together[first, second])
    held = [np.flatnonzero(column).tolist() for column in marks.T] if m > 2 else []
    if sum(comb(len(h), min(m, len(h) // 2)) for h in held) > MAX_SETS:
        raise BudgetExceeded(f"The itemsets of {m} items of a cluster are too many.", hint="Lower m, or use m = inf.")
    for size in range(3, m + 1):
        counts = Counter(x for h in held for x in combinations(h, size))
        few = sorted((x, c) for x, c in counts.items() if c < k)
        sets = np.array([x for x, _ in few], dtype=np.int64).reshape(-1, size)
        mined[size] = ([sets[:, i] for i in range(size)], np.array([c for _, c in few], dtype=np.int64))
    return mined


def counted_together(marks: Flags) -> Ints:
    """The number of records that hold both items, for each pair of rows. Bits are as fast as a product of matrices, whose
    threads would wait for the next one and take twice the CPU time."""
    bits = np.ascontiguousarray(packed([marks])[0].T)
    total = np.empty((len(marks), len(marks)), dtype=np.int64)
    step = max(1, _CELLS // max(1, bits.size))
    for begin in range(0, len(marks), step):
        own = bits[:, begin : begin + step, None]
        total[begin : begin + step] = np.bitwise_count(own & bits[:, None]).sum(axis=0, dtype=np.int64)
    return total


def packed(parts: Sequence[Flags]) -> tuple[Words, Ints]:
    """The columns of each part as the bits of words of their own, and the first word of each part."""
    words = [-(-part.shape[1] // 64) for part in parts]
    first = np.cumsum([0, *words])
    bits = np.zeros((len(parts[0]), 64 * int(first[-1])), dtype=np.bool_)
    for part, at in zip(parts, first.tolist(), strict=False):
        bits[:, 64 * at : 64 * at + part.shape[1]] = part
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64), first[:-1]


class Companions:
    """Which generalized item another is united with: the one for which UL (version A) of the union is least. UL is (2^size -
    1) x support x w. With a taxonomy w is the number of leaves below the lowest common ancestor, so that items that are near
    each other are united first (docs/algorithms/rum_tum_bound.md#t); else it is 1."""

    def __init__(self, n: int, leaves: Ints | None = None) -> None:
        self.size = np.ones(n, dtype=np.int64)  # the number of items of each block
        # the number of leaves below the lowest common ancestor of each two blocks; None without a taxonomy
        self.leaves = leaves
        self._subsets_log2 = subsets_log2(n)

    def best(self, block: int, alive: Flags, support: Ints, together: Ints) -> int | None:
        """The other block whose union with ``block`` has the least UL (tie: the first) among those ``alive``; None if there
        is none. ``together`` is the number of records that hold both."""
        others = np.flatnonzero(alive)
        others = others[others != block]
        if not len(others):
            return None
        supports = support[others] + support[block] - together[others]
        sizes = self.size[others] + self.size[block]
        weights = supports if self.leaves is None else supports * self.leaves[block, others]
        losses = self._subsets_log2[sizes] + np.log2(weights)
        near = np.flatnonzero(losses <= losses.min() + NEAR)
        if len(near) == 1:
            return int(others[near[0]])
        first: dict[tuple[int, int], int] = {}
        for i in near.tolist():
            first.setdefault((int(sizes[i]), int(weights[i])), i)
        (_, chosen) = min((((1 << size) - 1) * weight, i) for (size, weight), i in first.items())
        return int(others[chosen])

    def unite(self, kept: int, gone: int) -> None:
        """Add one block to another. Above a common item all common ancestors lie on one path, so that the higher counts."""
        self.size[kept] += self.size[gone]
        if self.leaves is not None:
            row = np.maximum(self.leaves[kept], self.leaves[kept, gone])
            self.leaves[kept] = self.leaves[:, kept] = row
