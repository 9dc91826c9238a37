"""The limits of an answer: the time and the memory of the whole process while it is computed, DuckDB and Python alike."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anondb.engine.limit import TimeLimit, check_seconds, current
from anondb.engine.memory import SHARE, bytes_of
from anondb.errors import BudgetExceeded, EngineError, InputError

if sys.platform == "linux":
    import resource

DEFAULT_MEMORY, DEFAULT_SECONDS = "2GB", 60.0
LEAST_BYTES = 1 << 26  # that an answer may take, whatever the limit
_STARVED_BYTES = 1 << 24  # that a statement may take until it ends


@dataclass(frozen=True)
class Limits:
    """How much an answer may take."""

    # DuckDB's memory limit. On Linux the process may take an eighth more than that beside what it has, and 64 MiB in
    # any case. None: neither memory nor time is limited.
    memory: str | None = DEFAULT_MEMORY
    seconds: float | None = None  # wall time; None for 60 seconds of CPU time, which other programs do not shorten

    @classmethod
    def of(cls, memory_limit: str, max_seconds: Any) -> Limits:
        """The limits that an analyst states. Raises InputError: ``bad_parameter``."""
        return cls(memory_limit, check_seconds(max_seconds, "max_seconds", 10**6))

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Do the work of the block within the limits; inside another such block nothing changes. Raises BudgetExceeded:
        ``time_limit`` or ``out_of_memory``. InputError: ``query_too_complex``: the recursion of Python is too deep."""
        if self.memory is None or current.get() is not None:
            yield
            return
        most = bytes_of(self.memory)
        grant = _Grant(None if most is None else max(most + most // SHARE, LEAST_BYTES))

        def full() -> BudgetExceeded | None:
            return self._exceeded("out_of_memory") if grant.is_used_up() else None

        cpu, failure = self.seconds is None, ""
        seconds, error = self.seconds or DEFAULT_SECONDS, self._exceeded("time_limit")
        limit = TimeLimit(seconds, error, cpu=cpu, full=full, starve=grant.starve)
        token = current.set(limit)
        try:
            with grant.held(limit), limit.running():
                yield
            return
        except (MemoryError, RuntimeError, EngineError) as error:
            failure = _code(error)
            if not failure:
                raise
        finally:
            current.reset(token)
        if failure == "query_too_complex":
            raise InputError(
                "The query is too complex: it is nested too deeply.",
                code=failure,
                hint="Nest fewer subqueries and parentheses.",
            )
        raise self._exceeded(failure)  # outside the handlers, so that nothing keeps the memory

    def _exceeded(self, code: str) -> BudgetExceeded:
        seconds = f"{self.seconds or DEFAULT_SECONDS:g} seconds" + (" of CPU time" if self.seconds is None else "")
        more, limit = ("took longer", seconds) if code == "time_limit" else ("needs more memory", self.memory)
        hint = "Ask for less at once, or open the release with higher limits."
        return BudgetExceeded(f"The answer {more} than the limit of {limit}.", code=code, hint=hint)


def _code(error: Exception) -> str:
    """The code of an error for the analyst; empty if the error itself says more."""
    if isinstance(error, RecursionError):
        return "query_too_complex"
    thread = isinstance(error, RuntimeError) and "start new thread" in str(error)  # no memory is left for its stack
    is_full = isinstance(error, MemoryError) or thread or getattr(error, "code", "") == "out_of_memory"
    return "out_of_memory" if is_full else ""


def _memory() -> tuple[int, int] | None:
    """The resident bytes and the data bytes of this process; None if the system does not tell."""
    if sys.platform != "linux":
        return None
    sizes = Path("/proc/self/statm").read_text("ascii").split()
    return int(sizes[1]) * resource.getpagesize(), int(sizes[5]) * resource.getpagesize()


_lock = threading.Lock()
_held: list[tuple[int, int]] = []  # for each grant at hand, what the system refused before the first one


class _Grant:
    """The bytes that may become resident: more ends the answer, and the system refuses to map more than a quarter above.

    DuckDB's own limit holds for its tables, neither for the values that a function makes nor for Python's objects. A single
    value is made in one go, which nothing interrupts. The system also counts what allocators reserve, and keep when it is
    freed, which takes no memory: so what it refuses follows what is resident.

    Args:
        most: the bytes; None if there is no limit.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most or 0
        self._start = None if most is None else _memory()
        self._before: tuple[int, int] | None = None
        self._starved = False

    @contextlib.contextmanager
    def held(self, limit: TimeLimit) -> Iterator[None]:
        """Have the system refuse more during the block, and until what it leaves behind has ended. This binds other threads,
        too, so only the main one does it."""
        if self._start is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        with _lock:
            self._before = _held[0] if _held else resource.getrlimit(resource.RLIMIT_DATA)
            _held.append(self._before)
        self._refuse(*self._start)
        try:
            yield
        finally:
            if limit.left_behind is None:
                self._end()
            else:
                limit.left_behind.add_done_callback(lambda _: self._end())

    def _end(self) -> None:
        with _lock:
            self._before = None
            before = _held.pop()
            if not _held:
                resource.setrlimit(resource.RLIMIT_DATA, before)

    def is_used_up(self) -> bool:
        """Whether more than the grant is resident; if not, as much may be mapped as is left of it."""
        now = None if self._start is None else _memory()
        if self._start is None or now is None:
            return False
        self._refuse(*now)
        return now[0] - self._start[0] > self._most

    def starve(self, starved: bool) -> None:
        """Have the system refuse nearly all more, at which functions end that no interrupt ends; or as much as before."""
        if starved != self._starved and (now := _memory()) is not None:
            self._starved = starved
            self._refuse(*now)

    def _refuse(self, resident: int, data: int) -> None:
        with _lock:
            if self._before is not None and self._start is not None:
                soft, hard = self._before
                most = self._most + self._most // 4 - (resident - self._start[0])
                most = data + (_STARVED_BYTES if self._starved else max(most, 0))
                limit = most if soft == resource.RLIM_INFINITY else min(soft, most)
                resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
