"""A process that does the work, one task after another: pages stay quick, and work can be stopped."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from anondb.errors import AnondbError, speaking

Say = Callable[[str], None]  # takes words about the progress, as ``on_progress`` of ``anondb.connect`` does
Task = Callable[..., Any]  # a function of a module, called as ``task(say, **arguments)`` in the worker's process
Then = Callable[[Any], None]
_PATIENCE = 5.0  # seconds that stopped work has for undoing what it began
_OFTEN = 0.1  # seconds between two words about the progress
WAITING, RUNNING, STOPPING, DONE, FAILED, STOPPED = "waiting", "running", "stopping", "done", "failed", "stopped"


@dataclass(frozen=True)
class Problem:
    """Why a task failed: the message, the code and the hint of an error."""

    words: str
    code: str = "internal"
    hint: str | None = None

    @classmethod
    def of(cls, error: AnondbError) -> Problem:
        """The problem that an error tells of."""
        return cls(str(error).removesuffix(f" {error.hint}") if error.hint else str(error), error.code, error.hint)


@dataclass
class Job:
    """A task and what became of it. What it takes and returns must be picklable."""

    number: int
    worker: Worker  # who does it
    words: str  # what it does, for people
    task: Task
    arguments: dict[str, Any]
    then: Then | None = None  # called in the window's process with the result, before the job is seen to be done
    state: str = WAITING
    step: str = ""  # what it does now
    share: float | None = None  # of it that is done, if that is known
    result: Any = None  # what the task returned
    problem: Problem | None = None  # why it failed
    begun: float = field(default_factory=time.monotonic)
    ended: float | None = None

    @property
    def is_active(self) -> bool:
        """Whether it waits or runs."""
        return self.state in (WAITING, RUNNING, STOPPING)

    @property
    def seconds(self) -> float:
        """The time since it was asked for, until it ended."""
        return (self.ended or time.monotonic()) - self.begun

    def stop(self) -> None:
        """Stop it, so that nothing of it remains; it is done all the same if it was too late for that."""
        self.worker.stop(self)


class Worker:
    """A process, begun at once or with the first task, and again after it was killed; and a thread that gives it tasks."""

    def __init__(self, at_once: bool = True) -> None:
        self._numbers = itertools.count(1)
        self._waiting: queue.Queue[Job | None] = queue.Queue()
        self._lock = threading.Lock()
        self._running: Job | None = None
        self._is_closed = False
        self._process: SpawnProcess | None = None
        if at_once:
            self._start()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def submit(self, words: str, task: Task, arguments: dict[str, Any], then: Then | None = None) -> Job:
        """Have a task done when those before it are."""
        job = Job(next(self._numbers), self, words, task, arguments, then)
        self._waiting.put(job)
        return job

    def stop(self, job: Job) -> None:
        """Stop a job (``Job.stop``). One that runs ends when its process says so, or is killed."""
        with self._lock:
            if job.state == WAITING:
                job.state, job.ended = STOPPED, time.monotonic()
            if job.state != RUNNING or job is not self._running:
                return
            job.state = STOPPING
            pid = None if self._process is None else self._process.pid
            _signalled(pid, signal.SIGINT)  # no other job begins meanwhile
        threading.Timer(_PATIENCE, lambda: _signalled(pid, signal.SIGKILL) if job is self._running else None).start()

    def close(self) -> None:
        """Stop all work, and end the process."""
        with self._lock:
            self._is_closed = True  # no other job begins
        self._waiting.put(None)
        if (job := self._running) is not None:
            self.stop(job)
        self._thread.join(2 * _PATIENCE)
        self._end()

    def _end(self) -> None:
        """End the process; the next task starts another one."""
        process, self._process = self._process, None
        if process is not None:
            self._line.close()  # at which it ends by itself
            process.join(_PATIENCE)
            _signalled(process.pid, signal.SIGKILL)
            process.join()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, end = context.Pipe()
        self._process = context.Process(target=_serve, args=(end,), daemon=False)
        self._process.start()
        end.close()

    def _work(self) -> None:
        while (job := self._waiting.get()) is not None:
            with self._lock:
                if self._is_closed or job.state != WAITING:
                    continue
                if self._process is None:
                    self._start()
                self._running, job.state = job, RUNNING
            try:
                self._line.send((job.task, job.arguments))
                while (answer := self._line.recv())[0] == RUNNING:
                    job.step, job.share = answer[1]
                kind, value = answer
            except (EOFError, OSError):
                kind, value = FAILED, Problem("The work ended early: its process is gone.", hint="Start it again.")
                self._end()
            with self._lock:
                self._running, job.ended = None, time.monotonic()
                was_stopped = job.state == STOPPING
            if was_stopped:
                self._end()  # what an interrupt left open ends with the process
            if kind == DONE and (then := job.then) is not None:
                kind, other = _outcome(partial(then, value))
                value = value if kind == DONE else other
            job.result, job.problem = (value, None) if kind == DONE else (None, value)
            job.state = STOPPED if was_stopped and kind != DONE else kind


def _signalled(pid: int | None, number: int) -> None:
    """Send a signal to a process and to those that it began; to it alone while it does not lead a group yet."""
    for send in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if pid is not None:
                send(pid, number)
            return


def _serve(line: Connection) -> None:
    """Do tasks until the other end closes the line; runs in the process of the worker, which leads a group of its own."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which ends the process while it imports, where Python loses interrupts
    latest = 0.0

    def say(words: str) -> None:
        nonlocal latest
        if time.monotonic() - latest > _OFTEN:
            latest = time.monotonic()
            line.send((RUNNING, (str(words), getattr(words, "share", None))))

    with contextlib.suppress(EOFError, OSError):
        for name in importlib.import_module("anondb.ui.tasks").AT_ONCE:  # while the window starts and nobody waits
            importlib.import_module(name)
        while True:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # one that comes late is about a task that has ended
            line.poll(None)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # the task may take imports
            task, arguments = line.recv()
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                outcome = _outcome(partial(task, say, **arguments))
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            except KeyboardInterrupt:
                outcome = STOPPED, None
            line.send(outcome)


def _outcome(task: Callable[[], Any]) -> tuple[str, Any]:
    """How a task ended, and its result or its problem, which shows no data value."""
    try:
        with speaking("command line"):
            return DONE, task()
    except AnondbError as error:
        return FAILED, Problem.of(error)
    except OSError:
        return FAILED, Problem("A file cannot be read or written.", "io", "Check the path, and whose the file is.")
    except Exception as error:
        return FAILED, Problem(
            f"anondb failed unexpectedly ({type(error).__name__}). This is a mistake in anondb: report it."
        )
