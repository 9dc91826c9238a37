"""Values with bounds, as SQL expressions: interval arithmetic over the counts of a release.

An original is consistent with a release if the release may come from it. The lower and the upper expression enclose what a
query gives for every consistent original. For numbers, NULL stands for no bound, and a bound says that the number is not
NULL. Conditions are intervals too, in the order false, NULL, true: NOT reverses it, AND is the least and OR the greatest of
two truth values, as in SQL. Each operation encloses the values of all combinations of its operands, so bounds stay valid,
and may be wider than the best possible ones where operands depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import islice
from math import prod

from sqlglot import exp

from anondb.answers.quotients import product_of
from anondb.answers.ranged.traits import Traits
from anondb.errors import InputError
from anondb.query.parsing import bare, is_null

Limits = tuple[tuple["Value", float | None, float | None], ...]
"""Numbers, each with what it is never below and never above."""


@dataclass(frozen=True)
class Value(Traits):
    """SQL expressions for a value: one if it is exact, two if it is a range, and none if nothing is known of it.

    Attributes:
        lower, upper: the bounds of a number or, with ``truth``, of a condition; an exact value has ``lower`` alone.
        part: the upper end of a count of which it is a part, times a number, as a count with FILTER is of that without.
        step: a positive number that it is not below where it is not 0, for a number that is never negative.
        sure: for a number with bounds that may be NULL, such as the sum over rows that need not exist: whether it is there
            for certain, and NULL where it is NULL for certain. The ends are those of a number that is there.
        implies: for a condition, the limits of numbers of the row where it is true.
    """

    lower: exp.Expr | None = None
    upper: exp.Expr | None = None
    _: KW_ONLY
    part: tuple[exp.Expr, float] | None = None
    step: exp.Expr | None = None
    sure: exp.Expr | None = None
    implies: Limits = ()

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
        """Its expressions: one, two, two with ``sure``, or none."""
        return [end for end in (self.lower, self.upper, self.sure) if end is not None]

    def is_longer(self, nodes: int) -> bool:
        """Whether its lower end has more nodes."""
        return self.lower is not None and any(True for _ in islice(self.lower.walk(), nodes, None))

    def replaced(self, ends: Sequence[exp.Expr]) -> Value:
        """The same with other expressions, as many as in ``ends``."""
        lower, upper, sure = (*ends, None, None, None)[:3]
        return replace(self, lower=lower, upper=upper, sure=sure, step=None)

    @property
    def bounds(self) -> tuple[exp.Expr, exp.Expr]:
        """Expressions for the bounds of a number: NULL where there are none, and where the value may be NULL."""
        if self.lower is None:
            return exp.null(), exp.null()
        low, high = self.lower, self.upper or self.lower
        if self.sure is not None:
            low, high = (when(self.sure, end) for end in (low, high))
        if self.truth and not self.present:
            decided = exp.or_(is_true(low), exp.Not(this=paren(high)))
            low, high = (when(decided, end) for end in (low, high))
        return low, high

    @property
    def truths(self) -> tuple[exp.Expr, exp.Expr]:
        """Expressions for the bounds of a condition, in the order false, NULL, true."""
        if self.lower is None:
            return exp.false(), exp.true()
        low, high = self.lower, self.upper or self.lower
        return (low, high) if self.truth or self.exact else (holds(low, unknown=False), holds(high, unknown=True))

    @property
    def not_null(self) -> tuple[exp.Expr, exp.Expr]:
        """Expressions for the bounds of a number where it is not NULL."""
        return replace(self, sure=None).bounds

    @property
    def there(self) -> tuple[exp.Expr, exp.Expr]:
        """Expressions for the bounds of a number where it is not NULL and its row is there."""
        low, high = self.not_null
        low = greatest(low, exp.convert(self.least)) if self.least else low
        return low, high if self.most is None else least(high, exp.convert(self.most))

    def within(self, limits: Limits) -> Value:
        """The number with the limits that conditions on its row imply; a least number only if it has one, 0 or more."""
        made = self
        for number, low, high in limits:
            if self.upper is not None and (number.lower, number.upper) == (self.lower, self.upper):
                made = made if low is None or made.least is None else replace(made, least=max(low, made.least))
                made = made if high is None else replace(made, most=high if made.most is None else min(high, made.most))
        return made


COMPARISONS = exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE
RISING = exp.Round | exp.Floor | exp.Ceil | exp.Sqrt | exp.Ln | exp.Exp | exp.Trunc | exp.UnixToTime
"""Functions that never fall while their first argument rises."""


def ambiguous(what: str) -> InputError:
    """The error ``ambiguous_item`` for a use of items that depends on their type."""
    return InputError(
        f"The items of the release are not texts, which changes {what}.",
        code="ambiguous_item",
        hint="Convert the items first, to VARCHAR or to their own type, such as CAST(item AS BIGINT).",
    )


def check_equal(*values: Traits) -> None:
    """Refuse to compare items with values that may be other spellings of them.

    Raises:
        InputError: ``ambiguous_item``.
    """
    if any(v.item for v in values) and not all(v.item or v.plain for v in values):
        raise ambiguous("which values equal them")


def paren(node: exp.Expr) -> exp.Expr:
    """A copy of an expression, in parentheses."""
    return exp.paren(node, copy=True)


def with_operands(node: exp.Expr, *operands: exp.Expr) -> exp.Expr:
    """A binary operator or unary function with other operands."""
    copy = node.copy()
    for key, operand in zip(("this", "expression"), operands, strict=False):
        copy.set(key, paren(operand))
    return copy


def none_null(*parts: exp.Expr) -> exp.Expr:
    """The condition that none of these is NULL."""
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
    return when(none_null(*different), exp.Anonymous(this=name, expressions=[part.copy() for part in different]))


def when(condition: exp.Expr, value: exp.Expr, default: exp.Expr | None = None) -> exp.Case:
    """A value where a condition holds, and elsewhere another one or NULL."""
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())], default=default and default.copy())


def holds(condition: exp.Expr, *, unknown: bool) -> exp.Expr:
    """A condition with a truth value in place of NULL."""
    return exp.Coalesce(this=condition.copy(), expressions=[exp.convert(unknown)])


def is_true(condition: exp.Expr) -> exp.Expr:
    """The condition that another one is true, and neither false nor NULL."""
    return exp.paren(exp.Is(this=paren(condition), expression=exp.true()), copy=False)


# --- numbers --------------------------------------------------------------------------------------------------------


def constant_of(value: Value) -> float | None:
    """The number that a value is, if it is written as one."""
    node = bare(value.expression) if value.exact else None
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    return int(node.name) if node.is_int else float(node.name)


def floor_of(value: Value) -> float | None:
    """What a number is never below, if that is 0 or more."""
    number = constant_of(value)
    return number if number is not None and number >= 0 else value.least


def top_of(value: Value) -> float | None:
    """What a number is never above."""
    number = constant_of(value)
    return value.most if number is None else number


def common_limit(extreme: Callable[[list[float]], float], limits: Sequence[float | None]) -> float | None:
    """The least or the greatest of the limits of several numbers; None if one of them has none."""
    present = [limit for limit in limits if limit is not None]
    return extreme(present) if len(present) == len(limits) else None


def step_of(value: Value) -> exp.Expr | None:
    """A positive number that one which is never negative is not below where it is not 0; None if there is none."""
    number = constant_of(value)
    if number is not None:
        return value.expression if number > 0 else None
    return exp.Literal.number(1) if is_whole(value) and value.least is not None else value.step


def is_whole(value: Value) -> bool:
    """Whether a value is a whole number."""
    node = bare(value.expression) if value.exact else None
    return value.whole or (isinstance(node, exp.Literal) and bool(node.is_int))


def negated(node: exp.Expr, value: Value) -> Value:
    """The negative of a number."""
    low, high = value.bounds
    return Value(with_operands(node, high), with_operands(node, low))


def _plain(end: exp.Expr) -> exp.Expr:
    """A bound without conversions to other types of numbers, and where it is one, as NULLIF has it."""
    end = end.unnest()
    if isinstance(end, exp.Case) and len(end.args["ifs"]) == 1 and end.args.get("default") is None:
        return _plain(end.args["ifs"][0].args["true"])
    return _plain(end.this) if isinstance(end, exp.Cast | exp.TryCast) else end


def arithmetic(node: exp.Expr, left: Value, right: Value) -> Value:
    """The sum, difference, product or quotient of two numbers."""
    (a, b), (c, d) = left.bounds, right.bounds
    one, two, whole = floor_of(left), floor_of(right), is_whole(left) and is_whole(right)
    unsigned = one is not None and two is not None
    if isinstance(node, exp.Add):
        total = None if one is None or two is None else one + two
        return Value(with_operands(node, a, c), with_operands(node, b, d), least=total, whole=whole)
    if isinstance(node, exp.Sub):
        return Value(with_operands(node, a, d), with_operands(node, b, c), whole=whole)
    if isinstance(node, exp.Mul):
        if one is not None and two is not None:
            of, number = (left.part, constant_of(right)) if left.part is not None else (right.part, constant_of(left))
            part = None if of is None or number is None else (of[0], of[1] * number)
            ends = with_operands(node, a, c), with_operands(node, b, d)
            step = _combined(node, step_of(left), step_of(right))
            return Value(*ends, least=one * two, whole=whole, part=part, step=step)
        for factor, other in ((right, left), (left, right)):
            number = constant_of(factor)
            if number is not None and number >= 0:
                return Value(*(with_operands(node, end, factor.expression) for end in other.bounds))
        products = [with_operands(node, x, y) for x in (a, b) for y in (c, d)]
        return Value(least(*products), greatest(*products))
    return _quotient(node, left, right, unsigned=unsigned)


def _quotient(node: exp.Expr, left: Value, right: Value, *, unsigned: bool) -> Value:
    """A quotient, which has no bounds where the divisor may be 0; ``//`` rounds it, and so never falls where it rises."""
    (a, b), (c, d), zero = left.bounds, right.there, exp.Literal.number(0)
    number, floor = constant_of(right), 0 if unsigned else None
    step = _combined(node, step_of(left), d) if unsigned and isinstance(node, exp.Div) else None
    if number is not None and number > 0:
        ends = with_operands(node, a, right.expression), with_operands(node, b, right.expression)
        return Value(*ends, least=floor, step=step)
    away: exp.Expr = exp.GT(this=paren(c), expression=zero)
    if unsigned:
        ends = with_operands(node, a, d), with_operands(node, b, c)
        if (times := _share(node)) is not None:
            ends = ends[0], least(ends[1], exp.convert(times))
        if left.part is not None and right.upper is not None and left.part[0] == _plain(right.upper):
            ends = ends[0], least(ends[1], exp.convert(left.part[1]))
    else:
        away = exp.or_(away, exp.LT(this=paren(d), expression=zero))
        quotients = [with_operands(node, x, exp.Nullif(this=y.copy(), expression=zero)) for x in (a, b) for y in (c, d)]
        ends = least(*quotients), greatest(*quotients)
    return Value(*(when(away, end) for end in ends), least=floor, step=step)


def remainder(node: exp.Expr, left: Value, right: Value) -> Value:
    """The remainder of a number that is never negative by one above 0: it rises with the number from one multiple to the
    next, and is at least 0 and less than the divisor."""
    number = constant_of(right)
    if floor_of(left) is None or number is None or number <= 0:
        return Value(why="the operator % of an estimate that may be negative, or by an estimate")
    whole = is_whole(left) and is_whole(right)
    multiples = [exp.Floor(this=paren(end) / paren(right.expression)) for end in left.bounds]
    among = exp.EQ(this=multiples[0], expression=multiples[1])
    low, high = (with_operands(node, end, right.expression) for end in left.bounds)
    ends = when(among, low, exp.convert(0)), when(among, high, exp.convert(number - whole))
    return Value(*(when(none_null(*left.bounds), end) for end in ends), least=0, whole=whole)


def _combined(node: exp.Expr, one: exp.Expr | None, other: exp.Expr | None) -> exp.Expr | None:
    """An operation on two numbers, if both are there."""
    return None if one is None or other is None else with_operands(node, one, other)


def _share(node: exp.Expr) -> float | None:
    """The factor by which a quotient multiplies ``x / sum(x) OVER (...)``, whose window has the row, or the number of some
    of the rows of a window by that of all; None for others."""
    whole = _plain(node.expression)
    whole = _plain(whole.this) if isinstance(whole, exp.Nullif) else whole
    if not isinstance(whole, exp.Window) or whole.args.get("spec"):
        return None
    factors = product_of(node.this)
    numbers = [float(f.name) for f in factors if isinstance(f, exp.Literal) and not f.is_string]
    (part,) = rest if len(rest := [f for f in factors if not isinstance(f, exp.Literal)]) == 1 else (node,)
    if isinstance(whole.this, exp.Count) and isinstance(part, exp.Window) and not whole.args.get("order"):
        alike = all((part.args.get(key) or []) == (whole.args.get(key) or []) for key in ("this", "partition_by"))
        return prod(numbers) if alike else None
    return prod(numbers) if isinstance(whole.this, exp.Sum) and part == bare(whole.this.this) else None


def rising(node: exp.Expr, value: Value) -> Value:
    """A function that never falls while its first argument rises; TRY_CAST and roots give NULL or NaN for some numbers."""
    low, high = (of_value(node, end) for end in value.bounds)
    condition: exp.Expr | None = None
    if isinstance(node, exp.Ln | exp.Exp):  # an infinite end is none, and would give NaN times 0
        low, high = (_finite(end) for end in (low, high))
    if isinstance(node, exp.TryCast):
        condition = none_null(low, high)
    elif isinstance(node, exp.Sqrt | exp.Ln) and value.least is None:
        condition = exp.GTE(this=paren(value.bounds[0]), expression=exp.Literal.number(0))
    if condition is not None:
        low, high = (when(condition, end) for end in (low, high))
    return Value(low, high, least=None if value.least is None or isinstance(node, exp.Ln) else 0)


def _finite(end: exp.Expr) -> exp.Expr:
    """A floating number; NULL if it is infinite or NaN."""
    return when(exp.Anonymous(this="isfinite", expressions=[exp.cast(end, "DOUBLE")]), end)


def of_value(node: exp.Expr, value: exp.Expr) -> exp.Expr:
    """A function, or a term of ORDER BY, of another first argument."""
    copy = node.copy()
    copy.set("this", value.copy())
    return copy


def absolute(node: exp.Expr, value: Value) -> Value:
    """The absolute value of a number."""
    low, high = value.bounds
    away = exp.Anonymous(this="GREATEST", expressions=[low.copy(), exp.Neg(this=paren(high)), exp.Literal.number(0)])
    end = greatest(of_value(node, low), of_value(node, high))
    return Value(when(none_null(low, high), away), end, least=0, whole=value.whole)


def narrowed(value: Value, other: Value) -> Value:
    """A number that lies within the bounds of two; an exact one stays as it is."""
    if value.exact or other.unknown:
        return value
    if value.unknown or other.exact:
        return other
    (a, b), (c, d) = value.not_null, other.not_null
    # these functions leave out NULL, which is no bound
    lower, upper = (exp.Anonymous(this=name, expressions=ends) for name, ends in (("GREATEST", [a, c]), ("LEAST", [b, d])))
    turned = exp.GT(this=lower, expression=upper)  # by the rounding of floating numbers
    floor = other.least if value.least is None else value.least
    return replace(value, lower=when(turned, upper, lower), upper=upper, least=floor)


def all_sure(*parts: exp.Expr | None) -> exp.Expr | None:
    """Whether several numbers are there (``Value.sure``); None if none of them may be NULL."""
    different = list(dict.fromkeys(part for part in parts if part is not None))
    return exp.and_(*different) if len(different) > 1 else next(iter(different), None)


def listed(parts: Sequence[Value]) -> Value:
    """A list of numbers, whose bounds are lists; none where a number has none."""
    ends = zip(*(part.bounds for part in parts), strict=True)
    lists = [exp.Array(expressions=[end.copy() for end in of]) for of in ends]
    return Value(*(when(none_null(*end.expressions), end) for end in lists))


def unread(parts: Sequence[Value]) -> Value:
    """The value of an operation on operands of which nothing is known of at least one."""
    return Value(why=next((part.why for part in parts if part.why), ""))
