"""What commands and Python say of a file: the account, the refusals, the findings, and peek."""

from __future__ import annotations

import gzip
import hashlib
import json
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from cli.shop import Run
from each import each
from files.loading import in_memory

import anondb
from anondb.errors import InputError

COLUMNS = {"id": "customer", "item": "product"}
MODEL = anondb.KmAnonymity(2, 1)


def two_exports(place: Path, name: str = "all.csv") -> Path:
    """Two exports in one file, the second with a column more: DuckDB's sniffer takes the first for a preamble."""
    first = ["customer,product", *(f"{i},milk" for i in range(1, 201))]
    second = ["customer,product,price", *(f"{i},milk,1" for i in range(201, 301))]
    path = place / name
    text = "\n".join([*first, *second, ""])
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def purchases(place: Path, persons: int = 6) -> Path:
    path = place / "purchases.csv"
    rows = [f"{i},{item}" for i in range(persons) for item in ("milk", "bread")]
    path.write_text("\n".join(["customer,product", *rows, ""]))
    return path


def refused(work: Callable[[], Any], code: str, *words: str) -> InputError:
    with pytest.raises(InputError) as caught:
        work()
    assert caught.value.code == code, caught.value
    assert all(word in str(caught.value) for word in words), caught.value
    return caught.value


# ---------------------------------------------------------------------- no row is lost


@pytest.mark.parametrize("name", ["all.csv", "all.csv.gz"])
@pytest.mark.parametrize("command", ["anonymize", "profile", "verify", "load"])
def test_a_file_whose_shape_changes_is_refused_with_the_line(run: Run, tmp_path: Path, command: str, name: str) -> None:
    path = two_exports(tmp_path, name)
    columns = ("--id", "customer", "--item", "product")
    words = (tmp_path / "own.duckdb", "--transactions", path) if command == "load" else (path,)
    found = run(command, *words, *columns)
    assert found.code == 2 and "line 202 has 3 fields" in found.err
    assert not (tmp_path / "own.duckdb").exists()


@pytest.mark.parametrize("kind", ["records", "privacy_constraints", "sensitive"])
def test_files_beside_the_data_are_read_as_strictly(tmp_path: Path, kind: str) -> None:
    headers = {"records": "customer,age", "privacy_constraints": "constraint_id,item", "sensitive": "item,note"}
    rows = {"records": ["1,30"] * 3, "privacy_constraints": ["1,milk"] * 3, "sensitive": ["milk,x"] * 3}
    path = tmp_path / "beside.csv"
    path.write_text("\n".join([headers[kind], *rows[kind], headers[kind] + ",more", rows[kind][0] + ",1", ""]))
    models = {"records": anondb.KkmAnonymity(2, 1), "privacy_constraints": anondb.ConstraintAnonymity(2)}
    options: dict[str, Any] = {kind: path, **COLUMNS, "model": models.get(kind, anondb.KlmDiversity(2, 2, 1))}
    if kind != "privacy_constraints":
        options["quasi_identifiers"] = "age"
    if kind == "sensitive":
        options["records"] = pd.DataFrame({"customer": [str(i) for i in range(6)], "age": range(6)})
    work = lambda: anondb.connect().anonymize(purchases(tmp_path), **options)  # noqa: E731
    refused(work, "unreadable", "line 5 has 3 fields")


@pytest.mark.parametrize("text", ["1", "True"])
@pytest.mark.parametrize("suffix", [".tsv", ".csv.gz", ".json", ".ndjson"])
def test_texts_stay_what_they_are(tmp_path: Path, suffix: str, text: str) -> None:
    other = {"1": "001", "True": "TRUE"}[text]
    rows = [{"tid": t, "item": i} for t, i in ((text, "a"), (other, "a"), (text, text), (text, other))]
    path = tmp_path / f"data{suffix}"
    if suffix == ".json":
        path.write_text(json.dumps(rows))
    elif suffix == ".ndjson":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        delimiter = "\t" if suffix == ".tsv" else ","
        table = "\n".join(delimiter.join(r) for r in [["tid", "item"], *([r["tid"], r["item"]] for r in rows), []])
        path.write_bytes(gzip.compress(table.encode()) if suffix.endswith("gz") else table.encode())
    profiled = in_memory().profile(path)
    assert (profiled.persons, profiled.items) == (2, 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tid,item\n1,a\n(1 row)\n", "line 3 has 1 field,"),
        ("sep=;\ntid;item\n1;a\n", "Line 1 of file"),
        ("tid,item,\n1,a\n", "line 2 has 2 fields"),
        ("tid,price,item\n1,2,5,a\n", "line 2 has 4 fields"),
        ('tid,item\n1,"a\n2,b\n', "quote that opens in line 2 is never closed"),
        ('tid,item\n1,"a"b\n', "line 2 has a field with text beside its quotes"),
        ('tid,item\n1, "a"\n', "line 2 has blanks before a quote"),
        ("tid,item\n1,a\r\n2,b\n", "line 2 has another line break than the first"),
        ("tid,item,Item\n1,a,b\n", "columns 2 and 3"),
        ("tid;item\n1,2;a,b\n1;b\n", ""),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(text.encode())
    if not words:
        assert in_memory().profile(path).persons == 2
        return
    with pytest.raises(InputError) as caught:
        in_memory().profile(path)
    assert words in str(caught.value) and "'s.csv'" in str(caught.value)


def test_a_missing_column_says_how_the_file_was_read(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("tid|item|hemlock\n1|a|b\n")
    error = refused(lambda: in_memory().profile(path, id="person"), "no_such_column", "3 columns", "vertical bars")
    assert "hemlock" not in str(error)


def test_mysql_nulls_are_no_items(tmp_path: Path) -> None:
    path = tmp_path / "s.tsv"
    path.write_text("tid\titem\n1\t\\N\n2\ta\n")
    refused(lambda: in_memory().profile(path), "null_item", "1 row ")
    profiled = in_memory().profile(path, drop_missing_items=True)
    assert (profiled.persons, profiled.items, profiled.read[0].missing) == (2, 1, 1)


def test_a_person_whose_items_are_missing_is_loaded(run: Run, tmp_path: Path) -> None:
    """As many persons are in the table as in the account, and in a profile of the file."""
    path, own = tmp_path / "s.csv", tmp_path / "own.duckdb"
    path.write_text("tid,item,town\n1,,x\n1,,y\n2,a,x\n2,,x\n,a,x\n")
    how = ("--drop-missing-items", "--drop-missing-ids")
    loaded = run("load", own, "--transactions", path, "--as", "s", *how, "--json").json
    assert loaded["read"]["transactions"] == 2 and loaded["tables"][0]["rows"] == 2
    assert "without items" in loaded["tables"][0]["note"]
    of_table = run("profile", own, "--transactions", "s", "--drop-missing-items", "--json").json
    of_file = run("profile", path, *how, "--json").json
    assert of_table["lengths"] == of_file["lengths"] and of_table["persons"] == of_file["persons"] == 2


# ---------------------------------------------------------------------- the account


@pytest.mark.slow
def test_the_account_everywhere(run: Run, tmp_path: Path) -> None:
    path = purchases(tmp_path)
    wanted = {
        "file": "purchases.csv",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "bytes": path.stat().st_size,
        "lines": 13,
        "header": True,
        "dialect": {"delimiter": ",", "quote": '"', "newline": "\n"},
        "encoding": "utf-8",
        "rows": 12,
        "missing": 0,
        "transactions": 6,
        "items": 2,
        "skipped": 0,
    }
    columns = ("--id", "customer", "--item", "product", "--json")
    commands = (
        ("anonymize", path, "--k", "2", "--m", "1"),
        ("profile", path),
        ("verify", path, "--k", "2", "--m", "1"),
        ("load", tmp_path / "own.duckdb", "--transactions", path, "--as", "purchases"),
    )
    for command in commands:
        read = run(*command, *columns).json["read"]
        assert {name: read[name] for name in wanted} == wanted, command[0]
    printed = run("verify", path, "--k", "2", "--m", "1", *columns[:4]).out
    assert "12 rows, 6 persons, 2 items, 0 skipped" in printed


@pytest.mark.parametrize("reader", ["read_csv('{}')", "'{}'"])
def test_a_query_that_reads_a_file_is_said_to_be_unseen(reader: str, run: Run, tmp_path: Path) -> None:
    """DuckDB's reader takes the first of two exports for a preamble."""
    own = tmp_path / "own.duckdb"
    with duckdb.connect(str(own)) as connection:
        rows = f"SELECT customer AS tid, product AS item FROM {reader.format(two_exports(tmp_path))}"
        connection.execute(f"CREATE VIEW inner_view AS {rows}")
        connection.execute("CREATE VIEW sales AS FROM inner_view")
        connection.execute("CREATE TABLE bought AS FROM sales")
        connection.execute(
            "CREATE VIEW food AS SELECT item AS node, 'all' AS parent FROM sales UNION FROM (VALUES ('all', NULL))"
        )
    made = ("anonymize", own, "--algorithm", "similar", "--k", "2", "--m", "1", "--accept", "one-item", "--json")
    unseen = run(*made, "--transactions", "sales", "--release", "a").json["read"]
    assert unseen["unseen"].startswith("read_csv") and unseen["skipped"] is None and unseen["rows"] is None
    assert run(*made, "--transactions", "bought", "--release", "b").json["read"] is None
    beside = run(*made[:-1], "--transactions", "bought", "--taxonomy", "food", "--release", "d").out
    assert "table 'food': what read_csv" in " ".join(beside.split())
    anew = (*made[:1], *made[2:-1], "--release", "c", "--replace")
    for command in (("profile",), ("verify", "--k", "1", "--m", "1"), anew):
        said = " ".join(run(command[0], own, "--transactions", "sales", *command[1:]).out.split())
        assert "table 'sales': 100 persons, 1 item, what read_csv" in said and "converts is not seen" in said, said


@pytest.mark.slow
def test_a_source_file_is_read_again(run: Run, tmp_path: Path) -> None:
    path, own = purchases(tmp_path), tmp_path / "own.duckdb"
    run("load", own, "--transactions", path, "--as", "purchases", "--id", "customer", "--item", "product")
    made = ("--transactions", "purchases", "--k", "2", "--m", "1", "--release", "spring")
    assert run("anonymize", own, *made).code == 0
    check = ("verify", own, "--release", "spring", "--against-source", "--json")
    assert run(*check).json["source_file"]["status"] == "unchanged"
    path.write_text(path.read_text() + "7,milk\n")
    changed = run(*check)
    assert changed.code == 4 and changed.json["source_file"]["status"] == "changed"
    assert changed.json["verified"] and not changed.json["is_of_source"], "the release is not that of this file"
    assert "NOT of this source" in run(*check[:-1]).out
    assert changed.json["source_file"]["now"]["rows"] == 13 and "now 13 rows" in " ".join(run(*check[:-1]).out.split())
    path.write_text(path.read_text() + "8\n")
    assert run(*check).json["source_file"]["now"] is None
    path.unlink()
    missing = run(*check)
    assert missing.code == 2 and missing.json["error"]["code"] == "no_source" and "Put it back" in missing.err


@pytest.mark.slow
def test_records_are_read_again(run: Run, tmp_path: Path) -> None:
    """Those of a local recoding, in files with options behind their names, or in tables that were loaded from these."""
    visits, people, own = tmp_path / "visits.csv", tmp_path / "people.csv", tmp_path / "own.duckdb"
    visits.write_text("note\nPatient;Code\n" + "".join(f"p{n};Ä{n % 3}\np{n};b\n" for n in range(30)), "latin-1")
    people.write_text("Patient;Town\n" + "".join(f"p{n};Köln{n % 2}\n" for n in range(31)), "latin-1")
    model: dict[str, Any] = {"quasi_identifiers": "Town", "model": anondb.KkmAnonymity(2, 1), "queries": 0}
    how: dict[str, Any] = {"id": "Patient", "item": "Code", "encoding": "latin-1"}
    with anondb.connect(own) as database:
        database.anonymize(f"{visits}#skip=1", **how, records=people, **model, name="files")
        loaded = ("--transactions", f"{visits}#skip=1", "--as", "v", "--id", "Patient", "--item", "Code")
    assert run("load", own, *loaded, "--records", people, "--records-as", "p", "--encoding", "latin-1").code == 0
    texts = {path: path.read_text("latin-1") for path in (visits, people)}
    with anondb.connect(own) as database:
        database.anonymize("v", records="p", **model, name="tables")
        for name in ("files", "tables"):
            check = database.check_view(name)
            assert check.holds and check.is_of_source
            for path, text in texts.items():
                path.write_text(text.replace("p3;Köln1", "p3;Köln0").replace("p3;b", "p3;c"), "latin-1")
                check = database.check_view(name)
                seen = check.source_file if path is visits else check.records_file
                assert not check.is_of_source and seen is not None and seen.status == "changed", (name, path)
                path.write_text(text, "latin-1")
            people.unlink()
            refused(lambda: database.check_view(name), "no_source", "people.csv", "records")  # noqa: B023
            people.write_text(texts[people], "latin-1")
        database.sql("UPDATE p SET Town = 'Köln0' WHERE tid = 'p3'")
        assert database.check_view("files").is_of_source and not database.check_view("tables").is_of_source


def test_the_source_of_a_release_may_be_a_file(tmp_path: Path) -> None:
    path = purchases(tmp_path)
    with anondb.connect(tmp_path / "own.duckdb") as database:
        release = database.anonymize(path, **COLUMNS, model=MODEL, name="spring", delimiter=",", queries=1)
        assert release.report is not None and release.report.to_json()["read"]["rows"] == 12
        assert database.check_view("spring").fresh
        path.write_text(path.read_text() + "7,milk\n")
        check = database.check_view("spring")
        assert not check.fresh and check.source_file is not None and check.source_file.status == "changed"
        path.unlink()
        refused(lambda: database.check_view("spring"), "no_source", "purchases.csv", "Put it back")


# ---------------------------------------------------------------------- layouts


@pytest.mark.slow
def test_frames_have_layouts(tmp_path: Path) -> None:
    database = anondb.connect()
    onehot = pd.DataFrame({"milk": [True, False, True], "bread": [True, True, False]})
    assert database.profile(onehot, item="milk,bread").items == 2  # detected: all are true or false
    wide = pd.DataFrame({"tid": [1, 2], "first": ["x", "y"], "second": ["y", None], "third": [float("nan")] * 2})
    refused(lambda: database.profile(wide, item="first,second"), "no_layout", "layout", "item_domains")
    assert database.profile(wide, layout="wide").items == 2  # pandas has floats in the empty column
    assert database.profile(wide, item="first,second", item_domains=True).items == 3
    numbered = wide.rename(columns={"first": "dx1", "second": "dx2"})
    assert database.profile(numbered, item="dx*").items == 2
    lists = pd.DataFrame({"tid": [1, 2], "item": ['["a", "b"]', "{a,c}"]})
    assert database.profile(lists).items == 3
    counts = pd.DataFrame({"milk": [1, 2], "bread": [0, 1]})
    refused(lambda: database.profile(counts, layout="one-hot"), "bad_layout", "1 cell ", "column")


@pytest.mark.slow
def test_a_layout_is_kept_with_its_release(tmp_path: Path) -> None:
    """A release is checked, measured and refreshed with the layout that it was made with."""
    with anondb.connect(tmp_path / "own.duckdb") as database:
        database.sql("CREATE TABLE w AS SELECT i AS tid, 'a' AS dx1, CASE WHEN i > 2 THEN 'b' END AS dx2 FROM range(6) t(i)")
        made = database.anonymize("w", item="dx1,dx2", layout="wide", model=MODEL, name="one", queries=1)
        assert "which has a row for each item of a transaction: analysts query the table 'one'" in str(made.report.warnings)
        assert database.check_view("one").fresh
        assert database.release("one").measure(queries=1).queries == 1
        database.sql(
            "CREATE ANONYMIZED VIEW two AS SELECT tid, dx1, dx2 FROM w WITH (k = 2, m = 1, item = 'dx*', layout = 'wide')"
        )
        database.sql("REFRESH ANONYMIZED VIEW two")
        bounds = database.release("two").count_bounds(["a", "b"])
        assert bounds[0] <= 3 <= bounds[2]


# ---------------------------------------------------------------------- findings


def many(items: Callable[[int], list[str]], persons: int = 200) -> pd.DataFrame:
    rows = [(t, item) for t in range(persons) for item in items(t)]
    return pd.DataFrame(rows, columns=["tid", "item"])


FINDINGS = {
    "row-per-person": many(lambda t: [f"i{t % 5}"]),
    "one-item": many(lambda t: [f"i{t % 5}"] + (["i9"] if t < 3 else [])),
    "rare-items": many(lambda t: [f"note {t}", "a"]),
    "lists-in-items": many(lambda t: [f"[a{t % 12}, b]", "b", "c"]),
    "separators-in-items": many(lambda t: [f"a{t % 4};b{t % 5}", "c"]),
    "column-prefixes": many(lambda t: [f"Item {1 + t % 2}.x{t % 7}", f"Item {3 + t % 2}.x{t % 7}"]),
    "missing-words": many(lambda t: [("NULL", ".", "")[t % 3] if t < 50 else "a", "b"]),
    "marks-in-items": many(lambda t: ["-1", "-2", f"i{t % 3}"]),
}


@pytest.mark.slow
@each("name", FINDINGS)
def test_findings_stop_until_they_are_confirmed(name: str) -> None:
    database = anondb.connect()
    how: dict[str, Any] = {"model": MODEL, "queries": 0, "name": "r"}
    error = refused(lambda: database.anonymize(FINDINGS[name], **how), "unconfirmed", f"{name}: ", "accept")
    assert "note" not in str(error).split(".")[0] and database.releases() == []
    release = database.anonymize(FINDINGS[name], **how, accept=[name])
    assert release.report is not None
    assert [finding["name"] for finding in release.report.to_json()["findings"]] == [name]


def test_swapped_columns_are_noticed(tmp_path: Path) -> None:
    """The legend of the release would name all patients."""
    rows = pd.DataFrame([(f"E1{n % 7}", f"{n:04}") for n in range(90)], columns=["code", "Patient-ID"])
    work = lambda **named: anondb.connect().anonymize(rows, model=MODEL, queries=0, **named)  # noqa: E731
    refused(lambda: work(id="code", item="Patient-ID"), "unconfirmed", "swapped-columns: ")
    assert work(id="Patient-ID", item="code", accept=["one-item"]).report is not None


CODES = (  # several of a chapter; one of each, also in two spellings; numbers
    lambda t: [f"{c}{10 + t % 3}.{n}" for c in "EI" for n in (t % 4, (t + 1) % 4)],
    lambda t: [f"{'EIJKM'[(t + n) % 5]}{(t + n) % 20}.{(t + n) % 20 % 3}" for n in range(2)],
    lambda t: [f"{c}{10 + t % 15}.{t % 15 % 3}{('', '.')[t // 15 % 2]}" for c in "EI"],
    lambda t: [f"{250 + t % 3}.{t % 5}", f"{260 + t % 3}.{5 + t % 5}"],
)
OF_COLUMNS = (  # words, also of several rows of a person; questions
    lambda t: [f"color.{t % 4}", f"color.{(t + 1) % 4}", f"trim.{t % 4}", f"seat.{t % 4}"],
    lambda t: [f"Q{n}.{(t + n) % 5}" for n in (1, 2, 3)],
)


@pytest.mark.slow
@each("items", CODES)
def test_codes_are_not_columns(items: Callable[[int], list[str]]) -> None:
    report = anondb.connect().anonymize(many(items), model=MODEL, queries=0).report
    assert report is not None and report.to_json()["findings"] == []


@each("items", OF_COLUMNS)
def test_values_of_columns_are_a_finding(items: Callable[[int], list[str]]) -> None:
    refused(lambda: anondb.connect().anonymize(many(items), model=MODEL, queries=0), "unconfirmed", "column-prefixes")


def test_a_second_header_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    rows = [f"{i},{item}" for i in range(3) for item in ("milk", "bread")]
    path.write_text("\n".join(["customer,product", *rows, "customer,product", *rows, ""]))
    work = lambda: anondb.connect().anonymize(path, **COLUMNS, model=MODEL)  # noqa: E731
    refused(work, "unconfirmed", "header-in-items")


@pytest.mark.slow
@each("of_file", [True, False])
def test_left_out_columns_are_named_and_stop_if_called_like_that_of_items(of_file: bool, tmp_path: Path) -> None:
    """For files and tables alike, whether or not the owner names the columns."""
    path, database = tmp_path / "s.csv", anondb.connect()
    path.write_text("person,dx1,dx2,dx_3,Price\n" + "".join(f"{i},{item},c,d,3\n" for i in range(6) for item in "ab"))
    how: dict[str, Any] = {"model": MODEL, "queries": 0, "id": "person"}
    if not of_file:
        database.engine.connection.execute(f"CREATE TABLE s AS FROM read_csv('{path}', all_varchar = true)")
    data = path if of_file else "s"
    words = str(refused(lambda: database.anonymize(data, item="dx1", **how), "unconfirmed", "left-out", "dx2, dx_3"))
    assert "Price" not in words
    report = database.anonymize(data, item="dx1", accept="left-out", **how, name="one").report
    assert report is not None and report.to_json()["findings"][0]["name"] == "left-out"
    named = report.to_json()["read"]["left_out"] if of_file else " ".join(report.to_json()["warnings"])
    assert all(column in named for column in ("dx2", "dx_3", "Price"))
    assert database.anonymize(data, item="dx*", layout="wide", **how, name="all").report is not None
    assert database.anonymize(data, item="Price", accept="one-item", **how, name="price").report is not None


IDS = [
    ([*map(str, range(120)), "Summe"], "1 of 121 ids are no numbers"),
    ([*(f"{n:05}" for n in range(120)), *(f"C{n:05}" for n in range(20))], "20 of 140 ids are no numbers"),
    ([*(f"P{n}" for n in range(120)), "Patient"], "1 of 121 ids have no digit"),
    ([f"{n:x}" for n in range(0, 40000, 300)], None),
    ([*(f"user{n}" for n in range(120)), *map(chr, range(97, 110))], None),
    ([*map(str, range(120))], None),
]


@each("ids", IDS)
def test_ids_unlike_the_others_are_a_finding(ids: tuple[list[str], str | None]) -> None:
    """A total below the rows, a second header, cancelled invoices; not the ids of one form, or of two."""
    rows = pa.table({"tid": [i for i in ids[0] for _ in "ab"], "item": ["a", "b"] * len(ids[0])})
    work = lambda: anondb.connect().anonymize(rows, model=MODEL, queries=0)  # noqa: E731
    if ids[1] is None:
        assert work().report is not None
    else:
        assert "Summe" not in str(refused(work, "unconfirmed", "other-ids", ids[1]))


@each("of_file", [True, False])
def test_rows_that_may_cancel_others_are_counted(of_file: bool, tmp_path: Path) -> None:
    path, database = tmp_path / "retail.csv", anondb.connect()
    lines = [
        f"{'C' * c}{536000 + n},{n % 30},{item},{-2 if c else 2},3.5"
        for n in range(200)
        for c in [n % 40 == 7]
        for item in "ab"
    ]
    path.write_text("\n".join(["InvoiceNo,tid,item,Quantity,Price", *lines, ""]))
    if not of_file:
        database.engine.connection.execute(f"CREATE TABLE retail AS FROM '{path}'")
    if of_file:  # of which nothing says that the columns tid and item are all that is wanted
        refused(
            lambda: database.anonymize(path, model=MODEL, queries=0), "unconfirmed", "left-out", "InvoiceNo, Quantity, Price"
        )
    accept = ["left-out"] if of_file else []
    report = database.anonymize(path if of_file else "retail", model=MODEL, queries=0, accept=accept).report
    (words,) = [w for w in (report.to_json()["warnings"] if report else []) if "cancel" in w]
    assert "10 in 'InvoiceNo', 10 in 'Quantity'" in words and "Price" not in words


def test_columns_of_a_table_that_nothing_uses_are_named(tmp_path: Path) -> None:
    database, tids = anondb.connect(), [t for t in range(6) for _ in "ab"]
    frame = pd.DataFrame({"tid": tids, "item": ["a", "b"] * 6, "Shop No": "x", "age": [30 + t for t in tids]})
    database.engine.connection.register("frame", frame)
    database.engine.connection.execute("CREATE TABLE sales AS SELECT * FROM frame")
    database.engine.connection.execute("CREATE VIEW people AS SELECT DISTINCT tid, age FROM sales")
    for source in ("sales", frame):
        (note,) = database.anonymize(source, model=MODEL, queries=0, name=None).report.warnings
        assert "left out" in note and "'Shop No', 'age'" in note
    records = {"records": "people", "quasi_identifiers": "age", "model": anondb.KkmAnonymity(2, 1)}
    notes = database.anonymize("sales", queries=0, name="r", **records).report.warnings
    assert [note for note in notes if "'Shop No'." in note]
    tree = pd.DataFrame([("a", "all"), ("b", "all")], columns=["node", "parent"])
    with sqlite3.connect(tmp_path / "shop.sqlite") as other:
        frame.to_sql("sales", other, index=False)
    how = {"taxonomy": tree, "model": MODEL, "queries": 0, "on_engine": True}
    inside = database.anonymize(f"sqlite://{tmp_path}/shop.sqlite#sales", name="s", **how).report.warnings
    assert [note for note in inside if "'Shop No', 'age'" in note]


def test_one_released_item_is_a_finding(tmp_path: Path) -> None:
    frame = many(lambda t: [f"i{t % 12:02}", f"i{(t + 1) % 12:02}"])
    tree = pd.DataFrame([(f"i{n:02}", "all") for n in range(12)], columns=["node", "parent"])
    how: dict[str, Any] = {"taxonomy": tree, "model": anondb.KmAnonymity(150, 2), "queries": 0}
    database = anondb.connect()
    refused(lambda: database.anonymize(frame, **how, name="r"), "unconfirmed", "one-released-item")
    assert database.releases() == []
    assert database.anonymize(frame, **how, accept="one-released-item").report.frozen.released_items == 1  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_hierarchy_without_its_column_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    frame = many(lambda t: ["a", "b"], 20)
    people = pd.DataFrame({"tid": range(20), "zip": ["1", "2"] * 10})
    how: dict[str, Any] = {"records": people, "quasi_identifiers": "zip:categorical", "model": anondb.KkmAnonymity(2, 1)}
    how |= {"hierarchies": tmp_path / "trees", "queries": 0}
    work = lambda: anondb.connect().anonymize(frame, **how)  # noqa: E731
    refused(work, "unconfirmed", "unused-hierarchies", "empty")
    (tmp_path / "trees" / "postcode.tree").write_text("1;*\n2;*\n")
    refused(work, "unconfirmed", "unused-hierarchies", "1 of 1", "'postcode'")
    (tmp_path / "trees" / "ZIP.tree").write_text("1;*\n2;*\n")
    refused(work, "unconfirmed", "unused-hierarchies", "1 of 2")
    (tmp_path / "trees" / "postcode.tree").unlink()
    assert work().report is not None


def test_an_unknown_finding_is_refused() -> None:
    work = lambda: anondb.connect().anonymize(FINDINGS["one-item"], model=MODEL, accept="everything")  # noqa: E731
    refused(work, "bad_parameter", "one-item")


# ---------------------------------------------------------------------- peek


@pytest.mark.slow
def test_peek_prints_a_command_that_runs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "kunden.csv"
    rows = [f"{i};Käse;x" for i in range(30)] + [f"{i};Milch;x" for i in range(30)]
    path.write_bytes("\r\n".join(["sep=;", "Kunde;Artikel;Preis", *rows, ""]).encode("latin-1"))
    found = run("peek", "kunden.csv", "--json").json
    assert found["problem"] is None and len(found["persons"]) == 3
    assert found["persons"][0]["items"] == ["Käse", "Milch"]
    assert found["account"]["rows"] == 60 and found["account"]["left_out"] == ["Preis"]
    command = found["command"]
    words = subprocess.run(["sh", "-c", f"printf '%s\\n' {command}"], capture_output=True, text=True).stdout.split("\n")
    assert words[0] == "anondb"
    assert run(*[w for w in words[1:] if w], "--k", "2", "--m", "1").code == 0
    assert run("inspect", "release.duckdb").code == 0


@pytest.mark.slow
def test_peek_tries_blanks(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f'{i} "{item}"' for i in range(30) for item in ("rye bread", "milk")]
    (tmp_path / "s.txt").write_text("\n".join(["customer product", *rows, ""]))
    found = run("peek", "s.txt", "--json").json
    assert found["reading"]["delimiter"] == " " and found["persons"][0]["items"] == ["milk", "rye bread"]
    words = shlex.split(found["command"])[1:]
    assert run(*words, "--k", "2", "--m", "1").code == 0
    (tmp_path / "s.txt").write_text("item\nrye bread\nmilk\n")
    assert "delimiter" not in run("peek", "s.txt", "--json").json["reading"]


def test_peek_at_baskets_that_begin_with_a_single_item(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("milk\nbread,milk\nbeer\nbeer,bread,milk\n")
    seen = in_memory().peek(path)
    assert (seen.reading["layout"], seen.reading["delimiter"]) == ("basket", ",")
    assert seen.persons[:2] == (("1", ("milk",)), ("2", ("bread", "milk")))


def test_peek_takes_the_id_of_a_person_before_that_of_an_order(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("InvoiceNo,StockCode,CustomerID\n1,a,7\n1,b,7\n2,a,7\n3,b,8\n")
    assert in_memory().peek(path).reading["id"] == "CustomerID"


@each("kind", ["VARCHAR", "DATE", "TIMESTAMP"])
def test_peek_at_people_whatever_the_types(kind: str, tmp_path: Path) -> None:
    born = f"CAST(DATE '1950-01-01' + CAST(n AS INTEGER) AS {kind})"
    rows = f"SELECT n AS patient, n % 90 AS age, {born} AS born FROM range(300) r(n)"
    for suffix in ("csv", "parquet"):
        duckdb.sql(f"COPY ({rows}) TO '{tmp_path}/patients.{suffix}'")
        peeked = in_memory().peek(tmp_path / f"patients.{suffix}")
        assert peeked.problem is None and peeked.reading == {"id": "patient", "layout": "people"}


def test_peek_says_what_is_wrong(run: Run, tmp_path: Path) -> None:
    found = run("peek", two_exports(tmp_path))
    assert found.code == 2 and "line 202" in found.err


def test_a_python_without_openpyxl_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.xlsx").write_bytes(b"PK\x03\x04")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    refused(lambda: in_memory().profile(tmp_path / "s.xlsx"), "missing_extra", "anondb[excel]")


@pytest.mark.slow
def test_the_owners_report_has_the_account_and_the_findings(run: Run, tmp_path: Path) -> None:
    own, path = tmp_path / "own.duckdb", tmp_path / "visits.csv"
    FINDINGS["one-item"].to_csv(path, index=False)
    run("load", own, "--transactions", path, "--as", "visits")
    made = ("--transactions", "visits", "--k", "2", "--m", "1", "--release", "spring", "--json")
    assert "one-item" in run("anonymize", own, *made).json["error"]["message"]
    report = run("anonymize", own, *made, "--accept", "one-item").json
    assert report["read"]["rows"] == 203 and report["read"]["dialect"]["delimiter"] == ","
    lines = run("report", own, "--release", "spring", "--html", tmp_path / "r.html", "--json").json["read"]
    assert lines[0].startswith("read visits.csv: ") and lines[1].startswith("confirmed one-item: ")
    assert "203 rows, 200 persons" in (tmp_path / "r.html").read_text()


@each("name", ["one", "other", "source", "find_all", "text", "query", "tree", "a{0}b", "{}", 'q"q', "it's", "SELECT"])
def test_columns_of_any_name(name: str) -> None:
    """Whatever the composed statements call their own tables and columns."""
    frame = pd.DataFrame({"tid": [1, 1, 2, 2], name: ["a", "b", "a", "b"], "left out": [1, 2, 3, 4]})
    people = pd.DataFrame({"tid": [1, 2], name: [30, 40]})
    with anondb.connect() as db:
        release = db.anonymize(frame, item=name, model="km", k=2, m=1, algorithm="pcta", name="r", queries=1)
        assert release.count_bounds(["a", "b"])[::2] == (2, 2) and release.verification.verified
        held = frame.rename(columns={name: "item"})
        how = {"records": people, "quasi_identifiers": [name], "algorithm": "rum_bound_r", "delta": 1}
        both = db.anonymize(held, model="kkm", k=2, m=1, name="b", queries=1, **how)
        assert both.verification.verified


@each(
    "query", ["SELECT tid, item, item FROM sales", "SELECT tid, tid, item FROM sales", "SELECT tid, item FROM sales -- all"]
)
def test_a_query_of_odd_form(query: str) -> None:
    """Its columns are those of the query as it stands."""
    with anondb.connect() as db:
        db.sql("CREATE TABLE sales AS SELECT * FROM (VALUES (1, 'a'), (1, 'b'), (2, 'a'), (2, 'b')) sales(tid, item)")
        db.sql(f"CREATE ANONYMIZED VIEW v AS {query}\nWITH (k = 2, m = 1, algorithm = 'pcta', queries = 1)")
        assert db.release("v").count_bounds(["a", "b"])[::2] == (2, 2)
