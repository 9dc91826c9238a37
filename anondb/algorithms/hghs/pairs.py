"""Threats of two nodes: the interface by which they are counted, and the choice of how."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.extended import Extended
from anondb.engine import Spread, Table
from anondb.engine.arrays import Ints, Ints32


@dataclass(frozen=True)
class Pairs:
    """Pairs of nodes and their supports."""

    rows: Ints32  # an (n, 2) array of nodes, ascending in each row
    supports: Ints32  # the n supports


@dataclass(frozen=True)
class Triples:
    """Threats of three nodes."""

    rows: Ints32  # an (n, 3) array of nodes, ascending in each row
    supports: Ints32  # the n supports
    # whether no transaction holds three nodes of which the first is frequent with both others, be these nested or of
    # two families: as ``Growth`` decides it
    exhausted: bool


@dataclass(frozen=True)
class Extension:
    """Nodes whose threats of two nodes are asked for in addition to known ones. All are frequent. They have one role each,
    but ``entered`` nodes may be ``missing``, too."""

    active: Ints  # nodes among which all threats are known
    entered: Ints  # nodes that join them; their threats with ``active`` and with their siblings are known
    passive: Ints  # other nodes of which the same threats are known as of ``entered``
    missing: Ints  # nodes to add; their threats with ``active``, ``entered`` and their siblings are not known


class PairCounter(Protocol):
    """Counts the transactions that hold two nodes. A rare pair consists of two nodes, neither above the other, that at least
    one and fewer than k transactions hold. ``SqlPairs`` is the reference, for every runner; ``ArrayPairs`` finds the same
    pairs from arrays of occurrences, and ``SpreadPairs`` from such arrays in the workers of a ``Spread``."""

    supports: Ints  # the support of each node, by node (0 if it does not occur)

    def among(self, nodes: Ints) -> Pairs:
        """All rare pairs among frequent nodes."""

    def added(self, extension: Extension) -> Pairs:
        """The rare pairs among ``entered``, between these and ``passive``, of ``missing`` with ``active`` and ``entered``,
        and of ``missing`` with their siblings there; a pair may be listed twice."""

    def triples(self, nodes: Ints, family: Ints) -> Triples | None:
        """All threats of three of the frequent nodes that are not of two families; None if ``Growth`` has to mine them."""
        return None

    def frequent_occurrences(self, nodes: Ints, family: Ints) -> int | None:
        """How often pairs of the frequent nodes occur that are frequent and not of two families; None if a join would be
        needed to know it: ``Growth`` then counts them by its first join."""
        return None


def pair_counter(extended: Extended, k: int) -> PairCounter:
    """The fastest counter that fits in memory: arrays here or in workers beside the rows, else SQL."""
    from anondb.algorithms.hghs.array_pairs import ArrayPairs
    from anondb.algorithms.hghs.spread_pairs import SpreadPairs

    if ArrayPairs.fits(extended, k):
        return ArrayPairs(extended, k)
    workers = extended.engine
    if isinstance(workers, Spread) and SpreadPairs.fits(extended, workers, k):
        return SpreadPairs(extended, workers, k)
    return SqlPairs(extended, k)


WITHIN, BETWEEN = "warehouse/threats/pairs_within", "warehouse/threats/pairs_between"


class SqlPairs(PairCounter):
    """Counts pairs of nodes by SQL, and fetches the rare ones alone."""

    def __init__(self, extended: Extended, k: int) -> None:
        self._extended, self._k = extended, k
        self.supports = extended.supports()

    def among(self, nodes: Ints) -> Pairs:
        """All rare pairs among frequent nodes."""
        with self._extended.rows_of("fresh", nodes) as fresh:
            return joined([self._rare(WITHIN, {"fresh": fresh})])

    def added(self, extension: Extension) -> Pairs:
        """The rare pairs that an extension asks for."""
        rows_of, rare = self._extended.rows_of, []
        active, entered, passive, missing = extension.active, extension.entered, extension.passive, extension.missing
        if len(entered):
            with rows_of("fresh", entered) as fresh:
                rare.append(self._rare(WITHIN, {"fresh": fresh}))
                if len(passive):
                    with rows_of("others", passive) as others:
                        rare.append(self._rare(BETWEEN, {"fresh": fresh, "others": others}))
        if len(missing):
            with rows_of("fresh", missing, self._extended.taxonomy.parent[missing]) as fresh:
                rare.append(self._rare(WITHIN, {"fresh": fresh}, families=True))
                with rows_of("others", np.concatenate((active, entered))) as others:
                    rare.append(self._rare(BETWEEN, {"fresh": fresh, "others": others}))
        return joined(rare)

    def _rare(self, query: str, tables: dict[str, Table], *, families: bool = False) -> Pairs:
        """Run a query for pairs, in ranges of the first node if there may be more than CHUNK_ROWS different pairs."""
        engine, size = self._extended.engine, self._extended.taxonomy.size
        sides = {"others": tables["fresh"], **tables}
        if not families:  # a join by family has fewer rows
            budget.check_pairs(int(engine.fetch("warehouse/threats/total_mass", sides, most=1)["mass"][0]))
        ranges = [(0, size)]
        if budget.several(size**2):
            mass = engine.fetch("warehouse/threats/partners", sides, most=size)
            ranges = budget.chunks(mass["node"], mass["mass"])
        batches = []
        for low, high in ranges:
            f = engine.fetch(query, tables, most=budget.MAX_THREATS + 1, k=self._k, first_from=low, first_to=high)
            batches.append(Pairs(np.sort(np.column_stack((f["n1"], f["n2"])), axis=1), f["support"]))
            budget.check_threats(sum(len(batch.supports) for batch in batches), 2)
        return joined(batches)


def joined(parts: list[Pairs]) -> Pairs:
    """The pairs of all parts, in 32-bit integers."""
    rows = [np.empty((0, 2), dtype=np.int32), *(p.rows.astype(np.int32, copy=False) for p in parts)]
    supports = [np.empty(0, dtype=np.int32), *(p.supports.astype(np.int32, copy=False) for p in parts)]
    return Pairs(np.concatenate(rows), np.concatenate(supports))
