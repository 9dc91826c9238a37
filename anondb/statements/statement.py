"""The statements of anonymized views as values, with their positions and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anondb.errors import InputError

Value = str | int | float | bool


class StatementSyntaxError(InputError):
    """A statement cannot be parsed. ``line`` and ``column`` are its position in the user's text, from 1."""

    default_code = "syntax_error"

    def __init__(
        self, message: str, line: int, column: int, *, code: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(f"line {line}, column {column}: {message}", code=code, hint=hint)
        self.place = {"line": line, "column": column}

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self.place["line"]  # type: ignore[index]

    @property
    def column(self) -> int:
        """The column, from 1, in characters."""
        return self.place["column"]  # type: ignore[index]


@dataclass(frozen=True)
class CreateView:
    """``CREATE [OR REPLACE] ANONYMIZED VIEW``.

    Attributes:
        name: the name of the view and of its release.
        query: the text of the query.
        options: the options, checked one by one (see ``anondb.policy``).
        replace: whether to replace an existing view of this name.
        start, query_start: where the statement and its query begin in the text.
    """

    name: str
    query: str
    options: Mapping[str, Value]
    replace: bool = False
    start: int = 0
    query_start: int = 0


@dataclass(frozen=True)
class RefreshView:
    """``REFRESH ANONYMIZED VIEW``."""

    name: str
    start: int = 0


@dataclass(frozen=True)
class DropView:
    """``DROP ANONYMIZED VIEW [IF EXISTS]``."""

    name: str
    if_exists: bool = False
    start: int = 0


@dataclass(frozen=True)
class ShowViews:
    """``SHOW ANONYMIZED VIEWS``; with ``status``, read each source to find out whether it has changed."""

    status: bool = False
    start: int = 0


@dataclass(frozen=True)
class Ordinary:
    """Ordinary SQL: one or more statements between statements of anonymized views, unchanged."""

    text: str
    start: int = 0


Statement = CreateView | RefreshView | DropView | ShowViews | Ordinary


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1, the column in characters."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def syntax_error(text: str, offset: int, message: str, hint: str | None = None) -> StatementSyntaxError:
    """A syntax error at an offset of the text."""
    return StatementSyntaxError(message, *position(text, offset), hint=hint)
