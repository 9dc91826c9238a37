"""Open sealed files, which may be untrusted: nothing in a file runs before its catalog is known to be anondb's."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from anondb.engine import DuckDBEngine
from anondb.engine import untrusted as strangers
from anondb.engine.answering import DEFAULT_MEMORY, DEFAULT_SECONDS
from anondb.engine.locked import HAS_TIME_LIMIT, LOCKED_CATALOG, locked_catalog, open_locked
from anondb.errors import InputError
from anondb.models import check_count
from anondb.release.catalog import listed, sealed_catalogs
from anondb.release.objects import MANIFEST_KEYS, SEALED_SCHEMA, Kind, SchemaName
from anondb.release.paths import valid_path

MAX_SECONDS = 3_600.0  # limit for one of anondb's own statements on a sealed file


@dataclass(frozen=True)
class SealedRelease:
    """An open sealed file, all of whose views and macros are anondb's.

    Attributes:
        engine: reads the file, on a locked connection, which other files may share.
        schema: the schema ``main`` of the file.
        kind: the kind of the release.
        manifest: its manifest.
        path: the file.
    """

    engine: DuckDBEngine
    schema: SchemaName
    kind: Kind
    manifest: dict[str, str]
    path: Path


def locked_engine(
    path: str | os.PathLike[str],
    *,
    files: Sequence[str] = (),
    max_seconds: float = MAX_SECONDS,
    threads: int | None = None,
    memory_limit: str | None = None,
    on_statement: Callable[[str], None] | None = None,
) -> tuple[DuckDBEngine, SchemaName, Path]:
    """Open a file that may be a sealed release, unchecked; return an engine, the schema, and the absolute path.

    ``files`` are other files that may be read; for the rest see ``engine.untrusted``.

    Raises:
        InputError: ``bad_path``, ``no_such_file`` or ``not_a_database``.
        EngineError: the file is locked by a process that writes it.
    """
    place = _file(path)
    if threads is not None:
        check_count("threads", threads)
    engine = strangers.locked_engine(
        place,
        files=[os.path.abspath(file) for file in files],
        max_seconds=max_seconds,
        threads=threads,
        memory_limit=memory_limit,
        on_statement=on_statement,
    )
    return engine, SchemaName(LOCKED_CATALOG, SEALED_SCHEMA), place


def _file(path: str | os.PathLike[str]) -> Path:
    place = valid_path(path)
    if not place.is_file():
        raise InputError(f"The file {place.name!r} does not exist.", code="no_such_file", hint="Check the path.")
    return place


@contextlib.contextmanager
def sealed_release(path: str | os.PathLike[str], **options: Any) -> Iterator[SealedRelease]:
    """Open a sealed file for anondb's own statements, after checking its whole catalog; see ``sealed_releases``."""
    with sealed_releases([path], **options) as (release,):
        yield release


@contextlib.contextmanager
def sealed_releases(
    paths: Sequence[str | os.PathLike[str]],
    *,
    files: Sequence[str] = (),
    max_seconds: float = MAX_SECONDS,
    threads: int | None = None,
    memory_limit: str | None = None,
    on_statement: Callable[[str], None] | None = None,
) -> Iterator[list[SealedRelease]]:
    """Open sealed files on one connection for anondb's own statements, after checking the whole catalog of each.

    A single file is the current database; of several none is.

    Raises:
        InputError: ``bad_path``, ``no_such_file``, ``not_a_database``, or ``not_a_release``: a file holds other objects, or
            the texts of its views and macros differ from anondb's.
        EngineError: a file is locked by a process that writes it.
    """
    places = [_file(path) for path in paths]
    if threads is not None:
        check_count("threads", threads)
    engine = strangers.locked_engine(
        places[0],
        files=[os.path.abspath(file) for file in files],
        more=places[1:],
        max_seconds=max_seconds,
        threads=threads,
        memory_limit=memory_limit,
        on_statement=on_statement,
    )
    schemas = [SchemaName(locked_catalog(n), SEALED_SCHEMA) for n in range(len(places))]
    try:
        releases = []
        for place, schema, catalog in zip(places, schemas, sealed_catalogs(engine, schemas), strict=True):
            if catalog.kind is None or not catalog.is_release or not catalog.manifest.keys() >= MANIFEST_KEYS:
                raise InputError(
                    f"The file {place.name!r} is not a sealed release.",
                    code="not_a_release",
                    hint="anondb inspect FILE lists what is wrong with it. Get it from its publisher again.",
                )
            releases.append(SealedRelease(engine, schema, catalog.kind, catalog.manifest, place))
        if len(schemas) == 1:
            engine.use(schemas[0].catalog, checked=True)
        yield releases
    finally:
        engine.close()


def is_sealed(path: str | os.PathLike[str]) -> bool:
    """Whether to read a file as a sealed release: its schema ``main`` has an object ``manifest`` of any type.

    Raises:
        InputError: ``bad_path``, ``no_such_file`` or ``not_a_database``.
        EngineError: the file is locked by a process that writes it.
    """
    engine, schema, _ = locked_engine(path)
    try:
        return any(
            name.lower() == "manifest" for place, _, name in listed(engine, schema.catalog) if place == schema.name
        )
    finally:
        engine.close()


def read_sealed_manifest(path: str | os.PathLike[str]) -> dict[str, str]:
    """The manifest of a sealed file.

    Raises:
        InputError: ``no_such_file``, ``not_a_database`` or ``not_a_release``.
        EngineError: the file is locked by a process that writes it.
    """
    with sealed_release(path) as sealed:
        return sealed.manifest


def open_release(
    path: str | os.PathLike[str],
    *,
    memory_limit: str = DEFAULT_MEMORY,
    max_seconds: float | None = None,
    threads: int | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a sealed release for analysts, read-only and locked.

    SQL on this connection can read only the release: no files, other databases, Python variables or extensions, and no
    setting can be changed. A replaced file is read anew even if this process has the old one open.

    Args:
        path: the sealed file.
        memory_limit: DuckDB's memory limit.
        max_seconds: time limit for a query, 60 seconds by default. DuckDB before 2.0 has no such limit: there is none by
            default, and one that is passed is refused.
        threads: DuckDB's number of threads.

    Raises:
        InputError: ``no_such_file``, ``not_a_database`` or ``not_a_release``.
        EngineError: the file is locked by a process that writes it.
    """
    if threads is not None:
        check_count("threads", threads)
    if max_seconds is None and HAS_TIME_LIMIT:
        max_seconds = DEFAULT_SECONDS
    read_sealed_manifest(path)
    return open_locked(valid_path(path), memory_limit=memory_limit, max_seconds=max_seconds, threads=threads)
