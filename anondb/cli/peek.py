"""The command that shows how a file would be read: peek."""

from pathlib import Path
from typing import Annotated, Any

import typer

from anondb.cli.app import Json, opened
from anondb.cli.flags import flag_values, with_flags
from anondb.cli.words import print_json, shown
from anondb.errors import InputError
from anondb.pages.text import plain
from anondb.reading.options import READING

_MOST_ITEMS = 12


@with_flags(*READING)
def peek(
    file: Annotated[str, typer.Argument(help="A data file.", metavar="FILE")],
    id: Annotated[str | None, typer.Option(help="Column that identifies a person.", metavar="COL")] = None,
    item: Annotated[str | None, typer.Option(help="Column of items.", metavar="COL")] = None,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Propose how a file is read, and show three persons, the reading account and the command to run. For owners only."""
    from anondb.engine.elsewhere import warehouse_at
    from anondb.reading.formats import is_data_file

    if not is_data_file(file) or warehouse_at(file) is not None:
        raise InputError("This is no data file.", code="bad_usage", hint="Databases need no peek: name their tables.")
    named = {name: value for name, value in (("id", id), ("item", item)) if value is not None}
    given = {name: value for name, value in flag_values(flags).items() if value is not False or name == "header"}
    with opened(file) as database:
        proposal = database.peek(Path(file), **{**given, **named})
    if as_json:
        print_json(proposal.to_json())
    else:
        _print(proposal)
    if proposal.problem is not None:
        raise typer.Exit(InputError.exit_code)


def _print(proposal: Any) -> None:
    typer.echo(f"{plain(proposal.file)}: {proposal.format}")
    for name, value in proposal.reading.items():
        typer.echo(f"  {name:<10} {plain(str(value))}")
    for reason in proposal.reasons:
        typer.echo(f"  because    {plain(reason)}")
    if proposal.account is not None:
        typer.echo(f"  read       {plain(proposal.account.words)}")
    for name, role, why in proposal.columns:
        typer.echo(f"  column     {plain(name)}: {role}, {why}")
    for person, items in proposal.persons:
        more = f" and {len(items) - _MOST_ITEMS:,} more" if len(items) > _MOST_ITEMS else ""
        typer.echo(f"  person     {shown(person)}: {plain(', '.join(items[:_MOST_ITEMS]))}{more}")
    for finding in proposal.findings:
        typer.echo(f"  confirm    --accept {finding.name}: {plain(finding.message)}")
    if proposal.problem is not None:
        typer.echo(f"  problem    {plain(proposal.problem)}", err=True)
        return
    typer.echo(f"to run it:\n{plain(proposal.command)}")
