"""Answer a compiled COUNT query from a release: the order of the steps, and the ``Answer``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from math import ceil, fsum, inf
from typing import Any

from anondb.engine.limit import current
from anondb.query.aggregates import DISC, Aggregated, places
from anondb.query.by_item import item_rows
from anondb.query.cached_release import Opened
from anondb.query.classes import NO_CLASSES, Block, classes_of, passing_of
from anondb.query.evaluate import Evaluator, Part, Question
from anondb.query.held_sums import Bounds, chosen, of_some_item, outside_of, total
from anondb.query.item_tests import finite
from anondb.query.measures import TOTAL_ERROR, counted, has_sums, measured, scaled, with_sizes_as_sums
from anondb.query.pairs import SIGNS, pairs
from anondb.query.predicates import (
    ALWAYS,
    IDS,
    ITEMS,
    MEASURE,
    NOT_EMPTY,
    PAIRS,
    ROWS,
    Condition,
    Plan,
    Weights,
    at_least,
    both,
    conjuncts,
    negate,
)
from anondb.query.reading import last
from anondb.query.refusals import too_complex, unsupported
from anondb.query.relational import group_values
from anondb.query.sizes import Sizes, are_whole, histogram, sizes_of, span_of, spans_of
from anondb.query.summed import SUM
from anondb.query.supported import narrowed
from anondb.query.values import DAY, Attribute, OneOf, OnValue, Value

MORE_NOTE = "Items were suppressed, so somebody may have any number more: greater numbers than the listed ones are possible."
FEW_NUMBERS = 8  # of items, each of which is asked for
SOME_OR_NONE = ((1, inf), (-inf, 0))  # spans of numbers of items that say whether there are any
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
    """The answer to a compiled query.

    Attributes:
        rows: the groups, each with its values, then lower bound and upper bound of the count.
        notes: remarks for the analyst on the interpretation of the query.
    """

    rows: Sequence[Row]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def bounds(self) -> Bounds:
        """Lower bound and upper bound of a query without GROUP BY."""
        ((lower, upper),) = self.rows
        return lower, upper


def check_time() -> None:
    """Refuse to compute bounds where possible worlds, which answer alone then, need the time that is left."""
    limit = current.get()
    if limit is not None and limit.is_late:
        raise too_complex("its bounds would take too long")


def _answered(release: Opened, plan: Plan, of_sizes: Bounds | None) -> tuple[int, int | None]:
    """The answer to a query with a single number: persons, or items of persons.

    Args:
        release: the release.
        plan: the query.
        of_sizes: its bounds from the numbers of items of each person, if these give some.
    """
    if plan.counts == ROWS and plan.test is not None and plan.condition == at_least(1, plan.test):
        plan = replace(plan, condition=ALWAYS)  # who has no such item adds nothing
    among = plan.test if plan.counts == ROWS and release.suppressed and release.bags is None else None
    if among is not None and finite(among) is None:  # there may be any number of suppressed items
        summed = replace(plan, counts=MEASURE, test=None, measure=Weights(among), aggregate="sum")
        low, _ = measured([(release, summed)])
        return 0 if low is None else ceil(low - 1e-9), None
    sized = with_sizes_as_sums(plan) if release.bags is None else None
    bounds = of_sizes or (_from_rows(release, plan) if sized is None else counted(release, sized))
    if release.supported is None or plan.rows_alone:
        return bounds
    return release.supported.scalar(plan, bounds if plan.counts != IDS else _within_sizes(release, plan.condition, bounds))


def _from_rows(release: Opened, plan: Plan) -> Bounds:
    """Answer a query with a single number from the rows of a release."""
    listed = plan.test if plan.counts == ROWS else None
    question = Question.of(plan.condition, listed)
    if release.local or question.attributes:
        return counted(release, plan)
    if not question.tests:
        return (release.size if plan.condition == ALWAYS else 0,) * 2
    passing = passing_of(question.tests)
    blocks = release.blocks(passing)
    outside = outside_of(release, plan, question, passing)
    if listed is not None and plan.condition == ALWAYS:
        return _occurrences(release, question, blocks, outside)
    classes = classes_of(question, blocks)
    evaluator = Evaluator(question)
    bounds = of_some_item(release, evaluator, classes, outside)
    if bounds is not None:
        return bounds
    groups = release.records(classes)
    return total([(evaluator.outcome(chosen(classes, g.counts) + outside), g.records) for g in groups])


def _occurrences(release: Opened, question: Question, blocks: Mapping[str, Block], outside: Sequence[Part]) -> Bounds:
    """Count items of all persons: the counts of released items add up, independently of their transactions."""
    evaluator = Evaluator(question)
    outcome = cache(lambda block: evaluator.outcome([block.part(question.caps)]))
    outcomes = [(outcome(blocks[released]), n) for released, n in release.supports.items() if released in blocks]
    return total([*outcomes, *([(evaluator.outcome(outside), release.size)] if outside else [])])


def _value_rows(release: Opened, plan: Plan) -> list[Row]:
    """The rows of a query grouped by a relational attribute: the count for each possible value, in order."""
    attribute = plan.grouped
    assert attribute is not None
    rows = []
    for value in group_values(attribute, [group.cells[0] for group in release.records(NO_CLASSES, [attribute])]):
        check_time()
        same = OnValue(attribute.name, OneOf(frozenset() if value is None else frozenset({value})), null=value is None)
        bounds = counted(release, replace(plan, condition=both(plan.condition, same)))
        rows += [(_shown(attribute, value), *bounds)] if bounds[1] else []
    return rows


def _shown(attribute: Attribute, value: Value | None) -> str | int | float | None:
    """A value in the form of the original; dates and timestamps as ISO texts."""
    if not isinstance(value, Fraction):
        return value
    if attribute.dated:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(value * DAY))
        return moment.date().isoformat() if attribute.whole else moment.replace(tzinfo=None).isoformat(" ")
    return int(value) if attribute.whole else float(value)


def aggregate_of(parts: Sequence[tuple[Opened, Plan]]) -> Aggregated:
    """An aggregate of numbers over persons; without bounds if it may be NULL, since there may be no such persons.

    Args:
        parts: the plan of each release; these have different persons.
    """
    for release, plan in parts:
        if release.anatomy:
            raise unsupported("an aggregate of numbers, from a release in buckets")
        release.unknown(plan.labels)  # refuses texts that may be other spellings
    plan = parts[0][1]
    ends = _at_place(parts) or _in_supports(parts, measured(parts))
    return ends if plan.aggregate == "sum" or plan.some or _persons(parts)[0] else (None, None)


def _persons(parts: Sequence[tuple[Opened, Plan]]) -> Bounds:
    """How many persons an aggregate is over."""
    people = [(release, replace(plan, counts=IDS, measure=None, aggregate="", some=False)) for release, plan in parts]
    lower, upper = zip(*(answer_plan(release, plan).bounds for release, plan in people), strict=True)
    return sum(lower), sum(upper)


def _in_supports(parts: Sequence[tuple[Opened, Plan]], ends: Aggregated) -> Aggregated:
    """A sum of weights of items, within what item supports say of the items."""
    plan = parts[0][1]
    weights, (low, high) = plan.measure, ends
    if not isinstance(weights, Weights) or plan.aggregate != "sum":
        return ends
    if not all(_is_told(release, weights) for release, _ in parts) or has_sums(plan.condition):
        return ends
    totals = (
        _total(release, replace(asked, measure=None, aggregate="", test=weights.test), weights) for release, asked in parts
    )
    lower, upper = map(fsum, zip(*totals, strict=True))
    least, most = scaled(plan, (lower, upper))
    assert least is not None and most is not None
    return least if low is None else max(low, least), most if high is None else min(high, most)


def _at_place(parts: Sequence[tuple[Opened, Plan]]) -> Aggregated | None:
    """A quantile or an extreme of a sum, from the sums of persons and what item supports tell of them; None for others."""
    (release, plan), *others = parts
    kinds = {"min": (DISC, Fraction(0)), "max": (DISC, Fraction(1))}
    kind, share = kinds.get(plan.aggregate, (plan.aggregate, plan.share))
    weights = plan.measure if share is not None and not others and isinstance(plan.measure, Weights) else None
    sizes = None if weights is None else _sizes(release, weights, plan.condition)
    if sizes is None or share is None or not sizes.persons:
        return None
    first, last = places(kind, share, sizes.persons)
    return scaled(plan, (sizes.at(first)[0], sizes.at(last)[1]))


def _is_told(release: Opened, weights: Weights) -> bool:
    """Whether item supports tell the sum of weights of all persons."""
    every = weights.by_label is None and finite(weights.test) is not None
    return weights.kind == SUM and release.supported is not None and (every or not release.suppressed)


def _sizes(release: Opened, weights: Weights, condition: Condition) -> Sizes | None:
    """The sums of all persons, if they are whole and item supports tell their total; None for those of some persons."""
    every = condition in (ALWAYS, NOT_EMPTY) and release.bags is None and not release.anatomy
    if not every or not _is_told(release, weights) or not are_whole(weights):
        return None
    return last(
        release,
        "sizes",
        weights,
        lambda: sizes_of(release, weights, _total(release, Plan(IDS, condition, test=weights.test), weights)),
    )


def _within_sizes(release: Opened, condition: Condition, bounds: Bounds) -> Bounds:
    """The number of persons for whom a condition holds, of whom no more have such sums than of all persons."""
    spans = {w: span for w, span in spans_of(conjuncts(condition)).items() if span not in SOME_OR_NONE}
    every = ((_sizes(release, weights, ALWAYS), span) for weights, span in spans.items())
    return bounds[0], min([bounds[1], *(sizes.within(*span)[1] for sizes, span in every if sizes is not None)])


def _histogram(release: Opened, plan: Plan) -> list[Row]:
    """The number of persons for each number of items: of few, item supports tell more of those with as many and no more."""
    assert isinstance(plan.measure, Weights)
    sizes, test = _sizes(release, plan.measure, plan.condition), plan.measure.test
    if sizes is None:
        rows = [(number, *ends) for number, ends in histogram(release, plan).items()]
        if (every := _sizes(release, plan.measure, ALWAYS)) is not None:  # some of whom meet the condition
            most = answer_plan(release, Plan(IDS, plan.condition)).bounds[1]
            ends_of = ((n, low, min(high, most, every.within(n, n)[1])) for n, low, high in rows)
            rows = [row for row in ends_of if row[2]]
    else:
        numbers = range(int(sizes.ends[0]), int(sizes.ends[1]) + 1)
        rows = [(number, *ends) for number in numbers if (ends := sizes.within(number, number))[1]]
    few = finite(test) is not None and plan.measure == Weights(test) and len(rows) <= FEW_NUMBERS
    if not few or release.supported is None:
        return rows
    of = [both(plan.condition, at_least(n, test), negate(at_least(n + 1, test))) for n, *_ in rows]
    answers = (answer_plan(release, Plan(IDS, condition)).bounds for condition in of)
    listed = [(n, *narrowed(ends, *answer)) for (n, *ends), answer in zip(rows, answers, strict=True)]
    return [row for row in listed if row[2]]


def _within_rest(release: Opened, plan: Plan, bounds: Bounds) -> Bounds:
    """Bounds for a condition with sums, at most those that item supports give for the rest of the condition."""
    rest = both(*(part for part in conjuncts(plan.condition) if not has_sums(part)))
    if release.supported is None or plan.rows_alone or rest == ALWAYS:
        return bounds
    bounds = _within_sizes(release, plan.condition, bounds)
    return bounds[0], min(bounds[1], answer_plan(release, Plan(IDS, rest)).bounds[1])


def _total(release: Opened, plan: Plan, weights: Weights) -> tuple[float, float]:
    """The sum of weights of items over persons: of each item, its weight times the number of persons who have it."""
    if weights.by_label is None:
        least, most = answer_plan(release, replace(plan, counts=ROWS)).bounds
        return float(least), float(most)
    of = dict(weights.by_label)
    counts = [(of[item], ends) for item, *ends in item_rows(release, replace(plan, counts=ITEMS)) if item in of]
    products = [[weight * end for end in ends] for weight, ends in counts]
    error = TOTAL_ERROR * fsum(max(map(abs, ends)) for ends in products) if weights.error else 0.0  # of terms that cancel
    return fsum(map(min, products)) - error, fsum(map(max, products)) + error


def answer_plan(release: Opened, plan: Plan) -> Answer:
    """Answer a compiled query; a count of items that may be suppressed has no upper bound (None)."""
    release.unknown(plan.labels)  # refuses texts that may be other spellings
    if plan.counts == MEASURE:
        if plan.aggregate == "histogram":
            if release.anatomy:
                raise unsupported("GROUP BY a number of items, from a release in buckets")
            more = (MORE_NOTE,) if release.suppressed and plan.counts_any else ()
            return Answer(_histogram(release, plan), plan.notes + more)
        return Answer((aggregate_of([(release, plan)]),), plan.notes)
    if plan.counts == PAIRS:
        release.original.check_order(symmetric=SIGNS["<>"] <= plan.signs or not plan.signs & SIGNS["<>"])
        persons = answer_plan(release, Plan(IDS, plan.condition, labels=plan.labels)).bounds
        return Answer(tuple(pairs(release, plan, persons)), plan.notes)
    span = None if plan.rows_alone else span_of(plan)
    sizes = None if span is None else _sizes(release, span[0], span[1])
    sized = None if span is None or sizes is None else sizes.within(*span[2])
    if has_sums(plan.condition):
        if plan.counts != IDS or plan.grouped is not None or release.anatomy:
            raise unsupported("a condition on a sum around another count than of persons", "Use count(DISTINCT id).")
        return Answer((_within_rest(release, plan, sized or counted(release, plan)),), plan.notes)
    if plan.counts == ITEMS:
        return Answer(item_rows(release, plan), plan.notes)
    if plan.grouped is not None:
        return Answer(tuple(_value_rows(release, plan)), plan.notes)
    ends = release.buckets.scalar(plan) if release.anatomy else _answered(release, plan, sized)
    return Answer((ends,), plan.notes)
