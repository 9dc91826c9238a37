from __future__ import annotations

import multiprocessing
import os
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from portions import some
from release.cases import SHOP, frozen, rows

from anondb.engine import DuckDBEngine, Engine
from anondb.errors import EngineError, InputError, InternalError, VerificationFailed
from anondb.release import publish as publishing
from anondb.release.catalog import listed, objects_of
from anondb.release.coded import CodedRelease
from anondb.release.objects import GLOBAL, MANIFEST_KEYS, SchemaName
from anondb.release.publish import publish
from anondb.release.reader import read_sealed_manifest


def listing(directory: Path) -> list[str]:
    return sorted(p.name for p in directory.iterdir() if not p.name.startswith("shop.duckdb"))


def test_the_sealed_file_holds_the_release_and_nothing_else(owner: Engine, tmp_path: Path) -> None:
    release = frozen(owner)
    done = publish(owner, release.schema, tmp_path / "spring.duckdb")
    assert (done.path, done.release_id) == (tmp_path / "spring.duckdb", release.release_id)
    assert (done.transactions, done.rows, done.size) == (6, release.rows, done.path.stat().st_size)
    assert listing(tmp_path) == ["spring.duckdb"]
    assert stat.S_IMODE(done.path.stat().st_mode) == 0o600
    reader = DuckDBEngine.open(done.path, read_only=True)
    assert set(listed(reader, "spring")) == objects_of("main", GLOBAL)
    assert rows(reader, "SELECT schema_name FROM duckdb_schemas() WHERE NOT internal OR schema_name = 'main'").count(
        ("main",)
    )
    for table in ("released_items", "manifest"):
        assert rows(reader, f"FROM {table} ORDER BY ALL") == rows(owner, f"FROM release_spring.{table} ORDER BY ALL")
    baskets = "SELECT items FROM {}baskets"
    assert Counter(map(str, rows(reader, baskets.format("")))) == Counter(
        map(str, rows(owner, baskets.format("release_spring.")))
    )
    assert rows(reader, "SELECT transaction_id FROM transaction_ids") == [(n,) for n in range(1, 7)]
    assert rows(reader, "SELECT DISTINCT complete FROM transaction_ids") == [(False,)]
    assert rows(reader, "SELECT DISTINCT copies FROM transactions") == [(1,)]
    stored = rows(reader, "SELECT item_id, transaction_id FROM transaction_items")
    assert stored == sorted(stored) and len(stored) == release.rows
    keys = [key for (key,) in rows(reader, "SELECT key FROM manifest")]
    assert keys == sorted(keys)
    described = {t: [r[:2] for r in rows(reader, f"DESCRIBE {t}")] for t in ("transactions", "transaction_ids", "baskets")}
    assert described == {
        "transactions": [("transaction_id", "INTEGER"), ("item", "VARCHAR"), ("copies", "INTEGER")],
        "transaction_ids": [("transaction_id", "INTEGER"), ("complete", "BOOLEAN")],
        "baskets": [("transaction_id", "INTEGER"), ("items", "VARCHAR[]")],
    }
    reader.close()
    assert read_sealed_manifest(done.path) == release.manifest
    assert set(release.manifest) == MANIFEST_KEYS | {"k", "m"}


@pytest.mark.slow
def test_nothing_is_left_in_the_owners_database(owner: Engine, tmp_path: Path) -> None:
    release = frozen(owner)
    publish(owner, release.schema, tmp_path / "spring.duckdb")
    assert rows(owner, "SELECT count(*) FROM duckdb_tables() WHERE temporary") == [(0,)]
    with owner.transaction():
        publish(owner, release.schema, tmp_path / "again.duckdb")
    assert rows(owner, "SELECT count(*) FROM duckdb_tables() WHERE temporary") == [(0,)]
    assert rows(owner, "SELECT database_name FROM duckdb_databases() WHERE NOT internal") == [("shop",)]


@pytest.mark.slow
def test_numbers_are_fresh_in_every_file(owner: Engine, tmp_path: Path) -> None:
    n = 400
    labels = [f"only{i}" for i in range(n)]
    release = frozen(owner, [[x] for x in labels], {x: [x] for x in labels})
    text = "SELECT item FROM {}transactions ORDER BY transaction_id"
    orders = [[r[0] for r in rows(owner, text.format("release_spring."))]]
    for name in ("one", "two"):
        place = publish(owner, release.schema, tmp_path / f"{name}.duckdb").path
        with duckdb.connect(str(place), read_only=True) as analyst:
            orders.append([r[0] for r in analyst.sql(text.format("")).fetchall()])
    assert all(sorted(order) == sorted(labels) for order in orders)
    for i in range(3):
        for j in range(i):
            ranks = [[int(x.removeprefix("only")) for x in orders[k]] for k in (i, j)]
            assert abs(np.corrcoef(*ranks)[0, 1]) < 0.25
            assert abs(np.corrcoef(ranks[0], range(n))[0, 1]) < 0.25


@pytest.mark.slow
def test_an_existing_file_stays_unless_it_is_a_release_to_be_replaced(owner: Engine, tmp_path: Path) -> None:
    release, target, sealed = frozen(owner), tmp_path / "spring.duckdb", tmp_path / "sealed.duckdb"
    publish(owner, release.schema, sealed)

    def refused(**options: Any) -> None:
        content = target.read_bytes()
        with pytest.raises(InputError) as caught:
            publish(owner, release.schema, target, **options)
        assert caught.value.code == "target_exists" and caught.value.hint
        assert target.read_bytes() == content

    raw = "CREATE TABLE sales AS SELECT 1 AS tid"
    for content, owners in (
        (None, raw),
        (sealed.read_bytes(), raw),
        (sealed.read_bytes(), "CREATE SCHEMA anondb; CREATE TABLE anondb.own (a INTEGER)"),
    ):
        target.unlink(missing_ok=True)
        if content is not None:
            target.write_bytes(content)
        with duckdb.connect(target) as connection:
            connection.execute(owners)
        refused(replace=True)
    target.write_text("something of the owner's")
    refused(replace=True)
    target.write_bytes(sealed.read_bytes())
    refused()
    publish(owner, release.schema, target, replace=True)
    assert read_sealed_manifest(target)["release_id"] == release.release_id
    assert listing(tmp_path) == ["sealed.duckdb", "spring.duckdb"]


def test_paths_that_cannot_be_written(owner: Engine, tmp_path: Path) -> None:
    release = frozen(owner)
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.duckdb.wal").write_bytes(b"log")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    wrong = {
        tmp_path / "missing" / "spring.duckdb": "no_such_directory",
        tmp_path / "folder": "bad_path",
        Path("/"): "bad_path",
        "a\0b": "bad_path",
        tmp_path / "shop.duckdb": "target_exists",
        tmp_path / "old.duckdb": "stale_wal",
        tmp_path / "dangling": "target_exists",
    }
    for path, code in wrong.items():
        with pytest.raises(InputError) as caught:
            publish(owner, release.schema, path)
        assert caught.value.code in (code, "target_in_use"), path
    with pytest.raises(InputError) as caught:
        publish(owner, release.schema, tmp_path / "shop.duckdb", replace=True)
    assert caught.value.code == "target_in_use"
    assert listing(tmp_path) == ["dangling", "folder", "old.duckdb.wal"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_directory_that_is_not_writable(owner: Engine, tmp_path: Path) -> None:
    release, place = frozen(owner), tmp_path / "folder"
    place.mkdir(mode=0o500)
    with pytest.raises(InputError) as caught:
        publish(owner, release.schema, place / "spring.duckdb")
    assert caught.value.code == "not_writable"


def test_access_is_asked_before_anything_is_written(owner: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = frozen(owner)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError) as caught:
        publish(owner, release.schema, tmp_path / "spring.duckdb")
    assert caught.value.code == "not_writable"


def test_a_schema_without_a_release(owner: Engine, tmp_path: Path) -> None:
    for name in ("main", "release_nope"):
        with pytest.raises(InputError) as caught:
            publish(owner, SchemaName("shop", name), tmp_path / "spring.duckdb")
        assert caught.value.code == "not_a_release"
    assert listing(tmp_path) == []


@pytest.mark.parametrize(
    "where", some(["_hand_over", "_check_sealed", "sync", "os.replace", "os.chmod", "check", "interrupt"], "check")
)
def test_a_failure_leaves_no_file_and_no_directory(
    owner: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    release, target = frozen(owner), tmp_path / "spring.duckdb"
    publish(owner, release.schema, target)
    old = target.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise {"check": VerificationFailed("no"), "interrupt": KeyboardInterrupt()}.get(
            where, OSError(28, "No space left") if where in ("sync", "os.replace", "os.chmod") else InternalError("x")
        )

    options: dict[str, Any] = {"check": fail} if where in ("check", "interrupt") else {}
    if not options:
        name = where if where.startswith("os.") else f"anondb.release.publish.{where}"
        monkeypatch.setattr(name, fail)
    with pytest.raises((InternalError, EngineError, VerificationFailed, KeyboardInterrupt)) as caught:
        publish(owner, release.schema, target, replace=True, **options)
    if isinstance(caught.value, EngineError):
        assert caught.value.code == "disk_full" and str(tmp_path) not in str(caught.value)
    monkeypatch.undo()
    assert target.read_bytes() == old
    assert listing(tmp_path) == ["spring.duckdb"]
    assert rows(owner, "SELECT count(*) FROM duckdb_tables() WHERE temporary") == [(0,)]


def test_rows_that_got_lost_are_noticed(owner: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = frozen(owner)
    whole = publishing.hand_over_table

    def lossy(engine: Engine, rows: Any, file: Path) -> None:
        whole(engine, rows.first(5) if file.stem == "transaction_items" else rows, file)

    monkeypatch.setattr(publishing, "hand_over_table", lossy)
    with pytest.raises(InternalError, match="differs"):
        publish(owner, release.schema, tmp_path / "spring.duckdb")
    assert listing(tmp_path) == []


@pytest.mark.slow
def test_the_check_sees_the_sealed_rows(owner: Engine, tmp_path: Path) -> None:
    release = frozen(owner)
    seen: list[int] = []

    def check(engine: Engine, schema: SchemaName) -> None:
        assert not (tmp_path / "spring.duckdb").exists()
        with engine.transaction():
            coded = CodedRelease(engine, schema).transactions
            seen.append(rows(engine, f"SELECT count(*) FROM {coded.sql()}")[0][0])

    publish(owner, release.schema, tmp_path / "spring.duckdb", check=check)
    assert seen == [release.rows]


def _sleep(directory: str, ready: Any) -> None:
    from anondb.release.paths import build_directory

    with build_directory(Path(directory)):
        ready.set()
        import time

        time.sleep(60)


@pytest.mark.slow
def test_orphans_of_dead_processes_are_swept_and_others_stay(owner: Engine, tmp_path: Path) -> None:
    release, place = frozen(owner), tmp_path / "out"
    place.mkdir()
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    other = context.Process(target=_sleep, args=(str(place), ready))
    other.start()
    assert ready.wait(30)
    (build,) = place.iterdir()
    assert stat.S_IMODE(build.stat().st_mode) == 0o700
    publish(owner, release.schema, place / "one.duckdb")
    assert sorted(p.name for p in place.iterdir()) == sorted([build.name, "one.duckdb"])
    other.kill()
    other.join()
    assert build.exists()
    (place / f"{build.name.split('-build-')[0]}-build-elsewhere-{other.pid}-x").mkdir()
    publish(owner, release.schema, place / "two.duckdb")
    assert sorted(p.name for p in place.iterdir() if p.name.endswith("duckdb")) == ["one.duckdb", "two.duckdb"]
    assert not build.exists() and len(list(place.iterdir())) == 3


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_permissions_do_not_depend_on_the_umask(owner: Engine, tmp_path: Path, umask: int) -> None:
    release = frozen(owner)
    seen: list[int] = []
    old = os.umask(umask)
    try:
        done = publish(
            owner,
            release.schema,
            tmp_path / "spring.duckdb",
            check=lambda *_: seen.extend(stat.S_IMODE(p.stat().st_mode) for p in tmp_path.glob(".anondb-build-*")),
        )
    finally:
        os.umask(old)
    assert seen == [0o700] and stat.S_IMODE(done.path.stat().st_mode) == 0o600


@pytest.mark.slow
def test_the_place_is_found_from_the_current_directory(
    owner: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = frozen(owner)
    monkeypatch.chdir(tmp_path)
    assert publish(owner, release.schema, "spring.duckdb").path == tmp_path / "spring.duckdb"
    assert read_sealed_manifest("spring.duckdb")["model"] == "km"


def test_reading_a_manifest_refuses_what_is_none(owner: Engine, tmp_path: Path) -> None:
    frozen(owner)
    owner.close()
    (tmp_path / "text.duckdb").write_text("no database")
    (tmp_path / "empty.duckdb").write_bytes(b"")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("CREATE TABLE manifest AS SELECT 'release_id' AS key, 'x' AS value")
    codes = {
        "nothing.duckdb": "no_such_file",
        "text.duckdb": "not_a_database",
        "other.duckdb": "not_a_release",
        "shop.duckdb": "not_a_release",
        "a\0b": "bad_path",
    }
    for name, code in codes.items():
        with pytest.raises(InputError) as caught:
            read_sealed_manifest(str(tmp_path / name))
        assert caught.value.code == code, name
    with pytest.raises((InputError, EngineError)):
        read_sealed_manifest(tmp_path / "empty.duckdb")


@pytest.mark.slow
@pytest.mark.parametrize("transactions", some([[], [[]], SHOP], [[]], check=()))
def test_small_and_empty_releases(owner: Engine, tmp_path: Path, transactions: list[list[str]]) -> None:
    release = frozen(owner, transactions, {})
    place = publish(owner, release.schema, tmp_path / "spring.duckdb").path
    n = len(transactions)
    with duckdb.connect(str(place), read_only=True) as analyst:
        assert analyst.sql("FROM count_bounds([])").fetchall() == [(n, n, n)]
        assert analyst.sql("FROM baskets ORDER BY 1").fetchall() == [(i, []) for i in range(1, n + 1)]
