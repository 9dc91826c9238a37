"""DB-API 2.0 (PEP 249) on sealed files, for tools that speak SQL through it.

Each connection is a session (``anondb.open``) of its own, read-only: there are no transactions, and ``commit`` and
``rollback`` do nothing. The errors are those of the session by the names that PEP 249 gives them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from itertools import islice
from typing import Any

from anondb import errors
from anondb.engine.answering import DEFAULT_MEMORY
from anondb.session.files import Sources
from anondb.session.opening import open_session
from anondb.session.output import BOUNDS_HINT, CHOICES
from anondb.session.session import Session

apilevel = "2.0"
threadsafety = 1
"""Threads may share the module, not connections."""
paramstyle = "qmark"
"""Values for ``?``; ``$1``, and ``$name`` with a mapping, are taken, too."""

Parameters = Sequence[Any] | Mapping[str, Any] | None


# --- errors ---------------------------------------------------------------------------------------------------------


class Warning(Exception):
    """Never raised: remarks on an answer are in ``Cursor.notes``."""


class Error(Exception):
    """Base class of the errors; ``code`` and ``hint`` are those of anondb's own error, which is the cause."""

    code: str | None = None
    hint: str | None = None


class InterfaceError(Error):
    """A use of this module that PEP 249 excludes, such as fetching rows before a query."""


class DatabaseError(Error):
    """Base class of the errors of the session."""


class DataError(DatabaseError):
    """Never raised."""


class OperationalError(DatabaseError):
    """The file cannot be opened, or the engine failed: memory, time, a lock."""


class IntegrityError(DatabaseError):
    """Never raised: nothing can be written."""


class InternalError(DatabaseError):
    """A bug in anondb; please report it."""


class ProgrammingError(DatabaseError):
    """The query is not valid for the original tables, or its parameters do not fit."""


class NotSupportedError(DatabaseError):
    """The query has no sound answer from a release; the message names the construct."""


_OF_FILES = frozenset({"no_such_file", "bad_path", "not_a_database", "not_a_release", "different_releases"})
_NOT_ANSWERED = frozenset({"unsupported_query", "query_too_complex", "ambiguous_item"})


def _kind(error: errors.AnondbError) -> type[Error]:
    """The name of an error of anondb in PEP 249."""
    if isinstance(error, errors.InternalError):
        return InternalError
    if isinstance(error, errors.EngineError | errors.VerificationFailed) or error.code in _OF_FILES:
        return OperationalError
    return NotSupportedError if error.code in _NOT_ANSWERED else ProgrammingError


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Raise the errors of anondb as those of this module."""
    try:
        yield
    except errors.AnondbError as error:
        raised = _kind(error)(str(error))
        raised.code, raised.hint = error.code, error.hint
        raise raised from error


# --- types ----------------------------------------------------------------------------------------------------------


class TypeObject:
    """Equal to the DuckDB types of columns (``Cursor.description``) whose names begin so."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and not other.endswith("]") and other.startswith(self._names))

    def __hash__(self) -> int:
        return hash(self._names)

    def __repr__(self) -> str:
        return f"<the types {', '.join(self._names)}>"


STRING = TypeObject("VARCHAR", "ENUM", "UUID")
BINARY = TypeObject("BLOB", "BIT")
NUMBER = TypeObject(
    *(sign + kind for sign in ("", "U") for kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")),
    *("FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN"),
)
DATETIME = TypeObject("DATE", "TIME", "INTERVAL")
ROWID = TypeObject("a row of a person, which no query shows")

Date, Time, Timestamp, Binary = date, time, datetime, bytes
DateFromTicks, TimestampFromTicks = date.fromtimestamp, datetime.fromtimestamp


def TimeFromTicks(ticks: float) -> time:
    """The time of day of a number of seconds since 1970."""
    return datetime.fromtimestamp(ticks).time()


# --- connections ----------------------------------------------------------------------------------------------------


def connect(
    files: Sources,
    *,
    bounds: str = "columns",
    tables: Mapping[str, Any] | None = None,
    memory_limit: str = DEFAULT_MEMORY,
    max_seconds: float | None = None,
    threads: int | None = None,
    trusted: str | None = None,
) -> Connection:
    """Open sealed files.

    Args:
        files: a sealed file, a list of them, or a pattern such as ``weeks/*.duckdb``.
        bounds: ``columns``: each computed number ``n`` is followed by ``n_lower`` and ``n_upper``; ``none``: only estimates;
            ``spread``: these are followed by ``n_low`` and ``n_high`` (``Session.sql``).
        tables: the analyst's own tables by name (``Session.register``).
        memory_limit, max_seconds, threads, trusted: as for ``anondb.open``.

    Raises:
        OperationalError: a file cannot be opened.
        ProgrammingError: ``bounds`` or a table is not valid.
    """
    if bounds not in CHOICES:
        raise ProgrammingError(BOUNDS_HINT)
    with _translated(), contextlib.ExitStack() as stack:
        options: dict[str, Any] = {"memory_limit": memory_limit, "max_seconds": max_seconds, "threads": threads}
        session = open_session(files, trusted=trusted, **options)
        stack.callback(session.close)
        for name, data in (tables or {}).items():
            session.register(name, data)
        stack.pop_all()
    return Connection(session, bounds)


class Connection:
    """A connection; ``connect`` opens it."""

    Warning, Error, InterfaceError, DatabaseError = Warning, Error, InterfaceError, DatabaseError
    DataError, OperationalError, IntegrityError = DataError, OperationalError, IntegrityError
    InternalError, ProgrammingError, NotSupportedError = InternalError, ProgrammingError, NotSupportedError

    def __init__(self, session: Session, bounds: str) -> None:
        self._session: Session | None = session
        self.bounds = bounds

    @property
    def session(self) -> Session:
        """The session, where tables may be registered.

        Raises:
            ProgrammingError: the connection is closed.
        """
        if self._session is None:
            raise ProgrammingError("The connection is closed.")
        return self._session

    def cursor(self) -> Cursor:
        """A new cursor."""
        _ = self.session
        return Cursor(self)

    def commit(self) -> None:
        """Do nothing: a session has no transactions."""
        _ = self.session

    def rollback(self) -> None:
        """Do nothing: a session has no transactions."""
        _ = self.session

    def close(self) -> None:
        """Close the session; nothing happens if it is closed."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Cursor:
    """A query and its rows, all of which are computed at once.

    Attributes:
        connection: its connection.
        description: for each column its name and DuckDB type, and five times None; None before a query.
        rowcount: the number of rows; -1 before a query.
        arraysize: how many rows ``fetchmany`` returns by default.
        notes: remarks on the interpretation of the query.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self._closed = False
        self._clear()

    def _clear(self) -> None:
        self.description: list[tuple[str, str, None, None, None, None, None]] | None = None
        self.rowcount = -1
        self.notes: list[str] = []
        self._rows: Iterator[tuple[Any, ...]] | None = None

    def execute(self, operation: str, parameters: Parameters = None) -> Cursor:
        """Answer a query.

        Args:
            operation: one SELECT, as for ``Session.sql``.
            parameters: the values of ``?`` or ``$1``, or a mapping for ``$name``.

        Returns:
            The cursor itself.
        """
        self._check_open()
        session = self.connection.session
        self._clear()
        with _translated():
            result = session.sql(operation, parameters, self.connection.bounds)
            rows = result.fetchall()
        self.description = [
            (name, kind, None, None, None, None, None) for name, kind in zip(result.columns, result.types, strict=True)
        ]
        self._rows, self.rowcount, self.notes = iter(rows), len(rows), result.notes
        return self

    def executemany(self, operation: str, seq_of_parameters: Iterable[Parameters]) -> Cursor:
        """Answer a query for several parameters, one after the other; the rows of the last answer remain."""
        answer = self.execute
        for parameters in seq_of_parameters:
            answer(operation, parameters)
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None after the last."""
        return next(self._fetched(), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows, at most ``size``; by default ``arraysize``."""
        number = self.arraysize if size is None else size
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise ProgrammingError("fetchmany needs a number of rows, 0 or more.")
        return list(islice(self._fetched(), number))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All remaining rows."""
        return list(self._fetched())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._fetched()

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Do nothing."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Forget the rows; a closed cursor answers no query."""
        self._clear()
        self._closed = True

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise ProgrammingError("The cursor is closed.")

    def _fetched(self) -> Iterator[tuple[Any, ...]]:
        self._check_open()
        if self._rows is None:
            raise InterfaceError("There are no rows: execute a query first.")
        return self._rows
