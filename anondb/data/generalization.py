"""The generalization G of a group of records and its cost, NCP, in exact integers
(docs/algorithms/rum_tum_bound.md#g).

G replaces the values of a numeric or date attribute by their range, those of a categorical attribute with a hierarchy by
their lowest common ancestor, and those of a categorical attribute without one by their set. In the order of a hierarchy's
leaves, the lowest common ancestor of a group is that of its first and last leaf. So a range (low, high) describes the
group, and the number of leaves below the ancestor is a range maximum over the ancestors of neighbouring leaves.

NCP is 0 for a single value, else length / domain length, or number of leaves (values) / number of all leaves (values).
NULL is a value like any other. Beside other values it costs 1, the whole domain, except in sets, where it counts as one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.data.records import Attribute, Records
from anondb.data.taxonomy import Taxonomy

Ints = npt.NDArray[np.int64]
Costs = npt.NDArray[Any]  # of int64, or of Python integers where these would overflow
_NOTHING = 2**61  # low end of a group of NULLs; the high end is its negative
_SMALL = 2**62


class _Ancestors:
    """Lowest common ancestors of ranges of leaves. One leaf beyond those of the tree stands for NULL, beside the root."""

    def __init__(self, tree: Taxonomy, leaves: int) -> None:
        nodes = tree.leaves(0)
        self._leaf_nodes = nodes
        meet = np.empty(leaves, dtype=np.int64)  # ancestor of each leaf and the next; -1 if the next is NULL
        meet[:] = -1
        below = nodes[1:] - 1  # an ancestor contains the next leaf if its subtree ends after this node
        at = nodes[:-1].copy()
        if len(at):
            while True:
                up = tree.last[at] <= below
                if not up.any():
                    break
                at = np.where(up, tree.parent[at], at)
            meet[: len(at)] = at
        counts = np.where(meet[:-1] >= 0, tree.leaf_count[np.maximum(meet[:-1], 0)], leaves)
        self._levels = [np.arange(leaves - 1)]  # position of the largest count in each stretch of 2^level
        self._counts, self._meet = counts, meet
        while 2 ** len(self._levels) <= leaves - 1:
            half, previous = 2 ** (len(self._levels) - 1), self._levels[-1]
            a, b = previous[:-half], previous[half:]
            self._levels.append(np.where(counts[a] >= counts[b], a, b))

    def _widest(self, low: Ints, high: Ints) -> Ints:
        """The position between low and high (low < high) where neighbouring leaves have the largest common ancestor."""
        level = np.frexp((high - low).astype(np.float64))[1] - 1
        positions = np.empty(len(low), dtype=np.int64)
        for size in np.unique(level).tolist():
            here = level == size
            table = self._levels[size]
            a, b = table[low[here]], table[high[here] - 2**size]
            positions[here] = np.where(self._counts[a] >= self._counts[b], a, b)
        return positions

    def count(self, low: Ints, high: Ints) -> Ints:
        """The number of leaves below the lowest common ancestor; 0 for a single leaf."""
        counts = np.zeros(len(low), dtype=np.int64)
        several = low < high
        counts[several] = self._counts[self._widest(low[several], high[several])]
        return counts

    def node(self, low: Ints, high: Ints) -> Ints:
        """The lowest common ancestor; -1 for NULL alone, -2 for NULL beside other values."""
        nodes = np.append(self._leaf_nodes, -1)[low]
        several = low < high
        meet = self._meet[self._widest(low[several], high[several])]
        nodes[several] = np.where(meet < 0, -2, meet)
        return nodes


@dataclass
class Groups:
    """The generalized relational values of groups of records.

    Attributes:
        size: number of records of each group.
        low, high: for each attribute, the first and last code (ranges and hierarchies; unused for sets).
        null: for each attribute and group, whether the group has a NULL.
        sets: for each attribute without range or hierarchy, a row of marks (by code) for each group; None for others.
    """

    size: Ints
    low: list[Ints]
    high: list[Ints]
    null: list[npt.NDArray[np.bool_]]
    sets: list[npt.NDArray[np.bool_] | None]

    def take(self, rows: Any) -> Groups:
        """Select some of the groups."""
        return Groups(
            self.size[rows],
            [a[rows] for a in self.low],
            [a[rows] for a in self.high],
            [a[rows] for a in self.null],
            [None if a is None else a[rows] for a in self.sets],
        )

    def union(self, other: Groups) -> Groups:
        """Unite each group with the group of ``other`` at the same position (or with its only group)."""
        return Groups(
            self.size + other.size,
            [np.minimum(a, b) for a, b in zip(self.low, other.low, strict=True)],
            [np.maximum(a, b) for a, b in zip(self.high, other.high, strict=True)],
            [a | b for a, b in zip(self.null, other.null, strict=True)],
            [None if a is None or b is None else a | b for a, b in zip(self.sets, other.sets, strict=True)],
        )

    def put(self, row: int, group: Groups) -> None:
        """Replace one group by the single group of ``group``."""
        self.size[row] = group.size[0]
        for old, new in zip((*self.low, *self.high, *self.null), (*group.low, *group.high, *group.null), strict=True):
            old[row] = new[0]
        for marks, fresh in zip(self.sets, group.sets, strict=True):
            if marks is not None and fresh is not None:
                marks[row] = fresh[0]


class Generalization:
    """The generalization G and its NCP over a table of records.

    Attributes:
        records: the records.
        denominator: the common denominator of all costs; an NCP is ``cost / denominator``.
        dtype: type of cost arrays: int64, or object where sums over all records could overflow int64.
    """

    def __init__(self, records: Records) -> None:
        self.records = records
        self._ancestors = [
            None if a.hierarchy is None else _Ancestors(a.hierarchy, len(a.values)) for a in records.attributes
        ]
        self._step = [_step(a) for a in records.attributes]
        lengths = [a.length // g for a, g in zip(records.attributes, self._step, strict=True)]
        self._length = [max(n, 1) if a.has_null else n for n, a in zip(lengths, records.attributes, strict=True)]
        shares = [a.weight / n if n else Fraction(0) for a, n in zip(records.attributes, self._length, strict=True)]
        self.denominator = math.lcm(1, *(s.denominator for s in shares))
        self._factor = [int(s * self.denominator) for s in shares]
        largest = self.denominator * max(1, math.ceil(sum(a.weight for a in records.attributes)))
        self.dtype: type = np.int64 if largest * 2 * max(records.n, 1) < _SMALL else object

    # ------------------------------------------------------------------ costs

    def _weighted(self, lengths: Sequence[Ints], n: int) -> Costs:
        total: Costs = np.zeros(n, dtype=self.dtype)
        for factor, length in zip(self._factor, lengths, strict=True):
            if factor:
                total += (length if self.dtype is np.int64 else length.astype(object)) * factor
        return total

    def costs(self, groups: Groups) -> Costs:
        """NCP of each group's generalized record, times the denominator."""
        lengths = []
        for i, attribute in enumerate(self.records.attributes):
            lengths.append(self._lengths(i, attribute, groups))
        return self._weighted(lengths, len(groups.size))

    def _lengths(self, i: int, attribute: Attribute, groups: Groups) -> Ints:
        marks, ancestors = groups.sets[i], self._ancestors[i]
        if marks is not None:
            counts = marks.sum(axis=1).astype(np.int64)
            return np.where(counts > 1, counts, 0)
        if ancestors is not None:
            return ancestors.count(groups.low[i], groups.high[i])
        length = np.maximum(groups.high[i] - groups.low[i], 0) // self._step[i]
        mixed = groups.null[i] & (groups.low[i] < _NOTHING)
        return np.where(mixed, self._length[i], length)

    @cached_property
    def _columns(self) -> list[tuple[Ints, npt.NDArray[np.bool_] | None]]:
        """Codes of each attribute (ranges in steps), and marks of its NULLs or None if it has none."""
        columns = []
        for attribute, step in zip(self.records.attributes, self._step, strict=True):
            null = attribute.null if attribute.is_range and attribute.has_null else None
            columns.append((attribute.codes // step if attribute.is_range else attribute.codes, null))
        return columns

    def pair_costs(self, seed: int, rows: Ints) -> Costs:
        """NCP of the group of the seed and one record, for each of the records, times the denominator."""
        lengths = []
        for i, (codes, null) in enumerate(self._columns):
            others, code, ancestors = codes[rows], codes[seed], self._ancestors[i]
            if ancestors is not None:
                every = np.arange(len(self.records.attributes[i].values))
                lengths.append(ancestors.count(np.minimum(every, code), np.maximum(every, code))[others])
            elif not self.records.attributes[i].is_range:
                lengths.append(2 * (others != code).astype(np.int64))
            else:
                length = np.abs(others - code)
                if null is not None:
                    length = np.where(
                        null[rows] != null[seed], self._length[i], np.where(null[rows] & null[seed], 0, length)
                    )
                lengths.append(length)
        return self._weighted(lengths, len(rows))

    # ------------------------------------------------------------------ groups

    def groups(self, members: Sequence[Ints]) -> Groups:
        """Generalize groups of records, none of which may be empty."""
        size = np.array([len(m) for m in members], dtype=np.int64)
        flat = np.concatenate(members) if len(members) else np.empty(0, dtype=np.int64)
        starts = np.cumsum(size) - size
        low, high, nulls, sets = [], [], [], []
        for attribute in self.records.attributes:
            codes, null = attribute.codes[flat], attribute.null[flat]
            marks = None
            if attribute.is_range:
                first = np.minimum.reduceat(np.where(null, _NOTHING, codes), starts) if len(size) else size
                last = np.maximum.reduceat(np.where(null, -_NOTHING, codes), starts) if len(size) else size
            else:
                first = np.minimum.reduceat(codes, starts) if len(size) else size
                last = np.maximum.reduceat(codes, starts) if len(size) else size
                if attribute.hierarchy is None:
                    marks = np.zeros((len(size), len(attribute.values)), dtype=np.bool_)
                    marks[np.repeat(np.arange(len(size)), size), codes] = True
            low.append(first)
            high.append(last)
            nulls.append(np.logical_or.reduceat(null, starts) if len(size) else size.astype(np.bool_))
            sets.append(marks)
        return Groups(size, low, high, nulls, sets)

    def published(self, groups: Groups) -> list[tuple[Any, ...]]:
        """A key of each group's generalized values: groups with equal keys are published with equal values."""
        keys: list[list[Any]] = []
        for i, attribute in enumerate(self.records.attributes):
            marks, ancestors = groups.sets[i], self._ancestors[i]
            if marks is not None:
                keys.append([row.tobytes() for row in np.packbits(marks, axis=1)])
            elif ancestors is not None:
                keys.append(ancestors.node(groups.low[i], groups.high[i]).tolist())
            else:
                assert attribute.is_range
                ends = (groups.low[i].tolist(), groups.high[i].tolist(), groups.null[i].tolist())
                keys.append(list(zip(*ends, strict=True)))
        return list(zip(*keys, strict=True)) if keys else [()] * len(groups.size)

    def nodes(self, i: int, groups: Groups) -> Ints:
        """For an attribute with a hierarchy, the node of each group; -1 for NULL alone, -2 for NULL beside others."""
        ancestors = self._ancestors[i]
        assert ancestors is not None
        return ancestors.node(groups.low[i], groups.high[i])


def _step(attribute: Attribute) -> int:
    """The greatest common divisor of a range's differences and length, which keeps exact costs small."""
    if not attribute.is_range or not attribute.length:
        return 1
    values = np.unique(attribute.codes[~attribute.null])
    return int(np.gcd.reduce(np.append(np.diff(values), attribute.length)))
