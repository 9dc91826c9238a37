"""All originals that tiny releases with item supports may come from, as bits, and random releases to try them on.

A world is a row of an array: the original of each transaction, with bit n for the n-th item. ``Worlds`` enumerates them, by
no argument but that a released item stands for a non-empty set of its members and that the published bounds hold.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import reference_supports as ref
from reference import is_km_anonymous
from reference_supports import Row, Supports
from supports_cases import Bound, Members, released, shown

Ints = npt.NDArray[Any]
Keep = Callable[[str, Ints], Ints]
"""Which worlds of a label stay, by the counts of its members: one line for each world, one column for each member."""
LABEL_WORLDS, WORLDS = 60_000, 40_000  # no more are enumerated


@dataclass(frozen=True, eq=False)
class Release:
    """A release, and the original that it was made of.

    Attributes:
        rows, originals: the transactions as they are published, and as they were.
        members: what the released items that occur stand for.
        others: items that may have been suppressed.
        nonempty: whether every reader knows that each original has an item.
        local: whether an item may be below different released items in different transactions.
        k, m: the promise.
    """

    rows: tuple[Row, ...]
    originals: tuple[Row, ...]
    members: Members
    others: tuple[str, ...]
    nonempty: bool
    local: bool
    k: int
    m: Bound

    @cached_property
    def domain(self) -> list[str]:
        """All items."""
        return sorted({x for items in self.members.values() for x in items} | set(self.others))

    def bits(self, items: Collection[str]) -> int:
        """A set of items as bits."""
        return sum(1 << self.domain.index(x) for x in items)

    @cached_property
    def at(self) -> dict[str, list[int]]:
        """The transactions that show each released item."""
        return {u: [j for j, row in enumerate(self.rows) if u in row] for u in self.members}

    def free(self, j: int) -> list[str]:
        """What may have been suppressed in a transaction; a local recoding may suppress all that its labels do not cover."""
        if not self.others:
            return []
        covered = {x for u in self.rows[j] for x in self.members[u]}
        return [x for x in self.domain if x not in covered] if self.local else list(self.others)

    def cover(self, j: int, items: Collection[str]) -> tuple[str, ...] | None:
        """The released item above each item in a transaction, empty where it was suppressed; None if one is impossible."""
        found = []
        for x in items:
            above = [u for u in self.rows[j] if x in self.members[u]]
            if not above and x not in self.free(j):
                return None
            found.append(above[0] if above else "")
        return tuple(found)

    def groups(self, items: Collection[str]) -> dict[tuple[str, ...] | None, list[int]]:
        """The transactions by their cover of an itemset."""
        found: dict[tuple[str, ...] | None, list[int]] = {}
        for j in range(len(self.rows)):
            found.setdefault(self.cover(j, items), []).append(j)
        return found

    def choices(self, j: int) -> list[int]:
        """All originals of a transaction, as bits."""
        parts = [nonempty(self.bits([x]) for x in self.members[u]) for u in self.rows[j]]
        rest = [0, *nonempty(self.bits([x]) for x in self.free(j))]
        found = [sum(choice) for choice in product(*parts, rest)]
        return [c for c in found if c] if self.nonempty else found

    def itemsets(self, most: Bound = math.inf) -> Iterator[tuple[str, ...]]:
        """All non-empty itemsets of up to ``most`` items."""
        sizes = range(1, int(min(most, len(self.domain))) + 1)
        return chain.from_iterable(combinations(self.domain, n) for n in sizes)

    def published(self, counts: Sequence[int], label: str) -> list[tuple[int, int]] | None:
        """What the rule publishes of the members of a released item, None if nothing."""
        items = self.members[label]
        found = ref.of_label(dict(zip(items, counts, strict=True)), len(self.at[label]), self.k, self.m)
        return [found[x] for x in items] if found else None


def nonempty(bits: Iterator[int]) -> list[int]:
    """All sums of one or more bits."""
    known = list(bits)
    return [sum(c) for n in range(1, len(known) + 1) for c in combinations(known, n)]


class TooManyWorldsError(Exception):
    """More worlds than a test should enumerate."""


def arrangements(release: Release, label: str) -> Ints:
    """All ways to choose the members of a released item in the transactions that show it."""
    parts = np.array(nonempty(release.bits([x]) for x in release.members[label]), dtype=np.uint8)
    n = len(release.at[label])
    if len(parts) ** n > LABEL_WORLDS:
        raise TooManyWorldsError
    return parts[np.indices((len(parts),) * n, dtype=np.uint8).reshape(n, -1).T]


def counts_of(release: Release, label: str, found: Ints) -> Ints:
    """The count of each member of a released item in each arrangement."""
    return np.stack([(found & release.bits([x]) != 0).sum(axis=1) for x in release.members[label]], axis=1)


def within(release: Release, table: Supports) -> Keep:
    """Keep what lies within the published bounds."""

    def keep(label: str, counts: Ints) -> Ints:
        bounds = [table.get((label, x), (0, len(release.rows))) for x in release.members[label]]
        low, high = np.array(bounds).T
        return ((counts >= low) & (counts <= high)).all(axis=1)

    return keep


def same_table(release: Release, table: Supports) -> Keep:
    """Keep what the rule publishes as this table."""

    def keep(label: str, counts: Ints) -> Ints:
        wanted = [table[label, x] for x in release.members[label] if (label, x) in table] or None
        lines, line_of = np.unique(counts, axis=0, return_inverse=True)
        same = np.array([release.published(line.tolist(), label) == wanted for line in lines], dtype=bool)
        return same[line_of.reshape(-1)]

    return keep


def anything(label: str, counts: Ints) -> Ints:
    """Keep all: the worlds of the rows alone."""
    return np.ones(len(counts), dtype=bool)


def worlds(release: Release, keep: Keep) -> Ints:
    """All worlds of a release whose counts in each label stay: one line for each, one column for each transaction.

    Raises:
        TooManyWorldsError: there are more than a test should enumerate.
    """
    found = np.zeros((1, len(release.rows)), dtype=np.uint8)
    for label, at in release.at.items():
        chosen = arrangements(release, label)
        chosen = chosen[keep(label, counts_of(release, label, chosen))]
        placed = np.zeros((len(chosen), len(release.rows)), dtype=np.uint8)
        placed[:, at] = chosen
        found = _joined(found, placed)
    for j, row in enumerate(release.rows):
        rest = [0, *nonempty(release.bits([x]) for x in release.free(j))]
        placed = np.zeros((len(rest), len(release.rows)), dtype=np.uint8)
        placed[:, j] = rest
        found = _joined(found, placed[1:] if release.nonempty and not row else placed)
    return found


def _joined(found: Ints, added: Ints) -> Ints:
    if len(found) * len(added) > WORLDS:
        raise TooManyWorldsError
    return (found[:, None, :] | added[None, :, :]).reshape(-1, found.shape[1])


# --- what must hold -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """How often an itemset is held: in how many worlds by each transaction, and by how many transactions at least and at most."""

    by: list[int]
    least: int
    most: int


def held(release: Release, found: Ints, items: Collection[str]) -> Held:
    """Count an itemset in all worlds."""
    wanted = release.bits(items)
    holds = (found & wanted) == wanted
    counts = holds.sum(axis=1)
    return Held(holds.sum(axis=0).tolist(), int(counts.min()), int(counts.max()))


def unequal(release: Release, found: Ints) -> list[tuple[str, ...]]:
    """The itemsets that some transactions of equal cover hold more often than others, in proportion to the rows alone.

    The rows alone give all of them the same, but for sets of suppressed items where each original has an item.
    """
    choices = {row: release.choices(j) for j, row in enumerate(release.rows)}
    wrong = []
    for items in release.itemsets():
        by, wanted = held(release, found, items).by, release.bits(items)
        chances = {row: (sum(c & wanted == wanted for c in of_row), len(of_row)) for row, of_row in choices.items()}
        for cover, group in release.groups(items).items():
            if cover is None:
                assert not any(by[j] for j in group)
                continue
            of_group = [chances[release.rows[j]] for j in group]
            (chance, size), first = of_group[0], by[group[0]]
            if any(by[j] * n * chance != first * size * c for j, (c, n) in zip(group, of_group, strict=True)):
                wrong.append(items)
            if any(cover) or not release.nonempty:
                assert all(c * size == chance * n for c, n in of_group)
    return wrong


def exposed(release: Release, found: Ints) -> list[tuple[str, ...]]:
    """The itemsets of up to m items that somebody holds in some world, and fewer than k do in every world."""
    return [x for x in release.itemsets(release.m) if 0 < held(release, found, x).most < release.k]


# --- random releases ------------------------------------------------------------------------------------------------

SHAPES = [(2,), (2,), (2, 1), (2, 1), (3,), (2, 2), (3, 1), (2, 1, 1), (3, 2), (4,), (1, 1)]
MOST_ROWS = {1: 9, 2: 10, 3: 6, 4: 5}  # by the size of the largest label: more have too many worlds


def random_release(seed: int) -> Release:
    """A random release that keeps its promise, by rows of labels or across the levels of a local recoding."""
    rnd = random.Random(seed)
    while True:
        found = _drawn_local(rnd) if rnd.random() < 0.25 else _drawn_global(rnd)
        if found is not None and any(found.rows) and small(found) and keeps(found):
            if narrow(found) or rnd.random() < 0.2:
                return found


def small(release: Release) -> bool:
    """Whether each label has few enough worlds, and all together not many more than a test enumerates."""
    of_labels = [(2 ** len(release.members[u]) - 1) ** len(at) for u, at in release.at.items()]
    suppressed = math.prod(2 ** len(release.free(j)) for j in range(len(release.rows)))
    return max(of_labels) <= LABEL_WORLDS and math.prod(of_labels) * suppressed <= 4 * WORLDS


def narrow(release: Release) -> bool:
    """Whether some label is shown often enough that its members have more than one bucket."""
    return any(len(release.members[u]) > 1 and len(at) > 2 * release.k for u, at in release.at.items())


def keeps(release: Release) -> bool:
    """Whether no row or k rows may hold each set of up to m items, by the rows alone."""
    if not release.local:
        return is_km_anonymous([sorted(row) for row in release.rows], release.k, release.m)
    known = [x for x in release.domain if any(x in items for items in release.members.values())]
    above = [{x for u in row for x in release.members[u]} for row in release.rows]
    sizes = range(1, int(min(release.m, len(known))) + 1)
    counts = [sum(set(x) <= a for a in above) for n in sizes for x in combinations(known, n)]
    return all(n == 0 or n >= release.k for n in counts) and len(release.rows) >= release.k


def _promise(rnd: random.Random) -> tuple[int, Bound]:
    return rnd.choice([2, 2, 2, 2, 3, 3, 4]), rnd.choice([1, 2, 2, 3, math.inf])


def _drawn_global(rnd: random.Random) -> Release | None:
    shape = rnd.choice(SHAPES)
    items = iter("abcdef")
    members = {"ABC"[n]: [next(items) for _ in range(size)] for n, size in enumerate(shape)}
    others = tuple("yz"[: rnd.choice([0, 0, 0, 0, 1, 1, 2])])
    filled, (k, m) = rnd.random() < 0.5 or not others, _promise(rnd)
    n = rnd.randint(k, max(k, MOST_ROWS[max(shape)] - len(others)))
    chances = {x: rnd.choice([0.15, 0.4, 0.7]) for x in [*chain.from_iterable(members.values()), *others]}
    originals = [frozenset(x for x, p in chances.items() if rnd.random() < p) for _ in range(n)]
    originals = [o or frozenset([rnd.choice(list(chances))]) if filled else o for o in originals]
    if rnd.random() < 0.6:
        originals = _repeated(rnd, originals, k)
    rows = released(originals, members)
    occurring = shown(members, rows)
    if not others and len(occurring) < len(members):
        return None  # nothing was suppressed, so the items of a released item that is not shown are no items of the data
    return Release(tuple(rows), tuple(originals), occurring, others, filled, False, k, m)


def _repeated(rnd: random.Random, originals: list[Row], k: int) -> list[Row]:
    """Originals of a few kinds, k or more of each, so that the rows keep more promises."""
    kinds = rnd.sample(originals, min(len(originals), rnd.choice([1, 2])))
    return [t for kind in kinds for t in [kind] * rnd.randint(k, k + 2)]


def _drawn_local(rnd: random.Random) -> Release | None:
    domain = "abc" if rnd.random() < 0.8 else "abcd"
    cuts = [_cut(rnd, domain) for _ in range(rnd.choice([2, 2, 3]))]
    others, (k, m) = ("z",) if rnd.random() < 0.15 else (), _promise(rnd)
    n = rnd.randint(k, 9 if not others else 5)
    rows, originals = [], []
    for _ in range(n):
        original = frozenset(x for x in domain if rnd.random() < 0.45) or frozenset(rnd.choice(domain))
        row = frozenset(u for u in rnd.choice(cuts) if set(u) & original)
        for _ in range(rnd.choice([1, 2, k]) if len(rows) < n else 0):
            kept = frozenset(rnd.choice(u) for u in row) | {x for x in original if rnd.random() < 0.7}
            rows.append(row)
            originals.append(frozenset(x for x in kept if any(x in u for u in row)))
    members = {u: list(u) for u in sorted({u for row in rows for u in row})}
    return Release(tuple(rows), tuple(originals), members, others, rnd.random() < 0.5, True, k, m)


def _cut(rnd: random.Random, domain: str) -> list[str]:
    """A random partition of the items into sets, each named by its items."""
    parts: dict[int, str] = {}
    for x in domain:
        n = rnd.randrange(3)
        parts[n] = parts.get(n, "") + x
    return list(parts.values())
