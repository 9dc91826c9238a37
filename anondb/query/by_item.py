"""Answer GROUP BY item: one row for each original item that a released item stands for."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.query.cached_release import Opened
from anondb.query.classes import Block, Classes, Holding, classes_of, passing_of
from anondb.query.evaluate import Evaluator, Outcome, Part, Passed, Question, capped_sum, part_of
from anondb.query.held_sums import Bounds, chosen, outside_of, total
from anondb.query.item_tests import ANY_ITEM, NO_ITEM, item_all, item_not
from anondb.query.predicates import ALWAYS, Plan, met_by
from anondb.query.reading import holdings, transactions_by_item
from anondb.query.refusals import unsupported
from anondb.query.relational import unseen_parts, values_part
from anondb.query.values import Attribute

ItemRow = tuple[str, int, int]


@dataclass(frozen=True, eq=False)
class ItemCounts(Sequence[ItemRow]):
    """Rows (item, lower bound, upper bound).

    Attributes:
        items: the items.
        places: the place of the count of each item in ``counts``.
        counts: the different counts: their lower bounds and upper bounds.
    """

    items: Sequence[str]
    places: npt.NDArray[np.int64]
    counts: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[ItemRow]:
        return zip(self.items, *(ends[self.places].tolist() for ends in self.counts), strict=True)

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]


def added(parts: Sequence[tuple[ItemCounts, int]]) -> list[ItemRow]:
    """The sums of the counts of disjoint persons, each with the upper bound for an item that it does not list."""
    items = parts[0][0].items if parts else []
    alike = all(part.items == items for part, _ in parts)
    if not alike:
        items = sorted({item for part, _ in parts for item in part.items})
    place_of = {item: place for place, item in enumerate(items)}
    lower = np.zeros(len(items), np.int64)
    upper = np.full(len(items), sum(absent for _, absent in parts))
    for part, absent in parts:
        at = slice(None) if alike else [place_of[item] for item in part.items]
        low, high = part.counts
        lower[at] += low[part.places]
        upper[at] += high[part.places] - absent
    return list(zip(items, lower.tolist(), upper.tolist(), strict=True))


def item_rows(release: Opened, plan: Plan) -> Sequence[ItemRow]:
    """The counts of the items that pass a test; an item that meets the condition by itself has that of all persons."""
    assert plan.test is not None
    met = met_by(plan.condition)
    if met == ANY_ITEM:
        return _item_rows(release, replace(plan, condition=ALWAYS))
    if met == NO_ITEM or (both := item_all(plan.test, met)) == NO_ITEM:
        return _item_rows(release, plan)
    rows = [
        *_item_rows(release, replace(plan, condition=ALWAYS, test=both)),
        *_item_rows(release, replace(plan, test=item_all(plan.test, item_not(met)))),
    ]
    return sorted(rows)


def _item_rows(release: Opened, plan: Plan) -> Sequence[ItemRow]:
    """The counts of the items that pass a test; without a condition on persons they are those of the whole release, which is
    the same object each time."""
    assert plan.test is not None
    if plan.condition == ALWAYS and release.by_item is not None:
        of = passing_of((plan.test,))
        if not of.special:
            return release.by_item if of.usual[0] else ()
        return [row for row in release.by_item if of.of(row[0])[0]]
    rows = release.buckets.by_item(plan) if release.anatomy else by_item(release, plan)
    if release.supported is not None:
        rows = release.supported.by_item(plan, rows)
    if plan.condition == ALWAYS and len(rows) == len(release.items):
        release.by_item = rows
    return rows


def by_item(release: Opened, plan: Plan) -> Sequence[ItemRow]:
    """Answer GROUP BY item: one row for each original item that a released item stands for."""
    assert plan.test is not None
    question = Question.of(plan.condition)
    attributes = [a for a in release.attributes or () if a.name in question.attributes]
    listed = passing_of((plan.test, *question.tests))
    passing = listed.without_first()
    blocks = release.blocks(passing)
    outside = outside_of(release, plan, question, passing)
    classes = classes_of(question, blocks)
    if release.bags is not None and not release.is_laminar:
        raise unsupported("GROUP BY item where released items share only some members", "Count the items one by one.")
    walk = _ItemWalk(release, question, blocks, classes, outside, attributes)
    apart = {item: passed for item, passed in listed.special.items() if item in release.images}
    if listed.usual[0] and not attributes and all(passed[0] for passed in apart.values()):
        counts = _at_once(release, classes, walk, listed.usual[1:], {item: p[1:] for item, p in apart.items()})
        if counts is not None:
            return counts
    answered = _counts(release, classes, walk, attributes)
    upwards = {label: n for n, label in enumerate(sorted(release.sizes, key=lambda r: (release.sizes[r], r)))}
    rows = []
    for item in release.items:
        wanted, *passed = listed.of(item)
        if wanted:
            labels = sorted(release.images[item], key=upwards.__getitem__)
            rows.append((item, *answered(tuple(labels), tuple(passed))))
    return rows


def _at_once(
    release: Opened, classes: Classes, walk: _ItemWalk, usual: Passed, apart: Mapping[str, Passed]
) -> ItemCounts | None:
    """The counts of all items at once: released items that a question does not tell apart have the same outcomes.

    Args:
        release: the release.
        classes, walk: its classes of released items, and what evaluates the question.
        usual: the tests of the question that an item passes.
        apart: those of the items that pass other ones.

    Returns:
        None if items have several released items, and where the rows are not in memory.
    """
    counted = None if release.places is None else transactions_by_item(release, classes)
    if counted is None or release.places is None or release.numbered is None:
        return None
    signatures, table = counted
    vectors = classes.all_counts(signatures) if classes.parts else [()]
    special = Counter(release.images[item][0] for item in apart)
    wanted = [(label, usual if special[label] < size else None) for label, size in release.sizes.items()]
    wanted += [(release.images[item][0], passed) for item, passed in apart.items()]
    alike: dict[object, list[int]] = {}
    for place, (label, passed) in enumerate(wanted):
        if passed is not None:
            alike.setdefault((walk.effect(label), passed), []).append(place)
    numbers = release.numbered.numbers
    rows = table[[numbers.get(label, 0) for label, _ in wanted]]
    lower, upper = np.zeros((2, len(wanted)), np.int64)
    for places in alike.values():
        label, passed = wanted[places[0]]
        assert passed is not None
        theirs = rows[places]
        there = np.flatnonzero(theirs.any(axis=0))
        outcomes = [walk.held(Holding((label,), vectors[n], not release.suppressed), passed) for n in there.tolist()]
        lower[places] = theirs[:, there] @ np.array([o.least for o in outcomes], np.int64)
        upper[places] = theirs[:, there] @ np.array([o.greatest for o in outcomes], np.int64)
    of_item = release.places.copy()
    for place, item in enumerate(apart, len(release.sizes)):
        of_item[bisect_left(release.items, item)] = place
    return ItemCounts(release.items, of_item, (lower, upper))


def _counts(
    release: Opened, classes: Classes, walk: _ItemWalk, attributes: Sequence[Attribute]
) -> Callable[[tuple[str, ...], Passed], Bounds]:
    """The count for an item, as a function of its released items and of the tests that it passes.

    If several released items of a transaction stand for an item, one of them is the lowest, and the others follow in its
    holding. So the transactions in which a released item is the lowest for an item are those that have it, minus those
    that have it above another one for the same item.
    """
    by_label = holdings(release, classes, attributes)
    several = release.local or release.bags is not None  # released items of a transaction for one item
    under = {label: up for label, holders in by_label.items() if several and (up := _lifted(release, holders))}
    hidden = Counter[Holding]()
    if release.differing:
        groups = release.records(classes, attributes)
        hidden.update({Holding((), g.counts, False, g.cells): g.records for g in groups if not g.complete})

    @cache
    def lowest(label: str, below: tuple[str, ...]) -> Counter[Holding]:
        """The transactions in which a released item is the lowest for an item."""
        transactions = by_label.get(label, Counter())
        if not below:
            return transactions
        transactions = Counter(transactions)
        for lower in below:
            transactions.subtract(under[lower][label])
        return +transactions

    @cache
    def counted(label: str, below: tuple[str, ...], passed: Passed) -> Bounds:
        """Their count for an item that passes these tests, minus their count if the item were suppressed there."""
        transactions = lowest(label, below).items()
        held = total([(walk.held(holding, passed), n) for holding, n in transactions])
        if not release.differing:
            return held
        lost = total([(walk.hidden(holding, passed), n) for holding, n in transactions if not holding.complete])
        return held[0] - lost[0], held[1] - lost[1]

    @cache
    def suppressed(passed: Passed) -> Bounds:
        """The count of all incomplete transactions if an item were suppressed in them."""
        return total([(walk.hidden(holding, passed), n) for holding, n in hidden.items()])

    @cache
    def answered(labels: tuple[str, ...], passed: Passed) -> Bounds:
        """The count for an item that passes these tests and has these released items, from the lowest to the highest."""
        least, most = suppressed(passed)
        for n, label in enumerate(labels):
            below = tuple(lower for lower in labels[:n] if label in under.get(lower, ())) if under else ()
            lower, upper = counted(label, below, passed)
            least, most = least + lower, most + upper
        return least, most

    return answered


def _lifted(release: Opened, holdings: Counter[Holding]) -> dict[str, Counter[Holding]]:
    """The transactions as holdings of the next higher released item, by its label."""
    lifted: dict[str, Counter[Holding]] = {}
    for holding, transactions in holdings.items():
        if len(holding.items) > 1:
            above = holding._replace(items=holding.items[1:])
            lifted.setdefault(release.label_of(above.items[0]), Counter())[above] += transactions
    return lifted


class _ItemWalk:
    """Evaluates whether a person meets a condition and also has one particular item.

    The question gets an additional last test, which only this item passes.
    """

    def __init__(
        self,
        release: Opened,
        question: Question,
        blocks: Mapping[str, Block],
        classes: Classes,
        outside: Sequence[Part],
        attributes: Sequence[Attribute],
    ) -> None:
        self._release, self._blocks = release, blocks
        self._unseen = [_stretched(part) for part in unseen_parts(question)]
        self._values = cache(
            lambda cells: [_stretched(values_part(question, *of)) for of in zip(attributes, cells, strict=True)]
        )
        self._caps = (*question.caps, 1)
        self._evaluator = Evaluator(Question(question.condition, (*question.tests, NO_ITEM), self._caps, counted=True))
        self._classes = replace(classes, parts=[_stretched(p) for p in classes.parts])
        self._outside = [_stretched(p) for p in outside]
        self._numbers: dict[tuple[Block, Passed], int] = {}
        self._item_parts: list[Part] = []
        self._item_kind = cache(self._find_kind)
        self._outcomes: dict[tuple[object, ...], Outcome] = {}

    def held(self, holding: Holding, passed: Passed) -> Outcome:
        """The outcome for a transaction with released items for the item, which passes these tests of the question."""
        kinds = tuple([self._item_kind(item, passed) for item in holding.items])
        key = kinds, passed, *holding[1:]
        outcome = self._outcomes.get(key)
        if outcome is None:
            outcome = self._outcomes[key] = self._outcome(holding, kinds, passed)
        return outcome

    def effect(self, item: str) -> tuple[int | None, Block | int]:
        """What the outcomes of a released item depend on: its class, and its block, or its size where it has none."""
        return self._classes.of.get(item), self._blocks.get(item) or self._release.sizes[item]

    def hidden(self, holding: Holding, passed: Passed) -> Outcome:
        """The outcome for a transaction in which the item can only have been suppressed."""
        return self.held(Holding((), holding.counts, False, holding.cells), passed)

    def _outcome(self, holding: Holding, kinds: Sequence[tuple[int | None, int]], passed: Passed) -> Outcome:
        others = list(holding.counts)
        for of, _ in kinds:
            if of is not None:
                others[of] -= 1
        parts = [*self._unseen, *self._values(holding.cells), *chosen(self._classes, others)]
        if not holding.complete:
            parts += self._suppressed(passed) if self._release.differing else self._outside
        parts += (self._item_parts[part] for _, part in kinds)  # last, since several items have the same others
        return self._evaluator.outcome(parts)

    def _find_kind(self, item: str, passed: Passed) -> tuple[int | None, int]:
        """The class of a released item, and the number of its part as the item's; equal parts have the same number."""
        block = self._blocks.get(item) or self._release.block(item)
        number = self._numbers.setdefault((block, passed), len(self._numbers))
        if number == len(self._item_parts):
            passing = []
            for which, members in block.passing:
                left = members - (which == passed)
                if left:
                    passing.append(((*which, False), left))
            self._item_parts.append(replace(block, passing=(*passing, ((*passed, True), 1))).part(self._caps))
        return self._classes.of.get(item), number

    def _suppressed(self, passed: Passed) -> list[Part]:
        """The parts of suppressed items, which may include the item."""
        width = len(self._caps)
        vectors = self._outside[0].vectors if self._outside else ((0,) * width,)
        item = (*map(int, passed), 1)
        with_item = (capped_sum(vector, item, self._caps) for vector in vectors)
        return [part_of((*vectors, *with_item), width)]


def _stretched(part: Part) -> Part:
    return Part(tuple((*v, 0) for v in part.vectors), (*part.most, 0))
