"""Releases whose tables are read together: a statement for each file of a session takes longer than reading small ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from anondb.engine import Columns, DuckDBEngine, Table, has_nulls
from anondb.release.objects import SchemaName

SHORT = (1 << 16) - 1  # the largest number of two bytes
ROW_BYTES = 16  # counted for a row: it takes 4 or 8, and up to 32 more while those of one file are added up


class Together:
    """Releases of one connection. The first one that runs a query runs it for all that are asked, in one statement.

    Args:
        engine: their engine.
        sizes: the number of transactions of each release.

    Attributes:
        asked: the releases that the current question is about; at first all.
    """

    def __init__(self, engine: DuckDBEngine, sizes: Mapping[SchemaName, int]) -> None:
        self._engine, self.asked, self._sizes = engine, list(sizes), sizes
        self._read: dict[tuple[str, SchemaName], Columns] = {}
        self._begun: set[tuple[str, SchemaName]] = set()
        self._most: dict[SchemaName, tuple[int, int]] = {}  # if it has items: how many rows, and their largest number

    @cached_property
    def array_bytes(self) -> int:
        """How many bytes of arrays each of the releases may hold."""
        return self._engine.array_bytes // len(self._sizes)

    def members(self, schema: SchemaName) -> list[tuple[str, str]] | None:
        """The released items of a release with the items that they stand for, sorted; None if there are NULLs."""
        rows = self.query("release/members", schema, {"released_items": "released_items"})
        whole = not any(has_nulls(column) for column in rows.values())
        return sorted(zip(rows["released_item"].tolist(), rows["item"].tolist(), strict=True)) if whole else None

    def numbers(self, schema: SchemaName) -> Columns:
        """The released items of a release with their numbers, and how many rows all have, in each row."""

        def read(schemas: Sequence[SchemaName]) -> list[Columns]:
            tables = {"labels": "labels", "transaction_items": "transaction_items"}
            found = self._engine.query_each("query/item_numbers", [_bound(s, tables) for s in schemas])
            for s, columns in zip(schemas, found, strict=True):
                for rows in columns["all_rows"][:1].tolist():
                    self._most[s] = rows, max(self._sizes[s], len(columns["item_id"]))
            return found

        return self._first("query/item_numbers", schema, read)

    def fits(self, schema: SchemaName) -> bool:
        """Whether a release whose numbers were read has items, and there is room for its rows."""
        rows = max(self._most[schema][0], self._sizes[schema]) if schema in self._most else None
        return rows is not None and rows * ROW_BYTES <= self.array_bytes

    def short(self, schema: SchemaName) -> bool:
        """Whether two bytes are enough for each number in the rows of a release that fits."""
        return self._most[schema][1] <= SHORT

    def rows(self, schema: SchemaName) -> Columns | None:
        """The rows of a release of sets; None if it does not fit."""
        if not self.fits(schema):
            return None
        short, tables = self.short(schema), {"transaction_items": "transaction_items"}
        name = "query/short_rows" if short else "query/rows"

        def read(schemas: Sequence[SchemaName]) -> list[Columns]:
            if len(schemas) == 1:  # PyArrow need not be imported
                return [self._engine.query(name, _bound(schema, tables))]
            return self._engine.rows_each(name, [(_bound(s, tables), self._most[s][0]) for s in schemas])

        return self._first(name, schema, read, lambda s: self.fits(s) and self.short(s) == short)

    def query(self, name: str, schema: SchemaName, tables: Mapping[str, str]) -> Columns:
        """The rows of a named query on a release, in no order.

        Args:
            name: the query.
            schema: the release.
            tables: the table of the release for each one that the query reads.
        """

        def read(schemas: Sequence[SchemaName]) -> list[Columns]:
            return self._engine.query_each(name, [_bound(s, tables) for s in schemas])

        return self._first(name, schema, read)

    def _first(
        self,
        name: str,
        schema: SchemaName,
        read: Callable[[list[SchemaName]], list[Columns]],
        alike: Callable[[SchemaName], bool] = lambda _: True,
    ) -> Columns:
        """What is read of a release once, by its name: it is read of others that are alike, too, unless it was before."""
        if (name, schema) not in self._read:
            others = [s for s in self.asked if s != schema and (name, s) not in self._begun and alike(s)]
            schemas = [schema, *others]
            keys = [(name, s) for s in schemas]
            self._read |= dict(zip(keys, read(schemas), strict=True))
            self._begun.update(keys)
        return self._read.pop((name, schema))


def _bound(schema: SchemaName, tables: Mapping[str, str]) -> dict[str, Table]:
    """The tables of a release that a query reads."""
    return {read: schema.table(table) for read, table in tables.items()}


def images_of(members: Sequence[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """The released items that stand for each item, from rows (released item, item)."""
    images: dict[str, tuple[str, ...]] = {item: (image,) for image, item in members}
    if len(images) < len(members):  # as in a local recoding
        several: dict[str, list[str]] = {item: [] for item in images}
        for image, item in members:
            several[item].append(image)
        images = {item: tuple(listed) for item, listed in several.items()}
    return images
