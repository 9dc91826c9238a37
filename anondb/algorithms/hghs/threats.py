"""Step 0 of HgHs: the minimal threats over all cuts, mined among requested nodes.

Liu and Wang, PAKDD 2010, section 4.1; docs/algorithms/hghs.md. T is the set of antichains X of taxonomy nodes (no element
above another) with at most m elements, 0 < sup(X) < k, and all proper non-empty subsets frequent (support >= k). For any
cut the minimal threats of the generalized data are the X in T with X a subset of the cut.

T over all nodes is large, and a top-down search needs little of it. ``ThreatMiner`` therefore mines only among requested
nodes, which gives the same threats as mining everything and selecting. Threats of two nodes come from a ``PairCounter``,
which may also count three; larger ones come from ``Growth``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.extended import Extended
from anondb.algorithms.hghs.growth import Growth
from anondb.algorithms.hghs.pairs import Extension, PairCounter, Pairs, Triples, pair_counter
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Runner
from anondb.engine.arrays import Flags, Ints, Ints32


@dataclass(frozen=True)
class Threats:
    """Threats of two and more nodes."""

    rows: dict[int, Ints32]  # for each size s, an (n, s) array of nodes, ascending in each row
    supports: dict[int, Ints32]  # for each size, the n supports
    exhausted: bool  # whether it is known that no antichain of m nodes is frequent; a larger m then adds no threat


class ThreatMiner:
    """Mines the threats of one dataset under one taxonomy."""

    def __init__(
        self,
        engine: Runner,
        dataset: Dataset,
        taxonomy: Taxonomy,
        k: int,
        counter: Callable[[Extended, int], PairCounter] = pair_counter,
    ) -> None:
        self._extended = Extended(engine, dataset, taxonomy)
        self._pairs = counter(self._extended, k)
        self.k = k  # the least support of a frequent itemset
        self.supports: Ints = self._pairs.supports  # the support of each node, by node (0 if it does not occur)

    @property
    def infrequent(self) -> Flags:
        """The threats of size one: nodes that occur in fewer than k transactions."""
        return np.asarray((self.supports > 0) & (self.supports < self.k))

    def close(self) -> None:
        """Drop the work tables."""
        self._extended.close()

    def mine(self, nodes: Ints, family: Ints, m: int) -> Threats:
        """Mine all threats of sizes 2 to m among ``nodes``, level by level.

        Args:
            nodes: the nodes to mine among.
            family: for each node the number of its family, or ``NO_FAMILY``. For m > 2, threats with nodes of two families
                are omitted (a cut under evaluation has the children of only one replaced node).
        """
        frequent = (self.supports[nodes] >= self.k) & (nodes > 0)  # the root is above all others
        if self.k == 1 or m < 2 or frequent.sum() < 2:
            return Threats({}, {}, exhausted=True)
        nodes, family = nodes[frequent], family[frequent]
        pairs = _as_threats(self._pairs.among(nodes))
        if m == 2:
            return pairs
        triples = self._pairs.triples(nodes, family) if m == 3 else None
        if triples is not None:
            more = _as_threats(triples)
            return Threats(pairs.rows | more.rows, pairs.supports | more.supports, triples.exhausted)
        budget.check_kept(self._pairs.frequent_occurrences(nodes, family) or 0, 2)
        growth = Growth(self._extended.engine, self.k)
        with self._extended.rows_of("reachable", nodes, family) as reachable:
            growth.grow(reachable, m)
        return Threats(pairs.rows | growth.rows, pairs.supports | growth.supports, growth.exhausted)

    def extend(self, active: Ints, entered: Ints, passive: Ints, missing: Ints) -> Threats:
        """Mine the threats of size two that further nodes add to the known ones (``Extension``)."""
        frequent = self.supports >= self.k
        return _as_threats(self._pairs.added(Extension(*(x[frequent[x]] for x in (active, entered, passive, missing)))))


def _as_threats(rare: Pairs | Triples) -> Threats:
    if not len(rare.supports):
        return Threats({}, {}, exhausted=False)
    size = rare.rows.shape[1]
    return Threats({size: rare.rows}, {size: rare.supports}, exhausted=False)
