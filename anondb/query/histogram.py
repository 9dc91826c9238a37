"""How many persons have each number of items: persons with equal sizes are counted together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anondb.query.cached_release import Opened
from anondb.query.measures import groups_of
from anondb.query.plan import Plan
from anondb.query.predicates import Weights, at_least, conjuncts
from anondb.query.summed import LOGISTIC
from anondb.query.totals import Bounds, clip

CELLS = 100_000  # numbers of one array: groups of persons times numbers of items


def histogram(release: Opened, plan: Plan) -> dict[int, Bounds]:
    """The number of persons of a plan who have each number of items that pass the test of its measure.

    Where items were suppressed, a person may have any number more than the released items say: the numbers go up to the
    largest one without these, and greater ones are possible, too.

    Raises:
        InputError: ``query_too_complex``.
    """
    assert isinstance(plan.measure, Weights)
    held = at_least(1, plan.measure.test) in conjuncts(plan.condition)
    groups = [(g, g.size) for g in groups_of(release, plan) if g.size is not None and g.outcome.greatest]
    groups = [(g, s._replace(greatest=max(s.greatest, float(held)))) for g, s in groups]
    most = max((size.greatest for _, size in groups), default=0.0)
    lower, estimate, upper = (np.zeros(int(most) + 1) for _ in range(3))
    groups.sort(key=lambda group: group[1].greatest)
    while groups:
        width = int(groups[-1][1].greatest) + 1
        taken, groups = groups[-(CELLS // width + 1) :], groups[: -(CELLS // width + 1)]
        outcomes = np.array([(g.outcome.least, g.outcome.expected, g.outcome.greatest) for g, _ in taken], dtype=float)
        least, expected, greatest = outcomes.T * np.array([g.persons for g, _ in taken])
        endless = np.array([g.endless for g, _ in taken])
        likely, possible = _numbers_of(np.array([size for _, size in taken], dtype=float), endless, int(held), width)
        lower[:width] += (least * ((possible.sum(axis=1) == 1) & ~endless)) @ possible
        estimate[:width] += expected @ likely
        upper[:width] += greatest @ possible
        upper[width:] += greatest @ endless
    ends = zip(lower.tolist(), estimate.tolist(), upper.tolist(), strict=True)
    return {number: clip(int(low), middle, int(high)) for number, (low, middle, high) in enumerate(ends) if high}


def _numbers_of(
    sizes: npt.NDArray[np.float64], endless: npt.NDArray[np.bool_], fewest: int, width: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """For each group (a row of ``Size``) how likely each number of items is, by a normal distribution, and whether it is
    possible."""
    least, mean, variance, greatest = (column[:, None] for column in sizes.T)
    numbers = np.arange(width)
    possible = (numbers >= np.maximum(least.astype(int), fewest)) & ((numbers <= greatest) | endless[:, None])
    distances = (numbers + 0.5 - mean) / np.sqrt(variance + 1e-9)
    below = 1 / (1 + np.exp(-LOGISTIC * np.clip(distances, -30.0, 30.0)))
    below = np.where(possible, below, 0.0)
    below[numbers + 1 > greatest] = 1.0
    return np.where(possible, np.diff(below, axis=1, prepend=0.0), 0.0), possible
