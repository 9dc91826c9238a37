"""Compute the exact bounds of a condition, for one published transaction at a time.

**Consistent originals.** A released item of size s stands for a non-empty subset of its s members. If items were suppressed,
a transaction may also have had any items without a released item; otherwise none. In a global recoding these choices are
free within a transaction and between transactions. The same holds for a local recoding without suppression; with
suppression, transactions that are not ``complete`` may have had any other items. In a release of bags each copy stands for
one occurrence of a member.

**Why the bounds are tight.** A condition depends on a person's items only through the number that pass each of its tests, up
to the largest threshold of each (a *count vector*). The items of one published transaction are the union of independent
parts (its released items, and the suppressed ones), so the reachable count vectors are the capped sums of one reachable
vector from each part, and an original reaches every such sum. ``outcome`` walks exactly through these sums: its least and
greatest value are attained for each transaction. Transactions are independent, so the sums of the least and of the greatest
values over all transactions are attained as well: they are the minimum and the maximum over all consistent originals. Two
cases widen the bounds but keep them valid: a pattern (LIKE) on suppressed items, which are assumed to match any of the
query's patterns or none (their labels are arbitrary texts); and an item of two parts (suppressed in an incomplete
transaction although it is released there; below two nodes of a bag), which may count twice.

A state of the walk consists of the undecided rest of the condition and the counts that it still needs; the counts of a
decided condition are dropped. So wide conjunctions and disjunctions stay small. Of the number that is counted, a state keeps
the least and the greatest one alone. Where a question has few count vectors, all sums are computed at once, as the bits of a
number, and no walk is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product
from math import prod

from anondb.answers.rules.vector_sets import EMPTY, vector_sets
from anondb.query.item_tests import ItemTest, finite, others_pass, patterns
from anondb.query.predicates import And, AtLeast, Condition, Constant, Not, Or, leaves
from anondb.query.refusals import too_complex, unsupported
from anondb.query.values import OnValue

MAX_STATES = 1 << 14
MAX_VECTORS = 1 << 12
MAX_STEPS = 1 << 22
MAX_SET = 1 << 8  # different count vectors of a question whose sets are numbers
MAX_PATTERNS = 6
TOO_MANY_MEMBERS = "it distinguishes too many members of a released item"
UNLIMITED = 1 << 62

Vector = tuple[int, ...]
Passed = tuple[bool, ...]
"""The tests that an item passes, in the order of ``Question.tests``."""


@dataclass(frozen=True)
class Question:
    """A condition on one person and, for row counts, a test: the value is the number of items that pass it.

    Attributes:
        condition: a tree with leaves ``AtLeast`` and ``OnValue``.
        tests: its distinct tests and conditions on values; the last one is the counted test if ``counted``.
        caps: the largest relevant count of each test.
        counted: whether the value is the count of the last test; else it is 1.
    """

    condition: Condition
    tests: tuple[ItemTest | OnValue, ...]
    caps: Vector
    counted: bool

    @property
    def attributes(self) -> frozenset[str]:
        """The names of the attributes that it has conditions on."""
        return frozenset(test.attribute for test in self.tests if isinstance(test, OnValue))

    def most(self, passed: Passed, items: int = UNLIMITED) -> int:
        """How many of some items matter that pass these tests."""
        return min(items, max((cap for cap, on in zip(self.caps, passed, strict=True) if on), default=0))

    @classmethod
    def of(cls, condition: Condition, counted: ItemTest | None = None) -> Question:
        """The question of a condition."""
        if counted is not None and condition == AtLeast(1, counted):
            condition = Constant(True)  # who has no such item adds nothing
        caps: dict[ItemTest | OnValue, int] = {}
        for leaf in leaves(condition):
            if isinstance(leaf, AtLeast):
                caps[leaf.test] = max(leaf.count, caps.get(leaf.test, 0))
            elif isinstance(leaf, OnValue):
                caps[leaf] = 1  # a value adds 1 to each condition that it satisfies
        tests = list(caps)
        if counted is not None:
            caps.pop(counted, None)
            tests = [*(t for t in tests if t != counted), counted]
        labels = None if counted is None else finite(counted)
        most = UNLIMITED if labels is None else len(labels)
        return cls(condition, tuple(tests), tuple(caps.get(t, most) for t in tests), counted is not None)


@dataclass(frozen=True)
class Part:
    """An independent part of a transaction: the count vectors that it may add, in ascending order, and their maxima."""

    vectors: tuple[Vector, ...]
    most: Vector

    @property
    def fixed(self) -> bool:
        """Whether it adds the same vector for every original."""
        return len(self.vectors) == 1

    @cached_property
    def by_others(self) -> dict[Vector, tuple[int, int]]:
        """The least and the greatest last count beside the other ones, with 0 in its place."""
        ends: dict[Vector, tuple[int, int]] = {}
        for *others, last in self.vectors:  # in ascending order
            key = (*others, 0)
            ends[key] = ends.get(key, (last, last))[0], last
        return ends


def capped_sum(left: Sequence[int], right: Sequence[int], caps: Vector) -> Vector:
    """The sum of two count vectors, each count up to its cap."""
    return tuple(min(a + b, c) for a, b, c in zip(left, right, caps, strict=True))


def part_of(vectors: Iterable[Vector], width: int) -> Part:
    """The part that adds one of these vectors."""
    listed = sorted(set(vectors))
    return Part(tuple(listed), tuple(max((v[i] for v in listed), default=0) for i in range(width)))


@lru_cache(maxsize=1024)  # files have the same ones
def released_part(caps: Vector, size: int, passing: tuple[tuple[Passed, int], ...]) -> Part:
    """The part of a released item.

    Args:
        caps: the question's caps.
        size: the number of its members.
        passing: the sets of passed tests, and the number of members with each.
    """
    zero = (0,) * len(caps)
    choices = {zero}
    for passed, members in passing:
        most = min(members, max(cap for cap, on in zip(caps, passed, strict=True) if on))
        if len(choices) * (most + 1) > MAX_VECTORS * 8:
            raise too_complex(TOO_MANY_MEMBERS)
        choices = {
            capped_sum(vector, tuple(j if on else 0 for on in passed), caps) for vector in choices for j in range(most + 1)
        }
        if len(choices) > MAX_VECTORS:
            raise too_complex(TOO_MANY_MEMBERS)
    if sum(members for _, members in passing) == size:  # it has one of them
        choices.discard(zero)
    return part_of(choices, len(caps))


@dataclass(frozen=True)
class Bag:
    """A published node in a transaction of a release of bags.

    Attributes:
        copies: the number of occurrences of members that it stands for.
        nested: whether the transaction also has a node below it.
    """

    copies: int
    nested: bool


def bag_part(caps: Vector, size: int, passing: Iterable[tuple[Passed, int]], bag: Bag) -> Part:
    """The part of a taxonomy node that is published in c copies, each for one occurrence of a member.

    The original may repeat items, so it may contain any non-empty set of up to c members. Members of both a node and a node
    below it are attributed to the lower one, so a node with another one below it may add nothing.

    Args:
        caps, size, passing: as for ``released_part``.
        bag: the copies, and whether the transaction has a node below.
    """
    drawn = min(bag.copies, size)
    choices = {((0,) * len(caps), 0)}  # the added vector, and the copies used
    free = size
    for passed, members in passing:
        free -= members
        if len(choices) * min(members, drawn) > MAX_VECTORS * 64:
            raise too_complex(TOO_MANY_MEMBERS)
        choices = {
            (capped_sum(vector, tuple(j if on else 0 for on in passed), caps), taken + j)
            for vector, taken in choices
            for j in range(min(members, drawn - taken) + 1)
        }
    return part_of((vector for vector, taken in choices if taken or free or bag.nested), len(caps))


def suppressed_part(question: Question, named: Iterable[Passed]) -> Part:
    """The part of all items without a released item, in a release with suppression.

    Args:
        question: the question.
        named: for each label of the query without a released item, the tests that it passes.

    Raises:
        InputError: ``query_too_complex``, and ``unsupported_query`` if a number of rows has no upper bound.
    """
    caps = question.caps
    vectors = {(0,) * len(caps)}
    steps: list[tuple[Passed, int]] = [(passed, 1) for passed in sorted(named)]
    unnamed = unnamed_items(question.tests)
    if question.counted and any(passed[-1] for passed in unnamed):
        raise unsupported("count(*) over items that may be suppressed", "Use count(DISTINCT id), or name the items.")
    steps += [(passed, question.most(passed)) for passed in unnamed]
    for passed, times in steps:
        item = tuple(int(on) for on in passed)
        for _ in range(times):
            more = {capped_sum(v, item, caps) for v in vectors}
            if more <= vectors:
                break
            vectors |= more
            if len(vectors) > MAX_VECTORS:
                raise too_complex("it asks for too many suppressed items")
    return part_of(vectors, len(caps))


def unnamed_items(tests: Sequence[ItemTest | OnValue]) -> list[Passed]:
    """The possible sets of tests that an item not named in the query may pass, each once."""
    matchers = list(dict.fromkeys(p for t in tests for p in patterns(t)))
    if len(matchers) > MAX_PATTERNS:
        raise too_complex(f"more than {MAX_PATTERNS} patterns where items were suppressed")
    possible = {
        tuple(others_pass(t, dict(zip(matchers, matched, strict=True))) for t in tests)
        for matched in product((False, True), repeat=len(matchers))
    }
    return sorted(p for p in possible if any(p))


# --- the walk -------------------------------------------------------------------------------------------------------

Left = bool | tuple[object, ...]
"""The undecided rest of a condition: a truth value, or nested tuples: (at least, test, count), (not, x), (and, ...)."""


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
    """Simplify a condition whose counts can grow by at most ``more``; collect in ``needed`` the tests that it depends on."""
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
    undecided: list[Left] = []
    seen: set[int] = set()
    for part in left[1:]:
        inner = _decide(part, counts, more, seen)  # type: ignore[arg-type]
        if inner is absorbing:
            return absorbing
        if not isinstance(inner, bool):
            undecided.append(inner)
    needed |= seen
    return not absorbing if not undecided else undecided[0] if len(undecided) == 1 else (kind, *undecided)


@dataclass(frozen=True)
class Outcome:
    """The least and the greatest value of one transaction."""

    least: int
    greatest: int


class Evaluator:
    """Evaluates one question for transactions with known parts, within a budget of steps.

    Attributes:
        some: whether persons count who have some item that passes the only test (true), or none (false); None for other
            questions.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        self._start = _compile(question.condition, question.tests)
        self._steps = 0
        self._decided = cache(self._settle)
        tests = {leaf.test for leaf in leaves(question.condition) if isinstance(leaf, AtLeast)}
        self._apart = question.counted and question.tests[-1] not in tests
        some: Left = ("at least", 0, 1)
        whole: dict[Left, bool] = {some: True, ("not", some): False}
        single = not question.counted and question.caps == (1,)
        self.some = whole.get(self._start) if single else None
        few = prod(cap + 1 for cap in question.caps[:MAX_SET]) <= MAX_SET
        self._sets = vector_sets(question.caps) if few and self.some is None else None
        self._ends = cache(self._ends_of)

    def _settle(self, left: Left, counts: Vector, more: Vector) -> tuple[Left, Vector]:
        needed: set[int] = set()
        left = _decide(left, counts, more, needed)
        return left, tuple(c if i in needed else 0 for i, c in enumerate(counts))

    def value(self, counts: Vector) -> int:
        """The value of a transaction with these counts."""
        met, _ = self._decided(self._start, counts, (0,) * len(counts))
        return (counts[-1] if self.question.counted else 1) if met else 0

    def outcome(self, parts: Sequence[Part]) -> Outcome:
        """The outcome for a transaction with these parts.

        Raises:
            InputError: ``query_too_complex``: more states or steps than allowed.
        """
        if self.some is not None:
            least = int(any(part.vectors[0] != (0,) for part in parts))
            most = int(any(part.most != (0,) for part in parts))
            return Outcome(least, most) if self.some else Outcome(1 - most, 1 - least)
        if self._sets is None:
            return self._walk(parts)
        reached = EMPTY
        for part in parts:
            reached = self._sets.added(reached, part.vectors)
        return self._ends(reached)

    @cached_property
    def _by_value(self) -> list[tuple[int, int]]:
        """The values, in ascending order, each with the set of the count vectors that have it."""
        by_value: dict[int, int] = {}
        for n, vector in enumerate(self._sets.vectors if self._sets else ()):
            value = self.value(vector)
            by_value[value] = by_value.get(value, 0) | 1 << n
        return sorted(by_value.items())

    def _ends_of(self, reached: int) -> Outcome:
        values = [value for value, vectors in self._by_value if vectors & reached]
        return Outcome(values[0], values[-1])

    def _walk(self, parts: Sequence[Part]) -> Outcome:
        """The outcome by the conditions that the parts leave undecided, one part after the other."""
        caps, counted = self.question.caps, self.question.counted
        # what the parts from each place on add at most, and at least to the count
        more, fewest = [(0,) * len(caps)], [0]
        for part in reversed(parts):
            more.append(tuple(a + b for a, b in zip(more[-1], part.most, strict=True)))
            fewest.append(fewest[-1] + (min(vector[-1] for vector in part.vectors) if counted else 0))
        more.reverse()
        fewest.reverse()
        ends: set[int] = set()
        states = {self._decided(self._start, more[-1], more[0]): (0, 0)}
        for place in range(len(parts) + 1):
            undecided = {state: of for state, of in states.items() if not isinstance(state[0], bool)}
            for (left, _), (low, high) in states.items():
                if left is True:  # the parts that follow add up
                    ends |= {low + fewest[place], high + more[place][-1]} if counted else {1}
                elif left is False:
                    ends.add(0)
            if not undecided:
                break
            vectors, ahead = self._vectors(parts[place]), more[place + 1]
            self._steps += len(undecided) * len(vectors)
            if len(undecided) > MAX_STATES or self._steps > MAX_STEPS:
                raise too_complex("its exact bounds would take too many steps")
            states = {}
            for (left, counts), (low, high) in undecided.items():
                for vector, (least, most) in vectors.items():
                    state = self._decided(left, capped_sum(counts, vector, caps), ahead)
                    before = states.get(state, (UNLIMITED, 0))
                    states[state] = min(before[0], low + least), max(before[1], high + most)
        top = caps[-1] if counted else 1
        return Outcome(min(*ends, top), min(max(ends), top))

    def _vectors(self, part: Part) -> dict[Vector, tuple[int, int]]:
        """What a part may add to the counts, each with the ends of what it adds to the value."""
        if self._apart:
            return part.by_others
        return {vector: (vector[-1], vector[-1]) if self.question.counted else (0, 0) for vector in part.vectors}
