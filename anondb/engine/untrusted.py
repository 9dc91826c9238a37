"""Engines for untrusted files: a locked engine, and files that they write anew."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, cast

import duckdb

from anondb.engine.duckdb_engine import DuckDBEngine
from anondb.engine.locked import STORAGE_VERSION, attaching, open_locked, open_memory, open_reader, setting
from anondb.engine.spill import private_directory
from anondb.engine.texts import Query, Sql, literal, quoted, sql, text_of
from anondb.engine.trees import exp


def locked_engine(
    path: Path,
    *,
    files: Sequence[str] = (),
    more: Sequence[Path] = (),
    max_seconds: float | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
    on_statement: Callable[[str], None] | None = None,
) -> DuckDBEngine:
    """An engine on a database file, read-only and locked before its first statement (``locked.open_locked``), with
    statements of at most ``max_seconds``. Other ``files`` may be read, ``more`` database files too (``locked_catalog``);
    only the private directory of its spill files may be written."""
    opened: dict[str, Any] = {"files": files, "more": more, "threads": threads, "memory_limit": memory_limit}
    return _spilling(
        lambda spill: open_locked(path, spill=spill, **opened), on_statement=on_statement, max_seconds=max_seconds
    )


def reader_engine(files: Sequence[str], directory: Path, memory_limit: str | None = None) -> DuckDBEngine:
    """An engine on an empty database in memory that can read some files and write into a directory, and nothing else; it is
    locked before its first statement."""
    return _spilling(lambda spill: open_reader(files, spill, directory, memory_limit))


def empty_engine() -> DuckDBEngine:
    """An engine on an empty database in memory that reads and writes in the directory of its spill files alone."""
    return _spilling(lambda spill: open_reader([], spill, spill))


def _spilling(connect: Callable[[Path], duckdb.DuckDBPyConnection], **how: Any) -> DuckDBEngine:
    """An engine on the connection that ``connect`` opens with a private directory for spill files."""
    spill = private_directory()
    try:
        return DuckDBEngine(connect(spill), owned=True, temp_directory=spill, empty=True, **how)
    except BaseException:
        shutil.rmtree(spill, ignore_errors=True)
        raise


def memory_engine(
    *, memory_limit: str | None = None, threads: int | None = None, on_statement: Callable[[str], None] | None = None
) -> DuckDBEngine:
    """An engine on an empty database in memory, locked: it reads no file and no other database. ``close`` leaves the
    connection open, so that results can still be read; it ends with the last of them."""
    connection = open_memory(memory_limit=memory_limit, threads=threads)
    return DuckDBEngine(connection, on_statement=on_statement, empty=True)


def search_path(*schemas: str) -> Sql:
    """The statement that has the connection look up plain names of tables in these schemas, the first one first."""
    return setting("search_path", ",".join(schemas))


def executed(engine: DuckDBEngine, text: str, describe: Callable[[duckdb.Error], Exception]) -> None:
    """Run the text of a statement; ``describe`` gives the typed error for a DuckDB error."""
    engine.say(text)
    engine.guarded(lambda: engine._connection.execute(text), describe)


def rewrite(engine: DuckDBEngine, catalog: str, path: Path, statements: Callable[[str], Iterable[exp.Expr | str]]) -> Path:
    """Attach a private file, in the format of sealed files, in the place of a database file, if there is one, on a locked
    engine. The file lies in the engine's spill directory, is named like the other, and is written by the ``statements`` for
    the catalog that is the current one meanwhile. They commit together: a commit of each takes longer than its work."""
    assert engine.spill_directory is not None
    new, written = "written", engine.spill_directory / catalog / path.name
    written.parent.mkdir()
    attach = attaching(written, new, f"STORAGE_VERSION {literal(STORAGE_VERSION)}")
    detach = ["USE memory", sql("DETACH {}", quoted(new)), sql("DETACH DATABASE IF EXISTS {}", quoted(catalog))]
    engine.run_all([*attach, "BEGIN", *statements(new), "COMMIT", *detach], "writing a private file")
    engine.run(attaching(written, catalog)[0], "attaching a private file")
    return written


_kept = count()


def materialized(
    engine: DuckDBEngine, query: Query | exp.Query, describe: Callable[[duckdb.Error], Exception]
) -> duckdb.DuckDBPyRelation:
    """The rows of a query, computed once; ``describe`` gives the typed error for a DuckDB error. Before DuckDB 2.0 each use
    of a relation computes it again, so the rows are kept in a table."""
    text = text_of(query)
    engine.say(text)

    def work() -> duckdb.DuckDBPyRelation:
        rows: Any = engine._connection.sql(text)
        if hasattr(rows, "materialize"):
            return cast("duckdb.DuckDBPyRelation", rows.materialize())
        name = f"_anondb_kept{next(_kept)}"
        rows.create(name)
        return engine._connection.table(name)

    return engine.guarded(work, describe)
