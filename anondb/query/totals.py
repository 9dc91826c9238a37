"""The parts of a release's transactions in a question, and sums over transactions."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.query.cached_release import Opened
from anondb.query.classes import Classes, Passing
from anondb.query.evaluate import Outcome, Part, Question, suppressed_part
from anondb.query.plan import Plan
from anondb.query.predicates import AtLeast, ItemTest, OnSum, Weights, leaves, mentioned

Bounds = tuple[int, int]
"""Lower bound and upper bound of a count."""


def total(outcomes: Sequence[tuple[Outcome, int]]) -> Bounds:
    """The sum over transactions, from outcomes and the number of transactions with each."""
    return sum(o.least * n for o, n in outcomes), sum(o.greatest * n for o, n in outcomes)


def labels_of(plan: Plan) -> frozenset[str]:
    """The items that a query names."""
    return frozenset().union(*map(mentioned, _tests(plan)))


def _tests(plan: Plan) -> list[ItemTest]:
    of = list(leaves(plan.condition))
    tests = [leaf.test for leaf in of if isinstance(leaf, AtLeast)]
    tests += [leaf.weights.test for leaf in of if isinstance(leaf, OnSum)]
    tests += [plan.measure.test] if isinstance(plan.measure, Weights) else []
    return [*tests, *(test for test in (plan.test, plan.second) if test)]


def outside_of(release: Opened, question: Question, passing: Passing, labels: frozenset[str]) -> list[Part]:
    """The parts of suppressed items, if any: arbitrary items if suppression differs between transactions, including items
    released elsewhere; else only items without a released item."""
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
