"""Files that would lose rows, merge persons, crash a command or show a value: each is read whole, or refused in words."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cli.shop import Run
from each import each
from files.loading import Reader, in_memory
from portions import some

import anondb
from anondb.errors import InputError
from anondb.reading import shape


def refusal(work: Callable[[], Any], *words: str) -> str:
    with pytest.raises(InputError) as caught:
        work()
    assert all(word in str(caught.value) for word in words), caught.value
    return str(caught.value)


def profile(path: Path, **options: Any) -> Any:
    return in_memory().profile(path, **options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tid,item\r\n1,a\r\n2,b\r\n\r12,c\r\n3,d\r\n", "line 4 has another line break"),
        ("tid,item\r\n1,a\r\n\r\r\n22,b\r\n", "another line break"),
        ("\n\ntid,item\n1,a\n", "line 1 is empty"),
        ("tid::item\n1::a\x1fb\n\n2::c\n", "control character"),
        ("tid,item\n1,a\nPK", "line 3 has 1 field,"),
    ],
)
def test_odd_lines(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(text.encode())
    refusal(lambda: profile(path), words)


def test_a_delimiter_of_two_characters_within_quotes_is_text(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text('a::"b::c"\n"::d"\n')
    assert reader.load(path, layout="basket", delimiter="::") == {"1": {"a", "b::c"}, "2": {"::d"}}
    path.write_text('tid::"the::item"\n1::"a::b"\n')
    assert reader.load(path, id="tid", item="the::item", delimiter="::") == {"1": {"a::b"}}


@each("id", ["tid", None])
def test_fields_that_one_record_lacks_and_another_has(id: str | None, run: Run, tmp_path: Path) -> None:
    """As many delimiters as if each record had its own: DuckDB refuses it, in any layout."""
    path = tmp_path / "s.csv"
    path.write_text("tid,x1,x2\n1,a,b,\n2,a,b\n3,c\n")
    words = ["--id", id, "--layout", "wide"] if id else []
    loaded = run("load", tmp_path / "own.duckdb", "--transactions", path, *words)
    assert loaded.code == 2 and "line 2 has 4 fields" in loaded.err


def test_a_header_that_begins_like_a_comment_is_none_of_spmf(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(b"#|tid|item\r1|1|milk\r2|2|milk\r")
    assert profile(path).persons == 2


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("block", [64, 128, 1 << 19])
def test_quotes_are_counted_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, end: str) -> None:
    """A quote or a line may go on in the next block; a wrong line is named all the same."""
    path = tmp_path / "s.csv"

    def written(*rows: str) -> Path:
        path.write_bytes(end.join(["tid,item", '1,"a, b"', *rows, '3,"c"', ""]).encode())
        return path

    rows = ('2,"a\n""b"""', '2,"a\r\n,b"', '2,"a\rb"', '2,""', "2,a b")
    whole = [shape.survey(written(row), "it", ",", '"') for row in rows]
    assert [seen.records for seen in whole] == [4] * len(rows) and all(seen.regular for seen in whole)
    monkeypatch.setattr(shape, "_BLOCK", block)
    for row, seen in zip(rows, whole, strict=True):
        read = profile(written(row))
        assert (read.persons, read.items) == (3, 3), row
        assert shape.survey(path, "it", ",", '"') == seen, row
    for row, words in {
        '2,"a"b': "line 3 has a field with text beside its quotes",
        '2, "a"': "line 3 has blanks before a quote",
        '2,"a",b': "line 3 has 3 fields",
        '2,"a': "line 3 has a field with text beside its quotes",
    }.items():
        refusal(lambda: profile(written(row)), words)  # noqa: B023


@pytest.mark.parametrize("block", [64, 65, 1 << 19])
def test_a_delimiter_of_two_characters_is_counted_in_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("".join(f'{i}::"a::\n{i % 7}"::{i % 5}\n' for i in range(100)))
    monkeypatch.setattr(shape, "_BLOCK", block)
    seen = shape.survey(path, "it", "::", '"')
    assert (seen.lines, seen.records, seen.delimiters, seen.regular) == (200, 100, 200, True)
    read = profile(path, id="column1", item="column2", header=False, delimiter="::")
    assert (read.persons, read.items, read.read[0].lines) == (100, 7, 200)
    path.write_text(path.read_text() + "7:::b::c::d\n")
    refusal(lambda: profile(path, id="column1", item="column2", header=False, delimiter="::"), "line 201 has 4 fields")


def by_bytes(text: bytes, delimiter: bytes, quote: bytes) -> tuple[int, int, int, bool]:
    """Lines, records, delimiters outside quotes, and whether each quote has its place and no line is empty, byte by byte."""
    within, lines, found, delimiters, regular = False, 0, 0, 0, True
    for at, byte in enumerate(text):
        before, here = text[:at], bytes([byte])
        if here == quote:
            regular &= within or not at or before.endswith((b"\n", delimiter, quote))
            within = not within
        lines, found = lines + (here == b"\n"), found + (here == b"\n" and not within)
        regular &= here not in b"\n\r" or (at > 0 and not before.endswith(b"\n"))
        delimiters += text[: at + 1].endswith(delimiter) and not within
    open_end = not text.endswith(b"\n")
    return lines + open_end, found + open_end, delimiters, regular and not within


def test_bytes_are_counted_in_blocks_as_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.csv"
    for seed in range(600):
        rnd = random.Random(seed)
        delimiter, odd = rnd.choice([",", ";", "::"]), seed % 2
        parts = ["a", ",", '"', "\n", ":", "::", ";", "\r", "é"] if odd else ["a", '"x,\ny"', '"q""z"', "é", delimiter, "\n"]
        path.write_bytes("".join(rnd.choice(parts) for _ in range(rnd.randint(1, 300))).encode())
        monkeypatch.setattr(shape, "_BLOCK", rnd.choice([64, 100, 1 << 19]))
        seen = shape.survey(path, "it", delimiter, '"')
        wanted = by_bytes(path.read_bytes(), delimiter.encode(), b'"')
        assert (seen.lines, seen.records, seen.delimiters, seen.regular) == wanted, seed


def test_blanks_before_quotes_within_quotes_are_text(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text('tid,item\n1,"a, ""b"", c"\n2," ""d"""\n3,"e\n ""f"""\n')
    assert profile(path).persons == 3
    path.write_text('tid,item\n1,"a\n, ""b"""\n2, "d"\n')
    refusal(lambda: profile(path), "line 4 has blanks before a quote")


def test_a_list_with_escapes_keeps_its_numbers(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    cells = [r'[0.10, "\\"]', r'["a\nb", 1e5, null, true]', r'["\u00e9", 12345678901234567890123]', "[0.1]"]
    path.write_text("\n".join(["item", *('"' + cell.replace('"', '""') + '"' for cell in cells), ""]))
    found = reader.load(path, layout="list", drop_missing_items=True)
    held = [{"0.10", "\\"}, {"a\nb", "1e5", "true"}, {"é", "12345678901234567890123"}, {"0.1"}]
    assert list(found.values()) == held


def test_domains_that_could_give_one_item() -> None:
    frame = pd.DataFrame({"tid": [1, 2], "a": ["b.x", None], "a.b": [None, "x"], "ab": ["x", "x"]})
    refusal(lambda: in_memory().profile(frame, item="a,a.b", item_domains=True), "begin alike")
    assert in_memory().profile(frame, item="a,ab", item_domains=True).items == 2


@pytest.mark.parametrize(
    ("name", "layout"), some([("b.dat", None), ("onehot.csv", "one-hot"), ("list.json", "list")], ("b.dat", None))
)
def test_rows_without_ids_have_their_numbers_in_records(tmp_path: Path, name: str, layout: str | None) -> None:
    bread = [n % 2 for n in range(1, 13)]
    texts = {
        "b.dat": "".join("milk bread\n" if b else "milk\n" for b in bread),
        "onehot.csv": "milk,bread\n" + "".join(f"1,{b}\n" for b in bread),
        "list.json": "\n".join(json.dumps({"item": ["milk", "bread"] if b else ["milk"]}) for b in bread),
    }
    path, people = tmp_path / name, tmp_path / "people.csv"
    path.write_text(texts[name])
    how = {"records": people, "quasi_identifiers": "age", "layout": layout}
    people.write_text("nr,age\n" + "".join(f"{n},{30 + n % 2}\n" for n in range(1, 13)))
    check = lambda k: in_memory().verify(path, model=anondb.KkmAnonymity(k, 1), **how)  # noqa: E731
    refusal(lambda: check(6), "column 'tid' with the numbers")
    people.write_text(people.read_text().replace("nr", "tid"))
    assert check(6).verified and not check(7).verified  # the six of age 31 have bread, and nobody else


def test_lines_that_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("".join(f"note {i} {'x' * 30}\n" for i in range(40_000)) + "1,a\n2,b\n")
    assert profile(path, skip=40_000, header=False, id="column1", item="column2").persons == 2
    refusal(lambda: profile(path, skip=50_000, header=False), "fewer lines")


@pytest.mark.parametrize("text", ["1:5 2:3\n", "1 2 -1 3 -2 4\n", "<0> 1 -1 <1> 2 -1 -2\n"])
def test_what_is_not_spmf(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.txt"
    path.write_text(text)
    refusal(lambda: profile(path, layout="spmf"), "is no SPMF file: line 1")


def test_a_delimiter_that_comes_late(tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    path.write_text("whole milk\n" * 7000 + "whole milk,rye bread\n")
    assert profile(path, layout="basket").items == 2
    dat = tmp_path / "ratings.dat"
    dat.write_text("1::1193::5\n")
    refusal(lambda: profile(dat, quote="none"), "no FIMI file")


@pytest.mark.parametrize("row", [{"p": "a", "P": "b"}, {"item": [1, "1"]}, {"item": {"x": 1}}, {"item": "\ud800"}])
def test_json_that_would_merge(tmp_path: Path, row: dict[str, Any]) -> None:
    path = tmp_path / "s.ndjson"
    path.write_text(json.dumps({"tid": 1, **row}))
    refusal(lambda: profile(path, item="item" if "item" in row else "p"))


@each("numbers", ["1 1.0", "100 1e2", "0.5 0.50", "1E+2 1e2", "0 -0"])
def test_a_json_number_in_two_forms_is_refused(numbers: str, tmp_path: Path) -> None:
    """They are one number, and two texts; in CSV, and within quotes, they are texts."""
    path, (first, second) = tmp_path / "s.ndjson", numbers.split()
    for used, other in (("tid", "item"), ("item", "tid")):
        path.write_text("".join(f'{{"{used}": {number}, "{other}": 7}}\n' for number in (first, second)))
        refusal(lambda: profile(path), "in two ways")
    path.write_text(f'{{"tid": {first}, "item": "a", "x": 1}}\n{{"tid": 5, "item": "{second}", "x": 1.0}}\n')
    assert profile(path).persons == 2
    path.write_text(f'[{{"tid": 1, "item": [{first}, 8]}}, {{"tid": 2, "item": [{second}]}}]')
    refusal(lambda: profile(path), "in two ways")


def test_numbers_beyond_all_limits(tmp_path: Path) -> None:
    path = tmp_path / "s.ndjson"
    path.write_text('{"tid": 1e99999999999999999999, "item": 1}\n{"tid": 2, "item": 1}\n')
    assert profile(path).persons == 2


def test_sheets(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "s.xlsx"

    def write(*rows: Any) -> Path:
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path)
        return path

    refusal(lambda: profile(write(["tid", "item"], [1, "a"], ["=1+1", '="b"'])), "row 3 has a formula")
    refusal(lambda: profile(write(["tid", "p", "p"], [1, "a", "b"]), item="p"), "columns 2 and 3")
    refusal(lambda: profile(write([1, "flu"], [2, "hiv"], ["2", "x"]), layout="wide", header=False), "Column 1")
    refusal(lambda: profile(write(["tid", "item"], [1, "a"]), delimiter=";"), "delimiter", "text files")
    import zipfile

    with zipfile.ZipFile(write(["tid", "item"], [1, "a"], [2, "b"])) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b'ref="A1:B3"', b'ref="A1:B2"')
    with zipfile.ZipFile(path, "w") as new:
        for name, content in parts.items():
            new.writestr(name, content)
    assert profile(path).persons == 2


def test_a_sheet_is_named(run: Run, tmp_path: Path) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    for title, rows in {"May": ["1a", "2b"], "June": ["1a", "2b", "3b"], "Notes": []}.items():
        sheet = book.create_sheet(title)
        for row in [("tid", "item"), *rows]:
            sheet.append(list(row))
    path = tmp_path / "year.xlsx"
    book.save(path)
    refusal(lambda: profile(path), "3 sheets", "file_table=SHEET")
    refusal(lambda: profile(path, file_table="July"), "no sheet 'July'")
    assert profile(path, file_table="june").persons == 3
    assert "2 persons" in run("profile", f"{path}#file-table=May").out


@each("suffix", ["xlsx", "csv"])
def test_a_title_is_no_header(suffix: str, run: Run, tmp_path: Path) -> None:
    rows = [["Export of hemlock", ""], ["", ""], ["tid", "item"], ["1", "a"], ["2", "b"]]
    path = tmp_path / f"t.{suffix}"

    def write(rows: list[list[str]]) -> None:
        if suffix == "csv":
            path.write_text("".join(";".join(row) + "\n" for row in rows))
            return
        book = pytest.importorskip("openpyxl").Workbook()
        for row in rows:
            book.active.append([cell or None for cell in row])
        book.save(path)

    write(rows)
    assert "hemlock" not in refusal(lambda: profile(path), "title", "skip=2")
    peeked = run("peek", path)
    assert "--skip 2" in peeked.out + peeked.err and (suffix == "xlsx" or "2 persons" in peeked.out)
    assert profile(path, skip=2).persons == 2
    write([["tid", "item", ""], ["1", "a", "new"], ["2", "b", ""]])
    refusal(lambda: profile(path), "title", "skip=0")
    assert profile(path, skip=0).persons == 2
    if suffix == "csv":  # a title without separators, and other line ends
        path.write_bytes(b"Export of hemlock\n\ntid;item\r\n1;a\r\n2;b\r\n")
        refusal(lambda: profile(path), "title", "skip=2")
    write([["", "tid", "item", ""], ["0", "1", "a", ""]])  # an index of rows, and separators at the ends of lines
    assert profile(path).persons == 1


def test_tables_of_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sqlitestuff (tid, item)")
        connection.execute("INSERT INTO sqlitestuff VALUES (1, 'a')")
    connection.close()
    assert profile(path).persons == 1


@pytest.mark.slow
def test_one_of_several_tables_of_sqlite(run: Run, tmp_path: Path) -> None:
    path, own = tmp_path / "s.sqlite", tmp_path / "own.duckdb"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE Sales AS SELECT value AS tid, 'a' AS item FROM json_each('[1,2,3]')")
        connection.execute("CREATE TABLE prices (item, price)")
    connection.close()
    refusal(lambda: profile(path), "2 tables", "file_table=")
    refusal(lambda: profile(path, file_table=1), "text")
    refusal(lambda: profile(tmp_path, file_table="sales"), "")
    assert profile(path, file_table="sales").persons == 3
    (tmp_path / "s.csv").write_text("tid,item\n1,a\n")
    refusal(lambda: profile(tmp_path / "s.csv", file_table="sales"), "SQLite")
    words = ("--k", "2", "--m", "1")
    for named in (("--transactions", "sales"), ("--file-table", "sales")):
        made = run("anonymize", path, *named, *words, "--publish", tmp_path / f"{named[0]}.duckdb")
        assert made.code == 0, made.err
    assert run("load", own, "--transactions", path, "--file-table", "sales", "--as", "sales").code == 0
    assert "--file-table sales" in run("peek", path, "--file-table", "sales").out
    policy = 'source = "s.sqlite"\nfile_table = "sales"\n[release.spring]\nk = 2\nm = 1\n'
    (tmp_path / "policy.toml").write_text(policy)
    assert run("run", tmp_path / "policy.toml").code == 0


def test_archives_and_damaged_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_bytes(b"PK\x03\x04rest")
    refusal(lambda: profile(tmp_path / "s.csv"), "archive")
    whole = gzip.compress(b"tid,item\n" + b"1,a\n" * 5000)
    for name, content in (("cut", whole[:-20]), ("bad", whole[:30] + bytes(20) + whole[50:])):
        path = tmp_path / f"{name}.csv.gz"
        path.write_bytes(content)
        for command in ("profile", "peek"):
            found = run(command, path)
            assert found.code == 2 and "damaged" in found.err, (name, command)


@pytest.mark.parametrize("encoding", ["nosuch", "rot13", "hex", "zip", "\0"])
def test_encodings_that_are_none(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "s.csv").write_text("tid,item\n1,a\n")
    refusal(lambda: profile(tmp_path / "s.csv", encoding=encoding), "no such encoding")


@pytest.mark.parametrize(
    "options", [{"quote": ","}, {"quote": "é"}, {"quote": "\\"}, {"delimiter": "\\"}, {"delimiter": "ééé"}]
)
def test_dialects_that_are_none(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "s.csv"
    path.write_text("tid,item\n1,a\n")
    if options == {"quote": ","}:
        options = {**options, "delimiter": ","}
    refusal(lambda: profile(path, **options))


@each("cell", ["{'n': 'bob'}", "[{'n': 'bob'}]", "[1.5::DOUBLE]", "'bob'::BLOB", '\'{"n": "bob"}\'::JSON'])
def test_a_layout_does_not_lift_the_rules_of_types(cell: str) -> None:
    database = anondb.connect()
    database.sql(f"CREATE TABLE t AS SELECT i AS tid, {cell} AS item FROM range(9) r(i)")
    for options in ({}, {"item_separator": ","}):
        assert "bob" not in refusal(lambda o=options: database.profile("t", layout="list", **o), "type")  # type: ignore[misc]


def test_errors_of_columns_that_nobody_named_show_no_value(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("HIV\ncold\nflu\n")
    assert "HIV" not in refusal(lambda: profile(path, layout="list"), "column 1")


def test_a_header_is_no_basket(run: Run, tmp_path: Path) -> None:
    """Lines of different lengths are baskets, unless the first names an id."""
    for first, outcome in (("customer,product", "line 4 has 4 fields"), ("milk,bread", "layout basket")):
        (tmp_path / "shapes.csv").write_text(f"{first}\n1,milk\n2,bread\na,b,c,d\n3,milk\n")
        peeked = run("peek", tmp_path / "shapes.csv")
        assert outcome in peeked.out + peeked.err


def test_the_id_is_no_item() -> None:
    frame = pd.DataFrame({"Item": [1, 2], "p1": ["a", "b"], "p2": ["c", None], "item2": ["x", "y"]})
    profiled = in_memory().profile(frame, id="Item", item="p1,p2", layout="wide")
    assert (profiled.persons, profiled.items) == (2, 3)
    refusal(lambda: in_memory().profile(frame, id="Item", item="Item,p1", layout="wide"), "that of the ids")
    odd = pd.DataFrame({"tid": [1], "x[1]": ["a"], "x[2]": ["b"]})
    assert in_memory().profile(odd, item="x[*").items == 2


@each("rows", ["1,x,y\n,,\n3,x,\n", "1,x,y\n,p,q\n3,x,\n"])
def test_a_row_of_columns_without_an_id_counts_once(rows: str, run: Run, tmp_path: Path) -> None:
    """With items or without, when it is refused and when it is left out."""
    path = tmp_path / "s.csv"
    path.write_text("tid,a1,a2\n" + rows)
    words = ("load", tmp_path / "own.duckdb", "--transactions", path, "--as", "held", "--replace", "--layout", "wide")
    refused = run(*words)
    assert refused.code == 2 and "1 row of file 's.csv' has no id" in refused.err
    read = run(*words, "--drop-missing-ids", "--json").json["read"]
    assert (read["rows"], read["missing"], read["transactions"]) == (3, 1, 2)
    found = profile(path, layout="wide", drop_missing_ids=True)
    assert found.to_json()["read"]["missing"] == 1 and "1 row without an id or an item is left out." in found.warnings


def test_rows_that_are_left_out_are_not_asked_for() -> None:
    """The table that analysts ask has no other rows than the release."""
    database = anondb.connect()
    database.sql(
        "CREATE TABLE t AS SELECT i // 4 AS tid, CASE WHEN i % 4 < 3 THEN 'm' || i % 4 END AS item FROM range(80) r(i)"
    )
    model = anondb.KmAnonymity(2, 1)
    release = database.anonymize("t", model=model, name="spring", drop_missing_items=True, queries=0)
    assert release.manifest["table"] == "spring"


def test_a_list_of_sensitive_items(tmp_path: Path) -> None:
    from anondb.data.constraints import load_sensitive

    path = tmp_path / "sensitive.txt"
    path.write_bytes(b"flu, with fever\r\n\r\n  HIV \r\n")
    database = anondb.connect()
    with database.engine.transaction():
        assert load_sensitive(database.engine, path) == ("HIV", "flu, with fever")


def test_a_file_of_baskets_is_no_taxonomy(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "baskets.dat").write_text("1 2\n3\n")
    with pytest.raises(InputError, match="is no taxonomy") as refused:
        reader.taxonomy(tmp_path / "baskets.dat")
    assert refused.value.code == "bad_taxonomy"


@pytest.mark.slow
def test_a_file_of_policies_says_how_its_source_is_read(run: Run, tmp_path: Path) -> None:
    rows = [f"{i};{item}" for i in range(40) for item in ("milk", "bread")]
    (tmp_path / "p.csv").write_text("\n".join(["# export", "customer;product", *rows, ""]))
    policy = 'source = "p.csv"\nskip = 1\ndelimiter = ";"\n\n[release.spring]\nid = "customer"\nitem = "product"\n'
    (tmp_path / "policy.toml").write_text(policy + 'k = 2\nm = 1\npublish = "spring.duckdb"\n')
    found = run("run", tmp_path / "policy.toml")
    assert found.code == 0, found.err
    asked = "SELECT count(DISTINCT customer) FROM p"
    assert run("query", tmp_path / "spring.duckdb", asked).out.split()[-3:] == ["40", "40.0", "40"]
    (tmp_path / "policy.toml").write_text(policy + 'k = 2\nm = 1\nquote = "none"\n')
    assert "text files" in run("run", tmp_path / "policy.toml").err
