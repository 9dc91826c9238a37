"""A connection to a PostgreSQL server, by ADBC: statements, rows as Arrow, and typed errors without PostgreSQL's text.

PostgreSQL's errors quote values and rows, so only their SQLSTATE is kept. Rows travel by COPY in both directions: no
statement contains a value of the data, so neither the server's log nor ``pg_stat_statements`` does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from anondb.engine import load
from anondb.errors import AnondbError, EngineError, InputError
from anondb.postgres.place import Place

if TYPE_CHECKING:
    import pyarrow as pa

DIALECT = "postgres"
_OLDEST = 150_000  # the first version of which all is tested
_SETTINGS = {  # of the session: no object of the database hides a function, and nothing is filtered or rounded in silence
    "search_path": "pg_catalog",
    "row_security": "off",
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "client_min_messages": "error",
    "check_function_bodies": "on",
    "jit": "off",
    "default_tablespace": "",
    "temp_tablespaces": "",
    "default_table_access_method": "heap",
}
_BY_CLASS: Mapping[str, tuple[type[AnondbError], str, str]] = {  # by the beginning of a SQLSTATE
    "08": (EngineError, "connection", "The connection to PostgreSQL was lost"),
    "0A": (EngineError, "refused", "PostgreSQL does not support a statement"),
    "22021": (InputError, "bad_text", "A text holds the character U+0000, which PostgreSQL does not store"),
    "2200": (EngineError, "refused", "PostgreSQL refused a value"),
    "23505": (EngineError, "conflict", "Another process wrote the same at the same time"),
    "25P03": (EngineError, "connection", "PostgreSQL ended an idle transaction"),
    "28": (InputError, "login", "PostgreSQL refused the login"),
    "2BP01": (InputError, "not_a_release", "Other objects depend on a release that would be dropped"),
    "3D000": (InputError, "no_such_database", "There is no such database"),
    "40": (EngineError, "conflict", "Another process changed the same at the same time"),
    "42501": (InputError, "no_privilege", "The role lacks a privilege"),
    "42P06": (EngineError, "conflict", "Another process wrote the same at the same time"),
    "42P07": (EngineError, "conflict", "Another process wrote the same at the same time"),
    "53100": (EngineError, "disk_full", "The server has no disk space left"),
    "53200": (EngineError, "out_of_memory", "The server has no memory left"),
    "53300": (EngineError, "connection", "The server has no connection left"),
    "55": (EngineError, "locked", "PostgreSQL could not lock an object"),
    "57014": (EngineError, "cancelled", "PostgreSQL cancelled a statement"),
    "57": (EngineError, "connection", "The connection to PostgreSQL was ended"),
}
_HINTS = {
    "conflict": "Nothing was kept: run it again.",
    "login": "Check the role, and its password in PGPASSFILE or the URL.",
    "no_such_database": "An administrator makes it: CREATE DATABASE name OWNER role.",
    "no_privilege": "docs/postgres.md lists what each role needs.",
    "not_a_release": "Drop or move them first.",
}


class Server:
    """One connection, with a pinned search path, whose transactions are REPEATABLE READ.

    Args:
        place: the database.
        on_statement: called with the text of every statement before it runs.

    Attributes:
        version: the version of the server, as a number.
        path: the schemas of the role's search path, in which names without a schema are looked up.

    Raises:
        InputError: ``no_driver``, ``login``, ``no_such_database``, ``old_server`` or ``bad_encoding``.
        EngineError: ``connection``: the server cannot be reached.
    """

    def __init__(self, place: Place, on_statement: Callable[[str], None] | None = None) -> None:
        self.place = place
        self._on_statement = on_statement
        self._failure, connect = _driver()
        failure: AnondbError | None = None
        try:
            self._connection = connect(place.uri, autocommit=True)
        except self._failure as error:
            failure = _typed(error, f"connecting to {place.shown}", connecting=True)
        if failure is not None:  # raised here, without PostgreSQL's error as its context
            raise failure
        self.version, self.path = 0, tuple[str, ...]()
        try:
            facts = self.query("postgres/session")
            self.version, encoding = int(facts["version"][0]), str(facts["encoding"][0])
            self.path = tuple(facts["search_path"][0] or ())
            self._check(encoding)
            values = [exp.func("set_config", *map(exp.convert, pair), exp.false()) for pair in _SETTINGS.items()]
            self.rows(exp.select(*values), "setting up the session")
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
        with contextlib.suppress(self._failure):
            self._connection.close()

    # ------------------------------------------------------------------ statements

    def _run(self, text: str, what: str, work: Callable[[Any], Any]) -> Any:
        if self._on_statement is not None:
            self._on_statement(text)
        failure: AnondbError
        try:
            with self._connection.cursor() as cursor:
                return work(cursor)
        except self._failure as error:
            failure = _typed(error, what)
        raise failure  # outside the handler, which would keep PostgreSQL's error as its context

    def run(self, statement: exp.Expr | str, what: str) -> None:
        """Run a statement without a result: a tree, or a fixed text."""
        text = statement if isinstance(statement, str) else text_of(statement)
        self._run(text, what, lambda cursor: cursor.execute(text))

    def run_all(self, statements: Iterable[exp.Expr | str], what: str) -> None:
        """Run statements without results, in order."""
        for statement in statements:
            self.run(statement, what)

    def rows(self, query: exp.Query, what: str) -> pa.Table:
        """The rows of a query, as an Arrow table."""
        text = text_of(query)

        def fetched(cursor: Any) -> pa.Table:
            cursor.execute(text)
            return cursor.fetch_arrow_table()

        return self._run(text, what, fetched)

    def query(self, name: str, **values: Any) -> dict[str, list[Any]]:
        """The columns of a named query on the catalog; the values are names, never data."""
        return dict(self.rows(load(name).bind({}, values), f"query {name}").to_pydict())

    @contextlib.contextmanager
    def stream(self, query: exp.Query, what: str) -> Iterator[pa.RecordBatchReader]:
        """The rows of a query, as they arrive."""
        text = text_of(query)
        with contextlib.ExitStack() as stack:

            def opened(_: Any) -> pa.RecordBatchReader:
                cursor = stack.enter_context(self._connection.cursor())
                cursor.execute(text)
                return cursor.fetch_record_batch()

            yield self._run(text, what, opened)

    def insert(self, schema: str, table: str, rows: Any) -> None:
        """Add rows (an Arrow table or reader, with the columns of the table) by COPY."""
        text = f"-- rows into {table} by COPY"
        self._run(text, "writing rows", lambda c: c.adbc_ingest(table, rows, mode="append", db_schema_name=schema))

    # ------------------------------------------------------------------ transactions

    def begin(self, *, read_only: bool = False) -> None:
        """Begin a transaction: one snapshot of the whole database."""
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ" + " READ ONLY" * read_only, "begin")

    def commit(self) -> None:
        """Commit the transaction."""
        self.run("COMMIT", "commit")

    def rollback(self) -> None:
        """Undo the transaction; nothing happens if the connection is lost, which undoes it too."""
        with contextlib.suppress(AnondbError):
            self.run("ROLLBACK", "rollback")

    @contextlib.contextmanager
    def undone(self) -> Iterator[None]:
        """A transaction for the block, which is always rolled back."""
        self.begin()
        try:
            yield
        finally:
            self.rollback()


def text_of(statement: exp.Expr) -> str:
    """The text of a tree in PostgreSQL's dialect."""
    return statement.sql(dialect=DIALECT, comments=False)


def _driver() -> tuple[type[Exception], Callable[..., Any]]:
    """The error and the function ``connect`` of the driver."""
    try:
        from adbc_driver_manager import Error
        from adbc_driver_postgresql.dbapi import connect
    except ImportError:
        raise InputError(
            "PostgreSQL needs the package adbc-driver-postgresql.",
            code="no_driver",
            hint="Install it: pip install 'anondb[postgres]'.",
        ) from None
    return Error, connect


def _typed(error: Any, what: str, connecting: bool = False) -> AnondbError:
    """The typed error for an error of the driver, without its text."""
    state = getattr(error, "sqlstate", None) or ""
    for beginning, (kind, code, words) in sorted(_BY_CLASS.items(), key=lambda entry: -len(entry[0])):
        if state.startswith(beginning):
            return kind(f"{words} ({what}, SQLSTATE {state}).", code=code, hint=_HINTS.get(code))
    if connecting:
        return EngineError(
            f"PostgreSQL cannot be reached ({what}).",
            code="connection",
            hint="Check the host, the port, the role and its password.",
        )
    return EngineError(f"PostgreSQL refused a statement ({what}, SQLSTATE {state or 'unknown'}).", code="refused")
