"""The process of a command: ``anondb``, or ``python -m anondb``."""

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable, MutableMapping, Sequence
from typing import NoReturn


def console() -> NoReturn:
    """Run the command line, and end the process without the cleaning up of Python. Files are closed by then, databases in
    files, too. What Python does at its end, taking all modules apart, took an eighth of the time of the main job; and Ctrl-C
    meanwhile would change the exit code of a command that is done."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no linear algebra here: its threads only cost start-up time
    return_memory(sys.argv, os.environ)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # which a shell sets for what it starts in the background
        on_interrupt(interrupt)
    gc.set_threshold(200_000, 20, 20)  # modules and parse trees are seldom garbage, and long to look through
    try:
        from anondb.cli import main

        main()
        code = 0
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else 1
    except KeyboardInterrupt:  # while modules were imported
        on_interrupt(signal.SIG_IGN)
        from anondb.cli.words import nothing_begun

        nothing_begun()
        code = 130
    on_interrupt(signal.SIG_IGN)
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BrokenPipeError:  # whoever reads has seen enough
        code = code or 1
    except OSError as error:
        from anondb.errors import EngineError

        code = code or EngineError.exit_code
        with contextlib.suppress(OSError):
            os.write(2, f"anondb: the output could not be written ({type(error).__name__})\n".encode())
    os._exit(code)


def on_interrupt(action: Callable[..., None] | signal.Handlers) -> None:
    """Set what Ctrl-C does, and the alarm that repeats it."""
    for number in (signal.SIGINT, signal.SIGALRM):
        signal.signal(number, action)


def interrupt(*_: object) -> None:
    """Raise ``KeyboardInterrupt``; while DuckDB is imported, which aborts the process then, a moment later."""
    if getattr(getattr(sys.modules.get("duckdb"), "__spec__", None), "_initializing", False):
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        return
    raise KeyboardInterrupt


def return_memory(words: Sequence[str], environment: MutableMapping[str, str]) -> None:
    """Under ``--memory-limit``, have DuckDB's allocator return freed memory at once: a tenth more CPU time. It keeps freed
    memory for ten seconds otherwise, besides what the limit allows: on a million transactions under 600 MB the process
    peaked at 1,033 MiB instead of 785. It is set before DuckDB is imported."""
    if any(word.split("=")[0] == "--memory-limit" for word in words):
        environment.setdefault("DUCKDB_JE_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")


if __name__ == "__main__":
    console()
