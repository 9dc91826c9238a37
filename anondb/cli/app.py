"""The Typer application without its commands, the options that several share, and opening the database of a SOURCE."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb import __version__
from anondb.cli.log import logged
from anondb.cli.words import nothing_begun, print_json
from anondb.errors import AnondbError, InputError, VerificationFailed
from anondb.models import ALGORITHM, DATA, OUTPUT, PROMISE
from anondb.models.named import MODELS, make_model
from anondb.pages.text import plain

if TYPE_CHECKING:
    from anondb.api.database import Database
    from anondb.engine import DuckDBEngine
    from anondb.models import Model

Source = Annotated[
    str,
    typer.Argument(
        help="A DuckDB file, postgresql://HOST/DATABASE, or a data file (.csv, .tsv, .txt, .dat, .json, .parquet, .xlsx,"
        " .sqlite; plain, .gz or .zst) for a one-shot run."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object.")]
ShowSql = Annotated[bool, typer.Option("--show-sql", help="Print every SQL statement to stderr.")]
Transactions = Annotated[
    str | None, typer.Option(help="Table or view of the transactions.", metavar="TABLE", rich_help_panel=DATA)
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        help=f"The promise: {', '.join(MODELS)} (default km, k^m-anonymity).",
        metavar="NAME",
        rich_help_panel=PROMISE,
    ),
]
OptionPairs = Annotated[
    list[str] | None,
    typer.Option(
        help="Option of the algorithm (anondb algorithms NAME lists them); repeatable.",
        metavar="NAME=VALUE",
        rich_help_panel=ALGORITHM,
    ),
]
ReleaseName = Annotated[
    str | None, typer.Option("--release", help="Name of the release.", metavar="NAME", rich_help_panel=OUTPUT)
]
ExistingRelease = Annotated[str, typer.Option("--release", help="Name of the release.", metavar="NAME")]
AskedWorkload = Annotated[
    str | None,
    typer.Option(help="Your own queries: (query_id, item), or a .sql log of COUNT queries.", metavar="TABLE|FILE"),
]
MemoryOfRun = Annotated[str, typer.Option(help="Memory limit of each run, such as 2GB.", metavar="SIZE")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors alone, and the JSON object of --json.")]
Trusted = Annotated[
    str | None,
    typer.Option(
        help="Refuse a release that this key did not sign: a public key, or a file with some.", metavar="PUBLICKEY"
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anondb {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Anonymized releases of person-level transactions, computed in DuckDB and queried in SQL."""


def new_app() -> typer.Typer:
    """The Typer application, without commands."""
    app = typer.Typer(
        name="anondb",
        help="Anonymized releases of person-level transactions, computed in DuckDB and queried in SQL.",
        epilog="anondb help COMMAND lists the options of a command, and shows examples.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_main)
    return app


@contextlib.contextmanager
def _leaving_at_once() -> Iterator[None]:
    """On Ctrl-C exit without unwinding: native modules abort if an exception interrupts their import."""

    def leave(*_: object) -> None:
        nothing_begun()
        sys.stdout.flush()
        os._exit(130)

    old = signal.getsignal(signal.SIGINT)
    if old is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)


@contextlib.contextmanager
def opened(
    source: str,
    *,
    show_sql: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
    read_only: bool = False,
    create: bool = False,
    quiet: bool = False,
    log_file: str | None = None,
    command: str = "",
) -> Iterator[Database]:
    """Open the database of a SOURCE: a DuckDB file, a database of PostgreSQL or, for a data file, one in memory.

    Progress is shown on a terminal unless ``quiet``; the steps of ``command`` are written to ``log_file``.
    """
    with logged(log_file, command) as log:
        with _leaving_at_once():
            from anondb.api.connect import connect
            from anondb.engine.elsewhere import is_url, warehouse_at
            from anondb.engine.files import no_file
            from anondb.reading.formats import is_data_file
            from anondb.reading.options import as_read

        one_shot = not is_url(source) and is_data_file(source)
        there = is_url(source) or warehouse_at(source) is not None or Path(as_read(source).data).is_file()
        if not there and (one_shot or not create):
            raise no_file(
                as_read(source).data, "Check the path." + " anondb load makes a database from files." * (not one_shot)
            )
        with progress(quiet) as say:
            database = connect(
                ":memory:" if one_shot else source,
                threads=threads,
                memory_limit=memory_limit,
                read_only=read_only and not one_shot,
                one_shot=one_shot,
                on_statement=shown_statements(show_sql),
                on_progress=say,
            )
            database.engine.on_step = log
            try:
                yield database
            except KeyboardInterrupt as stopped:
                for note in getattr(stopped, "__notes__", ()):
                    typer.echo(f"anondb: {plain(note)}", err=True)
                raise
            finally:
                database.close()


@contextlib.contextmanager
def locked(source: str, *, show_sql: bool = False, files: Sequence[str] = (), **limits: Any) -> Iterator[DuckDBEngine]:
    """Open the database of a SOURCE to read releases of it: a DuckDB file, which may be untrusted, on a locked connection
    that can also read ``files``."""
    from anondb.engine.elsewhere import is_url
    from anondb.release.reader import locked_engine

    if is_url(source):
        with opened(source, read_only=True, show_sql=show_sql, **limits) as database:
            yield database.engine
        return
    engine, schema, _ = locked_engine(source, files=files, on_statement=shown_statements(show_sql), **limits)
    with contextlib.closing(engine):
        engine.use(schema.catalog)
        yield engine


def asked_on_terminal() -> Callable[[Any], bool] | None:
    """Return a function that asks whether to go on despite a finding about the data; None if there is no terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda finding: typer.confirm(f"{plain(finding.message)} Go on?", default=False, err=True)


def shown_statements(show_sql: bool) -> Callable[[str], None] | None:
    """The callback that prints every statement to stderr; None without ``--show-sql``."""
    return (lambda text: typer.echo(text + ";", err=True)) if show_sql else None


@contextlib.contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[str], None] | None]:
    """The callback that shows the steps of long work on stderr: the words, the time and, where it is known, the share that
    is done and the remaining time. None if stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    times = (TimeElapsedColumn(), BarColumn(20), TaskProgressColumn(), TimeRemainingColumn())
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), *times)
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("opening", total=None)

        def say(words: str) -> None:
            share = getattr(words, "share", None)
            if share is None or share < shown.tasks[0].completed:  # other work
                shown.reset(task, description=plain(words), total=None if share is None else 1.0)
            if share is not None:
                shown.update(task, description=plain(words), total=1.0, completed=share)

        yield say


def read_sql(file: str) -> str:
    """The text of a file of SQL, or of stdin for ``-``. Raises InputError: ``bad_unicode`` or ``no_such_file``."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"The file {Path(file).name!r} is not valid UTF-8.", code="bad_unicode") from None
    except (OSError, ValueError):
        raise InputError(f"The file {Path(file).name!r} cannot be read.", code="no_such_file") from None


def check_targets(source: str, html: str | None, csv: str | None = None) -> None:
    """Check, before the long work, that a page and a table of results can be written. Raises InputError: ``bad_path``, or
    ``target_in_use``: a target is the source."""
    for target, suffixes in ((html, (".html", ".htm")), (csv, (".csv",))):
        if target is None:
            continue
        path = Path(target)
        if path.suffix.lower() not in suffixes:
            raise InputError(f"{path.name!r} does not end in {suffixes[0]}.", code="bad_path", hint="Rename it.")
        faults = {
            "its folder does not exist": not path.parent.is_dir(),
            "it is a folder": path.is_dir(),
            "its folder is not yours to write": not os.access(path.parent, os.W_OK),
        }
        for fault, holds in faults.items():
            if holds:
                raise InputError(f"{path.name!r} cannot be written: {fault}.", code="bad_path")
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise InputError("The results would replace the source.", code="target_in_use", hint="Name another file.")


_NAME_IT = "Name the transactions with --transactions TABLE (and --id, --item)."


def only_table(
    database: Database, id_column: str, item_column: str, code: str = "no_transactions", hint: str = _NAME_IT
) -> str:
    """The only table that has both columns, the default if the user named none."""
    from anondb.data.sources import tables_with
    from anondb.guide.tables import words
    from anondb.ledger.stored import current_catalog

    tables = tables_with(database.engine, current_catalog(database.engine), id_column, item_column)
    if len(tables) != 1:
        found = f"{len(tables)} tables have the columns {id_column!r} and {item_column!r}. {words(database.engine)}"
        raise InputError(found, code=code, hint=hint)
    return tables[0].sql()


def transactions_of(
    database: Database,
    source: str,
    table: str | None,
    id_column: str,
    item_column: str,
    reading: Mapping[str, Any] | None = None,
) -> Any:
    """The transactions to read: the data file, the named table, or the only table that fits; with how they are read."""
    from anondb.engine.elsewhere import warehouse_at
    from anondb.reading.options import read_as

    if warehouse_at(source) is not None:
        return read_as(source if table is None else f"{source.partition('#')[0]}#{table}", reading or {})
    if database.engine.one_shot:
        return read_as(read_as(Path(source), reading or {}), {"file_table": table})
    rows = table if table is not None else only_table(database, id_column, item_column)
    return read_as(rows, reading or {})


Checked = tuple[dict[str, Any], list[str], bool]  # of a sealed file: as JSON, in lines, and whether it is as it should be


def is_folder(source: str) -> bool:
    """Whether a source is a folder that is no release itself."""
    from anondb.release.paths import is_parquet_release

    return Path(source).is_dir() and not is_parquet_release(source)


def check_each(folder: str, check: Callable[[str], Checked], as_json: bool) -> None:
    """Check the releases of a folder: a line for each, also for those that cannot be checked. The exit code is the worst."""
    from anondb.session.files import files_of

    found: list[dict[str, Any]] = []
    for file in files_of(folder):
        try:
            values, lines, holds = check(file)
            code = 0 if holds else VerificationFailed.exit_code
        except AnondbError as error:
            values, lines, code = {"error": {"code": error.code, "message": str(error)}}, [str(error)], error.exit_code
        found.append({**values, "file": Path(file).name, "exit_code": code})
        if not as_json:
            typer.echo(f"{plain(Path(file).name)}: {'; '.join(lines)}")
    if as_json:
        print_json({"files": found})
    if worst := max(one["exit_code"] for one in found):
        raise typer.Exit(worst)


def buckets_of(database: Database, source: str, table: str | None) -> Any:
    """The buckets to check: the data file, the named table or file, or the only table that has their columns."""
    from anondb.data.sources import is_file

    if table is not None:
        return Path(table) if is_file(table) else table
    if database.engine.one_shot:
        return Path(source)
    return only_table(database, "bucket_id", "column_id", "no_buckets", "Name the buckets with --buckets TABLE.")


def model_from(name: str | None, default: Model | None = None, **parameters: Any) -> Model:
    """The model that the user asks for; missing parameters come from ``default`` if it has the same name."""
    asked = name or (default.name if default is not None else "km")
    defaults = default.parameters() if default is not None and default.name == asked else {}
    return make_model(asked, **{**defaults, **parameters})
