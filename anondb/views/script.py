"""Run a script of ordinary SQL and statements of anonymized views, in order. The whole script is parsed before anything
runs: a syntax error anywhere changes nothing. Then the first error stops the script and names the statement and its line.
Earlier statements keep their effect unless the script opened a transaction."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anondb.data.sources import QuerySource
from anondb.engine import DuckDBEngine, user_sql
from anondb.engine.texts import sql as composed
from anondb.errors import AnondbError, InputError, speaking
from anondb.ledger.stored import current_catalog
from anondb.statements.parser import parse
from anondb.statements.statement import (
    CreateView,
    DropView,
    OnView,
    Ordinary,
    RefreshAll,
    RefreshView,
    RenameView,
    ShowViews,
    Statement,
    StatementSyntaxError,
    position,
    syntax_error,
)
from anondb.views import names as view_names
from anondb.views import views
from anondb.views.results import Result

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Step:
    """One statement of a script, ready to run, with its number from 1 and its line in the text."""

    number: int
    line: int
    statement: Statement
    returns: str = "rows"
    macros: bool = True  # whether it may make a macro (``user_sql.UserStatement``)


@dataclass(frozen=True)
class StatementResult:
    """The result of one statement of a script.

    Attributes:
        number, line: the number of the statement, and its first line.
        kind: ``create``, ``refresh``, ``refresh all``, ``rename``, ``drop``, ``describe``, ``statement`` or ``show`` for
            anonymized views, ``sql`` for ordinary SQL.
        columns, rows: the returned table; no columns if the statement returned nothing.
        view: the result of a statement of anonymized views; None for ordinary SQL.
        changed: the number of rows that ordinary SQL changed, if DuckDB reports it.
    """

    number: int
    line: int
    kind: str
    columns: list[str]
    rows: list[tuple[Any, ...]]
    view: Result | None = None
    changed: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values; rows as lists, in the order of ``columns``."""
        head = {"statement": self.number, "line": self.line, "kind": self.kind}
        if self.view is not None:
            return {**head, "result": self.view.to_json()}
        return {**head, "columns": self.columns, "rows": [[_json(v) for v in r] for r in self.rows], "changed": self.changed}


def _json(value: Any) -> Any:
    """Convert a DuckDB value to a JSON value; a value without a JSON form becomes text."""
    if isinstance(value, list | tuple):
        return [_json(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _json(v) for k, v in value.items()}
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


def prepare(engine: DuckDBEngine, text: str) -> list[Step]:
    """Parse a script and split its ordinary SQL, without running it. Raises StatementSyntaxError: a syntax error, with line
    and column. InputError: an option or a name is wrong, with its position."""
    if not isinstance(text, str):
        raise InputError(f"SQL is a text, not {type(text).__name__}.", code="bad_usage")
    steps: list[Step] = []
    for part in parse(text):
        if isinstance(part, Ordinary):
            _check_ordinary(engine, text, part)
            for piece, statement in _split(engine, text, part):
                line = position(text, statement.start)[0]
                steps.append(Step(len(steps) + 1, line, statement, piece.returns, piece.macros))
            continue
        if isinstance(part, CreateView):
            check_query(engine, text, part)
        steps.append(Step(len(steps) + 1, position(text, part.start)[0], part))
    return steps


def run(engine: DuckDBEngine, text: str) -> Iterator[StatementResult]:
    """Run a script, one statement at a time, and yield each result when its statement is done. Raises AnondbError: the error
    of the first statement that fails; its number and line are in the message and in ``place``."""
    for step in prepare(engine, text):
        yield run_step(engine, text, step)


def sql(engine: DuckDBEngine, text: str) -> duckdb.DuckDBPyRelation | Result | None:
    """Run a script and return the result of its last statement: a relation for ordinary SQL that returns rows, a ``Result``
    for a statement of anonymized views, None otherwise."""
    steps = prepare(engine, text)
    result: duckdb.DuckDBPyRelation | Result | None = None
    for step in steps:
        if step is steps[-1] and isinstance(step.statement, Ordinary) and step.returns == "rows":
            with _ordinary(engine, text, step, step.statement) as named:
                result = user_sql.relation(engine, named)
        else:
            result = run_step(engine, text, step).view
    return result


def run_step(engine: DuckDBEngine, text: str, step: Step) -> StatementResult:
    """Run one statement."""
    statement = step.statement
    if isinstance(statement, Ordinary):
        with _ordinary(engine, text, step, statement) as named:
            result = user_sql.run(engine, named)
        columns, rows = result.columns, result.rows
        changed = int(rows[0][0]) if step.returns != "rows" and columns == ["Count"] and rows else None
        if step.returns == "nothing" or (step.returns == "either" and columns == ["Count"]):
            columns, rows = [], []
        return StatementResult(step.number, step.line, "sql", columns, rows, changed=changed)
    try:
        with speaking("sql"):
            outcome = _run_own(engine, text, step, statement)
    except AnondbError as error:
        begins = statement.name_start if isinstance(statement, OnView) else 0
        raise _placed(error, step.number, *position(text, begins or statement.start)) from None
    return StatementResult(step.number, step.line, outcome.kind, outcome.columns, outcome.fetchall(), outcome)


@contextlib.contextmanager
def _ordinary(engine: DuckDBEngine, text: str, step: Step, statement: Ordinary) -> Iterator[str]:
    """Inside the block ordinary SQL may select from anonymized views by their names; the block gets the SQL to run."""
    plain = contextlib.nullcontext(statement.text)
    try:
        with view_names.readable(engine, statement.text) if engine.runs_sql else plain as named:
            yield named
    except user_sql.UserSqlError as refused:
        raise _user_error(text, step, statement.start, refused) from None
    finally:
        if step.macros:
            engine.names.may_have_changed()


def _run_own(engine: DuckDBEngine, text: str, step: Step, statement: OnView | RefreshAll | ShowViews) -> Result:
    if isinstance(statement, RefreshAll):
        return views.refresh_all(engine)
    if isinstance(statement, ShowViews):
        return views.show(engine, statement.status, statement.like)
    _check_place(engine, text, statement)
    if isinstance(statement, CreateView):
        view_names.check_not_its_own(engine, statement)
        query = QuerySource(statement.query, "", "").query()
        engine.declare_tables(query)
        try:
            user_sql.run(engine, composed("DESCRIBE {}", query))
        except user_sql.UserSqlError as refused:
            raise _user_error(text, step, statement.query_start, refused) from None
        return views.create(engine, statement)
    if isinstance(statement, RefreshView):
        return views.refresh(engine, statement.name, statement.ignore_late_rows)
    if isinstance(statement, DropView):
        return views.drop(engine, statement.name, statement.if_exists)
    if isinstance(statement, RenameView):
        return view_names.rename(engine, statement.name, statement.new_name)
    return view_names.describe(engine, statement.name, statement.statement)


def _check_place(engine: DuckDBEngine, text: str, statement: OnView) -> None:
    """Refuse a view of another database: anonymized views are in the current one, and belong to its schema ``main``."""
    here = [current_catalog(engine).lower(), "main"] if engine.runs_sql else []
    place = [part.lower() for part in statement.place]
    if place and place not in ([here] + [[part] for part in here]):
        line, column = position(text, statement.name_start)
        raise StatementSyntaxError(
            "anonymized views are in the current database, and in no schema but main.",
            line,
            column,
            code="elsewhere",
            hint="USE the other database first, or give the name alone.",
        )


def _split(engine: DuckDBEngine, text: str, part: Ordinary) -> list[tuple[user_sql.UserStatement, Ordinary]]:
    """The statements of ordinary SQL, split by DuckDB."""
    try:
        pieces = user_sql.split(engine, part.text)
    except user_sql.UserSqlError as refused:
        raise _parse_error(text, part.start, refused) from None
    return [(piece, Ordinary(piece.text, part.start + piece.start)) for piece in pieces]


def _check_ordinary(engine: DuckDBEngine, text: str, part: Ordinary) -> None:
    """Refuse ordinary SQL where the data lie in another database, which has programs for that."""
    if not engine.runs_sql and user_sql.split(engine, part.text):
        words = "anondb runs only statements of anonymized views in PostgreSQL; run other SQL with psql."
        raise syntax_error(text, part.start + len(part.text) - len(part.text.lstrip()), words)


def check_query(engine: DuckDBEngine, text: str, view: CreateView) -> None:
    """Check that DuckDB parses the query of a view as one SELECT."""
    try:
        statements = user_sql.split(engine, view.query)
    except user_sql.UserSqlError as refused:
        raise _parse_error(text, view.query_start, refused) from None
    if len(statements) != 1 or not statements[0].is_select:
        raise syntax_error(text, view.query_start, "the query of an anonymized view is one SELECT.")
    if statements[0].parameters:
        raise syntax_error(text, view.query_start, "the query of an anonymized view has no parameters.")


def _parse_error(text: str, start: int, refused: user_sql.UserSqlError) -> AnondbError:
    """A syntax error from DuckDB at its position in the user's text, without a quotation of the text."""
    if refused.offset is None:
        return refused.error
    return syntax_error(text, start + refused.offset, str(refused.error))


def _user_error(text: str, step: Step, start: int, refused: user_sql.UserSqlError) -> AnondbError:
    """An error of the user's SQL with its position in the script."""
    return _placed(refused.error, step.number, position(text, start)[0] + refused.line - 1)


def _placed(error: AnondbError, number: int, line: int, column: int | None = None) -> AnondbError:
    """Add the position in the script to an error, once."""
    if error.place is None or "statement" not in error.place:
        place, words = error.place, str(error)
        error.place = {"statement": number, **(place or {"line": line, **({} if column is None else {"column": column})})}
        if place is None:
            words = f"line {line}: {words}" if column is None else f"line {line}, column {column}: {words}"
        error.args = (f"statement {number}, {words}",)
    return error
