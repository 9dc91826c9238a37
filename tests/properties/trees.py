"""Random taxonomies and transactions, and their coded forms, for tests that compare with tests/reference.py."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from anondb.algorithms.hghs.extended import NO_FAMILY
from anondb.algorithms.hghs.threats import ThreatMiner, Threats
from anondb.data.taxonomy import Taxonomy, from_edges
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.recoding import GlobalRecoding

Children = Mapping[str, Sequence[str]]
Tree = tuple[dict[str, list[str]], str]


def mine_all(miner: ThreatMiner, m: int) -> Threats:
    """All threats of sizes 2 to m over all nodes of the taxonomy, as the paper mines them."""
    nodes = np.arange(len(miner.supports))
    return miner.mine(nodes, np.full(len(nodes), NO_FAMILY), m)


def taxonomy_of(children: Children, root: str) -> Taxonomy:
    """The taxonomy of a dict from inner node to its ordered children."""
    return from_edges([(root, None), *((child, node) for node, below in children.items() for child in below)])


def coded(engine: Engine, transactions: Sequence[Collection[str]]) -> Dataset:
    """Transactions 1..N coded by hand, without the loader; the tables of ids and labels do not exist."""
    labels = sorted({item for t in transactions for item in t})
    number = {label: n for n, label in enumerate(labels)}
    pairs = [(tid, number[item]) for tid, t in enumerate(transactions, 1) for item in sorted(set(t))]
    counts = Counter(item for _, item in pairs)
    return Dataset(
        transactions=engine.put(
            "transactions", {"tid": ("INTEGER", [t for t, _ in pairs]), "item": ("INTEGER", [i for _, i in pairs])}
        ),
        ids=engine.work_table("ids"),
        items=engine.work_table("items"),
        labels=tuple(labels),
        supports=np.array([counts[i] for i in range(len(labels))], dtype=np.int64),
        n_transactions=len(transactions),
        lengths=dict(Counter(len(set(t)) for t in transactions if t)),
        table="transactions",
        id_column="tid",
        item_column="item",
    )


def released(data: Dataset, result: GlobalRecoding, transactions: Iterable[Collection[str]]) -> list[frozenset[str]]:
    """The transactions as a recoding publishes them, by labels."""
    image = {item: n for item, n in zip(data.labels, result.image.tolist(), strict=True) if n >= 0}
    return [frozenset(result.labels[image[i]] for i in t if i in image) for t in transactions]


def random_tree(rnd: random.Random, max_leaves: int = 8) -> Tree:
    """Unbalanced trees: chains of only children, a root with one child, labels in no order, or just a root."""
    names = [f"{prefix}{n}" for prefix in ("", "n", "n1") for n in range(40)]
    names += ["", " ", "é", "'", '"', "\\", "NULL", "%", "a;b", "\U0001f35e"]
    names = list(dict.fromkeys(names))
    rnd.shuffle(names)
    root = names.pop()
    children: dict[str, list[str]] = {}
    leaves = [root]
    chains = rnd.choice([0.0, 0.0, 0.15, 0.3])
    wide = rnd.choice([2, 3, 3, 6])
    while leaves and len(leaves) < rnd.randint(1, max_leaves) and len(names) > wide:
        node = leaves.pop(rnd.randrange(len(leaves)))
        count = 1 if rnd.random() < chains else rnd.randint(2, wide)
        children[node] = [names.pop() for _ in range(count)]
        leaves += children[node]
    return children, root


def random_transactions(rnd: random.Random, leaves: Sequence[str]) -> list[list[str]]:
    """Sparse or dense, with empty and equal ones; some leaves never occur."""
    items = rnd.sample(list(leaves), rnd.randint(1, len(leaves))) if rnd.random() < 0.4 else list(leaves)
    weights = [rnd.choice([0.15, 0.4, 0.7, 0.95]) for _ in items]
    found = [[i for i, w in zip(items, weights, strict=True) if rnd.random() < w] for _ in range(rnd.randint(0, 9))]
    found += [[]] * rnd.choice([0, 0, 1])
    return found + [list(rnd.choice(found)) for _ in range(rnd.randint(0, 4)) if found]
