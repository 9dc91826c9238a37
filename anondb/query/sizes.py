"""Persons by the sum over their items: how many have each, and what item supports say of the sum of all persons.

The rows show between which ends the sum of each person lies. To lie between two numbers, some must have more than the least
that they may have, or less than the greatest; what all of them together have more than their least is at most the total that
the supports tell less these. So as many persons as possible take the smallest such steps until the total is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, floor, fsum, inf

from anondb.query.cached_release import Opened
from anondb.query.measures import asked_of, has_sums, with_sizes_as_sums
from anondb.query.predicates import (
    ALWAYS,
    IDS,
    MEASURE,
    NEVER,
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
from anondb.query.totals import Bounds

Span = tuple[float, float]
"""The least and the greatest number of a span."""


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
        inside = [(self._steps(ends, low, high), number) for *ends, number in self.groups]
        outside = [(self._steps_outside(ends, low, high), number) for *ends, number in self.groups]
        rows = (self.persons - _possible(outside), _possible(inside))
        return narrowed(rows, self.persons - self._most(outside), self._most(inside))

    @property
    def persons(self) -> int:
        """Their number."""
        return sum(number for *_, number in self.groups)

    @property
    def ends(self) -> Span:
        """The least and the greatest number that a sum may be."""
        return min((ends[0] for ends in self.groups), default=0.0), max((ends[1] for ends in self.groups), default=-1.0)

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

    @staticmethod
    def _steps(ends: Sequence[float], low: float, high: float) -> Span | None:
        """How far a sum between two ends that lies in a span is from its least and its greatest value; None if it cannot."""
        least, greatest = ends
        return (max(0.0, low - least), max(0.0, greatest - high)) if least <= high and greatest >= low else None

    def _steps_outside(self, ends: Sequence[float], low: float, high: float) -> Span | None:
        """How far a sum that lies outside of a span is from its least and its greatest value; None if it cannot."""
        sides = [side for side in (self._steps(ends, -inf, low - 1), self._steps(ends, high + 1, inf)) if side is not None]
        return (min(of[0] for of in sides), min(of[1] for of in sides)) if sides else None

    def _most(self, steps: Sequence[tuple[Span | None, int]]) -> int:
        """How many persons can take their steps."""
        ends = [fsum(end * n for *of, n in self.groups if (end := of[side])) for side in (0, 1)]
        budgets = self.total[1] - ends[0], ends[1] - self.total[0]
        mosts = []
        for side, budget in enumerate(budgets):
            most, left = 0, max(0.0, budget)
            for step, number in sorted((of[side], number) for of, number in steps if of is not None):
                taken = number if step * number <= left else floor(left / step)
                most, left = most + taken, left - taken * step
            mosts.append(most)
        return min(mosts)


def _possible(steps: Sequence[tuple[Span | None, int]]) -> int:
    """How many persons can take steps at all."""
    return sum(number for of, number in steps if of is not None)


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
    low, high, weights = -inf, inf, set[Weights]()
    rest: Condition = ALWAYS
    for part in parts:
        leaf = part.part if isinstance(part, Not) else part
        if not isinstance(leaf, OnSum):
            rest = both(rest, part)
            continue
        weights.add(leaf.weights)
        least = floor(leaf.least) + 1 if leaf.open else ceil(leaf.least)
        low, high = (low, min(high, least - 1)) if isinstance(part, Not) else (max(low, least), high)
    return (weights.pop(), rest, (low, high)) if len(weights) == 1 and not has_sums(rest) else None


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
