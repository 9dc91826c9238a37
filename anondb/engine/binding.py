"""Checks whether DuckDB accepts a query: binds it on empty tables, in a database without anything else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

import duckdb

from anondb.engine.trees import exp

if TYPE_CHECKING:
    from anondb.engine.duckdb_engine import DuckDBEngine

_numbers = count()

Shape = Sequence[tuple[str, Mapping[str, str]]]
"""Tables: the name of each, and the names and SQL types of its columns."""


class Binder:
    """An in-memory database with locked settings and no file access, with a schema of empty tables for each shape. It is
    added to the databases of an engine ``beside`` that is locked so, too: starting DuckDB once more takes 20 ms. The limits
    of an answer bind what DuckDB computes of constants there."""

    def __init__(self, shapes: Mapping[str, Shape], beside: DuckDBEngine) -> None:
        self._beside = beside
        self._base = beside.connection.cursor()
        self._catalog = f"shapes{next(_numbers)}"
        attach = exp.Attach(this=exp.alias_(exp.Literal.string(":memory:"), self._catalog))
        self._base.execute(attach.sql(dialect="duckdb"))
        self._places = {name: self._place(name, tables) for name, tables in shapes.items()}

    def close(self) -> None:
        """Remove the database."""
        for place in self._places.values():
            if place is not None:
                place.close()
        self._base.execute(exp.Detach(this=exp.to_table(self._catalog)).sql(dialect="duckdb"))
        self._base.close()

    def columns(self, sql: str, shape: str) -> list[tuple[str, str]] | None:
        """The names and the types of the columns of a SELECT, as DuckDB binds it without running it: None if DuckDB refuses
        the text; none if the shape cannot be created, or DuckDB fails."""
        if (place := self._places[shape]) is None:
            return []
        try:
            statements = place.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                return None
            query = statements[0].query
            bound = self._beside.call(lambda: place.sql(query), place)
            return list(zip(bound.columns, map(str, bound.types), strict=True))
        except duckdb.InternalException:  # a bug in DuckDB, not a refusal
            return []
        except (duckdb.Error, UnicodeError, RuntimeError):
            return None

    def _place(self, name: str, tables: Shape) -> duckdb.DuckDBPyConnection | None:
        """A connection whose current schema has the tables; None if DuckDB cannot create them."""
        from sqlglot.errors import SqlglotError

        schema = exp.Table(db=exp.to_identifier(name, quoted=True), catalog=exp.to_identifier(self._catalog))
        connection = self._base.cursor()
        connection.execute(exp.Create(this=schema, kind="SCHEMA").sql(dialect="duckdb"))
        connection.execute(exp.Use(this=schema.copy()).sql(dialect="duckdb"))
        try:
            for table, columns in tables:
                connection.execute(empty(table, "TABLE", columns).sql(dialect="duckdb"))
        except (duckdb.Error, SqlglotError):  # such as two columns of one name
            return None
        return connection


def empty(name: str, kind: str, columns: Mapping[str, str]) -> exp.Create:
    """The statement that makes an empty table or view, with these names and types of its columns."""
    table = exp.Table(this=exp.to_identifier(name, quoted=True))
    return exp.Create(this=table, kind=kind, expression=nulls(columns.items()).limit(0))


def nulls(columns: Iterable[tuple[str, str]]) -> exp.Select:
    """A row of NULL, with these names and types of its columns."""
    return exp.select(*(exp.cast(exp.null(), readable(t), dialect="duckdb").as_(n, quoted=True) for n, t in columns))


def readable(kind: str) -> str:
    """A type in which DuckDB's type of columns with nothing but NULL, which no query can name, is that of texts."""
    return re.sub(r'"NULL"(?=$|[\[,)])', "VARCHAR", kind)
