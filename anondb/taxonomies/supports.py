"""The nodes of a taxonomy with their supports, for its owner."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.data.sources import open_source
from anondb.data.taxonomy import Taxonomy, load_taxonomy
from anondb.data.transactions import load_transactions
from anondb.engine import Engine, reads


def supported_taxonomy(
    engine: Engine, taxonomy: Any, transactions: Any = None, *, id_column: str = "tid", item_column: str = "item"
) -> tuple[Taxonomy, npt.NDArray[np.int64] | None]:
    """A taxonomy, and the number of transactions with an item below each node; None without transactions.

    Raises:
        InputError: a source cannot be read, the taxonomy is no tree, or it lacks an item.
    """
    with engine.transaction():
        tree = load_taxonomy(engine, taxonomy)
        if transactions is None:
            return tree, None
        with open_source(engine, transactions, "transactions") as source:
            dataset = load_transactions(engine, source, id_column=id_column, item_column=item_column)
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
