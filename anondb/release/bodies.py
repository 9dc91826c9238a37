"""Named queries as the bodies of views and macros: their tables are bound to a schema, their values to expressions."""

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from anondb.engine import Table, load


def body_of(
    name: str, schema: str, values: Mapping[str, exp.Expr], parts: Mapping[str, exp.Query] = MappingProxyType({})
) -> exp.Query:
    """The named query as the body of a view or macro of ``schema``. Names have no catalog, because the file may be attached
    under any name. They have the schema even if it is ``main``, because a CTE of the analyst's query would capture an
    unqualified name in a macro. ``parts`` maps tables to the queries that replace them."""
    return bound_among(name, {table: Table("", schema, table) for table in load(name).reads} | dict(parts), values)


def bound_among(
    name: str, tables: Mapping[str, Table | exp.Query], values: Mapping[str, exp.Expr] = MappingProxyType({})
) -> exp.Query:
    """The named query, bound to those of the tables that it reads."""
    query = load(name)
    return query.bind({table: tables[table] for table in query.reads}, values)


def without_ctes(query: exp.Query) -> exp.Query:
    """Inline the CTEs of a query as subqueries: DuckDB 1.4.0 and 1.4.1 cannot resolve a CTE in a stored macro."""
    query = query.copy()
    bodies: dict[str, exp.Query] = {}
    for cte in query.ctes:
        bodies[cte.alias] = _inlined(cte.this, bodies)
    query.set("with_", None)
    return _inlined(query, bodies)


def _inlined(query: exp.Query, bodies: Mapping[str, exp.Query]) -> exp.Query:
    for table in list(query.find_all(exp.Table)):
        if isinstance(table.this, exp.Identifier) and not table.db and table.name in bodies:
            _replace(table, bodies[table.name])
    return query


def _replace(table: exp.Table, query: exp.Query) -> None:
    """Put a copy of a query into the place of a table."""
    subquery = query.subquery(table.alias or table.name)
    subquery.set("joins", table.args.get("joins"))
    table.replace(subquery)
