"""Variances, covariances and correlations of flags, which are 0 or 1, from averages.

DuckDB adds up deviations from running means, which differs by rounding alone: little for numbers up to 1.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from anondb.query.aggregates import SPREADS

PAIRS = (exp.CovarPop, exp.CovarSamp, exp.Corr)
"""Aggregates of two numbers."""


def is_flag(tree: exp.Expr) -> bool:
    """Whether an expression is CASE with no other results than 0 and 1."""
    case = tree.unnest()
    results = [branch.args["true"] for branch in case.args["ifs"]] if isinstance(case, exp.Case) else []
    return bool(results) and all(part in (exp.convert(0), exp.convert(1)) for part in [*results, case.args.get("default")])


def spread_of_flags(call: exp.Expr, average: Callable[[exp.Expr], exp.Expr], rows: Callable[[], exp.Expr]) -> exp.Expr:
    """How much flags vary, alone or together.

    Args:
        call: an aggregate of one flag, or of a pair.
        average: the average of an expression over the rows.
        rows: the number of rows.
    """
    x, y = (exp.paren(part.unnest().copy()) for part in (call.this, call.args.get("expression") or call.this))

    def together(one: exp.Expr, other: exp.Expr) -> exp.Expr:
        share = exp.paren(average(one.this))
        if one == other:
            return exp.paren(share * exp.paren(exp.convert(1) - share))
        return exp.paren(exp.paren(average(one * other)) - share * exp.paren(average(other.this)))

    kind, made = SPREADS.get(type(call), call.key), together(x, y)
    if kind == "corr":
        return made / exp.paren(exp.Sqrt(this=together(x, x)) * exp.Sqrt(this=together(y, y)))
    if kind.endswith("samp"):
        made = exp.paren(made * rows() / exp.Nullif(this=rows() - exp.convert(1), expression=exp.convert(0)))
    return exp.Sqrt(this=made) if kind.startswith("stddev") else made
