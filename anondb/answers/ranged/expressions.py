"""Convert the expressions of a query over known rows to values with bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from math import floor
from typing import Any

from sqlglot import exp

from anondb.answers.ranged import truths, values
from anondb.answers.ranged.values import Value
from anondb.query.parsing import bare
from anondb.query.refusals import name_of, only, too_complex, unsupported

MAX_NODES = 20_000  # of the expression of a bound, which repeats the bounds of its operands

FILLED = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Pow, exp.Neg, exp.Abs, exp.Round, exp.Floor, exp.Ceil),
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.And, exp.Or, exp.Not, exp.Between, exp.In),
    *(exp.Cast, exp.Length, exp.Lower, exp.Upper, exp.Substring, exp.DateDiff),
)
"""Operations whose result is NULL only if an operand is."""


def is_filled(node: exp.Expr) -> bool:
    """Whether an operation is NULL only if an operand is."""
    return isinstance(node, FILLED) and not isinstance(node, exp.TryCast)  # which sqlglot takes for a kind of CAST


SEVERAL = exp.Anonymous | exp.UDTF
"""Functions that may take or return several rows."""

NEVER_WRAPPED = (
    *(exp.Column, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Cast, exp.Anonymous),
    *(exp.Array, exp.Struct, exp.Map, exp.Slice, exp.PropertyEQ, exp.Kwarg, exp.Any, exp.All),
)
"""Operands that stand without parentheses; no tree says where the text had some."""

STRICT = (
    exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv | exp.Mod | exp.Pow | exp.Neg | exp.Abs | exp.Cast | values.RISING
)
"""Operations that give NULL if and, but for division by 0 and values that do not fit, only if an operand is NULL."""

Resolve = Callable[[exp.Expr], Value | None]
"""Looks up columns, aggregates and subqueries; None for other expressions."""


@dataclass(frozen=True)
class Around:
    """The rows around a subquery.

    Attributes:
        names: the names of their columns, in lower case.
        column: looks up a column.
        values: the different values that exact expressions have together, and their types, of so many rows at most.
    """

    names: AbstractSet[str]
    column: Callable[[exp.Column], Value]
    values: Callable[[Sequence[exp.Expr], int], list[tuple[Any, ...]]]


def read(node: exp.Expr, resolve: Resolve) -> Value:
    """The value of an expression.

    Raises:
        InputError: ``unsupported_query``.
    """
    value = resolve(node)
    return computed(node, resolve) if value is None else value


def computed(node: exp.Expr, resolve: Resolve) -> Value:
    """The value of an operation, from those of its operands.

    Raises:
        InputError: ``unsupported_query``.
    """
    if isinstance(node, exp.Paren):
        return read(node.this, resolve)
    if isinstance(node, exp.Subquery | exp.Select | exp.SetOperation):
        raise unsupported("a subquery in this place")
    if isinstance(node, exp.Escape):
        raise unsupported("ESCAPE")
    if isinstance(node, exp.Columns):
        raise unsupported("COLUMNS(...)", "Name the columns.")
    if isinstance(node, exp.WithinGroup):
        raise unsupported("WITHIN GROUP with this function or in this order", "Write quantile_cont(x, share).")
    if isinstance(node, exp.ToMap) and isinstance(node.this, exp.Bracket):  # so sqlglot reads MAP {...}[key]
        return read(rebuilt(node.this, [exp.ToMap(this=node.this.this), *node.this.expressions]), resolve)
    children = [(key, child) for key, child in children_of(node)]
    parts = [read(child, resolve) for _, child in children]
    item = any(part.item for part in parts) and _is_item(node, parts)
    if all(part.exact for part in parts):
        literal, plain = isinstance(node, exp.Literal | exp.Boolean), item or isinstance(node, exp.Null)
        return Value(rebuilt(node, [part.expression for part in parts]), present=literal, item=item, plain=plain)
    if isinstance(node, SEVERAL):
        raise unsupported(f"{name_of(node)} of an estimate", "Ask for the number itself.")
    if any(part.unknown for part in parts):
        return values.unread(parts)
    sure = values.all_sure(*(part.sure for part in parts)) if isinstance(node, STRICT) else None
    parts = [replace(part, sure=None) for part in parts] if sure else parts
    value = _ranged(node, dict(zip((id(child) for _, child in children), parts, strict=True)))
    if sure and value.upper is not None:
        value = replace(value, sure=sure)
    if value.is_longer(MAX_NODES):
        raise too_complex("the bounds of an expression with so many operations would take too long")
    filled = is_filled(node) or (isinstance(node, exp.Case) and node.args.get("default") is not None)
    filled = filled or (isinstance(node, exp.Div | exp.IntDiv) and (values.floor_of(parts[1]) or 0) > 0)
    return replace(value, present=filled and all(part.present for part in parts))


def _is_item(node: exp.Expr, parts: list[Value]) -> bool:
    """Whether an operation on an item gives an item.

    Raises:
        InputError: ``ambiguous_item``: what it gives depends on the type of the items.
    """
    if all(part.exact for part in parts):
        if isinstance(node, exp.Cast | exp.TryCast | exp.DPipe | exp.Concat):
            return False
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return False
        if isinstance(node, exp.EQ | exp.NEQ | exp.NullSafeEQ | exp.NullSafeNEQ | exp.In | exp.Coalesce | exp.Nullif):
            values.check_equal(*parts)
            return isinstance(node, exp.Coalesce | exp.Nullif)
    order = isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between | exp.Ordered)
    raise values.ambiguous("their order" if order else name_of(node).removesuffix(" in this place") + " of them")


def children_of(node: exp.Expr) -> list[tuple[str, exp.Expr]]:
    """The operands of a node: types, names and other parts without values are left out."""
    listed: list[tuple[str, exp.Expr]] = []
    for key, part in node.args.items():
        for child in part if isinstance(part, list) else [part]:
            if key == "ifs":
                listed += [("this", child.this), ("true", child.args["true"])]
            elif isinstance(child, exp.Expr) and not isinstance(child, exp.Identifier | exp.DataType | exp.Var | exp.Star):
                listed.append((key, child))
    return listed


def rebuilt(node: exp.Expr, parts: list[exp.Expr]) -> exp.Expr:
    """A node with other operands, in the order of ``children_of``."""
    copy, rest = node.copy(), iter(parts)
    for key, part in list(copy.args.items()):
        children = part if isinstance(part, list) else [part]
        changed: list[object] = []
        for child in children:
            if key == "ifs":
                changed.append(exp.If(this=next(rest).copy(), true=next(rest).copy()))
            elif isinstance(child, exp.Expr) and not isinstance(child, exp.Identifier | exp.DataType | exp.Var | exp.Star):
                operand = next(rest).copy()
                plain = not isinstance(operand, exp.Condition) or isinstance(operand, NEVER_WRAPPED)
                plain = plain and not isinstance(node, exp.Any | exp.All)  # = ANY(list)
                changed.append(operand if plain else exp.paren(operand, copy=False))
            else:
                changed.append(child)
        copy.set(key, changed if isinstance(part, list) else changed[0])
    return copy


def _ranged(node: exp.Expr, of: dict[int, Value]) -> Value:
    """The value of an operation with operands that are exact or ranges; nothing is known of what is no rule here."""

    def part(key: str) -> Value:
        return of[id(node.args[key])]

    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv):
        return values.arithmetic(node, part("this"), part("expression"))
    if isinstance(node, exp.Mod):
        return values.remainder(node, part("this"), part("expression"))
    if isinstance(node, values.COMPARISONS):
        if isinstance(node.expression, exp.Any | exp.All) or (
            isinstance(node.expression, exp.Anonymous) and node.expression.name.upper() == "ALL"
        ):
            return Value(why="ANY or ALL with an estimate. Write out the comparisons")
        return truths.compared(node, part("this"), part("expression"))
    if isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ):
        return truths.alike(node, part("this"), part("expression"))
    if isinstance(node, exp.And | exp.Or):
        return truths.connected(type(node), [part("this"), part("expression")])
    if isinstance(node, exp.Not):
        return truths.negation(part("this"))
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null | exp.Boolean):
        return truths.tested(node, part("this"))
    if isinstance(node, exp.Between):
        only(node, "this", "low", "high")
        ends = ((exp.GTE, "low"), (exp.LTE, "high"))
        compared = [
            truths.compared(kind(this=node.this, expression=node.args[k]), part("this"), part(k)) for kind, k in ends
        ]
        return truths.connected(exp.And, compared)
    if isinstance(node, exp.In) and node.expressions:
        only(node, "this", "expressions")
        equal = [exp.EQ(this=node.this, expression=e) for e in node.expressions]
        return truths.connected(exp.Or, [truths.compared(e, part("this"), of[id(e.expression)]) for e in equal])
    if isinstance(node, exp.Case):
        return _case(node, of)
    if isinstance(node, exp.If):
        default = part("false") if node.args.get("false") is not None else Value(exp.null())
        results = [node.args["true"], *([node.args["false"]] if node.args.get("false") is not None else [])]
        return truths.chosen([(part("this"), part("true"))], default, _numbers(results, of))
    return _function(node, of)


def _function(node: exp.Expr, of: dict[int, Value]) -> Value:
    """The value of a function of a number with bounds."""
    this = of.get(id(node.args.get("this")))
    rest = [value for key, value in of.items() if key != id(node.args.get("this"))]
    if isinstance(node, exp.Neg) and this is not None:
        return values.negated(node, this)
    if this is not None and all(value.exact for value in rest):
        if isinstance(node, values.RISING):
            return values.rising(node, this)
        if isinstance(node, exp.Cast | exp.TryCast) and node.to.this in exp.DataType.NUMERIC_TYPES:
            return _cast(node, this)
        if isinstance(node, exp.Cast) and node.to.is_type("TIMESTAMP") and isinstance(bare(node.this), exp.Add):
            return values.rising(node, this)  # a day; the order of texts is another
        if isinstance(node, exp.Abs):
            return values.absolute(node, this)
        if isinstance(node, exp.Pow) and (power := _power(node, this, rest[0])) is not None:
            return power
        if isinstance(node, exp.Coalesce) and (this.sure is None or len(rest) == 1):
            return truths.filled(this, rest[0])
        if isinstance(node, exp.Nullif):
            return _unless_equal(node, this, rest[0])
    if isinstance(node, exp.Array) and node.expressions and not any(value.truth for value in of.values()):
        return values.listed([of[id(child)] for child in node.expressions])
    if isinstance(node, exp.Least | exp.Greatest):
        lows, highs = zip(*(of[id(child)].bounds for _, child in children_of(node)), strict=True)
        extreme = values.least if isinstance(node, exp.Least) else values.greatest
        return Value(extreme(*lows), extreme(*highs))
    if isinstance(node, exp.Order | exp.Ordered):
        return Value(why="ORDER BY an estimate")
    return Value(why=f"{name_of(node).replace(' in this place', '')} of an estimate. Ask for the number itself")


def _power(node: exp.Pow, value: Value, exponent: Value) -> Value | None:
    """A power: it rises with its base, or for an even whole exponent with the absolute value of that; None where the base
    may be negative and the exponent is no whole number."""
    number = values.constant_of(exponent)
    whole = number is not None and number in range(1_000)
    if value.least is None and whole and number in range(0, 1_000, 2):
        value = values.absolute(exp.Abs(this=node.this), value)
    unsigned = value.least is not None and values.floor_of(exponent) is not None
    return values.rising(node, value) if whole or unsigned else None


def _unless_equal(node: exp.Nullif, value: Value, other: Value) -> Value:
    """NULLIF: a number that is not negative is one step at least if it is not 0, as a whole number is 1. One that is 0 for
    certain has no bounds."""
    zero = bare(node.expression) == exp.Literal.number(0)
    if zero and value.least:
        return value
    equal = truths.compared(exp.EQ(this=node.this, expression=node.expression), value, other)
    made = truths.chosen([(equal, Value(exp.null()))], value, numbers=True)
    step = values.step_of(value) if zero and value.least == 0 else None
    if made.lower is None or made.upper is None or step is None:
        return made
    above = exp.Coalesce(this=step.copy(), expressions=[exp.convert(0)])
    some = exp.GTE(this=values.paren(made.upper), expression=above)
    low, high = (values.when(some, end) for end in (values.greatest(made.lower, above), made.upper))
    return replace(made, lower=low, upper=high, least=1 if value.whole else 0, step=None)


def _cast(node: exp.Cast | exp.TryCast, value: Value) -> Value:
    """A number as a number of another type, which may round it: a bound that does not fit it is none; CAST is an error."""
    made = exp.TryCast(this=node.this, to=node.to)
    if isinstance(node, exp.TryCast):
        return values.rising(made, value)
    ends = (exp.TryCast(this=exp.paren(end), to=node.to.copy()) for end in value.bounds)
    part = value.part if value.part is not None and value.part[1] == 1 else None
    least = None if value.least is None else floor(value.least)
    return Value(*ends, least=least, whole=value.whole or node.to.this in exp.DataType.INTEGER_TYPES, part=part)


def _case(node: exp.Case, of: dict[int, Value]) -> Value:
    """CASE with a condition or a result that is not exact."""
    conditions = []
    for branch in node.args["ifs"]:
        if node.this is None:
            conditions.append(of[id(branch.this)])
        else:
            equal = exp.EQ(this=node.this, expression=branch.this)
            conditions.append(truths.compared(equal, of[id(node.this)], of[id(branch.this)]))
    results = [branch.args["true"] for branch in node.args["ifs"]]
    default = node.args.get("default")
    last = Value(exp.null()) if default is None else of[id(default)]
    cases = list(zip(conditions, (of[id(r)] for r in results), strict=True))
    return truths.chosen(cases, last, _numbers([*results, *([] if default is None else [default])], of))


def _numbers(results: list[exp.Expr], of: dict[int, Value]) -> bool:
    """Whether the results of CASE may be numbers; the bounds of other types are left out in the end."""
    return not any(of[id(r)].exact and isinstance(bare(r), exp.Literal) and bare(r).is_string for r in results)
