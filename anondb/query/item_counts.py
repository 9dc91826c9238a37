"""The counts of many items, most of which are those of their released items: numbers of rows without a tuple for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

ItemRow = tuple[str, int, float, int]


@dataclass(frozen=True, eq=False)
class ItemCounts(Sequence[ItemRow]):
    """Rows (item, lower bound, estimate, upper bound).

    Attributes:
        items: the items.
        places: the place of the count of each item in ``counts``.
        counts: the different counts.
    """

    items: Sequence[str]
    places: npt.NDArray[np.int64]
    counts: Sequence[tuple[int, float, int]]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[ItemRow]:
        return ((item, *self.counts[place]) for item, place in zip(self.items, self.places.tolist(), strict=True))

    @overload
    def __getitem__(self, place: int) -> ItemRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[ItemRow]: ...

    def __getitem__(self, place: int | slice) -> ItemRow | list[ItemRow]:
        return list(self)[place]

    def columns(self) -> list[npt.NDArray[Any]]:
        """The lower bounds, the estimates and the upper bounds."""
        return [np.array(column)[self.places] for column in zip(*self.counts, strict=True)]


def added(parts: Sequence[ItemCounts]) -> list[ItemRow]:
    """The sums of the counts of equal items."""
    ends = zip(*(part.columns() for part in parts), strict=True)
    lower, estimate, upper = (np.add.reduce(end).tolist() for end in ends)
    return list(zip(parts[0].items, lower, estimate, upper, strict=True))
