"""The corpus: its cases, and files that are made of others: compressed, or binary from a description in JSON."""

from __future__ import annotations

import gzip
import json
import sqlite3
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
FILE_OPTIONS = frozenset({"delimiter", "quote", "header", "encoding", "skip"})  # that tables and data frames do not have


@dataclass(frozen=True)
class Case:
    """A file, how it is read, and what must come of it (``cases.toml`` says what the fields mean)."""

    name: str
    file: str
    made: str | None = None
    id: str | None = None
    item: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    persons: dict[str, list[str]] | None = None
    rows: int | None = None
    refused: str | None = None
    line: int | list[int] | None = None

    @property
    def source(self) -> Path:
        """The file in the corpus."""
        return CORPUS / self.file

    @property
    def held(self) -> dict[str, set[str]] | None:
        """The items of each person, if the file may be read."""
        return None if self.persons is None else {person: set(items) for person, items in self.persons.items()}

    @property
    def columns(self) -> dict[str, str]:
        """The columns that are named."""
        return {n: c for n, c in (("id", self.id), ("item", self.item)) if c is not None}

    @property
    def layout(self) -> str:
        """The layout of the file."""
        return str(self.options.get("layout", "basket" if ".dat" in self.file else "long"))

    def path(self, folder: Path) -> Path:
        """The file to read, made in the folder where it is made of another."""
        return self.source if self.made is None else made_of(self.source, folder / self.made)


CASES = {name: Case(name, **case) for name, case in tomllib.loads((HERE / "cases.toml").read_text("utf-8")).items()}


def made_of(source: Path, target: Path) -> Path:
    """Make a file of another; the end of its name says how."""
    data = source.read_bytes()
    match target.suffix:
        case ".gz":
            packed = gzip.compress(data, mtime=0)
            target.write_bytes(packed[: len(packed) // 2] if target.name.startswith("cut") else packed)
        case ".zst":
            with pa.CompressedOutputStream(pa.OSFile(str(target), "wb"), "zstd") as file:
                file.write(data)
        case ".parquet":
            pq.write_table(pa.Table.from_pylist(json.loads(data)), target)
        case ".sqlite":
            _write_sqlite(json.loads(data), target)
        case ".xlsx":
            _write_xlsx(json.loads(data), target)
        case other:
            raise ValueError(other)
    return target


def _write_sqlite(rows: list[dict[str, Any]], target: Path) -> None:
    """One table ``transactions``; the types of its columns are those of the first row."""
    kinds = {int: "INTEGER", str: "TEXT", float: "REAL"}
    columns = ", ".join(f'"{name}" {kinds[type(value)]}' for name, value in rows[0].items())
    connection = sqlite3.connect(target)
    with connection:
        connection.execute(f"CREATE TABLE transactions ({columns})")
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO transactions VALUES ({marks})", [tuple(row.values()) for row in rows])
    connection.close()


def _write_xlsx(rows: list[dict[str, Any]], target: Path) -> None:
    """One sheet with a header."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(target)
