"""Values with bounds, as SQL expressions: interval arithmetic over the counts of a release.

An original is consistent with a release if the release may come from it. The lower and the upper expression enclose what a
query gives for every consistent original. For numbers, NULL stands for no bound, and a bound says that the number is not
NULL. Conditions are intervals too, in the order false, NULL, true: NOT reverses it, AND is the least and OR the greatest of
two truth values, as in SQL. Each operation encloses the values of all combinations of its operands, so bounds stay valid,
and may be wider than the best possible ones where operands depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from anondb.errors import InputError
from anondb.query.parsing import bare, is_null
from anondb.query.refusals import name_of, unsupported

if TYPE_CHECKING:
    from anondb.answers.ranged.known import Column


@dataclass(frozen=True)
class Value:
    """SQL expressions for a value.

    Attributes:
        estimate: the value itself, or a guess.
        lower, upper: the bounds of a number or, with ``truth``, of a condition; None if ``estimate`` is exact or has none.
        by_estimate: whether it has no bounds because it depends on estimates, such as a rank.
        truth: whether it is a boolean with bounds.
        present: whether it is not NULL for any original.
        item: whether it is an item that is a text here, but may be a number or the like in the original.
        plain: whether it equals such an item as a text if and only if it does in the original.
        unsigned: whether neither it nor its bounds are negative, as of counts.
    """

    estimate: exp.Expr
    lower: exp.Expr | None = None
    upper: exp.Expr | None = None
    by_estimate: bool = field(default=False, kw_only=True)
    truth: bool = field(default=False, kw_only=True)
    present: bool = field(default=False, kw_only=True)
    item: bool = field(default=False, kw_only=True)
    plain: bool = field(default=False, kw_only=True)
    unsigned: bool = field(default=False, kw_only=True)

    @property
    def exact(self) -> bool:
        """Whether the value is the same for every consistent original."""
        return self.lower is None and not self.by_estimate

    @property
    def bounds(self) -> tuple[exp.Expr, exp.Expr]:
        """Expressions for the bounds of a number: NULL where there are none, and where the value may be NULL."""
        if self.by_estimate:
            return exp.null(), exp.null()
        low, high = self.lower or self.estimate, self.upper or self.estimate
        if self.truth and not self.present:
            decided = exp.or_(is_true(low), exp.Not(this=_paren(high)))
            low, high = (exp.Case(ifs=[exp.If(this=decided.copy(), true=end.copy())]) for end in (low, high))
        return low, high

    @property
    def truths(self) -> tuple[exp.Expr, exp.Expr]:
        """Expressions for the bounds of a condition, in the order false, NULL, true."""
        if self.by_estimate:
            return exp.false(), exp.true()
        low, high = self.lower or self.estimate, self.upper or self.estimate
        return (low, high) if self.truth or self.exact else (holds(low, unknown=False), holds(high, unknown=True))


COMPARISONS = exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE
RISING = exp.Round | exp.Floor | exp.Ceil | exp.Sqrt | exp.Ln | exp.Exp | exp.Trunc
"""Functions that never fall while their first argument rises."""


def ambiguous(what: str) -> InputError:
    """The error ``ambiguous_item`` for a use of items that depends on their type."""
    return InputError(
        f"The items of the release are not texts, which changes {what}.",
        code="ambiguous_item",
        hint="Convert the items first, to VARCHAR or to their own type, such as CAST(item AS BIGINT).",
    )


def check_equal(*values: Value | Column) -> None:
    """Refuse to compare items with values that may be other spellings of them.

    Raises:
        InputError: ``ambiguous_item``.
    """
    if any(v.item for v in values) and not all(v.item or v.plain for v in values):
        raise ambiguous("which values equal them")


def _paren(node: exp.Expr) -> exp.Expr:
    return exp.paren(node, copy=True)


def _copy(node: exp.Expr, *operands: exp.Expr) -> exp.Expr:
    """A binary operator or unary function with other operands."""
    made = node.copy()
    for key, operand in zip(("this", "expression"), operands, strict=False):
        made.set(key, _paren(operand))
    return made


def _known(*parts: exp.Expr) -> exp.Expr:
    """That none of these is NULL."""
    return exp.and_(*(is_null(part).not_() for part in parts))


def least(*parts: exp.Expr) -> exp.Expr:
    """The least of some bounds; NULL if one is NULL (DuckDB's own function leaves NULLs out)."""
    return _extreme("LEAST", parts)


def greatest(*parts: exp.Expr) -> exp.Expr:
    """The greatest of some bounds; NULL if one is NULL."""
    return _extreme("GREATEST", parts)


def _extreme(name: str, parts: Sequence[exp.Expr]) -> exp.Expr:
    different = list(dict.fromkeys(parts))
    if len(different) == 1:
        return different[0].copy()
    call = exp.Anonymous(this=name, expressions=[p.copy() for p in different])
    return exp.Case(ifs=[exp.If(this=_known(*different), true=call)])


def holds(condition: exp.Expr, *, unknown: bool) -> exp.Expr:
    """A condition with a truth value in place of NULL."""
    return exp.Coalesce(this=condition.copy(), expressions=[exp.convert(unknown)])


def is_true(condition: exp.Expr) -> exp.Expr:
    """The condition that another one is true, and neither false nor NULL."""
    return exp.paren(exp.Is(this=_paren(condition), expression=exp.true()), copy=False)


def constant(value: Any) -> exp.Expr:
    """A value of the desk as a literal.

    Raises:
        InputError: ``unsupported_query`` for other types than numbers, texts, booleans and dates.
    """
    if value is None or isinstance(value, bool | str):
        return exp.convert(value)
    if isinstance(value, date):  # or a timestamp
        return exp.cast(exp.Literal.string(str(value)), "TIMESTAMP" if isinstance(value, datetime) else "DATE")
    if isinstance(value, int):
        return exp.cast(exp.convert(value), "BIGINT" if abs(value) < 1 << 63 else "HUGEINT")
    if isinstance(value, float):
        return exp.cast(exp.Literal.string(str(value)), "DOUBLE")
    if isinstance(value, Decimal):
        text = format(value, "f")
        scale = len(text.partition(".")[2])
        width = max(len(text.lstrip("-0.").replace(".", "")), scale, 1)
        return exp.cast(exp.Literal.string(text), f"DECIMAL({width}, {scale})")
    raise unsupported("a scalar subquery whose value is not a number, a text, a date or a condition")


# --- numbers --------------------------------------------------------------------------------------------------------


def _constant(value: Value) -> float | None:
    """The number that a value is, if it is written as one."""
    node = value.estimate
    while isinstance(node, exp.Paren):
        node = node.this
    if value.exact and isinstance(node, exp.Literal) and not node.is_string:
        return float(node.name)
    return None


def _is_unsigned(value: Value) -> bool:
    """Whether a number is never negative."""
    number = _constant(value)
    return value.unsigned or (number is not None and number >= 0)


def negated(node: exp.Expr, value: Value) -> Value:
    """The negative of a number."""
    low, high = value.bounds
    return Value(_copy(node, value.estimate), _copy(node, high), _copy(node, low))


def arithmetic(node: exp.Expr, left: Value, right: Value) -> Value:
    """The sum, difference, product or quotient of two numbers."""
    (a, b), (c, d) = left.bounds, right.bounds
    unsigned = _is_unsigned(left) and _is_unsigned(right)
    if isinstance(node, exp.Add):
        ends = _copy(node, a, c), _copy(node, b, d)
        return Value(_copy(node, left.estimate, right.estimate), *ends, unsigned=unsigned)
    if isinstance(node, exp.Sub):
        return Value(_copy(node, left.estimate, right.estimate), _copy(node, a, d), _copy(node, b, c))
    if isinstance(node, exp.Mul):
        estimate = _copy(node, left.estimate, right.estimate)
        if unsigned:
            return Value(estimate, _copy(node, a, c), _copy(node, b, d), unsigned=True)
        for factor, other in ((right, left), (left, right)):
            number = _constant(factor)
            if number is not None and number >= 0:
                scaled = [_copy(node, end, factor.estimate) for end in other.bounds]
                return Value(estimate, *scaled)
        products = [_copy(node, x, y) for x in (a, b) for y in (c, d)]
        return Value(estimate, least(*products), greatest(*products))
    if isinstance(node, exp.Div):
        return _quotient(node, left, right, unsigned=unsigned)
    raise unsupported(f"{name_of(node)} with a count")


def _quotient(node: exp.Expr, left: Value, right: Value, *, unsigned: bool) -> Value:
    """A quotient, which has no bounds where the divisor may be 0."""
    (a, b), (c, d), zero = left.bounds, right.bounds, exp.Literal.number(0)
    estimate = _copy(node, left.estimate, exp.Nullif(this=right.estimate.copy(), expression=zero))
    number = _constant(right)
    if number is not None and number > 0:
        ends = _copy(node, a, right.estimate), _copy(node, b, right.estimate)
        return Value(estimate, *ends, unsigned=unsigned)
    away: exp.Expr = exp.GT(this=_paren(c), expression=zero)
    if unsigned:
        low, high = (exp.Case(ifs=[exp.If(this=away.copy(), true=_copy(node, x, y))]) for x, y in ((a, d), (b, c)))
        return Value(estimate, low, high, unsigned=True)
    away = exp.or_(away, exp.LT(this=_paren(d), expression=zero))
    quotients = [_copy(node, x, exp.Nullif(this=y.copy(), expression=zero)) for x in (a, b) for y in (c, d)]
    low, high = (
        exp.Case(ifs=[exp.If(this=away.copy(), true=end)]) for end in (least(*quotients), greatest(*quotients))
    )
    return Value(estimate, low, high)


def rising(node: exp.Expr, value: Value) -> Value:
    """A function that never falls while its first argument rises; TRY_CAST and roots give NULL or NaN for some numbers."""
    one, two, three = (_with_first(node, end) for end in (value.estimate, *value.bounds))
    if isinstance(node, exp.TryCast):
        two, three = (exp.Case(ifs=[exp.If(this=_known(two, three), true=end.copy())]) for end in (two, three))
    elif isinstance(node, exp.Sqrt | exp.Ln) and not value.unsigned:
        places = zip((value.estimate, value.bounds[0], value.bounds[0]), (one, two, three), strict=True)
        zero = exp.Literal.number(0)
        one, two, three = (
            exp.Case(ifs=[exp.If(this=exp.GTE(this=_paren(of), expression=zero.copy()), true=end)])
            for of, end in places
        )
    return Value(one, two, three, unsigned=value.unsigned and not isinstance(node, exp.Ln))


def _with_first(node: exp.Expr, operand: exp.Expr) -> exp.Expr:
    made = node.copy()
    made.set("this", operand.copy())
    return made


def absolute(node: exp.Expr, value: Value) -> Value:
    """The absolute value of a number."""
    low, high = value.bounds
    zero = exp.Literal.number(0)
    return Value(
        _with_first(node, value.estimate),
        exp.Case(ifs=[exp.If(this=_known(low, high), true=_max(low, exp.Neg(this=_paren(high)), zero))]),
        greatest(_with_first(node, low), _with_first(node, high)),
    )


def _max(*parts: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="GREATEST", expressions=[p.copy() for p in parts])


def listed(parts: Sequence[Value]) -> Value:
    """A list of numbers, whose bounds are lists; none where a number has none."""
    estimate, *ends = (exp.Array(expressions=[end.copy() for end in of]) for of in _ends(parts))
    low, high = (exp.Case(ifs=[exp.If(this=_known(*end.expressions), true=end)]) for end in ends)
    return Value(estimate, low, high)


def _ends(parts: Sequence[Value]) -> list[list[exp.Expr]]:
    """The estimates, the lower and the upper bounds of values."""
    return [list(of) for of in zip(*((part.estimate, *part.bounds) for part in parts), strict=True)]


# --- conditions -----------------------------------------------------------------------------------------------------


def compared(node: exp.Expr, left: Value, right: Value) -> Value:
    """The comparison of two values."""
    if left.by_estimate or right.by_estimate:
        return Value(_copy(node, left.estimate, right.estimate), by_estimate=True)
    if isinstance(node, exp.NEQ):
        return negation(compared(exp.EQ(this=node.left, expression=node.right), left, right))
    (a, b), (c, d) = left.bounds, right.bounds

    def of(kind: type[exp.Expr], one: exp.Expr, two: exp.Expr) -> exp.Expr:
        return kind(this=_paren(one), expression=_paren(two))

    if isinstance(node, exp.EQ):
        certain: exp.Expr = exp.and_(of(exp.EQ, a, d), of(exp.EQ, b, c))
        possible: exp.Expr = exp.and_(holds(of(exp.LTE, a, d), unknown=True), holds(of(exp.LTE, c, b), unknown=True))
        sides = left.estimate, right.estimate
        plain = left.truth or right.truth or any(map(_no_number, sides))
        whole = sides if plain else [exp.Round(this=side.copy()) for side in sides]
        estimate = of(exp.EQ, *whole)
    else:
        kind = type(node)
        (w, x), (y, z) = ((a, b), (c, d)) if kind in (exp.GT, exp.GTE) else ((b, a), (d, c))
        certain, possible = of(kind, w, z), of(kind, x, y)
        estimate = of(kind, left.estimate, right.estimate)
    ends = holds(estimate, unknown=False), holds(certain, unknown=False), holds(possible, unknown=True)
    return Value(*ends, truth=True)


def _no_number(node: exp.Expr) -> bool:
    """Whether a value is written as a text or a date, which DuckDB does not round."""
    node = bare(node)
    return (isinstance(node, exp.Literal) and node.is_string) or (
        isinstance(node, exp.Cast) and node.to.this in exp.DataType.TEMPORAL_TYPES
    )


def tested(node: exp.Is, value: Value) -> Value:
    """IS TRUE, IS FALSE or IS NULL."""
    estimate = _copy(node, value.estimate)
    if isinstance(node.expression, exp.Null):
        low, high = value.bounds
        missing = exp.false() if value.present else exp.Not(this=exp.paren(_known(low, high)))
        return Value(estimate, exp.false(), missing, truth=True)
    ends = [_copy(node, end) for end in value.truths]
    return Value(estimate, *(ends if node.expression.this else reversed(ends)), truth=True)


def negation(value: Value) -> Value:
    """NOT."""
    if value.by_estimate:
        return replace(value, estimate=exp.Not(this=_paren(value.estimate)))
    low, high = value.truths
    return Value(*(exp.Not(this=_paren(end)) for end in (value.estimate, high, low)), truth=True)


def connected(kind: type[exp.Expr], parts: Sequence[Value]) -> Value:
    """AND or OR."""

    def joined(ends: Sequence[exp.Expr]) -> exp.Expr:
        return reduce(lambda x, y: kind(this=_paren(x), expression=_paren(y)), ends)

    estimate = joined([p.estimate for p in parts])
    if any(p.by_estimate for p in parts):
        return Value(estimate, by_estimate=True)
    lows, highs = zip(*(p.truths for p in parts), strict=True)
    return Value(estimate, joined(lows), joined(highs), truth=True)


def chosen(cases: Sequence[tuple[Value, Value]], default: Value, numbers: bool) -> Value:
    """CASE: the first value whose condition holds.

    Args:
        cases: conditions and values.
        default: the value where no condition holds.
        numbers: whether the values are numbers; others but booleans have no bounds where a condition is not certain.
    """
    estimate = exp.Case(
        ifs=[exp.If(this=c.estimate.copy(), true=v.estimate.copy()) for c, v in cases], default=default.estimate.copy()
    )
    results = [*(v for _, v in cases), default]
    truth = all(v.truth or _is_boolean(v) for v in results)
    if not (numbers or truth) or any(v.by_estimate for v in (*results, *(c for c, _ in cases))):
        return Value(estimate, by_estimate=True)
    ends = [v.truths if truth else v.bounds for v in results]
    low, high = ends.pop()
    for (condition, _), (least_of, greatest_of) in zip(reversed(cases), reversed(ends), strict=True):
        extremes = (exp.and_, exp.or_) if truth else (least, greatest)
        low = _either(condition, least_of, low, extremes[0])
        high = _either(condition, greatest_of, high, extremes[1])
    return Value(estimate, low, high, truth=truth)


def _either(condition: Value, one: exp.Expr, other: exp.Expr, extreme: Callable[..., exp.Expr]) -> exp.Expr:
    """A bound of one value where a condition is certain, of the other where it is not possible, and else of both."""
    certain, possible = condition.truths
    branches = [
        exp.If(this=certain.copy(), true=one.copy()),
        exp.If(this=exp.Not(this=is_true(possible)), true=other.copy()),
    ]
    return exp.Case(ifs=branches, default=extreme(one.copy(), other.copy()))


def _is_boolean(value: Value) -> bool:
    return isinstance(value.estimate, exp.Boolean | exp.Null)
