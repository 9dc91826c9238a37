"""What an engine does with tables that lie in another database, and with what is written there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anondb.engine.queries import AnyQuery

Name = tuple[str | None, str | None, str]  # catalog and schema, None if not stated, and table

_SCHEMES = ("postgresql", "postgres")


def is_url(source: Any) -> bool:
    """Whether a source or a target is a URL of PostgreSQL."""
    return isinstance(source, str) and "://" in source and source.partition("://")[0].lower() in _SCHEMES


@cache
def _plug_ins(group: str) -> dict[str, Any]:
    from importlib.metadata import entry_points  # takes 10 to 20 CPU milliseconds

    return {point.name: point for point in entry_points(group=group)}


def plug_in(name: str, group: str = "anondb.warehouses") -> Callable[..., Any] | None:
    """What opens the warehouse of a name (``warehouse_at``); None if no package has it."""
    point = _plug_ins(group).get(name)
    return None if point is None else point.load()


def warehouse_at(source: Any) -> Callable[..., Any] | None:
    """What opens the warehouse in which a source lies; None if it lies in none.

    Warehouses are entry points: those of the group ``anondb.warehouses`` have the names of schemes of URLs such as
    ``sqlite://shop.sqlite#sales``, those of ``anondb.frames`` the names of packages whose objects are sources, such
    as ``pyspark``. An entry point takes the source and, by name, ``on_statement`` and ``on_progress``; it returns the
    warehouse, and the source as this names it. The tables of PostgreSQL are those of an owner's database, which is
    opened first.
    """
    if not isinstance(source, str):
        package = type(source).__module__.partition(".")[0]
        return None if package in ("anondb", *sys.stdlib_module_names) else plug_in(package, "anondb.frames")
    return plug_in(source.partition("://")[0].lower()) if "://" in source and not is_url(source) else None


class Elsewhere:
    """An engine whose tables all lie in its own database. ``postgres.owner`` has one that fetches them."""

    runs_sql = True  # whether SQL of the user runs in the database
    # what to do at the end of the transaction: after its commit, or after its rollback
    others: list[tuple[Callable[[], None], Callable[[], None]]]

    def warehouse(self) -> Any:
        """The database in whose transaction the engine works, as a warehouse; None if it has no other than its own."""

    def look_up(self, names: Sequence[Name]) -> None:
        """Declare the tables with one of these names here, with their columns and without rows."""

    def look_up_all(self) -> None:
        """Declare all tables of the owner here, with their columns and without rows."""

    def declare_tables(self, query: AnyQuery) -> None:
        """Declare the tables of a query here, with their columns and without rows."""

    def at_hand(self, query: AnyQuery) -> None:
        """Fetch the rows of the tables of a query. Call it inside a transaction."""

    def look_again(self) -> None:
        """Fetch the ledger if another process has changed it since the last transaction. Call it outside a transaction."""

    def claim(self) -> None:
        """Let no other transaction write into the ledger until this one ends: call it before long work."""

    def open_schema(self, name: str) -> None:
        """Fetch the release in a schema."""

    def at_the_end(self, keep: Callable[[], None], undo: Callable[[], None]) -> None:
        """Have the transaction call ``keep`` after its commit, or ``undo`` after its rollback."""
        self.others.append((keep, undo))

    def ended(self, *, kept: bool) -> None:
        """Call what waits for the end of the transaction."""
        waiting, self.others = self.others, []
        while kept and waiting:
            keep, undo = waiting.pop(0)
            try:
                keep()
            except BaseException:
                undo()
                kept = False
                for _, other in waiting:
                    other()
                raise
        for _, undo in waiting:
            undo()
