"""HgHs: heuristic generalization with heuristic suppression (Liu and Wang, PAKDD 2010, section 3; docs/algorithms/hghs.md).

An anonymization is a cut of the taxonomy and a suppression scenario, a subset of the cut. Its cost, in LM on the original
taxonomy and the original occurrences O(x), is

    sum over x in Cut of O(x) LM(x)  +  sum over x in SS of O(x) (1 - LM(x)).

All costs are kept as integers with the common denominator M-1.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anondb.algorithms.hghs.threats import NO_FAMILY, ThreatMiner, Threats
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.models.km import KmAnonymity
from anondb.recoding import Decision, GlobalRecoding

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]

FEW, PIECES, AT_ONCE = 8, 4, 600_000


@dataclass(frozen=True)
class Costs:
    """LM costs of each node as integers: ``generalization`` is O(x) LM(x), ``suppression`` is O(x)(1 - LM(x)), both
    times ``denominator``. ``order`` is the position of each node by descending suppression cost (tie: breadth-first)."""

    generalization: list[int]
    suppression: list[int]
    denominator: int
    order: list[int]

    @classmethod
    def of(cls, taxonomy: Taxonomy, dataset: Dataset) -> Costs:
        """The costs of every node from the occurrences of the items below it."""
        below = np.zeros(taxonomy.size + 1, dtype=np.int64)
        np.add.at(below, taxonomy.leaf_nodes(dataset), dataset.supports)
        running = np.concatenate(([0], np.cumsum(below)))
        occurrences = [int(n) for n in running[taxonomy.last + 1] - running[: taxonomy.size]]
        denominator = max(taxonomy.n_leaves - 1, 1)
        generalization = [o * (int(n) - 1) for o, n in zip(occurrences, taxonomy.leaf_count, strict=True)]
        suppression = [o * denominator - g for o, g in zip(occurrences, generalization, strict=True)]
        rank = taxonomy.rank.tolist()
        by_cost = sorted(range(taxonomy.size), key=lambda x: (-suppression[x], rank[x]))
        order = [0] * taxonomy.size
        for position, node in enumerate(by_cost):
            order[node] = position
        return cls(generalization, suppression, denominator, order)


@dataclass(frozen=True)
class Anonymization:
    """A cut and its suppression scenario (nodes), with the cost and the decisions that led there."""

    cut: frozenset[int]
    suppressed: frozenset[int]
    cost: Fraction
    decisions: tuple[Decision, ...] = ()


class _Relevant:
    """The known threats of two and more nodes, and which of them lie in the current cut.

    Each threat is a row of nodes in the order in which suppression is decided, so that its last node is the one that can
    still be suppressed when all others were kept.

    Attributes:
        inside: the threats that lie in the cut, by their last node.
        involved: whether a known threat holds the node.
    """

    def __init__(self, size: int, order: Ints) -> None:
        self._size, self._order = size, order
        self._rows: dict[int, tuple[Rows, Rows]] = {}
        self._index: list[tuple[Rows, Ints, Ints, npt.NDArray[np.int16]]] = []
        self.inside: dict[int, set[tuple[int, ...]]] = {}
        self.involved = np.zeros(size, dtype=np.bool_)

    def learn(self, new: Threats, cut: set[int], live: npt.NDArray[np.bool_], keep: bool) -> None:
        """Take new threats in, in addition to the known ones or instead of them; forget those that hold a node which is
        not ``live`` any more."""
        known = self._rows if keep else {}
        self._rows, self._index, self.inside = {}, [], {}
        in_cut = np.zeros(self._size, dtype=np.bool_)
        in_cut[list(cut)] = True
        self.involved[:] = False
        for s in sorted({*known, *new.rows}):
            parts = [known[s]] if s in known else []
            parts += [(new.rows[s], new.supports[s])] if s in new.rows else []
            rows, supports = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
            alive = live[rows].all(axis=1)
            rows, supports = rows[alive], supports[alive]
            self._rows[s] = rows, supports
            ordered = np.take_along_axis(rows, np.argsort(self._order[rows], axis=1, kind="stable"), axis=1)
            flat = ordered.ravel()
            by_node = np.argsort(flat.astype(np.uint16) if self._size <= 2**16 else flat, kind="stable")
            starts = np.searchsorted(flat[by_node], np.arange(self._size + 1))
            members = in_cut[ordered].sum(axis=1, dtype=np.int16)
            self._index.append((ordered, by_node // s, starts, members))
            self.involved[flat] = True
            for row in ordered[members == s].tolist():
                self.inside.setdefault(row[-1], set()).add(tuple(row))

    def move(self, left: int, joined: list[int]) -> None:
        """``left`` gave way to its children ``joined``."""
        for last in list(self.inside):
            self.inside[last] = {row for row in self.inside[last] if left not in row}
        for row in self.entering(joined):
            self.inside.setdefault(row[-1], set()).add(row)
        for _, by_node, starts, members in self._index:
            members[by_node[starts[left] : starts[left + 1]]] -= 1
            for node in joined:
                members[by_node[starts[node] : starts[node + 1]]] += 1

    def entering(self, nodes: list[int]) -> Iterator[tuple[int, ...]]:
        """The threats that would lie in the cut if ``nodes`` joined it."""
        for ordered, by_node, starts, members in self._index:
            s = ordered.shape[1]
            touched = np.concatenate([by_node[starts[n] : starts[n + 1]] for n in nodes])
            touched = touched[members[touched] + min(len(nodes), s) >= s]
            if len(touched):
                threat, times = np.unique(touched, return_counts=True)
                for row in ordered[threat[members[threat] + times == s]].tolist():
                    yield tuple(row)

    def support(self, row: tuple[int, ...]) -> int:
        """The support of a known threat."""
        rows, supports = self._rows[len(row)]
        return int(supports[(rows == np.sort(row)).all(axis=1)][0])


class Search:
    """The two nested loops of HgHs on the taxonomy truncated at ``floor`` (whose nodes act as leaves)."""

    def __init__(
        self, taxonomy: Taxonomy, costs: Costs, miner: ThreatMiner, m: int, floor: frozenset[int] | None = None
    ) -> None:
        self.taxonomy, self.costs, self.miner, self.m = taxonomy, costs, miner, m
        self.floor = floor
        self.infrequent = miner.infrequent.tolist()
        self.exhausted = True
        self.cut: set[int] = {0}
        self.relevant = _Relevant(taxonomy.size, np.asarray(costs.order))
        self._rank = taxonomy.rank.tolist()
        self._under = np.ones(taxonomy.size, dtype=np.bool_)
        self._visible = np.ones(taxonomy.size, dtype=np.bool_)
        for node in floor or ():
            self._visible[node + 1 : int(taxonomy.last[node]) + 1] = False
        self._active = np.zeros(taxonomy.size, dtype=np.bool_)
        self._known = np.zeros(taxonomy.size, dtype=np.bool_)
        self._pieces = 0
        to_depth = np.cumsum(np.bincount(taxonomy.depth, weights=miner.supports))
        self._deepest = max(2, int((to_depth <= AT_ONCE).sum()) - 1)
        self._candidates: list[tuple[int, int, int]] = []

    def children(self, node: int) -> list[int]:
        """The children of a node in the truncated taxonomy."""
        return [] if self.floor is not None and node in self.floor else list(self.taxonomy.children(node))

    # ---------------------------------------------------------------- inner loop: the suppression scenario

    def scenario(
        self, entering: Iterable[tuple[int, ...]] = (), without: int | None = None
    ) -> tuple[set[int], dict[int, tuple[int, ...]]]:
        """Suppression of nodes by threats of size >= 2, greedily in ``Costs.order``: a node is kept iff no threat lies in
        the nodes kept so far and itself (the first-valid-child walk of the enumeration tree, section 3.2).

        Args:
            entering: threats that lie in the cut under evaluation in addition to those of the current cut.
            without: a node of the current cut that the cut under evaluation does not have.

        Returns:
            the suppressed nodes and, for each, the threat that forced it. Nodes that are threats by themselves are
            suppressed as well, and take no part here.
        """
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
        """Cost of a node of the cut that takes part in no larger threat: generalization, and suppression if infrequent."""
        return self.costs.generalization[node] + (self.costs.suppression[node] if self.infrequent[node] else 0)

    # ---------------------------------------------------------------- outer loop: the cut

    def run(self, round_number: int = 1) -> Anonymization:
        """Top-down greedy search from the cut {root}: take the cheapest child cut (tie: breadth-first order of the node
        replaced) while it is strictly cheaper."""
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
            self._under[node] = False
            self.relevant.move(node, children)
            self._offer(children)
            cost_of_threats = self._threat_cost(self.scenario()[0])
            steps.append((node, base + cost_of_threats))
        return self._result(steps, base + cost_of_threats, round_number)

    def _alone(self, node: int, children: list[int]) -> int:
        """Change of cost when ``node`` gives way to its children, larger threats aside."""
        return sum(map(self.node_cost, children)) - self.node_cost(node)

    def _threat_cost(self, suppressed: set[int]) -> int:
        return sum(self.costs.suppression[x] for x in suppressed)

    def _offer(self, nodes: list[int]) -> None:
        """Nodes that entered the cut and could give way to their children."""
        for node in nodes:
            children = self.children(node)
            if children:
                heapq.heappush(self._candidates, (self._alone(node, children), self._rank[node], node))

    def _best_child(self, cost_of_threats: int) -> tuple[int, int, int] | None:
        """(change of cost, breadth-first rank, node) of the cheapest child cut, or None where none is cheaper.

        Candidates are looked at by their change of cost without threats. Threats can take back at most what they cost
        now, so that all later ones are dearer once that bound passes the best change found.
        """
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
        """Change of cost when ``node`` gives way to its children."""
        children = self.children(node)
        self._know(children)
        if not self.relevant.involved[node] and not self.relevant.involved[children].any():
            return alone
        suppressed, _ = self.scenario(self.relevant.entering(children), without=node)
        return alone + self._threat_cost(suppressed) - cost_of_threats

    # ---------------------------------------------------------------- step 0, as far as the search needs it

    def _know(self, children: list[int]) -> None:
        """Make sure that the threats among the cut and the children of one of its nodes are known.

        All threats are known among the nodes ``_active``, between these and the nodes ``_known``, and among siblings of
        the latter. The cut must lie in the former, the children in the latter: then the threats of a cut are known when its
        cost is computed, those of the last one included.
        """
        if self.m < 2:
            return
        cut = np.asarray(sorted(self.cut))
        if self._active[cut].all() and self._known[children].all():
            return
        if self.m > 2 or not self._active.any():
            self._know_depth(cut, children)
        else:
            self._know_more(cut, children)

    def _know_depth(self, cut: Ints, children: list[int]) -> None:
        """Mine all that lies below the cut, down to the depth of the children."""
        depth, usable = self.taxonomy.depth, self._under & self._visible
        self._deepest = max([self._deepest, *depth[children].tolist()])
        first = 0 if self._active.any() else self._deepest
        self._active = usable & ((depth < self._deepest) | (depth <= max(first, int(depth[cut].max()))))
        self._known = self._active | (usable & (depth <= self._deepest))
        nodes = np.flatnonzero(self._known)
        found = self.miner.mine(nodes, np.where(self._active[nodes], NO_FAMILY, self.taxonomy.parent[nodes]), self.m)
        self.exhausted &= found.exhausted
        self.relevant.learn(found, self.cut, self._under, keep=False)

    def _know_more(self, cut: Ints, children: list[int]) -> None:
        """Mine the pairs that are not known yet: for the nodes that need it if they are few, else for a whole depth."""
        depth, usable, supports = self.taxonomy.depth, self._under & self._visible, self.miner.supports
        self._deepest = max([self._deepest, *depth[children].tolist()])
        entered = cut[~self._active[cut]]
        missing = [c for x in self.cut for c in self.children(x) if not self._known[c] and depth[c] <= self._deepest]
        all_missing = np.flatnonzero(usable & ~self._known & (depth <= self._deepest))
        some = int(supports[entered].sum() + supports[missing].sum())
        if some * FEW < int(supports[all_missing].sum()) and self._pieces < PIECES:
            self._pieces += 1
        else:
            self._pieces = 0
            below = usable & ~self._active & (depth < max(self._deepest, int(depth[cut].max()) + 1))
            entered, missing = np.flatnonzero(below), all_missing.tolist()
        active = np.flatnonzero(self._active & self._under)
        self._active[entered] = True
        passive = np.flatnonzero(self._known & ~self._active & self._under)
        self._known[entered] = self._known[missing] = True
        found = self.miner.extend(active, entered, passive, np.asarray(missing, dtype=np.int64))
        self.relevant.learn(found, self.cut, self._under, keep=True)

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
    """The recoding of a cut and a suppression scenario: every kept node of the cut is a released item."""
    kept = sorted(result.cut - result.suppressed)
    image_of_node = np.full(taxonomy.size, -1, dtype=np.int64)
    member_of: list[Ints] = []
    members: list[Ints] = []
    for number, node in enumerate(kept):
        image_of_node[node : int(taxonomy.last[node]) + 1] = number
        leaves = taxonomy.leaves(node)
        members.append(leaves)
        member_of.append(np.full(len(leaves), number, dtype=np.int64))
    return GlobalRecoding(
        image=image_of_node[taxonomy.leaf_nodes(dataset)],
        labels=tuple(taxonomy.labels[node] for node in kept),
        member_of=np.concatenate(member_of) if member_of else np.empty(0, dtype=np.int64),
        member_labels=tuple(taxonomy.labels[leaf] for part in members for leaf in part.tolist()),
        decisions=result.decisions,
    )


def hghs(engine: Engine, dataset: Dataset, taxonomy: Taxonomy, model: KmAnonymity) -> GlobalRecoding:
    """k^m-anonymity by one search over all cuts.

    Args:
        engine: inside a transaction.
        dataset: the coded transactions.
        taxonomy: every item of the data is one of its leaves.
        model: k and m; m above the longest transaction means the longest.

    Raises:
        InputError: items that are no leaves of the taxonomy.
        BudgetExceeded: mining threats of size m would need too much memory or time.
    """
    miner = ThreatMiner(engine, dataset, taxonomy, model.k)
    m = int(min(model.m, max(dataset.longest, 1)))
    result = Search(taxonomy, Costs.of(taxonomy, dataset), miner, m).run()
    miner.close()
    return recode(taxonomy, dataset, result)
