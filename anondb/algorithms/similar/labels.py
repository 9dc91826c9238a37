"""The state of the grouping: labels (sets of items), their pair counts, and what it costs to merge two. Labels are numbered
in the order of their smallest items. A merged label keeps the smaller number of the two, so the first of equals is the first
by label. The numbers change when dead labels are left out; the smallest item of a label identifies it."""

from typing import Protocol

import numpy as np

from anondb.engine.arrays import Flags, Floats, Ints, Ints32, places_of, stretches

NEIGHBOURS, CANDIDATES = 4, 16  # labels that a rough cost looks at, and partners whose cost is computed
PARTS = 16  # errors are rounded to such a part of an item pair, divided by the occurrences of two labels
FAR = 2**62  # above any support
_CELLS = 2**22  # occurrences whose pairs are counted together


class Nearness(Protocol):
    """Distances of sets of items in a taxonomy; a set has the number of its smallest item."""

    def keys(self, block: int, others: Ints) -> Ints:
        """A key for the union of a set with each of the others."""

    def values(self, keys: Ints) -> Floats:
        """The distance within each of these unions, from 0 to 1."""

    def merge(self, kept: int, gone: int) -> None:
        """Record that ``kept`` now stands for both sets."""


def pair_supports(n: int, tid: Ints32, label: Ints32) -> Ints32:
    """The number of transactions that hold each two of n labels, and on the diagonal those that hold each; the occurrences
    are sorted by transaction, each once."""
    counts = np.zeros((n, n), dtype=np.int32)
    cells = counts.reshape(-1)
    ends = np.searchsorted(tid, tid, side="right")
    for low in range(0, len(tid), _CELLS):
        place, distance = np.arange(low, min(low + _CELLS, len(tid))), 0
        while len(place):
            a, b = label[place].astype(np.int64), label[place + distance].astype(np.int64)
            np.add.at(cells, a * n + b, np.int32(1))
            if distance:
                np.add.at(cells, b * n + a, np.int32(1))
            distance += 1
            place = place[place + distance < ends[place]]
    return counts


class Labels:
    """The labels during the grouping, each with the transactions that hold it."""

    def __init__(
        self, n: int, n_transactions: int, tid: Ints32, item: Ints32, k: int, pair_k: int, nearness: Nearness | None
    ) -> None:
        """Make a label of each of n items, from occurrences that are sorted by transaction; both are numbered from 0. A
        label is rare if fewer than k transactions hold it, a pair if at least one and fewer than ``pair_k`` do; ``nearness``
        are distances in a taxonomy."""
        # the items of each label, by its smallest item; empty for other items
        self.members: list[list[int]] = [[i] for i in range(n)]
        self.left = n  # the number of labels
        # the smallest items of the two labels of each merge, the smaller one first
        self.merges: list[tuple[int, int]] = []
        self._k, self._pair_k, self._nearness = k, pair_k, nearness
        self._tid, self._slot = tid, item.copy()  # an occurrence beside another one of its label has the slot n
        self._length = np.bincount(tid, minlength=n_transactions)
        self._start = np.cumsum(self._length) - self._length
        self._seen = np.zeros(n_transactions, dtype=np.bool_)
        self._least: Ints = np.arange(n)
        self._pairs = pair_supports(n, tid, item)
        self._support: Ints = self._pairs.diagonal().astype(np.int64)
        np.fill_diagonal(self._pairs, 0)
        self._places = places_of(item, n)
        self._size = np.ones(n)  # items, of which ``_occurrences`` occur in all transactions
        self._occurrences = self._support.astype(np.float64)
        self._beside = np.count_nonzero(self._pairs, axis=1).astype(np.float64)  # items of the labels beside each
        self._held = self._pairs.sum(axis=1, dtype=np.float64)  # pair counts with the label of each of these items
        self._rare: Ints = self._rare_pairs(self._pairs).sum(axis=1) + (self._support < k)

    def _rare_pairs(self, counts: Ints32) -> Flags:
        return np.asarray((counts > 0) & (counts < self._pair_k))

    def rarest(self) -> int | None:
        """The label of least support that is rare or in a rare pair (tie: by label); None if there is no such label."""
        supports = np.where(self._rare > 0, self._support, FAR)
        label = int(supports.argmin()) if len(supports) else 0
        return label if len(supports) and supports[label] < FAR else None

    def partner(self, label: int) -> int:
        """The candidate with the least cost for each rare set that the merge resolves (tie: by label). If none resolves any,
        the label of most support."""
        others = self._candidates(label)
        beside = np.flatnonzero(self._pairs[label])
        counts = self._pairs[others].take(beside, axis=1)
        resolved = self._resolved(label, others, beside, counts)
        if not (resolved > 0).any():
            supports = np.where(self._support < FAR, self._support, -1)
            supports[label] = -1
            return int(supports.argmax())
        price = self._cost(label, others, beside, counts) / np.maximum(resolved, 1)
        if self._nearness is not None:
            least = self._least
            price *= 1 + self._nearness.values(self._nearness.keys(int(least[label]), least[others]))
        return int(others[np.where(resolved > 0, price, np.inf).argmin()])

    def _candidates(self, label: int) -> Ints:
        """The labels with the least rough cost (tie: by label), ascending: by the heaviest labels beside ``label`` alone."""
        if self.left - 1 <= CANDIDATES:
            others = np.flatnonzero(self._support < FAR)
            return np.asarray(others[others != label])
        row = self._pairs[label]
        beside = np.flatnonzero(row)
        if len(beside) > NEIGHBOURS:
            beside = beside[np.argsort(-(self._size[beside] * row[beside]), kind="stable")[:NEIGHBOURS]]
        errors = self._errors(label, (self._size, self._occurrences), beside[:, None], self._pairs[beside])
        errors[np.arange(len(beside)), beside] = 0
        rough = errors.sum(axis=0)
        rough /= self._occurrences + self._occurrences[label]
        rough[self._support == FAR] = np.inf
        rough[label] = np.inf
        limit = np.partition(rough, CANDIDATES - 1)[CANDIDATES - 1]
        below, equal = np.flatnonzero(rough < limit), np.flatnonzero(rough == limit)
        return np.sort(np.concatenate((below, equal[: CANDIDATES - len(below)])))

    def _errors(self, label: int, others: tuple[Floats, Floats], beside: Ints, counts: Ints32) -> Floats:
        """The errors of pairs with each label C of ``beside`` if ``label`` (A) and one of the others (B) were one label;
        ``counts`` says how many transactions hold B and C. It is defined in docs/algorithms/similar.md#definitions. Here it
        is multiplied by O(A) + O(B) and by ``PARTS``, and rounded, so that sums do not depend on the order."""
        sizes, occurrences = others
        ours = self._pairs[label, beside].astype(np.float64)
        relative = sizes / np.maximum(counts, 1)
        relative += self._size[label] / ours
        weight = PARTS * self._size[beside]
        errors = counts * (self._occurrences[label] * weight)
        errors -= occurrences * (ours * weight)
        np.abs(errors, out=errors)
        errors *= relative
        return np.asarray(np.rint(errors, out=errors))

    def _cost(self, label: int, others: Ints, beside: Ints, counts: Ints32) -> Floats:
        """The error of pairs if ``label`` were merged with each of the others."""
        size, sizes = self._size[label], self._size[others]
        together = self._pairs[label, others]
        of_others = sizes[:, None], self._occurrences[others][:, None]
        errors = self._errors(label, of_others, beside, counts)
        errors *= others[:, None] != beside
        weights = self._size[beside]
        alone = self._beside[others] - (counts > 0) @ weights - size * (together > 0)
        held = self._held[others] - counts @ weights - size * together
        total = errors.sum(axis=1) + PARTS * self._occurrences[label] * (sizes * alone + size * held)
        return np.asarray(total / (self._occurrences[label] + of_others[1][:, 0]) + PARTS * size * sizes * (together > 0))

    def _resolved(self, label: int, others: Ints, beside: Ints, counts: Ints32) -> Ints:
        """How many rare sets of both labels are none of their union, as if no transaction held a third label with both."""
        row = self._pairs[label]
        ours = row[beside]
        before = self._rare_pairs(counts).sum(axis=1) + int(self._rare_pairs(ours).sum())
        pairs = before - (counts < self._pair_k - ours).sum(axis=1) + self._rare_pairs(row[others])
        union = self._support[label] + self._support[others] - row[others]
        few = (self._support[others] < self._k).astype(np.int64) - (union < self._k)
        return np.asarray(pairs + few + int(self._support[label] < self._k))

    def merge(self, a: int, b: int) -> None:
        """Make two labels one, which has the smaller number."""
        kept, gone = min(a, b), max(a, b)
        pairs, sizes = self._pairs, self._size
        at = np.flatnonzero(pairs[kept] | pairs[gone])  # nothing changes but beside one of them
        union = pairs[kept, at] + pairs[gone, at] - self._join(kept, gone)[at]
        union[(at == kept) | (at == gone)] = 0
        rows = np.stack((union, pairs[kept, at], pairs[gone, at]))
        rare, both = self._rare_pairs(rows), sizes[kept] + sizes[gone]
        self._rare[at] += rare[0].view(np.int8) - rare[1:].sum(axis=0)
        change = np.array([both, -sizes[kept], -sizes[gone]])
        self._beside[at] += change @ (rows > 0)
        self._held[at] += change @ rows
        self._support[kept], self._support[gone] = len(self._places[kept]), FAR
        self._rare[kept] = rare[0].sum() + int(self._support[kept] < self._k)
        self._beside[kept], self._held[kept] = (union > 0) @ sizes[at], union @ sizes[at]
        self._rare[gone] = self._beside[gone] = self._held[gone] = 0
        sizes[kept] = both
        self._occurrences[kept] += self._occurrences[gone]
        pairs[kept, at] = pairs[at, kept] = union
        pairs[gone, at] = pairs[at, gone] = 0
        least = int(self._least[kept]), int(self._least[gone])
        self.members[least[0]] += self.members[least[1]]
        self.members[least[1]] = []
        self.merges.append(least)
        if self._nearness is not None:
            self._nearness.merge(*least)
        self.left -= 1
        if 4 * self.left < 3 * len(self._least):
            self._renumber()

    def _join(self, kept: int, gone: int) -> Ints32:
        """Join the occurrences of two labels; returns how many transactions with both hold each label."""
        n = len(self._least)
        ours, theirs = self._places[kept], self._places[gone]
        tids = self._tid[ours]
        self._seen[tids] = True
        double = self._seen[self._tid[theirs]]
        self._seen[tids] = False
        shared = self._tid[theirs[double]]
        place = stretches(self._start[shared], self._length[shared])
        third = np.bincount(self._slot[place], minlength=n + 1)[:n].astype(np.int32)
        self._slot[theirs[double]] = n
        self._slot[theirs[~double]] = kept
        self._places[kept] = np.concatenate((ours, theirs[~double]))
        self._places[gone] = theirs[:0]
        return third

    def _renumber(self) -> None:
        """Leave out the numbers of labels that were merged into others."""
        alive = np.flatnonzero(self._support < FAR)
        number = np.full(len(self._least) + 1, len(alive), dtype=np.int32)
        number[alive] = np.arange(len(alive))
        self._slot = number[self._slot]
        self._pairs = self._pairs[np.ix_(alive, alive)]
        self._places = [self._places[label] for label in alive.tolist()]
        for name in ("_least", "_support", "_size", "_occurrences", "_beside", "_held", "_rare"):
            setattr(self, name, getattr(self, name)[alive])

    def supports(self) -> Ints32:
        """The number of transactions that hold each two labels, and on the diagonal those that hold each label."""
        alive = np.flatnonzero(self._support < FAR)
        pairs = self._pairs[np.ix_(alive, alive)]
        np.fill_diagonal(pairs, self._support[alive])
        return pairs

    def shown(self) -> Ints32:
        """The label of each occurrence, numbered as in :meth:`supports`; -1 beside another one of its label."""
        alive = np.flatnonzero(self._support < FAR)
        number = np.full(len(self._least) + 1, -1, dtype=np.int32)
        number[alive] = np.arange(len(alive))
        return np.asarray(number[self._slot])
