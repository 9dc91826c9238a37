"""Counts of pairs: a triangle of numbers. Threats of three nodes: for each first node, the pairs that follow it."""

from collections.abc import Iterator

import numpy as np

from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.pairs import Triples
from anondb.engine.arrays import Flags, Ints, Ints32, stretches

PART = 1 << 20  # cells
GROUP = 1 << 17  # nodes of the transactions whose pairs are counted at once
ONE = np.int32(1)
PIECE = 4_000_000  # nodes that follow a first node of a triple, at once


class Triangle:
    """The numbers of transactions with the nodes a and b, for a < b < n and a below ``rows``, row by row."""

    def __init__(self, n: int, most_cells: int) -> None:
        before = _cells_before(n)
        self.rows = rows_of_triangle(n, most_cells)  # the number of rows, as many as fit
        self._begin = before[: self.rows]
        self._cells = int(before[self.rows])
        rest = n if self.rows < n - 1 else 0  # pairs of later rows are counted behind the triangle
        self._counts = np.zeros(self._cells + rest, dtype=np.int32)
        self._row = np.full(n, self._cells, dtype=np.intp)
        self._row[: self.rows] = self._begin - np.arange(self.rows) - 1

    def add(self, node: Ints32, begin: Ints, length: Ints) -> None:
        """Count the pairs of transactions, whose nodes are ascending. Transactions are taken by descending length, so that
        those with a j-th node are the first ones of a group."""
        most = int(length.max(initial=0))
        shorter = (most - length).astype(np.min_scalar_type(most))  # small integers are sorted by radix
        order = np.argsort(shorter, kind="stable")
        begin, length = begin[order], length[order]
        several = int(np.searchsorted(-length, -1))
        at = 0
        while at < several:
            longest = int(length[at])
            end = min(several, at + max(1, GROUP // longest))
            place = begin[at:end] + np.arange(longest)[:, None]
            second = node[np.minimum(place, len(node) - 1)].astype(np.intp)
            row = self._row[second]
            with_place = np.searchsorted(-length[at:end], -np.arange(longest)).tolist()
            for j in range(1, longest):
                cells = row[:j, : with_place[j]] + second[j, : with_place[j]]
                np.add.at(self._counts, cells.reshape(-1), ONE)
            at = end

    def rare(self, k: int) -> tuple[Ints, Ints, Ints32]:
        """The pairs a < b that occur in fewer than k transactions, and how often."""
        counts = self._counts[: self._cells]
        return self._at(np.flatnonzero((counts > 0) & (counts < k)))

    def frequent(self, k: int) -> tuple[Ints, Ints, Ints32]:
        """The pairs a < b that occur in k and more transactions, and how often."""
        return self._at(np.flatnonzero(self._counts[: self._cells] >= k))

    def counted(self) -> Iterator[tuple[Ints, Ints, Ints32]]:
        """The pairs a < b that occur, and how often, in parts."""
        for at in range(0, self._cells, PART):
            yield self._at(at + np.flatnonzero(self._counts[at : min(at + PART, self._cells)]))

    def _at(self, cells: Ints) -> tuple[Ints, Ints, Ints32]:
        a = np.searchsorted(self._begin, cells, side="right") - 1
        return a, cells - self._row[a], self._counts[cells]


def rows_of_triangle(n: int, most_cells: int) -> int:
    """How many rows of the triangle of n nodes fit."""
    return max(1, int(np.searchsorted(_cells_before(n), most_cells, side="right")) - 1)


def _cells_before(n: int) -> Ints:
    """The number of cells before each row."""
    cells: Ints = np.arange(n + 1) * (2 * n - np.arange(n + 1) - 1) // 2
    return cells


def restricted(leaf: Ints32, begin: Ints, number_above: Ints32) -> tuple[Ints32, Ints, Ints]:
    """Transactions, each from ``begin`` in ``leaf`` and in preorder, as the numbers of certain nodes above or equal to their
    leaves, each once and ascending; with where those of each begin, and how many there are. ``number_above`` has for each
    leaf the numbers of such nodes, from the root on; -1 for none."""
    above = number_above[leaf]
    first = above >= 0
    same = above[1:] == above[:-1]  # equal nodes are neighbours: leaves are in preorder
    same[begin[1:] - 1] = False
    first[1:] &= ~same
    place = np.flatnonzero(first)
    starts = np.searchsorted(place, begin * above.shape[1])
    return above.ravel()[place], starts, np.diff(starts, append=len(place))


def rare_triples(node: Ints32, begin: Ints, length: Ints, frequent: Flags, k: int) -> Triples:
    """The triples that occur in fewer than k transactions, of which all pairs (a < b) are ``frequent``. The nodes of each
    transaction, numbered and ascending, are ``length`` from ``begin``. Only the counts of one first node are in memory: a
    pair that follows it is counted in a triangle of its partners."""
    n = len(frequent)
    by_node = np.argsort(node, kind="stable").astype(np.int32)
    starts = np.searchsorted(node[by_node], np.arange(n + 1))
    end = np.empty(len(node), dtype=np.int32)
    end[by_node] = np.repeat(begin + length, length)[by_node]
    rows, supports = [np.empty((0, 3), dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    exhausted = True
    for a in range(n):
        partners = np.flatnonzero(frequent[a])
        if len(partners) < 2:
            continue
        triangle, places = Triangle(len(partners), len(partners) ** 2), by_node[starts[a] : starts[a + 1]]
        exhausted &= not _add_followers(triangle, places, end, node, partners, n)
        b, c, support = triangle.rare(k)
        b, c = partners[b], partners[c]
        kept = frequent[b, c]
        rows.append(np.column_stack((np.full(int(kept.sum()), a), b[kept], c[kept])))
        supports.append(support[kept])
        budget.check_threats(sum(map(len, supports)), 3)
    return Triples(np.concatenate(rows), np.concatenate(supports), exhausted)


def _add_followers(triangle: Triangle, places: Ints32, end: Ints32, node: Ints32, partners: Ints, n: int) -> bool:
    """Count the pairs of partners that follow the places of one node; returns whether there is any in a transaction."""
    number = np.full(n, -1, dtype=np.int32)
    number[partners] = np.arange(len(partners))
    following = (end[places] - places - 1).astype(np.int64)
    until, any_pair, at = np.cumsum(following), False, 0
    while at < len(places):
        before = int(until[at] - following[at])
        stop = max(at + 1, int(np.searchsorted(until, before + PIECE)))
        tail, first = following[at:stop], until[at:stop] - following[at:stop] - before
        numbered = number[node[stretches(places[at:stop] + 1, tail)]]
        kept = np.flatnonzero(numbered >= 0)
        start = np.searchsorted(kept, first)
        number_of = np.diff(start, append=len(kept))
        any_pair |= bool((number_of > 1).any())
        triangle.add(numbered[kept], start, number_of)
        at = stop
    return any_pair
