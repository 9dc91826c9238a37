"""The statements of anonymized views as values, with their positions and errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from anondb.engine.texts import literal, quoted
from anondb.errors import InputError

Value = str | int | float | bool


class StatementSyntaxError(InputError):
    """A statement cannot be parsed. ``place`` is the line and column in the user's text, from 1."""

    default_code = "syntax_error"

    def __init__(self, message: str, line: int, column: int, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(f"line {line}, column {column}: {message}", code=code, hint=hint)
        self.place = {"line": line, "column": column}


@dataclass(frozen=True, kw_only=True)
class _OnView:
    """What statements on one view have in common."""

    name: str = field(kw_only=False)  # the name of the view and of its release
    place: tuple[str, ...] = ()  # the database and schema before the name, if the statement has them
    # start, name_start: where the statement and the name begin in the text
    start: int = 0
    name_start: int = 0


@dataclass(frozen=True)
class CreateView(_OnView):
    """``CREATE [OR REPLACE] ANONYMIZED VIEW [IF NOT EXISTS]``."""

    query: str  # the text of the query
    options: Mapping[str, Value]  # the options, checked one by one (see ``anondb.policy``)
    replace: bool = False  # whether to replace an existing view of this name
    if_not_exists: bool = False  # whether to leave an existing view of this name as it is
    query_start: int = 0  # where the query begins in the text

    @property
    def text(self) -> str:
        """The statement in a form that gives the same view again."""
        name = quoted(self.name)
        lines = [" ".join(("CREATE", "ANONYMIZED", "VIEW", name, "AS")), self.query]
        options = [f"{option} = {literal(value)}" for option, value in self.options.items()]
        if options:
            lines.append(" ".join(("WITH", f"({', '.join(options)})")))
        return "\n".join(lines) + ";"


@dataclass(frozen=True)
class RefreshView(_OnView):
    """``REFRESH ANONYMIZED VIEW name [WITH (late_rows = 'refuse' | 'ignore')]``."""

    ignore_late_rows: bool = False


@dataclass(frozen=True)
class RefreshAll:
    """``REFRESH ALL ANONYMIZED VIEWS``."""

    start: int = 0


@dataclass(frozen=True)
class DropView(_OnView):
    """``DROP ANONYMIZED VIEW [IF EXISTS]``."""

    if_exists: bool = False


@dataclass(frozen=True)
class RenameView(_OnView):
    """``ALTER ANONYMIZED VIEW name RENAME TO new_name``."""

    new_name: str


@dataclass(frozen=True)
class DescribeView(_OnView):
    """``DESCRIBE ANONYMIZED VIEW``; with ``statement``, ``SHOW CREATE ANONYMIZED VIEW``."""

    statement: bool = False


@dataclass(frozen=True)
class ShowViews:
    """``SHOW ANONYMIZED VIEWS``; ``like`` is a pattern of names; with ``status``, read each source to find out whether it
    has changed."""

    status: bool = False
    start: int = 0
    like: str | None = None


@dataclass(frozen=True)
class Ordinary:
    """Ordinary SQL: one or more statements between statements of anonymized views, unchanged."""

    text: str
    start: int = 0


OnView = CreateView | RefreshView | DropView | RenameView | DescribeView
Statement = OnView | RefreshAll | ShowViews | Ordinary


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1, the column in characters."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def syntax_error(text: str, offset: int, message: str, hint: str | None = None) -> StatementSyntaxError:
    """A syntax error at an offset of the text."""
    return StatementSyntaxError(message, *position(text, offset), hint=hint)
