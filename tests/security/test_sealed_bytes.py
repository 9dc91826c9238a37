"""The bytes of a sealed file: nothing of the raw data, of the owner's numbers, of the key."""

from __future__ import annotations

import random
import re
from pathlib import Path

import duckdb
import pytest
from release.cases import dataset, keyed, recoding, rows

from anondb.engine import Engine
from anondb.errors import AnondbError
from anondb.models.transactional import KmAnonymity
from anondb.release.freeze import FrozenRelease, freeze
from anondb.release.objects import release_schema
from anondb.release.publish import publish

KEY = bytes(range(100, 132))
BODY = 12_288  # three header blocks of 4 KiB come first


def secrets(n: int, mark: str) -> list[str]:
    rng = random.Random(mark)
    return [f"{mark}{rng.getrandbits(64):016x}" for _ in range(n)]


def release_with_canaries(owner: Engine, n: int = 1500) -> tuple[FrozenRelease, list[str]]:
    """A release whose ids and suppressed items are canaries."""
    ids, hidden = secrets(n, "ID"), secrets(200, "HIDDEN")
    shown = [f"shown{i}" for i in range(40)]
    rng = random.Random(5)
    transactions = [[*rng.sample(shown, 4), rng.choice(hidden)] for _ in range(n)]
    owner._connection.execute("CREATE TABLE raw (tid VARCHAR, item VARCHAR)")
    owner._connection.executemany(
        "INSERT INTO raw VALUES (?, ?)", [(i, x) for i, t in zip(ids[:50], transactions[:50], strict=True) for x in t]
    )
    with owner.transaction():
        data = dataset(owner, transactions, ids)
        blocks = {f"Group{g}": shown[g::10] for g in range(10)}
        with keyed(KEY):
            release = freeze(
                owner, data, recoding(data, blocks), KmAnonymity(), release_schema=release_schema("shop", "spring")
            )
    return release, ids + hidden


@pytest.mark.slow
def test_no_canary_lies_in_the_file(owner: Engine, tmp_path: Path) -> None:
    release, canaries = release_with_canaries(owner)
    for n in range(2):
        with keyed(KEY):
            content = publish(owner, release.schema, tmp_path / f"{n}.duckdb").path.read_bytes()
        assert b"shown11" in content and b"Group3" in content  # the file is uncompressed, so a scan finds what is there
        found = {m.group() for m in re.finditer(rb"(?:ID|HIDDEN)[0-9a-f]{2,}", content)}
        assert not found and not any(c[:10].encode() in content for c in canaries[::50])
        assert KEY not in content and KEY.hex().encode() not in content and b"_anondb" not in content
        assert b"raw" not in content and b"source_rows" not in content and b"secret" not in content
        assert str(tmp_path).encode() not in content


@pytest.mark.slow
def test_storage_is_uncompressed(owner: Engine, tmp_path: Path) -> None:
    release, _ = release_with_canaries(owner)
    place = publish(owner, release.schema, tmp_path / "sealed.duckdb").path
    with duckdb.connect(str(place), read_only=True) as reader:
        for table in ("transaction_items", "labels", "transaction_ids", "released_items", "manifest"):
            kinds = reader.sql(f"SELECT DISTINCT compression FROM pragma_storage_info('{table}')").fetchall()
            assert {k[0] for k in kinds} <= {"Uncompressed", "Constant", "Empty Validity"}, table


@pytest.mark.slow
def test_the_same_rows_give_the_same_bytes(owner: Engine, tmp_path: Path) -> None:
    """With one key for all, the bodies of several files are the same: no stale memory fills the gaps."""
    release, _ = release_with_canaries(owner)
    bodies = set()
    for n in range(3):
        _stir(owner, n)
        with keyed(KEY):
            bodies.add(publish(owner, release.schema, tmp_path / f"{n}.duckdb").path.read_bytes()[BODY:])
    assert len(bodies) == 1
    other = publish(owner, release.schema, tmp_path / "other.duckdb").path.read_bytes()[BODY:]
    assert other not in bodies


def _stir(owner: Engine, n: int) -> None:
    """Fill memory with strings and give it back."""
    rubbish = secrets(10_000, f"RUBBISH{n}")
    owner._connection.execute("SELECT max(x) FROM (SELECT unnest(?) AS x)", [rubbish]).fetchall()
    del rubbish


@pytest.mark.slow
def test_the_owners_numbers_do_not_cross(owner: Engine, tmp_path: Path) -> None:
    release, _ = release_with_canaries(owner, 500)
    place = publish(owner, release.schema, tmp_path / "sealed.duckdb").path
    text = "SELECT transaction_id, string_agg(item, ',' ORDER BY item) FROM {}transactions GROUP BY 1"
    with duckdb.connect(str(place), read_only=True) as reader:
        sealed = dict(reader.sql(text.format("")).fetchall())
    mine = dict(rows(owner, text.format("release_spring.")))
    assert sorted(sealed.values()) == sorted(mine.values())
    assert sum(sealed[i] == mine[i] for i in mine) < 50  # 500 transactions, few alike


def test_errors_name_no_value(owner: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release, _ = release_with_canaries(owner, 300)
    rows(owner, "UPDATE release_spring.transaction_items SET transaction_id = 2147483647 WHERE transaction_id = 7")
    with pytest.raises(AnondbError) as caught:  # rows that belong to no transaction do not cross unnoticed
        publish(owner, release.schema, tmp_path / "sealed.duckdb")
    assert "Group" not in str(caught.value) and "shown" not in str(caught.value)
    assert [p.name for p in tmp_path.iterdir() if "shop" not in p.name] == []
