"""Open the owner's database: a DuckDB file or connection, PostgreSQL, or a session of Spark."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast, overload

import duckdb

from anondb.api.database import Database
from anondb.api.release import path_of
from anondb.engine import DuckDBEngine
from anondb.engine.elsewhere import is_url
from anondb.engine.files import private_files, removed_after_error
from anondb.errors import InputError
from anondb.models import MOST_THREADS, check_count
from anondb.reading.formats import is_data_file
from anondb.warehouse.postgres.place import database_of

if TYPE_CHECKING:
    import psycopg
    from pyspark.sql import SparkSession

    from anondb.api.spark import SparkDatabase


@overload
def connect(
    database: str | os.PathLike[str] | duckdb.DuckDBPyConnection | psycopg.Connection[Any] = ":memory:",
    *,
    threads: int | None = None,
    memory_limit: str | None = None,
    read_only: bool = False,
    on_statement: Callable[[str], None] | None = None,
    on_progress: Callable[[str], None] | None = None,
    one_shot: bool = False,
    attach: str | os.PathLike[str] | None = None,
) -> Database: ...


@overload
def connect(database: SparkSession, **options: Any) -> SparkDatabase: ...


def connect(
    database: str | os.PathLike[str] | duckdb.DuckDBPyConnection | psycopg.Connection[Any] | SparkSession = ":memory:",
    *,
    threads: int | None = None,
    memory_limit: str | None = None,
    read_only: bool = False,
    on_statement: Callable[[str], None] | None = None,
    on_progress: Callable[[str], None] | None = None,
    one_shot: bool = False,
    attach: str | os.PathLike[str] | None = None,
    **of_spark: Any,
) -> Database | SparkDatabase:
    """Open a database for anonymization.

    Args:
        database: a path, ``:memory:``, ``postgresql://HOST/DATABASE``, a DuckDB connection, which is used without changing
            its settings, or one of psycopg, beside which anondb opens its own and sees what is committed; or a session of
            Spark, whose tables are anonymized inside Spark.
        threads, memory_limit: settings of a connection that anondb opens; refused for a connection passed in.
        read_only: open the file read-only (for verification).
        on_statement: called with the text of every SQL statement before it runs.
        on_progress: called with a short description of each step of long work; its attribute ``share`` is the share that is
            done, from 0 to 1, or None.
        one_shot: for a single run over files: keep no ledger.
        attach: a DuckDB file that is opened read-only beside the database, where releases of its tables can be made.
        of_spark: ``folder`` and ``format`` for a session of Spark (``SparkDatabase``).

    Raises:
        InputError: the file is not a DuckDB database, or an option does not apply.
        EngineError: the file is locked.
    """
    settings: dict[str, Any] = {"threads": threads, "memory_limit": memory_limit, "read_only": read_only}
    callbacks: dict[str, Any] = {"on_statement": on_statement, "on_progress": on_progress}
    as_it_is = not read_only and threads is None and memory_limit is None
    if type(database).__module__.startswith("pyspark.sql"):
        if one_shot or attach is not None or not as_it_is:
            raise InputError("Spark has its own settings of threads and memory.", code="bad_parameter")
        from anondb.api.spark import SparkDatabase

        return SparkDatabase(cast("SparkSession", database), **callbacks, **of_spark)
    if of_spark:
        raise TypeError(f"connect() got an unexpected keyword argument {next(iter(of_spark))!r}")
    if isinstance(database, duckdb.DuckDBPyConnection):
        if not as_it_is or attach is not None:
            words = "threads, memory_limit, read_only and attach apply to connections that anondb opens itself."
            raise InputError(words, code="bad_parameter", hint="Set them on your connection.")
        return Database(DuckDBEngine(database, **callbacks))
    if threads is not None:
        check_count("threads", threads, high=MOST_THREADS)
    if memory_limit is not None and not isinstance(memory_limit, str):
        raise InputError("memory_limit must be a text such as '2GB'.", code="bad_parameter")
    place = database_of(database)
    if attach is not None and (place is not None or is_url(attach)):
        raise InputError("Only a DuckDB file is attached, to one of DuckDB.", code="bad_usage")
    if place is None:
        engine = DuckDBEngine.open(path_of(database), one_shot=one_shot, **settings, **callbacks)
        return _attached(Database(engine), attach)
    from anondb.warehouse.postgres.owner import PostgresEngine

    return Database(PostgresEngine.connect(place, **settings, **callbacks))


@contextlib.contextmanager
def new_file(path: str) -> Iterator[list[str]]:
    """Open the DuckDB file of this path in the block: one that does not exist is made for this user alone, and removed again
    after an error. The block gets the list of files that would be removed, which it clears if they have to stay.

    Raises:
        InputError: the path is that of a data file, or of no file.
    """
    if is_data_file(path) or is_url(path) or path in ("", ":memory:"):
        raise InputError("Files are loaded into a DuckDB file.", code="bad_usage", hint="Name it, as in shop.duckdb.")
    new = [] if os.path.lexists(path) else [path, f"{path}.wal"]
    with removed_after_error(new), private_files():
        yield new


def _attached(database: Database, file: str | os.PathLike[str] | None) -> Database:
    """The database with a file beside it; closed if that cannot be opened."""
    try:
        if file is not None:
            database.engine.attach(path_of(file))
    except BaseException:
        database.close()
        raise
    return database
