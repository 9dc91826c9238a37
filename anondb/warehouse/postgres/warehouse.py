"""PostgreSQL as a warehouse: temporary tables in one transaction of a connection."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from anondb.data.types import kind_of, released_type
from anondb.engine import Columns, NamedRows, Table, Tables
from anondb.engine.failures import at_most
from anondb.engine.queries import Value
from anondb.engine.telling import Progress
from anondb.errors import InputError
from anondb.warehouse.postgres.fetched import CATALOG
from anondb.warehouse.postgres.server import Server
from anondb.warehouse.postgres.tables import Column, collation_error, creation, find_table, named, type_of
from anondb.warehouse.statements import PREFIX, arrow_rows, bad_type, columns_of, limited, tree_of, what

WHOLE = ("SMALLINT", "INTEGER", "BIGINT")
TEXTS = ("VARCHAR", "BOOLEAN", "DATE")  # whose texts are equal if and only if they are
TEMPORARY = "pg_temp"


class PostgresWarehouse:
    """The database of a connection. Its work is done in one transaction of the level REPEATABLE READ.

    Every work table is analyzed, since the planner believes that a table without statistics is small. No item, id or key
    stands in the text of a statement, which administrators can read: texts go to the server by COPY.

    Args:
        server: the connection.
        on_progress: called with a short text on the current step of long work.
    """

    portable_only, array_bytes = True, 0

    def __init__(self, server: Server, *, on_progress: Callable[[str], None] | None = None) -> None:
        self._server, self._on_progress = server, on_progress
        self._work: set[Table] = set()
        self.fetched = 0

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """One transaction of the level REPEATABLE READ, unless the caller has begun it; work tables go with the block."""
        with contextlib.nullcontext() if self._server.inside else self._server.transaction():
            yield
            self.sweep()

    def begin(self) -> None:
        """Nothing: the engine has begun the transaction."""

    def sweep(self) -> None:
        """Drop all work tables; a transaction that was rolled back has none."""
        if self._server.inside:
            self.drop(*self._work)
        self._work.clear()

    def progress(self, words: str, share: float | None = None) -> None:
        """Report the current step of long work to ``on_progress``."""
        if self._on_progress is not None:
            self._on_progress(Progress.of(words, share))

    # ------------------------------------------------------------------ work tables and queries

    def create(
        self, target: str, name: str | exp.Query | NamedRows, tables: Tables | None = None, **values: Value
    ) -> Table:
        """Create a temporary table from a named query or a tree, and analyze it."""
        table = self._work_table(target)
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        body = tree_of(name, tables, values)
        made = exp.Create(this=table.expression(), kind="TABLE", expression=body, properties=temporary)
        self._server.run_all([made, exp.Analyze(tables=[table.expression()])], what(name))
        return table

    def put(self, target: str, columns: Mapping[str, tuple[str, Iterable[Any]]]) -> Table:
        """Create a temporary table from arrays, by COPY."""
        table = self._work_table(target)
        kinds = {name: kind for name, (kind, _) in columns.items()}
        self._server.run(creation(TEMPORARY, table.name, kinds, temporary=True), "creating a work table")
        self._server.insert(TEMPORARY, table.name, arrow_rows(columns))
        self._server.run(exp.Analyze(tables=[table.expression()]), "analyzing a work table")
        return table

    def fetch(
        self, name: str | exp.Query | NamedRows, tables: Tables | None = None, *, most: int, **values: Value
    ) -> Columns:
        """Run a named query or a tree; refuse more than ``most`` rows (``Runner.fetch``)."""
        rows = self._server.rows(limited(tree_of(name, tables, values), most), what(name))
        self.fetched += rows.num_rows
        return at_most(most, columns_of(rows))

    def drop(self, *tables: Table) -> None:
        """Drop temporary tables."""
        for table in tables:
            self._server.run(exp.Drop(tables=[table.expression()], kind="TABLE", exists=True), "dropping a work table")
        self._work.difference_update(tables)

    # ------------------------------------------------------------------ sources

    def source(self, reference: str, id_column: str, item_column: str) -> Table:
        """Copy two columns of a table or view ``name`` or ``schema.name`` (``Warehouse.source``)."""
        return self.create("source", self.pairs(reference, id_column, item_column))

    def has_rows(self, query: exp.Select, least: int) -> bool:
        """Whether a query has at least ``least`` rows."""
        count = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(query.limit(least).subquery("some_rows"))
        return bool(self.fetch(count, most=1)["n"][0] >= least)

    def names(self, reference: str, id_column: str, item_column: str) -> dict[str, Any]:
        """The names of a source and its columns, and the types of these, as a ``Dataset`` has them."""
        table = find_table(self._server, reference)
        ids, items = (_column(table.columns, name) for name in (id_column, item_column))
        return {
            "table": table.name,
            "reference": Table(CATALOG, table.schema, table.name),
            "source": f"the table {table.schema}.{table.name}",
            "id_column": ids.name,
            "item_column": items.name,
            "item_kind": kind_of(type_of(items)),
            "id_type": released_type(type_of(ids)),
            "item_type": released_type(type_of(items)),
        }

    @contextlib.contextmanager
    def rows_of(self, table: Table, columns: Sequence[str]) -> Iterator[Any]:
        """The rows of a work table in Arrow, as they arrive, sorted by all columns."""
        query = exp.select(*map(exp.column, columns)).from_(table.expression()).order_by(*columns)
        with self._server.stream(query, "fetching rows") as batches:
            yield batches

    def pairs(self, reference: str, id_column: str, item_column: str) -> exp.Select:
        """A query for the ids and items of a table that ``source`` takes; only the catalog is read.

        Raises:
            InputError: see ``Warehouse.source``.
        """
        table = find_table(self._server, reference)
        ids, items = (_column(table.columns, name) for name in (id_column, item_column))
        return exp.select(_comparable(ids).as_("id"), _text(items).as_("item")).from_(table.expression())

    def number(self, source: Table) -> Table:
        """Number the distinct ids in the order of random UUIDs, which the server draws."""
        order = exp.Order(expressions=[exp.Anonymous(this="gen_random_uuid")])
        number = exp.Window(this=exp.RowNumber(), order=order)
        ids = exp.select("id").distinct().from_(source.expression())
        return self.create("ids", exp.select(exp.cast(number, "INTEGER").as_("tid"), "id").from_(ids.subquery("ids")))

    def _work_table(self, name: str) -> Table:
        table = Table("", TEMPORARY, PREFIX + name)
        self._work.add(table)
        return table


def _column(columns: tuple[Column, ...], wanted: str) -> Column:
    """A column by its name; as in DuckDB, the search ignores case if it has to."""
    exact = [c for c in columns if c.name == wanted] or [c for c in columns if c.name.lower() == wanted.lower()]
    if len(exact) != 1:
        raise InputError(
            f"The source has no column {wanted!r}.",
            code="no_such_column",
            hint="Name the columns with --id and --item (in Python id and item).",
        )
    return exact[0]


def _comparable(column: Column) -> exp.Expr:
    """A column as a whole number, or as a text that is equal if and only if the values are."""
    return exp.cast(named(column.name), "BIGINT") if type_of(column) in WHOLE else _text(column)


def _text(column: Column) -> exp.Expr:
    """A column as a text that is compared byte by byte, whatever its collation.

    Raises:
        InputError: ``collation``: PostgreSQL treats different texts of the column as equal; ``bad_type``.
    """
    if column.collated:
        raise collation_error(f"The texts of the column {column.name!r} have")
    kind = type_of(column)
    if kind not in (*WHOLE, *TEXTS):
        raise bad_type(column.name, column.shown, several=kind == "JSON" or kind.endswith("[]"))
    return exp.Collate(this=exp.cast(named(column.name), "TEXT"), expression=exp.to_identifier("C", quoted=True))
