"""Values of the analyst's tables as literals, and their types."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp

from anondb.query.refusals import unsupported


def typeof(value: exp.Expr) -> exp.Expr:
    """The name of the type of an expression."""
    return exp.Anonymous(this="typeof", expressions=[value.copy()])


def constant(value: Any) -> exp.Expr:
    """A value of the session's database as a literal.

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
