"""Checks of a sealed file's bytes, storage, rows and row order. Each returns its findings, none if the file is sound.
``publish`` runs the cheap checks on every file, ``inspect`` all of them."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from anondb.data.types import is_released, not_of_type
from anondb.engine import Engine, Query, Rows, reads, tuples
from anondb.engine.arrays import Floats
from anondb.engine.texts import Sql, listed, quoted, sql
from anondb.errors import InputError
from anondb.models.named import model_of
from anondb.release.catalog import Finding
from anondb.release.item_supports import wrong_weights
from anondb.release.manifest import SUPPRESSED, empty_transactions, tells_suppressed, types_of, types_text
from anondb.release.modelled import RULE, StoredTable, stored_tables
from anondb.release.objects import (
    ANATOMY,
    GLOBAL,
    MODELLED,
    SIGNATURE,
    Kind,
    SchemaName,
    manifest_keys,
    partition_of,
    read_manifest,
    sensitive_text,
)
from anondb.release.paths import wal_of
from anondb.release.relational import range_text

_HEADER, _CHECKSUM = 4_096, slice(0, 8)  # the bytes of a header, and where its checksum is
HEADER_BYTES = 3 * _HEADER  # blocks follow
_BLOCK_BYTES = 262_144
# The main header after its checksum: magic bytes and format, 32 bytes of flags, version, and source of DuckDB.
_FORMAT, _VERSION, _SOURCE = slice(8, 20), slice(52, 84), slice(84, 116)
_FIELDS = slice(8, 64)  # of each of the other two headers: counters and addresses
_VERSION_TEXT, _SOURCE_TEXT = re.compile(rb"v\d+\.\d+\.\d+[\w.\-]*"), re.compile(rb"[0-9a-f]{8,40}")
_PLAIN_STORAGE = {"Uncompressed", "Constant", "Empty Validity"}
RHO_LIMIT = 5.0  # |rho| < 5 / sqrt(N): a random order has one of eight such figures above it in 1 of 200,000 files


def file_findings(path: Path) -> list[Finding]:
    """Find a log beside the file, bytes after the last block, and header bytes that DuckDB does not write."""
    findings = []
    if os.path.lexists(wal_of(path)):
        findings.append(Finding("wal", "a write-ahead log lies beside the file"))
    if (path.stat().st_size - HEADER_BYTES) % _BLOCK_BYTES:
        findings.append(Finding("bytes", "the size of the file is not a multiple of the size of its blocks"))
    if strange := _strange_bytes(path):
        findings.append(Finding("bytes", f"{strange} bytes in the headers that a sealed file does not have"))
    return findings


def _strange_bytes(path: Path) -> int:
    """Count the header bytes that are neither fields nor zero; a malformed version or source counts in full. The third
    header may begin like the first: DuckDB writes it from the same memory."""
    with path.open("rb") as handle:
        main, *others = (handle.read(_HEADER) for _ in range(HEADER_BYTES // _HEADER))
    strange = 0
    for place, form in ((_VERSION, _VERSION_TEXT), (_SOURCE, _SOURCE_TEXT)):
        text = main[place].rstrip(b"\0")
        strange += 0 if form.fullmatch(text) else max(1, len(text))
    strange += _nonzero(main, _FORMAT, _VERSION, _SOURCE)
    for header in others:
        copied = [_SOURCE] if header[_SOURCE] == main[_SOURCE] else []
        strange += _nonzero(header, _FIELDS, *copied)
    return strange


def _nonzero(header: bytes, *fields: slice) -> int:
    """Count the bytes of a header, outside its checksum and the fields, that are not zero."""
    rest = bytearray(header)
    for field in (_CHECKSUM, *fields):
        rest[field] = bytes(len(rest[field]))
    return len(rest) - rest.count(0)


def written_by(path: Path) -> str:
    """The version of DuckDB in a file's header; '' if the text is not a version."""
    with path.open("rb") as handle:
        text = handle.read(_HEADER)[_VERSION].rstrip(b"\0")
    return text.decode() if _VERSION_TEXT.fullmatch(text) else ""


def storage_findings(engine: Engine, kind: Kind, manifest: Mapping[str, str]) -> list[Finding]:
    """Find compressed segments, whose gaps cannot be read, and free blocks, which keep deleted rows."""
    findings = []
    here = "database_name = current_database()"
    if free := int(engine.scalar(reads.rows(reads.system("pragma_database_size"), "free_blocks", where=here))):
        findings.append(Finding("bytes", f"{free} free blocks may hold deleted rows"))
    tables = stored_tables(manifest, kind)
    segments = [reads.rows(_segments(table), sql("{} AS name, compression", table.file), distinct=True) for table in tables]
    kinds = engine.select(reads.union(segments), "looking up how tables are stored")
    pairs = zip(kinds["name"].tolist(), kinds["compression"].tolist(), strict=True)
    compressed = {name for name, compression in pairs if compression not in _PLAIN_STORAGE}
    return findings + [Finding("bytes", f"the table {name} is stored compressed") for name in sorted(compressed)]


def _segments(table: StoredTable) -> Query:
    """The stored segments of a table of the current database."""
    return Query(sql("SELECT * FROM pragma_storage_info({})", str(table.place("").sql())))


def content_findings(engine: Engine, schema: SchemaName, kind: Kind) -> list[Finding]:
    """Find inconsistent rows: numbers other than 1..N, items without members, values that no record has, and manifest keys
    or values that anondb does not write."""
    manifest = read_manifest(engine, schema)
    tables: dict[str, Rows] = {name: schema.table(name) for name in kind.tables}
    if kind is ANATOMY:
        tables["labels"] = reads.rows(reads.rows(tables["buckets"], "unnest(items) AS item"), "item", distinct=True)
    if kind.attributes is not None:
        tables["shown"] = _shown_categories(schema, kind)
    counts = engine.select(_contradictions(tables), "what rows refer to")
    if kind is ANATOMY:
        counts |= engine.query("release/sealed_buckets", {name: tables[name] for name in ANATOMY.tables})
    else:
        counts |= engine.query("release/sealed_rows", {name: tables[name] for name in GLOBAL.tables})
        classes = {"classes": _classes(schema, kind), "transaction_ids": tables["transaction_ids"]}
        counts |= engine.query("release/sealed_classes", classes)
    if kind.item_supports:
        counts["weights_that_are_not_those_of_the_bounds"] = np.array([wrong_weights(engine, schema)])
    if kind.attributes is not None:
        counts |= engine.select(_other_ranges(schema, kind), "the texts of ranges")
    counts |= engine.select(_other_types(schema, kind, manifest), "the types of values")
    findings = [
        Finding("rows", f"{int(column[0])} {name.replace('_', ' ')}") for name, column in counts.items() if column[0]
    ]
    empty = 0 if kind is ANATOMY else empty_transactions(engine, schema)
    return findings + _manifest_findings(manifest, [a.name for a in kind.attributes or ()], empty)


# The rows of a table without a row of another one, and the keys of both.
_REFERENCES = {
    "rows_without_a_transaction": ("transaction_items", "transaction_ids", "transaction_id"),
    "rows_without_a_label": ("transaction_items", "labels", "item_id"),
    "labels_without_a_row": ("labels", "transaction_items", "item_id"),
    "items_without_members": ("labels", "released_items", "item = released_item"),
    "members_without_an_item": ("released_items", "labels", "released_item = item"),
    "transactions_without_a_record": ("transaction_ids", "records", "transaction_id"),
    "records_without_a_transaction": ("records", "transaction_ids", "transaction_id"),
    "values_that_stand_for_nothing": ("shown", "released_values", "attribute, released_value"),
    "values_that_no_record_has": ("released_values", "shown", "attribute, released_value"),
    "item_supports_of_no_member": ("item_supports", "released_items", "released_item, item"),
}
_KEYS = {  # of each of which a table has one row
    "repeated_rows": ("transaction_items", "transaction_id, item_id"),
    "repeated_members": ("released_items", "released_item, item"),
    "repeated_records": ("records", "transaction_id"),
    "repeated_values": ("released_values", "attribute, released_value, value"),
    "item_supports_that_are_repeated": ("item_supports", "released_item, item"),
}


def _contradictions(tables: Mapping[str, Rows]) -> Query:
    """The query that counts rows of tables that refer to a row that is not there, and keys that are repeated."""
    counts = {
        name: reads.among(tables[table], tables[other], on, "1 AS lost", absent=True)
        for name, (table, other, on) in _REFERENCES.items()
        if table in tables and other in tables
    }
    for name, (table, key) in _KEYS.items():
        if table in tables:
            counts[name] = reads.counted(tables[table], key, having="count(*) > 1")
    if "item_supports" in tables:
        empty = "at_least IS NULL OR at_most IS NULL OR weight IS NULL"
        counts["item_supports_without_bounds"] = reads.rows(tables["item_supports"], "1 AS empty", where=empty)
    columns = listed(sql("{} AS {}", reads.counted(rows), quoted(name)) for name, rows in counts.items())
    return Query(sql("SELECT {}", columns))


def _other_ranges(schema: SchemaName, kind: Kind) -> Query:
    """The query that counts ranges whose text is not ``[low:high]`` of their ends, and those without a value."""
    wrong: list[str] = []
    empty: list[str] = []
    for attribute in kind.attributes or ():
        if attribute.ends is not None:
            shown, low, high, null = (quoted(attribute.name + end) for end in ("", "_lo", "_hi", "_null"))
            wrong.append(Sql(f"{shown} IS DISTINCT FROM {range_text(low, high)}"))
            only_null = f"({low} IS NULL AND {high} IS NULL AND {null if attribute.has_null else 'FALSE'})"
            known = f" AND {null} IS NOT NULL" if attribute.has_null else ""
            empty.append(f"NOT coalesce(({low} <= {high} OR {only_null}){known}, FALSE)")
    counts = {"ranges_that_are_not_their_ends": wrong, "ranges_without_a_value": empty}
    columns = listed(f"count_if({' OR '.join(conditions) or 'FALSE'}) AS {name}" for name, conditions in counts.items())
    return reads.rows(schema.table("records"), columns)


_NUMBERS, _TIMES = ("BIGINT", "DOUBLE", "DECIMAL"), ("DATE", "TIMESTAMP")


def _other_types(schema: SchemaName, kind: Kind, manifest: Mapping[str, str]) -> Query:
    """The query that counts the items and categories that a column of the type in the manifest does not hold, and the ranges
    of other types."""
    try:
        types = {name: text for name, text in types_of(manifest).items() if is_released(text)}
    except (KeyError, ValueError, AttributeError, TypeError):
        types = {}  # which is a finding itself
    wrong = not_of_type("item", types.get(manifest.get("item_column", ""), "VARCHAR"))
    parts = [sql("{}", reads.counted(schema.table("released_items"), where=wrong))]
    ranges = 0
    for attribute in kind.attributes or ():
        stated = types.get(attribute.name, "VARCHAR")
        if attribute.ends is not None:
            family = next(f for f in (_NUMBERS, _TIMES) if attribute.ends.startswith(f))
            ranges += attribute.name in types and not stated.startswith(family)
            continue
        wrong = sql("attribute = {} AND value IS NOT NULL AND {}", attribute.name, not_of_type("value", stated))
        parts.append(sql("{}", reads.counted(schema.table("released_values"), where=wrong)))
    total = Sql(" + ".join(parts))
    return Query(sql("SELECT {} AS values_of_another_type, {} AS ranges_of_another_type", total, ranges))


def _classes(schema: SchemaName, kind: Kind) -> Query:
    """``(transaction_id, class)``: transactions with the same relational values, or without such values the same items."""
    if kind.attributes is None:
        columns = "transaction_id, list([item_id, copies] ORDER BY item_id, copies) AS class"
        return reads.rows(schema.table("transaction_items"), columns, group="transaction_id")
    values = listed(sql("CAST({} AS VARCHAR)", quoted(column)) for column in kind.values)
    return reads.rows(schema.table("records"), f"transaction_id, [{values}] AS class")


def _shown_categories(schema: SchemaName, kind: Kind) -> Query:
    """``(attribute, released_value)``: the categories that occur in the records."""
    names = [attribute.name for attribute in kind.attributes or () if attribute.ends is None]
    parts = [Query("SELECT CAST(NULL AS VARCHAR) AS attribute, CAST(NULL AS VARCHAR) AS released_value WHERE FALSE")]
    for name in names:
        columns = sql("{} AS attribute, {} AS released_value", name, quoted(name))
        parts.append(reads.rows(schema.table("records"), columns, where=f"{quoted(name)} IS NOT NULL", distinct=True))
    return reads.union(parts)


def _manifest_findings(manifest: Mapping[str, str], attributes: Sequence[str], empty: int) -> list[Finding]:
    """Find keys that the model's manifest must not have or lacks, and values that are not in the form of their key;
    ``empty`` is the number of transactions without a released item."""
    findings = []
    wanted = manifest_keys(manifest.get("model", ""))
    with contextlib.suppress(KeyError, ValueError):  # which are findings themselves
        wanted |= {SUPPRESSED} if tells_suppressed(manifest, empty) else set()
    if strange := (manifest.keys() - {"item_supports", "partition", MODELLED, SIGNATURE}) ^ wanted:
        findings.append(Finding("rows", f"{len(strange)} keys of the manifest too many or too few"))
    odd = sum(not form.fullmatch(manifest[key]) for key, form in _FORMS.items() if key in manifest)
    names = [manifest[key] for key in _NAMES if key in manifest]
    if "partition" in manifest:
        part = partition_of(manifest)
        odd += part is None or len(part[1]) > _MOST_OF_NAME  # any text can be a value of the column
        names += part[:1] if part else ()
    odd += sum(not (0 < len(name) <= _MOST_OF_NAME and name.isprintable()) for name in names)
    table, own, item, records = (manifest.get(key, "").lower() for key in _NAMES)
    of_items, of_records = [item, *(partition_of(manifest) or ())[:1]], [*attributes, *[item] * (records == table)]
    for columns in (of_items, of_records):  # beside the id: no two columns of a table differ in case only
        odd += len({own, *map(str.lower, columns)}) <= len(columns)
    odd += "sensitive" in manifest and not _is_list(manifest["sensitive"])
    odd += "types" in manifest and not _are_types(manifest, attributes)
    odd += manifest.get("suppression") == "none" and manifest.get(SUPPRESSED, "0") != "0"
    try:
        parameters = model_of(manifest).parameters()
        odd += sum(str(value) != manifest[name] for name, value in parameters.items())
    except (InputError, KeyError):
        odd += 1
    if odd:
        findings.append(Finding("rows", f"{odd} values of the manifest are not of their key's form"))
    return findings


def _is_list(text: str) -> bool:
    """Whether a text is a list of sensitive items as anondb writes it."""
    with contextlib.suppress(ValueError, RecursionError):
        listed = json.loads(text)
        return isinstance(listed, list) and all(isinstance(i, str) for i in listed) and text == sensitive_text(listed)
    return False


def _are_types(manifest: Mapping[str, str], attributes: Sequence[str]) -> bool:
    """Whether the types are those of exactly the released columns, as anondb writes them."""
    named = {*attributes, manifest.get("id_column"), manifest.get("item_column"), *(partition_of(manifest) or ())[:1]}
    with contextlib.suppress(ValueError, RecursionError):
        types = json.loads(manifest["types"])
        if isinstance(types, dict) and types.keys() == named and all(isinstance(t, str) for t in types.values()):
            return manifest["types"] == types_text(types) and all(map(is_released, types.values()))
    return False


_NAMES = ("table", "id_column", "item_column", "records_table")
_MOST_OF_NAME = 255  # characters
_NUMBER = "(0|[1-9][0-9]{0,2})"  # of a version
_FORMS = {  # those of parameters follow from the model
    "release_id": re.compile("[0-9a-f]{32}"),
    "semantics": re.compile("set|atomic"),
    "suppression": re.compile("none|some"),
    "layout": re.compile("rows|lists"),
    SUPPRESSED: re.compile("0|[1-9][0-9]{0,9}"),
    "item_supports": re.compile("true"),
    MODELLED: re.compile(RULE),
    "transactions": re.compile("0|[1-9][0-9]{0,9}"),
    "version": re.compile(rf"{_NUMBER}(\.{_NUMBER}){{1,2}}((a|b|rc|\.dev|\.post){_NUMBER})?"),
}


def order_figures(engine: Engine, schema: SchemaName, kind: Kind) -> tuple[int, dict[str, float]]:
    """N, and rank correlations that are near 0 if the transactions (buckets of an anatomy) are in random order. Four figures
    of each transaction, its length and the first, the last and the sum of its items' alphabetical ranks, are correlated
    (Spearman, ties averaged) with the number of the transaction and with the transaction before it."""
    tables: dict[str, Rows] = {name: schema.table(name) for name in ("transaction_ids", "transactions")}
    if kind is ANATOMY:
        buckets, bucket = schema.table("buckets"), "bucket_id AS transaction_id"
        items = reads.rows(buckets, f"{bucket}, unnest(items) AS item")
        tables = {"transaction_ids": reads.rows(buckets, bucket, distinct=True), "transactions": items}
    shapes = engine.query("release/order_shapes", tables)
    number = shapes.pop("transaction_id").astype(np.float64)
    figures = {}
    for name, column in shapes.items():
        ranks = _ranks(np.ma.filled(column, -1))
        figures[f"{name} and number"] = _correlation(ranks, number)
        figures[f"{name} and neighbour"] = _correlation(ranks[1:], ranks[:-1])
    return len(number), figures


def order_findings(
    engine: Engine, schema: SchemaName, kind: Kind, manifest: Mapping[str, str]
) -> tuple[int, dict[str, float], list[Finding]]:
    """N, the figures of ``order_figures``, and findings: figures beyond their limit, and tables stored out of order."""
    findings = []
    n, figures = order_figures(engine, schema, kind)
    for name, rho in figures.items():
        if n and abs(rho) >= RHO_LIMIT / n**0.5:
            findings.append(Finding("order", f"the order is not random: {name}, rho = {rho:.3f}"))
    for table in stored_tables(manifest, kind):
        row = f"row({listed(map(quoted, table.order))})"
        rows = reads.rows(table.place(schema.catalog), f"{row} AS this_row, lag({row}) OVER (ORDER BY rowid) AS row_before")
        follows = ">=" if table.schema == MODELLED else ">"  # releases of bags have equal modelled rows
        if unsorted := int(engine.scalar(reads.counted(rows, where=f"NOT this_row {follows} row_before"))):
            findings.append(Finding("order", f"{unsorted} rows of {table.file} are not stored in their order"))
    return n, figures, findings


def _ranks(values: npt.NDArray[np.generic]) -> Floats:
    """Ranks from 1, ties averaged."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place], dtype=np.float64)


def _correlation(a: Floats, b: Floats) -> float:
    """Pearson's correlation; 0 if one side is constant."""
    if len(a) < 2:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / scale if scale else 0.0


def stored_statistics(engine: Engine, kind: Kind, manifest: Mapping[str, str]) -> Counter[tuple[str, ...]]:
    """The statistics that the file stores for its segments, and how often each occurs."""
    counted: Counter[tuple[str, ...]] = Counter()
    for table in stored_tables(manifest, kind):
        columns = "column_name, segment_type, compression, count, CAST(stats AS VARCHAR) AS stats"
        segments = engine.select(reads.rows(_segments(table), columns), "looking up statistics")
        counted.update((table.file, *map(str, row)) for row in tuples(segments))
    return counted
