"""Warehouses with a table of transactions, for tests that run the same on each."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from sqlglot import exp

from anondb.engine import Table
from anondb.warehouse.duckdb import DuckDBWarehouse

Pair = tuple[Any, str | None]


def arrow(pairs: Sequence[Pair]) -> pa.Table:
    """Rows ``(tid, item)``."""
    tids, items = [t for t, _ in pairs], [i for _, i in pairs]
    return pa.table({"tid": pa.array(tids, pa.int64()), "item": pa.array(items, pa.string())})


class OnDuckDB:
    """DuckDB by portable statements alone."""

    def __init__(self, folder: Any) -> None:
        self.texts: list[str] = []
        self.warehouse: Any = DuckDBWarehouse(on_statement=self.texts.append)

    def source(self, pairs: Sequence[Pair]) -> Any:
        """Make a table of rows ``(tid, item)``; returns what ``Warehouse.source`` takes."""
        self.warehouse.database.register("rows", arrow(pairs))
        self.warehouse.database.execute("CREATE OR REPLACE TABLE sales AS SELECT * FROM rows")
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
        self.databases, self.close = databases, self.server.close

    def source(self, pairs: Sequence[Pair]) -> Any:
        self.databases.sql("DROP TABLE IF EXISTS sales.food")
        self.databases.sql("CREATE TABLE sales.food (tid bigint, item text)")
        self.databases.copy("sales.food", list(pairs))
        return "sales.food"


class OnSQLite:
    """A file of SQLite."""

    def __init__(self, folder: Any) -> None:
        from anondb.warehouse.sqlite import SQLiteWarehouse

        self.texts: list[str] = []
        self.path = folder / "sales.sqlite"
        with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute("CREATE TABLE IF NOT EXISTS sales (tid, item)")
        self.warehouse: Any = SQLiteWarehouse(self.path, on_statement=self.texts.append)

    def source(self, pairs: Sequence[Pair]) -> Any:
        with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute("DELETE FROM sales")
            connection.executemany("INSERT INTO sales VALUES (?, ?)", pairs)
        return "sales"


class OnDataFusion:
    """Parquet files that DataFusion reads."""

    def __init__(self, folder: Any) -> None:
        from anondb.warehouse.datafusion import DataFusionWarehouse

        self.texts: list[str] = []
        self.folder, self.made = folder, 0
        self.warehouse: Any = DataFusionWarehouse(folder, on_statement=self.texts.append)

    def source(self, pairs: Sequence[Pair]) -> Any:
        self.made += 1
        parquet.write_table(arrow(pairs), self.folder / f"sales{self.made}.parquet")
        return f"sales{self.made}"


class OnSpark:
    """Spark."""

    def __init__(self, session: Any, **options: Any) -> None:
        from anondb.warehouse.spark.warehouse import SparkWarehouse

        self.texts: list[str] = []
        self.warehouse: Any = SparkWarehouse(session, on_statement=self.texts.append, **options)
        self.session = session

    def source(self, pairs: Sequence[Pair]) -> Any:
        return self.session.createDataFrame(arrow(pairs))


def image_of(report: Any) -> dict[str, str | None]:
    """The released item of each item."""
    labels = report.recoding.labels
    images = [labels[n] if n >= 0 else None for n in report.recoding.image.tolist()]
    return dict(zip(report.dataset.labels, images, strict=True))


def selected(table: Table, *columns: str) -> exp.Select:
    return exp.select(*(exp.column(c) for c in columns)).from_(table.expression())
