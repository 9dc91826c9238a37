"""What the catalog of a release holds, and whether all of it is anondb's, text by text.

A view or macro of a stranger's file runs when it is read. So the catalog of a sealed file is compared first, without reading
any table, with that of an empty release of the same kind, which is made in memory for this.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from anondb.engine import DuckDBEngine, Engine, Table
from anondb.engine.locked import HAS_TRIGGERS
from anondb.engine.untrusted import Reference
from anondb.release.conditions import released_attributes
from anondb.release.definitions import comments, definitions
from anondb.release.objects import (
    LAYOUTS,
    MANIFEST,
    RECORDS,
    SEALED_SCHEMA,
    Kind,
    SchemaName,
    as_read,
    layout_of,
    read_manifest,
    relational_kind,
)

Entry = tuple[str, str, str]  # schema, kind of object, name
Catalog = Mapping[Entry, tuple[str, str]]  # text and comment of each
_MANIFEST_ENTRY = (SEALED_SCHEMA, "table", "manifest")
_RECORD_TYPE = re.compile(r"VARCHAR|BIGINT|DATE|TIMESTAMP|BOOLEAN|INTEGER|DECIMAL\(\d{1,2},\d{1,2}\)")
_OLD_WORDS = (("main.list_value(", "list_value("), ("CAST('t' AS BOOLEAN)", "true"), ("CAST('f' AS BOOLEAN)", "false"))
_MOST_KEYS = 100  # of a manifest; it has about 15


@dataclass(frozen=True)
class Finding:
    """One thing that a sealed file must not have, or lacks: which check found it, and what (no data value)."""

    check: str
    what: str


@dataclass(frozen=True)
class SealedCatalog:
    """What the catalog of a sealed file says.

    Attributes:
        kind: the kind of the release; None if there is no release, or one whose tables are not as they must be.
        manifest: its manifest; empty where the table cannot be trusted.
        objects: how many objects there are.
        findings: what is not as anondb writes it; where there is any, nothing but base tables was read.
    """

    kind: Kind | None
    manifest: dict[str, str]
    objects: int
    findings: tuple[Finding, ...]

    @property
    def is_release(self) -> bool:
        """Whether all of it is a release as anondb writes it."""
        return self.kind is not None and not self.findings


def listed(engine: Engine, catalog: str) -> Catalog:
    """Everything that the catalog of a database holds; no view or macro of it is bound or run."""
    queries = ("release/objects", "release/triggers") if HAS_TRIGGERS else ("release/objects",)
    listing: dict[Entry, tuple[str, str]] = {}
    for query in queries:
        objects = engine.query(query, catalog_name=catalog)
        columns = [objects[c].tolist() for c in ("schema_name", "kind", "name", "text", "comment")]
        for schema, kind, name, text, comment in zip(*columns, strict=True):
            listing[schema, kind, name] = (_as_written_today(text), comment)
    return listing


def _as_written_today(text: str) -> str:
    """The text of an object as DuckDB 2.0 stores it: older versions store lists and truth values in other words.

    No other text of a release has these words: in a string, its quotes would be doubled, and a function of this name in the
    file would be an object too many.
    """
    for old, new in _OLD_WORDS:
        text = text.replace(old, new)
    return text


def objects_of(schema: str, kind: Kind) -> set[Entry]:
    """The objects that a release of a kind consists of."""
    named = (("table", kind.tables), ("view", kind.views), ("macro", kind.macros))
    return {(schema, "schema", ""), *((schema, what, name) for what, names in named for name in names)}


def unexpected_objects(engine: Engine, schema: SchemaName, kind: Kind) -> list[Entry]:
    """What the schema of a release in the owner's database has and must not have, or lacks."""
    there = {entry for entry in listed(engine, schema.catalog) if entry[0] == schema.name}
    return sorted(there ^ objects_of(schema.name, kind))


def creations(schema: SchemaName, kind: Kind, release_id: str) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The statements that create the tables of a release, and those that create the rest."""
    tables: list[exp.Expr] = [_table(schema, name, columns) for name, columns in kind.tables.items()]
    return tables, [*definitions(schema, release_id, kind), *comments(schema, kind)]


def _table(schema: SchemaName, name: str, columns: Mapping[str, str]) -> exp.Create:
    """The statement that creates a table."""
    fields = [
        exp.ColumnDef(this=exp.to_identifier(c, quoted=True), kind=exp.DataType.build(t, dialect="duckdb"))
        for c, t in columns.items()
    ]
    return exp.Create(this=exp.Schema(this=schema.table(name).expression(), expressions=fields), kind="TABLE")


def sealed_catalog(engine: DuckDBEngine, schema: SchemaName) -> SealedCatalog:
    """Compare the catalog of a sealed file with what anondb writes.

    Args:
        engine: on a locked connection (``engine.strangers``) whose current database is another, since the file's own
            macros would hide DuckDB's functions.
        schema: the schema ``main`` of the file.
    """
    there = listed(engine, schema.catalog)
    reference = Reference(schema.catalog)
    twin = reference.engine
    try:
        manifest_table = _table(schema, "manifest", MANIFEST)
        twin.run(manifest_table, "making a manifest")
        text = listed(twin, schema.catalog)[_MANIFEST_ENTRY][0]
        if there.get(_MANIFEST_ENTRY, ("", ""))[0] != text:
            return _refused(there, {}, "there is no manifest of a release")
        manifest = _read_manifest(engine, schema)
        kind = _stated_kind(engine, schema, there, manifest)
        if kind is None:
            return _refused(there, manifest, "the manifest is of no kind of release that is known")
        tables, _ = creations(schema, kind, "")
        twin.run_all((t for t in tables if t != manifest_table), "making empty tables")
        wanted = {e: t for e, t in listed(twin, schema.catalog).items() if e[1] == "table"}
        wrong = [e for e, (text, _) in wanted.items() if there.get(e, ("", ""))[0] != text]
        if wrong:
            return _refused(there, manifest, *(f"not as it must be: {_described(e)}" for e in sorted(wrong)))
        kind = as_read(engine, schema, kind)
        _, rest = creations(schema, kind, manifest.get("release_id", ""))
        twin.run_all(rest, "making views and macros")
        reference.read_back()
        findings = _differences(there, listed(twin, schema.catalog))
        if not findings:
            findings = _column_comments(engine, twin, schema)
        if not findings and kind.attributes:
            engine.use(schema.catalog)
            findings = _defaults(engine, schema, kind)
    finally:
        reference.close()
    return SealedCatalog(kind, manifest, len(there), tuple(findings))


def _refused(there: Catalog, manifest: dict[str, str], *what: str) -> SealedCatalog:
    """A file whose tables are not those of a release."""
    return SealedCatalog(None, manifest, len(there), tuple(Finding("catalog", w) for w in what))


def _read_manifest(engine: Engine, schema: SchemaName) -> dict[str, str]:
    """The manifest; empty where it has more rows than any has, or NULLs."""
    rows = engine.scalar("release/manifest_size", {"manifest": schema.table("manifest")})
    return read_manifest(engine, schema) if rows is not None and rows <= _MOST_KEYS else {}


def _stated_kind(engine: Engine, schema: SchemaName, there: Catalog, manifest: Mapping[str, str]) -> Kind | None:
    """The kind of release that the manifest names; that of relational data by the columns of its records."""
    layout = layout_of(manifest.get("model", ""))
    if layout != RECORDS:
        return LAYOUTS.get(layout)
    if (schema.name, "table", "records") not in there:
        return None
    columns = table_columns(engine, schema.table("records"))
    if any(not _RECORD_TYPE.fullmatch(of_type) for of_type in columns.values()):
        return None
    kind = relational_kind(released_attributes(columns))
    return kind if list(kind.tables["records"]) == list(columns) else None


def table_columns(engine: Engine, table: Table) -> dict[str, str]:
    """The columns of a base table and their types."""
    call = exp.Anonymous(this="pragma_table_info", expressions=[exp.Literal.string(table.sql())])
    found = engine.select(exp.select("name", "type").from_(exp.Table(this=call)), "the columns of a table")
    return dict(zip(found["name"].tolist(), found["type"].tolist(), strict=True))


def _differences(there: Catalog, wanted: Catalog) -> list[Finding]:
    """Objects too many and too few, and texts and comments that are not anondb's."""
    what = [f"not allowed: {_described(one)}" for one in sorted(there.keys() - wanted.keys())]
    what += [f"missing: {_described(one)}" for one in sorted(wanted.keys() - there.keys())]
    for one in sorted(there.keys() & wanted.keys()):
        for part, mine, due in zip(("text", "comment"), there[one], wanted[one], strict=True):
            if mine != due:
                what.append(f"the {part} of {_described(one)} is not anondb's")
    return [Finding("catalog", words) for words in what]


def _described(one: Entry) -> str:
    """An object by its kind and names."""
    schema, kind, name = one
    return f"{kind} " + ".".join(repr(n)[1:-1] for n in (schema, name) if n)


def _defaults(engine: Engine, schema: SchemaName, kind: Kind) -> list[Finding]:
    """Conditions of ``count_bounds`` that are not NULL by default, which no catalog shows: they change what it counts."""
    counts = []
    for conditions in ((), kind.macros["count_bounds"][1:]):
        named = [exp.PropertyEQ(this=exp.to_identifier(c, quoted=True), expression=exp.null()) for c in conditions]
        call = exp.Anonymous(this="count_bounds", expressions=[exp.Array(expressions=[]), *named])
        source = exp.Table(this=call, db=exp.to_identifier(schema.name, quoted=True))
        found = engine.select(exp.select("lower_bound", "upper_bound").from_(source), "count_bounds of no items")
        counts.append([column.tolist() for column in found.values()])
    same = counts[0] == counts[1]
    return [] if same else [Finding("catalog", "a condition of count_bounds is not NULL by default")]


def _column_comments(engine: Engine, twin: Engine, schema: SchemaName) -> list[Finding]:
    """Columns whose comments or types are not anondb's; it binds views, so their texts are compared first."""
    rows = []
    for one in (twin, engine):
        found = one.query("release/column_comments", catalog_name=schema.catalog)
        rows.append(set(zip(*(column.tolist() for column in found.values()), strict=True)))
    names = sorted({(table, column) for table, column, *_ in rows[0] ^ rows[1]})
    return [Finding("catalog", f"the comment of column {t!r}.{c!r} is not anondb's") for t, c in names]
