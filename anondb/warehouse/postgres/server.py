"""A connection to a PostgreSQL server, by ADBC: statements, rows as Arrow, and typed errors without PostgreSQL's text.
PostgreSQL's errors quote values and rows, so only their SQLSTATE is kept. Rows travel by COPY in both directions: no
statement contains a value of the data, so neither the server's log nor ``pg_stat_statements`` does."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from anondb.engine import load
from anondb.engine.trees import exp
from anondb.errors import AnondbError, EngineError, InputError
from anondb.warehouse.postgres.place import Place
from anondb.warehouse.statements import text_in

if TYPE_CHECKING:
    import pyarrow as pa

_OLDEST = 150_000  # the first version of which all is tested
_LOCK_TIMEOUT = "60s"
_BY_CLASS: Mapping[str, tuple[type[AnondbError], str, str]] = {  # by the beginning of a SQLSTATE
    "08": (EngineError, "connection", "The connection to PostgreSQL was lost"),
    "22021": (InputError, "bad_text", "A text holds the character U+0000, which PostgreSQL does not store"),
    **dict.fromkeys(
        ("23505", "42P06", "42P07"), (EngineError, "conflict", "Another process wrote the same at the same time")
    ),
    "25006": (InputError, "read_only", "The connection is open read-only"),
    "25P03": (EngineError, "connection", "PostgreSQL ended an idle transaction"),
    "28": (InputError, "login", "PostgreSQL refused the login"),
    "2BP01": (InputError, "not_a_release", "Other objects depend on a release that would be dropped"),
    "3D000": (InputError, "no_such_database", "There is no such database"),
    "40": (EngineError, "conflict", "Another process changed the same at the same time"),
    "3F000": (InputError, "no_such_table", "A schema does not exist"),
    "42P01": (InputError, "no_such_table", "A table does not exist"),
    "42501": (InputError, "no_privilege", "The role lacks a privilege"),
    "53100": (EngineError, "disk_full", "The server has no disk space left"),
    "53200": (EngineError, "out_of_memory", "The server has no memory left"),
    "53300": (EngineError, "connection", "The server has no connection left"),
    "55": (EngineError, "locked", "PostgreSQL could not lock an object"),
    "57014": (EngineError, "cancelled", "PostgreSQL cancelled a statement"),
    "57": (EngineError, "connection", "The connection to PostgreSQL was ended"),
}
_HINTS = {
    "connection": "Check the host and the port of the URL, and that the server runs.",
    "no_connect": "An administrator lets it: GRANT CONNECT ON DATABASE name TO role.",
    "ssl": "Check sslmode and sslrootcert in the URL, such as ?sslmode=verify-full.",
    "conflict": "Nothing was kept: run it again.",
    "login": "Check the role, and its password in PGPASSFILE or the URL.",
    "locked": "A reader's open transaction may hold it: look it up in pg_stat_activity.",
    "no_such_database": "An administrator makes it: CREATE DATABASE name OWNER role.",
    "no_privilege": "docs/postgres.md lists what each role needs.",
    "read_only": "Open it for writing, on a server that is no standby.",
    "not_a_release": "Drop or move them first.",
}
_CONNECTING: Sequence[tuple[str, type[AnondbError], str, str]] = (  # by the words of libpq, which has no SQLSTATE then
    ("password authentication failed|no password supplied", InputError, "login", "PostgreSQL refused the password"),
    ('role ".*" (does not exist|is not perm)', InputError, "login", "The role does not exist, or may not log in"),
    ('database ".*" does not exist', InputError, "no_such_database", "There is no such database"),
    ("permission denied for database", InputError, "no_connect", "The role may not connect to the database"),
    ("pg_hba.conf", InputError, "login", "No rule of pg_hba.conf lets the role in from here; it may want ?sslmode=require"),
    ("SSL|certificate|GSSAPI", EngineError, "ssl", "The server and this client agree on no encryption"),
    ("too many clients|remaining connection slots", EngineError, "connection", "The server has no connection left"),
    ("translate host name", EngineError, "connection", "The host of the URL has no address"),
    ("refused|No such file", EngineError, "connection", "No server of PostgreSQL listens at this host and port"),
    ("timeout expired|timed out", EngineError, "connection", "The server did not answer in time"),
    ("", EngineError, "connection", "PostgreSQL cannot be reached"),
)


class Server:
    """One connection, with a pinned search path, all of whose statements are in transactions, which are REPEATABLE READ.
    Raises InputError: ``no_driver``, ``login``, ``no_such_database``, ``old_server`` or ``bad_encoding``. EngineError:
    ``connection``: the server cannot be reached."""

    def __init__(self, place: Place, on_statement: Callable[[str], None] | None = None) -> None:
        self.place = place
        self.on_statement = on_statement
        self.inside = False  # whether a transaction is open
        failures, connect = _driver()
        self._failures = failures
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="anondb-postgres")
        failure: AnondbError | None = None
        try:
            self._database, self._connection = connect(place.uri)
        except self._failures as error:
            failure = _typed(error, f"connecting to {place}", connecting=True)
        if failure is not None:  # raised here, without PostgreSQL's error as its context
            raise failure
        # version, path: of the server, as a number; the schemas in which names without a schema are looked up
        self.version, self.path = 0, tuple[str, ...]()
        try:
            text = _named_text("postgres/session", ())
            facts = self._rows(text, "query postgres/session").to_pydict()  # before the search path is another one
            self.version, encoding = int(facts["version"][0]), str(facts["encoding"][0])
            self.path = tuple(facts["search_path"][0] or ())
            self._check(encoding)
        except BaseException:
            self.close()
            raise

    def _check(self, encoding: str) -> None:
        if self.version < _OLDEST:
            raise InputError("anondb needs PostgreSQL 15 or newer.", code="old_server")
        if encoding != "UTF8":
            raise InputError(
                f"The database has the encoding {encoding}, not UTF8: its texts cannot be compared by code points.",
                code="bad_encoding",
                hint="Use a database with the encoding UTF8.",
            )

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        self._pool.shutdown(wait=True)
        with contextlib.suppress(*self._failures):
            self._connection.close()
            self._database.close()

    def _run(self, text: str, what: str, work: Callable[[Any], Any], stack: contextlib.ExitStack | None = None) -> Any:
        """Call ``work`` with a statement of the driver, in the worker thread; Ctrl-C cancels it. The statement is closed
        afterwards, or by ``stack``."""
        from adbc_driver_manager import AdbcStatement

        if self.on_statement is not None:
            self.on_statement(text)
        failure: AnondbError
        with contextlib.ExitStack() as closing:
            try:
                statement = (closing if stack is None else stack).enter_context(AdbcStatement(self._connection))
                future = self._pool.submit(work, statement)
                try:
                    return future.result()
                except KeyboardInterrupt:
                    statement.cancel()
                    with contextlib.suppress(*self._failures):
                        future.result()
                    raise
            except self._failures as error:
                failure = _typed(error, what)
        raise failure  # outside the handler, which would keep PostgreSQL's error as its context

    def run(self, statement: exp.Expr | str, what: str) -> None:
        """Run a statement without a result: a tree, or a fixed text."""
        text = statement if isinstance(statement, str) else text_of(statement)

        with self._inside():
            self._do(text, what)

    def _do(self, text: str, what: str) -> None:
        def done(statement: Any) -> None:
            statement.set_sql_query(text)
            statement.execute_update()

        self._run(text, what, done)

    def run_all(self, statements: Iterable[exp.Expr | str], what: str) -> None:
        """Run statements without results, in order."""
        for statement in statements:
            self.run(statement, what)

    def rows(self, query: exp.Query | str, what: str) -> pa.Table:
        """The rows of a query (a tree, or a text), as an Arrow table."""
        with self._inside():
            return self._rows(query if isinstance(query, str) else text_of(query), what)

    def _rows(self, text: str, what: str) -> pa.Table:
        return self._run(text, what, lambda statement: _reader(statement, text).read_all())

    def query(self, name: str, **values: Any) -> dict[str, list[Any]]:
        """The columns of a named query on the catalog; the values are names, never data."""
        return dict(self.rows(_named_text(name, tuple(values.items())), f"query {name}").to_pydict())

    @contextlib.contextmanager
    def stream(self, query: exp.Query, what: str) -> Iterator[pa.RecordBatchReader]:
        """The rows of a query, as they arrive."""
        text = text_of(query)
        with self._inside(), contextlib.ExitStack() as stack:
            yield self._run(text, what, lambda statement: _reader(statement, text), stack)

    def insert(self, schema: str, table: str, rows: pa.Table) -> None:
        """Add rows (with the columns of the table) by COPY."""
        import adbc_driver_manager as adbc

        options = {adbc.INGEST_OPTION_TARGET_TABLE: table, adbc.INGEST_OPTION_MODE: adbc.INGEST_OPTION_MODE_APPEND}
        options[adbc.StatementOptions.INGEST_TARGET_DB_SCHEMA.value] = schema

        def copied(statement: Any) -> None:
            statement.set_options(**options)
            statement.bind_stream(rows.__arrow_c_stream__())
            statement.execute_update()

        with self._inside():
            self._run(f"-- rows into {table} by COPY", "writing rows", copied)

    def begin(self, *, read_only: bool = False) -> None:
        """Begin a transaction: one snapshot of the whole database. The settings end with it."""
        self._do("BEGIN ISOLATION LEVEL REPEATABLE READ" + " READ ONLY" * read_only, "begin")
        self.inside = True
        try:
            self._rows(_named_text("postgres/settings", (("lock_timeout", _LOCK_TIMEOUT),)), "setting up the transaction")
        except BaseException:
            self.rollback()
            raise

    def commit(self) -> None:
        """Commit the transaction."""
        self.inside = False
        self._do("COMMIT", "commit")

    def rollback(self) -> None:
        """Undo the transaction; nothing happens if the connection is lost, which undoes it too."""
        self.inside = False
        with contextlib.suppress(AnondbError):
            self._do("ROLLBACK", "rollback")

    def _inside(self) -> contextlib.AbstractContextManager[None]:
        """The block is part of the transaction that is open, or one of its own."""
        return contextlib.nullcontext() if self.inside else self.transaction()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction for the block, which is committed at its end and rolled back after an error."""
        self.begin()
        try:
            yield
        except BaseException:
            self.rollback()
            raise
        self.commit()

    @contextlib.contextmanager
    def undone(self) -> Iterator[None]:
        """A transaction for the block, which is always rolled back."""
        self.begin()
        try:
            yield
        finally:
            self.rollback()


text_of = partial(text_in, "postgres")


@lru_cache(maxsize=256)
def _named_text(name: str, values: tuple[tuple[str, Any], ...]) -> str:
    """The text of a named query with its values."""
    return text_of(load(name).bind({}, dict(values)))


def _reader(statement: Any, text: str) -> pa.RecordBatchReader:
    """Run a query; the reader of its rows."""
    import pyarrow as pa

    statement.set_sql_query(text)
    handle, _ = statement.execute_query()
    return pa.RecordBatchReader._import_from_c(handle.address)


def _driver() -> tuple[tuple[type[Exception], ...], Callable[[str], tuple[Any, Any]]]:
    """The driver's errors, and a function that opens a database and a connection of it. The driver's DB-API is not used: it
    imports other libraries of data frames, which takes longer than a small run."""
    try:
        import adbc_driver_manager
        import adbc_driver_postgresql
        import pyarrow as pa
    except ImportError:
        raise InputError(
            "PostgreSQL needs the package adbc-driver-postgresql.",
            code="no_driver",
            hint="Install it: pip install 'anondb[postgres]'.",
        ) from None

    def connect(uri: str) -> tuple[Any, Any]:
        database = adbc_driver_postgresql.connect(uri)
        try:
            return database, adbc_driver_manager.AdbcConnection(database)
        except BaseException:
            database.close()
            raise

    return (adbc_driver_manager.Error, pa.ArrowException, OSError), connect


def _typed(error: Any, what: str, connecting: bool = False) -> AnondbError:
    """The typed error for an error of the driver, without its text."""
    state = getattr(error, "sqlstate", None) or ""
    if state == "42501" and "row-level security" in str(error):
        return InputError(
            f"Row security would hide rows of a table from this role ({what}, SQLSTATE {state}).",
            code="no_privilege",
            hint="Use a role with BYPASSRLS, or the table's owner after ALTER TABLE ... NO FORCE ROW LEVEL SECURITY.",
        )
    for beginning, (kind, code, words) in sorted(_BY_CLASS.items(), key=lambda entry: -len(entry[0])):
        if state.startswith(beginning):
            return kind(f"{words} ({what}, SQLSTATE {state}).", code=code, hint=_HINTS.get(code))
    if connecting:
        _, kind, code, words = next(row for row in _CONNECTING if re.search(row[0], str(error)))
        return kind(f"{words} ({what}).", code=code, hint=_HINTS[code])
    if not state and type(error).__name__ == "OperationalError":  # the server did not answer
        return EngineError(f"The connection to PostgreSQL was lost ({what}).", code="connection")
    return EngineError(f"PostgreSQL refused a statement ({what}, SQLSTATE {state or 'unknown'}).", code="refused")
