"""Folders of sealed files: one file for each value of a partitioned view."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from anondb.data.sources import Partition
from anondb.engine import Engine
from anondb.engine.elsewhere import is_url
from anondb.errors import InputError
from anondb.owner import ledger, publications
from anondb.owner.parts import Part, Value
from anondb.release.paths import check_target

_SUFFIX = ".duckdb"


def file_name(partition: Partition) -> str:
    """The name of the file of a part: ``column=value.duckdb``, with %XX for characters that names should not have."""
    return f"{quote(partition.column, safe=' ')}={quote(partition.value, safe=' ')}{_SUFFIX}"


def folder_of(view: ledger.View) -> Path | None:
    """The folder of a view's files; None if it is not published.

    Raises:
        InputError: ``bad_usage``: a URL.
    """
    where = view.options.get("publish")
    if where is None:
        return None
    if is_url(where):
        raise InputError(
            "A partitioned view is published into a folder, not into PostgreSQL.",
            code="bad_usage",
            hint="Name a folder, or publish its releases one by one.",
        )
    return Path(where)


def check_folder(engine: Engine, folder: Path | None, values: Sequence[Value], replacing: bool) -> None:
    """Check, before the long work, that the files of some values can be written."""
    if folder is None:
        return
    if os.path.lexists(folder):
        if not folder.is_dir():
            raise InputError(f"{folder.name!r} is not a folder.", code="bad_path", hint="Name a folder for the files.")
        for value in values:
            check_target(engine, folder / file_name(value.partition), replacing)
    else:
        check_target(engine, folder, False)


def shown(folder: Path | None) -> str | None:
    """The folder as text."""
    return None if folder is None else str(folder)


def without_file(engine: Engine, catalog: str, known: Sequence[Part], folder: Path | None) -> list[Part]:
    """The parts that were not published, or whose file is gone."""
    if folder is None:
        return []
    public = {p.release_id for p in publications.publications(engine, catalog)}
    return [p for p in known if p.release_id not in public or not (folder / file_name(p.partition)).is_file()]
