"""The interface of an engine, for any database that runs the SQL.

HgHs, mHgHs and the verifier of k^m-anonymity are written against ``Runner``, which runs the portable statements of
``sql/warehouse``; PostgreSQL and Spark have one, too (``anondb/warehouse``). Everything else is written against ``Engine``,
of which ``DuckDBEngine`` is the only one. Code that opens, seals or locks files needs ``DuckDBEngine`` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.engine.elsewhere import Name
from anondb.engine.queries import NamedRows, Tables, Value
from anondb.engine.tables import Table

Columns = dict[str, npt.NDArray[Any]]


def has_nulls(column: npt.NDArray[Any]) -> bool:
    """Whether a column of a result has NULLs, which DuckDB masks. ``numpy.ma.is_masked`` tells the same, but its import
    takes 10 to 20 CPU milliseconds."""
    return bool(np.any(getattr(column, "mask", False)))


class Runner(Protocol):
    """Makes work tables from portable statements where the data lie, and fetches a bounded number of rows.

    Statements are named queries (``sql/<room>/<name>.sql``) or trees of sqlglot, in DuckDB's dialect; SQL text is never
    concatenated. Work tables are temporary, and dropped at the end of the transaction at the latest.
    """

    @property
    def portable_only(self) -> bool:
        """Whether it runs no other statements than portable ones: none with lists, which only DuckDB has."""
        ...

    @property
    def array_bytes(self) -> int:
        """How many bytes of arrays an algorithm may hold in this process; 0 where occurrences must stay in the database."""
        ...

    def create(
        self, target: str, name: str | exp.Query | NamedRows, tables: Tables | None = None, **values: Value
    ) -> Table:
        """Create the work table ``target`` from a named query or a tree. Return its identity."""
        ...

    def put(self, target: str, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> Table:
        """Create a work table from arrays: ``{name: (SQL type, values)}``. Return its identity."""
        ...

    def fetch(
        self, name: str | exp.Query | NamedRows, tables: Tables | None = None, *, most: int, **values: Value
    ) -> Columns:
        """Run a named query or a tree; return its columns.

        Args:
            name, tables, values: the query.
            most: the largest number of rows, so that nobody fetches a row for each person without a word.

        Raises:
            BudgetExceeded: there are more.
        """
        ...

    def drop(self, *tables: Table) -> None:
        """Drop work tables."""
        ...

    def progress(self, words: str, share: float | None = None) -> None:
        """Report the current step of long work to the user, and the share of it that is done if that is known."""
        ...


@runtime_checkable
class Spread(Protocol):
    """A runner of a database that runs functions beside the rows, in worker processes.

    Attributes:
        worker_bytes: how many bytes of arrays a worker may hold; 0 if none is to run a function.
    """

    worker_bytes: int

    def spread(
        self, target: str, rows: NamedRows, order: Sequence[str], work: Callable[[Any], Any], columns: Mapping[str, str]
    ) -> Table:
        """Create a work table from what a function makes of the rows of a query.

        Args:
            target: the name of the work table.
            rows: the query.
            order: columns by which each worker gets its rows sorted; it gets all rows with a value of the first.
            work: takes an iterator of Arrow batches, and returns one. It needs NumPy and pyarrow, nothing else: workers may
                not have this package.
            columns: the columns that it returns, ``{name: SQL type}``.
        """
        ...


class Engine(Runner, Protocol):
    """Runs any statement and fetches columns. All work happens inside ``transaction()``."""

    @property
    def memory_limit(self) -> int | None:
        """The bytes of memory that this process should not exceed by more than a quarter; None if there is no limit."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Begin a transaction: one snapshot of the source; committed at the end of the block, rolled back on any error."""
        ...

    def query(self, name: str, tables: Tables | None = None, **values: Value) -> Columns:
        """Run a named query with these tables and values; return its columns."""
        ...

    def query_each(self, name: str, parts: Sequence[Tables]) -> list[Columns]:
        """Run a named query on several sets of tables, in one statement for many; returns the rows of each, in no order."""
        ...

    def rows_each(self, name: str, parts: Sequence[tuple[Tables, int]]) -> list[Columns]:
        """Run a named query that only computes columns on several sets of tables with known numbers of rows, in one
        statement for many; returns the rows of each. The values are numbers, and objects where some are NULL."""
        ...

    def scalar(self, name: str | exp.Query, tables: Tables | None = None, **values: Value) -> Any:
        """Run a named query or a tree that returns one row and one column; return its value."""
        ...

    def select(self, tree: exp.Query, what: str = "generated query") -> Columns:
        """Run a tree and return its columns; ``what`` names it in errors."""
        ...

    def create(
        self, target: str | Table, name: str | exp.Query | NamedRows, tables: Tables | None = None, **values: Value
    ) -> Table:
        """Create a table from a named query or a tree: a work table if ``target`` is a string. Return its identity."""
        ...

    def put(self, target: str | Table, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> Table:
        """Create a table from arrays: ``{name: (SQL type, values)}``. Return its identity."""
        ...

    def insert(self, target: Table, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> None:
        """Add rows from arrays to a table, in the form of ``put``."""
        ...

    def run(self, statement: exp.Expr, what: str) -> None:
        """Run a statement tree and ignore its result."""
        ...

    def run_all(self, statements: Iterable[exp.Expr | str], what: str) -> None:
        """Run several statements (trees or texts) in one call and ignore their results."""
        ...

    def work_table(self, name: str) -> Table:
        """The identity of a work table."""
        ...

    def exists(self, table: Table) -> bool:
        """Whether a table or view exists."""
        ...

    def account(self, account: object) -> None:
        """Note the account of a file that was read."""
        ...

    def accounting(self) -> AbstractContextManager[list[Any]]:
        """Collect the accounts of the files that a block reads."""
        ...

    def registered(self, source: Any) -> AbstractContextManager[Table]:
        """Make a data frame, an Arrow table or a dict of arrays readable as a table during a block."""
        ...

    def look_up(self, names: Sequence[Name]) -> None:
        """Make the columns of the tables with one of these names known, if they lie in another database."""
        ...

    def look_up_all(self) -> None:
        """Make the columns of all tables of the owner known, if they lie in another database."""
        ...

    def at_hand(self, query: exp.Query) -> None:
        """Fetch the rows of the tables of a query, if they lie in another database."""
        ...

    def open_schema(self, name: str) -> None:
        """Fetch the release in a schema, if it lies in another database."""
        ...
