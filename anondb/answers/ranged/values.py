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
from anondb.query.refusals import unsupported

if TYPE_CHECKING:
    from anondb.answers.ranged.known import Column


@dataclass(frozen=True)
class Value:
    """SQL expressions for a value: one if it is exact, two if it is a range, and none if nothing is known of it.

    Attributes:
        lower, upper: the bounds of a number or, with ``truth``, of a condition; an exact value has ``lower`` alone.
        truth: whether it is a boolean with bounds.
        present: whether it is not NULL for any original.
        item: whether it is an item that is a text here, but may be a number or the like in the original.
        plain: whether it equals such an item as a text if and only if it does in the original.
        unsigned: whether neither it nor its bounds are negative, as of counts.
        why: the construct that no rule reads, and what to do, where nothing is known of the value for this reason.
    """

    lower: exp.Expr | None = None
    upper: exp.Expr | None = None
    truth: bool = field(default=False, kw_only=True)
    present: bool = field(default=False, kw_only=True)
    item: bool = field(default=False, kw_only=True)
    plain: bool = field(default=False, kw_only=True)
    unsigned: bool = field(default=False, kw_only=True)
    why: str = field(default="", kw_only=True)

    @property
    def unknown(self) -> bool:
        """Whether nothing is known of it."""
        return self.lower is None

    @property
    def exact(self) -> bool:
        """Whether the value is the same for every consistent original."""
        return self.lower is not None and self.upper is None

    @property
    def expression(self) -> exp.Expr:
        """The expression of an exact value."""
        assert self.lower is not None and self.upper is None
        return self.lower

    @property
    def ends(self) -> list[exp.Expr]:
        """Its expressions: one, two, or none."""
        return [end for end in (self.lower, self.upper) if end is not None]

    def replaced(self, ends: Sequence[exp.Expr]) -> Value:
        """The same with other expressions, as many as in ``ends``."""
        lower, upper = (*ends, None, None)[:2]
        return replace(self, lower=lower, upper=upper)

    @property
    def bounds(self) -> tuple[exp.Expr, exp.Expr]:
        """Expressions for the bounds of a number: NULL where there are none, and where the value may be NULL."""
        if self.lower is None:
            return exp.null(), exp.null()
        low, high = self.lower, self.upper or self.lower
        if self.truth and not self.present:
            decided = exp.or_(is_true(low), exp.Not(this=_paren(high)))
            low, high = (exp.Case(ifs=[exp.If(this=decided.copy(), true=end.copy())]) for end in (low, high))
        return low, high

    @property
    def truths(self) -> tuple[exp.Expr, exp.Expr]:
        """Expressions for the bounds of a condition, in the order false, NULL, true."""
        if self.lower is None:
            return exp.false(), exp.true()
        low, high = self.lower, self.upper or self.lower
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
    node = bare(value.expression) if value.exact else None
    return float(node.name) if isinstance(node, exp.Literal) and not node.is_string else None


def _is_unsigned(value: Value) -> bool:
    """Whether a number is never negative."""
    number = _constant(value)
    return value.unsigned or (number is not None and number >= 0)


def negated(node: exp.Expr, value: Value) -> Value:
    """The negative of a number."""
    low, high = value.bounds
    return Value(_copy(node, high), _copy(node, low))


def arithmetic(node: exp.Expr, left: Value, right: Value) -> Value:
    """The sum, difference, product or quotient of two numbers."""
    (a, b), (c, d) = left.bounds, right.bounds
    unsigned = _is_unsigned(left) and _is_unsigned(right)
    if isinstance(node, exp.Add):
        return Value(_copy(node, a, c), _copy(node, b, d), unsigned=unsigned)
    if isinstance(node, exp.Sub):
        return Value(_copy(node, a, d), _copy(node, b, c))
    if isinstance(node, exp.Mul):
        if unsigned:
            return Value(_copy(node, a, c), _copy(node, b, d), unsigned=True)
        for factor, other in ((right, left), (left, right)):
            number = _constant(factor)
            if number is not None and number >= 0:
                return Value(*(_copy(node, end, factor.expression) for end in other.bounds))
        products = [_copy(node, x, y) for x in (a, b) for y in (c, d)]
        return Value(least(*products), greatest(*products))
    return _quotient(node, left, right, unsigned=unsigned)


def _quotient(node: exp.Expr, left: Value, right: Value, *, unsigned: bool) -> Value:
    """A quotient, which has no bounds where the divisor may be 0."""
    (a, b), (c, d), zero = left.bounds, right.bounds, exp.Literal.number(0)
    number = _constant(right)
    if number is not None and number > 0:
        return Value(_copy(node, a, right.expression), _copy(node, b, right.expression), unsigned=unsigned)
    away: exp.Expr = exp.GT(this=_paren(c), expression=zero)
    if unsigned:
        ends = _copy(node, a, d), _copy(node, b, c)
    else:
        away = exp.or_(away, exp.LT(this=_paren(d), expression=zero))
        quotients = [_copy(node, x, exp.Nullif(this=y.copy(), expression=zero)) for x in (a, b) for y in (c, d)]
        ends = least(*quotients), greatest(*quotients)
    return Value(*(exp.Case(ifs=[exp.If(this=away.copy(), true=end)]) for end in ends), unsigned=unsigned)


def rising(node: exp.Expr, value: Value) -> Value:
    """A function that never falls while its first argument rises; TRY_CAST and roots give NULL or NaN for some numbers."""
    low, high = (_with_first(node, end) for end in value.bounds)
    condition: exp.Expr | None = None
    if isinstance(node, exp.TryCast):
        condition = _known(low, high)
    elif isinstance(node, exp.Sqrt | exp.Ln) and not value.unsigned:
        condition = exp.GTE(this=_paren(value.bounds[0]), expression=exp.Literal.number(0))
    if condition is not None:
        low, high = (exp.Case(ifs=[exp.If(this=condition.copy(), true=end.copy())]) for end in (low, high))
    return Value(low, high, unsigned=value.unsigned and not isinstance(node, exp.Ln))


def _with_first(node: exp.Expr, operand: exp.Expr) -> exp.Expr:
    made = node.copy()
    made.set("this", operand.copy())
    return made


def absolute(node: exp.Expr, value: Value) -> Value:
    """The absolute value of a number."""
    low, high = value.bounds
    zero = exp.Literal.number(0)
    return Value(
        exp.Case(ifs=[exp.If(this=_known(low, high), true=_max(low, exp.Neg(this=_paren(high)), zero))]),
        greatest(_with_first(node, low), _with_first(node, high)),
    )


def _max(*parts: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="GREATEST", expressions=[p.copy() for p in parts])


def listed(parts: Sequence[Value]) -> Value:
    """A list of numbers, whose bounds are lists; none where a number has none."""
    ends = zip(*(part.bounds for part in parts), strict=True)
    lists = [exp.Array(expressions=[end.copy() for end in of]) for of in ends]
    return Value(*(exp.Case(ifs=[exp.If(this=_known(*end.expressions), true=end)]) for end in lists))


# --- conditions -----------------------------------------------------------------------------------------------------


def compared(node: exp.Expr, left: Value, right: Value) -> Value:
    """The comparison of two values."""
    if isinstance(node, exp.NEQ):
        return negation(compared(exp.EQ(this=node.left, expression=node.right), left, right))
    (a, b), (c, d) = left.bounds, right.bounds

    def of(kind: type[exp.Expr], one: exp.Expr, two: exp.Expr) -> exp.Expr:
        return kind(this=_paren(one), expression=_paren(two))

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
        missing = exp.false() if value.present else exp.Not(this=exp.paren(_known(low, high)))
        return Value(exp.false(), missing, truth=True)
    ends = [_copy(node, end) for end in value.truths]
    return Value(*(ends if node.expression.this else reversed(ends)), truth=True)


def negation(value: Value) -> Value:
    """NOT."""
    low, high = value.truths
    return Value(*(exp.Not(this=_paren(end)) for end in (high, low)), truth=True)


def connected(kind: type[exp.Expr], parts: Sequence[Value]) -> Value:
    """AND or OR."""

    def joined(ends: Sequence[exp.Expr]) -> exp.Expr:
        return reduce(lambda x, y: kind(this=_paren(x), expression=_paren(y)), ends)

    lows, highs = zip(*(p.truths for p in parts), strict=True)
    return Value(joined(lows), joined(highs), truth=True)


def unread(parts: Sequence[Value]) -> Value:
    """The value of an operation on operands of which nothing is known of at least one."""
    return Value(why=next((part.why for part in parts if part.why), ""))


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
