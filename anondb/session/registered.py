"""Data of the analyst: frames, Arrow tables, relations and files, as rows of an engine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anondb.data.sources import is_file, open_source
from anondb.data.types import typed
from anondb.engine import DuckDBEngine, Table
from anondb.errors import EngineError, InputError
from anondb.reading.options import read_as


@contextlib.contextmanager
def registered(engine: DuckDBEngine, data: Any, reading: Mapping[str, Any]) -> Iterator[Table]:
    """Make data readable as a table of an engine during the block.

    Args:
        engine: the engine.
        data: a data frame, an Arrow table, a relation of DuckDB, or the path of a file.
        reading: how a file is read.

    Raises:
        InputError: ``bad_type`` or ``bad_usage``, or the file cannot be read.
    """
    if isinstance(data, os.PathLike) or (isinstance(data, str) and is_file(data)):
        data = _read_file(Path(data), reading)
    elif reading:
        raise InputError("Options for reading apply to files only.", code="bad_usage", hint="Leave them out.")
    elif hasattr(data, "to_arrow_table"):
        data = data.to_arrow_table()
    with contextlib.ExitStack() as stack:
        try:
            view = stack.enter_context(engine.registered(data))
        except (TypeError, EngineError):
            raise InputError(
                "The data of a table cannot be read.",
                code="bad_type",
                hint="Pass a data frame, an Arrow table, a relation of DuckDB, or the path of a file.",
            ) from None
        yield view


def _read_file(path: Path, reading: Mapping[str, Any]) -> Any:
    """A file as an Arrow table."""
    loader = DuckDBEngine.open()
    try:
        with loader.transaction(), open_source(loader, read_as(path, reading), "registered") as source:
            return loader.connection.sql(typed(loader, source).sql("duckdb")).to_arrow_table()
    finally:
        loader.close()
