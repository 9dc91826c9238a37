"""The outcomes of many transactions at once: which count vectors of a question each may have, as rows of an array.

``Evaluator.outcome`` walks through the parts of one transaction. Where a question has few count vectors, each part is a
matrix that leads from vector to vector, so that all transactions with the part take one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.query.evaluate import Evaluator, Outcome, Part, Question

MAX_VECTORS = 64  # count vectors of a question
MAX_WORK = 1 << 32  # multiplications
ROWS = 1 << 14  # transactions at once
FEW = 8  # transactions that are walked through one by one
MOST_KEPT = 1 << 12  # outcomes of a question that are kept

Array = npt.NDArray[Any]


def outcomes(
    evaluator: Evaluator, parts: Sequence[Part], numbers: Sequence[tuple[int, ...]], rest: Sequence[Part]
) -> list[Outcome] | None:
    """The outcome of each transaction, as ``Evaluator.outcome`` has it.

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
    if len(numbers) * (int(counts.max(axis=0, initial=0).sum()) + len(rest)) * size * size > MAX_WORK:
        return None
    if len(numbers) > MOST_KEPT:
        return _computed(evaluator, parts, counts, rest)
    kept = _kept(evaluator.question, tuple(parts), tuple(rest))
    new = [n for n, some in enumerate(numbers) if some not in kept]
    made: dict[tuple[int, ...], Outcome] = {}
    if new:
        made = dict(zip([numbers[n] for n in new], _computed(evaluator, parts, counts[new], rest), strict=True))
    if len(kept) + len(made) <= MOST_KEPT:
        kept |= made
    return [made[some] if some in made else kept[some] for some in numbers]


@lru_cache(maxsize=8)
def _kept(question: Question, parts: tuple[Part, ...], rest: tuple[Part, ...]) -> dict[tuple[int, ...], Outcome]:
    """Outcomes that were computed for a question, by the numbers of the parts: those of many files are often the same."""
    return {}


def _computed(evaluator: Evaluator, parts: Sequence[Part], counts: Array, rest: Sequence[Part]) -> list[Outcome]:
    """The outcomes of transactions with these numbers of the parts."""
    caps = evaluator.question.caps
    most = counts.max(axis=0, initial=0)
    vectors = list(product(*(range(cap + 1) for cap in caps)))
    values = np.array([evaluator.value(vector) for vector in vectors], dtype=np.int64)
    moves = [_moves(part, caps) for part in parts]
    always = [_moves(part, caps) for part in rest]
    found: list[Outcome] = []
    for start in range(0, len(counts), ROWS):
        some = counts[start : start + ROWS]
        possible = np.zeros((len(some), len(vectors)))
        possible[:, 0] = 1.0
        for n, way in enumerate(moves):
            for step in range(int(most[n])):
                rows = np.flatnonzero(some[:, n] > step)
                possible[rows] = np.sign(possible[rows] @ way)
        for way in always:
            possible = np.sign(possible @ way)
        reached = possible > 0
        least = np.where(reached, values, values.max()).min(axis=1)
        greatest = np.where(reached, values, values.min()).max(axis=1)
        found += map(Outcome, least.tolist(), greatest.tolist())
    return found


@lru_cache(maxsize=256)
def _moves(part: Part, caps: tuple[int, ...]) -> Array:
    """Whether a part may lead from each vector to each other one (1), or not (0)."""
    place = {vector: n for n, vector in enumerate(product(*(range(cap + 1) for cap in caps)))}
    way = np.zeros((len(place), len(place)))
    for vector, n in place.items():
        for more in part.vectors:
            way[n, place[tuple(min(a + b, cap) for a, b, cap in zip(vector, more, caps, strict=True))]] = 1.0
    return way
