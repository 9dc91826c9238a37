"""What is known of values beside their bounds, for one of them and for all of a column."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What is known of a value, or of all values of a column, beside their bounds.

    Attributes:
        truth: whether it is a condition with bounds.
        present: whether it is not NULL for any original.
        item: whether it is an item that is a text here, but may be a number or the like in the original.
        plain: whether it equals such an item as a text if and only if it does in the original.
        least: a number that it is never below where its row is there, 0 or more: 1 for the rows of a group; its bounds may
            be below, but not negative.
        most: a number that it is never above where its row is there; its bounds may be above.
        whole: whether it is a whole number, as a count is.
        why: the construct that no rule reads, and what to do, where nothing is known of the value for this reason.
    """

    truth: bool = False
    present: bool = False
    item: bool = False
    plain: bool = False
    least: float | None = None
    most: float | None = None
    whole: bool = False
    why: str = ""

    @property
    def traits(self) -> dict[str, Any]:
        """These alone, by their names."""
        return {name: getattr(self, name) for name in _TRAITS}


_TRAITS = tuple(field.name for field in fields(Traits))
