"""AA, Apriori anonymization, with DA inside (Terrovitis, Mamoulis and Kalnis, VLDB 2008; docs/algorithms/apriori.md).

The algorithm finds a cut of the taxonomy that makes the data k^m-anonymous without suppression. It starts from the cut of
all leaves and removes the threats of sizes 1 to m in order. While threats of a size are left, DA raises the first of them
by label (each node to an ancestor or itself) in the cheapest way that makes its image frequent, and the raised nodes
replace all nodes below them. The cost is the total NCP of the cut; ties go to the cut whose sorted labels come first.

The paper builds a count-tree of all itemsets for each size. Here supports come from posting lists. Generalizing creates no
threat among nodes without one, so each node is checked once, and again only after it was part of a threat.
"""

import heapq
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from anondb.algorithms.apriori.postings import Postings, load_postings
from anondb.algorithms.hghs.hghs import Anonymization, recode
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.engine.arrays import Ints, Ints32
from anondb.engine.telling import Tell, silent
from anondb.errors import InfeasibleError
from anondb.models.transactional import KmAnonymity
from anondb.recoding import Decision, GlobalRecoding

Nodes = tuple[int, ...]  # an antichain, ascending


@dataclass
class Apriori:
    """AA on the part of the data below one node, starting from a cut of that node's subtree."""

    postings: Postings  # the transactions
    k: int  # the least support of an itemset that is not a threat
    order: list[int]  # position of each node by label
    top: int  # the node whose subtree is recoded; the root for all data
    cut: set[int]  # the nodes of the cut; initially the cut to start from
    decisions: list[Decision] = field(default_factory=list)  # the raises, in order
    tell: Tell = silent  # is told of the nodes of the cut that are left to check

    def __post_init__(self) -> None:
        taxonomy = self.postings.taxonomy
        self._by_label = sorted(range(taxonomy.size), key=self.order.__getitem__)
        self._rank: Ints32 = np.asarray(self.order, dtype=np.int32)
        leaf_count = taxonomy.leaf_count.tolist()
        self._cost = [o * n if n > 1 else 0 for o, n in zip(self.postings.occurrences.tolist(), leaf_count, strict=True)]
        self._image: Ints32 = np.full(taxonomy.size, -1, dtype=np.int32)
        self._cut_cost = np.zeros(taxonomy.size, dtype=np.int64)
        for node in self.cut:
            self._enter(node)

    def _enter(self, node: int) -> None:
        last = int(self.postings.taxonomy.last[node])
        self._image[node : last + 1] = node
        self._cut_cost[node : last + 1] = 0
        self._cut_cost[node] = self._cost[node]

    def image(self, nodes: Ints) -> Ints:
        """The node of the cut above or equal to each of ``nodes``."""
        return self._image[nodes].astype(np.int64)

    @property
    def feasible(self) -> bool:
        """Whether raising all nodes to ``top`` leaves no threat; AA succeeds if and only if this holds."""
        return not 0 < self.postings.support((self.top,)) < self.k

    @property
    def total_ncp(self) -> Fraction:
        """NCP of the cut, summed over all occurrences."""
        return Fraction(int(self._cut_cost.sum()), self.postings.taxonomy.n_leaves)

    def run(self, m: int | float) -> None:
        """Remove threats of sizes 1 to m, up to the most nodes of a transaction. The part must be ``feasible``."""
        size = 1
        while size <= m and self.k > 1 and size <= self._longest():
            self._level(size)
            size += 1

    def _longest(self) -> int:
        """The largest number of nodes of a transaction under the cut."""
        owner, _ = self._shown(self.postings.tids(self.top))
        return int(np.bincount(owner).max(initial=0))

    def _shown(self, tids: Ints32) -> tuple[Ints, Ints32]:
        """The nodes of transactions under the cut, below ``top``, as positions by label."""
        owner, node = self.postings.shown(tids, self._image)
        inside = node >= 0
        return owner[inside], self._rank[node[inside]]

    def _level(self, size: int) -> None:
        """DA: raise the first threat of this size by label until none is left."""
        waiting = [self.order[node] for node in self.cut]
        heapq.heapify(waiting)
        every = fewest = len(waiting)
        while waiting:
            fewest = min(fewest, len(waiting))  # raised nodes are checked again
            self.tell(f"sets of {size} items", 1 - fewest / every)
            node = self._by_label[heapq.heappop(waiting)]
            if node not in self.cut:
                continue
            if (result := self._first_threat(node, size)) is None:
                continue
            threat, support = result
            raised = self._cheapest(threat)
            self._raise(raised, support, size)
            for changed in {node, *raised} & self.cut:
                heapq.heappush(waiting, self.order[changed])

    def _first_threat(self, node: int, size: int) -> tuple[Nodes, int] | None:
        """The first threat by label whose first node is ``node``, and its support; no smaller threats may be left."""
        tids = self.postings.tids(node)
        if size == 1:
            return ((node,), len(tids)) if 0 < len(tids) < self.k else None
        owner, rank = self._shown(tids)
        rest = self._extend(owner, rank, self.order[node], size - 1)
        return None if rest is None else (tuple(sorted((node, *rest[0]))), rest[1])

    def _extend(self, owner: Ints, rank: Ints32, last: int, missing: int) -> tuple[list[int], int] | None:
        """The first ``missing`` nodes after ``last`` that fewer than k of these transactions hold, and their support."""
        behind = rank > last
        owner, rank = owner[behind], rank[behind]
        counts = np.bincount(rank)
        if missing == 1:
            few = np.flatnonzero((counts > 0) & (counts < self.k))
            return ([self._by_label[int(few[0])]], int(counts[few[0]])) if len(few) else None
        for following in np.flatnonzero(counts).tolist():
            holds = np.zeros(int(owner[-1]) + 1, dtype=np.bool_)
            holds[owner[rank == following]] = True
            kept = holds[owner]
            if (rest := self._extend(owner[kept], rank[kept], following, missing - 1)) is not None:
                return [self._by_label[following], *rest[0]], rest[1]
        return None

    def _cheapest(self, threat: Nodes) -> Nodes:
        """The cheapest frequent image of a threat under a coarser cut. Images are visited in order of cost, each reached by
        raising a single node by one step. A raise never makes the cut cheaper."""
        taxonomy, visited, best = self.postings.taxonomy, {threat}, []
        waiting: list[tuple[int, Nodes]] = [(0, threat)]
        cheapest: int | None = None
        while waiting:
            cost, image = heapq.heappop(waiting)
            if cheapest is not None and cost > cheapest:
                break
            if image != threat and self.postings.support(image) >= self.k:
                cheapest = cost
                best.append(image)
            for node in image:
                if node == self.top:
                    continue
                parent = int(taxonomy.parent[node])
                last = int(taxonomy.last[parent])
                raised = tuple(sorted({parent, *(other for other in image if not parent <= other <= last)}))
                if raised not in visited:
                    visited.add(raised)
                    heapq.heappush(waiting, (self._cost_of(raised), raised))
        chosen = best[0]
        for image in best[1:]:
            if self._comes_first(image, chosen):
                chosen = image
        return chosen

    def _cost_of(self, image: Nodes) -> int:
        """The increase of NCP x M when the cut is raised to these nodes."""
        last = self.postings.taxonomy.last
        return sum(self._cost[v] - int(self._cut_cost[v : int(last[v]) + 1].sum()) for v in image)

    def _comes_first(self, image: Nodes, other: Nodes) -> bool:
        """Whether the sorted labels of the cut raised to ``image`` come before those of the cut raised to ``other``. Two
        sorted lists first differ at the smallest label that only one of them has, and neither cut contains the other."""
        (added, removed), (others_added, others_removed) = self._change(image), self._change(other)
        ours = (added - others_added) | (others_removed - removed)
        theirs = (others_added - added) | (removed - others_removed)
        return min(self.order[v] for v in ours) < min(self.order[v] for v in theirs)

    def _change(self, image: Nodes) -> tuple[set[int], set[int]]:
        """The nodes that enter the cut and those that leave it."""
        added = set(image) - self.cut
        last = self.postings.taxonomy.last
        below = (np.unique(self._image[v : int(last[v]) + 1]) for v in added)
        return added, {node for nodes in below for node in nodes.tolist()} & self.cut

    def _raise(self, image: Nodes, support: int, size: int) -> None:
        added, removed = self._change(image)
        self.cut = (self.cut - removed) | added
        for node in added:
            self._enter(node)
        label = self.postings.taxonomy.labels
        for node in sorted(added, key=self.order.__getitem__):
            step = len(self.decisions) + 1
            self.decisions.append(Decision(step, "generalize", label[node], support, self.total_ncp, size))


def label_order(taxonomy: Taxonomy) -> list[int]:
    """Position of each node by label, in code-point order."""
    by_label = sorted(range(taxonomy.size), key=taxonomy.labels.__getitem__)
    order: list[int] = np.argsort(by_label).tolist()
    return order


def search_all(search: Apriori, dataset: Dataset, model: KmAnonymity) -> GlobalRecoding:
    """Run a search on all data, and return the recoding of its cut. Raises InfeasibleError: see ``too_few``."""
    if not search.feasible:
        raise too_few(dataset.non_empty, model.k)
    search.run(model.m)
    result = Anonymization(frozenset(search.cut), frozenset(), search.total_ncp, tuple(search.decisions))
    return recode(search.postings.taxonomy, dataset, result)


def too_few(non_empty: int, k: int) -> InfeasibleError:
    """The error for data in which some, but fewer than k, transactions hold an item."""
    return InfeasibleError(
        f"Only {non_empty} transactions hold an item, fewer than k = {k}: no generalization hides them.",
        hint="Lower k, or use mhghs or coat, which suppress items.",
    )


def apriori(engine: Engine, dataset: Dataset, taxonomy: Taxonomy, model: KmAnonymity) -> GlobalRecoding:
    """Achieve k^m-anonymity by generalization only, with one cut for all transactions. The cost of a decision is the total
    NCP of the cut after the step, its round the size of the threat."""
    postings, _ = load_postings(engine, dataset, taxonomy)
    leaves = set(np.flatnonzero(taxonomy.is_leaf).tolist())
    search = Apriori(postings, model.k, label_order(taxonomy), 0, leaves, tell=engine.progress)
    return search_all(search, dataset, model)
