"""A table of people alone: k-anonymity of its attributes, by the layout ``people``."""

from __future__ import annotations

import csv
import json
import shlex
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from cli.shop import Run

import anondb

PEOPLE = [(f"p{n:02d}", 20 + n * 7 % 40, "FM"[n % 2], f"T{n % 3}") for n in range(60)]
WORDS = ["--layout", "people", "--id", "patient", "--quasi-identifiers", "age,sex", "--model", "kkm", "--k", "4"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("patient", "age", "sex", "town"), *PEOPLE])
    return path


@pytest.mark.slow
def test_a_file_of_people_is_released_checked_and_asked(people: Path, tmp_path: Path, run: Run) -> None:
    sealed = tmp_path / "release.duckdb"
    made = run("anonymize", str(people), *WORDS, "--publish", str(sealed), "--json").json
    assert made["verified"] and made["transactions"] == 60 and made["items"] == 0
    assert made["read"]["rows"] == 60 and made["read_beside"] == []  # the file is told once
    assert made["relational"]["accuracy"]["queries"] > 0  # counts of values, though nobody has items
    assert made["loss"]["ncp"] < 0.3 and made["relational"]["clusters"] > 4  # nothing is given up for items
    assert run("verify", str(sealed)).code == run("inspect", str(sealed)).code == 0
    with duckdb.connect(str(sealed), read_only=True) as reader:
        rows = reader.sql("SELECT age, sex FROM records").fetchall()
    assert min(Counter(rows).values()) >= 4  # k-anonymity of the attributes, by its definition
    with anondb.open(sealed) as session:
        by_sex = session.sql("SELECT sex, count(*) FROM people WHERE age >= 40 GROUP BY sex").fetchall()
        assert session.sql("SELECT count(*) FROM people").fetchall() == [(60.0, 60, 60)]
    truth = Counter(sex for _, age, sex, _ in PEOPLE if age >= 40)
    assert all(lower <= truth[sex] <= upper and lower <= estimate <= upper for sex, estimate, lower, upper in by_sex)
    assert {sex for sex, *_ in by_sex} >= set(truth)


def test_the_original_is_checked_and_profiled_alike(people: Path, run: Run) -> None:
    classes = Counter((age, sex) for _, age, sex, _ in PEOPLE)
    checked = run("verify", str(people), *WORDS, "--json")
    assert checked.code == 4 and checked.json["violations"] == sum(n < 4 for n in classes.values())
    words = ["--layout", "people", "--id", "patient", "--records", str(people), "--quasi-identifiers", "age,sex"]
    known = json.loads(run("profile", str(people), *words, "--json").out)["people"]["alone"]
    assert known[0] == sum(n == 1 for n in classes.values())


@pytest.mark.slow
def test_peek_tells_a_table_of_people_and_prints_a_command_that_runs(people: Path, run: Run) -> None:
    found = run("peek", str(people), "--json").json
    assert found["reading"]["layout"] == "people" and found["persons"][0]["items"] == ["age 20", "sex F", "town T0"]
    assert {c["name"]: c["role"] for c in found["columns"]} == dict.fromkeys(("age", "sex", "town"), "quasi-identifier")
    assert run(*shlex.split(found["command"])[1:-2], "--json").json["verified"]
    assert "--quasi-identifiers age,sex,town" in run("peek", str(people)).out


@pytest.mark.slow
def test_a_table_keeps_its_ledger(people: Path, run: Run, tmp_path: Path) -> None:
    with anondb.connect(tmp_path / "hospital.duckdb") as db:
        db.sql(f"CREATE TABLE people AS FROM '{people}'")
        release = db.anonymize(
            "people",
            id="patient",
            layout="people",
            model=anondb.KkmAnonymity(k=4),
            quasi_identifiers="age,sex",
            name="spring",
        )
        assert release.verification.verified
        release.publish(tmp_path / "spring.duckdb")
    of_spring = [str(tmp_path / "hospital.duckdb"), "--release", "spring"]
    assert run("report", *of_spring).code == run("attack", *of_spring).code == 0


@pytest.mark.parametrize(
    "words, says",
    [
        (["--model", "km"], "--model kkm with --quasi-identifiers"),
        (["--model", "kkm"], "--quasi-identifiers A,B"),
        (["--model", "kkm", "--quasi-identifiers", "age", "--item", "sex"], "nobody has items"),
        (["--model", "klm", "--quasi-identifiers", "age", "--sensitive", "none.txt"], "--sensitive"),
    ],
)
def test_what_needs_items_is_refused_with_the_way(people: Path, run: Run, words: list[str], says: str) -> None:
    refused = run("anonymize", str(people), "--layout", "people", "--id", "patient", *words)
    assert refused.code == 2 and says in refused.err


@pytest.mark.slow
@pytest.mark.parametrize("where", ["file", "table"])
def test_compare_asks_about_attributes_where_nobody_has_items(people: Path, run: Run, tmp_path: Path, where: str) -> None:
    source = [str(people)]
    if where == "table":
        with anondb.connect(tmp_path / "hospital.duckdb") as db:
            db.sql(f"CREATE TABLE people AS FROM '{people}'")
        source = [str(tmp_path / "hospital.duckdb"), "--transactions", "people"]
    words = ["--layout", "people", "--id", "patient", "--quasi-identifiers", "age,sex", "--model", "kkm", "--json"]
    by_sex = "SELECT sex, count(*) FROM people WHERE age > 30 GROUP BY sex"
    (own := tmp_path / "log.sql").write_text(f"{by_sex}; SELECT count(*) FROM records")
    found = run("compare", *source, *words, "--k", "4,20").json
    few, many = found["runs"]  # by one algorithm: without items all make the same release
    assert (few["status"], few["algorithm"], few["refused"]) == ("done", "rum_bound_rt", [])
    assert few["queries"] == many["queries"] == 4 + 2  # ranges of the ages, and both sexes
    assert few["ncp"] < many["ncp"] and 0 < few["relative_error"]["mean"] < 1
    assert "An attacker who knows the attributes of a person" in found["recommended"][0]["reason"]
    (asked,) = run("compare", *source, *words, "--k", "4", "--workload", str(own)).json["runs"]
    assert (asked["status"], asked["queries"], asked["skipped"]) == ("done", 3, 0)


@pytest.mark.slow
def test_advice_for_people_alone_is_a_command_that_runs(people: Path, run: Run) -> None:
    words = ["--layout", "people", "--id", "patient", "--k", "4", "--time-limit", "600"]
    told = run("advise", str(people), *words)
    assert "age, sex, town (proposed: you know what others know) finds none or at least 4" in " ".join(told.out.split())
    assert "without items is 4-anonymity" in " ".join(told.out.split())
    assert "delta" not in told.out and "item" not in told.err  # neither plays a part
    assert run(*shlex.split(told.out.splitlines()[-1])[1:-2], "--json").json["verified"]
    with anondb.connect() as db:
        found = db.advise(str(people), layout="people", id="patient", k=4, time_limit=600)
        (only,) = found.on_whole
        assert {row["kind"] for row in only.figures["symmetric_errors"]} == {"attributes", "ranges"} and not found.on_sample
        made = eval(found.command, {"db": db, "anondb": anondb})
        assert made.verification.verified


def test_a_profile_of_people_says_nothing_of_items(people: Path, run: Run) -> None:
    found = run("profile", str(people), "--layout", "people", "--id", "patient", "--json").json
    classes = Counter((age, sex, town) for _, age, sex, town in PEOPLE)
    assert found["people"]["alone"] == [sum(n == 1 for n in classes.values())]
    assert [cost["algorithm"] for cost in found["estimates"]] == ["rum_bound_rt"]
    assert "known items" not in run("profile", str(people), "--layout", "people", "--id", "patient").out
