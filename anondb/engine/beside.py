"""Open another file beside the database of an engine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.engine.failures import open_error

if TYPE_CHECKING:
    from anondb.engine.duckdb_engine import DuckDBEngine


def attach(engine: DuckDBEngine, file: str | os.PathLike[str]) -> None:
    """Open a DuckDB file beside the engine's database, read-only, under the name of the file."""
    here, name = engine.here().catalog, Path(file).stem
    name = "source" if name.lower() in ("memory", "system", "temp", here.lower()) else name
    path = exp.alias_(exp.Literal.string(os.path.abspath(file)), exp.to_identifier(name, quoted=True))
    text = exp.Attach(this=path, expressions=[exp.AttachOption(this=exp.var("READ_ONLY"))]).sql(dialect="duckdb")
    engine.say(text)
    engine.guarded(lambda: engine._connection.execute(text), open_error)
