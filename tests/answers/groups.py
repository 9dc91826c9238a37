"""The groups of equal queries in ``spellings.sql``, and what equal results are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("spellings.sql")
HEAD = re.compile(r"-- ([\w ]+?)(?: \[(\w+)\])?")
CLOSE = 1e-9  # of numbers that are equal, relative
Row = Sequence[Any]


@dataclass(frozen=True)
class Group:
    """Queries that DuckDB answers alike on every original.

    Attributes:
        name: of the group.
        needs: what it names besides ``sales``: ``food``, ``prices``, ``records`` (the original's customers), or nothing.
        spellings: the queries.
    """

    name: str
    needs: str
    spellings: list[str] = field(default_factory=list)


def groups(file: Path = FILE) -> list[Group]:
    """The groups of a file, in their order."""
    found: list[Group] = []
    for line in map(str.strip, file.read_text("utf-8").splitlines()):
        if head := HEAD.fullmatch(line):
            found.append(Group(head[1], head[2] or ""))
        elif line.endswith(";"):
            found[-1].spellings.append(line[:-1])
        else:
            assert not (line and found), f"neither a name nor a query: {line}"
    return found


def plain(value: Any) -> Any:
    """A number as a double, and any other value as it is."""
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return float(value) if is_number else value


def close(one: Any, other: Any) -> bool:
    """Whether two values are equal, numbers within the rounding of doubles."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=CLOSE) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def same_rows(one: Sequence[Row], other: Sequence[Row]) -> bool:
    """Whether two results have the same rows, in any order and under any names."""
    first, second = (sorted((tuple(map(plain, row)) for row in rows), key=_place) for rows in (one, other))
    return len(first) == len(second) and all(
        len(a) == len(b) and all(map(close, a, b)) for a, b in zip(first, second, strict=True)
    )


def _place(row: Row) -> list[str]:
    """An order in which rows that differ by the rounding of doubles lie side by side."""
    return [f"{v:.6g}" if isinstance(v, float) else str(v) for v in row]
