"""The values of items and of relational attributes, and conditions on the latter, read from the analyst's literals.

Labels are the texts of items. DuckDB converts the literals of a query to the type of the column: '05' is 5.

Numbers are compared as exact decimal numbers and dates in days, both as Fractions; categories as texts. SQL has three
truth values: a comparison with NULL is unknown, and so is its negation. A complete condition (WHERE, EXISTS, IN, IS TRUE)
treats unknown as false: ``predicates.settled`` makes this replacement.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from itertools import pairwise

from sqlglot import exp

from anondb.query.parsing import bare
from anondb.query.refusals import name_of, unsupported

TEXT, WHOLE = "VARCHAR", "BIGINT"
WIDE = ("DECIMAL(20,0)", "DECIMAL(38,0)")
"""What manifests say of UBIGINT and HUGEINT, too."""
_FRACTION = r"(\.[0-9]{0,8}[1-9])?"
_DAY = r"[0-9]{4,}-[0-9]{2}-[0-9]{2}"
_CLOCK = rf"[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}{_FRACTION}"
_ENDLESS = r"|-?infinity"
_NUMBER = r"0|-?[1-9][0-9]*"
_MOMENT = rf"{_DAY}( \(BC\))? {_CLOCK}( \(BC\))?{_ENDLESS}"
_NAMED = {
    WHOLE: _NUMBER,
    "BOOLEAN": "true|false",
    "UUID": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "DATE": rf"{_DAY}( \(BC\))?{_ENDLESS}",
    "TIMESTAMP": _MOMENT,
}
_MOST_DIGITS = 38  # of a DECIMAL
Value = Fraction | str
DAY = 86_400_000_000  # microseconds
MAX_DIGITS = 15  # of a number in a query: a DOUBLE distinguishes no more
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?")


@dataclass(frozen=True)
class Kind:
    """A type other than text: its DuckDB name, the format of its values, and whether the manifest names it.

    A manifest says VARCHAR of some types that it has no name for.
    """

    sql: str
    form: re.Pattern[str]
    named: bool = True


_UNNAMED = [Kind(sql, re.compile(form), False) for sql, form in (("TIME", _CLOCK), ("TIMESTAMP_NS", _MOMENT))]
_HUGE = Kind("HUGEINT", re.compile(_NUMBER), False)


def kind_of(stated: str, labels: Sequence[str]) -> Kind | None:
    """The type of a column with these labels, or one that it may have; None if it is that of texts.

    Args:
        stated: the type that the manifest names.
        labels: its labels in the release.
    """
    if stated != TEXT:
        decimals = re.search(r",([0-9]+)\)", stated)
        fraction = rf"-?(0|[1-9][0-9]*)\.[0-9]{{{decimals[1]}}}" if decimals and decimals[1] != "0" else _NUMBER
        return Kind(stated, re.compile(_NAMED.get(stated, fraction)))
    huge = [_HUGE] if any(len(label) > _MOST_DIGITS for label in labels) else []
    fitting = (kind for kind in (*_UNNAMED, *huge) if all(map(kind.form.fullmatch, labels)))
    return next(fitting, None) if labels else None


def range_type(stated: str, ends: str | None) -> str:
    """The type in which queries see a column with ranges, by the type that the manifest names and that of the ends.

    Whole numbers of DuckDB's widest types are DECIMAL in the manifest, of which ``//`` is no whole number.
    """
    return ends if ends == WHOLE and stated in WIDE else stated


@dataclass(frozen=True)
class Attribute:
    """A relational attribute of a release.

    Attributes:
        name: its column.
        ends: the type of the ends of its ranges; None for categories.
        has_null: whether some record may have NULL: for ranges, a column marks these.
        values: for categories, each value with its published label; None is NULL, if the label stands for other values, too.
        type: the type of the column in the original.
    """

    name: str
    ends: str | None
    has_null: bool
    values: frozenset[tuple[str, str | None]] = frozenset()
    type: str = TEXT

    @property
    def kind(self) -> str:
        """The type in which queries see its values: that of the original, where the file names it."""
        return self.ends if self.ends is not None and self.type == TEXT else range_type(self.type, self.ends)

    @property
    def by_value(self) -> bool:
        """Whether aggregates read it value by value: it has categories of another type than text."""
        return self.ends is None and self.type != TEXT

    @property
    def unnamed(self) -> bool:
        """Whether it may have a type of which the manifest says VARCHAR, and whose values do not compare as texts."""
        kind = kind_of(self.type, [value for _, value in self.values if value is not None])
        return kind is not None and not kind.named

    @property
    def may_be_null(self) -> bool:
        """Whether a person may have none of its values."""
        return self.has_null or any(value is None for _, value in self.values)

    @property
    def dated(self) -> bool:
        """Whether its values are dates or timestamps."""
        return self.ends in ("DATE", "TIMESTAMP")

    @property
    def whole(self) -> bool:
        """Whether all of its values are whole numbers or days."""
        return self.ends in ("BIGINT", "DATE")


@dataclass(frozen=True)
class Span:
    """The value lies between two ends; None means no end, and an open end is excluded."""

    low: Fraction | None
    high: Fraction | None
    open: bool = False


@dataclass(frozen=True)
class Stretches:
    """The value lies in one of these stretches, each without its end; None means no limit. They are in ascending order."""

    parts: tuple[tuple[Fraction | None, Fraction | None], ...]

    @property
    def hull(self) -> Span:
        """All from the first to the last of them."""
        return Span(self.parts[0][0], self.parts[-1][1])


@dataclass(frozen=True)
class OneOf:
    """The value is one of these."""

    values: frozenset[Value]


@dataclass(frozen=True)
class OnValue:
    """The person's value of an attribute passes a test, or fails it if ``negated``.

    Attributes:
        attribute: its name.
        test: the test.
        negated: whether the value must fail the test.
        null: the truth of the condition if the value is NULL; None for unknown.
        dated: whether numbers are days since 1970.
    """

    attribute: str
    test: Span | Stretches | OneOf
    negated: bool = False
    null: bool | None = None
    dated: bool = False

    def opposite(self) -> OnValue:
        """The negation; unknown stays unknown."""
        return replace(self, negated=not self.negated, null=None if self.null is None else not self.null)

    def settled(self) -> OnValue:
        """The condition with false for unknown."""
        return replace(self, null=bool(self.null))

    def holds(self, value: Value | None) -> bool:
        """Whether the condition is true for a value; None is NULL."""
        if value is None:
            return self.null is True
        return _passes(self.test, value) != self.negated

    def excludes(self, other: OnValue) -> bool:
        """Whether no value, and no NULL, lets a condition on the same attribute be true, or unknown, beside this one: both
        are constant between their marks, and for all that they do not name, so one value of each such part tells."""
        tests = [test for test in (self.test, other.test) if isinstance(test, OneOf)]
        if len(tests) == 2 and not self.negated and not other.negated:
            return False in (self.null, other.null) and tests[0].values.isdisjoint(tests[1].values)
        marks = sorted({*self.marks, *other.marks}) or [Fraction()]
        between = [(low + high) / 2 for low, high in pairwise(marks)]
        values = [value for test in tests for value in test.values] + [*marks, *between, marks[0] - 1, marks[-1] + 1]
        return False in (self.null, other.null) and not any(self.holds(v) and other.holds(v) for v in values)

    def among(self, numbers: Sequence[Fraction]) -> list[bool]:
        """For which of these numbers, in ascending order, the condition is true."""
        if isinstance(self.test, OneOf):
            return [self.holds(number) for number in numbers]
        passing = [self.negated] * len(numbers)
        closed = isinstance(self.test, Span) and not self.test.open
        ends = [(self.test.low, self.test.high)] if isinstance(self.test, Span) else self.test.parts
        after_low = isinstance(self.test, Span) and self.test.open
        for low, high in ends:
            first = 0 if low is None else (bisect_right if after_low else bisect_left)(numbers, low)
            last = len(numbers) if high is None else (bisect_right if closed else bisect_left)(numbers, high)
            passing[first:last] = [not self.negated] * (last - first)
        return passing

    @property
    def marks(self) -> list[Fraction]:
        """The numbers at which the condition may change."""
        if isinstance(self.test, Stretches):
            return [end for part in self.test.parts for end in part if end is not None]
        ends = (self.test.low, self.test.high) if isinstance(self.test, Span) else self.test.values
        return [x for x in ends if isinstance(x, Fraction)]


def _passes(test: Span | Stretches | OneOf, value: Value) -> bool:
    if isinstance(test, OneOf):
        return value in test.values
    assert isinstance(value, Fraction)
    if isinstance(test, Stretches):
        return any((low is None or low <= value) and (high is None or value < high) for low, high in test.parts)
    if test.open and value in (test.low, test.high):
        return False
    return (test.low is None or test.low <= value) and (test.high is None or value <= test.high)


ROW = Attribute("", None, False, frozenset({("", "listed"), ("", "missing")}))
LISTED = OnValue(ROW.name, OneOf(frozenset({"listed"})), null=False)
"""Whether an original with one list for each id has a row for a person without items; a release does not show this."""

LISTS = Attribute("\0", None, False, frozenset({("", "list"), ("", "null")}))
"""Whether the original has a list for a person without items, or NULL; a release does not show this."""
HAS_LIST = OnValue(LISTS.name, OneOf(frozenset({"list"})), null=False)


def on_value(node: exp.Expr, attribute: Attribute, *, left: bool) -> OnValue | None:
    """Read a comparison of an attribute with literals.

    Args:
        node: =, <>, <, <=, >, >=, IS [NOT] DISTINCT FROM, BETWEEN, IN, or IS NULL.
        attribute: the compared attribute.
        left: whether the attribute is on the left side.

    Returns:
        None where numbers or times are compared with anything but literals that have one meaning.

    Raises:
        InputError: ``unsupported_query``: a category is compared with anything but texts that the release lists.
    """
    condition = partial(OnValue, attribute.name, dated=attribute.dated)
    if isinstance(node, exp.Is):
        return condition(OneOf(frozenset()), null=True) if left and isinstance(node.expression, exp.Null) else None
    if isinstance(node, exp.In):
        values = _listed(node, attribute) if left else None
        return None if values is None else condition(OneOf(values))
    if isinstance(node, exp.Between):
        low, high = (_number(node.args[end], attribute, "BETWEEN") for end in ("low", "high"))
        bounded = low is not None and high is not None and not node.args.get("symmetric")
        return condition(Span(low, high)) if bounded else None
    other = bare(node.args["expression" if left else "this"])
    negated = isinstance(node, exp.NEQ | exp.NullSafeNEQ)
    safe = isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ)
    if safe and isinstance(other, exp.Null):
        return condition(OneOf(frozenset()), negated, not negated)
    if safe or isinstance(node, exp.EQ | exp.NEQ):
        value = _same(other, attribute)
        return None if value is None else condition(OneOf(frozenset({value})), negated, negated if safe else None)
    end = _number(other, attribute, "an order")
    above = isinstance(node, exp.GT | exp.GTE) == left
    span = Span(end if above else None, None if above else end, isinstance(node, exp.GT | exp.LT))
    return None if end is None else condition(span)


def _listed(node: exp.In, attribute: Attribute) -> frozenset[Value] | None:
    """The values of IN with a list of literals."""
    field = node.args.get("field")
    listed = field.expressions if isinstance(field, exp.Array) else node.expressions
    if not listed or node.args.get("query") is not None:
        if attribute.ends is None:
            raise unsupported("IN on a relational attribute without a list of literals")
        return None
    kinds = {part.to if isinstance(part, exp.Cast) else None for part in map(bare, listed)}
    if attribute.kind == "TIMESTAMP" and len(kinds) > 1:  # DuckDB casts all to one type, which may truncate some
        return None
    values = [_same(part, attribute) for part in listed]
    return None if None in values else frozenset(value for value in values if value is not None)


def _number(node: exp.Expr, attribute: Attribute, what: str) -> Fraction | None:
    if attribute.ends is None:
        raise unsupported(f"{what} on the categorical attribute {attribute.name!r}", "List its values with IN.")
    value = _literal(node, attribute)
    return value if isinstance(value, Fraction) else None


def _same(node: exp.Expr, attribute: Attribute) -> Value | None:
    """Read a literal compared for equality; DuckDB converts numbers to as many decimals as the literal has."""
    literal, decimals = node.find(exp.Literal), re.fullmatch(r"DECIMAL\(\d+, ?(\d+)\)", attribute.ends or "")
    if (
        decimals
        and attribute.kind.startswith("DECIMAL")
        and literal is not None
        and len(literal.name.partition(".")[2]) < int(decimals[1])
    ):
        return None
    return _literal(node, attribute)


def _literal(node: exp.Expr, attribute: Attribute) -> Value | None:
    """Convert a literal to a value of the attribute."""
    node = bare(node)
    if attribute.ends is None:
        return _category(node, attribute)
    if attribute.dated:
        return _time(node, attribute)
    plain = bare(node.this) if isinstance(node, exp.Neg) else node
    if not isinstance(plain, exp.Literal) or plain.is_string:
        return None
    digits = re.fullmatch(r"([0-9]*)\.?([0-9]*)", plain.name)
    if digits is None or len((digits[1] + digits[2]).lstrip("0")) > MAX_DIGITS:
        return None
    return Fraction(plain.name) * (1 if plain is node else -1)


def _category(node: exp.Expr, attribute: Attribute) -> str:
    """The text of a literal, which must be a value that the release lists."""
    plain = bare(node.this) if isinstance(node, exp.Neg) else node
    if isinstance(node, exp.Null):
        raise unsupported("NULL in a comparison", "Write IS NULL.")
    if not isinstance(plain, exp.Literal):
        raise unsupported(f"a relational attribute compared with an expression other than a literal ({name_of(plain)})")
    if plain is not node or not plain.is_string:
        raise unsupported(f"the attribute {attribute.name!r} compared with a number", "Write its value as a text.")
    values = [value for _, value in attribute.values if value is not None]
    if plain.name not in values and (not values or kind_of(attribute.type, values)):
        raise unsupported(
            f"a text that may be another spelling of a value of {attribute.name!r}", "Write values as the release does."
        )
    return str(plain.name)


def _time(node: exp.Expr, attribute: Attribute) -> Fraction | None:
    """Convert a date or timestamp literal to days since 1970."""
    text, kind = (node.this, node.to.sql("duckdb")) if isinstance(node, exp.Cast) else (node, attribute.kind)
    if kind not in ("DATE", "TIMESTAMP"):
        return None
    form = _DATE if kind == "DATE" else _TIME
    if not isinstance(text, exp.Literal) or not text.is_string:
        return None
    written = text.name.replace("T", " ", 1)
    if text is node and attribute.kind == "DATE" and _TIME.fullmatch(written):
        form = _TIME  # DuckDB reads the date of a text
    elif text is node and "." in written:  # DuckDB truncates it if the column is coarser
        return None
    if not form.fullmatch(written) and not (form is _TIME and _DATE.fullmatch(written)):
        return None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:  # such as the 30th of February
        return None
    if attribute.kind == "DATE" and text is node:
        moment = datetime(moment.year, moment.month, moment.day)
    elapsed = moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return Fraction((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds, DAY)
