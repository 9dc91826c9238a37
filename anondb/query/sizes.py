"""Persons by the sum over their items: how many have each, and what item supports say of the sum of all persons.

The rows show between which ends the sum of each person lies. To lie between two numbers, some must have more than the least
that they may have, or less than the greatest; what all of them together have more than their least is at most the total that
the supports tell less these. So as many persons as possible take the smallest such steps until the total is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import ceil, floor, fsum, inf

import numpy as np

from anondb.engine.arrays import Flags, Floats, Ints
from anondb.query.cached_release import Opened
from anondb.query.held_sums import Bounds
from anondb.query.measures import asked_of, has_sums, with_sizes_as_sums
from anondb.query.predicates import (
    ALWAYS,
    IDS,
    MEASURE,
    NEVER,
    AtLeast,
    Condition,
    Not,
    OnSum,
    Plan,
    Weights,
    at_least,
    both,
    conjuncts,
)
from anondb.query.summed import SUM
from anondb.query.supported import narrowed

Span = tuple[float, float]
"""The least and the greatest number of a span."""


Steps = tuple[Floats, Floats, Flags]
"""How far sums are from their least and from their greatest values, and whether they can be where they are wanted."""


@dataclass(frozen=True)
class Sizes:
    """The sums of persons.

    Attributes:
        groups: between which ends the sum of each person of a group lies, and their number.
        total: between which ends the sum of all persons lies.
    """

    groups: Sequence[tuple[float, float, int]]
    total: Span

    def within(self, low: float, high: float) -> Bounds:
        """How many persons have a sum in a span of whole numbers, at least and at most.

        The rows alone tell it where the total contradicts them, which that of a release never does.
        """
        inside, outside = self._steps(low, high), self._steps_outside(low, high)
        rows = (self.persons - self._possible(outside), self._possible(inside))
        return narrowed(rows, self.persons - self._most(outside), self._most(inside))

    @cached_property
    def _least(self) -> Floats:
        return np.array([least for least, _, _ in self.groups], dtype=np.float64)

    @cached_property
    def _greatest(self) -> Floats:
        return np.array([greatest for _, greatest, _ in self.groups], dtype=np.float64)

    @cached_property
    def _numbers(self) -> Ints:
        return np.array([number for *_, number in self.groups], dtype=np.int64)

    @cached_property
    def persons(self) -> int:
        """Their number."""
        return int(self._numbers.sum())

    @property
    def ends(self) -> Span:
        """The least and the greatest number that a sum may be."""
        return (float(self._least.min()), float(self._greatest.max())) if self.groups else (0.0, -1.0)

    def at(self, place: int) -> Span:
        """The least and the greatest value of the sum at a place, from 0, if all sums are in ascending order."""
        least = self._first(lambda high: self.within(-inf, high)[1] > place)
        return least, self._first(lambda high: self.within(-inf, high)[0] > place)

    def _first(self, enough: Callable[[float], bool]) -> float:
        """The first whole number which is large enough, as the greatest sum is."""
        low, high = floor(self.ends[0]), ceil(self.ends[1])
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        return float(low)

    def _steps(self, low: float, high: float) -> Steps:
        """The steps of sums into a span."""
        can = (self._least <= high) & (self._greatest >= low)
        return np.maximum(0, low - self._least), np.maximum(0, self._greatest - high), can

    def _steps_outside(self, low: float, high: float) -> Steps:
        """The steps of sums out of a span, to the nearer side."""
        sides = self._steps(-inf, low - 1), self._steps(high + 1, inf)
        below, above = ([np.where(can, steps, inf) for steps in ends] for *ends, can in sides)
        return np.minimum(below[0], above[0]), np.minimum(below[1], above[1]), sides[0][2] | sides[1][2]

    @cached_property
    def _budgets(self) -> Span:
        """How much more than their least, and less than their greatest values, all sums together may be."""
        least, greatest = (fsum(ends * self._numbers) for ends in (self._least, self._greatest))
        return max(0.0, self.total[1] - least), max(0.0, greatest - self.total[0])

    def _most(self, steps: Steps) -> int:
        """How many persons can take their steps: as many as possible take the smallest ones."""
        *ends, can = steps
        mosts = []
        for end, budget in zip(ends, self._budgets, strict=True):
            order = np.argsort(end[can], kind="stable")
            step, number = end[can][order], self._numbers[can][order]
            taken = np.cumsum(step * number)
            whole = int(np.searchsorted(taken, budget, side="right"))  # groups of which all take their steps
            most, left = int(number[:whole].sum()), budget - (taken[whole - 1] if whole else 0.0)
            mosts.append(most + (floor(left / step[whole]) if whole < len(step) else 0))
        return min(mosts)

    def _possible(self, steps: Steps) -> int:
        """How many persons can take steps at all."""
        return int(self._numbers[steps[2]].sum())


def sizes_of(release: Opened, weights: Weights, total: Span) -> Sizes:
    """The sums of all persons of a release, from the ends of their total."""
    asked = asked_of(release, Plan(MEASURE, ALWAYS, measure=weights, aggregate="histogram"))
    read = ((g.size, g.records) for g in release.records(asked.classes, asked.attributes, asked.sums))
    return Sizes([(size.least, size.greatest, records) for size, records in read if size is not None], total)


def span_of(plan: Plan) -> tuple[Weights, Condition, Span] | None:
    """The sum that the condition of a plan limits, the rest of the condition, and the whole numbers between which it limits
    the sum; None for other conditions."""
    sized = plan if has_sums(plan.condition) else with_sizes_as_sums(plan)
    parts = conjuncts(sized.condition) if sized is not None and plan.counts == IDS and plan.grouped is None else ()
    rest = both(*(part for part in parts if not isinstance(_leaf(part), OnSum)))
    spans = spans_of([part for part in parts if isinstance(_leaf(part), OnSum)])
    if len(spans) != 1 or has_sums(rest):
        return None
    ((weights, span),) = spans.items()
    return weights, rest, span


def _leaf(part: Condition) -> Condition:
    return part.part if isinstance(part, Not) else part


def spans_of(parts: Sequence[Condition]) -> dict[Weights, Span]:
    """The whole numbers between which conditions, all of which hold, limit the sums over a person's items."""
    spans: dict[Weights, Span] = {}
    for part in parts:
        leaf = _leaf(part)
        if isinstance(leaf, AtLeast):
            weights, least = Weights(leaf.test), leaf.count
        elif isinstance(leaf, OnSum):
            weights, least = leaf.weights, floor(leaf.least) + 1 if leaf.open else ceil(leaf.least)
        else:
            continue
        low, high = spans.get(weights, (-inf, inf))
        spans[weights] = (low, min(high, least - 1)) if isinstance(part, Not) else (max(low, least), high)
    return spans


def are_whole(weights: Weights) -> bool:
    """Whether weights are whole numbers, each added up."""
    listed = [weight for _, weight in weights.by_label or ()]
    return weights.kind == SUM and not weights.error and all(float(w).is_integer() for w in (*listed, *weights.others))


def histogram(release: Opened, plan: Plan) -> dict[int, Bounds]:
    """The number of persons of a plan who have each number of items that pass the test of its measure.

    Where items were suppressed, a person may have any number more than the released items say: the numbers go up to the
    largest one without these, and greater ones are possible, too.
    """
    assert isinstance(plan.measure, Weights)
    if plan.condition == NEVER:
        return {}
    fewest = int(plan.measure.kind == SUM and at_least(1, plan.measure.test) in conjuncts(plan.condition))
    asked, more = asked_of(release, plan), release.suppressed and plan.counts_any
    possible = []
    for g in release.records(asked.classes, asked.attributes, asked.sums):
        met, endless = asked.outcome(g.counts, g.cells, g.complete, g.states), more and not g.complete
        if met.greatest and g.size is not None:
            possible.append((max(int(g.size.least), fewest), int(g.size.greatest), endless, met, g.records))
    most = max((max(high, fewest * endless) for _, high, endless, _, _ in possible), default=0)
    lower, changes = [0] * (most + 1), [0] * (most + 2)
    for low, high, endless, met, persons in possible:
        if low == high and not endless:
            lower[low] += met.least * persons
        if low <= high or endless:
            changes[low] += met.greatest * persons
            changes[(most if endless else high) + 1] -= met.greatest * persons
    return {number: ends for number, ends in enumerate(zip(lower, accumulate(changes[:-1]), strict=True)) if ends[1]}
