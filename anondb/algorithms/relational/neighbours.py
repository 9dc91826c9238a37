"""The nearest records of a record, by the NCP of the pair, among those that are left.

Records are kept in blocks of similar ones. What the unions of a record with each record of a block have in common costs no
more than any of these unions, so blocks for which it costs more than the nearest records found so far are not looked at.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anondb.data.generalization import Generalization

Ints = npt.NDArray[np.int64]
BLOCK = 128  # records


class Neighbours:
    """The records that are left.

    Args:
        measure: the records and their NCP.
    """

    def __init__(self, measure: Generalization) -> None:
        self._measure = measure
        self._is_left = np.ones(measure.records.n, dtype=np.bool_)
        self._build(np.arange(measure.records.n))

    def _build(self, rows: Ints) -> None:
        blocks = _blocks(self._measure, rows)
        self._size = np.array([len(block) for block in blocks])
        self._start = np.cumsum(self._size) - self._size
        self._rows = np.concatenate(blocks)
        self._block = np.empty(len(self._is_left), dtype=np.int64)
        self._block[self._rows] = np.repeat(np.arange(len(blocks)), self._size)
        self._left, self._n = self._size.copy(), len(rows)
        self._first = self._rows[self._start]
        self._cores = self._measure.cores(self._rows, self._start)

    def remove(self, records: Ints) -> None:
        """Remove records that are left."""
        self._is_left[records] = False
        np.subtract.at(self._left, self._block[records], 1)
        self._n -= len(records)
        if self._n and 2 * self._n < len(self._rows):
            self._build(np.sort(self._rows[self._is_left[self._rows]]))

    def nearest(self, record: int, count: int) -> Ints:
        """The ``count`` nearest records that are left, ascending; ties go to the first."""
        bounds = self._measure.union_costs(self._cores, self._measure.record(record))
        here = np.flatnonzero(self._left)
        here = here[np.lexsort((self._first[here], bounds[here]))]
        if not count:
            return here[:0]
        enough = 1 + int(np.searchsorted(np.cumsum(self._left[here]), count))
        rows, costs = self._costs(record, here[:enough])
        last = head(costs, count)[-1]
        rest = here[enough:]
        limit, tie = costs[last], rows[last]
        near = (bounds[rest] < limit) | ((bounds[rest] == limit) & (self._first[rest] < tie))
        if near.any():
            rows, costs = self._costs(record, np.append(here[:enough], rest[near]))
        return np.sort(rows[head(costs, count)])

    def _costs(self, record: int, blocks: Ints) -> tuple[Ints, Ints]:
        """The records of some blocks that are left, ascending, and their NCP with a record."""
        size = self._size[blocks]
        ends = np.cumsum(size)
        rows = self._rows[np.arange(ends[-1]) + np.repeat(self._start[blocks] - (ends - size), size)]
        rows = np.sort(rows[self._is_left[rows]])
        return rows, self._measure.pair_costs(record, rows)


def _blocks(measure: Generalization, rows: Ints) -> list[Ints]:
    """Divide records, ascending, at the middle of the attribute by which they differ most, until the parts are small."""
    found, open_parts = [], [rows]
    while open_parts:
        part = open_parts.pop()
        if len(part) <= BLOCK:
            found.append(part)
            continue
        codes = measure.widest(part)
        middle = np.partition(codes, len(part) // 2)[len(part) // 2]
        lower = codes < middle if middle > codes.min() else codes <= middle
        if lower.all():
            lower = np.arange(len(part)) < len(part) // 2
        open_parts += [part[~lower], part[lower]]
    return found


def head(values: npt.NDArray[np.generic], count: int) -> Ints:
    """The positions of the ``count`` smallest values, in their order; ties go to the first."""
    near = np.arange(len(values))
    if count < len(values):
        near = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1]) if count else near[:0]
    return near[np.argsort(values[near], kind="stable")[:count]]
