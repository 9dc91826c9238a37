"""Step 0 of HgHs: the minimal threats over all cuts, mined among requested nodes.

Liu and Wang, PAKDD 2010, section 4.1; docs/algorithms/hghs.md. T is the set of antichains X of taxonomy nodes (no element
above another) with at most m elements, 0 < sup(X) < k, and all proper non-empty subsets frequent (support >= k). For any
cut the minimal threats of the generalized data are the X in T with X a subset of the cut.

T over all nodes is large, and a top-down search needs little of it. ``ThreatMiner`` therefore mines only among requested
nodes, which gives the same threats as mining everything and selecting. Threats of two nodes come from a ``PairCounter``,
which may also count three; larger ones come from ``Growth``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.extended import Extended
from anondb.algorithms.hghs.pairs import Extension, PairCounter, Pairs, Triples, pair_counter
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Query, Rows, Runner, Table, reads
from anondb.engine.arrays import Flags, Ints, Ints32
from anondb.engine.telling import told
from anondb.engine.texts import Sql, sql

_FOLLOWS = "other.member > one.last AND (one.family = other.family OR one.family < 0 OR other.family < 0)"


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
        """Mine all threats of sizes 2 to m among ``nodes``, level by level. For m > 2, threats with nodes of two families
        are omitted (a cut under evaluation has the children of only one replaced node); a node without one has
        ``NO_FAMILY``."""
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


class Growth:
    """Mines the threats of sizes 3 to m among some nodes, by SQL, level by level. A level joins occurrences (tid, prefix,
    member) of frequent (s-1)-antichains that share all but the last element."""

    def __init__(self, engine: Runner, k: int) -> None:
        self._engine, self._k = engine, k
        self.rows: dict[int, Ints32] = {}  # for each size, an (n, size) array of nodes, ascending in each row
        self.supports: dict[int, Ints32] = {}  # for each size, the n supports
        # whether no antichain of m nodes can be frequent: no transaction holds two frequent (m-1)-antichains that
        # differ only in their last elements (nested ones and nodes of two families included)
        self.exhausted = False

    def grow(self, reachable: Table, m: int) -> None:
        """Mine levels 3 to m from the extended transactions restricted to the nodes."""
        engine = self._engine
        frequent = engine.create("frequent_2", "warehouse/threats/frequent_pairs", {"reachable": reachable}, k=self._k)
        self._occurrences_of(frequent, 2)
        occurrences = engine.create(
            "occurrences_2", "warehouse/threats/pair_occurrences", {"reachable": reachable, "frequent": frequent}
        )
        for size in range(3, m + 1):
            mass = engine.fetch("warehouse/threats/prefix_mass", {"occurrences": occurrences}, most=budget.MAX_KEPT)
            total = int(mass["mass"].sum()) if len(mass["mass"]) else 0
            if not total:
                self.exhausted = True
                break
            budget.check_join(total, size)
            self._count(frequent, occurrences, size, budget.chunks(mass["prefix"], mass["mass"]), last=size == m)
            if size < m:
                frequent, occurrences = self._next(frequent, occurrences, size)
        engine.drop(frequent, occurrences)

    def _count(self, frequent: Table, occurrences: Table, size: int, ranges: list[tuple[int, int]], *, last: bool) -> None:
        """Count the sets of one size, in ranges of prefixes, and keep the minimal threats among them."""
        engine = self._engine
        batches: list[tuple[Ints32, Ints32]] = []
        kept = 0
        for chunk in told(engine.progress, f"counting sets of {size} nodes", ranges):
            counted = engine.create("counted", _counted(occurrences, chunk))
            columns = engine.fetch(_minimal(counted, frequent, size, self._k), most=budget.MAX_THREATS + 1)
            batches.append((np.column_stack([columns[f"n{i}"] for i in range(1, size + 1)]), columns["support"]))
            if not last:
                frequent_sets = reads.rows(counted, "support", where=sql("support >= {}", self._k))
                kept += self._occurrences_of(frequent_sets, size, kept)
            engine.drop(counted)
            budget.check_threats(sum(len(rows) for rows, _ in batches), size)
        if any(len(rows) for rows, _ in batches):
            nodes = np.concatenate([rows for rows, _ in batches]).astype(np.int32, copy=False)
            self.rows[size] = np.sort(nodes, axis=1)
            self.supports[size] = np.concatenate([support for _, support in batches]).astype(np.int32, copy=False)

    def _next(self, frequent: Table, occurrences: Table, size: int) -> tuple[Table, Table]:
        """Create the tables of the frequent antichains of this size and of their occurrences."""
        engine = self._engine
        grown = engine.create(f"frequent_{size}", _frequent(occurrences, frequent, size, self._k))
        where = engine.create(f"occurrences_{size}", _grown_occurrences(occurrences, grown, size))
        engine.drop(frequent, occurrences)
        return grown, where

    def _occurrences_of(self, frequent: Rows, size: int, others: int = 0) -> int:
        """Count the occurrences of frequent antichains, which the next level keeps besides ``others``."""
        total = reads.rows(frequent, "CAST(coalesce(sum(support), 0) AS BIGINT) AS total")
        kept = int(self._engine.fetch(total, most=1)["total"][0])
        budget.check_kept(others + kept, size)
        return kept


def _pairs(
    occurrences: Table, columns: str, chunk: tuple[int, int] | None = None, group: str = "", having: str = ""
) -> Query:
    """Pairs of occurrences in one transaction with the same prefix, the second after the first one's subtree."""
    condition = Sql(_FOLLOWS)
    if chunk is not None:
        condition = sql("{} AND one.prefix BETWEEN {} AND {}", condition, *chunk)
    return reads.joined(occurrences, occurrences, "tid, prefix", columns, where=condition, group=group, having=having)


def _counted(occurrences: Table, chunk: tuple[int, int] | None = None, having: str = "") -> Query:
    """The support of every extension: prefix, then the last two members y < z."""
    columns = "one.prefix, one.member AS y, other.member AS z, CAST(count(*) AS INTEGER) AS support"
    return _pairs(occurrences, columns, chunk, "one.prefix, one.member, other.member", having)


def _with_members(counted: Rows, frequent: Table, size: int, more: str = "") -> Query:
    """List the members of the sets of size s: the s-2 of the prefix, then y and z."""
    names = [f"n{i}" for i in range(1, size - 1)]
    prefixes = reads.rows(frequent, ", ".join(("prefix", *names)), distinct=True)
    members = [*(f"other.{name}" for name in names), f"one.y AS n{size - 1}", f"one.z AS n{size}", "one.support"]
    return reads.joined(counted, prefixes, "prefix", ", ".join(members) + more)


def _minimal(counted: Table, frequent: Table, size: int, k: int) -> Query:
    """The threats among the counted sets: support below k, and all (s-1)-subsets frequent. The two subsets without y or
    without z are frequent by construction; the others drop one member of the prefix."""
    rare = reads.rows(counted, "prefix, y, z, support", where=sql("support < {}", k))
    query, members = _with_members(rare, frequent, size), [f"n{i}" for i in range(1, size + 1)]
    for dropped in range(size - 2):
        kept = (member for i, member in enumerate(members) if i != dropped)
        same = ", ".join(f"{member} = n{j}" for j, member in enumerate(kept, 1))
        query = reads.among(query, frequent, same, ", ".join((*members, "support")))
    return query


def _frequent(occurrences: Table, frequent: Table, size: int, k: int) -> Query:
    """The frequent antichains of size s: members, support, and the number of their first s-1 members (the new prefix)."""
    counted = _counted(occurrences, having=sql("count(*) >= {}", k))
    number = ", CAST(dense_rank() OVER (ORDER BY one.prefix, one.y) AS INTEGER) AS prefix, one.prefix AS old_prefix"
    return _with_members(counted, frequent, size, number)


def _grown_occurrences(occurrences: Table, grown: Table, size: int) -> Query:
    """Where the frequent antichains of size s occur, keyed by their new prefix."""
    family = "greatest(one.family, other.family) AS family"
    pairs = _pairs(occurrences, f"one.tid, one.prefix, one.member AS y, other.member AS z, other.last, {family}")
    same = f"prefix = old_prefix, y = n{size - 1}, z = n{size}"
    return reads.joined(pairs, grown, same, "one.tid, other.prefix, one.z AS member, one.last, one.family")
