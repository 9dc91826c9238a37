"""What peek proposes for files of odd forms, and that the command which it prints reads every row of them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cli.shop import Run
from each import each
from files.loading import Reader, in_memory

SOLD = [(str(n % 30 + 1), ("milk", "bread", "beer")[n % 4 % 3]) for n in range(60)]
HELD = {person: {item for other, item in SOLD if other == person} for person, _ in SOLD}
HEADER = ("customer", "product")


def text(*tables: Any, mark: str = ",") -> str:
    return "".join(mark.join(row) + "\n" for table in tables for row in table)


PRICED = [(person, f"{n % 9},{n % 90 + 10}", item) for n, (person, item) in enumerate(SOLD)]
FRAMED = [("", *row, "") for row in (("KUNNR", "MATNR"), *SOLD)]
FILES: dict[str, tuple[str, bytes]] = {  # each has what SOLD says
    "without a mark.csv": ("--encoding utf-16-be", text([HEADER], SOLD).encode("utf-16-be")),
    "little.csv": ("--encoding utf-16-le", text([HEADER], SOLD).encode("utf-16-le")),
    "marked.csv": ("--encoding utf-32", text([HEADER], SOLD).encode("utf-32")),
    "decimal commas.csv": ("--item Artikel", text([("Kunde", "Preis", "Artikel")], PRICED, mark=";").encode()),
    "frame of bars.txt": ("--id KUNNR", text(FRAMED, mark="|").encode()),
    "segments.txt": ("--id column2 --item column4", text([("PID", p, "DG1", i) for p, i in SOLD], mark="|").encode()),
    "carets.txt": ("--delimiter '^'", text([HEADER], SOLD, mark="^").encode()),
    "items first.csv": ("--item product --", text([("product", "nr")], [(i, p) for p, i in SOLD]).encode()),
    "no title.csv": ("--skip 0", text([(*SOLD[0], "")], [(*sold, "new") for sold in SOLD[1:]]).encode()),
    "gaps.csv": (
        "--item ware --",
        text([("uid", "to", "ware")], [(p, "x" * (n % 7), i) for n, (p, i) in enumerate(SOLD)]).encode(),
    ),
    "-dash.csv": ("./-dash.csv", text([HEADER], SOLD).encode()),
    "times.csv": (
        "--item ware",
        text([("uid", "at", "ware")], [(p, f"1.2.2024 10:{n}0", i) for n, (p, i) in enumerate(SOLD)]).encode(),
    ),
}


@each("name", list(FILES))
def test_the_command_of_peek_reads_every_row(
    name: str, run: Run, reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said, content = FILES[name]
    Path(name).write_bytes(content)
    peeked = reader.database.peek(name)
    assert peeked.problem is None and said in peeked.command
    words = shlex.split(peeked.command)
    loaded = words[3 : words.index("--algorithm")]
    done = run("load", "own.duckdb", "--transactions", words[2], *loaded, "--replace", "--json")
    assert done.code == 0, done.err
    assert (done.json["read"]["transactions"], done.json["read"]["items"]) == (len(HELD), 3)
    options = {name: value for name, value in peeked.reading.items() if name not in ("id", "item")}
    assert reader.load(Path(name), id=peeked.reading["id"], item=peeked.reading["item"], **options) == HELD


OF_COMMAS = {  # files with commas in the names of columns, what the command says of them, and the released values
    "people.csv": (
        """tid,"town, region",age\n""" + "".join(f"{n},{'YL'[n % 2]},{30 + n % 4 // 2}\n" for n in range(40)),
        """people.csv --layout people --quasi-identifiers '"town, region",age'""",
        'SELECT DISTINCT "town, region" FROM records',
        {"Y", "L"},
    ),
    "ticks.csv": (
        """customer,"milk, cold",a,b,note\n""" + "".join(f"{n},1,{n % 2},{n // 2 % 2},x{n % 3}\n" for n in range(40)),
        """--item '"milk, cold",a,b'""",
        "SELECT DISTINCT item FROM released_items",
        {"milk, cold", "a", "b"},
    ),
    "codes.csv": (
        """customer,"dx,1","dx,2","dx,3",note\n""" + "".join(f"{n},a,{'bc'[n % 2]},,x\n" for n in range(40)),
        """--item '"dx,*"'""",
        "SELECT DISTINCT item FROM released_items",
        {"a", "b", "c"},
    ),
}


@each("name", list(OF_COMMAS))
def test_names_with_commas_are_quoted(name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content, said, query, released = OF_COMMAS[name]
    Path(name).write_text(content)
    command = in_memory().peek(name).command
    assert said in command
    done = run(*shlex.split(command)[1:-1], f"{name}.duckdb", "--k", "2", "--m", "1")
    assert done.code == 0, done.err
    with duckdb.connect(f"{name}.duckdb", read_only=True) as sealed:
        assert {value for (value,) in sealed.execute(query).fetchall()} == released


def test_a_second_header_is_not_taken_for_data(tmp_path: Path) -> None:
    """Two tables in a file, which share the name of the id: a finding says so, whatever the number of persons."""
    path = tmp_path / "two.csv"
    path.write_text(text([HEADER], SOLD) + "\n" + text([("customer", "town")], [(person, "Ulm") for person, _ in SOLD]))
    peeked = in_memory().peek(path)
    assert "header" not in peeked.reading
    assert {finding.name for finding in peeked.findings} == {"header-in-items", "other-ids"}
    path.write_text(text([HEADER], SOLD, [("Total", "60")]))
    assert [finding.name for finding in in_memory().peek(path).findings] == ["other-ids"]


def test_an_empty_file_has_no_layout(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    peeked = in_memory().peek(tmp_path / "empty.csv")
    assert not peeked.reading and "empty" in str(peeked.problem)


@each(
    "value, said",
    [
        ("{n},5", True),
        ("{m}", True),
        ("{m}.5", True),
        ("0{n}.02.1961", True),
        ("{n}.5", False),
        ("t{n}", False),
        ("{n},5 kg", False),
    ],
)
def test_numbers_and_dates_in_other_forms_are_told(value: str, said: bool, tmp_path: Path) -> None:
    rows = [
        (person, item, value.format(n=int(person) % 3 + 1, m="NULL" if person == "30" else int(person) % 15))
        for person, item in SOLD
    ]
    (tmp_path / "t.csv").write_text(text([("tid", "item", "weight")], rows, mark=";"))
    promise = {"model": "kkm", "k": 2, "m": 1, "quasi_identifiers": "weight"}
    made = in_memory().anonymize(tmp_path / "t.csv", name="t", replace=True, queries=0, **promise)
    assert any("weight:numeric" in note for note in made.report.warnings) is said


SOURCE = "t.csv#skip=1#no-header"


@each("words", [("profile",), ("verify", "--k", "1", "--m", "1"), ("anonymize",), ("peek",)])
def test_a_source_says_behind_its_name_how_it_is_read(
    words: tuple[str, ...], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("hemlock\n" + text(SOLD))
    done = run(words[0], SOURCE, *words[1:], "--id", "column1", "--item", "column2", "--json")
    assert done.code == 0, done.err
    account = done.json["account" if words == ("peek",) else "read"]
    assert (account["rows"], account["transactions"], account["header"]) == (60, len(HELD), False)
    assert "'missing.csv' does not exist" in run(words[0], "missing.csv#skip=1").err


IDLE = {
    "profile t.csv#no-header=3 --id customer --item product": "--no-header takes no value. There are --delimiter",
    "profile t.csv#skip --id customer --item product": "--skip needs a value",
    "profile t.csv#no-skip --id customer --item product": "--no-skip is no option of reading a file",
    "profile t.csv#skp=1 --id customer --item product": "'#skp=1' says nothing",
    "load own.duckdb --transactions t.csv --drop-missing-ids": "--id and --item",
    "load own.duckdb --records t.csv --skip 1 --no-header": (
        "--no-header, --skip: this is about transactions, and there are none. "
        "Say it behind the name of the file that it is for, as in people.csv#skip=2"
    ),
    "load own.duckdb --taxonomy t.csv --as sales": "--as: this is about --transactions, and there is none. Name that file",
    "load own.duckdb --taxonomy t.csv --id customer": "--id: this is about --transactions or --records",
    "load own.duckdb --records t.csv --item-as product": "--item-as: this is about --transactions",
    "load own.duckdb --transactions t.csv --records-as people": "--records-as: this is about --records",
    "load own.duckdb --transactions t.csv --id-as person": "--id-as and --item-as: this is about the columns of persons",
    "anonymize t.csv --layout wide --id customer --item-separator ;": "about the layout list",
    "anonymize t.csv --layout basket --item-domains": "about the layout wide",
    "anonymize t.csv --id customer --item product --analysts ann --format parquet": "--format and --analysts need --publish",
    "anonymize t.csv --id customer --item product --allow-overlap": "--allow-overlap needs --publish",
}


@each("command", list(IDLE))
def test_options_that_would_do_nothing_are_refused(
    command: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(text([HEADER], SOLD))
    done = run(*command.split())
    assert done.code == 2 and IDLE[command] in done.err
