"""Parameters of a query: their values become literals of its syntax tree. Prepared statements are queries with parameters
that have a name until DEALLOCATE, or the end of the session.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from anondb.errors import InputError
from anondb.query.parsing import Statement, bare, lowered, parse_script
from anondb.query.refusals import unsupported
from anondb.query.scripts import spaced, sql_tokens


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
    tokens = sql_tokens(sql) or []
    places = [token for token in tokens if token.token_type is TokenType.PLACEHOLDER]
    if places and any(token.token_type is TokenType.PARAMETER for token in tokens):
        hint = "Write all as ?, or all as $1 or $name."
        raise InputError("The query has parameters of two kinds.", code="bad_parameter", hint=hint)
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
    values = parameters if isinstance(parameters, Mapping) else {str(n): v for n, v in enumerate(parameters or (), 1)}
    names = {node.name for node in tree.find_all(exp.Placeholder, exp.Parameter)}
    return with_values(tree, {name: literal_of(value) if name in names else exp.null() for name, value in values.items()})


def with_values(tree: exp.Expr, values: Mapping[str, exp.Expr]) -> exp.Expr:
    """The query with constants in place of its parameters; see ``with_parameters``."""
    filled = tree.copy()
    used: set[str] = set()
    for node in list(filled.find_all(exp.Placeholder, exp.Parameter)):
        name = node.name
        if name not in values:
            raise InputError(f"The parameter {name!r} has no value.", code="bad_parameter", hint="Pass parameters=...")
        used.add(name)
        if node is filled:
            return values[name].copy()
        node.replace(values[name].copy())
    if used != set(values):
        words = "a number" if all(name.isdigit() for name in values) else "a name"
        raise InputError(f"The query has no parameter for {words} that was passed.", code="bad_parameter")
    return filled


def literal_of(value: Any) -> exp.Expr:
    """A value as a literal.

    Raises:
        InputError: ``bad_parameter``: its type has none.
    """
    if getattr(value, "ndim", 0):
        raise InputError("A parameter must not be an array.", code="bad_parameter", hint="Pass a list, or one value of it.")
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
    hint = "Pass a text, a number, a date, a list of these, or None."
    raise InputError("A parameter has a type that cannot be written in SQL.", code="bad_parameter", hint=hint)


def _check_text(value: str) -> None:
    """Refuse a text that DuckDB cannot hold."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("A parameter is not valid Unicode: it has a lone surrogate.", code="bad_parameter") from None


_OWN = ("PREPARE", "EXECUTE", "DEALLOCATE")
_CONSTANTS = "Pass constants: EXECUTE name(1, 'text'), or EXECUTE name(a := 1) for $a."


class Prepared:
    """The prepared statements of a session."""

    def __init__(self) -> None:
        self._statements: dict[str, Statement] = {}

    def prepare(self, text: str) -> None:
        """Keep a statement, in place of one of this name.

        Args:
            text: what stands behind PREPARE: a name, types of parameters, which are not needed, AS and the statement.

        Raises:
            InputError: ``bad_sql``, or ``unsupported_query``: no session takes the statement.
        """
        tokens = _tokens(text)
        begins = next((token.end + 1 for token in tokens if token.token_type is TokenType.ALIAS), len(text))
        statements = parse_script(numbered(text[begins:].strip()))
        if len(statements) > 1 or statements[0].word in _OWN:
            raise unsupported("PREPARE that does not hold exactly one query or statement", "Prepare one at a time.")
        self._statements[lowered(tokens[0].text)] = statements[0]

    def statement(self, text: str) -> Statement:
        """A kept statement with the constants of EXECUTE in place of its parameters.

        Args:
            text: what stands behind EXECUTE: a name, and constants in parentheses.

        Raises:
            InputError: ``bad_name``: there is none of this name; ``bad_parameter``: a constant is missing, or left over.
        """
        first, *rest = _tokens(text)
        kept = self._statements.get(lowered(first.text))
        if kept is None:
            raise _missing()
        constants = _constants(text[first.end + 1 :]) if rest else {}
        return replace(kept, tree=with_values(kept.tree, constants))

    def deallocate(self, text: str) -> None:
        """Forget a statement.

        Args:
            text: what stands behind DEALLOCATE: its name, which PREPARE may precede, or ALL.
        """
        last = _tokens(text)[-1]
        if last.token_type is TokenType.ALL:
            self._statements.clear()
        elif self._statements.pop(lowered(last.text), None) is None:
            raise _missing()


def _missing() -> InputError:
    return InputError("You have no prepared statement of this name.", code="bad_name", hint="PREPARE makes one.")


def _tokens(text: str) -> list[Token]:
    """The tokens of a text, at least one."""
    tokens = sql_tokens(text)
    if not tokens:
        raise InputError("The query is not valid SQL.", code="bad_sql", hint="Write PREPARE name AS SELECT ...")
    return tokens


def _constants(text: str) -> dict[str, exp.Expr]:
    """The values in parentheses, by their numbers or names."""
    tree = parse_script("VALUES " + text)[0].tree
    rows = tree.args["from_"].this.expressions if isinstance(tree, exp.Select) else []
    constants: dict[str, exp.Expr] = {}
    for number, part in enumerate(rows[0].expressions if len(rows) == 1 and isinstance(rows[0], exp.Tuple) else rows, 1):
        named = isinstance(part, exp.PropertyEQ)
        value = bare(part.expression if named else part)
        if value.find(exp.Column, exp.Query, exp.AggFunc, exp.Star) is not None:
            raise InputError("EXECUTE takes constants only.", code="bad_parameter", hint=_CONSTANTS)
        plain = isinstance(value, exp.Literal | exp.Boolean | exp.Null | exp.Neg | exp.Cast | exp.Array)
        constants[part.name if named else str(number)] = value if plain else exp.paren(value)
    return constants
