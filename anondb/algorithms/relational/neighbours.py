"""The nearest records of a record, by the NCP of the pair, among those that are left.

Records are kept in blocks of similar ones. What the unions of a record with each record of a block have in common costs no
more than any of these unions, so blocks for which it costs more than the nearest records found so far are not looked at.
"""

import numpy as np
import numpy.typing as npt

from anondb.algorithms.relational.items import stretches
from anondb.data.generalization import Generalization
from anondb.engine.arrays import Ints

BLOCK = 128  # records


class Neighbours:
    """The records that are left."""

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
        if not count:
            return np.empty(0, dtype=np.int64)
        bounds = self._measure.union_costs(self._cores, self._measure.record(record))
        enough = np.flatnonzero(self._left >= count)
        some = enough[[np.argmin(bounds[enough])]] if len(enough) else np.flatnonzero(self._left)
        rows, costs = self._costs(record, some)
        first = _first(rows, costs, count)
        limit, tie = costs[first[-1]], rows[first[-1]]
        near = ((bounds < limit) | ((bounds == limit) & (self._first < tie))) & (self._left > 0)
        near[some] = False
        if near.any():
            more = self._costs(record, np.flatnonzero(near))
            rows, costs = np.append(rows, more[0]), np.append(costs, more[1])
            first = _first(rows, costs, count)
        return np.sort(rows[first])

    def _costs(self, record: int, blocks: Ints) -> tuple[Ints, Ints]:
        """The records of some blocks that are left, and their NCP with a record."""
        place, _ = stretches(self._start[blocks], self._size[blocks])
        rows = self._rows[place]
        rows = rows[self._is_left[rows]]
        return rows, self._measure.pair_costs(record, rows)


def _first(rows: Ints, costs: Ints, count: int) -> Ints:
    """The positions of the ``count`` cheapest records; ties go to the first records."""
    near = np.arange(len(rows))
    if count < len(rows):
        near = np.flatnonzero(costs <= np.partition(costs, count - 1)[count - 1])
    return near[np.lexsort((rows[near], costs[near]))[:count]]


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
    if count >= len(values):
        return np.argsort(values, kind="stable")[:count]
    if not count:
        return np.empty(0, dtype=np.int64)
    last = np.partition(values, count - 1)[count - 1]
    near = (values < last).nonzero()[0]
    ties = (values == last).nonzero()[0][: count - len(near)]
    return np.append(near[values[near].argsort(kind="stable")], ties)
