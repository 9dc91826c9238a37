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

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.algorithms.transactional.shared import check, node_recoding, numbered, to_absorb
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table, reads
from anondb.errors import InputError
from anondb.models.transactional import TransactionalK
from anondb.recoding import LocalRecoding

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

OBJECTIVES = ("total", "increase")
EXACT_PAIRS = 2_500_000_000  # transactions times clusters up to which every open cluster is evaluated
DEFAULT_CANDIDATES = 128  # clusters that are evaluated for each transaction beyond that
READ_FOR_EACH = 16  # entries of the index that are read for each candidate
BLOCK = 20_000  # transactions that are fetched at once
COMPACT = 0.9  # closed clusters are removed from the index when less than this share of its clusters is open


@dataclass(frozen=True)
class Clustering:
    """The clusters and their LCGs; a place is the position of a transaction in the order of processing.

    Attributes:
        tid, length: the transaction at each place and its length.
        cluster: the cluster of each place.
        label_cluster, label_node, copies: the LCGs, one row for each cluster and node.
        ggd: the total GGD, times ``denominator``.
        denominator: M-1.
    """

    tid: Ints
    length: Ints
    cluster: Ints
    label_cluster: Ints
    label_node: Ints
    copies: Ints
    ggd: int
    denominator: int


def clump(
    engine: Engine,
    dataset: Dataset,
    taxonomy: Taxonomy,
    model: TransactionalK,
    *,
    bags: Table | None = None,
    empty: str = "keep",
    objective: str = "total",
    candidates: int | None = None,
) -> LocalRecoding:
    """Find a transactionally k-anonymous recoding of bags by clustering.

    Args:
        engine: an engine inside a transaction.
        dataset: the coded transactions.
        taxonomy: the taxonomy; every item of the data is a leaf.
        model: k.
        bags: table ``(tid, item, copies)`` with the number of times that a transaction has an item; None counts each once.
        empty: ``keep`` clusters transactions without items like all others; ``absorb`` publishes them as a class of their
            own, and if there are fewer than k, empties the shortest others until there are k.
        objective: ``total`` adds a transaction to the cluster that then has the least GGD, as in the thesis, ``increase``
            to the cluster whose GGD grows least.
        candidates: evaluate only the r clusters that share most generalized items with a transaction. None evaluates all
            of them, unless transactions times clusters exceed ``EXACT_PAIRS``.

    Raises:
        InfeasibleError: fewer than k transactions.
        InputError: an item is not a leaf of the taxonomy, or ``bad_parameter``.
    """
    check(dataset, model, empty)
    if objective not in OBJECTIVES:
        raise InputError(f"objective must be total or increase, not {objective!r}.", code="bad_parameter")
    source = bags or exp.select("tid", "item", exp.convert(1).as_("copies")).from_(dataset.transactions.expression())
    rows = engine.select(reads.summed(source, "tid", "copies", "length", order="tid"))
    tids, lengths = rows["tid"].astype(np.int64), rows["length"].astype(np.int64)
    length = np.zeros(dataset.n_transactions + 1, dtype=np.int64)
    length[tids] = lengths
    emptied, clustered = tids[:0], np.arange(1, dataset.n_transactions + 1)
    if empty == "absorb":
        emptied = to_absorb(dataset, tids, lengths, model.k)
        clustered = np.setdiff1d(tids, emptied)
    order = clustered[np.lexsort((clustered, -length[clustered]))]

    limit, remarks = _limit(candidates, len(order), len(order) // model.k)
    clustering = _Clusters(engine, dataset, taxonomy, model.k, order, length[order], source, objective).run(limit)
    return _recoding(engine, dataset, taxonomy, clustering, emptied, remarks)


def _limit(candidates: int | None, transactions: int, clusters: int) -> tuple[int | None, list[str]]:
    """How many clusters to evaluate for each transaction, None for all; and the remark if not all."""
    if candidates is not None:
        limit, why = candidates, "as requested"
    elif transactions * clusters > EXACT_PAIRS:
        limit, why = DEFAULT_CANDIDATES, f"because {transactions} transactions x {clusters} clusters are too many pairs"
    else:
        return None, []
    return limit, [
        f"For each transaction, clump evaluated only the {limit} clusters that share most generalized items, {why}."
    ]


def _recoding(
    engine: Engine, dataset: Dataset, taxonomy: Taxonomy, result: Clustering, emptied: Ints, remarks: list[str]
) -> LocalRecoding:
    """Publish every member of a cluster as its LCG. Clusters with the same LCG are one class. A release does not show which
    members of a class lost occurrences, so all are incomplete if one is."""
    clusters = int(result.cluster.max()) + 1 if len(result.cluster) else 0
    content = result.label_node * 2**31 + result.copies
    starts = np.searchsorted(result.label_cluster, np.arange(clusters + 1))
    kind, different = numbered(content, np.diff(starts))
    published = np.bincount(result.label_cluster, weights=result.copies, minlength=clusters)
    lost = np.zeros(len(different), dtype=np.bool_)
    lost[kind[result.cluster[result.length > published[result.cluster]]]] = True
    incomplete = result.tid[lost[kind[result.cluster]]] if clusters else result.tid
    apart = np.setdiff1d(np.arange(1, dataset.n_transactions + 1), result.tid)
    if len(emptied):
        incomplete = np.concatenate((incomplete, apart))
    return node_recoding(
        engine,
        taxonomy,
        (result.label_cluster, result.label_node, result.copies),
        (result.tid, result.cluster),
        incomplete=incomplete,
        semantics="atomic",
        remarks=remarks,
    )


def _branching_above(taxonomy: Taxonomy) -> Ints:
    """The nearest ancestor with several children of each node, -1 if there is none.

    A node with a single child has the same n as that child, so an LCG has no copy of it.
    """
    children = np.bincount(taxonomy.parent[1:], minlength=taxonomy.size)
    up = taxonomy.parent.copy()
    for node in range(1, taxonomy.size):  # in preorder, so the ancestors are done
        if children[up[node]] == 1:
            up[node] = up[up[node]]
    return up


class _Clusters:
    """The clusters while they grow.

    The index has one entry for each node of each cluster, in the order of nodes. ``_entries`` has the entries in the order
    of clusters, ``_scan`` in the order of nodes those of the clusters that were open at the last compaction.
    """

    def __init__(
        self,
        engine: Engine,
        dataset: Dataset,
        taxonomy: Taxonomy,
        k: int,
        order: Ints,
        length: Ints,
        source: Table | exp.Query,
        objective: str,
    ) -> None:
        self.engine, self.taxonomy, self.k, self.order, self.length = engine, taxonomy, k, order, length
        self.number = len(order) // k
        self.denominator = max(taxonomy.n_leaves - 1, 1)
        self.up = _branching_above(taxonomy)
        above = np.where(
            self.up < 0, self.denominator + 1, taxonomy.leaf_count[self.up]
        )  # w of the root is 0, or 1 if M = 1
        self.weight = (above - taxonomy.leaf_count).astype(np.float64)
        self._total = objective == "total"
        self._extended = self._extend(dataset, source)

        index = self.engine.query("clusters/index", {"extended": self._extended}, k=k, clusters=self.number)
        self._node, self._cluster = index["node"].astype(np.int32), index["cluster"].astype(np.int32)
        self._count = index["n"].astype(np.int32)
        self._entries = np.argsort(self._cluster, kind="stable")
        self._starts = np.searchsorted(self._cluster[self._entries], np.arange(self.number + 1))
        self._scan = np.arange(len(self._node))
        self._indexed = np.zeros(0, dtype=np.int32)
        self._at = np.zeros(taxonomy.size + 1, dtype=np.int64)
        self._have = np.zeros(taxonomy.size, dtype=np.int32)  # items of the current transaction below each node

        first = np.arange(self.number) * k
        self.cluster = np.full(len(order), -1)
        self.cluster[first] = np.arange(self.number)
        self.size = np.ones(self.number)
        self.occurrences = self.length[first].astype(np.float64)
        self.w = np.bincount(
            self._cluster, weights=self._count * self.weight[self._node], minlength=self.number
        )  # W of each cluster
        self.nodes = np.bincount(self._cluster, minlength=self.number)  # how many nodes each cluster has
        self.open = np.ones(self.number, dtype=np.bool_)
        self.base = np.zeros(self.number)  # the objective without the term of x; infinite for closed clusters
        for cluster in range(self.number):
            self._note(cluster)
        self._compact()

    def _extend(self, dataset: Dataset, source: Table | exp.Query) -> Table:
        """Create the work table ``(place, node, n)``: the transactions with all generalized items."""
        above = [
            (item, node)
            for item, leaf in enumerate(self.taxonomy.leaf_nodes(dataset).tolist())
            for node in self._path(leaf)
        ]
        ancestors = self.engine.put(
            "ancestors", {n: ("INTEGER", [row[c] for row in above]) for c, n in enumerate(("item", "node"))}
        )
        places = self.engine.put(
            "places", {"tid": ("INTEGER", self.order), "place": ("INTEGER", np.arange(len(self.order)))}
        )
        tables = {"transactions": source, "places": places, "ancestors": ancestors}
        extended = self.engine.create("extended", "clusters/extended", tables)
        self.engine.drop(places, ancestors)
        return extended

    def _path(self, node: int) -> Iterator[int]:
        while node >= 0:
            yield node
            node = int(self.up[node])

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
        self.engine.drop(self._extended)
        return self._labels()

    def _transactions(self) -> Iterator[tuple[int, Ints, Ints]]:
        """Yield the place, nodes and counts of every transaction in order; one without items has no nodes."""
        for low in range(0, len(self.order), BLOCK):
            high = min(low + BLOCK, len(self.order))
            self.engine.progress(f"{low:,} of {len(self.order):,} transactions in clusters", low / len(self.order))
            block = exp.column("place").between(low, high - 1)
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

    # ---------------------------------------------------------------- the best cluster

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
        ends = np.cumsum(lengths)
        entries = self._entries[np.repeat(starts - ends + lengths, lengths) + np.arange(int(ends[-1]))]
        node = self._node[entries]
        owner = np.repeat(np.arange(len(clusters)), lengths)
        shared = np.minimum(self._count[entries], self._have[node])
        joined: Floats = np.bincount(owner, weights=shared * self.weight[node], minlength=len(clusters)).astype(
            np.float64
        )
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

    # ---------------------------------------------------------------- the result

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
        ggd = (self.denominator * self.occurrences - self.size * self.w).sum()
        return Clustering(
            tid=self.order,
            length=self.length,
            cluster=self.cluster,
            label_cluster=cluster[shown],
            label_node=node[shown],
            copies=copies[shown],
            ggd=int(ggd),
            denominator=self.denominator,
        )
