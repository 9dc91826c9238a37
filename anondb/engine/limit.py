"""A time limit on a block of work: on statements of the database, which it interrupts, and on Python between them."""

from __future__ import annotations

import contextlib
import ctypes
import math
import numbers
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from anondb.errors import BudgetExceeded, InputError

_AGAIN = 0.05  # seconds until a statement is interrupted again, which had not begun


class TimeUp(BaseException):
    """The time limit was reached: raised in the thread that works, which undoes its work as after Ctrl-C."""


def check_seconds(seconds: Any) -> float | None:
    """The seconds of a time limit; None for no limit.

    Raises:
        InputError: ``bad_parameter``.
    """
    if seconds is None:
        return None
    number = math.nan if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real) else float(seconds)
    if not 0 < number < math.inf:
        raise InputError(f"time_limit must be a number of seconds above 0, not {seconds!r}.", code="bad_parameter")
    return number


class Limited(Protocol):
    """An engine whose calls a time limit may end."""

    limit: TimeLimit | None

    def interrupt(self) -> None:
        """Interrupt the statement that is running."""
        ...


@contextlib.contextmanager
def limited(
    engine: Limited, left: float | None, seconds: float | None = None, kept: str = "nothing was kept"
) -> Iterator[None]:
    """Run the block within a time.

    Args:
        engine: the engine.
        left: the seconds that the block has; None for no limit.
        seconds: the limit that the owner named, for the message.
        kept: what is kept if the time is up, for the message.

    Raises:
        BudgetExceeded: ``time_limit``; the caller undoes the work of the block.
    """
    if left is None:
        yield
        return
    engine.limit = limit = TimeLimit(left, engine.interrupt, left if seconds is None else seconds, kept)
    up = False
    try:
        try:
            limit.start()
            yield
        finally:
            up = _ended(limit)
    except TimeUp:
        up = True
    finally:
        engine.limit = None
    if up:
        raise limit.exceeded()


def _ended(limit: TimeLimit) -> bool:
    """End the limit, also if its exception arrives meanwhile."""
    while True:
        try:
            return limit.end()
        except TimeUp:
            continue


class TimeLimit:
    """Ends the work of the thread that makes it, once, when its time is up.

    Args:
        left: the seconds until then.
        interrupt: interrupts the statement that is running in the database; called from another thread.
        seconds, kept: the limit that the owner named, and what is kept, for the message.
    """

    def __init__(self, left: float, interrupt: Callable[[], None], seconds: float, kept: str) -> None:
        self._interrupt, self._seconds, self._kept = interrupt, seconds, kept
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._calling = self._up = self._over = False
        self._ended = threading.Event()
        self._left = left

    def start(self) -> None:
        """Begin to count the time."""
        threading.Thread(target=self._wait, args=(self._left,), name="anondb-limit", daemon=True).start()

    @contextlib.contextmanager
    def calling(self) -> Iterator[None]:
        """The thread waits for the database during the block; its statement is interrupted when the time is up.

        Raises:
            TimeUp: the time was up meanwhile.
        """
        with self._lock:
            self._calling = not self._over
        try:
            yield
        finally:
            with self._lock:
                up, self._calling = self._calling and self._up, False
                self._over = self._over or up
            if up:
                raise TimeUp from None  # whatever DuckDB says of the interrupted statement

    def check(self) -> None:
        """End the work if the time is up and its exception was lost: Python ignores it in the callback of a weak reference.

        Raises:
            TimeUp: the time is up.
        """
        if self._up:
            raise TimeUp

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

    def exceeded(self) -> BudgetExceeded:
        """The error for the owner."""
        return BudgetExceeded(
            f"The time limit of {self._seconds:g} seconds was reached; {self._kept}.",
            code="time_limit",
            hint="Raise --time-limit, or lower m.",
        )

    def _wait(self, left: float) -> None:
        pause = left
        while not self._ended.wait(min(pause, threading.TIMEOUT_MAX)):
            with self._lock:
                if self._over:
                    return
                self._up = True
                if not self._calling:
                    self._raise()
                    return  # never again: the thread may have left the block by then
                self._interrupt()
                pause = _AGAIN

    def _raise(self) -> None:
        """Raise the exception in the thread that works, in the place of one that it has not seen.

        To take it back instead (by NULL) leaves Python 3.11 with a signal that nothing clears: ``sys.settrace`` hangs then.
        """
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(TimeUp))
