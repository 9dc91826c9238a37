"""The two digests that identify a sealed file: of its bytes, and of its content.

The content digest identifies the release, not the file: a copy made by DuckDB has the same one. It is the SHA-256 of one
line for each object: ``table NAME(COLUMN TYPE, ...) ROWS DIGEST`` for each base table, ``text NAME DIGEST`` for each view
and macro with the digest of the SQL file that defines it, without its comment lines. The lines are sorted, and each ends
with a newline. A signature, which is made over this digest, is left out of the rows of ``manifest``, and of their number.
Modelled rows (``anondb.release.modelled``) have the lines ``table modelled_rows...`` and ``table modelled_records...``.

The digest of a table of integers and truth values alone is the SHA-256 of its rows, ordered by the number of the transaction
and then as they are stored: each value is a little-endian integer of 8 bytes (true is 1, false 0, NULL -2^63). The digest of
any other table is the SHA-256 of the hexadecimal digests of its blocks, in order: a block holds the rows of 65,536
transactions (buckets); a table without numbers is a single block. A row of these is its values in column order, each as
``LENGTH:TEXT`` with the length in bytes and the text of a CAST to VARCHAR; a list is its number of elements, then each
element; NULL is ``-``. Modelled rows, in the order of all their columns, have blocks of 65,536 rows.
"""

import hashlib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

import numpy as np
from sqlglot import exp

from anondb.engine import Engine, Table, reads
from anondb.engine.queries import source_digest
from anondb.release.definitions import definition_queries
from anondb.release.modelled import StoredTable, modelled_tables
from anondb.release.objects import MODELLED, ROW_ORDER, SIGNATURE, Kind, SchemaName, read_manifest, table_counts

PREFIX = "content:"
_BLOCK = 65_536  # transactions
_AT_ONCE = 8_000_000  # rows that are in memory at once ...
_ROW_BYTES = 256  # ... or fewer, if the memory limit has no room for so many bytes each
_NUMBERS = {"INTEGER", "BOOLEAN"}  # types whose values are shorter than the 8 bytes of NULL
_NULL = -(2**63)


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def content_digest(
    engine: Engine, schema: SchemaName, kind: Kind, counts: Mapping[str, int] | None = None, *, modelled: bool = True
) -> str:
    """The content digest, with its prefix ``content:``. Check the catalog of the release first. ``counts`` (the number of
    rows of each table) is read from the release unless the caller has it. Without ``modelled``, it is the digest of the
    release as it is without modelled rows and their key in the manifest, from which these are drawn."""
    counts = table_counts(engine, schema, kind) if counts is None else counts
    manifest = read_manifest(engine, schema)
    left_out = {SIGNATURE} if modelled else {SIGNATURE, MODELLED}
    counts = {**counts, "manifest": counts["manifest"] - len(left_out & manifest.keys())}
    lines = [_table_line(engine, schema, name, kind, counts[name], left_out) for name in kind.tables]
    if modelled:
        tables = modelled_tables(manifest, kind)
        lines += [modelled_line(engine, stored, stored.place(schema.catalog)) for stored in tables]
    lines += [f"text {name} {source_digest(query)}" for name, query in definition_queries(kind)]
    return PREFIX + hashlib.sha256("".join(f"{line}\n" for line in sorted(lines)).encode()).hexdigest()


def _table_line(engine: Engine, schema: SchemaName, name: str, kind: Kind, rows: int, left_out: AbstractSet[str]) -> str:
    columns = kind.tables[name]
    if set(columns.values()) <= _NUMBERS:
        return _line(name, columns, rows, _numbers_digest(engine, schema, name, kind, rows))
    return _line(name, columns, rows, _text_digest(engine, schema, name, kind, rows, left_out))


def _line(name: str, columns: Mapping[str, str], rows: int, digest: str) -> str:
    described = ", ".join(f"{column} {of_type}" for column, of_type in columns.items())
    return f"table {name}({described}) {rows} {digest}"


def modelled_line(engine: Engine, stored: StoredTable, table: Table) -> str:
    """The line of the content digest for modelled rows, which lie in ``table``."""
    columns = [reads.named(name).as_(f"c{n}") for n, name in enumerate(stored.columns)]
    order = exp.Order(expressions=[exp.Ordered(this=reads.named(name)) for name in stored.columns])
    number = exp.Window(this=exp.RowNumber(), order=order).as_("number")
    rows = exp.select(*columns, number).from_(table.expression()).subquery("numbered")
    text = exp.Concat(expressions=[_text(reads.named(f"c{n}"), kind) for n, kind in enumerate(stored.columns.values())])
    block = exp.IntDiv(this=exp.paren(exp.column("number") - exp.convert(1)), expression=exp.convert(_BLOCK))
    digest = _sha256(_joined(text, exp.Order(expressions=[exp.Ordered(this=exp.column("number"))]))).as_("digest")
    blocks = exp.select(block.as_("block"), digest, exp.Count(this=exp.Star()).as_("n")).from_(rows)
    digests = engine.select(blocks.group_by(exp.convert(1)).order_by(exp.convert(1)), "the digest of a table")
    whole = hashlib.sha256("".join(digests["digest"].tolist()).encode()).hexdigest()
    return _line(stored.file, stored.columns, int(digests["n"].sum()), whole)


def _numbers_digest(engine: Engine, schema: SchemaName, name: str, kind: Kind, rows: int) -> str:
    """The digest of a table that has no texts."""
    number, table = reads.named(kind.number), schema.table(name)
    order = dict.fromkeys((kind.number, *ROW_ORDER[name]))
    query = exp.select(*map(reads.named, kind.tables[name])).from_(table.expression()).order_by(*map(reads.named, order))
    digest = hashlib.sha256()
    for part in _ranges(engine, table, number, rows):
        chosen = query if part is None else query.where(number.copy().between(*part))
        arrays = list(engine.select(chosen, "the digest of a table").values())
        for start in range(0, len(arrays[0]), _BLOCK):
            portion = [np.ma.filled(a[start : start + _BLOCK].astype("<i8"), _NULL) for a in arrays]
            digest.update(np.column_stack(portion).tobytes())
    return digest.hexdigest()


def _text_digest(engine: Engine, schema: SchemaName, name: str, kind: Kind, rows: int, left_out: AbstractSet[str]) -> str:
    """The digest of a table with texts."""
    block: exp.Expr = exp.convert(0)
    if kind.number in kind.tables[name]:
        block = exp.IntDiv(this=reads.named(kind.number), expression=exp.convert(_BLOCK))
    query = _blocks(schema, name, kind, block)
    if name == "manifest":
        query = query.where(reads.named("key").isin(*sorted(left_out)).not_())
    digests: list[str] = []
    for part in _ranges(engine, schema.table(name), block, rows):
        chosen = query if part is None else query.where(block.copy().between(*part))
        digests += engine.select(chosen, "the digest of a table")["digest"].tolist()
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _ranges(engine: Engine, table: Table, place: exp.Expr, rows: int) -> list[tuple[int, int] | None]:
    """Ranges of places (numbers or blocks) whose rows fit in memory at once; a single one, None, if all do. Rows without a
    place (a file that somebody changed may have them) are in no range, so that nothing is divided."""
    limit = engine.memory_limit if rows > _BLOCK else None
    at_once = _AT_ONCE if limit is None else min(_AT_ONCE, limit // _ROW_BYTES)
    if rows <= at_once:
        return [None]
    counts = {"numbered": exp.Count(this=place), "first": exp.Min(this=place), "last": exp.Max(this=place)}
    columns = [column.as_(name, quoted=True) for name, column in counts.items()]
    size = engine.select(exp.select(*columns).from_(table.expression()), "the size of a table")
    if int(size["numbered"][0]) < rows:
        return [None]
    first, last = int(size["first"][0]), int(size["last"][0])
    step = max((last - first + 1) * at_once // rows, 1)
    return [(low, low + step - 1) for low in range(first, last + 1, step)]


def _blocks(schema: SchemaName, name: str, kind: Kind, block: exp.Expr) -> exp.Select:
    """``(block, digest)``: the digest of each block of a table, in order."""
    columns = kind.tables[name]
    text = exp.Concat(expressions=[_text(reads.named(c), t) for c, t in columns.items()])
    order = exp.Order(expressions=[exp.Ordered(this=reads.named(c)) for c in ROW_ORDER[name]])
    rows = exp.select(block.copy().as_("block"), _sha256(_joined(text, order)).as_("digest"))
    rows = rows.from_(schema.table(name).expression())
    return rows.group_by(exp.convert(1)).order_by(exp.convert(1))


def _joined(text: exp.Expr, order: exp.Order) -> exp.Expr:
    """Concatenate the texts of a group."""
    order.set("this", text)
    return exp.GroupConcat(this=order, separator=exp.Literal.string(""))


def _sha256(text: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="sha256", expressions=[text])


def _text(value: exp.Expr, of_type: str) -> exp.Expr:
    """A value as ``LENGTH:TEXT``, which makes the text of a row unambiguous."""
    if of_type.endswith("[]"):
        element = exp.to_identifier("element")
        each = exp.Lambda(this=_text(exp.column("element"), of_type[:-2]), expressions=[element])
        texts = exp.Anonymous(this="list_transform", expressions=[value.copy(), each])
        listed = exp.Anonymous(this="array_to_string", expressions=[texts, exp.Literal.string("")])
        counted = exp.cast(exp.Anonymous(this="len", expressions=[value.copy()]), "VARCHAR")
        shown: exp.Expr = exp.Concat(expressions=[counted, exp.Literal.string("["), listed])
    else:
        text = exp.cast(value.copy(), "VARCHAR")
        length = exp.cast(exp.Anonymous(this="strlen", expressions=[text]), "VARCHAR")
        shown = exp.Concat(expressions=[length, exp.Literal.string(":"), text.copy()])
    missing = value.copy().is_(exp.null())
    return exp.Case(ifs=[exp.If(this=missing, true=exp.Literal.string("-"))], default=shown)
