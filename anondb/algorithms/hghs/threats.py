"""Step 0 of HgHs: the minimal threats over all cuts, mined by SQL on ancestor-extended transactions.

Liu and Wang, PAKDD 2010, section 4.1; docs/algorithms/hghs.md. T is the set of antichains X of taxonomy nodes (no element
above another) with at most m elements, 0 < sup(X) < k, and all proper non-empty subsets frequent (support >= k). For any
cut the minimal threats of the generalized data are the X in T with X a subset of the cut.

T over all nodes is large, and a top-down search needs little of it. ``ThreatMiner`` therefore mines only among requested
nodes, which gives the same threats as mining everything and selecting.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table
from anondb.errors import BudgetExceeded

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]

CHUNK_ROWS = 20_000_000
MAX_ROWS = 4_000_000_000
MAX_KEPT = 100_000_000
ROW_BYTES = 20
MAX_THREATS = 30_000_000
NO_FAMILY = -1


@dataclass(frozen=True)
class Threats:
    """Threats of two and more nodes.

    Attributes:
        rows: for each size s, an (n, s) array of nodes, ascending in each row.
        supports: for each size, the n supports.
        exhausted: whether no antichain of m nodes is frequent; a larger m then adds no threat.
    """

    rows: dict[int, Rows]
    supports: dict[int, Rows]
    exhausted: bool


class ThreatMiner:
    """Mines the threats of one dataset under one taxonomy; builds the extended transactions once.

    Attributes:
        supports: the support of each node, by node (0 if it does not occur).
        k: the least support of a frequent itemset.
    """

    def __init__(self, engine: Engine, dataset: Dataset, taxonomy: Taxonomy, k: int) -> None:
        self._engine = engine
        self._taxonomy = taxonomy
        self.k = k
        leaves = taxonomy.leaf_nodes(dataset)
        above = {"leaves": (np.arange(len(leaves)), leaves), "inner_nodes": _ancestors(taxonomy, leaves)}
        tables = {
            name: engine.put(name, {"item": ("INTEGER", items), "node": ("INTEGER", nodes)})
            for name, (items, nodes) in above.items()
        }
        self._extended = engine.create(
            "extended", "itemsets/extended", {"transactions": dataset.transactions, **tables}
        )
        engine.drop(*tables.values())
        counted = engine.query("itemsets/node_supports", {"extended": self._extended})
        single = engine.query("itemsets/single_items", {"transactions": dataset.transactions})
        singles = np.zeros(taxonomy.size + 1, dtype=np.int64)
        singles[leaves[single["item"]] + 1] = single["support"]
        running = np.cumsum(singles)
        self.supports: Ints = running[taxonomy.last + 1] - running[: taxonomy.size]
        self.supports[counted["node"]] += counted["support"]

    @property
    def infrequent(self) -> npt.NDArray[np.bool_]:
        """The threats of size one: nodes that occur in fewer than k transactions."""
        return np.asarray((self.supports > 0) & (self.supports < self.k))

    def close(self) -> None:
        """Drop the extended transactions."""
        self._engine.drop(self._extended)

    def mine(self, nodes: Ints, family: Ints, m: int) -> Threats:
        """Mine all threats of sizes 2 to m among ``nodes``, level by level.

        Args:
            nodes: the nodes to mine among.
            family: for each node the number of its family, or ``NO_FAMILY``. For m > 2, threats with nodes of two families
                are omitted (a cut under evaluation has the children of only one replaced node).
            m: the largest size.

        Raises:
            BudgetExceeded: a level would join or keep too many rows; the message has their number.
        """
        frequent = (self.supports[nodes] >= self.k) & (nodes > 0)  # the root is above all others
        if self.k == 1 or m < 2 or frequent.sum() < 2:
            return Threats({}, {}, exhausted=True)
        rows: dict[int, Rows] = {}
        supports: dict[int, Rows] = {}
        with self._rows_of("reachable", nodes[frequent], family[frequent]) as reachable:
            self._pairs("itemsets/pairs_among", {"fresh": reachable}, rows, supports)
            exhausted = self._grow(reachable, m, rows, supports) if m > 2 else False
        return Threats(rows, supports, exhausted)

    # ------------------------------------------------------------------ size two

    def extend(self, active: Ints, entered: Ints, passive: Ints, missing: Ints) -> Threats:
        """Mine the threats of size two that further nodes add to the known ones.

        Args:
            active: nodes among which all threats are known.
            entered: nodes that join them; their threats with ``active`` and with their siblings are known.
            passive: other nodes of which the same threats are known as of ``entered``.
            missing: nodes to add; their threats with ``active``, ``entered`` and their siblings are mined.
        """
        frequent = self.supports >= self.k
        active, entered, passive, missing = (x[frequent[x]] for x in (active, entered, passive, missing))
        joined = np.concatenate((active, entered))
        rows: dict[int, Rows] = {}
        supports: dict[int, Rows] = {}
        if len(entered):
            with self._rows_of("fresh", entered) as fresh:
                self._pairs("itemsets/pairs_among", {"fresh": fresh}, rows, supports)
                if len(passive):
                    with self._rows_of("others", passive) as others:
                        self._pairs("itemsets/pairs_between", {"fresh": fresh, "others": others}, rows, supports)
        if len(missing):
            with self._rows_of("fresh", missing, self._taxonomy.parent[missing]) as fresh:
                self._pairs("itemsets/pairs_within", {"fresh": fresh}, rows, supports)
                with self._rows_of("others", joined) as others:
                    self._pairs("itemsets/pairs_between", {"fresh": fresh, "others": others}, rows, supports)
        return Threats(rows, supports, exhausted=False)

    @contextlib.contextmanager
    def _rows_of(self, name: str, nodes: Ints, family: Ints | None = None) -> Iterator[Table]:
        """A work table of the extended transactions restricted to ``nodes``; it exists during the block."""
        family = np.full(len(nodes), NO_FAMILY) if family is None else family
        columns = {"node": nodes, "last": self._taxonomy.last[nodes], "family": family}
        table = self._engine.put("nodes", {column: ("INTEGER", values) for column, values in columns.items()})
        rows = self._engine.create(name, "itemsets/rows_of", {"extended": self._extended, "nodes": table})
        self._engine.drop(table)
        yield rows
        self._engine.drop(rows)

    def _pairs(self, query: str, tables: dict[str, Table], rows: dict[int, Rows], supports: dict[int, Rows]) -> None:
        """Run a query for pairs, in ranges of the first node if there may be more than CHUNK_ROWS different pairs."""
        ranges = [(0, self._taxonomy.size)]
        if self._taxonomy.size**2 > 2 * CHUNK_ROWS:
            mass = self._engine.query("itemsets/partners", {"others": tables["fresh"], **tables})
            ranges = chunks(mass["node"], mass["mass"])
        batches = []
        for low, high in ranges:
            f = self._engine.query(query, tables, k=self.k, first_from=low, first_to=high)
            batches.append((np.column_stack((f["n1"], f["n2"])), f["support"]))
            _check_count(batches, 2)
        _collect(rows, supports, 2, iter(batches))

    # ------------------------------------------------------------------ sizes three and more

    def _grow(self, reachable: Table, m: int, rows: dict[int, Rows], supports: dict[int, Rows]) -> bool:
        """Mine levels 3 to m; return whether no frequent antichain was left before size m.

        A level joins occurrences (tid, prefix, member) of frequent (s-1)-antichains that share all but the last element.
        """
        engine = self._engine
        frequent = engine.create("frequent_2", "itemsets/frequent_pairs", {"reachable": reachable}, k=self.k)
        self._occurrences_of(frequent, 2)
        occurrences = engine.create(
            "occurrences_2", "itemsets/pair_occurrences", {"reachable": reachable, "frequent": frequent}
        )
        for size in range(3, m + 1):
            mass = engine.query("itemsets/prefix_mass", {"occurrences": occurrences})
            total = int(mass["mass"].sum()) if len(mass["mass"]) else 0
            if not total:
                engine.drop(frequent, occurrences)
                return True
            _guard(total, size)
            batches, kept = [], 0
            for chunk in chunks(mass["prefix"], mass["mass"]):
                counted = engine.create("counted", _counted(occurrences, chunk))
                columns = engine.select(_minimal(counted, frequent, size, self.k))
                batches.append((np.column_stack([columns[f"n{i}"] for i in range(1, size + 1)]), columns["support"]))
                if size < m:
                    kept += self._occurrences_of(_at_least(counted, self.k), size, kept)
                engine.drop(counted)
                _check_count(batches, size)
            _collect(rows, supports, size, iter(batches))
            if size < m:
                frequent, occurrences = self._next(frequent, occurrences, size)
        engine.drop(frequent, occurrences)
        return False

    def _next(self, frequent: Table, occurrences: Table, size: int) -> tuple[Table, Table]:
        """Create the tables of the frequent antichains of this size and of their occurrences."""
        engine = self._engine
        grown = engine.create(f"frequent_{size}", _frequent(occurrences, frequent, size, self.k))
        where = engine.create(f"occurrences_{size}", _grown_occurrences(occurrences, grown, size))
        engine.drop(frequent, occurrences)
        return grown, where

    def _occurrences_of(self, frequent: Table | exp.Query, size: int, others: int = 0) -> int:
        """Count the occurrences of frequent antichains, which the next level keeps besides ``others``."""
        kept = int(self._engine.scalar("itemsets/total_support", {"frequent": frequent}))
        if others + kept > MAX_KEPT:
            raise BudgetExceeded(
                f"Frequent itemsets of size {size} occur at least {others + kept:,} times: to keep them would need more"
                f" than {(others + kept) * ROW_BYTES / 2**30:.1f} GiB of memory at this size, and more at the next.",
                hint="Lower m, or raise k.",
            )
        return kept


def _ancestors(taxonomy: Taxonomy, leaves: Ints) -> tuple[Ints, Ints]:
    """All pairs (item, proper ancestor of its leaf), as two arrays."""
    items, nodes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    item, node = np.arange(len(leaves)), taxonomy.parent[leaves]
    while len(node := node[inside := node >= 0]):
        item = item[inside]
        items.append(item)
        nodes.append(node)
        node = taxonomy.parent[node]
    return np.concatenate(items), np.concatenate(nodes)


def _guard(total: int, size: int) -> None:
    if total > MAX_ROWS:
        raise BudgetExceeded(
            f"Itemsets of size {size} would need a join of about {total:,} rows; the limit is {MAX_ROWS:,}.",
            hint="Lower m, or raise k.",
        )


def _check_count(batches: list[tuple[Rows, Rows]], size: int) -> None:
    """Refuse more than ``MAX_THREATS`` threats of one size."""
    if sum(len(threats) for threats, _ in batches) > MAX_THREATS:
        raise BudgetExceeded(
            f"There are more than {MAX_THREATS:,} minimal threats of size {size}: to keep them would need more than "
            f"{MAX_THREATS * 16 * size / 2**30:.1f} GiB of memory.",
            hint="Lower m, raise k, or use mhghs instead of hghs.",
        )


def chunks(keys: Ints, mass: Ints) -> list[tuple[int, int]]:
    """Divide keys into ranges (first, last) with at most CHUNK_ROWS of mass each, or of a single key."""
    ranges: list[tuple[int, int]] = []
    start, held = 0, 0
    for i, weight in enumerate(mass.tolist()):
        if held and held + weight > CHUNK_ROWS:
            ranges.append((int(keys[start]), int(keys[i - 1])))
            start, held = i, 0
        held += weight
    if len(keys):
        ranges.append((int(keys[start]), int(keys[-1])))
    return ranges


def _collect(rows: dict[int, Rows], supports: dict[int, Rows], size: int, batches: Iterator[tuple[Rows, Rows]]) -> None:
    """Add the chunks of one size to ``rows`` and ``supports``."""
    parts = [(np.sort(nodes.astype(np.int32, copy=False), axis=1), support) for nodes, support in batches if len(nodes)]
    if size in rows:
        parts.append((rows[size], supports[size]))
    if parts:
        rows[size] = np.concatenate([p[0] for p in parts])
        supports[size] = np.concatenate([p[1] for p in parts]).astype(np.int32, copy=False)


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
