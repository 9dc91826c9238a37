"""The distinct published transactions of a release, and what they say of a set of items."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from anondb.engine import Engine, Table, reads
from anondb.engine.arrays import Flags, Floats, Ints
from anondb.utility.workload import Workload


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """The distinct published transactions."""

    # weight, complete: number of transactions equal to each, and whether they certainly have no suppressed items
    weight: Ints
    complete: Flags
    sizes: Ints  # number of original items that each released item stands for
    holders: list[tuple[Ints, Ints]]  # for each released item, the transactions that hold it and its copies in each
    covers: dict[int, list[int]]  # for each item of the workload, the released items that stand for it
    atomic: bool  # whether the semantics is ``atomic``

    @classmethod
    def read(
        cls, engine: Engine, classes: Table, items: Table, members: Table, workload: Workload, atomic: bool
    ) -> Published:
        """Read the published transactions from the work tables of ``measure_local``."""
        rows = engine.query("utility/content_items", {"contents": classes})
        held = engine.select(reads.rows(classes, "complete, support AS weight", order="content_id"))
        of_each = engine.select(
            reads.joined(
                items, members, "item = released", "count(*) AS size", side="LEFT", group="one.item", order="one.item"
            )
        )
        sizes = of_each["size"].astype(np.int64)
        at = np.searchsorted(rows["item"], np.arange(len(sizes) + 1)).tolist()
        place, copies = rows["content_id"].astype(np.int64) - 1, rows["copies"].astype(np.int64)
        pairs = engine.select(
            reads.joined(workload.items, members, "label", "one.item, other.released", order="item, released")
        )
        covers: dict[int, list[int]] = {}
        for item, released in zip(pairs["item"].tolist(), pairs["released"].tolist(), strict=True):
            covers.setdefault(item, []).append(released)
        return cls(
            weight=held["weight"].astype(np.int64),
            complete=held["complete"].astype(np.bool_),
            sizes=sizes,
            holders=[(place[a:b], copies[a:b]) for a, b in pairwise(at)],
            covers=covers,
            atomic=atomic,
        )

    @cached_property
    def hidden(self) -> int:
        """The number of transactions with possible suppressions, which may hold any item."""
        return int(self.weight[~self.complete].sum())

    def answer(self, items: list[int]) -> tuple[int, float, int]:
        """Lower bound, estimate and upper bound of the number of transactions that hold all of ``items``."""
        place, must, chance = (self._bags if self.atomic else self._sets)(items)
        weight = self.weight[place]
        upper = int(weight[self.complete[place]].sum()) + self.hidden
        return int(weight[must].sum()), float((weight * chance).sum()), upper

    def _sets(self, items: list[int]) -> tuple[Ints, Flags, Floats]:
        """Set semantics: the transactions that may hold all items, whether each must, and the probability that it does. At
        most one released item of a transaction stands for an item."""
        place, shown = self.shown(items)
        must, chance = np.ones(len(place), dtype=np.bool_), np.ones(len(place))
        for n, which in enumerate(shown):
            # j fixed ones of s members are all there with 2^-j / (1 - 2^-s): the first item divides by 1 - 2^-s, each halves
            share = self._first_share[which]
            for other in shown[:n]:
                share[other == which] = 0.5
            chance *= share
            must &= self._certain[which]
        return place, must, chance

    def shown(self, items: list[int]) -> tuple[Ints, list[Ints]]:
        """The transactions that show a released item for every item, and for each item which one they show."""
        holding = [[(released, self.holders[released][0]) for released in self.covers.get(item, ())] for item in items]
        while len(self._slots) < len(items):
            self._slots.append(np.full(len(self.weight), -1))
        slots = self._slots[: len(items)]
        for slot, holders in zip(slots, holding, strict=True):
            for released, where in holders:
                slot[where] = released
        place = np.concatenate([where for _, where in holding[0]] or [np.zeros(0, dtype=np.int64)])
        for slot in slots[1:]:
            place = place[slot[place] >= 0]
        shown = [slot[place] for slot in slots]
        for slot, holders in zip(slots, holding, strict=True):
            for _, where in holders:
                slot[where] = -1
        return place, shown

    @cached_property
    def _certain(self) -> Flags:
        """Marks the released items that stand for one item only."""
        return np.asarray(self.sizes == 1)

    @cached_property
    def _first_share(self) -> Floats:
        """The probability that a fixed member of each released item is there."""
        return np.asarray(0.5 / (1 - np.exp2(-self.sizes.astype(np.float64))))

    @cached_property
    def _slots(self) -> list[Ints]:
        """Reusable arrays, one for each item of a query: one released item per transaction, or -1."""
        return []

    def _bags(self, items: list[int]) -> tuple[Ints, Flags, Floats]:
        """Atomic semantics: the same, but each copy stands for one occurrence, so copies must suffice for all items."""
        number = len(self.weight)
        may, must, chance = np.ones(number, dtype=np.bool_), np.ones(number, dtype=np.bool_), np.ones(number)
        copies = np.zeros(number, dtype=np.int64)
        for item in items:
            covered, certain = np.zeros(number, dtype=np.bool_), np.zeros(number, dtype=np.bool_)
            missing = np.ones(number)
            for released in self.covers.get(item, ()):
                place, times = self.holders[released]
                covered[place] = True
                certain[place] |= self.sizes[released] == 1
                missing[place] *= 1 - np.minimum(1, times / self.sizes[released])
            may &= covered
            must &= certain
            chance *= 1 - missing
        for released in {r for item in items for r in self.covers.get(item, ())}:
            place, times = self.holders[released]
            copies[place] += times
        place = np.flatnonzero(may & (copies >= len(items)))
        return place, must[place], chance[place]
