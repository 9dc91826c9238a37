"""The command that makes keys for signatures."""

from typing import Annotated

import typer

from anondb.cli.app import Json
from anondb.cli.words import print_json

keys = typer.Typer(name="keys", help="Make keys that sign releases.", no_args_is_help=True, rich_markup_mode=None)


@keys.callback()
def _keys_group() -> None:
    """Make keys that sign releases."""


@keys.command()
def new(
    name: Annotated[str, typer.Argument(help="Writes NAME.key and NAME.pub.", metavar="NAME")] = "anondb",
    as_json: Json = False,
) -> None:
    """Make a key of Ed25519: NAME.key, which signs, for you alone, and NAME.pub, which readers trust."""
    from anondb.release.signing import new_keys

    private, public, text = new_keys(name)
    if as_json:
        print_json({"private": str(private), "public": str(public), "key": text})
        return
    typer.echo(text)
    typer.echo(f"{private} signs: keep it, and show it to nobody. Announce the line above, or {public}.", err=True)
