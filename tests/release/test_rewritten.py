"""Files that somebody wrote anew with anondb's own writer, or whose bytes were changed: what the leak check finds."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pytest
from portions import some
from sqlglot import exp

from anondb.engine import DuckDBEngine
from anondb.engine.clean import clean_writer
from anondb.release.findings import file_findings
from anondb.release.inspect import inspect
from anondb.release.objects import GLOBAL, ROW_ORDER
from anondb.release.publish import BUILD_NAME, hand_over_table, rows_file, written


def rewritten(sealed: Path, target: Path, orders: Mapping[str, str]) -> Path:
    """The rows of a sealed file in other orders, written by anondb's own clean process."""
    build = target.parent / "build"
    build.mkdir()
    reader = DuckDBEngine.open(sealed, read_only=True)
    (release_id,) = reader.connection.execute("SELECT value FROM manifest WHERE key = 'release_id'").fetchone() or ("",)
    with clean_writer(build) as writer:
        for name, columns in GLOBAL.tables.items():
            order = orders.get(name, ", ".join(ROW_ORDER[name]))
            rows = exp.select(*columns).from_(exp.Table(this=exp.to_identifier(name))).order_by(order, dialect="duckdb")
            hand_over_table(reader, rows, build / rows_file(name))
        writer.write(BUILD_NAME, written(GLOBAL, {"release_id": release_id}))
    reader.close()
    shutil.copy(build / BUILD_NAME, target)
    return target


@pytest.mark.slow
def test_the_rows_in_their_order_are_the_file_again(made: Path, tmp_path: Path) -> None:
    again = rewritten(made, tmp_path / "again.duckdb", {})
    assert inspect(again).clean and again.read_bytes() == made.read_bytes()


ORDERS = {
    "transaction_items": "item_id, transaction_id DESC",
    "labels": "item_id DESC",
    "transaction_ids": "transaction_id DESC",
    "released_items": "released_item, md5(item)",
    "manifest": "value",
}


@pytest.mark.slow
@pytest.mark.parametrize("table", some(ORDERS, "transaction_items"))
def test_rows_in_another_order_are_found(made: Path, tmp_path: Path, table: str) -> None:
    found = inspect(rewritten(made, tmp_path / "other.duckdb", {table: ORDERS[table]}))
    assert [f.check for f in found.findings] == ["order"] and table in found.findings[0].what


PADDING = {
    "ASCII": b"secret words",
    "Cyrillic letters": "тайна".encode(),
    "UTF-16": "secret".encode("utf-16-le"),
    "one byte": b"\x01",
}


@pytest.mark.parametrize("place", [20, 120, 3_000, 4_200, 8_000, 8_400, 12_000])
@pytest.mark.parametrize("text", PADDING)
def test_bytes_in_the_padding_of_headers_are_found(made: Path, tmp_path: Path, text: str, place: int) -> None:
    changed = tmp_path / "changed.duckdb"
    content = bytearray(made.read_bytes())
    content[place : place + len(PADDING[text])] = PADDING[text]
    begin = place // 4_096 * 4_096
    content[begin : begin + 8] = checksum(content[begin + 8 : begin + 4_096]).to_bytes(8, "little")
    changed.write_bytes(content)
    assert [f.check for f in file_findings(changed)] == ["bytes"] and not file_findings(made)


def other_version(sealed: Path, target: Path) -> bytearray:
    """The bytes of the file as if another version of DuckDB had written it."""
    content = bytearray(sealed.read_bytes())
    content[52:84] = b"v1.9.9".ljust(32, b"\0")
    content[:8] = checksum(content[8:4_096]).to_bytes(8, "little")
    target.write_bytes(content)
    return content


def checksum(header: bytes | bytearray) -> int:
    """The checksum that DuckDB writes before a header."""
    total = 5_381
    for (word,) in struct.iter_unpack("<Q", header):
        total ^= word * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    return total


@pytest.mark.slow
def test_a_file_of_another_version_is_not_passed_in_silence(made: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.duckdb"
    other_version(made, changed)
    reader = duckdb.connect(str(changed), read_only=True)  # DuckDB reads it
    reader.close()
    found = inspect(changed)
    assert [f.what for f in found.findings] == [found.figures["bytes"].partition(", ")[2]]
    assert "not compared: written by DuckDB v1.9.9" in found.findings[0].what


@pytest.mark.slow
def test_what_hides_behind_another_version_is_found(made: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.duckdb"
    content = other_version(made, changed)
    changed.write_bytes(content + b"secret" * 43_691)  # more than a block
    assert {f.what for f in inspect(changed).findings} >= {
        "the size of the file is not a multiple of the size of its blocks"
    }
    changed.write_bytes(content + bytes(262_144))
    assert not inspect(changed).clean


def test_a_block_after_the_end_is_found(made: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.duckdb"
    changed.write_bytes(made.read_bytes() + b"secret words".ljust(262_144, b"\0"))
    assert "bytes" in {f.check for f in inspect(changed).findings}
