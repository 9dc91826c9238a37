"""Named queries as the bodies of views and macros: their tables are bound to a schema, their values to expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from anondb.engine import Query, Rows, Table, load
from anondb.engine.trees import exp, is_tree
from anondb.errors import InternalError

_CTE = re.compile(r"\s*(?:WITH\s+|,\s*)(\w+) AS (?:MATERIALIZED )?\(")
_SOURCE = re.compile(r"(?<=FROM |JOIN )(?<!DISTINCT FROM )(\w+)\b(?: AS (\w+))?")
_PARENTHESIS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[()]")


def body_of(
    name: str, schema: str, values: Mapping[str, Any], parts: Mapping[str, Rows] = MappingProxyType({})
) -> Query | exp.Query:
    """The named query as the body of a view or macro of ``schema``. Names have no catalog, because the file may be attached
    under any name. They have the schema even if it is ``main``, because a CTE of the analyst's query would capture an
    unqualified name in a macro. ``parts`` maps tables to the queries that replace them."""
    return bound_among(name, {table: Table("", schema, table) for table in load(name).reads} | dict(parts), values)


def bound_among(
    name: str, tables: Mapping[str, Rows], values: Mapping[str, Any] = MappingProxyType({})
) -> Query | exp.Query:
    """The named query, bound to those of the tables that it reads: a text, or a tree if it is one of another engine, or a
    table or a value is a tree."""
    query = load(name)
    read = {table: tables[table] for table in query.reads}
    of_trees = name.startswith("postgres/") or any(map(is_tree, (*read.values(), *values.values())))
    return query.bind(read, values) if of_trees else query.filled(read, values)


def without_ctes(query: Query) -> Query:
    """Write the CTEs of a query as subqueries: DuckDB 1.4.0 and 1.4.1 cannot resolve a CTE in a stored macro."""
    bodies: dict[str, str] = {}

    def inlined(text: str) -> str:
        return _SOURCE.sub(lambda at: f"({bodies[at[1]]}) AS {at[2] or at[1]}" if at[1] in bodies else at[0], text)

    rest = query.text
    while (cte := _CTE.match(rest)) is not None:
        end = _end(rest, cte.end())
        bodies[cte[1]] = inlined(rest[cte.end() : end])
        rest = rest[end + 1 :]
    return Query(inlined(rest), query.what)


def _end(text: str, start: int) -> int:
    """The place of the parenthesis that closes the one before a place."""
    open_ones = 1
    for token in _PARENTHESIS.finditer(text, start):
        open_ones += {"(": 1, ")": -1}.get(token[0], 0)
        if not open_ones:
            return token.start()
    raise InternalError("a parenthesis is not closed")
