"""Partition, or LG: top-down local generalization (He and Naughton, VLDB 2009; docs/algorithms/partition.md).

All transactions begin in one group, represented by the root. A group splits the inner node of its representation with the
largest LM gain: each transaction replaces it by the children that it holds. Transactions with the same children form a new
group if there are k of them; the others, the leftover, keep their representation. If these are fewer than k, the smallest
new group joins them. If no new group remains, the node with the next largest gain is tried.

Groups are independent of each other, so a round makes one attempt in every open group at once, and equal transactions are
one transaction with a weight. All nodes are numbered in preorder, in which the leaves below a node are adjacent.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anondb.algorithms.transactional.groups import SAME, Attempt, Groups, items_of, sums
from anondb.algorithms.transactional.shared import Contents, Steps, check, node_recoding, numbered, to_absorb
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.models.transactional import TransactionalK
from anondb.recoding import LocalRecoding

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MASK_BITS = 40  # the most children of a node for which a set of children is the bits of an integer
TABLE_SHARE = 16  # the most table cells per transaction for which classes are numbered by a table, not by sorting


def partition(
    engine: Engine, dataset: Dataset, taxonomy: Taxonomy, model: TransactionalK, *, empty: str = "keep"
) -> LocalRecoding:
    """Find a transactionally k-anonymous recoding of sets by top-down local generalization; the default of the model.

    Of equal gains the node with the smallest label is split first, and of equally small groups the one with the smallest
    sorted representation joins the leftover: the totals of docs/data.md#exact-results depend on that.

    Args:
        engine: an engine inside a transaction.
        dataset: the coded transactions.
        taxonomy: the taxonomy; every item of the data is a leaf.
        model: k.
        empty: if some, but fewer than k, transactions have no items, ``absorb`` empties the shortest others until there
            are k, and ``keep`` empties all, so that they are one class.

    Raises:
        InfeasibleError: fewer than k transactions.
        InputError: an item is not a leaf of the taxonomy.
    """
    check(dataset, model, empty)
    contents = Contents.load(engine, dataset, taxonomy)
    emptied = to_absorb(dataset, contents.tids, contents.lengths, model.k)
    if empty == "keep" and len(emptied):
        emptied = contents.tids
    kept = contents.without(emptied)
    groups = _Search(taxonomy, kept, model.k)
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


class _Search(Groups):
    """Splits the open groups, round by round."""

    def __init__(self, taxonomy: Taxonomy, contents: Contents, k: int) -> None:
        super().__init__(taxonomy, contents)
        self.k = k
        self._steps = Steps.of(taxonomy)

    def round(self) -> None:
        """Try each open group once: split it at its best column, or note that this column has no valid split."""
        attempt = self._attempt(self._choose())
        groups = len(self.first)
        weight = attempt.weight
        big = weight >= self.k
        n_big = np.bincount(attempt.group[big], minlength=groups)
        left = sums(attempt.group, np.where(big, 0, weight), groups)
        short = (left > 0) & (left < self.k) & (n_big > 0)
        self._join_leftover(attempt, big, short & (n_big > 1))
        again = short & (n_big == 1)  # its only new group would have to join the leftover
        split = (n_big > 0) & ~again
        self.regroup(attempt, big & split[attempt.group], split, again, split & ((left > 0) | (n_big > 1)))

    def _choose(self) -> Ints:
        """The untried column of each group with the largest gain (tie: the smallest label)."""
        occurrences = sums(self.column, self.contents.weight[self.of] * self.size, len(self.column_node))
        gain = occurrences * (self.taxonomy.leaf_count[self.column_node] - 1)
        gain[self.tried] = -1
        best = gain == np.maximum.reduceat(gain, self.first)[self.column_group]
        label = np.where(best, self._steps.label_rank[self.column_node], self.taxonomy.size)
        return np.flatnonzero(label == np.minimum.reduceat(label, self.first)[self.column_group])

    def _attempt(self, chosen: Ints) -> Attempt:
        """The children of the chosen nodes that each transaction holds, and the classes of equal children."""
        is_chosen = np.zeros(len(self.column_node), dtype=np.bool_)
        is_chosen[chosen] = True
        touched = np.flatnonzero(is_chosen[self.column])
        members, column, size = self.of[touched], self.column[touched], self.size[touched]
        items = items_of(self.start[touched], size)
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
        return Attempt(
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
            weight=sums(kind, self.contents.weight[members], len(first_of)),
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

    def _join_leftover(self, attempt: Attempt, big: Flags, groups: Flags) -> None:
        """Remove the smallest new group of each of these groups from ``big`` (tie: the smallest sorted labels)."""
        candidates = np.flatnonzero(big & groups[attempt.group])
        order = candidates[np.lexsort((attempt.weight[candidates], attempt.group[candidates]))]
        group, weight = attempt.group[order], attempt.weight[order]
        starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1]))) if len(order) else order
        for a, b in pairwise([*starts.tolist(), len(order)]):
            tied = order[a:b][weight[a:b] == weight[a]].tolist()
            smallest = tied[0] if len(tied) == 1 else min(tied, key=lambda c: self._labels(attempt, c))
            big[smallest] = False

    def _labels(self, attempt: Attempt, kind: int) -> list[str]:
        """The sorted labels of the representation of a new group."""
        place = int(attempt.example[kind])
        member = int(attempt.members[place])
        items = slice(*np.searchsorted(self.contents.of, (member, member + 1)).tolist())
        nodes = set(self.node[items].tolist()) - {SAME, int(self.column_node[attempt.chosen[attempt.group[kind]]])}
        rows = slice(*np.searchsorted(attempt.inside, (place, place + 1)).tolist())
        nodes |= set(attempt.child[rows].tolist())
        return sorted(self.taxonomy.labels[n] for n in nodes)
