"""Edit a taxonomy or a hierarchy: rename, move, group and delete nodes, undo and redo. For its owner only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from anondb.data.taxonomy import Taxonomy, from_edges
from anondb.engine import Engine
from anondb.errors import InputError
from anondb.taxonomies.check import supported_taxonomy
from anondb.taxonomies.hierarchies import supported_hierarchy

ROOT = 0


@dataclass(frozen=True, eq=False)
class Nodes:
    """A state of a tree that is edited."""

    # labels, parents: the label and the parent of each node; the root is node 0, with the parent -1
    labels: dict[int, str]
    parents: dict[int, int]
    # how many persons have an item at or below each node; nodes that are not counted are left out
    persons: dict[int, int]

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The children of each inner node: groups first, in the order of the source, new ones last."""
        children: dict[int, list[int]] = {}
        for node, parent in self.parents.items():
            children.setdefault(parent, []).append(node)
        for siblings in children.values():
            siblings.sort(key=lambda node: (node not in children, node))
        return children

    def first(self, node: int, most: int) -> list[int]:
        """The children of a node; of more than ``most`` the groups, and the leaves of the most persons."""
        below = self.children.get(node, [])
        if len(below) <= most:
            return below
        return sorted(below, key=lambda n: (n not in self.children, -self.persons.get(n, 0), self.labels[n]))[:most]

    @cached_property
    def node_of(self) -> dict[str, int]:
        """The node of each label."""
        return {label: node for node, label in self.labels.items()}

    def above(self, node: int) -> list[int]:
        """The nodes above a node, up to the root."""
        ancestors = []
        while (node := self.parents[node]) >= 0:
            ancestors.append(node)
        return ancestors


@dataclass
class Draft:
    """A tree that is edited, with all its states."""

    # the nodes that are items of the data, or values of an attribute; they keep their labels and stay leaves
    items: frozenset[int]
    kind: str | None  # the type of the items (``Taxonomy.kind``)
    # states, at: the states in order, and which one is current
    states: list[Nodes]
    at: int = 0
    saved: int = 0  # which one was saved last; -1 for none
    next: int = 0  # the number of the next new node

    @classmethod
    def of(cls, tree: Taxonomy, persons: Iterable[int]) -> Draft:
        """A draft of a tree with the persons of each node. Leaves that nobody has can be deleted."""
        parents = dict(enumerate(tree.parent.tolist()))
        nodes = Nodes(dict(enumerate(tree.labels)), parents, dict(enumerate(map(int, persons))))
        return cls(frozenset(tree.leaves(0).tolist()), tree.kind, [nodes], next=tree.size)

    @property
    def nodes(self) -> Nodes:
        """The current state."""
        return self.states[self.at]

    def undo(self) -> None:
        """Go back to the state before; the first one stays."""
        self.at = max(self.at - 1, 0)

    def redo(self) -> None:
        """Go to the state that was undone last."""
        self.at = min(self.at + 1, len(self.states) - 1)

    def rename(self, node: int, label: str) -> None:
        """Give a group another label. Raises InputError: ``bad_parameter``: it is an item, or the label is empty or
        taken."""
        if node in self.items:
            raise _refused("Items keep their names, by which they are found in the data.", "Rename the group above it.")
        self._check_label(label)
        self._add(self.nodes.labels | {node: label}, self.nodes.parents)

    def move(self, nodes: Collection[int], to: int) -> None:
        """Move nodes, with all below them, into a group. Raises InputError: ``bad_parameter``: the target is an item or lies
        below a moved node, or the root is moved."""
        if to in self.items:
            raise _refused("An item has nothing below it.", "Move into a group.")
        if not nodes or ROOT in nodes or not set(nodes).isdisjoint({to, *self.nodes.above(to)}):
            raise _refused("A node cannot be moved below itself.", "Choose nodes, and a group that is none of them.")
        moved = self._topmost(nodes)
        changed = {above for node in (*moved, to) for above in self.nodes.above(node)} | {to}
        self._add(self.nodes.labels, self.nodes.parents | dict.fromkeys(moved, to), changed)

    def group(self, nodes: Collection[int], label: str) -> int:
        """Make a new group in the place of some nodes, which move into it; below the root if there are none. Raises
        InputError: ``bad_parameter``: the label is empty or taken, or the root is among the nodes."""
        self._check_label(label)
        if ROOT in nodes:
            raise _refused("The root cannot be moved into a group.", "Choose nodes below it.")
        new, moved = self.next, self._topmost(nodes)
        under = self.nodes.parents[moved[0]] if moved else ROOT
        changed = {above for node in moved for above in self.nodes.above(node)}
        parents = self.nodes.parents | {new: under} | dict.fromkeys(moved, new)
        self._add(self.nodes.labels | {new: label}, parents, changed)
        self.next += 1
        return new

    def delete(self, node: int) -> None:
        """Delete a group, whose children move to where it was, or a leaf that nobody has. Raises InputError:
        ``bad_parameter``: it is the root, or an item that persons have."""
        if node == ROOT or (node in self.items and self.nodes.persons.get(node)):
            raise _refused("Only groups, and leaves that nobody has, can be deleted.", "Move it instead.")
        labels = {n: label for n, label in self.nodes.labels.items() if n != node}
        up = self.nodes.parents[node]
        parents = {n: up if parent == node else parent for n, parent in self.nodes.parents.items() if n != node}
        self._add(labels, parents)

    def count(self, counted: Draft) -> None:
        """Take the persons of the current state from a draft of its tree, which lacks groups that nobody has."""
        persons = {label: counted.nodes.persons[node] for label, node in counted.nodes.node_of.items()}
        by_node = {node: persons.get(label, 0) for label, node in self.nodes.node_of.items()}
        self.states[self.at] = replace(self.nodes, persons=by_node)

    def tree(self) -> Taxonomy:
        """The tree of the current state, without groups that have no item below them."""
        kept = {ROOT}.union(*({item, *self.nodes.above(item)} for item in self.items if item in self.nodes.parents))
        labels = self.nodes.labels
        ordered = list(self._down(kept))
        edges = ((labels[n], None if n == ROOT else labels[self.nodes.parents[n]]) for n in ordered)
        return replace(from_edges(edges), kind=self.kind)

    def _down(self, kept: set[int]) -> Iterator[int]:
        waiting = [ROOT]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [child for child in sorted(self.nodes.children.get(node, ()), reverse=True) if child in kept]

    def _topmost(self, nodes: Collection[int]) -> list[int]:
        """The nodes that lie below none of the others."""
        return [node for node in dict.fromkeys(nodes) if set(nodes).isdisjoint(self.nodes.above(node))]

    def _check_label(self, label: str) -> None:
        if not label.strip():
            raise _refused("The name is empty.", "Write a name first.")
        if label in self.nodes.node_of:
            raise _refused("Another node has this name.", "Choose a name that no node and no item has.")

    def _add(self, labels: dict[int, str], parents: dict[int, int], changed: Collection[int] = ()) -> None:
        """Add a state; what was undone is forgotten, and ``changed`` nodes are not counted any more."""
        persons = {node: n for node, n in self.nodes.persons.items() if node not in changed and node in labels}
        self.states = [*self.states[: self.at + 1], Nodes(labels, parents, persons)]
        self.at += 1
        if self.saved >= self.at:
            self.saved = -1


def read(engine: Engine, tree: Any, rows: Any, *, attribute: str | None = None) -> Draft:
    """A taxonomy with the transactions at or below each node, or the hierarchy of an attribute with its records, to edit;
    outside a transaction. Trees are what ``anonymize`` takes."""
    if attribute is not None:
        return Draft.of(*supported_hierarchy(engine, tree, rows, attribute))
    taxonomy, persons = supported_taxonomy(engine, tree, rows)
    return Draft.of(taxonomy, [] if persons is None else persons)


def _refused(words: str, hint: str) -> InputError:
    return InputError(words, code="bad_parameter", hint=hint)
