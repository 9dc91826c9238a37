"""The commands that help an owner before a release: peek, profile and advise."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anondb.cli import app
from anondb.cli.flags import LIMITS, flag_values, taken, with_flags
from anondb.cli.words import print_grid, print_json, shown
from anondb.errors import InputError
from anondb.guide.needs import PEOPLE
from anondb.models import PROMISE
from anondb.pages.text import plain
from anondb.policy import Policy
from anondb.reading.options import PEOPLE as WITHOUT_ITEMS
from anondb.reading.options import READING, read_as, reading_flags, word_of

if TYPE_CHECKING:
    from anondb.compare.runs import Run
    from anondb.guide.words import Section

_MOST_ITEMS = 12  # of a person, in the text of peek


@with_flags("id", "item", *READING, "taxonomy", *PEOPLE, "k", *LIMITS)
def profile(
    source: app.Source,
    transactions: app.Transactions = None,
    html: Annotated[str | None, typer.Option(help="Also write a page.", metavar="FILE.html")] = None,
    as_json: app.Json = False,
    show_sql: app.ShowSql = False,
    **flags: Any,
) -> None:
    """Profile transactions: sizes, what attackers find, the taxonomy, and what each algorithm takes. For owners only."""
    values = flag_values(flags)
    reading, limits = taken(values, READING), taken(values, LIMITS)
    app.check_targets(source, html)
    with app.opened(source, show_sql=show_sql, read_only=True, **limits) as database:
        rows = app.transactions_of(database, source, transactions, values["id"], values["item"])
        profiled = database.profile(rows, **values, **reading)
    if html is not None:
        from anondb.guide.page import write_profile

        write_profile(html, profiled)
    if as_json:
        print_json({**profiled.to_json(), "html": html})
        return
    from anondb.guide.words import profile_sections

    for section in profile_sections(profiled):
        print_section(section)


@with_flags("id", "item", *READING, "taxonomy", *PEOPLE, "k", "m", "item_supports", "threads")
def advise(
    source: app.Source,
    transactions: app.Transactions = None,
    use: Annotated[
        str | None,
        typer.Option(
            help="What the release is for (default counts).", metavar="counts|categories|items", rich_help_panel=PROMISE
        ),
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Time limit of all runs, in seconds.", min=1)] = 120.0,
    memory_limit: app.MemoryOfRun = "4GB",
    threads: int | None = None,
    as_json: app.Json = False,
    show_sql: app.ShowSql = False,
    **flags: Any,
) -> None:
    """Try algorithms on a sample and on all persons, and advise what to run. Asks on a terminal what no flag says.

    With attributes of people, try values of delta, by questions about attributes, items and both.
    """
    from anondb.compare.limits import parse_size
    from anondb.guide.advise import advise as run_advice
    from anondb.guide.needs import QUESTIONS, Needs

    parse_size(memory_limit)
    values = flag_values({"use": use, **flags})
    reading = taken(values, READING)
    promised = taken(values, ("k", "m"))
    needs: dict[str, Any] = {name: getattr(app.model_from("km", **promised), name) for name in promised}
    needs |= taken(values, ("use", "item_supports"))
    of_people = {name: values[name] for name in PEOPLE if name in values}
    asked = ("m", "k") if of_people else tuple(QUESTIONS)
    asked = ("k",) if reading.get("layout") == WITHOUT_ITEMS else asked
    needs = _asked(needs, asked, sys.stdin.isatty() and sys.stderr.isatty() and not as_json)
    with app.opened(source, show_sql=show_sql, threads=threads, read_only=True) as database:
        columns = {name: values[name] for name in ("id", "item")}
        rows = app.transactions_of(database, source, transactions, columns["id"], columns["item"], reading)
        advice = run_advice(
            database.engine,
            read_as(rows, {}, **columns),
            Needs(**needs),
            command=partial(_command, source, transactions, {**values, **reading}),
            taxonomy=values.get("taxonomy"),
            people=of_people,
            time_limit=time_limit,
            threads=threads,
            memory_limit=memory_limit,
        )
    if as_json:
        print_json(advice.to_json())
        return
    for section in advice.sections():
        print_section(section)
    typer.echo(f"to run it:\n{plain(advice.command)}")


def _asked(needs: dict[str, Any], asked: Collection[str], on_terminal: bool) -> dict[str, Any]:
    """What the owner needs: what no flag says is asked on a terminal, elsewhere stated as a default."""
    from anondb.guide.needs import QUESTIONS, Needs, read_answer

    answers = dict(needs)
    for name, question in QUESTIONS.items():
        if name in needs or name not in asked:
            continue
        default = Needs().to_json()[name]
        if not on_terminal:
            flag = "--no-item-supports" if name == "item_supports" else f"--{name} {default}"
            typer.echo(f"assumed: {flag}", err=True)
        while on_terminal and name not in answers:
            try:
                answers[name] = read_answer(name, typer.prompt(question, default=str(default or "no"), err=True))
            except InputError as error:
                typer.echo(str(error), err=True)
    return answers


def _command(source: str, transactions: str | None, values: dict[str, Any], run: Run) -> str:
    """The command that makes the release of a run."""
    from anondb.guide.needs import said_of
    from anondb.options import flags_of
    from anondb.reading.formats import is_data_file, stem_of

    words = ["anondb", "anonymize", word_of(source), *(("--transactions", transactions) if transactions else ())]
    words += [w for name in ("id", "item") if values[name] != getattr(Policy, name) for w in (f"--{name}", values[name])]
    words += reading_flags(values)
    words += ["--taxonomy", values["taxonomy"]] if "taxonomy" in run.options else []
    words += [w for n in PEOPLE if n in run.options for w in (f"--{n.replace('_', '-')}", str(run.options[n]))]
    words += flags_of(said_of(run))
    if is_data_file(source):
        words += ["--publish", f"{stem_of(Path(source))}-release.duckdb"]
    return shlex.join(words)


def print_section(section: Section) -> None:
    """Print a section as a table, and its notes."""
    from rich.console import Console
    from rich.padding import Padding

    title, width = shown(section.title), None if sys.stdout.isatty() else 100
    console = Console(width=width)
    if section.rows:
        print_grid(section.head, section.rows, section.numbers, title, width)
    else:
        console.print(title, style="bold")
    for note in section.notes:
        console.print(Padding(shown(note), (0, 1)), style="dim")
    console.print()


@with_flags(*READING)
def peek(
    file: Annotated[str, typer.Argument(help="A data file.", metavar="FILE")],
    id: Annotated[str | None, typer.Option(help="Column that identifies a person.", metavar="COL")] = None,
    item: Annotated[str | None, typer.Option(help="Column of items.", metavar="COL")] = None,
    as_json: app.Json = False,
    **flags: Any,
) -> None:
    """Propose how a file is read, and show three persons, the reading account and the command to run. For owners only."""
    from anondb.engine.elsewhere import warehouse_at
    from anondb.guide.tables import words
    from anondb.reading.formats import is_data_file

    if not is_data_file(file) or warehouse_at(file) is not None:
        with app.opened(file, read_only=True) as database:
            tables = "" if warehouse_at(file) is not None else f" {words(database.engine)}"
        hint = "Databases need no peek: name their tables, as in anondb anonymize DB --transactions TABLE."
        raise InputError(f"This is no data file.{tables}", code="bad_usage", hint=hint)
    named = {name: value for name, value in (("id", id), ("item", item)) if value is not None}
    reading = {name: value for name, value in flag_values(flags).items() if value is not False or name == "header"}
    with app.opened(file) as database:
        proposal = database.peek(Path(file), **{**reading, **named})
    if as_json:
        print_json(proposal.to_json())
    else:
        _print_proposal(proposal)
    if proposal.problem is not None:
        raise typer.Exit(InputError.exit_code)


def _print_proposal(proposal: Any) -> None:
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
