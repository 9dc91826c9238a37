"""What an engine does with tables that lie in another database, and with what is written there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

Name = tuple[str | None, str | None, str]  # catalog and schema, None if not stated, and table

_SCHEMES = ("postgresql", "postgres")


def is_url(source: Any) -> bool:
    """Whether a source or a target is a URL of PostgreSQL."""
    return isinstance(source, str) and "://" in source and source.partition("://")[0].lower() in _SCHEMES


class Elsewhere:
    """An engine whose tables all lie in its own database. ``postgres.owner`` has one that fetches them.

    Attributes:
        runs_sql: whether SQL of the user runs in the database.
        others: what to do at the end of the transaction: after its commit, or after its rollback.
    """

    runs_sql = True
    others: list[tuple[Callable[[], None], Callable[[], None]]]

    def look_up(self, names: Sequence[Name]) -> None:
        """Declare the tables with one of these names here, with their columns and without rows."""

    def declare_tables(self, query: exp.Query) -> None:
        """Declare the tables of a query here, with their columns and without rows."""

    def at_hand(self, query: exp.Query) -> None:
        """Fetch the rows of the tables of a query. Call it inside a transaction."""

    def look_again(self) -> None:
        """Fetch the ledger if another process has changed it since the last transaction. Call it outside a transaction."""

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
