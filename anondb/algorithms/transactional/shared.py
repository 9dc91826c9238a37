"""What Partition and Clump share: transactions as leaves of a taxonomy, the class of the empty ones, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Literal

import numpy as np
import numpy.typing as npt

from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.errors import InfeasibleError, InputError
from anondb.models.transactional import TransactionalK
from anondb.recoding import Decision, LocalRecoding

Ints = npt.NDArray[np.int64]

EMPTY_RULES = ("absorb", "keep")
TABLE_CELLS = 1 << 22  # depths times nodes for which ancestors are looked up in a table; else they are searched
PLACE = 0xD1B54A32D192ED03
MIXING = ((0xBF58476D1CE4E5B9, 27), (0x94D049BB133111EB, 31))  # the rounds of SplitMix64


def check(dataset: Dataset, model: TransactionalK, empty: str) -> None:
    """Refuse what no algorithm can do.

    Raises:
        InfeasibleError: fewer than k transactions, of which no class can have k members, whatever is suppressed.
        InputError: ``bad_parameter``: no such rule for transactions without items.
    """
    if empty not in EMPTY_RULES:
        raise InputError(f"empty_transactions must be absorb or keep, not {empty!r}.", code="bad_parameter")
    if 0 < dataset.n_transactions < model.k:
        raise InfeasibleError(
            f"There are {dataset.n_transactions} transactions, so none can have {model.k - 1} twins.",
            hint="Lower k.",
        )


def to_absorb(dataset: Dataset, tids: Ints, lengths: Ints, k: int) -> Ints:
    """The transactions that are emptied so that those without items are a class of their own, none if they are already.

    The cheapest ones are taken, which are the shortest (tie: input order). Where fewer than k would be left, so are they.

    Args:
        dataset: the transactions.
        tids, lengths: those with items, and how many occurrences of items they have.
        k: the least size of a class.
    """
    empty = dataset.n_transactions - len(tids)
    missing = k - empty if 0 < empty < k else 0
    if 0 < len(tids) - missing < k:
        missing = len(tids)
    return tids[np.lexsort((tids, lengths))[:missing]]


def numbered(values: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Number the runs of these lengths that the values consist of, in the order in which different ones first appear.

    Runs are sorted by a 64-bit digest, and each is compared with the first of its digest: should two different runs share
    one, others are taken, so that the numbers are exact.

    Returns:
        The number of each run, the same for equal ones; and the first run of each number.
    """
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


def _digests(values: Ints, place: Ints, starts: Ints, lengths: Ints, attempt: int) -> npt.NDArray[np.uint64]:
    """A digest of each run: the sum of what a mixing function makes of each value and its place in the run."""
    mixed = place.view(np.uint64) * np.uint64(PLACE)
    mixed += values.view(np.uint64)
    mixed += np.uint64(attempt)
    for multiplier, shift in MIXING:
        mixed *= np.uint64(multiplier)
        mixed ^= mixed >> np.uint64(shift)
    sums = np.zeros(len(mixed) + 1, dtype=np.uint64)
    np.cumsum(mixed, out=sums[1:])
    return np.asarray(sums[starts + lengths] - sums[starts])


@dataclass(frozen=True, eq=False, repr=False)
class Steps:
    """One step down a taxonomy, for many nodes at once.

    Attributes:
        label_rank: position of each node in code-point order of the labels.
        ordinal, siblings: position of each node among its siblings, itself included, and how many they are.
    """

    label_rank: Ints
    ordinal: Ints
    siblings: Ints
    _below: Ints
    _keys: Ints
    _by_depth: Ints
    _table: Ints | None

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> Steps:
        """The steps of a taxonomy."""
        size = taxonomy.size
        label_rank = np.empty(size, dtype=np.int64)
        label_rank[sorted(range(size), key=taxonomy.labels.__getitem__)] = np.arange(size)
        by_depth = np.argsort(taxonomy.depth, kind="stable")  # the children of a node follow each other, in their order
        parent = taxonomy.parent[by_depth]
        starts = np.flatnonzero(np.concatenate(([True], parent[1:] != parent[:-1])))
        counts = np.diff(np.append(starts, size))
        ordinal, siblings = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        ordinal[by_depth] = np.arange(size) - np.repeat(starts, counts)
        siblings[by_depth] = np.repeat(counts, counts)
        keys = taxonomy.depth[by_depth] * size + by_depth
        levels = np.arange(int(taxonomy.depth.max()) + 1)[:, np.newaxis]
        table = None
        if len(levels) * size <= TABLE_CELLS:  # the node of each depth that comes last before each node, or is it
            table = np.maximum.accumulate(np.where(taxonomy.depth == levels, np.arange(size), 0), axis=1).ravel()
        return cls(label_rank, ordinal, siblings, (taxonomy.depth + 1) * size, keys, by_depth, table)

    def down(self, node: Ints, size: Ints, leaf: Ints) -> Ints:
        """The child of each node that each of its leaves lies in: ``size`` leaves below the first node, and so on."""
        key = np.repeat(self._below[node], size)
        key += leaf
        if self._table is not None:
            return self._table.take(key)
        return np.asarray(self._by_depth[np.searchsorted(self._keys, key, side="right") - 1])


@dataclass(frozen=True, eq=False, repr=False)
class Contents:
    """The different transactions that have items, as leaves of a taxonomy in preorder.

    Attributes:
        of, leaf: transaction (from 0) and leaf of each item, sorted.
        weight: how many transactions of the data are like each of these.
        tids, content: the transactions of the data that have items, and which of these each is.
    """

    of: Ints
    leaf: Ints
    weight: Ints
    tids: Ints
    content: Ints

    @classmethod
    def load(cls, engine: Engine, dataset: Dataset, taxonomy: Taxonomy) -> Contents:
        """Read the transactions of a dataset.

        Raises:
            InputError: items that are no leaves of the taxonomy.
        """
        found = engine.query("clusters/occurrences", {"transactions": dataset.transactions})
        rows = found["tid"].astype(np.int64) << 32
        rows |= taxonomy.leaf_nodes(dataset)[found["item"]]
        rows.sort()
        return cls._from_rows(rows >> 32, rows & 0xFFFFFFFF)

    @classmethod
    def _from_rows(cls, tid: Ints, leaf: Ints) -> Contents:
        starts = np.flatnonzero(np.concatenate((np.ones(min(len(tid), 1), dtype=np.bool_), tid[1:] != tid[:-1])))
        lengths = np.diff(np.append(starts, len(tid)))
        content, first = numbered(leaf, lengths)
        is_first = np.zeros(len(starts), dtype=np.bool_)
        is_first[first] = True
        of = np.repeat(np.arange(len(first)), lengths[first])
        weight = np.bincount(content, minlength=len(first))
        return cls(of, leaf[np.repeat(is_first, lengths)], weight, tid[starts], content)

    @property
    def number(self) -> int:
        """How many different transactions there are."""
        return len(self.weight)

    @cached_property
    def lengths(self) -> Ints:
        """How many items each transaction of the data has."""
        return np.bincount(self.of, minlength=self.number)[self.content]

    def without(self, tids: Ints) -> Contents:
        """The same without some transactions of the data."""
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
    decisions: Sequence[Decision] = (),
    remarks: Sequence[str] = (),
) -> LocalRecoding:
    """The local recoding that publishes all transactions of a group alike, with nodes of a taxonomy.

    Args:
        engine: inside a transaction.
        taxonomy: what the nodes are of.
        rows: group, node and copies, one row for each node that a group is published with.
        members: transaction and group of each transaction that has a group; the others are published without items.
        incomplete: the transactions of classes in which something may have been suppressed.
        semantics, decisions, remarks: see ``LocalRecoding``.
    """
    group, node, copies = rows
    used, released = np.unique(node, return_inverse=True)
    content = engine.put(
        "group_rows", {n: ("INTEGER", v) for n, v in (("grp", group), ("released", released), ("copies", copies))}
    )
    of = engine.put("group_members", {"tid": ("INTEGER", members[0]), "grp": ("INTEGER", members[1])})
    published = engine.create("recoded", "clusters/published", {"content": content, "members": of})
    engine.drop(content, of)
    member_of, member_labels = taxonomy.labels_below(used)
    return LocalRecoding(
        transactions=published,
        incomplete=incomplete,
        labels=tuple(taxonomy.labels[n] for n in used.tolist()),
        member_of=member_of,
        member_labels=member_labels,
        semantics=semantics,
        decisions=tuple(decisions),
        remarks=tuple(remarks),
    )
