"""Files beside the transactions are read as these: in the encoding that is named, with its delimiter where they have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cli.shop import Run
from each import each
from files.loading import flags, in_memory

COLUMNS = {"id": "Patient", "item": "Diagnose"}
PEOPLE = {"quasi_identifiers": "Ort", "model": "kkm", "k": 2, "m": 1}


def written(folder: Path, encoding: str, delimiter: str, *, of: str = "latin-1") -> dict[str, str]:
    """Transactions with a delimiter in an encoding, records with it in ``of``, and a taxonomy with commas in UTF-8."""
    d, towns = delimiter, ("Köln", "Düren")
    files = {
        "visits.csv": (encoding, [f"Patient{d}Diagnose", *(f"p{n}{d}Äü{n % 2}" for n in range(20))]),
        "people.csv": (of, [f"Patient{d}Ort", *(f"p{n}{d}{towns[n % 2]}" for n in range(20))]),
        "tree.csv": ("utf-8", ["node,parent", "Äü0,Übel", "Äü1,Übel"]),
    }
    for name, (written_in, lines) in files.items():
        (folder / name).write_text("\n".join(lines) + "\n", written_in)
    return {name.partition(".")[0]: str(folder / name) for name in files}


def read_of(shown: dict[str, Any]) -> dict[str, str]:
    """The encoding of each file that was read."""
    return {account["file"]: account["encoding"] for account in (shown["read"], *shown["read_beside"])}


@each("how", [("latin-1", ";"), ("utf-8", ";"), ("latin-1", "^")])
def test_the_encoding_that_is_named_holds_for_all_files(how: tuple[str, str], run: Run, tmp_path: Path) -> None:
    encoding, delimiter = how
    files = written(tmp_path, encoding, delimiter)
    said = [*flags(COLUMNS), "--encoding", "latin-1", "--delimiter", delimiter]
    beside = ["--records", files["people"], "--taxonomy", files["tree"]]
    encodings = {"visits.csv": encoding, "people.csv": "latin-1", "tree.csv": "utf-8"}
    assert read_of(run("profile", files["visits"], *said, *beside, "--json").json) == encodings
    names = ["--as", "visits", "--taxonomy-as", "tree", "--records-as", "people"]
    shop = str(tmp_path / "shop.duckdb")
    loaded = run("load", shop, "--transactions", files["visits"], *names, *said, *beside, "--replace", "--json").json
    assert read_of(loaded) == encodings
    release = [*beside[:2], *flags(PEOPLE), "--queries", "1", "--json"]
    assert read_of(run("anonymize", files["visits"], *said, *release).json) == {n: encodings[n] for n in list(encodings)[:2]}
    checked = run("taxonomy", "check", files["visits"], *said, *beside[2:], "--json").json
    assert checked["fits"]


def test_the_file_that_a_table_was_loaded_from_stands_beside_others(run: Run, tmp_path: Path) -> None:
    files, shop = written(tmp_path, "utf-8", ",", of="utf-8"), tmp_path / "shop.duckdb"
    assert run("load", shop, "--transactions", files["visits"], "--as", "visits", *flags(COLUMNS)).code == 0
    made = ("anonymize", shop, "--transactions", "visits", "--k", "2", "--m", "1", "--queries", "1", "--json")
    beside = ("--taxonomy", files["tree"], "--release", "beside")
    assert set(read_of(run(*made, *beside).json)) == {"visits.csv", "tree.csv"}


def test_a_file_says_behind_its_name_how_it_is_read(run: Run, tmp_path: Path) -> None:
    """On the command line, in Python and in a policy file; what it does not say is as for the transactions."""
    files = written(tmp_path, "latin-1", ";")
    for name, above in (("visits", ""), ("people", "hemlock;\n\n"), ("tree", "hemlock\n")):
        path = Path(files[name])
        path.write_bytes(above.encode() + path.read_bytes())
    people, tree = files["people"] + "#skip=2", files["tree"] + "#skip=1#delimiter=,"
    said = [*flags(COLUMNS), "--encoding", "latin-1", "--json"]
    for words in (["--records", files["people"]], ["--taxonomy", files["tree"]]):
        refused = run("profile", files["visits"], *said, *words)
        assert refused.code == 2 and "#skip=" in refused.err and "hemlock" not in refused.err
    profile = run("profile", files["visits"], *said, "--records", people, "--taxonomy", tree).json
    encodings = {"visits.csv": "latin-1", "people.csv": "latin-1", "tree.csv": "utf-8"}
    assert read_of(profile) == encodings
    assert in_memory().profile(files["visits"], **COLUMNS, encoding="latin-1", records=people).persons == 20
    policy = tmp_path / "policy.toml"
    policy.write_text("""
source = "own.duckdb"
[load]
transactions = "visits.csv"
transactions_as = "visits"
id = "Patient"
item = "Diagnose"
records = "people.csv#skip=2"
encoding = "latin-1"
[release.r]
transactions = "visits"
taxonomy = "tree.csv#skip=1"
k = 2
m = 1
accept = "one-item"
""")
    assert run("run", policy).code == 0
    assert "nothing was done" in run("run", policy).out
    wrong = run("profile", files["visits"], *said, "--records", files["people"] + "#skip=two")
    assert wrong.code == 2 and wrong.json["error"]["code"] == "bad_parameter"
    assert run("profile", files["visits"], *said, "--records", files["people"] + "#k=2").json["error"]["code"] != "bad_usage"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["compare", pytest.param("advise", marks=pytest.mark.nightly)])
def test_the_encoding_that_is_named_holds_in_other_processes(command: str, run: Run, tmp_path: Path) -> None:
    files = written(tmp_path, "utf-8", "^")
    said = [*flags(COLUMNS), "--encoding", "latin-1", "--delimiter", "^", "--records", files["people"]]
    more = ["--algorithms", "rum_bound_r", "--model", "kkm"] if command == "compare" else ["--time-limit", "30"]
    shown = run(command, files["visits"], *said, "--quasi-identifiers", "Ort", "--k", "2", "--m", "1", *more, "--json").json
    runs = shown["runs"] if command == "compare" else shown["on_whole"]
    assert "done" in (statuses := {result["status"] for result in runs}) and "failed" not in statuses


def test_a_table_may_have_a_text_file_beside_it(tmp_path: Path) -> None:
    written(tmp_path, "utf-8", ";")
    table = pa.table({"Patient": [f"p{n}" for n in range(20)], "Diagnose": ["Äü"] * 20})
    profile = in_memory().profile(table, **COLUMNS, records=tmp_path / "people.csv", encoding="latin-1")
    assert [account.encoding for account in profile.read] == ["latin-1"]


def test_several_bytes_for_a_letter_leave_doubt(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("tid,item\n1,盲\n2,盲\n", "gbk")
    path.read_text("utf-8")  # it happens to be valid
    (account,) = in_memory().profile(path, encoding="gbk").read
    assert account.encoding == "gbk"


def test_utf_16_is_told_from_utf_8(tmp_path: Path) -> None:
    transactions, tree = tmp_path / "t.csv", tmp_path / "tree.csv"
    transactions.write_text("tid,item\n1,a\n2,b\n", "utf-16-le")
    tree.write_text("node,parent\na,root\nb,root\n")
    profile = in_memory().profile(transactions, taxonomy=tree, encoding="utf-16-le")
    assert profile.taxonomy is not None and profile.taxonomy.fits
    assert [account.encoding for account in profile.read] == ["utf-16-le", "utf-8"]
