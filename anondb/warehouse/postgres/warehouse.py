"""PostgreSQL as a warehouse: temporary tables in one transaction of a connection."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from anondb.engine import Query, Table, Tables
from anondb.engine.texts import Value
from anondb.engine.trees import exp
from anondb.warehouse.portable import PortableWarehouse, column_named
from anondb.warehouse.postgres.fetched import CATALOG
from anondb.warehouse.postgres.place import place_of
from anondb.warehouse.postgres.server import Server
from anondb.warehouse.postgres.tables import collation_error, creation, find_table, reading

if TYPE_CHECKING:
    import pyarrow as pa


class PostgresWarehouse(PortableWarehouse):
    """The database of a connection. Its work is done in one transaction of the level REPEATABLE READ. Every work table is
    analyzed, since the planner believes that a table without statistics is small. No item, id or key stands in the text of a
    statement, which administrators can read: texts go to the server by COPY."""

    name, dialect, schema = "PostgreSQL", "postgres", "pg_temp"
    draw = "gen_random_uuid()"
    sha256 = "sha256(convert_to({}, 'UTF8'))"

    def __init__(self, server: Server, *, on_progress: Callable[[str], None] | None = None) -> None:
        self._server = server
        super().__init__(on_statement=server.on_statement, on_progress=on_progress)

    @property
    def on_statement(self) -> Callable[[str], None] | None:
        """What is called with the text of every statement before it runs."""
        return self._server.on_statement

    @on_statement.setter
    def on_statement(self, told: Callable[[str], None] | None) -> None:
        self._server.on_statement = told

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """One transaction of the level REPEATABLE READ, unless the caller has begun it; work tables go with the block."""
        with contextlib.nullcontext() if self._server.inside else self._server.transaction():
            yield
            self.sweep()

    def sweep(self) -> None:
        """Drop all work tables; a transaction that was rolled back has none."""
        if self._server.inside:
            self.drop(*self._work)
        self._work.clear()

    def run(self, statement: exp.Expr, what: str) -> None:
        """Run a statement without a result."""
        self._server.run(statement, what)

    def rows(self, query: exp.Query, what: str) -> pa.Table:
        """The rows of a query in Arrow."""
        return self._server.rows(query, what)

    def create(self, target: str, name: str | Query | exp.Query, tables: Tables | None = None, **values: Value) -> Table:
        """Create a temporary table from a named query or a tree, and analyze it."""
        return self._analyzed(super().create(target, name, tables, **values))

    def load(self, table: Table, kinds: Mapping[str, str], rows: pa.Table) -> None:
        """Create a temporary table with rows, by COPY."""
        self.run(creation(table.schema, table.name, kinds, temporary=True), "creating a work table")
        self._server.insert(table.schema, table.name, rows)
        self._analyzed(table)

    def _analyzed(self, table: Table) -> Table:
        self.run(exp.Analyze(tables=[table.expression()]), "analyzing a work table")
        return table

    @contextlib.contextmanager
    def rows_of(self, table: Table, columns: Sequence[str]) -> Iterator[Any]:
        """The rows of a work table in Arrow, as they arrive, sorted by all columns."""
        query = exp.select(*map(exp.column, columns)).from_(table.expression()).order_by(*columns)
        with self._server.stream(query, "fetching rows") as batches:
            yield batches

    def described(self, reference: str, columns: Sequence[str]) -> tuple[exp.Table, dict[str, str]]:
        """A table, and the types of the named columns in DuckDB. Raises InputError: ``collation``: PostgreSQL treats
        different texts of a column as equal; ``endless_date``."""
        table = find_table(self._server, reference)
        kinds = {column.name: column.shown for column in table.columns}
        for name in {column_named(kinds, wanted) for wanted in columns}:
            column = next(c for c in table.columns if c.name == name)
            if column.collated:
                raise collation_error(f"The texts of the column {name!r} have")
            kinds |= reading(self._server, replace(table, columns=(column,))).types
        return table.expression(), kinds

    def exact(self, kind: str) -> bool:
        """Also numbers, which are written with as many digits as the column has, and times, which are those of UTC."""
        return super().exact(kind) or kind == "TIMESTAMP" or (kind.startswith("DECIMAL") and kind.endswith(")"))

    def text(self, column: str, kind: str) -> exp.Expr:
        """A column as a text that is compared byte by byte, whatever its collation."""
        value = super().text(column, kind)
        if not super().exact(kind):
            value.set("this", exp.cast(value.this, kind))
        return exp.Collate(this=value, expression=exp.to_identifier("C", quoted=True))

    def names(self, reference: str, id_column: str, item_column: str) -> dict[str, Any]:
        """The names of a source and its columns, and the types of these, as a ``Dataset`` has them."""
        table = find_table(self._server, reference)
        return super().names(reference, id_column, item_column) | {"reference": Table(CATALOG, table.schema, table.name)}


def opened(
    source: str, *, on_statement: Callable[[str], None] | None = None, on_progress: Callable[[str], None] | None = None
) -> tuple[PostgresWarehouse, str]:
    """The warehouse of a URL of a database and, behind ``#``, the name of a table."""
    url, _, table = source.partition("#")
    return PostgresWarehouse(Server(place_of(url), on_statement), on_progress=on_progress), unquote(table)
