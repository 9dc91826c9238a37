"""Refuses data that an algorithm could not hold in the memory of the machine."""

from __future__ import annotations

import os

from anondb.errors import BudgetExceeded

MAX_OCCURRENCES = 2**31 - 1  # they are numbered by 32-bit integers


def physical_memory() -> int | None:
    """The memory of the machine in bytes; None if the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def check_occurrences(occurrences: int, bytes_each: int, hint: str) -> None:
    """Refuse more occurrences than can be numbered, or than fit in memory at so many bytes each.

    Raises:
        BudgetExceeded: with their number.
    """
    memory = physical_memory()
    limit = MAX_OCCURRENCES if memory is None else min(MAX_OCCURRENCES, memory // bytes_each)
    if occurrences > limit:
        raise BudgetExceeded(
            f"The algorithm holds all {occurrences:,} occurrences in memory; the limit is {limit:,} on this machine.",
            hint=hint,
        )
