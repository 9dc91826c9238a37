"""Threats of two nodes from arrays of occurrences: one pass for each request, without a join."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.extended import Extended
from anondb.algorithms.hghs.pairs import Extension, Pairs, Triples, joined
from anondb.algorithms.hghs.triangle import Triangle, rare_triples, restricted
from anondb.data.taxonomy import Taxonomy
from anondb.engine import reads
from anondb.engine.arrays import Flags, Ints, Ints32, run_starts
from anondb.engine.texts import sql

Wanted = Callable[[Ints32, Ints32], Flags]

Piece = tuple[npt.NDArray[Any], npt.NDArray[Any]]
"""The leaves of some transactions, in preorder within each, and where each transaction begins."""
FETCHED = 2_000_000  # occurrences of one fetch, if transactions have the same length
ANCESTORS = 0.25  # the part of the memory that the ancestors of the leaves may take
MOST_PASSES = 16  # over the occurrences, for one request
CELL = 4  # bytes
RESTRICTED = 24  # bytes for each occurrence of a node, to count triples
MOST_TRIPLES = 20_000_000_000  # occurrences of three nodes, some minutes
PIECE = 4_000_000  # occurrences of nodes that are extended at once


class ArrayPairs:
    """Counts pairs of nodes in a triangle of numbers, one for each pair of the requested nodes. The triangle, the
    occurrences that are kept between requests, and the ancestors of the leaves share ``Engine.array_bytes``. If the triangle
    has no room it is counted in ranges of its rows, with one pass for each."""

    def __init__(self, extended: Extended, k: int) -> None:
        self._taxonomy, self._k = extended.taxonomy, k
        self._above = ancestors(extended)
        most = extended.array_bytes - self._above.nbytes
        self._occurrences = Occurrences(extended, most - min(extended.array_bytes // 2, CELL * n_nodes(extended, k) ** 2))
        self._cells = min(extended.array_bytes // 2, most - self._occurrences.nbytes) // CELL
        self.supports = self._count_nodes(extended)  # of each node
        self._occurrences.leave_out_singles()
        self._inside = np.zeros(self._taxonomy.size, dtype=np.bool_)
        self._among: tuple[Ints32, Ints32, Ints32] | None = None  # the rare pairs among the nodes of the last pass

    @staticmethod
    def fits(extended: Extended, k: int) -> bool:
        """Whether the engine allows for the arrays, and at most ``MOST_PASSES`` passes count all pairs of frequent nodes."""
        return arrays_fit(extended, extended.array_bytes, k)

    def among(self, nodes: Ints) -> Pairs:
        """All rare pairs among frequent nodes."""
        return self._rare(nodes, lambda a, b: np.ones(len(a), dtype=np.bool_))

    def added(self, extension: Extension) -> Pairs:
        """The rare pairs that an extension asks for, from one pass over all of its nodes."""
        roles, parent = roles_in(extension, self._taxonomy.size), self._taxonomy.parent

        def wanted(a: Ints32, b: Ints32) -> Flags:
            of_roles = WANTED[roles[a], roles[b]]
            return np.asarray((of_roles == ALWAYS) | ((of_roles == SIBLINGS) & (parent[a] == parent[b])))

        return self._rare(np.flatnonzero(roles), wanted)

    def triples(self, nodes: Ints, family: Ints) -> Triples | None:
        """The threats of three nodes, if the transactions restricted to the nodes and the triangle fit in memory."""
        held = RESTRICTED * int(self.supports[nodes].sum()) + len(nodes) ** 2
        if held > self._cells * CELL or len(nodes) ** 2 > 2 * self._cells:
            return None
        none = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        parts = [none, *self._restrictions(nodes)]
        starts = np.cumsum([0, *(len(node) for node, _, _ in parts)])
        node, length = (np.concatenate([part[n] for part in parts]) for n in (0, 2))
        begin = np.concatenate([part[1] + start for part, start in zip(parts, starts[:-1], strict=True)])
        if (length * (length - 1) * (length - 2)).sum() / 6 > MOST_TRIPLES:
            return None
        triangle = Triangle(len(nodes), self._cells)
        triangle.add(node, begin, length)
        a, b, _ = self._frequent(triangle, nodes, family)
        frequent = np.zeros((len(nodes), len(nodes)), dtype=np.bool_)
        frequent[a, b] = True
        rare = rare_triples(node, begin, length, frequent, self._k)
        return Triples(nodes[rare.rows].astype(np.int32), rare.supports, rare.exhausted)

    def frequent_occurrences(self, nodes: Ints, family: Ints) -> int | None:
        """How often frequent pairs occur, if the triangle of the nodes fits in memory."""
        triangle = Triangle(len(nodes), self._cells)
        if triangle.rows < len(nodes) - 1:
            return None
        self._count(triangle, nodes)
        return int(self._frequent(triangle, nodes, family)[2].sum(dtype=np.int64))

    def _frequent(self, triangle: Triangle, nodes: Ints, family: Ints) -> tuple[Ints, Ints, Ints32]:
        """The frequent pairs that are not of two families, neither node above the other, by the numbers of the nodes."""
        a, b, support = triangle.frequent(self._k)
        one_family = (family[a] == family[b]) | (family[a] < 0) | (family[b] < 0)
        kept = (nodes[b] > self._taxonomy.last[nodes[a]]) & one_family
        return a[kept], b[kept], support[kept]

    def _count_nodes(self, extended: Extended) -> Ints:
        """The support of each node, by node."""
        taxonomy, dataset = self._taxonomy, extended.dataset
        supports = np.zeros(taxonomy.size, dtype=np.int64)
        inner = [np.where(taxonomy.is_leaf[above], -1, above) for above in self._above]
        inner = [above for above in inner if above.max(initial=-1) >= 0]
        for leaf, begin in self._occurrences.pieces(PIECE):
            for above in inner:
                node = above[leaf]
                first = node >= 0
                first[1:] &= node[1:] != node[:-1]
                first[begin] = node[begin] >= 0
                supports += np.bincount(node[first], minlength=taxonomy.size)
        supports[0] = dataset.non_empty
        supports[extended.leaves] = dataset.supports
        return supports

    def _rare(self, nodes: Ints, wanted: Wanted) -> Pairs:
        """The wanted rare pairs among nodes, which are ascending; those among nodes of the last pass are known."""
        if self._among is not None and self._inside[nodes].all():
            inside = np.zeros(self._taxonomy.size, dtype=np.bool_)
            inside[nodes] = True
            a, b, support = self._among
            return _chosen(a, b, support, inside[a] & inside[b] & wanted(a, b))
        parts: list[Pairs] = []
        low = 0
        while low < len(nodes) - 1:
            triangle = Triangle(len(nodes) - low, self._cells)
            self._count(triangle, nodes[low:])
            first, second, support = triangle.rare(self._k)
            a, b = (nodes[low + n].astype(np.int32) for n in (first, second))
            apart = b > self._taxonomy.last[a]
            a, b, support = a[apart], b[apart], support[apart]
            if triangle.rows >= len(nodes) - 1 and 3 * len(a) <= self._cells:
                self._inside[:] = False
                self._inside[nodes] = True
                self._among = a, b, support
            parts.append(_chosen(a, b, support, wanted(a, b)))
            budget.check_threats(sum(len(part.supports) for part in parts), 2)
            low += triangle.rows
        return joined(parts)

    def _count(self, triangle: Triangle, nodes: Ints) -> None:
        """Count the pairs of all transactions restricted to the nodes."""
        for node, begin, length in self._restrictions(nodes):
            triangle.add(node, begin, length)

    def _restrictions(self, nodes: Ints) -> Iterator[tuple[Ints32, Ints, Ints]]:
        """All transactions restricted to the nodes, in pieces (``restricted``)."""
        number_above = numbers_above(self._taxonomy, self._above, nodes)
        width = max(number_above.shape[1], 1)
        for leaf, begin in self._occurrences.pieces(PIECE // width):
            yield restricted(leaf, begin, number_above)


def _chosen(a: Ints32, b: Ints32, support: Ints32, which: Flags) -> Pairs:
    return Pairs(np.column_stack((a[which], b[which])), support[which])


def arrays_fit(extended: Extended, most: int, k: int) -> bool:
    """Whether the ancestors fit in ``most`` bytes, and at most ``MOST_PASSES`` passes count all pairs of frequent nodes."""
    above = CELL * extended.taxonomy.size * int(extended.taxonomy.depth.max())
    return above <= most * ANCESTORS and n_nodes(extended, k) ** 2 * CELL <= most * MOST_PASSES


def n_nodes(extended: Extended, k: int) -> int:
    """The number of nodes that may be frequent: inner nodes and frequent leaves."""
    return extended.taxonomy.size - extended.taxonomy.n_leaves + int((extended.dataset.supports >= k).sum())


def ancestors(extended: Extended) -> Ints32:
    """For each depth from 1 on, the node of that depth above or equal to each leaf of the data; -1 for none."""
    taxonomy = extended.taxonomy
    above = np.full((int(taxonomy.depth.max()), taxonomy.size), -1, dtype=np.int32)
    leaf = node = extended.leaves
    while len(node):
        inside = node > 0
        leaf, node = leaf[inside], node[inside]
        above[taxonomy.depth[node] - 1, leaf] = node
        node = taxonomy.parent[node]
    return above


def numbers_above(taxonomy: Taxonomy, above: Ints32, nodes: Ints) -> Ints32:
    """For each leaf the places in ``nodes`` (ascending, without the root) of those above or equal to it, from the root on;
    -1 for none. ``above`` are the nodes above its leaves (``ancestors``)."""
    number = np.full(taxonomy.size + 1, -1, dtype=np.int32)
    number[nodes] = np.arange(len(nodes))
    depths = np.flatnonzero(np.bincount(taxonomy.depth[nodes]))
    return np.ascontiguousarray(number[above[depths[depths > 0] - 1]].T)


_ACTIVE, _ENTERED, _PASSIVE, _MISSING = 1, 2, 4, 8
ALWAYS, SIBLINGS = 1, 2


def roles_in(extension: Extension, size: int) -> npt.NDArray[np.uint8]:
    """The role of each of ``size`` nodes in an extension, 0 if none of its pairs is asked for; a node may have several."""
    active, entered, passive, missing = extension.active, extension.entered, extension.passive, extension.missing
    roles = np.zeros(size, dtype=np.uint8)
    for role, nodes, partners in (
        (_ACTIVE, active, missing),
        (_ENTERED, entered, entered),
        (_PASSIVE, passive, entered),
        (_MISSING, missing, missing),
    ):
        roles[nodes if len(partners) else []] |= role
    return roles


def _wanted_roles() -> npt.NDArray[np.uint8]:
    """For the roles of two nodes, whether their pairs are wanted: not (0), ``ALWAYS``, or of ``SIBLINGS`` alone."""
    wanted = np.zeros((16, 16), dtype=np.uint8)
    for a, b in np.ndindex(16, 16):
        if a & b & _MISSING:
            wanted[a, b] = SIBLINGS
        for x, y in ((a, b), (b, a)):
            if (x & _ENTERED and y & (_ENTERED | _PASSIVE)) or (x & _MISSING and y & (_ACTIVE | _ENTERED)):
                wanted[a, b] = ALWAYS
    return wanted


WANTED = _wanted_roles()


class Occurrences:
    """Non-empty transactions as leaves, in the order of tid: in memory if they fit, else fetched for each pass."""

    nbytes = 0  # of those that are kept

    def __init__(self, extended: Extended, most_bytes: int) -> None:
        self._extended = extended
        dataset = extended.dataset
        self._leaf = np.uint16 if extended.taxonomy.size <= 1 << 16 else np.int32
        whole = np.dtype(self._leaf).itemsize * dataset.n_occurrences + 4 * dataset.non_empty
        if whole <= most_bytes:
            self.nbytes = whole
        self._held: list[Piece] | None = None
        self._several = False

    def pieces(self, most: int) -> Iterator[Piece]:
        """All transactions, in pieces of about ``most`` occurrences (more only if one transaction has more)."""
        for leaf, begin in self._read():
            at = 0
            while at < len(begin):
                end = max(at + 1, int(np.searchsorted(begin, begin[at] + most)))
                stop = begin[end] if end < len(begin) else len(leaf)
                yield leaf[begin[at] : stop], (begin[at:end] - begin[at]).astype(np.int64)
                at = end

    def leave_out_singles(self) -> None:
        """From now on, read only transactions of two and more items."""
        self._several = True
        if self._held is not None:
            self._held = [_with_several_items(*piece) for piece in self._held]

    def _read(self) -> Iterator[Piece]:
        if self._held is not None:
            yield from self._held
        elif self.nbytes:
            self._held = list(self._fetch())
            yield from self._held
        else:
            yield from self._fetch()

    def _fetch(self) -> Iterator[Piece]:
        """Fetch the occurrences in ranges of tid."""
        engine, dataset, leaves = self._extended.engine, self._extended.dataset, self._extended.put_leaves()
        step = max(1, FETCHED * dataset.n_transactions // max(dataset.n_occurrences, 1))
        for first in range(1, dataset.n_transactions + 1, step):
            part = sql("one.tid BETWEEN {} AND {}", first, first + step - 1)
            held = reads.joined(dataset.transactions, leaves, "item", "one.tid, other.node", where=part, order="tid, node")
            rows = engine.fetch(held, most=dataset.n_occurrences)
            leaf = rows["node"].astype(self._leaf, copy=False)
            piece = leaf, run_starts(rows["tid"]).astype(np.int32)
            yield _with_several_items(*piece) if self._several else piece
        engine.drop(leaves)


def _with_several_items(leaf: npt.NDArray[Any], begin: npt.NDArray[Any]) -> Piece:
    """The transactions of two and more items."""
    length = np.diff(begin, append=len(leaf))
    several = length > 1
    kept = length[several]
    return leaf[np.repeat(several, length)], np.cumsum(kept, dtype=np.int32) - kept
