"""Folders of sealed files: one file, or one folder of Parquet files, for each value of a partitioned view."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from anondb.data.sources import Partition
from anondb.engine import DuckDBEngine, Engine
from anondb.engine.elsewhere import is_url
from anondb.errors import InputError
from anondb.ledger import ledger
from anondb.publications import history
from anondb.publications.targets import FORMATS, check_format, check_target, how
from anondb.release.paths import is_parquet_release
from anondb.views.parts import Part, Value

_SUFFIXES = {"duckdb": ".duckdb", "parquet": ""}


def file_name(partition: Partition, format: str = "duckdb") -> str:
    """The name of the file of a part: ``column=value.duckdb``, with %XX for characters that names should not have; that of a
    folder has no ending."""
    return f"{quote(partition.column, safe=' ')}={quote(partition.value, safe=' ')}{_SUFFIXES[format]}"


def folder_of(view: ledger.View) -> Path | None:
    """The folder of a view's files; None if it is not published.

    Raises:
        InputError: ``bad_usage``: a URL; ``bad_parameter``: there is no such format, or no such mode.
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
    how(where, view.options)
    check_format(where, format_of(view))
    return Path(where)


def format_of(view: ledger.View) -> str:
    """The format of a view's files."""
    return str(view.options.get("format", FORMATS[0]))


def check_folder(
    engine: DuckDBEngine, folder: Path | None, values: Sequence[Value], replacing: bool, format: str
) -> None:
    """Check, before the long work, that the files of some values can be written."""
    if folder is None:
        return
    if os.path.lexists(folder):
        if not folder.is_dir():
            raise InputError(f"{folder.name!r} is not a folder.", code="bad_path", hint="Name a folder for the files.")
        for value in values:
            check_target(engine, str(folder / file_name(value.partition, format)), replacing, format)
    else:
        check_target(engine, str(folder), False)


def shown(folder: Path | None) -> str | None:
    """The folder as text."""
    return None if folder is None else str(folder)


def without_file(engine: Engine, catalog: str, known: Sequence[Part], folder: Path | None, format: str) -> list[Part]:
    """The parts that were not published, or whose file is gone."""
    if folder is None:
        return []
    public = {p.release_id for p in history.publications(engine, catalog)}
    there = Path.is_file if format == FORMATS[0] else is_parquet_release
    return [p for p in known if p.release_id not in public or not there(folder / file_name(p.partition, format))]
