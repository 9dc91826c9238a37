"""The prompt of ``anondb query FILE``, and SQL from stdin: statements end with a semicolon, commands begin with a dot."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from anondb.cli.words import print_rows
from anondb.errors import AnondbError, InputError
from anondb.pages.text import plain
from anondb.query.scripts import script, split

if TYPE_CHECKING:
    from anondb.session.session import Session

HELP = """\
SQL, written for the original tables, ends with a semicolon. Each computed number n has the columns n_lower and n_upper:
the truth lies between them.
  .tables                 the tables, with their columns
  .schema                 the tables, with the types of their columns
  .register NAME FILE     a table of your own, from a CSV or Parquet file
  .help                   this text
  .quit                   leave (also Ctrl-D)"""


def prompt(session: Session, bounds: str = "columns") -> None:
    """Answer what is typed until ``.quit`` or the end of the input; errors are printed. ``bounds``: see ``Session.sql``."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - lines can be edited, and earlier ones be called back
        typer.echo("SQL for the original tables, with bounds; .help for help, .quit to leave.")
    for line in _lines():
        with _printed_errors():
            if not line.startswith("."):
                print_rows(session.sql(line, bounds=bounds))
            elif line in (".quit", ".exit"):
                return
            else:
                _command(session, line.split())


def _lines() -> Iterator[str]:
    """The commands and statements that are typed, until the end of the input."""
    begun = ""
    while True:
        try:
            line = input(("   ...> " if begun.strip() else "anondb> ") if sys.stdin.isatty() else "")
        except KeyboardInterrupt:  # forget the line
            begun = ""
            typer.echo()
            continue
        except EOFError:
            yield from script(begun)
            return
        if line.startswith(".") and not begun.strip():
            yield line.strip()
            continue
        statements, begun = split(f"{begun}{line}\n")
        yield from statements


@contextlib.contextmanager
def _printed_errors() -> Iterator[None]:
    """Print an error, or that Ctrl-C stopped the query, and go on."""
    try:
        yield
    except AnondbError as error:
        typer.echo(plain(f"anondb: {error}"), err=True)
    except KeyboardInterrupt:
        typer.echo("anondb: interrupted", err=True)


def _command(session: Session, words: list[str]) -> None:
    match words:
        case [".tables"]:
            for name, columns in session.tables.items():
                typer.echo(plain(f"{name}({', '.join(columns)})"))
        case [".schema"]:
            for name, types in session.types.items():
                typer.echo(plain(f"{name}({', '.join(f'{column} {kind}' for column, kind in types.items())})"))
        case [".register", name, file]:
            session.register(name, file)
        case [".help"]:
            typer.echo(HELP)
        case _:
            raise InputError("There is no such command.", code="bad_usage", hint=".help lists the commands.")
