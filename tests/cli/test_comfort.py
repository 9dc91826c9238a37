"""What makes the command line pleasant: help, completion, names of columns, lists, permissions."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import duckdb
import pytest
from cli.shop import Run
from portions import some

import anondb


def test_help_and_typing_errors(run: Run) -> None:
    assert run("help") == run("--help") and "anondb help COMMAND" in run("help").out
    assert run("help", "publish") == run("publish", "--help")
    assert run("help", "taxonomy", "build") == run("taxonomy", "build", "--help")
    for words, meant in (
        (("anonymise",), "Did you mean 'anonymize'?"),
        (("help", "anonimize"), "Did you mean 'anonymize'?"),
        (("taxonomy", "biuld"), "Did you mean 'build'?"),
        (("anonymize", "x", "--taxonmy", "y"), "--taxonomy"),
    ):
        found = run(*words)
        assert found.code == 2 and meant in found.err


def test_completion_of_a_shell(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"--install-completion", "--show-completion"} <= set(re.findall(r"--[a-z-]+", run("--help").out))
    monkeypatch.setenv("_ANONDB_COMPLETE", "complete_bash")
    for typed, expected in (("anondb an", ["anonymize"]), ("anondb publish --rep", ["--replace"])):
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
        assert run().out.split() == expected


@pytest.mark.slow
def test_no_queries(run: Run, shop: Path) -> None:
    words = ("anonymize", shop, "--transactions", "sales", "--taxonomy", "food", "--k", 2, "--queries", 0)
    made = run(*words, "--release", "quick", "--json").json
    assert made["verified"] and made["accuracy"]["queries"] == 0
    assert made["accuracy"]["average_relative_error"] is None and made["released_items"] == 3
    with anondb.connect(shop) as database:
        shown = " ".join(repr(database.release("quick").report).split())
    assert "COUNT queries 0 of 2 items relative error not measured: no query seconds" in shown


def test_load_names_the_columns(run: Run, tmp_path: Path) -> None:
    sales, people = tmp_path / "sales.csv", tmp_path / "people.csv"
    sales.write_text('Kunde Nr,"the ""product""",price\n1,milk,3\n1,bread,2\n2,milk,3\n')
    people.write_text("town,Kunde Nr\nCork,1\nBergen,2\n")
    files = ("--transactions", sales, "--as", "sales", "--records", people, "--records-as", "people")
    done = run("load", tmp_path / "own.duckdb", *files, "--id", "kunde nr", "--item", 'the "product"')
    assert done.code == 0, done.err
    with duckdb.connect(str(tmp_path / "own.duckdb")) as reader:
        assert reader.execute("SELECT tid, item, price FROM sales ORDER BY ALL").fetchall() == [
            *(("1", "bread", "2"), ("1", "milk", "3"), ("2", "milk", "3"))
        ]
        assert reader.execute("SELECT tid, town FROM people ORDER BY ALL").fetchall() == [("1", "Cork"), ("2", "Bergen")]
    (tmp_path / "clash.csv").write_text("tid,customer,item\n1,2,a\n")
    (tmp_path / "lines.dat").write_text("a b\n")
    for file, words, code in (
        (sales, ("--id", "nothing"), "no_such_column"),
        (sales, ("--id", "price", "--item", "price"), "column_clash"),
        (tmp_path / "clash.csv", ("--id", "customer"), "column_clash"),
        (tmp_path / "lines.dat", ("--id", "customer"), "bad_usage"),
    ):
        refused = run("load", tmp_path / "new.duckdb", "--transactions", file, *words, "--json")
        assert refused.code == 2 and refused.json["error"]["code"] == code
        assert not (tmp_path / "new.duckdb").exists()


@pytest.mark.slow
def test_lists_of_items_are_text_files(run: Run, shop: Path, tmp_path: Path) -> None:
    listed, table = tmp_path / "private.txt", tmp_path / "private.csv"
    listed.write_bytes("\ufeffd\r\n\r\n  two words \n".encode())
    table.write_text("item\nd\ntwo words\n")
    made = []
    for name, file in (("listed", listed), ("table", table)):
        words = ("--model", "hkp", "--k", 2, "--sensitive", file, "--release", name, "--queries", 1)
        made.append(run("anonymize", shop, "--transactions", "sales", *words, "--json").json)
        assert run("verify", shop, "--release", name, "--sensitive", file).code == 0
    figures = ("released_items", "suppressed_items", "loss", "verified", "warnings")
    assert [made[0][f] for f in figures] == [made[1][f] for f in figures]
    assert "1 of 2 sensitive items do not occur in the data." in made[0]["warnings"]
    absent = run("anonymize", shop, "--transactions", "sales", *words, "--sensitive", tmp_path / "no.txt", "--json")
    assert absent.code == 2 and absent.json["error"]["code"] == "no_such_file"


@pytest.mark.parametrize("name", some(["new.parquet", "new.CSV", "new.txt"], "new.CSV"))
def test_a_release_is_not_sealed_under_the_name_of_a_data_file(run: Run, shop: Path, tmp_path: Path, name: str) -> None:
    for words in (
        ("publish", shop, "--release", "old", "--to", tmp_path / name),
        ("anonymize", shop, "--transactions", "sales", "--release", "new", "--publish", tmp_path / name),
    ):
        refused = run(*words)
        assert refused.code == 2 and "'new.duckdb'" in refused.err and "the name of another kind of file" in refused.err
    assert not (tmp_path / name).exists() and "new" not in run("releases", shop).out


def permissions(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_permissions_of_a_sealed_file(run: Run, shop: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed.duckdb"
    assert run("publish", shop, "--release", "old", "--to", sealed, "--mode", "0644").code == 0
    assert permissions(sealed) == 0o644
    with anondb.connect(shop) as database:
        for mode in (420.0, True, 0o666, 0o044, "rw-r--r--", "4755", -1):
            with pytest.raises(anondb.InputError, match="permissions such as 0644"):
                database.release("old").publish(sealed, replace=True, allow_overlap=True, mode=mode)  # type: ignore[arg-type]


@pytest.mark.slow
def test_sealed_files_are_readable_by_whom_the_owner_says(run: Run, shop: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed.duckdb"
    publish = ("publish", shop, "--release", "old", "--to", sealed)
    assert run(*publish).code == 0 and permissions(sealed) == 0o600
    assert run(*publish, "--replace", "--mode", "0644").code == 0 and permissions(sealed) == 0o644
    words = ("anonymize", shop, "--transactions", "sales", "--k", 2, "--queries", 0, "--allow-overlap", "--replace")
    assert run(*words, "--release", "new", "--publish", sealed, "--mode", "640").code == 0
    assert permissions(sealed) == 0o640
    with anondb.connect(shop) as database:
        database.release("old").publish(sealed, replace=True, allow_overlap=True, mode=0o644)
        assert permissions(sealed) == 0o644
        options = f"k = 2, publish = '{tmp_path / 'view.duckdb'}', allow_overlap = true"
        database.sql(f"CREATE ANONYMIZED VIEW v AS SELECT tid, item FROM sales WITH ({options}, mode = '0644')")
        assert permissions(tmp_path / "view.duckdb") == 0o644
        database.sql("INSERT INTO sales VALUES (7, 'a'); REFRESH ANONYMIZED VIEW v")
        assert permissions(tmp_path / "view.duckdb") == 0o644
    assert run(*words, "--release", "new", "--mode", "0644", "--json").json["error"]["code"] == "bad_usage"


def test_refreshing_all_views_prints_a_line_for_each(run: Run, shop: Path, tmp_path: Path) -> None:
    script = tmp_path / "views.sql"
    made = "CREATE ANONYMIZED VIEW {} AS SELECT tid, item FROM sales WITH (k = 2, m = 1, queries = 0);"
    script.write_text(made.format("one") + made.format("two"))
    assert run("run", shop, script).code == 0
    lines = [f"anonymized view {name}: nothing has changed, and nothing was done" for name in ("one", "two")]
    assert run("run", shop).out.splitlines() == lines
