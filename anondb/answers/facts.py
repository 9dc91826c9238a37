"""What a sealed file says of the original's tables: names, columns, types and layout, and the numbers that worlds need."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from anondb.release.conditions import ReleasedAttribute
from anondb.release.objects import RECORDS, layout_of, partition_of

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
SETS, BAGS, BUCKETS = "sets", "bags", "buckets"


@dataclass(frozen=True)
class Column:
    """A column of the original: its name and its SQL type."""

    name: str
    type: str


@dataclass(frozen=True)
class Attribute:
    """A relational attribute.

    Attributes:
        column: its column in the original.
        ends: the type of the ends of its ranges in the file; None for categories.
        has_null: whether a column of the file marks the records whose value may be NULL.
    """

    column: Column
    ends: str | None
    has_null: bool


@dataclass(frozen=True)
class Facts:
    """What a file says of its original.

    Attributes:
        table: the name of the table of transactions.
        id, item: its columns; ``item`` has the type of a single item.
        lists: whether it has a list of items for each id; else a row for each item.
        rows: what the file has: ``sets`` or ``bags`` of released items, or the ``buckets`` of an anatomy.
        transactions: their number.
        k: the parameter of the model; 0 without one.
        seed: the first 32 bits of the content digest.
        records: the name of the table of attributes, equal to ``table`` if they are columns of it; None without attributes.
        attributes: the attributes.
        partition: the column that divides the original into files, and its value here, as a text; None without one.
    """

    table: str
    id: Column
    item: Column
    lists: bool
    rows: str
    transactions: int
    k: int
    seed: int
    records: str | None = None
    attributes: tuple[Attribute, ...] = ()
    partition: tuple[Column, str] | None = None

    @property
    def inline(self) -> bool:
        """Whether the attributes are columns of the table of transactions."""
        return self.records is not None and self.records.lower() == self.table.lower()


def facts_of(
    manifest: Mapping[str, str],
    seed: int,
    items: Iterable[str],
    attributes: Sequence[ReleasedAttribute] = (),
    categories: Mapping[str, Iterable[str | None]] | None = None,
    parts: Iterable[str] = (),
) -> Facts:
    """The facts of a file.

    Types are those of the manifest's key ``types``. A column that it does not list is BIGINT if every value reads so, else
    VARCHAR; ids are BIGINT then, and an attribute with ranges has the type of their ends.

    Args:
        manifest: the manifest.
        seed: the seed (``hashing.seed_of``).
        items: all items that the file lists, or that all files of a session list.
        attributes: the attributes of its records.
        categories: for each attribute with categories its values; None is NULL.
        parts: the values of the column that divides the files, of all of them.
    """
    types: dict[str, str] = json.loads(manifest.get("types", "{}"))
    layout, part = layout_of(manifest["model"]), partition_of(manifest)

    def column(name: str, otherwise: str) -> Column:
        return Column(name, types.get(name, otherwise))

    def attribute(released: ReleasedAttribute) -> Attribute:
        listed = (value for value in (categories or {}).get(released.name, ()) if value is not None)
        return Attribute(column(released.name, released.ends or _read_as(listed)), released.ends, released.has_null)

    return Facts(
        table=manifest["table"],
        id=column(manifest["id_column"], "BIGINT"),
        item=column(manifest["item_column"], _read_as(items)),
        lists=manifest.get("layout") == "lists",
        rows=BUCKETS if layout == BUCKETS else SETS if manifest["semantics"] == "set" else BAGS,
        transactions=int(manifest["transactions"]),
        k=int(manifest.get("k", 0)),
        seed=seed,
        records=manifest.get("records_table", RECORDS) if layout == RECORDS else None,
        attributes=tuple(map(attribute, attributes)),
        partition=part and (column(part[0], _read_as(parts or [part[1]])), part[1]),
    )


def _read_as(values: Iterable[str]) -> str:
    """BIGINT if there are values and all are whole numbers of 64 bits, written as DuckDB writes them; else VARCHAR."""
    listed = list(values)
    whole = all(_WHOLE.fullmatch(value) and -(2**63) <= int(value) < 2**63 for value in listed)
    return "BIGINT" if listed and whole else "VARCHAR"
