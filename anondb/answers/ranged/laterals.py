"""LATERAL sources without LATERAL: aggregates as scalar subqueries, and rows and groups as a join.

In ``t, LATERAL (SELECT count(*) AS n FROM s WHERE s.item = t.item) l``, an aggregate without GROUP BY has one row, whatever
its rows are. So such a source adds its columns to each row of those before it, as scalar subqueries do, and no row is lost
by the join, whose condition is TRUE. Columns of a table's rows are those of a join on the condition of WHERE. The first
groups of those with ``s.k = t.k`` are the first ones for each k, joined on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from anondb.answers.ranged.clauses import (
    ROWS,
    aliased,
    both_ways,
    clauses_of,
    conditions_of,
    places_of,
    set_conditions,
    shown_by_name,
)
from anondb.answers.ranged.equivalents import resolved
from anondb.answers.ranged.leading import rows_kept
from anondb.answers.ranged.originals import Originals, rule
from anondb.answers.ranged.relation import fresh
from anondb.query.parsing import lowered

_ONE_ROW = {"expressions", *ROWS, "with_"}
_GROUPS = {"expressions", *ROWS, "group", "having", "order", "limit"}


@rule(exp.Lateral)
def with_joins(select: exp.Select, originals: Originals) -> None:
    """A query with joins in place of LATERAL sources of groups, or of the rows of a table of persons."""
    ctes = list(select.root().find_all(exp.CTE))
    names = {lowered(cte.alias) for cte in ctes}
    of_persons, others = (
        {name: columns for name, columns in of.items() if name not in names} for of in (originals.columns, originals.own)
    )
    plain = [cte for cte in ctes if isinstance(cte.this, exp.Select) and not cte.this.is_star and not cte.alias_column_names]
    if len(names) == len(ctes):  # each name has one meaning
        others |= {lowered(cte.alias): [lowered(e.alias_or_name) for e in cte.this.expressions] for cte in plain}
    for join in select.args.get("joins") or ():
        if (query := _query(join, _ONE_ROW)) is not None:
            _write_join(select, join, query, of_persons)
        elif (groups := _query(join, _GROUPS)) is not None:
            _write_groups(select, join, groups, {**others, **of_persons})


@rule(exp.Lateral)
def with_subqueries(select: exp.Select, originals: Originals) -> None:
    """A query with scalar subqueries in place of the columns of LATERAL aggregates."""
    joins = select.args.get("joins") or []
    for join in reversed(joins):  # a later one may name an earlier one
        query = _query(join, _ONE_ROW)
        columns = None if query is None else _columns(join.this, query)
        if columns is not None and _is_replaceable(select, join, columns):
            joins.remove(join)
            _put(select, lowered(join.this.alias), columns)


def _query(join: exp.Join, parts: Collection[str]) -> exp.Select | None:
    """The SELECT with no other parts of a LATERAL source that is joined on TRUE; None for other sources."""
    source, on = join.this, join.args.get("on")
    query = source.this.unnest() if isinstance(source, exp.Lateral) and isinstance(source.this, exp.Query) else None
    if not isinstance(query, exp.Select) or not source.alias or join.args.get("using") or join.method:
        return None
    if not clauses_of(query) <= set(parts) or on not in (None, exp.true()):
        return None
    plain = join.side in ("", "LEFT") and join.kind in ("", "INNER", "CROSS", "OUTER")
    return query if plain else None


def _write_join(select: exp.Select, join: exp.Join, query: exp.Select, tables: Mapping[str, Collection[str]]) -> None:
    """Write a source of columns of the rows of a table of persons as a join with the table."""
    clause, where, alias = query.args.get("from_"), query.args.get("where"), join.this.args["alias"]
    table = None if clause is None else clause.this
    if not isinstance(table, exp.Table) or table.db or lowered(table.name) not in tables:
        return
    if alias.columns or table.alias_column_names or query.args.get("joins") or query.args.get("with_"):
        return
    inside, own = lowered(table.alias_or_name), tables[lowered(table.name)]

    def moved(node: exp.Expr) -> exp.Expr:
        of = isinstance(node, exp.Column) and (lowered(node.table) or ("" if lowered(node.name) not in own else inside))
        return exp.column(node.this.copy(), alias.this.copy()) if of == inside else node

    shown = shown_by_name(query)
    columns = {name: moved(of.copy()) for name, of in shown.items() if isinstance(of, exp.Column) and moved(of) is not of}
    columns |= {name: of for name, of in shown.items() if isinstance(of, exp.Literal) and not join.side}
    nested = where is not None and where.find(exp.Query) is not None
    if nested or len(columns) < len(query.expressions) or not _is_replaceable(select, join, columns):
        return
    hidden = {name for name in own if name not in columns}  # columns of the table that the source does not show
    inner = {id(column) for column in query.find_all(exp.Column)}
    named_alone = {lowered(c.name) for c in select.find_all(exp.Column) if not c.table and id(c) not in inner}
    if named_alone & hidden or any(other.args.get("using") or other.method for other in select.args["joins"]):
        return
    _put(select, lowered(alias.name), columns)
    join.set("this", exp.Table(this=table.this.copy(), alias=exp.TableAlias(this=alias.this.copy())))
    join.set("on", exp.true() if where is None else exp.paren(where.this.transform(moved)))
    join.set("kind", None)


def _write_groups(select: exp.Select, join: exp.Join, query: exp.Select, tables: Mapping[str, Collection[str]]) -> None:
    """Write a source of the groups of rows that a column of them links with a row before, or of some first rows, as a join
    with all of them."""
    sources = [place.this for place in places_of(query)]
    plain = all(isinstance(source, exp.Table) and lowered(source.name) in tables for source in sources)
    limit, order, group = (query.args.get(key) for key in ("limit", "order", "group"))
    number = rows_kept(limit)
    keyed = group is None or clauses_of(group) in ({"expressions"}, {"all"})
    odd = [e.find(exp.Window, exp.Explode, exp.Unnest, exp.AggFunc) for e in query.expressions]
    shown = group is not None or (not any(odd) and query.args.get("having") is None)
    windows = any(e.find(exp.Window, exp.Explode, exp.Unnest) for e in (*query.expressions, *([order] if order else [])))
    if not plain or not keyed or not shown or windows or len({limit is None, number is None, order is None}) != 1:
        return
    inside = {lowered(source.alias_or_name) for source in sources}
    names = {name for source in sources for name in tables[lowered(source.name)]}
    parts = conditions_of(query)
    links = [(part, sides) for part in parts if (sides := _linked(part, inside, names)) is not None]
    stars = any(e.find(exp.Star) and not e.find(exp.Count) for e in (*select.expressions, *query.expressions))
    if len(links) != 1 or stars or query.find(exp.Subquery, exp.Exists) or join.this.args["alias"].columns:
        return
    link, (key, outer) = links[0]
    columns = [c for c in query.find_all(exp.Column) if not any(one is c for one in link.find_all(exp.Column))]
    named = names | {lowered(e.alias) for e in query.expressions}
    own = all(lowered(c.table) in inside if c.table else lowered(c.name) in named for c in columns)
    if not own or not all(e.alias_or_name for e in query.expressions):
        return
    name, alias = fresh("k"), join.this.args["alias"]
    copy = query.copy()
    set_conditions(copy, [part for part in parts if part is not link])
    copy.append("expressions", exp.alias_(key.copy(), name, quoted=True))
    if group is not None and not group.args.get("all"):
        copy.args["group"].append("expressions", key.copy())
    if order is not None and number is not None:
        terms = order.copy()
        for term in terms.expressions:
            term.set("this", resolved(term.this, query))
        place = exp.Window(this=exp.RowNumber(), partition_by=[key.copy()], order=terms, over="OVER")
        copy.set("qualify", exp.Qualify(this=exp.LTE(this=place, expression=exp.convert(number))))
    copy.set("order", None)
    copy.set("limit", None)
    join.set("this", exp.Subquery(this=copy, alias=alias.copy()))
    join.set("on", exp.EQ(this=exp.column(exp.to_identifier(name, quoted=True), alias.name), expression=outer.copy()))
    join.set("kind", None)


def _linked(part: exp.Expr, inside: Collection[str], names: Collection[str]) -> tuple[exp.Column, exp.Column] | None:
    """The column inside of a source and the one around it that a condition says to be equal; None for other conditions."""
    for own, outer in both_ways(part, exp.EQ):
        if not isinstance(own, exp.Column) or not isinstance(outer, exp.Column):
            continue
        of_source = lowered(own.table) in inside or (not own.table and lowered(own.name) in names)
        if of_source and outer.table and lowered(outer.table) not in inside:
            return own, outer
    return None


def _columns(source: exp.Lateral, query: exp.Select) -> dict[str, exp.Expr] | None:
    """The columns of a LATERAL source with one row, by their names in lower case; None for other sources."""
    shown = [e.unalias() for e in query.expressions]
    if not all(_is_aggregate(e) for e in shown) or any(e.find(exp.Window, exp.Explode) for e in shown):
        return None
    named = [c.name for c in source.args["alias"].args.get("columns") or ()]
    names = [*named, *(e.alias_or_name for e in query.expressions[len(named) :])]
    listed: dict[str, exp.Expr] = {}
    for name, expression in zip(names, query.expressions, strict=False):
        one = query.copy()
        one.set("expressions", [expression.copy()])
        listed[lowered(name)] = exp.Subquery(this=one)
    return listed if all(names) and len(listed) == len(shown) else None


def _is_aggregate(node: exp.Expr) -> bool:
    """Whether an expression is of an aggregate, so that its SELECT without GROUP BY has one row."""
    return any(call.find_ancestor(exp.Select) is node.find_ancestor(exp.Select) for call in node.find_all(exp.AggFunc))


def _is_replaceable(select: exp.Select, join: exp.Join, columns: dict[str, exp.Expr]) -> bool:
    """Whether all that a SELECT may read of a source are its columns by name, which mean nothing else there."""
    alias = lowered(join.this.alias)
    inner = [table for table in select.find_all(exp.Table, exp.Subquery, exp.Values) if table is not join.this.this]
    own = [c for c in select.find_all(exp.Column) if lowered(c.table) == alias]
    shadowed = any(lowered(table.alias_or_name) == alias for table in inner)
    return not (shadowed or select.is_star) and all(lowered(c.name) in columns for c in own)


def _put(select: exp.Select, alias: str, columns: dict[str, exp.Expr]) -> None:
    """Put subqueries in the place of the columns of a source."""
    aliases = aliased(select)
    for column in list(select.find_all(exp.Column)):
        name, ordered = lowered(column.name), column.find_ancestor(exp.Order, exp.Select)
        plain = not column.table and column.parent_select is select
        if plain and name in aliases and isinstance(ordered, exp.Order):
            continue  # ORDER BY reads the name that the SELECT gives
        if name in columns and (lowered(column.table) == alias or plain):
            value = columns[name].copy()
            column.replace(exp.alias_(value, column.name) if column.parent is select else value)
