"""Paths of sealed files: valid ones, the private build directory, and syncing to disk."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anondb.engine.elsewhere import is_url
from anondb.engine.spill import new_private, sweep
from anondb.errors import AnondbError, EngineError, InputError

_BUILD_PREFIX = ".anondb-build-"
PRIVATE = 0o600  # the permissions of a sealed file, unless the owner says others
MANIFEST_FILE = "manifest.json"  # of a folder of Parquet files


def is_parquet_release(path: Any) -> bool:
    """Whether a path is that of a folder with a ``manifest.json``."""
    return isinstance(path, str | os.PathLike) and os.path.isfile(os.path.join(os.fspath(path), MANIFEST_FILE))


def wal_of(path: Path) -> Path:
    """The path of a database file's write-ahead log."""
    return path.with_name(path.name + ".wal")


def valid_path(path: str | os.PathLike[str]) -> Path:
    """The absolute path; an ``InputError`` if no file can have it."""
    text = os.fspath(path)
    if is_url(text):
        raise InputError(
            "This needs a file, not a URL.",
            code="bad_path",
            hint="A release in PostgreSQL is read by verify, inspect and query, and in Python by anondb.open.",
        )
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        text = ""
    if not text or "\0" in text:
        raise InputError("The path of the sealed file is not a valid path.", code="bad_path")
    return Path(os.path.abspath(text))


@contextlib.contextmanager
def build_directory(parent: Path) -> Iterator[Path]:
    """Make a private directory (mode 0700) beside the target, and remove it at the end, also after an error. First it
    removes those left behind by anondb processes of this machine that have ended."""
    sweep(parent, _BUILD_PREFIX)
    try:
        build = new_private(parent, _BUILD_PREFIX)
    except OSError as error:
        raise described(error) from None
    try:
        yield build
    finally:
        shutil.rmtree(build, ignore_errors=True)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a directory, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def described(error: OSError) -> AnondbError:
    """Turn an operating system's error into a typed one without the path."""
    if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
        return InputError(
            "While the release was sealed, another file got its name, and was kept.",
            code="target_exists",
            hint="Choose another name, or replace it with --replace.",
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return EngineError("No disk space left for the sealed file.", code="disk_full")
    return EngineError(f"The sealed file could not be written ({type(error).__name__}).", code="io")
