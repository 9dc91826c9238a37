"""Decides which threats HgHs mines, and when; and keeps those that were mined. The paper first mines the minimal threats
over all cuts. A top-down search needs few of them, so this schedule mines them on demand: for whole depths of the taxonomy
if many are needed, else for single nodes. The choices of the search are the same."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from anondb.algorithms.hghs.extended import NO_FAMILY
from anondb.algorithms.hghs.threats import ThreatMiner, Threats
from anondb.data.taxonomy import Taxonomy
from anondb.engine.arrays import Flags, Ints, Ints32, run_starts

FEW = 8  # single nodes are mined if they have less than 1/8 of the occurrences of the whole depth ...
PIECES = 4  # ... and at most so many times in a row
AT_ONCE = 1_000_000  # the largest number of occurrences of the nodes that are mined first


class KnownThreats:
    """The known threats of two and more nodes. Each threat is a row of nodes in the order in which suppression is decided:
    if all its other nodes are kept, the last one is suppressed."""

    def __init__(self, size: int, order: Ints) -> None:
        self._size, self._order = size, order
        self._rows: dict[int, tuple[Ints32, Ints32]] = {}
        self._index: list[tuple[Ints32, Ints, Ints, npt.NDArray[np.int16]]] = []
        self.inside: dict[int, set[tuple[int, ...]]] = {}  # the threats that lie in the cut, by their last node
        self.involved = np.zeros(size, dtype=np.bool_)  # for each node, whether a known threat contains it

    def learn(self, new: Threats, cut: set[int], live: Flags, keep: bool) -> None:
        """Add new threats to the known ones, or replace these unless ``keep``; drop threats with a node that is not
        ``live``."""
        before = self._rows if keep else {}
        self._rows, self._index, self.inside = {}, [], {}
        in_cut = np.zeros(self._size, dtype=np.bool_)
        in_cut[list(cut)] = True
        self.involved[:] = False
        for s in sorted({*before, *new.rows}):
            parts = [before[s]] if s in before else []
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
        """Update the threats in the cut: the children ``joined`` have replaced the node ``left``."""
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
                touched.sort()
                begin = run_starts(touched)
                threat, times = touched[begin], np.diff(begin, append=len(touched))
                for row in ordered[threat[members[threat] + times == s]].tolist():
                    yield tuple(row)

    def support(self, row: tuple[int, ...]) -> int:
        """The support of a known threat."""
        rows, supports = self._rows[len(row)]
        return int(supports[(rows == np.sort(row)).all(axis=1)][0])


class MiningSchedule:
    """Mines threats of up to ``m`` nodes for a search on the taxonomy truncated at ``floor``."""

    def __init__(
        self,
        taxonomy: Taxonomy,
        miner: ThreatMiner,
        m: int,
        floor: frozenset[int] | None,
        order: Ints,
        children: Callable[[int], list[int]],
    ) -> None:
        self.taxonomy, self.miner, self.m = taxonomy, miner, m
        # whether it is known that no antichain of m mined nodes is frequent; a larger m then adds no threat
        self.exhausted = True
        self.threats = KnownThreats(taxonomy.size, order)  # the threats mined so far
        self._children = children
        self._under = np.ones(taxonomy.size, dtype=np.bool_)
        self._visible = np.ones(taxonomy.size, dtype=np.bool_)
        for node in floor or ():
            self._visible[node + 1 : int(taxonomy.last[node]) + 1] = False
        self._active = np.zeros(taxonomy.size, dtype=np.bool_)
        self._mined = np.zeros(taxonomy.size, dtype=np.bool_)
        self._pieces = 0
        to_depth = np.cumsum(np.bincount(taxonomy.depth, weights=miner.supports))
        self._deepest = max(2, int((to_depth <= AT_ONCE).sum()) - 1)

    def leave(self, node: int, children: list[int]) -> None:
        """Update the threats: the children of a node have replaced it in the cut, so its own threats are obsolete."""
        self._under[node] = False
        self.threats.move(node, children)

    def mine_for(self, cut: set[int], children: list[int]) -> None:
        """Mine the unknown threats among the cut and the children of one of its nodes. All threats are known among the nodes
        ``_active``, between these and the nodes ``_mined``, and among siblings of the latter. Afterwards the cut lies in the
        former and the children in the latter, so all threats of a cut are known when its cost is computed, also those of the
        last cut."""
        if self.m < 2:
            return
        nodes = np.asarray(sorted(cut))
        if self._active[nodes].all() and self._mined[children].all():
            return
        if self.m > 2 or not self._active.any():
            self._mine_depth(nodes, children)
        else:
            self._mine_pairs(nodes, children)

    def _mine_depth(self, cut: Ints, children: list[int]) -> None:
        """Mine the threats among all nodes from the cut down to the depth of the children."""
        depth, usable = self.taxonomy.depth, self._under & self._visible
        self._deepest = max([self._deepest, *depth[children].tolist()])
        first = 0 if self._active.any() else self._deepest
        self._active = usable & ((depth < self._deepest) | (depth <= max(first, int(depth[cut].max()))))
        self._mined = self._active | (usable & (depth <= self._deepest))
        nodes = np.flatnonzero(self._mined)
        mined = self.miner.mine(nodes, np.where(self._active[nodes], NO_FAMILY, self.taxonomy.parent[nodes]), self.m)
        self.exhausted &= mined.exhausted
        self.threats.learn(mined, set(cut.tolist()), self._under, keep=False)

    def _mine_pairs(self, cut: Ints, children: list[int]) -> None:
        """Mine the unknown pairs: for the nodes that need them if these are few, else for a whole depth."""
        depth, usable, supports = self.taxonomy.depth, self._under & self._visible, self.miner.supports
        self._deepest = max([self._deepest, *depth[children].tolist()])
        entered = cut[~self._active[cut]]
        missing = [c for x in cut.tolist() for c in self._children(x) if not self._mined[c] and depth[c] <= self._deepest]
        all_missing = np.flatnonzero(usable & ~self._mined & (depth <= self._deepest))
        needed = int(supports[entered].sum() + supports[missing].sum())
        if needed * FEW < int(supports[all_missing].sum()) and self._pieces < PIECES:
            self._pieces += 1
        else:
            self._pieces = 0
            below = usable & ~self._active & (depth < max(self._deepest, int(depth[cut].max()) + 1))
            entered, missing = np.flatnonzero(below), all_missing.tolist()
        active = np.flatnonzero(self._active & self._under)
        self._active[entered] = True
        passive = np.flatnonzero(self._mined & ~self._active & self._under)
        self._mined[entered] = self._mined[missing] = True
        mined = self.miner.extend(active, entered, passive, np.asarray(missing, dtype=np.int64))
        self.threats.learn(mined, set(cut.tolist()), self._under, keep=True)
