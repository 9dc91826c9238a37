"""Runs SQL that the user wrote: DuckDB splits it, and its errors are reported without DuckDB's text. DuckDB's messages
contain data values ("could not convert ..."). A report has only the type of the error, the line, and a name that occurs in
the user's statement."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import duckdb
import sqlglot
from sqlglot.errors import SqlglotError

from anondb.engine.duckdb_engine import DuckDBEngine
from anondb.engine.failures import wrap
from anondb.engine.trees import exp
from anondb.errors import AnondbError, InputError

_T = TypeVar("_T")
_LINE = re.compile(r"\n\nLINE (\d+): ")
_NAMED = re.compile(
    r'(?:with name|column|table|function|object) "?([^"\n!]+?)"?(?: does not exist| not found| already exists| is of type|!)'
)
_MACRO = re.compile(r"\b(macro|function)\b", re.IGNORECASE)
_PLAIN = (duckdb.StatementType.SELECT, duckdb.StatementType.INSERT, duckdb.StatementType.UPDATE, duckdb.StatementType.DELETE)
_PARSING = (duckdb.ParserException, duckdb.SyntaxException, duckdb.InvalidInputException)


@dataclass(frozen=True)
class UserStatement:
    """A statement that the user wrote."""

    text: str  # its text, with what DuckDB adds of the text behind it
    start: int  # where it begins in the text that was split, in characters
    returns: str  # ``rows``, ``nothing``, or ``either`` (a change, with or without RETURNING)
    is_select: bool  # whether it is one SELECT
    parameters: bool  # whether it has parameters such as ``?``
    macros: bool  # whether it may make a macro, or change in which schemas one is found


@dataclass(frozen=True)
class UserResult:
    """The columns and rows that a statement returned."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


class UserSqlError(Exception):
    """DuckDB refused a statement that the user wrote.

    Attributes:
        error: the typed error, without a position.
        line: the line within the statement, from 1.
        offset: where DuckDB's parser stopped, in characters; None unless it is a syntax error.
    """

    def __init__(self, error: AnondbError, line: int = 1, offset: int | None = None) -> None:
        super().__init__(str(error))
        self.error, self.line, self.offset = error, line, offset


def split(engine: DuckDBEngine, text: str) -> list[UserStatement]:
    """Split a text into statements by DuckDB's parser; nothing is run."""
    extracted = _guarded(engine, text, lambda: engine._connection.extract_statements(text))
    statements, place = [], 0
    for statement in extracted:
        place = max(text.find(statement.query, place), place)
        begun = _beginning(statement.query)
        kinds = statement.expected_result_type
        rows = duckdb.ExpectedResultType.QUERY_RESULT in kinds
        returns = "either" if rows and len(kinds) > 1 else "rows" if rows else "nothing"
        is_select = statement.type == duckdb.StatementType.SELECT
        parameters = bool(statement.named_parameters)
        creates = statement.type == duckdb.StatementType.CREATE
        macros = bool(_MACRO.search(statement.query)) if creates else statement.type not in _PLAIN
        statements.append(UserStatement(statement.query[begun:], place + begun, returns, is_select, parameters, macros))
        place += len(statement.query)
    return statements


def _beginning(text: str) -> int:
    """Where a statement begins in its text: DuckDB 2.0.1 puts the blanks and comments before it there, others do not."""
    try:
        return int(sqlglot.tokenize(text, dialect="duckdb")[0].start)
    except (SqlglotError, IndexError):
        return len(text) - len(text.lstrip())


def run(engine: DuckDBEngine, text: str) -> UserResult:
    """Run a statement and fetch its rows."""

    def work() -> UserResult:
        result = engine._connection.execute(text)
        names = [str(column[0]) for column in result.description or []]
        return UserResult(names, result.fetchall() if names else [])

    engine.say(text)
    return _guarded(engine, text, work)


def relation(engine: DuckDBEngine, text: str) -> duckdb.DuckDBPyRelation | None:
    """Run a statement once and return its rows as a relation for the user; None if it returns nothing."""

    def work() -> duckdb.DuckDBPyRelation | None:
        try:
            lazy: Any = engine._connection.sql(text)
        except (duckdb.CatalogException, duckdb.BinderException):
            engine._connection.execute(text)  # fails in the same way before anything runs, but its error has the line
            raise
        if lazy is None:
            return None
        run_once = lazy.materialize if hasattr(lazy, "materialize") else lazy.execute  # before DuckDB 2.0
        return cast("duckdb.DuckDBPyRelation", run_once())

    engine.say(text)
    return _guarded(engine, text, work)


def _guarded(engine: DuckDBEngine, text: str, work: Callable[[], _T]) -> _T:
    """Do work with a text; what DuckDB refuses is an error of the user's SQL."""
    try:
        return engine.guarded(work, lambda error: _described(engine, text, error))
    except InputError as error:  # not even a text for DuckDB
        raise UserSqlError(error) from None


def _described(engine: DuckDBEngine, text: str, error: duckdb.Error) -> UserSqlError:
    said = str(error)
    match = _LINE.search(said)
    line = int(match[1]) if match and int(match[1]) <= text.count("\n") + 1 else 1
    if isinstance(error, _PARSING[:2]):
        if (offset := _parser_position(engine, text)) is None:
            offset = sum(len(part) + 1 for part in text.split("\n")[: line - 1])
        return UserSqlError(InputError("DuckDB cannot parse this.", code="syntax_error"), line, offset)
    wrapped = wrap(error, "the user's SQL")
    if wrapped.code == "refused":
        detail = ""
        if isinstance(error, duckdb.CatalogException | duckdb.BinderException):
            named = _NAMED.search(said.partition("\n")[0])
            if named and named[1] in text:
                detail = f", about {named[1]!r}{', which exists already' * ('already exists' in named[0])}"
        wrapped = InputError(f"DuckDB refused it: {type(error).__name__}{detail}.", code="sql_error")
    return UserSqlError(wrapped, line)


def _parser_position(engine: DuckDBEngine, text: str) -> int | None:
    """Where DuckDB's parser stops, as an offset in characters; None if unknown."""
    try:
        call = exp.Anonymous(this="json_serialize_sql", expressions=[exp.convert(text)])
        parsed = engine.select(exp.select(call.as_("serialized")))["serialized"][0]
        place = int(json.loads(str(parsed))["position"])
    except (AnondbError, KeyError, ValueError):  # the extension json may be missing
        return None
    content = text.encode("utf-8")
    return len(content[:place].decode("utf-8", errors="ignore")) if place <= len(content) else None
