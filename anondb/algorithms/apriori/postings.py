"""Transactions as arrays of taxonomy leaves: the transactions below a node, and the nodes of a transaction under a cut."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anondb.algorithms.in_memory import check_occurrences
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, put_integers, reads
from anondb.engine.arrays import Ints, Ints32, run_starts, stretches

_MANY = 64  # transactions are marked if they are at least one in this many
OCCURRENCE_BYTES = 56  # at the peak: the arrays of Postings, and the images of all leaves while cuts are compared


@dataclass
class Postings:
    """Non-empty transactions, numbered from 0, as taxonomy leaves, with the transactions below each node."""

    taxonomy: Taxonomy
    leaf: Ints32  # the leaves of all transactions, ascending within each
    start: Ints  # the leaves of transaction t are ``leaf[start[t] : start[t + 1]]``
    occurrences: Ints = field(init=False)  # O(v), the leaf occurrences below each node

    def __post_init__(self) -> None:
        size = self.taxonomy.size
        running = np.concatenate(([0], np.cumsum(np.bincount(self.leaf, minlength=size)))).astype(np.int64)
        self.occurrences = running[self.taxonomy.last + 1] - running[:size]
        self._begin = running
        owner = np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.start))
        self._by_leaf = owner[np.argsort(self.leaf, kind="stable")]
        self._tids: dict[int, Ints32] = {}

    @property
    def n(self) -> int:
        """The number of transactions."""
        return len(self.start) - 1

    def tids(self, node: int) -> Ints32:
        """The transactions with a leaf below or equal to ``node``, ascending."""
        if (tids := self._tids.get(node)) is None:
            rows = self._by_leaf[self._begin[node] : self._begin[int(self.taxonomy.last[node]) + 1]]
            tids = self._tids[node] = rows if self.taxonomy.is_leaf[node] else self._distinct(rows)
        return tids

    def _distinct(self, tids: Ints32) -> Ints32:
        """The tids, each once, ascending; marks them if they are many, which is faster than np.unique."""
        if len(tids) * _MANY < self.n:
            tids = np.sort(tids)
            return tids[run_starts(tids)]
        holds = np.zeros(self.n, dtype=np.bool_)
        holds[tids] = True
        return np.flatnonzero(holds).astype(np.int32)

    def support(self, nodes: tuple[int, ...]) -> int:
        """The number of transactions with leaves below all of ``nodes``."""
        shared, *others = sorted((self.tids(node) for node in nodes), key=len)
        for tids in others:
            if not len(shared):
                return 0
            holds = np.zeros(self.n, dtype=np.bool_)
            holds[tids] = True
            shared = shared[holds[shared]]
        return len(shared)

    def shown(self, tids: Ints32, image: Ints32) -> tuple[Ints, Ints32]:
        """The nodes of transactions under a cut, which has the node ``image`` of each leaf: pairs (position in ``tids``,
        node), each once."""
        length = self.start[tids + 1] - self.start[tids]
        begins = np.cumsum(length) - length
        node = image.take(self.leaf.take(stretches(self.start[tids], length)))
        fresh = np.ones(len(node), dtype=np.bool_)  # equal nodes are neighbours: leaves are in preorder
        np.not_equal(node[1:], node[:-1], out=fresh[1:])
        fresh[begins] = True  # no transaction is empty
        kept = np.flatnonzero(fresh)
        owner = np.repeat(np.arange(len(tids)), np.diff(kept.searchsorted(begins), append=len(kept)))
        return owner, node.take(kept)

    def part(self, tids: Ints) -> Postings:
        """Some of the transactions, renumbered in the order of ``tids``."""
        length = self.start[tids + 1] - self.start[tids]
        start = np.append(0, np.cumsum(length)).astype(np.int64)
        return Postings(self.taxonomy, self.leaf[stretches(self.start[tids], length)], start)


def load_postings(
    engine: Engine, dataset: Dataset, taxonomy: Taxonomy, bytes_each: int = OCCURRENCE_BYTES
) -> tuple[Postings, Ints]:
    """Load the non-empty transactions of a dataset, and the tid of each. ``bytes_each`` is the memory that the algorithm
    needs for each occurrence."""
    check_occurrences(engine, dataset.n_occurrences, bytes_each, "use mhghs, which keeps them in DuckDB")
    nodes = taxonomy.leaf_nodes(dataset)
    leaves = put_integers(engine, "leaves", item=np.arange(len(nodes)), node=nodes)
    rows = engine.select(reads.joined(dataset.transactions, leaves, "item", "one.tid, other.node", order="tid, node"))
    engine.drop(leaves)
    tid = rows["tid"].astype(np.int64)
    begins = run_starts(tid)
    start = np.append(begins, len(tid)).astype(np.int64)
    return Postings(taxonomy, rows["node"].astype(np.int32), start), tid[begins]
