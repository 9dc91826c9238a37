"""Run a command in a separate process, and limit and measure its time and memory."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anondb.errors import InputError

POLL_SECONDS = 0.02
PARENT = "ANONDB_PARENT"  # the environment variable with the pipe that closes when the parent is gone
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


@dataclass(frozen=True)
class Finished:
    """The outcome of a process."""

    status: str  # ``done`` (it ended by itself), ``timeout`` or ``memory`` (it was stopped at a limit)
    code: int  # its exit code
    output: str  # its stdout
    # seconds, cpu_seconds: wall time, and CPU time of user and system
    seconds: float
    cpu_seconds: float
    peak_bytes: int  # its largest resident memory; 0 if the system does not report it


def parse_size(text: str) -> int:
    """Parse a size in DuckDB's notation, such as ``2GB``, ``512MiB`` or ``1.5 GB``, into bytes."""
    match = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([KMGT]?I?)B?\s*", text.upper())
    if match is None or match[2] == "I" or not float(match[1]):
        raise InputError(f"A memory limit is a size such as 2GB, not {text[:40]!r}.", code="bad_parameter")
    return int(float(match[1]) * _UNITS[match[2]])


def end_with_parent() -> None:
    """End this process when the process that called ``run_limited`` ends: nobody would stop it at a limit any more."""
    if (number := os.environ.get(PARENT)) is None:
        return

    def wait(pipe: int) -> None:
        os.read(pipe, 1)  # nobody writes: it returns when all writers are gone
        os._exit(1)

    threading.Thread(target=wait, args=(int(number),), daemon=True).start()


def run_limited(command: Sequence[str], text: str, *, seconds: float, memory: int | None) -> Finished:
    """Run a command with ``text`` on stdin, and stop it at a limit: of seconds of wall time, or of bytes of resident memory,
    which is looked at every few milliseconds if the system reports it."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as source, _pipe() as pipe:
        source.write(text.encode())
        source.seek(0)
        begun = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=source,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(pipe,),
            env={**os.environ, PARENT: str(pipe)},
        )
        status, peak = "done", 0
        try:
            while True:
                pid, code, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                resident, peak_now = _memory(process.pid)
                peak = max(peak, peak_now)
                if time.perf_counter() - begun > seconds:
                    status = "timeout"
                elif memory is not None and resident > memory:
                    status = "memory"
                if status != "done":
                    _kill(process.pid)
                    _, code, usage = os.wait4(process.pid, 0)
                    break
                time.sleep(POLL_SECONDS)
        except BaseException:
            _kill(process.pid)
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(code)
        wall = time.perf_counter() - begun
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return Finished(status, process.returncode, text, wall, usage.ru_utime + usage.ru_stime, peak)


@contextlib.contextmanager
def _pipe() -> Iterator[int]:
    """The end for reading of a pipe whose other end only this process has."""
    read, write = os.pipe()
    try:
        yield read
    finally:
        os.close(read)
        os.close(write)


def _kill(pid: int) -> None:
    """Stop a process and its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _memory(pid: int) -> tuple[int, int]:
    """Resident memory of a process, now and at its peak, in bytes; zeros if the system does not report it."""
    now = peak = 0
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines():
            if line.startswith("VmRSS:"):
                now = int(line.split()[1]) * 1024
            elif line.startswith("VmHWM:"):
                peak = int(line.split()[1]) * 1024
    return now, peak
