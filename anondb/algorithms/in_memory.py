"""Refuses data that an algorithm could not hold in memory."""

from anondb.engine import Engine
from anondb.errors import BudgetExceeded

MAX_OCCURRENCES = 2**31 - 1  # they are numbered by 32-bit integers
# one in so many bytes of the memory limit is left to an algorithm: DuckDB keeps much of the memory in which it read the rows
SHARE = 2


def check_occurrences(engine: Engine, occurrences: int, bytes_each: int, instead: str) -> None:
    """Refuse more occurrences than can be numbered, or than fit in half of the memory limit if the algorithm holds so many
    bytes for each at its peak; ``instead`` says what else to do. Raises BudgetExceeded: with their number, and the memory
    that they need."""
    if occurrences > MAX_OCCURRENCES:
        raise BudgetExceeded(
            f"The algorithm numbers all {occurrences:,} occurrences; the limit is {MAX_OCCURRENCES:,}.",
            hint=f"{instead[0].upper()}{instead[1:]}.",
        )
    what = f"The algorithm holds all {occurrences:,} occurrences in memory, in about"
    check_memory(engine, occurrences * bytes_each, what, instead)


def check_memory(engine: Engine, needed: int, what: str, instead: str) -> None:
    """Raise ``BudgetExceeded`` if so many bytes are more than half of the memory limit; ``what`` begins the message."""
    limit = engine.memory_limit
    if limit is not None and needed * SHARE > limit:
        raise BudgetExceeded(
            f"{what} {needed / 2**20:,.0f} MiB, which may be half of --memory-limit at most,"
            f" {limit / SHARE / 2**20:,.0f} MiB.",
            hint=f"Raise --memory-limit, or {instead}.",
        )
