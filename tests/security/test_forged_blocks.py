"""Files whose blocks somebody changed, with the checksums that DuckDB expects.

If statistics lie, DuckDB skips rows that a condition asks for, and every digest of all rows is as before.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from security.conftest import fill

import anondb
from anondb.cli import main
from anondb.errors import AnondbError
from anondb.release.findings import HEADER_BYTES
from anondb.release.signing import new_keys

BLOCK = 262_144
LARGEST_IS_TWO = re.compile(rb"\x64\x00\x01\x65\x00\x02\xff\xff")  # as DuckDB writes the end of a column's statistics
HIDDEN = "SELECT count(*) FROM transactions WHERE item = 'B'"


def checksum(block: bytes) -> int:
    """That of DuckDB, which anybody can make."""
    total = 5381
    for (word,) in struct.iter_unpack("<Q", block):
        total ^= word * 0xBF58476D1CE4E5B9 % 2**64
    return total


def changed(content: bytes, place: int, new: bytes) -> bytes:
    """The content of a file with other bytes in a place, and the checksum of their block."""
    start = HEADER_BYTES + (place - HEADER_BYTES) // BLOCK * BLOCK
    assert int.from_bytes(content[start : start + 8], "little") == checksum(content[start + 8 : start + BLOCK])
    block = content[start + 8 : place] + new + content[place + len(new) : start + BLOCK]
    return content[:start] + checksum(block).to_bytes(8, "little") + block + content[start + BLOCK :]


def lying(file: Path, to: Path) -> Iterator[Path]:
    """Copies of a file with released items 1 and 2, each with statistics by which the largest number in a place is 1."""
    content = file.read_bytes()
    for match in LARGEST_IS_TWO.finditer(content):
        copy = to / f"{match.start()}.duckdb"
        copy.write_bytes(changed(content, match.start() + 5, b"\x01"))
        with duckdb.connect(str(copy), read_only=True) as reader:
            if reader.sql(HIDDEN).fetchall() == [(0,)]:
                yield copy


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A signed file with two released items, and the key."""
    place = tmp_path_factory.mktemp("statistics")
    key = new_keys(place / "publisher")[2]
    with anondb.connect(threads=1) as db:
        fill(db)
        options: dict[str, Any] = {"model": anondb.KmAnonymity(15, 2), "taxonomy": "food", "queries": 0}
        db.anonymize("sales", publish=place / "spring.duckdb", sign=place / "publisher.key", **options)
    return place / "spring.duckdb", key


def answers(session: anondb.Session) -> list[Any]:
    with session:
        questions = ("FROM count_bounds(['i5'])", "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('i3', 'i4')")
        return [session.sql(question).fetchall()[0][-2:] for question in questions]


@pytest.mark.slow
def test_statistics_that_lie_hide_no_rows(signed: tuple[Path, str], tmp_path: Path) -> None:
    """Not from those who trust a key or a digest; for others there is the leak check."""
    file, key = signed
    digest = anondb.verify_file(file).content_digest
    ask: list[Callable[[Path], object]] = [
        lambda place: answers(anondb.open(place, trusted=key)),
        lambda place: anondb.open_release(place, trusted=key).sql(HIDDEN).fetchall(),
        lambda place: anondb.verify_file(place, expect=digest).holds,
        lambda place: anondb.verify_file(place, trusted=key).holds,
    ]
    right = [way(file) for way in ask]
    assert right[2:] == [True, True]
    forged = list(lying(file, tmp_path))
    assert len(forged) > 1
    for place in forged:
        assert [way(place) for way in ask] == right, place.name
        assert not anondb.inspect_file(place).clean


@pytest.mark.slow
def test_a_script_reads_what_was_signed(
    signed: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.sql"
    script.write_text(HIDDEN, "utf-8")
    for place in (signed[0], *lying(signed[0], tmp_path)):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit):
            patch.setattr("sys.argv", ["anondb", "run", str(place), str(script), "--trusted", signed[1], "--json"])
            main()
        assert "[91]" in capsys.readouterr().out.replace("\n", "").replace(" ", "")


@pytest.mark.slow
@pytest.mark.parametrize("what", [b"sales", LARGEST_IS_TWO], ids=["a text", "statistics"])
def test_what_cannot_be_read_is_damaged(signed: tuple[Path, str], tmp_path: Path, what: bytes | re.Pattern[bytes]) -> None:
    """Bytes that are no text, and statistics in which DuckDB reads another field than there must be."""
    content, place, codes = signed[0].read_bytes(), tmp_path / "spring.duckdb", set()
    for match in re.finditer(what, content):
        place.write_bytes(changed(content, match.start(), b"\xff\xff"))
        for read in (anondb.verify_file, anondb.inspect_file):
            try:
                read(place)
            except AnondbError as error:
                codes.add(error.exit_code)
    assert 4 in codes and codes <= {2, 4}
