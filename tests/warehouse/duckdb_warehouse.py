"""DuckDB as a warehouse: the portable statements on the engine that runs everything else, too."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlglot import exp

from anondb.data.layouts import arranged
from anondb.data.sources import open_source
from anondb.data.transactions import _snapshot
from anondb.data.types import check_types, element_of, released_type
from anondb.engine import Columns, DuckDBEngine, NamedRows, Table, Tables
from anondb.engine.queries import Value
from anondb.warehouse.statements import KEY_BYTES, drawn


class DuckDBWarehouse:
    """The current database of a DuckDB engine.

    Args:
        engine: the engine; work tables are its own.
        array_bytes: how many bytes of arrays an algorithm may hold; by default as the engine says.
    """

    portable_only = True

    def __init__(self, engine: DuckDBEngine, *, array_bytes: int | None = None) -> None:
        self._engine = engine
        self.array_bytes = engine.array_bytes if array_bytes is None else array_bytes
        self.fetched = 0

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """One transaction (``DuckDBEngine.transaction``)."""
        with self._engine.transaction():
            yield

    def progress(self, words: str, share: float | None = None) -> None:
        """Report the current step of long work."""
        self._engine.progress(words, share)

    def create(
        self, target: str, name: str | exp.Query | NamedRows, tables: Tables | None = None, **values: Value
    ) -> Table:
        """Create a work table from a named query or a tree."""
        return self._engine.create(target, name, tables, **values)

    def put(self, target: str, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> Table:
        """Create a work table from arrays."""
        return self._engine.put(target, columns)

    def fetch(
        self, name: str | exp.Query | NamedRows, tables: Tables | None = None, *, most: int, **values: Value
    ) -> Columns:
        """Run a named query or a tree; refuse more than ``most`` rows (``Runner.fetch``)."""
        columns = self._engine.fetch(name, tables, most=most, **values)
        self.fetched += max(map(len, columns.values()))
        return columns

    def drop(self, *tables: Table) -> None:
        """Drop work tables."""
        self._engine.drop(*tables)

    def source(self, reference: Any, id_column: str, item_column: str) -> Table:
        """Copy two columns of a table, a file or a data frame (``Warehouse.source``); lists of items are taken apart."""
        with open_source(self._engine, reference, "transactions") as source:
            source, id_column, item_column = arranged(self._engine, source, id_column, item_column)
            element = check_types(source, id_column, item_column)
            return _snapshot(self._engine, source, id_column, item_column, element).pairs

    def names(self, reference: Any, id_column: str, item_column: str) -> dict[str, Any]:
        """The types of the columns of a source, as a ``Dataset`` has them."""
        with open_source(self._engine, reference, "transactions") as source:
            source, id_column, item_column = arranged(self._engine, source, id_column, item_column)
            item = element_of(source, item_column) or source.columns[item_column]
            return {"id_type": released_type(source.columns[id_column]), "item_type": released_type(item)}

    def number(self, source: Table) -> Table:
        """Number the distinct ids in the order of their digests under a key, which is not kept."""
        key = self._engine.put("key", {"key": ("VARCHAR", [os.urandom(KEY_BYTES).hex()])})
        draws = drawn(source, key)
        number = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[exp.column("draw"), exp.column("id")]))
        ids = exp.select(exp.cast(number, "INTEGER").as_("tid"), "id").from_(draws.subquery("draws"))
        numbered = self._engine.create("ids", ids)
        self._engine.drop(key)
        return numbered
