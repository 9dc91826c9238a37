"""Serves the window on 127.0.0.1 until Ctrl-C."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable
from pathlib import Path

from anondb.engine.files import write_file
from anondb.ui.worker import Worker

HOST = "127.0.0.1"
READERS = ("ask", "audit")  # the parts for whoever has a release alone


def serve(listener: socket.socket, source: str | None, is_release: bool, announce: Callable[[str, Path], None]) -> None:
    """Serve a window on a source, or on none yet; for a sealed release only the parts of readers are shown. ``announce`` is
    called with the address, which has the token, and with a private page that leads there: a browser is told the page, since
    other users see what processes are called with."""
    worker, beside = Worker(), Worker(at_once=is_release)  # which import what they need while this process does
    import uvicorn

    from anondb.ui.app import application
    from anondb.ui.guard import ONWARD, Guard
    from anondb.ui.window import PARTS, Window

    logging.disable(logging.CRITICAL)  # what libraries say of requests may hold data
    window = Window(worker, beside, READERS if is_release else tuple(PARTS), source)
    try:
        port = listener.getsockname()[1]
        guard = Guard(application(window), port)
        settings = uvicorn.Config(
            guard, log_config=None, access_log=False, server_header=False, ws="none", timeout_graceful_shutdown=1
        )
        address, page = f"http://{HOST}:{port}/?token={guard.token}", window.folder / "open.html"
        write_file(page, ONWARD.format(address))
        announce(address, page)
        for number in (signal.SIGTERM, signal.SIGHUP):  # end as Ctrl-C does, for which the server waits
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
        uvicorn.Server(settings).run(sockets=[listener])
    finally:
        window.close()
