"""A time limit on a block of work: on statements of the database, which it interrupts, and on Python between them."""

from __future__ import annotations

import contextlib
import ctypes
import math
import numbers
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextvars import ContextVar
from functools import partial
from typing import Any, Protocol

from anondb.errors import BudgetExceeded, InputError

current: ContextVar[TimeLimit | None] = ContextVar("limit", default=None)
"""The limit of the answer that is computed, which holds for all engines at work."""

_LOOK = 0.02  # seconds between two looks at the memory
_AGAIN = 0.05  # seconds until a statement is interrupted again, which had not begun
_LATE = 0.3  # of the time
_PATIENCE = 0.5  # seconds of CPU time, at least, for an interrupted statement
_STUCK = 1.5  # times as long in wall time: on a loaded machine a statement sees its interrupt late


class TimeUp(BaseException):
    """The time limit was reached: raised in the thread that works, which undoes its work as after Ctrl-C."""


def check_seconds(seconds: Any, name: str = "time_limit", most: float = math.inf) -> float | None:
    """The seconds of a time limit of this name; None for no limit. Raises InputError: ``bad_parameter``."""
    if seconds is None:
        return None
    number = math.nan if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real) else float(seconds)
    if not 0 < number < most:
        raise InputError(f"{name} must be a number of seconds above 0, not {seconds!r}.", code="bad_parameter")
    return number


class Limited(Protocol):
    """An engine whose calls a time limit may end."""

    limit: TimeLimit | None


@contextlib.contextmanager
def limited(
    engine: Limited, left: float | None, seconds: float | None = None, kept: str = "nothing was kept"
) -> Iterator[None]:
    """Run the block within the seconds that are left of those that the owner named; None for no limit. ``kept`` says what is
    kept if the time is up. Raises BudgetExceeded: ``time_limit``; the caller undoes the work of the block."""
    if left is None:
        yield
        return
    error = BudgetExceeded(
        f"The time limit of {left if seconds is None else seconds:g} seconds was reached; {kept}.",
        code="time_limit",
        hint="Raise --time-limit, or lower m.",
    )
    engine.limit = limit = TimeLimit(left, error)
    try:
        with limit.running():
            yield
    finally:
        engine.limit = None


_running: dict[int, TimeLimit] = {}
"""The limit of each thread that works under one."""


def _told(lost: sys.UnraisableHookArgs, otherwise: Callable[[sys.UnraisableHookArgs], object]) -> None:
    """Tell a limit that Python ignored its exception, as in the callback of a weak reference."""
    limit = _running.get(threading.get_ident())
    if limit is None or not issubclass(lost.exc_type, TimeUp):
        otherwise(lost)
    else:
        limit.lost()


@contextlib.contextmanager
def _heard(limit: TimeLimit) -> Iterator[None]:
    """Keep the exception of a limit from being lost during the block."""
    thread, before = threading.get_ident(), sys.unraisablehook
    around = _running.get(thread)
    _running[thread] = limit
    if getattr(before, "func", None) is not _told:
        sys.unraisablehook = partial(_told, otherwise=before)
    try:
        yield
    finally:
        if around is None:
            _running.pop(thread, None)
        else:
            _running[thread] = around


def _ended(limit: TimeLimit) -> bool:
    """End the limit, also if its exception arrives meanwhile."""
    while True:
        try:
            return limit.end()
        except TimeUp:
            continue


class TimeLimit:
    """Ends the work of the thread that makes it, once, when its time is up: the seconds ``left``, of CPU time of this
    process if ``cpu``, else of wall time. ``error`` says so to the user; ``full``, asked every few milliseconds, gives the
    error if the work takes too much memory. ``starve`` denies memory to a call that goes on, and grants it again."""

    def __init__(
        self,
        left: float,
        error: BudgetExceeded,
        *,
        cpu: bool = False,
        full: Callable[[], BudgetExceeded | None] | None = None,
        starve: Callable[[bool], object] = lambda starved: None,
    ) -> None:
        self.error, self._starve = error, starve
        self._interrupt: Callable[[], object] = lambda: None
        self._leave: Callable[[], object] = lambda: None
        self.left_behind: Future[Any] | None = None  # the call that goes on after the answer
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._calling = self._up = self._raised = self._over = False
        self._ended = threading.Event()
        self._now, self._pace = (time.process_time, os.cpu_count() or 1) if cpu else (time.monotonic, 1)
        self._all, self._end, self._full = left, self._now() + left, full

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._end - self._now())

    @property
    def is_late(self) -> bool:
        """Whether so little time is left that what an answer can do without should not begin."""
        return self.left < _LATE * self._all

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Run the block, which ends when the time is up. Raises BudgetExceeded: the time was up."""
        up = False
        with _heard(self):
            try:
                try:
                    threading.Thread(target=self._wait, name="anondb-limit", daemon=True).start()
                    yield
                finally:
                    up = _ended(self)
            except TimeUp:
                up = True
        if up:
            raise self.error

    @contextlib.contextmanager
    def calling(self, interrupt: Callable[[], object], leave: Callable[[], object] = lambda: None) -> Iterator[None]:
        """The thread waits for a database or a process during the block; ``interrupt`` ends its work when the time is up,
        and is called from another thread, as is ``leave`` if the work goes on. Raises TimeUp: the time was up meanwhile."""
        with self._lock:
            self._interrupt, self._leave = interrupt, leave
            self._calling = not self._over
        try:
            yield
        finally:
            with self._lock:
                up, self._calling = self._calling and self._up, False
                self._over = self._over or up
                self._starve(False)
            if up:
                raise TimeUp from None  # whatever DuckDB says of the interrupted statement

    def lost(self) -> None:
        """The exception was raised where Python ignores all: the thread of the limit raises it again."""
        self._raised = False

    def end(self) -> bool:
        """The work is over: from now on nothing is ended. Returns whether the time was up."""
        with self._lock:
            self._over = True
        if self._up:  # the thread may not have seen it yet: it sees it here, once
            with contextlib.suppress(TimeUp):
                self._raise()
                for _ in range(100):
                    pass
        self._ended.set()
        return self._up

    def _wait(self) -> None:
        since = 0.0, 0.0  # when the time was up
        while not self._ended.wait(self._pause()):
            full = None if self._full is None or self._up else self._full()
            self.error = full or self.error
            if full is None and not self._up and self.left > 0:
                continue
            with self._lock:
                if self._over:
                    return
                if not self._up:
                    self._up, self._end = True, min(self._end, self._now())
                    since = time.process_time(), time.monotonic()
                if self._raised:  # once: what the thread does now is its cleaning up
                    continue
                if self._calling:
                    self._interrupt()
                    self._starve(True)
                    cpu, wall = time.process_time() - since[0], time.monotonic() - since[1]
                    if max(cpu, wall / _STUCK) > max(_LATE * self._all, _PATIENCE):
                        self._leave()
                else:
                    self._raised = True
                    self._raise()

    def _pause(self) -> float:
        """The seconds until the work is looked at again."""
        if self._up:
            return _AGAIN
        least = max(self.left / self._pace, 0.001)
        return min(least, threading.TIMEOUT_MAX if self._full is None else _LOOK)

    def _raise(self) -> None:
        """Raise the exception in the thread that works, in the place of one that it has not seen. To take it back instead
        (by NULL) leaves Python 3.11 with a signal that nothing clears: ``sys.settrace`` hangs then."""
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(TimeUp))
