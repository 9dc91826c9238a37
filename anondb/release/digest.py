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

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

import numpy as np

from anondb.engine import Columns, Engine, Table, filled, has_nulls, reads
from anondb.engine.arrays import Ints
from anondb.engine.queries import source_digest
from anondb.engine.texts import Sql, listed, literal, quoted, sql
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
    lines = []
    for name, columns in kind.tables.items():
        if set(columns.values()) <= _NUMBERS:
            digest = _numbers_digest(engine, schema, name, kind, counts[name])
        else:
            digest = _text_digest(engine, schema, name, kind, counts[name], left_out)
        lines.append(_line(name, columns, counts[name], digest))
    if modelled:
        tables = modelled_tables(manifest, kind)
        lines += [modelled_line(engine, stored, stored.place(schema.catalog)) for stored in tables]
    lines += [f"text {name} {source_digest(query)}" for name, query in definition_queries(kind)]
    return PREFIX + hashlib.sha256("".join(f"{line}\n" for line in sorted(lines)).encode()).hexdigest()


def _line(name: str, columns: Mapping[str, str], rows: int, digest: str) -> str:
    described = ", ".join(f"{column} {of_type}" for column, of_type in columns.items())
    return f"table {name}({described}) {rows} {digest}"


def modelled_line(engine: Engine, stored: StoredTable, table: Table) -> str:
    """The line of the content digest for modelled rows, which lie in ``table``."""
    order = listed(map(quoted, stored.columns))
    columns = [f"{quoted(name)} AS c{n}" for n, name in enumerate(stored.columns)]
    rows = reads.rows(table, listed((*columns, f"row_number() OVER (ORDER BY {order}) AS number")))
    text = _concatenated(_text(f"c{n}", kind) for n, kind in enumerate(stored.columns.values()))
    digest = f"sha256(string_agg({text}, '' ORDER BY number)) AS digest"
    blocks = reads.rows(rows, f"(number - 1) // {_BLOCK} AS block, {digest}, count(*) AS n", group="block", order="block")
    digests = engine.select(blocks, "the digest of a table")
    whole = hashlib.sha256("".join(digests["digest"].tolist()).encode()).hexdigest()
    return _line(stored.file, stored.columns, int(digests["n"].sum()), whole)


def _numbers_digest(engine: Engine, schema: SchemaName, name: str, kind: Kind, rows: int) -> str:
    """The digest of a table that has no texts."""
    number, table = quoted(kind.number), schema.table(name)
    order = list(dict.fromkeys((kind.number, *ROW_ORDER[name])))
    digest = hashlib.sha256()
    for part in _ranges(engine, table, number, rows):
        query = reads.stored(table, list(kind.tables[name]), where=_between(number, part))
        arrays = _ordered(engine.select(query, "the digest of a table"), order)
        for start in range(0, len(arrays[0]), _BLOCK):
            portion = [filled(a[start : start + _BLOCK].astype("<i8"), _NULL) for a in arrays]
            digest.update(np.column_stack(portion).tobytes())
    return digest.hexdigest()


def _ordered(columns: Columns, order: Sequence[str]) -> list[Ints]:
    """The columns with their rows in an order, NULL last. Two numbers are sorted as one where other columns are constant, as
    in a release of sets: that takes half the time of ORDER BY."""
    whole = all(not has_nulls(values) and values.min(initial=0) >= 0 for values in columns.values())
    if whole and len(order) == 2 and all((columns[n] == columns[n][:1]).all() for n in columns.keys() - set(order)):
        packed = columns[order[0]].astype(np.int64) << 32
        packed |= columns[order[1]]
        packed.sort()
        return list((columns | {order[0]: packed >> 32, order[1]: packed & 0xFFFFFFFF}).values())
    keys = [filled(columns[name].astype(np.int64), np.iinfo(np.int64).max) for name in reversed(order)]
    at = np.lexsort(keys)
    return [values[at] for values in columns.values()]


def _text_digest(engine: Engine, schema: SchemaName, name: str, kind: Kind, rows: int, left_out: AbstractSet[str]) -> str:
    """The digest of a table with texts."""
    block = Sql(f"{quoted(kind.number)} // {_BLOCK}" if kind.number in kind.tables[name] else "0")
    columns, table = kind.tables[name], schema.table(name)
    text = _concatenated(_text(quoted(column), of_type) for column, of_type in columns.items())
    order = listed(map(quoted, ROW_ORDER[name]))
    shown = f"{block} AS block, sha256(string_agg({text}, '' ORDER BY {order})) AS digest"
    digests: list[str] = []
    for part in _ranges(engine, table, block, rows):
        where = (
            sql("key NOT IN ({})", listed(map(literal, sorted(left_out)))) if name == "manifest" else _between(block, part)
        )
        query = reads.rows(table, shown, where=where, group="1", order="1")
        digests += engine.select(query, "the digest of a table")["digest"].tolist()
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _between(place: Sql, part: tuple[int, int] | None) -> Sql | None:
    """The condition that a place is in a range; none without a range."""
    return None if part is None else sql("{} BETWEEN {} AND {}", place, *part)


def _ranges(engine: Engine, table: Table, place: Sql, rows: int) -> list[tuple[int, int] | None]:
    """Ranges of places (numbers or blocks) whose rows fit in memory at once; a single one, None, if all do. Rows without a
    place (a file that somebody changed may have them) are in no range, so that nothing is divided."""
    limit = engine.memory_limit if rows > _BLOCK else None
    at_once = _AT_ONCE if limit is None else min(_AT_ONCE, limit // _ROW_BYTES)
    if rows <= at_once:
        return [None]
    columns = sql("count({0}) AS numbered, min({0}) AS lowest, max({0}) AS highest", place)
    size = engine.select(reads.rows(table, columns), "the size of a table")
    if int(size["numbered"][0]) < rows:
        return [None]
    first, last = int(size["lowest"][0]), int(size["highest"][0])
    step = max((last - first + 1) * at_once // rows, 1)
    return [(low, low + step - 1) for low in range(first, last + 1, step)]


def _concatenated(texts: Iterable[str]) -> str:
    """The texts of a row, one after the other."""
    return f"concat({', '.join(texts)})"


def _text(value: str, of_type: str) -> str:
    """A value as ``LENGTH:TEXT``, which makes the text of a row unambiguous."""
    if of_type.endswith("[]"):
        each = _text("element", of_type[:-2])
        listed_texts = f"array_to_string(list_transform({value}, lambda element: {each}), '')"
        shown = f"concat(CAST(len({value}) AS VARCHAR), '[', {listed_texts})"
    else:
        text = f"CAST({value} AS VARCHAR)"
        shown = f"concat(CAST(strlen({text}) AS VARCHAR), ':', {text})"
    return f"CASE WHEN {value} IS NULL THEN '-' ELSE {shown} END"
