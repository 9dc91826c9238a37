"""The counts of many items, most of which are those of their released items: numbers of rows without a tuple for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

ItemRow = tuple[str, int, int]


@dataclass(frozen=True, eq=False)
class ItemCounts(Sequence[ItemRow]):
    """Rows (item, lower bound, upper bound).

    Attributes:
        items: the items.
        places: the place of the count of each item in ``counts``.
        counts: the different counts: their lower bounds and upper bounds.
    """

    items: Sequence[str]
    places: npt.NDArray[np.int64]
    counts: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[ItemRow]:
        return zip(self.items, *(ends[self.places].tolist() for ends in self.counts), strict=True)

    @overload
    def __getitem__(self, place: int) -> ItemRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[ItemRow]: ...

    def __getitem__(self, place: int | slice) -> ItemRow | list[ItemRow]:
        return list(self)[place]


def added(parts: Sequence[tuple[ItemCounts, int]]) -> list[ItemRow]:
    """The sums of the counts of disjoint persons, each with the upper bound for an item that it does not list."""
    items = parts[0][0].items if parts else []
    alike = all(part.items == items for part, _ in parts)
    if not alike:
        items = sorted({item for part, _ in parts for item in part.items})
    place_of = {item: place for place, item in enumerate(items)}
    lower = np.zeros(len(items), np.int64)
    upper = np.full(len(items), sum(absent for _, absent in parts))
    for part, absent in parts:
        at = slice(None) if alike else [place_of[item] for item in part.items]
        low, high = part.counts
        lower[at] += low[part.places]
        upper[at] += high[part.places] - absent
    return list(zip(items, lower.tolist(), upper.tolist(), strict=True))
