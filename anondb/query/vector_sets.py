"""Sets of count vectors as the bits of a number: all vectors that the parts of a transaction may add up to, at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product

Vector = tuple[int, ...]
EMPTY = 1
"""The set of the vector without counts."""


class VectorSets:
    """Adds up sets of count vectors, each count up to its cap, and tells the ends of a number that depends on the sum.

    A vector is a place in the order of ``itertools.product``; one more of a count moves a set by the counts that follow, but
    for those vectors whose count is at its cap.
    """

    def __init__(self, caps: Vector, value: Callable[[Vector], int]) -> None:
        vectors = list(product(*(range(cap + 1) for cap in caps)))
        self._moves: list[tuple[int, int, int]] = []  # for each count: who stays, who moves, and how far
        far = len(vectors)
        for place, cap in enumerate(caps):
            far //= cap + 1
            full = sum(1 << n for n, vector in enumerate(vectors) if vector[place] == cap)
            self._moves.append((full, (1 << len(vectors)) - 1 - full, far))
        by_value: dict[int, int] = {}
        for n, vector in enumerate(vectors):
            number = value(vector)
            by_value[number] = by_value.get(number, 0) | 1 << n
        self._by_value = sorted(by_value.items())
        self.added = lru_cache(maxsize=1 << 16)(self._added)
        self.ends = lru_cache(maxsize=1 << 14)(self._ends)
        self._steps = lru_cache(maxsize=1 << 10)(self._find_steps)

    def _find_steps(self, vectors: tuple[Vector, ...]) -> list[tuple[bool, list[tuple[int, int, int]]]]:
        """How to come from each vector to the next one, and whether to begin anew."""
        steps, before = [], (0,) * len(self._moves)
        for vector in vectors:
            anew = any(now < then for now, then in zip(vector, before, strict=True))
            before = (0,) * len(before) if anew else before
            counts = zip(self._moves, vector, before, strict=True)
            steps.append((anew, [move for move, now, then in counts for _ in range(now - then)]))
            before = vector
        return steps

    def _added(self, reached: int, vectors: tuple[Vector, ...]) -> int:
        """The sums of a set's vectors and some others."""
        sums, at = 0, reached
        for anew, moves in self._steps(vectors):
            at = reached if anew else at
            for stay, move, far in moves:
                at = at & stay | (at & move) << far
            sums |= at
        return sums

    def _ends(self, reached: int) -> tuple[int, int]:
        """The least and the greatest number of a set's vectors."""
        numbers = [number for number, vectors in self._by_value if vectors & reached]
        return numbers[0], numbers[-1]
