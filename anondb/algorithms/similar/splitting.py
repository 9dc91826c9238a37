"""Splitting groups: late merges make some earlier ones needless, so groups are split into labels of earlier merges and
the rest, where nothing becomes rare (docs/algorithms/similar.md#splitting).

The groups are numbered from 0 on. The items of each are in an order in which those of an earlier label are neighbours, so an
earlier label is an interval of places, also after other items have left the group.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from anondb.engine.arrays import Flags, Ints, Ints32, places_of, run_starts, stretches


class Splits:
    """The groups while they are split."""

    def __init__(
        self,
        groups: Sequence[Sequence[int]],
        merges: Sequence[tuple[int, int]],
        shown: Ints32,
        tid: Ints32,
        item: Ints32,
        k: int,
        pair_k: int,
    ) -> None:
        """Start with the groups that merges led to.

        Args:
            groups: their items, in the order in which merges joined them.
            merges: the smallest items of the two labels of each merge, the smaller one first.
            shown: the group of each occurrence, and -1 beside another one of its group in a transaction.
            tid, item: the occurrences, sorted by transaction; both are numbered from 0.
            k: a group must be in no transaction or at least k.
            pair_k: two groups must be together in no transaction or at least so many.
        """
        # the items of each group, those of earlier labels side by side
        self.groups: list[Ints] = [np.array(items, dtype=np.int64) for items in groups]
        self._k, self._pair_k, self._tid = k, pair_k, tid
        self._shown = shown + 1  # so that those beside others are 0
        self._length = np.bincount(tid)
        self._start = np.cumsum(self._length) - self._length
        n_items = sum(map(len, groups))
        self._places = places_of(item, n_items)
        self._earlier = _earlier(self.groups, merges, n_items)

    def split(self, whole: Callable[[Ints], bool]) -> list[int]:
        """Split the smallest group that can be split (tie: by its smallest item) until there is none; return the numbers of
        the groups that changed or are new. Groups that are ``whole`` stay. A group that cannot be split never can later:
        what is rare beside a group is rare beside one of its parts."""
        waiting = [(len(items), int(items.min()), n) for n, items in enumerate(self.groups) if len(items) > 1]
        heapify(waiting)
        changed: set[int] = set()
        while waiting:
            group = heappop(waiting)[2]
            places = None if whole(self.groups[group]) else self._most_even(group)
            if places is not None:
                other = self._part(group, *places)
                changed |= {group, other}
                for n in (group, other):
                    if len(self.groups[n]) > 1:
                        heappush(waiting, (len(self.groups[n]), int(self.groups[n].min()), n))
        return sorted(changed)

    def supports(self, before: Ints32, changed: Sequence[int]) -> Ints32:
        """The number of transactions that hold each two groups, and on the diagonal each, from those ``before`` some
        ``changed``."""
        pairs = np.zeros((len(self.groups), len(self.groups)), dtype=np.int32)
        pairs[: len(before), : len(before)] = before
        for group in changed:
            pairs[group] = pairs[:, group] = self._beside(self._holding(self.groups[group]))
        return pairs

    def _most_even(self, group: int) -> tuple[int, int] | None:
        """The places of the earlier label that divides a group most evenly, of those that leave nothing rare. Of equally
        even ones, it is that of the earliest merge."""
        items, intervals = self.groups[group], self._earlier[group]
        intervals = intervals[self._perhaps(group, items, intervals)]
        uneven = np.abs(2 * (intervals[:, 1] - intervals[:, 0]) - len(items))
        for begin, end in intervals[np.argsort(uneven, kind="stable")].tolist():
            parts = (self._holding(part) for part in _parts(items, begin, end))
            if self._allowed(group, *parts):
                return begin, end
        return None

    def _perhaps(self, group: int, items: Ints, intervals: Ints) -> Flags:
        """Which of these splits may leave no pair rare, by upper bounds of the supports of pairs. The bounds are the sums of
        the items' own; a bound from 1 to k - 1 is that of a rare pair."""
        sums = np.zeros((len(items) + 1, len(self.groups)), dtype=np.int64)
        for place, item in enumerate(items.tolist()):
            sums[place + 1] = self._beside(self._tid[self._places[item]])
        sums[:, group] = 0
        np.cumsum(sums, axis=0, out=sums)
        inside = sums[intervals[:, 1]] - sums[intervals[:, 0]]
        outside = sums[-1] - inside
        rare = self._rare(inside) | self._rare(outside)
        return np.asarray(~rare.any(axis=1))

    def _allowed(self, group: int, ours: Ints32, theirs: Ints32) -> bool:
        """Whether two parts of a group are not rare, nor in a rare pair; they are held by these transactions."""
        if min(len(ours), len(theirs)) < self._k:
            return False
        if self._rare(np.array([len(np.intersect1d(ours, theirs, assume_unique=True))])).any():
            return False
        for tids in (ours, theirs):
            counts = self._beside(tids)
            counts[group] = 0
            if self._rare(counts).any():
                return False
        return True

    def _rare(self, counts: Ints) -> Flags:
        return np.asarray((counts > 0) & (counts < self._pair_k))

    def _holding(self, items: Ints) -> Ints32:
        """The transactions that hold one of these items, each once."""
        return np.unique(np.concatenate([self._tid[self._places[item]] for item in items.tolist()]))

    def _beside(self, tids: Ints32) -> Ints:
        """How many of these transactions hold each group."""
        places = stretches(self._start[tids], self._length[tids])
        return np.bincount(self._shown[places], minlength=len(self.groups) + 1)[1:]

    def _part(self, group: int, begin: int, end: int) -> int:
        """Leave the items of an interval of places to a group; the others become a new one, whose number is returned."""
        other, intervals = len(self.groups), self._earlier[group]
        parts = _parts(self.groups[group], begin, end)
        self.groups[group] = parts[0]
        self.groups.append(parts[1])
        within = intervals[(begin <= intervals[:, 0]) & (intervals[:, 1] <= end)] - begin
        rest = intervals - np.clip(intervals - begin, 0, end - begin)
        self._earlier[group] = _proper(within, len(parts[0]))
        self._earlier.append(_proper(rest, len(parts[1])))
        for number, items in ((group, parts[0]), (other, parts[1])):
            places = np.sort(np.concatenate([self._places[item] for item in items.tolist()]))
            self._shown[places] = 0
            self._shown[places[run_starts(self._tid[places])]] = number + 1
        return other


def _earlier(groups: Sequence[Ints], merges: Sequence[tuple[int, int]], n: int) -> list[Ints]:
    """The labels that were merged into each group, in the order of the merges, as intervals of the places of its items."""
    place, group = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for number, items in enumerate(groups):
        place[items], group[items] = np.arange(len(items)), number
    size, earlier = [1] * n, [list[tuple[int, int]]() for _ in groups]
    for kept, gone in merges:
        earlier[group[kept]] += [(int(place[x]), int(place[x]) + size[x]) for x in (kept, gone)]
        size[kept] += size[gone]
    return [np.array(intervals, dtype=np.int64).reshape(-1, 2) for intervals in earlier]


def _parts(items: Ints, begin: int, end: int) -> tuple[Ints, Ints]:
    """The items of an interval of places, and the others."""
    return items[begin:end], np.concatenate((items[:begin], items[end:]))


def _proper(intervals: Ints, size: int) -> Ints:
    """The intervals that are neither empty nor all of so many places."""
    length = intervals[:, 1] - intervals[:, 0]
    return np.asarray(intervals[(length > 0) & (length < size)])
