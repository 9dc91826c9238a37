"""What is read of a release with item supports: its members, their supports, and its transactions by what they show."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sqlglot import exp

from anondb.answers.rules.supports import Array, Supports
from anondb.query.cached_release import Opened
from anondb.query.classes import Classes, Holding
from anondb.query.holdings import holdings
from anondb.query.kinds import Members
from anondb.query.totals import Bounds

NO_CLASSES = Classes({}, [], None, [], wide=False)
KEPT = 16  # numbers of transactions by what they show


@dataclass(frozen=True, eq=False)
class Groups:
    """Transactions by the numbers of released items of each class that they show.

    Attributes:
        counts: these numbers, a row for each group.
        lost: whether items may be suppressed in them.
        numbers: how many transactions they are.
    """

    counts: Array
    lost: Array
    numbers: Array


class SupportTables:
    """Reads a release with item supports; each table is read once."""

    def __init__(self, release: Opened) -> None:
        self._release = release
        self._kept: dict[object, Groups] = {}

    @cached_property
    def members(self) -> Members:
        """The members of all released items."""
        release = self._release
        sizes = np.array(list(release.sizes.values()), np.int64)
        return Members(list(release.sizes), release.listed, np.repeat(np.arange(len(sizes)), sizes), release.images)

    @cached_property
    def supports(self) -> Supports:
        """The item supports of all members; what a stranger's table says beyond what is possible is left out."""
        release, members = self._release, self.members
        names = ("released_item", "item", "at_least", "at_most")
        tree = exp.select(*names).from_(release.schema.table("item_supports").expression())
        rows = [column.tolist() for column in release.engine.select(tree, "the item supports").values()]
        known = {(label, item): ends for label, item, *ends in zip(*rows, strict=True)}
        shown = np.array([self._holders[label].total() for label in members.labels], np.int64)
        single = np.array(list(release.sizes.values()), np.int64) == 1
        most = shown[members.label]
        least = np.where(single[members.label], most, 0)
        for place, (label, item) in enumerate(zip(members.label.tolist(), members.items, strict=True)):
            low, high = known.get((members.labels[label], item), (None, None))
            if low is not None and high is not None and 0 <= low <= high <= most[place]:
                least[place], most[place] = low, high
        return Supports(shown, np.flatnonzero(np.diff(members.label, prepend=-1)), least, most)

    @cached_property
    def _holders(self) -> Mapping[str, Counter[Holding]]:
        """The transactions of each released item."""
        return defaultdict(Counter, holdings(self._release, NO_CLASSES))

    @cached_property
    def lost(self) -> int:
        """In how many transactions any item may be suppressed."""
        release = self._release
        return sum(g.records for g in release.records(NO_CLASSES, ()) if not g.complete) if release.differing else 0

    @cached_property
    def alone(self) -> dict[str, Bounds]:
        """The number of transactions that hold each item. In a local recoding with suppression, an item may also be in an
        incomplete transaction that shows no released item for it."""
        release, members, supports = self._release, self.members, self.supports
        lost = np.zeros(len(members.labels), np.int64)
        if release.differing:
            lost += [sum(n for h, n in self._holders[label].items() if not h.complete) for label in members.labels]
        item = {name: place for place, name in enumerate(release.items)}
        place = np.array([item[name] for name in members.items], np.int64)
        low, high = np.zeros(len(item), np.int64), np.full(len(item), self.lost)
        np.add.at(low, place, supports.least)
        np.add.at(high, place, supports.most - lost[members.label])
        return dict(zip(release.items, zip(low.tolist(), high.tolist(), strict=True), strict=True))

    def groups(self, classes: Classes) -> Groups:
        """The transactions by their numbers of released items of each class; the last ones are kept."""
        key = tuple(sorted(classes.of.items())), classes.default, tuple(classes.radices)
        if key not in self._kept:
            release = self._release
            if release.local:
                rows = [(g.counts, not g.complete, g.records) for g in release.records(classes, ())]
            else:
                rows = [(counts, release.suppressed, n) for counts, n in release.signatures(classes)]
                none = (0,) * len(classes.parts), release.suppressed, release.size - sum(row[2] for row in rows)
                rows += [none] if none[2] else []
            if len(self._kept) >= KEPT:
                self._kept.clear()
            counts = np.array([row[0] for row in rows], np.int64).reshape(len(rows), len(classes.parts))
            lost, numbers = (np.array([row[n] for row in rows]) for n in (1, 2))
            there = np.flatnonzero(numbers)
            self._kept[key] = Groups(counts[there], lost[there].astype(bool), numbers[there].astype(np.int64))
        return self._kept[key]
