"""The command query, for analysts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from anondb.cli.app import Json, ReleaseName, ShowSql, Trusted, locked, read_sql, shown_statements
from anondb.cli.words import print_count, print_json, print_rows
from anondb.errors import InputError

if TYPE_CHECKING:
    from anondb.session.session import Session


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
    bounds: Annotated[
        str,
        typer.Option(
            help="What follows each number: its bounds, nothing, or its bounds and how far plausible originals differ.",
            metavar="columns|none|spread",
        ),
    ] = "columns",
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Answer SQL, written for the original tables, from a release: estimates, each with a lower and an upper bound."""
    if release is not None and trusted is not None:
        raise InputError("--trusted needs a sealed file.", code="bad_usage", hint="Leave --release out.")
    if sql is None and as_json:
        raise InputError("The prompt has no --json.", code="bad_usage", hint="Pass SQL, or - to read stdin.")
    with _session(file, release, trusted, show_sql) as session:
        if sql is None:
            from anondb.cli.prompt import prompt

            prompt(session, bounds)
        elif sql == "-":
            _answer_all(session, bounds, as_json)
        else:
            _answer(session, sql, bounds, as_json)


@contextlib.contextmanager
def _session(file: str, release: str | None, trusted: str | None, show_sql: bool) -> Iterator[Session]:
    """A session on sealed releases, or on a release in the owner's database."""
    from anondb.session.opening import open_session, session_of

    if release is None:
        with open_session(file, on_statement=shown_statements(show_sql), trusted=trusted) as session:
            yield session
        return
    from anondb.ledger.stored import find_whole

    with locked(file, show_sql=show_sql) as engine, session_of(engine, release, find_whole(engine, release)) as session:
        yield session


def _answer(session: Session, sql: str, bounds: str, as_json: bool) -> None:
    """Print the answer to one query: all groups of one count as lower bound, estimate and upper bound."""
    from anondb.session.output import one_count

    result = session.sql(sql, bounds=bounds)
    count = one_count(sql, result)
    if as_json:
        print_json(result.to_json() if count is None else count.to_json())
    elif count is None:
        print_rows(result)
    else:
        print_count(count)


def _answer_all(session: Session, bounds: str, as_json: bool) -> None:
    """Print the answers to the statements of stdin, up to the first error."""
    from anondb.query.scripts import script

    results = []
    for statement in script(read_sql("-")):
        results.append(session.sql(statement, bounds=bounds))
        if not as_json:
            print_rows(results[-1])
    if as_json:
        print_json({"results": [result.to_json() for result in results]})
