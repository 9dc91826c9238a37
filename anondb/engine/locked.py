"""Connections that can access one database file, read-only, and nothing else: for untrusted files, and for analysts."""

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb

from anondb.engine.failures import open_error
from anondb.engine.limit import check_seconds
from anondb.engine.texts import Sql, Value, quoted, sql
from anondb.errors import InputError

LOCKED_CATALOG = "release"
VERSION = duckdb.__version__
HAS_TRIGGERS = int(VERSION.partition(".")[0]) >= 2  # 2.0 brought triggers, and a function that lists them
HAS_TIME_LIMIT = HAS_TRIGGERS  # 2.0 also brought a connection's own limit of the time of a statement
STORAGE_VERSION = "v1.3.0"  # the oldest DuckDB that has the lambda syntax of the macros reads sealed files
Config = dict[str, str | bool | int | float | list[str]]
NO_SECRETS_OR_EXTENSIONS: Config = {
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
"""Settings by which a connection uses no stored secrets, and loads no extension by itself."""
NO_SECRETS_EXTENSIONS_OR_VARIABLES: Config = {**NO_SECRETS_OR_EXTENSIONS, "python_enable_replacements": "false"}
"""Settings by which a connection also reads no variable of Python as a table."""


def open_locked(
    path: Path,
    *,
    spill: Path,
    memory_limit: str | None = None,
    threads: int | None = None,
    files: Sequence[str] = (),
    more: Sequence[Path] = (),
) -> duckdb.DuckDBPyConnection:
    """Open a connection with the file attached read-only, under the name ``release``, for anondb's statements alone.

    Other files and databases, extensions and settings are locked before the file is attached, so nothing in an untrusted
    file can use them, and the file is not the current database, so its macros do not hide DuckDB's functions. SQL can still
    access the path and ``spill``.

    The file is attached to an in-memory database: if it were opened directly, DuckDB could return an instance that this
    process has already open, with an older state of the file.

    Args:
        spill: a directory for spill files, where COPY can write, too.
        files: other files that may be read.
        more: other database files, attached in the same way (``locked_catalog``).

    Raises:
        InputError: DuckDB does not accept a limit, or the file is not a DuckDB database.
        EngineError: the file is locked, or cannot be opened.
    """
    paths = (path, *more)
    attached = [attaching(path, locked_catalog(n))[0] for n, path in enumerate(paths)]
    named = dict.fromkeys(name for path in paths for name in (str(path), os.path.realpath(path)))  # DuckDB follows links
    places = [place for name in named for place in (name, f"{name}.wal")]
    return _connected(_config(memory_limit, threads, spill), [*_allowing([*places, *files], [spill]), *_lock(), *attached])


def open_for_analysts(
    path: Path,
    check: Callable[[duckdb.DuckDBPyConnection], None],
    *,
    memory_limit: str | None = None,
    max_seconds: float | None = None,
    threads: int | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a connection for SQL of analysts: the file, read-only, is the current database, and nothing else is accessible.
    ``check`` looks at what the connection reads before anything in the file can run; what it raises closes the connection.
    ``max_seconds`` is the limit of the wall time of a statement, which needs DuckDB 2.0. Raises as ``open_locked`` does."""
    attach, use = attaching(path, LOCKED_CATALOG)
    closed, locked = _lock()
    limit = []
    if (seconds := check_seconds(max_seconds, "max_seconds", 10**6)) is not None:
        if not HAS_TIME_LIMIT:
            words, hint = "max_seconds needs DuckDB 2.0 or newer.", "Leave it out, or upgrade duckdb."
            raise InputError(words, code="bad_parameter", hint=hint)
        limit.append(setting("max_execution_time", max(1, round(1000 * seconds))))
    connection = _connected(_config(memory_limit, threads, None), [attach, closed])
    try:
        check(connection)
        for statement in (*limit, locked, use):
            connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(
    files: Sequence[str], spill: Path, directory: Path, memory_limit: str | None = None
) -> duckdb.DuckDBPyConnection:
    """Open a database in memory that can read some files, write into two directories, and nothing else. Raises InputError:
    DuckDB does not accept the limit."""
    return _connected(_config(memory_limit, 1, spill), [*_allowing(files, [spill, directory]), *_lock()])


def open_memory(*, memory_limit: str | None = None, threads: int | None = None) -> duckdb.DuckDBPyConnection:
    """Open a database in memory that reads no file and no other database, and whose settings cannot be changed. Raises
    InputError: DuckDB does not accept a limit."""
    return _connected(_config(memory_limit, threads, None), _lock())


def _connected(config: Config, statements: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """A connection to a new database in memory, after some statements."""
    failure: Exception
    try:
        connection = duckdb.connect(":memory:", config=config)
    except (duckdb.Error, UnicodeError, TypeError) as error:
        failure = open_error(error)
    else:
        try:
            for statement in statements:
                connection.execute(statement)
            return connection
        except (duckdb.Error, UnicodeError) as error:
            failure = open_error(error)
            with contextlib.suppress(duckdb.Error):
                connection.close()
    raise failure


def _config(memory_limit: str | None, threads: int | None, spill: Path | None) -> Config:
    """The settings that the connection is opened with."""
    config: Config = {**NO_SECRETS_EXTENSIONS_OR_VARIABLES, "temp_directory": str(spill or "")}
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    if threads is not None:
        config["threads"] = threads
    return config


def locked_catalog(number: int) -> str:
    """The name under which a file is attached, by its place among those of a connection."""
    return f"{LOCKED_CATALOG}_{number}" if number else LOCKED_CATALOG


def _allowing(files: Sequence[str], directories: Sequence[Path]) -> list[Sql]:
    """The statements that leave a connection these files and directories once it is locked."""
    allowed = {"allowed_paths": list(files), "allowed_directories": list(map(str, directories))}
    return [setting(name, paths) for name, paths in allowed.items()]


def _lock() -> list[Sql]:
    """The statements that close a connection to everything else, for good."""
    return [setting("enable_external_access", False), setting("lock_configuration", True)]


def setting(name: str, value: Value | list[str]) -> Sql:
    """The statement SET."""
    return sql("SET {} = {}", Sql(name), value)


def attaching(path: Path, catalog: str, option: str = "READ_ONLY") -> list[Sql]:
    """The statements that attach a file under a name, with an option, and make it the current database."""
    name = quoted(catalog)
    return [sql("ATTACH {} AS {} ({})", str(path), name, Sql(option)), sql("USE {}", name)]
