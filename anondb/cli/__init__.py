"""The command line: parse arguments, call the pipeline, print the result. stdout holds data, stderr progress and messages.
Each command imports its heavy modules itself, which keeps ``--help`` fast."""

import contextlib
import errno
import functools
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

import typer

from anondb.cli.app import new_app
from anondb.cli.help import PanelCommand, epilog
from anondb.cli.words import json_error
from anondb.errors import AnondbError, EngineError, InternalError, speaking

__all__ = ["main", "program"]

COMMANDS: Mapping[str, str] = {
    "demo": "make",
    "peek": "guide",
    "load": "files",
    "anonymize": "make",
    "verify": "check",
    "accuracy": "ask",
    "publish": "files",
    "run": "ask",
    "query": "query",
    "serve": "serve",
    "ui": "serve",
    "explain": "ask",
    "releases": "files",
    "inspect": "audit",
    "attack": "audit",
    "compare": "compare",
    "report": "report",
    "profile": "guide",
    "advise": "guide",
    "algorithms": "listing",
    "taxonomy": "taxonomies",
    "hierarchy": "hierarchies",
    "keys": "files",
}
"""The commands in the order of the help, each with its module."""

READ_ALONE = (
    *("peek", "verify", "query", "serve", "explain", "releases"),
    *("inspect", "attack", "report", "profile", "advise", "algorithms"),
)
"""The commands that change nothing before their end."""

USAGE_ERRORS: type[Exception] = typer.BadParameter.__mro__[2]  # ClickException: its module differs by Typer's version


def program(command: str | None = None) -> typer.Typer:
    """The Typer application with one command, or with all: importing and building them all takes longer."""
    app = new_app()
    for name in COMMANDS if command is None else (command,):
        subcommand = getattr(import_module(f"anondb.cli.{COMMANDS[name]}"), name)
        if isinstance(subcommand, typer.Typer):
            app.add_typer(subcommand)
        else:
            app.command(cls=PanelCommand, epilog=epilog(name))(subcommand)
    return app


@functools.cache
def _built(command: str | None) -> Callable[..., Any]:
    """The program with one command, or with all, as Click calls it; a process that runs several builds each once."""
    return typer.main.get_command(program(command))


def _fail(error: AnondbError) -> NoReturn:
    for say in (partial(json_error, error.code, str(error), error.place), partial(typer.echo, f"anondb: {error}", err=True)):
        with contextlib.suppress(OSError):  # writing to stdout or stderr may be the failure itself
            say()
    raise SystemExit(error.exit_code)


def main() -> None:
    """Run a command; turn a typed error into a message and an exit code, raised as ``SystemExit`` (docs/contract.md)."""
    words = sys.argv[1:]
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    asked = next((word for word in words[:1] if word in COMMANDS), None)
    try:
        with speaking("command line"):
            code = _built(asked)(words, prog_name="anondb", standalone_mode=False)
    except AnondbError as error:
        _fail(error)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except typer.Exit as done:
        code = done.exit_code
    except USAGE_ERRORS as error:
        json_error("bad_usage", str(error))
        if (show := getattr(error, "show", None)) is not None:
            show()
        else:
            typer.echo(f"anondb: {error}", err=True)
        if "unexpected extra argument" in str(error):
            typer.echo("Files, tables and names follow a flag, such as --transactions FILE.", err=True)
        raise SystemExit(2) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            _fail(EngineError("No disk space left for the output; finished work is kept.", code="disk_full"))
        _fail(EngineError(f"Reading or writing a file failed ({type(error).__name__}).", code="io"))
    except Exception as error:  # a bug; its text and trace may hold data values
        _fail(InternalError(f"An unexpected {type(error).__name__} stopped the command; please report it."))
    if code == 130:  # Typer turns KeyboardInterrupt into this code without a message
        kept = "unfinished work was undone, finished work is kept (see anondb releases)"
        message = f"interrupted; {'nothing was changed' if asked in READ_ALONE else kept}"
        json_error("interrupted", message)
        typer.echo(f"anondb: {message}", err=True)
    raise SystemExit(code if isinstance(code, int) else 0)
