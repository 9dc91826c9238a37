"""What a session keeps between queries: its files never change, so neither do the answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from sqlglot import exp

MAX_KEPT, MAX_ROWS_KEPT = 64, 5_000  # values that are kept, and the rows of one

VARYING = (
    exp.Anonymous,
    exp.CurrentDate,
    exp.CurrentDatabase,
    exp.CurrentSchema,
    exp.CurrentSchemas,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.Localtime,
    exp.Localtimestamp,
    exp.Rand,
    exp.Uuid,
)
"""Functions of which the same call may return another value; a function that sqlglot does not know may be one."""

V = TypeVar("V")


class Kept(Generic[V]):
    """A cache of the most recent values; long values are not kept.

    Args:
        rows: the number of rows of a value.
    """

    def __init__(self, rows: Callable[[V], int]) -> None:
        self._rows = rows
        self._values: dict[Hashable, V] = {}

    def find(self, key: Hashable) -> V | None:
        """The value of a key; None if it is not kept."""
        return self._values.get(key)

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of a key, which is made unless it is kept."""
        value = self._values.pop(key) if key in self._values else make()
        if self._rows(value) <= MAX_ROWS_KEPT:
            self._values[key] = value
            if len(self._values) > MAX_KEPT:
                del self._values[next(iter(self._values))]
        return value

    def clear(self) -> None:
        """Keep nothing."""
        self._values.clear()


def repeatable(tree: exp.Expr) -> bool:
    """Whether the rows of a query depend on nothing but its text and tables."""
    return tree.find(*VARYING) is None
