"""Relational and transaction data through the command line: Fig. 1a of Poulis et al. to the groups of Figs. 2c and 2d."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from anondb.cli.app import app

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
    (place / "baskets.csv").write_text(
        "tid,item\n" + "".join(f"{t},{i}\n" for t, items in BASKETS.items() for i in items)
    )
    (place / "sensitive.csv").write_text("item\nG\nH\n")
    (place / "trees").mkdir()
    (place / "trees" / "Origin.tree").write_text(ORIGIN)
    (place / "trees" / "Gender.tree").write_text("Male;All\nFemale;All\n")
    return place


def anonymize(place: Path, *extra: str) -> tuple[int, dict[str, Any]]:
    words = ["anonymize", str(place / "baskets.csv"), "--records", str(place / "people.csv"), "--quasi-identifiers"]
    words += ["Age,Origin,Gender", "--hierarchies", str(place / "trees"), "--sensitive", str(place / "sensitive.csv")]
    done = CliRunner().invoke(app, [*words, "--k", "2", "--m", "2", "--json", *extra])
    return getattr(done.exception, "exit_code", done.exit_code), json.loads(done.stdout) if done.stdout else {}


@pytest.mark.parametrize(
    ("algorithm", "delta", "rum", "groups"),
    [
        ("rum_bound_r", "0.65", "293/459", {("[19:39]", "Europe", "All"): 4, ("[55:70]", "Africa", "All"): 2}),
        ("rum_bound_t", "0.8", "13/17", {("[19:70]", "All", "All"): 4, ("[28:39]", "Europe", "Female"): 2}),
    ],
    ids=["Fig. 2c", "Fig. 2d"],
)
def test_figures(place: Path, algorithm: str, delta: str, rum: str, groups: dict[tuple[str, ...], int]) -> None:
    sealed = place / f"{algorithm}.duckdb"
    code, report = anonymize(
        place,
        "--model",
        "kkm",
        "--algorithm",
        algorithm,
        "--delta",
        delta,
        "--release",
        "figure",
        "--publish",
        str(sealed),
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
    done = CliRunner().invoke(app, ["verify", str(sealed), "--json"])
    assert json.loads(done.stdout)["verified"]
    stricter = CliRunner().invoke(app, ["verify", str(sealed), "--k", "3", "--json", "--witnesses", "9"])
    assert json.loads(stricter.stdout)["violations"] > 0


def test_diversity_and_a_bound_that_cannot_be_met(place: Path) -> None:
    sealed = place / "klm.duckdb"
    code, report = anonymize(
        place, "--model", "klm", "--l", "2", "--delta", "1", "--release", "d", "--publish", str(sealed)
    )
    assert code == 0
    assert report["model"] == {"name": "klm", "k": 2, "l": 2, "m": 2}
    assert report["verified"]
    code, _ = anonymize(place, "--model", "kkm", "--delta", "0.1")
    assert code == 3
