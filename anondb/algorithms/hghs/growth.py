"""Threats of three and more nodes, mined by SQL level by level."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.algorithms.hghs import budget
from anondb.engine import Runner, Table
from anondb.engine.telling import told

Rows = npt.NDArray[np.int32]


class Growth:
    """Mines the threats of sizes 3 to m among some nodes.

    A level joins occurrences (tid, prefix, member) of frequent (s-1)-antichains that share all but the last element.

    Attributes:
        rows: for each size, an (n, size) array of nodes, ascending in each row.
        supports: for each size, the n supports.
        exhausted: whether no antichain of m nodes can be frequent: no transaction holds two frequent (m-1)-antichains that
            differ only in their last elements (nested ones and nodes of two families included).
    """

    def __init__(self, engine: Runner, k: int) -> None:
        self._engine, self._k = engine, k
        self.rows: dict[int, Rows] = {}
        self.supports: dict[int, Rows] = {}
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
        batches: list[tuple[Rows, Rows]] = []
        kept = 0
        for chunk in told(engine.progress, f"counting sets of {size} nodes", ranges):
            counted = engine.create("counted", _counted(occurrences, chunk))
            columns = engine.fetch(_minimal(counted, frequent, size, self._k), most=budget.MAX_THREATS + 1)
            batches.append((np.column_stack([columns[f"n{i}"] for i in range(1, size + 1)]), columns["support"]))
            if not last:
                kept += self._occurrences_of(_at_least(counted, self._k), size, kept)
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
        kept = int(self._engine.fetch("warehouse/threats/total_support", {"frequent": frequent}, most=1)["total"][0])
        budget.check_kept(others + kept, size)
        return kept


def _joined(occurrences: Table, chunk: tuple[int, int] | None = None) -> exp.Select:
    """Pairs of occurrences in one transaction with the same prefix, the second after the first one's subtree."""
    same_prefix = "a.tid = b.tid AND a.prefix = b.prefix AND b.member > a.last"
    one_family = "(a.family = b.family OR a.family < 0 OR b.family < 0)"
    query = (
        exp.select()
        .from_(occurrences.expression().as_("a"))
        .join(occurrences.expression().as_("b"), on=f"{same_prefix} AND {one_family}")
    )
    if chunk is not None:
        low, high = (exp.Literal.number(c) for c in chunk)
        query = query.where(exp.Between(this=exp.column("prefix", table="a"), low=low, high=high))
    return query


def _counted(occurrences: Table, chunk: tuple[int, int] | None = None) -> exp.Select:
    """The support of every extension: prefix, then the last two members y < z."""
    columns = [exp.column("prefix", table="a"), exp.column("member", table="a"), exp.column("member", table="b")]
    return (
        _joined(occurrences, chunk)
        .select(*(exp.alias_(column, name) for column, name in zip(columns, ("prefix", "y", "z"), strict=True)))
        .select(exp.cast(exp.func("count", exp.Star()), "INTEGER").as_("support"))
        .group_by(*columns)
    )


def _at_least(counted: Table, k: int) -> exp.Select:
    return exp.select("support").from_(counted.expression()).where(exp.column("support") >= exp.Literal.number(k))


def _with_members(counted: Table | exp.Query, frequent: Table, size: int) -> exp.Select:
    """List the members of the sets of size s: the s-2 of the prefix, then y and z."""
    source = counted.expression().as_("c") if isinstance(counted, Table) else counted.subquery("c")
    names = [f"n{i}" for i in range(1, size - 1)]
    prefixes = exp.select("prefix", *names).distinct().from_(frequent.expression())
    return (
        exp.select(*(exp.column(n, table="p") for n in names))
        .select(exp.column("y", table="c").as_(f"n{size - 1}"), exp.column("z", table="c").as_(f"n{size}"))
        .select(exp.column("support", table="c"))
        .from_(source)
        .join(prefixes.subquery("p"), on="p.prefix = c.prefix")
    )


def _minimal(counted: Table, frequent: Table, size: int, k: int) -> exp.Select:
    """The threats among the counted sets: support below k, and all (s-1)-subsets frequent.

    The two subsets without y or without z are frequent by construction; the others drop one member of the prefix.
    """
    spelled = _with_members(counted, frequent, size).where(exp.column("support", table="c") < exp.Literal.number(k))
    members = [exp.column(f"n{i}", table="t") for i in range(1, size + 1)]
    query = exp.select(*members, exp.column("support", table="t")).from_(spelled.subquery("t"))
    for dropped in range(size - 2):
        kept = [member for i, member in enumerate(members) if i != dropped]
        matches = [exp.column(f"n{j}", table="f").eq(member.copy()) for j, member in enumerate(kept, 1)]
        inside = exp.select(exp.Literal.number(1)).from_(frequent.expression().as_("f")).where(*matches)
        query = query.where(exp.Exists(this=inside))
    return query


def _frequent(occurrences: Table, frequent: Table, size: int, k: int) -> exp.Select:
    """The frequent antichains of size s: members, support, and the number of their first s-1 members (the new prefix)."""
    counted = _counted(occurrences).having(exp.func("count", exp.Star()) >= exp.Literal.number(k))
    by_prefix = [exp.Ordered(this=exp.column(name, table="c")) for name in ("prefix", "y")]
    number = exp.Window(this=exp.Anonymous(this="dense_rank"), order=exp.Order(expressions=by_prefix))
    return _with_members(counted, frequent, size).select(
        exp.cast(number, "INTEGER").as_("prefix"), exp.column("prefix", table="c").as_("old_prefix")
    )


def _grown_occurrences(occurrences: Table, grown: Table, size: int) -> exp.Select:
    """Where the frequent antichains of size s occur, keyed by their new prefix."""
    same = f"g.old_prefix = a.prefix AND g.n{size - 1} = a.member AND g.n{size} = b.member"
    return (
        _joined(occurrences)
        .select(exp.column("tid", table="a"), exp.column("prefix", table="g"))
        .select(exp.column("member", table="b"), exp.column("last", table="b"))
        .select(exp.func("greatest", exp.column("family", table="a"), exp.column("family", table="b")).as_("family"))
        .join(grown.expression().as_("g"), on=same)
    )
