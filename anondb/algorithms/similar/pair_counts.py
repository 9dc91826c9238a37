"""How many transactions hold each two labels: rows of this table are counted when they are asked for, and those asked for
last are kept, so that memory does not grow with the square of the labels."""

from collections.abc import Callable

import numpy as np

from anondb.engine.arrays import Ints, Ints32

ROWS_BYTES = 2**27  # of the rows that are kept
LEAST_ROWS = 128  # rows that are kept at least, and that may be asked for together


def rows_kept(n: int) -> int:
    """How many rows of n labels are kept."""
    return min(n, max(LEAST_ROWS, ROWS_BYTES // (4 * max(n, 1))))


class PairCounts:
    """The rows of the table; it is symmetric, and its diagonal is 0."""

    def __init__(self, n: int, counted: Callable[[int], Ints]) -> None:
        """Keep rows of n labels; ``counted`` counts that of a label."""
        self._counted = counted
        self._row_of = np.full(n, -1)  # the row of each label that has one; else -1
        self._open(n)

    def _open(self, n: int) -> None:
        """Make room for rows of n labels."""
        kept = rows_kept(n)
        self._rows = np.zeros((kept, n), dtype=np.int32)
        self._label_of = np.full(kept, -1)  # the label of each row; -1 if it is free
        self._asked, self._clock = np.zeros(kept, dtype=np.int64), 0  # when each row was asked for last

    def of(self, labels: Ints) -> Ints32:
        """The counts of some labels, at most ``LEAST_ROWS``, with each label."""
        return np.asarray(self._rows[self._rows_of(labels)])

    def between(self, labels: Ints, others: Ints) -> Ints32:
        """The counts of some labels, at most ``LEAST_ROWS``, with some others."""
        return np.asarray(self._rows[self._rows_of(labels)[:, None], others])

    def _rows_of(self, labels: Ints) -> Ints:
        self._clock += 1
        rows = self._row_of[labels]
        self._asked[rows[rows >= 0]] = self._clock
        for label in labels[rows < 0].tolist():
            row = int(self._asked.argmin())
            if (before := self._label_of[row]) >= 0:
                self._row_of[before] = -1
            self._row_of[label], self._label_of[row], self._asked[row] = row, label, self._clock
            self._rows[row] = self._counted(label)
        return self._row_of[labels]

    def merge(self, kept: int, gone: int, at: Ints, union: Ints32) -> None:
        """Give ``kept`` the counts ``union`` with the labels ``at``, which are all that either has counts with."""
        rows = self._row_of[at]
        there = rows >= 0
        self._rows[rows[there], kept] = union[there]
        self._rows[rows[there], gone] = 0
        for label, counts in ((kept, union), (gone, 0)):
            if (row := self._row_of[label]) >= 0:
                self._rows[row, at] = counts

    def renumber(self, alive: Ints) -> None:
        """Leave out all labels but these, which are numbered anew."""
        rows, before = self._rows, self._row_of[alive]
        asked, clock = self._asked, self._clock
        self._open(len(alive))
        there = np.flatnonzero(before >= 0)
        there = there[np.argsort(-asked[before[there]], kind="stable")][: len(self._rows)]
        self._row_of = np.full(len(alive), -1)
        self._row_of[there] = np.arange(len(there))
        self._label_of[: len(there)] = there
        self._asked[: len(there)], self._clock = asked[before[there]], clock
        for row, of in enumerate(before[there].tolist()):
            self._rows[row] = rows[of, alive]
