"""Open sealed files, which may be untrusted: nothing in a file runs before its catalog is known to be anondb's. What cannot
be opened is an InputError (``bad_path``, ``no_such_file``, ``not_a_database``), a file that a process writes an
EngineError."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from anondb.engine import DuckDBEngine
from anondb.engine import untrusted as strangers
from anondb.engine.answering import DEFAULT_MEMORY, DEFAULT_SECONDS
from anondb.engine.files import no_file
from anondb.engine.locked import HAS_TIME_LIMIT, LOCKED_CATALOG, locked_catalog, open_for_analysts
from anondb.errors import AnondbError, DamagedFile, InputError, InternalError, VerificationFailed
from anondb.models import MOST_THREADS, check_count
from anondb.release.catalog import listed, sealed_catalogs
from anondb.release.definitions import build_statements
from anondb.release.digest import content_digest
from anondb.release.findings import content_findings
from anondb.release.objects import (
    MANIFEST_KEYS,
    MODELLED,
    ROW_ORDER,
    SEALED_SCHEMA,
    SEALED_TABLES,
    SchemaName,
    StoredRelease,
    read_release,
)
from anondb.release.paths import valid_path, wal_of
from anondb.release.signing import ANYBODY, Keys, fault_of, trusted_keys

MAX_SECONDS = 3_600.0  # limit for one of anondb's own statements on a sealed file


@dataclass(frozen=True)
class SealedRelease(StoredRelease):
    """An open release: a sealed file, all of whose views and macros are anondb's, or a release in the owner's database.

    Attributes:
        engine: reads the file, on a locked connection, which other files may share; or the owner's engine.
        path: the file; in the owner's database the name of the release.
        content_digest: its content digest, if it was computed to check the signature.
    """

    engine: DuckDBEngine
    path: Path
    content_digest: str | None = None


def locked_engine(path: str | os.PathLike[str], **settings: Any) -> tuple[DuckDBEngine, SchemaName, Path]:
    """Open a file that may be a sealed release, unchecked; return an engine, the schema, and the absolute path. ``settings``
    are those of ``engine.untrusted.locked_engine``."""
    place = existing_file(path)
    return _engine_on([place], settings), SchemaName(LOCKED_CATALOG, SEALED_SCHEMA), place


def _engine_on(places: Sequence[Path], settings: Mapping[str, Any]) -> DuckDBEngine:
    if settings.get("threads") is not None:
        check_count("threads", settings["threads"], high=MOST_THREADS)
    files = [os.path.abspath(file) for file in settings.get("files", ())]
    options = {"max_seconds": MAX_SECONDS, **settings, "files": files, "more": places[1:]}
    return strangers.locked_engine(places[0], **options)


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The absolute path of a file. Raises InputError: ``bad_path``, ``no_such_file``."""
    place = valid_path(path)
    if not place.is_file():
        raise no_file(place)
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
    trusted: str | os.PathLike[str] | Keys | None = None,
    named: Sequence[str] | None = None,
    anew: bool = False,
    **settings: Any,
) -> Iterator[list[SealedRelease]]:
    """Open sealed files on one connection for anondb's own statements, after checking the whole catalog of each.

    A single file is the current database; of several none is. Where a key is ``trusted``, by this argument or by
    ``ANONDB_TRUSTED``, each file must be signed by it. ``named`` are the names of the files in errors, ``settings`` those of
    ``engine.untrusted.locked_engine``. Where a key is trusted, or ``anew``, all rows are read once, and asked in a private
    file (``_read_anew``).

    Raises:
        InputError: ``bad_path``, ``no_such_file``, ``not_a_database``, or ``not_a_release``: a file holds other objects, or
            the texts of its views and macros differ from anondb's; see ``trusted_keys``.
        VerificationFailed: ``not_trusted``.
        DamagedFile: also if the block fails, and the rows of a file contradict each other.
        EngineError: a file is locked by a process that writes it.
    """
    places, keys = [existing_file(path) for path in paths], trusted_keys(trusted)
    names = named or [place.name for place in places]
    with contextlib.closing(_engine_on(places, settings)) as engine:
        releases = _checked(engine, places, names)
        if keys or anew:
            releases = [_read_anew(release, name, keys)[0] for release, name in zip(releases, names, strict=True)]
        if len(releases) == 1:
            engine.use(releases[0].schema.catalog, checked=True)
        with contradictions_told(releases):
            yield releases


def _checked(engine: DuckDBEngine, places: Sequence[Path], names: Sequence[str]) -> list[SealedRelease]:
    """The releases that an engine has attached, once their catalogs are those of anondb."""
    schemas = [SchemaName(locked_catalog(n), SEALED_SCHEMA) for n in range(len(places))]
    releases = []
    for name, place, schema, catalog in zip(names, places, schemas, sealed_catalogs(engine, schemas), strict=True):
        kind, manifest = catalog.kind, catalog.manifest
        # DuckDB reads the rows of a log as those of the file, which has other bytes
        has_log = any(os.path.lexists(wal_of(Path(path))) for path in (place, os.path.realpath(place)))
        if kind is None or not catalog.is_release or not manifest.keys() >= MANIFEST_KEYS or has_log:
            raise _no_release(name)
        releases.append(SealedRelease(schema, kind, manifest, engine, place))
    return releases


def _no_release(name: str) -> InputError:
    return InputError(
        f"The file {name!r} is not a sealed release.",
        code="not_a_release",
        hint="anondb inspect FILE lists what is wrong with it. Get it from its publisher again.",
    )


def _read_anew(release: SealedRelease, name: str, keys: Keys) -> tuple[SealedRelease, Path]:
    """Put a private file with the rows of a sealed file, whose catalog was checked, in its place; one of the ``keys``, if
    any, must have signed it. A digest covers rows, but a file also has statistics, by which DuckDB skips rows that do not
    fit a condition: whoever changes these hides rows from every question, and from no digest. All rows are read here,
    without a condition, and DuckDB writes their statistics; what conditions found in the file is read again."""
    engine, schema, kind, manifest = release.engine, release.schema, release.kind, release.manifest

    def statements(catalog: str) -> list[str]:
        return build_statements(catalog, kind, manifest, lambda table: table.place(schema.catalog))

    copy = strangers.rewrite(engine, schema.catalog, release.path, statements)
    if read_release(engine, schema) != StoredRelease(schema, kind, manifest):
        raise _no_release(name)
    digest = content_digest(engine, schema, kind) if keys else None
    if digest is not None and (fault := fault_of(manifest, digest, keys)) is not None:
        hint = "Get it from its publisher again, and the key over another channel."
        raise VerificationFailed(f"{name!r} is refused: {fault}.", code="not_trusted", hint=hint)
    return replace(release, content_digest=digest), copy


@contextlib.contextmanager
def trusted_copy(path: str | os.PathLike[str], keys: Keys, **settings: Any) -> Iterator[Path]:
    """A private file of the same name, with the rows that a trusted key signed. Raises as ``sealed_releases`` does."""
    place = existing_file(path)
    with contextlib.closing(_engine_on([place], settings)) as engine:
        (release,) = _checked(engine, [place], [place.name])
        yield _read_anew(release, place.name, keys)[1]


@contextlib.contextmanager
def contradictions_told(releases: Sequence[SealedRelease]) -> Iterator[None]:
    """If the block fails as a bug does, or the engine refuses a statement, check whether rows contradict each other. Raises
    DamagedFile: they do. Otherwise the error stays as it is."""
    try:
        yield
    except Exception as error:
        if isinstance(error, AnondbError) and not isinstance(error, InternalError) and error.code != "refused":
            raise
        for release in releases:
            if content_findings(release.engine, release.schema, release.kind):
                raise DamagedFile(
                    f"The rows of {release.path.name!r} contradict each other.",
                    hint="anondb inspect FILE lists where. Get it from its publisher again.",
                ) from None
        raise


def is_sealed(path: str | os.PathLike[str]) -> bool:
    """Whether to read a file as a sealed release: its schema ``main`` has an object ``manifest`` of any type."""
    engine, schema, _ = locked_engine(path)
    with contextlib.closing(engine):
        return engine.exists(schema.table("manifest")) or any(
            name.lower() == "manifest" for place, _, name in listed(engine, schema.catalog) if place == schema.name
        )


def is_release_file(path: Path) -> bool:
    """Whether a file has the tables of a release, and none of its owner."""
    try:
        engine, schema, _ = locked_engine(path)
    except AnondbError:
        return False
    with contextlib.closing(engine):
        objects = listed(engine, schema.catalog)
    tables = {(place, name) for place, kind, name in objects if kind == "table" and place != MODELLED}
    ours = {(schema.name, name) for name in ROW_ORDER}
    return {(schema.name, name) for name in SEALED_TABLES} <= tables <= ours


def read_sealed_manifest(
    path: str | os.PathLike[str], trusted: str | os.PathLike[str] | Keys | None = None
) -> dict[str, str]:
    """The manifest of a sealed file; for ``trusted`` see ``sealed_releases``."""
    with sealed_release(path, trusted=trusted) as sealed:
        return sealed.manifest


def open_release(
    path: str | os.PathLike[str],
    *,
    memory_limit: str = DEFAULT_MEMORY,
    max_seconds: float | None = None,
    threads: int | None = None,
    trusted: str | os.PathLike[str] | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a sealed release for analysts, read-only and locked.

    SQL on this connection can read only the release: no files, other databases, Python variables or extensions, and no
    setting can be changed. A replaced file is read anew even if this process has the old one open.

    Args:
        path: the sealed file.
        memory_limit: DuckDB's memory limit.
        max_seconds: the limit of the wall time of a query, 60 seconds by default: DuckDB has none of CPU time, which a
            session has by default. DuckDB before 2.0 has no limit: there is none by default, and one that is passed is
            refused.
        threads: DuckDB's number of threads.
        trusted: the public key that must have signed the file, or a file with such keys; by default that of
            ``ANONDB_TRUSTED``, if it is set.

    Raises:
        InputError: ``no_such_file``, ``not_a_database`` or ``not_a_release``.
        VerificationFailed: ``not_trusted``.
        EngineError: the file is locked by a process that writes it.
    """
    if threads is not None:
        check_count("threads", threads, high=MOST_THREADS)
    if max_seconds is None and HAS_TIME_LIMIT:
        max_seconds = DEFAULT_SECONDS
    place, keys = existing_file(path), trusted_keys(trusted)

    def check(connection: duckdb.DuckDBPyConnection) -> None:
        """Whoever may write to its folder can replace the file meanwhile: what is opened is checked, too."""
        with contextlib.closing(DuckDBEngine(connection, empty=True)) as engine:
            _checked(engine, [place], [place.name])

    options: dict[str, Any] = {"memory_limit": memory_limit, "threads": threads}
    if keys:  # the connection has the private file open when its name is removed
        with trusted_copy(place, keys, **options) as copy:
            return open_for_analysts(copy, lambda _: None, max_seconds=max_seconds, **options)
    read_sealed_manifest(place, ANYBODY)
    return open_for_analysts(place, check, max_seconds=max_seconds, **options)
