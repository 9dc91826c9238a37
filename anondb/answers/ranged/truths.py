"""Conditions on values with bounds: intervals in the order false, NULL, true; and CASE (``ranged/values``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from sqlglot import exp

from anondb.answers.ranged.values import Value, greatest, holds, is_true, least, none_null, paren, with_operands


def compared(node: exp.Expr, left: Value, right: Value) -> Value:
    """The comparison of two values."""
    if isinstance(node, exp.NEQ):
        return negation(compared(exp.EQ(this=node.left, expression=node.right), left, right))
    (a, b), (c, d) = left.there, right.there

    def of(kind: type[exp.Expr], one: exp.Expr, two: exp.Expr) -> exp.Expr:
        return kind(this=paren(one), expression=paren(two))

    if isinstance(node, exp.EQ):
        certain: exp.Expr = exp.and_(of(exp.EQ, a, d), of(exp.EQ, b, c))
        possible: exp.Expr = exp.and_(holds(of(exp.LTE, a, d), unknown=True), holds(of(exp.LTE, c, b), unknown=True))
    else:
        kind = type(node)
        (w, x), (y, z) = ((a, b), (c, d)) if kind in (exp.GT, exp.GTE) else ((b, a), (d, c))
        certain, possible = of(kind, w, z), of(kind, x, y)
    return Value(holds(certain, unknown=False), holds(possible, unknown=True), truth=True)


def tested(node: exp.Is, value: Value) -> Value:
    """IS TRUE, IS FALSE or IS NULL."""
    if isinstance(node.expression, exp.Null):
        low, high = value.bounds
        missing = exp.false() if value.present else exp.Not(this=exp.paren(none_null(low, high)))
        return Value(exp.false(), missing, truth=True)
    ends = [with_operands(node, end) for end in value.truths]
    return Value(*(ends if node.expression.this else reversed(ends)), truth=True)


def negation(value: Value) -> Value:
    """NOT."""
    low, high = value.truths
    return Value(*(exp.Not(this=paren(end)) for end in (high, low)), truth=True)


def connected(kind: type[exp.Expr], parts: Sequence[Value]) -> Value:
    """AND or OR."""

    def joined(ends: Sequence[exp.Expr]) -> exp.Expr:
        return reduce(lambda x, y: kind(this=paren(x), expression=paren(y)), ends)

    lows, highs = zip(*(p.truths for p in parts), strict=True)
    return Value(joined(lows), joined(highs), truth=True)


def chosen(cases: Sequence[tuple[Value, Value]], default: Value, numbers: bool) -> Value:
    """CASE: the first value whose condition holds.

    Args:
        cases: conditions and values.
        default: the value where no condition holds.
        numbers: whether the values are numbers; others but booleans have no bounds where a condition is not certain.
    """
    results = [*(v for _, v in cases), default]
    truth = all(v.truth or (v.exact and isinstance(v.expression, exp.Boolean | exp.Null)) for v in results)
    if not (numbers or truth):
        return Value()
    ends = [v.truths if truth else v.bounds for v in results]
    low, high = ends.pop()
    for (condition, _), (least_of, greatest_of) in zip(reversed(cases), reversed(ends), strict=True):
        extremes = (exp.and_, exp.or_) if truth else (least, greatest)
        low = _either(condition, least_of, low, extremes[0])
        high = _either(condition, greatest_of, high, extremes[1])
    return Value(low, high, truth=truth)


def _either(condition: Value, one: exp.Expr, other: exp.Expr, extreme: Callable[..., exp.Expr]) -> exp.Expr:
    """A bound of one value where a condition is certain, of the other where it is not possible, and else of both."""
    certain, possible = condition.truths
    branches = [
        exp.If(this=certain.copy(), true=one.copy()),
        exp.If(this=exp.Not(this=is_true(possible)), true=other.copy()),
    ]
    return exp.Case(ifs=branches, default=extreme(one.copy(), other.copy()))
