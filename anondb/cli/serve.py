"""The command serve: a release for clients of PostgreSQL on this computer."""

import socket
from pathlib import Path
from typing import Annotated, Any

import typer

from anondb.cli.app import Trusted
from anondb.errors import EngineError, InputError


def serve(
    file: Annotated[
        str,
        typer.Argument(help="A sealed release, a folder, or a pattern of several.", metavar="FILE", show_default=False),
    ],
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1; 0 for a free one.", min=0, max=65535)] = 5433,
    password_file: Annotated[
        Path | None,
        typer.Option(
            help="A file with the password, that only you can read; by default each start makes a new one.",
            metavar="PATH",
        ),
    ] = None,
    connections: Annotated[int, typer.Option(help="The most connections at a time.", min=1, max=100)] = 8,
    bounds: Annotated[
        str, typer.Option(help="What stands beside each computed number.", metavar="none|columns|spread")
    ] = "columns",
    memory_limit: Annotated[str, typer.Option(help="Memory of an answer.", metavar="SIZE")] = "2GB",
    max_seconds: Annotated[
        float | None, typer.Option(help="Seconds of an answer; by default 60 of CPU time.", metavar="SECONDS")
    ] = None,
    idle_seconds: Annotated[
        float, typer.Option(help="Close a connection that asks nothing for so long.", min=1, metavar="SECONDS")
    ] = 3600,
    trusted: Trusted = None,
) -> None:
    """Answer clients of PostgreSQL on this computer, such as psql, DBeaver and Metabase, from a release: read-only, with
    a password, until Ctrl-C."""
    try:
        from anondb.serve.conversation import Door
        from anondb.serve.login import new_password, read_password, verifier_of
        from anondb.serve.server import HOST
        from anondb.serve.server import serve as serve_clients
    except ImportError:
        raise EngineError(
            "Serving needs pygwire, scramp and psycopg.", code="no_library", hint="Run pip install 'anondb[serve]'."
        ) from None
    from anondb.session.opening import open_session
    from anondb.session.output import BOUNDS_HINT, CHOICES

    if bounds not in CHOICES:
        raise InputError(BOUNDS_HINT, code="bad_usage")
    options: dict[str, Any] = {"memory_limit": memory_limit, "max_seconds": max_seconds, "trusted": trusted}
    with open_session(file, **options) as session:  # what is wrong with the file is said here
        tables = ", ".join(session.tables)
    password = new_password() if password_file is None else read_password(password_file)
    door = Door(file, options, bounds, verifier_of(password), idle_seconds)
    with _listening(HOST, port) as listener:
        address = f"{HOST}:{listener.getsockname()[1]}"

        def announce() -> None:
            typer.echo(f"Serving {tables} at postgresql://analyst@{address}/release; Ctrl-C ends it.")
            typer.echo(f"Password: {password}" if password_file is None else "The password is that of the file.")

        try:
            serve_clients(door, listener, connections, announce)
        except KeyboardInterrupt:
            typer.echo("Stopped.", err=True)


def _listening(host: str, port: int) -> socket.socket:
    """The socket of a port, for the connections of clients."""
    try:
        return socket.create_server((host, port))
    except OSError:
        raise EngineError(f"The port {port} is taken.", code="port_taken", hint="Choose another --port.") from None
