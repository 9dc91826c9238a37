"""The state of the grouping: labels (sets of items), and what it costs to merge two. Labels are numbered in the order of
their smallest items. A merged label keeps the smaller number of the two, so the first of equals is the first by label. The
numbers change when dead labels are left out; the smallest item of a label identifies it."""

from typing import Protocol

import numpy as np

from anondb.algorithms.similar.pair_counts import PairCounts
from anondb.engine.arrays import Flags, Floats, Ints, Ints32, places_of, stretches

NEIGHBOURS, CANDIDATES = 4, 16  # labels that a rough cost looks at, and partners whose cost is computed
PARTS = 16  # errors are rounded to such a part of an item pair, divided by the occurrences of two labels
FAR = 2**62  # above any support
_BLOCK = 64  # labels whose pair counts are added up together


class Nearness(Protocol):
    """Distances of sets of items in a taxonomy; a set has the number of its smallest item."""

    def keys(self, block: int, others: Ints) -> Ints:
        """A key for the union of a set with each of the others."""

    def values(self, keys: Ints) -> Floats:
        """The distance within each of these unions, from 0 to 1."""

    def merge(self, kept: int, gone: int) -> None:
        """Record that ``kept`` now stands for both sets."""


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
        self._places = places_of(item, n)
        self._support: Ints = np.bincount(item, minlength=n)
        self._size = np.ones(n)  # items, of which ``_occurrences`` occur in all transactions
        self._occurrences = self._support.astype(np.float64)
        self._pairs = PairCounts(n, self._counted)
        self._beside, self._held = np.zeros(n), np.zeros(n)  # items of the labels beside each, and pair counts with these
        self._rare: Ints = (self._support < k).astype(np.int64)
        for low in range(0, n, _BLOCK):
            labels = slice(low, min(low + _BLOCK, n))
            counts = self._pairs.of(np.arange(n)[labels])
            self._beside[labels], self._held[labels] = np.count_nonzero(counts, axis=1), counts.sum(axis=1)
            self._rare[labels] += self._rare_pairs(counts).sum(axis=1)

    def _counted(self, label: int) -> Ints:
        """The number of transactions that hold a label and each label; 0 for itself."""
        tids = self._tid[self._places[label]]
        row = np.bincount(self._slot[stretches(self._start[tids], self._length[tids])], minlength=len(self._least) + 1)
        row[label] = 0
        return row[:-1]

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
        (row,) = self._pairs.of(np.array([label]))
        beside = np.flatnonzero(row)
        ours = row[beside]
        others = self._candidates(label, beside, ours)
        together, counts = row[others], self._pairs.between(others, beside)
        resolved = self._resolved(label, others, together, ours, counts)
        if not (resolved > 0).any():
            supports = np.where(self._support < FAR, self._support, -1)
            supports[label] = -1
            return int(supports.argmax())
        price = self._cost(label, others, together, beside, ours, counts) / np.maximum(resolved, 1)
        if self._nearness is not None:
            least = self._least
            price *= 1 + self._nearness.values(self._nearness.keys(int(least[label]), least[others]))
        return int(others[np.where(resolved > 0, price, np.inf).argmin()])

    def _candidates(self, label: int, beside: Ints, ours: Ints32) -> Ints:
        """The labels with the least rough cost (tie: by label), ascending: by the heaviest of the labels ``beside`` alone;
        ``ours`` says how many transactions hold each of these with ``label``."""
        if self.left - 1 <= CANDIDATES:
            others = np.flatnonzero(self._support < FAR)
            return np.asarray(others[others != label])
        if len(beside) > NEIGHBOURS:
            heaviest = np.argsort(-(self._size[beside] * ours), kind="stable")[:NEIGHBOURS]
            beside, ours = beside[heaviest], ours[heaviest]
        of_all = self._size, self._occurrences
        errors = self._errors(label, of_all, beside[:, None], ours[:, None], self._pairs.of(beside))
        errors[np.arange(len(beside)), beside] = 0
        rough = errors.sum(axis=0)
        rough /= self._occurrences + self._occurrences[label]
        rough[self._support == FAR] = np.inf
        rough[label] = np.inf
        limit = np.partition(rough, CANDIDATES - 1)[CANDIDATES - 1]
        below, equal = np.flatnonzero(rough < limit), np.flatnonzero(rough == limit)
        return np.sort(np.concatenate((below, equal[: CANDIDATES - len(below)])))

    def _errors(self, label: int, others: tuple[Floats, Floats], beside: Ints, ours: Ints32, counts: Ints32) -> Floats:
        """The errors of pairs with each label C of ``beside`` if ``label`` (A) and one of the others (B) were one label;
        ``ours`` says how many transactions hold A and C, ``counts`` B and C. It is defined in
        docs/algorithms/similar.md#definitions. Here it is multiplied by O(A) + O(B) and by ``PARTS``, and rounded, so that
        sums do not depend on the order."""
        sizes, occurrences = others
        relative = sizes / np.maximum(counts, 1)
        relative += self._size[label] / ours
        weight = PARTS * self._size[beside]
        errors = counts * (self._occurrences[label] * weight)
        errors -= occurrences * (ours * weight)
        np.abs(errors, out=errors)
        errors *= relative
        return np.asarray(np.rint(errors, out=errors))

    def _cost(self, label: int, others: Ints, together: Ints32, beside: Ints, ours: Ints32, counts: Ints32) -> Floats:
        """The error of pairs if ``label`` were merged with each of the others; ``together`` says how many transactions hold
        both."""
        size, sizes = self._size[label], self._size[others]
        of_others = sizes[:, None], self._occurrences[others][:, None]
        errors = self._errors(label, of_others, beside, ours, counts)
        errors *= others[:, None] != beside
        weights = self._size[beside]
        alone = self._beside[others] - _summed(counts > 0, weights) - size * (together > 0)
        held = self._held[others] - _summed(counts, weights) - size * together
        total = errors.sum(axis=1) + PARTS * self._occurrences[label] * (sizes * alone + size * held)
        return np.asarray(total / (self._occurrences[label] + of_others[1][:, 0]) + PARTS * size * sizes * (together > 0))

    def _resolved(self, label: int, others: Ints, together: Ints32, ours: Ints32, counts: Ints32) -> Ints:
        """How many rare sets of both labels are none of their union, as if no transaction held a third label with both."""
        before = self._rare_pairs(counts).sum(axis=1) + int(self._rare_pairs(ours).sum())
        pairs = before - (counts < self._pair_k - ours).sum(axis=1) + self._rare_pairs(together)
        union = self._support[label] + self._support[others] - together
        few = (self._support[others] < self._k).astype(np.int64) - (union < self._k)
        return np.asarray(pairs + few + int(self._support[label] < self._k))

    def merge(self, a: int, b: int) -> None:
        """Make two labels one, which has the smaller number."""
        kept, gone = min(a, b), max(a, b)
        ours, theirs = self._pairs.of(np.array([kept, gone]))
        at, sizes = np.flatnonzero(ours | theirs), self._size  # nothing changes but beside one of them
        union = ours[at] + theirs[at] - self._join(kept, gone)[at]
        union[(at == kept) | (at == gone)] = 0
        rows = np.stack((union, ours[at], theirs[at]))
        rare, both = self._rare_pairs(rows), sizes[kept] + sizes[gone]
        self._rare[at] += rare[0].view(np.int8) - rare[1:].sum(axis=0)
        change = np.array([both, -sizes[kept], -sizes[gone]])
        self._beside[at] += _summed((rows > 0).T, change)
        self._held[at] += _summed(rows.T, change)
        self._support[kept], self._support[gone] = len(self._places[kept]), FAR
        self._rare[kept] = rare[0].sum() + int(self._support[kept] < self._k)
        self._beside[kept], self._held[kept] = sizes[at][union > 0].sum(), (union * sizes[at]).sum()
        self._rare[gone] = self._beside[gone] = self._held[gone] = 0
        sizes[kept] = both
        self._occurrences[kept] += self._occurrences[gone]
        self._pairs.merge(kept, gone, at, union)
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
        self._pairs.renumber(alive)
        self._places = [self._places[label] for label in alive.tolist()]
        for name in ("_least", "_support", "_size", "_occurrences", "_beside", "_held", "_rare"):
            setattr(self, name, getattr(self, name)[alive])

    def supports(self) -> Ints32:
        """The number of transactions that hold each two labels, and on the diagonal those that hold each label."""
        alive = np.flatnonzero(self._support < FAR)
        pairs = np.diag(self._support[alive].astype(np.int32))
        for low in range(0, len(alive), _BLOCK):
            pairs[low : low + _BLOCK] += self._pairs.of(alive[low : low + _BLOCK])[:, alive]
        return pairs

    def shown(self) -> Ints32:
        """The label of each occurrence, numbered as in :meth:`supports`; -1 beside another one of its label."""
        alive = np.flatnonzero(self._support < FAR)
        number = np.full(len(self._least) + 1, -1, dtype=np.int32)
        number[alive] = np.arange(len(alive))
        return np.asarray(number[self._slot])


def _summed(values: Flags | Ints32, weights: Floats) -> Floats:
    """The weighted sum of each row; no threads of a library of linear algebra, which wait by spinning."""
    return np.asarray(np.einsum("ij,j->i", values, weights))
