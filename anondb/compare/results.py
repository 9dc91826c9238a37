"""Store the results of comparisons: in the table ``anondb.comparisons`` of the owner's ledger, and in CSV files."""

import contextlib
import csv
import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anondb.compare.runs import Result
from anondb.data.frames import is_frame
from anondb.data.sources import is_file, open_source, texts_of
from anondb.engine import Engine
from anondb.engine.files import write_private
from anondb.errors import InputError
from anondb.ledger.ledger import now
from anondb.ledger.stored import current_catalog
from anondb.ledger.tables import LedgerTable
from anondb.reading.options import as_read
from anondb.utility.accuracy import FIGURES

# The columns of a result other than its key; ``result`` is the complete result as JSON.
COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("algorithm", "model", "parameters", "status", "message", "lm_total"), "VARCHAR"),
    **dict.fromkeys((f"relative_error_{name}" for name in FIGURES), "DOUBLE"),
    **dict.fromkeys(("lm", "ncp", "ul_log2", "average_relative_error", "bounds_width"), "DOUBLE"),
    **dict.fromkeys(("released_items", "suppressed_items", "suppressed_occurrences", "queries", "skipped"), "BIGINT"),
    **dict.fromkeys(("seconds", "cpu_seconds", "peak_mib"), "DOUBLE"),
}
_DECLARED = {"key": "VARCHAR", **COLUMNS, "result": "VARCHAR", "created": "TIMESTAMP"}
_COMPARISONS = LedgerTable(
    "comparisons", ", ".join(f"{name} {kind}" for name, kind in _DECLARED.items()), "key", ("created", "key")
)


def row(result: Result) -> dict[str, Any]:
    """The values of a result by column; None for figures that the run lacks."""
    values = result.to_json()
    values["parameters"] = ", ".join(f"{name}={value}" for name, value in result.run.parameters.items())
    values |= {f"relative_error_{name}": value for name, value in (values.get("relative_error") or {}).items()}
    return {name: values.get(name) for name in COLUMNS}


def stored_results(engine: Engine) -> dict[str, Result]:
    """The latest result of every run in the ledger, by key."""
    rows = _COMPARISONS.rows(engine, current_catalog(engine))
    return {row["key"]: Result.of(json.loads(row["result"])) for row in rows}


def keep(engine: Engine, key: str, result: Result) -> None:
    """Add a result to the ledger."""
    values = {"key": key, **row(result), "result": json.dumps(result.to_json(), ensure_ascii=False)}
    catalog = current_catalog(engine)
    with engine.transaction():
        _COMPARISONS.create(engine, catalog)
        _COMPARISONS.append(engine, catalog, [values | {"created": now()}])


def write_csv(path: str, results: Sequence[Result]) -> None:
    """Write the results as CSV, one row each."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(COLUMNS))
    writer.writeheader()
    writer.writerows(row(result) for result in results)
    write_private(path, text.getvalue())


def is_table(value: Any) -> bool:
    """Whether an option names a table or is a data frame, rather than a file, a folder, a word that stands for one
    (``pgen``, ``level:2``), or the values themselves."""
    if not isinstance(value, str):
        return is_frame(value)
    return not (
        Path(as_read(value).data).exists() or is_file(value) or _WORDS.fullmatch(value) or value.lower().endswith(".sql")
    )


_WORDS = re.compile(r"pgen|(level|siblings):\d+")


def digest(engine: Engine, value: Any, what: str) -> str:
    """The digest of a source that a comparison reads beside the transactions: what an option names (``is_table``), called
    ``what`` in messages. Raises InputError: it does not exist, or cannot be read."""
    if is_table(value) or (isinstance(value, str) and is_file(value) and not Path(value).exists()):
        with open_source(engine, value, what) as source:
            rows = sorted(tuple(map(repr, row)) for row in texts_of(engine, source, list(source.columns)))
        return hashlib.sha256(repr((list(source.columns), rows)).encode()).hexdigest()
    if not isinstance(value, str) or _WORDS.fullmatch(value):
        return json.dumps(value, sort_keys=True)
    if Path(value).is_dir():
        files = sorted(path for path in Path(value).iterdir() if path.is_file())
        return hashlib.sha256("".join(f"{f.name} {digest(engine, str(f), what)}\n" for f in files).encode()).hexdigest()
    if Path(value).is_file():
        with contextlib.suppress(OSError):
            return hashlib.sha256(Path(value).read_bytes()).hexdigest()
        raise InputError(f"The file {Path(value).name!r} cannot be read.", code="no_such_file")
    raise InputError(f"The file {Path(value).name!r} does not exist.", code="no_such_file")
