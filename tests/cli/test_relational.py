"""Relational and transaction data through the command line: Fig. 1a of Poulis et al. to the groups of Figs. 2c and 2d."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from realdata import DATA, needs
from typer.testing import CliRunner

from anondb.cli import program

PEOPLE = """tid,Name,Age,Origin,Gender
0,John,19,France,Male
1,Steve,22,Greece,Male
2,Mary,28,Germany,Female
3,Zoe,39,Spain,Female
4,Ann,70,Algeria,Female
5,Jim,55,Nigeria,Male
"""
BASKETS = {0: "EFBG", 1: "EFDH", 2: "BCEG", 3: "FDH", 4: "EG", 5: "AFH"}
ORIGIN = (
    "".join(f"{c};Europe;All\n" for c in ("France", "Greece", "Germany", "Spain"))
    + "Algeria;Africa;All\nNigeria;Africa;All\n"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("figure")
    (place / "people.csv").write_text(PEOPLE)
    (place / "baskets.csv").write_text("tid,item\n" + "".join(f"{t},{i}\n" for t, items in BASKETS.items() for i in items))
    (place / "sensitive.csv").write_text("item\nG\nH\n")
    (place / "trees").mkdir()
    (place / "trees" / "Origin.tree").write_text(ORIGIN)
    (place / "trees" / "Gender.tree").write_text("Male;All\nFemale;All\n")
    return place


def anonymize(place: Path, *extra: str) -> tuple[int, dict[str, Any]]:
    words = ["anonymize", str(place / "baskets.csv"), "--records", str(place / "people.csv"), "--quasi-identifiers"]
    words += ["Age,Origin,Gender", "--hierarchies", str(place / "trees"), "--sensitive", str(place / "sensitive.csv")]
    done = CliRunner().invoke(program(), [*words, "--k", "2", "--m", "2", "--json", *extra])
    return getattr(done.exception, "exit_code", done.exit_code), json.loads(done.stdout) if done.stdout else {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "delta", "rum", "groups"),
    [
        pytest.param(
            *("rum_bound_r", "0.65", "293/459", {("[19:39]", "Europe", "All"): 4, ("[55:70]", "Africa", "All"): 2}),
            marks=pytest.mark.nightly,
        ),
        ("rum_bound_t", "0.8", "13/17", {("[19:70]", "All", "All"): 4, ("[28:39]", "Europe", "Female"): 2}),
    ],
    ids=["Fig. 2c", "Fig. 2d"],
)
def test_figures(place: Path, algorithm: str, delta: str, rum: str, groups: dict[tuple[str, ...], int]) -> None:
    sealed = place / f"{algorithm}.duckdb"
    code, report = anonymize(
        place, "--model", "kkm", "--algorithm", algorithm, "--delta", delta, "--release", "figure", "--publish", str(sealed)
    )
    assert code == 0
    assert report["verified"] and report["violations"] == 0
    assert report["relational"]["rum"] == rum
    with duckdb.connect(str(sealed), read_only=True) as reader:
        found = reader.execute("SELECT Age, Origin, Gender, count(*) FROM records GROUP BY ALL").fetchall()
        assert {tuple(row[:3]): row[3] for row in found} == groups
        columns = [row[0] for row in reader.execute("DESCRIBE records").fetchall()]
        assert columns == ["transaction_id", "Age", "Age_lo", "Age_hi", "Origin", "Gender"]  # no Name
        low, _, high = reader.execute("FROM count_bounds(['F'], age := [50, 60], origin := ['Nigeria'])").fetchall()[0]
        assert low <= 1 <= high
    done = CliRunner().invoke(program(), ["verify", str(sealed), "--json"])
    assert json.loads(done.stdout)["verified"]
    stricter = CliRunner().invoke(program(), ["verify", str(sealed), "--k", "3", "--json", "--witnesses", "9"])
    assert json.loads(stricter.stdout)["violations"] > 0


@pytest.mark.slow
def test_diversity_and_a_bound_that_cannot_be_met(place: Path) -> None:
    sealed = place / "klm.duckdb"
    code, report = anonymize(place, "--model", "klm", "--l", "2", "--delta", "1", "--release", "d", "--publish", str(sealed))
    assert code == 0
    assert report["model"] == {"name": "klm", "k": 2, "l": 2, "m": 2}
    assert report["verified"]
    code, _ = anonymize(place, "--model", "kkm", "--delta", "0.1")
    assert code == 3


def test_plain_tables_are_checked(place: Path, tmp_path: Path) -> None:
    """The original is not (2,2^2)-anonymous; the rows of Fig. 2a are, with the sensitive items out of sight."""
    words = ["--model", "kkm", "--k", "2", "--m", "2", "--records", str(place / "people.csv"), "--json", "--witnesses", "1"]
    words += ["--quasi-identifiers", "Age,Origin,Gender", "--sensitive", str(place / "sensitive.csv")]
    done = CliRunner().invoke(program(), ["verify", str(place / "baskets.csv"), *words])
    found = json.loads(done.stdout)
    assert getattr(done.exception, "code", done.exit_code) == 4
    assert found["violations"] == 6 and found["witnesses"] == [{"items": [], "support": 1}]
    rows = {0: ("E", "F", "BD", "G"), 1: ("E", "F", "BD", "H"), 2: ("BCF", "DE", "G"), 3: ("BCF", "DE", "H")}
    rows |= {4: ("AEF", "G"), 5: ("AEF", "H")}
    (tmp_path / "held.csv").write_text("tid,item\n" + "".join(f"{t},{i}\n" for t, items in rows.items() for i in items))
    values = ["[19:22],Europe,Male", "[28:39],Europe,Female", "[55:70],Africa,All"]
    people = "".join(f"{t},{values[t // 2]}\n" for t in rows)
    (tmp_path / "people.csv").write_text("tid,Age,Origin,Gender\n" + people)
    words[words.index("--records") + 1] = str(tmp_path / "people.csv")
    done = CliRunner().invoke(program(), ["verify", str(tmp_path / "held.csv"), *words])
    assert json.loads(done.stdout)["verified"]
    del words[-2:]
    done = CliRunner().invoke(program(), ["verify", str(tmp_path / "held.csv"), *words])
    assert (
        json.loads(done.stdout)["violations"] == 6
    )  # G and H, one record each, three times (docs/algorithms/rum_tum_bound.md#r1)
    model = ["--model", "klm", "--l", "2", *words[2:], "--sensitive", str(place / "sensitive.csv")]
    done = CliRunner().invoke(program(), ["verify", str(tmp_path / "held.csv"), *model])
    assert json.loads(done.stdout)["verified"]


@pytest.mark.slow
def test_weights_change_the_loss(place: Path, tmp_path: Path) -> None:
    """With all weight on Gender, three men and three women of Fig. 1a are clusters that lose nothing."""
    (tmp_path / "weights.csv").write_text("attribute,weight\nAge,0\norigin,0\nGender,1\n")
    weights = ["--weights", str(tmp_path / "weights.csv")]
    code, report = anonymize(place, "--model", "kkm", "--k", "3", "--delta", "0", *weights, "--release", "w")
    assert (code, report["relational"]["rum"]) == (0, "0")
    assert anonymize(place, "--model", "kkm", "--k", "3", "--delta", "0", "--release", "w")[0] == 3
    with duckdb.connect(str(tmp_path / "own.duckdb")) as own:
        for name in ("people", "baskets", "sensitive"):
            own.execute(f"CREATE TABLE {name} AS FROM read_csv('{place / name}.csv', all_varchar = true)")
        own.execute(f"CREATE TABLE weights AS FROM '{tmp_path / 'weights.csv'}'")
    (tmp_path / "view.sql").write_text(
        "CREATE ANONYMIZED VIEW w AS SELECT tid, item FROM baskets WITH (model = 'kkm', k = 3, m = 2, delta = 0,"
        " records = 'people', quasi_identifiers = 'Age,Origin:categorical,Gender', weights = 'weights',"
        " sensitive = 'sensitive')"
    )
    done = CliRunner().invoke(program(), ["run", str(tmp_path / "own.duckdb"), str(tmp_path / "view.sql")])
    assert done.exit_code == 0, done.output


@pytest.mark.slow
@needs("informs2005_rt.csv", "icd9.tree")
@pytest.mark.parametrize("items", [pytest.param("sets", marks=pytest.mark.nightly), "subtrees"])
def test_diagnoses_of_patients(tmp_path: Path, items: str) -> None:
    """INFORMS with the ICD-9 tree: released, verified, and asked by year of birth and diagnosis in a plain DuckDB client."""
    own = tmp_path / "informs.duckdb"
    with duckdb.connect(str(own)) as connection:
        source = f"read_csv('{DATA / 'informs2005_rt.csv'}')"
        connection.execute(f"CREATE TABLE people AS SELECT * EXCLUDE items FROM {source}")
        connection.execute(
            f"CREATE TABLE diagnoses AS SELECT DUPERSID, unnest(string_split(items, ' ')) AS item FROM {source}"
        )
        asked = "SELECT count(*) FROM people SEMI JOIN diagnoses USING (DUPERSID) WHERE DOBYY BETWEEN 1940 AND 1960"
        truth = connection.execute(asked.replace("diagnoses", "(FROM diagnoses WHERE item = '250') d")).fetchall()[0][0]
    words = ["anonymize", str(own), "--transactions", "diagnoses", "--id", "DUPERSID", "--records", "people"]
    words += [
        "--quasi-identifiers",
        "DOBYY,EDUCYEAR,income,RACEX:categorical,SEX:categorical",
        "--model",
        "kkm",
        "--k",
        "25",
    ]
    words += ["--taxonomy", str(DATA / "icd9.tree"), "--option", f"items={items}", "--accept", "one-released-item"]
    words += ["--release", "r", "--publish", str(tmp_path / "r.duckdb"), "--json"]
    report = json.loads(CliRunner().invoke(program(), words).stdout)
    assert report["verified"] and report["relational"]["suppressed_clusters"] == 0
    assert any("became the root" in words for words in report["warnings"]) == (items == "subtrees")
    for command in ("verify", "inspect"):
        assert CliRunner().invoke(program(), [command, str(tmp_path / "r.duckdb")]).exit_code == 0
    with duckdb.connect(str(tmp_path / "r.duckdb"), read_only=True) as reader:
        low, estimate, high = reader.execute("FROM count_bounds(['250'], DOBYY := [1940, 1960])").fetchall()[0]
        assert low <= truth <= high and low <= estimate <= high and truth == 983
