"""Unattended runs: --log-file, --quiet and --time-limit, and progress on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cli.shop import Outcome, Run, fill, state_of
from portions import some
from sqlglot import parse_one

import anondb
from anondb.algorithms import METHODS
from anondb.engine.telling import Progress

MARK = "Zebra"  # in every value of the data
SALES = ("--transactions", "sales", "--taxonomy", "food", "--k", 2, "--queries", 5)
STEPS = ["load", "anonymize", "freeze", "verify", "accuracy"]


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """A shop in which every id and every item has the mark."""
    place = tmp_path / "marked.duckdb"
    with duckdb.connect(str(place)) as connection:
        fill(connection)
        connection.execute("ALTER TABLE sales ALTER tid TYPE VARCHAR")
        connection.execute(f"UPDATE sales SET tid = tid || '{MARK}', item = item || '{MARK}'")
        connection.execute(f"UPDATE food SET node = node || '{MARK}', parent = parent || '{MARK}'")
        connection.execute(f"CREATE TABLE more AS FROM sales UNION ALL SELECT '9{MARK}', 'unknown {MARK}'")
    return place


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_a_log_has_steps_and_no_data(run: Run, marked: Path, tmp_path: Path) -> None:
    log, sealed = tmp_path / "night.jsonl", tmp_path / "sealed.duckdb"
    words = ("anonymize", marked, *SALES, "--release", "spring", "--log-file", log)
    assert run(*words, "--publish", sealed).code == 0
    start, *steps, end = lines_of(log)
    assert (start["event"], start["command"], start["version"]) == ("start", "anonymize", anondb.__version__)
    assert [s["step"] for s in steps] == [*STEPS, "publish"] and {s["release"] for s in steps} == {"spring"}
    assert steps[0]["counts"] == {"transactions": 6, "items": 4, "occurrences": 12}
    counts = {name: number for step in steps for name, number in step["counts"].items()}
    assert counts.items() >= {"released_items": 3, "suppressed_items": 0, "violations": 0, "queries": 5}.items()
    assert (end["event"], end["exit_code"]) == ("done", 0) and end["seconds"] >= sum(s["seconds"] for s in steps)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", line["time"]) for line in lines_of(log))
    assert stat.S_IMODE(log.stat().st_mode) == 0o600

    toml = tmp_path / "anondb.toml"
    toml.write_text(f"source = 'marked.duckdb'\nlog_file = '{log}'\n[release.r]\ntransactions = 'more'\ntaxonomy = 'food'")
    failures: tuple[tuple[tuple[object, ...], str], ...] = (
        ((*words[:2], "--transactions", "more", "--taxonomy", "food", *words[-2:]), "unknown_item"),
        ((*words[:-4], "--release", "new", *words[-2:], "--time-limit", "0.001"), "time_limit"),
        (("anonymize", tmp_path / "no.duckdb", *words[-2:]), "no_such_file"),
        (("publish", marked, "--release", "none", "--to", tmp_path / "new.duckdb", *words[-2:]), "no_such_release"),
        (("run", toml), "unknown_item"),
    )
    for command, code in failures:
        failed = run(*command)
        last = lines_of(log)[-1]
        assert (last["event"], last["code"], last["exit_code"]) == ("error", code, failed.code)
        assert last["command"] == command[0] and failed.err.strip().endswith(last["message"])
    assert MARK not in log.read_text("utf-8")


def test_a_log_that_cannot_be_written(run: Run, shop: Path) -> None:
    before = state_of(shop)
    refused = run("anonymize", shop, *SALES, "--release", "r", "--log-file", shop.parent / "no" / "log", "--json")
    assert refused.code == 2 and refused.json["error"]["code"] == "unwritable" and state_of(shop) == before


@pytest.mark.slow
def test_a_database_has_its_policies(run: Run, shop: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.sql"
    options = "k = 2, taxonomy = 'food', queries = 5"
    policy.write_text(f"CREATE ANONYMIZED VIEW v AS SELECT tid, item FROM sales WITH ({options});")
    assert run("run", shop, policy).code == 0
    for changed in (False, True, False):
        if changed:
            with duckdb.connect(str(shop)) as connection:
                connection.execute("INSERT INTO sales VALUES (7, 'a'), (7, 'b'), (8, 'a'), (8, 'b')")
        (result,) = run("run", shop, "--json").json["results"]
        assert [view["changed"] for view in result["result"]["views"]] == [changed]
    assert run("run", tmp_path / "sales.csv").code == 2


@pytest.mark.slow
def test_quiet(run: Run, shop: Path, tmp_path: Path) -> None:
    assert run("anonymize", shop, *SALES, "--release", "r", "--quiet") == Outcome(0, "", "")
    policy = tmp_path / "policy.sql"
    policy.write_text("SHOW ANONYMIZED VIEWS; SELECT 1")
    assert run("run", shop, policy, "--quiet") == Outcome(0, "", "")
    failed = run("anonymize", shop, "--transactions", "nothing", "--quiet")
    assert failed.code == 2 and failed.err.startswith("anondb: There is no table")


@pytest.mark.slow
def test_time_limit(run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state_of(shop)
    monkeypatch.setattr("anondb.pipeline.anonymize.check_constraints", long_work)
    stopped = run("anonymize", shop, *SALES, "--release", "late", "--time-limit", 1, "--json")
    assert stopped.code == 5 and stopped.json["error"]["code"] == "time_limit"
    assert "Raise --time-limit" in stopped.err and state_of(shop) == before
    with anondb.connect(shop) as database:
        with pytest.raises(anondb.BudgetExceeded, match=r"nothing was kept\. Raise time_limit"):
            database.anonymize("sales", name="late", time_limit=0.5)
        with pytest.raises(anondb.BudgetExceeded, match="Raise the option time_limit"):
            database.sql("CREATE ANONYMIZED VIEW late AS FROM sales WITH (k = 2, time_limit = 0.5)")
        with pytest.raises(anondb.InputError, match="time_limit must be a number of seconds"):
            database.anonymize("sales", name="late", time_limit=0)


LONG = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT max(i) FROM n"


def long_work(engine: Any, *_: Any, **__: Any) -> Any:
    return engine.select(parse_one(LONG, dialect="duckdb"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "at",
    some(
        ["pipeline.load.load_taxonomy", "publications.overlap.earlier", "publications.overlap.measure"],
        "publications.overlap.measure",
        check=(),
    ),
)
def test_the_time_limit_of_a_view_that_is_published(shop: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    make = "ANONYMIZED VIEW late AS FROM sales WITH (k = 2, queries = 1, taxonomy = 'food', time_limit = 0.7, "
    make += f"allow_overlap = true, publish = '{shop.parent / 'late.duckdb'}')"
    with anondb.connect(shop) as database:
        with monkeypatch.context() as patched, pytest.raises(anondb.BudgetExceeded, match="nothing was kept"):
            patched.setattr(f"anondb.{at}", long_work)
            database.sql(f"CREATE {make}")
        assert [entry.name for entry in database.releases()] == ["old"]
        assert not (shop.parent / "late.duckdb").exists()
        database.sql(f"CREATE {make.replace('0.7', '60')}")
        database.sql("INSERT INTO sales VALUES (99, 'a')")
        (made,) = (entry.release_id for entry in database.releases() if entry.name == "late")
        view = "anondb.ledger.ledger.View.time_limit"
        with monkeypatch.context() as patched, pytest.raises(anondb.BudgetExceeded, match="nothing was kept"):
            patched.setattr(view, 0.7)
            patched.setattr(f"anondb.{at}", long_work)
            database.sql("REFRESH ANONYMIZED VIEW late")
        assert made in [entry.release_id for entry in database.releases()]


@pytest.mark.nightly
def test_the_time_limit_and_the_mode_of_a_partitioned_view(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with anondb.connect(shop) as database:
        database.sql("CREATE TABLE visits AS SELECT tid + 10 * w AS tid, item, w FROM sales, range(2) t(w)")
        words = "CREATE ANONYMIZED VIEW {} AS FROM visits WITH (k = 2, queries = 1, taxonomy = 'food', partition_by = 'w', "
        refused = pytest.raises(anondb.BudgetExceeded, match="the releases of earlier values are kept")
        with monkeypatch.context() as patched, refused:
            patched.setattr("anondb.pipeline.load.load_taxonomy", long_work)
            database.sql(words.format("late") + "time_limit = 0.7)")
        assert [entry.name for entry in database.releases()] == ["old"]
        database.sql(words.format("open") + f"publish = '{shop.parent / 'weeks'}', mode = '0644')")
    assert [stat.S_IMODE(file.stat().st_mode) for file in (shop.parent / "weeks").iterdir()] == [0o644, 0o644]


@pytest.mark.slow
def test_progress_on_a_terminal(shop: Path) -> None:
    main, side = pty.openpty()
    command = [sys.executable, "-m", "anondb", "anonymize", str(shop), *map(str, SALES), "--release", "r"]
    place = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    done = subprocess.Popen([*command, "--algorithm", "similar"], env=place, stdout=subprocess.DEVNULL, stderr=side)
    os.close(side)
    seen = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:
            break
        seen += part
        if not part:
            break
    os.close(main)
    assert done.wait(60) == 0
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert "step 1 of 5, loading transactions" in shown and "step 5 of 5, measuring accuracy" in shown


WORK = {
    "similar": "groups of items",
    "coat": "groups of items",
    "apriori": "sets of 2 items",
    "lra": "chunk 2 of 2, sets of 2 items",
    "vpa": "part 1 of 2, sets of 1 items",
    "mm": "deleting items",
}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", WORK)
def test_steps_and_shares_of_progress(shop: Path, algorithm: str) -> None:
    said: list[Progress] = []
    tree = {} if METHODS[algorithm].needs == () else {"taxonomy": "food"}
    with anondb.connect(shop, on_progress=said.append) as database:  # type: ignore[arg-type]
        database.sql("CREATE TABLE twice AS SELECT tid + 10 * n AS tid, item FROM sales, range(2) t(n)")
        database.anonymize("twice", model=anondb.KmAnonymity(3, 2), algorithm=algorithm, name="r", queries=1, **tree)
    assert all(re.match(r"step (\d) of 5", words) for words in said)
    at_work: dict[str, list[float]] = {}
    for words in said:
        if words.share is not None:
            at_work.setdefault(re.sub(r"[\d,]+ groups", "groups", words), []).append(words.share)
    assert any(words.endswith(WORK[algorithm]) for words in at_work)
    for shares in at_work.values():
        assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1


def test_shares_of_the_parts_of_a_check(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Progress] = []
    monkeypatch.setattr("anondb.verify.work.CHUNK_ROWS", 2)
    with anondb.connect(shop, on_progress=said.append) as database:  # type: ignore[arg-type]
        database.verify("sales", model=anondb.KmAnonymity(2, 2))
    shares = [words.share for words in said if words == "counting pairs of items" or "sets of 2 items" in words]
    assert len(shares) > 1 and shares == [i / len(shares) for i in range(len(shares))]


def test_hints_for_a_first_command(run: Run, shop: Path) -> None:
    file = run("load", shop, "sales.csv")
    assert file.code == 2 and "such as --transactions FILE" in file.err
    table = run("profile", shop, "--transactions", "sale")
    assert table.code == 2 and "Did you mean 'sales'?" in table.err
    missing = run("profile", shop.parent / "none.duckdb")
    assert missing.code == 2 and "anondb load makes a database from files" in missing.err
