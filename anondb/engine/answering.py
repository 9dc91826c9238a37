"""The limits of an answer: the time and the memory of the whole process while it is computed, DuckDB and Python alike."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anondb.engine.limit import TimeLimit, current
from anondb.engine.memory import SHARE, bytes_of
from anondb.errors import AnondbError, BudgetExceeded, EngineError, InputError, by_interface

if sys.platform == "linux":
    import resource

DEFAULT_MEMORY, DEFAULT_SECONDS = "2GB", 60.0
LEAST_BYTES = 1 << 26  # that an answer may take, whatever the limit


@dataclass(frozen=True)
class Limits:
    """How much an answer may take.

    Attributes:
        memory: DuckDB's memory limit. On Linux the process may take an eighth more than that beside what it has, and 64 MiB
            in any case.
        seconds: wall time; None for 60 seconds of CPU time, which other programs do not shorten.
    """

    memory: str = DEFAULT_MEMORY
    seconds: float | None = None

    @classmethod
    def of(cls, memory_limit: str, max_seconds: Any) -> Limits:
        """The limits that an analyst states.

        Raises:
            InputError: ``bad_parameter``.
        """
        number = isinstance(max_seconds, int | float) and not isinstance(max_seconds, bool) and 0 < max_seconds < 10**6
        if max_seconds is not None and not number:
            raise InputError("max_seconds must be a number of seconds above 0.", code="bad_parameter")
        return cls(memory_limit, max_seconds)

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Do the work of the block within the limits; inside another such block nothing changes.

        Raises:
            BudgetExceeded: ``time_limit`` or ``out_of_memory``.
            InputError: ``query_too_complex``: the recursion of Python is too deep.
        """
        if current.get() is not None:
            yield
            return
        most = bytes_of(self.memory)
        grant = None if most is None else max(most + most // SHARE, LEAST_BYTES)
        limit = TimeLimit(
            self.seconds or DEFAULT_SECONDS,
            self._late(),
            cpu=self.seconds is None,
            full=lambda: self._full() if _is_full() else None,
        )
        failure: AnondbError
        token = current.set(limit)
        try:
            with _granted(grant), limit.running():
                yield
            return
        except MemoryError:
            failure = self._full()
        except RuntimeError as error:
            nested = "The query is too complex: it is nested too deeply."
            if isinstance(error, RecursionError):
                failure = InputError(nested, code="query_too_complex", hint="Ask a simpler query.")
            elif "start new thread" in str(error):  # it has no memory left for its stack
                failure = self._full()
            else:
                raise
        except EngineError as error:
            if error.code != "out_of_memory":
                raise
            failure = self._full()
        finally:
            current.reset(token)
        raise failure  # outside the handlers, so that nothing keeps the memory

    def _full(self) -> BudgetExceeded:
        words = f"The answer needs more memory than the limit of {self.memory}."
        return BudgetExceeded(words, code="out_of_memory", hint=_hint("memory_limit"))

    def _late(self) -> BudgetExceeded:
        words = f"{DEFAULT_SECONDS:g} seconds of CPU time" if self.seconds is None else f"{self.seconds:g} seconds"
        return BudgetExceeded(
            f"The answer took longer than the limit of {words}.", code="time_limit", hint=_hint("max_seconds")
        )


def _hint(option: str) -> str:
    more = f"Ask for less at once, or open the release with a larger {option}."
    return by_interface(command_line="Ask for less at once.", python=more, sql=more)


# --- memory ---------------------------------------------------------------------------------------------------------

_lock = threading.Lock()
_grants: list[int] = []  # of the answers that are computed now
_before = (0, 0)  # the resident bytes and the data bytes of this process before the first of them


def _memory() -> tuple[int, int] | None:
    """The resident bytes and the data bytes of this process; None if the system does not tell."""
    if sys.platform != "linux":
        return None
    sizes = Path("/proc/self/statm").read_text("ascii").split()
    return int(sizes[1]) * resource.getpagesize(), int(sizes[5]) * resource.getpagesize()


@contextlib.contextmanager
def _granted(most: int | None) -> Iterator[None]:
    """Let the process take some bytes more during the block.

    DuckDB's own limit holds for its tables, neither for the values that a function makes nor for Python's objects. A single
    value is made in one go: in the main thread, which no other work of the process runs beside, the system refuses more.
    """
    global _before
    now = _memory()
    if most is None or now is None:
        yield
        return
    with _lock:
        _before = _before if _grants else now
        _grants.append(most)
    try:
        with _refused(now[1] + most + most // 4):
            yield
    finally:
        with _lock:
            _grants.remove(most)


def _is_full() -> bool:
    """Whether the process has taken more than was granted."""
    now = _memory()
    return now is not None and bool(_grants) and now[0] - _before[0] > sum(_grants)


@contextlib.contextmanager
def _refused(most: int) -> Iterator[None]:
    """Have the system refuse data memory above some bytes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft != resource.RLIM_INFINITY:
        most = min(soft, most)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
