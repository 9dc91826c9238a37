"""The transactions extended with the taxonomy nodes above their items, as a work table."""

import contextlib
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Runner, Table, put_integers, reads
from anondb.engine.arrays import Ints

NO_FAMILY = -1


class Extended:
    """The ancestor-extended transactions of a dataset; the table is made when it is first needed."""

    def __init__(self, engine: Runner, dataset: Dataset, taxonomy: Taxonomy) -> None:
        # engine, dataset, taxonomy: what it is made of
        self.engine, self.dataset, self.taxonomy = engine, dataset, taxonomy
        self.leaves = taxonomy.leaf_nodes(dataset)  # the leaf of each item, by item number
        self._table: Table | None = None

    @cached_property
    def array_bytes(self) -> int:
        """How many bytes of arrays may be held: as the engine says when it is first asked."""
        return self.engine.array_bytes

    @property
    def table(self) -> Table:
        """The work table ``(tid, node)``: transactions of two and more items, with all nodes above these."""
        if self._table is None:
            items, nodes = self._ancestors()
            tables = {
                "leaves": self.put_leaves(),
                "inner_nodes": put_integers(self.engine, "inner_nodes", item=items, node=nodes),
            }
            bound = {"transactions": self.dataset.transactions, **tables}
            self._table = self.engine.create("extended", "warehouse/threats/extended", bound)
            self.engine.drop(*tables.values())
        return self._table

    def put_leaves(self) -> Table:
        """Create the work table ``(item, node)`` of the leaf of each item."""
        return put_integers(self.engine, "item_leaves", item=np.arange(len(self.leaves)), node=self.leaves)

    def supports(self) -> Ints:
        """The support of each node, by node (0 if it does not occur)."""
        taxonomy = self.taxonomy
        tables = {"extended": self.table, "transactions": self.dataset.transactions}
        counted = self.engine.fetch("warehouse/threats/supports", tables, most=2 * taxonomy.size)
        alone, number, support = (counted[c].astype(np.int64) for c in ("alone", "number", "support"))
        singles = np.zeros(taxonomy.size + 1, dtype=np.int64)
        singles[self.leaves[number[alone == 1]] + 1] = support[alone == 1]
        running = np.cumsum(singles)
        supports: Ints = running[taxonomy.last + 1] - running[: taxonomy.size]
        supports[number[alone == 0]] += support[alone == 0]
        return supports

    @contextlib.contextmanager
    def rows_of(self, name: str, nodes: Ints, family: Ints | None = None) -> Iterator[Table]:
        """A work table of the extended transactions restricted to ``nodes``; it exists during the block."""
        family = np.full(len(nodes), NO_FAMILY) if family is None else family
        table = put_integers(self.engine, "nodes", node=nodes, last=self.taxonomy.last[nodes], family=family)
        shown = "one.tid, one.node, other.last, other.family"
        rows = self.engine.create(name, reads.joined(self.table, table, "node", shown))
        self.engine.drop(table)
        yield rows
        self.engine.drop(rows)

    def close(self) -> None:
        """Drop the table."""
        if self._table is not None:
            self.engine.drop(self._table)
            self._table = None

    def _ancestors(self) -> tuple[Ints, Ints]:
        """All pairs (item, proper ancestor of its leaf), as two arrays."""
        items, nodes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        item, node = np.arange(len(self.leaves)), self.taxonomy.parent[self.leaves]
        while len(node := node[inside := node >= 0]):
            item = item[inside]
            items.append(item)
            nodes.append(node)
            node = self.taxonomy.parent[node]
        return np.concatenate(items), np.concatenate(nodes)
