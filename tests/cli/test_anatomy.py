"""Anatomies from the command line, from Python and from SQL, as owners, auditors and analysts use them."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from anatomy_cases import rows_of
from cli.shop import Run
from realdata import DATA, needs

import anondb
from anondb.errors import InputError

# Table I of the paper
TABLE = ["abcdefgh", "abdeh", "abcfh", "abfh", "abcd", "abce", "aefg", "bfh", "fh", "dg"]
COLUMNS_D, COLUMNS_E = [list("defh"), list("abcg")], [list("ac"), list("beg"), list("dfh")]
BUCKETS = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
T40 = DATA / "t40_first10000.dat"


@pytest.fixture
def owner(tmp_path: Path) -> Path:
    """Table I: the original, its columns, and the buckets of (D) and (E)."""
    place = tmp_path / "table1.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE original (tid INTEGER, item VARCHAR)")
        connection.executemany("INSERT INTO original VALUES (?, ?)", [(n, i) for n, t in enumerate(TABLE, 1) for i in t])
        connection.execute("CREATE TABLE own (column_id INTEGER, item VARCHAR)")
        connection.executemany("INSERT INTO own VALUES (?, ?)", [(n, i) for n, c in enumerate(COLUMNS_D) for i in c])
        for name, columns in (("d", COLUMNS_D), ("e", COLUMNS_E)):
            connection.execute(
                f"CREATE TABLE {name} (bucket_id INTEGER, column_id INTEGER, items VARCHAR[], copies INTEGER)"
            )
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows_of(TABLE, columns, BUCKETS))
    return place


def test_table_d_is_accepted_and_e_refused(run: Run, owner: Path) -> None:
    check = ("verify", owner, "--model", "anatomy", "--l", "2", "--json", "--witnesses", "5")
    found = run(*check, "--buckets", "d", "--transactions", "original")
    assert found.code == 0 and found.json["verified"] and found.json["coverage"] == "complete"
    assert found.json["pairs"] == 4 and found.json["transactions"] == 10 and found.json["witnesses"] == []
    found = run(*check, "--buckets", "e")
    assert found.code == 4 and not found.json["verified"] and found.json["coverage"] == "not checked"
    assert found.json["violations"] == 3
    assert {"items": ["b"], "support": 3, "bucket_id": "1", "column_id": "2", "size": 5} in found.json["witnesses"]
    found = run(*check, "--buckets", "e", "--empty-values", "ignore")
    assert found.code == 4 and found.json["violations"] == 2
    words = run("verify", owner, "--model", "anatomy", "--buckets", "e")
    assert words.code == 4 and "does not hold, 3 violations" in words.out and "not checked" in words.out


@pytest.mark.slow
def test_buckets_are_found_and_compared_with_the_original(run: Run, owner: Path) -> None:
    with duckdb.connect(str(owner)) as connection:
        connection.execute("DROP TABLE e; UPDATE d SET copies = copies + 1 WHERE bucket_id = 1 AND items = ['d', 'e', 'h']")
    found = run("verify", owner, "--model", "anatomy", "--json")
    assert found.code == 4 and found.json["violations"] == 1  # the columns of bucket 1 differ in size
    with duckdb.connect(str(owner)) as connection:
        connection.execute("UPDATE d SET copies = copies - 1 WHERE bucket_id = 1 AND items = ['d', 'e', 'h']")
        connection.execute("UPDATE d SET items = ['f'] WHERE bucket_id = 1 AND items = ['d', 'e', 'h']")
    assert run("verify", owner, "--model", "anatomy", "--json").code == 0
    found = run("verify", owner, "--model", "anatomy", "--transactions", "original", "--json")
    assert found.code == 4 and found.json["coverage"] == "incomplete" and found.json["violations"] == 1
    for wrong in (["--release", "x"], ["--against-source"]):
        assert run("verify", owner, "--model", "anatomy", "--buckets", "d", *wrong).code == 2
    assert run("verify", owner, "--model", "km", "--buckets", "d").code == 2
    with duckdb.connect(str(owner)) as connection:
        connection.execute("INSERT INTO d VALUES (1, 1, NULL, 1)")
    assert run("verify", owner, "--model", "anatomy").code == 2


@pytest.mark.slow
def test_a_release_from_end_to_end(run: Run, owner: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed.duckdb"
    made = run(
        *("anonymize", owner, "--transactions", "original", "--model", "anatomy", "--l", "2", "--columns", "own"),
        *("--release", "d", "--publish", sealed, "--json", "--queries", "20"),
    )
    assert made.code == 0, made.err
    report = made.json
    assert report["model"] == {"name": "anatomy", "l": 2, "columns": 2, "empty_values": "count"}
    assert report["algorithm"] == "multi_anatomy" and report["verified"] and report["violations"] == 0
    assert report["suppressed_items"] == 0 and report["released_items"] == report["items"] == 8
    assert set(report["loss"].values()) == {None}
    figures = report["anatomy"]
    assert figures["buckets"] == 3 and figures["columns"] == 2 and figures["largest_posterior"] == "1/2"
    assert figures["faked_records_ln"] == pytest.approx(math.log(2 * (4 - 2) + 36 - 6))
    assert figures["rules"]["original"] >= figures["rules"]["common"]
    found = run("verify", sealed, "--json")
    assert found.code == 0 and found.json["transactions"] == 10 and found.json["coverage"] == "not checked"
    assert run("verify", sealed, "--model", "anatomy", "--l", "5").code == 4
    assert run("verify", sealed, "--model", "km", "--k", "2").code == 2
    against = run("verify", owner, "--release", "d", "--against-source", "--json")
    assert against.code == 0, against.err
    again = run("accuracy", owner, "--release", "d", "--json", "--queries", "20")
    assert again.code == 0 and again.json["accuracy"]["queries"] == 20
    answer = run("query", sealed, "SELECT count(DISTINCT tid) FROM original WHERE item = 'a'", "--json")
    assert answer.code == 0 and answer.json["rows"] == [[7, 7.0, 7]]
    assert run("explain", owner, "--release", "d", "--item", "a").code == 0
    assert "anatomy" in run("releases", owner).out
    with duckdb.connect(str(sealed), read_only=True) as analyst:
        assert analyst.sql("SELECT count(*) FROM reconstruct(3)").fetchall() == [(10,)]
        assert analyst.sql("FROM count_bounds(['a'])").fetchall() == [(7, 7.0, 7)]


def test_what_is_infeasible_names_the_column_and_the_largest_l(run: Run, owner: Path) -> None:
    before = owner.read_bytes()
    found = run("anonymize", owner, "--transactions", "original", "--model", "anatomy", "--l", "3", "--columns", "own")
    assert found.code == 3 and "column '0'" in found.err and "is 5/2 (about 2.500)" in found.err
    assert "'a'" not in found.err and owner.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--l", "0"], "l must be"),
        (["--l", "0.5"], "l must be"),
        (["--l", "1/2"], "l must be"),
        (["--l", "nan"], "l must be"),
        (["--columns", "1"], "columns must be at least 2"),
        (["--columns", "0"], "columns must be"),
        (["--columns", "9"], "from 2 to the number of items, which is 8"),
        (["--columns", "nowhere"], "no table or view 'nowhere'"),
        (["--empty-values", "maybe"], "count or ignore"),
        (["--option", "correlation=other"], "truncated or full"),
        (["--k", "2"], "no parameter 'k'"),
        (["--algorithm", "coat"], "no algorithm 'coat' for the model anatomy"),
        (["--taxonomy", "own"], "taxonomy does not apply to multi_anatomy"),
    ],
)
def test_bad_parameters(run: Run, owner: Path, options: list[str], words: str) -> None:
    found = run("anonymize", owner, "--transactions", "original", "--model", "anatomy", *options)
    assert found.code == 2 and words in found.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("DELETE FROM own WHERE item = 'a'", "1 item of the data is in none of the columns"),
        ("INSERT INTO own VALUES (1, 'd')", "1 item is in more than one column"),
        ("INSERT INTO own VALUES (7, 'zz')", "1 of 3 columns hold no item that occurs"),
        ("UPDATE own SET column_id = 1", "at least 2 columns, not 1"),
        ("INSERT INTO own VALUES (NULL, 'q')", "1 row of table 'own' has no column_id"),
        ("ALTER TABLE own RENAME item TO thing", "no column 'item'"),
    ],
)
def test_bad_columns(run: Run, owner: Path, change: str, words: str) -> None:
    with duckdb.connect(str(owner)) as connection:
        connection.execute(change)
    found = run("anonymize", owner, "--transactions", "original", "--model", "anatomy", "--columns", "own")
    assert found.code == 2 and words in found.err


def test_options_that_belong_to_others_are_refused(run: Run, owner: Path) -> None:
    for option in (
        ["--columns", "2"],
        ["--empty-values", "count"],
        ["--option", "spread=true"],
        ["--option", "correlation=full"],
    ):
        found = run("anonymize", owner, "--transactions", "original", *option)
        assert found.code == 2 and "applies to multi_anatomy" in found.err


@pytest.mark.nightly
def test_python_sql_and_files(owner: Path, tmp_path: Path) -> None:
    columns = tmp_path / "columns.csv"
    columns.write_text("column_id,item\n" + "".join(f"{n},{i}\n" for n, c in enumerate(COLUMNS_D) for i in c))
    with anondb.connect(owner) as db:
        release = db.anonymize("original", model=anondb.Anatomy(2), columns=str(columns), name="p", queries=5, spread=True)
        assert release.verification.verified and release.manifest["columns"] == "2"
        rules = release.rules(3, "4/5")
        assert rules.original == 21 and rules.accuracy_ratio is not None
        assert {len(c) for c in release.table("buckets").fetchall()} == {4}
        with pytest.raises(InputError, match="columns is 3 here and 2 in the model"):
            db.anonymize("original", model=anondb.Anatomy(2, 2), columns=3)
        made = db.sql(
            "CREATE ANONYMIZED VIEW v AS SELECT tid, item FROM original"
            " WITH (model = 'anatomy', l = 1.5, columns = 2, empty_values = 'ignore', queries = 5)"
        )
        assert made is not None and db.release("v").manifest["l"] == "3/2"
        assert db.verify(release="v").verified
        db.sql("INSERT INTO original VALUES (11, 'a')")
        assert not db.check_view("v").verification.verified
        db.sql("REFRESH ANONYMIZED VIEW v")
        assert db.check_view("v").verification.verified
        db.drop("v")
    with anondb.connect() as db:
        found = db.verify(buckets=str(_parquet(owner, tmp_path)), model=anondb.Anatomy(2))
        assert found.verified


def _parquet(owner: Path, tmp_path: Path) -> Path:
    place = tmp_path / "buckets.parquet"
    with duckdb.connect(str(owner), read_only=True) as connection:
        connection.execute(f"COPY d TO '{place}'")
    return place


@pytest.mark.slow
def test_without_mlxtend_rules_are_not_mined(run: Run, owner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anondb.risk.accuracy.has_mlxtend", lambda: False)
    found = run("anonymize", owner, "--transactions", "original", "--model", "anatomy", "--columns", "own", "--queries", "5")
    assert found.code == 0 and "mlxtend is not installed" in found.out
    monkeypatch.setitem(sys.modules, "mlxtend.frequent_patterns", None)
    with anondb.connect(owner) as db, pytest.raises(InputError) as raised:
        db.release("original").rules(2)
    assert raised.value.code == "missing_package"


@pytest.mark.nightly
@needs("t40_first10000.dat")
def test_an_analyst_mines_a_release_of_t40(run: Run, tmp_path: Path) -> None:
    """A plain DuckDB client and mlxtend, nothing of anondb."""
    import pandas as pd
    from mlxtend.frequent_patterns import apriori, association_rules

    sealed = tmp_path / "t40.duckdb"
    made = run(
        *("anonymize", T40, "--model", "anatomy", "--l", "6", "--columns", "20", "--empty-values", "ignore"),
        *("--option", "spread=true", "--publish", sealed, "--json", "--queries", "20"),
    )
    assert made.code == 0, made.err
    with duckdb.connect(str(sealed), read_only=True) as analyst:
        baskets: list[Any] = analyst.sql("SELECT items FROM reconstruct(1)").fetchall()
        supports = analyst.sql(
            "SELECT item, sum(copies) AS n FROM (SELECT unnest(items) AS item, copies FROM buckets) GROUP BY item"
            " ORDER BY n DESC, item LIMIT 60"
        ).fetchall()
    frequent = [item for item, _ in supports]
    assert len(baskets) == 10_000
    matrix = pd.DataFrame([[i in set(items) for i in frequent] for (items,) in baskets], columns=frequent)
    assert matrix.sum().tolist() == [n for _, n in supports]  # every item keeps its support exactly
    found = association_rules(
        apriori(matrix, min_support=0.05, max_len=2, use_colnames=True, low_memory=True), min_threshold=0.1
    )
    assert len(found) > 0 and json.loads(made.out)["anatomy"]["rules"]["original"] > 0
