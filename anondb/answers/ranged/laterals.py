"""Aggregates beside each row: ``t, LATERAL (SELECT count(*) AS n FROM s WHERE s.item = t.item) l`` as subqueries.

An aggregate without GROUP BY has one row, whatever its rows are. So such a source adds its columns to each row of those
before it, as scalar subqueries do, and no row is lost by the join, whose condition is TRUE.
"""

from __future__ import annotations

from sqlglot import exp

from anondb.query.parsing import lowered

_ONE_ROW = {"expressions", "from_", "joins", "where", "with_"}


def with_subqueries(tree: exp.Expr) -> exp.Expr:
    """A query with scalar subqueries in place of the columns of LATERAL aggregates."""
    if tree.find(exp.Lateral) is None:
        return tree
    made = tree.copy()
    for select in list(made.find_all(exp.Select)):
        joins = select.args.get("joins") or []
        for join in reversed(joins):  # a later one may name an earlier one
            columns = _columns(join)
            if columns is not None and _is_replaceable(select, join, columns):
                joins.remove(join)
                _put(select, lowered(join.this.alias), columns)
    return made


def _columns(join: exp.Join) -> dict[str, exp.Expr] | None:
    """The columns of a LATERAL source with one row, by their names in lower case; None for other sources."""
    source, on = join.this, join.args.get("on")
    query = source.this.unnest() if isinstance(source, exp.Lateral) and isinstance(source.this, exp.Query) else None
    if not isinstance(query, exp.Select) or not source.alias or join.args.get("using") or join.method:
        return None
    if not {key for key, part in query.args.items() if part} <= _ONE_ROW or on not in (None, exp.true()):
        return None
    if join.side not in ("", "LEFT") or join.kind not in ("", "INNER", "CROSS", "OUTER"):
        return None
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
    given = {lowered(e.alias) for e in select.expressions if isinstance(e, exp.Alias)}
    for column in list(select.find_all(exp.Column)):
        name, ordered = lowered(column.name), column.find_ancestor(exp.Order, exp.Select)
        plain = not column.table and column.parent_select is select
        if plain and name in given and isinstance(ordered, exp.Order):
            continue  # ORDER BY reads the name that the SELECT gives
        if name in columns and (lowered(column.table) == alias or plain):
            value = columns[name].copy()
            column.replace(exp.alias_(value, column.name) if column.parent is select else value)
