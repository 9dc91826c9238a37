"""Typed errors for what DuckDB refuses while it computes an answer: the construct at fault, without DuckDB's text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from anondb.engine.failures import wrap
from anondb.errors import AnondbError
from anondb.query.refusals import unsupported

if TYPE_CHECKING:
    import duckdb

OVERFLOW = re.compile(r"Overflow (?:in|on) (?:HUGEINT )?(addition|subtraction|multiplication|negation|division|abs)\b")


def failed(error: duckdb.Error) -> AnondbError:
    """The typed error for a query that DuckDB does not accept or run on the rows of a session.

    DuckDB's text may contain data values; only the fixed words of ``OVERFLOW`` are taken from it.
    """
    wrapped, kind, text = wrap(error, "a query"), type(error).__name__, str(error)
    if wrapped.code != "refused":
        return wrapped
    if kind == "OutOfRangeException":
        operation = OVERFLOW.search(text)
        where = "" if operation is None else f", in {operation[1]}"
        return unsupported(f"a number that does not fit its type{where}", "Use a wider type: CAST(n AS DOUBLE), or 1.0 * n.")
    if kind == "ConversionException":
        return unsupported("CAST of a value that does not fit the type", "Use TRY_CAST, which gives NULL for it.")
    if "Division by zero" in text:
        return unsupported("division by zero, by // or %", "Divide by nullif(n, 0).")
    if kind == "InvalidInputException":
        return unsupported("a function of a value that it does not take", "Leave out such values, or use TRY(...).")
    return unsupported(f"an expression that DuckDB does not take here ({kind})", "Write it in another way, or leave it out.")
