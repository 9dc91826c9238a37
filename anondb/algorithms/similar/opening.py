"""Opening and dividing rows: in as many transactions as the promise allows, an item is shown as itself, not as its group,
and in the longest that show a group, a second released item of the same items.

The released items of the transactions ("cells") lie in one array, transaction by transaction. They are numbered: first the
groups, then the items that are shown as themselves, then the second released items of the groups.
"""

from itertools import pairwise

import numpy as np

from anondb.engine.arrays import Flags, Ints, Ints32, places_of, run_starts, stretches


class Cells:
    """The published transactions while rows are opened and divided."""

    def __init__(
        self, group: Ints, pairs: Ints32, n_transactions: int, tid: Ints32, item: Ints32, k: int, pair_k: int
    ) -> None:
        """Show each item as its group; ``pairs`` says how many transactions hold each two groups, and each one. The
        occurrences are sorted, and numbered from 0. A released item must be in no transaction or at least k, two of them
        together in none or at least ``pair_k``."""
        n_groups, n_items = len(pairs), len(group)
        self._group, self._k, self._pair_k = group, k, pair_k
        self._sizes = np.bincount(group, minlength=n_groups)
        self._beside = np.zeros((n_groups, 2 * n_groups + n_items), dtype=np.int32)  # cells in the rows of each group
        self._beside[:, :n_groups] = pairs
        key = tid.astype(np.int64) * max(n_groups, 1) + group[item]
        order = np.argsort(key, kind="stable")
        first = run_starts(key[order])
        self.tid = tid[order[first]]  # the transaction of each cell, numbered from 0, ascending
        self.shown = group[item[order[first]]].astype(np.int32)  # the released item that each cell shows
        self._length = np.bincount(self.tid, minlength=n_transactions)
        self._start = np.cumsum(self._length) - self._length
        alone = np.flatnonzero((np.diff(first, append=len(key)) == 1) & (self._sizes[self.shown] > 1))
        self._rank = _ranks(tid, item, self._length)
        of_item = item[order[first[alone]]]
        self._supports = np.bincount(of_item, minlength=n_items)
        self._alone = [alone[places] for places in places_of(of_item, n_items)]
        self.opened = 0  # the number of cells that show an item instead of its group

    def open(self) -> None:
        """Open the rows of each item, those of the largest groups first, then those of the fewest rows. Large groups gain
        most. What is opened first constrains the others, and few rows constrain them least."""
        order = np.lexsort((self._supports, -self._sizes[self._group]))
        for item in order[self._supports[order] >= self._k].tolist():
            self.opened += self._replace(self._alone[item], int(self._group[item]), len(self._beside) + item)

    def divide(self) -> None:
        """Show the second released item of each group in its longest rows: as few as hold half of the cells of its rows.
        Each part must have at least 2k rows for each item of the group, before rows are left as they are. Item supports come
        in buckets of k: on smaller parts they would say less about each item than on the whole group."""
        n_groups, n_items = len(self._sizes), len(self._group)
        by_group = np.argsort(self.shown, kind="stable")
        ends = np.searchsorted(self.shown[by_group], np.arange(n_groups), side="right")
        rows = self._beside[np.arange(n_groups), np.arange(n_groups)]
        for group in np.argsort(-rows, kind="stable").tolist():
            enough = 2 * self._k * int(self._sizes[group])
            if self._sizes[group] == 1 or rows[group] < 2 * enough:
                continue
            cells = by_group[ends[group] - rows[group] : ends[group]]
            length = self._length[self.tid[cells]]
            longest = np.sort(length)[::-1]
            least = longest[np.searchsorted(2 * np.cumsum(longest), length.sum())]
            long = length >= least
            long = length > least if long.all() else long
            if min(np.count_nonzero(long), np.count_nonzero(~long)) >= enough:
                self._replace(cells[long], group, n_groups + n_items + group)

    def _replace(self, cells: Ints, group: int, other: int) -> int:
        """Show another released item instead of a group, in as many of these cells as keep the promise; return their number.
        Until nothing is rare, transactions are left as they are: those in which the other released item would be in a rare
        pair, and some that the group itself needs."""
        if len(cells) < self._k:
            return 0
        length = self._length[self.tid[cells]]
        beside = self.shown[stretches(self._start[self.tid[cells]], length)]
        while len(cells) >= self._k:
            counts = np.bincount(beside, minlength=self._beside.shape[1])
            starts = np.cumsum(length) - length
            rare = (counts > 0) & (counts < self._pair_k)
            if rare.any():
                keep = ~np.logical_or.reduceat(rare[beside], starts)
            else:
                missing = self._missing(group, counts)
                if not missing.any():
                    self._show(other, group, cells, counts)
                    return len(cells)
                keep = ~self._needed(missing[beside], beside, self.tid[cells], length)
            cells, beside, length = cells[keep], beside[np.repeat(keep, length)], length[keep]
        return 0

    def _missing(self, group: int, counts: Ints) -> Ints:
        """For each released item, how many more rows of the group with it must stay if ``counts`` of them change."""
        rest = self._beside[group] - counts
        missing = np.where((rest > 0) & (rest < self._pair_k) & (counts > 0), self._pair_k - rest, 0)
        missing[group] = self._k - rest[group] if 0 < rest[group] < self._k else 0
        return missing

    def _needed(self, missing: Ints, beside: Ints32, tids: Ints32, length: Ints) -> Flags:
        """Choose the rows that stay as they are: of those with each released item the shortest, as many as are missing.
        Equally long rows are in the order of their items, and then of their transactions. ``missing`` counts the rows with
        the released item ``beside`` each cell, ``length`` the cells of each of the transactions ``tids``."""
        row = np.repeat(np.arange(len(length)), length)
        wanted = np.flatnonzero(missing)
        wanted = wanted[np.lexsort((self._rank[tids[row[wanted]]], beside[wanted]))]
        of = beside[wanted]
        begins = run_starts(of)
        number = np.arange(len(of)) - np.repeat(begins, np.diff(begins, append=len(of)))
        needed = np.zeros(len(length), dtype=np.bool_)
        needed[row[wanted[number < missing[wanted]]]] = True
        return needed

    def _show(self, other: int, group: int, cells: Ints, counts: Ints) -> None:
        """Replace these cells of a group, whose transactions show each released item so many times."""
        n_groups = len(self._beside)
        self.shown[cells] = other
        self._beside[group] -= counts.astype(np.int32)
        others = np.flatnonzero(counts[:n_groups])
        others = others[others != group]
        self._beside[others, group] -= counts[others].astype(np.int32)
        self._beside[others, other] += counts[others].astype(np.int32)


def _ranks(tid: Ints32, item: Ints32, length: Ints) -> Ints:
    """The ranks of transactions by the number of their cells, then by their items, and then by their number."""
    data, begin = item.astype(">i4").tobytes(), 4 * np.searchsorted(tid, np.arange(len(length) + 1))
    contents = [data[a:b] for a, b in pairwise(begin.tolist())]
    order = sorted(range(len(length)), key=list(zip(length.tolist(), contents, strict=True)).__getitem__)
    return np.argsort(np.array(order, dtype=np.int64))
