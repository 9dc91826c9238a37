"""Verification of sealed files that somebody changed, and error chains that hold no data."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow
import pytest

import anondb
from anondb import checks, stored


def test_a_repeated_row_is_no_further_person(tmp_path: Path) -> None:
    """Five copies of one row in a sealed file do not make an item frequent."""
    path = tmp_path / "t.csv"
    path.write_text("tid,item\n" + "".join(f"{i},a\n" for i in range(6)))
    with anondb.connect() as database:
        frame = {"node": ["r", "a", "b"], "parent": [None, "r", "r"]}
        database.anonymize(path, taxonomy=pyarrow.table(frame), publish=tmp_path / "s.duckdb", queries=1)
    with duckdb.connect(str(tmp_path / "s.duckdb")) as writer:
        writer.execute("INSERT INTO transactions SELECT 1, 'rare', 1 FROM range(9)")
    with anondb.connect(tmp_path / "s.duckdb", read_only=True) as sealed:
        schema = stored.sealed_schema(sealed.engine)
        assert schema is not None
        assert not checks.verify_sealed(sealed.engine, schema).verified


def test_a_foreign_object_makes_it_no_release(tmp_path: Path) -> None:
    with anondb.connect() as database:
        frame = {"node": ["r", "a", "b"], "parent": [None, "r", "r"]}
        source = pyarrow.table({"tid": list(range(6)), "item": ["a"] * 6})
        database.anonymize(source, taxonomy=pyarrow.table(frame), publish=tmp_path / "s.duckdb", queries=1, name="s")
        assert [e.name for e in database.releases()] == ["s"]  # a database in memory keeps its ledger
    with duckdb.connect(str(tmp_path / "s.duckdb")) as writer:
        writer.execute("CREATE TABLE raw (a INTEGER)")
    with anondb.connect(tmp_path / "s.duckdb", read_only=True) as sealed, pytest.raises(anondb.InputError) as caught:
        stored.sealed_schema(sealed.engine)
    assert caught.value.code == "not_a_release"


def test_a_data_file_never_gives_way(tmp_path: Path) -> None:
    victim = tmp_path / "precious.csv"
    victim.write_text("tid,item\n1,a\n")
    with anondb.connect() as database:
        source = pyarrow.table({"tid": list(range(6)), "item": ["a"] * 6})
        release = database.anonymize(source, queries=1, name="s")
        with pytest.raises(anondb.InputError) as caught:
            release.publish(victim, replace=True)
        assert caught.value.code == "target_in_use" and victim.read_text().startswith("tid")
        release.publish(tmp_path / "s.duckdb")
        release.publish(tmp_path / "s.duckdb", replace=True)


def test_no_value_in_the_chain_of_an_error() -> None:
    with anondb.connect() as database:
        database.sql("CREATE TABLE sales AS SELECT 1 AS tid, 'secret0' AS item")
        for text in (
            "SELECT CAST(item AS INTEGER) FROM sales",
            "CREATE ANONYMIZED VIEW v AS SELECT tid, CAST(item AS INTEGER) AS item FROM sales",
        ):
            with pytest.raises(anondb.AnondbError) as caught:
                database.sql(text)
            error: BaseException | None = caught.value
            while error is not None:
                assert "secret0" not in str(error)
                error = error.__context__ or error.__cause__
