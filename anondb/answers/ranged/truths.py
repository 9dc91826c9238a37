"""Conditions on values with bounds: intervals in the order false, NULL, true; and CASE (``ranged/values``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from math import ceil, floor

from sqlglot import exp

from anondb.answers.ranged.values import (
    Limits,
    Value,
    all_sure,
    common_limit,
    constant_of,
    floor_of,
    greatest,
    holds,
    is_true,
    is_whole,
    least,
    none_null,
    paren,
    top_of,
    when,
    with_operands,
)
from anondb.query.parsing import bare, is_null


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
    low, high = holds(certain, unknown=False), holds(possible, unknown=True)
    sure = all_sure(left.sure, right.sure)
    if sure is not None:
        low, high = (
            join(end, when(sure, decided))  # or NULL
            for join, end, decided in ((exp.and_, low, exp.true()), (exp.or_, high, exp.false()))
        )
    return Value(low, high, truth=True, implies=_implied(node, left, right))


def _implied(node: exp.Expr, left: Value, right: Value) -> Limits:
    """What a true comparison of a number with a constant says of the number."""
    turned = constant_of(right) is None
    value, number = (right, constant_of(left)) if turned else (left, constant_of(right))
    if number is None:
        return ()
    above, strict = isinstance(node, exp.GT | exp.GTE) != turned, isinstance(node, exp.GT | exp.LT)
    low, high = number, number
    if value.whole:
        low, high = (floor(number) + 1, ceil(number) - 1) if strict else (ceil(number), floor(number))
    equal = isinstance(node, exp.EQ)
    return ((value, low if above or equal else None, high if equal or not above else None),)


def alike(node: exp.NullSafeEQ | exp.NullSafeNEQ, left: Value, right: Value) -> Value:
    """IS NOT DISTINCT FROM, and IS DISTINCT FROM: whether two values are equal, or both are NULL."""
    if isinstance(node, exp.NullSafeNEQ):
        return negation(alike(exp.NullSafeEQ(this=node.left, expression=node.right), left, right))
    if isinstance(bare(node.right), exp.Null):
        return tested(exp.Is(this=node.left, expression=exp.null()), left)
    equal = compared(exp.EQ(this=node.left, expression=node.right), left, right).truths
    absent = [tested(exp.Is(this=node.left, expression=exp.null()), value).truths for value in (left, right)]
    ends = [
        exp.or_(holds(end, unknown=False), exp.and_(paren(one), paren(two)))
        for end, one, two in zip(equal, *absent, strict=True)
    ]
    return Value(*ends, truth=True)


def tested(node: exp.Is, value: Value) -> Value:
    """IS TRUE, IS FALSE or IS NULL."""
    if isinstance(node.expression, exp.Null):
        there = exp.paren(none_null(*value.bounds))
        missing = exp.false() if value.present else exp.Not(this=there)
        return Value(exp.false() if value.sure is None else is_null(value.sure), missing, truth=True)
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
    implied = tuple(limit for p in parts for limit in p.implies) if kind is exp.And else ()
    return Value(joined(lows), joined(highs), truth=True, implies=implied)


def chosen(cases: Sequence[tuple[Value, Value]], default: Value, numbers: bool) -> Value:
    """CASE: the first value whose condition holds.

    Args:
        cases: conditions and values.
        default: the value where no condition holds.
        numbers: whether the values are numbers; others but booleans have no bounds where a condition is not certain.
    """
    results = [*(v for _, v in cases), default]
    truth = all(v.truth or _is_null(v) or (v.exact and isinstance(v.expression, exp.Boolean)) for v in results)
    if not (numbers or truth):
        return Value()
    made = default
    for condition, value in reversed(cases):
        value = value.within(condition.implies)
        made = _either_truth(condition, value, made) if truth else _either_number(condition, value, made)
    return made


def matched(cases: Sequence[tuple[exp.Expr, Value]]) -> Value:
    """CASE with exact conditions, of which one holds for each row, and no other one."""
    listed = [value for _, value in cases]

    def case(ends: Sequence[exp.Expr]) -> exp.Expr:
        ifs = [exp.If(this=condition.copy(), true=end.copy()) for (condition, _), end in zip(cases, ends, strict=True)]
        return exp.Case(ifs=ifs) if ifs else exp.null()

    if (unknown := next((value for value in listed if value.unknown), None)) is not None:
        return unknown
    present = all(value.present for value in listed)
    if all(value.exact for value in listed):
        return Value(case([value.expression for value in listed]), present=present)
    if any(value.truth for value in listed):
        low, high = zip(*(value.truths for value in listed), strict=True)
        return Value(case(low), case(high), truth=True, present=present)
    low, high = zip(*(value.not_null for value in listed), strict=True)
    there = [exp.null() if _is_null(value) else value.sure or exp.true() for value in listed]
    return Value(
        case(low),
        case(high),
        least=common_limit(min, [floor_of(value) for value in listed]),
        whole=all(map(is_whole, listed)),
        present=present,
        sure=None if all(mark == exp.true() for mark in there) else case(there),
    )


def _is_null(value: Value) -> bool:
    return value.exact and isinstance(value.expression, exp.Null)


def _either_truth(condition: Value, one: Value, other: Value) -> Value:
    """One truth value where a condition holds, and another one elsewhere."""
    (a, b), (c, d) = one.truths, other.truths
    return Value(_either(condition, a, c, exp.and_), _either(condition, b, d, exp.or_), truth=True)


def _either_number(condition: Value, one: Value, other: Value) -> Value:
    """One number where a condition holds, and another one elsewhere; NULL has no bounds, and widens none."""
    both = [value for value in (one, other) if not _is_null(value)]
    if not both:
        return one
    (a, b), (c, d) = both[0].not_null, both[-1].not_null
    low, high = _either(condition, a, c, least), _either(condition, b, d, greatest)
    marks = [exp.null() if _is_null(value) else value.sure or exp.true() for value in (one, other)]
    sure = _either(condition, marks[0], marks[1], lambda *two: is_true(exp.and_(*two)))
    limits = common_limit(min, [*map(floor_of, both)]), common_limit(max, [*map(top_of, both)])
    made = Value(low, high, least=limits[0], most=limits[1], whole=all(map(is_whole, both)))
    return made if marks == [exp.true()] * 2 else replace(made, sure=sure)


def _either(condition: Value, one: exp.Expr, other: exp.Expr, extreme: Callable[..., exp.Expr]) -> exp.Expr:
    """A bound of one value where a condition is certain, of the other where it is not possible, and else of both."""
    if one == other:
        return one.copy()
    certain, possible = condition.truths
    branches = [
        exp.If(this=certain.copy(), true=one.copy()),
        exp.If(this=exp.Not(this=is_true(possible)), true=other.copy()),
    ]
    return exp.Case(ifs=branches, default=extreme(one.copy(), other.copy()))


def filled(value: Value, other: Value) -> Value:
    """A number, or an exact one in place of NULL."""
    if value.sure is None or value.lower is None or value.upper is None:
        return Value(*value.bounds, least=value.least, most=value.most, whole=value.whole, part=value.part)
    absent, ends = is_null(value.sure), []
    for end, extreme in ((value.lower, least), (value.upper, greatest)):
        branches = [exp.If(this=absent.copy(), true=other.expression.copy())]
        branches.append(exp.If(this=value.sure.copy(), true=end.copy()))
        ends.append(exp.Case(ifs=branches, default=extreme(end, other.expression)))
    return Value(*ends, least=None if value.least is None or floor_of(other) != 0 else 0)
