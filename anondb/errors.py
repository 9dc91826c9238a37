"""The errors that anondb raises on purpose, with the exit code of each on the command line.

A message names tables, columns, parameters and counts, and says what to do next. It never contains a data value (an item,
an id, an attribute value), because error texts end up in logs that are less protected than the data.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Literal

Interface = Literal["command line", "python", "sql", "toml"]
_interface: ContextVar[Interface] = ContextVar("interface", default="python")
SWITCHES = (
    *("allow-overlap", "drop-missing-ids", "drop-missing-items", "header", "include-constraints", "invert"),
    *("item-domains", "item-supports", "modelled-rows", "on-engine", "replace", "resume", "same-database"),
)
_FLAG = re.compile(r"(?P<by>(?:\bwith )?)(?<![^\s(])--(?P<name>[a-z]+(?:-[a-z]+)*)(?:[ =](?P<value>[A-Z0-9]|(?<==)[a-z]))?")

_NAME = r"(?<!\w)'[^']*'|\"[^\"]*\""  # which stays as it is
_NOUN = "byte|cell|column|constraint|id|item|label|line|node|person|record|row|sheet|transaction|value"
_VERB = "have|are|were|repeat|differ|belong|lack|begin|occur|need|count"
_ONE = re.compile(rf"{_NAME}|(?<![\w.,:/-])1 ({_NOUN})s\b((?:{_NAME}|(?<=\w)'(?=\w)|(?!\.\s|[;:'\"]).)*?\b(?:{_VERB})\b)?")
_SINGULAR = {"have": "has", "are": "is", "were": "was"}


@contextlib.contextmanager
def speaking(interface: Interface) -> Iterator[None]:
    """Word the errors that are made in the block for the users of an interface; Python is the default."""
    token = _interface.set(interface)
    try:
        yield
    finally:
        _interface.reset(token)


def by_interface(*, command_line: str, python: str, sql: str, toml: str | None = None) -> str:
    """The words for the interface in use, where naming an option is not enough; in a policy file, those of the command line
    unless there are others."""
    return {"command line": command_line, "python": python, "sql": sql, "toml": toml or command_line}[_interface.get()]


def worded(text: str) -> str:
    """A message, in which options are written as flags, in the words of the interface in use; numbers agree."""
    return _FLAG.sub(_WORDS[_interface.get()], agreeing(text))


def agreeing(text: str) -> str:
    """A text with ``1 row has`` in place of ``1 rows have``, but in names in quotes."""

    def singular(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        before, _, verb = (found[2] or "").rpartition(" ")
        return f"1 {found[1]}{before}" + (f" {_SINGULAR.get(verb, verb + 's')}" if verb else "")

    return _ONE.sub(singular, text)


def _in_python(flag: re.Match[str]) -> str:
    name, by, value = flag["name"], flag["by"], flag["value"] or ""
    if name.removeprefix("no-") in SWITCHES:
        return f"{by}{name.removeprefix('no-').replace('-', '_')}={not name.startswith('no-')}"
    name = {"release": "name"}.get(name, name.replace("-", "_"))
    return f"{by}{name}{'=' if by or value else ''}{value}"


def _in_sql(flag: re.Match[str]) -> str:
    off = " = false" if flag["name"].startswith("no-") else ""
    option = f"the option {flag['name'].removeprefix('no-').replace('-', '_')}{off}"
    words = "CREATE OR REPLACE" if flag["name"] == "replace" else option
    return f"{flag['by']}{words}{' ' if flag['value'] else ''}{flag['value'] or ''}"


def _in_toml(flag: re.Match[str]) -> str:
    name, value = flag["name"], flag["value"]
    if name.removeprefix("no-") in SWITCHES:
        name, value = name.removeprefix("no-"), "false" if name.startswith("no-") else "true"
    name = name.replace("-", "_")
    return f"{flag['by']}{name}{' = ' if value else ''}{value or ''}"


_WORDS: Mapping[Interface, Callable[[re.Match[str]], str]] = {
    "command line": lambda flag: flag[0],
    "python": _in_python,
    "sql": _in_sql,
    "toml": _in_toml,
}


class AnondbError(Exception):
    """Base class of all anondb errors.

    ``exit_code`` is the exit code of the command line; ``code`` is a short machine-readable name such as
    ``unknown_item`` (docs/algorithms/conventions.md#outcomes); ``hint`` says what to do next. Code names an option by its
    flag (``--id``), which the message turns into the words of the interface in use: ``id=`` in Python.
    """

    exit_code = 5

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        self.hint = None if hint is None else worded(hint)
        super().__init__(f"{worded(message)} {self.hint}" if self.hint else worded(message))
        self.code = code or self.default_code
        self.place: dict[str, int] | None = None  # in a script: statement, line and, where known, column

    default_code = "error"


class InputError(AnondbError):
    """Bad usage or bad input: the data, a taxonomy, a parameter or a name. Nothing was written."""

    exit_code = 2
    default_code = "bad_input"


class InfeasibleError(AnondbError):
    """No release keeps the promise within the user's bounds."""

    exit_code = 3
    default_code = "infeasible"


class VerificationFailed(AnondbError):
    """The verifier rejected the release: the promise does not hold. Nothing was published."""

    exit_code = 4
    default_code = "verification_failed"


class EngineError(AnondbError):
    """The database engine failed: memory, disk, a lock, or a user's query that does not run."""

    default_code = "engine"


class BudgetExceeded(EngineError):
    """The work needs more memory or time than is allowed; the message says how much."""

    default_code = "budget_exceeded"


class DamagedFile(EngineError):
    """A file is cut short, has changed bytes, or its rows contradict each other."""

    exit_code = 4
    default_code = "damaged"


class InternalError(AnondbError):
    """A bug in anondb. Nothing was published; please report it."""

    default_code = "internal"


def quote_list(names: Sequence[str]) -> str:
    """Names of columns, tables or options for a message: quoted, at most ten."""
    shown = ", ".join(repr(n) for n in names[:10])
    return shown + (f" and {len(names) - 10} more" if len(names) > 10 else "")
