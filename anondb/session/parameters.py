"""Parameters of a query: their values become literals of its syntax tree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from anondb.errors import InputError
from anondb.query.scripts import spaced


def numbered(sql: str) -> str:
    """The text of a query with ``$1``, ``$2``, ... for each ``?``: a tree does not keep the order of the text.

    Raises:
        InputError: ``bad_parameter``: it has both ``?`` and ``$1`` or ``$name``.
    """
    if not isinstance(sql, str):
        return sql
    sql = spaced(sql)
    if "?" not in sql:
        return sql
    try:
        tokens = DuckDB().tokenize(sql)
    except (SqlglotError, UnicodeEncodeError):
        return sql  # the parser says what is wrong with it
    places = [token for token in tokens if token.token_type is TokenType.PLACEHOLDER]
    if places and any(token.token_type is TokenType.PARAMETER for token in tokens):
        raise InputError(
            "The query has parameters of two kinds.",
            code="bad_parameter",
            hint="Write all as ?, or all as $1 or $name.",
        )
    for number, token in reversed(list(enumerate(places, 1))):
        sql = f"{sql[: token.start]}${number}{sql[token.end + 1 :]}"
    return sql


def with_parameters(tree: exp.Expr, parameters: Sequence[Any] | Mapping[str, Any] | None) -> exp.Expr:
    """The query with its parameters in place.

    Args:
        tree: the query, of a ``numbered`` text; it is not changed.
        parameters: a list for ``$1``, a mapping for ``$name``.

    Raises:
        InputError: ``bad_parameter``: a value is missing, left over, or of a type without a literal.
    """
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence | Mapping | None):
        raise InputError("Parameters must be a list, or a mapping from names to values.", code="bad_parameter")
    values = parameters if isinstance(parameters, Mapping) else _numbered(parameters or ())
    names = {node.name for node in tree.find_all(exp.Placeholder, exp.Parameter)}
    return with_values(
        tree, {name: literal_of(value) if name in names else exp.null() for name, value in values.items()}
    )


def with_values(tree: exp.Expr, values: Mapping[str, exp.Expr]) -> exp.Expr:
    """The query with constants in place of its parameters; see ``with_parameters``."""
    made = tree.copy()
    used: set[str] = set()
    for node in list(made.find_all(exp.Placeholder, exp.Parameter)):
        name = node.name
        if name not in values:
            raise InputError(f"The parameter {name!r} has no value.", code="bad_parameter", hint="Pass parameters=...")
        used.add(name)
        if node is made:
            return values[name].copy()
        node.replace(values[name].copy())
    for pattern in list(made.find_all(exp.Like, exp.ILike)):
        pattern.set("expression", _joined(pattern.expression))
    if used != set(values):
        words = "a number" if all(name.isdigit() for name in values) else "a name"
        raise InputError(f"The query has no parameter for {words} that was passed.", code="bad_parameter")
    return made


def _joined(pattern: exp.Expr) -> exp.Expr:
    """A pattern as one text where it is joined of texts, such as ``'%' || ? || '%'``."""
    if isinstance(pattern, exp.Paren):
        return _joined(pattern.this)
    if isinstance(pattern, exp.DPipe):
        sides = _joined(pattern.left), _joined(pattern.right)
        if all(isinstance(side, exp.Literal) and side.is_string for side in sides):
            return exp.Literal.string(sides[0].name + sides[1].name)
    return pattern


def _numbered(values: Sequence[Any]) -> dict[str, Any]:
    return {str(n): value for n, value in enumerate(values, 1)}


def literal_of(value: Any) -> exp.Expr:
    """A value as a literal.

    Raises:
        InputError: ``bad_parameter``: its type has none.
    """
    if getattr(value, "ndim", 0):
        raise InputError(
            "A parameter must not be an array.", code="bad_parameter", hint="Pass a list, or one value of it."
        )
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    elif isinstance(value, np.generic) and not isinstance(value, np.timedelta64):
        value = value.item()
    if isinstance(value, str):
        _check_text(value)
    if isinstance(value, str | bool | int | None):
        return exp.convert(value)
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        return exp.cast(exp.Literal.string(str(value)), "DOUBLE")
    if isinstance(value, float | Decimal):
        return exp.Literal.number(format(Decimal(str(value)), "f"))
    if isinstance(value, datetime) and value == value:  # pandas has a datetime that is none
        kind = "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ"
        return exp.cast(exp.Literal.string(value.isoformat(" ")), kind)
    if isinstance(value, datetime):
        return exp.null()
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
    if isinstance(value, list | tuple):
        return exp.Array(expressions=[literal_of(v) for v in value])
    raise InputError(
        "A parameter has a type that cannot be written in SQL.",
        code="bad_parameter",
        hint="Pass a text, a number, a date, a list of these, or None.",
    )


def _check_text(value: str) -> None:
    """Refuse a text that DuckDB cannot hold."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("A parameter is not valid Unicode: it has a lone surrogate.", code="bad_parameter") from None
