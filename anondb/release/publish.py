"""Publishing: a release sealed into a database file of its own, which holds nothing else and any DuckDB can read."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from sqlglot import exp

from anondb.engine import Engine
from anondb.errors import AnondbError, EngineError, InputError, InternalError
from anondb.release.freeze import number_transactions, table_counts
from anondb.release.objects import (
    ANATOMY,
    MANIFEST_KEYS,
    SEALED_SCHEMA,
    Kind,
    SchemaName,
    create_view_and_macro,
    read_manifest,
    release_kind,
    unexpected_objects,
)

_BUILD_PREFIX = ".anondb-build-"
_BUILD_NAME = "release.duckdb"
DATA_SUFFIXES = (".csv", ".dat", ".parquet", ".tree", ".txt", ".sql", ".json")
Check = Callable[[Engine, SchemaName], None]


@dataclass(frozen=True)
class PublishedFile:
    """A sealed file: where it is, the release in it, its transactions and rows, and its size in bytes."""

    path: Path
    release_id: str
    transactions: int
    rows: int
    size: int


def publish(
    engine: Engine,
    release_schema: SchemaName,
    path: str | os.PathLike[str],
    *,
    key: bytes | None = None,
    replace: bool = False,
    check: Check | None = None,
) -> PublishedFile:
    """Write a frozen release into a new database file, under transaction ids of its own.

    The file is built in a private directory beside its place by a database instance of its own, uncompressed
    (compressed blocks may carry stale memory), closed, read again and checked against the list of what a release may
    hold, and only then moved to its place in one step. Nothing but the released rows ever reaches that instance: no raw
    data, no key, not even the numbers that the owner's copy has.

    Args:
        engine: the owner's engine; inside ``engine.transaction()`` it reads one snapshot.
        release_schema: the frozen release.
        path: the new file. A process that has an old file of this name open goes on seeing the old one.
        key: orders and numbers the transactions; injected by tests only.
        replace: whether an existing file gives way.
        check: called with an engine on the finished file before it is moved to its place, for instance to verify the
            promise on the sealed rows; whatever it raises stops the publication.

    Raises:
        InputError: the file exists, is a database in use here, or its directory is missing or not writable.
        EngineError: the disk is full, or writing failed.
    """
    kind = release_kind(engine, release_schema)
    if kind is None:
        raise InputError(
            f"The schema {release_schema.name!r} does not hold a release.", code="not_a_release", hint="Check the name."
        )
    target = check_target(engine, path, replace)
    sweep_builds(target.parent)
    with _build_directory(target.parent) as build:
        wanted = _Rows.read(engine, release_schema, kind, key)
        built = build / _BUILD_NAME
        _write(built, build, wanted)
        if _wal(built).exists():
            raise InternalError("The sealed file was not closed cleanly.")
        _check_sealed(built, wanted, table_counts(engine, release_schema, kind), check)
        try:
            os.chmod(built, 0o600)
            _sync(built)
            size = built.stat().st_size
            os.replace(built, target)
            _sync(target.parent)
        except OSError as error:
            raise _os_error(error) from None
    return PublishedFile(target, wanted.manifest["release_id"], int(wanted.manifest["transactions"]), wanted.rows, size)


# ---------------------------------------------------------------------- the rows that cross


@dataclass(frozen=True)
class _Rows:
    """The content of a sealed file, in the order in which it is stored.

    Attributes:
        kind: what kind of release it is.
        columns: the columns of each table but the manifest.
        manifest: its manifest.
        rows: how many rows the transactions, or the buckets, have.
    """

    kind: Kind
    columns: Mapping[str, Mapping[str, Any]]
    manifest: dict[str, str]
    rows: int

    @classmethod
    def read(cls, engine: Engine, schema: SchemaName, kind: Kind, key: bytes | None) -> _Rows:
        """Read a frozen release under fresh numbers; work tables are dropped again."""
        try:
            columns = (_read_buckets if kind is ANATOMY else _read_transactions)(engine, schema, key)
        finally:
            with contextlib.suppress(AnondbError):  # in a failed transaction nothing can be dropped, nor need it be
                engine.drop(*(engine.work_table(n) for n in ("release_secret", "release_numbers", "sealed_items")))
        rows = len(columns["buckets" if kind is ANATOMY else "transactions"]["copies"])
        columns["released_items"] = engine.query("release/members", {"released_items": schema.table("released_items")})
        return cls(kind, columns, read_manifest(engine, schema), rows)


def _read_transactions(engine: Engine, schema: SchemaName, key: bytes | None) -> dict[str, Mapping[str, Any]]:
    """The transactions of a global recoding under fresh numbers."""
    frozen, ids = schema.table("transactions"), schema.table("transaction_ids")
    old_numbers = exp.select(exp.column("transaction_id").as_("tid")).from_(ids.expression())
    numbered = number_transactions(engine, old_numbers, key)
    dictionary = engine.create("sealed_items", "release/coded_items", {"transactions": frozen})
    rows = engine.query("release/renumbered", {"transactions": frozen, "items": dictionary, "numbered": numbered})
    labels = np.asarray(engine.query("transactions/labels", {"items": dictionary})["label"], dtype=object)
    return {
        "transactions": {**rows, "item": labels[rows["item"].astype(np.int64)]},
        "transaction_ids": engine.query("release/renumbered_ids", {"transaction_ids": ids, "numbered": numbered}),
    }


def _read_buckets(engine: Engine, schema: SchemaName, key: bytes | None) -> dict[str, Mapping[str, Any]]:
    """The buckets of an anatomy under fresh numbers; their lists cross as item numbers and lengths."""
    import pyarrow as pa

    frozen = schema.table("buckets")
    old_numbers = exp.select(exp.column("bucket_id").as_("tid")).distinct().from_(frozen.expression())
    numbered = number_transactions(engine, old_numbers, key)
    rows = engine.query("release/renumbered_buckets", {"buckets": frozen, "numbered": numbered})
    found = engine.query("release/listed_items", {"buckets": frozen, "numbered": numbered})["item"]
    offsets = np.concatenate(([0], np.cumsum(rows.pop("length").astype(np.int64)))).astype(np.int32)
    items = pa.ListArray.from_arrays(pa.array(offsets), pa.array(found, type=pa.string()))
    return {"buckets": {**rows, "items": items}}


def _write(built: Path, build: Path, rows: _Rows) -> None:
    """Write the sealed file with a database instance that sees nothing else."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "force_compression": "uncompressed",
        "temp_directory": str(build / "spill"),
        "enable_external_access": "false",
        "allow_persistent_secrets": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",
        "threads": "1",
    }
    try:
        sealed = Engine(duckdb.connect(str(built), config=config), owned=True)
    except duckdb.Error as error:
        raise EngineError(f"The sealed file could not be made ({type(error).__name__}).", code="io") from None
    try:
        schema = SchemaName(built.stem, SEALED_SCHEMA)
        manifest = {"key": list(rows.manifest), "value": list(rows.manifest.values())}
        columns = {**rows.columns, "manifest": manifest}
        with sealed.transaction():
            for name, types in rows.kind.tables.items():
                sealed.put(schema.table(name), {c: (t, columns[name][c]) for c, t in types.items()})
            create_view_and_macro(sealed, schema, rows.manifest["release_id"], rows.kind)
        sealed.run(exp.Command(this="CHECKPOINT"), "writing the sealed file")
    finally:
        sealed.close()


def _check_sealed(built: Path, rows: _Rows, counts: dict[str, int], check: Check | None) -> None:
    """Read the finished file again: it holds what a release may hold, all of it, and nothing else."""
    reader = Engine.open(built, read_only=True)
    try:
        schema = SchemaName(built.stem, SEALED_SCHEMA)
        wrong = unexpected_objects(reader, schema, rows.kind)
        if wrong:
            raise InternalError(f"The sealed file has {len(wrong)} objects too many or too few.")
        if table_counts(reader, schema, rows.kind) != counts or read_manifest(reader, schema) != rows.manifest:
            raise InternalError("The sealed file differs from the frozen release.")
        if check is not None:
            check(reader, schema)
    finally:
        reader.close()


# ---------------------------------------------------------------------- files and directories


def _valid_path(path: str | os.PathLike[str]) -> Path:
    """The absolute path, unless no file can have it."""
    text = os.fspath(path)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        text = ""
    if not text or "\0" in text:
        raise InputError("The path of the sealed file is not a valid path.", code="bad_path")
    return Path(os.path.abspath(text))


def _wal(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def check_target(engine: Engine, path: str | os.PathLike[str], replace: bool) -> Path:
    """The absolute path of the file to be written, if it may be written.

    Raises:
        InputError: it exists, is in use here, or its directory is missing or not writable.
    """
    target = _valid_path(path)
    exists, directory = os.path.lexists(target), target.parent.is_dir()
    shown = repr(target.name)
    if not directory:
        raise InputError(f"The directory for {shown} does not exist.", code="no_such_directory", hint="Make it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"The directory for {shown} is not writable.", code="not_writable", hint="Choose another one.")
    if not target.name or target.is_dir():
        raise InputError(f"{shown} is a directory.", code="bad_path", hint="Name a file in it.")
    if exists:
        for attached in engine.query("release/databases")["path"].tolist():
            with contextlib.suppress(OSError):
                if os.path.samefile(attached, target):
                    raise InputError(
                        f"{shown} is a database that is open here.", code="target_in_use", hint="Choose another file."
                    )
        if not replace:
            raise InputError(
                f"The file {shown} exists already.", code="target_exists", hint="Choose another name, or replace it."
            )
        if target.suffix.lower() in DATA_SUFFIXES:
            raise InputError(
                f"{shown} is a data file, which a release never replaces.",
                code="target_in_use",
                hint="Choose another name.",
            )
    if os.path.lexists(_wal(target)):
        raise InputError(
            f"A write-ahead log lies beside {shown}, which DuckDB would mix into the new file.",
            code="stale_wal",
            hint="Open and close its database, or remove it.",
        )
    return target


def _host() -> str:
    return hashlib.sha256(os.uname().nodename.encode()).hexdigest()[:8]


@contextlib.contextmanager
def _build_directory(parent: Path) -> Iterator[Path]:
    """A private directory (mode 0700) beside the target, removed at the end whatever happens."""
    try:
        build = Path(tempfile.mkdtemp(prefix=f"{_BUILD_PREFIX}{_host()}-{os.getpid()}-", dir=parent))
    except OSError as error:
        raise _os_error(error) from None
    try:
        yield build
    finally:
        shutil.rmtree(build, ignore_errors=True)


def sweep_builds(parent: Path) -> None:
    """Remove build directories that our own dead processes on this machine left behind."""
    prefix = f"{_BUILD_PREFIX}{_host()}-"
    for place in parent.glob(f"{prefix}*"):
        with contextlib.suppress(OSError, ValueError):
            status = place.lstat()
            if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
                continue
            try:
                os.kill(int(place.name.removeprefix(prefix).split("-")[0]), 0)
            except ProcessLookupError:
                shutil.rmtree(place, ignore_errors=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _os_error(error: OSError) -> EngineError:
    """A typed error without the path that the operating system's own has."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return EngineError("No disk space left for the sealed file.", code="disk_full")
    return EngineError(f"The sealed file could not be written ({type(error).__name__}).", code="io")


# ---------------------------------------------------------------------- reading


def open_release(path: str | os.PathLike[str]) -> dict[str, str]:
    """The manifest of a sealed file, read without changing it.

    Raises:
        InputError: ``no_such_file``, ``not_a_database`` or ``not_a_release``.
        EngineError: the file is locked by a process that writes it.
    """
    place = _valid_path(path)
    if not place.is_file():
        raise InputError(f"The file {place.name!r} does not exist.", code="no_such_file")
    engine = Engine.open(place, read_only=True)
    try:
        schema = SchemaName(engine.scalar("release/current_catalog"), SEALED_SCHEMA)
        foreign = InputError(f"The file {place.name!r} is not a sealed release.", code="not_a_release")
        kind = release_kind(engine, schema)
        if kind is None or unexpected_objects(engine, schema, kind):
            raise foreign
        manifest = read_manifest(engine, schema)
        if not manifest.keys() >= MANIFEST_KEYS:
            raise foreign
        return manifest
    finally:
        engine.close()
