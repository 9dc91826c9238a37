"""Taxonomies: a rooted tree over the items, read from edge tables, wide tables or leaf-to-root path files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from anondb.data.sources import Source, open_source, reading_of, texts_of
from anondb.data.transactions import Dataset
from anondb.data.types import kind_of, not_of_type
from anondb.engine import Engine, reads
from anondb.engine.arrays import Flags, Ints, stretches
from anondb.errors import InputError, by_interface, quote_list
from anondb.reading.files import first_line, text_records
from anondb.reading.formats import suffix_of
from anondb.reading.options import Dialect, ReadAs, Reading, as_read

Edge = tuple[str, str | None]
"""A node and its parent; None for the root."""


@dataclass(frozen=True)
class Edges:
    """What a source says of a taxonomy, before it is checked to be a tree."""

    pairs: list[Edge]  # nodes with their parents, in order
    name: str  # the name of the taxonomy in messages
    kind: str | None = None  # the type of its leaves, as in ``Taxonomy``
    reading: str = ""  # how the source was read, for the message if this makes no tree


def not_a_tree(message: str, hint: str | None = None) -> InputError:
    """The error for edges that are no tree."""
    return InputError(f"The taxonomy is not a tree: {message}", code="not_a_tree", hint=hint)


def edges_of_paths(paths: Sequence[Sequence[str]]) -> list[Edge]:
    """The edges of leaf-to-root paths (``leaf;parent;...;*``, the hierarchy format of ARX, Amnesia, SECRETA). A value
    repeated in the next column (padding of unbalanced hierarchies) counts once. Paths may differ in length, but all must end
    in the root. A path of length one is a taxonomy of a single node."""
    ends: dict[str, None] = dict.fromkeys(path[-1] for path in paths if path)
    steps = dict.fromkeys(_steps(paths))
    return [*((end, None) for end in ends), *((node, above) for node, above in steps if node != above)]


def _steps(paths: Iterable[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The steps of paths; those above the leaf are named once, since many leaves share them."""
    named: set[tuple[str, ...]] = set()
    for path in paths:
        if above := tuple(path[1:]):
            yield path[0], above[0]
        if above not in named:
            named.add(above)
            yield from pairwise(above)


def _root_to_leaf(rows: list[tuple[str, ...]]) -> bool:
    """Whether the first column of a wide table is the coarsest, that is, has fewer distinct values than the last."""
    return len({r[0] for r in rows}) < len({r[-1] for r in rows})


def edges_of_levels(rows: list[tuple[str, ...]]) -> list[Edge]:
    """The edges of a wide table, one column per level, finest or coarsest first; a missing root is added."""
    if not rows:
        raise InputError("The taxonomy is empty.", code="empty_taxonomy", hint="Give one row for each leaf.")
    if _root_to_leaf(rows):
        rows = [tuple(reversed(r)) for r in rows]
    tops = {r[-1] for r in rows}
    if len(tops) > 1:
        taken = {v for r in rows for v in r}
        root = next(c for c in ("*", "ANY", *(f"ANY {i}" for i in range(2, len(taken) + 3))) if c not in taken)
        rows = [(*r, root) for r in rows]
    return edges_of_paths(rows)


def _read_paths(engine: Engine, path: Path, reading: Reading) -> list[Edge] | None:
    """The edges of a file of paths; None if it has columns with a header, as Excel writes it in some countries."""
    try:
        dialect = Dialect(reading.delimiter or ";", reading.quote_char, header=False)
        account, paths = text_records(engine, path, "taxonomy", reading, dialect)
    except InputError as error:
        if error.code != "unreadable":
            raise
        hint = 'Put a label that begins with a quote in quotes, and double the quotes in it: """so"" named".'
        raise InputError(f"The taxonomy {error}", code="bad_file", hint=hint) from None
    if suffix_of(path) != ".tree" and _has_header(paths):
        return None
    engine.account(account)
    return edges_of_paths(paths)


def _has_header(rows: list[list[str]]) -> bool:
    """Whether lines are rows of columns that the first one names: all have as many fields, and it names an edge list,
    or they have several ends, which paths cannot have, and no name occurs again."""
    names = {*map(str.lower, rows[0])} if rows else set[str]()
    if {len(row) for row in rows} != {len(names)} or len(names) == 1:
        return False
    several = len({row[-1] for row in rows}) > 1 and names.isdisjoint(x.lower() for row in rows[1:] for x in row)
    return several or edge_columns(rows[0]) is not None


def edge_columns(columns: Iterable[str]) -> tuple[str, str] | None:
    """The columns ``node`` (or ``child``) and ``parent`` of an edge list; None if one is missing."""
    names = {column.lower(): column for column in columns}
    node = names.get("node", names.get("child"))
    return None if node is None or "parent" not in names else (node, names["parent"])


def read_edges(engine: Engine, taxonomy: Any) -> Edges:
    """Read the edges of a taxonomy, which may be no tree; sources and other errors are those of ``load_taxonomy``."""
    if isinstance(taxonomy, Edges):
        return taxonomy
    data, reading = as_read(taxonomy).data, as_read(taxonomy).reading
    if isinstance(data, str | Path) and suffix_of(data) in (".tree", ".csv", ".txt", ".tsv", ".psv"):
        path = Path(data)
        reading = reading_of(engine, path, "taxonomy", reading)
        first = ";" if suffix_of(path) == ".tree" else first_line(path, reading, "taxonomy")
        if ";" in first and "," not in first:
            if (edges := _read_paths(engine, path, reading)) is not None:
                return Edges(edges, f"the taxonomy in file {path.name!r}")
            reading = replace(reading, delimiter=reading.delimiter or ";")
        taxonomy = ReadAs(path, reading)
    with open_source(engine, taxonomy, "taxonomy") as source:
        return _from_source(engine, source)


def _from_source(engine: Engine, source: Source) -> Edges:
    edges = edge_columns(source.columns)
    title = source.name if "taxonomy" in source.name else f"the taxonomy in {source.name}"
    # else perhaps its first data row
    shown = f"; its columns are {quote_list(list(source.columns))}" if source.typed else ""
    lists = any(source.columns[name].endswith("]") for name in edges or source.columns)
    if lists or (edges is None and len(source.columns) < 2):
        words = "it has neither the columns node (or child) and parent nor one column a level"
        raise InputError(f"{source.name} is no taxonomy: {words}{shown}.", code="bad_taxonomy")
    columns = [source.column(name, "--taxonomy") for name in edges or source.columns]
    order = [c for c in source.columns if c.lower() == "ord"] if edges is not None else []
    rows = texts_of(engine, source, columns, (*order, "c0") if order else ())
    if nulls := sum(None in (row if edges is None else row[:1]) for row in rows):
        what, hint = ("level", "Repeat the value of the finer level.") if edges is None else ("node", None)
        raise InputError(f"{nulls} rows of the taxonomy have a NULL {what}.", code="null_node", hint=hint)
    if edges is None:
        how = "one column a level" if source.typed else "one column a level (its first line is its header)"
        reading = f"{source.name} was read as one column a level, since it has no columns node (or child) and parent{shown}."
        kind = kind_of(source.columns[columns[-1 if _root_to_leaf(rows) else 0]]) if source.typed else None
        return Edges(edges_of_levels(rows), f"{title}, which was read as {how}", kind, reading)
    if (root_rows := sum(parent is None for _, parent in dict.fromkeys(rows))) > 1:
        raise not_a_tree(f"{root_rows} nodes have a NULL parent.", "Only the root may have one.")
    return Edges(rows, title, kind_of(source.columns[columns[0]]) if source.typed else None)


def _list_them() -> str:
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
            words = f"{unknown} of {len(nodes)} items of {dataset.source} are not in {self.name}."
            raise InputError(words, code="unknown_item", hint=f"Add them as leaves, or filter them out. {_list_them()}")
        if internal := int((~self.is_leaf[nodes]).sum()) if len(nodes) else 0:
            words = f"{internal} of {len(nodes)} items of {dataset.source} are inner nodes of {self.name}, not leaves."
            raise InputError(words, code="internal_item", hint=f"Give each a separate leaf below that node. {_list_them()}")
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
    pairs = list(edges)
    parent_of: dict[str, str | None] = {}
    children: dict[str, list[str]] = {}
    for node, parent in pairs:
        if node not in parent_of and parent is not None:
            children.setdefault(parent, []).append(node)
        parent_of.setdefault(node, parent)
    doubled = {node for node, parent in pairs if parent_of[node] != parent}
    if self_loops := sum(node == parent for node, parent in pairs):
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
    numbered: list[tuple[str, int, int]] = []
    stack = [(root, -1, 0)]
    while stack:
        node = label, _, level = stack.pop()
        stack += [(child, len(numbered), level + 1) for child in reversed(children.get(label, ()))]
        numbered.append(node)
    labels, *columns = zip(*numbered, strict=True)
    parent, depth = np.array(columns, dtype=np.int64)
    nodes = np.arange(len(labels))
    # a level holds its nodes in their order, as breadth-first search visits them
    order = np.argsort(depth, kind="stable")
    rank = np.argsort(order, kind="stable")
    last = nodes.copy()
    for below in reversed(np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)[1:]):
        np.maximum.at(last, parent[below], last[below])
    leaves = np.cumsum(np.append(0, last == nodes))  # before each node
    return Taxonomy(labels, parent, last, depth, leaves[last + 1] - leaves[nodes], rank)


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
    others = reads.rows(listed, "label", where=not_of_type("label", kind))
    excluded = engine.select(others, "the leaves of another type")["label"].tolist()
    engine.drop(listed)
    return taxonomy.without(set(excluded))
