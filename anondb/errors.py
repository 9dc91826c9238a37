"""The errors that anondb raises on purpose, with the exit code of each on the command line.

A message names tables, columns, parameters and counts, and says what to do next. It never contains a data value (an item,
an id, an attribute value), because error texts end up in logs that are less protected than the data.
"""

from __future__ import annotations

from collections.abc import Sequence


class AnondbError(Exception):
    """Base class of all anondb errors.

    ``exit_code`` is the exit code of the command line; ``code`` is a short machine-readable name such as
    ``unknown_item`` (docs/algorithms/conventions.md#outcomes); ``hint`` says what to do next.
    """

    exit_code = 5

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(f"{message} {hint}" if hint else message)
        self.code = code or self.default_code
        self.hint = hint
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

    exit_code = 5
    default_code = "engine"


class BudgetExceeded(EngineError):
    """The work needs more memory or time than is allowed; the message says how much."""

    default_code = "budget_exceeded"


class InternalError(AnondbError):
    """A bug in anondb. Nothing was published; please report it."""

    exit_code = 5
    default_code = "internal"


def quote_list(names: Sequence[str]) -> str:
    """Names of columns, tables or options for a message: quoted, at most ten."""
    shown = ", ".join(repr(n) for n in names[:10])
    return shown + (f" and {len(names) - 10} more" if len(names) > 10 else "")
