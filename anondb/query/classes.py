"""The units that a question distinguishes in a release: labels, released items, classes of these, and transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from anondb.engine.arrays import Ints
from anondb.query.evaluate import Bag, Part, Passed, Question, Vector, bag_part, released_part
from anondb.query.item_tests import ItemTest, mentioned, others_pass, passing
from anondb.query.relational import Cell
from anondb.query.values import OnValue

MAX_BITS = 62  # of signatures that are numbers
KEPT = 64  # answers of ``passing_of``


@dataclass(frozen=True)
class Block:
    """A released item that is relevant to a question.

    Attributes:
        size: the number of its members.
        passing: the number of members for each non-empty set of passed tests.
        bag: in a release of bags, its published copies.
    """

    size: int
    passing: tuple[tuple[Passed, int], ...]
    bag: Bag | None = None

    def part(self, caps: Vector) -> Part:
        """Its possible contributions to a transaction."""
        if self.bag is None:
            return released_part(caps, self.size, self.passing)
        return bag_part(caps, self.size, self.passing, self.bag)


class Sums(NamedTuple):
    """The values of the persons of a group: sums of the least and of the greatest ones, and the extremes of these."""

    least: float
    greatest: float
    min_least: float
    max_least: float
    min_greatest: float
    max_greatest: float

    def within(self, low: float, high: float, persons: int) -> Sums:
        """The values of persons of whom each has one between two ends, which may be infinite."""
        least, greatest = (max(self.least, persons * low), min(self.greatest, persons * high)) if persons else self[:2]
        leasts = (max(end, low) for end in (self.min_least, self.max_least))
        greatests = (min(end, high) for end in (self.min_greatest, self.max_greatest))
        return Sums(least, greatest, *leasts, *greatests)


class Size(NamedTuple):
    """A sum over the items of one person: its least and its greatest value."""

    least: float
    greatest: float


@dataclass(frozen=True)
class Group:
    """Records that a question does not tell apart.

    Attributes:
        counts: their numbers of released items of each class.
        cells: their published values.
        complete: whether no item of theirs is missing.
        records: how many they are.
        sums: the sums over their items, if there is a measure.
        size: the sum by which they are grouped, if there is one.
        states: for each comparison of a sum with a number whether it is false (0), true (1) or open (2).
    """

    counts: tuple[int, ...]
    cells: tuple[Cell, ...]
    complete: bool
    records: int
    sums: Sums | None = None
    size: Size | None = None
    states: tuple[int, ...] = ()


class Holding(NamedTuple):
    """A transaction from the view of one released item.

    Attributes:
        items: this item and all others for its members, from the lowest to the highest.
        counts: the numbers of released items of each class.
        complete: whether no item of the transaction is missing.
        cells: its published values.
    """

    items: tuple[str, ...]
    counts: tuple[int, ...]
    complete: bool
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Passing:
    """The tests that labels pass: separately for labels that the tests name or match, and once for all others."""

    special: Mapping[str, Passed]
    usual: Passed

    def of(self, label: str) -> Passed:
        """The tests that a label passes."""
        return self.special.get(label, self.usual)

    def without_first(self) -> Passing:
        """A copy without the first test."""
        return Passing({label: passed[1:] for label, passed in self.special.items()}, self.usual[1:])


@dataclass(frozen=True, eq=False)
class Members:
    """The members of all released items, one after the other.

    Attributes:
        labels: the released items.
        sizes: how many members each of them has.
        items: the members.
        images: the released items of each item.
    """

    labels: Sequence[str]
    sizes: Ints
    items: Sequence[str]
    images: Mapping[str, tuple[str, ...]]

    @cached_property
    def starts(self) -> Ints:
        """Where the members of each released item begin."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def label(self) -> Ints:
        """The place of the released item of each member."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def places(self) -> Mapping[str, list[int]]:
        """Where each item is."""
        places: dict[str, list[int]] = {}
        for place, item in enumerate(self.items):
            places.setdefault(item, []).append(place)
        return places

    def tested(self, passing: Passing) -> tuple[Ints, list[Passed]]:
        """For each member a number, 0 for those that no test names, and for each number the tests that it passes."""
        numbers: dict[Passed, int] = {passing.usual: 0}
        tested = np.zeros(len(self.items), np.int64)
        for label, passed in passing.special.items():
            tested[self.places.get(label, [])] = numbers.setdefault(passed, len(numbers))
        return tested, list(numbers)


@dataclass(frozen=True)
class Classes:
    """Classes of equivalent released items, and the encoding of their numbers in a signature.

    Attributes:
        of: the class of each released item that is relevant.
        parts: the part that one released item of each class adds.
        radices: for each class, one more than its number of released items.
        wide: whether signatures are texts, because the number would not fit.
    """

    of: Mapping[str, int]
    parts: Sequence[Part]
    radices: Sequence[int]
    wide: bool

    @classmethod
    def encoded(cls, of: Mapping[str, int], parts: Sequence[Part]) -> Classes:
        """The classes with these parts, from that of each relevant released item."""
        radices = [1] * len(parts)
        for part in of.values():
            radices[part] += 1
        return cls(of, parts, radices, wide=prod(radices) >= 1 << MAX_BITS)

    @cached_property
    def fixed_first(self) -> Sequence[int]:
        """The classes, those with fixed parts first."""
        return sorted(range(len(self.parts)), key=lambda n: not self.parts[n].fixed)

    @property
    def key(self) -> object:
        """What equal classes have in common."""
        return dict(self.of), tuple(self.parts), tuple(self.radices), self.wide

    def codes(self) -> dict[str, int]:
        """What each relevant released item adds to a signature."""
        weights = list(range(len(self.radices))) if self.wide else [prod(self.radices[:n]) for n in range(len(self.parts))]
        return {released: weights[n] for released, n in sorted(self.of.items())}

    def all_counts(self, signatures: Ints) -> list[tuple[int, ...]]:
        """Decode signatures that are numbers."""
        columns = []
        for radix in self.radices:
            signatures, counts = np.divmod(signatures, radix)
            columns.append(counts.tolist())
        return list(zip(*columns, strict=True))

    def counts(self, signature: Any) -> tuple[int, ...]:
        """Decode a signature: the number of released items of each class, 0 for transactions without a signature."""
        counts = [0] * len(self.radices)
        if signature is None or signature == "":
            return tuple(counts)
        if self.wide:
            for code in str(signature).split(","):
                counts[int(code)] += 1
        else:
            rest = int(signature)
            for number, radix in enumerate(self.radices):
                rest, counts[number] = divmod(rest, radix)
        return tuple(counts)


NO_CLASSES = Classes({}, [], [], wide=False)


def classes_of(question: Question, blocks: Mapping[str, Block], *, apart: bool = False) -> Classes:
    """Group released items by their effect on a question.

    Args:
        question: the question.
        blocks: the released items that matter.
        apart: whether released items with different members have different classes, even if they add the same.
    """
    numbers: dict[object, int] = {}
    parts: list[Part] = []
    of: dict[str, int] = {}
    for released, block in blocks.items():
        part = numbers.get(block)
        if part is None:
            added = block.part(question.caps)
            part = numbers[block] = numbers.setdefault(block if apart and not added.fixed else added, len(parts))
            if part == len(parts):
                parts.append(added)
        of[released] = part
    return Classes.encoded(of, parts)


@lru_cache(maxsize=KEPT)
def passing_of(tests: tuple[ItemTest | OnValue, ...]) -> Passing:
    """The tests that each label passes that a test names, and those that all others pass."""
    labels = frozenset[str]().union(*map(mentioned, tests))
    chosen = [passing(test, labels) for test in tests]
    special = {label: tuple(label in of for of in chosen) for label in labels}
    return Passing(special, tuple(others_pass(test, {}) for test in tests))
