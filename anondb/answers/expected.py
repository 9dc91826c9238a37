"""How many transactions hold each member of a released item: as expected from the file alone, for every kind of release of
sets, and in each world."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anondb.answers.hashing import FIRSTS, h
from anondb.engine.arrays import Flags, Floats, Ints, run_starts

SWEEPS = 30
FLOOR = 0.5  # holders that a member has at least, since it is listed; without it the fit puts most members to 0


@dataclass(frozen=True)
class Members:
    """What released items stand for: a row for each released item and member, ordered by both.

    Attributes:
        label: the number of the released item.
        item: the number of the member; several released items may list the same one.
        support: how many transactions show the released item.
        at_least, at_most: the item supports; NaN where the file has none.
    """

    label: Ints
    item: Ints
    support: Ints
    at_least: Floats
    at_most: Floats

    @cached_property
    def start(self) -> Ints:
        """The first row of each released item."""
        return run_starts(self.label)

    @cached_property
    def place(self) -> Ints:
        """For each row, which of the released items it belongs to, from 0."""
        return np.repeat(np.arange(len(self.start)), self._sizes)

    @cached_property
    def size(self) -> Ints:
        """For each row, how many members its released item has."""
        return np.repeat(self._sizes, self._sizes)

    @cached_property
    def unsupported(self) -> Flags:
        """For each row, whether its released item stands for several members, of which one or more have no item supports."""
        without = np.bincount(self.place, np.isnan(self.at_least + self.at_most))
        return np.asarray((self.size > 1) & (without[self.place] > 0))

    @cached_property
    def _sizes(self) -> Ints:
        return np.diff(self.start, append=len(self.label))


def expected(members: Members, transactions: int, k: int, *, floor: float = FLOOR, sweeps: int = SWEEPS) -> Floats:
    """The expected number of transactions that hold each member, among those that show its released item.

    A released item of one member is held by all that show it. With item supports it is the middle of their interval,
    raised where a released item's middles do not suffice for its transactions; without, persons hold each item with a
    probability of its own, independently, and show a released item if they hold any of its members. The probabilities are
    those that repeat what was seen, found by ``sweeps`` rounds.

    Args:
        members: what the released items stand for.
        transactions: the number of transactions of the file.
        k: the model's parameter. An ``at_most`` of k says that the member is rare: its expectation is then sqrt(k).
        floor: how many holders a listed member has at least.
        sweeps: the number of rounds.
    """
    fitted = members.unsupported
    supported = np.where(members.size == 1, members.support, _raised(members, _middles(members, k)))
    return _fitted(members, np.where(fitted, np.nan, supported), transactions, floor, sweeps) if fitted.any() else supported


def _middles(members: Members, k: int) -> Floats:
    """The middle of each interval, but less if it ends at k."""
    rare = np.maximum(members.at_least, np.sqrt(k))
    return np.where(members.at_most == k, rare, (members.at_least + members.at_most) / 2)


def _raised(members: Members, middles: Floats) -> Floats:
    """The same, each raised by the same share of its room where those of a released item are too few for its rows."""
    total, most = (np.bincount(members.place, values) for values in (middles, members.at_most))
    support = members.support[members.start]
    room = most - total
    share = np.where((total < support) & (room > 0), (support - total) / np.where(room > 0, room, 1), 0)
    return np.asarray(middles + share[members.place] * (members.at_most - middles))


def _fitted(members: Members, supported: Floats, transactions: int, floor: float, sweeps: int) -> Floats:
    """The numbers of supported members, and the fit where they are NaN."""
    support, size = members.support.astype(float), members.size
    held = np.where(support < size, 0.0, floor)
    spread = 1 - held * size / support
    chance = np.bincount(members.item, support / size) / transactions
    fitted = supported
    for _ in range(sweeps):
        each = np.minimum(chance[members.item], 1.0)
        with np.errstate(divide="ignore"):
            shown = -np.expm1(np.bincount(members.place, np.log1p(-each)))
        fitted = np.minimum(held + support * each / shown[members.place] * spread, support)
        fitted = np.where(np.isnan(supported), fitted, supported)
        chance = np.bincount(members.item, fitted) / transactions
    return fitted


BITS = 32  # of the fraction of an expected number: sums of them are exact


def rounded(members: Members, means: Floats, numbers: Ints, worlds: int, seed: int) -> Ints:
    """The number of holders of each member (row) in each world (column).

    With C the running sum of the expected numbers of a released item's members and one fraction u for each released item
    and world, a member has floor(C + u) less floor(C before it + u) holders. So the members of a released item have as
    many holders together as transactions that show it, or more; each number is the expected one, rounded up or down, and
    so within the item supports; and the mean over the worlds is the expected number, rounded to 1/K.

    Args:
        members: what the released items stand for.
        means: the expected number of each member; it is read in units of 2^-32.
        numbers: the number of the released item of each member, in its file.
        worlds: K.
        seed: the seed of the file.
    """
    units = np.rint(means * (1 << BITS)).astype(np.int64)
    total = np.cumsum(units)
    total -= (total - units)[members.start][members.place]
    whole, fraction = total >> BITS, total & ((1 << BITS) - 1)
    turn = (h(numbers, 0, FIRSTS + seed)[:, None] + np.arange(worlds)) % worlds
    up = fraction[:, None] * (2 * worlds) + ((2 * turn + 1) << BITS) >= 2 * worlds << BITS
    upto = whole[:, None] + up
    before = np.zeros_like(upto)
    before[1:] = upto[:-1]
    before[members.start] = 0
    return np.asarray(upto - before, dtype=np.int64)
