"""By what a sealed file is known again: its SHA-256, and the digest of its content."""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import struct
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import pytest
from each import each
from portions import some

import anondb
from anondb.engine import DuckDBEngine
from anondb.engine.queries import SQL_ROOT
from anondb.errors import InputError
from anondb.publications.sealed import verify_file
from anondb.release import digest
from anondb.release.definitions import definition_queries
from anondb.release.digest import PREFIX
from anondb.release.objects import ANATOMY, GLOBAL, ROW_ORDER, Kind
from anondb.release.reader import locked_engine

KINDS = {"km": GLOBAL, "anatomy": ANATOMY}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An owner's database with two releases, each published."""
    place = tmp_path_factory.mktemp("digests")
    with anondb.connect(place / "shop.duckdb") as database:
        database.sql(
            "CREATE TABLE sales AS SELECT t AS tid, 'é' || (t * (n + 3)) % 7 AS item FROM range(140) r(t), range(2) s(n)"
        )
        database.anonymize("sales", name="km", queries=2, publish=place / "km.duckdb")
        database.anonymize(
            "sales",
            name="anatomy",
            model=anondb.Anatomy("3/2"),
            columns=2,
            empty_values="ignore",
            queries=2,
            publish=place / "anatomy.duckdb",
            allow_overlap=True,
        )
    return place


def naive_digest(path: Path, kind: Kind) -> str:
    """The content digest as its definition has it, row by row."""
    lines = []
    for name, query in definition_queries(kind):
        statement = re.sub(r"(?m)^ *--.*\n", "", (SQL_ROOT / f"{query}.sql").read_text("utf-8"))
        lines.append(f"text {name} {_sha(statement)}")
    with duckdb.connect(str(path), read_only=True) as reader:
        for table, columns in kind.tables.items():
            texts = not {"INTEGER", "BOOLEAN"}.issuperset(columns.values())
            order = ", ".join(f'"{c}"' for c in ([] if texts else [kind.number]) + list(ROW_ORDER[table]))
            rows = reader.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}").fetchall()
            described = ", ".join(f"{c} {t}" for c, t in columns.items())
            if not texts:
                values = [-(2**63) if v is None else int(v) for row in rows for v in row]
                numbers = hashlib.sha256(struct.pack(f"<{len(values)}q", *values)).hexdigest()
                lines.append(f"table {table}({described}) {len(rows)} {numbers}")
                continue
            number = list(columns).index(kind.number) if kind.number in columns else None
            rows.sort(key=lambda row: 0 if number is None else row[number] // 65_536)
            blocks = [list(b) for _, b in groupby(rows, key=lambda row: 0 if number is None else row[number] // 65_536)]
            digests = [_sha("".join(_text(v) for row in block for v in row)) for block in blocks]
            lines.append(f"table {table}({described}) {len(rows)} {_sha(''.join(digests))}")
    return PREFIX + _sha("".join(f"{line}\n" for line in sorted(lines)))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return f"{len(value)}[" + "".join(_text(v) for v in value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{len(text.encode())}:{text}"


@pytest.mark.parametrize("name", some(KINDS, "anatomy"))
def test_the_digests_are_what_they_are_said_to_be(place: Path, name: str) -> None:
    path = place / f"{name}.duckdb"
    found = verify_file(path)
    assert found.holds and found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.content_digest == naive_digest(path, KINDS[name])
    assert "sha256" not in found.to_json()
    checked = verify_file(path, expect=found.sha256.upper())
    expected = checked.to_json()
    assert checked.holds and checked.expected
    assert (expected["sha256"], expected["content_digest"]) == (found.sha256, found.content_digest)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(KINDS, "km", check=()))
def test_a_copy_by_duckdb_has_the_same_content(place: Path, tmp_path: Path, name: str) -> None:
    original = verify_file(place / f"{name}.duckdb")
    with duckdb.connect() as client:
        client.execute(f"ATTACH '{place / name}.duckdb' AS s (READ_ONLY)")
        client.execute(f"ATTACH '{tmp_path}/copy.duckdb' AS d")
        client.execute("COPY FROM DATABASE s TO d")
    copied = verify_file(tmp_path / "copy.duckdb", expect=original.content_digest)
    assert copied.holds and copied.expected and copied.sha256 != original.sha256
    assert verify_file(tmp_path / "copy.duckdb", published_in=place / "shop.duckdb").holds
    assert not verify_file(tmp_path / "copy.duckdb", expect=original.sha256).holds


CHANGES = {
    "a row that moved": "UPDATE transaction_items SET transaction_id = (SELECT min(transaction_id) FROM transaction_ids"
    " WHERE transaction_id NOT IN (SELECT transaction_id FROM transaction_items WHERE item_id = 1))"
    " WHERE item_id = 1 AND transaction_id = (SELECT max(transaction_id) FROM transaction_items WHERE item_id = 1)",
    "a transaction without its items": "DELETE FROM transaction_items WHERE transaction_id = 5",
    "a member": "UPDATE released_items SET item = 'other' WHERE item = (SELECT max(item) FROM released_items)",
    "a fact": "UPDATE manifest SET value = 'sold' WHERE key = 'table'",
}


@pytest.mark.parametrize("what", some(CHANGES, "a fact"))
def test_changed_rows_are_another_content(place: Path, tmp_path: Path, what: str) -> None:
    """Whoever changes rows so that the promise still holds gets a file that verifies, but is not the one expected."""
    original = verify_file(place / "km.duckdb")
    changed = Path(shutil.copy(place / "km.duckdb", tmp_path / "changed.duckdb"))
    with duckdb.connect(str(changed)) as writer:
        before = writer.execute("FROM transactions ORDER BY ALL").fetchall()
        writer.execute(CHANGES[what])
        assert what not in ("a row that moved",) or writer.execute("FROM transactions ORDER BY ALL").fetchall() != before
    alone = what == "a fact"  # the ledger alone tells
    expect = None if alone else original.content_digest
    found = verify_file(changed, expect=expect, published_in=place / "shop.duckdb")
    assert found.expected is (None if alone else False) and found.published_as is None and not found.holds


def test_the_ledger_knows_its_files(place: Path) -> None:
    found = verify_file(place / "km.duckdb", published_in=place / "shop.duckdb", expect=PREFIX + "0" * 64)
    assert found.published_as is not None and found.published_as.name == "km" and not found.holds
    with anondb.connect(place / "shop.duckdb", read_only=True) as owner:
        kept = {p.name: (p.sha256, p.content_digest) for p in owner.publications()}
    assert kept["km"] == (found.sha256, found.content_digest) and kept["anatomy"] != kept["km"]


@each("wrong", ["", "abc", "content:", "content:" + "0" * 63, "0" * 65, "md5:" + "0" * 64, 7])
def test_what_is_no_digest_is_refused(place: Path, wrong: Any) -> None:
    with pytest.raises(InputError) as caught:
        verify_file(place / "km.duckdb", expect=wrong)
    assert caught.value.code == "bad_parameter"


@pytest.mark.slow
def test_the_order_of_the_stored_rows_does_not_matter(place: Path, tmp_path: Path) -> None:
    """The digest is of the rows in their order by number, however a file stores them."""
    turned = Path(shutil.copy(place / "km.duckdb", tmp_path / "km.duckdb"))
    with duckdb.connect(str(turned)) as writer:
        for name in GLOBAL.tables:
            writer.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {name} ORDER BY ALL DESC; DELETE FROM {name}")
            writer.execute(f"INSERT INTO {name} FROM kept; DROP TABLE kept")
    digests = [verify_file(path).content_digest for path in (place / "km.duckdb", turned)]
    assert digests[0] == digests[1] == naive_digest(turned, GLOBAL)


def test_rows_that_differ_in_copies_or_lack_numbers_have_a_digest(place: Path, tmp_path: Path) -> None:
    """Such rows cannot be sorted as one number each."""
    changed = Path(shutil.copy(place / "km.duckdb", tmp_path / "km.duckdb"))
    with duckdb.connect(str(changed)) as writer:
        for n, value in enumerate(
            ("copies = 2", "copies = NULL", "item_id = NULL", "item_id = -1", "transaction_id = NULL")
        ):
            writer.execute(f"UPDATE transaction_items SET {value} WHERE transaction_id = {n + 3}")
    engine, schema, _ = locked_engine(changed)
    with contextlib.closing(engine):
        assert digest.content_digest(engine, schema, GLOBAL) == naive_digest(changed, GLOBAL)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_blocks_are_read_in_parts(place: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The digest is the same, however many rows are read at once."""
    monkeypatch.setattr(digest, "_BLOCK", 2)
    found = set()
    for rows in (1_000, 7, 1):
        monkeypatch.setattr(digest, "_AT_ONCE", rows)
        found.add(verify_file(place / f"{name}.duckdb").content_digest)
    assert len(found) == 1


@pytest.mark.slow
def test_fewer_rows_are_read_in_little_memory(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = verify_file(place / "km.duckdb").content_digest
    monkeypatch.setattr(digest, "_BLOCK", 2)
    ranges = []
    found = digest._ranges
    monkeypatch.setattr(digest, "_ranges", lambda *a: ranges.append(found(*a)) or found(*a))
    monkeypatch.setattr(DuckDBEngine, "memory_limit", 2 * digest._ROW_BYTES)
    assert verify_file(place / "km.duckdb").content_digest == whole
    assert max(map(len, ranges)) > 2
