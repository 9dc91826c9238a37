"""The clean process leaves nothing in the gaps of blocks: the same rows make the same file, byte for byte."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import pytest
from sqlglot import parse_one

from anondb.engine.clean import clean_writer
from anondb.release.findings import HEADER_BYTES

STATEMENTS = (
    "CREATE TABLE one (a INTEGER, b VARCHAR)",
    "INSERT INTO one SELECT a, b FROM read_parquet('rows.parquet')",
    "CREATE TABLE two (b VARCHAR, c VARCHAR)",
    "INSERT INTO two SELECT b, b || 'x' FROM read_parquet('rows.parquet')",
)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="allocators that can be told to fill memory are Linux's")
def test_many_rows_are_written_alike(tmp_path: Path) -> None:
    """Enough rows that buffers are used again, with texts long enough to leave gaps behind them."""
    bodies = []
    for name in ("first", "second"):
        place = tmp_path / name
        place.mkdir()
        with clean_writer(place) as writer:
            duckdb.sql(
                "SELECT (i * 7919) % 30011 AS a, repeat(chr(97 + i % 26), i * 31 % 190) || i AS b"
                " FROM (SELECT range::INTEGER AS i FROM range(60000)) ORDER BY a, b"
            ).write_parquet(str(place / "rows.parquet"))
            writer.write("made.duckdb", [parse_one(text, dialect="duckdb") for text in STATEMENTS])
        bodies.append((place / "made.duckdb").read_bytes()[HEADER_BYTES:])
    assert bodies[0] == bodies[1]
