"""The values of items and of relational attributes, and conditions on the latter, read from the analyst's literals.

Labels are the texts of items. DuckDB converts the literals of a query to the type of the column: '05' is 5.

Numbers are compared as exact decimal numbers and dates in days, both as Fractions; categories as texts. SQL has three
truth values: a comparison with NULL is unknown, and so is its negation. A complete condition (WHERE, EXISTS, IN, IS TRUE)
treats unknown as false: ``predicates.settled`` makes this replacement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction

from sqlglot import exp

from anondb.query.refusals import name_of, only, unsupported

TEXT, WHOLE = "VARCHAR", "BIGINT"
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
        labels: the labels that are known.
    """
    if stated != TEXT:
        decimals = re.search(r",([0-9]+)\)", stated)
        fraction = rf"-?(0|[1-9][0-9]*)\.[0-9]{{{decimals[1]}}}" if decimals and decimals[1] != "0" else _NUMBER
        return Kind(stated, re.compile(_NAMED.get(stated, fraction)))
    huge = [_HUGE] if any(len(label) > _MOST_DIGITS for label in labels) else []
    fitting = (kind for kind in (*_UNNAMED, *huge) if all(map(kind.form.fullmatch, labels)))
    return next(fitting, None) if labels else None


@dataclass(frozen=True)
class Attribute:
    """A relational attribute of a release.

    Attributes:
        name: its column.
        ends: the type of the ends of its ranges; None for categories.
        has_null: for ranges, whether a column marks the records whose value may be NULL.
        values: for categories, each value with its published label; None is NULL.
        type: the type of the column in the original.
    """

    name: str
    ends: str | None
    has_null: bool
    values: frozenset[tuple[str, str | None]] = frozenset()
    type: str = TEXT

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
class OneOf:
    """The value is one of these."""

    values: frozenset[Value]


@dataclass(frozen=True)
class OnValue:
    """The person's value of an attribute passes a test, or fails it if ``negated``.

    Attributes:
        attribute: its name.
        test: the test; None if the value must equal that of the counted group.
        negated: whether the value must fail the test.
        null: the truth of the condition if the value is NULL; None for unknown.
        dated: whether numbers are days since 1970.
    """

    attribute: str
    test: Span | OneOf | None
    negated: bool = False
    null: bool | None = None
    dated: bool = False

    def opposite(self) -> OnValue:
        """The negation; unknown stays unknown."""
        return replace(self, negated=not self.negated, null=None if self.null is None else not self.null)

    def settled(self) -> OnValue:
        """The condition with false for unknown."""
        return replace(self, null=bool(self.null))

    def holds(self, value: Value | None, group: Value | None = None) -> bool:
        """Whether the condition is true for a value; None is NULL."""
        if self.test is None:
            return value == group
        if value is None:
            return self.null is True
        return _passes(self.test, value) != self.negated

    def marks(self, group: Value | None = None) -> list[Fraction]:
        """The numbers at which the condition may change."""
        if isinstance(self.test, Span):
            ends: list[Value | None] = [self.test.low, self.test.high]
        else:
            ends = [group] if self.test is None else list(self.test.values)
        return [x for x in ends if isinstance(x, Fraction)]


def _passes(test: Span | OneOf, value: Value) -> bool:
    if isinstance(test, OneOf):
        return value in test.values
    assert isinstance(value, Fraction)
    if test.open and value in (test.low, test.high):
        return False
    return (test.low is None or test.low <= value) and (test.high is None or value <= test.high)


ROW = Attribute("", None, False, frozenset({("", "listed"), ("", "missing")}))
LISTED = OnValue(ROW.name, OneOf(frozenset({"listed"})), null=False)
"""Whether an original with one list for each id has a row for a person without items; a release does not show this."""

LISTS = Attribute("\0", None, False, frozenset({("", "list"), ("", "null")}))
"""Whether the original has a list for a person without items, or NULL; a release does not show this."""
HAS_LIST = OnValue(LISTS.name, OneOf(frozenset({"list"})), null=False)


def on_value(node: exp.Expr, attribute: Attribute, *, left: bool) -> OnValue:
    """Read a comparison of an attribute with literals.

    Args:
        node: =, <>, <, <=, >, >=, IS [NOT] DISTINCT FROM, BETWEEN, IN, or IS NULL.
        attribute: the compared attribute.
        left: whether the attribute is on the left side.

    Raises:
        InputError: ``unsupported_query``: anything but literals of the attribute's kind.
    """
    return replace(_read(node, attribute, left), dated=attribute.dated)


def _read(node: exp.Expr, attribute: Attribute, left: bool) -> OnValue:
    name = attribute.name
    if isinstance(node, exp.Is):
        only(node, "this", "expression")
        if not left or not isinstance(node.expression, exp.Null):
            raise unsupported("IS with an operand other than NULL on a relational attribute")
        return OnValue(name, OneOf(frozenset()), null=True)
    if isinstance(node, exp.In):
        only(node, "this", "expressions", "field", "query")
        listed = node.expressions
        if isinstance(field := node.args.get("field"), exp.Array):
            listed = field.expressions
        if not listed or not left or node.args.get("query") is not None:
            raise unsupported("IN on a relational attribute without a list of literals")
        if (
            attribute.ends == "TIMESTAMP" and len({_typed(x) for x in listed}) > 1
        ):  # DuckDB casts all literals to one type, which may truncate some
            raise unsupported("IN on a relational attribute with literals of several types", "Write all as one type.")
        return OnValue(name, OneOf(frozenset(_same(x, attribute) for x in listed)))
    if isinstance(node, exp.Between):
        only(node, "this", "low", "high")
        low, high = (_number(node.args[end], attribute, "BETWEEN") for end in ("low", "high"))
        return OnValue(name, Span(low, high))
    only(node, "this", "expression")
    other = node.args["expression" if left else "this"]
    if isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ):
        null = isinstance(_bare(other), exp.Null)
        values = frozenset() if null else frozenset({_same(other, attribute)})
        return OnValue(
            name, OneOf(values), isinstance(node, exp.NullSafeNEQ), null != isinstance(node, exp.NullSafeNEQ)
        )
    if isinstance(node, exp.EQ | exp.NEQ):
        return OnValue(name, OneOf(frozenset({_same(other, attribute)})), isinstance(node, exp.NEQ))
    end = _number(other, attribute, "an order")
    above = isinstance(node, exp.GT | exp.GTE) == left
    return OnValue(name, Span(end if above else None, None if above else end, isinstance(node, exp.GT | exp.LT)))


def _typed(node: exp.Expr) -> str:
    """The explicit type of a literal, if any."""
    node = _bare(node)
    return node.to.sql("duckdb") if isinstance(node, exp.Cast) else ""


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _number(node: exp.Expr, attribute: Attribute, what: str) -> Fraction:
    if attribute.ends is None:
        raise unsupported(f"{what} on the categorical attribute {attribute.name!r}", "List its values with IN.")
    value = _literal(node, attribute)
    assert isinstance(value, Fraction)
    return value


def _same(node: exp.Expr, attribute: Attribute) -> Value:
    """Read a literal compared for equality; DuckDB converts numbers to as many decimals as the literal has."""
    value, literal = _literal(node, attribute), node.find(exp.Literal)
    decimals = re.fullmatch(r"DECIMAL\(\d+, ?(\d+)\)", attribute.ends or "")
    if decimals and literal is not None and len(literal.name.partition(".")[2]) < int(decimals[1]):
        raise unsupported(
            f"the attribute {attribute.name!r} compared with a number of fewer than {decimals[1]} decimals",
            "Write all decimals, such as 1.50.",
        )
    return value


def _literal(node: exp.Expr, attribute: Attribute) -> Value:
    """Convert a literal to a value of the attribute."""
    node = _bare(node)
    if isinstance(node, exp.Null):
        raise unsupported("NULL in a comparison", "Write IS NULL.")
    if attribute.dated:
        return _time(node, attribute)
    sign = 1
    if isinstance(node, exp.Neg):
        sign, node = -1, _bare(node.this)
    if not isinstance(node, exp.Literal):
        raise unsupported(f"a relational attribute compared with an expression other than a literal ({name_of(node)})")
    if attribute.ends is not None:
        digits = re.fullmatch(r"([0-9]*)\.?([0-9]*)", node.name)
        if node.is_string or not digits:
            raise unsupported(f"the attribute {attribute.name!r} compared with a value that is not a plain number")
        if len((digits[1] + digits[2]).lstrip("0")) > MAX_DIGITS:
            raise unsupported(f"a number of more than {MAX_DIGITS} digits")
        return sign * Fraction(node.name)
    if not node.is_string or sign < 0:
        raise unsupported(f"the attribute {attribute.name!r} compared with a number", "Write its value as a text.")
    known = [value for _, value in attribute.values if value is not None]
    if node.name not in known and (not known or kind_of(attribute.type, known)):
        raise unsupported(
            f"a text that may be another spelling of a value of {attribute.name!r}", "Write values as the release does."
        )
    return str(node.name)


def _time(node: exp.Expr, attribute: Attribute) -> Fraction:
    """Convert a date or timestamp literal to days since 1970."""
    form = _TIME if attribute.ends == "TIMESTAMP" else _DATE
    text: exp.Expr = node
    if isinstance(node, exp.Cast) and node.to.sql("duckdb") in ("DATE", "TIMESTAMP"):
        only(node, "this", "to")
        text, form = node.this, _DATE if node.to.sql("duckdb") == "DATE" else _TIME
    elif isinstance(node, exp.Literal) and attribute.ends == "DATE" and _TIME.fullmatch(node.name.replace("T", " ", 1)):
        form = _TIME  # DuckDB reads the date of a text
    elif isinstance(node, exp.Literal) and "." in node.name:  # DuckDB truncates it if the column is coarser
        raise unsupported(
            f"the attribute {attribute.name!r} compared with decimals of seconds", "Write TIMESTAMP '...'."
        )
    written = text.name.replace("T", " ", 1) if isinstance(text, exp.Literal) and text.is_string else ""
    try:
        if not form.fullmatch(written) and not (form is _TIME and _DATE.fullmatch(written)):
            raise ValueError
        moment = datetime.fromisoformat(written)
        if attribute.ends == "DATE" and text is node:
            moment = datetime(moment.year, moment.month, moment.day)
        elapsed = moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    except ValueError:
        raise unsupported(
            f"the attribute {attribute.name!r} compared with a value that is not a date", "Write DATE '2001-02-03'."
        ) from None
    return Fraction((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds, DAY)
