"""Answer a query with a single number (persons who meet a condition, or items of persons), or with a number of persons for
each number of items: persons with equal sizes are counted together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from math import ceil

from anondb.query.cached_release import Opened
from anondb.query.classes import Block, classes_of
from anondb.query.evaluate import Evaluator, Part, Question
from anondb.query.item_tests import finite
from anondb.query.measures import asked_of, counted, measured, with_sizes_as_sums
from anondb.query.predicates import ALWAYS, MEASURE, NEVER, ROWS, Plan, Weights, at_least, conjuncts
from anondb.query.summed import SUM
from anondb.query.totals import Bounds, chosen, of_some_item, outcomes, outside_of, total

Ends = tuple[int, int | None]
"""Lower bound, and upper bound if there is one."""


def answered(release: Opened, plan: Plan, of_sizes: Bounds | None = None) -> Ends:
    """The answer to a query with a single number: persons, or items of persons; ``of_sizes`` are bounds from the numbers of
    items of each, where these are known."""
    if plan.counts == ROWS and plan.test is not None and plan.condition == at_least(1, plan.test):
        plan = replace(plan, condition=ALWAYS)  # who has no such item adds nothing
    among = plan.test if plan.counts == ROWS and release.suppressed and release.bags is None else None
    if among is not None and finite(among) is None:  # there may be any number of suppressed items
        summed = replace(plan, counts=MEASURE, test=None, measure=Weights(among), aggregate="sum")
        low, _ = measured([(release, summed)])
        return 0 if low is None else ceil(low - 1e-9), None
    sized = with_sizes_as_sums(plan) if release.bags is None else None
    bounds = of_sizes or (_from_rows(release, plan) if sized is None else counted(release, sized))
    return bounds if release.supported is None or plan.rows_alone else release.supported.scalar(plan, bounds)


def _from_rows(release: Opened, plan: Plan) -> Bounds:
    """Answer a query with a single number from the rows of a release."""
    listed = plan.test if plan.counts == ROWS else None
    question = Question.of(plan.condition, listed)
    if release.local or question.attributes:
        return counted(release, plan)
    if not question.tests:
        return (release.size if plan.condition == ALWAYS else 0,) * 2
    passing = release.passing(question.tests)
    blocks = release.blocks(passing)
    outside = outside_of(release, plan, question, passing)
    if listed is not None and plan.condition == ALWAYS:
        return _occurrences(release, question, blocks, outside)
    classes = classes_of(question, blocks)
    evaluator = Evaluator(question)
    some = of_some_item(release, evaluator, classes, outside)
    if some is not None:
        return some
    groups = release.records(classes)
    found = outcomes(evaluator, classes.parts, [g.counts for g in groups], outside)
    if found is None:
        found = [evaluator.outcome(chosen(classes, g.counts) + outside) for g in groups]
    return total([(one, g.records) for one, g in zip(found, groups, strict=True)])


def _occurrences(release: Opened, question: Question, blocks: Mapping[str, Block], outside: Sequence[Part]) -> Bounds:
    """Count items of all persons: the counts of released items add up, independently of their transactions."""
    evaluator = Evaluator(question)
    outcome = cache(lambda block: evaluator.outcome([block.part(question.caps)]))
    outcomes = [(outcome(blocks[released]), n) for released, n in release.supports.items() if released in blocks]
    return total([*outcomes, *([(evaluator.outcome(outside), release.size)] if outside else [])])


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
