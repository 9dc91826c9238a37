"""Compare the catalog of a release with the catalog that anondb writes, text by text.

Reading a view or macro of an untrusted file runs its code. So the catalog of a sealed file is compared first, before any
table is read, with the catalog of an empty release of the same kind, made in memory; or, because making it takes half of the
time of opening a file, with its digest, if that is known.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from anondb.engine import DuckDBEngine, Engine, Query, Table, reads, tuples
from anondb.engine.locked import HAS_TRIGGERS, LOCKED_CATALOG
from anondb.engine.texts import drop, literal, quoted, sql
from anondb.engine.texts import listed as pieces
from anondb.engine.untrusted import empty_engine, rewrite
from anondb.release.definitions import ANY_RELEASE, modelled_statements, view_and_macro_texts
from anondb.release.known_catalogs import known_digests
from anondb.release.modelled import StoredTable, modelled_tables
from anondb.release.objects import (
    MANIFEST,
    MODELLED,
    RECORDS,
    SEALED_SCHEMA,
    Kind,
    SchemaName,
    all_as_read,
    create_table,
    kind_of,
    layout_of,
)

Entry = tuple[str, str, str]  # schema, kind of object, name
Catalog = Mapping[Entry, tuple[str, str]]  # text and comment of each
Column = tuple[str, str, str, str]  # table, column, type, comment
_RELEASE_ID = re.compile(r"[0-9a-z]{1,32}", re.ASCII)
_RECORD_TYPE = re.compile(r"VARCHAR|BIGINT|DATE|TIMESTAMP|BOOLEAN|INTEGER|DECIMAL\(\d{1,2},\d{1,2}\)")
_TRANSACTIONS = re.compile(r"\d{1,18}", re.ASCII)
_SEMANTICS = ("set", "atomic")
# DuckDB before 2.0 stores lists and truth values in other words. No other text of a release has these words: in a
# string, its quotes would be doubled, and a function of this name in the file would be an object too many.
_OLD_WORDS = (("main.list_value(", "list_value("), ("CAST('t' AS BOOLEAN)", "true"), ("CAST('f' AS BOOLEAN)", "false"))
MOST_KEYS = 100  # largest number of manifest keys to read; a manifest has about 15


@dataclass(frozen=True)
class Finding:
    """A defect of a sealed file: the check that found it, and a description without data values."""

    check: str
    what: str


@dataclass(frozen=True)
class SealedCatalog:
    """The result of checking the catalog of a sealed file."""

    kind: Kind | None  # the kind of the release; None if the file holds no release, or one with wrong tables
    manifest: dict[str, str]  # the manifest; empty if its table cannot be trusted
    objects: int  # the number of objects
    findings: tuple[Finding, ...]  # the differences from what anondb writes; if any exist, only base tables were read

    @property
    def is_release(self) -> bool:
        """Whether the catalog is exactly the one that anondb writes."""
        return self.kind is not None and not self.findings


def listed(engine: Engine, catalog: str) -> Catalog:
    """List all objects of a database's catalog, without binding or running a view or macro."""
    return listings(engine).get(catalog, {})


def listings(engine: Engine) -> Mapping[str, Catalog]:
    """The objects of all databases, by their catalogs, without binding or running a view or macro."""
    queries = ("release/objects", "release/triggers") if HAS_TRIGGERS else ("release/objects",)
    catalogs: dict[str, dict[Entry, tuple[str, str]]] = {}
    for query in queries:
        objects = engine.query(query)
        columns = [objects[c].tolist() for c in ("catalog_name", "schema_name", "kind", "name", "text", "comment")]
        for catalog, schema, kind, name, text, comment in zip(*columns, strict=True):
            for old, new in _OLD_WORDS:
                text = text.replace(old, new)
            catalogs.setdefault(catalog, {})[schema, kind, name] = (text, comment)
    return catalogs


def objects_of(schema: str, kind: Kind) -> set[Entry]:
    """The objects of a release of this kind."""
    named = (("table", kind.tables), ("view", kind.views), ("macro", kind.macros))
    return {(schema, "schema", ""), *((schema, what, name) for what, names in named for name in names)}


def unexpected_objects(engine: Engine, schema: SchemaName, kind: Kind) -> list[Entry]:
    """The unexpected and the missing objects in the schema of a release in the owner's database."""
    present = {entry for entry in listed(engine, schema.catalog) if entry[0] == schema.name}
    return sorted(present ^ objects_of(schema.name, kind))


def sealed_catalog(engine: DuckDBEngine, schema: SchemaName) -> SealedCatalog:
    """Compare the catalog of a sealed file with what anondb writes (``sealed_catalogs``). Afterwards a release with records
    is the current database."""
    (checked,) = sealed_catalogs(engine, [schema])
    return checked


def sealed_catalogs(engine: DuckDBEngine, schemas: Sequence[SchemaName]) -> list[SealedCatalog]:
    """Compare the catalogs of sealed files (their schemas ``main``) with what anondb writes. DuckDB lists those of all files
    at once, and views are bound only if all texts of all files are those of anondb. The engine is on a locked connection
    (``engine.untrusted``) whose current database is a different one, because the macros of a file would hide DuckDB's
    functions."""
    listed = listings(engine)
    contents = {schema: listed.get(schema.catalog, {}) for schema in schemas}
    texts = _TableTexts(engine)
    manifests = _read_manifests(engine, [s for s in schemas if not texts.wrong(contents[s], {"manifest": MANIFEST})])
    beside: dict[SchemaName, Catalog] = {}
    for s, manifest in manifests.items():
        if MODELLED in manifest:
            beside[s] = {entry: there for entry, there in contents[s].items() if entry[0] == MODELLED}
            contents[s] = {entry: there for entry, there in contents[s].items() if entry[0] != MODELLED}
    told = {s: _stated_kind(engine, s, contents[s], manifests.get(s), texts) for s in schemas}
    kinds = all_as_read(engine, {s: kind for s, kind in told.items() if isinstance(kind, Kind)})
    checked = {
        s: catalog if isinstance(catalog, SealedCatalog) else _compared(contents[s], manifests[s], kinds[s])
        for s, catalog in told.items()
    }
    for schema, there in beside.items():
        catalog = checked[schema]
        if catalog.kind is not None:
            wrong = _modelled_differences(engine, there, modelled_tables(catalog.manifest, catalog.kind))
            objects = catalog.objects + len(there)
            checked[schema] = replace(catalog, objects=objects, findings=(*catalog.findings, *wrong))
    if not all(catalog.is_release for catalog in checked.values()):
        return list(checked.values())
    columns = _columns(engine, {schema.catalog for schema in schemas})
    for schema, catalog in checked.items():
        assert catalog.kind is not None
        said = columns.get((schema.catalog, schema.name), set())
        as_written = columns_digest(said) == known_digests(catalog.kind)[1]
        findings = [] if as_written else _column_comments(said, _reference(catalog.kind)[1])
        modelled = columns.get((schema.catalog, MODELLED), set())
        findings += _column_comments(modelled, {(*column[:3], "") for column in modelled})
        if not findings and catalog.kind.attributes:
            engine.use(schema.catalog, checked=True)
            findings = _defaults(engine, schema, catalog.kind)
            if len(schemas) > 1:
                engine.use("memory", checked=True)
        checked[schema] = replace(catalog, findings=tuple(findings))
    return list(checked.values())


def _stated_kind(
    engine: DuckDBEngine, schema: SchemaName, there: Catalog, manifest: dict[str, str] | None, texts: _TableTexts
) -> Kind | SealedCatalog:
    """The kind of a release by its manifest, if its tables are those of the kind; else what is wrong."""
    if manifest is None:
        return _refused(there, {}, "there is no manifest of a release")
    if (kind := _manifest_kind(engine, schema, there, manifest)) is None:
        return _refused(there, manifest, "the manifest is of no kind of release that is known")
    release_id = manifest.get("release_id", "")
    if not _RELEASE_ID.fullmatch(release_id):
        return _refused(there, manifest, "the release_id of the manifest is not one that anondb makes")
    digest = objects_digest(there, release_id)
    known = (known_digests(kind)[0], known_digests(replace(kind, local=True))[0])  # of the same tables
    if digest not in known and (wrong := texts.wrong(there, kind.tables)):
        return _refused(there, manifest, *(f"not as it must be: {_described(e)}" for e in wrong))
    return kind


def _compared(there: Catalog, manifest: dict[str, str], kind: Kind) -> SealedCatalog:
    """Compare the objects of a file, and the texts and comments of these."""
    release_id = manifest["release_id"]
    if objects_digest(there, release_id) == known_digests(kind)[0]:
        return SealedCatalog(kind, manifest, len(there), ())
    reference, _ = _reference(kind)
    wanted = {entry: (text.replace(ANY_RELEASE, release_id), said) for entry, (text, said) in reference.items()}
    return SealedCatalog(kind, manifest, len(there), tuple(_differences(there, wanted)))


def objects_digest(there: Catalog, release_id: str) -> str:
    """The digest of the objects of a catalog, whatever its release id. Two catalogs have the same digest only if the texts
    of one are those of the other with the release id replaced: the parts between its occurrences are digested."""
    return _digest([(*entry, text.split(release_id), said) for entry, (text, said) in sorted(there.items())])


def columns_digest(columns: AbstractSet[Column]) -> str:
    """The digest of the columns of a catalog."""
    return _digest(sorted(columns))


def _digest(value: list[Any]) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


class _TableTexts:
    """The texts of tables, as DuckDB writes them for tables that are made in memory to compare; each kind is made once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._texts: dict[tuple[tuple[str, tuple[tuple[str, str], ...]], ...], dict[str, str]] = {}

    def wrong(self, there: Catalog, tables: Mapping[str, Mapping[str, str]]) -> list[Entry]:
        """The tables whose text in a catalog differs from that of tables with these columns."""
        key = tuple((name, tuple(columns.items())) for name, columns in tables.items())
        if key not in self._texts:
            self._texts[key] = self._written(tables)
        wanted = {(SEALED_SCHEMA, "table", name): text for name, text in self._texts[key].items()}
        return sorted(entry for entry, text in wanted.items() if there.get(entry, ("", ""))[0] != text)

    def _written(self, tables: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
        engine, memory = self._engine, SchemaName("memory", SEALED_SCHEMA)
        engine.run_all(
            (create_table(memory.table(name), columns) for name, columns in tables.items()), "making empty tables"
        )
        here = sql("database_name = {}", memory.catalog)
        texts = engine.select(reads.rows(reads.system("duckdb_tables"), "table_name AS name, sql AS text", where=here))
        engine.run_all((drop(memory.table(name)) for name in tables), "dropping empty tables")
        return dict(zip(*texts.values(), strict=True))


@lru_cache(maxsize=16)
def _reference(kind: Kind) -> tuple[Catalog, frozenset[Column]]:
    """The catalog of an empty release of a kind, with the number ``ANY_RELEASE``, as DuckDB stores it; and its columns."""

    def statements(catalog: str) -> list[str]:
        schema = SchemaName(catalog, SEALED_SCHEMA)
        tables = [create_table(schema.table(name), columns) for name, columns in kind.tables.items()]
        return [*tables, *view_and_macro_texts(schema, ANY_RELEASE, kind)]

    with contextlib.closing(empty_engine()) as engine:
        rewrite(engine, LOCKED_CATALOG, Path("reference.duckdb"), statements)
        columns = _columns(engine, {LOCKED_CATALOG})[LOCKED_CATALOG, SEALED_SCHEMA]
        return listed(engine, LOCKED_CATALOG), frozenset(columns)


def _columns(engine: Engine, catalogs: AbstractSet[str]) -> dict[tuple[str, str], set[Column]]:
    """The columns of all tables and views of some databases, by database and schema; views of these alone are bound."""
    columns: dict[tuple[str, str], set[Column]] = {}
    described = "database_name, schema_name, table_name, column_name, data_type, coalesce(comment, '') AS comment"
    of_these = sql("NOT internal AND database_name IN ({})", pieces(map(literal, sorted(catalogs))))
    rows = engine.select(reads.rows(reads.system("duckdb_columns"), described, where=of_these))
    for catalog, schema, *column in tuples(rows):
        columns.setdefault((catalog, schema), set()).add((column[0], column[1], column[2], column[3]))
    return columns


def _modelled_differences(engine: Engine, there: Catalog, tables: Sequence[StoredTable]) -> list[Finding]:
    """Differences of a schema of modelled rows from one that is made in memory to compare."""
    if not tables:
        return [Finding("catalog", "the manifest does not say what columns modelled rows have")]
    schema = SchemaName("memory", MODELLED)
    engine.run_all(modelled_statements(schema.catalog, tables), "making empty tables")
    wanted = {entry: text for entry, text in listed(engine, schema.catalog).items() if entry[0] == MODELLED}
    engine.run(schema.removal(), "dropping empty tables")
    return _differences(there, wanted)


def _refused(there: Catalog, manifest: dict[str, str], *what: str) -> SealedCatalog:
    """The result for a file whose tables are not those of a release."""
    return SealedCatalog(None, manifest, len(there), tuple(Finding("catalog", w) for w in what))


def _read_manifests(engine: Engine, schemas: Sequence[SchemaName]) -> dict[SchemaName, dict[str, str]]:
    """The manifests of files; empty where one has too many rows, NULLs, or a key twice."""
    tables = {schema: {"manifest": schema.table("manifest")} for schema in schemas}
    sizes = engine.query_each("release/manifest_size", list(tables.values()))
    numbers = {schema: size["n"].tolist()[0] for schema, size in zip(schemas, sizes, strict=True)}
    small = [schema for schema, number in numbers.items() if number is not None and number <= MOST_KEYS]
    rows = engine.query_each("release/manifest", [tables[schema] for schema in small])
    read = {s: dict(zip(r["key"].tolist(), r["value"].tolist(), strict=True)) for s, r in zip(small, rows, strict=True)}
    return {schema: read[schema] if len(read.get(schema, {})) == numbers[schema] else {} for schema in schemas}


def _manifest_kind(engine: Engine, schema: SchemaName, there: Catalog, manifest: Mapping[str, str]) -> Kind | None:
    """The kind of release that the manifest names; for relational data, derived from the columns of ``records``."""
    if not _TRANSACTIONS.fullmatch(manifest.get("transactions", "")) or manifest.get("semantics") not in _SEMANTICS:
        return None
    if layout_of(manifest.get("model", "")) != RECORDS:
        return kind_of(manifest, {})
    if (schema.name, "table", RECORDS) not in there:
        return None
    columns = table_columns(engine, schema.table(RECORDS))
    if any(not _RECORD_TYPE.fullmatch(of_type) for of_type in columns.values()):
        return None
    kind = kind_of(manifest, columns)
    return kind if kind is not None and list(kind.tables[RECORDS]) == list(columns) else None


def table_columns(engine: Engine, table: Table) -> dict[str, str]:
    """The columns of a base table and their types."""
    query = Query(sql("SELECT name, type FROM pragma_table_info({})", str(table.sql())))
    columns = engine.select(query, "the columns of a table")
    return dict(zip(columns["name"].tolist(), columns["type"].tolist(), strict=True))


def _differences(there: Catalog, wanted: Catalog) -> list[Finding]:
    """Unexpected and missing objects, and texts and comments that differ from anondb's."""
    what = [f"not allowed: {_described(entry)}" for entry in sorted(there.keys() - wanted.keys())]
    what += [f"missing: {_described(entry)}" for entry in sorted(wanted.keys() - there.keys())]
    for entry in sorted(there.keys() & wanted.keys()):
        for part, actual, expected in zip(("text", "comment"), there[entry], wanted[entry], strict=True):
            if actual != expected:
                what.append(f"the {part} of {_described(entry)} is not anondb's")
    return [Finding("catalog", words) for words in what]


def _described(entry: Entry) -> str:
    """The kind and qualified name of an object, as text."""
    schema, kind, name = entry
    return f"{kind} " + ".".join(repr(n)[1:-1] for n in (schema, name) if n)


def _defaults(engine: Engine, schema: SchemaName, kind: Kind) -> list[Finding]:
    """Find conditions of ``count_bounds`` whose default is not NULL: they change the counts, and no catalog shows them."""
    counts = []
    for conditions in ((), kind.macros["count_bounds"][1:]):
        arguments = pieces(("[]", *(f"{quoted(condition)} := NULL" for condition in conditions)))
        call = sql("SELECT lower_bound, upper_bound FROM {}.count_bounds({})", quoted(schema.name), arguments)
        bounds = engine.select(Query(call), "count_bounds of no items")
        counts.append([column.tolist() for column in bounds.values()])
    same = counts[0] == counts[1]
    return [] if same else [Finding("catalog", "a condition of count_bounds is not NULL by default")]


def _column_comments(there: AbstractSet[Column], wanted: AbstractSet[Column]) -> list[Finding]:
    """Columns whose comments or types differ from anondb's."""
    names = sorted({(table, column) for table, column, *_ in there ^ wanted})
    return [Finding("catalog", f"the comment of column {t!r}.{c!r} is not anondb's") for t, c in names]
