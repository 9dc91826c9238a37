"""Expressions of a number or a time that have one value on each of a few stretches of its range: bands, months, floors.

The values of such an attribute are too many to list. But a monotone expression of it (``floor(x / 100)``, ``x < 18``, the
month of a time) that has the same value at both ends of a stretch has it everywhere between, so that bisection finds all
places where it changes; and the range of the attribute falls into stretches on which everything that is computed from such
expressions alone has one value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sqlglot import exp

from anondb.query.parsing import bare
from anondb.query.values import DAY

POINTS = 2_000  # at most about so many at once divide the stretches in which a value changes
_FIXED = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK")
_PLAIN = (
    *(exp.Literal, exp.Null, exp.Boolean, exp.Neg, exp.Paren, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Cast, exp.Var),
    *(exp.DataType, exp.DataTypeParam),
)
"""What constants beside an attribute may consist of; and intervals that always have the same length."""
_MONOTONE = (
    *(exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Floor, exp.Ceil, exp.Round, exp.Trunc),
    *(exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Least, exp.Greatest, exp.Coalesce, exp.Cast),
    *(exp.Year, exp.LastDay, exp.DateDiff, exp.TimestampTrunc, exp.DateTrunc, exp.DateBin),
    *(exp.Sign, exp.Sqrt, exp.Ln, exp.Exp),
)
"""Functions that are monotone in each argument while the others are constants; a divisor is none of these."""
_KEPT = {"INT", "BIGINT", "HUGEINT", "DOUBLE", "DECIMAL", "DATE", "TIMESTAMP"}  # types to which casts are monotone
_UNITS = {
    **dict.fromkeys(("MONTH", "MONTHNAME"), "month"),
    **dict.fromkeys(
        ("DOW", "DAYOFWEEK", "ISODOW", "DAYOFWEEKISO", "DOY", "DAYOFYEAR", "DAY", "DAYOFMONTH", "DAYNAME"), "day"
    ),
    **dict.fromkeys(("WEEK", "WEEKOFYEAR"), "week"),
    **{name: name.lower() for name in ("YEAR", "QUARTER", "HOUR", "MINUTE", "SECOND")},
}
"""Fields and functions of a time, each with the unit during which it stays the same."""
_RISING = ("YEAR", "DECADE", "CENTURY", "MILLENNIUM", "EPOCH")
"""Fields of a time that never fall while it rises."""
_CODES = {"month": frozenset("YymbB-"), "day": frozenset("YymbBdjaAuwUWVG-")}
"""Codes of a format whose values stay the same during a unit."""
_EQUAL = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Between)
_COMPUTED = (
    *(exp.Paren, exp.Neg, exp.Not, exp.And, exp.Or, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Cast),
    *(exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Concat, exp.DPipe, exp.Lower, exp.Upper, exp.Least, exp.Greatest),
    *(exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between, exp.Is),
)
"""Functions whose value depends on those of their arguments alone."""

Test = Callable[[exp.Expr], bool]


# --- expressions ------------------------------------------------------------------------------------------------------


def terms(tree: exp.Expr, is_value: Test) -> list[exp.Expr] | None:
    """Monotone expressions of a value that tell, together, the value of an expression; None if there are none.

    Args:
        tree: the expression.
        is_value: whether a node is the value.
    """
    if not _moves(tree, is_value):
        return []
    if _is_monotone(tree, is_value):
        return [tree]
    unit = _unit(tree)
    if unit is not None:
        of = tree.this if (field := _field(tree)) is None else field[1]
        if any(not isinstance(bare(part.expression), exp.Interval) for part in of.find_all(exp.Sub)):
            return None  # the difference of two times is none
        moment = exp.cast(exp.paren(of.copy()), "TIMESTAMP")
        whole = exp.TimestampTrunc(this=moment, unit=exp.var(unit))
        return [whole] if _is_monotone(whole, is_value) else None
    if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null) and _is_monotone(tree.this, is_value):
        return []
    places = _places(tree, is_value)
    if places is not None:
        return places
    if not isinstance(tree, _COMPUTED):
        return None
    found: list[exp.Expr] = []
    for part in _of_case(tree) if isinstance(tree, exp.Case) and tree.this is not None else tree.iter_expressions():
        inside = terms(part, is_value)
        if inside is None:
            return None
        found += inside
    return found


def _moves(tree: exp.Expr, is_value: Test) -> bool:
    return any(is_value(node) for node in tree.walk())


def _is_plain(tree: exp.Expr) -> bool:
    """Whether a constant is one of numbers, texts, times and intervals of a fixed length."""
    if isinstance(tree, exp.Interval):
        return isinstance(tree.this, exp.Literal) and tree.text("unit").upper().rstrip("S") in _FIXED
    return isinstance(tree, _PLAIN) and all(map(_is_plain, tree.iter_expressions()))


def _is_monotone(tree: exp.Expr, is_value: Test) -> bool:
    """Whether an expression never falls, or never rises, while the value rises."""
    if is_value(tree):
        return True
    moving = [part for part in tree.iter_expressions() if _moves(part, is_value)]
    field = _field(tree)
    if len(moving) != 1 or not (isinstance(tree, _MONOTONE) or (field is not None and field[0] in _RISING)):
        return False
    if isinstance(tree, exp.Div | exp.IntDiv | exp.Coalesce) and moving[0] is not tree.this:
        return False
    kept = not isinstance(tree, exp.TryCast)  # which is NULL for numbers between others
    if isinstance(tree, exp.Cast) and not (kept and tree.to.sql("duckdb").partition("(")[0] in _KEPT):
        return False
    others = (part for part in tree.iter_expressions() if part is not moving[0])
    return all(map(_is_plain, others)) and _is_monotone(moving[0], is_value)


def _field(tree: exp.Expr) -> tuple[str, exp.Expr] | None:
    """The field that ``extract`` or ``date_part`` gives, and of what; None for other expressions."""
    if isinstance(tree, exp.Extract):
        return tree.name.upper(), tree.expression
    named = isinstance(tree, exp.Anonymous) and tree.name.lower() in ("date_part", "datepart") and len(tree.expressions) == 2
    return (tree.expressions[0].name.upper(), tree.expressions[1]) if named else None


def _unit(tree: exp.Expr) -> str | None:
    """The unit during which a part of a time stays the same; None for other expressions."""
    if (field := _field(tree)) is not None:
        return _UNITS.get(field[0])
    if isinstance(tree, exp.TimeToStr) and isinstance(tree.args["format"], exp.Literal):
        codes = set("".join(part[:2] if part[:1] == "-" else part[:1] for part in tree.args["format"].name.split("%")[1:]))
        return next((unit for unit, of in _CODES.items() if codes <= of), None)
    return _UNITS.get(type(tree).__name__.upper())


def _places(tree: exp.Expr, is_value: Test) -> list[exp.Expr] | None:
    """The comparisons by order that decide one by equality, of a monotone expression with constants."""
    if not isinstance(tree, _EQUAL) or tree.args.get("query") is not None or tree.args.get("field") is not None:
        return None
    parts = list(tree.iter_expressions())
    moving = [part for part in parts if _moves(part, is_value)]
    others = [part for part in parts if not _moves(part, is_value)]
    if len(moving) != 1 or not _is_monotone(moving[0], is_value) or not all(map(_is_plain, others)):
        return None
    if len({_form(other) for other in others}) > 1:  # DuckDB may cast all to one type, in which others are equal
        return None
    of = bare(moving[0])
    return [way(this=of.copy(), expression=other.copy()) for other in others for way in (exp.GTE, exp.GT)]


def _form(constant: exp.Expr) -> str:
    """Whether a constant is a text, a number, a floating number, or one that is cast, and to what."""
    constant = bare(constant)
    if isinstance(constant, exp.Neg):
        return _form(constant.this)
    if isinstance(constant, exp.Literal):
        return "text" if constant.is_string else "float" if "e" in constant.name.lower() else "number"
    return constant.to.sql("duckdb") if isinstance(constant, exp.Cast) else constant.key


def _of_case(tree: exp.Case) -> list[exp.Expr]:
    """The parts of ``CASE x WHEN 1 ...``, with comparisons in place of its values."""
    same = [exp.EQ(this=tree.this.copy(), expression=branch.this.copy()) for branch in tree.args["ifs"]]
    results = [branch.args["true"] for branch in tree.args["ifs"]]
    return [*same, *results, *([tree.args["default"]] if tree.args.get("default") is not None else [])]


# --- values -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """The values of an attribute as whole numbers in their order.

    Attributes:
        ends: the type of the ends of its ranges: BIGINT, DECIMAL(p,s), DATE or TIMESTAMP.
    """

    ends: str

    @property
    def _decimals(self) -> int:
        return int(self.ends.removesuffix(")").partition(",")[2] or 0)

    @property
    def _unit(self) -> Fraction:
        return Fraction(1, DAY) if self.ends == "TIMESTAMP" else Fraction(1, 10**self._decimals)

    def number(self, value: Fraction) -> int:
        """The whole number of a value (days since 1970 for times)."""
        return int(value / self._unit)

    def value(self, number: int) -> Fraction:
        """The value of a whole number."""
        return number * self._unit

    def cell(self, number: int) -> Any:
        """The value of a whole number as DuckDB returns it; dates and times as texts."""
        if self.ends == "DATE":
            return (date(1970, 1, 1) + timedelta(days=number)).isoformat()
        if self.ends == "TIMESTAMP":
            return (datetime(1970, 1, 1) + timedelta(microseconds=number)).isoformat(" ")
        return Decimal(number).scaleb(-self._decimals) if self._decimals else number


def starts(low: int, high: int, at: Callable[[Sequence[int]], Sequence[Any]], most: int) -> list[int] | None:
    """The first numbers of the stretches between two numbers on which a monotone function has one value.

    Args:
        low, high: the ends, which belong to the range.
        at: gives the values of the function.
        most: the greatest number of stretches; None is returned if there are more.
    """
    changes, unread = [low], [(low, high)]
    values = dict(zip((low, high), at([low, high]), strict=True))
    while unread := [(a, b) for a, b in unread if values[a] != values[b]]:
        changes += [b for a, b in unread if b == a + 1]
        wide = [(a, b) for a, b in unread if b > a + 1]
        if len(changes) + len(wide) > most:
            return None
        parts = max(2, min(16, POINTS // max(1, len(wide))))
        cuts = [sorted({a + (b - a) * n // parts for n in range(parts + 1)}) for a, b in wide]
        new = sorted({n for numbers in cuts for n in numbers} - values.keys())
        values |= zip(new, at(new), strict=True) if new else {}
        unread = [pair for numbers in cuts for pair in pairwise(numbers)]
    return sorted(changes)
