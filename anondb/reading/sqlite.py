"""Reads a table of a SQLite file with Python's own library: DuckDB's extension would have to be downloaded."""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlglot import exp

from anondb.errors import InputError

_LISTED = """
SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name
"""


def rows_of_table(path: Path, name: str, table: str | None) -> tuple[tuple[str, ...], Iterable[Iterable[Any]]]:
    """The columns and rows of a table of a SQLite file, by default the only one; the file is opened read-only. Raises
    InputError: ``no_such_table``; ``bad_file``: it is damaged."""
    try:
        connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
        names = [row[0] for row in connection.execute(_LISTED)]
        chosen = [n for n in names if table is None or n.lower() == table.lower()]
        if len(chosen) == 1:
            query = exp.select("*").from_(exp.to_identifier(chosen[0], quoted=True))
            rows = connection.execute(query.sql(dialect="sqlite"))
            return tuple(column[0] for column in rows.description), _closing(connection, rows, name)
        connection.close()
    except sqlite3.Error:
        raise _damaged(name) from None
    raise InputError(
        f"{name} has no table {table!r}." if table is not None else f"{name} has {len(names)} tables and views.",
        code="no_such_table",
        hint="Name one with --file-table TABLE.",
    )


def _closing(connection: sqlite3.Connection, rows: Iterable[Iterable[Any]], name: str) -> Iterator[Iterable[Any]]:
    try:
        yield from rows
    except sqlite3.Error:
        raise _damaged(name) from None
    finally:
        connection.close()


def _damaged(name: str) -> InputError:
    return InputError(f"{name} cannot be read as a SQLite file.", code="unreadable")
