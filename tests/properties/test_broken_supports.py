"""Item supports that say more than the rule break the promise on tiny releases, and the checks of the rule notice it.

The rule keeps the promise of each of these releases; what is published instead, or besides, does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest
import reference_supports as ref
from each import each
from supports_cases import Bound, released
from supports_worlds import (
    Ints,
    Release,
    Rule,
    check_promise,
    counted,
    exposed,
    has_world,
    same_table,
    unequal,
    within,
    worlds,
)

Counts = Mapping[str, int]
Bounds = dict[str, tuple[int, int]]
AB = {"A": ["a", "b"]}


def release(*kinds: tuple[str, int], members: dict[str, list[str]], **options: object) -> Release:
    """A release of so many transactions of each kind; an item is a letter."""
    originals = tuple(frozenset(items) for items, n in kinds for _ in range(n))
    settings = {"others": (), "nonempty": False, "local": False, "k": 2, "m": 2, **options}
    rows = settings.pop("rows", None) or released(originals, members)
    return Release(tuple(rows), originals, members, **settings)  # type: ignore[arg-type]


def rule_table(release: Release, rule: Rule = ref.of_label) -> ref.Supports:
    """What a rule publishes of a release."""
    table = {}
    for label, items in release.members.items():
        inside = [release.originals[j] for j in release.at[label]]
        counts = {x: sum(x in o for o in inside) for x in items}
        table |= {(label, x): b for x, b in rule(counts, len(inside), release.k, release.m).items()}
    return table


def exact(counts: Counts, s: int, k: int, m: Bound) -> Bounds:
    """All counts as they are."""
    return {x: (n, n) for x, n in counts.items()} if len(counts) > 1 else {}


def above_k(counts: Counts, s: int, k: int, m: Bound) -> Bounds:
    """Counts above k as they are, and of the others that they are not."""
    return {x: (n, n) if n > k else (0, k) for x, n in counts.items()} if len(counts) > 1 else {}


def raised_if_needed(counts: Counts, s: int, k: int, m: Bound) -> Bounds:
    """Counts above k as they are; if they leave too little room, the largest is said to be at most what leaves enough."""
    bounds = above_k(counts, s, k, m)
    if not bounds:
        return {}
    need = (min(m, len(counts)) - 1) * k
    largest = min(counts, key=lambda x: (-bounds[x][1], x))
    others = sum(high for x, (_, high) in bounds.items() if x != largest)
    if bounds[largest][1] + others - s < need:
        bounds[largest] = (0, min(s, s + need - others))
    return bounds


def buckets_alone(counts: Counts, s: int, k: int, m: Bound) -> Bounds:
    """The buckets, without raising the largest."""
    return {x: ref.bucket(n, s, k) for x, n in counts.items()} if len(counts) > 1 else {}


@dataclass(frozen=True)
class Rules:
    """A rule that breaks the support of an itemset on a release."""

    rule: Rule
    release: Release
    broken: str
    for_all: bool = True  # not only for readers who know the rule


RULES = {
    "exact counts": Rules(exact, release(("a", 5), ("b", 1), members=AB), "b"),
    "exact counts above k": Rules(above_k, release(("a", 5), ("b", 4), ("ab", 1), members=AB), "ab"),
    "room only where there is none": Rules(
        raised_if_needed, release(("a", 5), ("b", 4), ("ab", 1), members=AB), "ab", for_all=False
    ),
    "buckets without room": Rules(buckets_alone, release(("a", 3), ("b", 3), ("ab", 1), members=AB), "ab"),
}


@pytest.mark.parametrize("name", RULES)
def test_other_rules_expose_itemsets(name: str) -> None:
    case = RULES[name]
    check_promise(case.release, rule_table(case.release))
    table = rule_table(case.release, case.rule)
    found = worlds(case.release, within(case.release, table))
    knowing = worlds(case.release, same_table(case.release, table, case.rule))
    assert has_world(case.release, knowing, case.release.originals)
    assert tuple(case.broken) in exposed(case.release, knowing)
    assert (tuple(case.broken) in exposed(case.release, found)) == case.for_all
    assert not unequal(case.release, knowing)


@dataclass(frozen=True)
class Besides:
    """What else is published beside the table of the rule, as a number that each world has."""

    said: Callable[[Release, Ints], Ints]
    release: Release
    broken: str
    equal: bool  # whether all candidates stay equal


def parts_of_a(release: Release, found: Ints) -> Ints:
    """The parts of A, in any order."""
    return np.sort(found[:, release.at["A"]] & release.bits(release.members["A"]), axis=1)


JOINT = release(("ad", 1), ("bd", 2), ("abd", 1), ("b", 1), members={**AB, "D": ["d"]})
LOCAL = release(
    ("ac", 1),
    ("bc", 1),
    ("ab", 4),
    members={"A": ["a", "b"], "a": ["a"], "b": ["b"], "c": ["c"]},
    rows=[frozenset("Ac")] * 2 + [frozenset("ab")] * 4,
    local=True,
)
BESIDES = {
    "suppressed items": Besides(
        lambda r, found: counted(r, found, "z"),
        release(("c", 2), ("cz", 1), ("z", 2), members={"c": ["c"]}, others=("z",), nonempty=True),
        "cz",
        equal=False,  # a row without items holds z, and each of the others in one world of three instead of two
    ),
    "a member among another released item": Besides(lambda r, found: counted(r, found, "b", "D"), JOINT, "ab", False),
    "pairs": Besides(lambda r, found: counted(r, found, "bd"), JOINT, "ab", False),
    "the total of a local recoding": Besides(lambda r, found: counted(r, found, "a"), LOCAL, "ac", True),
    "the number of occurrences": Besides(
        lambda r, found: counted(r, found, "a") + counted(r, found, "b"),
        release(("a", 3), ("b", 2), ("ab", 1), members=AB),
        "ab",
        equal=True,
    ),
    "the parts without their transactions": Besides(
        parts_of_a, release(("a", 2), ("b", 2), ("abc", 1), members={"A": ["a", "b", "c"]}), "ab", equal=True
    ),
}


@each("name", BESIDES)
def test_more_figures_expose_itemsets(name: str) -> None:
    case = BESIDES[name]
    table = rule_table(case.release)
    check_promise(case.release, table)
    found = worlds(case.release, within(case.release, table))
    mine = np.array([[case.release.bits(o) for o in case.release.originals]], dtype=np.uint8)
    said, wanted = (case.said(case.release, w).reshape(len(w), -1) for w in (found, mine))
    left = found[(said == wanted).all(axis=1)]
    assert has_world(case.release, left, case.release.originals)
    assert tuple(case.broken) in exposed(case.release, left)
    assert (not unequal(case.release, left)) == case.equal
