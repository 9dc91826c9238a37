"""The outcomes of many transactions at once: the probabilities of all count vectors of a question as rows of an array.

``Evaluator.outcome`` walks through the parts of one transaction. Where a question has few count vectors, each part is a
matrix that moves probability from vector to vector, so that all transactions with the part take one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from anondb.query.evaluate import Evaluator, Outcome, Part

MAX_VECTORS = 64  # count vectors of a question
MAX_WORK = 1 << 32  # multiplications
ROWS = 1 << 14  # transactions at once
FEW = 8  # transactions that are walked through one by one

Array = npt.NDArray[np.float64]


def outcomes(
    evaluator: Evaluator, parts: Sequence[Part], numbers: Sequence[Sequence[int]], rest: Sequence[Part]
) -> list[Outcome] | None:
    """The outcome of each transaction, as ``Evaluator.outcome`` has it but for the rounding of sums of probabilities.

    Args:
        evaluator: the question.
        parts: the parts that a transaction may have.
        numbers: for each transaction, how many of each of the parts it has.
        rest: parts that all of them have.

    Returns:
        The outcomes; None if one by one is quicker, or if it would take too many steps.
    """
    caps = evaluator.question.caps
    size = prod(cap + 1 for cap in caps[:MAX_VECTORS])
    if len(numbers) <= FEW or size > MAX_VECTORS or len(caps) > MAX_VECTORS:
        return None
    counts = np.array(numbers, dtype=np.int64).reshape(len(numbers), len(parts))
    most = counts.max(axis=0, initial=0)
    if len(numbers) * (int(most.sum()) + len(rest)) * size * size > MAX_WORK:
        return None
    vectors = list(product(*(range(cap + 1) for cap in caps)))
    values = np.array([evaluator.value(vector) for vector in vectors], dtype=np.int64)
    moves = [_moves(part, caps) for part in parts]
    always = [_moves(part, caps) for part in rest]
    found: list[Outcome] = []
    for start in range(0, len(numbers), ROWS):
        some = counts[start : start + ROWS]
        likely, possible = np.zeros((2, len(some), size))
        likely[:, 0] = possible[:, 0] = 1.0
        for n, (chance, way) in enumerate(moves):
            for step in range(int(most[n])):
                rows = np.flatnonzero(some[:, n] > step)
                likely[rows], possible[rows] = likely[rows] @ chance, np.sign(possible[rows] @ way)
        for chance, way in always:
            likely, possible = likely @ chance, np.sign(possible @ way)
        reached = possible > 0
        least = np.where(reached, values, values.max()).min(axis=1)
        greatest = np.where(reached, values, values.min()).max(axis=1)
        found += map(Outcome, least.tolist(), (likely @ values).tolist(), greatest.tolist())
    return found


@lru_cache(maxsize=256)
def _moves(part: Part, caps: tuple[int, ...]) -> tuple[Array, Array]:
    """The probability with which a part leads from each vector to each other one, and whether it may."""
    place = {vector: n for n, vector in enumerate(product(*(range(cap + 1) for cap in caps)))}
    chance, way = np.zeros((2, len(place), len(place)))
    for vector, n in place.items():
        for more, likely in part.vectors:
            to = place[tuple(min(a + b, cap) for a, b, cap in zip(vector, more, caps, strict=True))]
            chance[n, to] += likely
            way[n, to] = 1.0
    return chance, way
