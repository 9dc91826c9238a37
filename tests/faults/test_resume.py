"""``anonymize --resume``: what is kept after a kill, what the next run does, and when kept work is thrown away."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from portions import some

import anondb
from anondb.engine import DuckDBEngine
from anondb.engine.telling import StepDone
from anondb.ledger.stored import current_catalog
from anondb.ledger.unfinished import Unfinished

ITEMS = [f"i{n}" for n in range(12)]
MODELS: dict[str, dict[str, Any]] = {
    "mhghs": {"model": anondb.KmAnonymity(3, 2), "taxonomy": "food"},
    "lra": {"model": anondb.KmAnonymity(3, 2), "taxonomy": "food", "algorithm": "lra"},
    "similar": {"model": anondb.KmAnonymity(3, 2), "algorithm": "similar"},
    "coat": {"model": anondb.KmAnonymity(3, 2), "algorithm": "coat"},
    "clump": {"model": anondb.TransactionalK(3), "taxonomy": "food", "algorithm": "clump", "bag_input": True},
    "kkm": {"model": anondb.KkmAnonymity(3, 1), "records": "people", "quasi_identifiers": "age,town"},
    "anatomy": {"model": anondb.Anatomy(2), "columns": 2},
}


def shop(place: Path, rows: int = 60) -> Path:
    draw = random.Random(7)
    sales = [(tid, item) for tid in range(rows) for item in draw.sample(ITEMS, draw.randint(1, 4))]
    food = [("all", None), ("x", "all"), ("y", "all"), *((item, "xy"[n % 2]) for n, item in enumerate(ITEMS))]
    with duckdb.connect(str(place)) as owner:
        owner.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        owner.executemany("INSERT INTO sales VALUES (?, ?)", sales)
        owner.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        owner.executemany("INSERT INTO food VALUES (?, ?)", food)
        owner.execute("CREATE TABLE people AS SELECT i AS tid, 20 + i % 9 AS age, 't' || i % 3 AS town FROM range(60) t(i)")
    return place


def run(place: Path, seen: list[StepDone] | None = None, **options: Any) -> list[str]:
    """Anonymize with ``resume``, and return the rows of the release in a form that does not depend on its numbers."""
    with anondb.connect(place) as database:
        assert isinstance(database.engine, DuckDBEngine)
        database.engine.on_step = None if seen is None else seen.append
        database.anonymize("sales", name="r", queries=5, replace=True, resume=True, **options)
    return released(place)


def released(place: Path) -> list[str]:
    with duckdb.connect(str(place), read_only=True) as reader:
        names = [
            r[0] for r in reader.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'release_r'").fetchall()
        ]
        if "buckets" in names:
            found = reader.execute("SELECT bucket_id, column_id, items, copies FROM release_r.buckets").fetchall()
            buckets: dict[Any, list[str]] = {}
            for bucket, column, items, copies in found:
                buckets.setdefault(bucket, []).append(repr((column, sorted(items), copies)))
            return sorted(repr(sorted(rows)) for rows in buckets.values())
        joined = "FROM release_r.baskets JOIN release_r.transaction_ids USING (transaction_id)"
        joined += " JOIN release_r.records USING (transaction_id)" * ("records" in names)
        rows = reader.sql(f"SELECT * {joined}").to_arrow_table().to_pylist()
        return sorted(repr({name: value for name, value in row.items() if name != "transaction_id"}) for row in rows)


def kept(place: Path) -> set[str]:
    with duckdb.connect(str(place), read_only=True) as reader:
        rows = "SELECT step FROM anondb_work.steps" if "anondb_work" in schemas(reader) else "SELECT '' LIMIT 0"
        return {r[0] for r in reader.execute(rows).fetchall()}


def schemas(reader: duckdb.DuckDBPyConnection) -> set[str]:
    return {r[0] for r in reader.execute("SELECT schema_name FROM duckdb_schemas() WHERE NOT internal").fetchall()}


def stopped(place: Path, at: str, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """An error in the step ``at``."""

    def stop(*_: Any, **__: Any) -> None:
        raise RuntimeError("stopped")

    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="stopped"):
        patched.setattr(f"anondb.pipeline.anonymize.{at}", stop)
        run(place, **options)


def resumed(seen: list[StepDone]) -> list[str]:
    return [done.step for done in seen if done.resumed]


CASES = [(name, at) for name in MODELS for at in ("recode", "freeze")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "at"), some(CASES, *CASES[::5], check=(), ids="-".join))
def test_goes_on_to_the_same_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, at: str) -> None:
    place, options = shop(tmp_path / "shop.duckdb"), MODELS[name]
    with anondb.connect(place) as database:
        database.anonymize("sales", name="r", queries=5, **options)
    whole, steps = released(place), ["load"] if at == "recode" else ["load", "anonymize"]
    stopped(place, at, monkeypatch, **options)
    assert kept(place) == set(steps)
    seen: list[StepDone] = []
    assert run(place, seen, **options) == whole and resumed(seen) == steps
    with duckdb.connect(str(place), read_only=True) as reader:
        assert "anondb_work" not in schemas(reader)


KILLED = """
import os, signal, sys
import anondb.pipeline.anonymize
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(anondb.pipeline.anonymize, sys.argv.pop(1), die)
from anondb.__main__ import console
console()
"""


def command(place: Path, *more: object) -> list[str]:
    words = ("anonymize", place, "--transactions", "sales", "--taxonomy", "food", "--k", 3, "--queries", 5)
    return [*map(str, words), "--release", "r", "--replace", "--resume", *map(str, more)]


@pytest.mark.slow
@pytest.mark.parametrize("at", [pytest.param("recode", marks=pytest.mark.nightly), "_verified"])
def test_after_a_kill(tmp_path: Path, at: str) -> None:
    place, log = shop(tmp_path / "shop.duckdb"), tmp_path / "log.jsonl"
    whole = run(place, model=anondb.KmAnonymity(3, 2), taxonomy="food")
    steps = ["load"] if at == "recode" else ["load", "anonymize"]
    killed = subprocess.run([sys.executable, "-c", KILLED, at, *command(place)], capture_output=True, check=False)
    assert killed.returncode == -9 and kept(place) == set(steps)
    done = subprocess.run([sys.executable, "-m", "anondb", *command(place, "--log-file", log)], check=False)
    assert done.returncode == 0 and released(place) == whole and kept(place) == set()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["step"] for line in lines if line.get("resumed")] == steps


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(60))
def test_killed_at_any_moment(tmp_path: Path, seed: int) -> None:
    place, draw = shop(tmp_path / "shop.duckdb"), random.Random(seed)
    whole = run(place, model=anondb.KmAnonymity(3, 2), taxonomy="food")
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-m", "anondb", *command(place, "--quiet")])
        time.sleep(draw.uniform(0.2, 2.5))
        process.kill()
        process.wait()
    assert subprocess.run([sys.executable, "-m", "anondb", *command(place, "--quiet")], check=False).returncode == 0
    assert released(place) == whole and kept(place) == set()


CHANGES = {
    "a row more": ("INSERT INTO sales VALUES (1000, 'i0')", {}, []),
    "another item": ("UPDATE sales SET item = 'i3' WHERE tid = 5 AND item <> 'i3'", {}, []),
    "another type": ("ALTER TABLE sales ALTER tid TYPE BIGINT", {}, []),
    "another taxonomy": ("UPDATE food SET parent = 'x' WHERE node = 'i1'", {}, ["load"]),
    "other k": ("SELECT 1", {"model": anondb.KmAnonymity(4, 2)}, ["load"]),
    "other algorithm": ("SELECT 1", {"algorithm": "apriori"}, ["load"]),
    "another limit": ("SELECT 1", {"max_suppression": 50}, ["load"]),
    "other queries": ("SELECT 1", {"size": 1}, ["load", "anonymize"]),
    "other order of rows": ("CREATE OR REPLACE TABLE sales AS FROM sales ORDER BY item DESC", {}, ["load", "anonymize"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", some(CHANGES, *list(CHANGES)[1::4], check=()))
def test_stale_work_is_thrown_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    statement, more, steps = CHANGES[change]
    place, options = shop(tmp_path / "shop.duckdb"), MODELS["mhghs"]
    stopped(place, "freeze", monkeypatch, **options)
    with duckdb.connect(str(place)) as owner:
        owner.execute(statement)
    seen: list[StepDone] = []
    made = run(place, seen, **options | more)
    assert resumed(seen) == steps and kept(place) == set()
    with anondb.connect(place) as database:
        database.anonymize("sales", name="r", queries=5, replace=True, **options | more)
    assert released(place) == made


@pytest.mark.slow
def test_a_run_without_it_sweeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = shop(tmp_path / "shop.duckdb")
    stopped(place, "freeze", monkeypatch, **MODELS["mhghs"])
    with anondb.connect(place) as database:
        from anondb.cli.app import only_table

        assert only_table(database, "tid", "item") == f'"{current_catalog(database.engine)}"."main"."sales"'
        database.anonymize("sales", name="r", queries=0)
    assert kept(place) == set()


def test_refused(tmp_path: Path) -> None:
    place = shop(tmp_path / "shop.duckdb")
    np.savetxt(tmp_path / "s.dat", np.arange(12).reshape(4, 3), fmt="%d")
    with duckdb.connect(str(place)) as owner:
        owner.execute("CREATE SCHEMA anondb_work; CREATE TABLE anondb_work.steps_of_mine AS SELECT 1 AS i")
        owner.execute("CREATE TABLE anondb_work.mine AS SELECT 1 AS i")
    with anondb.connect(place) as database:
        with pytest.raises(anondb.InputError, match="has tables that are not anondb's"):
            database.anonymize("sales", name="r", queries=0, resume=True)
        Unfinished(database.engine, current_catalog(database.engine)).sweep()
        assert database.sql("FROM anondb_work.mine").fetchall() == [(1,)]  # type: ignore[union-attr]
    refused = pytest.raises(anondb.InputError, match="Unfinished work is kept in a DuckDB file")
    with anondb.connect(":memory:", one_shot=True) as database, refused:
        database.anonymize(tmp_path / "s.dat", resume=True)


@pytest.mark.slow
def test_a_time_limit_keeps_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = shop(tmp_path / "shop.duckdb")
    with monkeypatch.context() as patched, pytest.raises(anondb.BudgetExceeded, match="are kept for resume=True"):
        patched.setattr("anondb.pipeline.anonymize.recode", lambda *_: time.sleep(3) or [0 for _ in range(10**9)])
        run(place, time_limit=2, **MODELS["mhghs"])
    assert kept(place) == {"load"}
