"""The outcomes of all transactions, and their sums.

``Evaluator.outcome`` walks through the parts of one transaction. Where a question has few count vectors, each part is a
matrix that leads from vector to vector, so that all transactions with the part take one product. Whether persons have some
item that passes a test, or none, is read from the rows in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from anondb.query.cached_release import Opened
from anondb.query.classes import Classes, Passing
from anondb.query.evaluate import Evaluator, Outcome, Part, Question, capped_sum, suppressed_part
from anondb.query.held_sums import Array, HeldRows, indices
from anondb.query.item_tests import mentioned
from anondb.query.predicates import Plan

Bounds = tuple[int, int]
"""Lower bound and upper bound of a count."""
MAX_VECTORS = 64  # count vectors of a question
MAX_WORK = 1 << 32  # multiplications
ROWS = 1 << 14  # transactions at once
FEW = 8  # transactions that are walked through one by one


def total(outcomes: Sequence[tuple[Outcome, int]]) -> Bounds:
    """The sum over transactions, from outcomes and the number of transactions with each."""
    return sum(o.least * n for o, n in outcomes), sum(o.greatest * n for o, n in outcomes)


def labels_of(plan: Plan) -> frozenset[str]:
    """The items that a query names."""
    return frozenset().union(*map(mentioned, plan.tests))


def outside_of(release: Opened, plan: Plan, question: Question, passing: Passing) -> list[Part]:
    """The parts of suppressed items, if any: arbitrary items if suppression differs between transactions, including items
    released elsewhere; else only items without a released item."""
    labels = labels_of(plan)
    unknown = release.unknown(labels)
    if not release.suppressed:
        return []
    named = sorted(labels) if release.differing else unknown
    part = suppressed_part(question, [p for p in map(passing.of, named) if any(p)])
    return [part] if not part.fixed else []


def chosen(classes: Classes, counts: Sequence[int]) -> list[Part]:
    """The parts of a transaction; fixed parts come first, because they decide most conditions."""
    order = sorted(range(len(counts)), key=lambda n: not classes.parts[n].fixed)
    return [classes.parts[n] for n in order for _ in range(counts[n])]


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
    most = counts.max(axis=0, initial=0)
    if len(numbers) * (int(most.sum()) + len(rest)) * size * size > MAX_WORK:
        return None
    vectors = list(product(*(range(cap + 1) for cap in caps)))
    values = np.array([evaluator.value(vector) for vector in vectors], dtype=np.int64)
    moves = [_moves(part, caps) for part in parts]
    always = [_moves(part, caps) for part in rest]
    results: list[Outcome] = []
    for start in range(0, len(counts), ROWS):
        portion = counts[start : start + ROWS]
        possible = np.zeros((len(portion), len(vectors)))
        possible[:, 0] = 1.0
        for n, way in enumerate(moves):
            for step in range(int(most[n])):
                rows = np.flatnonzero(portion[:, n] > step)
                possible[rows] = np.sign(possible[rows] @ way)
        for way in always:
            possible = np.sign(possible @ way)
        reached = possible > 0
        least = np.where(reached, values, values.max()).min(axis=1)
        greatest = np.where(reached, values, values.min()).max(axis=1)
        results += map(Outcome, least.tolist(), greatest.tolist())
    return results


@lru_cache(maxsize=256)
def _moves(part: Part, caps: tuple[int, ...]) -> Array:
    """Whether a part may lead from each vector to each other one (1), or not (0)."""
    place = {vector: n for n, vector in enumerate(product(*(range(cap + 1) for cap in caps)))}
    way = np.zeros((len(place), len(place)))
    for vector, n in place.items():
        for more in part.vectors:
            way[n, place[capped_sum(vector, more, caps)]] = 1.0
    return way


def of_some_item(release: Opened, evaluator: Evaluator, classes: Classes, outside: Sequence[Part]) -> Bounds | None:
    """What ``Evaluator.outcome`` adds up to over all transactions.

    Args:
        release: the release, of a global recoding.
        evaluator: the question.
        classes: the classes of released items with a member that passes the test.
        outside: the parts of suppressed items.

    Returns:
        None for another question, and where the rows are not in memory, or are not needed.
    """
    if evaluator.some is None or release.numbered is None or len(classes.of) < 2:
        return None
    rows = release.numbered.rows_for(classes)
    if rows is None:
        return None
    zero = (0,) * len(evaluator.question.caps)
    certain = [part.vectors[0] != zero for part in classes.parts]
    sure = np.zeros(rows.size, dtype=bool)
    sure[_transactions(rows, [label for label, n in classes.of.items() if certain[n]])] = True
    held = sure.copy()
    held[_transactions(rows, [label for label, n in classes.of.items() if not certain[n]])] = True
    least = rows.size if any(part.vectors[0] != zero for part in outside) else int(sure.sum())
    greatest = rows.size if any(part.most != zero for part in outside) else int(held.sum())
    return (least, greatest) if evaluator.some else (rows.size - greatest, rows.size - least)


def _transactions(rows: HeldRows, labels: Sequence[str]) -> Array:
    """The transactions of each of some released items, one after the other."""
    return indices(np.concatenate([rows.transactions[:0], *map(rows.of_item, labels)]))
