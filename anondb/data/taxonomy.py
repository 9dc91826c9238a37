"""Taxonomies: a rooted tree over the items, read from edge tables, wide tables or leaf-to-root path files."""

from __future__ import annotations

import csv
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.data.sources import Source, open_source, reading
from anondb.data.transactions import MAX_LABEL_BYTES, Dataset, kind_of
from anondb.engine import Engine
from anondb.errors import InputError, quote_list

Ints = npt.NDArray[np.int64]
LIST_THEM = "To list them: anondb anonymize --witnesses N, or Database.unknown_items in Python."


@dataclass(frozen=True, eq=False, repr=False)
class Taxonomy:
    """A rooted tree; nodes are numbered in preorder, children in the order of the source
    (docs/algorithms/conventions.md#taxonomies).

    Attributes:
        labels: label of each node.
        parent: parent of each node, -1 for the root (node 0).
        last: last node of each node's subtree; "x is below or equal to v" means ``v <= x <= last[v]``.
        depth: distance from the root.
        leaf_count: number of leaves below or equal to each node.
        rank: position of each node in breadth-first order, the tie rule for nodes.
        name: its name in messages.
        kind: the type of its leaves (``transactions.kind_of``); None if the source is untyped text, such as a CSV file.
    """

    labels: tuple[str, ...]
    parent: Ints
    last: Ints
    depth: Ints
    leaf_count: Ints
    rank: Ints
    name: str = "the taxonomy"
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
    def is_leaf(self) -> npt.NDArray[np.bool_]:
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
        of = np.repeat(np.arange(len(nodes)), number)
        place = np.arange(len(of)) + np.repeat(first - (np.cumsum(number) - number), number)
        return of, tuple([self.labels[leaf] for leaf in leaves[place].tolist()])

    def leaf_nodes(self, dataset: Dataset) -> Ints:
        """The leaf of each item of the data, by item number.

        Raises:
            InputError: ``unknown_item`` or ``internal_item``, with their number; ``bad_type`` if the items and the nodes
                have different types.
        """
        if None not in (self.kind, dataset.item_kind) and self.kind != dataset.item_kind:
            raise InputError(
                f"The items of {dataset.source} have the type {dataset.item_kind}, the leaves of {self.name} {self.kind}.",
                code="bad_type",
                hint="Cast one of them in a view, as in CAST(item AS VARCHAR): items are never converted silently.",
            )
        nodes = self._nodes(dataset)
        unknown = int((nodes < 0).sum())
        if unknown:
            raise InputError(
                f"{unknown} of {len(nodes)} items of {dataset.source} are not in {self.name}.",
                code="unknown_item",
                hint=f"Add them as leaves, or filter them out. {LIST_THEM}",
            )
        internal = int((~self.is_leaf[nodes]).sum()) if len(nodes) else 0
        if internal:
            raise InputError(
                f"{internal} of {len(nodes)} items of {dataset.source} are inner nodes of {self.name}, not leaves.",
                code="internal_item",
                hint=f"Give each a separate leaf below that node. {LIST_THEM}",
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


def _not_a_tree(message: str, hint: str | None = None) -> InputError:
    return InputError(f"The taxonomy is not a tree: {message}", code="not_a_tree", hint=hint)


def from_edges(edges: Iterable[tuple[str, str | None]]) -> Taxonomy:
    """Build and check a taxonomy from ``(node, parent)`` pairs, in order; the root may have the parent None.

    Raises:
        InputError: ``not_a_tree`` (two parents, a cycle, several roots or none), or an empty taxonomy.
    """
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
        raise _not_a_tree(
            f"{self_loops} nodes are their own parent.", "Give the root the parent NULL, or leave its row out."
        )
    if doubled:
        swapped = Counter(parent_of.values()).most_common(1)[0][1] <= 1 or len(doubled) > len(parent_of) // 4
        raise _not_a_tree(
            f"{len(doubled)} nodes have two or more parents.",
            "Are the columns node and parent swapped?" if swapped else "Each node has one parent.",
        )
    roots = [n for n in dict.fromkeys([*children, *parent_of]) if parent_of.get(n) is None]
    if not parent_of and not children:
        raise InputError(
            "The taxonomy is empty.", code="empty_taxonomy", hint="Give a row (node, parent) for each node."
        )
    if len(roots) != 1:
        raise _not_a_tree(
            f"it has {len(roots)} roots." if roots else "it has no root, so it holds a cycle.",
            "Put them under one root." if roots else None,
        )
    taxonomy = _number(roots[0], children)
    if taxonomy.size != len(set(parent_of) | set(children)):
        missed = len(set(parent_of) | set(children)) - taxonomy.size
        raise _not_a_tree(f"{missed} nodes cannot be reached from the root, so they lie on or below a cycle.")
    return taxonomy


def _number(root: str, children: dict[str, list[str]]) -> Taxonomy:
    labels: list[str] = []
    parent: list[int] = []
    depth: list[int] = []
    stack: list[tuple[str, int]] = [(root, -1)]
    while stack:
        label, above = stack.pop()
        node = len(labels)
        labels.append(label)
        parent.append(above)
        depth.append(0 if above < 0 else depth[above] + 1)
        stack.extend((child, node) for child in reversed(children.get(label, ())))
    size = len(labels)
    last = list(range(size))
    leaf_count = [0 if label in children else 1 for label in labels]
    for node in range(size - 1, 0, -1):
        above = parent[node]
        last[above] = max(last[above], last[node])
        leaf_count[above] += leaf_count[node]
    rank = [0] * size
    below: list[list[int]] = [[] for _ in range(size)]
    for node in range(1, size):
        below[parent[node]].append(node)
    queue, position = deque([0]), 0
    while queue:
        node = queue.popleft()
        rank[node] = position
        position += 1
        queue.extend(below[node])
    arrays = (np.asarray(a, dtype=np.int64) for a in (parent, last, depth, leaf_count, rank))
    return Taxonomy(tuple(labels), next(arrays), next(arrays), next(arrays), next(arrays), next(arrays))


def from_paths(paths: Sequence[Sequence[str]]) -> Taxonomy:
    """Build a taxonomy from leaf-to-root paths (``leaf;parent;...;*``, the hierarchy format of ARX, Amnesia, SECRETA).

    A value repeated in the next column (padding of unbalanced hierarchies) counts once. Paths may differ in length, but
    all must end in the root. A path of length one is a taxonomy of a single node.
    """
    steps = dict.fromkeys(chain.from_iterable(map(pairwise, paths)))
    ends: dict[str, None] = dict.fromkeys(path[-1] for path in paths if path)
    return from_edges([*((end, None) for end in ends), *((node, above) for node, above in steps if node != above)])


def _root_to_leaf(rows: list[tuple[str, ...]]) -> bool:
    """Whether the first column of a wide table is the coarsest, that is, has fewer distinct values than the last."""
    return len({r[0] for r in rows}) < len({r[-1] for r in rows})


def from_wide(rows: list[tuple[str, ...]]) -> Taxonomy:
    """Build a taxonomy from a wide table, one column per level, finest or coarsest first; a missing root is added."""
    if not rows:
        raise InputError("The taxonomy is empty.", code="empty_taxonomy", hint="Give one row for each leaf.")
    if _root_to_leaf(rows):
        rows = [tuple(reversed(r)) for r in rows]
    tops = {r[-1] for r in rows}
    if len(tops) > 1:
        taken = {v for r in rows for v in r}
        root = next(c for c in ("*", "ANY", *(f"ANY {i}" for i in range(2, len(taken) + 3))) if c not in taken)
        rows = [(*r, root) for r in rows]
    return from_paths(rows)


def _read_paths(path: Path) -> Taxonomy:
    limit = csv.field_size_limit(MAX_LABEL_BYTES)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _from_path_rows([row for row in csv.reader(file, delimiter=";", strict=True) if row])
    except UnicodeDecodeError:
        raise InputError(f"The taxonomy file {path.name!r} is not valid UTF-8.", code="bad_unicode") from None
    except csv.Error:
        raise InputError(
            f"The taxonomy file {path.name!r} cannot be read as ;-separated paths.",
            code="bad_file",
            hint='Put a label that begins with a quote in quotes, and double the quotes in it: """so"" named".',
        ) from None
    finally:
        csv.field_size_limit(limit)


def _from_path_rows(paths: list[list[str]]) -> Taxonomy:
    """Build the taxonomy of a ``;``-separated file: paths, or an edge list if the first line names its columns."""
    columns = edge_columns(paths[0]) if paths else None
    if columns is None or any(len(path) != len(paths[0]) for path in paths):
        return from_paths(paths)
    node, parent = (paths[0].index(name) for name in columns)
    return from_edges((path[node], path[parent] or None) for path in paths[1:])


def edge_columns(columns: Iterable[str]) -> tuple[str, str] | None:
    """The columns ``node`` (or ``child``) and ``parent`` of an edge list; None if one is missing."""
    names = {column.lower(): column for column in columns}
    node = names.get("node", names.get("child"))
    return None if node is None or "parent" not in names else (node, names["parent"])


def _is_path_file(path: Path) -> bool:
    """Whether a file holds paths: it ends in .tree, or its first line has semicolons and no commas."""
    if path.suffix.lower() == ".tree":
        return True
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = file.readline()
    return ";" in first and "," not in first


def load_taxonomy(engine: Engine, taxonomy: Any) -> Taxonomy:
    """Read a taxonomy from a table, view, data frame or file.

    A table with the columns ``node`` (or ``child``) and ``parent`` is an edge list (a column ``ord`` orders siblings,
    ties go by label); any other table is wide, one column per level. ``.tree`` files and ``;``-separated CSV files hold
    leaf-to-root paths.

    Raises:
        InputError: the source is not a tree, or has NULL nodes.
    """
    if isinstance(taxonomy, Taxonomy):
        return taxonomy
    if isinstance(taxonomy, str | Path) and Path(taxonomy).suffix.lower() in (".tree", ".csv", ".txt"):
        path = Path(taxonomy)
        if not path.is_file():
            raise InputError(f"The taxonomy file {path.name!r} does not exist.", code="no_such_file")
        try:
            if _is_path_file(path):
                return replace(_read_paths(path), name=f"the taxonomy in file {path.name!r}")
        except OSError:
            raise InputError(
                f"The taxonomy file {path.name!r} cannot be read.",
                code="no_such_file",
                hint="Check its permissions.",
            ) from None
        taxonomy = path
    with open_source(engine, taxonomy, "taxonomy") as source:
        return _from_source(engine, source)


def _texts(engine: Engine, source: Source, columns: Sequence[str], order: str | None) -> list[tuple[str | None, ...]]:
    from sqlglot import exp

    inner = exp.Subquery(this=source.query.copy(), alias=exp.TableAlias(this=exp.to_identifier("source")))
    names = [source.column(c, "--taxonomy") for c in columns]
    wanted = [
        exp.cast(exp.column(exp.to_identifier(c, quoted=True)), "VARCHAR").as_(f"c{i}") for i, c in enumerate(names)
    ]
    query = exp.select(*wanted).from_(inner)
    if order:
        query = query.order_by(exp.column(exp.to_identifier(order, quoted=True)), wanted[0].this.copy())
    with reading(source.name):
        rows = engine.select(query, f"reading {source.name}")
    return list(zip(*(_with_none(rows[f"c{i}"]) for i in range(len(columns))), strict=True))


def _with_none(column: npt.NDArray[Any]) -> list[str | None]:
    if isinstance(column, np.ma.MaskedArray):
        return [None if m else v for v, m in zip(column.data, np.ma.getmaskarray(column), strict=True)]
    return list(column.tolist())


def _from_source(engine: Engine, source: Source) -> Taxonomy:
    names = {c.lower(): c for c in source.columns}
    edges = edge_columns(source.columns)
    title = source.name if "taxonomy" in source.name else f"the taxonomy in {source.name}"
    if edges is not None:
        rows = _texts(engine, source, edges, names.get("ord"))
        nulls = sum(node is None for node, _ in rows)
        if nulls:
            raise InputError(f"{nulls} rows of the taxonomy have a NULL node.", code="null_node")
        root_rows = sum(parent is None for _, parent in dict.fromkeys(rows))
        if root_rows > 1:
            raise _not_a_tree(f"{root_rows} nodes have a NULL parent.", "Only the root may have one.")
        tree = from_edges((str(node), parent) for node, parent in rows)
        return replace(tree, name=title, kind=kind_of(source.columns[edges[0]]) if source.typed else None)
    shown = (
        f"; its columns are {quote_list(list(source.columns))}" if source.typed else ""
    )  # else perhaps its first data row
    if len(names) < 2:
        raise InputError(
            f"{source.name} is no taxonomy: it has neither the columns node (or child) and parent nor one column a level"
            f"{shown}.",
            code="bad_taxonomy",
        )
    rows = _texts(engine, source, list(source.columns), None)
    nulls = sum(None in row for row in rows)
    if nulls:
        raise InputError(
            f"{nulls} rows of the taxonomy have a NULL level.",
            code="null_node",
            hint="Repeat the value of the finer level.",
        )
    levels = [tuple(str(v) for v in row) for row in rows]
    try:
        tree = from_wide(levels)
    except InputError as error:
        if error.code != "not_a_tree":
            raise
        raise InputError(
            f"{error} {source.name} was read as one column a level, since it has no columns node (or child) and parent"
            f"{shown}.",
            code=error.code,
        ) from None
    finest = list(source.columns.values())[-1 if _root_to_leaf(levels) else 0]
    kind = kind_of(finest) if source.typed else None
    how = "one column a level" if source.typed else "one column a level (its first line is its header)"
    return replace(tree, name=f"{title}, which was read as {how}", kind=kind)
