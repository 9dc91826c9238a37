"""LIMIT and counts of SELECTs over persons."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from anondb.query.parsing import lowered


def rows_kept(limit: exp.Expr | None) -> exp.Expr | None:
    """The number of rows of a LIMIT that is a whole number; None for others, such as percentages."""
    number = None if limit is None else limit.args.get("expression")
    options = None if limit is None else limit.args.get("limit_options")
    plain = isinstance(number, exp.Literal) and number.name.isdigit()
    return number if plain and (options is None or not options.args.get("percent")) else None


def largest(node: exp.Select, calls: Mapping[exp.Expr, exp.Expr | str]) -> exp.Limit | None:
    """The LIMIT of a SELECT that asks for nothing but the groups with the largest counts; None for others."""
    order, limit = node.args.get("order"), node.args.get("limit")
    if order is None or limit is None or any(node.args.get(k) for k in ("having", "qualify", "offset", "distinct")):
        return None
    by, aliases = order.expressions[0], {lowered(e.alias): e.this for e in node.expressions if isinstance(e, exp.Alias)}
    shown = by.this
    if isinstance(shown, exp.Literal) and shown.name.isdigit() and 0 < int(shown.name) <= len(node.expressions):
        shown = node.expressions[int(shown.name) - 1]
        shown = shown.this if isinstance(shown, exp.Alias) else shown
    elif isinstance(shown, exp.Column) and not shown.table:
        shown = aliases.get(lowered(shown.name), shown)
    plain = rows_kept(limit) is not None and not node.find(exp.Window)
    return limit if shown in calls and by.args.get("desc") and plain else None


def is_count(call: exp.Expr) -> bool:
    """Whether an aggregate, with its FILTER, is a count."""
    return isinstance(call.this if isinstance(call, exp.Filter) else call, exp.Count)
