"""Threats of two nodes, counted in arrays by workers beside the rows: one pass over these for all requests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.array_pairs import CELL, SIBLINGS, WANTED, ancestors, arrays_fit, numbers_above, roles_in
from anondb.algorithms.hghs.extended import Extended
from anondb.algorithms.hghs.pairs import Extension, PairCounter, Pairs, joined
from anondb.algorithms.hghs.triangle import Triangle, restricted, rows_of_triangle
from anondb.engine import Spread, Table, put_integers, reads
from anondb.engine.arrays import Ints, Ints32, run_starts

if TYPE_CHECKING:
    import pyarrow as pa


PIECE = 250_000  # occurrences that are counted at once
COLUMNS = {"n1": "INTEGER", "n2": "INTEGER", "support": "INTEGER"}


class SpreadPairs(PairCounter):
    """Counts the pairs of all nodes that may be frequent, once; each request selects among the rare ones, where they lie.
    These nodes are the inner ones, and the leaves that k transactions hold. If the workers have no room for a triangle of
    all of them, it is counted in ranges of its rows, with one pass for each."""

    def __init__(self, extended: Extended, workers: Spread, k: int) -> None:
        self._engine, self._taxonomy = extended.engine, extended.taxonomy
        self.supports = np.zeros(self._taxonomy.size, dtype=np.int64)  # of each node
        self.supports[extended.leaves] = extended.dataset.supports
        nodes = np.flatnonzero(~self._taxonomy.is_leaf | (self.supports >= k))
        self._ranges = self._counted(extended, workers, nodes[nodes > 0], k)
        for pairs in self._ranges:
            alone = reads.rows(pairs, "n1 AS node, support", where="n1 = n2")
            counted = self._engine.fetch(alone, most=len(nodes))
            self.supports[counted["node"]] = counted["support"]
        self.supports[0] = extended.dataset.non_empty

    @staticmethod
    def fits(extended: Extended, workers: Spread, k: int) -> bool:
        """Whether the workers have room for the arrays, and at most ``MOST_PASSES`` passes count all pairs."""
        return arrays_fit(extended, workers.worker_bytes, k)

    def among(self, nodes: Ints) -> Pairs:
        """All rare pairs among frequent nodes."""
        return self.added(Extension(active=nodes[:0], entered=nodes, passive=nodes[:0], missing=nodes[:0]))

    def added(self, extension: Extension) -> Pairs:
        """The rare pairs that an extension asks for."""
        engine, parent = self._engine, self._taxonomy.parent
        roles = roles_in(extension, len(parent))
        nodes = np.flatnonzero(roles)
        first, second = np.nonzero(WANTED)
        siblings = (WANTED[first, second] == SIBLINGS).astype(int)
        tables = {
            "roles": put_integers(engine, "roles", node=nodes, role=roles[nodes].astype(int), parent=parent[nodes]),
            "wanted": put_integers(engine, "wanted", role_1=first, role_2=second, siblings=siblings),
        }
        parts: list[Pairs] = []
        for pairs in self._ranges:
            bound = {"pairs": pairs, **tables}
            rare = engine.fetch("warehouse/threats/asked_pairs", bound, most=budget.MAX_THREATS + 1)
            parts.append(Pairs(np.column_stack((rare["n1"], rare["n2"])), rare["support"]))
            budget.check_threats(sum(len(part.supports) for part in parts), 2)
        engine.drop(*tables.values())
        return joined(parts)

    def _counted(self, extended: Extended, workers: Spread, nodes: Ints, k: int) -> list[Table]:
        """For each range of first nodes, the rare pairs ``(n1, n2, support)``, and each node with itself."""
        engine, last, above = self._engine, self._taxonomy.last, ancestors(extended)
        cells = workers.worker_bytes // 2 // CELL
        leaves = extended.put_leaves()
        rows = reads.joined(extended.dataset.transactions, leaves, "item", "one.tid, other.node")
        ranges: list[Table] = []
        while len(nodes):
            after = np.searchsorted(nodes, last[nodes], side="right")
            work = partial(counts, nodes, after, numbers_above(self._taxonomy, above, nodes), cells)
            counted = workers.spread("counts", rows, ("tid", "node"), work, COLUMNS)
            name = f"rare_pairs_{len(ranges)}"
            rare = f"sum(support) < {k} OR n1 = n2"
            summed = reads.rows(counted, "n1, n2, CAST(sum(support) AS INTEGER) AS support", group="n1, n2", having=rare)
            ranges.append(engine.create(name, summed))
            engine.drop(counted)
            nodes = nodes[rows_of_triangle(len(nodes), cells) :]
        engine.drop(leaves)
        return ranges


def counts(
    nodes: Ints, after: Ints, above: Ints32, cells: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Count pairs of nodes, neither above the other, and each node with itself.

    Args:
        nodes: the nodes, ascending.
        after: for each of them, the place in ``nodes`` of the first node after its subtree.
        above: for each leaf the places of the nodes above or equal to it (``numbers_above``).
        cells: how many pairs may be counted: those whose first node lies in the first rows of a triangle.
        batches: rows ``(tid, leaf)`` of whole transactions, sorted.
    """
    triangle = Triangle(len(nodes), cells)
    supports = np.zeros(len(nodes), dtype=np.int64)
    for leaf, begin in _transactions(batches):
        number, starts, length = restricted(leaf, begin, above)
        triangle.add(number, starts, length)
        supports += np.bincount(number, minlength=len(nodes))
    alone = np.flatnonzero(supports[: triangle.rows])
    yield _batch(nodes[alone], nodes[alone], supports[alone])
    for a, b, support in triangle.counted():
        apart = b >= after[a]
        yield _batch(nodes[a[apart]], nodes[b[apart]], support[apart])


def _transactions(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Ints32, Ints]]:
    """The leaves of whole transactions, and where each begins, in pieces."""
    held: list[tuple[Ints32, Ints32]] = []
    for batch in batches:
        held.append((batch.column(0).to_numpy(), batch.column(1).to_numpy()))
        if sum(len(tid) for tid, _ in held) >= PIECE:
            tid, leaf = (np.concatenate(parts) for parts in zip(*held, strict=True))
            whole = int(np.searchsorted(tid, tid[-1]))  # the last transaction may go on
            held = [(tid[whole:], leaf[whole:])]
            yield from _piece(tid[:whole], leaf[:whole])
    if held:
        yield from _piece(*(np.concatenate(parts) for parts in zip(*held, strict=True)))


def _piece(tid: Ints32, leaf: Ints32) -> Iterator[tuple[Ints32, Ints]]:
    if len(tid):
        yield leaf, run_starts(tid)


def _batch(*columns: Ints | Ints32) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = [pa.array(values.astype(np.int32)) for values in columns]
    return pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))
