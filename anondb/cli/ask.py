"""Commands in SQL for owners: run, explain and accuracy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli.app import AskedWorkload, ExistingRelease, Json, Quiet, ShowSql, Source, Trusted, opened, read_sql
from anondb.cli.flags import LIMITS, flag_values, with_flags
from anondb.cli.words import print_json, print_result, print_table, print_view, shown
from anondb.errors import InputError
from anondb.options import WORKLOAD
from anondb.pages.text import plain
from anondb.pipeline.report_rows import accuracy_rows, error_rows, truth_words

if TYPE_CHECKING:
    from anondb.api.database import Database


@with_flags(*LIMITS, "log_file")
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
        typer.Argument(
            help="SQL, with anondb's own statements; - reads stdin. Without it, all anonymized views are refreshed.",
            metavar="[FILE.sql]",
        ),
    ] = None,
    trusted: Trusted = None,
    quiet: Quiet = False,
    as_json: Json = False,
    show_sql: ShowSql = False,
    **flags: Any,
) -> None:
    """Run SQL with statements of anonymized views; or make and refresh the releases of a file of policies, or of all views
    of a database."""
    from anondb.data.files import load_files
    from anondb.reading.formats import is_data_file, stem_of

    settings = flag_values(flags)
    if source.lower().endswith(".toml"):
        if file is not None:
            raise InputError("A file of policies names its source.", code="bad_usage", hint="Leave FILE.sql out.")
        if trusted is not None:
            raise _not_sealed()
        _run_policies(Path(source), settings, as_json, show_sql, quiet)
        return
    if file is None and is_data_file(source):
        raise InputError("There is nothing to run.", code="bad_usage", hint="Name SQL, or a .toml file alone.")
    if file is not None and file.lower().endswith(".toml"):
        raise InputError("A file of policies names its source.", code="bad_usage", hint="Name the .toml file alone.")
    text = "REFRESH ALL ANONYMIZED VIEWS" if file is None else read_sql(file)
    results = []
    settings |= {"show_sql": show_sql, "quiet": quiet, "command": "run"}
    with _trusted(source, trusted) as copy, opened(copy or source, read_only=bool(copy), **settings) as database:
        if is_data_file(source):
            load_files(database.engine, {"transactions": (source, stem_of(Path(source)))})
        for result in database.run(text):
            results.append(result)
            if not as_json and not quiet:
                print_result(result)
        _check_no_transaction(database)
    if as_json:
        print_json({"results": [r.to_json() for r in results]})


@contextlib.contextmanager
def _trusted(source: str, trusted: str | None) -> Iterator[str | None]:
    """Where a key is trusted, a private copy of the sealed file that it signed; None for any other source, which
    ``--trusted`` refuses."""
    from anondb.data.sources import is_file
    from anondb.engine.elsewhere import is_url
    from anondb.release.reader import is_sealed, trusted_copy
    from anondb.release.signing import trusted_keys

    keys = trusted_keys(trusted)
    is_database = not is_file(source) and not is_url(source) and Path(source).is_file()
    if keys and is_database and is_sealed(source):
        with trusted_copy(source, keys) as copy:
            yield str(copy)
    elif trusted is not None:
        raise _not_sealed()
    else:
        yield None


def _not_sealed() -> InputError:
    return InputError("--trusted needs a sealed file.", code="bad_usage", hint="Leave it out.")


def _run_policies(path: Path, flags: Mapping[str, Any], as_json: bool, show_sql: bool, quiet: bool) -> None:
    """``run FILE.toml``: make or refresh the releases of a file of policies; flags replace its settings."""
    from anondb.api.connect import new_file
    from anondb.data.files import load_files
    from anondb.ledger.stored import current_catalog
    from anondb.publications.history import publications
    from anondb.reading.formats import is_data_file, stem_of
    from anondb.reading.options import OF_FILES, Reading
    from anondb.views import policy_file

    policies = policy_file.read(path)
    settings = {**policies.settings, **flags}
    reading = {name: settings.pop(name) for name in OF_FILES if name in settings}
    results = []
    making = new_file(policies.source) if policies.load else contextlib.nullcontext(list[str]())
    settings |= {"show_sql": show_sql, "quiet": quiet, "create": bool(policies.load)}
    with making as new, opened(policies.source, command="run", **settings) as database:
        for table in database.load(**policies.load, replace=True) if policies.load else ():
            if not as_json and not quiet:
                typer.echo(f"{table.table}: read {plain(table.account.words)}")
        if is_data_file(policies.source):
            named = {"transactions": (policies.source, stem_of(Path(policies.source)))}
            load_files(database.engine, named, reading=Reading(**reading))
        try:
            for name, result in policy_file.run(database.engine, policies):
                results.append({"release": name, "kind": result.kind, "result": result.to_json()})
                if not as_json and not quiet:
                    print_view(result)
        except BaseException:
            if publications(database.engine, current_catalog(database.engine)):  # its ledger alone knows whom
                new.clear()
            raise
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
    from anondb.risk.query_log import measure_log

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
