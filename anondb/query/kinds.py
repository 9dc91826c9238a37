"""The kinds of items that a question distinguishes in a release with item supports: the numbers of each are a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np

from anondb.answers.rules.cells import Array, Space, Supports
from anondb.answers.rules.vector_sets import Vector
from anondb.query.classes import Classes, Members, Passing
from anondb.query.evaluate import Evaluator, Passed, Question, part_of

BY_ITEM, BY_LABEL, BY_TESTS = LEVELS = range(3)
MAX_KINDS = 6


@dataclass(frozen=True, eq=False)
class Kinds:
    """Kinds of items, and what released items add to their numbers.

    Attributes:
        level: how fine they are.
        question: whose condition they decide.
        passed: the tests that the items of each kind pass.
        chosen: for each kind, which members are of it; none for one of suppressed items.
        space: the numbers of their items.
        classes: of the released items that stand for some.
        parts: the vectors of which a released item of each class adds one.
        own: the place of the released item of each class that has one alone, else -1.
        hidden: what suppressed items may add, and how often.
        rest: the kind of all items that no test names, if they matter.
    """

    level: int
    question: Question
    passed: Sequence[Passed]
    chosen: Array
    space: Space
    classes: Classes
    parts: Sequence[Sequence[Vector]]
    own: Sequence[int]
    hidden: Sequence[tuple[Vector, int]]
    rest: int | None

    @cached_property
    def values(self) -> Array:
        """The value of the question for each vector of the space."""
        evaluator, caps = Evaluator(self.question), self.question.caps
        tests = np.array(self.passed, np.int64).reshape(len(self.passed), len(caps))
        counts = np.array(self.space.vectors, np.int64) @ tests
        return np.array([evaluator.value(tuple(map(min, row, caps))) for row in counts.tolist()], np.int64)

    def sums(self, supports: Supports, shown: Array, vector: Array, lost: int) -> tuple[Array, Array, Array]:
        """What item supports say of cells: coefficients, lower and upper bounds of their sums.

        Args:
            supports: the item supports.
            shown: for each cell, how many released items of each class its transactions show.
            vector: the vector of each cell.
            lost: in how many transactions any item may be suppressed.
        """
        counts = np.array(self.space.vectors, np.int64)[vector].T
        alone = {n: label for n, label in enumerate(self.own) if label >= 0}
        there = [n for n, chosen in enumerate(self.chosen) if chosen.any()]
        whole = [n for n in there if self.level == BY_TESTS or n == self.rest]
        sets: list[tuple[int, ...]] = [(n,) for n in there]
        sets += [kinds] if len(kinds := tuple(n for n in there if n != self.rest)) > 1 else []
        sets += [kinds for size in range(2, len(whole) + 1) for kinds in combinations(whole, size) if kinds not in sets]
        masks = np.zeros((len(sets), self.chosen.shape[1]), dtype=bool)
        for place, kinds in enumerate(sets):
            masks[place] = self.chosen[list(kinds)].any(axis=0)
        bounds = supports.of_sets(masks)
        rows: list[tuple[Array, int, int]] = []  # coefficients, lower bound, upper bound
        for place, kinds in enumerate(sets):
            held = np.asarray(counts[list(kinds)].any(axis=0))
            number: Array = counts[list(kinds)].sum(axis=0)
            single = len(kinds) == 1 and self.space.caps[kinds[0]] > 1
            for n, label in alone.items():
                size = int(bounds.size[place, label])
                theirs = [kind for kind, of in zip(there, bounds.size[:, label], strict=False) if of and kind in kinds]
                if kinds == (self.rest,) or not theirs or (len(kinds) > 1) > (len(theirs) > 1):
                    continue
                of_label = counts[theirs].any(axis=0) * shown[:, n]
                rows.append((of_label, bounds.any_low[place, label], bounds.any_high[place, label]))
                if single:
                    least = bounds.rows_low[place, label] if self.space.caps[kinds[0]] >= size else 0
                    rows.append((number * shown[:, n], least, bounds.rows_high[place, label]))
            if set(kinds) <= set(whole):
                rows.append((held, bounds.any_low[place].max(), bounds.any_high[place].sum() + lost))
                if single and not lost:
                    rows.append((number, 0, bounds.rows_high[place].sum()))
        sums = np.array([of for of, _, _ in rows], np.int64).reshape(len(rows), len(vector))
        low, high = (np.array([row[n] for row in rows], np.int64) for n in (1, 2))
        return sums, low, high


def kinds_of(
    members: Members, question: Question, passing: Passing, hidden: Sequence[tuple[Passed, int]], level: int, lost: bool
) -> Kinds | None:
    """The kinds of a question; None if they are too many.

    Args:
        members: the members of all released items.
        question: the question.
        passing: the tests that items pass.
        hidden: the tests that suppressed items may pass, and at most how many of them do.
        level: ``BY_ITEM``: each item that tests name is a kind; ``BY_LABEL``: items that pass the same tests and have the
            same released items are one; ``BY_TESTS``: items that pass the same tests are one. All others are one anyway.
        lost: whether items of any kind may be suppressed.
    """
    tested, passed = members.tested(passing)
    keys: dict[object, list[int]] = {}
    if any(passed[0]):
        keys[0] = np.flatnonzero(tested == 0).tolist()
    matter = np.flatnonzero(np.array([n > 0 and any(of) for n, of in enumerate(passed)])[tested]).tolist()
    for place in matter:
        item, number = members.items[place], int(tested[place])
        key = (item, number, members.images[item] if level == BY_LABEL else ())
        keys.setdefault(key if level == BY_ITEM else key[1:], []).append(place)
        if len(keys) > MAX_KINDS:
            return None
    of = [passed[int(tested[places[0]])] if places else passed[0] for places in keys.values()]
    items = [len({members.items[place] for place in places}) for places in keys.values()]
    caps = [question.most(tests, number) for tests, number in zip(of, items, strict=True)]
    of_hidden: dict[Passed, int] = {}
    for tests, times in hidden:
        of_hidden[tests] = of_hidden.get(tests, 0) + times
    of += list(of_hidden)
    caps += [question.most(tests, times) for tests, times in of_hidden.items()]
    space = Space(tuple(caps))
    if not space.fits:
        return None
    chosen = np.zeros((len(of), len(members.items)), dtype=bool)
    for n, places in enumerate(keys.values()):
        chosen[n, places] = True
    units = [tuple(int(n == m) for m in range(len(of))) for n in range(len(of))]
    adds = [(unit, cap) for n, (unit, cap) in enumerate(zip(units, caps, strict=True)) if lost or n >= len(keys)]
    classes, parts, own = _classes(members, chosen, caps, level, 0 in keys)
    if classes.wide:
        return None
    rest = 0 if 0 in keys else None
    return Kinds(level, question, of, chosen, space, classes, parts, own, adds, rest)


def _classes(
    members: Members, chosen: Array, caps: Sequence[int], level: int, with_rest: bool
) -> tuple[Classes, list[list[Vector]], list[int]]:
    """The classes of released items, what one of each adds, and those that have a class alone."""
    numbers = np.add.reduceat(chosen.astype(np.int64), members.starts, axis=1).T
    named = np.asarray(numbers[:, int(with_rest) :].any(axis=1))
    free = np.asarray(members.sizes > numbers.sum(axis=1))
    capped = np.minimum(numbers, caps)
    of: dict[str, int] = {}
    class_of: dict[object, int] = {}
    parts: list[list[Vector]] = []
    own: list[int] = []
    for place in np.flatnonzero(numbers.any(axis=1)).tolist():
        alone = level != BY_TESTS and bool(named[place])
        key = place if alone else (*capped[place].tolist(), bool(free[place]))
        if key not in class_of:
            class_of[key] = len(parts)
            own.append(place if alone else -1)
            vectors = product(*(range(most + 1) for most in capped[place].tolist()))
            parts.append([v for v in vectors if free[place] or any(v)])
        of[members.labels[place]] = class_of[key]
    return Classes.encoded(of, [part_of(vectors, len(caps)) for vectors in parts]), parts, own
