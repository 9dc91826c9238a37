"""Answers on a release of sets, by the rules of its macro ``count_bounds``."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from anondb.engine import Columns
from anondb.engine.arrays import Floats, Ints, run_starts
from anondb.utility.published import Published

HALVINGS = 40  # as in the macro
MARGIN = 1e-6  # shares that add up to less than 1 + MARGIN leave no room for two members


@dataclass(frozen=True, eq=False, repr=False)
class Members:
    """How many of the transactions that show a released item hold each of its members."""

    # for a released item and an item of the data, at least and at most how many transactions that show the one hold the
    # other, and how many are expected to
    bounds: dict[tuple[int, int], tuple[int, int, float]]
    # support, excess, share: of each released item, the number s of transactions that show it, the sum of all upper
    # bounds of its members less s, and its weight
    support: Ints
    excess: Ints
    share: Floats
    sizes: Ints  # the number of members of each released item

    @classmethod
    def of(cls, support: Ints, members: Columns) -> Members:
        """Read the rows of ``utility/supported_members``."""
        released, at_most = members["released"].astype(np.int64), members["at_most"].astype(np.int64)
        expected = members["expected"].astype(np.float64)
        total = np.bincount(released, weights=at_most, minlength=len(support)).astype(np.int64)
        share = np.ones(len(support))
        share[released] = weights(released, expected / support[released])
        pairs = zip(released.tolist(), members["item"].tolist(), strict=True)
        each = zip(members["at_least"].tolist(), at_most.tolist(), expected.tolist(), strict=True)
        sizes = np.bincount(released, minlength=len(support))
        return cls(dict(zip(pairs, each, strict=True)), support, total - support, share, sizes)

    def together(self, items: list[int], cover: list[int], n: int) -> tuple[int, float, int]:
        """Lower bound, estimate and upper bound of how many of n transactions hold all of ``items``, if these n are those
        that show the released items ``cover``, one for each item."""
        low, middle, high = n, float(n), n
        queried: dict[int, int] = {}
        for item, released in zip(items, cover, strict=True):
            least, most, expected = self.bounds[released, item]
            s = int(self.support[released])
            low, high = low - (s - least), min(high, most)
            middle *= expected / s
            queried[released] = queried.get(released, 0) + 1
        for released, number in queried.items():
            if number > 1:
                high = min(high, int(self.excess[released]) // (number - 1))
                middle *= float(self.share[released]) ** (number - 1)
        return max(low, 0), middle, high


@dataclass(frozen=True, eq=False, repr=False)
class LocalItems(Published):
    """The distinct published transactions of a local recoding, with how many hold each member of a released item."""

    members: Members

    @classmethod
    def of(cls, published: Published, members: Columns) -> LocalItems:
        """Add the rows of ``utility/supported_members``."""
        support = np.asarray([published.weight[place].sum() for place, _ in published.holders], dtype=np.int64)
        shared: dict[str, Any] = {f.name: getattr(published, f.name) for f in fields(Published)}
        return cls(**shared, members=Members.of(support, members))

    def answer(self, items: list[int]) -> tuple[int, float, int]:
        """Lower bound, estimate and upper bound of the number of transactions that hold all of ``items``."""
        if not all(self.covers.get(item) for item in items):
            return 0, 0.0, self.hidden
        place, shown = self.shown(items)
        low, middle, high = 0, 0.0, 0
        covers, which = np.unique(np.stack(shown, axis=1), axis=0, return_inverse=True)
        for number, cover in enumerate(covers.tolist()):
            rows = place[which.ravel() == number]
            least, expected, most = self.members.together(items, cover, int(self.weight[rows].sum()))
            visible = int(self.weight[rows[self.complete[rows]]].sum())
            low, middle, high = low + least, middle + expected, high + min(most, visible)
        totals = [sum(self.members.bounds[released, item][1] for released in self.covers[item]) for item in items]
        high = min(high, *totals) + self.hidden
        return low, min(max(middle, low), high), high


@dataclass(frozen=True, eq=False, repr=False)
class GlobalItems:
    """What a global recoding says of sets of items."""

    transactions: int  # the number of transactions
    members: Members  # how many transactions hold each member of a released item
    suppressed: bool  # whether something was suppressed

    @cached_property
    def _cover(self) -> dict[int, int]:
        """For an item, the released item that stands for it."""
        return {item: released for released, item in self.members.bounds}

    def covers(self, items: list[int]) -> tuple[int, ...]:
        """The released items that stand for some of ``items``."""
        return tuple(sorted({self._cover[item] for item in items if item in self._cover}))

    def answer(self, items: list[int], n: int) -> tuple[int, float, int]:
        """Lower bound, estimate and upper bound of the number of transactions that hold all of ``items``; n of them show
        ``covers(items)``."""
        covered = [item for item in items if item in self._cover]
        if len(covered) < len(items) and not self.suppressed:
            return 0, 0.0, 0
        if not covered:
            return 0, 0.0, self.transactions
        low, middle, high = self.members.together(covered, [self._cover[item] for item in covered], n)
        return (low, min(max(middle, low), high), high) if len(covered) == len(items) else (0, 0.0, high)

    def uniform(self, items: list[int], n: int) -> float:
        """The papers' estimate: the non-empty subsets of a released item's members are equally likely."""
        if not all(item in self._cover for item in items):
            return 0.0
        queried = Counter(self._cover[item] for item in items)
        return n * math.prod(of_subset(int(self.members.sizes[r]), number) for r, number in sorted(queried.items()))


def of_subset(size: int, number: int) -> float:
    """The probability that a non-empty subset of ``size`` members, all equally likely, holds ``number`` fixed ones."""
    return float(2.0**-number / (1 - 2.0**-size))


def weights(released: Ints, share: Floats) -> Floats:
    """The weight of each row's released item: w = 1 - product of (1 - w share) over its members, 0 if these add up to 1. A
    transaction that shows a released item holds at least one of its members. If they are held independently but for that, q
    members are held together with the product of their shares (of the transactions that show it) and w^(q-1). Rows of one
    released item follow each other."""
    if not len(released):
        return np.empty(0)
    starts = run_starts(released)
    sizes = np.diff(starts, append=len(released))
    weight = np.full(len(starts), 0.5)
    with np.errstate(divide="ignore"):
        for step in range(2, HALVINGS + 1):
            held = -np.expm1(np.add.reduceat(np.log1p(-share * np.repeat(weight, sizes)), starts))
            weight = weight + np.where(held > weight, 1, -1) * 0.5**step
    return np.repeat(np.where(np.add.reduceat(share, starts) > 1 + MARGIN, weight, 0.0), sizes)
