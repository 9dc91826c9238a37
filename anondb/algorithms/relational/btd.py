"""BTD, the distance of clusters by their transactions (Poulis et al., section 5;
docs/algorithms/rum_tum_bound.md#btd), which approximates the order by Tum.

BTD(r1, r2) = (ones(b1 XOR b2) + 1) / (ones(b1 AND b2) + 1), and BTD(C) is the largest BTD of two records in C. It
orders the candidates of a merge instead of Tum(T(C u X)), which takes far more work. Different ratios of integers
below 2^26 are different doubles in the same order, so the comparison is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from anondb.algorithms.relational.items import Ints, ItemSets, slices

Floats = npt.NDArray[np.float64]


class Order(Protocol):
    """An order of candidates for a merge, by their items."""

    def __call__(self, seed: int, others: Ints) -> Ints:
        """Position of each of the other clusters, from 0, in the order of preference for a merge with the seed."""

    def merge(self, kept: int, gone: int) -> None:
        """Record that two clusters became one, which has the number ``kept``."""


class BtdOrder:
    """The order by BTD(C u X), updated incrementally.

    The largest distance between records of two initial clusters is computed once for each pair; that of merged clusters is
    the maximum over their initial clusters.

    Args:
        items: the item sets.
        clusters: the initial clusters.
    """

    def __init__(self, items: ItemSets, clusters: Sequence[Ints]) -> None:
        self._items = items
        self._flat = np.concatenate(clusters)
        size = np.array([len(c) for c in clusters], dtype=np.int64)
        self._begin = np.cumsum(size) - size
        place = np.empty(items.n, dtype=np.int64)
        place[self._flat] = np.arange(len(self._flat))
        owner = np.repeat(np.arange(items.n), np.diff(items.start))
        inside = np.isin(owner, self._flat) if len(self._flat) < items.n else np.ones(len(owner), dtype=np.bool_)
        order = np.argsort(items.item[inside], kind="stable")
        self._held_by = place[owner[inside]][order]  # positions in ``flat`` of the records that hold each item
        self._held_from = np.append(0, np.cumsum(np.bincount(items.item[inside], minlength=items.n_items)))
        self._length = np.diff(items.start)[self._flat]
        self._initial: dict[int, list[int]] = {c: [c] for c in range(len(clusters))}
        self._rows: dict[int, Floats] = {}
        self._inner = np.full(len(clusters), np.nan)

    def _row(self, first: int) -> Floats:
        """The largest distance of a record in an initial cluster to a record in each initial cluster."""
        if first not in self._rows:
            begin = int(self._begin[first])
            end = int(self._begin[first + 1]) if first + 1 < len(self._begin) else len(self._flat)
            farthest = np.zeros(len(self._begin))
            seen: set[bytes] = set()
            for record in self._flat[begin:end].tolist():
                held = self._items.item[self._items.start[record] : self._items.start[record + 1]]
                if held.tobytes() in seen:
                    continue
                seen.add(held.tobytes())
                place, _ = slices(self._held_from, held)
                common = np.bincount(self._held_by[place], minlength=len(self._flat))
                distance = (self._length + (len(held) + 1) - 2 * common) / (common + 1)
                np.maximum(farthest, np.maximum.reduceat(distance, self._begin), out=farthest)
            self._rows[first] = farthest
        return self._rows[first]

    def _within(self, cluster: int) -> float:
        """The largest distance within a cluster; that of a record to itself never exceeds that to another record."""
        if np.isnan(self._inner[cluster]):
            (first,) = self._initial[cluster]
            self._inner[cluster] = self._within_first(first)
        return float(self._inner[cluster])

    def _within_first(self, first: int) -> float:
        if first in self._rows:
            return float(self._rows[first][first])
        begin = int(self._begin[first])
        end = int(self._begin[first + 1]) if first + 1 < len(self._begin) else len(self._flat)
        _, marks = self._items.marks(self._flat[begin:end])
        rows = marks.T.astype(np.int64)
        common, length = rows @ rows.T, rows.sum(axis=1)
        return float(((length[:, None] + length[None, :] - 2 * common + 1) / (common + 1)).max())

    def distances(self, seed: int, others: Ints) -> Floats:
        """BTD(C u X) for each of the others."""
        across = np.maximum.reduce([self._row(first) for first in self._initial[seed]])
        parts = [self._initial[x] for x in others.tolist()]
        sizes = np.array([len(p) for p in parts])
        farthest = np.maximum.reduceat(across[[i for p in parts for i in p]], np.cumsum(sizes) - sizes)
        inside = np.array([self._within(x) for x in others.tolist()])
        return np.asarray(np.maximum(np.maximum(farthest, inside), self._within(seed)), dtype=np.float64)

    def __call__(self, seed: int, others: Ints) -> Ints:
        """Positions by BTD; ties go to the first cluster."""
        return _positions(self.distances(seed, others))

    def merge(self, kept: int, gone: int) -> None:
        """Record that two clusters became one, which has the number ``kept``."""
        self._inner[kept] = self.distances(kept, np.array([gone]))[0]
        self._initial[kept] = self._initial[kept] + self._initial.pop(gone)


def _positions(values: Floats) -> Ints:
    positions = np.empty(len(values), dtype=np.int64)
    positions[np.argsort(values, kind="stable")] = np.arange(len(values))
    return positions
