"""Taxonomies: a rooted tree over the items, read from edge tables, wide tables or leaf-to-root path files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from anondb.data.edges import Edge, not_a_tree, read_edges
from anondb.data.transactions import Dataset
from anondb.data.types import not_of_type
from anondb.engine import Engine, reads
from anondb.engine.arrays import Flags, Ints, stretches
from anondb.engine.trees import exp
from anondb.errors import InputError, by_interface


def list_them() -> str:
    """How the owner sees the items, which an error never contains."""
    return by_interface(
        command_line="To list them: anondb anonymize --witnesses N.",
        python="To list them: Database.unknown_items.",
        sql="To list them: the items of the view's query EXCEPT the nodes of the taxonomy that have no child.",
    )


@dataclass(frozen=True, eq=False, repr=False)
class Taxonomy:
    """A rooted tree; nodes are numbered in preorder, children in the order of the source
    (docs/algorithms/conventions.md#taxonomies)."""

    labels: tuple[str, ...]  # label of each node
    parent: Ints  # parent of each node, -1 for the root (node 0)
    last: Ints  # last node of each node's subtree; "x is below or equal to v" means ``v <= x <= last[v]``
    depth: Ints  # distance from the root
    leaf_count: Ints  # number of leaves below or equal to each node
    rank: Ints  # position of each node in breadth-first order, the tie rule for nodes
    name: str = "the taxonomy"  # its name in messages
    # the type of its leaves (``transactions.kind_of``); None if the source is untyped text, such as a CSV file
    kind: str | None = None

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    @property
    def n_leaves(self) -> int:
        """M, the number of leaves of the whole taxonomy."""
        return int(self.leaf_count[0])

    @cached_property
    def is_leaf(self) -> Flags:
        """Whether each node is a leaf."""
        return np.asarray(self.last == np.arange(self.size))

    @cached_property
    def node_of(self) -> dict[str, int]:
        """Node of each label."""
        return {label: node for node, label in enumerate(self.labels)}

    def children(self, node: int) -> Iterator[int]:
        """The children of a node, in order."""
        child, end = node + 1, int(self.last[node])
        while child <= end:
            yield child
            child = int(self.last[child]) + 1

    def leaves(self, node: int) -> Ints:
        """The leaves below or equal to a node."""
        span = np.arange(node, int(self.last[node]) + 1)
        return span[self.is_leaf[span]]

    def labels_below(self, nodes: Ints) -> tuple[Ints, tuple[str, ...]]:
        """The leaves below or equal to each node: for each leaf, the position of its node in ``nodes`` and its label."""
        leaves = np.flatnonzero(self.is_leaf)
        first = np.searchsorted(leaves, nodes)
        number = self.leaf_count[nodes]
        below = leaves[stretches(first, number)]
        return np.repeat(np.arange(len(nodes)), number), tuple([self.labels[leaf] for leaf in below.tolist()])

    def without(self, leaves: Collection[str]) -> Taxonomy:
        """The tree without some leaves, and without nodes that have no others; the same tree if none would be left."""
        gone = [v for v in self.leaves(0).tolist() if self.labels[v] in leaves]
        left = self.leaf_count.copy()
        for node in gone:
            while node >= 0:
                left[node] -= 1
                node = int(self.parent[node])
        if not gone or not left[0]:
            return self
        labels, parent = self.labels, self.parent
        kept = [v for v in np.argsort(self.rank).tolist() if left[v]]
        tree = from_edges((labels[v], labels[int(parent[v])] if v else None) for v in kept)
        return replace(tree, name=self.name, kind=self.kind)

    def leaf_nodes(self, dataset: Dataset) -> Ints:
        """The leaf of each item of the data, by item number. Raises InputError: ``unknown_item`` or ``internal_item``, with
        their number; ``bad_type`` if the items and the nodes have different types."""
        if None not in (self.kind, dataset.item_kind) and self.kind != dataset.item_kind:
            raise InputError(
                f"The items of {dataset.source} have the type {dataset.item_kind}, the leaves of {self.name} {self.kind}.",
                code="bad_type",
                hint="Cast one of them in a view, as in CAST(item AS VARCHAR): items are never converted silently.",
            )
        nodes = self._nodes(dataset)
        if unknown := int((nodes < 0).sum()):
            raise InputError(
                f"{unknown} of {len(nodes)} items of {dataset.source} are not in {self.name}.",
                code="unknown_item",
                hint=f"Add them as leaves, or filter them out. {list_them()}",
            )
        internal = int((~self.is_leaf[nodes]).sum()) if len(nodes) else 0
        if internal:
            raise InputError(
                f"{internal} of {len(nodes)} items of {dataset.source} are inner nodes of {self.name}, not leaves.",
                code="internal_item",
                hint=f"Give each a separate leaf below that node. {list_them()}",
            )
        return nodes

    def not_leaves(self, dataset: Dataset) -> tuple[str, ...]:
        """The labels of the items that are not leaves; for the owner only."""
        nodes = self._nodes(dataset)
        fits = (nodes >= 0) & self.is_leaf[nodes]
        return tuple(label for label, fit in zip(dataset.labels, fits.tolist(), strict=True) if not fit)

    def _nodes(self, dataset: Dataset) -> Ints:
        """The node of each item of the data; -1 for an item that is not in the taxonomy."""
        return np.fromiter((self.node_of.get(label, -1) for label in dataset.labels), dtype=np.int64)


def from_edges(edges: Iterable[Edge]) -> Taxonomy:
    """Build and check a taxonomy from ``(node, parent)`` pairs, in order; the root may have the parent None. Raises
    InputError: ``not_a_tree`` (two parents, a cycle, several roots or none), or an empty taxonomy."""
    parent_of: dict[str, str | None] = {}
    children: dict[str, list[str]] = {}
    doubled: set[str] = set()
    self_loops = 0
    for node, parent in edges:
        if node == parent:
            self_loops += 1
            continue
        if node in parent_of:
            if parent_of[node] != parent:
                doubled.add(node)
            continue
        parent_of[node] = parent
        if parent is not None:
            children.setdefault(parent, []).append(node)
    if self_loops:
        raise not_a_tree(
            f"{self_loops} rows have one node as child and parent.", "Give the root the parent NULL, or leave its row out."
        )
    if doubled:
        swapped = Counter(parent_of.values()).most_common(1)[0][1] <= 1 or len(doubled) > len(parent_of) // 4
        raise not_a_tree(
            f"{len(doubled)} nodes have two or more parents.",
            "Are the columns node and parent swapped?" if swapped else "Each node has one parent.",
        )
    roots = [n for n in dict.fromkeys([*children, *parent_of]) if parent_of.get(n) is None]
    if not parent_of and not children:
        raise InputError("The taxonomy is empty.", code="empty_taxonomy", hint="Give a row (node, parent) for each node.")
    if len(roots) != 1:
        raise not_a_tree(
            f"it has {len(roots)} roots." if roots else "it has no root, so it holds a cycle.",
            "Put them under one root." if roots else None,
        )
    taxonomy = _number(roots[0], children)
    if missed := len({*parent_of, *children}) - taxonomy.size:
        raise not_a_tree(f"{missed} nodes cannot be reached from the root: there is a cycle above.")
    return taxonomy


def _number(root: str, children: dict[str, list[str]]) -> Taxonomy:
    labels: list[str] = []
    above: list[int] = []
    depths: list[int] = []
    stack: list[tuple[str, int]] = [(root, -1)]
    while stack:
        label, parent_node = stack.pop()
        node = len(labels)
        labels.append(label)
        above.append(parent_node)
        depths.append(0 if parent_node < 0 else depths[parent_node] + 1)
        if label in children:
            stack.extend((child, node) for child in reversed(children[label]))
    nodes = np.arange(len(labels))
    parent, depth = np.asarray(above, dtype=np.int64), np.asarray(depths, dtype=np.int64)
    # a level holds its nodes in their order, as breadth-first search visits them
    order = np.argsort(depth, kind="stable")
    rank = np.empty_like(nodes)
    rank[order] = nodes
    subtree = np.ones_like(nodes)
    leaf_count = np.ones_like(nodes)
    leaf_count[parent[1:]] = 0
    levels = np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)
    for level in reversed(levels[1:]):
        np.add.at(subtree, parent[level], subtree[level])
        np.add.at(leaf_count, parent[level], leaf_count[level])
    return Taxonomy(tuple(labels), parent, nodes + subtree - 1, depth, leaf_count, rank)


def load_taxonomy(engine: Engine, taxonomy: Any) -> Taxonomy:
    """Read a taxonomy from a table, view, data frame or file. A table with the columns ``node`` (or ``child``) and
    ``parent`` is an edge list (a column ``ord`` orders siblings, ties go by label); any other table is wide, one column per
    level. ``.tree`` files and ``;``-separated CSV files hold leaf-to-root paths. Raises InputError: the source is not a
    tree, or has NULL nodes."""
    if isinstance(taxonomy, Taxonomy):
        return taxonomy
    edges = read_edges(engine, taxonomy)
    try:
        tree = from_edges(edges.pairs)
    except InputError as error:
        if error.code != "not_a_tree" or not edges.reading:
            raise
        raise InputError(f"{error} {edges.reading}", code=error.code) from None
    return replace(tree, name=edges.name, kind=edges.kind)


def of_type(engine: Engine, taxonomy: Taxonomy, kind: str) -> Taxonomy:
    """The taxonomy without the leaves that no column of a type holds, since its values are written otherwise."""
    if kind == "VARCHAR" or taxonomy.kind is not None:
        return taxonomy
    labels = [taxonomy.labels[v] for v in taxonomy.leaves(0).tolist()]
    listed = engine.put("taxonomy_leaves", {"label": ("VARCHAR", labels)})
    others = reads.rows(listed, "label", where=not_of_type(exp.column("label"), kind))
    excluded = engine.select(others, "the leaves of another type")["label"].tolist()
    engine.drop(listed)
    return taxonomy.without(set(excluded))
