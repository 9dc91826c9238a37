"""HgHs: heuristic generalization with heuristic suppression (Liu and Wang, PAKDD 2010, section 3; docs/algorithms/hghs.md).

An anonymization is a cut of the taxonomy and a suppression scenario SS, the nodes of the cut that are suppressed. Its cost,
in LM on the original taxonomy and the original occurrences O(x), is

    sum over x in Cut of O(x) LM(x)  +  sum over x in SS of O(x) (1 - LM(x)).

All costs are kept as integers with the common denominator M-1.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anondb.algorithms.hghs.schedule import MiningSchedule
from anondb.algorithms.hghs.threats import ThreatMiner
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Runner
from anondb.models.transactional import KmAnonymity
from anondb.recoding import Decision, GlobalRecoding


@dataclass(frozen=True)
class Costs:
    """The LM costs of each node as integers: ``generalization`` is O(x) LM(x), ``suppression`` is O(x)(1 - LM(x)), both
    times ``denominator``. ``order`` is the position of each node by descending suppression cost (tie: breadth-first)."""

    generalization: list[int]
    suppression: list[int]
    denominator: int
    order: list[int]

    @classmethod
    def of(cls, taxonomy: Taxonomy, dataset: Dataset) -> Costs:
        """Compute the costs of every node from the occurrences of the items below it."""
        below = np.zeros(taxonomy.size + 1, dtype=np.int64)
        np.add.at(below, taxonomy.leaf_nodes(dataset) + 1, dataset.supports)
        running = np.cumsum(below)
        occurrences = (running[taxonomy.last + 1] - running[:-1]).tolist()
        denominator = max(taxonomy.n_leaves - 1, 1)
        generalization = [o * (n - 1) for o, n in zip(occurrences, taxonomy.leaf_count.tolist(), strict=True)]
        suppression = [o * denominator - g for o, g in zip(occurrences, generalization, strict=True)]
        rank = taxonomy.rank.tolist()
        by_cost = sorted(range(taxonomy.size), key=lambda x: (-suppression[x], rank[x]))
        return cls(generalization, suppression, denominator, np.argsort(by_cost).tolist())


@dataclass(frozen=True)
class Anonymization:
    """A cut and its suppression scenario (sets of nodes), with its cost and the decisions of the search."""

    cut: frozenset[int]
    suppressed: frozenset[int]
    cost: Fraction
    decisions: tuple[Decision, ...] = ()


class Search:
    """Runs the two nested loops of HgHs on the taxonomy truncated at ``floor``, whose nodes act as leaves."""

    def __init__(
        self, taxonomy: Taxonomy, costs: Costs, miner: ThreatMiner, m: int, floor: frozenset[int] | None = None
    ) -> None:
        self.taxonomy, self.costs, self.miner = taxonomy, costs, miner
        self.floor = floor
        self.infrequent = miner.infrequent.tolist()
        self.cut: set[int] = {0}
        self.schedule = MiningSchedule(taxonomy, miner, m, floor, np.asarray(costs.order), self.children)
        self.relevant = self.schedule.threats
        self._rank = taxonomy.rank.tolist()
        self._candidates: list[tuple[int, int, int]] = []

    def children(self, node: int) -> list[int]:
        """The children of a node in the truncated taxonomy."""
        return [] if self.floor is not None and node in self.floor else list(self.taxonomy.children(node))

    def scenario(
        self, entering: Iterable[tuple[int, ...]] = (), without: int | None = None
    ) -> tuple[set[int], dict[int, tuple[int, ...]]]:
        """Choose the nodes to suppress because of threats of size >= 2, greedily in ``Costs.order``: a node is kept iff no
        threat consists of it and nodes kept so far (section 3.2: the walk to the first valid child in the enumeration tree).
        Beside the threats of the current cut, those ``entering`` lie in the cut under evaluation, which lacks the node
        ``without``. Returns the nodes, each with the threat that forced it; threats by themselves, which are always
        suppressed, are not among them."""
        by_last: dict[int, list[tuple[int, ...]]] = {last: list(rows) for last, rows in self.relevant.inside.items()}
        for row in entering:
            by_last.setdefault(row[-1], []).append(row)
        order = self.costs.order
        gone: set[int] = set() if without is None else {without}
        forced: dict[int, tuple[int, ...]] = {}
        for last in sorted(by_last, key=order.__getitem__):
            if last == without:
                continue
            for row in by_last[last]:
                if gone.isdisjoint(row):
                    gone.add(last)
                    forced[last] = min(r for r in by_last[last] if gone.isdisjoint(r[:-1]))
                    break
        gone.discard(-1 if without is None else without)
        return gone, forced

    def node_cost(self, node: int) -> int:
        """The cost of a node of the cut without threats of size >= 2: generalization, and suppression if infrequent."""
        return self.costs.generalization[node] + (self.costs.suppression[node] if self.infrequent[node] else 0)

    def run(self, round_number: int = 1) -> Anonymization:
        """Search greedily from the cut {root} downwards: take the cheapest child cut (tie: breadth-first order of the
        replaced node) while it is strictly cheaper."""
        base = self.node_cost(0)
        cost_of_threats = 0
        steps: list[tuple[int, int]] = []
        self._offer([0])
        while True:
            best = self._best_child(cost_of_threats)
            if best is None or best[0] >= 0:
                break
            node = best[2]
            children = self.children(node)
            base += self._alone(node, children)
            self.cut.remove(node)
            self.cut.update(children)
            self.schedule.leave(node, children)
            self._offer(children)
            cost_of_threats = self._threat_cost(self.scenario()[0])
            steps.append((node, base + cost_of_threats))
        return self._result(steps, base + cost_of_threats, round_number)

    def _alone(self, node: int, children: list[int]) -> int:
        """The change of cost if its children replace ``node``, without threats of size >= 2."""
        return sum(map(self.node_cost, children)) - self.node_cost(node)

    def _threat_cost(self, suppressed: set[int]) -> int:
        return sum(self.costs.suppression[x] for x in suppressed)

    def _offer(self, nodes: list[int]) -> None:
        """Add nodes that entered the cut and have children to the candidates for replacement."""
        for node in nodes:
            if children := self.children(node):
                heapq.heappush(self._candidates, (self._alone(node, children), self._rank[node], node))

    def _best_child(self, cost_of_threats: int) -> tuple[int, int, int] | None:
        """(change of cost, breadth-first rank, node) of the cheapest child cut, or None where none is cheaper. Candidates
        are evaluated in ascending order of their change of cost without threats. A replacement saves at most the current
        cost of threats, so the search ends once that bound exceeds the best change."""
        best: tuple[int, int, int] | None = None
        seen = []
        while self._candidates:
            candidate = self._candidates[0]
            alone, rank, node = candidate
            if node in self.cut:
                bound = alone - cost_of_threats
                if bound >= 0 or (best is not None and bound > best[0]):
                    break
                seen.append(candidate)
                change = (self._change(node, alone, cost_of_threats), rank, node)
                best = change if best is None else min(best, change)
            heapq.heappop(self._candidates)
        for candidate in seen:
            heapq.heappush(self._candidates, candidate)
        return best

    def _change(self, node: int, alone: int, cost_of_threats: int) -> int:
        """The change of cost if its children replace ``node``."""
        children = self.children(node)
        self.schedule.mine_for(self.cut, children)
        if not self.relevant.involved[node] and not self.relevant.involved[children].any():
            return alone
        suppressed, _ = self.scenario(self.relevant.entering(children), without=node)
        return alone + self._threat_cost(suppressed) - cost_of_threats

    def _result(self, steps: list[tuple[int, int]], cost: int, round_number: int) -> Anonymization:
        suppressed, forced = self.scenario()
        alone = {x for x in self.cut if self.infrequent[x]}
        label, denominator = self.taxonomy.labels, self.costs.denominator
        decisions = [
            Decision(i, "specialize", label[node], None, Fraction(after, denominator), round_number)
            for i, (node, after) in enumerate(steps, 1)
        ]
        for i, node in enumerate(sorted(alone | suppressed, key=self.costs.order.__getitem__), len(steps) + 1):
            support = int(self.miner.supports[node]) if node in alone else self.relevant.support(forced[node])
            decisions.append(Decision(i, "suppress", label[node], support, Fraction(cost, denominator), round_number))
        return Anonymization(
            frozenset(self.cut), frozenset(alone | suppressed), Fraction(cost, denominator), tuple(decisions)
        )


def recode(taxonomy: Taxonomy, dataset: Dataset, result: Anonymization) -> GlobalRecoding:
    """Convert a cut and its suppression scenario to a recoding: every kept node of the cut is a released item."""
    kept = sorted(result.cut - result.suppressed)
    image_of_node = np.full(taxonomy.size, -1, dtype=np.int64)
    for number, node in enumerate(kept):
        image_of_node[node : int(taxonomy.last[node]) + 1] = number
    member_of, member_labels = taxonomy.labels_below(np.array(kept, dtype=np.int64))
    return GlobalRecoding(
        image=image_of_node[taxonomy.leaf_nodes(dataset)],
        labels=tuple(taxonomy.labels[node] for node in kept),
        member_of=member_of,
        member_labels=member_labels,
        decisions=result.decisions,
    )


def hghs(engine: Runner, dataset: Dataset, taxonomy: Taxonomy, model: KmAnonymity) -> GlobalRecoding:
    """Find a k^m-anonymous recoding by one search over all cuts."""
    miner = ThreatMiner(engine, dataset, taxonomy, model.k)
    m = int(min(model.m, max(dataset.longest, 1)))
    result = Search(taxonomy, Costs.of(taxonomy, dataset), miner, m).run()
    miner.close()
    return recode(taxonomy, dataset, result)
