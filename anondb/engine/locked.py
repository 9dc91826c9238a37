"""Connections for analysts: one database file, read-only, and nothing else."""

from __future__ import annotations

import contextlib
from pathlib import Path

import duckdb
from sqlglot import exp

from anondb.engine.failures import open_error
from anondb.errors import InputError

_RELEASE = "release"
_BASE = {
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}


def open_locked(
    path: Path, *, memory_limit: str, max_seconds: float, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """A connection whose current database is the file; see ``anondb.open_release``.

    The file is attached to a database in memory: opened by its own name, DuckDB would hand out an instance that this
    process has open already, with the file as it was then.

    Raises:
        InputError: a limit that DuckDB does not take, or no DuckDB file.
        EngineError: the file is locked, or cannot be opened.
    """
    if isinstance(max_seconds, bool) or not isinstance(max_seconds, int | float) or not 0 < max_seconds < 10**6:
        raise InputError("max_seconds must be a number of seconds above 0.", code="bad_parameter")
    config: dict[str, str | bool | int | float | list[str]] = {
        **_BASE,
        "memory_limit": memory_limit,
        "max_execution_time": str(max(1, round(1000 * max_seconds))),
    }
    if threads is not None:
        config["threads"] = threads
    attach = exp.Attach(
        this=exp.alias_(exp.Literal.string(str(path)), _RELEASE),
        expressions=[exp.AttachOption(this=exp.var("READ_ONLY"))],
    )
    failure: Exception
    try:
        connection = duckdb.connect(":memory:", config=config)
    except (duckdb.Error, UnicodeError, TypeError) as error:
        failure = open_error(error)
    else:
        try:
            connection.execute(attach.sql(dialect="duckdb"))
            connection.execute("USE release")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            return connection
        except (duckdb.Error, UnicodeError) as error:
            failure = open_error(error)
            with contextlib.suppress(duckdb.Error):
                connection.close()
    raise failure
