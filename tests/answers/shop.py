"""The shop of `anondb demo` and three releases of it, on which equal queries and laws are judged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
from shared import once

import anondb
from anondb.demo import make_shop

RELEASES: dict[str, dict[str, Any]] = {
    "mhghs": {"model": anondb.KmAnonymity(5, 2), "taxonomy": "food", "item_supports": True},
    "similar": {"model": anondb.KmAnonymity(5, 2), "algorithm": "similar", "item_supports": True},
    "kkm": {
        "model": anondb.KkmAnonymity(5, 2),
        "taxonomy": "food",
        "records": "customers",
        "quasi_identifiers": "age:numeric,sex,town,since:date",
    },
}
SINCE = "DATE '2026-03-01' + (tid * 37 % 92)::INTEGER"
PRICES = """
    SELECT node AS item, length(node) % 7 + 1 AS price FROM food
    WHERE node NOT IN (SELECT parent FROM food WHERE parent IS NOT NULL)"""


class Shop:
    """A folder with the original and the releases, each made once in a run of the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def original(self) -> Path:
        """A database with sales, customers, food and prices, and with nothing of anondb's."""

        def make(file: Path) -> None:
            with anondb.connect(file, threads=1) as database:
                make_shop(database)
                database.sql(
                    f"CREATE OR REPLACE TABLE customers AS SELECT tid, age, sex, town, {SINCE} AS since FROM customers"
                )
                database.sql(f"CREATE TABLE prices AS {PRICES}")

        return once(self.folder / "original.duckdb", make)

    def release(self, name: str) -> Path:
        """The sealed file of a release."""

        def make(file: Path) -> None:
            with anondb.connect(threads=1) as database:
                database.sql(f"ATTACH '{self.original}' AS original (READ_ONLY)")
                for table in ("sales", "customers", "food"):
                    database.sql(f"CREATE TABLE {table} AS FROM original.main.{table}")
                database.sql("DETACH original")
                database.anonymize("sales", name=name, queries=1, **RELEASES[name]).publish(file)

        return once(self.folder / f"demo_{name}.duckdb", make)


@contextmanager
def asked(shop: Shop, name: str) -> Iterator[tuple[anondb.Session, duckdb.DuckDBPyConnection]]:
    """A session on a release, with the analyst's own food and prices, and the original's tables in DuckDB."""
    with (
        closing(duckdb.connect(str(shop.original), read_only=True)) as original,
        anondb.open(shop.release(name), threads=1, max_seconds=60) as session,
    ):
        for own in ("food", "prices"):
            session.register(own, original.table(own).arrow())
        yield session, original
