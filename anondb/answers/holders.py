"""How many transactions may hold each member: numbers that differ between plausible tables, drawn anew for each world.

With item supports a number is uniform in its interval. Without, the chances of items and the numbers of holders are drawn in
turn, from what the other says (Gibbs sampling): of the transactions that show a released item, each holds a member by the
chance p(x) / Z that it does; and p(x) is gamma-distributed around the share of transactions that hold the item.

Each of these worlds also has a power, between 0 and 2, of the number of released items that a transaction shows: those who
show more hold so much more. Members meet in blocks, as items that go together do: ranks follow one random order of the
transactions, and members are first holders in a random order, without a permutation."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from anondb.answers.drawing import Sets, in_order
from anondb.answers.files import File
from anondb.answers.hashing import BASKETS, BINOMIAL, GAMMA, MEMBERS, POWER, SHIFT, SUPPORTED, h, uniform
from anondb.engine.arrays import Flags, Floats, Ints

SWEEPS = 60
UNEVEN = 30.0  # how uneven chances are: a gamma distribution of mean m has the variance 30 m
LEAST_SHAPE, LEAST, MOST = 0.05, 1e-7, 1 - 1e-6
SUMMED = 25.0  # variance up to which a binomial number is found by adding chances up; above, it is nearly normal


def drawn_holders(file: File, worlds: Ints) -> Ints:
    """The number of holders of each member (row) of a file of sets in each world (column).

    Args:
        file: the file.
        worlds: the numbers of the worlds.
    """
    members = file.members
    single, free = members.size == 1, members.unsupported
    low = np.where(single, members.support, np.where(free, 0, np.nan_to_num(members.at_least))).astype(np.int64)[:, None]
    high = np.where(single | free, members.support, np.nan_to_num(members.at_most)).astype(np.int64)[:, None]
    chosen = h(np.arange(len(single))[:, None], worlds, SUPPORTED + file.facts.seed)
    n = low + ((high - low + 1) * (2 * chosen + 1) >> 33)
    if free.any():
        n = np.where(free[:, None], _sampled(file, n, free, worlds), n)
    total, room = (np.add.reduceat(values, members.start, axis=0) for values in (n, high - n))
    missing = np.maximum(members.support[members.start][:, None] - total, 0)
    missing, room = missing[members.place], np.maximum(room, 1)[members.place]
    return np.asarray(n - (-missing * (high - n)) // room)


def _sampled(file: File, fixed: Ints, free: Flags, worlds: Ints) -> Ints:
    """The numbers of holders after all sweeps where they are free; the others stay fixed."""
    members, seed, transactions = file.members, file.facts.seed, file.facts.transactions
    items, number = len(file.items), np.arange(len(free))[:, None]
    support = np.broadcast_to(members.support[:, None], fixed.shape)
    prior = np.bincount(members.item, members.size > 1, minlength=items)[:, None] / 2
    shares = np.bincount(members.item, members.support / members.size, minlength=items) / transactions
    chance, n = np.repeat(shares[:, None], len(worlds), axis=1), fixed.copy()
    order = np.argsort(members.item, kind="stable")
    begin = np.searchsorted(members.item[order], np.arange(items))
    for sweep in range(SWEEPS):
        turn = worlds * SWEEPS + sweep
        shown = -np.expm1(np.add.reduceat(np.log1p(-np.minimum(chance, MOST))[members.item], members.start, axis=0))
        held = np.minimum(chance[members.item] / shown[members.place], 1)
        u, v = (uniform(number[free], turn, salt + seed) for salt in BINOMIAL)
        n[free] = binomial(support[free], held[free], u, v)
        counted = prior + np.add.reduceat(n[order], begin, axis=0)
        drawn = [uniform(np.arange(items)[:, None], turn, salt + seed) for salt in GAMMA]
        chance = np.maximum(gamma(np.maximum(counted / UNEVEN, LEAST_SHAPE), *drawn) * UNEVEN / transactions, LEAST)
    return n


def binomial(n: Ints, p: Floats, u: Floats, v: Floats) -> Ints:
    """How many of n succeed with chance p, from uniform random numbers; by a normal one where the variance is large."""
    variance = n * p * (1 - p)
    near = np.rint(n * p + np.sqrt(variance) * _normal(u, v))
    drawn = np.clip(near, 0, n).astype(np.int64)
    few = variance <= SUMMED
    drawn[few] = _summed(n[few], p[few], u[few])
    return drawn


def _summed(n: Ints, p: Floats, u: Floats) -> Ints:
    """The least number up to which the chances of a binomial number add up to u."""
    rare = np.minimum(p, 1 - p)
    sums = np.zeros(len(n), dtype=np.int64)
    left, ratio, chance = np.arange(len(n)), rare / (1 - rare), (1 - rare) ** n
    upto, number = chance, 0
    while True:
        more = np.flatnonzero((u[left] > upto) & (n[left] > number))
        if not len(more):
            return np.asarray(np.where(p > rare, n - sums, sums))
        number += 1
        left, ratio, chance, upto = left[more], ratio[more], chance[more], upto[more]
        chance = chance * ratio * (n[left] - number + 1) / number
        upto = upto + chance
        sums[left] = number


def gamma(shape: Floats, u: Floats, v: Floats, w: Floats) -> Floats:
    """Gamma-distributed numbers of scale 1 from uniform ones, by the cube of a normal one (Wilson and Hilferty)."""
    more = shape + 1
    cube = 1 - 1 / (9 * more) + _normal(u, v) / (3 * np.sqrt(more))
    return np.asarray(more * np.maximum(cube, 0) ** 3 * w ** (1 / shape))


def _normal(u: Floats, v: Floats) -> Floats:
    """Normal random numbers from two uniform ones (Box and Muller)."""
    return np.asarray(np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v))


class OtherSets(Sets):
    """Draws the holders of members in the other worlds of files of sets."""

    def _holders(self, file: File) -> Ints:
        return drawn_holders(file, self._numbers)

    @cached_property
    def _weights(self) -> Floats:
        power = 2 * uniform(self._numbers, 0, POWER + self._seed)
        return np.asarray(super()._weights ** power[:, None])

    def _ordered(self, of: Ints, tid: Ints) -> Ints:
        places = (h(tid, world, BASKETS + self._seed).astype(np.float64) for world in self._numbers)
        return np.stack([tid[in_order(of, place, tid)] for place in places])

    def _upto(self, members: Ints, of: Ints, n: Ints) -> Ints:
        numbered = self._numbered
        turn = h((members - numbered.first[members])[:, None], self._numbers, MEMBERS + numbered.seed[members, None])
        order = np.lexsort((turn, np.broadcast_to(of[:, None], n.shape)), axis=0)
        upto = np.empty_like(n)
        np.put_along_axis(upto, order, super()._upto(members, of, np.take_along_axis(n, order, axis=0)), axis=0)
        return upto

    def _turned(self, label: Ints, support: Ints, seed: Ints) -> tuple[Ints, Ints]:
        return np.ones_like(support), h(label, self._numbers, SHIFT + seed) % support
