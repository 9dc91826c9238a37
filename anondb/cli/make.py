"""Commands that make releases: anonymize and demo."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli import app
from anondb.cli.flags import LIMITS, MODEL_PARAMETERS, flag_values, pairs, taken, with_flags
from anondb.cli.words import print_items, print_json, print_report, print_story
from anondb.errors import InputError
from anondb.models import OUTPUT
from anondb.options import PUBLICATION, WORKLOAD
from anondb.policy import SOURCES
from anondb.reading.options import READING, read_as

if TYPE_CHECKING:
    from anondb.api.database import Database


@contextlib.contextmanager
def _listing(
    database: Database, witnesses: int, transactions: Any, taxonomy: str | None, id: str, item: str
) -> Iterator[None]:
    """If items are not leaves of the taxonomy, list up to ``witnesses`` of them after the error."""
    try:
        yield
    except InputError as error:
        if witnesses and taxonomy is not None and error.code in ("unknown_item", "internal_item"):
            items = database.unknown_items(transactions, taxonomy, id=id, item=item)
            print_items("not a leaf of the taxonomy", items[:witnesses], err=True)
        raise


_FLAGS = (
    *("algorithm", *MODEL_PARAMETERS, *SOURCES, *READING, *WORKLOAD, "workload"),
    *("publish", *PUBLICATION, "replace", "time_limit", *LIMITS, "log_file"),
)


@with_flags(*_FLAGS)
def anonymize(
    source: app.Source,
    transactions: app.Transactions = None,
    model: app.ModelName = None,
    option: app.OptionPairs = None,
    release: app.ReleaseName = None,
    witnesses: Annotated[
        int,
        typer.Option(help="Show up to this many items that the taxonomy lacks, on stderr.", min=0, rich_help_panel=OUTPUT),
    ] = 0,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Keep finished steps in the schema anondb_work, and go on from those of an earlier run.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    quiet: app.Quiet = False,
    as_json: app.Json = False,
    show_sql: app.ShowSql = False,
    **flags: Any,
) -> None:
    """Load, anonymize, verify, measure and freeze a release; --publish also seals it into a file."""
    options = flag_values(flags)
    settings = taken(options, (*LIMITS, "log_file"))
    parameters = taken(options, MODEL_PARAMETERS)
    options |= _algorithm_options(option)
    id, item, taxonomy = options["id"], options["item"], options.get("taxonomy")
    with app.opened(source, show_sql=show_sql, command="anonymize", quiet=quiet, **settings) as database:
        rows = app.transactions_of(database, source, transactions, id, item)
        reading = {name: options[name] for name in READING if name in options}
        database.engine.on_finding = None if quiet or as_json else app.asked_on_terminal()
        promise = app.model_from(model, **parameters)
        with _listing(database, witnesses, read_as(rows, reading), taxonomy, id, item):
            report = database.anonymize(rows, model=promise, name=release, resume=resume, **options).report
        kept = not database.engine.one_shot
    from anondb.pipeline.reports import Report

    assert isinstance(report, Report)  # this process has made the release
    if as_json:
        print_json(report.to_json())
    elif not quiet:
        print_report(report, kept)


def _algorithm_options(option: list[str] | None) -> dict[str, str]:
    """The values of --option, which is for options that have no flag."""
    options = pairs(option or ())
    for name in options:
        if name in _FLAGS:
            dashed = name.replace("_", "-")
            raise InputError(f"{name} is not an option of an algorithm.", code="bad_usage", hint=f"Use --{dashed}.")
    return options


def demo(
    directory: Annotated[Path, typer.Argument(help="Where to make the shop.", metavar="[DIR]")] = Path("anondb-demo"),
    as_json: app.Json = False,
    show_sql: app.ShowSql = False,
) -> None:
    """Make a small shop, publish it without and with item supports, and compare answers with the truth."""
    from anondb.demo import run_demo

    with app.progress() as say:
        story = run_demo(directory, on_statement=app.shown_statements(show_sql), on_progress=say)
    if as_json:
        print_json(story.to_json())
        return
    print_story(story)
