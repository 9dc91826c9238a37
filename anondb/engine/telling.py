"""What an engine tells while it works: statements, the progress of long work, and steps that are done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
Tell = Callable[[str, float | None], None]  # ``Telling.progress``


class Progress(str):
    """A short text on the current step of long work."""

    share: float | None = None  # the share of it that is done, from 0 to 1; None if that is unknown

    @classmethod
    def of(cls, words: str, share: float | None = None) -> Progress:
        """Make it from the text and the share."""
        progress = cls(words)
        progress.share = share
        return progress


def silent(words: str, share: float | None = None) -> None:
    """Tell nothing of the progress."""


def within(tell: Tell, words: str) -> Tell:
    """Tell of the progress of a part; ``words`` name the part."""
    return lambda of_part, share: tell(f"{words}, {of_part}", share)


def told(tell: Tell, words: str, parts: Sequence[T]) -> Iterator[T]:
    """Iterate over the parts of some work of about equal size; before each, tell the share that is done."""
    for i, part in enumerate(parts):
        tell(words, i / len(parts) if len(parts) > 1 else None)
        yield part


@dataclass(frozen=True)
class StepDone:
    """A step that is done; for logs, so it has no data values."""

    step: str  # its name, such as ``load``
    seconds: float  # its wall time
    release: str | None = None  # the name of the release, once it is known
    counts: Mapping[str, int] = field(default_factory=dict)  # figures such as the number of transactions
    resumed: bool = False  # whether an earlier run had finished it


class Telling:
    """The part of an engine that tells what it does."""

    on_step: Callable[[StepDone], None] | None = None  # called with each step that is done
    # asks the owner to confirm a finding about the data; None if nobody can be asked
    on_finding: Callable[[Any], bool] | None = None
    _on_statement: Callable[[str], None] | None = None
    _on_progress: Callable[[str], None] | None = None
    _recorded: list[str] | None = None
    step_words = ""  # the words on the current step, with which the text of all progress begins
    _accounts: list[Any]
    reads_beside: Any = None  # how the transactions are read (``Reading``), for files beside them; None outside such a block

    def begin_step(self, words: str) -> None:
        """Report the start of a step; ``words`` begin the text of all progress in it."""
        self.step_words = words
        self.progress("")

    def progress(self, words: str, share: float | None = None) -> None:
        """Report the current step of long work to ``on_progress``, and the share of it that is done if that is known."""
        if self._on_progress is not None:
            self._on_progress(Progress.of(": ".join(filter(None, (self.step_words, words))), share))

    def end_step(self, done: StepDone) -> None:
        """Report the end of a step."""
        if self.on_step is not None:
            self.on_step(done)

    def say(self, text: str) -> None:
        """Report a statement to ``on_statement`` before it runs, and record it in a block of ``recording``."""
        if self._recorded is not None:
            self._recorded.append(text)
        if self._on_statement is not None:
            self._on_statement(text)

    def account(self, account: object) -> None:
        """Note the account of a file that was read, for a block of ``accounting``."""
        self._accounts.append(account)

    @contextlib.contextmanager
    def accounting(self) -> Iterator[list[Any]]:
        """Collect the accounts of the files that the block reads in the list that the block gets."""
        outer, self._accounts = self._accounts, []
        try:
            yield self._accounts
        finally:
            self._accounts = outer

    @contextlib.contextmanager
    def beside(self, reading: Any) -> Iterator[None]:
        """In the block, files beside the transactions are read as these are (``reading.files.beside``)."""
        outer, self.reads_beside = self.reads_beside, reading
        try:
            yield
        finally:
            self.reads_beside = outer

    @contextlib.contextmanager
    def recording(self) -> Iterator[list[str]]:
        """Record the text of every statement of the block in the list that the block gets."""
        outer, self._recorded = self._recorded, []
        try:
            yield self._recorded
        finally:
            self._recorded = outer
