"""The arrays of Partition's open groups, and how the splits of a round change them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.algorithms.transactional.shared import Contents, items_of
from anondb.data.taxonomy import Taxonomy
from anondb.engine.arrays import Flags, Ints, stretches

FINAL = -1  # the next group of a transaction with its final representation
SAME = -1  # the node of an item that is published with the item before it


@dataclass(frozen=True, eq=False, repr=False)
class Attempt:
    """One attempt to split each open group."""

    chosen: Ints  # the column to split of each group
    # touched, members: the rows below these columns, and the transaction of each; a transaction has one such row
    touched: Ints
    members: Ints
    # inside, child, start, size: the rows that would replace these: the place of the replaced row, the child, its items
    inside: Ints
    child: Ints
    start: Ints
    size: Ints
    rank: Ints  # the number of inner children of the same transaction before this one
    # the class of each member. Members of a group with the same children have the same class; single transactions that
    # were moved to the leftover of a group are a class, too.
    kind: Ints
    # example, group, weight, children: for each class: the place of a member that has its children, the group, and the
    # numbers of transactions and of inner children that would replace the node
    example: Ints
    group: Ints
    weight: Ints
    children: Ints


class Groups:
    """The open groups: their transactions, and the inner nodes of their representations. A *column* is an inner node of a
    group's representation that may still be split; the columns of a group are adjacent. A *row* is the range of items (start
    and size) that a transaction holds below a column. A column without a valid split is ``tried``, until the group becomes
    smaller."""

    def __init__(self, taxonomy: Taxonomy, contents: Contents) -> None:
        self.taxonomy, self.contents = taxonomy, contents
        self._begin: Ints = np.cumsum(contents.weight) - contents.weight  # see ``members``
        self.of = np.arange(contents.number)
        self.size = np.bincount(contents.of, minlength=contents.number)
        self.start = np.cumsum(self.size) - self.size
        self.column = np.zeros(contents.number, dtype=np.int64)
        self.column_node, self.column_group = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self.tried = np.zeros(1, dtype=np.bool_)
        self.first = np.zeros(1, dtype=np.int64)
        self._room: dict[str, Ints] = {}  # see ``_extended``
        # the node that each item is published as, SAME for further items below that node
        self.node = np.full(len(contents.leaf), SAME, dtype=np.int64)
        self.node[self.start] = 0
        if contents.number < 2 or taxonomy.is_leaf[0]:
            self.node[:] = contents.leaf
            self.of = self.of[:0]

    @property
    def open(self) -> bool:
        """Whether any group may still be split."""
        return bool(len(self.of))

    @property
    def number(self) -> int:
        """The number of groups that may still be split."""
        return len(self.first)

    def published(self) -> tuple[Ints, Ints]:
        """The pairs (distinct transaction, published node), each once, as two arrays."""
        shown = np.flatnonzero(self.node != SAME)
        return self.contents.of[shown], self.node[shown]

    def members(self) -> tuple[Ints, Ints]:
        """The transactions of the data, and the distinct transaction that each is published as."""
        in_order = np.lexsort((self.contents.tids, self.contents.content))
        parts = np.argsort(self._begin)  # the parts of what was one distinct transaction are adjacent
        return self.contents.tids[in_order], np.repeat(parts, self.contents.weight[parts])

    def move(self, attempt: Attempt, place: Ints, amount: Ints) -> Attempt:
        """Move ``amount`` of the equal transactions at each place, the first ones, to the leftover of their group. If others
        stay, those that move become a distinct transaction of their own."""
        group, of_group = np.unique(attempt.group[attempt.kind[place]], return_inverse=True)
        leftover = len(attempt.group) + of_group  # the class of what moves
        whole = amount == self.contents.weight[attempt.members[place]]
        kind = attempt.kind.copy()
        kind[place[whole]] = leftover[whole]
        kind = np.concatenate((kind, leftover[~whole]))
        parted = place[~whole]
        parts, touched = self._part(attempt.members[parted], amount[~whole], attempt.touched[parted])
        members = np.concatenate((attempt.members, parts))
        none = np.zeros(len(group), dtype=np.int64)
        return replace(
            attempt,
            touched=np.concatenate((attempt.touched, touched)),
            members=members,
            kind=kind,
            example=np.concatenate((attempt.example, none)),
            group=np.concatenate((attempt.group, group)),
            weight=sums(kind, self.contents.weight[members], len(attempt.group) + len(group)),
            children=np.concatenate((attempt.children, none)),
        )

    def _part(self, contents: Ints, amount: Ints, touched: Ints) -> tuple[Ints, Ints]:
        """Split ``amount`` equal transactions off each of these distinct ones, as a distinct one of their own; return the
        numbers of the new ones, and their rows for ``touched``."""
        old = self.contents
        parts = old.number + np.arange(len(contents))
        items, part_of = old.items(contents)
        length = np.bincount(part_of)
        weight = np.concatenate((old.weight, amount))
        weight[contents] -= amount
        self._begin = np.concatenate((self._begin, self._begin[contents]))
        self._begin[contents] += amount
        shift = len(old.of) + np.cumsum(length) - length - np.searchsorted(old.of, contents)  # to the items of its part
        self.contents = replace(
            old,
            of=self._extended("of", old.of, parts[part_of]),
            leaf=self._extended("leaf", old.leaf, old.leaf[items]),
            weight=weight,
        )
        self.node = self._extended("node", self.node, self.node[items])
        place = np.full(old.number, -1)
        place[contents] = np.arange(len(contents))
        rows = np.flatnonzero(place[self.of] >= 0)
        of = place[self.of[rows]]
        renamed = np.empty(len(self.of), dtype=np.int64)
        renamed[rows] = len(self.of) + np.arange(len(rows))
        self.of = np.concatenate((self.of, parts[of]))
        self.start = np.concatenate((self.start, self.start[rows] + shift[of]))
        self.size = np.concatenate((self.size, self.size[rows]))
        self.column = np.concatenate((self.column, self.column[rows]))
        return parts, renamed[touched]

    def _extended(self, name: str, values: Ints, more: Ints) -> Ints:
        """The values of this name and more after them, in place while there is room: copies take most of a move."""
        n, end = len(values), len(values) + len(more)
        if name not in self._room or values.base is not self._room[name] or len(self._room[name]) < end:
            self._room[name] = np.empty(end + end // 8, dtype=np.int64)
            self._room[name][:n] = values
        self._room[name][n:end] = more
        return self._room[name][:end]

    def regroup(self, attempt: Attempt, new: Flags, split: Flags, rest: Flags, again: Flags, smaller: Flags) -> None:
        """Replace the groups by those of the next round of an attempt: the classes ``new``, and for the groups whose node
        was ``split`` the leftovers of ``rest``. Groups ``again`` have no valid split now, but may have one once they are
        smaller; groups that lost members are ``smaller``."""
        is_chosen = np.zeros(len(self.column_node), dtype=np.bool_)
        is_chosen[attempt.chosen] = True
        kept = ~is_chosen | again[self.column_group]
        tried = (self.tried & ~smaller[self.column_group]) | is_chosen
        n_kept = sums(self.column_group, kept, len(self.first))
        untried = sums(self.column_group, kept & ~tried, len(self.first))

        # the new groups: first those that were not split and leftovers, then the classes that are large enough
        pure = new & (np.bincount(attempt.kind, minlength=len(new)) == 1)
        goes_on = (~split | rest) & (untried > 0)
        grows = new & ~pure & (untried[attempt.group] + attempt.children > 0)
        parent = np.concatenate((np.flatnonzero(goes_on), attempt.group[grows]))
        width = n_kept[parent] + np.concatenate((np.zeros(int(goes_on.sum()), dtype=np.int64), attempt.children[grows]))
        first = np.cumsum(width) - width
        of_group = np.where(goes_on, np.cumsum(goes_on) - 1, FINAL)
        of_class = np.where(grows, int(goes_on.sum()) + np.cumsum(grows) - 1, FINAL)
        group, members, inside = attempt.group[attempt.kind], attempt.members, attempt.inside
        goes = np.where(new[attempt.kind], of_class[attempt.kind], of_group[group])  # the next group of each member
        self._publish(attempt, new, pure)
        column_node, column_tried, offset = self._kept_columns(kept, tried, n_kept, parent, first, int(width.sum()))

        # the rows: those that stay, then those that go down
        first_column = np.append(first, 0)  # the last entry, for FINAL, is unused
        next_group = np.full(self.contents.number, FINAL, dtype=np.int64)
        next_group[members] = goes
        of_row = next_group[self.of]
        alive = of_row >= 0
        alive[attempt.touched] &= again[group]
        stays = np.flatnonzero(alive)
        stay_in = first_column[of_row[stays]] + offset[self.column[stays]]
        down = np.flatnonzero((new[attempt.kind] & (goes >= 0))[inside] & ~self.taxonomy.is_leaf[attempt.child])
        go_to = (first_column[goes] + n_kept[group])[inside[down]] + attempt.rank[down]
        column_node[go_to] = attempt.child[down]

        self.of = np.concatenate((self.of[stays], members[inside[down]]))
        self.start = np.concatenate((self.start[stays], attempt.start[down]))
        self.size = np.concatenate((self.size[stays], attempt.size[down]))
        self.column = np.concatenate((stay_in, go_to))
        self.column_node, self.tried, self.first = column_node, column_tried, first
        self.column_group = np.repeat(np.arange(len(width)), width)

    def _kept_columns(
        self, kept: Flags, tried: Flags, n_kept: Ints, parent: Ints, first: Ints, total: int
    ) -> tuple[Ints, Flags, Ints]:
        """The nodes and flags of ``total`` columns, with those that each new group keeps of its parent from ``first`` on;
        and the place of each kept column among those of its group."""
        column_node, column_tried = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.bool_)
        place: Ints = np.cumsum(kept) - kept  # of each column among the kept ones
        copies = n_kept[parent]
        source = np.flatnonzero(kept)[stretches(place[self.first][parent], copies)]
        target = stretches(first, copies)
        column_node[target], column_tried[target] = self.column_node[source], tried[source]
        return column_node, column_tried, place - place[self.first][self.column_group]

    def _publish(self, attempt: Attempt, new: Flags, pure: Flags) -> None:
        """Set the published nodes of new groups; a pure class consists of equal transactions and gets leaves."""
        contents = self.contents
        descends = new[attempt.kind][attempt.inside]
        self.node[attempt.start[descends]] = attempt.child[descends]
        is_pure = np.zeros(contents.number, dtype=np.bool_)
        is_pure[attempt.members] = pure[attempt.kind]
        final = np.flatnonzero(is_pure[self.of])
        items = items_of(self.start[final], self.size[final])
        self.node[items] = contents.leaf[items]


def sums(index: Ints, values: npt.NDArray[Any], length: int) -> Ints:
    """The sums of values by index, exact below 2^53."""
    return np.bincount(index, weights=values, minlength=length).astype(np.int64)
