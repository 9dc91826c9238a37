"""The command query, for analysts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli.app import Json, ReleaseName, ShowSql, Trusted, opened, read_sql, shown_statements
from anondb.cli.words import print_answer, print_json, print_rows
from anondb.errors import InputError

if TYPE_CHECKING:
    from anondb.query import Answer
    from anondb.session.result import Result

Said = Callable[[str], None] | None


def query(
    file: Annotated[
        str,
        typer.Argument(
            help="A sealed release, a pattern of several, postgresql://HOST/DATABASE/SCHEMA, or a database with --release"
            " NAME.",
            metavar="FILE",
        ),
    ],
    sql: Annotated[
        str | None,
        typer.Argument(
            help="SQL, written for the original tables; - reads stdin; without it, there is a prompt.", metavar="[SQL]"
        ),
    ] = None,
    release: ReleaseName = None,
    trusted: Trusted = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Answer SQL, written for the original tables, from a release: estimates, each with a lower and an upper bound."""
    on_statement = shown_statements(show_sql)
    if release is not None and trusted is not None:
        raise InputError("--trusted goes with a sealed file.", code="bad_usage", hint="Leave --release out.")
    if release is not None:
        _ask_owner(file, sql, release, as_json, on_statement)
    elif sql is None or sql == "-":
        _ask_all(file, sql, trusted, as_json, on_statement)
    else:
        _ask_once(file, sql, trusted, as_json, on_statement)


def _ask_owner(file: str, sql: str | None, release: str, as_json: bool, on_statement: Said) -> None:
    """``query --release NAME``: a COUNT query to a release in the owner's database."""
    from anondb.engine.elsewhere import is_url
    from anondb.owner import releases as stored
    from anondb.query import run as answer_from
    from anondb.release.reader import locked_engine

    if sql is None:
        raise InputError("--release needs a query.", code="bad_usage", hint="Pass one COUNT query as SQL.")
    if is_url(file):
        with opened(file, read_only=True, show_sql=on_statement is not None) as database:
            _print_count(database.release(release).query(sql), as_json)
        return
    engine, schema, _ = locked_engine(file, on_statement=on_statement)
    try:
        engine.use(schema.catalog)
        answer = answer_from(engine, stored.find_release(engine, release), sql)
    finally:
        engine.close()
    _print_count(answer, as_json)


def _ask_once(file: str, sql: str, trusted: str | None, as_json: bool, on_statement: Said) -> None:
    """``query FILE SQL``: the bounds of a count; what is not one count is answered by a session."""
    from anondb.engine.answering import Limits
    from anondb.engine.elsewhere import is_url
    from anondb.query import OpenRelease
    from anondb.release.reader import sealed_release
    from anondb.warehouse.at_hand import at_hand, name_of

    if not (is_url(file) or Path(file).is_file() or _is_parquet(file)):  # FILE may be a pattern, or a folder of several
        _ask_session(file, sql, trusted, as_json, on_statement)
        return
    limits = Limits()
    trust: dict[str, Any] = {"trusted": trusted, "named": [name_of(file)], "on_statement": on_statement}
    with (
        limits.hold(),
        at_hand(file, on_statement, limits.memory) as local,
        sealed_release(local, memory_limit=limits.memory, **trust) as sealed,
    ):
        release = OpenRelease(sealed.engine, sealed.schema, sealed)
        try:
            answer = release.answer(sql)
        except InputError as error:
            if error.code != "unsupported_query":
                raise
        else:
            _print_count(answer, as_json)
            return
        from anondb.session.session import session_on

        with session_on([sealed], opened=[release.opened], on_statement=on_statement) as session:
            _print_rows(session.sql(sql), as_json)


def _is_parquet(file: str) -> bool:
    from anondb.release.parquet import is_parquet_release

    return is_parquet_release(file)


def _ask_session(file: str, sql: str, trusted: str | None, as_json: bool, on_statement: Said) -> None:
    """``query PATTERN SQL``: all is answered by a session."""
    from anondb.session.session import open_session

    with open_session(file, on_statement=on_statement, trusted=trusted) as session:
        _print_rows(session.sql(sql), as_json)


def _print_rows(result: Result, as_json: bool) -> None:
    if as_json:
        print_json(result.to_json())
    else:
        print_rows(result)


def _ask_all(file: str, sql: str | None, trusted: str | None, as_json: bool, on_statement: Said) -> None:
    """``query FILE -``: the statements of stdin, up to the first error; ``query FILE``: the prompt."""
    from anondb.cli.prompt import prompt, script
    from anondb.session.session import open_session

    if sql is None and as_json:
        raise InputError("The prompt has no --json.", code="bad_usage", hint="Pass SQL, or - to read stdin.")
    with open_session(file, on_statement=on_statement, trusted=trusted) as session:
        if sql is None:
            prompt(session)
            return
        results = []
        for statement in script(read_sql(sql)):
            results.append(session.sql(statement))
            if not as_json:
                print_rows(results[-1])
        if as_json:
            print_json({"results": [result.to_json() for result in results]})


def _print_count(answer: Answer, as_json: bool) -> None:
    if as_json:
        print_json(answer.to_json())
    else:
        print_answer(answer)
