"""How the rows of a query in worlds are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from anondb.engine import readable

MANY = 16
_WITHOUT_NULL = (exp.Avg, exp.Count, exp.CountIf, exp.LogicalAnd, exp.LogicalOr, exp.Max, exp.Min, exp.Sum)
"""Aggregates that leave out NULL."""


def without_filters(tree: exp.Query) -> exp.Query:
    """A query with CASE inside aggregates in place of FILTER, where it has many of these and the result stays the same.

    For each FILTER, DuckDB keeps room for the operands of all aggregates beside it: for 60 of them, as PIVOT has, 200 MB.
    """
    if len(list(tree.find_all(exp.Filter))) < MANY:
        return tree
    tree = tree.copy()
    for node in list(tree.find_all(exp.Filter)):
        value = node.this.this if isinstance(node.this, _WITHOUT_NULL) else None
        if isinstance(value, exp.Distinct) and len(value.expressions) == 1:
            value = value.expressions[0]
        if isinstance(value, exp.Expr) and not isinstance(value, exp.Distinct | exp.Order | exp.Tuple):
            counted = exp.Literal.number(1) if isinstance(value, exp.Star) else value.copy()
            value.replace(exp.Case(ifs=[exp.If(this=node.expression.this.copy(), true=counted)]))
            node.replace(node.this)
    return tree


def in_one_order(tree: exp.Query) -> exp.Query:
    """A query of which LIMIT and row_number() choose among rows with equal places by what the SELECT shows.

    DuckDB chooses by the order in which threads read rows, so that equal queries would have different answers.
    """
    tree = tree.copy()
    for query in tree.find_all(exp.Select, exp.SetOperation):
        if any(query.args.get(name) for name in ("limit", "offset")) and not query.is_star:
            shown = [n for n, each in enumerate(query.selects, 1) if not isinstance(each.unalias(), exp.Literal)]
            _append(query, [exp.Literal.number(n) for n in shown])
    for window in tree.find_all(exp.Window):
        select = window.parent_select
        if isinstance(window.this, exp.RowNumber) and select is not None:
            group = select.args.get("group")
            keys = [*(each.unalias() for each in select.expressions), *(group.expressions if group is not None else ())]
            _append(window, [key for key in keys if isinstance(key, exp.Column) and not key.is_star])
    return tree


def _append(node: exp.Expr, keys: Sequence[exp.Expr]) -> None:
    """Order the rows of a query or a window by further expressions, after its own."""
    order = node.args.get("order")
    terms = [] if order is None else order.expressions
    if keys and not any(isinstance(term.this, exp.Star) or term.this.name.lower() == "all" for term in terms):
        node.set("order", exp.Order(expressions=[*terms, *(exp.Ordered(this=key.copy()) for key in keys)]))


def without_rows(first: Mapping[str, str], types: Sequence[str], *, kept: bool) -> exp.Select:
    """The columns of the rows of a query in worlds, without rows.

    Args:
        first: the names and types of the columns before those of the query.
        types: the types of these.
        kept: whether a column says which rows are kept.
    """
    kinds = [*first.items(), *((f"c{n}", kind) for n, kind in enumerate(types)), *([("kept", "BOOLEAN")] * kept)]
    cells = [exp.cast(exp.null(), readable(kind), dialect="duckdb").as_(name) for name, kind in kinds]
    return exp.select(*cells).limit(0)
