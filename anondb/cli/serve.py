"""The commands that serve on this computer: serve, for clients of PostgreSQL, and ui, a window in the browser."""

import contextlib
import socket
from importlib.util import find_spec
from pathlib import Path
from secrets import token_urlsafe
from typing import Annotated, Any

import typer

from anondb.cli.app import Trusted
from anondb.errors import EngineError, InputError


def serve(
    file: Annotated[
        str, typer.Argument(help="A sealed release, a folder, or a pattern of several.", metavar="FILE", show_default=False)
    ],
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1; 0 for a free one.", min=0, max=65535)] = 5433,
    password_file: Annotated[
        Path | None,
        typer.Option(
            help="A file with the password, that only you can read; by default each start makes a new one.", metavar="PATH"
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
        from anondb.serve.login import read_password, verifier_of
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
    password = token_urlsafe(24) if password_file is None else read_password(password_file)
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
    """The socket of a port."""
    try:
        return socket.create_server((host, port))
    except OSError:
        raise EngineError(f"The port {port} is taken.", code="port_taken", hint="Choose another --port.") from None


def ui(
    source: Annotated[
        str | None,
        typer.Argument(
            help="A data file, a DuckDB file, postgresql://HOST/DATABASE, or a sealed release, which is only asked.",
            metavar="[SOURCE]",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1; 0 for a free one.", min=0, max=65535)] = 0,
    open_browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the address in your browser.")
    ] = True,
) -> None:
    """Explore, choose and publish in your browser: a local window that only you can open, until Ctrl-C."""
    if any(find_spec(name) is None for name in ("jinja2", "python_multipart", "starlette", "uvicorn")):
        raise EngineError(
            "The window needs starlette, uvicorn and others.", code="no_library", hint="Run pip install 'anondb[ui]'."
        )
    from anondb.engine.elsewhere import is_url, warehouse_at
    from anondb.engine.files import no_file
    from anondb.reading.formats import is_data_file
    from anondb.reading.options import as_read
    from anondb.ui.serve import HOST, serve

    is_place = source is None or is_url(source) or warehouse_at(source) is not None
    if source is not None and not is_place and not Path(as_read(source).data).exists():
        raise no_file(source)

    def announce(address: str, page: Path) -> None:
        typer.echo(f"The window is at {address}\nThe address opens once, in one browser. Ctrl-C ends the window.")
        if open_browser:
            import webbrowser

            webbrowser.open(page.as_uri())

    with _listening(HOST, port) as listener:
        is_release = not is_place and source is not None and not is_data_file(source) and _is_sealed(source)
        with contextlib.suppress(KeyboardInterrupt):
            serve(listener, source, is_release, announce)
        typer.echo("Stopped.", err=True)


def _is_sealed(path: str) -> bool:
    """Whether a file is a sealed release; what tells takes a moment to import."""
    from anondb.release.reader import is_sealed

    return is_sealed(path)
