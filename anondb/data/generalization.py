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
from anondb.engine.arrays import Flags, Ints, Words

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

    def reach(self, low: int, high: int) -> tuple[Ints, Ints]:
        """For each leaf, the leaves below its lowest common ancestor with a range: if it were the low end, if the high one.
        The number for the union with another range is the larger one of its two ends; a leaf inside widens nothing."""
        own = int(self._counts[low:high].max(initial=0))
        below = np.full(len(self._counts) + 1, own, dtype=np.int64)
        above = below.copy()
        below[:low] = np.maximum(np.maximum.accumulate(self._counts[:low][::-1])[::-1], own)
        above[high + 1 :] = np.maximum(np.maximum.accumulate(self._counts[high:]), own)
        return below, above

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
    """The generalized relational values of groups of records."""

    size: Ints  # number of records of each group, as integers of the type of costs
    # low, high: for each attribute, the first and last code (ranges and hierarchies; unused for sets)
    low: list[Ints]
    high: list[Ints]
    null: list[Flags]  # for each attribute and group, whether the group has a NULL
    # for each attribute without range or hierarchy, a row of marks for each group, as bits: code c is bit c % 64 of
    # word c // 64; None for others
    sets: list[Words | None]

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

    def unite(self, row: int, other: int) -> None:
        """Replace one group by its union with another."""
        self.size[row] += self.size[other]
        for low, high, null, marks in zip(self.low, self.high, self.null, self.sets, strict=True):
            low[row], high[row] = min(low[row], low[other]), max(high[row], high[other])
            null[row] |= null[other]
            if marks is not None:
                marks[row] |= marks[other]

    def put(self, row: int, group: Groups) -> None:
        """Replace one group by the single group of ``group``."""
        self.size[row] = group.size[0]
        for old, new in zip((*self.low, *self.high, *self.null), (*group.low, *group.high, *group.null), strict=True):
            old[row] = new[0]
        for marks, fresh in zip(self.sets, group.sets, strict=True):
            if marks is not None and fresh is not None:
                marks[row] = fresh[0]


class Generalization:
    """The generalization G and its NCP over a table of records."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self._ancestors = [
            None if a.hierarchy is None else _Ancestors(a.hierarchy, len(a.values)) for a in records.attributes
        ]
        self._step = [_step(a) for a in records.attributes]
        lengths = [a.length // g for a, g in zip(records.attributes, self._step, strict=True)]
        self._length = [max(n, 1) if a.has_null else n for n, a in zip(lengths, records.attributes, strict=True)]
        shares = [a.weight / n if n else Fraction(0) for a, n in zip(records.attributes, self._length, strict=True)]
        # the common denominator of all costs; an NCP is ``cost / denominator``
        self.denominator = math.lcm(1, *(s.denominator for s in shares))
        self._factor = [int(s * self.denominator) for s in shares]
        # more than any cost
        self.beyond = self.denominator * max(1, math.ceil(sum(a.weight for a in records.attributes))) + 1
        # type of cost arrays: int64, or object where sums over all records could overflow int64
        self.dtype: type = np.int64 if self.beyond * 2 * max(records.n, 1) < _SMALL else object

    def _weighted(self, lengths: Sequence[Ints], n: int) -> Costs:
        total: Costs = np.zeros(n, dtype=self.dtype)
        for factor, length in zip(self._factor, lengths, strict=True):
            if factor:
                total += np.multiply(length, factor, dtype=self.dtype)
        return total

    def costs(self, groups: Groups) -> Costs:
        """NCP of each group's generalized record, times the denominator."""
        lengths = [self._lengths(i, groups) for i in range(len(self.records.attributes))]
        return self._weighted(lengths, len(groups.size))

    def _lengths(self, i: int, groups: Groups) -> Ints:
        marks, ancestors = groups.sets[i], self._ancestors[i]
        if marks is not None:
            return _set_sizes(marks)
        if ancestors is not None:
            return ancestors.count(groups.low[i], groups.high[i])
        return self._range_codes(i, groups.low[i], groups.high[i], groups.null[i])

    def _range_codes(self, i: int, low: Ints, high: Ints, null: Flags) -> Ints:
        length = high - low
        if self._step[i] > 1:
            length //= self._step[i]
        if not self.records.attributes[i].has_null:
            return length
        return np.where(null & (low < _NOTHING), self._length[i], np.maximum(length, 0))

    def union_costs(self, groups: Groups, single: Groups) -> Costs:
        """NCP of the union of each group with a single one, times the denominator: ``costs(groups.union(single))``, in
        less time."""
        lengths = []
        for i in range(len(self.records.attributes)):
            marks, ancestors, fixed = groups.sets[i], self._ancestors[i], single.sets[i]
            if marks is not None and fixed is not None:
                lengths.append(_set_sizes(marks | fixed))
            elif ancestors is not None:
                below, above = ancestors.reach(int(single.low[i][0]), int(single.high[i][0]))
                lengths.append(np.maximum(below[groups.low[i]], above[groups.high[i]]))
            else:
                low, high = np.minimum(groups.low[i], single.low[i]), np.maximum(groups.high[i], single.high[i])
                lengths.append(self._range_codes(i, low, high, groups.null[i] | single.null[i]))
        return self._weighted(lengths, len(groups.size))

    @cached_property
    def _columns(self) -> list[tuple[Ints, Flags | None]]:
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
                lengths.append(np.maximum(*ancestors.reach(int(code), int(code)))[others])
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

    def groups(self, members: Sequence[Ints]) -> Groups:
        """Generalize groups of records, none of which may be empty."""
        size = np.array([len(m) for m in members], dtype=np.int64)
        flat = np.concatenate(members) if len(members) else np.empty(0, dtype=np.int64)
        starts = np.cumsum(size) - size
        low, high, nulls, sets = [], [], [], []
        for attribute, (lows, highs) in zip(self.records.attributes, self._ends, strict=True):
            null, marks = attribute.null[flat], None
            low.append(np.minimum.reduceat(lows[flat], starts) if len(size) else size)
            high.append(np.maximum.reduceat(highs[flat], starts) if len(size) else size)
            if not attribute.is_range and attribute.hierarchy is None:
                marks = _bits(np.repeat(np.arange(len(size)), size), lows[flat], len(size), len(attribute.values))
            nulls.append(np.logical_or.reduceat(null, starts) if len(size) else size.astype(np.bool_))
            sets.append(marks)
        return Groups(size.astype(self.dtype), low, high, nulls, sets)

    def record(self, record: int) -> Groups:
        """The group of a single record."""
        here = slice(record, record + 1)
        low, high, nulls, sets = [], [], [], []
        for attribute, (lows, highs) in zip(self.records.attributes, self._ends, strict=True):
            low.append(lows[here])
            high.append(highs[here])
            nulls.append(attribute.null[here])
            is_set = not attribute.is_range and attribute.hierarchy is None
            sets.append(_bits(np.zeros(1, np.int64), lows[here], 1, len(attribute.values)) if is_set else None)
        return Groups(np.ones(1, dtype=self.dtype), low, high, nulls, sets)

    @cached_property
    def _ends(self) -> list[tuple[Ints, Ints]]:
        """For each attribute, the first and last code of each record; NULLs of a range are beyond all."""
        ends = []
        for attribute in self.records.attributes:
            low = high = attribute.codes
            if attribute.is_range and attribute.has_null:
                low, high = (np.where(attribute.null, end, attribute.codes) for end in (_NOTHING, -_NOTHING))
            ends.append((low, high))
        return ends

    def cores(self, flat: Ints, starts: Ints) -> Groups:
        """The core of each part: a group whose union with any other group costs no more than the union of this other group
        with any record of the part. Parts begin at ``starts`` in the records ``flat``."""
        low, high, nulls, sets = [], [], [], []
        for attribute, (lows, highs) in zip(self.records.attributes, self._ends, strict=True):
            null, marks = attribute.null[flat], None
            low.append(np.maximum.reduceat(lows[flat], starts))
            high.append(np.minimum.reduceat(highs[flat], starts))
            if not attribute.is_range and attribute.hierarchy is None:
                equal = np.flatnonzero(low[-1] == high[-1])
                marks = _bits(equal, low[-1][equal], len(starts), len(attribute.values))
            nulls.append(np.logical_and.reduceat(null, starts))
            sets.append(marks)
        return Groups(np.ones(len(starts), dtype=self.dtype), low, high, nulls, sets)

    def widest(self, rows: Ints) -> Ints:
        """The codes of these records in the attribute by which two of them can differ most, by NCP; zeros without any."""
        if not self._columns:
            return np.zeros(len(rows), dtype=np.int64)
        spread = []
        for (codes, _), ancestors, attribute, factor in zip(
            self._columns, self._ancestors, self.records.attributes, self._factor, strict=True
        ):
            low, high = int(codes[rows].min()), int(codes[rows].max())
            length = high - low if attribute.is_range else 2 * (low < high)
            if ancestors is not None:
                length = int(ancestors.reach(low, low)[1][high])
            spread.append(length * factor)
        return self._columns[spread.index(max(spread))][0][rows]

    def published(self, groups: Groups) -> list[tuple[Any, ...]]:
        """A key of each group's generalized values: groups with equal keys are published with equal values."""
        keys: list[list[Any]] = []
        for i, attribute in enumerate(self.records.attributes):
            marks, ancestors = groups.sets[i], self._ancestors[i]
            if marks is not None:
                keys.append([row.tobytes() for row in marks])
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


def _bits(row: Ints, code: Ints, rows: int, codes: int) -> Words:
    """Rows of marks as bits, with a mark at each of these rows and codes."""
    words = np.zeros((rows, -(-codes // 64)), dtype=np.uint64)
    np.bitwise_or.at(words, (row, code >> 6), np.uint64(1) << (code & 63).astype(np.uint64))
    return words


def marked(words: Words) -> Ints:
    """The codes that are marked in a row of ``Groups.sets``."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))


def _set_sizes(marks: Words) -> Ints:
    """The number of values of each set; 0 for a single one."""
    counts: Ints = np.bitwise_count(marks[:, 0])  # of one byte each, which suffices for a word
    for word in range(1, marks.shape[1]):  # few; a sum along rows takes longer
        counts = counts + np.bitwise_count(marks[:, word]).astype(np.int64)
    return counts * (counts > 1)


def _step(attribute: Attribute) -> int:
    """The greatest common divisor of a range's differences and length, which keeps exact costs small."""
    if not attribute.is_range or not attribute.length:
        return 1
    values = np.unique(attribute.codes[~attribute.null])
    return int(np.gcd.reduce(np.append(np.diff(values), attribute.length)))
