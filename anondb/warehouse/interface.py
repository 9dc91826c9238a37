"""The interface of a database in which transactions are anonymized without leaving it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from anondb.engine import Runner, Table


class Warehouse(Runner, Protocol):
    """A ``Runner`` that reads the owner's tables.

    All work happens inside ``snapshot()``. ``fetch`` is the only method by which rows of data reach this process.

    Attributes:
        fetched: the number of rows fetched so far.
        notes: what the owner should know of how the work was done.
    """

    fetched: int
    notes: tuple[str, ...]

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one state of the source during the block. At its end work tables are gone; an error leaves the database as
        it was."""
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

    def names(self, reference: Any, id_column: str, item_column: str) -> dict[str, Any]:
        """The names of a source and its columns, and the types of these, as a ``Dataset`` has them."""
        ...


class Carrier(Warehouse, Protocol):
    """A warehouse that does the work of an owner's engine, and hands it the released rows.

    Attributes:
        name: the name of the database in messages.
    """

    name: str

    def has_rows(self, reference: Any, id_column: str, item_column: str, least: int) -> bool:
        """Whether a source has at least ``least`` rows."""
        ...

    def begin(self) -> None:
        """Begin to work in the transaction of the owner's engine, instead of ``snapshot()``; ``sweep`` ends it."""
        ...

    def rows_of(self, table: Table, columns: Sequence[str]) -> AbstractContextManager[Any]:
        """The rows of a work table in Arrow, sorted by all columns."""
        ...

    def sweep(self) -> None:
        """Remove all work tables. It may be called again."""
        ...
