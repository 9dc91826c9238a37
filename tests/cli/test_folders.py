"""A folder of releases is checked at once: a line for each, and the worst exit code."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from cli.shop import Run


@pytest.fixture
def weeks(run: Run, tmp_path: Path) -> Path:
    """A folder with a release in a file, another of Parquet files, and a file that is none of these."""
    own, folder = tmp_path / "own.duckdb", tmp_path / "weeks"
    folder.mkdir()
    with duckdb.connect(str(own)) as connection:
        connection.execute("CREATE TABLE sales AS SELECT n AS tid, unnest(['a', 'b']) AS item FROM range(8) AS t (n)")
        connection.execute("CREATE TABLE people AS SELECT n AS tid, 20 + n AS age FROM range(8) AS t (n)")
    made = ("anonymize", own, "--transactions", "sales", "--k", "2", "--m", "1", "--queries", "0")
    assert run(*made, "--release", "one", "--publish", folder / "one.duckdb").code == 0
    records = ("--model", "kkm", "--records", "people", "--quasi-identifiers", "age", "--allow-overlap")
    assert run(*made, *records, "--release", "two", "--publish", folder / "two", "--format", "parquet").code == 0
    (folder / "notes.csv").write_text("tid,item\n1,a\n")
    return folder


def test_each_release_of_a_folder_is_checked(run: Run, weeks: Path) -> None:
    shown = {"one.duckdb": "sales (tid BIGINT, item VARCHAR)", "two": "people (tid BIGINT, age BIGINT)"}
    for command in ("verify", "inspect"):
        checked = run(command, weeks)
        lines = dict(line.split(": ", 1) for line in checked.out.splitlines())
        assert checked.code == 0 and lines.keys() == shown.keys()
        assert command == "inspect" or all(words in lines[name] for name, words in shown.items())
    assert f"tables for analysts: {shown['one.duckdb']}" in run("verify", weeks / "one.duckdb").out.splitlines()
    tables = run("verify", weeks / "two", "--json").json["tables"]
    assert tables == {"sales": {"tid": "BIGINT", "item": "VARCHAR"}, "people": {"tid": "BIGINT", "age": "BIGINT"}}
    content = bytearray((weeks / "one.duckdb").read_bytes())
    content[len(content) // 2] ^= 1
    (weeks / "bad.duckdb").write_bytes(content)
    for command in ("verify", "inspect"):
        checked = run(command, weeks, "--json")
        assert checked.code == 4
        assert {f["file"]: f["exit_code"] for f in checked.json["files"]} == {"bad.duckdb": 4, "one.duckdb": 0, "two": 0}
    (weeks / "bad.duckdb").unlink()
    (weeks.parent / "own.duckdb").rename(weeks / "own.duckdb")
    assert run("verify", weeks).code == 2
    for words in (("--expect", "0" * 64), ("--witnesses", "2")):  # nothing is checked then
        refused = run("verify", weeks, *words)
        assert refused.code == 2 and not refused.out and "Name the file" in refused.err


def test_a_folder_without_releases(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("verify", "inspect"):
        for folder in (tmp_path, "."):
            found = run(command, folder, "--json")
            assert found.code == 2 and found.json["error"]["code"] == "no_such_file" and repr(tmp_path.name) in found.err
