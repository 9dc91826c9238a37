"""The objects of a release: its schema, tables, views and macros, and the kinds of release."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anondb.engine import Engine, Query, Rows, Table, reads, tuples
from anondb.engine.texts import Sql, listed, quoted, sql, type_text
from anondb.errors import InputError
from anondb.models.named import MODELS, parameters_of
from anondb.release.conditions import VALUES, ReleasedAttribute, record_columns, released_attributes

MANIFEST_KEYS = frozenset(
    {
        *("release_id", "model", "transactions", "semantics", "suppression", "version"),
        *("table", "id_column", "item_column", "layout", "types"),
    }
)
SIGNATURE = "signature"  # the key of the manifest of a signed release
MODELLED = "modelled"  # the key of the manifest of a release with modelled rows, and their schema
SEALED_SCHEMA = "main"
SEALED_TABLES = ("manifest", "released_items")  # of each kind of release
_PREFIX = "release_"

MANIFEST = {"key": "VARCHAR", "value": "VARCHAR"}
SUPPORTS = {"released_item": "VARCHAR", "item": "VARCHAR", "at_least": "BIGINT", "at_most": "BIGINT", "weight": "DOUBLE"}


@dataclass(frozen=True)
class Kind:
    """The objects of a kind of release (docs/contract.md#the-sealed-file)."""

    # tables, views: the columns and types of each
    tables: Mapping[str, Mapping[str, str]]
    views: Mapping[str, Mapping[str, str]]
    macros: Mapping[str, tuple[str, ...]]  # the parameters of each table macro
    # numbered, number: the table and the column of the random numbers, which are new in every sealed file
    numbered: str = "transaction_ids"
    number: str = "transaction_id"
    rows: str = "transaction_items"  # the table of the anonymized rows
    # the published relational attributes, if the release has any
    attributes: tuple[ReleasedAttribute, ...] | None = None
    local: bool = False  # whether the released items may overlap, as those of a local recoding do

    def __hash__(self) -> int:
        return hash((tuple(self.tables), self.attributes, self.local))

    @property
    def item_supports(self) -> bool:
        """Whether it has item supports."""
        return "item_supports" in self.tables

    @property
    def values(self) -> tuple[str, ...]:
        """The columns of its relational values."""
        return tuple(column for column in self.tables.get(RECORDS, {}) if column != self.number)

    @property
    def by_transaction(self) -> bool:
        """Whether the image of an item may depend on the transaction: several released items may stand for an item."""
        return self.local or self.attributes is not None


ITEM_COUNTS = {"item": "VARCHAR", "lower_bound": "BIGINT", "estimate": "DOUBLE", "upper_bound": "BIGINT"}
GLOBAL = Kind(
    tables={
        "transaction_items": {"transaction_id": "INTEGER", "item_id": "INTEGER", "copies": "INTEGER"},
        "labels": {"item_id": "INTEGER", "item": "VARCHAR"},
        "transaction_ids": {"transaction_id": "INTEGER", "complete": "BOOLEAN"},
        "released_items": {"released_item": "VARCHAR", "item": "VARCHAR"},
        "manifest": MANIFEST,
    },
    views={
        "transactions": {"transaction_id": "INTEGER", "item": "VARCHAR", "copies": "INTEGER"},
        "baskets": {"transaction_id": "INTEGER", "items": "VARCHAR[]"},
        "item_counts": ITEM_COUNTS,
    },
    macros={"count_bounds": ("items",)},
)
LOCAL = replace(GLOBAL, local=True)
ANATOMY = Kind(
    tables={
        "buckets": {"bucket_id": "INTEGER", "column_id": "INTEGER", "items": "VARCHAR[]", "copies": "INTEGER"},
        "released_items": {"released_item": "VARCHAR", "item": "VARCHAR"},
        "manifest": MANIFEST,
    },
    views={"item_counts": ITEM_COUNTS},
    macros={"count_bounds": ("items",), "reconstruct": ("seed",)},
    numbered="buckets",
    number="bucket_id",
    rows="buckets",
)
# Kinds by the layout of the model; for ``records``, each set of attributes makes a separate kind.
LAYOUTS: Mapping[str, Kind] = {"transactions": GLOBAL, "local": LOCAL, "buckets": ANATOMY}
RECORDS = "records"

# The columns by which the rows of a table are ordered, unique for each row; NULL comes last.
ROW_ORDER: Mapping[str, tuple[str, ...]] = {
    "transaction_items": ("item_id", "transaction_id"),
    "labels": ("item_id",),
    "transaction_ids": ("transaction_id",),
    "released_items": ("released_item", "item"),
    "records": ("transaction_id",),
    "released_values": ("attribute", "released_value", "value"),
    "buckets": ("bucket_id", "column_id", "items"),
    "item_supports": ("released_item", "item"),
    "manifest": ("key",),
}


def relational_kind(attributes: Sequence[ReleasedAttribute]) -> Kind:
    """The kind of a release with these relational attributes; ``count_bounds`` takes a condition on each."""
    tables = dict(GLOBAL.tables)
    manifest = tables.pop("manifest")
    return Kind(
        tables={**tables, "records": record_columns(attributes), "released_values": VALUES, "manifest": manifest},
        views=GLOBAL.views,
        macros={"count_bounds": ("items", *(a.name for a in attributes))},
        attributes=tuple(attributes),
    )


def with_item_supports(kind: Kind) -> Kind:
    """The kind of release with item supports beside its rows."""
    tables = dict(kind.tables)
    manifest = tables.pop("manifest")
    return replace(kind, tables={**tables, "item_supports": SUPPORTS, "manifest": manifest})


@dataclass(frozen=True)
class SchemaName:
    """A schema, qualified by its catalog (the name under which its database is attached), which may be empty elsewhere."""

    catalog: str
    name: str

    def table(self, name: str) -> Table:
        """The identity of a table or view in this schema."""
        return Table(self.catalog, self.name, name)

    def sql(self) -> Sql:
        """The quoted name as DuckDB reads it."""
        return Sql(".".join(quoted(part) for part in (self.catalog, self.name) if part))

    def creation(self, *, exists: bool = False) -> Sql:
        """The statement that creates it; with ``exists``, unless it exists."""
        return sql("CREATE SCHEMA {}{}", Sql("IF NOT EXISTS " * exists), self.sql())

    def removal(self) -> Sql:
        """The statement that drops it, with all that is in it."""
        return sql("DROP SCHEMA IF EXISTS {} CASCADE", self.sql())


def create_table(table: Table, columns: Mapping[str, str]) -> Sql:
    """The statement that creates a table with these columns and their types."""
    return sql("CREATE TABLE {} ({})", table, listed(f"{quoted(c)} {type_text(kind)}" for c, kind in columns.items()))


def same_name(left: str, right: str) -> bool:
    """Whether two schema names clash in DuckDB, or on a system that folds the case of all letters."""
    return left.casefold() == right.casefold()


def check_name(name: str) -> str:
    """Check the name of a release: any non-empty text. Raises InputError: ``bad_name``: not a text, empty, or not valid
    Unicode."""
    if not isinstance(name, str) or not name:
        raise InputError("A release needs a name.", code="bad_name", hint="Name it with --release NAME.")
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("The name of the release is not valid Unicode.", code="bad_name", hint="Rename it.") from None
    return name


def release_schema(catalog: str, name: str) -> SchemaName:
    """The schema of the release ``name`` in the owner's database: ``release_<name>``."""
    return SchemaName(catalog, _PREFIX + check_name(name))


def schema_names(engine: Engine, catalog: str) -> list[str]:
    """The schemas of a database."""
    here = sql("database_name = {}", catalog)
    schemas = reads.rows(reads.system("duckdb_schemas"), "schema_name", where=here, order="schema_name")
    return [str(name) for name in engine.select(schemas)["schema_name"].tolist()]


def find_schema(engine: Engine, wanted: SchemaName) -> SchemaName | None:
    """The schema whose name clashes with the wanted one (upper and lower case are the same), or None."""
    clashes = [n for n in schema_names(engine, wanted.catalog) if same_name(n, wanted.name)]
    exact = [n for n in clashes if n == wanted.name]
    if not clashes:
        return None
    engine.open_schema((exact or clashes)[0])
    return SchemaName(wanted.catalog, (exact or clashes)[0])


def new_release_id() -> str:
    """A random release number: 32 hexadecimal digits from the operating system."""
    return secrets.token_hex(16)


def layout_of(model: str) -> str:
    """The release layout of the model of this name; empty if no such model exists."""
    return MODELS[model].layout if model in MODELS else ""


def manifest_keys(model: str) -> frozenset[str]:
    """The keys of the manifest of a release under the model of this name."""
    if model not in MODELS:
        return MANIFEST_KEYS
    of_records = {"sensitive", "records_table"} if layout_of(model) == RECORDS else set()
    return MANIFEST_KEYS | parameters_of(model).keys() | of_records


def kind_of(manifest: Mapping[str, str], records: Mapping[str, str]) -> Kind | None:
    """The kind that a manifest names; None if there is no such kind. A relational one has its attributes from the columns of
    the table ``records``, with their types."""
    layout = layout_of(manifest.get("model", ""))
    kind = relational_kind(released_attributes(records)) if layout == RECORDS else LAYOUTS.get(layout)
    if kind is None or "item_supports" not in manifest:
        return kind
    possible = MODELS[manifest["model"]].supports and manifest.get("semantics") == "set"
    return with_item_supports(kind) if possible else None


def release_kind(engine: Engine, schema: SchemaName) -> Kind | None:
    """The kind of release in a schema, by its manifest's model; None if it holds none, or a table is missing."""
    release = read_release(engine, schema)
    return None if release is None else release.kind


@dataclass(frozen=True)
class StoredRelease:
    """A release in a schema, which is ``release_<name>``, or ``main`` of a file: its kind and its manifest."""

    schema: SchemaName
    kind: Kind
    manifest: dict[str, str]

    @property
    def release_id(self) -> str:
        """Its random number, also in its macros."""
        return self.manifest["release_id"]


def read_release(engine: Engine, schema: SchemaName) -> StoredRelease | None:
    """The release in a schema; None if it holds none, or a table is missing."""
    rows = engine.query("release/columns", catalog_name=schema.catalog, schema=schema.name)
    columns: dict[str, dict[str, str]] = {}
    for table, column, of_type in tuples(rows):
        columns.setdefault(table, {})[column] = of_type
    if columns.get("manifest") != MANIFEST:
        return None
    manifest = read_manifest(engine, schema)
    kind = kind_of(manifest, columns.get(RECORDS, {}))
    if kind is None or any(columns.get(name) != wanted for name, wanted in kind.tables.items()):
        return None
    return StoredRelease(schema, as_read(engine, schema, kind), manifest)


def as_read(engine: Engine, schema: SchemaName, kind: Kind) -> Kind:
    """The kind of a release, with ``local`` set by its rows."""
    return all_as_read(engine, {schema: kind})[schema]


def all_as_read(engine: Engine, kinds: Mapping[SchemaName, Kind]) -> dict[SchemaName, Kind]:
    """The kinds of several releases, with ``local`` set by the rows of each."""
    asked = [schema for schema, kind in kinds.items() if not kind.local and kind is not ANATOMY]  # which recodes no items
    read = ("manifest", "released_items", "transaction_ids")
    rows = engine.query_each("release/is_local", [{name: schema.table(name) for name in read} for schema in asked])
    local = {schema: bool(row["is_local"].tolist()[0]) for schema, row in zip(asked, rows, strict=True)}
    return {schema: replace(kind, local=local[schema]) if schema in local else kind for schema, kind in kinds.items()}


def table_counts(engine: Engine, schema: SchemaName, kind: Kind = GLOBAL) -> dict[str, int]:
    """The number of rows of each table of a release."""
    counts = listed(sql("{} AS {}", reads.counted(schema.table(n)), quoted(n)) for n in kind.tables)
    rows = engine.select(Query(sql("SELECT {}", counts)), "counting the rows of a release")
    return {name: int(column[0]) for name, column in rows.items()}


def sensitive_text(items: Iterable[str]) -> str:
    """The sensitive items in the form of the manifest: a sorted JSON list, each item once."""
    return json.dumps(sorted(set(items)), ensure_ascii=False)


def partition_of(manifest: Mapping[str, str]) -> tuple[str, str] | None:
    """The column and the value whose persons a release holds, from its manifest; None if it says nothing, or not in the form
    that anondb writes."""
    text = manifest.get("partition", "")
    with contextlib.suppress(ValueError, RecursionError):
        said = json.loads(text)
        pairs = list(said.items()) if isinstance(said, dict) else []
        if len(pairs) == 1 and isinstance(pairs[0][1], str) and json.dumps(said, ensure_ascii=False) == text:
            return pairs[0]
    return None


def read_manifest(engine: Engine, schema: SchemaName) -> dict[str, str]:
    """The manifest of a release: its model and parameters, N, semantics, and so on, all as text."""
    rows = engine.query("release/manifest", {"manifest": schema.table("manifest")})
    return dict(zip(rows["key"].tolist(), rows["value"].tolist(), strict=True))


def showing(rows: Rows) -> Query:
    """The number of transactions that show an item, from the rows of ``transaction_items``."""
    return reads.counted(reads.rows(rows, "transaction_id", distinct=True))


def read_members(engine: Engine, schema: SchemaName) -> dict[str, list[str]]:
    """The original items that each released item stands for."""
    pairs = engine.query("release/members", {"released_items": schema.table("released_items")})
    members: dict[str, list[str]] = {}
    for released, member in zip(pairs["released_item"].tolist(), pairs["item"].tolist(), strict=True):
        members.setdefault(released, []).append(member)
    return members


@dataclass(frozen=True)
class ReleasedItem:
    """A released item: its label, the original items that it stands for, and the number of transactions that show it."""

    label: str
    members: tuple[str, ...]
    support: int

    @property
    def as_itself(self) -> bool:
        """Whether it stands for one item alone."""
        return len(self.members) < 2

    def to_json(self) -> dict[str, Any]:
        """The released item as JSON values."""
        return {"item": self.label, "stands_for": list(self.members), "transactions": self.support}


def read_items(engine: Engine, release: StoredRelease) -> list[ReleasedItem]:
    """The released items of a release, the most frequent first (tie: by label)."""
    if release.kind is ANATOMY:
        tree = reads.rows(release.schema.table("item_counts"), "item, lower_bound AS support")
    else:
        shown = "item, count(DISTINCT transaction_id) AS support"
        tree = reads.rows(release.schema.table("transactions"), shown, group="item")
    rows = engine.select(tree)
    supports = dict(zip(rows["item"].tolist(), map(int, rows["support"]), strict=True))
    members = read_members(engine, release.schema)
    items = [ReleasedItem(label, tuple(below), supports.get(label, 0)) for label, below in members.items()]
    return sorted(items, key=lambda item: (-item.support, item.label))
