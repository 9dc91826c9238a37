"""Threats of three and more nodes, mined by SQL level by level."""

import numpy as np
from sqlglot import exp

from anondb.algorithms.hghs import budget
from anondb.engine import Runner, Table, reads
from anondb.engine.arrays import Ints32
from anondb.engine.telling import told

_FOLLOWS = "other.member > one.last AND (one.family = other.family OR one.family < 0 OR other.family < 0)"


class Growth:
    """Mines the threats of sizes 3 to m among some nodes.

    A level joins occurrences (tid, prefix, member) of frequent (s-1)-antichains that share all but the last element.
    """

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

    def _count(
        self, frequent: Table, occurrences: Table, size: int, ranges: list[tuple[int, int]], *, last: bool
    ) -> None:
        """Count the sets of one size, in ranges of prefixes, and keep the minimal threats among them."""
        engine = self._engine
        batches: list[tuple[Ints32, Ints32]] = []
        kept = 0
        for chunk in told(engine.progress, f"counting sets of {size} nodes", ranges):
            counted = engine.create("counted", _counted(occurrences, chunk))
            columns = engine.fetch(_minimal(counted, frequent, size, self._k), most=budget.MAX_THREATS + 1)
            batches.append((np.column_stack([columns[f"n{i}"] for i in range(1, size + 1)]), columns["support"]))
            if not last:
                frequent_sets = reads.rows(counted, "support", where=exp.column("support") >= self._k)
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

    def _occurrences_of(self, frequent: Table | exp.Query, size: int, others: int = 0) -> int:
        """Count the occurrences of frequent antichains, which the next level keeps besides ``others``."""
        total = reads.rows(frequent, "CAST(coalesce(sum(support), 0) AS BIGINT) AS total")
        kept = int(self._engine.fetch(total, most=1)["total"][0])
        budget.check_kept(others + kept, size)
        return kept


def _pairs(occurrences: Table, columns: str, chunk: tuple[int, int] | None = None, group: str = "") -> exp.Select:
    """Pairs of occurrences in one transaction with the same prefix, the second after the first one's subtree."""
    condition = exp.condition(_FOLLOWS)
    if chunk is not None:
        condition = exp.and_(condition, exp.column("prefix", "one").between(*chunk))
    return reads.joined(occurrences, occurrences, "tid, prefix", columns, where=condition, group=group)


def _counted(occurrences: Table, chunk: tuple[int, int] | None = None) -> exp.Select:
    """The support of every extension: prefix, then the last two members y < z."""
    columns = "one.prefix, one.member AS y, other.member AS z, CAST(count(*) AS INTEGER) AS support"
    return _pairs(occurrences, columns, chunk, "one.prefix, one.member, other.member")


def _with_members(counted: Table | exp.Query, frequent: Table, size: int, more: str = "") -> exp.Select:
    """List the members of the sets of size s: the s-2 of the prefix, then y and z."""
    names = [f"n{i}" for i in range(1, size - 1)]
    prefixes = reads.rows(frequent, ", ".join(("prefix", *names)), distinct=True)
    members = [*(f"other.{name}" for name in names), f"one.y AS n{size - 1}", f"one.z AS n{size}", "one.support"]
    return reads.joined(counted, prefixes, "prefix", ", ".join(members) + more)


def _minimal(counted: Table, frequent: Table, size: int, k: int) -> exp.Select:
    """The threats among the counted sets: support below k, and all (s-1)-subsets frequent.

    The two subsets without y or without z are frequent by construction; the others drop one member of the prefix.
    """
    rare = reads.rows(counted, "prefix, y, z, support", where=exp.column("support") < k)
    query, members = _with_members(rare, frequent, size), [f"n{i}" for i in range(1, size + 1)]
    for dropped in range(size - 2):
        kept = (member for i, member in enumerate(members) if i != dropped)
        same = ", ".join(f"{member} = n{j}" for j, member in enumerate(kept, 1))
        query = reads.among(query, frequent, same, ", ".join((*members, "support")))
    return query


def _frequent(occurrences: Table, frequent: Table, size: int, k: int) -> exp.Select:
    """The frequent antichains of size s: members, support, and the number of their first s-1 members (the new prefix)."""
    counted = _counted(occurrences).having(exp.Count(this=exp.Star()) >= k)
    number = ", CAST(dense_rank() OVER (ORDER BY one.prefix, one.y) AS INTEGER) AS prefix, one.prefix AS old_prefix"
    return _with_members(counted, frequent, size, number)


def _grown_occurrences(occurrences: Table, grown: Table, size: int) -> exp.Select:
    """Where the frequent antichains of size s occur, keyed by their new prefix."""
    family = "greatest(one.family, other.family) AS family"
    pairs = _pairs(occurrences, f"one.tid, one.prefix, one.member AS y, other.member AS z, other.last, {family}")
    same = f"prefix = old_prefix, y = n{size - 1}, z = n{size}"
    return reads.joined(pairs, grown, same, "one.tid, other.prefix, one.z AS member, one.last, one.family")
