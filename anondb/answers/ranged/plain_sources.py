"""Sources that only choose rows of a table and compute columns of them, as this table: ``(SELECT tid, age // 10 AS decade
FROM t WHERE age > 17)`` as ``t`` with the expressions and the conditions in their places."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from anondb.answers.ranged.clauses import clauses_of, is_inner, only_source, places_of, shown_by_name
from anondb.answers.ranged.equivalents import aliases_of, select_sources
from anondb.answers.ranged.originals import Originals, rule
from anondb.query.parsing import lowered

Columns = Mapping[str, Collection[str]]
_PLAIN = {"expressions", "from_", "where"}
_ENDS = ("order", "having", "qualify", "group")
_CLAUSES = (exp.Order, exp.Having, exp.Qualify, exp.Group)
_OTHER = (exp.AggFunc, exp.Window, exp.Query, exp.Explode, exp.Unnest, exp.Anonymous)


@rule((exp.Subquery, exp.CTE), inner_first=True)
def without_inner_rows(select: exp.Select, originals: Originals) -> None:
    """A query with the original's tables in place of sources that only choose rows of them and compute columns."""
    if select.args.get("from_") is not None and not any(e.is_star for e in select.expressions):
        for source, inner in list(select_sources(select)):
            table = _only_table(inner, originals.columns)
            if table is not None:
                _read_table(select, source, inner, table, originals.columns)


@rule(exp.Join)
def with_named_tables(select: exp.Select, originals: Originals) -> None:
    """A query whose aggregates name the table of each column that one of several joined tables has."""
    tables: dict[str, Collection[str]] = {**originals.columns, **originals.own}
    joins, ctes = select.args.get("joins") or [], {lowered(cte.alias) for cte in select.root().find_all(exp.CTE)}
    sources = [place.this for place in places_of(select)] if joins else []
    named = [lowered(s.name) if isinstance(s, exp.Table) and not (s.db or s.alias_column_names) else "" for s in sources]
    if any(name in ctes or name not in tables for name in named):
        return
    shared = {lowered(name.name) for join in joins for name in join.args.get("using") or ()}
    for column in [c for c in select.find_all(exp.Column) if not c.table and c.parent_select is select]:
        name = lowered(column.name)
        of = [s for s, table in zip(sources, named, strict=True) if name in tables[table] and name not in shared]
        if len(of) == 1 and column.find_ancestor(exp.AggFunc, exp.Query) is not select:
            column.set("table", exp.to_identifier(of[0].alias_or_name, quoted=True))


def _only_table(inner: exp.Select, tables: Columns) -> exp.Table | None:
    """The table of which a SELECT computes columns for each row that it chooses; None for others."""
    clause = inner.args.get("from_") if clauses_of(inner) <= _PLAIN else None
    table = None if clause is None else clause.this
    if not isinstance(table, exp.Table) or clauses_of(table) - {"this", "alias"} or table.alias_column_names:
        return None
    named = [e.alias_or_name for e in inner.expressions]
    computed = [e.unalias() for e in inner.expressions]
    plain = lowered(table.name) in tables and all(named) and len({*map(lowered, named)}) == len(named)
    return table if plain and not any(e.find(*_OTHER) for e in computed) else None


def _read_table(select: exp.Select, source: exp.Expr, inner: exp.Select, table: exp.Table, tables: Columns) -> None:
    """Let a SELECT read the table of a source, if each of its names keeps its meaning."""
    before, own, inner = lowered(table.alias_or_name), tables[lowered(table.name)], inner.copy()
    alias, alone = lowered(source.alias_or_name or table.alias_or_name), not select.args.get("joins")
    if not source.alias_or_name and not alone:
        return
    for column in [c for c in inner.find_all(exp.Column) if c.parent_select is inner or lowered(c.table) == before]:
        if lowered(column.table) == before or not (column.table or alone):  # alone a name needs no table
            column.set("table", exp.to_identifier(alias))
    values, place = shown_by_name(inner), next(place for place in places_of(select) if place.this is source)
    columns, where = _columns_of(select, alias, values, own, tables), inner.args.get("where")
    if columns is None or not _keeps_rows(select, place, values, where) or not _keeps_names(select, columns, values):
        return
    if where is not None and (alias != before or not alone) and not _is_apart(where, alias, tables):
        return
    for column in columns:
        value, shown = values[lowered(column.name)].copy(), column.parent is select
        for name in [c for c in value.find_all(exp.Column) if column.table]:
            name.set("table", exp.to_identifier(alias))
        plain = shown or isinstance(value, exp.Column | exp.Literal | exp.Case)
        value = value if plain else exp.paren(value)
        column.replace(exp.alias_(value, column.this.copy()) if shown else value)
    if where is not None and is_inner(place):
        select.where(where.this, copy=False)
    elif where is not None:
        place.set("on", exp.and_(place.args["on"], where.this))
    named = None if alias == lowered(table.name) else exp.TableAlias(this=exp.to_identifier(alias))
    place.set("this", exp.Table(this=table.this.copy(), alias=named))


def _columns_of(
    select: exp.Select, alias: str, values: Mapping[str, exp.Expr], own: Collection[str], tables: Columns
) -> list[exp.Column] | None:
    """The columns of a source that a SELECT names; None if one may mean something else then.

    Args:
        select: the SELECT.
        alias: the name of the source.
        values: what its columns are, by their names.
        own: the columns of its table, some of which it hides.
        tables: the columns of each of the original's tables.
    """
    aliases = aliases_of(select)
    using = {lowered(u.name) for join in select.args.get("joins") or () for u in join.args.get("using") or ()}
    if any(not isinstance(v, exp.Column) or lowered(v.name) != name for name, v in values.items() if name in using):
        return None
    parts = _parts(select)
    inner = {lowered(t.alias_or_name) for part in parts for t in part.find_all(exp.Table, exp.Subquery)}
    if alias in inner or aliases & (set(own) - set(values)) or _is_read_beside(select, alias, values):
        return None
    columns = []
    for column in [c for part in parts for c in part.find_all(exp.Column)]:
        name, here = lowered(column.name), column.parent_select is select
        if lowered(column.table) == alias:
            if name not in values:
                return None
            columns.append(column)
        elif not column.table and not here and (name in values or name in own) and not _is_of_table(column, tables):
            return None  # of a query inside, or of the rows around it
        elif not column.table and here and (name == alias or (name in own and name not in values)):
            return None  # a row as a value, or a column that the source hides
        elif not column.table and here and name in values and name not in using:
            if name in aliases and column.find_ancestor(*_CLAUSES, exp.Select) is not select:
                return None  # what the SELECT gives, or the column
            columns.append(column)
    return columns


def _is_read_beside(select: exp.Select, alias: str, values: Mapping[str, exp.Expr]) -> bool:
    """Whether another source of a SELECT names a column that this one computes, as in ``unnest(s.numbers)``."""
    computed = {n for n, value in values.items() if not isinstance(value, exp.Column) or lowered(value.name) != n}
    others = [place.this for place in places_of(select) if lowered(place.this.alias_or_name) != alias]
    columns = [column for other in others for column in other.find_all(exp.Column) if lowered(column.name) in computed]
    return any(lowered(c.table) == alias or (not c.table and c.parent_select is select) for c in columns)


def _parts(select: exp.Select) -> list[exp.Expr]:
    """What a SELECT shows, tests and orders by, and the conditions of its joins."""
    parts = [select.args.get(key) for key in ("where", *_ENDS, "distinct")]
    on = [join.args.get("on") for join in select.args.get("joins") or ()]
    return [*select.expressions, *(part for part in (*parts, *on) if part is not None), *(select.args.get("windows") or ())]


def _keeps_names(select: exp.Select, columns: Collection[exp.Column], values: Mapping[str, exp.Expr]) -> bool:
    """Whether no clause after what is shown reads a column of an expression as what the SELECT gives under this name."""
    shown = [lowered(e.alias_or_name) for e in select.expressions]
    plain = {lowered(e.alias_or_name) for e in select.expressions if isinstance(e, exp.Column)}
    for column in columns:
        value = values[lowered(column.name)]
        inside = {lowered(c.name) for c in value.find_all(exp.Column)}
        in_clause = column.find_ancestor(*_CLAUSES, exp.Select) is not select
        if in_clause and not inside:
            return False  # a constant would be a position
        if in_clause and inside & {*shown}:
            same = isinstance(value, exp.Column) and lowered(value.name) == lowered(column.name)
            if not same or not inside & {*shown} <= plain:
                return False
        if column.parent is select and not isinstance(value, exp.Column) and shown.count(lowered(column.name)) > 1:
            return False
    return True


def _is_of_table(column: exp.Column, tables: Columns) -> bool:
    """Whether a name alone is a column of the only table of the query that it is in."""
    inner = column.parent_select
    table = None if inner is None else only_source(inner)
    return isinstance(table, exp.Table) and not table.db and lowered(column.name) in tables.get(lowered(table.name), ())


def _is_apart(where: exp.Expr, alias: str, tables: Columns) -> bool:
    """Whether the names of the queries in a condition mean the same beside other sources, one of which has an alias."""
    inner = [column for query in where.find_all(exp.Query) for column in query.find_all(exp.Column) if not column.table]
    taken = {lowered(table.alias_or_name) for table in where.find_all(exp.Table, exp.Subquery)}
    return alias not in taken and all(_is_of_table(column, tables) for column in inner)


def _keeps_rows(select: exp.Select, place: exp.Expr, values: Mapping[str, exp.Expr], where: exp.Where | None) -> bool:
    """Whether a condition on the rows of a source may stand in WHERE, or in ON of an outer, a semi or an anti join, and no
    computed column is NULL by an outer join."""
    joins = select.args.get("joins") or []
    if any(join.side not in ("", "LEFT") or join.method for join in joins):
        return False
    plain = all(isinstance(value, exp.Column) for value in values.values())
    return is_inner(place) or (plain and (where is None or place.args.get("on") is not None))
