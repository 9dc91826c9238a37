"""Releases that lie elsewhere as sealed files: folders of Parquet files, and schemas of PostgreSQL."""

import contextlib
import os
from collections.abc import Callable, Iterator, Set
from pathlib import Path

from anondb.engine.elsewhere import is_url
from anondb.engine.spill import private_block
from anondb.errors import AnondbError, DamagedFile, InputError
from anondb.release.paths import MANIFEST_FILE, is_parquet_release
from anondb.warehouse.postgres.place import Place, place_of, release_of


@contextlib.contextmanager
def at_hand(
    source: str | os.PathLike[str] | Place,
    on_statement: Callable[[str], None] | None = None,
    memory_limit: str | None = None,
) -> Iterator[str | os.PathLike[str]]:
    """The path of a sealed file; for a folder of Parquet files, or a release in PostgreSQL, that of a private file with its
    rows, which is made within the memory limit. Raises InputError: ``no_such_release``; ``not_a_release``: it holds other
    objects than anondb's, or other SQL. DamagedFile: the digest of a file in the folder is not the stated one."""
    place = release_of(str(source)) if is_url(source) else source
    if not isinstance(place, Place) and not is_parquet_release(place):
        yield place
        return
    with private_block() as directory:
        if isinstance(place, Place):
            from anondb.warehouse.postgres.local import copy

            read = copy(place, directory, on_statement)
        else:
            from anondb.release.parquet import read_back
            from anondb.warehouse.bounds_sql import scripts

            read = read_back(Path(place), directory, scripts, memory_limit)
        if read.file is None:
            raise _refused(place, {finding.check for finding in read.findings})
        yield read.file


def _refused(place: str | os.PathLike[str] | Place, wrong: Set[str]) -> AnondbError:
    """The error for a folder or a schema in which these checks found something."""
    hint = "anondb inspect {} lists what is wrong with it. Get it from its publisher again."
    if isinstance(place, Place):
        from anondb.warehouse.postgres.union import parts_at

        what, parts, hint = f"schema of {place}", parts_at(place), hint.format("URL")
        hint = hint if parts is None else f"Name one of those that it shows: {', '.join(map(str, parts))}."
    else:
        what, hint = f"folder {Path(place).name!r}", hint.format("FOLDER")
        if wrong == {"bytes"}:
            return DamagedFile(f"The {what} is damaged: files in it are not those of {MANIFEST_FILE}.", hint=hint)
    return InputError(f"The {what} is not a release.", code="not_a_release", hint=hint)


def releases_at(url: str, on_statement: Callable[[str], None] | None = None) -> list[str]:
    """The URLs of the releases at a URL of PostgreSQL: those of all values of a partitioned view, or the one there."""
    from anondb.warehouse.postgres.union import parts_at

    parts = parts_at(release_of(url), on_statement)
    return [url] if parts is None else [part.url for part in parts]


def name_of(source: str | os.PathLike[str]) -> str:
    """The name of a release in messages, without a password."""
    return str(place_of(str(source))) if is_url(source) else Path(source).name
