"""The prompt of ``anondb query FILE``, and SQL from stdin: statements end with a semicolon, commands begin with a dot."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from anondb.cli.words import print_rows
from anondb.errors import AnondbError, InputError
from anondb.pages.text import plain
from anondb.query.scripts import script, split
from anondb.reading.options import file_options

if TYPE_CHECKING:
    from anondb.session.session import Session

HELP = """\
SQL, written for the original tables, ends with a semicolon. Each computed number n has the columns n_lower and n_upper:
the truth lies between them.
  .tables                 the tables, with their columns
  .schema                 the tables, with the types of their columns
  .register NAME FILE     a table of your own, from a CSV or Parquet file; after it, how the file is read, as in
                          --encoding latin-1 --delimiter ';' (quotes around what has blanks)
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
                _command(session, _words(line))


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


def _words(line: str) -> list[str]:
    """The words of a command, as a shell reads them."""
    try:
        return shlex.split(line)
    except ValueError:
        hint = 'Put a name that has quotes or blanks in quotes, as in "Anna\'s list.csv".'
        raise InputError("A quote is not closed.", code="bad_usage", hint=hint) from None


def _command(session: Session, words: list[str]) -> None:
    match words:
        case [".tables"]:
            for name, columns in session.tables.items():
                typer.echo(plain(f"{name}({', '.join(columns)})"))
        case [".schema"]:
            for name, types in session.types.items():
                typer.echo(plain(f"{name}({', '.join(f'{column} {kind}' for column, kind in types.items())})"))
        case [".register", name, file, *flags]:
            session.register(name, file, **file_options(flags))
        case [".register", *_]:
            raise InputError(".register takes a name and a file.", code="bad_usage", hint=".help shows it.")
        case [".help"]:
            typer.echo(HELP)
        case _:
            raise InputError("There is no such command.", code="bad_usage", hint=".help lists the commands.")
