"""Comparisons with all rows of a list: ``n >= ALL (SELECT n ...)`` by its extreme.

For numbers that are never NULL, ``x >= ALL (list)`` is ``coalesce(x >= max(list), TRUE)``: of an empty list the extreme is
NULL, and the comparison is true.
"""

from __future__ import annotations

from sqlglot import exp

from anondb.query.parsing import bare, lowered

_EXTREMES: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GTE: exp.Max, exp.GT: exp.Max, exp.LTE: exp.Min, exp.LT: exp.Min
}  # fmt: skip


def with_extremes(tree: exp.Expr) -> exp.Expr:
    """A query with comparisons with an extreme in place of those with all rows of a list of counts."""
    if tree.find(exp.All) is None:
        return tree
    made = tree.copy()
    for node in list(made.find_all(*_EXTREMES)):
        if (found := _of_all(node, made)) is not None:
            node.replace(found)
    return made


def _of_all(node: exp.Expr, tree: exp.Expr) -> exp.Expr | None:
    """``x >= ALL (SELECT n ...)`` for counts; None for other comparisons."""
    query = node.expression.this.unnest() if isinstance(node.expression, exp.All) else None
    if not isinstance(query, exp.Select) or len(query.expressions) != 1 or query.is_star:
        return None
    if not (_is_count(query.expressions[0].unalias(), query, tree) and _is_count(node.this, node.parent_select, tree)):
        return None
    value = exp.Subquery(this=_extreme(query, _EXTREMES[type(node)]))
    return exp.Coalesce(this=type(node)(this=node.this.copy(), expression=value), expressions=[exp.true()])


def _extreme(query: exp.Select, kind: type[exp.Expr]) -> exp.Select:
    """The greatest or the least value of a query with one column."""
    inner, name = query.copy(), exp.to_identifier("v")
    inner.set("expressions", [exp.alias_(inner.expressions[0].unalias(), name)])
    return exp.select(kind(this=exp.column("v", "all_rows"))).from_(inner.subquery("all_rows"))


def _is_count(node: exp.Expr | None, select: exp.Select | None, tree: exp.Expr) -> bool:
    """Whether an expression is a count, or a column of a source of a SELECT that is one."""
    node = bare(node) if node is not None else None
    if isinstance(node, exp.Count | exp.CountIf):
        return isinstance(node, exp.Count)
    clause = select.args.get("from_") if select is not None else None
    if not isinstance(node, exp.Column) or clause is None or (select is not None and select.args.get("joins")):
        return False
    source = clause.this
    if node.table and lowered(node.table) != lowered(source.alias_or_name):
        return False
    inner = source.this if isinstance(source, exp.Subquery) else _cte(source, tree)
    named = source.args.get("alias")
    if not isinstance(inner, exp.Select) or (named is not None and named.columns):
        return False
    found = [e for e in inner.expressions if lowered(e.alias_or_name) == lowered(node.name)]
    return len(found) == 1 and _is_count(found[0].unalias(), inner, tree)


def _cte(source: exp.Expr, tree: exp.Expr) -> exp.Expr | None:
    """The query that a table names, if one common table expression has this name."""
    ctes = [cte for cte in tree.find_all(exp.CTE) if lowered(cte.alias) == lowered(source.name)]
    plain = isinstance(source, exp.Table) and not source.db and len(ctes) == 1
    return ctes[0].this if plain and not ctes[0].args["alias"].args.get("columns") else None
