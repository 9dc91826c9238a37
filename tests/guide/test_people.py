"""The profile of people with attributes: its counts against naive ones, roles, hierarchies, its three forms."""

from __future__ import annotations

import json
import random
import shlex
from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from cli.shop import Run
from each import each

import anondb
from anondb.compare import child
from anondb.compare.runs import Result, Setting, job_of
from anondb.compare.runs import Run as Planned
from anondb.errors import InfeasibleError, InputError
from anondb.guide import people_trials, trials
from anondb.guide.people import role_of
from anondb.release import numbering, objects


def alone(knowledge: list[Iterable[Hashable]]) -> int:
    """The persons of whom some piece of knowledge fits nobody else."""
    fitting = Counter(piece for pieces in knowledge for piece in set(pieces))
    return sum(any(fitting[piece] == 1 for piece in pieces) for pieces in knowledge)


@pytest.mark.slow
def test_counts_are_those_of_naive_attackers() -> None:
    rng = random.Random(5)
    with anondb.connect() as db:
        for n in (1, 2, 9, 40, 80):
            baskets = [frozenset(i for i in "abcdef" if rng.random() < 0.4) for _ in range(n)]
            people = [(rng.choice([None, 1, 2, 3, 4]), rng.choice("MF"), rng.choice(["x", "y", None])) for _ in range(n)]
            rows = [(t, i) for t, basket in enumerate(baskets) for i in sorted(basket)] or [(0, "a")]
            baskets[0] |= frozenset(i for t, i in rows if t == 0)
            items = pd.DataFrame(rows, columns=["tid", "item"])
            records = pd.DataFrame(people, columns=["age", "sex", "town"]).astype({"age": "Int64"})
            records["tid"] = range(n)
            hidden = rng.choice([None, ["a"], ["a", "b", "none"]])
            told = db.profile(items, records=records, quasi_identifiers="age,sex,town", sensitive=hidden).people
            assert told is not None and told.quasi_identifiers == ("age", "sex", "town") and not told.proposed
            for m in range(3):
                known = [basket - set(hidden or ()) for basket in baskets]
                sets = [[s for size in range(m + 1) for s in combinations(sorted(b), size)] for b in known]
                pieces = [[(person, s) for s in of] for person, of in zip(people, sets, strict=True)]
                assert told.alone[m] == alone(pieces), (n, m)
            assert told.classes == len(set(people))
            for column in told.columns:
                at = ["age", "sex", "town"].index(column.name)
                assert column.values == len({p[at] for p in people} - {None})
                assert column.alone == alone([[p[at]] for p in people])
                assert column.without == alone([[p[:at] + p[at + 1 :]] for p in people])
            ranked = [(c.without, -(c.alone or 0)) for c in told.columns]
            assert ranked == sorted(ranked)


ROLES: list[tuple[tuple[str, str, int, int], str]] = [  # name, type, present, values: of 1,000 persons
    (("surname", "VARCHAR", 1000, 800), "identifier"),
    (("eMail", "VARCHAR", 1000, 1000), "identifier"),
    (("code", "VARCHAR", 1000, 990), "identifier"),
    (("number", "BIGINT", 900, 900), "identifier"),
    (("birthDate", "DATE", 1000, 990), "quasi-identifier"),
    (("seen", "TIMESTAMP", 1000, 1000), "quasi-identifier"),
    (("AGE", "INTEGER", 1000, 80), "quasi-identifier"),
    (("home_zip", "VARCHAR", 1000, 700), "quasi-identifier"),
    (("ward", "VARCHAR", 1000, 9), "quasi-identifier"),
    (("main_diagnosis", "VARCHAR", 1000, 40), "sensitive"),
    (("income", "INTEGER", 1000, 900), "sensitive"),
    (("weight", "DOUBLE", 1000, 999), "other"),
    (("note", "VARCHAR", 1000, 500), "other"),
    (("zip", "VARCHAR", 1000, 1), "other"),
    (("nothing", "VARCHAR", 0, 0), "other"),
    (("package", "VARCHAR", 1000, 300), "other"),  # not an age
]


@each("case", ROLES)
def test_roles_have_reasons(case: tuple[tuple[str, str, int, int], str]) -> None:
    (name, kind, present, values), role = case
    proposed, why = role_of(name, kind, 1000, present, values)
    assert proposed == role and why


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    with anondb.connect(tmp_path / "clinic.duckdb") as db:
        db.sql("CREATE TABLE visits AS SELECT i % 50 AS tid, 'c' || i % 7 AS item FROM range(200) t(i)")
        db.sql(
            "CREATE TABLE people AS SELECT i AS tid, 'n' || i AS surname, i % 40 AS age,"
            " DATE '2001-01-01' + INTERVAL (i % 9) MONTH AS seen, i / 3 AS weight, [i] AS odd FROM range(50) t(i)"
        )
    return tmp_path / "clinic.duckdb"


@pytest.mark.slow
def test_text_json_and_page(clinic: Path, run: Run, tmp_path: Path) -> None:
    page = tmp_path / "profile.html"
    words = ("profile", clinic, "--transactions", "visits", "--records", "people")
    told: Any = run(*words, "--json", "--html", page).json["people"]
    assert told["proposed"] and told["quasi_identifiers"] == ["age", "seen"]
    columns = {c["name"]: c for c in told["columns"]}
    assert {n: c["role"] for n, c in columns.items()} == {
        "surname": "identifier", "age": "quasi-identifier", "seen": "quasi-identifier", "weight": "other", "odd": "other",
    }  # fmt: skip
    assert columns["age"]["hierarchy"].startswith("by bands") and columns["seen"]["hierarchy"] == "by dates"
    assert columns["surname"]["hierarchy"] is None and columns["odd"]["values"] is None
    text = run(*words).out
    assert "quasi-identifiers (proposed): age, seen" in text and len(text.splitlines()) < 50
    assert "columns of the records" in page.read_text("utf-8")
    with anondb.connect(clinic, read_only=True) as db:
        profile = db.profile("visits", records="people")
        assert json.loads(json.dumps(profile.to_json()))["people"] == told
        assert "columns of the records" in repr(profile) and "proposed role" in profile._repr_html_()
        assert db.profile("visits").people is None


def test_hierarchies_are_checked(clinic: Path, run: Run, tmp_path: Path) -> None:
    trees = f"{tmp_path}/trees/"
    run("hierarchy", "build", clinic, "--records", "people", "--attribute", "age", "--to", trees)
    (tmp_path / "trees" / "seen.tree").write_text("2001;all\n", "utf-8")
    words = ("profile", clinic, "--transactions", "visits", "--records", "people", "--hierarchies", trees, "--json")
    told = {c["name"]: c["hierarchy"] for c in run(*words).json["people"]["columns"]}
    assert told["age"] == "fits" and told["seen"].startswith("does not fit")


def test_attributes_in_the_table_of_items(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text("tid,item,town,day\n1,a,Cork,1\n1,b,Cork,2\n2,a,Cork,1\n3,c,Dublin,3\n", "utf-8")
    told = run("profile", file, "--quasi-identifiers", "town", "--json")
    assert told.code == 0 and told.json["people"]["alone"] == [1, 2, 2]
    varying = run("profile", file, "--quasi-identifiers", "day")
    assert varying.code == 2 and "different values" in varying.err


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Runs happen in this process, which is quicker; their figures are listed with the questions."""
    done: list[dict[str, Any]] = []

    def run_one(setting: Setting, asked: Planned) -> Result:
        try:
            figures = child.run(job_of(setting, asked))
        except InfeasibleError as error:
            return Result(asked, "infeasible", str(error), 1.0, 1.0, 1.0)
        log = Path(str(setting.log)).read_text("utf-8")
        done.append({**figures, "k": asked.parameters["k"], "log": log, "delta": asked.options["delta"]})
        return Result(asked, "done", None, 1.0, 1.0, 1.0, figures)

    monkeypatch.setattr(trials, "run_one", run_one)
    monkeypatch.setattr(trials, "QUERIES", {1: 5, 2: 10})
    monkeypatch.setattr(people_trials, "TRIED", (("rum_bound_rt", "1"), ("tum_bound_rt", "0.9")))
    return done


@pytest.mark.slow
def test_advice_tries_delta_and_names_a_command_that_runs(clinic: Path, run: Run, here: Any) -> None:
    words = ("advise", clinic, "--transactions", "visits", "--records", "people", "--k", 3, "--m", 1, "--time-limit", 600)
    told = run(*words, "--json").json
    runs = {(r["algorithm"], r["delta"]): r["error"] for r in told["on_whole"]}
    assert len(runs) == 2 and told["is_tested"] and all(not figures["refused"] for figures in here)
    least = min(runs.values())
    advised = told["advice"]
    assert runs[advised["algorithm"], advised["delta"]] == pytest.approx(least, abs=0.01)
    assert (advised["model"], advised["k"], advised["m"]) == ("kkm", 3, 1)
    why = " ".join(told["reasons"])
    assert f"{told['people']['alone'][1]} of 50 persons" in why and "delta says how much of the" in why
    kinds = {row["kind"]: row for row in told["on_whole"][0]["symmetric_errors"]}
    assert list(kinds) == ["ranges", "both", "items", "pairs"] and kinds["ranges"]["queries"] == 8
    assert told["on_whole"][0]["error"] == pytest.approx(sum(row["error"] for row in kinds.values()) / 4)
    program, *command = shlex.split(told["command"])
    assert program == "anondb" and f"--delta {advised['delta']}" in told["command"]
    assert run(*command, "--release", "r").code == 0
    with anondb.connect(clinic) as db:
        assert db.release("r").verification.verified
        ncp = next(
            r["ncp"]
            for r in told["on_whole"]
            if (r["algorithm"], r["delta"]) == tuple(advised[name] for name in ("algorithm", "delta"))
        )
        assert db.release("r").loss.ncp == pytest.approx(ncp)
    for more in (("--use", "items"), ("--quasi-identifiers", "ago"), ("--item-supports",)):
        assert run(*words, *more).code == 2


@pytest.mark.slow
def test_errors_of_advice_are_those_of_sessions(clinic: Path, here: Any, monkeypatch: Any) -> None:
    """By hand: the questions asked of the release, and of the original."""
    monkeypatch.setattr(people_trials, "TRIED", (("rum_bound_rt", "1"),))
    monkeypatch.setattr(objects, "secrets", SimpleNamespace(token_hex=lambda n: "ab" * n))
    monkeypatch.setattr(numbering, "os", SimpleNamespace(urandom=bytes))
    with anondb.connect(clinic) as db:
        advice = db.advise("visits", records="people", quasi_identifiers="age", k=3, m=1, time_limit=600)
        db.sql("CREATE VIEW held AS FROM visits")
        options: Any = {"records": "people", "quasi_identifiers": "age", "delta": 1, "name": "r"}
        made = db.anonymize("held", model=anondb.KkmAnonymity(k=3, m=1), **options)
        by_kind: dict[str, list[float]] = {"ranges": [], "both": []}
        for statement in here[0]["log"].rstrip(";\n").split(";\n"):
            *groups, n = zip(*db.sql(statement).fetchall(), strict=True)
            truth = dict(zip(groups[0] if groups else [""], n, strict=True))
            told = made.query(statement)
            at = told.columns.index("n")
            guess = {row[0] if groups else "": row[at] for row in told.fetchall()}
            errors = [abs(t - guess[key]) / max(t, guess[key]) for key, t in truth.items()]
            by_kind["both" if groups else "ranges"].append(sum(errors) / len(errors))
    result = next(r for r in advice.on_whole if r.run.options["delta"] == "1")
    found = {row["kind"]: row["error"] for row in result.figures["symmetric_errors"]}
    for kind, errors in by_kind.items():
        assert found[kind] == pytest.approx(sum(errors) / len(errors), abs=1e-9)


@pytest.mark.slow
def test_advice_on_a_sample_with_sensitive_items_and_hierarchies(clinic: Path, here: Any, monkeypatch: Any) -> None:
    """Sources of all kinds reach the runs, also in other names of columns; the connection is as it was."""
    monkeypatch.setattr(people_trials, "SAMPLE", 25)
    monkeypatch.setattr(people_trials, "TRIED", (("rum_bound_rt", "1"),))
    with anondb.connect() as db:
        db.sql("CREATE TABLE v AS SELECT i % 60 AS p, 'c' || i % 7 AS code FROM range(240) t(i)")
        people = db.sql(
            "SELECT i AS p, i % 40 AS item, chr(CAST(65 + i % 3 AS INTEGER)) AS town, i % 10 AS tid FROM range(60) t(i)"
        ).df()
        trees = {"town": pd.DataFrame([("A", "all"), ("B", "all"), ("C", "all")], columns=["node", "parent"])}
        options: Any = {"records": people, "quasi_identifiers": "tid,town", "hierarchies": trees, "sensitive": ["c1"]}
        options["taxonomy"] = pd.DataFrame(
            [(f"c{i}", f"g{i % 2}") for i in range(7)] + [("g0", "all"), ("g1", "all")], columns=["node", "parent"]
        )
        advice = db.advise("v", id="p", item="code", k=6, m=1, time_limit=600, **options)
        names = db.sql("SELECT database_name FROM duckdb_databases()").fetchall()
        assert sorted(names) == [("memory",), ("system",), ("temp",)]
        assert db.sql("SELECT count(*) FROM duckdb_tables()").fetchall() == [(1,)]
    assert (advice.sample, advice.sample_k) == (25, 3) and {figures["k"] for figures in here} == {3, 6}
    assert {figures["transactions"] for figures in here} == {25, 60}
    told = json.loads(json.dumps(advice.to_json()))
    assert told["advice"]["model"] == "klm" and told["advice"]["delta"] == advice.chosen.run.options["delta"]
    assert "tid" in repr(advice) and "<table" in advice._repr_html_() and "attributes" in repr(advice)
    assert "quasi_identifiers='tid,town'" in advice.command and "delta=" in advice.command


def test_attributes_that_cannot_be_are_refused(clinic: Path, run: Run) -> None:
    visits = run(
        "advise", clinic, "--transactions", "people", "--id", "tid", "--item", "surname", "--quasi-identifiers", "odd"
    )
    assert visits.code == 2  # a list is no attribute


@pytest.mark.slow
def test_bad_input_is_refused(clinic: Path) -> None:
    with anondb.connect(clinic, read_only=True) as db:
        for words, code in (
            ({"quasi_identifiers": "ago"}, "no_such_column"),
            ({"quasi_identifiers": "age,age"}, "bad_usage"),
            ({"quasi_identifiers": "age,tid"}, "direct_identifier"),
            ({"quasi_identifiers": "odd"}, "bad_type"),
            ({"hierarchies": "nowhere"}, "no_such_table"),
            ({"sensitive": [1]}, "bad_type"),
        ):
            with pytest.raises(InputError) as refused:
                db.profile("visits", records="people", **words)
            assert refused.value.code == code, words
