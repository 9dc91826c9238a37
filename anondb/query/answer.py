"""Answer a compiled COUNT query from a release: the order of the steps, and the ``Answer``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import fsum
from typing import Any

from anondb.query.aggregates import Aggregated
from anondb.query.anatomy import BucketAnswers
from anondb.query.by_item import item_rows
from anondb.query.cached_release import Opened
from anondb.query.evaluate import Question
from anondb.query.item_tests import finite
from anondb.query.measures import TOTAL_ERROR, averaged, counted, has_sums, measured, scaled
from anondb.query.pairs import SIGNS, pairs
from anondb.query.predicates import IDS, ITEMS, MEASURE, PAIRS, ROWS, Plan, Weights, both
from anondb.query.refusals import unsupported
from anondb.query.relational import group_values
from anondb.query.scalars import answered, histogram, on_records
from anondb.query.summed import SUM
from anondb.query.totals import Bounds, total
from anondb.query.values import DAY, Attribute, OnValue, Value

MORE_NOTE = (
    "Items were suppressed, so somebody may have any number more: greater numbers than the listed ones are possible."
)
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

    @property
    def bounds(self) -> Bounds:
        """Lower bound and upper bound of a query without GROUP BY."""
        ((lower, upper),) = self.rows
        return lower, upper


def _by_value(release: Opened, plan: Plan) -> dict[Value | None, Bounds]:
    """GROUP BY a relational attribute: the count for each possible value, in order."""
    assert plan.grouped is not None
    condition = both(plan.condition, OnValue(plan.grouped.name, None))
    question = Question.of(condition, plan.test if plan.counts == ROWS else None)
    if not question.tests:  # no person meets the condition
        return {}
    answers, shown = on_records(release, plan, question)
    return {value: total(answers.outcomes(value)) for value in group_values(plan.grouped, shown[plan.grouped.name])}


def _value_rows(release: Opened, plan: Plan) -> list[Row]:
    """The rows of a query grouped by a relational attribute, without impossible values."""
    assert plan.grouped is not None
    counts = _by_value(release, plan)
    order = [value for value in counts if value is not None]
    listed = [*order, *([None] if None in counts else [])]
    return [(_shown(plan.grouped, value), *counts[value]) for value in listed if counts[value][1]]


def _shown(attribute: Attribute, value: Value | None) -> str | int | float | None:
    """A value in the form of the original; dates and timestamps as ISO texts."""
    if not isinstance(value, Fraction):
        return value
    if attribute.dated:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(value * DAY))
        return moment.date().isoformat() if attribute.whole else moment.replace(tzinfo=None).isoformat(" ")
    return int(value) if attribute.whole else float(value)


def _aggregate(release: Opened, plan: Plan) -> Answer:
    """An aggregate of numbers over persons."""
    if release.anatomy:
        raise unsupported("an aggregate of numbers, from a release in buckets")
    lower, upper = _in_supports(release, plan, measured(release, plan))
    people = replace(plan, counts=IDS, measure=None, aggregate="", some=False)
    always = plan.aggregate == "sum" or plan.some
    if not always and not answer_plan(release, people).bounds[0]:  # the aggregate of nobody is NULL
        lower = upper = None
    return Answer(((lower, upper),), plan.notes)


def _in_supports(release: Opened, plan: Plan, found: Aggregated) -> Aggregated:
    """A sum or an average of weights of items, within what item supports say of the items and of the persons."""
    weights, (low, high) = plan.measure, found
    summed = isinstance(weights, Weights) and weights.kind == SUM and plan.aggregate in ("sum", "avg")
    if release.supported is None or not summed or has_sums(plan.condition):
        return found
    assert isinstance(weights, Weights)
    if release.suppressed and (weights.by_label is not None or finite(weights.test) is None):
        return found
    alone = replace(plan, measure=None, aggregate="")
    ends = _total(release, replace(alone, test=weights.test), weights)
    if plan.aggregate == "avg":
        persons = answer_plan(release, replace(alone, counts=IDS)).bounds
        if not persons[0]:
            return found
        ends = min(ends[0] / n for n in persons), max(ends[1] / n for n in persons)
    least, most = scaled(plan, ends)
    assert least is not None and most is not None
    return least if low is None else max(low, least), most if high is None else min(high, most)


def _total(release: Opened, plan: Plan, weights: Weights) -> tuple[float, float]:
    """The sum of weights of items over persons: of each item, its weight times the number of persons who have it."""
    if weights.by_label is None:
        least, most = answer_plan(release, replace(plan, counts=ROWS)).bounds
        return float(least), float(most)
    of = dict(weights.by_label)
    counts = [(of[item], ends) for item, *ends in item_rows(release, replace(plan, counts=ITEMS), None) if item in of]
    products = [[weight * end for end in ends] for weight, ends in counts]
    error = (
        TOTAL_ERROR * fsum(max(map(abs, ends)) for ends in products) if weights.error else 0.0
    )  # of terms that cancel
    return fsum(map(min, products)) - error, fsum(map(max, products)) + error


def _histogram(release: Opened, plan: Plan) -> Answer:
    """The number of persons with each number of items."""
    if release.anatomy:
        raise unsupported("GROUP BY a number of items, from a release in buckets")
    endless = release.suppressed and plan.counts_any
    assert isinstance(plan.measure, Weights)
    rows = [(number, *bounds) for number, bounds in sorted(histogram(release, plan).items()) if bounds[1]]
    return Answer(tuple(rows), plan.notes + (MORE_NOTE,) * endless)


def _with_sums(release: Opened, plan: Plan) -> Answer:
    """A number of persons whose condition compares sums with numbers."""
    if plan.counts != IDS or plan.grouped is not None or release.anatomy:
        raise unsupported("a condition on a sum around another count than of persons", "Use count(DISTINCT id).")
    return Answer((counted(release, plan),), plan.notes)


def check(release: Opened, plan: Plan) -> None:
    """Refuse a compiled query whose literals may not be of the original's type.

    Raises:
        InputError: ``ambiguous_item``.
    """
    release.unknown(plan.labels)


def answer_plan(release: Opened, plan: Plan, *, unbounded: bool = False) -> Answer:
    """Answer a compiled query.

    Args:
        release: the release.
        plan: the query.
        unbounded: whether a count may have no upper bound (None).

    Raises:
        InputError: ``unsupported_query``, ``query_too_complex`` or ``ambiguous_item``.
    """
    check(release, plan)
    if plan.counts == MEASURE:
        return _histogram(release, plan) if plan.aggregate == "histogram" else _aggregate(release, plan)
    if plan.counts == PAIRS:
        release.original.check_order(symmetric=SIGNS["<>"] <= plan.signs or not plan.signs & SIGNS["<>"])
        counted = Plan(IDS, plan.condition, labels=plan.labels)
        found = pairs(release, plan, answer_plan(release, counted).bounds)
        return Answer(tuple(found), plan.notes)
    if has_sums(plan.condition):
        return _with_sums(release, plan)
    anatomy = BucketAnswers(release) if release.anatomy else None
    if plan.counts == ITEMS:
        rows: Sequence[Row] = item_rows(release, plan, anatomy)
        return Answer(rows, plan.notes)
    if plan.grouped is not None:
        return Answer(tuple(_value_rows(release, plan)), plan.notes)
    ends = answered(release, plan, unbounded=unbounded) if anatomy is None else anatomy.scalar(plan)
    return Answer((ends,), plan.notes)


def average_in(release: Opened, plan: Plan) -> tuple[Aggregated, Bounds]:
    """The average of a plan over the persons of a release who have a number, and how many they are.

    Raises:
        InputError: ``unsupported_query`` or ``query_too_complex``.
    """
    if release.anatomy:
        raise unsupported("an aggregate of numbers, from a release in buckets")
    check(release, plan)
    return averaged(release, plan)
