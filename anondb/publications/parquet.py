"""Publish a release as a folder of Parquet files, and check such a folder for leaks."""

import filecmp
import os
import tempfile
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any

from anondb.engine import DuckDBEngine
from anondb.engine.files import write_file
from anondb.engine.spill import private_block
from anondb.errors import InputError
from anondb.release import paths
from anondb.release.catalog import Finding
from anondb.release.digest import file_digest
from anondb.release.inspect import Inspection, inspect
from anondb.release.objects import Kind, SchemaName
from anondb.release.parquet import read_back, write_manifest, write_tables
from anondb.release.publish import BUILD_NAME, SealedFile
from anondb.release.publish import publish as seal
from anondb.release.reader import sealed_release
from anondb.release.signing import ANYBODY, Keys
from anondb.release.target import check_target
from anondb.warehouse.bounds_sql import scripts

_FOLDER = "folder"


def check_folder(engine: DuckDBEngine, path: Any, replace: bool) -> Path:
    """Check that a folder may be written, and return its absolute path. Raises InputError: ``target_exists``: it exists, and
    is not a release of Parquet files to be replaced; see ``release.target.check_target``."""
    target = paths.valid_path(path)
    if not os.path.lexists(target):
        return check_target(engine, target, False, folder=True)
    if not replace or not paths.is_parquet_release(target):
        raise InputError(
            f"{target.name!r} exists already.",
            code="target_exists",
            hint="Name a new folder, or replace the release in this one.",
        )
    return target


def publish(
    engine: DuckDBEngine,
    schema: SchemaName,
    path: Any,
    kind: Kind,
    *,
    replace: bool = False,
    mode: int = paths.PRIVATE,
    **options: Any,
) -> SealedFile:
    """Write a frozen release into a folder of Parquet files, by way of a sealed file with all its checks.

    Args:
        kind: the kind of the release.
        replace: whether to replace a release of Parquet files; while that happens, there is neither for a moment.
        mode: the permissions of the files; who may read them may also enter the folder.
        options: ``check``, ``verified`` and ``sign`` of ``release.publish.publish``.
    """
    target = check_folder(engine, path, replace)
    with paths.build_directory(target.parent) as build:
        sealed = seal(engine, schema, build / BUILD_NAME, kind=kind, **options)
        built = _write(build / BUILD_NAME, build, sealed.content_digest)
        try:
            for file in built.iterdir():
                os.chmod(file, mode)
                paths.sync(file)
            os.chmod(built, mode | (mode & 0o444) >> 2)  # who may read the files may enter the folder and list them
            paths.sync(built)
            _move(built, target, build / "old", replace)
            paths.sync(target.parent)
        except OSError as error:
            raise paths.described(error) from None
    size = sum(file.stat().st_size for file in target.iterdir())
    return replace_fields(sealed, path=target, size=size, sha256=file_digest(target / paths.MANIFEST_FILE))


def _move(built: Path, target: Path, old: Path, replace: bool) -> None:
    """Move a folder to its place; what may be replaced there goes to ``old``, and comes back after an error."""
    if replaced := replace and os.path.lexists(target):
        os.rename(target, old)
    try:
        os.rename(built, target)
    except BaseException:
        if replaced:
            os.rename(old, target)
        raise


def _write(sealed: Path, build: Path, content_digest: str) -> Path:
    """Write the folder of a sealed file; returns it."""
    folder = build / _FOLDER
    folder.mkdir()
    with sealed_release(sealed, trusted=ANYBODY) as release:
        kind, manifest = release.kind, release.manifest
    write_tables(sealed, kind, manifest, folder)
    for name, text in scripts(kind, manifest).items():
        write_file(folder / name, text)
    write_manifest(folder, manifest, content_digest)
    return folder


def inspect_folder(path: Any, trusted: str | os.PathLike[str] | Keys | None = None, **how: Any) -> Inspection:
    """The leak check of a folder of Parquet files: its files and digests, the rows as those of a sealed file, and all of it
    beside a folder that is made anew from these rows, byte for byte. For the rest see ``release.inspect.inspect``."""
    folder = paths.valid_path(path)
    with private_block() as private:
        read = read_back(folder, private, scripts)
        if read.file is None:
            return Inspection(folder, {}, {"files": str(len(os.listdir(folder)))}, read.findings)
        inspection = inspect(read.file, trusted, **how)
        findings = list(inspection.findings)
        words = "not compared"
        if inspection.manifest:
            with tempfile.TemporaryDirectory(dir=private) as build:
                twin = _write(read.file, Path(build), inspection.figures["digest"])
                differing = filecmp.cmpfiles(folder, twin, os.listdir(folder), shallow=False)
                wrong = len({*differing[1], *differing[2]} | (set(os.listdir(twin)) ^ set(os.listdir(folder))))
            words = "different from a rebuilt folder" if wrong else "identical to a rebuilt folder"
            if wrong:
                findings.append(Finding("bytes", f"{wrong} files differ from those rebuilt from the same rows"))
        size = sum(file.stat().st_size for file in folder.iterdir())
        figures = {n: t for n, t in inspection.figures.items() if n not in ("wal", "bytes")}
        figures |= {"files": str(len(os.listdir(folder))), "bytes": f"{size:,}, {words}"}
        return Inspection(folder, inspection.manifest, figures, tuple(findings))
