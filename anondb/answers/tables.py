"""The tables of possible worlds, under the names that queries use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from sqlglot import exp

from anondb.answers.all_worlds import over_worlds
from anondb.answers.files import BAGS, FIRST_OTHER, SETS, File, copied, copy_rows
from anondb.answers.holder_counts import HOLDERS, Persons, over_holders
from anondb.answers.ranged.aggregates import has_aggregate
from anondb.answers.spread import LEAST, Spread, factor_of
from anondb.answers.views import OWN, schema_of, world_is, world_numbers
from anondb.answers.worlds import Worlds
from anondb.engine import DuckDBEngine
from anondb.engine.untrusted import search_path
from anondb.query.parsing import lowered
from anondb.release.objects import RECORDS
from anondb.release.reader import SealedRelease

FEWEST = 10
"""Other worlds below which quantiles say nothing."""
UNSUPPORTED, BAG, LARGE = (
    "nothing in the release says which member of a released item is frequent. Item supports would",
    "nothing in a release of bags says which member of a released item is frequent",
    f"the release is too large for {FEWEST} worlds more",
)


class WorldTables:
    """Worlds whose tables have the names of the original."""

    def __init__(
        self,
        engine: DuckDBEngine,
        files: Sequence[SealedRelease],
        is_aggregate: Callable[[str], bool],
        worlds: Worlds | None = None,
        first: int = 0,
    ) -> None:
        self._engine, self._sealed, self._first, self._inside = engine, files, first, False
        self._is_aggregate = is_aggregate
        self._labels: frozenset[str] | None = None
        self._counted = False
        self._files = [] if worlds else copied(engine, files, rows=False)
        self._has_rows = not self._files or self._files[0].description.rows != SETS
        self._worlds = worlds or Worlds(engine, self._files)
        self.count = self._worlds.count
        self.possible = all(release.manifest["suppression"] == "none" for release in files)

    def prepared(self, tree: exp.Expr, items: frozenset[str] | None) -> exp.Expr:
        """Draw what a query needs, and return it as it reads the tables."""
        persons = self._persons
        counted = None if persons is None else over_holders(tree, persons)
        if counted is None:
            self.draw(items)
            return tree
        self._worlds.count_holders()
        self._counted = True
        return counted

    @property
    def _persons(self) -> Persons | None:
        """The table of transactions of a release of sets, unless it has lists."""
        description = self._worlds.description
        if description.rows != SETS or description.lists:
            return None
        others = {a.column.name for a in description.attributes if description.inline}
        others |= set() if description.partition is None else {description.partition[0].name}
        drawn = {"baskets", *(() if description.records is None or description.inline else (RECORDS, description.records))}
        table, item, id = map(lowered, (description.table, description.item.name, description.id.name))
        return Persons(table, item, id, {*map(lowered, others)}, {*map(lowered, drawn)} - {table}, self._is_aggregate)

    def draw(self, items: frozenset[str] | None) -> None:
        """Draw who holds these items, or, for None, all of them."""
        self._counted, labels = False, map(self._worlds.labels_of, items or ())
        self._labels = None if items is None else frozenset[str]().union(*labels)
        self._copy_rows()
        self._worlds.draw(self._labels)

    def _copy_rows(self) -> None:
        """Copy the rows of releases of sets, unless they are there: questions that numbers of holders answer need none."""
        if not self._has_rows:
            copy_rows(self._engine, self._sealed, self._files)
            self._has_rows = True

    def use(self, world: int | None) -> None:
        """Make the tables of a world those that a query names; without a number, leave the worlds."""
        number = None if world is None else self._first + world
        schemas = ["memory.main"] if world is None else [OWN, schema_of(self._first)]
        path = [] if self._inside and world is not None else [search_path(*schemas)]
        self._inside = False  # also if it is interrupted
        self._engine.run_all([world_is(number), *path], "choosing a world")
        self._inside = world is not None

    def at_once(self, tree: exp.Expr) -> exp.Query | None:
        """A query over all worlds (``all_worlds``); None where they are asked one by one."""
        others = set() if self._counted else {HOLDERS}  # a table of the analyst, or of the original, may have this name
        if any(table.db or lowered(table.name) in others for table in tree.find_all(exp.Table)):
            return None
        tables = self._worlds.at_once(self._labels, counted=self._counted)

        def of_all(table: exp.Table) -> exp.Expr | None:
            held = tables.get(lowered(table.name))
            return None if held is None else held.expression()

        numbers = world_numbers(self._first, self.count)
        return over_worlds(tree, of_all, numbers, lambda node: has_aggregate(node, self._is_aggregate))

    @cached_property
    def spread(self) -> Spread:
        """What the spread of numbers is computed from."""
        files, rows = self._files, self._files[0].description.rows
        if rows == BAGS or any(map(_says_nothing, files)):
            return Spread(None, reason=BAG if rows == BAGS else UNSUPPORTED)
        self._copy_rows()
        supported = rows == SETS and not any(file.members.unsupported.any() for file in files)
        measured = supported or all(release.manifest["model"] == "kkm" for release in self._sealed)
        others = self._worlds.others()
        if others.count < FEWEST:
            return Spread(None, reason=LARGE)
        factor = factor_of(self._engine, files) if supported else LEAST
        return Spread(
            WorldTables(self._engine, self._sealed, self._is_aggregate, others, FIRST_OTHER), factor, measured=measured
        )


def _says_nothing(file: File) -> bool:
    """Whether a file has no item supports and no item that several released items list: a global recoding."""
    members = file.members
    return file.description.rows == SETS and bool(members.unsupported.any()) and int(np.bincount(members.item).max()) == 1


class OwnTables:
    """The analyst's tables alone, as the only world of queries that read nothing else."""

    count, possible = 1, False

    def __init__(self, engine: DuckDBEngine) -> None:
        self._engine = engine

    def prepared(self, tree: exp.Expr, items: frozenset[str] | None) -> exp.Expr:
        """Return the query as it is."""
        return tree

    def draw(self, items: frozenset[str] | None) -> None:
        """Do nothing."""

    def at_once(self, tree: exp.Expr) -> None:
        """Do nothing: there is one world."""

    def use(self, world: int | None) -> None:
        """Make the analyst's tables those that a query names; without a number, leave them."""
        self._engine.run(search_path("memory.main" if world is None else OWN), "the search path")


Drawn = WorldTables | OwnTables
"""Possible worlds as tables."""
