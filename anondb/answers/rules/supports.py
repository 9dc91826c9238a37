"""Item supports as arrays, and what they say of sets of items: of any size, and of many sets at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class SetBounds:
    """Bounds for sets of items, of the transactions that show one released item: a row for each set, a column for each.

    Attributes:
        size: how many of the items it stands for.
        any_low, any_high: of the number of transactions that hold one or more of the items.
        rows_low, rows_high: of the number of their occurrences.
    """

    size: Array
    any_low: Array
    any_high: Array
    rows_low: Array
    rows_high: Array


@dataclass(frozen=True, eq=False)
class Supports:
    """The item supports of a release.

    Attributes:
        shown: the number of transactions that show each released item.
        starts: where the members of each released item begin.
        least, most: for each member, how many of these transactions hold it. A released item without item supports says
            0 and all; one that stands for one item says all, and all.
    """

    shown: Array
    starts: Array
    least: Array
    most: Array

    @cached_property
    def label(self) -> Array:
        """The place of the released item of each member."""
        sizes = np.diff(np.append(self.starts, len(self.least)))
        return np.repeat(np.arange(len(self.starts)), sizes)

    @cached_property
    def _all_most(self) -> Array:
        return np.asarray(self._added(self.most[None])[0])

    def _added(self, values: Array) -> Array:
        added: Array = np.add.reduceat(values, self.starts, axis=1)
        return added

    def of_sets(self, chosen: Array) -> SetBounds:
        """Bounds for sets of items.

        Each transaction that shows a released item holds a member: those that hold no item of the set hold another one, so
        they are at most the sum of the others' ``most``.

        Args:
            chosen: for each set a row that says which members are in it.
        """
        size = self._added(chosen.astype(np.int64))
        least, most = self._added(np.where(chosen, self.least, 0)), self._added(np.where(chosen, self.most, 0))
        forced = np.where(size > 0, self.shown - (self._all_most - most), 0)
        largest = np.maximum.reduceat(np.where(chosen, self.least, 0), self.starts, axis=1)
        return SetBounds(
            size,
            np.maximum(largest, forced),
            np.minimum(self.shown, most),
            np.maximum(least, forced),
            np.minimum(most, size * self.shown),
        )

    def lacking(self, chosen: Array) -> Array:
        """For each set at most how many transactions lack one of its items, of those that show their released items."""
        lacking: Array = np.where(chosen, self.shown[self.label] - self.least, 0).sum(axis=1)
        return lacking
