"""Commands in SQL: run, query, explain and accuracy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli.app import (
    AskedWorkload,
    ExistingRelease,
    Json,
    LogFile,
    MemoryLimit,
    Quiet,
    ReleaseName,
    ShowSql,
    Source,
    Threads,
    opened,
    shown_statements,
)
from anondb.cli.flags import with_flags
from anondb.cli.words import print_answer, print_json, print_result, print_rows, print_table, print_view, shown
from anondb.errors import InputError
from anondb.options import WORKLOAD
from anondb.pages.text import plain
from anondb.report_rows import accuracy_rows, error_rows, truth_words

if TYPE_CHECKING:
    from anondb.database import Database
    from anondb.query import Answer


def run(
    source: Annotated[
        str,
        typer.Argument(
            help="A DuckDB file, postgresql://HOST/DATABASE, or a data file; or a file of policies, which names it.",
            metavar="SOURCE|FILE.toml",
        ),
    ],
    file: Annotated[
        str | None,
        typer.Argument(help="SQL, with anondb's own statements; - reads stdin.", metavar="[FILE.sql]"),
    ] = None,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
    log_file: LogFile = None,
    quiet: Quiet = False,
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Run SQL with statements of anonymized views, or make and refresh the releases of a file of policies."""
    from anondb.data.files import load_files
    from anondb.data.sources import is_file

    settings: dict[str, Any] = {"threads": threads, "memory_limit": memory_limit, "log_file": log_file}
    if source.lower().endswith(".toml"):
        if file is not None:
            raise InputError("A file of policies names its source.", code="bad_usage", hint="Leave FILE.sql out.")
        _run_policies(Path(source), settings, as_json, show_sql, quiet)
        return
    if file is None:
        raise InputError("There is nothing to run.", code="bad_usage", hint="Name SQL, or a .toml file alone.")
    if file.lower().endswith(".toml"):
        raise InputError("A file of policies names its source.", code="bad_usage", hint="Name the .toml file alone.")
    text = _read_sql(file)
    results = []
    with opened(source, show_sql=show_sql, quiet=quiet, command="run", **settings) as database:
        if is_file(source):
            load_files(database.engine, {"transactions": (source, Path(source).stem)})
        for result in database.run(text):
            results.append(result)
            if not as_json and not quiet:
                print_result(result)
        _check_no_transaction(database)
    if as_json:
        print_json({"results": [r.to_json() for r in results]})


def _run_policies(path: Path, flags: Mapping[str, Any], as_json: bool, show_sql: bool, quiet: bool) -> None:
    """``run FILE.toml``: make or refresh the releases of a file of policies; flags replace its settings."""
    from anondb.data.files import load_files
    from anondb.data.sources import is_file
    from anondb.owner import policy_file

    policies = policy_file.read(path)
    settings = {**policies.settings, **{name: value for name, value in flags.items() if value is not None}}
    results = []
    with opened(policies.source, show_sql=show_sql, quiet=quiet, command="run", **settings) as database:
        if is_file(policies.source):
            load_files(database.engine, {"transactions": (policies.source, Path(policies.source).stem)})
        for name, result in policy_file.run(database.engine, policies):
            results.append({"release": name, "kind": result.kind, "result": result.to_json()})
            if not as_json and not quiet:
                print_view(result)
    if as_json:
        print_json({"results": results})


def _check_no_transaction(database: Database) -> None:
    """Raise an ``InputError`` if a script leaves its transaction open: closing the database undoes it."""
    try:
        with database.engine.transaction():
            pass
    except InputError as error:
        if error.code != "transaction_open":
            raise
        raise InputError(
            "The script leaves a transaction open, so its changes are undone.",
            code="transaction_open",
            hint="End it with COMMIT or ROLLBACK.",
        ) from None


def _read_sql(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"The file {Path(file).name!r} is not valid UTF-8.", code="bad_unicode") from None
    except (OSError, ValueError):
        raise InputError(f"The file {Path(file).name!r} cannot be read.", code="no_such_file") from None


def explain(
    source: Source,
    release: ExistingRelease,
    item: Annotated[str, typer.Option("--item", help="The item.", metavar="X")],
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Explain the released form of an item: the algorithm's steps, and the violating support of each."""
    with opened(source, show_sql=show_sql, read_only=True) as database:
        explanation = database.explain(release, item)
    if as_json:
        print_json(explanation.to_json())
        return
    if explanation.path:
        typer.echo(plain(" > ".join(explanation.path)))
    for number, step in enumerate(explanation.steps, 1):
        typer.echo(plain(f"  {number}. round {step.round_number}, step {step.step}: {step.words}"))
    typer.echo(plain(explanation.conclusion))


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
    as_json: Json = False,
    show_sql: ShowSql = False,
) -> None:
    """Answer SQL, written for the original tables, from a release: estimates, each with a lower and an upper bound."""
    on_statement = shown_statements(show_sql)
    if release is not None:
        _ask_owner(file, sql, release, as_json, on_statement)
    elif sql is None or sql == "-":
        _ask_all(file, sql, as_json, on_statement)
    else:
        _ask_once(file, sql, as_json, on_statement)


Said = Callable[[str], None] | None


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


def _ask_once(file: str, sql: str, as_json: bool, on_statement: Said) -> None:
    """``query FILE SQL``: the bounds of a count; what is not one count is answered by a session."""
    from anondb.postgres import at_hand
    from anondb.query import run as answer_from
    from anondb.release.reader import sealed_release

    try:
        with at_hand(file, on_statement) as local, sealed_release(local, on_statement=on_statement) as sealed:
            answer = answer_from(sealed.engine, sealed.schema, sql)
    except InputError as error:
        if error.code not in ("unsupported_query", "no_such_file"):  # FILE may be a pattern
            raise
    else:
        _print_count(answer, as_json)
        return
    from anondb.session import open_session

    with open_session(file, on_statement=on_statement) as session:
        result = session.sql(sql)
        if as_json:
            print_json(result.to_json())
        else:
            print_rows(result)


def _ask_all(file: str, sql: str | None, as_json: bool, on_statement: Said) -> None:
    """``query FILE -``: the statements of stdin, up to the first error; ``query FILE``: the prompt."""
    from anondb.cli.prompt import prompt, script
    from anondb.session import open_session

    if sql is None and as_json:
        raise InputError("The prompt has no --json.", code="bad_usage", hint="Pass SQL, or - to read stdin.")
    with open_session(file, on_statement=on_statement) as session:
        if sql is None:
            prompt(session)
            return
        results = []
        for statement in script(_read_sql(sql)):
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


@with_flags(*WORKLOAD)
def accuracy(
    source: Source,
    release: ExistingRelease,
    workload: AskedWorkload = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
    **flags: Any,
) -> None:
    """Measure COUNT queries on a release against its source; write the answers to anondb.accuracy (for the owner only)."""
    if workload is not None and workload.lower().endswith(".sql"):
        _accuracy_of_log(source, release, workload, as_json, show_sql)
        return
    with opened(source, show_sql=show_sql) as database:
        measured = database.release(release).measure(workload, **flags)
    if as_json:
        print_json({"release": release, "accuracy": measured.to_json()})
    else:
        print_table(f"accuracy of {shown(release)}", accuracy_rows(measured.to_json()))


def _accuracy_of_log(source: str, release: str, workload: str, as_json: bool, show_sql: bool) -> None:
    """``accuracy --workload FILE.sql``: measure a log of real analyst queries."""
    from anondb.owner.query_log import measure_log

    with opened(source, show_sql=show_sql) as database:
        measured = measure_log(database.engine, release, workload)
    figures = measured.to_json()
    if as_json:
        print_json({"release": release, "accuracy": figures})
        return
    print_table(
        f"accuracy of {shown(release)} on {shown(Path(workload).name)}",
        [
            ("counts", f"{len(measured.counts):,}{truth_words(figures)}"),
            *error_rows(figures),
            ("groups that the release cannot list", measured.unlisted),
            ("statements refused", len(measured.refused)),
        ],
    )
    for number, reason in measured.refused:
        typer.echo(plain(f"note: statement {number}: {reason}"), err=True)
