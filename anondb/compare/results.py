"""Store the results of comparisons: in the table ``anondb.comparisons`` of the owner's ledger, and in CSV files."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlglot import exp

from anondb.compare.runs import Result
from anondb.data.sources import open_source, texts_of
from anondb.engine import Engine, Table
from anondb.engine.files import write_private
from anondb.errors import InputError
from anondb.owner.ledger import LEDGER_SCHEMA, present
from anondb.owner.releases import current_catalog
from anondb.utility.errors import FIGURES

# The columns of a result other than its key; ``result`` is the complete result as JSON.
COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("algorithm", "model", "parameters", "status", "message", "lm_total"), "VARCHAR"),
    **dict.fromkeys((f"relative_error_{name}" for name in FIGURES), "DOUBLE"),
    **dict.fromkeys(("lm", "ncp", "ul_log2", "average_relative_error", "bounds_width"), "DOUBLE"),
    **dict.fromkeys(("released_items", "suppressed_items", "suppressed_occurrences", "queries", "skipped"), "BIGINT"),
    **dict.fromkeys(("seconds", "cpu_seconds", "peak_mib"), "DOUBLE"),
}
_TABLE = {"key": "VARCHAR", **COLUMNS, "result": "VARCHAR", "created": "TIMESTAMP"}


def row(result: Result) -> dict[str, Any]:
    """The values of a result by column; None for figures that the run lacks."""
    values = result.to_json()
    values["parameters"] = ", ".join(f"{name}={value}" for name, value in result.run.parameters.items())
    values |= {f"relative_error_{name}": value for name, value in (values.get("relative_error") or {}).items()}
    return {name: values.get(name) for name in COLUMNS}


def _table(engine: Engine) -> Table:
    return Table(current_catalog(engine), LEDGER_SCHEMA, "comparisons")


def known(engine: Engine) -> dict[str, Result]:
    """The latest result of every run in the ledger, by key."""
    table = _table(engine)
    if not present(engine, table, _TABLE):
        return {}
    rows = engine.query("release/comparisons", {"comparisons": table})
    return {str(k): Result.of(json.loads(r)) for k, r in zip(rows["key"], rows["result"], strict=True)}


def keep(engine: Engine, key: str, result: Result) -> None:
    """Add a result to the ledger."""
    table = _table(engine)
    values = {"key": key, **row(result), "result": json.dumps(result.to_json(), ensure_ascii=False)}
    values["created"] = datetime.now(UTC).replace(tzinfo=None).isoformat()
    with engine.transaction():
        schema = exp.Table(
            db=exp.to_identifier(table.schema, quoted=True), catalog=exp.to_identifier(table.catalog, quoted=True)
        )
        engine.run(exp.Create(this=schema, kind="SCHEMA", exists=True), "creating the ledger")
        columns = [
            exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=exp.DataType.build(kind, dialect="duckdb"))
            for name, kind in _TABLE.items()
        ]
        made = exp.Create(this=exp.Schema(this=table.expression(), expressions=columns), kind="TABLE", exists=True)
        engine.run(made, "creating the ledger")
        texts = {name: ("VARCHAR", [None if values[name] is None else str(values[name])]) for name in _TABLE}
        rows = engine.put("comparison", texts)
        casts = [exp.cast(exp.column(n, quoted=True), kind, dialect="duckdb") for n, kind in _TABLE.items()]
        target = exp.Schema(
            this=table.expression(), expressions=[exp.to_identifier(name, quoted=True) for name in _TABLE]
        )
        source = exp.select(*casts).from_(rows.expression())
        engine.run(exp.Insert(this=target, expression=source), "writing the ledger")


def write_csv(path: str, results: Sequence[Result]) -> None:
    """Write the results as CSV, one row each.

    Raises:
        InputError: ``bad_path``: the file cannot be written.
    """
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(COLUMNS))
    writer.writeheader()
    writer.writerows(row(result) for result in results)
    write_private(path, text.getvalue())


def digest(engine: Engine, location: str, what: str) -> str:
    """The digest of a file or table that a comparison reads in addition to the transactions; ``what`` it is, for messages.

    Raises:
        InputError: it does not exist, or cannot be read.
    """
    if Path(location).is_file():
        with contextlib.suppress(OSError):
            return hashlib.sha256(Path(location).read_bytes()).hexdigest()
        raise InputError(f"The file {Path(location).name!r} cannot be read.", code="no_such_file")
    if location.lower().endswith(".sql"):
        raise InputError(f"The file {Path(location).name!r} does not exist.", code="no_such_file")
    with open_source(engine, location, what) as source:
        rows = sorted(tuple(map(repr, row)) for row in texts_of(engine, source, list(source.columns)))
    return hashlib.sha256(repr((list(source.columns), rows)).encode()).hexdigest()
