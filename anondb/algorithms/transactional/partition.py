"""Partition, or LG: top-down local generalization (He and Naughton, VLDB 2009; docs/algorithms/partition.md).

All transactions begin in one group, represented by the root. A group gives up the inner node of its representation with
the largest LM gain for the children that each of its transactions holds. Transactions with the same children form a new
group if there are k of them; the others, the leftover, keep the representation that they had. Where they are fewer than
k, the smallest new group stays behind with them. If no new group remains, the node with the next largest gain is tried.

Groups are independent of each other, so a round makes one attempt in every open group at once, and equal transactions are
one transaction with a weight. All nodes are numbered in preorder, in which the leaves below a node follow each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.algorithms.transactional.shared import Contents, Steps, check, node_recoding, numbered, to_absorb
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.models.transactional import TransactionalK
from anondb.recoding import LocalRecoding

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

FINAL = -1  # the next group of a transaction that stays as it is
SAME = -1  # the node of an item that is published with the item before it
MASK_BITS = 40  # children of a node that are told apart by the bits of a number
TABLE_SHARE = (
    16  # classes are numbered in a table if that has at most so many cells a transaction; else they are sorted
)


def partition(
    engine: Engine, dataset: Dataset, taxonomy: Taxonomy, model: TransactionalK, *, empty: str = "keep"
) -> LocalRecoding:
    """Transactional k-anonymity on sets by top-down local generalization; the default of the model.

    Of equal gains the node with the smallest label is split first, and of equally small groups the one with the smallest
    sorted representation stays with the leftover: the totals of docs/data.md#exact-results need that.

    Args:
        engine: inside a transaction.
        dataset: the coded transactions.
        taxonomy: every item of the data is one of its leaves.
        model: k.
        empty: where there are some, but fewer than k transactions without items, ``absorb`` empties as many of the
            shortest others as are missing, and ``keep`` empties all, so that they are one class).

    Raises:
        InfeasibleError: fewer than k transactions.
        InputError: items that are no leaves of the taxonomy.
    """
    check(dataset, model, empty)
    contents = Contents.load(engine, dataset, taxonomy)
    emptied = to_absorb(dataset, contents.tids, contents.lengths, model.k)
    if empty == "keep" and len(emptied):
        emptied = contents.tids
    kept = contents.without(emptied)
    groups = _Groups(taxonomy, kept, model.k)
    while groups.open:
        groups.round()
    of, node = groups.published()
    unpublished = np.setdiff1d(np.arange(1, dataset.n_transactions + 1), kept.tids) if len(emptied) else emptied
    return node_recoding(
        engine,
        taxonomy,
        (of, node, np.ones(len(of), dtype=np.int64)),
        (kept.tids, kept.content),
        incomplete=unpublished,
        semantics="set",
    )


@dataclass(frozen=True, eq=False, repr=False)
class _Attempt:
    """One attempt to split each open group.

    Attributes:
        chosen: the column of each group.
        touched, members: the rows below them, and the transaction of each: a transaction has one of them.
        inside, child, start, size: the rows that would replace them: which one each would replace, the child, and its items.
        rank: how many other inner children of the same transaction come before it.
        kind: the class of each member: equal for the same children in the same group.
        example, group, weight, different, children: of each class: a member, by its place, its group, how many
            transactions and how many different ones it has, and how many inner children would replace the node.
    """

    chosen: Ints
    touched: Ints
    members: Ints
    inside: Ints
    child: Ints
    start: Ints
    size: Ints
    rank: Ints
    kind: Ints
    example: Ints
    group: Ints
    weight: Ints
    different: Ints
    children: Ints


class _Groups:
    """The open groups: their transactions, and the inner nodes of their representations.

    A *column* is an inner node of a group's representation that may still give way; the columns of a group follow each
    other. A *row* is what a transaction holds below a column: items that follow each other, a start and a size. A column
    that had no valid split is ``tried``: it gets another chance once the group is smaller.
    """

    def __init__(self, taxonomy: Taxonomy, contents: Contents, k: int) -> None:
        self.taxonomy, self.contents, self.k = taxonomy, contents, k
        self._steps = Steps.of(taxonomy)
        self.of = np.arange(contents.number)
        self.size = np.bincount(contents.of, minlength=contents.number)
        self.start = np.cumsum(self.size) - self.size
        self.column = np.zeros(contents.number, dtype=np.int64)
        self.column_node, self.column_group = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self.tried = np.zeros(1, dtype=np.bool_)
        self.first = np.zeros(1, dtype=np.int64)
        # what each item is published as, and those after it that say nothing
        self.node = np.full(len(contents.leaf), SAME, dtype=np.int64)
        self.node[self.start] = 0
        if contents.number < 2 or taxonomy.is_leaf[0]:
            self.node[:] = contents.leaf
            self.of = self.of[:0]

    @property
    def open(self) -> bool:
        """Whether any group may still be split."""
        return bool(len(self.of))

    def published(self) -> tuple[Ints, Ints]:
        """Different transactions and their nodes, each pair once."""
        shown = np.flatnonzero(self.node != SAME)
        return self.contents.of[shown], self.node[shown]

    def round(self) -> None:
        """One attempt in every open group: split it at its best column, or note that this column has no valid split."""
        attempt = self._attempt(self._choose())
        groups = len(self.first)
        weight = attempt.weight
        big = weight >= self.k
        n_big = np.bincount(attempt.group[big], minlength=groups)
        left = _sums(attempt.group, np.where(big, 0, weight), groups)
        short = (left > 0) & (left < self.k) & (n_big > 0)
        self._join_leftover(attempt, big, short & (n_big > 1))
        again = short & (n_big == 1)  # its one new group would have to stay behind
        split = (n_big > 0) & ~again
        self._regroup(attempt, big & split[attempt.group], split, again, split & ((left > 0) | (n_big > 1)))

    def _choose(self) -> Ints:
        """The untried column of each group with the largest gain (tie: the smallest label)."""
        occurrences = _sums(self.column, self.contents.weight[self.of] * self.size, len(self.column_node))
        gain = occurrences * (self.taxonomy.leaf_count[self.column_node] - 1)
        gain[self.tried] = -1
        best = gain == np.maximum.reduceat(gain, self.first)[self.column_group]
        label = np.where(best, self._steps.label_rank[self.column_node], self.taxonomy.size)
        return np.flatnonzero(label == np.minimum.reduceat(label, self.first)[self.column_group])

    def _attempt(self, chosen: Ints) -> _Attempt:
        """What each transaction holds below the chosen nodes."""
        is_chosen = np.zeros(len(self.column_node), dtype=np.bool_)
        is_chosen[chosen] = True
        touched = np.flatnonzero(is_chosen[self.column])
        members, column, size = self.of[touched], self.column[touched], self.size[touched]
        items = _items(self.start[touched], size)
        child = self._steps.down(self.column_node[column], size, self.contents.leaf.take(items))
        begins = np.zeros(len(items), dtype=np.bool_)  # the first item of each member
        begins[np.cumsum(size) - size] = True
        new = begins.copy()  # the first item of each child of a member
        new[1:] |= child[1:] != child[:-1]
        rows = np.flatnonzero(new)
        child = child[rows]
        starts = np.flatnonzero(begins[rows])
        bounds = np.append(starts, len(rows))
        width = np.diff(bounds)
        seen: Ints = np.concatenate(([0], np.cumsum(~self.taxonomy.is_leaf[child])))  # inner children before each row
        group = self.column_group[column]
        kind, first_of = self._kinds(child, starts, width, group)
        return _Attempt(
            chosen=chosen,
            touched=touched,
            members=members,
            inside=np.repeat(np.arange(len(members)), width),
            child=child,
            start=items[rows],
            size=np.diff(np.append(rows, len(items))),
            rank=seen[1:] - np.repeat(seen[starts] + 1, width),
            kind=kind,
            example=first_of,
            group=group[first_of],
            weight=_sums(kind, self.contents.weight[members], len(first_of)),
            different=np.bincount(kind, minlength=len(first_of)),
            children=np.diff(seen[bounds])[first_of],
        )

    def _kinds(self, child: Ints, starts: Ints, width: Ints, group: Ints) -> tuple[Ints, Ints]:
        """The class of each transaction, by its group and the set of its children; and the first member of each class."""
        most = int(self._steps.siblings[child].max())
        if most <= MASK_BITS:
            key = np.bitwise_or.reduceat(np.int64(1) << self._steps.ordinal[child], starts)
            span = 1 << most
        else:  # too many children for the bits of a number
            key, different = numbered(child, width)
            span = len(different)
        number = group * span + key
        if (int(group.max()) + 1) * span > TABLE_SHARE * len(number):
            _, first, kind = np.unique(number, return_index=True, return_inverse=True)
            return kind, first
        first_of = np.full((int(group.max()) + 1) * span, -1)
        first_of[number[::-1]] = np.arange(len(number))[::-1]
        present = np.flatnonzero(first_of >= 0)
        rename = np.empty(len(first_of), dtype=np.int64)
        rename[present] = np.arange(len(present))
        return rename[number], first_of[present]

    def _join_leftover(self, attempt: _Attempt, big: Flags, groups: Flags) -> None:
        """In these groups the smallest new group stays behind (tie: the smallest sorted labels); ``big`` forgets it."""
        candidates = np.flatnonzero(big & groups[attempt.group])
        order = candidates[np.lexsort((attempt.weight[candidates], attempt.group[candidates]))]
        group, weight = attempt.group[order], attempt.weight[order]
        starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1]))) if len(order) else order
        for a, b in pairwise([*starts.tolist(), len(order)]):
            tied = order[a:b][weight[a:b] == weight[a]].tolist()
            smallest = tied[0] if len(tied) == 1 else min(tied, key=lambda c: self._labels(attempt, c))
            big[smallest] = False

    def _labels(self, attempt: _Attempt, kind: int) -> list[str]:
        """The sorted labels that a new group would be represented by."""
        place = int(attempt.example[kind])
        member = int(attempt.members[place])
        items = slice(*np.searchsorted(self.contents.of, (member, member + 1)).tolist())
        nodes = set(self.node[items].tolist()) - {SAME, int(self.column_node[attempt.chosen[attempt.group[kind]]])}
        rows = slice(*np.searchsorted(attempt.inside, (place, place + 1)).tolist())
        nodes |= set(attempt.child[rows].tolist())
        return sorted(self.taxonomy.labels[n] for n in nodes)

    def _regroup(self, attempt: _Attempt, new: Flags, split: Flags, again: Flags, smaller: Flags) -> None:
        """The groups of the next round.

        Args:
            attempt: the attempt of this round.
            new: the classes that become groups.
            split: the groups that gave up their node.
            again: the groups whose node may have a valid split once they are smaller; that of all others has none.
            smaller: the groups that lost members.
        """
        contents, groups = self.contents, len(self.first)
        is_chosen = np.zeros(len(self.column_node), dtype=np.bool_)
        is_chosen[attempt.chosen] = True
        kept = ~is_chosen | again[self.column_group]
        tried = (self.tried & ~smaller[self.column_group]) | is_chosen
        n_kept = _sums(self.column_group, kept, groups)
        untried = _sums(self.column_group, kept & ~tried, groups)

        # the new groups: those that were not split go on, then the classes that are large enough
        pure = new & (attempt.different == 1)
        goes_on = ~split & (untried > 0)
        grows = new & ~pure & (untried[attempt.group] + attempt.children > 0)
        parent = np.concatenate((np.flatnonzero(goes_on), attempt.group[grows]))
        width = n_kept[parent] + np.concatenate((np.zeros(int(goes_on.sum()), dtype=np.int64), attempt.children[grows]))
        first = np.cumsum(width) - width
        of_group = np.where(goes_on, np.cumsum(goes_on) - 1, FINAL)
        of_class = np.where(grows, int(goes_on.sum()) + np.cumsum(grows) - 1, FINAL)
        group, members = attempt.group[attempt.kind], attempt.members
        goes = np.where(split[group], of_class[attempt.kind], of_group[group])  # the next group of each member

        # what the items are published as so far
        descends = new[attempt.kind][attempt.inside]
        self.node[attempt.start[descends]] = attempt.child[descends]
        is_pure = np.zeros(contents.number, dtype=np.bool_)
        is_pure[members] = pure[attempt.kind]
        final = np.flatnonzero(is_pure[self.of])
        items = _items(self.start[final], self.size[final])
        self.node[items] = contents.leaf[items]

        # the columns
        total = int(width.sum())
        column_node, column_tried = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.bool_)
        place: Ints = np.cumsum(kept) - kept  # of each column among the kept ones
        offset: Ints = place - place[self.first][self.column_group]
        kept_columns = np.flatnonzero(kept)
        copies = n_kept[parent]
        within = np.arange(int(copies.sum())) - np.repeat(np.cumsum(copies) - copies, copies)
        source = kept_columns[np.repeat(place[self.first][parent], copies) + within]
        target = np.repeat(first, copies) + within
        column_node[target], column_tried[target] = self.column_node[source], tried[source]

        # the rows: those that stay, then those that go down
        first_column = np.append(first, 0)  # of FINAL: any
        next_group = np.full(contents.number, FINAL, dtype=np.int64)
        next_group[members] = goes
        of_row = next_group[self.of]
        alive = of_row >= 0
        alive[attempt.touched] &= again[group]
        stays = np.flatnonzero(alive)
        stay_in = first_column[of_row[stays]] + offset[self.column[stays]]
        inside = attempt.inside
        down = np.flatnonzero((split[group] & (goes >= 0))[inside] & ~self.taxonomy.is_leaf[attempt.child])
        go_to = (first_column[goes] + n_kept[group])[inside[down]] + attempt.rank[down]
        column_node[go_to] = attempt.child[down]

        self.of = np.concatenate((self.of[stays], members[inside[down]]))
        self.start = np.concatenate((self.start[stays], attempt.start[down]))
        self.size = np.concatenate((self.size[stays], attempt.size[down]))
        self.column = np.concatenate((stay_in, go_to))
        self.column_node, self.tried, self.first = column_node, column_tried, first
        self.column_group = np.repeat(np.arange(len(width)), width)


def _items(start: Ints, size: Ints) -> Ints:
    """The items of rows, by their starts and sizes; no row is empty."""
    ends = np.cumsum(size)
    steps = np.ones(int(ends[-1]) if len(ends) else 0, dtype=np.int64)  # from each item to the next
    if len(ends):
        steps[0] = start[0]
        steps[ends[:-1]] = start[1:] - (start[:-1] + size[:-1] - 1)
    return np.cumsum(steps, out=steps)


def _sums(index: Ints, values: npt.NDArray[Any], length: int) -> Ints:
    """The sums of values by index, exact below 2^53."""
    return np.bincount(index, weights=values, minlength=length).astype(np.int64)
