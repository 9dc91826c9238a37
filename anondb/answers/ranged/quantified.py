"""Comparisons with all rows of a list, or with any: ``n >= ALL (SELECT n ...)`` by its extreme.

For numbers that are never NULL, ``x >= ALL (list)`` is ``coalesce(x >= max(list), TRUE)``: of an empty list the extreme is
NULL, and the comparison is true. So ``x >= ANY (list)`` is ``coalesce(x >= min(list), FALSE)``.
"""

from __future__ import annotations

from sqlglot import exp

from anondb.query.parsing import bare, lowered

_COMPARED = (exp.GTE, exp.GT, exp.LTE, exp.LT)
_PARTS = {"expressions", "from_", "joins", "where"}


def with_extremes(tree: exp.Expr) -> exp.Expr:
    """A query with comparisons with an extreme in place of those with all or any rows of a list of counts."""
    if tree.find(exp.All, exp.Any) is None:
        return tree
    made = tree.copy()
    for node in list(made.find_all(*_COMPARED)):
        if (found := _of_list(node, made)) is not None:
            node.replace(found)
    return made


def _of_list(node: exp.Expr, tree: exp.Expr) -> exp.Expr | None:
    """``x >= ALL (SELECT n ...)`` or ``x >= ANY (SELECT n ...)`` for counts; None for other comparisons."""
    of_all = isinstance(node.expression, exp.All)
    query = node.expression.this.unnest() if isinstance(node.expression, exp.All | exp.Any) else None
    if not isinstance(query, exp.Select) or len(query.expressions) != 1 or query.is_star:
        return None
    if not (_is_count(query.expressions[0].unalias(), query, tree) and _is_count(node.this, node.parent_select, tree)):
        return None
    greatest = isinstance(node, exp.GTE | exp.GT) == of_all
    value = exp.Subquery(this=_extreme(query, exp.Max if greatest else exp.Min))
    return exp.Coalesce(this=type(node)(this=node.this.copy(), expression=value), expressions=[exp.convert(of_all)])


def _extreme(query: exp.Select, kind: type[exp.Expr]) -> exp.Select:
    """The greatest or the least value of a query with one column, which may name columns around it where it only joins."""
    inner, name, value = query.copy(), exp.to_identifier("v"), query.expressions[0].unalias()
    if isinstance(value, exp.Column) and {key for key, part in query.args.items() if part} <= _PARTS:
        inner.set("expressions", [kind(this=value.copy())])
        return inner
    inner.set("expressions", [exp.alias_(value.copy(), name)])
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
