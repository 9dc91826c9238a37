"""Tests of one item in a COUNT query: a set of labels, the complement of one, or a pattern, and their combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from anondb.query.values import OnValue


@dataclass(frozen=True)
class Labels:
    """The item is one of these labels (compared by code points)."""

    labels: frozenset[str]


@dataclass(frozen=True)
class Unnamed:
    """A test that fails for each item that a file or a query names, and may hold for others. ``key`` tells tests apart."""

    key: str


@dataclass(frozen=True)
class Choice:
    """A test of items that certainly holds for some labels, and possibly for others, whatever the person."""

    certain: frozenset[str]
    possible: frozenset[str]


@dataclass(frozen=True)
class ItemNot:
    """The item fails a test."""

    part: ItemTest


@dataclass(frozen=True)
class ItemAll:
    """The item passes all tests."""

    parts: tuple[ItemTest, ...]


@dataclass(frozen=True)
class ItemAny:
    """The item passes one of the tests."""

    parts: tuple[ItemTest, ...]


MAX_COMPARED = 100  # labels of a test that are compared with another one
Atom = Labels | Unnamed | Choice
ItemTest = Atom | ItemNot | ItemAll | ItemAny
NO_ITEM = Labels(frozenset())
ANY_ITEM = ItemNot(NO_ITEM)


def item_not(test: ItemTest) -> ItemTest:
    """The negation of a test."""
    return test.part if isinstance(test, ItemNot) else ItemNot(test)


def item_all(*tests: ItemTest) -> ItemTest:
    """The conjunction of tests; sets of labels and complements of sets are merged into one."""
    inside: frozenset[str] | None = None
    outside: frozenset[str] = frozenset()
    others: list[ItemTest] = []
    for test in tests:
        for part in test.parts if isinstance(test, ItemAll) else (test,):
            if isinstance(part, Labels):
                inside = part.labels if inside is None else inside & part.labels
            elif isinstance(part, ItemNot) and isinstance(part.part, Labels):
                outside |= part.part.labels
            elif part not in others:
                others.append(part)
    if inside is not None:
        labels = Labels(inside - outside)
        parts = [labels, *others] if labels.labels else [NO_ITEM]
    else:
        parts = [*([ItemNot(Labels(outside))] if outside or not others else []), *others]
    return parts[0] if len(parts) == 1 else ItemAll(tuple(parts))


def item_any(*tests: ItemTest) -> ItemTest:
    """The disjunction of tests, by De Morgan's rule."""
    merged = item_not(item_all(*(item_not(t) for t in tests)))
    if isinstance(merged, ItemNot) and isinstance(merged.part, ItemAll):
        return ItemAny(tuple(item_not(p) for p in merged.part.parts))
    return merged


def finite(test: ItemTest) -> frozenset[str] | None:
    """All labels that can pass the test, or None if they cannot be listed."""
    if isinstance(test, Labels):
        return test.labels
    if isinstance(test, ItemAll):
        sets = [s for s in map(finite, test.parts) if s is not None]
        return frozenset.intersection(*sets) if sets else None
    if isinstance(test, ItemAny):
        parts = [finite(p) for p in test.parts]
        return None if None in parts else frozenset().union(*(s for s in parts if s is not None))
    return None


def within(test: ItemTest, other: ItemTest) -> bool:
    """Whether each item that passes a test also passes another one; false where this cannot be told."""
    if test == other or other == ANY_ITEM:
        return True
    labels = finite(test)
    if labels is None or len(labels) > MAX_COMPARED or choices(other):
        return False
    return passing(other, labels) == labels


def listed(test: ItemTest) -> frozenset[str] | None:
    """The labels that pass the test; None if they cannot be listed."""
    labels = None if patterns(test) or choices(test) else finite(test)
    return None if labels is None else passing(test, labels)


def _atoms(test: ItemTest | OnValue) -> Iterator[Atom]:
    if isinstance(test, Atom):
        yield test
    elif not isinstance(test, OnValue):
        for part in (test.part,) if isinstance(test, ItemNot) else test.parts:
            yield from _atoms(part)


def with_atoms(test: ItemTest, test_of: Callable[[Atom], ItemTest]) -> ItemTest:
    """The test with others in place of its atoms."""
    if isinstance(test, ItemNot):
        return item_not(with_atoms(test.part, test_of))
    if isinstance(test, ItemAll | ItemAny):
        return (item_all if isinstance(test, ItemAll) else item_any)(*(with_atoms(part, test_of) for part in test.parts))
    return test_of(test)


def mentioned(test: ItemTest | OnValue) -> frozenset[str]:
    """The labels that a test names."""
    return frozenset().union(*(a.labels for a in _atoms(test) if isinstance(a, Labels)))


def patterns(test: ItemTest | OnValue) -> list[Unnamed]:
    """The tests of items that nothing names in a test, each once, in order."""
    return list(dict.fromkeys(a for a in _atoms(test) if isinstance(a, Unnamed)))


def choices(test: ItemTest | OnValue) -> list[Choice]:
    """The parts of a test that counts decide: no list says which items pass it."""
    return [a for a in _atoms(test) if isinstance(a, Choice)]


def passing(test: ItemTest | OnValue, labels: frozenset[str]) -> frozenset[str]:
    """Those of some labels that pass a test without choices."""
    if isinstance(test, Labels):
        return labels & test.labels
    if isinstance(test, ItemNot):
        return labels - passing(test.part, labels)
    if isinstance(test, ItemAll):
        return labels.intersection(*(passing(part, labels) for part in test.parts))
    if isinstance(test, ItemAny):
        return frozenset[str]().union(*(passing(part, labels) for part in test.parts))
    assert not isinstance(test, Choice)  # lists stand in place of choices before items are tried
    return frozenset()  # no named item passes ``Unnamed``, and none a condition on a value


def others_pass(test: ItemTest | OnValue, matched: Mapping[Unnamed, bool]) -> bool:
    """Whether items that no test names pass a test, from the truth of ``Unnamed`` for them."""
    if isinstance(test, Unnamed):
        return matched.get(test, False)
    if isinstance(test, ItemNot):
        return not others_pass(test.part, matched)
    if isinstance(test, ItemAll | ItemAny):
        return (all if isinstance(test, ItemAll) else any)(others_pass(part, matched) for part in test.parts)
    assert not isinstance(test, Choice)
    return False  # no list has them, and no item passes a condition on a value
