"""Sets of count vectors as the bits of a number: all vectors that the parts of a transaction may add up to, at once."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

Vector = tuple[int, ...]
EMPTY = 1
"""The set of the vector without counts."""
KEPT = 16  # spaces, and of each as many sums:
SUMS = 1 << 14


class VectorSets:
    """Adds up sets of the vectors of a space, each count up to its cap.

    A vector is a place in the order of ``itertools.product``, and a bit of a set; one more of a count moves a set by the
    counts that follow, but for those vectors whose count is at its cap.
    """

    def __init__(self, caps: Vector) -> None:
        self.vectors = list(product(*(range(cap + 1) for cap in caps)))
        self._moves: list[tuple[int, int, int]] = []  # for each count: who stays, who moves, and how far
        far = len(self.vectors)
        for place, cap in enumerate(caps):
            far //= cap + 1
            full = sum(1 << n for n, vector in enumerate(self.vectors) if vector[place] == cap)
            self._moves.append((full, (1 << len(self.vectors)) - 1 - full, far))
        self.added = lru_cache(maxsize=SUMS)(self._added)
        self._steps = lru_cache(maxsize=SUMS)(self._find_steps)

    def _added(self, reached: int, vectors: tuple[Vector, ...]) -> int:
        """The sums of a set's vectors and one of some others."""
        sums, at = 0, reached
        for anew, moves in self._steps(vectors):
            at = reached if anew else at
            for stay, move, far in moves:
                at = at & stay | (at & move) << far
            sums |= at
        return sums

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


vector_sets = lru_cache(maxsize=KEPT)(VectorSets)
"""The sets of a space, by its caps: questions share what was added up."""
