"""Threats of two nodes by joins of the extended transactions with themselves: the reference, for every runner."""

from functools import cached_property

import numpy as np

from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.extended import Extended
from anondb.algorithms.hghs.pairs import Extension, Pairs
from anondb.engine import Table
from anondb.engine.arrays import Ints

WITHIN, BETWEEN = "warehouse/threats/pairs_within", "warehouse/threats/pairs_between"


class SqlPairs:
    """Counts pairs of nodes by SQL, and fetches the rare ones alone."""

    def __init__(self, extended: Extended, k: int) -> None:
        self._extended, self._k = extended, k

    @cached_property
    def supports(self) -> Ints:
        """The support of each node, by node."""
        return self._extended.supports()

    def among(self, nodes: Ints) -> Pairs:
        """All rare pairs among frequent nodes."""
        with self._extended.rows_of("fresh", nodes) as fresh:
            return _joined([self._rare(WITHIN, {"fresh": fresh})])

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
        return _joined(rare)

    def triples(self, nodes: Ints, family: Ints) -> None:
        """``Growth`` mines them."""

    def frequent_occurrences(self, nodes: Ints, family: Ints) -> None:
        """``Growth`` counts them by its first join."""

    def _rare(self, query: str, tables: dict[str, Table], *, families: bool = False) -> Pairs:
        """Run a query for pairs, in ranges of the first node if there may be more than CHUNK_ROWS different pairs."""
        engine, size = self._extended.engine, self._extended.taxonomy.size
        joined = {"others": tables["fresh"], **tables}
        if not families:  # a join by family has fewer rows
            budget.check_pairs(int(engine.fetch("warehouse/threats/total_mass", joined, most=1)["mass"][0]))
        ranges = [(0, size)]
        if budget.several(size**2):
            mass = engine.fetch("warehouse/threats/partners", joined, most=size)
            ranges = budget.chunks(mass["node"], mass["mass"])
        batches = []
        for low, high in ranges:
            f = engine.fetch(query, tables, most=budget.MAX_THREATS + 1, k=self._k, first_from=low, first_to=high)
            batches.append(Pairs(np.sort(np.column_stack((f["n1"], f["n2"])), axis=1), f["support"]))
            budget.check_threats(sum(len(batch.supports) for batch in batches), 2)
        return _joined(batches)


def _joined(parts: list[Pairs]) -> Pairs:
    rows = [np.empty((0, 2), dtype=np.int32), *(p.rows.astype(np.int32, copy=False) for p in parts)]
    supports = [np.empty(0, dtype=np.int32), *(p.supports.astype(np.int32, copy=False) for p in parts)]
    return Pairs(np.concatenate(rows), np.concatenate(supports))
