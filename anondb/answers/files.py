"""What worlds are drawn from: the rows of sealed files in the session's database, and what their released items stand for.

The tables are in the schema ``worlds``. Files are numbered through: their transactions, released items and members follow
those of the files before.

A ``Description`` is what a sealed file says of the original's tables: names, columns, types, layout, and the numbers of
worlds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.answers.expected import Members, expected
from anondb.answers.hashing import seed_of
from anondb.engine import DuckDBEngine, Table, filled, query_of, reads
from anondb.engine.arrays import Floats, Ints
from anondb.engine.failures import wrap
from anondb.query.values import range_type
from anondb.release.conditions import ReleasedAttribute
from anondb.release.digest import content_digest
from anondb.release.objects import MODELLED, RECORDS, layout_of, partition_of
from anondb.release.reader import SealedRelease

SCHEMA = "worlds"


def place(name: str, number: int | None = None) -> Table:
    """A table of this package in the session's database; ``number`` is that of the one file it belongs to, if it is such."""
    return Table("memory", SCHEMA, name if number is None else f"{name} {number}")


ROWS, DRAWN, COUNTS = place("rows"), place("drawn"), place("counts")
FIRST_OTHER, FIRST_MASKED = 100, 200
"""The numbers of the first of the other worlds, and of those of ``masked``: estimates are means of the worlds below."""
DRAWN_COLUMNS = {"world": "SMALLINT", "tid": "INTEGER", "member": "INTEGER"}
COUNTS_COLUMNS = {"world": "SMALLINT", "member": "INTEGER", "holders": "BIGINT"}


def of_worlds(table: Table, first: int) -> Table:
    """A table of this package for the worlds from this number on: other worlds have tables of their own, in a schema."""
    if first < FIRST_OTHER:
        return table
    return Table("memory", f"{'other' if first < FIRST_MASKED else 'masked'} {SCHEMA}", table.name)


@dataclass(frozen=True)
class File:
    """What worlds need of a file beside its rows.

    Attributes:
        description: the description.
        members: what its released items stand for, by the file's own numbers; items are places in ``items``.
        names: for each of the members the label of the released item.
        items: the texts of the items, in order.
    """

    description: Description
    members: Members
    names: Sequence[str]
    items: Sequence[str]

    @cached_property
    def means(self) -> Floats:
        """The expected number of holders of each member, in a file of sets."""
        return expected(self.members, self.description.transactions, self.description.k)


@dataclass(frozen=True)
class Numbered:
    """The members of all files, numbered through: a row for each, in the order of files, released items and members.

    Attributes:
        label: the number of the released item.
        number: the same in the file alone.
        first: the number of the first member of the file.
        tids: how many transactions the files before have.
        seed: the seed of the file.
    """

    label: Ints
    number: Ints
    first: Ints
    tids: Ints
    seed: Ints

    @classmethod
    def of(cls, files: Sequence[File]) -> Numbered:
        """The members of files."""
        sizes = [len(file.members.label) for file in files]
        number = np.concatenate([file.members.label for file in files])

        def of_files(values: Sequence[int]) -> Ints:
            return np.repeat(np.asarray(values, dtype=np.int64), sizes)

        def before(values: Sequence[int]) -> Ints:
            return of_files([0, *accumulate(values)][:-1])

        labels = before([int(file.members.label.max(initial=0)) for file in files])
        tids, seed = before([f.description.transactions for f in files]), of_files([f.description.seed for f in files])
        return cls(number + labels, number, before(sizes), tids, seed)


def copied(engine: DuckDBEngine, files: Sequence[SealedRelease], *, rows: bool = True) -> list[File]:
    """Copy sealed files to a database in memory.

    Args:
        engine: the database; it gets the schema ``worlds``.
        files: checked files (``reader.sealed_releases``), of tables with equal names and columns.
        rows: whether to copy the rows of releases of sets, too, which only drawing reads; else ``copy_rows`` does.
    """
    begin(engine)
    contents = [_members(release) for release in files]
    items = {item for _, _, listed in contents for item in listed}
    values = [_categories(release) for release in files]
    parts = [part[1] for release in files if (part := partition_of(release.manifest)) is not None]
    result = list[File]()
    for number, (release, read) in enumerate(zip(files, contents, strict=True)):
        digest = None if MODELLED in release.manifest else release.content_digest
        digest = digest or content_digest(release.engine, release.schema, release.kind, modelled=False)
        attributes = release.kind.attributes or ()
        together = {a.name: [v for listed in values for v in listed.get(a.name, ())] for a in attributes}
        result.append(File(description_of(release.manifest, seed_of(digest), items, attributes, together, parts), *read))
        for name in ("records", "released_values") if attributes else ():
            _carry(release, name, engine, number)
    if rows or result[0].description.rows != SETS:
        copy_rows(engine, files, result)
    else:
        make_empty(engine, ROWS, {"label": "INTEGER", "tid": "INTEGER"})
    return result


def make_empty(engine: DuckDBEngine, table: Table, columns: Mapping[str, str]) -> None:
    """Make a table without rows, with columns of these types."""
    engine.put(table, {name: (kind, []) for name, kind in columns.items()})


def schema(name: str) -> exp.Create:
    """The statement that creates a schema in a database in memory, if it does not exist."""
    named = exp.Table(db=exp.to_identifier(name, quoted=True), catalog=exp.to_identifier("memory"))
    return exp.Create(this=named, kind="SCHEMA", exists=True)


def begin(engine: DuckDBEngine, first: int = 0) -> None:
    """Make the schema of the tables for worlds from this number on, without those of an attempt that was interrupted."""
    create = schema(of_worlds(ROWS, first).schema)
    drop = exp.Drop(tables=[create.this.copy()], kind="SCHEMA", exists=True, cascade=True)
    engine.run_all([drop, create], "a schema for worlds")


def _members(release: SealedRelease) -> tuple[Members, list[str], list[str]]:
    """What the released items stand for, their labels, and the texts of all items."""
    stored = release.schema.table
    tables: dict[str, Table | exp.Query] = {"released_items": stored("released_items")}
    if release.kind.rows == "buckets":
        rows = release.engine.query("answers/listed_items", tables)
    else:
        tables |= {name: stored(name) for name in ("transaction_items", "labels")}
        tables["item_supports"] = stored("item_supports") if release.kind.item_supports else _no_supports()
        rows = release.engine.query("answers/members", tables)
    texts = rows["item"].tolist()
    items = sorted(set(texts))
    number = {item: n for n, item in enumerate(items)}
    item = np.array([number[text] for text in texts], dtype=np.int64)
    order = np.lexsort((item, rows["label"]))
    supports = (filled(rows[end].astype(float), np.nan)[order] for end in ("at_least", "at_most"))
    label, support = (rows[name].astype(np.int64)[order] for name in ("label", "support"))
    return Members(label, item[order], support, *supports), rows["name"][order].tolist(), items


def _no_supports() -> exp.Query:
    """The table of item supports of a release that has none."""
    types = {"released_item": "VARCHAR", "item": "VARCHAR", "at_least": "BIGINT", "at_most": "BIGINT"}
    return exp.select(*(exp.cast(exp.null(), kind).as_(name) for name, kind in types.items())).where(exp.false())


def _categories(release: SealedRelease) -> dict[str, list[str | None]]:
    """The values of each attribute with categories."""
    if release.kind.attributes is None:
        return {}
    rows = release.engine.query("query/released_values", {"released_values": release.schema.table("released_values")})
    listed: dict[str, list[str | None]] = {}
    for name, value in zip(rows["attribute"].tolist(), rows["value"].tolist(), strict=True):
        listed.setdefault(name, []).append(value)
    return listed


def copy_rows(engine: DuckDBEngine, files: Sequence[SealedRelease], copies: Sequence[File]) -> None:
    """Copy the rows or buckets of files of which the rest is copied, those of each behind those of the files before."""
    tids, labels = 0, 0
    engine.drop(ROWS)
    for number, (release, copy) in enumerate(zip(files, copies, strict=True)):
        if release.kind.rows == "buckets":
            _carry(release, "buckets", engine, number)
            continue
        before = {"labels_before": labels, "tids_before": tids}
        rows = query_of("answers/rows", {"transaction_items": release.schema.table("transaction_items")}, before)
        columns = "label, tid, copies" if copy.description.rows == BAGS else "label, tid"
        shown = release.engine.select(reads.rows(rows, columns), "reading a release")
        (engine.insert if number else engine.put)(ROWS, {name: ("INTEGER", shown[name]) for name in shown})
        tids += copy.description.transactions
        labels += int(copy.members.label.max(initial=0))


def _carry(release: SealedRelease, name: str, engine: DuckDBEngine, number: int) -> None:
    """Copy a table of a file, the one of this number."""
    relation = release.engine.relation(reads.rows(release.schema.table(name), "*"))
    carried: Any = release.engine.guarded(relation.to_arrow_table, lambda error: wrap(error, "reading a release"))
    with engine.registered(carried) as view:
        engine.create(place(name, number), reads.rows(view, "*"))


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
class Description:
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


def description_of(
    manifest: Mapping[str, str],
    seed: int,
    items: Iterable[str],
    attributes: Sequence[ReleasedAttribute] = (),
    categories: Mapping[str, Iterable[str | None]] | None = None,
    parts: Iterable[str] = (),
) -> Description:
    """The description of a file.

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
        stated = column(released.name, released.ends or _read_as(listed))
        return Attribute(replace(stated, type=range_type(stated.type, released.ends)), released.ends, released.has_null)

    return Description(
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
