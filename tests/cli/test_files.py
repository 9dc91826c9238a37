"""Files that commands write: through no link of others, and never over what got their name meanwhile."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cli.shop import Run

import anondb
from anondb.errors import InputError
from anondb.models.transactional import KmAnonymity


def _sales(database: anondb.Database) -> anondb.Release:
    database.sql("CREATE TABLE sales AS SELECT range // 2 AS tid, 'ab'[range % 2 + 1] AS item FROM range(8)")
    return database.anonymize("sales", model=KmAnonymity(2, 1), queries=1)


@pytest.mark.slow
def test_nothing_is_written_through_a_link(tmp_path: Path, run: Run) -> None:
    """Others who may write to a folder cannot make anondb write elsewhere, nor read what it writes."""
    victim, shop, to = tmp_path / "victim", tmp_path / "shop.duckdb", tmp_path / "food.tree"
    victim.write_text("mine")
    with anondb.connect(shop) as database:
        release = _sales(database)
        proof = tmp_path / "proof"
        proof.mkdir()
        names = [to, tmp_path / "food.tree.new", tmp_path / "log", proof / "README.md", proof / "verify_km.sql"]
        for name in names:
            name.symlink_to(victim)
        release.publish(tmp_path / "sales.duckdb", proof=proof)
    built = run("taxonomy", "build", shop, "--transactions", "sales", "--by", "frequency", "--to", to, "--replace")
    assert built.code == 0, built.err
    logged = run("anonymize", shop, "--transactions", "sales", "--release", "b", "--log-file", tmp_path / "log")
    assert logged.code == 2 and "no link" in logged.err
    assert victim.read_text() == "mine"
    written = [to, *names[3:]]
    assert not any(name.is_symlink() for name in written)
    assert {stat.S_IMODE(name.stat().st_mode) for name in written} == {0o600}


@pytest.mark.slow
def test_a_pipe_is_not_replaced(tmp_path: Path, run: Run) -> None:
    """Nor is a device: as root, writing to /dev/null would leave a file in its place."""
    pipe = tmp_path / "pipe.html"
    os.mkfifo(pipe)
    with anondb.connect(tmp_path / "shop.duckdb") as database:
        _sales(database)
    refused = run("profile", tmp_path / "shop.duckdb", "--transactions", "sales", "--html", pipe)
    assert refused.code == 2 and "cannot be written" in refused.err and stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_log_is_a_plain_file(tmp_path: Path, run: Run) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with anondb.connect(tmp_path / "shop.duckdb") as database:
        _sales(database)
    for name in (pipe, tmp_path):
        refused = run("anonymize", tmp_path / "shop.duckdb", "--transactions", "sales", "--log-file", name)
        assert refused.code == 2 and "cannot be written" in refused.err
    data = tmp_path / "persons.csv"
    data.write_text("id,name\n1,Ada\n")
    refused = run("anonymize", tmp_path / "shop.duckdb", "--transactions", "sales", "--log-file", data)
    assert refused.code == 2 and "'persons.csv' exists and is no log" in refused.err
    assert data.read_text() == "id,name\n1,Ada\n"


@pytest.mark.slow
@pytest.mark.parametrize("format", ["duckdb", "parquet"])
def test_a_release_keeps_what_got_its_name_while_it_was_sealed(tmp_path: Path, format: str) -> None:
    target = tmp_path / ("sales.duckdb" if format == "duckdb" else "sales")

    def taken(words: str) -> None:
        if "publishing" in words and not target.exists():
            target.write_text("of another process")

    with anondb.connect(tmp_path / "shop.duckdb", on_progress=taken) as database:
        _sales(database)
        with pytest.raises(InputError) as caught:
            database.anonymize("sales", name="b", model=KmAnonymity(2, 1), publish=target, format=format)
    assert caught.value.code == "target_exists" and target.read_text() == "of another process"


def test_load_names_the_columns_that_a_layout_leaves_out(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "stays.csv"
    file.write_text("patient,age,codes\n1,40,I10 E11\n2,50,I10 J44\n")
    words = ["--id", "patient", "--item", "codes", "--layout", "list", "--json"]
    loaded = run("load", str(tmp_path / "new.duckdb"), "--transactions", str(file), "--as", "stays", *words).json
    assert loaded["read"]["left_out"] == ["age"]
    names = ["--as", "stays", "--records", str(file), "--records-as", "patients"]
    both = run("load", str(tmp_path / "both.duckdb"), "--transactions", str(file), *names, *words).json["tables"]
    assert [table["read"]["left_out"] for table in both] == [["age"], ["codes"]]
    reasons = run("peek", str(file), "--json").json["reasons"]
    assert any("--quasi-identifiers" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("header", "held"),
    [
        ("tid,age,item\n", [("1", "30", "milk"), ("2", "40", None)]),
        ("nr,age,town\n", [("1", "30", "milk", 1), ("2", "40", None, 2)]),
    ],
)
def test_load_keeps_all_columns_of_people(tmp_path: Path, run: Run, header: str, held: Any) -> None:
    (path := tmp_path / "people.csv").write_text(header + "1,30,milk\n2,40,\n")
    words = ("load", tmp_path / "own.duckdb", "--transactions", path, "--as", "people", "--layout", "people")
    refused = run(*words, "--item-as", "thing")
    assert refused.code == 2 and "--item-as" in refused.err
    read = run(*words, "--json").json["read"]
    assert (read["rows"], read["transactions"], read["items"], read["left_out"]) == (2, 2, 0, [])
    with duckdb.connect(str(tmp_path / "own.duckdb")) as connection:
        assert connection.sql("FROM people").fetchall() == held


def test_the_file_of_people_is_named_once(tmp_path: Path, run: Run) -> None:
    (path := tmp_path / "people.csv").write_text("age\n" + "30\n40\n" * 5)
    owner = tmp_path / "own.duckdb"
    assert run("load", owner, "--transactions", path, "--as", "people", "--layout", "people").code == 0
    how = ("--layout", "people", "--model", "kkm", "--k", "2", "--quasi-identifiers", "age")
    assert run("anonymize", owner, "--transactions", "people", *how, "--release", "ages").code == 0
    checked = run("verify", owner, "--release", "ages", "--against-source")
    assert checked.code == 0 and checked.out.count("people.csv is the same as when it was read") == 1


@pytest.mark.parametrize(("cells", "how"), [("milk", "--drop-missing-items"), ("milk bread", "--layout list")])
def test_load_names_the_columns_of_the_tables(tmp_path: Path, run: Run, cells: str, how: str) -> None:
    file, people, shop = tmp_path / "sales.csv", tmp_path / "people.csv", tmp_path / "new.duckdb"
    file.write_text(f"customer,tid,product\n1,7,{cells}\n2,8,{cells}\n" + "2,8,\n" * ("drop" in how))
    people.write_text("customer,age\n1,40\n2,50\n")
    words = ["--id", "customer", "--item", "product", *how.split()]
    refused = run("load", shop, "--transactions", file, *words, "--item-as", "tid", "--json")
    assert refused.code == 2 and refused.json["error"]["code"] == "column_clash"
    named = ["--id-as", "customer", "--item-as", "of what"]
    loaded = run("load", shop, "--transactions", file, "--records", people, *words, *named, "--json")
    assert loaded.json["read"]["transactions"] == 2 and loaded.json["read"]["items"] == len(cells.split())
    with duckdb.connect(str(shop), read_only=True) as reader:
        rows = reader.execute('SELECT DISTINCT customer, "of what" FROM transactions ORDER BY ALL').fetchall()
        assert rows == sorted((n, item) for n in ("1", "2") for item in cells.split())
        assert reader.execute("SELECT customer FROM records ORDER BY ALL").fetchall() == [("1",), ("2",)]
