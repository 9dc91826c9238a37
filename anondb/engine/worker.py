"""A thread that makes calls one after another."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

_T = TypeVar("_T")


class Worker:
    """Makes calls in a thread of its own, in their order. Unlike that of an executor, it does not keep Python from ending
    while a call goes on that nothing ends."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Any] = SimpleQueue()
        self._ended, self._lock = False, threading.Lock()
        self._thread = threading.Thread(target=_make, args=(self._calls,), name="anondb", daemon=True)
        self._thread.start()
        weakref.finalize(self, self._calls.put, None)

    def submit(self, work: Callable[[], _T]) -> Future[_T]:
        """Have the thread make a call. Raises RuntimeError: the worker has ended."""
        future: Future[_T] = Future()
        with self._lock:
            if self._ended:
                raise RuntimeError("The connection is closed.")
            self._calls.put((future, work))
        return future

    def end(self, *, wait: bool) -> None:
        """End the thread after its last call, and ``wait`` until then."""
        with self._lock:
            self._ended = True
            self._calls.put(None)
        if wait:
            self._thread.join()


def _make(calls: SimpleQueue[Any]) -> None:
    while (call := calls.get()) is not None:
        future, work = call
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)
        del call, future, work  # the result is the caller's
