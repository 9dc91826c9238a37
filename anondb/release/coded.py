"""The rows of a release as integers, read once and shared by the verifier and the accuracy measures."""

from __future__ import annotations

from functools import cached_property

from anondb.engine import Engine, Query, Rows, Table, query_of, reads
from anondb.engine.trees import exp
from anondb.errors import InputError
from anondb.release.objects import SchemaName


class CodedRelease:
    """The rows of a frozen or sealed release in work tables, each created on first use; the original data are never read.
    Use one object at a time, inside one ``engine.transaction()``."""

    def __init__(self, engine: Engine, schema: SchemaName) -> None:
        self._engine = engine
        self._tables: list[Table] = []
        self._rows = {name: schema.table(name) for name in ("transaction_items", "labels")}
        self._ids = schema.table("transaction_ids")

    @cached_property
    def items(self) -> Table:
        """``(item, label)``: the released items that occur, numbered from 0 in code-point order of their labels. Raises
        InputError: ``not_a_release``: rows have item numbers without a label."""
        labels = reads.rows(self._rows["labels"], "item_id", where="item IS NOT NULL")
        used = reads.rows(self._rows["transaction_items"], "item_id", distinct=True)
        if int(self._engine.scalar(reads.counted(reads.among(used, labels, "item_id", "item_id", absent=True)))):
            raise InputError("Rows of the release have no label.", code="not_a_release", hint="Publish it again.")
        return self._make("frozen_items", "warehouse/load/items", source=self._rows["labels"])

    @cached_property
    def transactions(self) -> Table:
        """``(tid, item, copies)``, each pair once; ``tid`` is the ``transaction_id``. Transactions without items have no row
        here: see ``ids``."""
        rows = query_of("release/coded_transactions", {"items": self.items, **self._rows}, {})
        query = reads.rows(rows, "tid, item, copies", order="tid, item")  # joins by tid take half the time then
        if int(self._engine.scalar("release/out_of_order", self._rows)):  # merging takes 15 times as long
            query = reads.summed(rows, "tid, item", "copies")
        return self._make("frozen_transactions", query)

    @property
    def ids(self) -> Query:
        """``(tid, complete)``: one row for every transaction."""
        return reads.rows(self._ids, "transaction_id AS tid, complete")

    @cached_property
    def classes(self) -> Table:
        """``(content_id, content, complete, support)``: the distinct transactions, and the number of copies of each. A
        content is a sorted list of the numbers 2^32 x item + copies, one for each item."""
        return self._make("frozen_contents", "verify/classes", transactions=self.transactions, ids=self.ids)

    def _make(self, target: str, name: str | Query | exp.Query, **tables: Rows) -> Table:
        self._tables.append(self._engine.create(target, name, tables))
        return self._tables[-1]

    def drop(self) -> None:
        """Drop the work tables."""
        self._engine.drop(*self._tables)
