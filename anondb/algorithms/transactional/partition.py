"""Partition, or LG: top-down local generalization (He and Naughton, VLDB 2009; docs/algorithms/partition.md).

All transactions begin in one group, represented by the root. A group splits the inner node of its representation with the
largest LM gain: each transaction replaces it by the children that it holds. Transactions with the same children form a new
group if there are k of them; the others, the leftover, keep the node, and are a group that splits its other nodes. If these
are fewer than k, single transactions of new groups with more than k join them, those that lose least, and only if there are
not enough of them the smallest new group. If no new group remains, the node with the next largest gain is tried.

Groups are independent of each other, so a round makes one attempt in every open group at once, and equal transactions are
one transaction with a weight. All nodes are numbered in preorder, in which the leaves below a node are adjacent.
"""

import numpy as np

from anondb.algorithms.transactional import shared
from anondb.algorithms.transactional.groups import SAME, Attempt, Groups, sums
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.engine.arrays import Flags, Ints
from anondb.models.transactional import TransactionalK
from anondb.recoding import LocalRecoding

MASK_BITS = 40  # the most children of a node for which a set of children is the bits of an integer
TABLE_SHARE = 16  # the most table cells per transaction for which classes are numbered by a table, not by sorting


def partition(
    engine: Engine,
    dataset: Dataset,
    taxonomy: Taxonomy,
    model: TransactionalK,
    *,
    empty_transactions: str = "keep",
    leftover: str = "fill",
) -> LocalRecoding:
    """Find a transactionally k-anonymous recoding of sets by top-down local generalization; the default of the model.

    Of equal gains the node with the smallest label is split first; docs/algorithms/partition.md#r1 has the other ties. The
    totals of docs/data.md#exact-results depend on them.

    Args:
        empty_transactions: if some, but fewer than k, transactions have no items, ``absorb`` empties the shortest others
            until there are k, and ``keep`` empties all, so that they are one class.
        leftover: ``fill`` brings a leftover of fewer than k to k with single transactions; with ``whole`` the smallest new
            group always joins it, and a leftover is not split again.
    """
    shared.check(dataset, model)
    contents = shared.Contents.load(engine, dataset, taxonomy)
    emptied = shared.to_absorb(dataset, contents.tids, contents.lengths, model.k)
    if empty_transactions == "keep" and len(emptied):
        emptied = contents.tids
    kept = contents.without(emptied)
    groups = _Search(taxonomy, kept, model.k, fill=leftover == "fill")
    while groups.open:
        engine.progress(f"{groups.number:,} groups to split")
        groups.round()
    of, node = groups.published()
    unpublished = np.setdiff1d(np.arange(1, dataset.n_transactions + 1), kept.tids) if len(emptied) else emptied
    return shared.node_recoding(
        engine,
        taxonomy,
        (of, node, np.ones(len(of), dtype=np.int64)),
        groups.members(),
        incomplete=unpublished,
        semantics="set",
    )


class _Search(Groups):
    """Splits the open groups, round by round."""

    def __init__(self, taxonomy: Taxonomy, contents: shared.Contents, k: int, *, fill: bool) -> None:
        super().__init__(taxonomy, contents)
        self.k, self.fill = k, fill
        self._steps = shared.Steps.of(taxonomy)

    def round(self) -> None:
        """Try each open group once: split it at its best column, or note that this column has no valid split."""
        attempt = self._attempt(self._choose())
        groups, weight = len(self.first), attempt.weight
        big = weight >= self.k
        n_big = np.bincount(attempt.group[big], minlength=groups)
        left = sums(attempt.group, np.where(big, 0, weight), groups)
        short = (left > 0) & (left < self.k) & (n_big > 0)
        spare = sums(attempt.group, np.where(big & self.fill, weight - self.k, 0), groups)
        unfilled = short & (left + spare < self.k)
        again = unfilled & (n_big == 1)  # its only new group would have to join the leftover
        gives = short & ~again & (spare > 0)
        if gives.any():
            attempt = self.move(attempt, *self._singles(attempt, big & gives[attempt.group], self.k - left))
            big = np.append(big, np.zeros(len(attempt.group) - len(big), dtype=np.bool_))
        if (unfilled & ~again).any():
            self._join_leftover(attempt, big, unfilled & ~again)
        split = (n_big > 0) & ~again
        rest = split & (left > 0) & self.fill
        self.regroup(attempt, big & split[attempt.group], split, rest, again, split & ((left > 0) | (n_big > 1)))

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
        items = shared.items_of(self.start[touched], size)
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
            children=np.diff(seen[bounds])[first_of],
        )

    def _kinds(self, child: Ints, starts: Ints, width: Ints, group: Ints) -> tuple[Ints, Ints]:
        """The class of each transaction, by its group and the set of its children; and the first member of each class."""
        most = int(self._steps.siblings[child].max())
        if most <= MASK_BITS:
            key = np.bitwise_or.reduceat(np.int64(1) << self._steps.ordinal[child], starts)
            span = 1 << most
        else:  # too many children for the bits of a number
            key, different = shared.numbered(child, width)
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

    def _singles(self, attempt: Attempt, giving: Flags, needed: Ints) -> tuple[Ints, Ints]:
        """Choose the single transactions of the classes ``giving`` that join the leftovers, as many as each group needs:
        those of least gain, while their class has more than k. Returns their places, and how many of the equal ones of
        each."""
        giving = giving & (attempt.weight > self.k)
        place = np.flatnonzero(giving[attempt.kind])
        kind, gain = attempt.kind[place], self.size[attempt.touched[place]]
        by_labels = self._by_labels(attempt, np.flatnonzero(giving))
        order = np.lexsort((by_labels[kind], gain, attempt.group[kind]))
        place, kind, gain = place[order], kind[order], gain[order]
        group = attempt.group[kind]
        new = np.append(True, (kind[1:] != kind[:-1]) | (gain[1:] != gain[:-1]))  # begins equal gains of a class
        cell = np.cumsum(new) - 1
        offered = self._offered(attempt, place)
        before: Ints = np.cumsum(offered) - offered
        near = before[new][cell] - before[np.searchsorted(group, group)] < needed[group]
        place, cell = place[near], cell[near]
        items, of = self.contents.items(attempt.members[place])
        place = place[np.lexsort((shared.ranked(self._steps.label_rank[self.contents.leaf[items]], of), cell))]
        amount = _limited(self._offered(attempt, place), attempt.group[attempt.kind[place]], needed)
        return place[amount > 0], amount[amount > 0]

    def _offered(self, attempt: Attempt, place: Ints) -> Ints:
        """How many of the equal transactions at each of these places may leave their class, which keeps k, in this order."""
        kind = attempt.kind[place]
        in_class = np.argsort(kind, kind="stable")
        weight = self.contents.weight[attempt.members[place]]
        offered = np.empty(len(place), dtype=np.int64)
        offered[in_class] = _limited(weight[in_class], kind[in_class], attempt.weight - self.k)
        return offered

    def _join_leftover(self, attempt: Attempt, big: Flags, groups: Flags) -> None:
        """Remove the smallest new group of each of these groups from ``big`` (tie: the smallest sorted labels)."""
        classes = np.flatnonzero(big & groups[attempt.group])
        by_labels = self._by_labels(attempt, classes)
        order = classes[np.lexsort((by_labels[classes], attempt.weight[classes], attempt.group[classes]))]
        big[order[np.unique(attempt.group[order], return_index=True)[1]]] = False

    def _by_labels(self, attempt: Attempt, classes: Ints) -> Ints:
        """The position of these classes in the order of the sorted labels of their representations, within a group."""
        place = attempt.example[classes]
        items, of = self.contents.items(attempt.members[place])
        node = self.node[items]
        kept = (node != SAME) & (node != self.column_node[attempt.chosen[attempt.group[classes]]][of])
        first, last = np.searchsorted(attempt.inside, place), np.searchsorted(attempt.inside, place, side="right")
        child = attempt.child[shared.items_of(first, last - first)]
        label = self._steps.label_rank[np.concatenate((node[kept], child))]
        position = np.zeros(len(attempt.group), dtype=np.int64)
        position[classes] = shared.ranked(
            label, np.concatenate((of[kept], np.repeat(np.arange(len(classes)), last - first)))
        )
        return position


def _limited(values: Ints, of: Ints, limit: Ints) -> Ints:
    """How much of each value is taken, in this order, if the sum of each group is limited; the groups ascend."""
    before: Ints = np.cumsum(values) - values
    room: Ints = limit[of] - before + before[np.searchsorted(of, of)]
    return np.clip(room, 0, values)
