"""The server: one process for each connection, as PostgreSQL has it, so that limits hold for each alone."""

import contextlib
import multiprocessing
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing import connection
from typing import Any

from anondb.serve.conversation import Conversation, Door

HOST = "127.0.0.1"
_SPARE = 4  # processes beside the connections: for requests to cancel, and to say that there are too many
_END_SECONDS = 2
_METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


def serve(door: Door, listener: socket.socket, connections: int, announce: Callable[[], None]) -> None:
    """Serve clients of a listener until Ctrl-C, or SIGTERM: each gets what the door gives, at most ``connections`` at a
    time. ``announce`` is called when processes begin without loading the package first, which takes seconds that clients do
    not wait for."""
    context: Any = multiprocessing.get_context(_METHOD)
    if _METHOD == "forkserver":
        context.set_forkserver_preload(["anondb.serve.conversation"])
    slots = context.RawArray("Q", 2 * (connections + _SPARE))  # for each its process number and key
    working: dict[int, Any] = {}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    listener.setblocking(False)
    first = context.Process(target=str, daemon=True)
    try:
        first.start()
        first.join()
        announce()
        while True:
            ready = connection.wait([listener, *(process.sentinel for process in working.values())])
            _forget_ended(working, slots)
            if listener in ready:
                with contextlib.suppress(OSError), listener.accept()[0] as client:  # it may be gone already
                    _begin(context, client, door, connections, working, slots)
    finally:
        for process in working.values():
            process.terminate()
        for process in working.values():
            process.join(_END_SECONDS)
            process.kill()


def _begin(context: Any, client: socket.socket, door: Door, connections: int, working: dict[int, Any], slots: Any) -> None:
    """Give a connection a process, if there is room."""
    if (free := next((n for n in range(connections + _SPARE) if n not in working), None)) is None:
        return
    key = secrets.randbits(32)
    process = context.Process(target=converse, args=(client, door, key, slots, free >= connections), daemon=True)
    process.start()
    working[free] = process
    slots[2 * free], slots[2 * free + 1] = process.pid, key


def _forget_ended(working: dict[int, Any], slots: Any) -> None:
    """Free the places of processes that ended, before the system may give their numbers to others."""
    for place in [place for place, process in working.items() if connection.wait([process.sentinel], 0)]:
        slots[2 * place] = slots[2 * place + 1] = 0
        working.pop(place).join()


def converse(client: socket.socket, door: Door, key: int, slots: Sequence[int], full: bool) -> None:
    """The work of a process: one connection."""

    def cancel(process: int, secret: int) -> None:
        pairs = [(slots[n], slots[n + 1]) for n in range(0, len(slots), 2)]
        if process and (process, secret) in pairs:
            os.kill(process, signal.SIGINT)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with client, contextlib.suppress(BrokenPipeError):
        Conversation(client, door, key, cancel, full).run()
    os._exit(0)  # Python's own exit waits for statements that nothing ends


def _end_with_parent() -> None:
    """End this process, also within an answer, when the server is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_END_SECONDS)
    os._exit(1)  # DuckDB does not end an answer for SIGTERM
