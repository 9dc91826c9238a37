"""Publish a release: seal it into a separate database file that holds nothing else and that any DuckDB can read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anondb.engine import DuckDBEngine, Engine, Query, Table, reads
from anondb.engine.clean import clean_writer
from anondb.engine.files import move
from anondb.engine.locked import LOCKED_CATALOG
from anondb.engine.memory import lending_memory
from anondb.engine.texts import Sql, Value, listed, sql, text_of
from anondb.engine.trees import exp
from anondb.engine.untrusted import locked_engine, reader_engine
from anondb.errors import AnondbError, InputError, InternalError
from anondb.models import AsTable
from anondb.release.catalog import sealed_catalog
from anondb.release.definitions import build_statements
from anondb.release.digest import content_digest, file_digest
from anondb.release.findings import file_findings, storage_findings
from anondb.release.modelled import RULE, StoredTable, modelled_tables, stored_tables
from anondb.release.numbering import DRAWS, NUMBERS, number_transactions
from anondb.release.objects import (
    MODELLED,
    ROW_ORDER,
    SEALED_SCHEMA,
    SIGNATURE,
    Kind,
    SchemaName,
    read_manifest,
    release_kind,
    table_counts,
)
from anondb.release.paths import PRIVATE, build_directory, described, sync
from anondb.release.reader import SealedRelease
from anondb.release.row_sums import RowSums, row_sums, rows_of
from anondb.release.signing import Signer
from anondb.release.target import check_target

BUILD_NAME = "release.duckdb"
IN_MEMORY = SchemaName("memory", SEALED_SCHEMA)
Check = Callable[[DuckDBEngine, SchemaName], None]
Draw = Callable[[SealedRelease], SchemaName]  # makes the tables of modelled rows, in a schema of the release's engine


@dataclass(frozen=True)
class SealedFile(AsTable):
    """A sealed file.

    Attributes:
        path, size: the path (the URL of a schema in PostgreSQL), and the size in bytes.
        release_id, transactions, rows: the release, and its numbers of transactions and rows.
        sha256: the SHA-256 of the file; for PostgreSQL, of the file that holds the same rows.
        content_digest: the digest of its content (``release/digest``), the same for a copy made by DuckDB.
        remarks: what the owner should know of the place.
    """

    path: Path | str
    release_id: str
    transactions: int
    rows: int
    size: int
    sha256: str
    content_digest: str
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the file without its directory; the URL of a schema without user and password."""
        return self.path.name if isinstance(self.path, Path) else str(self.path)


def publish(
    engine: DuckDBEngine,
    release_schema: SchemaName,
    path: str | os.PathLike[str],
    *,
    kind: Kind | None = None,
    replace: bool = False,
    check: Check | None = None,
    verified: RowSums | None = None,
    mode: int = PRIVATE,
    sign: Signer | None = None,
    draw: Draw | None = None,
) -> SealedFile:
    """Write a frozen release into a new database file, under fresh transaction ids.

    A clean process that never opened raw data receives the final rows in a private directory beside the target. It
    writes the file uncompressed (compressed blocks may contain stale memory). The finished file is read again, and its
    bytes, catalog, rows and promise are checked before one atomic move puts it in place.

    Args:
        engine: the owner's engine; inside ``engine.transaction()`` it reads one snapshot.
        path: the new file. A process that has an old file of this name open continues to see the old one.
        kind: the kind of the release, if the caller knows it.
        check: called with an engine on the finished file before the move, for instance to verify the promise on the
            sealed rows; any exception stops the publication.
        verified: the sums of the rows that the verifier accepted. If the release still has these rows, the finished file is
            compared with them, which takes the place of ``check``.
        mode: the permissions of the file.
        sign: signs the content of the file; the signature is a row of its manifest.
        draw: draws modelled rows, which the file then has, too.

    Raises:
        InputError: the file exists, is a database in use here, or its directory is missing or not writable.
        EngineError: the disk is full, memory ran out, or writing failed.
    """
    if (kind := kind or release_kind(engine, release_schema)) is None:
        words = f"The schema {release_schema.name!r} does not hold a release."
        raise InputError(words, code="not_a_release", hint="Check the name.")
    target = check_target(engine, path, replace)
    with build_directory(target.parent) as build, clean_writer(build) as writer:
        manifest = read_manifest(engine, release_schema)
        expected = _hand_over(engine, release_schema, kind, build, verified)
        counts = table_counts(engine, release_schema, kind) if expected is None else expected.counts()
        built, handed_over = build / BUILD_NAME, None
        with lending_memory(engine) as limit:
            if sign is not None or draw is not None:
                handed_over = _completed(build, kind, manifest, draw, sign, limit)
                counts = {**counts, "manifest": len(manifest)}
            writer.write(BUILD_NAME, written(kind, manifest), memory_limit=limit)
            digest = _check_sealed(built, kind, manifest, counts, expected or check, limit)
            if handed_over not in (None, digest):
                raise InternalError("The content of the sealed file differs from what was handed over.")
        size, sha256 = _move(built, target, mode, replace)
    transactions = int(manifest["transactions"])
    return SealedFile(target, manifest["release_id"], transactions, counts[kind.rows], size, sha256, digest)


def _move(built: Path, target: Path, mode: int, replace: bool) -> tuple[int, str]:
    """Move the finished file to its name in one step; returns its size and SHA-256."""
    try:
        os.chmod(built, mode)
        sync(built)
        size, sha256 = built.stat().st_size, file_digest(built)
        move(built, target, replace)
        sync(target.parent)
    except OSError as error:
        raise described(error) from None
    return size, sha256


def _completed(
    build: Path, kind: Kind, manifest: dict[str, str], draw: Draw | None, sign: Signer | None, memory_limit: str | None
) -> str:
    """Draw modelled rows from those that were handed over, and sign all of them; the manifest gets the keys that say so.
    Returns the content digest."""
    files = {name: str(build / rows_file(name)) for name in kind.tables}
    engine = reader_engine(list(files.values()), build, memory_limit)
    told = IN_MEMORY.table("manifest")

    def note(key: str, value: str) -> None:
        manifest[key] = value
        engine.insert(told, {"key": ("VARCHAR", [key]), "value": ("VARCHAR", [value])})

    with contextlib.closing(engine):
        for name, file in files.items():
            how = "TABLE" if name == "manifest" else "VIEW"
            rows = rows_in(file, kind.tables[name])
            engine.run(sql("CREATE {} {} AS {}", Sql(how), IN_MEMORY.table(name), Sql(rows.text)), "handed over")
        if draw is not None:
            drawn = draw(SealedRelease(IN_MEMORY, kind, manifest, engine, build))
            note(MODELLED, RULE)
            _hand_over_modelled(engine, drawn, modelled_tables(manifest, kind), build)
        digest = content_digest(engine, IN_MEMORY, kind)
        if sign is not None:
            note(SIGNATURE, sign.sign(manifest, digest))
        hand_over_table(engine, reads.rows(told, "key, value", order="key"), Path(files["manifest"]))
    return digest


def _hand_over_modelled(engine: DuckDBEngine, drawn: SchemaName, tables: Sequence[StoredTable], build: Path) -> None:
    """Write modelled rows into ``build``, and name them as they are named in the file."""
    schema = SchemaName(IN_MEMORY.catalog, MODELLED)
    engine.run(schema.creation(), "a schema for modelled rows")
    for table in tables:
        file = build / rows_file(table.file)
        hand_over_table(engine, table.rows(drawn.table(table.name)), file)
        rows = rows_in(str(file), table.columns)
        engine.run(sql("CREATE VIEW {} AS {}", schema.table(table.name), Sql(rows.text)), "handed over")


def rows_in(path: str, columns: Mapping[str, str]) -> Query:
    """The rows of a file of Parquet."""
    return reads.stored(file_source(path), list(columns))


def file_source(path: str) -> Query:
    """All columns of a file of Parquet, whatever characters are in its path."""
    escaped = "".join(f"[{c}]" if c in "*?[" else c for c in path)
    return Query(sql("SELECT * FROM read_parquet({}, hive_partitioning = FALSE)", escaped))


def _hand_over(engine: Engine, schema: SchemaName, kind: Kind, build: Path, verified: RowSums | None) -> RowSums | None:
    """Write the released rows under fresh numbers into ``build``, one sorted file for each table; drop the work tables.
    Returns the sums that the sealed rows must have, if the rows are those that were ``verified``, else None."""
    old_numbers = reads.rows(schema.table(kind.numbered), f"{kind.number} AS tid", distinct=True)
    try:
        numbered = number_transactions(engine, old_numbers)
        for name in kind.tables:
            rows = rows_of(schema, kind, name, numbered)
            hand_over_table(
                engine, reads.stored(rows, list(kind.tables[name]), order=ROW_ORDER[name]), build / rows_file(name)
            )
        return _expected(engine, schema, kind, numbered, verified)
    finally:
        with contextlib.suppress(AnondbError):  # after a failed transaction DuckDB drops nothing, and need not
            engine.drop(engine.work_table(DRAWS), engine.work_table(NUMBERS))


def _expected(engine: Engine, schema: SchemaName, kind: Kind, numbered: Table, verified: RowSums | None) -> RowSums | None:
    """The sums of the verified rows under their new numbers; None if the rows are others, or not numbered one by one."""
    if verified is None or row_sums(engine, schema, kind, verified.salt) != verified:
        return None
    renumbered = row_sums(engine, schema, kind, verified.salt, numbered)
    expected = RowSums(verified.salt, verified.tables | renumbered.tables)
    different = "count(*) = count(DISTINCT tid) AND count(*) = count(DISTINCT transaction_id) AS once"
    once = bool(engine.scalar(reads.rows(numbered, different)))
    return expected if once and expected.counts() == verified.counts() else None


def hand_over_table(engine: Engine, rows: Query | exp.Query, file: Path) -> None:
    """Write the rows of a query into a file for the clean process; uncompressed, so that its bytes can be searched."""
    engine.run(copy_of(rows, str(file), {"COMPRESSION": "uncompressed"}), "handing over the released rows")


def copy_of(rows: Query | exp.Query, file: str, options: Mapping[str, Value]) -> Sql:
    """The statement that writes the rows of a query into a file of Parquet."""
    named = listed(sql("{} {}", Sql(option), value) for option, value in {"FORMAT": "parquet", **options}.items())
    return sql("COPY ({}) TO {} ({})", Sql(text_of(rows)), file, named)


def rows_file(table: str) -> str:
    """The name of the file that carries the rows of a table to the clean process."""
    return f"{table}.parquet"


def rows_table(table: str) -> Query:
    """That file, in the folder of the process, as a query."""
    return Query(sql("SELECT * FROM read_parquet({})", rows_file(table)))


def rebuild(
    engine: DuckDBEngine,
    catalog: str,
    kind: Kind,
    manifest: Mapping[str, str],
    directory: Path,
    memory_limit: str | None = None,
) -> Path:
    """Write the rows of a release in ``catalog``, as they are stored, into a new sealed file in a private directory."""
    with clean_writer(directory) as writer:
        for table in stored_tables(manifest, kind):
            rows = table.rows(table.place(catalog), stored=True)
            hand_over_table(engine, rows, directory / rows_file(table.file))
        writer.write(BUILD_NAME, written(kind, manifest), memory_limit=memory_limit)
    return directory / BUILD_NAME


def written(kind: Kind, manifest: Mapping[str, str]) -> list[str]:
    """The statements of the clean process, which fills the tables from the files that were handed over."""
    return build_statements(Path(BUILD_NAME).stem, kind, manifest, lambda table: rows_table(table.file))


def _check_sealed(
    built: Path,
    kind: Kind,
    manifest: dict[str, str],
    counts: dict[str, int],
    check: RowSums | Check | None,
    memory_limit: str | None,
) -> str:
    """Check that the finished file holds exactly the release, and return its content digest. ``check`` is what the rows are
    compared with, or what is called with them."""
    if file_findings(built):
        raise InternalError("The sealed file was not closed cleanly.")
    reader = locked_engine(built, memory_limit=memory_limit)
    with contextlib.closing(reader):
        schema = SchemaName(LOCKED_CATALOG, SEALED_SCHEMA)
        catalog = sealed_catalog(reader, schema)
        if not catalog.is_release:
            raise InternalError(f"The sealed file has {len(catalog.findings)} objects or texts too many or too few.")
        reader.use(schema.catalog, checked=True)
        if storage_findings(reader, kind, manifest):
            raise InternalError("The sealed file is not stored as it should be.")
        if catalog.manifest != manifest:
            raise InternalError("The manifest of the sealed file differs from the frozen one.")
        if isinstance(check, RowSums):
            sums = row_sums(reader, schema, kind, check.salt).tables
            if any(sums[name] != sum for name, sum in check.tables.items() if name != "manifest"):
                raise InternalError("The rows of the sealed file differ from the verified ones.")
        elif table_counts(reader, schema, kind) != counts:
            raise InternalError("The sealed file differs from the frozen release.")
        elif check is not None:
            check(reader, schema)
        return content_digest(reader, schema, kind, counts)
