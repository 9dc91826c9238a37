"""Threats of two nodes: the interface by which they are counted, and the choice of how."""

from dataclasses import dataclass
from typing import Protocol

from anondb.algorithms.hghs.extended import Extended
from anondb.engine import Spread
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
    """Nodes whose threats of two nodes are asked for in addition to known ones.

    All are frequent. They have one role each, but ``entered`` nodes may be ``missing``, too.
    """

    active: Ints  # nodes among which all threats are known
    entered: Ints  # nodes that join them; their threats with ``active`` and with their siblings are known
    passive: Ints  # other nodes of which the same threats are known as of ``entered``
    missing: Ints  # nodes to add; their threats with ``active``, ``entered`` and their siblings are not known


class PairCounter(Protocol):
    """Counts the transactions that hold two nodes.

    A rare pair consists of two nodes, neither above the other, that at least one and fewer than k transactions hold.
    ``SqlPairs`` is the reference, for every runner; ``ArrayPairs`` finds the same pairs from arrays of occurrences, and
    ``SpreadPairs`` from such arrays in the workers of a ``Spread``.
    """

    @property
    def supports(self) -> Ints:
        """The support of each node, by node (0 if it does not occur)."""
        ...

    def among(self, nodes: Ints) -> Pairs:
        """All rare pairs among frequent nodes."""
        ...

    def added(self, extension: Extension) -> Pairs:
        """The rare pairs among ``entered``, between these and ``passive``, of ``missing`` with ``active`` and ``entered``,
        and of ``missing`` with their siblings there; a pair may be listed twice.
        """
        ...

    def triples(self, nodes: Ints, family: Ints) -> Triples | None:
        """All threats of three of the frequent nodes that are not of two families; None if ``Growth`` has to mine them."""
        ...

    def frequent_occurrences(self, nodes: Ints, family: Ints) -> int | None:
        """How often pairs of the frequent nodes occur that are frequent and not of two families; None if a join would be
        needed to know it."""
        ...


def pair_counter(extended: Extended, k: int) -> PairCounter:
    """The fastest counter that fits in memory: arrays here or in workers beside the rows, else SQL."""
    from anondb.algorithms.hghs.array_pairs import ArrayPairs
    from anondb.algorithms.hghs.spread_pairs import SpreadPairs
    from anondb.algorithms.hghs.sql_pairs import SqlPairs

    if ArrayPairs.fits(extended, k):
        return ArrayPairs(extended, k)
    workers = extended.engine
    if isinstance(workers, Spread) and SpreadPairs.fits(extended, workers, k):
        return SpreadPairs(extended, workers, k)
    return SqlPairs(extended, k)
