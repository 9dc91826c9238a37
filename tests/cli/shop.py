"""A tiny shop, the command line called in this process, and what a database holds."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anondb.cli import main
from anondb.compare import child, runs
from anondb.compare.limits import Finished

BASKETS = {1: "ab", 2: "ab", 3: "ac", 4: "bc", 5: "ad", 6: "bd"}
EDGES = [("all", None), ("X", "all"), ("Y", "all"), ("a", "X"), ("b", "X"), ("c", "Y"), ("d", "Y")]
RELEASED = sorted([["a", "b"], ["a", "b"], ["Y", "a"], ["Y", "b"], ["Y", "a"], ["Y", "b"]])  # k=2, m=2


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout as one JSON object, and nothing but that."""
        value = json.loads(self.out)
        assert isinstance(value, dict) and self.out.count("\n") == 1
        return value


Run = Callable[..., Outcome]


def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line, in this process."""

    def call(*words: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["anondb", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        printed = capsys.readouterr()
        return Outcome(int(str(caught.value.code)), printed.out, printed.err)

    return call


@contextmanager
def runs_in_this_process() -> Iterator[list[str]]:
    """Make the runs of comparisons here, and list their algorithms: a process for each takes most of their time."""
    made: list[str] = []

    def limited(command: Sequence[str], text: str, *, seconds: float, memory: int | None) -> Finished:
        made.append(json.loads(text)["algorithm"])
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as told:
            patch.setattr(sys, "stdin", io.StringIO(text))
            child.main()
        return Finished("done", 0, told.getvalue(), 1.0, 1.0, 2**28)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "run_limited", limited)
        yield made


def fill(connection: duckdb.DuckDBPyConnection) -> None:
    """The tables ``sales`` and ``food``."""
    connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
    connection.executemany("INSERT INTO sales VALUES (?, ?)", [(t, i) for t, b in BASKETS.items() for i in b])
    connection.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
    connection.executemany("INSERT INTO food VALUES (?, ?)", EDGES)


def state(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Schemas, tables, views and macros of a connection's databases, and all rows."""
    places = connection.execute(
        "SELECT table_catalog, table_schema, table_name FROM information_schema.tables ORDER BY ALL"
    ).fetchall()
    found: dict[str, Any] = {
        "schemas": connection.execute("SELECT database_name, schema_name FROM duckdb_schemas() ORDER BY ALL").fetchall(),
        "macros": connection.execute(
            "SELECT database_name, schema_name, function_name FROM duckdb_functions() WHERE NOT internal ORDER BY ALL"
        ).fetchall(),
    }
    for place in places:
        name = ".".join('"' + part.replace('"', '""') + '"' for part in place)
        try:
            rows = connection.execute(f"SELECT * FROM {name}").fetchall()
        except duckdb.Error:
            rows = []
        found[name] = sorted(map(repr, rows))
    return found


def state_of(path: Path) -> dict[str, Any]:
    """The same of a file; it is looked up anew where the bytes of the file are others."""
    written = path.name, hashlib.sha256(path.read_bytes()).digest()
    if written not in KNOWN or path.with_name(f"{path.name}.wal").exists():
        with duckdb.connect(str(path), read_only=True) as connection:
            KNOWN[written] = state(connection)
    return copy.deepcopy(KNOWN[written])


KNOWN: dict[tuple[str, bytes], dict[str, Any]] = {}


def baskets(path: Path, schema: str = "main") -> list[list[str]]:
    """The published baskets of a sealed file or of a release's schema, as a sorted list."""
    with duckdb.connect(str(path), read_only=True) as reader:
        return sorted(r[0] for r in reader.execute(f'SELECT items FROM "{schema}".baskets').fetchall())
