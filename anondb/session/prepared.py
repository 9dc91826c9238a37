"""Prepared statements: queries with parameters that have a name until DEALLOCATE, or the end of the session."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from anondb.errors import InputError
from anondb.query.parsing import Statement, bare, lowered, parse_script
from anondb.query.refusals import unsupported
from anondb.session.parameters import numbered, with_values

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
    try:
        tokens = DuckDB().tokenize(text)
    except SqlglotError:
        tokens = []
    if not tokens:
        raise InputError("The query is not valid SQL.", code="bad_sql", hint="Write PREPARE name AS SELECT ...")
    return tokens


def _constants(text: str) -> dict[str, exp.Expr]:
    """The values in parentheses, by their numbers or names."""
    tree = parse_script("VALUES " + text)[0].tree
    rows = tree.expressions if isinstance(tree, exp.Values) else []
    made: dict[str, exp.Expr] = {}
    for number, one in enumerate(rows[0].expressions if len(rows) == 1 and isinstance(rows[0], exp.Tuple) else rows, 1):
        named = isinstance(one, exp.PropertyEQ)
        value = bare(one.expression if named else one)
        if value.find(exp.Column, exp.Query, exp.AggFunc, exp.Star) is not None:
            raise InputError("EXECUTE takes constants only.", code="bad_parameter", hint=_CONSTANTS)
        plain = isinstance(value, exp.Literal | exp.Boolean | exp.Null | exp.Neg | exp.Cast | exp.Array)
        made[one.name if named else str(number)] = value if plain else exp.paren(value)
    return made
