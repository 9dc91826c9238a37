"""What transactions may hold: numbers of items of some kinds, up to a cap each, as the cells of ``cells``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from anondb.answers.rules.cells import Array, Cells

Vector = tuple[int, ...]

MAX_CELLS = 64  # of a group: those of six items
MAX_COLUMNS = 6_000  # of all groups


@dataclass(frozen=True)
class Space:
    """All vectors of numbers of items: number n of a vector counts items of kind n, up to its cap."""

    caps: Vector

    @property
    def fits(self) -> bool:
        """Whether the vectors are few enough to be listed."""
        return prod(cap + 1 for cap in self.caps[:MAX_CELLS]) <= MAX_CELLS and len(self.caps) <= MAX_CELLS

    @cached_property
    def vectors(self) -> list[Vector]:
        """The vectors; the first has no items."""
        return list(product(*(range(cap + 1) for cap in self.caps)))

    @cached_property
    def _place(self) -> dict[Vector, int]:
        return {vector: n for n, vector in enumerate(self.vectors)}

    def _with(self, possible: Array, added: Vector) -> Array:
        """The rows of possible vectors, each with this one added."""
        to = [
            self._place[tuple(min(a + b, cap) for a, b, cap in zip(v, added, self.caps, strict=True))] for v in self.vectors
        ]
        moved = np.zeros_like(possible)
        for n, place in enumerate(to):
            moved[:, place] |= possible[:, n]
        return moved

    def possible(
        self, counts: Array, parts: Sequence[Iterable[Vector]], hidden: Iterable[tuple[Vector, int]], lost: Array
    ) -> Array:
        """Which vectors each group of transactions may have: a row for each group.

        Args:
            counts: for each group, how many of each of the parts its transactions have.
            parts: the vectors of which a part adds one.
            hidden: what suppressed items may add, each up to so many times.
            lost: which groups may have suppressed items.
        """
        possible = np.zeros((len(counts), len(self.vectors)), dtype=bool)
        possible[:, 0] = True
        for n, part in enumerate(parts):
            ways = list(part)
            for step in range(int(counts[:, n].max(initial=0))):
                rows = np.flatnonzero(counts[:, n] > step)
                possible[rows] = np.logical_or.reduce([self._with(possible[rows], way) for way in ways])
        rows = np.flatnonzero(lost)
        for vector, times in hidden:
            for _ in range(times if len(rows) else 0):
                possible[rows] |= self._with(possible[rows], vector)
        return possible


@dataclass(frozen=True, eq=False)
class Possible:
    """The cells of groups of transactions, those of the first group first: the possible vectors of each.

    Attributes:
        group, vector: the group of each cell, and the place of its vector in the space.
    """

    group: Array
    vector: Array

    @classmethod
    def of(cls, possible: Array) -> Possible | None:
        """The cells from the possible vectors of each group; None if they are too many, or none."""
        return cls(*np.nonzero(possible)) if 0 < possible.sum() <= MAX_COLUMNS else None

    def cells(self, sums: Array) -> Cells:
        """The cells with known sums."""
        return Cells(np.flatnonzero(np.diff(self.group, prepend=-1)), sums)
