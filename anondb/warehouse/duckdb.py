"""DuckDB as a warehouse: what the results of all other engines are compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import duckdb

from anondb.engine import Table
from anondb.engine.trees import exp
from anondb.warehouse.portable import PortableWarehouse, table_named
from anondb.warehouse.statements import PREFIX

if TYPE_CHECKING:
    import pyarrow as pa


class DuckDBWarehouse(PortableWarehouse):
    """A file of DuckDB, which is only read, or a database in memory. Nothing is spilled to the disk."""

    name, dialect = "DuckDB", "duckdb"
    failures = (duckdb.Error,)

    def __init__(self, path: str = ":memory:", **told: Callable[[str], None] | None) -> None:
        super().__init__(**told)
        self.database = duckdb.connect(path, read_only=path != ":memory:", config={"temp_directory": ""})

    def run(self, statement: exp.Expr, what: str) -> None:
        """Run a statement without a result."""
        self.told(statement, what, self.database.execute)

    def rows(self, query: exp.Query, what: str) -> pa.Table:
        """The rows of a query in Arrow."""
        return self.told(query, what, lambda text: self.database.sql(text).to_arrow_table())

    def load(self, table: Table, kinds: Mapping[str, str], rows: pa.Table) -> None:
        """Create a temporary table with rows."""
        self.database.register("anondb_rows", rows)
        self.create(table.name.removeprefix(PREFIX), exp.select("*").from_("anondb_rows"))
        self.database.unregister("anondb_rows")

    def described(self, reference: Any, columns: Sequence[str]) -> tuple[exp.Table, dict[str, str]]:
        """A table, and the types of its columns."""
        table = table_named(reference, self.dialect)
        rows = self.rows(exp.Describe(this=exp.select("*").from_(table)), "reading the source")  # type: ignore[arg-type]
        return table, dict(zip(rows["column_name"].to_pylist(), rows["column_type"].to_pylist(), strict=True))
