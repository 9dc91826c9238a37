"""The interface of a database in which transactions are anonymized without leaving it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlglot import exp

from anondb.engine import Runner, Table


class Warehouse(Runner, Protocol):
    """A ``Runner`` that reads the owner's tables and writes releases.

    All work happens inside ``snapshot()``. ``fetch`` is the only method by which rows of data reach this process.

    Attributes:
        fetched: the number of rows fetched so far.
    """

    fetched: int

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one state of the source during the block. At its end work tables are gone and the release is visible; an
        error leaves the database as it was."""
        ...

    def source(self, reference: Any, id_column: str, item_column: str) -> Table:
        """The work table ``(id, item)`` of a table: ids and items as texts that are compared by their code points, or
        as whole numbers.

        Raises:
            InputError: the table or a column does not exist, or its type has no exact equality.
        """
        ...

    def number(self, source: Table) -> Table:
        """The work table ``(tid, id)``: the distinct ids of a table, numbered from 1 in an order drawn at random, which is
        drawn once even if a task runs again."""
        ...

    def release(self, name: str, tables: Mapping[str, exp.Query], check: Callable[[Mapping[str, Table]], None]) -> None:
        """Create the schema ``name`` with these tables, then the view ``transactions``, and the function
        ``count_bounds`` where there is one. An error leaves no schema.

        Args:
            name: of a schema that does not exist.
            tables: the rows of each table, sorted.
            check: called with the written tables before the view is made.

        Raises:
            InputError: ``release_exists``.
        """
        ...
