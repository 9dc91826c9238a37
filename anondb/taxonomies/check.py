"""Check a taxonomy: is it a tree, does it have the items of the data, and what shape does it have? For its owner only."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np

from anondb.data.sources import open_source, reading_as
from anondb.data.taxonomy import Edge, Taxonomy, from_edges, load_taxonomy, read_edges
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine, reads
from anondb.engine.arrays import Ints
from anondb.errors import InputError


@dataclass(frozen=True)
class Shape:
    """The shape of a tree."""

    # nodes, leaves: their numbers
    nodes: int
    leaves: int
    depths: tuple[int, float, int]  # the least, median and largest number of steps from the root to a leaf
    fan_outs: tuple[int, float, int] | None  # the least, median and largest number of children of an inner node
    # the share of the leaves below the child of the root that has most of them: 1 / number of children in a balanced
    # tree
    largest: float
    single_children: tuple[str, ...]  # the labels of inner nodes with one child; generalizing to them tells no less


@dataclass(frozen=True)
class Checked:
    """What a check of a taxonomy says."""

    name: str  # the name of the taxonomy in messages
    # labels of the nodes at fault, by kind: ``own parent``, ``several parents``, ``several roots``, ``cycle``
    faults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shape: Shape | None = None  # the shape of the tree; None if it is none
    missing: tuple[str, ...] = ()  # items of the data that are no nodes
    # items of the data that are inner nodes, so that they cannot be told from the items below
    internal: tuple[str, ...] = ()
    unused: int | None = None  # the number of leaves that no transaction has; None without transactions
    # the types of the items and of the leaves if they differ, so that none of them is compared
    types: tuple[str, str] | None = None

    @property
    def fits(self) -> bool:
        """Whether it can be used: it is a tree whose leaves include all items of the data."""
        return not (self.faults or self.missing or self.internal or self.types)

    def to_json(self) -> dict[str, Any]:
        """The check as JSON values."""
        return {"fits": self.fits, **asdict(self)}


def check_taxonomy(engine: Engine, taxonomy: Any, transactions: Any = None) -> Checked:
    """Check a taxonomy, with ``transactions`` also against the items of the data."""
    with reading_as(engine, transactions), engine.transaction():
        dataset = None if transactions is None else _dataset(engine, transactions)
        items = (None, None) if dataset is None else (dataset.labels, dataset.item_kind)
        return checked(engine, taxonomy, *items)


def checked(engine: Engine, taxonomy: Any, labels: Sequence[str] | None, kind: str | None = None) -> Checked:
    """Check a taxonomy, with ``labels`` also against these items or values and their type; inside a transaction. Errors are
    those of ``check_taxonomy``."""
    edges = read_edges(engine, taxonomy)
    if faults := faults_of(edges.pairs):
        return Checked(edges.name, faults)
    tree = from_edges(edges.pairs)
    if labels is None:
        return Checked(edges.name, shape=_shape(tree))
    if edges.kind is not None and kind is not None and kind != edges.kind:
        return Checked(edges.name, shape=_shape(tree), types=(kind, edges.kind))
    inner = set(np.array(tree.labels, dtype=object)[~tree.is_leaf].tolist())
    missing = tuple(label for label in labels if label not in tree.node_of)
    internal = tuple(label for label in labels if label in inner)
    unused = tree.n_leaves - (len(labels) - len(missing) - len(internal))
    return Checked(edges.name, shape=_shape(tree), missing=missing, internal=internal, unused=unused)


def with_missing(engine: Engine, taxonomy: Any, transactions: Any, under: str) -> tuple[Taxonomy, int]:
    """The taxonomy with the items that it lacks as leaves below a node, or below a new one under the root, and their number;
    outside a transaction. Raises InputError: ``not_a_tree``; ``bad_parameter`` if ``under`` is a leaf or an item."""
    with reading_as(engine, transactions), engine.transaction():
        edges = read_edges(engine, taxonomy)
        tree = from_edges(edges.pairs)
        dataset = _dataset(engine, transactions)
    missing = [label for label in dataset.labels if label not in tree.node_of]
    at = tree.node_of.get(under)
    if not under or under in dataset.labels or (at is not None and at and tree.is_leaf[at]):
        raise InputError(
            "Items can be added below an inner node or a new node, not below a leaf or an item.",
            code="bad_parameter",
            hint="Name another node with --add-missing.",
        )
    pairs: list[Edge] = [*dict.fromkeys(edges.pairs)]
    if missing and at is None:
        pairs.append((under, tree.labels[0]))
    complete = from_edges([*pairs, *((label, under) for label in missing)])
    return replace(complete, kind=dataset.item_kind), len(missing)


def _dataset(engine: Engine, transactions: Any) -> Dataset:
    with open_source(engine, transactions, "transactions") as source:
        return load_transactions(engine, source)


def faults_of(edges: Sequence[Edge]) -> dict[str, tuple[str, ...]]:
    """The labels of the nodes because of which edges are no tree, by kind; empty for a tree."""
    parents: dict[str, dict[str | None, None]] = defaultdict(dict)
    for node, parent in edges:
        parents[node].setdefault(parent)
    nodes = dict.fromkeys([*parents, *(parent for _, parent in edges if parent is not None)])
    faults = {
        "own parent": tuple(node for node in parents if node in parents[node]),
        "several parents": tuple(node for node in parents if len(parents[node]) > 1 and node not in parents[node]),
    }
    if not any(faults.values()):
        above = {node: next(iter(of)) for node, of in parents.items()}
        roots = tuple(node for node in nodes if above.get(node) is None)
        faults = {"several roots": roots if len(roots) > 1 else (), "cycle": _on_cycles(above, nodes)}
    return {kind: labels for kind, labels in faults.items() if labels}


def _on_cycles(above: Mapping[str, str | None], nodes: Mapping[str, None]) -> tuple[str, ...]:
    """The nodes on cycles of nodes with one parent each."""
    state: dict[str, int] = {}  # the walk that reached a node first
    cycles: list[str] = []
    for number, start in enumerate(nodes):
        path: list[str] = []
        node: str | None = start
        while node is not None and node not in state:
            state[node] = number
            path.append(node)
            node = above.get(node)
        if node is not None and state[node] == number:
            cycles += path[path.index(node) :]
    return tuple(cycles)


def _shape(tree: Taxonomy) -> Shape:
    fan_out = np.bincount(tree.parent[1:], minlength=tree.size) if tree.size > 1 else np.zeros(1, dtype=np.int64)
    depths, inner = tree.depth[tree.is_leaf].tolist(), fan_out[fan_out > 0].tolist()
    largest = max((int(tree.leaf_count[node]) for node in tree.children(0)), default=1)
    single = np.flatnonzero(fan_out == 1).tolist()
    return Shape(
        nodes=tree.size,
        leaves=tree.n_leaves,
        depths=(min(depths), median(depths), max(depths)),
        fan_outs=(min(inner), median(inner), max(inner)) if inner else None,
        largest=largest / tree.n_leaves,
        single_children=tuple(tree.labels[node] for node in single),
    )


def supported_taxonomy(engine: Engine, taxonomy: Any, transactions: Any = None) -> tuple[Taxonomy, Ints | None]:
    """A taxonomy, and the number of transactions with an item below each node; None without transactions. Raises InputError:
    a source cannot be read, the taxonomy is no tree, or it lacks an item."""
    with reading_as(engine, transactions), engine.transaction():
        tree = load_taxonomy(engine, taxonomy)
        if transactions is None:
            return tree, None
        dataset = _dataset(engine, transactions)
        items, nodes = [], []
        for item, leaf in enumerate(tree.leaf_nodes(dataset).tolist()):
            node = leaf
            while node >= 0:
                items.append(item)
                nodes.append(node)
                node = int(tree.parent[node])
        above = engine.put("taxonomy_above", {"item": ("INTEGER", items), "node": ("INTEGER", nodes)})
        number = "other.node, count(DISTINCT one.tid) AS transactions"
        holding = reads.joined(dataset.transactions, above, "item", number, group="other.node", order="node")
        rows = engine.select(holding)
        engine.drop(above)
    supports = np.zeros(tree.size, dtype=np.int64)
    supports[rows["node"]] = rows["transactions"]
    return tree, supports
