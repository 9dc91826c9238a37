"""Aggregates over numbers that are 0 or 1, such as ``max(CASE WHEN x THEN 1 ELSE 0 END)``, as counts and conditions."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from anondb.query.relations import bare

CONDITIONS = (exp.Predicate, exp.Connector, exp.Not)
_TESTS = (exp.StartsWith, exp.EndsWith, exp.Contains, exp.RegexpLike, exp.RegexpFullMatch, exp.SimilarTo, *CONDITIONS)
_FLIPPED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT,
    exp.LT: exp.GT,
    exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
}


def branch(node: exp.Expr) -> tuple[exp.Expr, exp.Expr, exp.Expr | None] | None:
    """The condition, the result and the other result of CASE or IF; None if it has several conditions."""
    if isinstance(node, exp.If):
        return node.this, bare(node.args["true"]), _bare(node.args.get("false"))
    if not isinstance(node, exp.Case) or len(node.args["ifs"]) != 1:
        return None
    (one,) = node.args["ifs"]
    condition = (
        one.this
        if node.this is None
        else exp.EQ(this=exp.paren(node.this.copy()), expression=exp.paren(one.this.copy()))
    )
    return condition, bare(one.args["true"]), _bare(node.args.get("default"))


def flag(node: exp.Expr) -> exp.Expr | None:
    """The condition, true or false, under which CASE or IF is 1, or true, and else 0, or false; None for other results."""
    parts = branch(node)
    if parts is None or parts[2] is None:
        return None
    condition, one, other = parts
    results = _truth(one), _truth(other)
    if None in results or results[0] == results[1]:
        return None
    met = exp.Is(this=exp.paren(condition.copy()), expression=exp.true())
    return met if results[0] else exp.Not(this=exp.paren(met))


def is_truth(node: exp.Expr) -> bool:
    """Whether the results of CASE or IF are truth values, and not numbers."""
    parts = branch(node)
    return parts is not None and isinstance(parts[1], exp.Boolean)


def is_settled(node: exp.Expr) -> bool:
    """Whether an expression is ``coalesce(x, false)``, or true: a condition that is not unknown."""
    return (
        isinstance(node, exp.Coalesce) and len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Boolean)
    )


def is_whole(kind: exp.DataType) -> bool:
    """Whether a type is one of whole numbers."""
    return kind.this in exp.DataType.INTEGER_TYPES


def as_counts(call: exp.Expr) -> exp.Expr:
    """An aggregate over the rows of one person, of which there are some, as counts and conditions; others as they are.

    ``sum(CASE WHEN x THEN 1 ELSE 0 END)`` is the number of rows for which x is true, ``max`` tells whether there are any.
    So is ``sum(x)`` where x is not unknown for all rows, which is up to the caller.
    """
    inner = call.this if isinstance(call, exp.Sum | exp.Count | exp.Max | exp.Min) else None
    if isinstance(call, exp.Count):
        return _counted(call, inner)
    if inner is None or call.args.get("count") is not None:
        return call
    inner = bare(inner)
    cast = inner if isinstance(inner, exp.Cast) and is_whole(inner.to) else None
    inner = inner if cast is None else bare(cast.this)
    met = flag(inner)
    if met is None and not isinstance(inner, _TESTS):
        return call
    if isinstance(call, exp.Sum):
        return _number(met) if met is not None else exp.CountIf(this=inner.copy())
    kind = exp.LogicalOr if isinstance(call, exp.Max) else exp.LogicalAnd
    if met is None:
        condition: exp.Expr = kind(this=inner.copy())
        return condition if cast is None else exp.cast(condition, cast.to)
    if is_truth(inner):
        return kind(this=met)
    one, zero = (exp.Literal.number(n) for n in (1, 0))
    return exp.Case(ifs=[exp.If(this=kind(this=met), true=one)], default=zero)


def decided(node: exp.Expr) -> exp.Expr:
    """A comparison of ``max(x)`` or ``min(x)`` with a literal as a condition on all or some x; others as they are."""
    if not isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE | exp.EQ):
        return node
    left, right = bare(node.this), bare(node.expression)
    kind: type[exp.Expr] = type(node)
    if isinstance(right, exp.Max | exp.Min):
        left, right, kind = right, left, _FLIPPED.get(kind, kind)
    plain = right.this if isinstance(right, exp.Neg) else right
    if not isinstance(left, exp.Max | exp.Min) or not isinstance(plain, exp.Literal):
        return node
    if left.args.get("count") is not None or isinstance(left.this, exp.Distinct):
        return node

    def of(compared: type[exp.Expr], some: bool) -> exp.Expr:
        test = compared(this=exp.paren(left.this.copy()), expression=right.copy())
        return exp.LogicalOr(this=test) if some else exp.LogicalAnd(this=test)

    greatest = isinstance(left, exp.Max)
    if kind is exp.EQ:
        return exp.paren(exp.and_(of(exp.GTE, greatest), of(exp.LTE, not greatest)))
    return of(kind, greatest == (kind in (exp.GT, exp.GTE)))


def _bare(node: exp.Expr | None) -> exp.Expr | None:
    return None if node is None else bare(node)


def _truth(node: exp.Expr | None) -> bool | None:
    """The truth value of a literal 0, 1, false or true; None for others."""
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    whole = isinstance(node, exp.Literal) and not node.is_string and node.name in ("0", "1")
    return node.name == "1" if node is not None and whole else None


def _counted(call: exp.Count, inner: exp.Expr | None) -> exp.Expr:
    """``count(CASE WHEN x THEN 1 END)``, or of a column, as the number of rows for which x is true."""
    distinct = inner if isinstance(inner, exp.Distinct) and len(inner.expressions) == 1 else None
    operand = distinct.expressions[0] if distinct is not None else inner
    parts = None if operand is None or isinstance(operand, exp.Distinct) else branch(bare(operand))
    if parts is None or not (parts[2] is None or isinstance(parts[2], exp.Null)):
        return call
    condition, result, _ = parts
    if distinct is None and isinstance(result, exp.Literal):
        return _number(condition)
    if not isinstance(result, exp.Column):
        return call
    what = result.copy() if distinct is None else exp.Distinct(expressions=[result.copy()])
    return _number(condition, exp.Count(this=what))


def _number(condition: exp.Expr, count: exp.Expr | None = None) -> exp.Expr:
    made = exp.Count(this=exp.Star(), big_int=True) if count is None else count
    return exp.Filter(this=made, expression=exp.Where(this=condition.copy()))
