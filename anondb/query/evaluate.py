"""Exact bounds and the estimate of a condition, for one published transaction at a time.

**What is consistent.** A released item of size s stands for a non-empty subset of its s members. Where something was
suppressed, any items that no released item stands for may have been there besides; where nothing was, none. In a global
recoding these choices are free within a transaction and between transactions. In a local one they are where nothing was
suppressed; in its transactions that are not ``complete`` any items may have been there besides. In a release of bags each
copy stands for one occurrence of a member.

**Why the bounds are tight.** A condition looks at a person's items only through how many pass each of its tests, up to
the largest threshold of each (a *count vector*). The items of one published transaction are the union of independent
parts (its released items, and the suppressed ones), so the reachable count vectors are the capped sums of one reachable
vector from each part, and every such sum is reached by an original. ``outcome`` walks exactly through these sums: its
least and greatest value are attained, one transaction at a time. Transactions are independent, so the sums of the least
and of the greatest values over all transactions are attained as well: they are the minimum and the maximum over all
consistent originals. Two things can only widen the bounds, never break them: a pattern (LIKE) on suppressed items, where
the label is taken to match any of the query's patterns or none (labels of suppressed items are any texts); and an item of
which two parts speak (suppressed in an incomplete transaction although it is released there; below two nodes of a bag), so
that it may count twice.

**The estimate** (docs/algorithms/metrics.md#are) takes the 2^s - 1 subsets as equally likely, parts as independent, and
suppressed items as absent. Counts are exact integers, turned into floats by one division, so that s may exceed 1,024.

A state of the walk is what is left of the condition and the counts that it still needs; as soon as a condition is
decided its counts are forgotten. So wide conjunctions and disjunctions stay small.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import comb

from anondb.query.predicates import (
    And,
    AtLeast,
    Condition,
    Constant,
    ItemTest,
    Not,
    Or,
    finite,
    leaves,
    passes,
    patterns,
)
from anondb.query.refusals import too_complex, unsupported
from anondb.query.values import OnValue

MAX_STATES = 1 << 14
MAX_VECTORS = 1 << 12
MAX_STEPS = 1 << 22
MAX_PATTERNS = 6
UNLIMITED = 1 << 62

Vector = tuple[int, ...]
Passed = tuple[bool, ...]
"""Which tests an item passes, in the order of ``Question.tests``."""


@dataclass(frozen=True)
class Question:
    """A condition on one person, and for row counts the test whose number of items is the value.

    Attributes:
        condition: with leaves ``AtLeast`` and ``OnValue``.
        tests: its distinct tests and conditions on values, and last the counted one if ``counted``.
        caps: up to where each test's count matters.
        counted: whether the value is the count of the last test; else it is 1.
    """

    condition: Condition
    tests: tuple[ItemTest | OnValue, ...]
    caps: Vector
    counted: bool

    @classmethod
    def of(cls, condition: Condition, counted: ItemTest | None = None) -> Question:
        """The question of a condition."""
        caps: dict[ItemTest | OnValue, int] = {}
        for leaf in leaves(condition):
            if isinstance(leaf, AtLeast):
                caps[leaf.test] = max(leaf.count, caps.get(leaf.test, 0))
            elif isinstance(leaf, OnValue):
                caps[leaf] = 1  # a value adds one to each condition that it satisfies
        tests = list(caps)
        if counted is not None:
            caps.pop(counted, None)
            tests = [*(t for t in tests if t != counted), counted]
        labels = None if counted is None else finite(counted)
        most = UNLIMITED if labels is None else len(labels)
        return cls(condition, tuple(tests), tuple(caps.get(t, most) for t in tests), counted is not None)


@dataclass(frozen=True)
class Part:
    """One independent part of a transaction: each count vector that it may add, its probability, and the maxima."""

    vectors: tuple[tuple[Vector, float], ...]
    most: Vector

    @property
    def fixed(self) -> bool:
        """Whether it adds the same whatever the original."""
        return len(self.vectors) == 1


def _add(left: Sequence[int], right: Sequence[int], caps: Vector) -> Vector:
    return tuple(min(a + b, c) for a, b, c in zip(left, right, caps, strict=True))


def part_of(vectors: Mapping[Vector, float], width: int) -> Part:
    """The part that adds one of these vectors, each with its probability."""
    most = tuple(max((v[i] for v in vectors), default=0) for i in range(width))
    return Part(tuple(sorted(vectors.items())), most)


def released_part(caps: Vector, size: int, passing: Iterable[tuple[Passed, int]]) -> Part:
    """The part of a released item.

    Args:
        caps: the question's caps.
        size: how many members it has.
        passing: for the members that pass some test: which tests, and how many members do so.

    Raises:
        InputError: ``query_too_complex``.
    """
    choices: dict[Vector, int] = {(0,) * len(caps): 1}
    free = size
    for passed, members in passing:
        free -= members
        most = min(members, max(cap for cap, on in zip(caps, passed, strict=True) if on))
        ways = [comb(members, j) for j in range(most)]
        ways.append((1 << members) - sum(ways))
        grown: dict[Vector, int] = defaultdict(int)
        if len(choices) * len(ways) > MAX_VECTORS * 8:
            raise too_complex("it distinguishes too many members of a released item")
        for vector, weight in choices.items():
            for j, more in enumerate(ways):
                grown[_add(vector, tuple(j if on else 0 for on in passed), caps)] += weight * more
        choices = grown
        if len(choices) > MAX_VECTORS:
            raise too_complex("it distinguishes too many members of a released item")
    zero = (0,) * len(caps)
    weights = {v: w << free for v, w in choices.items()}
    weights[zero] -= 1
    if not weights[zero]:
        del weights[zero]
    total = (1 << size) - 1
    return part_of({v: w / total for v, w in weights.items()}, len(caps))


@dataclass(frozen=True)
class Bag:
    """What is published of a node in a transaction of bags.

    Attributes:
        copies: how many occurrences of members it stands for.
        nested: whether the transaction has a node below it besides.
    """

    copies: int
    nested: bool


def bag_part(caps: Vector, size: int, passing: Iterable[tuple[Passed, int]], bag: Bag) -> Part:
    """The part of a node of a taxonomy that is published in some copies; each stands for one occurrence of a member.

    The original may repeat items, so any non-empty set of as many members as there are copies, or fewer, may be there. What
    a node and one below it both have is taken as the lower one's; so a node with another below may add nothing.

    The estimate takes all sets of as many members as there are copies as equally likely (all members, where there are
    more copies), so that one of s members is among c copies with probability min(1, c/s).

    Args:
        caps, size, passing: as for ``released_part``.
        bag: copies, and whether another node lies below.

    Raises:
        InputError: ``query_too_complex``.
    """
    drawn = min(bag.copies, size)
    choices: dict[tuple[Vector, int], int] = {((0,) * len(caps), 0): 1}  # what is added, by how many of the copies
    free = size
    for passed, members in passing:
        free -= members
        grown: dict[tuple[Vector, int], int] = defaultdict(int)
        if len(choices) * min(members, drawn) > MAX_VECTORS * 64:
            raise too_complex("it distinguishes too many members of a released item")
        for (vector, taken), weight in choices.items():
            for j in range(min(members, drawn - taken) + 1):
                more = _add(vector, tuple(j if on else 0 for on in passed), caps)
                grown[more, taken + j] += weight * comb(members, j)
        choices = grown
    weights: dict[Vector, int] = defaultdict(int)
    for (vector, taken), weight in choices.items():
        if taken or free or bag.nested:
            weights[vector] += weight * comb(free, drawn - taken)
    total = comb(size, drawn)
    return part_of({v: w / total for v, w in weights.items()}, len(caps))


def suppressed_part(question: Question, named: Iterable[Passed]) -> Part:
    """The part of all items that no released item stands for, where something was suppressed.

    Args:
        question: the question.
        named: which tests each of the query's own labels passes that no released item stands for.

    Raises:
        InputError: ``query_too_complex``, and ``unsupported_query`` where a number of rows has no upper bound.
    """
    caps = question.caps
    zero = (0,) * len(caps)
    found = {zero}
    steps: list[tuple[Passed, int]] = [(passed, 1) for passed in sorted(named)]
    unnamed = unnamed_items(question.tests)
    if question.counted and any(passed[-1] for passed in unnamed):
        raise unsupported("count(*) over items that may be suppressed", "Use count(DISTINCT id), or name the items.")
    steps += [(passed, max((c for c, on in zip(caps, passed, strict=True) if on), default=0)) for passed in unnamed]
    for passed, times in steps:
        one = tuple(int(on) for on in passed)
        for _ in range(times):
            more = {_add(v, one, caps) for v in found}
            if more <= found:
                break
            found |= more
            if len(found) > MAX_VECTORS:
                raise too_complex("it asks for too many suppressed items")
    return part_of({v: float(v == zero) for v in found}, len(caps))


def unnamed_items(tests: Sequence[ItemTest | OnValue]) -> list[Passed]:
    """Which tests an item may pass that the query does not name, each possibility once."""
    matchers = list(dict.fromkeys(p for t in tests for p in patterns(t)))
    if len(matchers) > MAX_PATTERNS:
        raise too_complex(f"more than {MAX_PATTERNS} patterns where items were suppressed")
    found = {
        tuple(passes(t, dict(zip(matchers, matched, strict=True))) for t in tests)
        for matched in product((False, True), repeat=len(matchers))
    }
    return sorted(p for p in found if any(p))


# --- the walk -------------------------------------------------------------------------------------------------------

Left = bool | tuple[object, ...]
"""What is left of a condition: a truth value, or nested tuples: (at least, test, count), (not, x), (and, ...)."""


def _compile(condition: Condition, tests: Sequence[ItemTest | OnValue]) -> Left:
    if isinstance(condition, Constant):
        return condition.value
    if isinstance(condition, AtLeast):
        return ("at least", tests.index(condition.test), condition.count)
    if isinstance(condition, OnValue):
        return ("at least", tests.index(condition), 1)
    if isinstance(condition, Not):
        return ("not", _compile(condition.part, tests))
    assert isinstance(condition, And | Or)
    return ("and" if isinstance(condition, And) else "or", *(_compile(p, tests) for p in condition.parts))


def _decide(left: Left, counts: Vector, more: Vector, needed: set[int]) -> Left:
    """What is left when each count can still grow by at most ``more``; ``needed`` collects the tests it looks at."""
    if isinstance(left, bool):
        return left
    kind = left[0]
    if kind == "at least":
        test, least = left[1], left[2]
        assert isinstance(test, int) and isinstance(least, int)
        if counts[test] >= least:
            return True
        if counts[test] + more[test] < least:
            return False
        needed.add(test)
        return left
    if kind == "not":
        inner = _decide(left[1], counts, more, needed)  # type: ignore[arg-type]
        return not inner if isinstance(inner, bool) else ("not", inner)
    absorbing = kind == "or"
    kept: list[Left] = []
    seen: set[int] = set()
    for part in left[1:]:
        inner = _decide(part, counts, more, seen)  # type: ignore[arg-type]
        if inner is absorbing:
            return absorbing
        if not isinstance(inner, bool):
            kept.append(inner)
    needed |= seen
    return not absorbing if not kept else kept[0] if len(kept) == 1 else (kind, *kept)


@dataclass(frozen=True)
class Outcome:
    """The least, expected and greatest value of one transaction."""

    least: int
    expected: float
    greatest: int


class Evaluator:
    """Evaluates one question for transactions made of given parts, within a budget of steps."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._start = _compile(question.condition, question.tests)
        self._steps = 0
        self._decided = cache(self._settle)

    def _settle(self, left: Left, counts: Vector, more: Vector) -> tuple[Left, Vector]:
        needed: set[int] = set()
        left = _decide(left, counts, more, needed)
        if self.question.counted and left is not False:
            needed.add(len(counts) - 1)
        return left, tuple(c if i in needed else 0 for i, c in enumerate(counts))

    def outcome(self, parts: Sequence[Part]) -> Outcome:
        """The value of a transaction that is made of these parts.

        Raises:
            InputError: ``query_too_complex``: more states or steps than allowed.
        """
        caps = self.question.caps
        more: list[Vector] = [(0,) * len(caps)]
        for part in reversed(parts):
            more.append(tuple(a + b for a, b in zip(more[-1], part.most, strict=True)))
        more.reverse()
        states: dict[tuple[Left, Vector], float] = {self._decided(self._start, (0,) * len(caps), more[0]): 1.0}
        for part, ahead in zip(parts, more[1:], strict=True):
            self._steps += len(states) * len(part.vectors)
            if len(states) > MAX_STATES or self._steps > MAX_STEPS:
                raise too_complex("its exact bounds would take too many steps")
            after: dict[tuple[Left, Vector], float] = defaultdict(float)
            for (left, counts), probability in states.items():
                if isinstance(left, bool) and not (self.question.counted and left):
                    after[left, counts] += probability
                    continue
                for vector, share in part.vectors:
                    after[self._decided(left, _add(counts, vector, caps), ahead)] += probability * share
            states = after
        values = [
            ((counts[-1] if self.question.counted else 1) if left else 0, probability)
            for (left, counts), probability in states.items()
        ]
        return Outcome(min(v for v, _ in values), float(sum(v * p for v, p in values)), max(v for v, _ in values))
