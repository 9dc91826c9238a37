"""Advice: what it chooses and never chooses, its steps, its words, and its errors."""

from __future__ import annotations

import json
import math
import random
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer
from cli.shop import Run as Call
from cli.shop import fill, in_process

import anondb
from anondb.cli import guide as commands
from anondb.compare import child
from anondb.compare.merits import deletes_most
from anondb.compare.runs import Result, Run, Setting, job_of
from anondb.engine import DuckDBEngine
from anondb.errors import AnondbError, BudgetExceeded, InfeasibleError, InputError
from anondb.guide import advise as advising
from anondb.guide import trials
from anondb.guide.advice_words import reasons
from anondb.guide.knowledge import Threat
from anondb.guide.needs import QUESTIONS, Needs, read_answer, said_of
from anondb.guide.trials import distinct, error, ranked
from anondb.options import flags_of


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Setting, Run]]:
    """Runs happen in this process, which is quicker, and are listed."""
    done: list[tuple[Setting, Run]] = []

    def run_one(setting: Setting, run: Run) -> Result:
        done.append((setting, run))
        assert stat.S_IMODE(Path(setting.source).parent.stat().st_mode) == 0o700
        try:
            figures = child.run(job_of(setting, run))
        except AnondbError as failure:
            status = "infeasible" if isinstance(failure, InfeasibleError) else "failed"
            return Result(run, status, str(failure), 1.0, 1.0, 1.0)
        return Result(run, "done", None, 1.0, 1.0, 1.0, figures)

    monkeypatch.setattr(trials, "run_one", run_one)
    monkeypatch.setattr(trials, "QUERIES", {1: 20, 2: 80})
    return done


def sparse(persons: int = 120, items: int = 30, length: int = 4, seed: int = 3) -> pd.DataFrame:
    """Baskets in which most pairs of items are rare, and a few items frequent."""
    rng = random.Random(seed)
    weights = [1 / (n + 1) for n in range(items)]
    rows = [(p, f"i{i}") for p in range(persons) for i in set(rng.choices(range(items), weights, k=length))]
    return pd.DataFrame(rows, columns=["tid", "item"]).astype({"tid": "int64", "item": "str"})


def tree(items: int = 30) -> pd.DataFrame:
    edges = [(f"i{n}", f"g{n // 5}") for n in range(items)] + [(f"g{n}", "all") for n in range(items // 5)]
    return pd.DataFrame([*edges, ("all", None)], columns=["node", "parent"])


def only(monkeypatch: pytest.MonkeyPatch, *algorithms: str) -> None:
    """Leave only these algorithms as candidates."""
    known = Needs.candidates
    few = lambda self, taxonomy: [r for r in known(self, taxonomy) if r.algorithm in algorithms]  # noqa: E731
    monkeypatch.setattr(Needs, "candidates", few)


@pytest.mark.slow
def test_suppression_does_not_make_an_error_small(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the usual error, the algorithm that deletes most items is best; advice is by another, and takes another."""
    only(monkeypatch, "mhghs", "coat", "mm")
    with anondb.connect() as db:
        advice = db.advise(sparse(), taxonomy=tree(), k=5, m=2)
    by_name = {r.run.algorithm: r for r in advice.on_whole if not trials.supported(r)}
    usual = {name: r.figures["average_relative_error"] for name, r in by_name.items()}
    assert min(usual, key=usual.__getitem__) == "mm"
    assert deletes_most(by_name["mm"]) and advice.chosen.run.algorithm != "mm"
    ours = {name: error(r) or 0.0 for name, r in by_name.items()}
    assert max(ours, key=ours.__getitem__) == "mm"
    assert any("most is deleted: mm" in reason for reason in advice.to_json()["reasons"])


def result(algorithm: str, relative: float, errors: Sequence[float], deleted: int, **options: Any) -> Result:
    kinds = ("items", "pairs")
    by_kind = [{"kind": n, "queries": 10, "error": e, "relative": e} for n, e in zip(kinds, errors, strict=False)]
    figures = {"average_relative_error": relative, "symmetric_errors": by_kind, "ncp": 0.1, "released_items": 5}
    figures |= {"items": 10, "suppressed_items": deleted, "suppressed_occurrences": deleted, "occurrences": 10}
    return Result(Run(algorithm, "km", {"k": 5, "m": 2}, options), "done", None, 1.0, 1.0, 1.0, figures)


def test_one_person_stands_and_two_persons_stand_alone() -> None:
    for alone, words in ((1, "1 of 200 persons (0.5 %) stands alone"), (2, "2 of 200 persons (1 %) stand alone")):
        chosen = result("coat", 0.1, (0.1, 0.2), 0)
        made = advising.Advice("sales", 200, Needs(), Threat(2, 9, alone), None, None, (), (chosen,), chosen, None, True, "")
        assert any(words in reason for reason in reasons(made))


def test_the_order_of_results() -> None:
    deleting, general = result("mm", 0.9, (0.5, 0.95), 4), result("mhghs", 3.0, (0.4, 0.8), 0)
    assert ranked([deleting, general]) == [general, deleting]
    most = result("mm", 0.1, (0.1, 0.1), 6)
    assert ranked([most, general]) == [general]
    near, supported = result("coat", 3.0, (0.4, 0.801), 0), result("mhghs", 3.0, (0.4, 0.799), 0, item_supports=True)
    assert ranked([supported, near, general]) == [general, near, supported]
    stopped = Result(general.run, "timeout", "It was stopped.", 1.0, 1.0, 1.0)
    assert ranked([stopped]) == [] and error(stopped) is None
    assert distinct([general, near, general]) == [general, near]


def test_symmetric_errors() -> None:
    rng, engine = random.Random(2), DuckDBEngine.open()
    rows = [(q, rng.randint(1, 3), rng.randint(0, 4), rng.choice((0.0, 1.5, 3.0, 9.0))) for q in range(40)]
    with engine.transaction():
        ids, name = [str(q) for q, *_ in rows], ["r: x"] * len(rows)
        columns = {"workload": ("VARCHAR", name), "query_id": ("VARCHAR", ids)}
        truth, guess = ("BIGINT", [t for _, _, t, _ in rows]), ("DOUBLE", [e for *_, e in rows])
        accuracy = engine.put("accuracy", {**columns, "truth": truth, "estimate": guess})
        items = [",".join("abc"[:size]) for _, size, _, _ in rows]
        flat = engine.put("flat", {**columns, "items": ("VARCHAR", items)})
        lists = engine.create("lists", _split(flat))
        tables = {"accuracy": accuracy, "workloads": lists}
        told = engine.query("compare/symmetric_errors", tables, prefix="r: ")
        assert len(engine.query("compare/symmetric_errors", tables, prefix="other")["size"]) == 0
    engine.close()
    naive: dict[int, list[float]] = {}
    relative: dict[int, list[float]] = {}
    for _, size, t, e in rows:
        if t:
            naive.setdefault(size, []).append(abs(t - e) / max(t, e))
            relative.setdefault(size, []).append(abs(t - e) / t)
    assert told["size"].tolist() == sorted(naive) and told["queries"].tolist() == [len(naive[s]) for s in sorted(naive)]
    for name, values in (("error", naive), ("relative", relative)):
        assert told[name].tolist() == pytest.approx([sum(values[s]) / len(values[s]) for s in sorted(values)])


def _split(flat: Any) -> Any:
    from sqlglot import exp

    items = exp.Anonymous(this="string_split", expressions=[exp.column("items"), exp.Literal.string(",")])
    return exp.select("workload", "query_id", items.as_("items")).from_(flat.expression())


@pytest.mark.slow
def test_a_sample_and_the_whole(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advising, "SAMPLE", 50)
    monkeypatch.setattr(advising, "FINALISTS", 1)
    only(monkeypatch, "mhghs", "coat")
    with anondb.connect() as db:
        frame = sparse()
        advice = db.advise(frame, taxonomy=tree(), k=3)
        assert db.engine.connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]
    assert (advice.sample, advice.sample_k) == (50, 2)
    assert {s.source.rsplit("/", 1)[1]: run.parameters["k"] for s, run in here} == {"sample.parquet": 2, "whole.parquet": 3}
    assert [r.figures["transactions"] for r in advice.on_sample] == [50, 50]
    assert {r.figures["transactions"] for r in advice.on_whole} == {120} and advice.is_tested
    assert advice.on_whole[0].run == ranked(advice.on_sample)[0].run
    assert [trials.supported(r) for r in advice.on_whole] == [False, True] and not trials.supported(advice.chosen)
    assert {s.workload for s, _ in here} == {
        f"{Path(s.source).parent}/{n}_queries.parquet" for s, _ in here for n in ("sample", "whole")
    }
    assert not Path(here[0][0].source).parent.exists()
    assert len({r.figures["asked"] for r in advice.on_whole}) == 1
    told = json.loads(json.dumps(advice.to_json()))
    assert told["advice"] == {
        "model": "km",
        "k": 3,
        "m": 2,
        "algorithm": advice.chosen.run.algorithm,
        "item_supports": False,
    }
    assert "runs on a sample of 50 persons" in repr(advice) and "<table" in advice._repr_html_()
    call = advice.command.replace("db.anonymize(DataFrame", "db.anonymize(frame").replace(
        "taxonomy=DataFrame", "taxonomy=tree()"
    )
    with anondb.connect() as db:
        made = eval(call, {"db": db, "frame": frame, "anondb": anondb, "math": math, "tree": tree})
    assert made.loss.ncp == pytest.approx(advice.chosen.figures["ncp"])


@pytest.mark.slow
def test_without_time_the_sample_decides(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advising, "SAMPLE", 50)
    only(monkeypatch, "coat")
    quick, sizes = trials.run_one, []

    def run_one(setting: Setting, run: Run) -> Result:
        sizes.append(Path(setting.source).stem)
        return quick(setting, run) if sizes[-1] == "sample" else Result(run, "timeout", "Stopped.", 1.0, 1.0, 1.0)

    monkeypatch.setattr(trials, "run_one", run_one)
    with anondb.connect() as db:
        advice = db.advise(sparse())
        assert not advice.is_tested and "rests on the sample" in repr(advice) and advice.next_best is None
        monkeypatch.setattr(trials, "run_one", lambda setting, run: Result(run, "timeout", "Stopped.", 1.0, 1.0, 1.0))
        with pytest.raises(BudgetExceeded, match="time_limit"):
            db.advise(sparse())
        with pytest.raises(BudgetExceeded, match="No run of 0 made"):
            db.advise(sparse(), time_limit=0)


@pytest.mark.slow
def test_item_supports_if_they_are_wanted(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "mhghs", "mm")
    with anondb.connect() as db:
        advice = db.advise(sparse(), taxonomy=tree(), item_supports=True)
    runs = [(r.run.algorithm, trials.supported(r)) for r in advice.on_whole]
    assert set(runs) == {("mhghs", True), ("mm", False), ("mhghs", False)}
    assert trials.supported(advice.chosen) and "item_supports=True" in advice.command
    assert advice.next_best is not None and not trials.supported(advice.next_best)


def test_refusals(here: Any) -> None:
    with anondb.connect() as db:
        for code, words in {
            "no_taxonomy": {"use": "categories"},
            "bad_parameter": {"use": "everything"},
            "unknown_item": {"taxonomy": tree(5)},
        }.items():
            with pytest.raises(InputError) as refused:
                db.advise(sparse(), **words)
            assert refused.value.code == code
        with pytest.raises(InputError, match="No person of"):
            db.advise(sparse(0))
        with pytest.raises(InfeasibleError, match="would delete most"):
            db.advise(sparse(), use="items", k=50)
    assert {run.algorithm for _, run in here} == {"mm"}


def test_needs() -> None:
    assert read_answer("m", " INF ") == math.inf and read_answer("k", "7") == 7 and read_answer("use", "Items") == "items"
    assert read_answer("item_supports", "y") is True and read_answer("item_supports", "No") is False
    for name, answer in (("m", "two"), ("k", "0"), ("use", "all"), ("item_supports", "perhaps")):
        with pytest.raises(InputError):
            read_answer(name, answer)
    runs = {r.algorithm: r for r in Needs(m=math.inf, item_supports=True).candidates("food")}
    assert flags_of(said_of(runs["similar"])) == ["--k", "5", "--m", "inf", "--algorithm", "similar"]
    assert flags_of(said_of(runs["partition"])) == [
        "--model",
        "k",
        "--k",
        "5",
        "--algorithm",
        "partition",
        "--item-supports",
    ]
    assert not runs["clump"].options["item_supports"] and not runs["mm"].options["item_supports"]
    (similar,) = (r for r in Needs().candidates(None) if r.algorithm == "similar")
    assert flags_of(said_of(similar))[-1] == "--no-item-supports"


def test_what_no_flag_says_is_asked_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter(["nonsense", "3", "2", "counts", "yes"])
    monkeypatch.setattr(typer, "prompt", lambda *_, **__: next(answers))
    assert commands._asked({}, tuple(QUESTIONS), True) == {"m": 3, "k": 2, "use": "counts", "item_supports": True}
    assert commands._asked({"k": 4}, tuple(QUESTIONS), False) == {"k": 4}
    said = capsys.readouterr().err
    assert "m must be an integer or inf" in said
    assert said.endswith("assumed: --m 2\nassumed: --use counts\nassumed: --no-item-supports\n")


@pytest.mark.slow
def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With a real process; the command that is advised makes the release."""
    monkeypatch.chdir(tmp_path)
    with anondb.connect("my shop.duckdb") as db:
        fill(db.engine.connection)
    call: Call = in_process(monkeypatch, capsys)
    words = shlex.split("advise 'my shop.duckdb' --transactions sales --taxonomy food --k 2 --m 1 --use items")
    done = call(*words, "--time-limit", 300, "--json")
    assert done.code == 0 and done.err == "assumed: --no-item-supports\n"
    told = done.json
    assert told["advice"]["algorithm"] == "mm" and told["on_whole"][0]["status"] == "done"
    assert told["command"] == "anondb anonymize 'my shop.duckdb' --transactions sales --k 2 --m 1 --algorithm mm"
    assert call(*shlex.split(told["command"])[1:]).code == 0
    assert call(*words, "--memory-limit", "lots", "--json").json["error"]["code"] == "bad_parameter"
    assert call("advise", tmp_path / "absent.csv").code == 2
