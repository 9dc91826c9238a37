"""CLUSTER: k-anonymous groups of records with low NCP (Poulis et al., ECML/PKDD 2013, section 5;
docs/algorithms/rum_tum_bound.md#cluster).

The printed loop adds records to clusters while it iterates over them, and its last step lets a cluster be extended with
itself; here both steps do what the authors intend. The seed is the first remaining record instead of a random one, which
makes the result deterministic.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from anondb.data.generalization import Generalization
from anondb.engine.arrays import Ints, stretches
from anondb.engine.telling import Tell, silent
from anondb.errors import InfeasibleError

BLOCK = 128  # records of a block of ``Neighbours``


def cluster(measure: Generalization, k: int, tell: Tell = silent) -> list[Ints]:
    """Partition records into groups of at least k with low NCP: their records, ascending, in the order of the first ones."""
    n = measure.records.n
    if n < k:
        raise InfeasibleError(f"There are {n} records, fewer than k = {k}.", hint="Lower k.")
    left = Neighbours(measure)
    free = np.ones(n, dtype=np.bool_)
    clusters: list[Ints] = []
    for seed in range(n):  # steps 2 to 5
        if free[seed] and n - k * len(clusters) >= k:
            tell("clustering the records", k * len(clusters) / n)
            left.remove(np.array([seed]))
            near = left.nearest(seed, k - 1)
            left.remove(near)
            clusters.append(np.append(seed, near))
            free[clusters[-1]] = False
    groups = measure.groups(clusters)
    for record in np.flatnonzero(free).tolist():  # steps 6 and 7
        single = measure.record(record)
        best = int(np.argmin(measure.union_costs(groups, single)))
        clusters[best] = np.append(clusters[best], record)
        groups.put(best, groups.take([best]).union(single))
    return fused(measure, clusters)  # steps 8 to 11


def fused(measure: Generalization, clusters: list[Ints]) -> list[Ints]:
    """Unite clusters with the same generalized values (steps 9 to 11)."""
    same: dict[tuple[object, ...], list[Ints]] = {}
    for key, members in zip(measure.published(measure.groups(clusters)), clusters, strict=True):
        same.setdefault(key, []).append(members)
    return in_order(np.concatenate(parts) for parts in same.values())


def in_order(clusters: Iterable[Ints]) -> list[Ints]:
    """The clusters in the order of their first records, each with ascending records."""
    return sorted(map(np.sort, clusters), key=lambda records: int(records[0]))


class Neighbours:
    """The nearest records of a record, by the NCP of the pair, among those that are left. Records are kept in blocks of
    similar ones. The union of a record with the core of a block (``Generalization.cores``) costs no more than its union with
    any record of the block. So a block is skipped if the former costs more than the nearest records so far."""

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
        tried = enough[[np.argmin(bounds[enough])]] if len(enough) else np.flatnonzero(self._left)
        rows, costs = self._costs(record, tried)
        first = _first(rows, costs, count)
        limit, tie = costs[first[-1]], rows[first[-1]]
        near = ((bounds < limit) | ((bounds == limit) & (self._first < tie))) & (self._left > 0)
        near[tried] = False
        if near.any():
            more = self._costs(record, np.flatnonzero(near))
            rows, costs = np.append(rows, more[0]), np.append(costs, more[1])
            first = _first(rows, costs, count)
        return np.sort(rows[first])

    def _costs(self, record: int, blocks: Ints) -> tuple[Ints, Ints]:
        """The records of some blocks that are left, and their NCP with a record."""
        rows = self._rows[stretches(self._start[blocks], self._size[blocks])]
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
    blocks, open_parts = [], [rows]
    while open_parts:
        part = open_parts.pop()
        if len(part) <= BLOCK:
            blocks.append(part)
            continue
        codes = measure.widest(part)
        middle = np.partition(codes, len(part) // 2)[len(part) // 2]
        lower = codes < middle if middle > codes.min() else codes <= middle
        if lower.all():
            lower = np.arange(len(part)) < len(part) // 2
        open_parts += [part[~lower], part[lower]]
    return blocks


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
