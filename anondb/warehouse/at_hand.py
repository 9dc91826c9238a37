"""Releases that lie elsewhere as sealed files: folders of Parquet files, and schemas of PostgreSQL."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from anondb.engine.elsewhere import is_url
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
    if isinstance(source, Place) or is_url(source):
        from anondb.warehouse.postgres.local import fetched_file

        with fetched_file(source, on_statement) as file:
            yield file
    elif os.path.isdir(source):
        from anondb.release.parquet import as_file
        from anondb.warehouse.bounds_sql import scripts

        with as_file(source, scripts, memory_limit) as file:
            yield file
    else:
        yield source


def releases_at(url: str, on_statement: Callable[[str], None] | None = None) -> list[str]:
    """The URLs of the releases at a URL of PostgreSQL: those of all values of a partitioned view, or the one there."""
    from anondb.warehouse.postgres.union import parts_at

    parts = parts_at(release_of(url), on_statement)
    return [url] if parts is None else [part.url for part in parts]


def name_of(source: str | os.PathLike[str]) -> str:
    """The name of a release in messages, without a password."""
    return str(place_of(str(source))) if is_url(source) else Path(source).name
