"""What a question tells apart in a release: what labels pass, released items, classes of these, and transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from anondb.query.evaluate import Bag, Part, Passed, Vector, bag_part, released_part
from anondb.query.relational import Cell

Counts = list[tuple[tuple[int, ...], int]]
"""How many transactions have how many released items of each class."""


@dataclass(frozen=True)
class Block:
    """A released item that a question looks at.

    Attributes:
        size: how many members it has.
        passing: how many members pass which tests, at least one.
        bag: in a release of bags, what is published of it.
    """

    size: int
    passing: tuple[tuple[Passed, int], ...]
    bag: Bag | None = None

    def part(self, caps: Vector) -> Part:
        """What it may add to a transaction.

        Raises:
            InputError: ``query_too_complex``.
        """
        if self.bag is None:
            return released_part(caps, self.size, self.passing)
        return bag_part(caps, self.size, self.passing, self.bag)


@dataclass(frozen=True)
class Group:
    """Records that are alike: how many released items of each class they have, their published values, whether nothing of
    theirs can be missing; and how many they are."""

    counts: tuple[int, ...]
    cells: tuple[Cell, ...]
    complete: bool
    records: int


class Holding(NamedTuple):
    """What a transaction is for one of its released items: that one, then all that stand for its members besides (from below
    to above); how many released items of each class there are in all; whether nothing can be missing."""

    items: tuple[str, ...]
    counts: tuple[int, ...]
    complete: bool


@dataclass(frozen=True)
class Passing:
    """Which of some tests labels pass: those that the tests name or match one by one, and all others alike."""

    special: Mapping[str, Passed]
    usual: Passed

    def of(self, label: str) -> Passed:
        """Which tests a label pass."""
        return self.special.get(label, self.usual)

    def without_first(self) -> Passing:
        """The same without the first test."""
        return Passing({label: passed[1:] for label, passed in self.special.items()}, self.usual[1:])


@dataclass(frozen=True)
class Classes:
    """Released items that behave alike, and how a signature counts them.

    Attributes:
        of: the class of each released item that is not of the default class.
        parts: the part that one released item of each class adds.
        default: the class of all other released items, or None where these do not matter.
        radices: one more than the number of released items, for each class.
        wide: whether signatures are texts, because the number would not fit.
    """

    of: Mapping[str, int]
    parts: Sequence[Part]
    default: int | None
    radices: Sequence[int]
    wide: bool

    def weights(self) -> list[int]:
        """What each class adds to a signature."""
        if self.wide:
            return list(range(len(self.radices)))
        found, place = [], 1
        for radix in self.radices:
            found.append(place)
            place *= radix
        return found

    def counts(self, signature: Any) -> tuple[int, ...]:
        """How many released items of each class a signature stands for."""
        found = [0] * len(self.radices)
        if self.wide:
            for code in str(signature).split(","):
                found[int(code)] += 1
        else:
            rest = int(signature)
            for number, radix in enumerate(self.radices):
                rest, found[number] = divmod(rest, radix)
        return tuple(found)
