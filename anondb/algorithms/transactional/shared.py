"""Shared by Partition and Clump: transactions as leaves of a taxonomy, the class of the empty ones, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Literal

import numpy as np

from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, put_integers, reads
from anondb.engine.arrays import Ints, Words, run_starts
from anondb.errors import InfeasibleError
from anondb.models.transactional import TransactionalK
from anondb.recoding import LocalRecoding

TABLE_CELLS = 1 << 22  # the most cells, depths times nodes, of a table of ancestors; beyond, they are searched
PLACE = 0xD1B54A32D192ED03
MIXING = ((0xBF58476D1CE4E5B9, 27), (0x94D049BB133111EB, 31))  # the rounds of SplitMix64


def check(dataset: Dataset, model: TransactionalK) -> None:
    """Raise an ``InfeasibleError`` if there are fewer than k transactions, so that no class can have k members."""
    if 0 < dataset.n_transactions < model.k:
        raise InfeasibleError(
            f"There are only {dataset.n_transactions} transactions, but every class needs at least {model.k}.",
            hint="Lower k.",
        )


def to_absorb(dataset: Dataset, tids: Ints, lengths: Ints, k: int) -> Ints:
    """Choose the transactions to empty so that those without items are a class of at least k; none if they are already. The
    cheapest are chosen, which are the shortest (tie: input order). If fewer than k would be left, these are too. ``tids,
    lengths`` are those with items, and their numbers of occurrences."""
    empty = dataset.n_transactions - len(tids)
    missing = k - empty if 0 < empty < k else 0
    if 0 < len(tids) - missing < k:
        missing = len(tids)
    return tids[np.lexsort((tids, lengths))[:missing]]


def numbered(values: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Number the distinct runs of values, which follow each other, in the order of their first appearance; return the number
    of each run, and the first run of each number. Runs are sorted by a 64-bit digest, and each is compared with the first
    run of its digest: if two different runs share one, other digests are computed, so the result is exact."""
    starts = np.cumsum(lengths) - lengths
    rows = np.arange(len(values))
    for attempt in count():
        digest = _digests(values, rows - np.repeat(starts, lengths), starts, lengths, attempt)
        order = np.argsort(digest)  # a stable sort takes five times as long
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = digest[order[1:]] != digest[order[:-1]]
        example = np.empty(len(order), dtype=np.int64)  # the first run with the digest of each run
        if len(order):
            example[order] = np.minimum.reduceat(order, np.flatnonzero(new))[np.cumsum(new) - 1]
        if np.array_equal(lengths[example], lengths) and np.array_equal(
            values[rows + np.repeat(starts[example] - starts, lengths)], values
        ):
            break
    is_first = example == np.arange(len(example))
    return (np.cumsum(is_first) - 1)[example], np.flatnonzero(is_first)


def _digests(values: Ints, place: Ints, starts: Ints, lengths: Ints, attempt: int) -> Words:
    """A digest of each run: the sum of a mixing function of each value and its place in the run."""
    mixed = place.view(np.uint64) * np.uint64(PLACE)
    mixed += values.view(np.uint64)
    mixed += np.uint64(attempt)
    for multiplier, shift in MIXING:
        mixed *= np.uint64(multiplier)
        mixed ^= mixed >> np.uint64(shift)
    running = np.zeros(len(mixed) + 1, dtype=np.uint64)
    np.cumsum(mixed, out=running[1:])
    return np.asarray(running[starts + lengths] - running[starts])


def items_of(start: Ints, size: Ints) -> Ints:
    """The positions of the items of rows, by their starts and sizes; no row may be empty."""
    ends = np.cumsum(size)
    steps = np.ones(int(ends[-1]) if len(ends) else 0, dtype=np.int64)  # from each item to the next
    if len(ends):
        steps[0] = start[0]
        steps[ends[:-1]] = start[1:] - (start[:-1] + size[:-1] - 1)
    return np.cumsum(steps, out=steps)


def ranked(values: Ints, of: Ints) -> Ints:
    """The position of each set of non-negative values in the order of their sorted values; equal sets have equal positions.
    ``of`` is the set of each value; sets are numbered from 0, and none is empty."""
    values = values[np.lexsort((values, of))]
    length = np.bincount(of)
    start: Ints = np.cumsum(length) - length
    position = np.zeros(len(length), dtype=np.int64)
    tied, depth = np.arange(len(length)), 0
    while len(tied):
        value = np.where(depth < length[tied], values[np.minimum(start[tied] + depth, len(values) - 1)], -1)
        order = np.lexsort((value, position[tied]))
        tied, value = tied[order], value[order]
        before = position[tied]
        moves = np.append(True, before[1:] != before[:-1])
        new = moves | np.append(True, value[1:] != value[:-1])
        at = np.arange(len(tied))
        position[tied] += np.maximum.accumulate(np.where(new, at, 0)) - np.maximum.accumulate(np.where(moves, at, 0))
        tied = tied[~(new & np.append(new[1:], True)) & (value >= 0)]
        depth += 1
    return position


@dataclass(frozen=True, eq=False, repr=False)
class Steps:
    """Finds the child of a node on the path to a leaf, for many nodes at once."""

    label_rank: Ints  # the position of each node in code-point order of the labels
    # ordinal, siblings: the position of each node among the children of its parent, and their number
    ordinal: Ints
    siblings: Ints
    _below: Ints
    _keys: Ints
    _by_depth: Ints
    _table: Ints | None

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> Steps:
        """Build the arrays for a taxonomy."""
        size = taxonomy.size
        label_rank = np.argsort(sorted(range(size), key=taxonomy.labels.__getitem__))
        by_depth = np.argsort(taxonomy.depth, kind="stable")  # the children of a node are adjacent, in their order
        parent = taxonomy.parent[by_depth]
        starts = run_starts(parent)
        counts = np.diff(np.append(starts, size))
        ordinal, siblings = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        ordinal[by_depth] = np.arange(size) - np.repeat(starts, counts)
        siblings[by_depth] = np.repeat(counts, counts)
        keys = taxonomy.depth[by_depth] * size + by_depth
        levels = np.arange(int(taxonomy.depth.max()) + 1)[:, np.newaxis]
        table = None
        if len(levels) * size <= TABLE_CELLS:  # the last node of each depth up to each node in preorder
            table = np.maximum.accumulate(np.where(taxonomy.depth == levels, np.arange(size), 0), axis=1).ravel()
        return cls(label_rank, ordinal, siblings, (taxonomy.depth + 1) * size, keys, by_depth, table)

    def down(self, node: Ints, size: Ints, leaf: Ints) -> Ints:
        """For each leaf the child of its node that contains it; node i has ``size[i]`` consecutive leaves."""
        key = np.repeat(self._below[node], size)
        key += leaf
        if self._table is not None:
            return self._table.take(key)
        return np.asarray(self._by_depth[np.searchsorted(self._keys, key, side="right") - 1])


@dataclass(frozen=True, eq=False, repr=False)
class Contents:
    """The distinct non-empty transactions, as leaves of a taxonomy in preorder."""

    # of, leaf: the distinct transaction (from 0) and the leaf of each item, sorted
    of: Ints
    leaf: Ints
    weight: Ints  # the number of transactions in the data that equal each distinct one
    # tids, content: the non-empty transactions of the data, and the distinct one that each equals
    tids: Ints
    content: Ints

    @classmethod
    def load(cls, engine: Engine, dataset: Dataset, taxonomy: Taxonomy) -> Contents:
        """Read the transactions of a dataset."""
        occurrences = engine.select(reads.rows(dataset.transactions, "tid, item"))
        rows = occurrences["tid"].astype(np.int64) << 32
        rows |= taxonomy.leaf_nodes(dataset)[occurrences["item"]]
        rows.sort()
        return cls._from_rows(rows >> 32, rows & 0xFFFFFFFF)

    @classmethod
    def _from_rows(cls, tid: Ints, leaf: Ints) -> Contents:
        starts = run_starts(tid)
        lengths = np.diff(np.append(starts, len(tid)))
        content, first = numbered(leaf, lengths)
        is_first = np.zeros(len(starts), dtype=np.bool_)
        is_first[first] = True
        of = np.repeat(np.arange(len(first)), lengths[first])
        weight = np.bincount(content, minlength=len(first))
        return cls(of, leaf[np.repeat(is_first, lengths)], weight, tid[starts], content)

    @property
    def number(self) -> int:
        """The number of distinct transactions."""
        return len(self.weight)

    def items(self, contents: Ints) -> tuple[Ints, Ints]:
        """The positions of the items of these transactions, one after the other, and the place of each in ``contents``."""
        first = np.searchsorted(self.of, contents)
        length = np.searchsorted(self.of, contents, side="right") - first
        return items_of(first, length), np.repeat(np.arange(len(contents)), length)

    @cached_property
    def lengths(self) -> Ints:
        """The number of items of each non-empty transaction of the data."""
        return np.bincount(self.of, minlength=self.number)[self.content]

    def without(self, tids: Ints) -> Contents:
        """A copy without some transactions of the data."""
        if not len(tids):
            return self
        stays = ~np.isin(self.tids, tids)
        weight = np.bincount(self.content[stays], minlength=self.number)
        number = np.cumsum(weight > 0) - 1
        rows = weight[self.of] > 0
        return Contents(
            number[self.of[rows]], self.leaf[rows], weight[weight > 0], self.tids[stays], number[self.content[stays]]
        )


def node_recoding(
    engine: Engine,
    taxonomy: Taxonomy,
    rows: tuple[Ints, Ints, Ints],
    members: tuple[Ints, Ints],
    *,
    incomplete: Ints,
    semantics: Literal["set", "atomic"],
    remarks: Sequence[str] = (),
) -> LocalRecoding:
    """Build the local recoding that publishes all transactions of a group as the same nodes of a taxonomy.

    Args:
        rows: group, node and copies, one row for each published node of a group.
        members: transaction and group of each transaction that has a group; the others are published without items.
        incomplete: the transactions of classes in which something may have been suppressed.
        semantics, remarks: see ``LocalRecoding``.
    """
    group, node, copies = rows
    used, released = np.unique(node, return_inverse=True)
    content = put_integers(engine, "group_rows", grp=group, released=released, copies=copies)
    of = put_integers(engine, "group_members", tid=members[0], grp=members[1])
    published = engine.create("recoded", reads.joined(of, content, "grp", "one.tid, other.released, other.copies"))
    engine.drop(content, of)
    member_of, member_labels = taxonomy.labels_below(used)
    return LocalRecoding(
        transactions=published,
        incomplete=incomplete,
        labels=tuple(taxonomy.labels[n] for n in used.tolist()),
        member_of=member_of,
        member_labels=member_labels,
        semantics=semantics,
        remarks=tuple(remarks),
    )
