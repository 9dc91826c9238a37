"""The clock of ``anonymize``: it tells the engine's listeners of each step, and measures its time."""

import contextlib
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from anondb.engine.limit import Limited, limited
from anondb.engine.telling import StepDone, Telling

STEPS = ("load", "anonymize", "freeze", "verify", "accuracy", "publish")


@dataclass
class Clock:
    """The wall time of each step of a release."""

    publishes: bool = False  # whether publishing is one of the steps
    release: str | None = None  # the name of the release, for the log
    limit: float | None = None  # the time limit of all steps but publishing, in seconds
    kept: str = "nothing was kept"  # what is kept if the limit is reached, for the message
    seconds: dict[str, float] = field(default_factory=dict)  # the time of each step in seconds
    started: float = field(default_factory=time.perf_counter)  # when the first one began

    @contextlib.contextmanager
    def step(self, engine: Telling, name: str, words: str) -> Iterator[dict[str, int]]:
        """Report the start and the end of a step, with the counts that the block adds, and measure its time."""
        steps = len(STEPS) if self.publishes else len(STEPS) - 1
        engine.begin_step(f"step {STEPS.index(name) + 1} of {steps}, {words}")
        begun, counts = time.perf_counter(), dict[str, int]()
        try:
            yield counts
        finally:
            engine.step_words = ""
        self.seconds[name] = time.perf_counter() - begun
        resumed = bool(counts.pop("resumed", 0))
        engine.end_step(StepDone(name, round(self.seconds[name], 3), self.release, counts, resumed))

    def limited(self, engine: Limited) -> AbstractContextManager[None]:
        """Run a block within what is left of the time limit."""
        left = None if self.limit is None else max(self.limit - (time.perf_counter() - self.started), 0.001)
        return limited(engine, left, self.limit, self.kept)

    def report(self) -> dict[str, float]:
        """The seconds of all steps and their total, rounded to milliseconds; 0 for steps that did not run."""
        steps = dict.fromkeys(STEPS, 0.0) | self.seconds
        return {n: round(s, 3) for n, s in steps.items()} | {"total": round(time.perf_counter() - self.started, 3)}
