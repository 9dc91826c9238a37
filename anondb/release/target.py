"""Checks, before the long work, that a release can be sealed into a place."""

import contextlib
import os
from pathlib import Path

from anondb.engine import Engine, reads
from anondb.errors import InputError
from anondb.release.paths import valid_path, wal_of
from anondb.release.reader import is_release_file

DATA_SUFFIXES = (".csv", ".dat", ".parquet", ".tree", ".txt", ".sql", ".json")


def check_target(engine: Engine, path: str | os.PathLike[str], replace: bool, *, folder: bool = False) -> Path:
    """Check that a file or a folder may be written, and return its absolute path. Raises InputError: it exists, and
    is no release to be replaced, or is in use here; its directory is missing or not writable; a file has the name of another
    kind of file."""
    target = valid_path(path)
    shown = repr(target.name)
    if not folder and target.suffix.lower() in DATA_SUFFIXES:
        raise InputError(
            f"A release is sealed into a DuckDB file, and {shown} is the name of another kind of file.",
            code="bad_path",
            hint=f"Name it such as {target.with_suffix('.duckdb').name!r}.",
        )
    if not target.parent.is_dir():
        raise InputError(f"The directory for {shown} does not exist.", code="no_such_directory", hint="Make it first.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"The directory for {shown} is not writable.", code="not_writable", hint="Choose another one.")
    if not target.name or target.is_dir():
        raise InputError(f"{shown} is a directory.", code="bad_path", hint="Name a file in it.")
    if os.path.lexists(target):
        has_path = "path IS NOT NULL"
        paths = reads.rows(reads.system("duckdb_databases"), "path", where=has_path, distinct=True, order="path")
        for attached in engine.select(paths)["path"].tolist():
            with contextlib.suppress(OSError):
                if os.path.samefile(attached, target):
                    raise InputError(
                        f"{shown} is a database that is open here.", code="target_in_use", hint="Choose another file."
                    )
        if not replace:
            hint = "Choose another name, or replace it with --replace."
            raise InputError(f"The file {shown} exists already.", code="target_exists", hint=hint)
        if not folder and not is_release_file(target):
            hint = "Choose another name, or remove it yourself."
            raise InputError(f"{shown} is no release, so it is not replaced.", code="target_exists", hint=hint)
    if os.path.lexists(wal_of(target)):
        raise InputError(
            f"A write-ahead log lies beside {shown}, which DuckDB would mix into the new file.",
            code="stale_wal",
            hint="Open and close its database, or remove it.",
        )
    return target
