"""T for l^m-diversity: generalize violating itemsets step by step (docs/algorithms/rum_tum_bound.md#t).

This is the l^m-diversity version of Apriori anonymization that the paper names (Terrovitis et al., VLDB J. 2011), within a
cluster. A set of at most m generalized items is a violation if fewer than k records hold it, or if more than one in l of
the records that hold it hold the same sensitive item. While there is one, the parent of the cheapest of its items replaces
that item (full-subtree). The smallest violation is taken first; ties go by the order of the nodes. For sets of items the
rarest of its items is united with the companion of least UL instead, as in PCTA.

Unlike k^m-anonymity, l^m-diversity is not monotone: the loop may end at the root although a finer recoding is valid. Then
all recodings of a small cluster are tried, and the valid one of least UL is taken. If none is valid, the violating
sensitive items are suppressed in the cluster. Sensitive items that more than one in l of all its records hold are suppressed
at once, since no recoding can help them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from anondb.algorithms.relational.items import ClusterRecoding, ItemSets, ItemTree, Recoder, recoding, ul_exact
from anondb.algorithms.relational.sets import Companions, counted_together, packed, partition
from anondb.data.taxonomy import Taxonomy
from anondb.engine.arrays import Flags, Ints
from anondb.errors import BudgetExceeded

MAX_SETS = 20_000_000  # itemsets of one cluster that are counted individually
MAX_TRIED = 250  # recodings of a cluster that are tried after raising failed
MAX_PARTITIONED = 6  # the most items with at most so many partitions: 203


def diversity_recoder(
    items: ItemSets, k: int, ell: int, m: int | float, tree: ItemTree | None = None, *, subtrees: bool = False
) -> Recoder:
    """Make T for l^m-diversity and k^m-anonymity, by sets of items or, with ``subtrees``, by nodes of the taxonomy."""

    def recode(records: Ints) -> ClusterRecoding:
        held, marks = items.marks(records)
        sensitive, holding = items.sensitive_marks(records)
        often = holding.sum(axis=1) * ell > len(records)
        lost = set(sensitive[often].tolist())
        kept = np.flatnonzero(~often)
        if int(marks.any(axis=0).sum()) < k:
            return replace(partition(held, marks, np.full(len(held), -1)), lost=frozenset(lost))
        while True:
            groups = [np.flatnonzero(holding[z]) for z in kept.tolist()]
            if tree is not None and subtrees:
                state: _Blocks = _Nodes(marks, groups, k, ell, m, tree.taxonomy, tree.leaf[held])
            else:
                state = _Blocks(marks, groups, k, ell, m, None if tree is None else tree.common(held))
            failing = state.run()
            if not failing:
                return state.recoding(held, marks, lost)
            if finer := [s.recoding(held, marks, lost) for s in state.all_recodings() if s.violation()[1] is None]:
                return min(finer, key=lambda r: (ul_exact(r.profile), r.block.tolist()))
            lost |= set(sensitive[kept[failing]].tolist())
            kept = np.delete(kept, failing)

    return recode


class _Blocks:
    """The generalized items of one cluster, as sets of items; a block has the number of its first item."""

    def __init__(
        self, marks: Flags, groups: list[Ints], k: int, ell: int, m: int | float, leaves: Ints | None = None
    ) -> None:
        self.n, self.k, self.ell, self.m = len(marks), k, ell, m
        self.block_of = np.arange(self.n)  # block of each item
        self.alive = np.ones(self.n, dtype=np.bool_)
        self.groups = groups  # the records that hold each sensitive item
        self._marks = marks
        self._companions = Companions(self.n, leaves)
        parts = [marks, *(marks[:, g] for g in groups)]
        self._bits, self._first = packed(parts)
        # the number of records that hold each two blocks, then the same for the records of each group
        self.together = np.stack([counted_together(part) for part in parts])
        self._bad: Flags = self._violates(self.together)  # pairs of blocks, and blocks on the diagonal, that violate

    @property
    def pairs(self) -> Ints:
        """The number of records that hold each two blocks."""
        return np.asarray(self.together[0])

    def _violates(self, together: Ints) -> Flags:
        """Whether few records hold two blocks, or too many of these a sensitive item."""
        whole = together[0]
        return np.asarray((whole > 0) & ((whole < self.k) | (together[1:] * self.ell > whole).any(axis=0)))

    def _order(self) -> Ints:
        """The blocks in the order that decides ties."""
        return np.flatnonzero(self.alive)

    def violation(self) -> tuple[list[int], list[int] | None]:
        """The first violating set of blocks, and the violating sensitive items; None for these without a violation. The list
        of sensitive items is empty if the violation is that too few records hold the set."""
        here = self._order()
        single = here[self._bad.diagonal()[here]]
        if len(single):
            return self._pair_violation(int(single[0]), int(single[0]))
        if self.m >= 2:
            first = here[np.any(self._bad[here], axis=1)]  # the others of a pair with the first of these come after it
            if len(first):
                return self._pair_violation(int(first[0]), int(here[self._bad[first[0], here]][0]))
        if self.m > 2:
            return self._larger(here)
        return [], None

    def _pair_violation(self, a: int, b: int) -> tuple[list[int], list[int] | None]:
        whole, *of_groups = self.together[:, a, b].tolist()
        return sorted({a, b}), [z for z, n in enumerate(of_groups) if n * self.ell > whole]

    def _larger(self, here: Ints) -> tuple[list[int], list[int] | None]:
        """The first violating set of three or more blocks."""
        rows = self._rows()[here]
        held = [tuple(np.flatnonzero(column).tolist()) for column in rows.T]
        longest = max(map(len, held), default=0)
        if not self.groups and self.m >= longest:
            return self._few_supersets(here, rows, held)
        top = int(min(self.m, longest))
        for size in range(3, top + 1):
            if sum(comb(len(h), size) for h in held) > MAX_SETS:
                raise BudgetExceeded(
                    f"The sets of {size} items of a cluster are too many.", hint="Lower m, or leave sensitive items out."
                )
            counts = Counter(x for h in held for x in combinations(h, size))
            with_item = [Counter(x for r in g.tolist() for x in combinations(held[r], size)) for g in self.groups]
            if bad := [x for x, c in counts.items() if c < self.k or any(w[x] * self.ell > c for w in with_item)]:
                first = min(bad)
                which = [z for z, w in enumerate(with_item) if w[first] * self.ell > counts[first]]
                return [int(here[i]) for i in first], which
        return [], None

    def _few_supersets(self, here: Ints, rows: Flags, held: Sequence[tuple[int, ...]]) -> tuple[list[int], list[int] | None]:
        """The first transaction with fewer than k supersets, for an m of at least the longest transaction
        (docs/algorithms/models.md#km)."""
        for h in sorted(set(held), key=lambda h: (len(h), h)):
            if h and int(rows[list(h)].all(axis=0).sum()) < self.k:
                return [int(here[i]) for i in h], []
        return [], None

    def run(self) -> list[int]:
        """Raise until no violation is left; return the numbers of the sensitive items that still violate at the end."""
        while True:
            blocks, failing = self.violation()
            if failing is None:
                return []
            if not self.raise_one(blocks):
                return failing or list(range(len(self.groups)))

    def raise_one(self, blocks: list[int]) -> bool:
        """Unite the rarest block with the companion of least UL; return False if no companion is left."""
        support = self.pairs.diagonal()
        rarest = min(blocks, key=lambda b: (support[b], b))
        if (companion := self._companions.best(rarest, self.alive, support, self.pairs[rarest])) is not None:
            self.unite([rarest, companion])
        return companion is not None

    def unite(self, blocks: Sequence[int]) -> int:
        """Unite blocks and return the number of the union."""
        kept, gone = min(blocks), [b for b in blocks if b != min(blocks)]
        if gone:
            for block in gone:
                self._companions.unite(kept, block)
                self.block_of[self.block_of == block] = kept
            self.alive[gone] = False
            self._bits[kept] = np.bitwise_or.reduce(self._bits[[kept, *gone]])
            self._bits[gone] = 0
            held = np.bitwise_count(self._bits & self._bits[kept])
            row = np.add.reduceat(held, self._first, axis=1, dtype=np.int64).T
            self.together[:, kept] = self.together[:, :, kept] = row
            self._bad[gone] = self._bad[:, gone] = False
            self._bad[kept] = self._bad[:, kept] = self._violates(row)
        return kept

    def _rows(self) -> Flags:
        """Marks of the records that hold each block."""
        words = self._bits[:, : -(-self._marks.shape[1] // 64)]
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        return np.asarray(bits[:, : self._marks.shape[1]].view(np.bool_))

    def all_recodings(self) -> Iterator[_Blocks]:
        """All partitions of the items; nothing if they are too many to try."""
        if self.n > MAX_PARTITIONED:
            return
        for block_of in _partitions(self.n):
            state = _Blocks(self._marks, self.groups, self.k, self.ell, self.m)
            for block in set(block_of):
                state.unite([i for i, b in enumerate(block_of) if b == block])
            yield state

    def recoding(self, items: Ints, marks: Flags, lost: Iterable[int]) -> ClusterRecoding:
        """The current recoding."""
        return replace(partition(items, marks, self.block_of), lost=frozenset(lost))


class _Nodes(_Blocks):
    """The generalized items of one cluster as nodes of a taxonomy."""

    def __init__(
        self, marks: Flags, groups: list[Ints], k: int, ell: int, m: int | float, taxonomy: Taxonomy, leaf: Ints
    ) -> None:
        super().__init__(marks, groups, k, ell, m)
        self.taxonomy, self.leaf = taxonomy, leaf
        self.node = leaf.copy()
        self.occurrences: Ints = marks.sum(axis=1).astype(np.int64)

    def _order(self) -> Ints:
        here = np.flatnonzero(self.alive)
        return here[np.argsort(self.taxonomy.rank[self.node[here]], kind="stable")]

    def _below(self, node: int) -> list[int]:
        inside = (self.node >= node) & (self.node <= self.taxonomy.last[node]) & self.alive
        return np.flatnonzero(inside).tolist()

    def raise_one(self, blocks: list[int]) -> bool:
        """Replace the cheapest of the nodes by its parent, by NCP; return False if all are the root."""
        tree = self.taxonomy

        def cost(parent: int) -> tuple[int, int]:
            below = self._below(parent)
            widened = [int(tree.leaf_count[parent]) - _spread(tree, int(self.node[b])) for b in below]
            return sum(int(self.occurrences[b]) * w for b, w in zip(below, widened, strict=True)), int(tree.rank[parent])

        parents = {int(tree.parent[self.node[b]]) for b in blocks} - {-1}
        if not parents:
            return False
        chosen = min(parents, key=cost)
        below = self._below(chosen)
        occurrences = int(self.occurrences[below].sum())
        kept = self.unite(below)
        self.node[kept] = chosen
        self.occurrences[kept] = occurrences
        return True

    def all_recodings(self) -> Iterator[_Blocks]:
        """All cuts of the taxonomy above the occurring items; nothing if they are too many to try."""
        cuts = self._cuts(0)
        for cut in cuts or ():
            state = _Nodes(self._marks, self.groups, self.k, self.ell, self.m, self.taxonomy, self.leaf)
            for node in cut:
                kept = state.unite(state._below(node))
                state.node[kept] = node
            yield state

    def _cuts(self, node: int) -> list[tuple[int, ...]] | None:
        """The cuts of a subtree, restricted to the items of the cluster; None if they are too many."""
        inside = self.leaf[(self.leaf >= node) & (self.leaf <= self.taxonomy.last[node])]
        if not len(inside):
            return [()]
        whole: list[tuple[int, ...]] = [(node,)]
        if self.taxonomy.is_leaf[node]:
            return whole
        parts: list[tuple[int, ...]] = [()]
        for child in self.taxonomy.children(node):
            below = self._cuts(child)
            if below is None or len(parts) * len(below) > MAX_TRIED:
                return None
            parts = [p + b for p in parts for b in below]
        return whole + parts

    def recoding(self, items: Ints, marks: Flags, lost: Iterable[int]) -> ClusterRecoding:
        """The current recoding; a node stands for all of its leaves."""
        here = self._order()
        number = np.full(self.n, -1, dtype=np.int64)
        number[here] = np.arange(len(here))
        nodes = self.node[here]
        return recoding(items, marks, number[self.block_of], tuple(nodes.tolist()), self.taxonomy.leaf_count[nodes], lost)


def _spread(tree: Taxonomy, node: int) -> int:
    """The number of leaves of a node, 0 for a leaf, as in NCP."""
    return 0 if tree.is_leaf[node] else int(tree.leaf_count[node])


def _partitions(n: int) -> Iterator[list[int]]:
    """The partitions of n items, as the block of each item; blocks are numbered by their first items."""
    block_of = [0] * n

    def rest(at: int, blocks: int) -> Iterator[list[int]]:
        if at == n:
            yield list(block_of)
            return
        for block in range(blocks + 1):
            block_of[at] = block
            yield from rest(at + 1, max(blocks, block + 1))

    return rest(0, 0)
