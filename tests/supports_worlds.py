"""All originals that tiny releases with item supports may come from, as bits, and what must hold in all of them.

A world is a row of an array: the original of each transaction, with bit n for the n-th item. ``Worlds`` enumerates them, by
no argument but that a released item stands for a non-empty set of its members and that the published bounds hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import reference_supports as ref
from reference_supports import Row, Supports
from supports_cases import Bound, Members

from anondb.release.manifest import tells_suppressed

Ints = npt.NDArray[Any]
Keep = Callable[[str, Ints], Ints]
"""Which worlds of a label stay, by the counts of its members: one line for each world, one column for each member."""
Rule = Callable[[dict[str, int], int, int, Bound], dict[str, tuple[int, int]]]
"""The bounds of the members of a released item, by their counts, the transactions that show it, k and m."""
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
        complete: in a local recoding, the transactions of which nothing was suppressed.
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
    complete: frozenset[int] = frozenset()

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
        if not self.others or j in self.complete:
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


def same_table(release: Release, table: Supports, rule: Rule = ref.of_label) -> Keep:
    """Keep what a rule publishes as this table."""

    def keep(label: str, counts: Ints) -> Ints:
        items, s = release.members[label], len(release.at[label])
        wanted = {x: table[label, x] for x in items if (label, x) in table}
        lines, line_of = np.unique(counts, axis=0, return_inverse=True)
        found = [rule(dict(zip(items, line.tolist(), strict=True)), s, release.k, release.m) for line in lines]
        return np.array([bounds == wanted for bounds in found], dtype=bool)[line_of.reshape(-1)]

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


def counted(release: Release, found: Ints, items: Collection[str], among: Collection[str] = ()) -> Ints:
    """In each world, how many of the transactions that show some released items hold all of some items."""
    at = [j for j, row in enumerate(release.rows) if set(among) <= row]
    wanted = release.bits(items)
    counts: Ints = ((found[:, at] & wanted) == wanted).sum(axis=1)
    return counts


# --- what must hold -------------------------------------------------------------------------------------------------


def extremes(release: Release, found: Ints, items: Collection[str]) -> tuple[int, int]:
    """How many transactions hold an itemset at least and at most, over all worlds."""
    counts = counted(release, found, items)
    return int(counts.min()), int(counts.max())


def unequal(release: Release, found: Ints) -> list[tuple[str, ...]]:
    """The itemsets that some transactions of equal cover hold more often than others, in proportion to the rows alone.

    The rows alone give all of them the same, but for sets of suppressed items where each original has an item.
    """
    kinds = [(row, j in release.complete) for j, row in enumerate(release.rows)]
    choices = {kind: release.choices(j) for j, kind in enumerate(kinds)}
    wrong = []
    for items in release.itemsets():
        wanted = release.bits(items)
        by = ((found & wanted) == wanted).sum(axis=0).tolist()
        chances = {of: (sum(c & wanted == wanted for c in of_row), len(of_row)) for of, of_row in choices.items()}
        for cover, group in release.groups(items).items():
            if cover is None:
                assert not any(by[j] for j in group)
                continue
            of_group = [chances[kinds[j]] for j in group]
            (chance, size), first = of_group[0], by[group[0]]
            if any(by[j] * n * chance != first * size * c for j, (c, n) in zip(group, of_group, strict=True)):
                wrong.append(items)
            if any(cover) or not release.nonempty:
                assert all(c * size == chance * n for c, n in of_group)
    return wrong


def exposed(release: Release, found: Ints) -> list[tuple[str, ...]]:
    """The itemsets of up to m items that somebody holds in some world, and fewer than k do in every world."""
    return [x for x in release.itemsets(release.m) if 0 < extremes(release, found, x)[1] < release.k]


def check_promise(release: Release, table: ref.Supports) -> None:
    """Equal candidates and support in all worlds, also for readers who know the rule; the bounds hold in each."""
    found = worlds(release, within(release, table))
    knowing = worlds(release, same_table(release, table))
    assert has_world(release, found, release.originals) and has_world(release, knowing, release.originals)
    for some in (found, knowing):
        assert not unequal(release, some)
        assert not exposed(release, some)
        check_facts(release, some)
    assert greatest(release, knowing, table)
    check_bounds(release, table, found)


def suppressed_in(release: Release, found: Ints) -> Ints:
    """In each world, the number of different items that no released item stands for."""
    above = {x for items in release.members.values() for x in items}
    others = [release.bits([x]) for x in release.domain if x not in above]
    return np.stack([((found & x) != 0).any(axis=1) for x in (0, *others)]).sum(axis=0)


def known_facts(release: Release, found: Ints) -> tuple[Release, Ints] | None:
    """The worlds that are left to readers of the manifest, who know the layout and maybe the number of suppressed items.

    Of a release with ``nonempty`` the layout is rows, of others lists. None if the manifest does not say the number.
    """
    manifest = {
        "model": "km",
        "semantics": "set",
        "suppression": "some" if any(map(release.free, range(len(release.rows)))) else "none",
        "layout": "rows" if release.nonempty else "lists",
        "k": str(release.k),
    }
    if not tells_suppressed(manifest, sum(not row for row in release.rows)):
        return None
    original = np.array([[release.bits(o) for o in release.originals]], dtype=np.uint8)
    return release, found[suppressed_in(release, found) == suppressed_in(release, original)[0]]


def uneven(release: Release, found: Ints) -> list[tuple[str, ...]]:
    """The itemsets that not all transactions of equal cover hold equally often, or one of them more than every k-th time.

    Where each original has an item, those that show nothing may hold suppressed items more often than the others.
    """
    wrong = []
    for items in release.itemsets():
        wanted = release.bits(items)
        by = ((found & wanted) == wanted).sum(axis=0)
        for cover, group in release.groups(items).items():
            if cover is None:
                continue
            alone = release.nonempty and not any(cover)
            empty = [bool(alone and not release.rows[j]) for j in group]
            kinds = [{int(by[j]) for j, e in zip(group, empty, strict=True) if e == kind} for kind in (False, True)]
            few = len(items) <= release.m and len(group) >= release.k and max(by[group]) * release.k > by[group].sum()
            if any(len(kind) > 1 for kind in kinds) or few:
                wrong.append(items)
    return wrong


def check_facts(release: Release, found: Ints) -> bool:
    """Equal candidates and support for readers who know the layout and the number of suppressed items, if it is said."""
    known = known_facts(release, found)
    if known is None:
        return False
    assert has_world(release, known[1], release.originals)
    assert not uneven(*known)
    assert not exposed(*known)
    return True


def has_world(release: Release, found: Ints, originals: Sequence[ref.Row]) -> bool:
    """Whether an original is among the worlds."""
    return bool((found == np.array([release.bits(o) for o in originals], dtype=np.uint8)).all(axis=1).any())


def greatest(release: Release, found: Ints, table: ref.Supports) -> bool:
    """Whether in some world every count is at its upper bound."""
    reached = [counted(release, found, [item], [label]) == high for (label, item), (_, high) in table.items()]
    return bool(np.all(reached, axis=0).any()) if reached else True


def reader(release: Release, table: Supports) -> ref.Global | ref.Local:
    """The formulas of the readers of a release."""
    if not release.local:
        return ref.Global(release.rows, release.members, table, bool(release.others))
    complete = [not release.others or j in release.complete for j in range(len(release.rows))]
    return ref.Local(release.rows, release.members, table, complete)


def check_bounds(release: Release, table: ref.Supports, found: Ints) -> None:
    """The bounds of every itemset hold in every world, and none of up to m items has an upper bound from 1 to k - 1."""
    read = reader(release, table)
    for items in release.itemsets():
        low, high = read.bounds(items)
        least, most = extremes(release, found, items)
        assert low <= least and most <= high, items
        assert len(items) > release.m or high == 0 or high >= release.k, items
