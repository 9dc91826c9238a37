"""The values of expressions of one attribute, listed or on stretches of its range, each with the condition for it.

A monotone expression (``floor(x / 100)``, ``x < 18``, the month of a time) that has the same value at both ends of a stretch
has it everywhere between. So bisection finds all places where it changes, and what is computed from such expressions alone
has one value on each stretch between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from sqlglot import exp

from anondb.answers.persons.domains import Domains, check_plain, collected, typed
from anondb.answers.persons.terms import Atom, Number, Of, Part
from anondb.answers.ranged.relation import typeof
from anondb.query.parsing import bare
from anondb.query.predicates import Condition, either
from anondb.query.refusals import unsupported
from anondb.query.values import DAY, TEXT, WHOLE, WIDE, OneOf, OnValue, Stretches, on_value

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
    for part in _case_parts(tree) if isinstance(tree, exp.Case) and tree.this is not None else tree.iter_expressions():
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


def _case_parts(tree: exp.Case) -> list[exp.Expr]:
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


MAX_STRETCHES = 1_000  # of the range of an attribute
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # of the years 1 and 9999, from 1970
MAX_LISTED = 100_000  # whole numbers or days of a range for each of which an expression is computed


class Attributes(Domains):
    """Lists the values of attributes, each with the condition for it, and evaluates expressions on them."""

    def of_attribute(self, tree: exp.Expr, atom: Of) -> list[tuple[Any, Condition]]:
        """The values of an expression of one attribute, each with the condition for it."""
        attribute = self.attribute(atom)
        if attribute.kind == WHOLE and attribute.type in WIDE and tree.find(exp.IntDiv):
            raise unsupported(f"// of {attribute.name!r}, since the file does not tell whether it is a DECIMAL")
        extent = None if attribute.ends is None else self.releases.extent(atom.attribute)
        places = None if extent is None else self._starts(tree, atom, *extent)
        if places is not None:
            return self._stretch_values(tree, atom, places)
        listed = self.releases.values_of(atom.attribute)
        grouped = collected(zip(self.of_values(tree, atom, listed), listed, strict=True))
        return [(of, self.among(atom, members)) for of, members in grouped.items()]

    def _starts(self, tree: exp.Expr, atom: Of, low: Fraction, high: Fraction) -> list[int] | None:
        """Where the stretches of a range begin on which an expression has one value; None where values are listed."""
        attribute = self.attribute(atom)
        scale = Scale(attribute.ends or "")
        far = attribute.dated and not (FIRST_DAY <= low <= high < LAST_DAY)  # which Python does not have
        if far or (attribute.whole and high - low < MAX_STRETCHES):
            return None
        first, last = scale.number(low), scale.number(high)
        if attribute.whole and last - first < MAX_LISTED:
            values = self._values_of_texts([tree], atom, [str(scale.cell(n)) for n in range(first, last + 1)])
            places = [first, *(first + n for n in range(1, len(values)) if values[n] != values[n - 1])]
            return places if len(places) <= MAX_STRETCHES else None
        monotone = terms(tree, lambda node: self.atom(node) == atom)
        if monotone is None:
            return None

        def at(numbers: Sequence[int]) -> list[tuple[Any, ...]]:
            return self._values_of_texts(monotone, atom, [str(scale.cell(n)) for n in numbers])

        return starts(first, last, at, MAX_STRETCHES)

    def _values_of_texts(self, trees: Sequence[exp.Expr], atom: Of, texts: Sequence[str]) -> list[tuple[Any, ...]]:
        """The values of expressions of an attribute, as texts, for each of its values, which are texts without commas."""
        listed = exp.func("string_split", exp.Literal.string(",".join(texts)), exp.Literal.string(","))
        numbers = exp.func("range", exp.convert(len(texts)))
        named = exp.select(exp.Explode(this=numbers).as_("n"), exp.Explode(this=listed).as_("text")).subquery("listed")
        value = exp.cast(exp.column("text", "listed"), self.attribute(atom).kind, dialect="duckdb")
        of = [exp.paren(self.replaced(tree, lambda a: value if a == atom else None)) for tree in trees]
        results = [exp.cast(tree, "VARCHAR") for tree in of]  # 0.0 and -0.0 are equal numbers
        rows = self.releases.rows(exp.select(*results, exp.column("n", "listed")).from_(named).order_by("n"))
        return [row[:-1] for row in rows]

    def _stretch_values(self, tree: exp.Expr, atom: Of, places: Sequence[int]) -> list[tuple[Any, Condition]]:
        """The values of an expression on stretches of a range that begin at these places, and for NULL."""
        attribute = self.attribute(atom)
        scale, on = Scale(attribute.ends or ""), partial(OnValue, attribute.name, dated=attribute.dated)
        *values, absent = self.of_values(tree, atom, [*map(scale.cell, places), None])
        first = [n for n, value in enumerate(values) if not n or value != values[n - 1]]
        ends = [None, *(scale.value(places[n]) for n in first[1:]), None]
        grouped = collected(zip((values[n] for n in first), pairwise(ends), strict=True))
        null = on(OneOf(frozenset()), null=True)
        listed: list[tuple[Any, Condition]] = [(v, on(Stretches(tuple(parts)), null=False)) for v, parts in grouped.items()]
        if len(listed) == 1:
            listed = [(values[0], null.opposite())]
        if not attribute.may_be_null:
            return listed
        alike = [(value, either(met, null)) for value, met in listed if value == absent]
        return [*(one for one in listed if one[0] != absent), *(alike or [(absent, null)])]

    def among(self, atom: Of, values: Sequence[Any]) -> Condition:
        """The condition that an attribute has one of some of its values."""
        attribute = self.attribute(atom)
        column = exp.column("value")
        literals = [
            literal_of(value, attribute.kind if attribute.ends else "VARCHAR", plain=True)
            for value in values
            if value is not None
        ]
        asked: list[exp.Expr] = [exp.Is(this=column, expression=exp.null())] if None in values else []
        asked += [exp.In(this=column, expressions=literals)] if literals else []
        conditions = [on_value(test, attribute, left=True) for test in asked]
        if None in conditions:
            raise unsupported(f"single values of {attribute.name!r}", "Use BETWEEN.")
        return either(*(condition.settled() for condition in conditions if condition is not None))

    def of_values(self, tree: exp.Expr, atom: Atom, values: Sequence[Any]) -> list[Any]:
        """The value of an expression for each value of an atom."""
        if not values:
            return []
        kind = self.releases.part_type if isinstance(atom, Part) else ""
        if isinstance(atom, Of):
            kind = self.attribute(atom).kind
        elif isinstance(atom, Number):
            doubles = any(isinstance(value, float) for value in values)  # keys, which match as texts
            kind = "DOUBLE" if doubles else atom.type
        cells = [exp.Tuple(expressions=[exp.convert(n), literal_of(v, kind)]) for n, v in enumerate(values)]
        names = [exp.to_identifier(name) for name in ("n", "value")]
        rows = exp.Values(expressions=cells, alias=exp.TableAlias(this=exp.to_identifier("listed"), columns=names))
        value = self.replaced(tree, lambda a: exp.column("value", "listed") if a == atom else None)
        results = self.releases.rows(exp.select(value, typeof(value)).from_(rows).order_by("n"))
        check_plain([result for result, _ in results])
        self.kinds[tree] = next((str(k) for _, k in results if k != '"NULL"'), "VARCHAR")
        return [result for result, _ in results]


def literal_of(value: Any, kind: str, *, plain: bool = False) -> exp.Expr:
    """A value of the session's database or of an attribute as a literal of its type."""
    if value is None:
        return exp.cast(exp.null(), kind) if kind else exp.null()
    if kind in ("DATE", "TIMESTAMP"):
        return exp.cast(exp.Literal.string(str(value)), kind)
    literal = typed(value, kind)
    written = plain or not kind or (isinstance(value, str) and kind == TEXT)
    return literal if written else exp.cast(literal, kind, dialect="duckdb")
