"""Better answers from the item supports of a release (docs/item_supports.md#answers).

Bounds are the intersection of all rules that apply: those of the rows (``query/evaluate``), those of sets of items
(``rules/supports``), the laws of AND, OR and NOT, and the linear program over the cells of a few kinds of items
(``rules/cells``). Kinds are first single items, which is exact in a global recoding; if these are too many,
items with the same released item that a condition does not tell apart; then all items that it does not tell apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from sqlglot import exp

from anondb.answers.rules.cells import Array, Possible, Supports
from anondb.errors import InputError
from anondb.query.by_item import ItemRow, by_item
from anondb.query.cached_release import Opened
from anondb.query.classes import NO_CLASSES, Classes, Holding, passing_of
from anondb.query.evaluate import Passed, Question, unnamed_items
from anondb.query.held_sums import Bounds
from anondb.query.item_tests import Labels, finite, mentioned
from anondb.query.kinds import BY_ITEM, LEVELS, MAX_KINDS, Kinds, kinds_of
from anondb.query.pairs import beside
from anondb.query.predicates import (
    ALWAYS,
    ITEMS,
    ROWS,
    And,
    AtLeast,
    Condition,
    Constant,
    Not,
    Or,
    Plan,
    at_least,
    conjuncts,
)
from anondb.query.reading import holdings
from anondb.query.values import OnValue

KEPT = 16  # numbers of transactions by what they show
PARTS = 1 << 12  # bounds of the parts of conditions, which questions share
Hidden = Sequence[tuple[Passed, int]]


@dataclass(frozen=True, eq=False)
class Groups:
    """Transactions by the numbers of released items of each class that they show.

    Attributes:
        counts: these numbers, a row for each group.
        lost: whether items may be suppressed in them.
        numbers: how many transactions they are.
    """

    counts: Array
    lost: Array
    numbers: Array


class SupportedAnswers:
    """Sharpens the answers of a release with item supports, each table of which is read once."""

    def __init__(self, release: Opened) -> None:
        self._release, self.members = release, release.listed_members
        self._kept: dict[object, Groups] = {}
        self._of_part = lru_cache(maxsize=PARTS)(lambda condition: self.of_question(Question.of(condition), None))

    def scalar(self, plan: Plan, bounds: Bounds) -> Bounds:
        """The answer to a query with a single number, from its bounds by the rows alone."""
        if plan.counts == ROWS and plan.condition == ALWAYS:
            return self._rows(plan, bounds)
        question = Question.of(plan.condition, plan.test if plan.counts == ROWS else None)
        if not question.tests or not self.members.items or bounds[0] == bounds[1]:
            return bounds
        ends = self.of_question(question, bounds)
        return narrowed(bounds, *(self._item_by_item(plan, *ends) if plan.counts == ROWS else ends))

    def by_item(self, plan: Plan, rows: Sequence[ItemRow]) -> Sequence[ItemRow]:
        """GROUP BY item: the rules of the question on each item alone."""
        always = plan.condition == ALWAYS
        ends = self.alone if always else beside(self, self._release, plan.condition, [row[0] for row in rows])
        return [(item, *narrowed(bounds, *ends[item])) for item, *bounds in rows]

    # ------------------------------------------------------------------ one number

    def of_question(self, question: Question, bounds: Bounds | None) -> Bounds:
        """Bounds of a question.

        Args:
            question: the question.
            bounds: those of the rows, if there are some.
        """
        finest = self.kinds(question)
        low, high = 0, bounds[1] if bounds else self._release.size
        if not question.counted:
            exact = finest is not None and finest[0].level == BY_ITEM
            low, high = self._laws(question, bounds, deep=not exact)
        if finest is None:
            return low, high
        kinds, groups, cells = finest
        sums, *ends = kinds.sums(self.supports, groups.counts[cells.group], cells.vector, self.lost)
        least, most = cells.cells(sums).bounds(
            kinds.values[cells.vector], groups.numbers[None], *(end[None] for end in ends)
        )
        return max(low, int(least[0])), min(high, int(most[0]))

    def _hidden(self, question: Question) -> Hidden:
        """The tests that suppressed items may pass, and at most how many of them matter."""
        release = self._release
        if not release.suppressed:
            return []
        passing = passing_of(question.tests)
        named = sorted(frozenset[str]().union(*map(mentioned, question.tests)) - release.images.keys())
        hidden = [(passed, 1) for passed in map(passing.of, named) if any(passed)]
        return hidden + [(passed, question.most(passed)) for passed in unnamed_items(question.tests)]

    def kinds(self, question: Question) -> tuple[Kinds, Groups, Possible] | None:
        """The finest kinds of items that are few enough, with the transactions and their cells."""
        passing, hidden = passing_of(question.tests), self._hidden(question)
        if any(isinstance(test, OnValue) for test in question.tests):
            return None
        for level in LEVELS:
            kinds = kinds_of(self.members, question, passing, hidden, level, self._release.differing)
            if kinds is not None:
                groups = self.groups(kinds.classes)
                cells = kinds.space.possible(groups.counts, kinds.parts, kinds.hidden, groups.lost)
                if cells is not None:
                    return kinds, groups, cells
        return None

    def _rows(self, plan: Plan, bounds: Bounds) -> Bounds:
        """A number of rows is the sum of the supports of the items that pass its test."""
        assert plan.test is not None
        question = Question.of(plan.condition, plan.test)
        passing = passing_of(question.tests)
        tested, passed = self.members.tested(passing)
        chosen = np.array([of[0] for of in passed])[tested]
        of_labels = self.supports.of_sets(chosen[None])
        high = int(of_labels.rows_high.sum())
        if self.lost:
            high = sum(self.alone[item][1] for item in self._release.items if passing.of(item)[0])
        if self._release.suppressed:
            named = [label for label in passing.special if label not in self._release.images]
            high += self._release.size * sum(passing.special[label][0] for label in named)
            high = bounds[1] if any(passing.usual) else high
        return narrowed(bounds, int(of_labels.rows_low.sum()), high)

    def _item_by_item(self, plan: Plan, low: int, high: int) -> Bounds:
        """A number of rows as the sum over their items, where this narrows its bounds."""
        assert plan.test is not None
        listed = replace(plan, counts=ITEMS)
        try:
            rows = self.by_item(listed, by_item(self._release, listed))
        except InputError:  # too complex for each item
            return low, high
        passing = passing_of((plan.test,))
        outside = any(of[0] for label, of in passing.special.items() if label not in self._release.images)
        if not (self._release.suppressed and (passing.usual[0] or outside)):
            high = min(high, sum(row[2] for row in rows))
        return max(low, sum(row[1] for row in rows)), high

    # ------------------------------------------------------------------ laws

    def _laws(self, question: Question, bounds: Bounds | None, *, deep: bool) -> Bounds:
        """What the bounds of the sets of items of a condition say by the laws of AND, OR and NOT; ``deep``: those that all
        rules give for its parts."""
        size, release, hidden = self._release.size, self._release, self._hidden(question)
        tested, passed = self.members.tested(passing_of(question.tests))
        chosen = np.array(passed, dtype=bool).reshape(len(passed), -1)[tested].T
        sets = self.supports.of_sets(chosen)
        place = {test: n for n, test in enumerate(question.tests)}
        least, most = sets.any_low.max(axis=1), sets.any_high.sum(axis=1) + self.lost
        rows = sets.rows_high.sum(axis=1)
        outside = [any(of[n] for of, _ in hidden) for n in range(len(place))]

        def ends(condition: Condition) -> Bounds:
            if isinstance(condition, Constant):
                return (size, size) if condition.value else (0, 0)
            if isinstance(condition, Not):
                low, high = ends(condition.part)
                return size - high, size - low
            if isinstance(condition, And | Or):
                parts = [self._of_part(part) if deep else ends(part) for part in condition.parts]
                if isinstance(condition, Or):
                    return max(low for low, _ in parts), min(size, sum(high for _, high in parts))
                return max(0, size - sum(size - low for low, _ in parts)), min(high for _, high in parts)
            if not isinstance(condition, AtLeast):
                return 0, size
            n = place[condition.test]
            low, high = int(least[n]), min(size, int(most[n]))
            if condition.count > 1:
                low, high = 0, high if self.lost else min(high, int(rows[n]) // condition.count)
            low = max(low, self._of_few(condition)) if deep else low
            return low, size if outside[n] and not release.differing else high

        low, high = ends(question.condition)
        parts = conjuncts(question.condition)
        single = all(isinstance(p, AtLeast) and p.count == 1 and chosen[place[p.test]].sum() == 1 for p in parts)
        if bounds is not None and single and not (any(outside) or release.local):  # the rows show who may hold them all
            low = max(low, bounds[1] - int(self.supports.lacking(chosen).sum()))
        return low, high

    def _of_few(self, condition: AtLeast) -> int:
        """At least how many have as many of a few items, of those that most have for certain: they have as many of all."""
        labels = finite(condition.test) or frozenset()
        if len(labels) <= MAX_KINDS:
            return 0
        most = sorted(labels, key=lambda item: (-self.alone.get(item, (0, 0))[0], item))[: MAX_KINDS + 1]
        parts = (at_least(condition.count, Labels(frozenset(few))) for few in combinations(most, MAX_KINDS))
        return max(self._of_part(part)[0] for part in parts)

    # ------------------------------------------------------------------ what the release says

    @cached_property
    def supports(self) -> Supports:
        """The item supports of all members. Rows of a stranger's table that are impossible count as absent."""
        release, members = self._release, self.members
        names = ("released_item", "item", "at_least", "at_most")
        tree = exp.select(*names).from_(release.schema.table("item_supports").expression())
        rows = [column.tolist() for column in release.engine.select(tree, "the item supports").values()]
        listed = {(label, item): ends for label, item, *ends in zip(*rows, strict=True)}
        shown = np.array([self._holders[label].total() for label in members.labels], np.int64)
        most = shown[members.label]
        least = np.where((members.sizes == 1)[members.label], most, 0)
        for place, (label, item) in enumerate(zip(members.label.tolist(), members.items, strict=True)):
            low, high = listed.get((members.labels[label], item), (None, None))
            if low is not None and high is not None and 0 <= low <= high <= most[place]:
                least[place], most[place] = low, high
        return Supports(shown, members.starts, least, most)

    @cached_property
    def _holders(self) -> Mapping[str, Counter[Holding]]:
        """The transactions of each released item."""
        return defaultdict(Counter, holdings(self._release, NO_CLASSES))

    @cached_property
    def lost(self) -> int:
        """In how many transactions any item may be suppressed."""
        release = self._release
        return sum(g.records for g in release.records(NO_CLASSES) if not g.complete) if release.differing else 0

    @cached_property
    def alone(self) -> dict[str, Bounds]:
        """The number of transactions that hold each item. In a local recoding with suppression, an item may also be in an
        incomplete transaction that shows no released item for it."""
        release, members, supports = self._release, self.members, self.supports
        lost = np.zeros(len(members.labels), np.int64)
        if release.differing:
            lost += [sum(n for h, n in self._holders[label].items() if not h.complete) for label in members.labels]
        item = {name: place for place, name in enumerate(release.items)}
        place = np.array([item[name] for name in members.items], np.int64)
        low, high = np.zeros(len(item), np.int64), np.full(len(item), self.lost)
        np.add.at(low, place, supports.least)
        np.add.at(high, place, supports.most - lost[members.label])
        return dict(zip(release.items, zip(low.tolist(), high.tolist(), strict=True), strict=True))

    def groups(self, classes: Classes) -> Groups:
        """The transactions by their numbers of released items of each class; the last ones are kept."""
        key = tuple(sorted(classes.of.items())), tuple(classes.radices)
        if key not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            groups = self._release.records(classes)
            counts = np.array([g.counts for g in groups], np.int64).reshape(len(groups), len(classes.parts))
            lost, numbers = ([not g.complete for g in groups], [g.records for g in groups])
            self._kept[key] = Groups(counts, np.array(lost, dtype=bool), np.array(numbers, np.int64))
        return self._kept[key]


def narrowed(bounds: Sequence[int], low: int, high: int) -> Bounds:
    """Bounds with better ones; the former alone where these contradict them, which those of a release never do."""
    least, most = max(bounds[0], low), min(bounds[1], high)
    return (least, most) if least <= most else (bounds[0], bounds[1])
