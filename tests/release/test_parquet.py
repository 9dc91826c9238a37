"""Releases as folders of Parquet files: the same rows, bounds and digests as sealed files, and nothing of the source."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from portions import some

import anondb
from anondb.errors import EngineError, InputError
from anondb.models.anatomy import Anatomy
from anondb.models.relational import KkmAnonymity
from anondb.models.transactional import KmAnonymity, TransactionalK
from anondb.publications.parquet import inspect_folder
from anondb.release.objects import GLOBAL
from anondb.release.parquet import read_back, write_manifest
from anondb.release.reader import sealed_release
from anondb.warehouse import bounds_sql

ITEMS = "abcdefgh"
KINDS: dict[str, dict[str, Any]] = {
    "global": {"taxonomy": "food", "model": KmAnonymity(3, 2)},
    "supports": {"taxonomy": "food", "model": KmAnonymity(3, 2), "item_supports": True},
    "local": {"taxonomy": "food", "model": TransactionalK(3)},
    "bags": {"taxonomy": "food", "model": TransactionalK(3), "algorithm": "clump"},
    "records": {
        "taxonomy": "food", "model": KkmAnonymity(3, 1), "records": "persons",
        "quasi_identifiers": "age", "delta": 1,
    },
    "anatomy": {"model": Anatomy(Fraction(3, 2)), "columns": "columns", "empty_values": "ignore"},
}  # fmt: skip


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[anondb.Database]:
    rng = random.Random(4)
    with anondb.connect(tmp_path_factory.mktemp("parquet") / "owner.duckdb", threads=1) as db:
        connection = db.engine.connection
        connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        rows = [(tid, x) for tid in range(60) for x in ITEMS if rng.random() < 0.4]
        connection.executemany("INSERT INTO sales VALUES (?, ?)", rows)
        groups = [("root", None), *((g.upper(), "root") for g in ("ab", "cd", "ef", "gh"))]
        pairs = [*groups, *((x, g.upper()) for g in ("ab", "cd", "ef", "gh") for x in g)]
        connection.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO food VALUES (?, ?)", pairs)
        connection.execute("CREATE TABLE persons AS SELECT tid, 20 + tid % 3 AS age FROM range(60) r(tid)")
        connection.execute("CREATE TABLE columns (column_id INTEGER, item VARCHAR)")
        connection.executemany("INSERT INTO columns VALUES (?, ?)", [(n // 2, x) for n, x in enumerate(ITEMS)])
        yield db


def made(owner: anondb.Database, name: str, **options: Any) -> anondb.Release:
    limit = {} if name == "of_anatomy" else {"max_suppression": 100}
    return owner.anonymize("sales", name=name, replace=True, queries=1, **limit, **options)


@pytest.fixture(scope="module")
def folder(owner: anondb.Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("published") / "pq"
    made(owner, "spring", **KINDS["global"]).publish(place, format="parquet", allow_overlap=True)
    return place


def in_duckdb(folder: Path, monkeypatch: pytest.MonkeyPatch) -> duckdb.DuckDBPyConnection:
    monkeypatch.chdir(folder)
    connection = duckdb.connect()
    connection.execute((folder / "bounds.duckdb.sql").read_text("utf-8"))
    return connection


@pytest.mark.slow
@pytest.mark.parametrize("name", some(KINDS, *list(KINDS)[::3], check=()))
def test_export_and_back(owner: anondb.Database, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read back is the sealed file: the same digest, no findings, and the same bounds of all sets of items."""
    release = made(owner, f"of_{name}", **KINDS[name])
    file = release.publish(tmp_path / "pq", format="parquet", allow_overlap=True)
    assert not [f.name for f in tmp_path.iterdir() if f.name != "pq"]
    inspection = inspect_folder(tmp_path / "pq")
    assert inspection.clean, inspection.findings
    assert inspection.figures["digest"] == file.content_digest and "identical" in inspection.figures["bytes"]
    checked = anondb.verify_file(tmp_path / "pq", expect=file.content_digest)
    assert checked.holds and checked.verification.verified and checked.sha256 == file.sha256
    assert anondb.verify_file(tmp_path / "pq", expect=file.sha256).holds
    private = tmp_path / "private"
    private.mkdir()
    back = read_back(tmp_path / "pq", private, bounds_sql.scripts)
    assert back.file is not None
    connection = in_duckdb(tmp_path / "pq", monkeypatch)
    with sealed_release(back.file) as sealed:
        for query in ("SELECT * FROM count_bounds({})", "SELECT * FROM item_counts ORDER BY ALL"):
            for items in ("[]", "['a']", "['a', 'c']", "['b', 'g', 'nothing']"):
                text = query.format(items)
                assert connection.execute(text).fetchall() == sealed.engine.connection.execute(text).fetchall() != []


@pytest.mark.slow
def test_a_folder_that_cannot_be_replaced_stays(
    owner: anondb.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, place, rename = made(owner, "twice", **KINDS["global"]), tmp_path / "pq", os.rename
    release.publish(place, format="parquet", allow_overlap=True)
    before = {file.name: file.read_bytes() for file in place.iterdir()}

    def fails(source: Path, target: Path) -> None:
        if target == place and source.name != "old":
            raise PermissionError
        rename(source, target)

    monkeypatch.setattr(os, "rename", fails)
    with pytest.raises(EngineError, match="could not be written"):
        release.publish(place, format="parquet", allow_overlap=True, replace=True)
    assert {file.name: file.read_bytes() for file in place.iterdir()} == before and list(tmp_path.iterdir()) == [place]


@pytest.mark.slow
def test_a_session_reads_folders(owner: anondb.Database, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "weeks" / "one")
    query = "SELECT count(DISTINCT tid) FROM sales WHERE item = 'a'"
    answers = []
    for place in (folder, tmp_path / "weeks", str(tmp_path / "weeks" / "*")):
        with anondb.open(place) as session:
            answers.append(session.sql(query).fetchall())
    assert answers[0] == answers[1] == answers[2] != []
    made(owner, "of_anatomy", **KINDS["anatomy"]).publish(tmp_path / "other", allow_overlap=True)
    with pytest.raises(InputError, match="'pq' and 'other'"):  # not the private file with the rows of the folder
        anondb.open([folder, tmp_path / "other"])


@pytest.mark.slow
def test_row_groups_and_metadata_carry_the_rows_alone(owner: anondb.Database, folder: Path, tmp_path: Path) -> None:
    """Names, row groups, statistics and created_by are those of any release of such rows; ids are new in each folder."""
    again = tmp_path / "again"
    owner.release("spring").publish(again, format="parquet", allow_overlap=True)
    assert sorted(f.name for f in folder.iterdir()) == sorted(f.name for f in again.iterdir())
    for file in sorted(folder.glob("*.parquet")):
        first, second = (pq.ParquetFile(place / file.name).metadata for place in (folder, again))
        assert first.created_by == second.created_by and "DuckDB" in first.created_by
        assert first.num_row_groups == second.num_row_groups == 1 and first.num_rows == second.num_rows
        assert not first.metadata and not second.metadata
    rows = [
        duckdb.sql(f"SELECT item_id, transaction_id FROM read_parquet('{place}/transaction_items.parquet')").fetchall()
        for place in (folder, again)
    ]
    assert rows[0] == sorted(rows[0]) and rows[1] == sorted(rows[1]) and rows[0] != rows[1]
    everything = b"".join(f.read_bytes() for f in folder.iterdir())
    assert b"sales" in everything and str(folder.parent).encode() not in everything and b"anondb-build" not in everything


def damage(folder: Path, name: str) -> None:
    """Change a folder, and its digests where it takes no anondb for that."""
    if name == "a file more":
        (folder / "notes.txt").write_text("x")
    elif name == "a file less":
        (folder / "labels.parquet").unlink()
    elif name == "other SQL":
        (folder / "bounds.spark.sql").write_text("DROP TABLE x;")
        restate(folder)
    elif name == "no JSON":
        (folder / "manifest.json").write_text("{")
    elif name == "another manifest":
        stated = json.loads((folder / "manifest.json").read_text("utf-8"))
        stated["manifest"]["k"] = "50"
        (folder / "manifest.json").write_text(json.dumps(stated))
    else:
        statements = {
            "a row less": "SELECT * FROM {0} WHERE transaction_id > 1",
            "another order": "SELECT * FROM {0} ORDER BY transaction_id DESC, item_id",
            "a column more": "SELECT *, 1 AS more FROM {0}",
            "the same rows by another writer": "SELECT * FROM {0} ORDER BY item_id, transaction_id",
        }
        place = folder / "transaction_items.parquet"
        rows = statements[name].format(f"read_parquet('{place}')")
        duckdb.sql(f"COPY ({rows}) TO '{place}.new' (FORMAT parquet, COMPRESSION gzip)")
        (folder / "transaction_items.parquet.new").rename(place)
        restate(folder)


def restate(folder: Path) -> None:
    """Write ``manifest.json`` anew, as anondb does, with the digests that the files have now."""
    stated = json.loads((folder / "manifest.json").read_text("utf-8"))
    (folder / "manifest.json").unlink()
    write_manifest(folder, stated["manifest"], stated["content_digest"])


DAMAGE = ["a file more", "a file less", "other SQL", "no JSON", "another manifest", "a row less", "another order",
          "a column more", "the same rows by another writer"]  # fmt: skip
UNREADABLE = ("a file more", "a file less", "no JSON", "another manifest", "a column more")


@pytest.mark.parametrize("name", some(DAMAGE, *UNREADABLE[:3]))
def test_damage_is_a_finding(folder: Path, tmp_path: Path, name: str) -> None:
    place = tmp_path / "pq"
    shutil.copytree(folder, place)
    damage(place, name)
    assert not inspect_folder(place).clean
    if name in UNREADABLE:
        for read in (anondb.verify_file, anondb.open):
            with pytest.raises(InputError) as caught:
                read(place)
            assert caught.value.code == "not_a_release"


@pytest.mark.slow
def test_anonymize_publishes_parquet(tmp_path: Path) -> None:
    """From Python and by a view; REFRESH replaces the folder of a view."""
    with anondb.connect(tmp_path / "owner.duckdb", threads=1) as db:
        db.sql("CREATE TABLE t AS SELECT range AS tid, 'ab'[range % 2 + 1] AS item FROM range(8)")
        options: dict[str, Any] = {"model": KmAnonymity(2, 1), "queries": 0, "format": "parquet"}
        db.anonymize("t", publish=tmp_path / "pq", **options)
        assert inspect_folder(tmp_path / "pq").clean
        for more in ({"format": "csv"}, {"mode": "0666"}):
            with pytest.raises(InputError):
                db.anonymize("t", name="no", publish=tmp_path / "no", allow_overlap=True, **{**options, **more})
        assert [e.name for e in db.releases()] == ["t"]  # refused before the long work
        publish = f"format = 'parquet', allow_overlap = true, publish = '{tmp_path / 'view'}'"
        db.sql(f"CREATE ANONYMIZED VIEW v AS SELECT tid, item FROM t WITH (k = 2, m = 1, queries = 1, {publish})")
        before = (tmp_path / "view" / "manifest.json").read_bytes()
        db.sql("REFRESH ANONYMIZED VIEW v")
        assert (tmp_path / "view" / "manifest.json").read_bytes() == before
        db.sql("INSERT INTO t VALUES (8, 'a'), (9, 'b'); REFRESH ANONYMIZED VIEW v")
        assert inspect_folder(tmp_path / "view").manifest["transactions"] == "10"


@pytest.mark.slow
def test_the_permissions_of_a_folder(owner: anondb.Database, tmp_path: Path) -> None:
    """They do not depend on the umask: without a mode the files are their owner's alone."""
    place, release = tmp_path / "pq", made(owner, "modes", **KINDS["global"])
    before = os.umask(0)
    try:
        for mode, wanted in ((None, (0o700, 0o600)), ("0644", (0o755, 0o644)), (0o640, (0o750, 0o640))):
            release.publish(place, format="parquet", replace=True, allow_overlap=True, mode=mode)
            found = {stat.S_IMODE(file.stat().st_mode) for file in place.iterdir()}
            assert (stat.S_IMODE(place.stat().st_mode), found) == (wanted[0], {wanted[1]})
    finally:
        os.umask(before)
    owner.sql(
        "CREATE ANONYMIZED VIEW divided AS SELECT tid, item, tid > 4 AS late FROM sales "
        "WITH (k = 2, m = 1, taxonomy = 'food', queries = 0, partition_by = 'late', "
        f"publish = '{tmp_path / 'parts'}', format = 'parquet', mode = '0644', allow_overlap = true)"
    )
    assert [stat.S_IMODE(part.stat().st_mode) for part in (tmp_path / "parts").iterdir()] == [0o755, 0o755]


@pytest.mark.slow
def test_targets(owner: anondb.Database, folder: Path, tmp_path: Path) -> None:
    release = owner.release("spring")
    (tmp_path / "mine").mkdir()
    (tmp_path / "file").write_text("x")
    options: dict[str, Any] = {"format": "parquet", "allow_overlap": True}
    for path, replace, code in (
        (folder, False, "target_exists"),
        (tmp_path / "mine", True, "target_exists"),
        (tmp_path / "file", True, "target_exists"),
        (tmp_path / "no" / "where", False, "no_such_directory"),
    ):
        with pytest.raises(InputError) as caught:
            release.publish(path, replace=replace, **options)
        assert caught.value.code == code
    for wrong in ({"format": "csv"}, {"format": "parquet", "proof": tmp_path / "proof"}):
        with pytest.raises(InputError):
            release.publish(tmp_path / "new", allow_overlap=True, **wrong)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["file", "mine"]
    shutil.copytree(folder, tmp_path / "pq")
    release.publish(tmp_path / "pq", replace=True, **options)
    assert inspect_folder(tmp_path / "pq").clean and len(list(tmp_path.iterdir())) == 3


def test_the_texts_of_other_engines_are_parsed() -> None:
    import sqlglot

    scripts = bounds_sql.scripts(GLOBAL, {"release_id": "0" * 32})
    assert list(scripts) == [f"bounds.{name}.sql" for name in ("duckdb", "postgres", "spark", "snowflake", "bigquery")]
    for dialect in ("snowflake", "bigquery"):
        text = scripts[f"bounds.{dialect}.sql"]
        body = text.split("$$")[1] if dialect == "snowflake" else text.partition("ARRAY<STRING>) AS\n")[2].rstrip(";\n")
        assert sqlglot.parse_one(body, dialect=dialect).find(sqlglot.exp.Select) is not None
        assert len(sqlglot.parse(text.partition("CREATE OR REPLACE")[0], dialect=dialect)) >= 5
