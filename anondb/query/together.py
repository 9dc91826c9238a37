"""Releases whose small tables are read together: a statement for each file of a session takes longer than the reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from anondb.engine import Columns, DuckDBEngine, has_nulls
from anondb.release.objects import SchemaName


class Together:
    """Releases of one connection. The first one that runs a query runs it for all that are asked, in one statement.

    Args:
        engine, schemas: the releases.

    Attributes:
        asked: the releases that the current question is about; at first all.
    """

    def __init__(self, engine: DuckDBEngine, schemas: Sequence[SchemaName]) -> None:
        self._engine, self.asked, self._number = engine, list(schemas), len(schemas)
        self._read: dict[tuple[str, SchemaName], Columns] = {}
        self._begun: set[tuple[str, SchemaName]] = set()

    @cached_property
    def array_bytes(self) -> int:
        """How many bytes of arrays each of the releases may hold."""
        return self._engine.array_bytes // self._number

    def members(self, schema: SchemaName) -> list[tuple[str, str]] | None:
        """The released items of a release with the items that they stand for, sorted; None if there are NULLs."""
        rows = self.query("release/members", schema, {"released_items": "released_items"})
        whole = not any(has_nulls(column) for column in rows.values())
        return sorted(zip(rows["released_item"].tolist(), rows["item"].tolist(), strict=True)) if whole else None

    def query(self, name: str, schema: SchemaName, tables: Mapping[str, str]) -> Columns:
        """The rows of a named query on a release, in no order.

        Args:
            name: the query.
            schema: the release.
            tables: the table of the release for each one that the query reads.
        """
        if (name, schema) not in self._read:
            others = [s for s in self.asked if s != schema and (name, s) not in self._begun]
            keys = [(name, s) for s in (schema, *others)]
            bound = [{read: s.table(table) for read, table in tables.items()} for _, s in keys]
            self._read |= dict(zip(keys, self._engine.query_each(name, bound), strict=True))
            self._begun.update(keys)
        return self._read.pop((name, schema))


def images_of(members: Sequence[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """The released items that stand for each item, from rows (released item, item)."""
    images: dict[str, tuple[str, ...]] = {item: (image,) for image, item in members}
    if len(images) < len(members):  # as in a local recoding
        several: dict[str, list[str]] = {item: [] for item in images}
        for image, item in members:
            several[item].append(image)
        images = {item: tuple(listed) for item, listed in several.items()}
    return images
