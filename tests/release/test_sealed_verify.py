"""Verification of sealed files that somebody changed, and error chains that hold no data."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow
import pytest

import anondb


@pytest.mark.slow
def test_a_repeated_row_is_no_further_person(tmp_path: Path) -> None:
    """Five copies of one row in a sealed file do not make an item frequent."""
    path = tmp_path / "t.csv"
    path.write_text("tid,item\n" + "".join(f"{i},a\n" for i in range(6)))
    with anondb.connect() as database:
        frame = {"node": ["r", "a", "b"], "parent": [None, "r", "r"]}
        database.anonymize(path, taxonomy=pyarrow.table(frame), publish=tmp_path / "s.duckdb", queries=1)
    with duckdb.connect(str(tmp_path / "s.duckdb")) as writer:
        writer.execute("INSERT INTO labels VALUES (2, 'rare')")
        writer.execute("INSERT INTO transaction_items SELECT 1, 2, 1 FROM range(9)")
    assert not anondb.verify_file(tmp_path / "s.duckdb").verification.verified


@pytest.mark.slow
def test_a_row_without_a_label_makes_it_no_release(tmp_path: Path) -> None:
    """A number that stands for nothing could single a person out, and no verification by labels would see it."""
    with anondb.connect() as database:
        source = pyarrow.table({"tid": list(range(6)), "item": ["a"] * 6})
        database.anonymize(source, publish=tmp_path / "s.duckdb", queries=1, name="s")
    with duckdb.connect(str(tmp_path / "s.duckdb")) as writer:
        writer.execute("INSERT INTO transaction_items VALUES (1, 7, 1)")
    with pytest.raises(anondb.InputError) as caught:
        anondb.verify_file(tmp_path / "s.duckdb")
    assert caught.value.code == "not_a_release"


@pytest.mark.slow
def test_two_numbers_of_one_label_are_one_item(tmp_path: Path) -> None:
    with anondb.connect() as database:
        source = pyarrow.table({"tid": list(range(12)), "item": ["a"] * 12})
        database.anonymize(source, publish=tmp_path / "s.duckdb", queries=1, name="s")
    with duckdb.connect(str(tmp_path / "s.duckdb")) as writer:
        writer.execute("INSERT INTO labels VALUES (2, 'a')")
        writer.execute("UPDATE transaction_items SET item_id = 2 WHERE transaction_id = 1")
    assert anondb.verify_file(tmp_path / "s.duckdb").verification.verified


def test_a_foreign_object_makes_it_no_release(tmp_path: Path) -> None:
    with anondb.connect() as database:
        frame = {"node": ["r", "a", "b"], "parent": [None, "r", "r"]}
        source = pyarrow.table({"tid": list(range(6)), "item": ["a"] * 6})
        database.anonymize(source, taxonomy=pyarrow.table(frame), publish=tmp_path / "s.duckdb", queries=1, name="s")
        assert [e.name for e in database.releases()] == ["s"]  # a database in memory keeps its ledger
    with duckdb.connect(str(tmp_path / "s.duckdb")) as writer:
        writer.execute("CREATE TABLE raw (a INTEGER)")
    with pytest.raises(anondb.InputError) as caught:
        anondb.verify_file(tmp_path / "s.duckdb")
    assert caught.value.code == "not_a_release"


@pytest.mark.slow
def test_a_data_file_never_gives_way(tmp_path: Path) -> None:
    victim = tmp_path / "precious.csv"
    victim.write_text("tid,item\n1,a\n")
    with anondb.connect() as database:
        source = pyarrow.table({"tid": list(range(6)), "item": ["a"] * 6})
        release = database.anonymize(source, queries=1, name="s")
        with pytest.raises(anondb.InputError) as caught:
            release.publish(victim, replace=True)
        assert caught.value.code == "bad_path" and victim.read_text().startswith("tid")
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
