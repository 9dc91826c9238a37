"""What is wrong with a sealed file: its bytes, storage, catalog, rows, and their order. No finding means all is well.

Each check returns what it found; ``publish`` runs the cheap ones on every file, ``inspect`` all of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.engine import Engine, Table
from anondb.release.objects import (
    ANATOMY,
    GLOBAL,
    MANIFEST_KEYS,
    Kind,
    SchemaName,
    allowed_objects,
    definitions,
    listed_objects,
    read_manifest,
)
from anondb.release.paths import wal_of

_HEADER, _CHECKSUM = 4_096, 8  # bytes of a header, and of the checksum that each begins with
HEADER_BYTES = 3 * _HEADER  # blocks follow
_BLOCK_BYTES = 262_144
_HEADER_TEXT = re.compile(rb"[\x20-\x7e]{4,}")
_HEADER_ALLOWED = re.compile(rb"DUCK.?|v?\d+\.\d+\.\d+[\w.\-]*|[0-9a-f]{8,40}")
_LITERAL = re.compile(r"""('(?:[^']|'')*')|"(?:[^"]|"")*\"""")  # a name in quotes may hold an apostrophe
_PLAIN_STORAGE = {"Uncompressed", "Constant", "Empty Validity"}
RHO_LIMIT = 5.0  # |rho| < 5 / sqrt(N): of eight such figures an honest random order has one beyond it in 200,000 files


@dataclass(frozen=True)
class Finding:
    """One thing that a sealed file must not have, or lacks: which check found it, and what (no data value)."""

    check: str
    what: str


def file_findings(path: Path) -> list[Finding]:
    """A log beside the file, bytes after the last block, and texts in the headers that DuckDB does not write."""
    found = []
    if os.path.lexists(wal_of(path)):
        found.append(Finding("wal", "a write-ahead log lies beside the file"))
    if (path.stat().st_size - HEADER_BYTES) % _BLOCK_BYTES:
        found.append(Finding("bytes", "the file is no whole number of blocks"))
    with path.open("rb") as handle:
        headers = [handle.read(_HEADER)[_CHECKSUM:] for _ in range(HEADER_BYTES // _HEADER)]
    strange = sum(not _HEADER_ALLOWED.fullmatch(text) for header in headers for text in _HEADER_TEXT.findall(header))
    if strange:
        found.append(Finding("bytes", f"{strange} texts in the headers are not DuckDB's"))
    return found


def storage_findings(engine: Engine, kind: Kind) -> list[Finding]:
    """Compressed segments, whose gaps cannot be read, and free blocks, which keep what was deleted."""
    found = []
    free = int(engine.scalar("release/free_blocks"))
    if free:
        found.append(Finding("bytes", f"{free} free blocks may hold deleted rows"))
    segments = [exp.select(exp.convert(name).as_("name"), "compression").from_(_segments(name)) for name in kind.tables]
    kinds = engine.select(exp.union(*segments, distinct=True), "looking up how tables are stored")
    plain = [kind in _PLAIN_STORAGE for kind in kinds["compression"].tolist()]
    compressed = {name for name, is_plain in zip(kinds["name"].tolist(), plain, strict=True) if not is_plain}
    return found + [Finding("bytes", f"the table {name} is stored compressed") for name in sorted(compressed)]


def _segments(table: str) -> exp.Table:
    """The list of the stored segments of a table of the current database."""
    return exp.Table(this=exp.Anonymous(this="pragma_storage_info", expressions=[exp.Literal.string(table)]))


def catalog_findings(engine: Engine, schema: SchemaName, kind: Kind, release_id: str) -> list[Finding]:
    """Objects, types, comments and defaults that are not on the list, and texts with literals that are not ours."""
    listed, allowed = listed_objects(engine, schema.catalog), allowed_objects(schema.name, kind)
    found = [Finding("catalog", f"not allowed: {_described(one)}") for one in sorted(listed.keys() - allowed)]
    found += [Finding("catalog", f"missing: {_described(one)}") for one in sorted(allowed - listed.keys())]
    ours = {literal.this for tree in definitions(schema, release_id, kind) for literal in tree.find_all(exp.Literal)}
    for one, text in sorted(listed.items()):
        strange = len({literal[1:-1].replace("''", "'") for literal in _LITERAL.findall(text) if literal} - ours)
        if strange and one in allowed:
            found.append(Finding("catalog", f"{strange} literals in the text of {_described(one)} are not anondb's"))
    return found


def _described(one: tuple[str, ...]) -> str:
    """An object by its kind and names; a type or detail only where it is anondb's own word."""
    schema, kind, name, part, detail = one
    named = ".".join(repr(n)[1:-1] for n in (schema, name, part) if n)
    return f"{kind} {named}" + (f" ({detail})" if detail else "")


def content_findings(engine: Engine, schema: SchemaName, kind: Kind) -> list[Finding]:
    """Rows that do not belong together: numbers that are not 1..N, items without members, values that no record has, a
    manifest with other keys or with texts where words of anondb's are due."""
    query, names = "release/sealed_rows", list(GLOBAL.tables)
    if kind is ANATOMY:
        query, names = "release/sealed_buckets", list(ANATOMY.tables)
    counts = engine.query(query, {name: schema.table(name) for name in names})
    if kind.attributes is not None:
        stored: dict[str, Table | exp.Query] = {
            name: schema.table(name) for name in ("transaction_ids", "records", "released_values")
        }
        counts |= engine.query("release/sealed_records", stored | {"shown": _shown_categories(schema, kind)})
    found = [
        Finding("rows", f"{int(column[0])} {name.replace('_', ' ')}") for name, column in counts.items() if column[0]
    ]
    return found + _manifest_findings(read_manifest(engine, schema))


def _shown_categories(schema: SchemaName, kind: Kind) -> exp.Query:
    """``(attribute, released_value)``: the categories that occur in the records."""
    names = [attribute.name for attribute in kind.attributes or () if attribute.ends is None]
    parts: list[exp.Query] = []
    for name in names:
        column = exp.column(exp.to_identifier(name, quoted=True), "records")
        records = exp.alias_(schema.table("records").expression(), "records", table=True)
        part = exp.select(exp.Literal.string(name).as_("attribute"), column.as_("released_value")).distinct()
        parts.append(part.from_(records).where(column.copy().is_(exp.null()).not_()))
    nothing = exp.select(*(exp.cast(exp.null(), "TEXT").as_(c) for c in ("attribute", "released_value")))
    return exp.union(nothing.where(exp.false()), *parts, distinct=False) if parts else nothing.where(exp.false())


def _manifest_findings(manifest: Mapping[str, str]) -> list[Finding]:
    """The manifest has the keys of its model and no others, and only names of the owner's are free text."""
    found = []
    strange = manifest.keys() ^ (MANIFEST_KEYS | PARAMETER_KEYS.get(manifest.get("model", ""), frozenset()))
    if strange:
        found.append(Finding("rows", f"{len(strange)} keys of the manifest too many or too few"))
    texts = {key: value for key, value in manifest.items() if key not in (*_NAMES, "sensitive")}
    odd = sum(not _WORDS.get(key, _PARAMETER).fullmatch(value) for key, value in texts.items())
    if "sensitive" in manifest:
        with contextlib.suppress(ValueError):
            listed = json.loads(manifest["sensitive"])
            odd -= isinstance(listed, list) and all(isinstance(item, str) for item in listed)
        odd += 1
    if odd:
        found.append(Finding("rows", f"{odd} values of the manifest are not of their key's form"))
    return found


PARAMETER_KEYS: Mapping[str, frozenset[str]] = {  # by the name of the model
    "km": frozenset({"k", "m"}),
    "k": frozenset({"k"}),
    "constraints": frozenset({"k"}),
    "hkp": frozenset({"h", "k", "p"}),
    "kkm": frozenset({"k", "m", "sensitive"}),
    "klm": frozenset({"k", "l", "m", "sensitive"}),
    "anatomy": frozenset({"l", "columns", "empty_values"}),
}
_NAMES = ("table", "id_column", "item_column")
_WORDS = {
    "release_id": re.compile("[0-9a-f]{32}"),
    "model": re.compile("[a-z]{1,20}"),
    "semantics": re.compile("set|atomic"),
    "suppression": re.compile("none|some"),
    "empty_values": re.compile("count|ignore"),
    "version": re.compile(r"\d+(\.\w{1,20}){0,5}"),
}
_PARAMETER = re.compile(r"inf|\d{1,20}([./]\d{1,20})?")  # h has up to 19 digits on both sides


def order_figures(engine: Engine, schema: SchemaName, kind: Kind) -> tuple[int, dict[str, float]]:
    """N, and rank correlations that are near 0 if the transactions (buckets of an anatomy) lie in a random order.

    Each transaction has a length and the first, the last and the sum of its items' places in the alphabet; each of them is
    correlated (Spearman, ties averaged) with the number of the transaction and with the transaction before it.
    """
    shapes = engine.query("release/order_shapes", _numbered_rows(schema, kind))
    number = shapes.pop("transaction_id").astype(np.float64)
    figures = {}
    for name, column in shapes.items():
        ranks = _ranks(np.ma.filled(column, -1))
        figures[f"{name} and number"] = _correlation(ranks, number)
        figures[f"{name} and neighbour"] = _correlation(ranks[1:], ranks[:-1])
    return len(number), figures


def order_findings(engine: Engine, schema: SchemaName, kind: Kind) -> tuple[int, dict[str, float], list[Finding]]:
    """N and the figures of ``order_figures``, and what they say; rows out of the order of their numbers are found too."""
    found = []
    n, figures = order_figures(engine, schema, kind)
    for name, rho in figures.items():
        if n and abs(rho) >= RHO_LIMIT / n**0.5:
            found.append(Finding("order", f"the order is not random: {name}, rho = {rho:.3f}"))
    for table in kind.rows:
        unsorted = engine.scalar("release/unsorted_rows", {"transactions": _numbers(schema, kind, table)})
        if unsorted:
            found.append(Finding("order", f"{unsorted} rows of {table} are not stored in the order of their numbers"))
    return n, figures, found


def _numbered_rows(schema: SchemaName, kind: Kind) -> dict[str, Table | exp.Query]:
    """The random numbers, and the items under each: those of a transaction, or of a bucket."""
    if kind is not ANATOMY:
        return {name: schema.table(name) for name in ("transaction_ids", "transactions")}
    number = exp.column("bucket_id").as_("transaction_id")
    buckets = exp.select(number).from_(schema.table("buckets").expression())
    items = exp.Explode(this=exp.column("items")).as_("item")
    return {"transaction_ids": buckets.copy().distinct(), "transactions": buckets.select(items)}


def _numbers(schema: SchemaName, kind: Kind, table: str) -> exp.Query:
    """``(transaction_id, rowid)`` of a table."""
    columns = (exp.column(kind.number).as_("transaction_id"), exp.column("rowid"))
    return exp.select(*columns).from_(schema.table(table).expression())


def _ranks(values: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """Ranks from 1, ties averaged."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place], dtype=np.float64)


def _correlation(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Pearson's correlation; 0 where one side is constant."""
    if len(a) < 2:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / scale if scale else 0.0


def stored_statistics(engine: Engine, kind: Kind) -> dict[tuple[str, ...], int]:
    """The statistics that the file keeps of every stored segment, with how often each occurs."""
    counted: dict[tuple[str, ...], int] = {}
    for table in kind.tables:
        statistics = exp.cast(exp.column("stats"), "VARCHAR").as_("stats")
        columns = ("column_name", "segment_type", "compression", exp.column("count"), statistics)
        found = engine.select(exp.select(*columns).from_(_segments(table)), "looking up statistics")
        for row in zip(*(column.tolist() for column in found.values()), strict=True):
            counted[(table, *map(str, row))] = counted.get((table, *map(str, row)), 0) + 1
    return counted


def rows_as_stored(schema: SchemaName, kind: Kind, table: str) -> exp.Query:
    """The rows of a table in the order in which they are stored."""
    columns = (exp.column(exp.to_identifier(c, quoted=True)) for c in kind.tables[table])
    return exp.select(*columns).from_(schema.table(table).expression()).order_by("rowid")
