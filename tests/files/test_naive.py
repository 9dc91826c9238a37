"""The naive reader against the persons written by hand and against Python's csv module; the corpus against its rules."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from each import each
from files import naive
from files.making import CASES, CORPUS, Case

TEXTS = [case for case in CASES.values() if case.made is None]
BEYOND = {"not_gzip", "mysql_dump", "mysql_outfile", "excel_sep"}  # what the naive reader does not know


@each("case", TEXTS)
def test_the_naive_reader_finds_the_persons_of_the_corpus(case: Case) -> None:
    if case.name in BEYOND:
        return
    found = naive.readings(case.source.read_bytes(), case.file, case.id, case.item, **case.options)
    if case.refused is None:
        assert found == [case.held]
    elif case.persons is None:
        assert found == []
    else:
        assert found in ([], [case.held])


@each("case", [c for c in TEXTS if c.line and c.persons is None])
def test_the_naive_reader_names_the_line(case: Case) -> None:
    lines = []
    for delimiter in [case.options["delimiter"]] if "delimiter" in case.options else naive.DELIMITERS:
        try:
            text = naive.decoded(case.source.read_bytes(), case.options.get("encoding", "utf-8"))
            if case.layout == "spmf":
                naive.spmf(text)
            elif case.file.endswith("json"):
                naive.json_table(text)
            elif case.layout == "basket":
                naive.baskets(text, delimiter)
            else:
                naive.table(text, delimiter)
        except naive.Malformed as error:
            lines.append(error.line)
    known = {case.line} if isinstance(case.line, int) else set(case.line or [])
    assert known & set(lines) or case.file.endswith("ndjson")  # a line of JSON is decoded by itself


def test_every_file_is_in_a_case_and_small() -> None:
    files = {path.name: path.stat().st_size for path in CORPUS.iterdir() if path.name != ".gitattributes"}
    assert set(files) == {case.file for case in CASES.values()}
    assert len(files) >= 60 and max(files.values()) < 4096


def test_every_refused_file_has_the_value_that_messages_must_not_show() -> None:
    for case in CASES.values():
        data = case.source.read_bytes()
        if case.persons is None and len(data) > 10 and case.file != "movielens_ratings.dat":  # numbers alone
            assert b"hemlock" in data.lower().replace(b"\0", b""), case.name


def test_every_case_says_what_must_come_of_it() -> None:
    for case in CASES.values():
        assert (case.persons is None) == (case.rows is None), case.name
        assert case.persons is not None or case.refused is not None, case.name
        assert case.line is None or case.refused is not None, case.name


@pytest.mark.parametrize("text", ["a,b\n1,2\n", 'a,b\r\n"x\r\n","""y"\r\n', "a\n\nb\n", 'a,""\n,\n', "a,b"])
def test_the_naive_reader_splits_as_the_csv_module_does(text: str, tmp_path: Path) -> None:
    cells = [[cell or "" for cell in cells] for _, cells in naive.records(text, ",")]
    assert [c for c in cells if c != [""]] == [row for row in csv.reader(io.StringIO(text, newline="")) if row]
