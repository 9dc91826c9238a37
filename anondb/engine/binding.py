"""Checks whether DuckDB accepts a query: binds it on empty tables, in a database without anything else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import duckdb
from sqlglot import exp
from sqlglot.errors import SqlglotError

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "memory_limit": "256MB",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "threads": 1,
}

Shape = Sequence[tuple[str, Mapping[str, str]]]
"""Tables: the name of each, and the names and SQL types of its columns."""


class Binder:
    """An in-memory database with locked settings and no file access, with a schema of empty tables for each shape."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        base = duckdb.connect(":memory:", config=_CONFIG)
        self._places = {name: _place(base, name, tables) for name, tables in shapes.items()}
        base.execute("SET lock_configuration = true")

    def accepts(self, sql: str, shape: str) -> bool:
        """Whether DuckDB binds the text as one SELECT, without running it; also true if the shape cannot be created."""
        return self.columns(sql, shape) is not None

    def columns(self, sql: str, shape: str) -> list[tuple[str, str]] | None:
        """The names and the types of the columns of a SELECT, as DuckDB binds it without running it.

        Returns:
            None if DuckDB refuses the text; no columns if the shape cannot be created, or DuckDB fails.
        """
        place = self._places[shape]
        if place is None:
            return []
        try:
            statements = place.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                return None
            bound = place.sql(statements[0].query)
            return list(zip(bound.columns, map(str, bound.types), strict=True))
        except duckdb.InternalException:  # a bug in DuckDB, not a refusal
            return []
        except (duckdb.Error, UnicodeError, RuntimeError):
            return None


def _place(base: duckdb.DuckDBPyConnection, name: str, tables: Shape) -> duckdb.DuckDBPyConnection | None:
    """A connection whose current schema has the tables; None if DuckDB cannot create them."""
    schema = exp.Table(db=exp.to_identifier(name, quoted=True))
    connection = base.cursor()
    connection.execute("PRAGMA disable_optimizer")  # only binding matters, and the optimizer has bugs with empty tables
    connection.execute(exp.Create(this=schema, kind="SCHEMA").sql(dialect="duckdb"))
    connection.execute(exp.Use(this=schema.copy()).sql(dialect="duckdb"))
    try:
        for table, columns in tables:
            nulls = [
                exp.cast(exp.null(), _typed(kind), dialect="duckdb").as_(column, quoted=True)
                for column, kind in columns.items()
            ]
            named, empty = exp.Table(this=exp.to_identifier(table, quoted=True)), exp.select(*nulls).limit(0)
            connection.execute(exp.Create(this=named, kind="TABLE", expression=empty).sql(dialect="duckdb"))
    except (duckdb.Error, SqlglotError):  # such as two columns of one name
        return None
    return connection


def _typed(kind: str) -> str:
    """A type in which DuckDB's type of columns with nothing but NULL, which no query can name, is that of texts."""
    return re.sub(r'"NULL"(?=$|[\[,)])', "VARCHAR", kind)
