"""Warehouses with a table of transactions, for tests that run the same on each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from anondb.engine import Columns, Table, load

Pair = tuple[Any, str | None]


class OnDuckDB:
    """DuckDB by portable statements alone."""

    def __init__(self, engine: Any) -> None:
        from warehouse.duckdb_warehouse import DuckDBWarehouse

        self.texts: list[str] = []
        engine._on_statement = self.texts.append
        self.warehouse: Any = DuckDBWarehouse(engine, array_bytes=0)
        self._engine = engine

    def source(self, pairs: Sequence[Pair]) -> Any:
        """Make a table of rows ``(tid, item)``; returns what ``Warehouse.source`` takes."""
        connection = self._engine._connection
        connection.execute("CREATE OR REPLACE TABLE sales (tid BIGINT, item VARCHAR)")
        if pairs:
            connection.executemany("INSERT INTO sales VALUES (?, ?)", [list(p) for p in pairs])
        return "sales"


class OnPostgres:
    """PostgreSQL: the schema ``sales`` of a database."""

    def __init__(self, databases: Any) -> None:
        from anondb.warehouse.postgres.place import place_of
        from anondb.warehouse.postgres.server import Server
        from anondb.warehouse.postgres.warehouse import PostgresWarehouse

        self.texts: list[str] = []
        self.server = Server(place_of(databases.raw_url()), self.texts.append)
        self.warehouse: Any = PostgresWarehouse(self.server)
        self.databases = databases

    def source(self, pairs: Sequence[Pair]) -> Any:
        self.databases.sql("DROP TABLE IF EXISTS sales.food")
        self.databases.sql("CREATE TABLE sales.food (tid bigint, item text)")
        self.databases.copy("sales.food", list(pairs))
        return "sales.food"


class OnSpark:
    """Spark."""

    def __init__(self, session: Any, **options: Any) -> None:
        from anondb.warehouse.spark.warehouse import SparkWarehouse

        self.texts: list[str] = []
        self.warehouse: Any = SparkWarehouse(session, on_statement=self.texts.append, **options)
        self.session = session

    def source(self, pairs: Sequence[Pair]) -> Any:
        import pyarrow as pa

        columns = {
            "tid": pa.array([t for t, _ in pairs], pa.int64()),
            "item": pa.array([i for _, i in pairs], pa.string()),
        }
        return self.session.createDataFrame(pa.table(columns))


def rows_of(columns: Columns) -> list[tuple[Any, ...]]:
    """The rows of columns, sorted."""
    return sorted(zip(*(c.tolist() for c in columns.values()), strict=True), key=repr)


LABELLED = ("released_item", "item")
TEXTS = {
    ("warehouse/load", "source", "id"),
    ("warehouse/load", "source", "item"),
    ("warehouse/load", "ids", "id"),
    ("warehouse/release", "labels", "item"),
    ("warehouse/release", "supports", "released_item"),
    *(("warehouse/release", table, column) for table in ("members", "released_items") for column in LABELLED),
    *(("warehouse/verify", table, column) for table in ("item_supports", "released_items") for column in LABELLED),
}


def kind_of(query: str, table: str, column: str) -> str:
    """The type of a column that a portable statement reads."""
    if column == "label" or (query.rpartition("/")[0], table, column) in TEXTS:
        return "VARCHAR"
    if column == "weight":
        return "DOUBLE"
    return "BIGINT" if column in ("support", "n", "at_least", "at_most") else "INTEGER"


def put(warehouse: Any, query: str, table: str, rows: Sequence[Sequence[Any]]) -> Table:
    columns = load(query).reads[table]
    parts = list(zip(*rows, strict=True)) or [()] * len(columns)
    typed = {c: (kind_of(query, table, c), list(p)) for c, p in zip(columns, parts, strict=True)}
    if not any(columns):
        typed = {"unused": ("INTEGER", [])}
    made: Table = warehouse.put(f"example_{table}", typed)
    return made


def image_of(report: Any) -> dict[str, str | None]:
    """The released item of each item."""
    labels = report.recoding.labels
    images = [labels[n] if n >= 0 else None for n in report.recoding.image.tolist()]
    return dict(zip(report.dataset.labels, images, strict=True))


def selected(table: Table, *columns: str) -> exp.Select:
    return exp.select(*(exp.column(c) for c in columns)).from_(table.expression())
