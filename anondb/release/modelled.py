"""Modelled rows: one table that a release permits, as tables of the original's names and columns in the schema ``modelled``.
They are the first of the possible worlds (``anondb.answers``), a function of the other rows: anybody can draw them again.
Their ids are values that no person of the original has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from anondb.data.types import is_released
from anondb.engine import Query, Rows, Table, reads
from anondb.engine.texts import Sql, listed, quoted
from anondb.release.manifest import types_of
from anondb.release.objects import MODELLED, RECORDS, ROW_ORDER, SEALED_SCHEMA, Kind, layout_of, partition_of

RULE = "1"  # the version of the rule by which worlds are drawn, the value of the manifest's key
COMMENT = "Modelled rows: one table that this release permits. No row is a person's. Counts of few are guesses."


@dataclass(frozen=True)
class StoredTable:
    """A table of a sealed file."""

    file: str  # the name of the file that carries it, without its ending
    schema: str  # its schema, ``main`` or ``modelled``
    name: str  # its name; that of modelled rows is the name of a table of the original
    columns: Mapping[str, str]  # the type of each column
    # the columns by which its rows are ordered: of modelled rows all, and there may be equal ones
    order: tuple[str, ...]

    def place(self, catalog: str) -> Table:
        """Where it lies in a database."""
        return Table(catalog, self.schema, self.name)

    def rows(self, source: Rows, *, stored: bool = False) -> Query:
        """Its rows from a table or file: in their order, or as they are ``stored``."""
        order = Sql("rowid") if stored else listed(map(quoted, self.order))
        return reads.rows(source, listed(map(quoted, self.columns)), order=order)


def stored_tables(manifest: Mapping[str, str], kind: Kind) -> tuple[StoredTable, ...]:
    """All tables of a sealed file: those of the kind of release, and those of modelled rows."""
    named = kind.tables.items()
    own = (StoredTable(name, SEALED_SCHEMA, name, columns, ROW_ORDER[name]) for name, columns in named)
    return (*own, *modelled_tables(manifest, kind))


def modelled_tables(manifest: Mapping[str, str], kind: Kind) -> tuple[StoredTable, ...]:
    """The tables of modelled rows of a release; none without such rows, or if its manifest does not say what columns they
    have."""
    if manifest.get(MODELLED) != RULE:
        return ()
    with suppress(KeyError, ValueError, TypeError, AttributeError, RecursionError):
        types = {name: type for name, type in types_of(manifest).items() if is_released(type)}
        names, part = [manifest["id_column"], manifest["item_column"]], partition_of(manifest)
        columns = [(name, types[name]) for name in [*names, *([] if part is None else part[:1])]]
        attributes = [(attribute.name, types[attribute.name]) for attribute in kind.attributes or ()]
        if manifest["layout"] == "lists":
            columns[1] = (names[1], f"{types[names[1]]}[]")
        beside = manifest.get("records_table", RECORDS) if layout_of(manifest["model"]) == RECORDS else ""
        inline = beside.lower() == manifest["table"].lower()
        listed = [("modelled_rows", manifest["table"], columns + (attributes if inline else []))]
        if beside and not inline:
            listed.append(("modelled_records", beside, [columns[0], *attributes]))
        if all(name and _are_columns([column for column, _ in of]) for _, name, of in listed):
            return tuple(StoredTable(file, MODELLED, name, dict(of), (*dict(of),)) for file, name, of in listed)
    return ()


def _are_columns(names: Sequence[str]) -> bool:
    """Whether a table can have columns of these names."""
    return "" not in names and len({name.lower() for name in names}) == len(names)
