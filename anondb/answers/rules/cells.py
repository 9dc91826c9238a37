"""Bounds of a count that follow from bounds of other counts: a small linear program, whose solution is only a proposal.

Transactions are divided into groups by what the release shows of them, and each transaction is in one of the cells that
are possible for its group: a cell says which of some items it holds. The number of transactions of each group is known;
bounds are known for the sum of some coefficients over all transactions, such as the number of those that hold an item.
The program asks for the least and the greatest sum of another coefficient.

**The proof.** Take any numbers r_k, one for each known sum S_k, l_k <= S_k <= h_k. A transaction of group g in cell c
adds f(c) to the sum asked for, which is at least the sum of r_k a_k(c) plus the least of f(c') - (sum of r_k a_k(c'))
over the cells c' of the group. So the sum asked for is at least

    sum over k of (r_k l_k if r_k > 0 else r_k h_k)  +  sum over g of n_g * min over c of (f(c) - sum over k of r_k
a_k(c)),

whatever the r_k are. A simplex method in floats proposes them; they are rounded to fractions, and the bound is computed
from these in whole numbers. So an error of the method makes a bound wider, and never wrong.

The cells are numbers of items of some kinds, up to a cap each. Item supports are arrays, which say at once what they
imply for many sets of items, of any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.answers.rules.vector_sets import EMPTY, Vector, vector_sets

Array = npt.NDArray[Any]

DENOMINATORS = (1, 2, 3, 4, 5, 6, 12, 60)
LARGEST = 1e5  # of a multiplier: products with it fit into 64 bits
CLOSE = 1e-7  # of a multiplier to a fraction
SMALL, SLACK = 1e-9, 1e-6  # errors of floats: of coefficients, and of numbers of transactions
MAX_STEPS = 400


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of each group, and what is known of sums over them.

    Attributes:
        starts: where the cells of each group begin; each group has one or more.
        sums: a row of whole coefficients for each known sum, a column for each cell.
    """

    starts: Array
    sums: Array

    def least(self, values: Array, numbers: Array, low: Array, high: Array) -> Array:
        """Lower bounds of the sum of ``values`` in several cases, which differ in the numbers of transactions.

        Args:
            values: a whole number for each cell.
            numbers: a row for each case, the number of transactions of each group.
            low, high: a row for each case, the bounds of each known sum.
        """
        program = _Program(self, values, numbers, low, high)
        for _ in range(MAX_STEPS):
            if not program.improve():
                break
        return self._proven(values, numbers, low, high, program.multipliers())

    def bounds(self, values: Array, numbers: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """Lower and upper bounds (see ``least``)."""
        return self.least(values, numbers, low, high), -self.least(-values, numbers, low, high)

    def _proven(self, values: Array, numbers: Array, low: Array, high: Array, multipliers: Array) -> Array:
        """What the multipliers prove, a row of them for each case."""
        scaled = multipliers[:, None, :] * np.array(DENOMINATORS)[None, :, None]
        apart = np.abs(scaled - np.rint(scaled)).max(axis=2, initial=0.0)
        which = np.where(apart < CLOSE, 0, 1).argmin(axis=1)  # the least denominator that fits
        which[apart.min(axis=1, initial=1.0) >= CLOSE] = len(DENOMINATORS) - 1
        scale = np.array(DENOMINATORS, np.int64)[which]
        whole = np.rint(np.take_along_axis(scaled, which[:, None, None], axis=1)[:, 0]).astype(np.int64)
        rest = scale[:, None] * values.astype(np.int64) - whole @ self.sums.astype(np.int64)
        each = np.minimum.reduceat(rest, self.starts, axis=1)
        ends = np.maximum(whole, 0) * low + np.minimum(whole, 0) * high
        total = (each * numbers).sum(axis=1) + ends.sum(axis=1)
        bound: Array = -(-total // scale)
        return bound


class _Program:
    """A dual simplex method on all cases at once; after any number of steps its multipliers prove a bound.

    Its dictionary has a row for each group and each sum: basic = constant + row @ others. At first the cheapest cell of each
    group has all transactions of the group, so that no cell has a negative reduced cost. A step takes what is outside its
    bounds most, moves it to the bound, and exchanges it for the other whose reduced cost allows it.
    """

    def __init__(self, cells: Cells, values: Array, numbers: Array, low: Array, high: Array) -> None:
        cases, groups = numbers.shape
        group = np.repeat(np.arange(groups), np.diff(np.append(cells.starts, len(values))))
        cheapest = np.lexsort((values, group))[cells.starts]
        others = np.setdiff1d(np.arange(len(values)), cheapest)
        own = cheapest[group[others]]
        table = np.zeros((groups + len(cells.sums), len(others)))
        table[group[others], np.arange(len(others))] = -1.0
        table[groups:] = cells.sums[:, others] - cells.sums[:, own]
        self._table = np.repeat(table[None], cases, axis=0)
        self._cost = np.repeat((values[others] - values[own])[None].astype(float), cases, axis=0)
        self._held = np.concatenate([numbers, numbers @ cells.sums[:, cheapest].T], axis=1).astype(float)
        ends = [(np.zeros((cases, 1)), low), (np.full((cases, 1), np.inf), high)]
        self._low, self._high = (np.concatenate([cell, of], axis=1).astype(float) for cell, of in ends)
        basic = np.append(np.zeros(groups, np.int64), np.arange(1, len(cells.sums) + 1))
        self._basic = np.repeat(basic[None], cases, axis=0)  # 0 for a cell, n for sum n - 1
        self._other = np.zeros((cases, len(others)), np.int64)
        self._at_high = np.zeros((cases, len(others)), dtype=bool)
        self._active = np.arange(cases if len(others) else 0)

    def improve(self) -> bool:
        """Make one step in each case that can be improved, if any."""
        case = self._active
        if not len(case):
            return False
        basic, held = self._basic[case], self._held[case]
        under = self._low[case[:, None], basic] - held
        over = held - self._high[case[:, None], basic]
        row, place = np.maximum(under, over).argmax(axis=1), np.arange(len(case))
        rises = under[place, row] > over[place, row]
        line = self._table[case, row]
        way = np.where(rises[:, None] != self._at_high[case], line, -line)
        fixed = (self._low == self._high)[case[:, None], self._other[case]]
        allowed = (way > SMALL) & ~fixed
        ratio = np.where(allowed, np.abs(self._cost[case]) / np.where(allowed, way, 1.0), np.inf)
        nearest = allowed & (ratio <= ratio.min(axis=1, initial=np.inf)[:, None] + SMALL)
        column = np.where(nearest, way, 0.0).argmax(axis=1)  # the largest pivot
        going = (np.maximum(under, over)[place, row] > SLACK) & allowed[place, column]
        self._active = case[going]
        if going.any():
            self._exchange(case[going], row[going], column[going], rises[going])
        return bool(going.any())

    def _exchange(self, case: Array, row: Array, column: Array, rises: Array) -> None:
        """Move basic variables to a bound, and exchange them for others."""
        leaving, entering = self._basic[case, row], self._other[case, column]
        table, pivot = self._table, self._table[case, row, column]
        goal = np.where(rises, self._low[case, leaving], self._high[case, leaving])
        step = (goal - self._held[case, row]) / pivot
        before = np.where(self._at_high[case, column], self._high[case, entering], self._low[case, entering])
        self._held[case] += table[case, :, column] * step[:, None]
        self._held[case, row] = before + step
        line, along, cost = table[case, row] / pivot[:, None], table[case, :, column], self._cost[case, column]
        if len(case) == 1:  # most of a large table is 0
            rows, columns = np.flatnonzero(along[0]), np.flatnonzero(line[0])
            table[case[0], rows[:, None], columns] -= along[0, rows, None] * line[0, columns]
        else:
            table[case] -= along[:, :, None] * line[:, None, :]
        table[case, row] = -line
        table[case, :, column] = along / pivot[:, None]
        table[case, row, column] = 1 / pivot
        self._cost[case] -= cost[:, None] * line
        self._cost[case, column] = cost / pivot
        self._basic[case, row], self._other[case, column] = entering, leaving
        self._at_high[case, column] = ~rises

    def multipliers(self) -> Array:
        """The multiplier of each sum, a row for each case: its reduced cost."""
        costs = np.zeros((len(self._other), self._low.shape[1]))
        case, column = np.nonzero(self._other)
        costs[case, self._other[case, column]] = self._cost[case, column]
        return np.clip(costs[:, 1:], -LARGEST, LARGEST)


MAX_CELLS = 64  # of a group: those of six items
MAX_COLUMNS = 6_000  # of all groups


@dataclass(frozen=True)
class Space:
    """All vectors of numbers of items: number n of a vector counts items of kind n, up to its cap."""

    caps: Vector

    @property
    def fits(self) -> bool:
        """Whether the vectors are few enough to be listed."""
        return prod(cap + 1 for cap in self.caps[:MAX_CELLS]) <= MAX_CELLS and len(self.caps) <= MAX_CELLS

    @property
    def vectors(self) -> list[Vector]:
        """The vectors; the first has no items."""
        return vector_sets(self.caps).vectors

    def possible(
        self, counts: Array, parts: Sequence[Iterable[Vector]], hidden: Iterable[tuple[Vector, int]], lost: Array
    ) -> Possible | None:
        """The vectors that each group of transactions may have; None if they are too many, or none.

        Args:
            counts: for each group, how many of each of the parts its transactions have.
            parts: the vectors of which a part adds one.
            hidden: what suppressed items may add, each up to so many times.
            lost: which groups may have suppressed items.
        """
        if len(counts) > MAX_COLUMNS:
            return None
        added, none, sets = vector_sets(self.caps).added, (0,) * len(self.caps), list[int]()
        listed = [tuple(sorted(part)) for part in parts]
        suppressed = [((none, vector), times) for vector, times in hidden]
        for numbers, loses in zip(counts.tolist(), lost.tolist(), strict=True):
            reached = EMPTY
            for part, times in (*zip(listed, numbers, strict=True), *(suppressed if loses else ())):
                for _ in range(times):
                    reached = added(reached, part)
            sets.append(reached)
        bits = np.array(sets, np.uint64)[:, None] >> np.arange(len(self.vectors), dtype=np.uint64)
        group, vector = np.nonzero(bits & np.uint64(1))
        return Possible(group, vector) if 0 < len(group) <= MAX_COLUMNS else None


@dataclass(frozen=True, eq=False)
class Possible:
    """The cells of groups of transactions, those of the first group first: the possible vectors of each.

    Attributes:
        group, vector: the group of each cell, and the place of its vector in the space.
    """

    group: Array
    vector: Array

    def cells(self, sums: Array) -> Cells:
        """The cells with known sums."""
        return Cells(np.flatnonzero(np.diff(self.group, prepend=-1)), sums)


@dataclass(frozen=True, eq=False)
class SetBounds:
    """Bounds for sets of items, of the transactions that show one released item: a row for each set, a column for each.

    Attributes:
        size: how many of the items it stands for.
        any_low, any_high: of the number of transactions that hold one or more of the items.
        rows_low, rows_high: of the number of their occurrences.
    """

    size: Array
    any_low: Array
    any_high: Array
    rows_low: Array
    rows_high: Array


@dataclass(frozen=True, eq=False)
class Supports:
    """The item supports of a release.

    Attributes:
        shown: the number of transactions that show each released item.
        starts: where the members of each released item begin.
        least, most: for each member, how many of these transactions hold it. A released item without item supports says
            0 and all; one that stands for one item says all, and all.
    """

    shown: Array
    starts: Array
    least: Array
    most: Array

    @cached_property
    def label(self) -> Array:
        """The place of the released item of each member."""
        sizes = np.diff(np.append(self.starts, len(self.least)))
        return np.repeat(np.arange(len(self.starts)), sizes)

    @cached_property
    def _all_most(self) -> Array:
        return np.asarray(self._added(self.most[None])[0])

    def _added(self, values: Array) -> Array:
        added: Array = np.add.reduceat(values, self.starts, axis=1)
        return added

    def of_sets(self, chosen: Array) -> SetBounds:
        """Bounds for sets of items.

        Each transaction that shows a released item holds a member: those that hold no item of the set hold another one, so
        they are at most the sum of the others' ``most``.

        Args:
            chosen: for each set a row that says which members are in it.
        """
        size = self._added(chosen.astype(np.int64))
        least, most = self._added(np.where(chosen, self.least, 0)), self._added(np.where(chosen, self.most, 0))
        forced = np.where(size > 0, self.shown - (self._all_most - most), 0)
        largest = np.maximum.reduceat(np.where(chosen, self.least, 0), self.starts, axis=1)
        return SetBounds(
            size,
            np.maximum(largest, forced),
            np.minimum(self.shown, most),
            np.maximum(least, forced),
            np.minimum(most, size * self.shown),
        )

    def lacking(self, chosen: Array) -> Array:
        """For each set at most how many transactions lack one of its items, of those that show their released items."""
        lacking: Array = np.where(chosen, self.shown[self.label] - self.least, 0).sum(axis=1)
        return lacking
