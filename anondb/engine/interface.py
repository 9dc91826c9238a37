"""The interface of an engine, for any database that runs the SQL.

HgHs, mHgHs and the verifier of k^m-anonymity are written against ``Runner``, which runs the portable statements of
``sql/warehouse``; PostgreSQL and Spark have one, too (``anondb/warehouse``). Everything else is written against
``DuckDBEngine``, called ``Engine`` where nothing but its statements matters, not which files it opens, seals or locks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from anondb.engine.queries import Tables
from anondb.engine.texts import Query, Table, Value
from anondb.engine.trees import exp

Columns = dict[str, npt.NDArray[Any]]


def has_nulls(column: npt.NDArray[Any]) -> bool:
    """Whether a column of a result has NULLs, which DuckDB masks. ``numpy.ma.is_masked`` tells the same, but its import
    takes 10 to 20 CPU milliseconds."""
    return bool(np.any(getattr(column, "mask", False)))


def filled(column: npt.NDArray[Any], value: Any) -> npt.NDArray[Any]:
    """A column of a result with a value in the place of NULL."""
    return np.asarray(column.filled(value) if has_nulls(column) else column)  # type: ignore[attr-defined]


def tuples(columns: Columns) -> Iterator[tuple[Any, ...]]:
    """The rows of a result, as values of Python."""
    return zip(*(column.tolist() for column in columns.values()), strict=True)


class Runner(Protocol):
    """Makes work tables from portable statements where the data lie, and fetches a bounded number of rows. Statements are
    named queries (``sql/<room>/<name>.sql``), composed texts or trees of sqlglot, in DuckDB's dialect. Work tables are
    temporary, and dropped at the end of the transaction at the latest."""

    @property
    def portable_only(self) -> bool:
        """Whether it runs no other statements than portable ones: none with lists, which only DuckDB has."""

    @property
    def array_bytes(self) -> int:
        """How many bytes of arrays an algorithm may hold in this process; 0 where occurrences must stay in the database."""

    def create(self, target: str, name: str | Query | exp.Query, tables: Tables | None = None, **values: Value) -> Table:
        """Create the work table ``target`` from a query, which may be a named one. Return its identity."""

    def put(self, target: str, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> Table:
        """Create a work table from arrays: ``{name: (SQL type, values)}``. Return its identity."""

    def fetch(self, name: str | Query | exp.Query, tables: Tables | None = None, *, most: int, **values: Value) -> Columns:
        """Run a query, which may be a named one; return its columns, of at most ``most`` rows: nobody fetches a row for
        each person without a word."""

    def drop(self, *tables: Table) -> None:
        """Drop work tables."""

    def progress(self, words: str, share: float | None = None) -> None:
        """Report the current step of long work to the user, and the share of it that is done if that is known."""


@dataclass(frozen=True, eq=False, repr=False)
class Origin:
    """Where the occurrences of a dataset lie: a runner, its work tables ``(tid, item)`` and, unless tids are in the order of
    the ids, ``(tid, id)``; and what drops these."""

    runner: Runner
    transactions: Table
    ids: Table | None = None
    sweep: Callable[[], object] = list


@runtime_checkable
class Spread(Protocol):
    """A runner of a database that runs functions beside the rows, in worker processes."""

    worker_bytes: int  # how many bytes of arrays a worker may hold; 0 if none is to run a function

    def spread(
        self,
        target: str,
        rows: Query | exp.Query,
        order: Sequence[str],
        work: Callable[[Any], Any],
        columns: Mapping[str, str],
    ) -> Table:
        """Create a work table with the ``columns``, ``{name: SQL type}``, that a function makes of the rows of a query. It
        takes and returns an iterator of Arrow batches, sorted by ``order``, with all rows of a value of its first column;
        and needs NumPy and pyarrow, nothing else: workers may not have this package."""


def put_integers(engine: Runner, name: str, **columns: Iterable[Any]) -> Table:
    """Create a work table from columns of 32-bit integers."""
    return engine.put(name, {column: ("INTEGER", values) for column, values in columns.items()})
