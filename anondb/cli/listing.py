"""The command that lists algorithms, models and their options."""

from typing import Annotated, Any

import typer

from anondb.algorithms import METHODS
from anondb.algorithms.method import Method
from anondb.cli.app import Json
from anondb.cli.words import print_grid, print_json
from anondb.errors import InputError
from anondb.models.named import nearest
from anondb.policy import SOURCES

Name = Annotated[str | None, typer.Argument(help="An algorithm; all are listed by default.", metavar="[NAME]")]


def algorithms(name: Name = None, as_json: Json = False) -> None:
    """List the algorithms, or one with its inputs and options."""
    if name is not None and name not in METHODS:
        raise InputError(
            f"There is no algorithm {name!r}, only {', '.join(METHODS)}.{nearest(name, METHODS)}", code="unknown_algorithm"
        )
    listed = list(METHODS.values()) if name is None else [METHODS[name]]
    if as_json:
        print_json({"algorithms": [_to_json(method) for method in listed]})
    elif name is None:
        rows = [(m.name, *map(", ".join, (m.models, m.needs, m.option_parameters))) for m in listed]
        print_grid(("algorithm", "models", "needs", "options"), rows)
    else:
        _print_one(listed[0])


def _to_json(method: Method) -> dict[str, Any]:
    options = {
        n: {"default": getattr(method.options(), n), "help": s.help, "values": s.metavar}
        for n, s in method.option_parameters.items()
    }
    described = {"name": method.name, "paper": method.paper, "models": list(method.models)}
    return {**described, "needs": list(method.needs), "takes": list(method.takes), "options": options}


def _print_one(method: Method) -> None:
    typer.echo(f"{method.name}: {method.paper}")
    typer.echo(f"  models: {', '.join(method.models)}")
    for words, names in (("needs", method.needs), ("takes", method.takes)):
        for name in names:
            typer.echo(f"  {words} --{name.replace('_', '-')}: {SOURCES[name].help}")
    for name, parameter in method.option_parameters.items():
        default = getattr(method.options(), name)
        shown_default = "" if default is None else f" (default {str(default).lower()})"
        typer.echo(f"  --option {name}={parameter.metavar}: {parameter.help}{shown_default}")
