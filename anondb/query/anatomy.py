"""Answer a COUNT from the buckets of an anatomy.

**Consistent originals.** The release lists the values of each column of a bucket, but not which values belong to the same
person: every combination is a possible original.

**The bounds.** The value in a column decides a condition on the items of that column, so the condition holds for an exact
number of a bucket's persons. For a conjunction of conditions on r columns, each of which holds for n_i of the s persons with
low_i <= n_i <= high_i, at least (sum of low_i) - (r - 1) s persons meet all (each condition fails for at most s - low_i),
and at most the smallest high_i. For a disjunction, at least the largest low_i, and at most the sum of high_i or s. The
negation of a condition has s - high and s - low. So the bounds are sound for every nesting; for a conjunction or a
disjunction of conditions on single columns they are attained (proof in ``sql/release/bucket_count_bounds.sql``). Parts on
the same column are combined first. Buckets are independent, and their bounds add up.

Conditions that count items across columns ("at least 3 of these"), and counts of the rows of persons who meet a condition,
are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.engine import Table
from anondb.engine.arrays import Ints
from anondb.query.cached_release import Opened
from anondb.query.classes import passing_of
from anondb.query.evaluate import Question
from anondb.query.held_sums import Bounds
from anondb.query.item_tests import mentioned
from anondb.query.parsing import inline_table
from anondb.query.predicates import (
    ALWAYS,
    NEVER,
    NOT_EMPTY,
    ROWS,
    And,
    AtLeast,
    Condition,
    Constant,
    Not,
    Or,
    Plan,
    both,
    decided,
    either,
    leaves,
    replaced,
)
from anondb.query.refusals import too_complex, unsupported
from anondb.query.values import LISTS, OnValue

Ends = tuple[Ints, Ints]
"""For each bucket: the least and the greatest number of persons for whom a condition holds."""
MAX_ASKED = 50_000
ASKED = {"label": "VARCHAR", "test": "BIGINT", "cap": "BIGINT"}


@dataclass(frozen=True)
class OnColumn:
    """A leaf of a condition: the value of one column has at least ``count`` items that pass a test."""

    column: int
    test: int
    count: int


def _columns(condition: Condition) -> list[int]:
    return sorted({leaf.column for leaf in leaves(condition) if isinstance(leaf, OnColumn)})


def _holds(condition: Condition, counts: Mapping[int, int]) -> bool:
    """Whether a condition on one column holds for a value with these numbers of items that pass each test."""
    if isinstance(condition, Constant):
        return condition.value
    if isinstance(condition, Not):
        return not _holds(condition.part, counts)
    if isinstance(condition, And | Or):
        return (all if isinstance(condition, And) else any)(_holds(part, counts) for part in condition.parts)
    assert isinstance(condition, OnColumn)
    return counts.get(condition.test, 0) >= condition.count


def _placed(leaf: Condition, question: Question, columns: Sequence[Counter[int]]) -> Condition:
    """A leaf as a condition on single columns."""
    if isinstance(leaf, Constant):
        return leaf
    if not isinstance(leaf, AtLeast):
        raise unsupported("a condition on anything but numbers of items, from a release in buckets")
    test = question.tests.index(leaf.test)
    passing = columns[test]
    on_columns: Any = [OnColumn(column, test, min(leaf.count, passing[column])) for column in sorted(passing)]
    if passing.total() < leaf.count:
        return NEVER
    if leaf.count == 1 or len(passing) == 1:
        return either(*on_columns)
    if passing.total() == leaf.count:
        return both(*on_columns)
    raise unsupported(
        "a number of items that lie in several columns of an anatomy", "Ask for single items, joined by AND and OR."
    )


class BucketAnswers:
    """Answers from the buckets of an open release: their sizes, and the column and support of each item."""

    def __init__(self, release: Opened) -> None:
        self._release = release
        self._tables: dict[str, Table | exp.Query] = {"buckets": release.schema.table("buckets")}
        sizes = release.engine.query("utility/bucket_sizes", self._tables)
        self._place = {b: n for n, b in enumerate(sizes["bucket_id"].tolist())}
        self._sizes: Ints = sizes["size"].astype(np.int64)
        listed = release.engine.query("query/bucket_supports", self._tables)
        items, columns, supports = (listed[c].tolist() for c in ("item", "column_id", "transactions"))
        self._column_of: Mapping[str, int] = dict(zip(items, columns, strict=True))
        self._supports: Mapping[str, int] = dict(zip(items, supports, strict=True))
        self._values: dict[int, list[tuple[int, dict[int, int], int]]] = {}  # by column: (bucket, counts, copies)

    def scalar(self, plan: Plan) -> Bounds:
        """Answer a query with a single number: persons, or items of persons.

        Raises:
            InputError: ``unsupported_query``: there are no sound bounds.
        """
        lists = [leaf for leaf in leaves(plan.condition) if isinstance(leaf, OnValue) and leaf.attribute == LISTS.name]
        if lists:  # of persons without items: between all lists empty, and all NULL
            cases = [decided(plan.condition, {leaf: leaf.holds(v) for leaf in lists}) for v in ("list", "null")]
            lower, upper = zip(*(self.scalar(replace(plan, condition=case)) for case in cases), strict=True)
            return min(lower), max(upper)
        if plan.counts == ROWS:
            total = sum(n for _, n, _ in self.by_item(plan))
            return total, total
        question = Question.of(plan.condition)
        self._release.unknown(frozenset[str]().union(*map(mentioned, question.tests)))
        columns = self._read(question) if question.tests else []
        low, high = self._count(replaced(plan.condition, lambda leaf: _placed(leaf, question, columns)))
        return int(low.sum()), int(high.sum())

    def by_item(self, plan: Plan) -> list[tuple[str, int, int]]:
        """GROUP BY item: one row for each item, with exact counts.

        Raises:
            InputError: ``unsupported_query`` if the persons must meet a condition.
        """
        assert plan.test is not None
        if plan.condition not in (ALWAYS, NOT_EMPTY):
            raise unsupported(
                "the items of persons who meet a condition, from an anatomy", "Ask for count(DISTINCT id) of each item."
            )
        self._release.unknown(mentioned(plan.test))
        passing = passing_of((plan.test,))
        counts = ((i, self._supports.get(i, 0)) for i in self._release.items if passing.of(i)[0])
        return [(item, n, n) for item, n in counts]

    def _read(self, question: Question) -> list[Counter[int]]:
        """Read the values that are relevant to a question; return the number of items of each column that pass each test."""
        passing, caps = passing_of(question.tests), question.caps
        columns: list[Counter[int]] = [Counter() for _ in caps]
        asked = []
        for label, column in sorted(self._column_of.items()):
            for test, passes in enumerate(passing.of(label)):
                if passes:
                    columns[test][column] += 1
                    asked.append((label, test, min(caps[test], MAX_ASKED)))
        if len(asked) > MAX_ASKED:
            raise too_complex("its tests pass too many items of the release")
        asked_for = {**self._tables, "asked": inline_table(ASKED, asked)}
        rows = self._release.engine.query("query/bucket_signatures", asked_for)
        self._values = {}
        cells = (rows[c].tolist() for c in ("bucket_id", "column_id", "signature", "copies"))
        for bucket, column, signature, copies in zip(*cells, strict=True):
            counts = {int(t): int(n) for t, _, n in (part.partition(":") for part in signature.split(" "))}
            self._values.setdefault(column, []).append((self._place[bucket], counts, copies))
        return columns

    def _exactly(self, condition: Condition, column: int) -> Ints:
        """How many persons of each bucket meet a condition on a single column."""
        number, listed = np.zeros((2, len(self._sizes)), np.int64)
        for place, counts, copies in self._values.get(column, []):
            listed[place] += copies
            number[place] += copies * _holds(condition, counts)
        return number + (self._sizes - listed) * _holds(condition, {})

    def _count(self, condition: Condition) -> Ends:
        """Bound the number of persons of each bucket who meet a condition."""
        columns = _columns(condition)
        if len(columns) <= 1:
            return (self._exactly(condition, *(columns or [0])),) * 2
        assert isinstance(condition, And | Or)  # negations are at the leaves
        alone: dict[int, list[Condition]] = {}
        parts: list[Ends] = []
        for part in condition.parts:
            of_part = _columns(part)
            if len(of_part) == 1:
                alone.setdefault(of_part[0], []).append(part)
            else:
                parts.append(self._count(part))
        joined = both if isinstance(condition, And) else either
        parts += [(self._exactly(joined(*same), column),) * 2 for column, same in alone.items()]
        lows, highs = (np.array(ends) for ends in zip(*parts, strict=True))
        if isinstance(condition, And):
            return np.maximum(lows.sum(axis=0) - (len(parts) - 1) * self._sizes, 0), highs.min(axis=0)
        return lows.max(axis=0), np.minimum(highs.sum(axis=0), self._sizes)
