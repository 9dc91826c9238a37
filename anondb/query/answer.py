"""Answering a COUNT query from a release: the steps in order, and the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from math import fsum
from typing import Any

from anondb.engine import Engine
from anondb.errors import AnondbError
from anondb.query.anatomy import BucketAnswers
from anondb.query.evaluate import Evaluator, Outcome, Part, Passed, Question, part_of, suppressed_part
from anondb.query.opened import Block, Classes, Holding, Opened, Passing
from anondb.query.plan import ITEMS, ROWS, Plan
from anondb.query.predicates import ALWAYS, NO_ITEM, AtLeast, both, leaves, mentioned
from anondb.query.refusals import unsupported
from anondb.query.relational import Cell, RecordAnswers, group_values
from anondb.query.rewriter import rewrite
from anondb.query.values import DAY, ROW, Attribute, OnValue, Value
from anondb.release.objects import SchemaName

BOUNDS = ("lower_bound", "estimate", "upper_bound")
Bounds = tuple[int, float, int]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
    """The answer to a COUNT query.

    Attributes:
        columns: names of the group columns, empty without GROUP BY.
        rows: the groups, each with its values, then lower bound, estimate and upper bound of the count.
        notes: what the analyst should know about the reading.
        predicate: what was counted, in words close to SQL, with the analyst's own literals.
        name: what the count is called in the query, ``count`` without an alias.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    predicate: str
    name: str = "count"

    @property
    def bounds(self) -> Bounds:
        """Lower bound, estimate and upper bound of a query without GROUP BY."""
        ((lower, estimate, upper),) = self.rows
        return lower, estimate, upper

    def to_json(self) -> dict[str, Any]:
        """The answer as values that JSON has."""
        return {
            "count": self.name,
            "columns": [*self.columns, *BOUNDS],
            "rows": [list(row) for row in self.rows],
            "notes": list(self.notes),
            "predicate": self.predicate,
        }


def _clip(lower: int, estimate: float, upper: int) -> Bounds:
    return lower, min(max(float(estimate), float(lower)), float(upper)), upper


def _sum(outcomes: Sequence[tuple[Outcome, int]]) -> Bounds:
    return _clip(
        sum(o.least * n for o, n in outcomes),
        fsum(o.expected * n for o, n in outcomes),
        sum(o.greatest * n for o, n in outcomes),
    )


def _labels(plan: Plan) -> frozenset[str]:
    tests = [leaf.test for leaf in leaves(plan.condition) if isinstance(leaf, AtLeast)]
    return frozenset().union(*(mentioned(t) for t in tests), mentioned(plan.test) if plan.test else frozenset())


def _scalar(release: Opened, plan: Plan) -> Bounds:
    """A single number: persons, or items of persons."""
    counted = plan.test if plan.counts == ROWS else None
    question = Question.of(plan.condition, counted)
    if release.differing or any(isinstance(test, OnValue) for test in question.tests):
        return _sum(_on_records(release, plan, question)[0].outcomes())
    if not question.tests:
        return _clip(*(release.size if plan.condition == ALWAYS else 0,) * 3)
    passing = release.passing(question.tests)
    blocks = release.blocks(passing)
    outside = _outside(release, question, passing, _labels(plan))
    if counted is not None and plan.condition == ALWAYS:
        return _occurrences(release, question, blocks, outside)
    classes = release.classes(question, blocks)
    evaluator = Evaluator(question)
    outcomes = [(evaluator.outcome(_chosen(classes, c) + outside), n) for c, n in release.signatures(classes)]
    rest = release.size - sum(n for _, n in outcomes)
    if rest:
        outcomes.append((evaluator.outcome(outside), rest))
    return _sum(outcomes)


def _on_records(release: Opened, plan: Plan, question: Question) -> tuple[RecordAnswers, dict[str, list[Cell]]]:
    """The records of a question with conditions on values, and the published values of each attribute it looks at."""
    names = {test.attribute for test in question.tests if isinstance(test, OnValue)}
    attributes = [a for a in release.attributes or () if a.name in names]
    passing = release.passing(question.tests)
    outside = _outside(release, question, passing, _labels(plan))
    classes = release.classes(question, release.blocks(passing))
    groups = release.records(classes, attributes)
    if ROW.name in names:
        attributes.append(ROW)
        groups = [replace(g, cells=(*g.cells, ("",))) for g in groups]
    parts = [((*_chosen(classes, g.counts), *(() if g.complete else outside)), g.cells, g.records) for g in groups]
    shown = {a.name: [g.cells[i] for g in groups] for i, a in enumerate(attributes)}
    return RecordAnswers(question, attributes, parts), shown


def _by_value(release: Opened, plan: Plan) -> dict[Value | None, Bounds]:
    """GROUP BY a relational attribute: the count for each value that somebody may have, in order."""
    assert plan.grouped is not None
    condition = both(plan.condition, OnValue(plan.grouped.name, None))
    question = Question.of(condition, plan.test if plan.counts == ROWS else None)
    if not question.tests:  # nobody meets the condition
        return {}
    answers, shown = _on_records(release, plan, question)
    return {value: _sum(answers.outcomes(value)) for value in group_values(plan.grouped, shown[plan.grouped.name])}


def _value_rows(release: Opened, plan: Plan) -> list[Row]:
    """The rows of a query grouped by a relational attribute; values that nobody can have are left out."""
    assert plan.grouped is not None
    found = _by_value(release, plan)
    if plan.other is not None:
        for value, other in _by_value(release, plan.other).items():
            bounds = found.get(value, (0, 0.0, 0))
            found[value] = _clip(min(bounds[0], other[0]), bounds[1], max(bounds[2], other[2]))
    order = [value for value in found if value is not None]
    if plan.descending:
        order.reverse()
    listed = [*order, *([None] if None in found else [])]
    return [(_shown(plan.grouped, value), *found[value]) for value in listed if found[value][2]]


def _shown(attribute: Attribute, value: Value | None) -> str | int | float | None:
    """A value as the original has it; dates and points in time as ISO texts."""
    if not isinstance(value, Fraction):
        return value
    if attribute.dated:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(value * DAY))
        return moment.date().isoformat() if attribute.whole else moment.replace(tzinfo=None).isoformat(" ")
    return int(value) if attribute.whole else float(value)


def _outside(release: Opened, question: Question, passing: Passing, labels: frozenset[str]) -> list[Part]:
    """What suppressed items may add, where there may be some: any items where that differs between transactions, also such
    as are released elsewhere; else those that no released item stands for."""
    unknown = release.unknown(labels)
    if not release.suppressed:
        return []
    named = sorted(labels) if release.differing else unknown
    part = suppressed_part(question, [p for p in map(passing.of, named) if any(p)])
    return [part] if not part.fixed else []


def _chosen(classes: Classes, counts: Sequence[int]) -> list[Part]:
    """The parts of a transaction; what always adds the same comes first, since it decides most."""
    order = sorted(range(len(counts)), key=lambda n: not classes.parts[n].fixed)
    return [classes.parts[n] for n in order for _ in range(counts[n])]


def _occurrences(release: Opened, question: Question, blocks: Mapping[str, Block], outside: Sequence[Part]) -> Bounds:
    """Items of all persons: released items add up, whichever transactions they are in."""
    evaluator = Evaluator(question)
    outcomes: list[tuple[Outcome, int]] = []
    known: dict[Block, Outcome] = {}
    for released, transactions in release.supports().items():
        block = blocks.get(released)
        if block is not None:
            if block not in known:
                known[block] = evaluator.outcome([block.part(question.caps)])
            outcomes.append((known[block], transactions))
    if outside:
        outcomes.append((evaluator.outcome(outside), release.size))
    return _sum(outcomes)


def _by_item(release: Opened, plan: Plan) -> list[Row]:
    """GROUP BY item: one row for each original item that some released item stands for.

    Where several do, one of a transaction is the lowest, and the others follow in its holding. So the transactions in which
    one is the lowest for an item are those that have it, less those that hold it above another that stands for the item.
    """
    assert plan.test is not None
    question = Question.of(plan.condition)
    listed = release.passing([plan.test, *question.tests])
    passing = listed.without_first()
    blocks = release.blocks(passing)
    outside = _outside(release, question, passing, _labels(plan))
    classes = release.classes(question, blocks)
    if release.bags is not None and not release.is_laminar:
        raise unsupported("GROUP BY item where released items share only some members", "Count the items one by one.")
    holdings = release.holdings(classes)
    under = {label: _lifted(release, found) for label, found in holdings.items()}
    hidden = Counter[tuple[int, ...]]()
    if release.differing:
        hidden.update({g.counts: g.records for g in release.records(classes, ()) if not g.complete})
    walk = _ItemWalk(release, question, blocks, classes, outside)

    @cache
    def lowest(label: str, below: tuple[str, ...], passed: Passed) -> tuple[Bounds, Counter[tuple[int, ...]]]:
        """The transactions in which a released item is the lowest for an item, and what they are if not complete."""
        found = holdings.get(label, Counter())
        if below:
            found = Counter(found)
            for lower in below:
                found.subtract(under[lower][label])
        rest = Counter[tuple[int, ...]]()
        if release.differing:
            for holding, transactions in found.items():
                if not holding.complete:
                    rest[holding.counts] += transactions
        return _sum([(walk.held(holding, passed), n) for holding, n in found.items() if n]), rest

    @cache
    def answered(labels: tuple[str, ...], passed: Passed) -> Bounds:
        """The count for an item that passes these tests and that these released items stand for, from below to above."""
        parts = []
        rests = []
        for n, label in enumerate(labels):
            below = tuple(lower for lower in labels[:n] if label in under.get(lower, {}))
            bounds, rest = lowest(label, below, passed)
            parts.append(bounds)
            rests.append(rest)
        if release.differing:
            elsewhere = Counter(hidden)
            for rest in rests:
                elsewhere.subtract(rest)
            parts.append(_sum([(walk.hidden(counts, passed), n) for counts, n in elsewhere.items() if n]))
        lower, estimate, upper = map(sum, zip(*parts, strict=True))
        return _clip(lower, estimate, upper)

    rows: list[Row] = []
    for item in release.items:
        wanted, *passed = listed.of(item)
        if wanted:
            labels = sorted(release.images[item], key=lambda released: (release.sizes[released], released))
            rows.append((item, *answered(tuple(labels), tuple(passed))))
    return rows


def _lifted(release: Opened, found: Counter[Holding]) -> dict[str, Counter[Holding]]:
    """The same transactions as they are for the next released item above, by its label."""
    lifted: dict[str, Counter[Holding]] = {}
    for holding, transactions in found.items():
        if len(holding.items) > 1:
            above = holding._replace(items=holding.items[1:])
            lifted.setdefault(release.label_of(above.items[0]), Counter())[above] += transactions
    return lifted


class _ItemWalk:
    """Evaluates the question whether a person meets a condition and has one given item besides.

    To the question's tests comes a last one, which only that item passes.
    """

    def __init__(
        self,
        release: Opened,
        question: Question,
        blocks: Mapping[str, Block],
        classes: Classes,
        outside: Sequence[Part],
    ) -> None:
        self._release, self._blocks = release, blocks
        self._caps = (*question.caps, 1)
        self._evaluator = Evaluator(Question(question.condition, (*question.tests, NO_ITEM), self._caps, counted=True))
        self._classes = replace(classes, parts=[_stretched(p) for p in classes.parts])
        self._outside = [_stretched(p) for p in outside]
        self._own: dict[tuple[Block, Passed], int] = {}
        self._own_parts: list[Part] = []
        self._own_number = cache(self._find_number)
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...], bool, Passed], Outcome] = {}

    def held(self, holding: Holding, passed: Passed) -> Outcome:
        """A transaction in which released items stand for the item, which passes these tests of the question."""
        others = list(holding.counts)
        own = []
        for item in holding.items:
            number = self._classes.of.get(item, self._classes.default)
            if number is not None:
                others[number] -= 1
            own.append(self._own_number(item, passed))
        return self._outcome(tuple(own), tuple(others), holding.complete, passed)

    def hidden(self, counts: tuple[int, ...], passed: Passed) -> Outcome:
        """A transaction in which the item can only have been suppressed."""
        return self._outcome((), counts, False, passed)

    def _outcome(self, own: tuple[int, ...], counts: tuple[int, ...], complete: bool, passed: Passed) -> Outcome:
        key = own, counts, complete, passed
        if key not in self._known:
            parts = [*(self._own_parts[n] for n in own), *_chosen(self._classes, counts)]
            if not complete:
                parts += self._suppressed(passed) if self._release.differing else self._outside
            self._known[key] = self._evaluator.outcome(parts)
        return self._known[key]

    def _find_number(self, item: str, passed: Passed) -> int:
        """The number of the part of a released item that stands for the given item; the same for equal parts."""
        block = self._blocks.get(item) or self._release.block(item)
        number = self._own.setdefault((block, passed), len(self._own))
        if number == len(self._own_parts):
            passing = []
            for which, members in block.passing:
                left = members - (which == passed)
                if left:
                    passing.append(((*which, False), left))
            self._own_parts.append(replace(block, passing=(*passing, ((*passed, True), 1))).part(self._caps))
        return number

    def _suppressed(self, passed: Passed) -> list[Part]:
        """What is outside of the released items, where that may be the given item, too."""
        width = len(self._caps)
        vectors = dict(self._outside[0].vectors) if self._outside else {(0,) * width: 1.0}
        own = (*map(int, passed), 1)
        found = {tuple(min(a + b, c) for a, b, c in zip(v, own, self._caps, strict=True)): 0.0 for v in vectors}
        return [part_of(found | vectors, width)]


def _stretched(part: Part) -> Part:
    return Part(tuple(((*v, 0), p) for v, p in part.vectors), (*part.most, 0))


class OpenRelease:
    """A release that queries are answered from, one after the other.

    Its manifest and what its released items stand for are read once and kept; each answer ends with a look at the release
    id, and is made anew if the release has changed meanwhile.

    Args:
        engine: an engine on the sealed file or on the owner's database.
        schema: where the release is: ``main`` of a sealed file, or ``release_<name>``.

    Raises:
        InputError: ``not_a_release``, or ``unsupported_query`` for a kind of release that is not answered.
    """

    def __init__(self, engine: Engine, schema: SchemaName) -> None:
        self._opened = Opened(engine, schema)

    def answer(self, sql: str) -> Answer:
        """Answer a COUNT query, written for the original table.

        Args:
            sql: the analyst's query; ``rewriter.rewrite`` says which are answered.

        Returns:
            The answer; its bounds hold for every original that the release may come from.

        Raises:
            InputError: ``unsupported_query``, ``bad_sql``, ``query_too_complex``, ``ambiguous_item``, or
                ``not_a_release`` where it is gone.
            EngineError: the database failed.
        """
        while True:
            opened = self._opened
            try:
                found = _answer(opened, sql)
            except AnondbError:
                if opened.is_current():
                    raise
            else:
                if opened.is_current():
                    return found
            self._opened = Opened(opened.engine, opened.schema)


def run(engine: Engine, schema: SchemaName, sql: str) -> Answer:
    """Answer one query from a release (see ``OpenRelease``)."""
    return OpenRelease(engine, schema).answer(sql)


def _answer(release: Opened, sql: str) -> Answer:
    plan = rewrite(sql, release.manifest, release.attributes)
    release.check_numbers(plan.numbers)
    anatomy = BucketAnswers(release) if release.manifest.get("model") == "anatomy" else None
    if plan.counts == ITEMS:
        if any(isinstance(leaf, OnValue) for leaf in leaves(plan.condition)):
            raise unsupported("GROUP BY item with a condition on relational values", "Count the items one by one.")
        rows = _by_item(release, plan) if anatomy is None else anatomy.by_item(plan)
        if plan.descending:
            rows.reverse()
        if len(plan.columns) > 1:
            rows = [(*(row[0],) * len(plan.columns), *row[1:]) for row in rows]
        return Answer(plan.columns, tuple(rows), plan.notes, plan.describe(), plan.name)
    if plan.grouped is not None:
        rows = [(*(row[0],) * len(plan.columns), *row[1:]) for row in _value_rows(release, plan)]
        return Answer(plan.columns, tuple(rows), plan.notes, plan.describe(), plan.name)
    scalar = (lambda asked: _scalar(release, asked)) if anatomy is None else anatomy.scalar
    bounds = scalar(plan)
    if plan.other is not None:
        other = scalar(plan.other)
        bounds = _clip(min(bounds[0], other[0]), bounds[1], max(bounds[2], other[2]))
    return Answer((), (bounds,), plan.notes, plan.describe(), plan.name)
