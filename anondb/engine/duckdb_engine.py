"""Runs statements on one DuckDB connection, in a worker thread, and converts DuckDB's errors to typed errors."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np

from anondb.engine.elsewhere import Elsewhere
from anondb.engine.failures import at_most, bad_unicode, encodable, open_error, transaction_open, wrap
from anondb.engine.interface import Columns
from anondb.engine.limit import TimeLimit, TimeUp, current
from anondb.engine.locked import NO_SECRETS_EXTENSIONS_OR_VARIABLES, Config
from anondb.engine.memory import array_bytes, bytes_of
from anondb.engine.queries import Tables, query_of
from anondb.engine.shadowed import NameCheck
from anondb.engine.spill import private_directory
from anondb.engine.telling import Telling
from anondb.engine.texts import Query, Table, Value, creation, drop, filling, quoted, sql, text_of
from anondb.engine.together import ForMany
from anondb.engine.trees import exp
from anondb.engine.worker import Worker
from anondb.errors import AnondbError, BudgetExceeded, InputError

_T = TypeVar("_T")
_WORK_PREFIX = "_anondb_"
_PLACE = "SELECT current_database() AS catalog, current_schema() AS schema"
RESERVED_NAMES = ("information_schema",)


class DuckDBEngine(Telling, Elsewhere, ForMany):
    """One connection and the worker thread that uses it.

    Work tables are TEMP tables whose names begin with ``_anondb_``. Each block ``transaction()`` is one DuckDB transaction:
    an error rolls back its work tables and the incomplete release.

    Args:
        connection: the connection, used without changes to its settings; ``close()`` closes it only if ``owned``.
        owned: whether anondb opened the connection itself.
        on_statement: called with the text of every statement before it runs (``--show-sql``).
        on_progress: called with a short text on the current step of long work.
        temp_directory: the directory of spill files, which ``close()`` removes.
        max_seconds: the time limit of a call in seconds; a longer call is interrupted.
        empty: whether the current database is new and in memory.

    Attributes:
        limit: the time limit of the work, if it has one.
        is_lost: whether its worker has a statement that nothing ends.
        one_shot: whether this is the database of a single run over files, which keeps no ledger.
        names: refuses user macros that hide built-in functions of DuckDB, before anything else runs.
    """

    portable_only = False
    limit: TimeLimit | None = None
    is_lost = False

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *,
        owned: bool = False,
        on_statement: Callable[[str], None] | None = None,
        on_progress: Callable[[str], None] | None = None,
        temp_directory: Path | None = None,
        max_seconds: float | None = None,
        empty: bool = False,
    ) -> None:
        self._connection = connection
        self._max_seconds = max_seconds
        self.owned = owned
        self.one_shot = False
        self._on_statement = on_statement
        self._on_progress = on_progress
        self.spill_directory = temp_directory  # of a connection that anondb opened, else None
        self._worker = Worker()
        self._work: set[str] = set()
        self._inputs = 0  # the number of views on data passed in
        self.others = []
        self._accounts = []
        self.names = NameCheck(self._look_up, owned, empty)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ":memory:",
        *,
        read_only: bool = False,
        threads: int | None = None,
        memory_limit: str | None = None,
        on_statement: Callable[[str], None] | None = None,
        on_progress: Callable[[str], None] | None = None,
        one_shot: bool = False,
    ) -> DuckDBEngine:
        """Open a database with a private spill directory (mode 0700), without extension autoload and secrets."""
        if Path(os.fspath(path)).stem.lower() in RESERVED_NAMES:
            words = "A database of this name has the name of a built-in schema of DuckDB."
            raise InputError(words, code="bad_name", hint="Rename the file.")
        spill = private_directory()
        config: Config = {**NO_SECRETS_EXTENSIONS_OR_VARIABLES, "temp_directory": str(spill)}
        if threads is not None:
            config["threads"] = str(threads)
        if memory_limit is not None:
            config["memory_limit"] = memory_limit
        new = os.fspath(path) == ":memory:" or not os.path.lexists(path)
        try:
            connection = duckdb.connect(os.fspath(path), read_only=read_only, config=config)
        except (duckdb.Error, UnicodeError) as error:
            shutil.rmtree(spill, ignore_errors=True)
            raise open_error(error, path) from None
        told: dict[str, Any] = {"on_statement": on_statement, "on_progress": on_progress}
        engine = cls(connection, owned=True, temp_directory=spill, empty=new, **told)
        engine.one_shot = one_shot
        return engine

    def close(self) -> None:
        """Stop the worker; close the connection and remove the spill directory if anondb made them."""
        if self.is_lost:  # the worker does it when it can
            self._worker.submit(self._end)
            self._worker.end(wait=False)
        else:
            self._worker.end(wait=True)
            self._end()

    def _end(self) -> None:
        if self.owned:
            self._connection.close()
        if self.spill_directory is not None:
            shutil.rmtree(self.spill_directory, ignore_errors=True)

    @property
    def memory_limit(self) -> int | None:
        """The memory limit in bytes: 80 % of the memory of the machine or container, if nothing else was set."""
        return bytes_of(self.shown_memory_limit)

    @property
    def shown_memory_limit(self) -> str:
        """The memory limit in DuckDB's words."""
        shown = self._execute("SELECT current_setting('memory_limit') AS shown", "the memory limit", fetch=True)
        return str(shown["shown"][0])

    @property
    def array_bytes(self) -> int:
        """How many bytes of arrays an algorithm may hold beside DuckDB's memory: a part of the memory limit."""
        return array_bytes(self.memory_limit)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection, for relations that are handed to the user; macros may be made there."""
        if self.owned:
            self.names.may_have_changed()
        return self._connection

    def interrupt(self) -> None:
        """Interrupt the statement that is running, from any thread."""
        self._connection.interrupt()

    def call(self, work: Callable[[], _T], connection: duckdb.DuckDBPyConnection | None = None) -> _T:
        """Run ``work`` in the worker thread, on another ``connection`` if one is named; Ctrl-C and the time limit interrupt
        the running statement at once. A statement of an answer that goes on all the same is left to its thread. Raises
        BudgetExceeded: the time limit was reached."""
        interrupt = (connection or self._connection).interrupt
        limit = self.limit or current.get()
        if self.is_lost and limit is not None:
            raise TimeUp
        future, woken = self._worker.submit(work), threading.Event()
        future.add_done_callback(lambda _: woken.set())
        leave = woken.set if self.limit is None else future.done
        try:
            with contextlib.nullcontext() if limit is None else limit.calling(interrupt, leave):
                if woken.wait(self._max_seconds) and not future.done() and limit is not None:
                    self.is_lost, limit.left_behind = True, future
                return future.result(0)
        except (KeyboardInterrupt, TimeoutError, TimeUp) as error:
            interrupt()
            with contextlib.suppress(Exception):
                future.result(0 if self.is_lost else None)
            if not isinstance(error, TimeoutError):
                raise
        raise BudgetExceeded(f"A statement took longer than the limit of {self._max_seconds:g} seconds.")

    def _execute(self, statement: exp.Expr | Query | str, what: str, fetch: bool = False) -> Columns:
        def work(text: str) -> Columns:
            result = self._connection.execute(text)
            if fetch:
                return dict(result.fetchnumpy())
            result.fetchall()
            return {}

        return self._ask(statement, what, work)

    def _ask(self, statement: exp.Expr | Query | str, what: str, work: Callable[[str], _T]) -> _T:
        text = encodable(text_of(statement))
        self.names.check()
        self.say(text)
        return self.guarded(lambda: work(text), lambda error: wrap(error, what))

    def _look_up(self, name: str) -> Columns:
        """Run a query of the name check; it is reported but not recorded."""
        text, what = query_of(name).text, f"query {name}"
        if self._on_statement is not None:
            self._on_statement(text)
        return self.guarded(lambda: dict(self._connection.execute(text).fetchnumpy()), lambda e: wrap(e, what))

    def guarded(self, work: Callable[[], _T], describe: Callable[[duckdb.Error], Exception]) -> _T:
        """Run ``work`` in the worker thread; replace a DuckDB error by a typed one without its text, also in the chain."""
        failure: BaseException
        try:
            return self.call(work)
        except duckdb.InterruptException:
            failure = KeyboardInterrupt()
        except UnicodeError:
            failure = bad_unicode()
        except duckdb.Error as error:
            failure = describe(error)
        raise failure  # outside the handler, which would keep the DuckDB error as its context

    def work_table(self, name: str) -> Table:
        """The identity of the work table ``name``; it need not exist yet."""
        return Table("temp", "main", _WORK_PREFIX + name)

    def here(self, name: str = "") -> Table:
        """The identity of a table of this name in the current database and schema."""
        place = self._execute(_PLACE, "the current schema", fetch=True)
        return Table(str(place["catalog"][0]), str(place["schema"][0]), name)

    def query(self, name: str, tables: Tables | None = None, **values: Value) -> Columns:
        """Run the named query and return its columns as NumPy arrays (masked where there are NULLs)."""
        return self.select(query_of(name, tables, values))

    def fetch(self, name: str | Query | exp.Query, tables: Tables | None = None, *, most: int, **values: Value) -> Columns:
        """Run a query, which may be a named one; refuse more than ``most`` rows (``Runner.fetch``)."""
        return at_most(most, self.select(_query(name, tables, values)))

    def scalar(self, name: str | Query | exp.Query, tables: Tables | None = None, **values: Value) -> Any:
        """The single value that a query, which may be a named one, returns; None for NULL."""
        (column,) = self.select(_query(name, tables, values)).values()
        return column[:1].tolist()[0]

    def create(
        self, target: str | Table, name: str | Query | exp.Query, tables: Tables | None = None, **values: Value
    ) -> Table:
        """``CREATE TABLE target AS`` a query, which may be a named one; a plain name makes a work table. Returns its
        identity."""
        table, query = self._target(target), _query(name, tables, values)
        self._execute(creation(table, query), _what(query))
        return table

    def _target(self, target: str | Table) -> Table:
        if isinstance(target, Table):
            return target
        table = self.work_table(target)
        self._work.add(table.name)
        return table

    def select(self, query: Query | exp.Query, what: str = "") -> Columns:
        """Run a query that the caller built (where the shape depends on a parameter) and return its columns."""
        return self._execute(query, what or _what(query), fetch=True)

    def run(self, statement: exp.Expr | str, what: str) -> None:
        """Run a statement and ignore its result (DDL, INSERT)."""
        self._execute(statement, what)

    def use(self, catalog: str, *, checked: bool = False) -> None:
        """Make a database the current one; ``checked`` says that no macro in it hides a function."""
        self.run(sql("USE {}", quoted(catalog)), "choosing a database")
        if not checked:
            self.names.may_have_changed()

    def attach(self, file: str | os.PathLike[str]) -> None:
        """Open a DuckDB file beside the database, read-only, under the name of the file."""
        here, name = self.here().catalog, Path(file).stem
        name = "source" if name.lower() in ("memory", "system", "temp", here.lower()) else name
        text = sql("ATTACH {} AS {} (READ_ONLY)", os.path.abspath(file), quoted(name))
        self.say(text)
        self.guarded(lambda: self._connection.execute(text), open_error)

    def run_all(self, statements: Iterable[exp.Expr | Query | str], what: str) -> None:
        """Run several statements in one call and ignore their results."""
        texts = list(map(text_of, statements))
        for text in texts:
            self.say(text)
        self.guarded(lambda: self._connection.execute(";\n".join(texts)), lambda error: wrap(error, what))

    def put(self, target: str | Table, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> Table:
        """Create a table from NumPy arrays or lists: ``{name: (SQL type, values)}``. Returns its identity."""
        table = self._target(target)
        self._fill(table, columns, new=True)
        return table

    def insert(self, target: Table, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> None:
        """Add rows to a table, in the form of ``put``."""
        self._fill(target, columns, new=False)

    def _fill(self, table: Table, columns: Mapping[str, tuple[str, Iterable[Any]]], new: bool) -> None:
        arrays = {
            name: np.asarray(values, dtype=object if kind == "VARCHAR" else None) for name, (kind, values) in columns.items()
        }
        with self.registered(arrays) as source:
            types = tuple((name, kind) for name, (kind, _) in columns.items())
            self._execute(filling(table, source, types, new=new), "generated query")

    def relation(self, query: Query | exp.Query) -> duckdb.DuckDBPyRelation:
        """A query as a relation of the connection, for the user."""
        text = text_of(query)
        self.names.check()
        return self.guarded(lambda: self._connection.sql(text), lambda error: wrap(error, "reading a release"))

    @contextlib.contextmanager
    def registered(self, source: Any) -> Iterator[Table]:
        """Make a data frame, an Arrow table or a dict of arrays readable as a view during the block. Raises InputError:
        ``bad_type`` or ``bad_unicode``."""
        name = f"{_WORK_PREFIX}input_{self._inputs}"
        try:
            self.call(lambda: self._connection.register(name, source))
        except UnicodeError:
            raise bad_unicode() from None
        except duckdb.NotImplementedException:
            raise InputError(
                "The data passed in contain values of a type that DuckDB cannot read.",
                code="bad_type",
                hint="Use columns of one plain type, or lists of Python values.",
            ) from None
        except duckdb.Error as error:
            raise wrap(error, "reading the data passed in") from None
        self._inputs += 1
        try:
            yield Table("temp", "main", name)
        finally:
            self._inputs -= 1
            with contextlib.suppress(duckdb.Error):
                self.call(lambda: self._connection.unregister(name))

    def drop(self, *tables: Table) -> None:
        """Drop work tables that are no longer needed."""
        self._work.difference_update(table.name for table in tables)
        if tables:
            self.run_all(map(drop, tables), "dropping work tables")

    def exists(self, table: Table) -> bool:
        """Whether a table or view of this name exists."""
        place = {"catalog_name": table.catalog, "schema": table.schema, "lower_name": table.name.lower()}
        return bool(self.scalar("engine/named", None, **place))

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one transaction: one snapshot of the source; work tables are dropped; any error rolls it back.
        Raises InputError: ``transaction_open``, ``shadowed_function`` or ``reserved_name``."""
        self.begin()
        try:
            with self.names.steady():
                self.names.check_work(self._work)
                yield
                self.drop(*(self.work_table(n.removeprefix(_WORK_PREFIX)) for n in sorted(self._work)))
                self._execute("COMMIT", "commit")
        except BaseException as error:
            limit, self.limit = self.limit, None
            self._work.clear()
            with contextlib.suppress(duckdb.Error):
                self.call(lambda: self._connection.execute("ROLLBACK"))
            self.ended(kept=False)
            if limit is not None and isinstance(error, TimeUp):  # it arrived as the block of the limit was left
                raise limit.error from None
            raise
        self.ended(kept=True)

    def begin(self) -> None:
        """``BEGIN``, refused while the user has a transaction open. A refused BEGIN would abort that transaction, so it is
        detected first: outside a transaction, each statement has a new transaction number."""

        def describe(error: duckdb.Error) -> AnondbError:
            return transaction_open() if isinstance(error, duckdb.TransactionException) else wrap(error, "begin")

        def number() -> int:
            return int(self._connection.execute("SELECT system.main.txid_current()").fetchall()[0][0])

        if self.guarded(number, describe) == self.guarded(number, describe):
            raise transaction_open()
        self.guarded(lambda: self._connection.execute("BEGIN TRANSACTION"), describe)


def _query(name: str | Query | exp.Query, tables: Tables | None, values: Mapping[str, Value]) -> Query | exp.Query:
    """A query: a named one with its tables and values."""
    return query_of(name, tables, values) if isinstance(name, str) else name


def _what(query: Query | exp.Query) -> str:
    return query.what if isinstance(query, Query) else "generated query"
