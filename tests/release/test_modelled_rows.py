"""Modelled rows in a release: they are the first world, nothing else may lie beside them, and no answer depends on them."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from answers.ledger_releases import KINDS, LISTS, baskets, fill
from answers.test_modelled_tables import drawn
from answers.test_modelled_tables import table as world_table
from portions import some
from release.signed import said

import anondb
from anondb.answers.views import first_world, modelled_rows_hold
from anondb.engine import DuckDBEngine
from anondb.errors import AnondbError, DamagedFile, InputError
from anondb.publications.parquet import inspect_folder
from anondb.release.digest import modelled_line
from anondb.release.inspect import inspect
from anondb.release.modelled import COMMENT, modelled_tables
from anondb.release.objects import release_kind, release_schema
from anondb.release.publish import publish
from anondb.release.reader import sealed_release
from anondb.release.signing import new_keys

QUICK = ("mhghs_supports", "kkm")
QUESTION = "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("modelled")


def release_of(name: str, con: duckdb.DuckDBPyConnection) -> anondb.Release:
    fill(con, KINDS[name], baskets())
    options = {"item": "items"} if KINDS[name].layout == LISTS else {}
    return anondb.connect(con).anonymize("sales", name=name, queries=1, **KINDS[name].policy, **options)


def made(name: str, place: Path, format: str = "duckdb") -> Path:
    """A file with modelled rows, or a folder of Parquet files."""
    there = place / f"{name}.{format}"
    if not there.exists():
        with duckdb.connect(config={"threads": 1}) as con:
            release_of(name, con).publish(there, format=format, modelled_rows=True, accept="modelled-records")
    return there


def changed(place: Path, folder: Path, changes: str) -> Path:
    """A copy of a file with changes, as somebody else makes them with DuckDB."""
    forged = Path(shutil.copy(made("mhghs_supports", place), folder / "forged.duckdb"))
    with duckdb.connect(str(forged)) as con:
        con.execute(changes)
    return forged


def rows(file: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(file), read_only=True) as con:
        con.execute("USE modelled")
        return con.execute(query).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("name", some([name for name in KINDS if name != "halves"], *QUICK, check=()))
def test_a_file_has_the_first_world_and_plain_sql_reads_it(name: str, place: Path) -> None:
    file = made(name, place)
    inspection = inspect(file, redrawn=modelled_rows_hold)
    assert inspection.clean and inspection.figures["modelled rows"] == "drawn again"
    tables = ["sales", "customers"] if KINDS[name].with_records else ["sales"]
    with drawn([file]) as (_, _, con):
        for table in tables:
            found = sorted(rows(file, f"FROM {table}"))
            assert found and found == sorted(world_table(con, 0, table))
    with duckdb.connect(str(file), read_only=True) as con:
        listed = con.execute("SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'modelled' ORDER BY 1")
        assert listed.fetchall() == [(table, COMMENT) for table in sorted(tables)]


@pytest.mark.slow
@pytest.mark.parametrize("name", some([name for name in KINDS if name != "halves"], "kkm", check=()))
def test_a_folder_has_the_same_rows(name: str, place: Path, tmp_path: Path) -> None:
    folder = made(name, place, "parquet")
    assert inspect_folder(folder, redrawn=modelled_rows_hold).clean
    with duckdb.connect() as con:
        script = (folder / "bounds.duckdb.sql").read_text("utf-8")
        con.execute(script.replace("read_parquet('", f"read_parquet('{folder}/"))
        con.execute("USE modelled")
        found = con.execute("FROM sales").fetchall()
        assert found and found == con.execute(f"FROM read_parquet('{folder}/modelled_rows.parquet')").fetchall()
        comments = con.execute("SELECT DISTINCT comment FROM duckdb_tables() WHERE schema_name = 'modelled'").fetchall()
        assert comments == [(COMMENT,)]
    twin = Path(shutil.copytree(folder, tmp_path / "twin"))
    with duckdb.connect() as con:
        changed_rows = f"FROM read_parquet('{folder}/modelled_rows.parquet') OFFSET 1"
        con.execute(f"COPY ({changed_rows}) TO '{twin}/modelled_rows.parquet'")
    assert not inspect_folder(twin).clean
    with pytest.raises(DamagedFile):
        anondb.open(twin)
    (twin / "modelled_rows.parquet").unlink()
    with pytest.raises(InputError) as refused:
        anondb.open(twin)
    assert refused.value.code == "not_a_release"


@pytest.mark.slow
def test_answers_and_the_seed_are_those_of_the_file_without_them(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anondb.release.numbering.new_key", lambda: b"one key for both")
    with duckdb.connect(config={"threads": 1}) as con:
        release_of("mhghs_supports", con)
        engine = DuckDBEngine(con, owned=False)
        schema = release_schema("memory", "mhghs_supports")
        how: dict[str, Any] = {"kind": release_kind(engine, schema)}
        files = [publish(engine, schema, place / "with.duckdb", draw=first_world, **how)]
        files.append(publish(engine, schema, place / "without.duckdb", **how))
    assert files[0].content_digest != files[1].content_digest
    answers = []
    for file in files:
        with anondb.open(file.path) as session:
            answers.append([session.sql(q).fetchall() for q in (QUESTION, "SELECT * FROM sales ORDER BY ALL LIMIT 20")])
    assert answers[0] == answers[1]


@pytest.mark.slow
def test_the_digest_covers_the_rows_by_its_definition(place: Path, tmp_path: Path) -> None:
    file = made("mhghs_supports", place)
    digest = inspect(file).figures["digest"]
    found = rows(file, "FROM sales ORDER BY ALL")
    text = "".join(f"{len(t.encode())}:{t}" for row in found for t in map(str, row))
    blocks = hashlib.sha256(hashlib.sha256(text.encode()).hexdigest().encode()).hexdigest()
    line = f"table modelled_rows(tid BIGINT, item VARCHAR) {len(found)} {blocks}"
    with sealed_release(file) as one:
        (table,) = modelled_tables(one.manifest, one.kind)
        assert modelled_line(one.engine, table, table.place(one.schema.catalog)) == line
    assert anondb.verify_file(file, expect=digest).holds
    copy = tmp_path / "copy.duckdb"
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{file}' AS one (READ_ONLY); ATTACH '{copy}' AS twin (STORAGE_VERSION 'v1.3.0')")
        con.execute("COPY FROM DATABASE one TO twin")
    assert anondb.verify_file(copy, expect=digest).holds
    forged = changed(
        place, tmp_path, "UPDATE modelled.sales SET item = CASE item WHEN 'wine' THEN 'beer' ELSE 'wine' END WHERE rowid = 0"
    )
    assert not anondb.verify_file(forged, expect=digest).expected


ROWS = {
    "a row more": "INSERT INTO modelled.sales VALUES (-7, 'saffron')",
    "a row less": "DELETE FROM modelled.sales WHERE tid = -7",
    "another item": "UPDATE modelled.sales SET item = 'truffle' WHERE tid = -7",
    "a row twice": "INSERT INTO modelled.sales FROM modelled.sales WHERE tid = -7",
    "nothing": "DELETE FROM modelled.sales",
    "a hidden message in its order": "CREATE TEMP TABLE t AS FROM modelled.sales; DELETE FROM modelled.sales;"
    " INSERT INTO modelled.sales FROM t ORDER BY sha256(item || tid)",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", some(ROWS, "a row more", "a hidden message in its order", check=()))
def test_changed_rows_are_found_and_change_no_answer(what: str, place: Path, tmp_path: Path) -> None:
    forged = changed(place, tmp_path, ROWS[what])
    if what.startswith("a hidden"):
        assert "order" in {finding.check for finding in inspect(forged).findings}
    else:
        checked = anondb.verify_file(forged)
        assert checked.verification.verified and checked.modelled_rows is False and not checked.holds
        assert [said([command, str(forged)]) for command in ("verify", "inspect")] == [4, 4]
        assert "rows" in {finding.check for finding in inspect(forged, redrawn=modelled_rows_hold).findings}
    with anondb.open(forged) as one, anondb.open(made("mhghs_supports", place)) as other:
        assert one.sql(QUESTION).fetchall() == other.sql(QUESTION).fetchall()
        assert (
            one.sql("SELECT count(*) FROM modelled.sales").fetchall() == other.sql("SELECT count(*) FROM sales").fetchall()
        )


OBJECTS = {
    "another comment": "COMMENT ON TABLE modelled.sales IS 'real rows'",
    "no comment": "COMMENT ON TABLE modelled.sales IS NULL",
    "a comment on a column": "COMMENT ON COLUMN modelled.sales.item IS 'secret'",
    "a table more": "CREATE TABLE modelled.notes AS SELECT 'secret' AS note",
    "a view": "CREATE VIEW modelled.notes AS SELECT 'secret' AS note",
    "a macro": "CREATE MACRO modelled.secret(a) AS a",
    "a sequence": "CREATE SEQUENCE modelled.numbers",
    "a type": "CREATE TYPE modelled.colour AS ENUM ('secret')",
    "a column more": "ALTER TABLE modelled.sales ADD COLUMN secret VARCHAR",
    "another type of a column": "ALTER TABLE modelled.sales ALTER tid TYPE INTEGER",
    "a constraint": "ALTER TABLE modelled.sales ALTER item SET NOT NULL",
    "a default": "ALTER TABLE modelled.sales ALTER item SET DEFAULT 'secret'",
    "an index": "CREATE INDEX i ON modelled.sales (item)",
    "another name": "ALTER TABLE modelled.sales RENAME TO secret",
    "no table": "DROP TABLE modelled.sales",
    "no schema": "DROP SCHEMA modelled CASCADE",
    "no key": "DELETE FROM manifest WHERE key = 'modelled'",
    "another value of the key": "UPDATE manifest SET value = '2' WHERE key = 'modelled'",
    "types that are none": 'UPDATE manifest SET value = \'{"item": "VARCHAR", "tid": "BIGINT)"}\' WHERE key = \'types\'',
    "types that say nothing": "UPDATE manifest SET value = '[]' WHERE key = 'types'",
    "a table without a name": "UPDATE manifest SET value = '' WHERE key = 'table'",
    "a column without a name": "UPDATE manifest SET value = CASE key WHEN 'types' THEN replace(value, 'tid', '') ELSE '' END"
    " WHERE key IN ('types', 'id_column')",
    "one name for two columns": "UPDATE manifest SET value = 'ITEM' WHERE key = 'id_column'",
    "another schema": "CREATE SCHEMA modelled_too",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", some(OBJECTS, "a view", "no key", check=()))
def test_other_objects_make_it_no_release(what: str, place: Path, tmp_path: Path) -> None:
    forged = changed(place, tmp_path, OBJECTS[what])
    assert "catalog" in {finding.check for finding in inspect(forged).findings}
    for way in (anondb.open, anondb.verify_file, anondb.open_release):
        with pytest.raises(InputError) as refused:
            way(forged)
        assert refused.value.code == "not_a_release"


@pytest.mark.slow
def test_a_key_without_the_schema_is_no_release(place: Path, tmp_path: Path) -> None:
    with duckdb.connect(config={"threads": 1}) as con:
        plain = release_of("mhghs_supports", con).publish(tmp_path / "plain.duckdb").path
    with duckdb.connect(str(plain)) as con:
        con.execute("INSERT INTO manifest VALUES ('modelled', '1')")
    assert any("schema modelled" in finding.what for finding in inspect(plain).findings)


@pytest.mark.slow
def test_a_signature_covers_them(tmp_path: Path) -> None:
    _, _, key = new_keys(tmp_path / "publisher")
    with duckdb.connect(config={"threads": 1}) as con:
        release = release_of("mhghs_supports", con)
        file = release.publish(tmp_path / "signed.duckdb", modelled_rows=True, sign=tmp_path / "publisher.key").path
    assert anondb.verify_file(file, trusted=key).holds and inspect(file, key).clean
    with anondb.open(file, trusted=key) as trusting, anondb.open(file) as session:
        assert trusting.sql(QUESTION).fetchall() == session.sql(QUESTION).fetchall()
    with duckdb.connect(str(file)) as con:
        con.execute(ROWS["a row more"])
    with pytest.raises(AnondbError) as refused:
        anondb.open(file, trusted=key)
    assert refused.value.code == "not_trusted"


@pytest.mark.slow
def test_attributes_are_modelled_only_if_the_owner_confirms_it(tmp_path: Path) -> None:
    with duckdb.connect(config={"threads": 1}) as con:
        release = release_of("kkm", con)
        with pytest.raises(InputError) as refused:
            release.publish(tmp_path / "a.duckdb", modelled_rows=True)
        assert refused.value.code == "unconfirmed" and "modelled-records" in str(refused.value)
        with pytest.raises(InputError, match="no finding"):
            release.publish(tmp_path / "a.duckdb", modelled_rows=True, accept="modelled_records")
        with pytest.raises(InputError, match="accept needs modelled_rows"):
            release.publish(tmp_path / "a.duckdb", accept="modelled-records")
        db = anondb.connect(con)
        options: dict[str, Any] = {**KINDS["kkm"].policy, "queries": 1, "name": "b", "modelled_rows": True}
        with pytest.raises(InputError) as refused:
            db.anonymize("sales", publish=tmp_path / "b.duckdb", **options)
        assert refused.value.code == "unconfirmed" and not list(tmp_path.iterdir())
        db.anonymize("sales", publish=tmp_path / "b.duckdb", accept="modelled-records", **options)
    assert len(rows(tmp_path / "b.duckdb", "FROM customers")) == len(baskets())


@pytest.mark.parametrize("from_file", some([True, False], True))
def test_ids_that_the_original_has_are_refused(from_file: bool, tmp_path: Path) -> None:
    """Also from a run over files, which has no ledger."""
    table = "CREATE TABLE sales AS SELECT t - 3 AS tid, 'i' || t % 3 AS item FROM range(60) r(t)"
    options: dict[str, Any] = {"queries": 1, "publish": tmp_path / "a.duckdb", "modelled_rows": True}
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as con:
        con.execute(table)
        con.execute(f"COPY sales TO '{tmp_path}/sales.parquet'")
    where = tmp_path / ("sales.parquet" if from_file else "shop.duckdb")
    with anondb.connect(where) as db:
        with pytest.raises(InputError) as refused:
            db.anonymize(str(where) if from_file else "sales", **options)
        assert refused.value.code == "modelled_ids" and str(refused.value).startswith("3 persons")
    assert not (tmp_path / "a.duckdb").exists()


@pytest.mark.slow
def test_views_policies_and_the_command_line_have_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop, policy = tmp_path / "shop.duckdb", tmp_path / "nightly.toml"
    with duckdb.connect(str(shop)) as con:
        fill(con, KINDS["mhghs"], baskets())
    with anondb.connect(shop) as db:
        options = "modelled_rows = true, k = 4, queries = 1, allow_overlap = true"
        db.sql(f"CREATE ANONYMIZED VIEW v AS SELECT tid, item FROM sales WITH ({options}, publish = '{tmp_path}/v.duckdb')")
        with pytest.raises(InputError, match="modelled"):
            db.sql(f"CREATE ANONYMIZED VIEW w AS SELECT tid, item FROM sales WITH ({options})")
        with pytest.raises(InputError, match="modelled"):
            db.anonymize("sales", modelled_rows=True)
    policy.write_text(
        'source = "shop.duckdb"\n[release.p]\ntransactions = "sales"\nk = 4\nqueries = 1\nmodelled_rows = true\n'
        'allow_overlap = true\npublish = "p.duckdb"\n',
        "utf-8",
    )
    assert said(["run", str(policy)]) == 0
    assert said(["publish", str(shop), "--release", "p", "--to", str(tmp_path / "c.duckdb"), "--allow-overlap"]) == 0
    more = ["--modelled-rows", "--allow-overlap"]
    assert said(["publish", str(shop), "--release", "p", "--to", str(tmp_path / "d.duckdb"), *more]) == 0
    for name, with_rows in (("v", True), ("p", True), ("c", None), ("d", True)):
        checked = anondb.verify_file(tmp_path / f"{name}.duckdb")
        assert checked.modelled_rows is with_rows and checked.to_json().get("modelled_rows") is with_rows, name
    capsys.readouterr()
    assert said(["verify", str(tmp_path / "d.duckdb")]) == 0
    assert said(["inspect", str(tmp_path / "d.duckdb"), "--json"]) == 0
