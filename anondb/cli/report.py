"""The command that reports on one release: to its owner, or with --public to analysts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli.app import Json, ReleaseName, ShowSql, Source, check_targets, opened, shown_statements
from anondb.cli.flags import with_flags
from anondb.cli.words import print_json, print_table, shown
from anondb.errors import InputError
from anondb.pages.text import plain

if TYPE_CHECKING:
    from anondb.report.contents import Contents
    from anondb.report.owner import OwnerReport


@with_flags("queries", "seed")
def report(
    source: Source,
    release: ReleaseName = None,
    public: Annotated[
        bool,
        typer.Option("--public", help="For analysts: only what the release itself shows (always so for a sealed file)."),
    ] = False,
    html: Annotated[
        str | None, typer.Option(help="Write a page; an existing file is replaced.", metavar="FILE.html")
    ] = None,
    as_json: Json = False,
    show_sql: ShowSql = False,
    **flags: Any,
) -> None:
    """Report on a release: promise, what was generalized and why, accuracy, risk; --public: a page for analysts."""
    check_targets(source, html)
    if release is None:
        from anondb.warehouse.at_hand import name_of

        _print(_contents_of_file(source, show_sql), name_of(source), html, as_json)
        return
    with opened(source, read_only=True, show_sql=show_sql) as database:
        if public:
            from anondb.ledger.stored import find_whole
            from anondb.report.contents import read_contents

            with database.engine.transaction():
                contents = read_contents(database.engine, find_whole(database.engine, release))
        else:
            from anondb.report.owner import collect

            collected = collect(database.engine, release, **flags)
    if public:
        _print(contents, release, html, as_json)
    else:
        _print(collected, collected.entry.name, html, as_json)


def _contents_of_file(file: str, show_sql: bool) -> Contents:
    """What a sealed file shows."""
    from anondb.engine.elsewhere import is_url
    from anondb.reading.formats import is_data_file
    from anondb.release.reader import is_sealed, sealed_release
    from anondb.report.contents import read_contents
    from anondb.warehouse.at_hand import at_hand
    from anondb.warehouse.postgres.place import place_of

    if not is_url(file) and is_data_file(file):
        raise InputError("A data file has no release.", code="bad_usage", hint="Name a database or a sealed file.")
    if not (place_of(file).schema is not None if is_url(file) else is_sealed(file)):
        raise InputError("Say which release: --release NAME.", code="bad_usage", hint="anondb releases SOURCE lists them.")
    on_statement = shown_statements(show_sql)
    with at_hand(file, on_statement) as local, sealed_release(local, on_statement=on_statement) as sealed:
        return read_contents(sealed.engine, sealed)


def _print(report: Contents | OwnerReport, name: str, html: str | None, as_json: bool) -> None:
    """Write the page of a report if ``html`` names a file; print it as JSON, else what was written, else its rows."""
    from anondb.engine.files import write_private
    from anondb.report.contents import Contents
    from anondb.report.text import owner_rows, public_rows

    if html is not None:
        write_private(html, report.html())
    if as_json:
        print_json({**report.to_json(), "html": html})
    elif isinstance(report, Contents) and html is not None:
        typer.echo(plain(f"{html}: the page for analysts of {name}"))
    elif html is not None:
        typer.echo(plain(f"{html}: the owner's page of {name}; it has true counts, do not pass it on"))
    elif isinstance(report, Contents):
        print_table(f"release {shown(name)}, for analysts", public_rows(report))
    else:
        print_table(f"release {shown(name)}, for its owner", owner_rows(report))
