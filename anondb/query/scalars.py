"""Answer a query with a single number (persons who meet a condition, or items of persons), or with a number of persons for
each number of items: persons with equal sizes are counted together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

import numpy as np
import numpy.typing as npt

from anondb.query.cached_release import Opened
from anondb.query.classes import Block, Size
from anondb.query.evaluate import Evaluator, Outcome, Part, Question
from anondb.query.item_tests import ANY_ITEM, finite
from anondb.query.measures import Asked, asked_of, counted, measured, with_sizes_as_sums
from anondb.query.predicates import ALWAYS, MEASURE, NEVER, ROWS, Plan, Weights, at_least, conjuncts
from anondb.query.reading import last
from anondb.query.relational import Cell, RecordAnswers
from anondb.query.summed import SUM
from anondb.query.totals import Bounds, chosen, labels_of, of_some_item, outcomes, outside_of, total
from anondb.query.values import LISTS, ROW, OnValue

Ends = tuple[int, int | None]
"""Lower bound, and upper bound if there is one."""


def answered(release: Opened, plan: Plan, *, unbounded: bool) -> Ends:
    """The answer to a query with a single number; ``unbounded`` says that it need not have an upper bound.

    The number of all rows is kept.
    """
    if plan.counts == ROWS and plan.test is not None and plan.condition == at_least(1, plan.test):
        plan = replace(plan, condition=ALWAYS)  # who has no such item adds nothing
    every = plan.counts == ROWS and plan.condition == ALWAYS and plan.test == ANY_ITEM
    if every and unbounded in release.lines:
        return release.lines[unbounded]
    found: Ends = (
        _unbounded_rows(release, plan) if unbounded and _may_be_suppressed(release, plan) else _scalar(release, plan)
    )
    if every:
        release.lines[unbounded] = found
    return found


def _scalar(release: Opened, plan: Plan) -> Bounds:
    """Answer a query with a single number: persons, or items of persons."""
    sized = with_sizes_as_sums(plan) if release.bags is None else None
    bounds = _from_rows(release, plan) if sized is None else counted(release, sized)
    return bounds if release.supported is None or plan.rows_alone else release.supported.scalar(plan, bounds)


def _from_rows(release: Opened, plan: Plan) -> Bounds:
    """Answer a query with a single number from the rows of a release."""
    counted = plan.test if plan.counts == ROWS else None
    question = Question.of(plan.condition, counted)
    if release.local or any(isinstance(test, OnValue) for test in question.tests):
        return total(on_records(release, plan, question)[0].outcomes())
    if not question.tests:
        return (release.size if plan.condition == ALWAYS else 0,) * 2
    passing = release.passing(question.tests)
    blocks = release.blocks(passing)
    outside = outside_of(release, question, passing, labels_of(plan))
    if counted is not None and plan.condition == ALWAYS:
        return _occurrences(release, question, blocks, outside)
    classes = release.classes(question, blocks)
    evaluator = Evaluator(question)
    some = of_some_item(release, evaluator, classes, outside)
    if some is not None:
        return some
    signatures = release.signatures(classes)
    counts, numbers = [c for c, _ in signatures], [n for _, n in signatures]
    found = outcomes(evaluator, classes.parts, counts, outside)
    if found is None:
        found = [evaluator.outcome(chosen(classes, c) + outside) for c in counts]
    rest = release.size - sum(numbers)
    return total([*zip(found, numbers, strict=True), *([(evaluator.outcome(outside), rest)] if rest else [])])


def on_records(release: Opened, plan: Plan, question: Question) -> tuple[RecordAnswers, dict[str, list[Cell]]]:
    """The records for a question with conditions on values, and the published values of each of its attributes."""
    names = {test.attribute for test in question.tests if isinstance(test, OnValue)}
    attributes = [a for a in release.attributes or () if a.name in names]
    passing = release.passing(question.tests)
    outside = outside_of(release, question, passing, labels_of(plan))
    classes = release.classes(question, release.blocks(passing))
    read = partial(release.records, classes, list(attributes))
    groups = last(release, "groups", (classes.key, *attributes), read) if attributes else read()
    for free in (ROW, LISTS):
        if free.name in names:
            attributes.append(free)
            groups = [replace(g, cells=(*g.cells, ("",))) for g in groups]
    parts = [((*chosen(classes, g.counts), *(() if g.complete else outside)), g.cells, g.records) for g in groups]
    shown = {a.name: [g.cells[i] for g in groups] for i, a in enumerate(attributes)}
    return RecordAnswers(question, attributes, parts), shown


def _occurrences(release: Opened, question: Question, blocks: Mapping[str, Block], outside: Sequence[Part]) -> Bounds:
    """Count items of all persons: the counts of released items add up, independently of their transactions."""
    evaluator = Evaluator(question)
    outcomes: list[tuple[Outcome, int]] = []
    known: dict[Block, Outcome] = {}
    for released, transactions in release.supports.items():
        block = blocks.get(released)
        if block is not None:
            if block not in known:
                known[block] = evaluator.outcome([block.part(question.caps)])
            outcomes.append((known[block], transactions))
    if outside:
        outcomes.append((evaluator.outcome(outside), release.size))
    return total(outcomes)


def _unbounded_rows(release: Opened, plan: Plan) -> tuple[int, None]:
    """A number of items of persons, some of which may be suppressed ones: it has no upper bound."""
    assert plan.test is not None
    if plan.condition == ALWAYS and not release.local and release.supported is None:
        question = Question.of(plan.condition, plan.test)
        blocks = release.blocks(release.passing(question.tests))
        return _occurrences(release, question, blocks, ())[0], None
    summed = replace(plan, counts=MEASURE, test=None, measure=Weights(plan.test), aggregate="sum")
    low, _ = measured([(release, summed)])
    return 0 if low is None else ceil(low - 1e-9), None


def _may_be_suppressed(release: Opened, plan: Plan) -> bool:
    """Whether any number of suppressed items may be among the counted ones."""
    if not release.suppressed or release.bags is not None or release.anatomy:
        return False
    return plan.counts == ROWS and plan.test is not None and finite(plan.test) is None


CODES = 1 << 62  # a group is a number below

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Sizes:
    """Groups of persons with equal sizes: the columns of ``Size``, how many they are, and how many of them meet the
    condition at least and at most, and whether suppressed items may add any number to their sizes."""

    sizes: Floats
    persons: Floats
    outcomes: Floats
    endless: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls, sizes: Sequence[Size] | Floats, persons: Sequence[int] | Ints, met: Floats, endless: Sequence[bool]
    ) -> _Sizes:
        """The groups of which somebody may meet the condition; ``met`` has the outcome of each."""
        there = met[:, 1] > 0
        many, most = np.asarray(persons, dtype=float)[there], np.asarray(endless, dtype=bool)[there]
        return cls(np.asarray(sizes, dtype=float).reshape(-1, 2)[there], many, met[there] * many[:, None], most)


def histogram(release: Opened, plan: Plan) -> dict[int, Bounds]:
    """The number of persons of a plan who have each number of items that pass the test of its measure.

    Where items were suppressed, a person may have any number more than the released items say: the numbers go up to the
    largest one without these, and greater ones are possible, too.

    Raises:
        InputError: ``query_too_complex``.
    """
    assert isinstance(plan.measure, Weights)
    if plan.condition == NEVER:
        return {}
    held = plan.measure.kind == SUM and at_least(1, plan.measure.test) in conjuncts(plan.condition)
    groups = _sizes_of(release, asked_of(release, plan))
    most = int(groups.sizes[:, 1].max(initial=float(held and groups.endless.any())))
    ends = (np.rint(end).astype(int).tolist() for end in _numbers(groups, int(held), most))
    return {number: bounds for number, bounds in enumerate(zip(*ends, strict=True)) if bounds[1]}


def _outcomes(met: Sequence[Outcome]) -> Floats:
    return np.array([(one.least, one.greatest) for one in met], dtype=float).reshape(-1, 2)


def _sizes_of(release: Opened, asked: Asked) -> _Sizes:
    """The persons of a plan by their sizes."""
    numbered = None if asked.classes.wide else release.numbered
    plain = not (asked.attributes or asked.compared or release.differing) and asked.sums[0].kind == SUM
    if numbered is None or not plain or numbered.rows is None:
        groups = release.records(asked.classes, asked.attributes, asked.sums)
        of_each = _outcomes([asked.outcome(g.counts, g.cells, g.complete, g.states) for g in groups])
        endless = [asked.endless and not g.complete for g in groups]
        return _Sizes.of([g.size for g in groups if g.size], [g.records for g in groups], of_each, endless)
    rows, (one,) = numbered.rows, asked.sums
    codes = asked.classes.all_codes(release.sizes)
    signatures = rows.signatures(codes) if codes else np.zeros(rows.size, dtype=np.int64)
    kinds, signature = _kinds(signatures)
    counts = asked.classes.all_counts(kinds) if asked.classes.parts else [()] * len(kinds)
    met = _outcomes([asked.outcome(c, (), not release.suppressed, ()) for c in counts])
    ends = {name: rows.totals(one.labels, one.shares[name]) for name in Size._fields}
    first, persons = _alike([signature, *(end.astype(np.int64) for end in ends.values())])
    hidden = {"least": one.low, "greatest": one.high} if release.suppressed else {}
    sizes = np.column_stack([end[first] + hidden.get(name, 0.0) for name, end in ends.items()])
    return _Sizes.of(sizes, persons, met[signature[first]], [asked.endless and release.suppressed] * len(first))


def _kinds(keys: Ints) -> tuple[Ints, Ints]:
    """The different ones of some numbers, which are not negative, and the place of each number among them."""
    if keys.max(initial=0) > 4 * len(keys):
        kinds, places = np.unique(keys, return_inverse=True)
        return kinds, places
    there = np.bincount(keys) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]


def _alike(keys: Sequence[Ints]) -> tuple[Ints, Ints]:
    """One row of each group of rows with equal keys, which are not negative, and the number of rows of each group."""
    code = np.zeros(len(keys[0]), dtype=np.int64)
    several = 1
    for key in keys:
        width = int(key.max(initial=0)) + 1
        if several * width >= CODES:
            values, code = np.unique(code, return_inverse=True)
            several = len(values)
        code, several = code * width + key, several * width
    _, first, persons = np.unique(code, return_index=True, return_counts=True)
    return first, persons


def _numbers(groups: _Sizes, fewest: int, most: int) -> tuple[Floats, Floats]:
    """For each number of items how many persons have it at least and at most."""
    low, high = np.maximum(groups.sizes[:, 0].astype(int), fewest), groups.sizes[:, 1].astype(int)
    high = np.where(groups.endless, np.maximum(high, fewest), high)
    there = low <= high
    low, high, endless = low[there], high[there], groups.endless[there]
    least, greatest = groups.outcomes[there].T
    alone = (low == high) & ~endless
    lower = np.bincount(low[alone], least[alone], most + 1)
    more, fewer = (np.bincount(ends, greatest, most + 2) for ends in (low, np.where(endless, most, high) + 1))
    upper: Floats = np.cumsum(more - fewer)[:-1]
    return lower.astype(float), upper
