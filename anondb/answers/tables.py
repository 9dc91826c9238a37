"""The tables of possible worlds, under the names that queries use."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.answers.files import copied
from anondb.answers.views import OWN, schema_of
from anondb.answers.worlds import Worlds
from anondb.engine import DuckDBEngine
from anondb.engine.untrusted import look_in
from anondb.release.reader import SealedRelease


class WorldTables:
    """Worlds whose tables are found by the names of the original (``estimates.Drawn``)."""

    def __init__(self, engine: DuckDBEngine, files: Sequence[SealedRelease]) -> None:
        self._engine = engine
        self._worlds = Worlds(engine, copied(engine, files))
        self.count = self._worlds.count
        self.possible = all(one.manifest["suppression"] == "none" for one in files)

    def draw(self, items: frozenset[str] | None) -> None:
        """Draw what a query needs: who holds these items, or, for None, all of them."""
        if items is None:
            self._worlds.draw()
        else:
            self._worlds.draw(frozenset[str]().union(*map(self._worlds.labels_of, items)))

    def use(self, world: int | None) -> None:
        """Make the tables of a world those that a query names; without a number, leave the worlds."""
        look_in(self._engine, *(["memory.main"] if world is None else [schema_of(world), OWN]))


class OwnTables:
    """The analyst's tables alone, as the only world of queries that read nothing else (``estimates.Drawn``)."""

    count, possible = 1, False

    def __init__(self, engine: DuckDBEngine) -> None:
        self._engine = engine

    def draw(self, items: frozenset[str] | None) -> None:
        """Do nothing."""

    def use(self, world: int | None) -> None:
        """Make the analyst's tables those that a query names; without a number, leave them."""
        look_in(self._engine, "memory.main" if world is None else OWN)
