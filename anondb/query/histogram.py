"""How many persons have each number of items: persons with equal sizes are counted together."""

from __future__ import annotations

from math import isinf

import numpy as np
import numpy.typing as npt

from anondb.query.cached_release import Opened
from anondb.query.measures import groups_of
from anondb.query.plan import Plan
from anondb.query.predicates import Weights, at_least, conjuncts
from anondb.query.refusals import unsupported
from anondb.query.summed import LOGISTIC
from anondb.query.totals import Bounds, clip

CELLS = 100_000  # numbers of one array: groups of persons times numbers of items


def histogram(release: Opened, plan: Plan) -> dict[int, Bounds]:
    """The number of persons of a plan who have each number of items that pass the test of its measure.

    Raises:
        InputError: ``unsupported_query`` if a number has no bound, or ``query_too_complex``.
    """
    assert isinstance(plan.measure, Weights)
    held = at_least(1, plan.measure.test) in conjuncts(plan.condition)
    groups = [(g, g.size) for g in groups_of(release, plan) if g.size is not None and g.outcome.greatest]
    most = max((size.greatest for _, size in groups), default=0.0)
    if isinf(most):
        raise unsupported(
            "GROUP BY a number of items where items were suppressed",
            "The release does not say how many, so each person may have had any number more. Ask how many persons have a"
            " number, such as HAVING count(*) >= 3, or for the number of items that you name.",
        )
    lower, estimate, upper = (np.zeros(int(most) + 1) for _ in range(3))
    groups.sort(key=lambda group: group[1].greatest)
    while groups:
        width = int(groups[-1][1].greatest) + 1
        taken, groups = groups[-(CELLS // width + 1) :], groups[: -(CELLS // width + 1)]
        outcomes = np.array([(g.outcome.least, g.outcome.expected, g.outcome.greatest) for g, _ in taken], dtype=float)
        least, expected, greatest = outcomes.T * np.array([g.persons for g, _ in taken])
        likely, possible = _numbers_of(np.array([size for _, size in taken], dtype=float), int(held), width)
        lower[:width] += (least * (possible.sum(axis=1) == 1)) @ possible
        estimate[:width] += expected @ likely
        upper[:width] += greatest @ possible
    ends = zip(lower.tolist(), estimate.tolist(), upper.tolist(), strict=True)
    return {number: clip(int(low), middle, int(high)) for number, (low, middle, high) in enumerate(ends) if high}


def _numbers_of(
    sizes: npt.NDArray[np.float64], fewest: int, width: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """For each group (a row of ``Size``) how likely each number of items is, by a normal distribution, and whether it is
    possible."""
    least, mean, variance, greatest = (column[:, None] for column in sizes.T)
    numbers = np.arange(width)
    possible = (numbers >= np.maximum(least.astype(int), fewest)) & (numbers <= greatest)
    distances = (numbers + 0.5 - mean) / np.sqrt(variance + 1e-9)
    below = 1 / (1 + np.exp(-LOGISTIC * np.clip(distances, -30.0, 30.0)))
    below = np.where(possible, below, 0.0)
    below[numbers + 1 > greatest] = 1.0
    return np.where(possible, np.diff(below, axis=1, prepend=0.0), 0.0), possible
