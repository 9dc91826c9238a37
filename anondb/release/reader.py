"""Opening sealed files: for analysts, locked; and for anondb's own checks."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb

from anondb.engine import Engine
from anondb.engine.locked import open_locked
from anondb.errors import InputError
from anondb.models import check_count
from anondb.release.findings import catalog_findings
from anondb.release.objects import (
    MANIFEST_KEYS,
    SEALED_SCHEMA,
    SchemaName,
    read_manifest,
    release_kind,
    unexpected_objects,
)
from anondb.release.paths import valid_path


def sealed_engine(path: str | os.PathLike[str]) -> tuple[Engine, SchemaName, Path]:
    """An engine on a file that may be a sealed release, its schema, and its absolute path; nothing of it was checked.

    Raises:
        InputError: ``bad_path``, ``no_such_file`` or ``not_a_database``.
        EngineError: the file is locked by a process that writes it.
    """
    place = valid_path(path)
    if not place.is_file():
        raise InputError(f"The file {place.name!r} does not exist.", code="no_such_file", hint="Check the path.")
    engine = Engine.open(place, read_only=True)
    return engine, SchemaName(engine.scalar("release/current_catalog"), SEALED_SCHEMA), place


def read_sealed_manifest(path: str | os.PathLike[str]) -> dict[str, str]:
    """The manifest of a sealed file, read without changing it.

    Raises:
        InputError: ``no_such_file``, ``not_a_database`` or ``not_a_release``.
        EngineError: the file is locked by a process that writes it.
    """
    engine, schema, place = sealed_engine(path)
    try:
        kind = release_kind(engine, schema)
        foreign = InputError(f"The file {place.name!r} is not a sealed release.", code="not_a_release")
        if kind is None or unexpected_objects(engine, schema, kind):
            raise foreign
        manifest = read_manifest(engine, schema)
        if not manifest.keys() >= MANIFEST_KEYS or catalog_findings(engine, schema, kind, manifest["release_id"]):
            raise foreign
        return manifest
    finally:
        engine.close()


def open_release(
    path: str | os.PathLike[str], *, memory_limit: str = "2GB", max_seconds: float = 60.0, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """Open a sealed release for analysts, read-only and locked.

    SQL on this connection can read the release and nothing else: no files, no other databases, no Python variables, no
    extensions, and no setting can be changed. A file that was replaced since is read anew even if this process has the old
    one open.

    Args:
        path: the sealed file.
        memory_limit: of the connection.
        max_seconds: how long a query may take.
        threads: of the connection.

    Raises:
        InputError: ``no_such_file``, ``not_a_database`` or ``not_a_release``.
        EngineError: the file is locked by a process that writes it.
    """
    if threads is not None:
        check_count("threads", threads)
    read_sealed_manifest(path)
    return open_locked(valid_path(path), memory_limit=memory_limit, max_seconds=max_seconds, threads=threads)
