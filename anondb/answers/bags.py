"""Draws the items of releases of bags, in which a transaction has copies of released items that may lie above each other.

A row with c copies has c different members, as far as there are so many, each in a place of a random permutation of all
members. Released items choose in the order of their sizes, those that overlap one after the other: a member that the
transaction has already is left out.

Worlds of an anatomy are reconstructions by ``release/reconstruct``, which is the macro in the file, from the seed on.

**Other numbers of holders**, which differ between plausible tables, are drawn anew for each world. With item supports a
number is uniform in its interval. Without, the chances of items and the numbers of holders are drawn in turn, from what
the other says (Gibbs sampling): of the transactions that show a released item, each holds a member by the chance p(x) /
Z that it does; and p(x) is gamma-distributed around the share of transactions that hold the item. Each of these worlds
also has a power, between 0 and 2, of the number of released items that a transaction shows: those who show more hold so
much more. Members meet in blocks, as items that go together do: ranks follow one random order of the transactions, and
members are first holders in a random order, without a permutation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
from sqlglot import exp

from anondb.answers.drawing import Sets, in_order
from anondb.answers.files import DRAWN, ROWS, File, Numbered, of_worlds, place
from anondb.answers.hashing import (
    BASKETS,
    BINOMIAL,
    GAMMA,
    MEMBERS,
    OTHERS_SHIFT,
    OTHERS_STEP,
    POWER,
    RACE,
    SHIFT,
    SUPPORTED,
    h,
    hashed,
    uniform,
)
from anondb.engine import DuckDBEngine, Table, load
from anondb.engine.arrays import Flags, Floats, Ints, run_starts

LABELS, OVERLAPS, BELOW, BAG_ITEMS, SINGLES = map(place, ("bags", "overlaps", "below", "bag items", "known items"))
_KEPT = ["world", "label", "tid", "copies", "tried", "size", "first", "tids_before", "members_before", "seed"]


def levels_of(file: File) -> tuple[Ints, list[tuple[int, int]]]:
    """The levels at which the released items of a file choose, and the pairs that share a member, first choice first.

    Returns:
        For each member the level of its released item, from 0: all that it overlaps have another one. The pairs are numbers
        of released items.
    """
    members = file.members
    levels = np.zeros(len(members.label), dtype=np.int64)
    pairs: set[tuple[int, int]] = set()
    holders: dict[int, list[tuple[int, int]]] = {}
    ends = np.r_[members.start[1:], len(members.label)]
    for first in sorted(range(len(members.start)), key=lambda n: (members.size[members.start[n]], n)):
        rows = range(members.start[first], ends[first])
        label, items = int(members.label[rows[0]]), members.item[rows].tolist()
        before = {one for item in items for one in holders.get(item, ())}
        level = 1 + max((level for level, _ in before), default=-1)
        levels[rows] = level
        pairs |= {(other, label) for _, other in before}
        for item in items:
            holders.setdefault(item, []).append((level, label))
    return levels, sorted(pairs)


class Bags:
    """Draws the items of the worlds of files of bags.

    Args:
        engine: the database with the files' rows.
        files: the files.
        numbers: the numbers of the worlds, from 0.

    Attributes:
        single: whether nothing is drawn for a member: its released item stands for it alone, and nothing overlaps it before.
    """

    def __init__(self, engine: DuckDBEngine, files: Sequence[File], numbers: range) -> None:
        self._engine, self._worlds = engine, len(numbers)
        numbered = Numbered.of(files)
        levels, overlaps = zip(*map(levels_of, files), strict=True)
        level = np.concatenate(levels)
        size = np.concatenate([file.members.size for file in files])
        item = np.concatenate([file.members.item for file in files])
        self.single = (size == 1) & (level == 0)
        self._levels = np.unique(level[~self.single]).tolist()
        starts = run_starts(numbered.label)
        firsts = starts[~self.single[starts]]
        columns = {"label": numbered.label, "number": numbered.number, "level": level, "size": size}
        columns |= {"first": np.arange(len(level)), "tids_before": numbered.tids, "members_before": numbered.first}
        columns |= {"seed": numbered.seed}
        engine.put(LABELS, {name: ("BIGINT", values[firsts]) for name, values in columns.items()})
        engine.put(BAG_ITEMS, {"member": ("BIGINT", np.arange(len(item))), "item": ("BIGINT", item)})
        before = np.r_[0, numbered.label][np.cumsum([0, *(len(file.members.label) for file in files)])]
        pairs = [(n + a, n + b) for n, listed in zip(before.tolist(), overlaps, strict=False) for a, b in listed]
        ends = [[pair[n] for pair in pairs] for n in range(2)]
        engine.put(OVERLAPS, {name: ("BIGINT", labels) for name, labels in zip(("below", "above"), ends, strict=True)})
        singles = {"label": numbered.label[self.single], "item": item[self.single]}
        engine.put(SINGLES, {name: ("BIGINT", values) for name, values in singles.items()})
        engine.create(BELOW, "answers/bag_below", {"rows": ROWS, "overlapping": OVERLAPS})

    def draw(self, chosen: Flags) -> None:
        """Append all items of all worlds to the table ``DRAWN``, unless they are there. ``chosen`` has no effect."""
        while self._levels:
            tables: dict[str, Table | exp.Query] = {"rows": ROWS, "bags": LABELS, "below": BELOW}
            values = {"level": self._levels[0], "worlds": self._worlds, "salt": OTHERS_STEP}
            turns = hashed(load("answers/bag_turns").bind(tables, values), [*_KEPT, "number"])
            shifts = load("answers/bag_shifts").bind({"turns": turns}, {"salt": OTHERS_SHIFT})
            placed = hashed(shifts, [*_KEPT, "step"])
            candidates = load("answers/bag_candidates").bind({"shifts": placed}, {"salt": RACE})
            raced = hashed(candidates, ["world", "label", "tid", "copies", "member"])
            tables = {"candidates": raced, "bag_items": BAG_ITEMS, "drawn": DRAWN, "rows": ROWS, "known": SINGLES}
            drawn = load("answers/bag_drawn").bind(tables, {})
            self._engine.run(exp.Insert(this=DRAWN.expression(), expression=drawn), "drawing worlds")
            self._levels.pop(0)


TEXTS = place("bucket items")


class Buckets:
    """Draws the worlds of files with buckets.

    Args:
        engine: the database with the files' buckets.
        files: the files.
        numbers: the numbers of the worlds.

    Attributes:
        single: whether a member is the same in all worlds: none is.
    """

    def __init__(self, engine: DuckDBEngine, files: Sequence[File], numbers: range) -> None:
        self._engine, self._drawn, self._texts = engine, *(of_worlds(table, numbers[0]) for table in (DRAWN, TEXTS))
        numbered = Numbered.of(files)
        self.single = np.zeros(len(numbered.label), dtype=np.bool_)
        texts = [file.items[n] for file in files for n in file.members.item]
        engine.put(self._texts, {"member": ("INTEGER", np.arange(len(texts))), "item": ("VARCHAR", texts)})
        ends = [0, *accumulate(len(file.names) for file in files)]
        tids = [0, *accumulate(file.description.transactions for file in files)]
        self._missing = [
            (
                {"world": world, "tids_before": tids[n], "first": ends[n], "end": ends[n + 1]},
                n,
                file.description.seed + world,
            )
            for n, file in enumerate(files)
            for world in numbers
        ]

    def draw(self, chosen: Flags) -> None:
        """Append all items of all worlds to the table ``DRAWN``, unless they are there. ``chosen`` has no effect."""
        while self._missing:
            values, number, seed = self._missing[0]
            passed: exp.Query = exp.select(exp.true().as_("passed"))
            tables: dict[str, Table | exp.Query] = {"buckets": place("buckets", number), "in_place": passed}
            reconstruction = load("release/reconstruct").bind(tables, {"seed": seed})
            rows = load("answers/reconstructed").bind({"reconstruction": reconstruction, "texts": self._texts}, values)
            self._engine.run(exp.Insert(this=self._drawn.expression(), expression=rows), "drawing worlds")
            self._missing.pop(0)


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
    chosen = h(np.arange(len(single))[:, None], worlds, SUPPORTED + file.description.seed)
    n = low + ((high - low + 1) * (2 * chosen + 1) >> 33)
    if free.any():
        n = np.where(free[:, None], _sampled(file, n, free, worlds), n)
    total, room = (np.add.reduceat(values, members.start, axis=0) for values in (n, high - n))
    missing = np.maximum(members.support[members.start][:, None] - total, 0)
    missing, room = missing[members.place], np.maximum(room, 1)[members.place]
    return np.asarray(n - (-missing * (high - n)) // room)


def _sampled(file: File, fixed: Ints, free: Flags, worlds: Ints) -> Ints:
    """The numbers of holders after all sweeps where they are free; the others stay fixed."""
    members, seed, transactions = file.members, file.description.seed, file.description.transactions
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
