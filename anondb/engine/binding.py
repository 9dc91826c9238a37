"""Whether DuckDB takes a query at all: it is bound on empty tables, in a database that holds nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

import duckdb
from sqlglot import exp

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
"""Tables: the name of each, and the types of its columns."""


class Binder:
    """Databases in memory with empty tables, one for each shape, that cannot be configured and see no file."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self._databases: dict[str, duckdb.DuckDBPyConnection | None] = {}
        for name, tables in shapes.items():
            self._databases[name] = _database(tables)

    def accepts(self, sql: str, shape: str) -> bool:
        """Whether DuckDB binds the text, as one SELECT; true also where the shape itself cannot be made in DuckDB.

        The query is planned and never run.
        """
        database = self._databases[shape]
        if database is None:
            return True
        try:
            statements = database.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                return False
            database.execute(f"EXPLAIN {statements[0].query}").fetchall()
        except duckdb.InternalException:  # a bug of DuckDB's is no refusal
            return True
        except (duckdb.Error, UnicodeError, RuntimeError):
            return False
        return True


def _database(tables: Shape) -> duckdb.DuckDBPyConnection | None:
    connection = duckdb.connect(":memory:", config=_CONFIG)
    try:
        for name, columns in tables:
            nulls = [
                exp.cast(exp.null(), kind, dialect="duckdb").as_(column, quoted=True)
                for column, kind in columns.items()
            ]
            made = exp.Create(
                this=exp.Table(this=exp.to_identifier(name, quoted=True)),
                kind="TABLE",
                expression=exp.select(*nulls).limit(0),
            )
            connection.execute(made.sql(dialect="duckdb"))
        connection.execute(
            "PRAGMA disable_optimizer"
        )  # binding alone is asked for, and empty tables have bugs of their own
        connection.execute("SET lock_configuration = true")
    except duckdb.Error:  # such as two columns of one name
        with contextlib.suppress(duckdb.Error):
            connection.close()
        return None
    return connection
