"""GROUP BY item of the persons who meet a condition, from item supports: the rules of the question on each item alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from anondb.answers.rules.contents import Possible
from anondb.answers.rules.supports import Array
from anondb.query.cached_release import Opened
from anondb.query.evaluate import Question
from anondb.query.item_tests import listed
from anondb.query.kinds import Kinds
from anondb.query.pairs import with_item
from anondb.query.predicates import AtLeast, Condition, both, conjuncts, has
from anondb.query.reading import transactions_by_item

if TYPE_CHECKING:
    from anondb.query.supported import Groups, SupportedAnswers, SupportTables

Ends = tuple[int, int]
MAX_QUESTIONS = 60  # about items of a list, one by one
MAX_NUMBERS = 1_000_000  # of the programs that are solved at once
MAX_COLUMNS = 700  # of a program for each item of a list


class Beside:
    """Answers questions on a condition and each of some items.

    Args:
        answers: answers single questions.
        release, read: the release.
    """

    def __init__(self, answers: SupportedAnswers, release: Opened, read: SupportTables) -> None:
        self._answers, self._release, self._read = answers, release, read

    def bounds(self, condition: Condition, items: Sequence[str]) -> dict[str, Ends]:
        """Bounds of the number of transactions that meet a condition and hold an item, for each of some items."""
        release, size = self._release, self._release.size
        question = Question.of(condition)
        low, high = self._answers.of_question(question, None)
        alone = self._read.alone
        ends = {item: (max(0, low + alone[item][0] - size), min(high, alone[item][1])) for item in items}
        single = [listed(p.test) if isinstance(p, AtLeast) and p.count == 1 else None for p in conjuncts(condition)]
        if release.local:
            if len(single) == 1 and single[0] is not None and len(single[0]) == 1:
                (item,) = single[0]
                beside = with_item(release, item)
                return {other: _both(ends[other], beside.get(other, (0, self._read.lost))) for other in items}
            return ends
        passing, hidden = release.passing(question.tests), self._answers.hidden(question)
        kinds = self._answers.kinds(question, passing, hidden)
        if kinds is None:
            return ends
        own = {self._read.members.labels[label] for label in kinds[0].own if label >= 0}
        apart = [item for item in items if release.images[item][0] not in own]
        usual = {item for item in apart if passing.of(item) == passing.usual}  # of the kind of all that no test names
        for some, rest in (
            ([i for i in apart if i in usual], kinds[0].rest),
            ([i for i in apart if i not in usual], None),
        ):
            for item, found in self._bounds_of_others(*kinds, some, rest).items():
                ends[item] = _both(ends[item], found)
        for item in [item for item in items if release.images[item][0] in own][:MAX_QUESTIONS]:
            ends[item] = _both(ends[item], self._answers.of_question(Question.of(both(condition, has(item))), None))
        return ends

    def _bounds_of_others(
        self, kinds: Kinds, groups: Groups, cells: Possible, items: Sequence[str], rest: int | None
    ) -> dict[str, Ends]:
        """Bounds for items of other released items than those that the condition names: equal ones are computed once, and
        all at the same time. ``rest`` is the kind that all of them are, if it is known."""
        release, supports = self._release, self._read.supports
        counted = transactions_by_item(release, kinds.classes)
        if counted is None or release.numbered is None or len(cells.group) * 3 > MAX_COLUMNS or not items:
            return {}
        shown = kinds.classes.all_counts(counted[0]) if kinds.classes.parts else [()] * len(counted[0])
        group = {tuple(row): n for n, row in enumerate(groups.counts.tolist())}
        order = [group[row] for row in shown]
        with_label = np.zeros((len(counted[1]), len(groups.numbers)), np.int64)
        with_label[:, order] = counted[1]
        places = [self._read.members.places[item][0] for item in items]
        asked = np.array([(supports.label[p], supports.least[p], supports.most[p]) for p in places], np.int64)
        different, which = np.unique(asked, axis=0, return_inverse=True)
        numbers = release.numbered.numbers
        there = with_label[[numbers.get(self._read.members.labels[label], 0) for label in different[:, 0]]]
        cases = np.concatenate([groups.numbers - there, there], axis=1)
        held = np.array(kinds.space.vectors)[cells.vector]
        may = np.flatnonzero(held[:, rest] > 0) if rest is not None else np.arange(len(held))
        column = np.concatenate(
            [np.arange(len(held)), np.arange(len(held)), may]
        )  # those that lack the item, then holders
        holds = np.repeat([0, 0, 1], [len(held), len(held), len(may)])
        later = np.repeat([0, len(groups.numbers), len(groups.numbers)], [len(held), len(held), len(may)])
        of_group = cells.group[column] + later
        sort = np.argsort(of_group, kind="stable")
        sums, low, high = kinds.sums(supports, groups.counts[cells.group], cells.vector, self._read.lost)
        program = Possible(of_group[sort], cells.vector[column][sort]).cells(
            np.vstack([sums[:, column], holds])[:, sort]
        )
        values = (kinds.values[cells.vector[column]] * holds)[sort]
        step = max(1, MAX_NUMBERS // (len(values) * (len(cases[0]) + len(sums) + 1)))
        found: list[Array] = []
        for start in range(0, len(cases), step):
            some = slice(start, start + step)
            ends = [
                np.column_stack([np.repeat(e[None], len(cases[some]), axis=0), different[some, n]])
                for e, n in ((low, 1), (high, 2))
            ]
            found.append(np.stack(program.bounds(values, cases[some], *ends), axis=1))
        ends_of = np.concatenate(found)[which.reshape(-1)].tolist()
        return {item: (least, most) for item, (least, most) in zip(items, ends_of, strict=True)}


def _both(one: Ends, other: Ends) -> Ends:
    """What both bounds say."""
    return max(one[0], other[0]), min(one[1], other[1])
