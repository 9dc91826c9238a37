"""The command ui: a window in the browser, for owners, analysts and auditors."""

import contextlib
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from anondb.errors import EngineError, InputError


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
    from anondb.reading.formats import is_data_file
    from anondb.ui.serve import HOST, serve

    is_place = source is None or is_url(source) or warehouse_at(source) is not None
    if source is not None and not is_place and not Path(source).exists():
        raise InputError(f"The file {Path(source).name!r} does not exist.", code="no_such_file", hint="Check the path.")

    def announce(address: str, page: Path) -> None:
        typer.echo(f"The window is at {address}\nThe address opens once, in one browser. Ctrl-C ends the window.")
        if open_browser:
            import webbrowser

            webbrowser.open(page.as_uri())

    try:
        listener = socket.create_server((HOST, port))
    except OSError:
        raise EngineError(f"The port {port} is taken.", code="port_taken", hint="Choose another --port.") from None
    with listener:
        is_release = not is_place and source is not None and not is_data_file(source) and _is_sealed(source)
        with contextlib.suppress(KeyboardInterrupt):
            serve(listener, source, is_release, announce)
        typer.echo("Stopped.", err=True)


def _is_sealed(path: str) -> bool:
    """Whether a file is a sealed release; what tells takes a moment to import."""
    from anondb.release.reader import is_sealed

    return is_sealed(path)
