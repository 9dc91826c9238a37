"""``--log-file``: one line of JSON for each step of a command. It has names of steps and releases, counts and seconds, and
no data values."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from anondb import __version__
from anondb.errors import AnondbError, InputError, InternalError

if TYPE_CHECKING:
    from anondb.engine.telling import StepDone


def _open(file: str) -> int:
    """Open a plain file for appending; a new one has the mode 0600. Raises InputError: ``target_exists``: it is no log."""
    handle = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError
    if os.pread(handle, 1, 0) not in (b"", b"{"):
        os.close(handle)
        name = os.path.basename(file)
        raise InputError(f"The file {name!r} exists and is no log.", code="target_exists", hint="Name another file.")
    return handle


@contextlib.contextmanager
def logged(file: str | None, command: str) -> Iterator[Callable[[StepDone], None] | None]:
    """Append the beginning, the steps and the end of a command to a file; yield what logs a step, None without a file.
    Raises InputError: ``unwritable``; ``target_exists``."""
    if file is None:
        yield None
        return
    try:
        handle = _open(file)
    except (OSError, ValueError):
        name = os.path.basename(file)
        raise InputError(
            f"The log file {name!r} cannot be written: it must be a plain file and no link.",
            code="unwritable",
            hint="Check its folder and permissions.",
        ) from None
    begun = time.perf_counter()

    def write(event: str, **facts: Any) -> None:
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        os.write(handle, (json.dumps(line, ensure_ascii=False) + "\n").encode())  # in one piece, also beside others

    def end(event: str, **facts: Any) -> None:
        write(event, command=command, **facts, seconds=round(time.perf_counter() - begun, 3))

    try:
        write("start", command=command, version=__version__, process=os.getpid())
        try:
            yield lambda done: write("step", **asdict(done))
        except AnondbError as error:
            end("error", code=error.code, message=str(error), exit_code=error.exit_code)
            raise
        except KeyboardInterrupt:
            end("interrupted", exit_code=130)
            raise
        except Exception:  # a bug; its text may hold data values
            end("error", code=InternalError.default_code, message="", exit_code=InternalError.exit_code)
            raise
        end("done", exit_code=0)
    finally:
        os.close(handle)
