"""The limits of mining threats: rows of a join, rows that are kept, and threats."""

from anondb.engine.arrays import Floats, Ints
from anondb.errors import BudgetExceeded

CHUNK_ROWS = 20_000_000
MAX_ROWS = 4_000_000_000
MAX_PAIR_ROWS = 40_000_000_000  # half an hour
MAX_KEPT = 100_000_000
ROW_BYTES = 20
MAX_THREATS = 30_000_000


def check_join(total: int, size: int) -> None:
    """Refuse a join of more than ``MAX_ROWS`` rows."""
    if total > MAX_ROWS:
        raise BudgetExceeded(
            f"Itemsets of size {size} would need a join of about {total:,} rows; the limit is {MAX_ROWS:,}.",
            hint="Lower m, or raise k.",
        )


def check_pairs(total: int) -> None:
    """Refuse a join for pairs of more than ``MAX_PAIR_ROWS`` rows."""
    if total > MAX_PAIR_ROWS:
        raise BudgetExceeded(
            f"Pairs of nodes would need a join of about {total:,} rows; the limit is {MAX_PAIR_ROWS:,}.",
            hint="Raise --memory-limit, so that they are counted in arrays, or raise k.",
        )


def check_kept(total: int, size: int) -> None:
    """Refuse to keep more than ``MAX_KEPT`` occurrences of frequent itemsets."""
    if total > MAX_KEPT:
        raise BudgetExceeded(
            f"Frequent itemsets of size {size} occur at least {total:,} times: to keep them would need more"
            f" than {total * ROW_BYTES / 2**30:.1f} GiB of memory at this size, and more at the next.",
            hint="Lower m, or raise k.",
        )


def check_threats(total: int, size: int) -> None:
    """Refuse more than ``MAX_THREATS`` threats of one size."""
    if total > MAX_THREATS:
        raise BudgetExceeded(
            f"There are more than {MAX_THREATS:,} minimal threats of size {size}: to keep them would need more than "
            f"{MAX_THREATS * 16 * size / 2**30:.1f} GiB of memory.",
            hint="Lower m, raise k, or use mhghs instead of hghs.",
        )


def chunks(keys: Ints, mass: Ints | Floats, most: int | None = None) -> list[tuple[int, int]]:
    """Divide keys into ranges (first, last) with at most ``most`` (CHUNK_ROWS) of mass each, or of a single key."""
    most = CHUNK_ROWS if most is None else most
    ranges: list[tuple[int, int]] = []
    start, held = 0, 0.0
    for i, weight in enumerate(mass.tolist()):
        if held and held + weight > most:
            ranges.append((int(keys[start]), int(keys[i - 1])))
            start, held = i, 0.0
        held += weight
    if len(keys):
        ranges.append((int(keys[start]), int(keys[-1])))
    return ranges


def several(squared: int) -> bool:
    """Whether so many different pairs may need more than one range."""
    return squared > 2 * CHUNK_ROWS
