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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.data.records import Attribute, Records
from anondb.data.taxonomy import Taxonomy
from anondb.engine.arrays import Ints, Words

Costs = npt.NDArray[Any]  # of int64, or of Python integers where these would overflow
_NOTHING = 2**61  # low end of a group of NULLs; the high end is its negative
_SMALL = 2**62


class _Ancestors:
    """Lowest common ancestors of ranges of leaves. One leaf beyond those of the tree stands for NULL, beside the root."""

    def __init__(self, tree: Taxonomy, leaves: int) -> None:
        self._leaf_nodes = nodes = tree.leaves(0)
        below = nodes[1:] - 1  # an ancestor contains the next leaf if its subtree ends after this node
        at = nodes[:-1]
        while (up := tree.last[at] <= below).any():
            at = np.where(up, tree.parent[at], at)
        self._meet = np.full(leaves, -1)  # ancestor of each leaf and the next; -1 if the next is NULL
        self._meet[: len(at)] = at
        self._counts = np.where(self._meet[:-1] >= 0, tree.leaf_count[self._meet[:-1]], leaves)
        self._levels = [np.arange(leaves - 1)]  # position of the largest count in each stretch of 2^level
        while 2 ** len(self._levels) <= leaves - 1:
            half, previous = 2 ** (len(self._levels) - 1), self._levels[-1]
            self._levels.append(self._wider(previous[:-half], previous[half:]))

    def _wider(self, a: Ints, b: Ints) -> Ints:
        return np.where(self._counts[a] >= self._counts[b], a, b)

    def _widest(self, low: Ints, high: Ints) -> Ints:
        """The position between low and high (low < high) where neighbouring leaves have the largest common ancestor."""
        level = np.frexp((high - low).astype(np.float64))[1] - 1
        positions = np.empty(len(low), dtype=np.int64)
        for size in np.unique(level).tolist():
            here = level == size
            table = self._levels[size]
            positions[here] = self._wider(table[low[here]], table[high[here] - 2**size])
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
    # a row for the first code of each attribute, then one for each last code, negated: a union has the lesser of both
    ends: Ints
    # marks as bits, in rows that ``Generalization.marks`` knows: of the values of an attribute without range or hierarchy,
    # where code c is bit c % 64 of row c // 64, or of a range's NULL, which is bit 0; a union has those of both
    marks: Words

    def low(self, i: int) -> Ints:
        """The first code of an attribute in each group."""
        return np.asarray(self.ends[i])

    def high(self, i: int) -> Ints:
        """The last code of an attribute in each group."""
        return np.asarray(-self.ends[len(self.ends) // 2 + i])

    def take(self, rows: Any) -> Groups:
        """Select some of the groups."""
        return Groups(self.size[rows], self.ends[:, rows], self.marks[:, rows])

    def union(self, other: Groups) -> Groups:
        """Unite each group with the group of ``other`` at the same position (or with its only group)."""
        return Groups(self.size + other.size, np.minimum(self.ends, other.ends), self.marks | other.marks)

    def unite(self, row: int, other: int) -> None:
        """Replace one group by its union with another."""
        self.put(row, self.take([row]).union(self.take([other])))

    def put(self, row: int, group: Groups) -> None:
        """Replace one group by the single group of ``group``."""
        self.size[row], self.ends[:, row], self.marks[:, row] = group.size[0], group.ends[:, 0], group.marks[:, 0]


class Generalization:
    """The generalization G and its NCP over a table of records."""

    def __init__(self, records: Records) -> None:
        self.records, attributes = records, records.attributes
        self._ancestors = [None if a.hierarchy is None else _Ancestors(a.hierarchy, len(a.values)) for a in attributes]
        self._step = [_step(a) for a in attributes]
        self._has_null = [a.is_range and a.has_null for a in attributes]
        lengths = [a.length // step for a, step in zip(attributes, self._step, strict=True)]
        self._length = [max(n, 1) if a.has_null else n for n, a in zip(lengths, attributes, strict=True)]
        shares = [a.weight / n if n else Fraction(0) for a, n in zip(attributes, self._length, strict=True)]
        # the common denominator of all costs; an NCP is ``cost / denominator``
        self.denominator = math.lcm(1, *(s.denominator for s in shares))
        self._factor = [int(s * self.denominator) for s in shares]
        # more than any cost
        self.beyond = self.denominator * max(1, math.ceil(sum(a.weight for a in attributes))) + 1
        # type of cost arrays: int64, or object where sums over all records could overflow int64
        self.dtype: type = np.int64 if self.beyond * 2 * max(records.n, 1) < _SMALL else object
        rows = [1 if a.is_range else 0 if a.hierarchy is not None else -(-len(a.values) // 64) for a in attributes]
        self._rows = [slice(end - n, end) for n, end in zip(rows, np.cumsum(rows).tolist(), strict=True)]

    def marks(self, i: int, groups: Groups) -> Words:
        """The rows of ``Groups.marks`` of an attribute."""
        return groups.marks[self._rows[i]]

    def _weighted(self, lengths: Iterable[Ints], n: int) -> Costs:
        total: Costs = np.zeros(n, dtype=self.dtype)
        for factor, length in zip(self._factor, lengths, strict=True):
            if factor:
                total += np.multiply(length, factor, dtype=self.dtype)
        return total

    def costs(self, groups: Groups) -> Costs:
        """NCP of each group's generalized record, times the denominator."""
        return self.union_costs(groups, None)

    def union_costs(self, groups: Groups, single: Groups | None) -> Costs:
        """NCP of the union of each group with a single one, if there is one, times the denominator."""
        return self._weighted((self._lengths(i, groups, single) for i in range(len(self._factor))), len(groups.size))

    def _lengths(self, i: int, groups: Groups, single: Groups | None) -> Ints:
        """The length of each range, or the number of values of each set, or of leaves below each ancestor; 0 for a single
        value."""
        if (ancestors := self._ancestors[i]) is not None:
            if single is None:
                return ancestors.count(groups.low(i), groups.high(i))
            below, above = ancestors.reach(int(single.low(i)[0]), int(single.high(i)[0]))
            return np.asarray(np.maximum(below[groups.low(i)], above[groups.high(i)]))
        is_range, marks = self.records.attributes[i].is_range, self.marks(i, groups)
        if single is not None and not (is_range and not self._has_null[i]):
            marks = marks | self.marks(i, single)
        if not is_range:
            held = np.bitwise_count(marks)
            counts = held[0] if len(held) == 1 else held.sum(axis=0, dtype=np.int64)
            return np.asarray(counts * (counts > 1))
        low, negated = groups.ends[i], groups.ends[i - len(self._factor)]
        if single is not None:
            low, negated = np.minimum(low, single.ends[i]), np.minimum(negated, single.ends[i - len(self._factor)])
        length = np.negative(low + negated)
        if self._step[i] > 1:
            length //= self._step[i]
        if self._has_null[i]:
            beside_null = marks[0].astype(np.bool_) & (low < _NOTHING)
            length = np.where(beside_null, self._length[i], np.maximum(length, 0))
        return np.asarray(length)

    @cached_property
    def _codes(self) -> list[Ints]:
        """Codes of each attribute, those of ranges in steps."""
        return [
            a.codes // step if a.is_range else a.codes for a, step in zip(self.records.attributes, self._step, strict=True)
        ]

    def pair_costs(self, seed: int, rows: Ints) -> Costs:
        """NCP of the group of the seed and one record, for each of the records, times the denominator."""
        lengths = []
        for i, (codes, attribute) in enumerate(zip(self._codes, self.records.attributes, strict=True)):
            others, code, ancestors = codes[rows], codes[seed], self._ancestors[i]
            if ancestors is not None:
                length = np.maximum(*ancestors.reach(int(code), int(code)))[others]
            elif not attribute.is_range:
                length = 2 * (others != code).astype(np.int64)
            else:
                length = np.abs(others - code)
                if self._has_null[i]:
                    length = np.where(attribute.null[rows] != attribute.null[seed], self._length[i], length)
            lengths.append(length)
        return self._weighted(lengths, len(rows))

    def groups(self, members: Sequence[Ints]) -> Groups:
        """Generalize groups of records, none of which may be empty."""
        size = np.array([len(m) for m in members], dtype=np.int64)
        flat = np.concatenate(members) if len(members) else np.empty(0, dtype=np.int64)
        return self._grouped(flat, np.cumsum(size) - size, size)

    def record(self, record: int) -> Groups:
        """The group of a single record."""
        return self.groups([np.array([record])])

    def cores(self, flat: Ints, starts: Ints) -> Groups:
        """The core of each part: a group whose union with any other group costs no more than the union of this other group
        with any record of the part. Parts begin at ``starts`` in the records ``flat``."""
        return self._grouped(flat, starts, np.ones(len(starts), dtype=np.int64), core=True)

    def _grouped(self, flat: Ints, starts: Ints, size: Ints, *, core: bool = False) -> Groups:
        """What any record of each part has or, for the core, what all have."""
        least, have = (np.maximum, np.bitwise_and) if core else (np.minimum, np.bitwise_or)
        ends = np.array([least.reduceat(end[flat], starts) for end in self._ends], dtype=np.int64).reshape(-1, len(starts))
        groups = Groups(
            size.astype(self.dtype), ends, np.zeros((sum(r.stop - r.start for r in self._rows), len(starts)), np.uint64)
        )
        for i, attribute in enumerate(self.records.attributes):
            marks = self.marks(i, groups)
            if attribute.is_range:
                marks[0] = have.reduceat(attribute.null[flat], starts)
            elif attribute.hierarchy is None:
                part, codes = np.repeat(np.arange(len(size)), size), attribute.codes[flat]
                if core:
                    part = np.flatnonzero(groups.low(i) == groups.high(i))
                    codes = groups.low(i)[part]
                np.bitwise_or.at(marks, (codes >> 6, part), np.uint64(1) << (codes & 63).astype(np.uint64))
        return groups

    @cached_property
    def _ends(self) -> list[Ints]:
        """``Groups.ends`` of each record; NULLs of a range are beyond all."""
        return [
            np.where(a.null, _NOTHING, sign * a.codes) if has_null else sign * a.codes
            for sign in (1, -1)
            for a, has_null in zip(self.records.attributes, self._has_null, strict=True)
        ]

    def widest(self, rows: Ints) -> Ints:
        """The codes of these records in the attribute by which two of them can differ most, by NCP; zeros without any."""
        spread = []
        for codes, ancestors, attribute, factor in zip(
            self._codes, self._ancestors, self.records.attributes, self._factor, strict=True
        ):
            low, high = int(codes[rows].min()), int(codes[rows].max())
            length = high - low if attribute.is_range else 2 * (low < high)
            if ancestors is not None:
                length = int(ancestors.reach(low, low)[1][high])
            spread.append(length * factor)
        return self._codes[spread.index(max(spread))][rows] if spread else np.zeros(len(rows), dtype=np.int64)

    def published(self, groups: Groups) -> list[tuple[Any, ...]]:
        """A key of each group's generalized values: groups with equal keys are published with equal values."""
        keys: list[list[Any]] = []
        for i, attribute in enumerate(self.records.attributes):
            marks = self.marks(i, groups)
            if attribute.hierarchy is not None:
                keys.append(self.nodes(i, groups).tolist())
            elif attribute.is_range:
                keys.append(list(zip(groups.low(i).tolist(), groups.high(i).tolist(), marks[0].tolist(), strict=True)))
            else:
                keys.append([row.tobytes() for row in marks.T])
        return list(zip(*keys, strict=True)) if keys else [()] * len(groups.size)

    def nodes(self, i: int, groups: Groups) -> Ints:
        """For an attribute with a hierarchy, the node of each group; -1 for NULL alone, -2 for NULL beside others."""
        ancestors = self._ancestors[i]
        assert ancestors is not None
        return ancestors.node(groups.low(i), groups.high(i))


def marked(marks: Words) -> Ints:
    """The codes that are marked in one group's column of ``Groups.marks``."""
    return np.flatnonzero(np.unpackbits(np.ascontiguousarray(marks).view(np.uint8), bitorder="little"))


def _step(attribute: Attribute) -> int:
    """The greatest common divisor of a range's differences and length, which keeps exact costs small."""
    if not attribute.is_range or not attribute.length:
        return 1
    values = np.unique(attribute.codes[~attribute.null])
    return int(np.gcd.reduce(np.append(np.diff(values), attribute.length)))
