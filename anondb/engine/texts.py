"""Texts of SQL in DuckDB's dialect, composed of templates whose places take names, values and queries: each is quoted or
written as a literal, so nothing in it can be read as SQL. For other engines, sqlglot reads the text as a tree."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from anondb.engine.trees import exp, light, parsed_query, written

_PLAIN_TYPE = re.compile(r"[A-Z][A-Z ]*(\(\d+(, ?\d+)?\))?(\[\])*")

_NAME = re.compile(r'(?:^|(?<=.)\.)(?:"((?:[^"]|"")+)"|([^\W\d]\w*))')

Value = int | float | str | bool | None


class Sql(str):
    """A piece of SQL, such as a condition: in a template it stands as it is."""

    __slots__ = ()


@dataclass(frozen=True)
class Table:
    """The fully qualified name of a table or view; qualified, since a user's file may have the name of our schema. A part
    may be empty in databases where names have fewer."""

    catalog: str
    schema: str
    name: str

    def expression(self) -> exp.Table:
        """The quoted sqlglot node of this name."""
        return exp.Table(
            this=exp.to_identifier(self.name, quoted=True),
            db=exp.to_identifier(self.schema or None, quoted=True),
            catalog=exp.to_identifier(self.catalog or None, quoted=True),
        )

    def sql(self) -> Sql:
        """The quoted name as DuckDB reads it."""
        return Sql(".".join(quoted(part) for part in (self.catalog, self.schema, self.name) if part))


@dataclass(frozen=True)
class Query:
    """The text of a query in DuckDB's dialect; ``what`` it is, for an error."""

    text: str
    what: str = "generated query"

    def first(self, number: int) -> Query:
        """So many of its rows."""
        return Query(f"{self.text} LIMIT {number:d}", self.what)

    def tree(self) -> exp.Query:
        """The query as a tree."""
        return _read(self.text).copy()


@lru_cache(maxsize=256)
def _read(text: str) -> exp.Query:
    return light(parsed_query(text))


Part = Table | Query | Value | list[Any] | tuple[Any, ...]


def sql(template: str, *parts: Part, **named: Part) -> Sql:
    """A template with its parts in the places ``{}``: names are quoted, queries put in parentheses, pieces of SQL stand as
    they are, and other texts, numbers and lists become literals."""
    return Sql(template.format(*map(_written, parts), **{name: _written(part) for name, part in named.items()}))


def _written(part: Part) -> str:
    if isinstance(part, Table):
        return part.sql()
    return f"({part.text})" if isinstance(part, Query) else literal(part)


def quoted(name: str) -> Sql:
    """A name as a quoted identifier."""
    return Sql('"' + name.replace('"', '""') + '"')


def parts_of(name: str) -> list[str]:
    """The parts of a name such as ``schema."a table"``; none if it is no such name."""
    found = list(_NAME.finditer(name))
    whole = "".join(part[0] for part in found) == name
    return [(part[1] or part[2]).replace('""', '"') for part in found] if whole else []


def literal(value: Any) -> Sql:
    """A value of Python, or a list of them, as a literal; a piece of SQL as it is."""
    if isinstance(value, Sql):
        return value
    if value is None or isinstance(value, bool):
        return Sql("NULL" if value is None else str(value).upper())
    if isinstance(value, str):
        return Sql("'" + value.replace("'", "''") + "'")
    if isinstance(value, list | tuple):
        return Sql(f"[{', '.join(map(literal, value))}]")
    if not isinstance(value, int | float):
        raise TypeError(f"no literal of the type {type(value).__name__}")
    return Sql(repr(value))


def type_text(kind: str) -> Sql:
    """A type of DuckDB as part of a statement: one that is not plain is parsed. Raises sqlglot's error: it is no type."""
    return Sql(kind if _PLAIN_TYPE.fullmatch(kind) else exp.DataType.build(kind, dialect="duckdb").sql(dialect="duckdb"))


def listed(pieces: Iterable[str]) -> Sql:
    """Pieces of SQL, with commas between them."""
    return Sql(", ".join(pieces))


def text_of(statement: exp.Expr | Query | str) -> str:
    """The text of a statement."""
    if isinstance(statement, str):
        return statement
    return statement.text if isinstance(statement, Query) else written(statement)


def creation(table: Table, body: Query | exp.Query | str) -> Sql:
    """The statement ``CREATE TABLE table AS body``."""
    place = (
        sql("CREATE TEMPORARY TABLE {}", quoted(table.name)) if table.catalog == "temp" else sql("CREATE TABLE {}", table)
    )
    return Sql(f"{place} AS {text_of(body)}")


def drop(table: Table) -> Sql:
    """The statement ``DROP TABLE IF EXISTS table``."""
    return sql("DROP TABLE IF EXISTS {}", table)


def filling(target: Table, source: Table, columns: tuple[tuple[str, str], ...], *, new: bool) -> Sql:
    """``CREATE TABLE target AS``, or ``INSERT INTO target``, the columns (name, type) of the source, cast to their types."""
    casts = listed(sql("CAST({0} AS {1}) AS {0}", quoted(name), type_text(kind)) for name, kind in columns)
    rows = sql("SELECT {} FROM {}", casts, source)
    return (
        creation(target, rows) if new else sql("INSERT INTO {} ({}) {}", target, listed(quoted(n) for n, _ in columns), rows)
    )
