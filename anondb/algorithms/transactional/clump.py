"""Clump: clusters of similar transactions, each published as its least common generalization (Milani Fard and Wang,
SECRYPT 2010; the order of the steps follows the companion thesis; docs/algorithms/clump.md).

Transactions are bags. Let c_x(v) be the number of items of x in the subtree of v, and n(v) its minimum over a cluster S. The
least common generalization LCG(S) has n(v) - sum of n(child) copies of each node v (docs/algorithms/clump.md#r2), and
when x joins S, n becomes the minimum of n and c_x: a cluster stores nothing else. With D = M-1 and the weight w(v) =
leaves(parent of v) - leaves(v),

    D GGD(S, LCG(S)) = D (sum of |x| over S) - |S| W(S),    W(S) = sum over v of n(v) w(v),

because sum of copies(v) (leaves(v) - 1 - D) telescopes over the tree. So the GGD of each open cluster with x added needs
only min(n(v), c_x(v)) for the nodes above the items of x, which an inverted index from node to clusters lists.
All these numbers are integers below 2^53, which doubles hold exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from anondb.algorithms.transactional.shared import check, node_recoding, numbered, to_absorb
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Rows, Table, put_integers, reads
from anondb.engine.arrays import Floats, Ints, stretches
from anondb.engine.texts import sql
from anondb.models.transactional import TransactionalK
from anondb.recoding import LocalRecoding

EXACT_PAIRS = 1_500_000_000  # transactions times clusters up to which every open cluster is evaluated
BLOCK_PAIRS = 80_000_000  # beyond that, those of a block, whose transactions are clustered on their own
READ_FOR_EACH = 16  # entries of the index that are read for each candidate
FETCHED = 20_000  # transactions that are fetched at once
COMPACT = 0.9  # closed clusters are removed from the index when less than this share of its clusters is open


@dataclass(frozen=True)
class Clustering:
    """The clusters and their LCGs; a place is the position of a transaction in the order of processing."""

    cluster: Ints  # the cluster of each place
    # label_cluster, label_node, copies: the LCGs, one row for each cluster and node
    label_cluster: Ints
    label_node: Ints
    copies: Ints


def clump(
    engine: Engine,
    dataset: Dataset,
    taxonomy: Taxonomy,
    model: TransactionalK,
    *,
    empty_transactions: str = "keep",
    objective: str = "total",
    candidates: int | None = None,
) -> LocalRecoding:
    """Find a transactionally k-anonymous recoding of bags by clustering.

    Args:
        dataset: each item of a transaction counts once, unless it has bags.
        empty_transactions: ``keep`` clusters transactions without items like all others; ``absorb`` publishes them as a
            class of their own, and if there are fewer than k, empties the shortest others until there are k.
        objective: ``total`` adds a transaction to the cluster that then has the least GGD, as in the thesis, ``increase``
            to the cluster whose GGD grows least.
        candidates: evaluate only the r clusters that share most generalized items with a transaction. None evaluates all
            of them, in blocks of the order if transactions times clusters exceed ``EXACT_PAIRS``.

    Raises:
        InputError: an item is not a leaf of the taxonomy.
    """
    check(dataset, model)
    source = dataset.bags or reads.rows(dataset.transactions, "tid, item, 1 AS copies")
    rows = engine.select(reads.summed(source, "tid", "copies", "length", order="tid"))
    tids, lengths = rows["tid"].astype(np.int64), rows["length"].astype(np.int64)
    length = np.zeros(dataset.n_transactions + 1, dtype=np.int64)
    length[tids] = lengths
    emptied, clustered = tids[:0], np.arange(1, dataset.n_transactions + 1)
    if empty_transactions == "absorb":
        emptied = to_absorb(dataset, tids, lengths, model.k)
        clustered = np.setdiff1d(tids, emptied)
    order = clustered[np.lexsort((clustered, -length[clustered]))]

    ends, remarks = _blocks(len(order), model.k, candidates)
    up = _branching_above(taxonomy)
    extended = _extended(engine, dataset, taxonomy, up, order, source)
    blocks = []
    for low, high in pairwise(ends):
        engine.progress(f"{low:,} of {len(order):,} transactions in clusters", low / max(len(order), 1))
        inside = sql("place BETWEEN {} AND {}", low, high - 1)
        block = engine.create("block", reads.rows(extended, sql("place - {} AS place, node, n", low), where=inside))
        clusters = _Clusters(engine, taxonomy, up, model.k, block, length[order[low:high]], objective)
        blocks.append(clusters.run(candidates))
        engine.drop(block)
    engine.drop(extended)
    apart = np.setdiff1d(np.arange(1, dataset.n_transactions + 1), order) if len(emptied) else emptied
    return _recoding(engine, taxonomy, order, length[order], _together(blocks), apart, remarks)


def block_of(transactions: int, k: int) -> int:
    """How many of the transactions are clustered together: all, or those of a block."""
    exact = transactions**2 <= EXACT_PAIRS * k
    return transactions if exact else max(math.isqrt(BLOCK_PAIRS * k), k)


def _blocks(transactions: int, k: int, candidates: int | None) -> tuple[list[int], list[str]]:
    """Where blocks of whole clusters begin, all of about one size, and where the last one ends; and the remarks."""
    clusters, exact = transactions // k, transactions if candidates is not None else block_of(transactions, k)
    number = max(1, min(-(-transactions // max(exact, 1)), clusters))
    of = f"{candidates} clusters that share most generalized items, as requested"
    if number > 1:
        of = f"clusters of one of {number} blocks by length: {transactions} transactions x {clusters} clusters are too many"
    remark = f"For each transaction, clump evaluated only the {of}."
    ends = [*(n * clusters // number * k for n in range(number)), transactions]
    return ends, [remark] if candidates is not None or number > 1 else []


def _together(blocks: list[Clustering]) -> Clustering:
    before = np.cumsum([0, *(int(block.cluster.max(initial=-1)) + 1 for block in blocks)])[:-1]
    parts = [(b.cluster + n, b.label_cluster + n, b.label_node, b.copies) for b, n in zip(blocks, before, strict=True)]
    return Clustering(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _recoding(
    engine: Engine, taxonomy: Taxonomy, tid: Ints, length: Ints, result: Clustering, apart: Ints, remarks: list[str]
) -> LocalRecoding:
    """Publish every member of a cluster as its LCG. Clusters with the same LCG are one class. A release does not show which
    members of a class lost occurrences, so all are incomplete if one is."""
    clusters = int(result.cluster.max()) + 1 if len(result.cluster) else 0
    content = result.label_node * 2**31 + result.copies
    starts = np.searchsorted(result.label_cluster, np.arange(clusters + 1))
    kind, different = numbered(content, np.diff(starts))
    published = np.bincount(result.label_cluster, weights=result.copies, minlength=clusters)
    lost = np.zeros(len(different), dtype=np.bool_)
    lost[kind[result.cluster[length > published[result.cluster]]]] = True
    incomplete = tid[lost[kind[result.cluster]]] if clusters else tid
    return node_recoding(
        engine,
        taxonomy,
        (result.label_cluster, result.label_node, result.copies),
        (tid, result.cluster),
        incomplete=np.concatenate((incomplete, apart)),
        semantics="atomic",
        remarks=remarks,
    )


def _branching_above(taxonomy: Taxonomy) -> Ints:
    """The nearest ancestor with several children of each node, -1 if there is none. A node with a single child has the same
    n as that child, so an LCG has no copy of it."""
    children = np.bincount(taxonomy.parent[1:], minlength=taxonomy.size)
    up = taxonomy.parent.copy()
    for node in range(1, taxonomy.size):  # in preorder, so the ancestors are done
        if children[up[node]] == 1:
            up[node] = up[up[node]]
    return up


def _extended(engine: Engine, dataset: Dataset, taxonomy: Taxonomy, up: Ints, order: Ints, source: Rows) -> Table:
    """Create the work table ``(place, node, n)``: the transactions with all generalized items."""
    item, node = np.arange(dataset.n_items), taxonomy.leaf_nodes(dataset)
    above = [(item, node)]
    while len(node):
        item, node = item[up[node] >= 0], up[node][up[node] >= 0]
        above.append((item, node))
    items, nodes = (np.concatenate(values) for values in zip(*above, strict=True))
    ancestors = put_integers(engine, "ancestors", item=items, node=nodes)
    places = put_integers(engine, "places", tid=order, place=np.arange(len(order)))
    placed = reads.joined(source, places, "tid", "one.item, one.copies, other.place")
    pair, number = "one.place, other.node", "one.place, other.node, CAST(sum(one.copies) AS INTEGER) AS n"
    summed = reads.joined(placed, ancestors, "item", number, group=pair, order="place, node")
    extended = engine.create("extended", summed)
    engine.drop(places, ancestors)
    return extended


class _Clusters:
    """The clusters of a block of transactions while they grow; ``extended`` has the rows of its places. The index has one
    entry for each node of each cluster, in the order of nodes. ``_entries`` has the entries in the order of clusters,
    ``_scan`` in the order of nodes those of the clusters that were open at the last compaction."""

    def __init__(
        self, engine: Engine, taxonomy: Taxonomy, up: Ints, k: int, extended: Table, length: Ints, objective: str
    ) -> None:
        self.engine, self.taxonomy, self.up, self.k, self.length = engine, taxonomy, up, k, length
        self.number = len(length) // k
        self.denominator = max(taxonomy.n_leaves - 1, 1)
        # w of the root: 0, 1 if M = 1
        above = np.where(self.up < 0, self.denominator + 1, taxonomy.leaf_count[self.up])
        self.weight = (above - taxonomy.leaf_count).astype(np.float64)
        self._total = objective == "total"
        self._extended = extended

        begins = f"place % {k} = 0 AND place < {k * self.number}"  # a cluster begins with every k-th transaction
        begun = reads.rows(extended, f"node, place // {k} AS cluster, n", where=begins, order="node, cluster")
        index = engine.select(begun)
        self._node, self._cluster = index["node"].astype(np.int32), index["cluster"].astype(np.int32)
        self._count = index["n"].astype(np.int32)
        self._entries = np.argsort(self._cluster, kind="stable")
        self._starts = np.searchsorted(self._cluster[self._entries], np.arange(self.number + 1))
        self._scan = np.arange(len(self._node))
        self._indexed = np.zeros(0, dtype=np.int32)
        self._at = np.zeros(taxonomy.size + 1, dtype=np.int64)
        self._have = np.zeros(taxonomy.size, dtype=np.int32)  # items of the current transaction below each node

        first = np.arange(self.number) * k
        self.cluster = np.full(len(length), -1)
        self.cluster[first] = np.arange(self.number)
        self.size = np.ones(self.number)
        self.occurrences = self.length[first].astype(np.float64)
        # W of each cluster
        self.w = np.bincount(self._cluster, weights=self._count * self.weight[self._node], minlength=self.number)
        self.nodes = np.bincount(self._cluster, minlength=self.number)  # how many nodes each cluster has
        self.open = np.ones(self.number, dtype=np.bool_)
        self.base = np.zeros(self.number)  # the objective without the term of x; infinite for closed clusters
        self._reopen()

    def run(self, limit: int | None) -> Clustering:
        """Put every transaction into a cluster."""
        left = since = self.number
        closing = True
        for place, nodes, counts in self._transactions():
            if self.cluster[place] >= 0:
                continue
            if not left:  # every cluster has k members: open all, and close none again
                self._reopen()
                left, closing = self.number, False
            chosen = self._best(nodes, counts, limit if limit is not None and limit < left else None)
            self._join(chosen, place, nodes, counts)
            if closing and self.size[chosen] >= self.k:
                self.open[chosen] = False
                left -= 1
                if left < COMPACT * since:
                    self._compact()
                    since = left
            self._note(chosen)
        return self._labels()

    def _transactions(self) -> Iterator[tuple[int, Ints, Ints]]:
        """Yield the place, nodes and counts of every transaction in order; one without items has no nodes."""
        number = len(self.length)
        for low in range(0, number, FETCHED):
            high = min(low + FETCHED, number)
            if number > FETCHED:
                self.engine.progress(f"{low:,} of {number:,} transactions in clusters", low / number)
            block = sql("place BETWEEN {} AND {}", low, high - 1)
            rows = self.engine.select(reads.rows(self._extended, "place, node, n", where=block, order="place, node"))
            node, count = rows["node"], rows["n"]
            starts = np.searchsorted(rows["place"], np.arange(low, high + 1)).tolist()
            for i in range(high - low):
                yield low + i, node[starts[i] : starts[i + 1]], count[starts[i] : starts[i + 1]]

    def _note(self, cluster: int) -> None:
        """Update ``base`` of a cluster."""
        if not self.open[cluster]:
            self.base[cluster] = np.inf
        elif self._total:
            self.base[cluster] = self.denominator * self.occurrences[cluster]
        else:
            self.base[cluster] = self.size[cluster] * self.w[cluster]

    def _reopen(self) -> None:
        """Open all clusters."""
        self.open[:] = True
        for cluster in range(self.number):
            self._note(cluster)
        self._compact()

    def _compact(self) -> None:
        """Rebuild the index from the open clusters and the nodes that they still have."""
        every = np.arange(len(self._node)) if self.open.all() else self._scan
        self._scan = every[self.open[self._cluster[every]] & (self._count[every] > 0)]
        self._indexed = self._cluster[self._scan]
        self._at = np.searchsorted(self._node[self._scan], np.arange(self.taxonomy.size + 1))

    def _best(self, nodes: Ints, counts: Ints, limit: int | None) -> int:
        """The open cluster with the least GGD, or the least increase, after the transaction has joined (tie: the first)."""
        heavy = self.weight[nodes] > 0
        nodes, counts = nodes[heavy], counts[heavy]
        if limit is not None:
            near = self._candidates(nodes, limit)
            if len(near):
                self._have[nodes] = counts
                joined = self._joined_w(near)
                self._have[nodes] = 0
                return int(near[np.argmin(self.base[near] - (self.size[near] + 1) * joined)])
        return int(np.argmin(self.base - (self.size + 1) * self._all_joined_w(nodes, counts)))

    def _all_joined_w(self, nodes: Ints, counts: Ints) -> Floats:
        """W of every open cluster after the transaction has joined."""
        low, high = self._at[nodes], self._at[nodes + 1]
        spans = list(zip(low.tolist(), high.tolist(), strict=True))
        if not spans:
            return np.zeros(self.number)
        entries = np.concatenate([self._scan[a:b] for a, b in spans])
        clusters = np.concatenate([self._indexed[a:b] for a, b in spans])
        shared = np.minimum(self._count[entries], np.repeat(counts, high - low))
        worth = shared * np.repeat(self.weight[nodes], high - low)
        joined: Floats = np.bincount(clusters, weights=worth, minlength=self.number).astype(np.float64)
        return joined

    def _candidates(self, nodes: Ints, limit: int) -> Ints:
        """The open clusters that share most nodes (tie: the fewest other nodes, then the first), counted in the shortest
        lists of the index, up to ``READ_FOR_EACH`` entries for each candidate."""
        low, high = self._at[nodes], self._at[nodes + 1]
        lengths = high - low
        short = np.argsort(lengths, kind="stable")
        short = short[lengths[short] > 0]
        within = np.cumsum(lengths[short]) <= READ_FOR_EACH * limit
        spans = [(int(low[i]), int(high[i])) for i in (short[within] if within.any() else short[:1])]
        if not spans:
            return np.zeros(0, dtype=np.int64)
        entries = np.concatenate([self._scan[a:b] for a, b in spans])
        clusters = self._cluster[entries[self._count[entries] > 0]]
        near, shared = np.unique(clusters[self.open[clusters]], return_counts=True)
        return np.sort(near[np.lexsort((near, self.nodes[near], -shared))[:limit]])

    def _joined_w(self, clusters: Ints) -> Floats:
        """W of some clusters after the current transaction has joined."""
        starts = self._starts[clusters]
        lengths = self._starts[clusters + 1] - starts
        entries = self._entries[stretches(starts, lengths)]
        node = self._node[entries]
        owner = np.repeat(np.arange(len(clusters)), lengths)
        shared = np.minimum(self._count[entries], self._have[node])
        joined: Floats = np.bincount(owner, weights=shared * self.weight[node], minlength=len(clusters)).astype(np.float64)
        return joined

    def _join(self, cluster: int, place: int, nodes: Ints, counts: Ints) -> None:
        """Put a transaction into a cluster: n(v) becomes min(n(v), c_x(v))."""
        entries = self._entries[self._starts[cluster] : self._starts[cluster + 1]]
        node = self._node[entries]
        self._have[nodes] = counts
        self._count[entries] = shared = np.minimum(self._count[entries], self._have[node])
        self._have[nodes] = 0
        self.w[cluster] = (shared * self.weight[node]).sum()
        self.nodes[cluster] = (shared > 0).sum()
        self.cluster[place] = cluster
        self.size[cluster] += 1
        self.occurrences[cluster] += self.length[place]

    def _labels(self) -> Clustering:
        """The LCG of every cluster: n(v) minus the sum of n over its children."""
        size = self.taxonomy.size
        entries = self._entries[self._count[self._entries] > 0]
        cluster, node, count = (x[entries].astype(np.int64) for x in (self._cluster, self._node, self._count))
        key = cluster * size + node  # sorted
        inner = self.up[node] >= 0
        parent = np.searchsorted(key, cluster[inner] * size + self.up[node[inner]])
        copies = count - np.bincount(parent, weights=count[inner], minlength=len(key)).astype(np.int64)
        shown = copies > 0
        return Clustering(self.cluster, cluster[shown], node[shown], copies[shown])
