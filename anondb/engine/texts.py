"""The texts of statements, in DuckDB's dialect."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sqlglot import exp

from anondb.engine.interface import Tables
from anondb.engine.queries import Value, load
from anondb.engine.tables import Table


def named_text(name: str, tables: Tables, values: Mapping[str, Value], target: Table | None = None) -> str:
    """The text of a named query, or of ``CREATE TABLE target AS`` it.

    Texts over tables are kept, because writing one takes as long as running it on little data.
    """
    if all(isinstance(table, Table) for table in tables.values()):
        typed = tuple((key, type(value), value) for key, value in values.items())  # True == 1 == 1.0
        return _kept(name, tuple(tables.items()), typed, target)
    return _written(name, tables, values, target)


@lru_cache(maxsize=1024)
def _kept(
    name: str, tables: tuple[tuple[str, Table], ...], values: tuple[tuple[str, type, Value], ...], target: Table | None
) -> str:
    return _written(name, dict(tables), {key: value for key, _, value in values}, target)


def _written(name: str, tables: Tables, values: Mapping[str, Value], target: Table | None) -> str:
    query = load(name).bind(tables, values)
    return text_of(query if target is None else creation(target, query))


def creation(table: Table, body: exp.Query) -> exp.Create:
    """The statement ``CREATE TABLE table AS body``."""
    if table.catalog != "temp":
        return exp.Create(this=table.expression(), kind="TABLE", expression=body)
    this = exp.Table(this=exp.to_identifier(table.name, quoted=True))
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(this=this, kind="TABLE", expression=body, properties=temporary)


def text_of(statement: exp.Expr) -> str:
    """The text of a tree that is not used again: it is not copied, which takes as long as writing it."""
    return statement.sql(dialect="duckdb", copy=False)
