"""Every command as a user runs it: exit codes, what goes to stdout and stderr, JSON, and what is left behind."""

from __future__ import annotations

import hashlib
import json
import math
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pandas as pd
import pytest
from cli.shop import BASKETS, EDGES, RELEASED, Outcome, Run, baskets, state_of
from portions import some
from realdata import DATA, needs
from reference_expected import expected_count, expected_holders

import anondb
from anondb.__main__ import interrupt, on_interrupt
from anondb.engine import DuckDBEngine
from anondb.ledger import ledger
from anondb.pipeline import anonymize as pipeline

COMMANDS = ("anonymize", "verify", "accuracy", "publish", "releases", "load", "demo")
SMALL = ("--k", 2, "--m", 2, "--queries", 20)


def anonymize(run: Run, shop: Path, *words: object) -> Outcome:
    return run("anonymize", shop, "--transactions", "sales", "--taxonomy", "food", *SMALL, *words)


def process(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "anondb", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)


def left(directory: Path) -> set[str]:
    return {p.name for p in directory.iterdir()}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The shop as data files of every format."""
    place = tmp_path / "files"
    place.mkdir()
    number = {"a": 1, "b": 2, "c": 3, "d": 4}
    (place / "s.dat").write_text("".join(" ".join(str(number[i]) for i in b) + "\n" for b in BASKETS.values()))
    (place / "s.tree").write_text("1;X;*\n2;X;*\n3;Y;*\n4;Y;*\n")
    rows = pd.DataFrame([(t, i) for t, b in BASKETS.items() for i in b], columns=["tid", "item"])
    rows.to_csv(place / "s.csv", index=False)
    rows.to_parquet(place / "s.parquet", index=False)
    pd.DataFrame(EDGES, columns=["node", "parent"]).to_csv(place / "food.csv", index=False)
    return place


# ---------------------------------------------------------------------- help and version


def test_version_and_help_go_to_stdout(run: Run) -> None:
    assert run("--version") == Outcome(0, f"anondb {anondb.__version__}\n", "")
    found = run("--help")
    assert (found.code, found.err) == (0, "") and all(c in found.out for c in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command(run: Run, command: str) -> None:
    found = run(command, "--help")
    assert (found.code, found.err) == (0, "") and "--json" in found.out


def test_anonymize_has_the_options_of_this_version(run: Run) -> None:
    text = run("anonymize", "--help").out
    for option in (
        *("transactions", "id", "item", "taxonomy", "records", "model", "k", "m", "algorithm", "max-suppression"),
        *("release", "publish", "seed", "threads", "memory-limit", "json", "show-sql", "replace", "workload"),
    ):
        assert f"--{option}" in text


def test_help_is_quick() -> None:
    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert process("anonymize", "--help").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(3)) < 0.3


@pytest.mark.parametrize(
    "words",
    [(), ("nonsense",), ("anonymize",), ("anonymize", "x", "--k", "2.5"), ("publish", "x"), ("verify", "x", "--no")],
    ids=str,
)
def test_bad_usage(run: Run, words: tuple[str, ...]) -> None:
    found = run(*words)
    assert (found.code, found.out) == (2, "") and "Usage" in found.err
    asked = run(*words, "--json")
    assert asked.code == 2 and asked.json["error"]["code"] == "bad_usage"


# ---------------------------------------------------------------------- anonymize

FIGURES: dict[str, type | tuple[type, ...]] = {
    "release": str,
    "model": dict,
    "algorithm": str,
    "transactions": int,
    "items": int,
    "verified": bool,
    "violations": int,
    "suppressed_items": int,
    "suppressed_occurrences": int,
    "released_items": int,
    "loss": dict,
    "accuracy": dict,
    "seconds": dict,
    "published": (str, type(None)),
}


def check_report(report: dict[str, Any]) -> None:
    """The keys and types of the contract."""
    for key, kind in FIGURES.items():
        assert isinstance(report[key], kind), key
    loss, accuracy = report["loss"], report["accuracy"]
    assert loss.keys() >= {"lm_total", "lm", "ncp", "ul", "ul_log2", "ggd"}
    assert isinstance(loss["lm_total"], str) and 0 <= loss["lm"] <= 1 and 0 <= loss["ncp"] <= 1
    assert (loss["ul"], loss["ul_log2"], loss["ggd"]) == (None, None, None)
    assert (report["constraints"], report["relational"]) == (None, None)  # nothing of the kind was stated
    assert isinstance(accuracy["queries"], int) and isinstance(accuracy["skipped"], int)
    assert accuracy["size"] is None or isinstance(accuracy["size"], int)
    error = accuracy["average_relative_error"]
    assert error is None or isinstance(error, float)
    figures = {"mean", "median", "mean_frequent", "median_frequent", "always_zero", "median_truth", "width"}
    assert set(accuracy["relative_error"]) == figures and (accuracy["relative_error"]["mean"] is None) == (error is None)
    assert all(value is None or isinstance(value, float) for value in accuracy["relative_error"].values())
    assert accuracy["frequent"]["truth_from"] == report["model"]["k"] and isinstance(report["occurrences"], int)
    assert report["seconds"].keys() >= {"load", "anonymize", "verify", "accuracy", "publish", "total"}
    assert all(isinstance(s, float) and s >= 0 for s in report["seconds"].values())


@pytest.mark.slow
def test_anonymize_a_database(run: Run, shop: Path) -> None:
    sealed = shop.parent / "sealed.duckdb"
    found = anonymize(run, shop, "--release", "spring", "--publish", sealed, "--json")
    report = found.json
    check_report(report)
    assert found.code == 0 and found.err == ""
    assert (report["release"], report["model"]) == ("spring", {"name": "km", "k": 2, "m": 2})
    assert (report["algorithm"], report["transactions"], report["items"]) == ("mhghs", 6, 4)
    assert (report["verified"], report["violations"], report["released_items"]) == (True, 0, 3)
    assert (report["suppressed_items"], report["suppressed_occurrences"]) == (0, 0)
    assert report["loss"]["lm_total"] == "4/3" and report["loss"]["lm"] == pytest.approx(1 / 9)
    assert report["loss"]["ncp"] == pytest.approx(1 / 6) and report["published"] == str(sealed)
    assert baskets(sealed) == baskets(shop, "release_spring") == RELEASED
    assert left(shop.parent) == {"shop.duckdb", "sealed.duckdb"}


def test_anonymize_in_words(run: Run, shop: Path) -> None:
    found = anonymize(run, shop, "--release", "spring")
    assert found.code == 0 and found.err == ""
    assert "2^2-anonymity by mhghs" in found.out and "4/3" in found.out and "\x1b" not in found.out


def test_show_sql_goes_to_stderr(run: Run, shop: Path) -> None:
    found = anonymize(run, shop, "--release", "spring", "--json", "--show-sql")
    check_report(found.json)
    assert found.code == 0 and "SELECT" in found.err and "CREATE" in found.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "taxonomy"),
    some([("dat", "s.tree"), ("csv", "food.csv"), ("parquet", "food.csv")], ("dat", "s.tree"), check=()),
)
def test_anonymize_a_data_file(run: Run, files: Path, suffix: str, taxonomy: str) -> None:
    before = left(files)
    found = run("anonymize", files / f"s.{suffix}", "--taxonomy", files / taxonomy, *SMALL, "--json")
    assert found.code == 0 and found.json["published"] is None and found.json["release"] == "s"
    assert left(files) == before  # a one-shot run keeps nothing ...
    sealed = files / "sealed.duckdb"
    words = ("--taxonomy", files / taxonomy, *SMALL, "--publish", sealed, "--release", "one")
    assert run("anonymize", files / f"s.{suffix}", *words).code == 0
    assert left(files) == {*before, "sealed.duckdb"}  # ... but what --publish writes
    names = {"Y": "Y"} if suffix != "dat" else {"Y": "Y", "a": "1", "b": "2"}
    assert baskets(sealed) == sorted(sorted(names.get(i, i) for i in b) for b in RELEASED)


def test_a_data_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    for name in ("no.dat", "no.csv", "no.duckdb", "no"):
        found = run("anonymize", tmp_path / name, "--taxonomy", "food", "--json")
        assert found.code == 2 and found.json["error"]["code"] == "no_such_file"
    assert left(tmp_path) == set()


@pytest.mark.parametrize("command", ["anonymize", "report", "load", "releases"])
def test_a_folder_in_place_of_a_file(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(files)
    more = ("--transactions", "s.csv") if command == "load" else ()
    for folder in (files, "."):
        found = run(command, folder, *more)
        assert found.code == 2 and "'files' is a folder, not a file. Name a file in it." in found.err


def test_the_source_is_never_replaced(run: Run, files: Path) -> None:
    content = (files / "s.csv").read_bytes()
    for name in ("s.csv", "food.csv"):
        words = ("--taxonomy", files / "food.csv", *SMALL, "--replace", "--publish", files / name, "--json")
        assert run("anonymize", files / "s.csv", *words).json["error"]["code"] == "bad_path"
    assert (files / "s.csv").read_bytes() == content


@pytest.mark.slow
def test_names_of_releases(run: Run, shop: Path) -> None:
    assert anonymize(run, shop, "--json").json["release"] == "sales"
    for name in ("old", "OLD"):
        before = state_of(shop)
        found = anonymize(run, shop, "--release", name, "--json")
        assert (found.code, found.json["error"]["code"]) == (2, "release_exists") and found.err
        assert state_of(shop) == before
    for name in ('a"b.c; DROP TABLE sales; --\U0001f34e' + "x" * 5000, " "):
        assert anonymize(run, shop, "--release", name, "--json").json["release"] == name
        assert baskets(shop, f"release_{name}".replace('"', '""')) == RELEASED
    assert anonymize(run, shop, "--release", "").code == 2


@pytest.mark.slow
def test_replace(run: Run, shop: Path) -> None:
    sealed = shop.parent / "sealed.duckdb"
    words = ("--release", "old", "--publish", sealed)
    sealed.write_text("something else")
    for more in ((), ("--replace",)):
        assert anonymize(run, shop, *words, *more).code == 2
        assert sealed.read_text() == "something else"
    sealed.unlink()
    for more in ((), ("--allow-overlap",)):
        assert anonymize(run, shop, *words, "--replace", *more).code == 0
        assert baskets(sealed) == RELEASED
    listed = run("releases", shop, "--json").json["releases"]
    assert [(r["name"], r["status"]) for r in listed] == [("old", "dropped")] * 2 + [("old", "present")]


def test_a_failed_replacement_leaves_the_old_release(run: Run, shop: Path) -> None:
    before = state_of(shop)
    assert anonymize(run, shop, "--release", "old", "--replace", "--k", 7).code == 3
    assert state_of(shop) == before


@pytest.mark.slow
def test_everything_suppressed(run: Run, shop: Path) -> None:
    before = state_of(shop)
    found = anonymize(run, shop, "--release", "none", "--k", 7, "--json")
    assert (found.code, found.json["error"]["code"]) == (3, "all_suppressed") and state_of(shop) == before
    done = anonymize(run, shop, "--release", "none", "--k", 7, "--max-suppression", 100, "--json")
    assert done.code == 0 and done.json["suppressed_items"] == 4 and done.json["released_items"] == 0
    assert done.json["suppressed_occurrences"] == 12 and done.json["loss"]["lm"] == 1
    assert baskets(shop, "release_none") == [[]] * 6


@pytest.mark.slow
def test_a_suppression_limit(run: Run, shop: Path) -> None:
    with duckdb.connect(str(shop)) as connection:  # e stands alone below the root and is rare: suppressing it is cheap
        connection.execute("INSERT INTO food VALUES ('e', 'all')")
        connection.execute("INSERT INTO sales VALUES (1, 'e')")
    free = anonymize(run, shop, "--release", "free", "--json")
    assert free.code == 0 and free.json["suppressed_items"] == 1 and free.json["items"] == 5
    assert anonymize(run, shop, "--release", "twenty", "--max-suppression", 20).code == 0
    before = state_of(shop)
    for limit in (0, 19.99):
        found = anonymize(run, shop, "--release", "less", "--max-suppression", limit, "--json")
        assert (found.code, found.json["error"]["code"]) == (3, "too_much_suppression")
    assert state_of(shop) == before


@pytest.mark.parametrize(
    "limit", some(["-1", "101", "x", "nan", "inf", "", "1e999999999", "1/0", "9" * 5000], "101", "1e999999999")
)
def test_a_suppression_limit_out_of_range(run: Run, shop: Path, limit: str) -> None:
    found = anonymize(run, shop, f"--max-suppression={limit}", "--json")
    assert (found.code, found.json["error"]["code"]) == (2, "bad_parameter")


@pytest.mark.slow
def test_k_1_is_identity_said_aloud(run: Run, shop: Path) -> None:
    found = anonymize(run, shop, "--k", 1, "--release", "one")
    assert found.code == 0 and "promises nothing" in found.err
    assert baskets(shop, "release_one") == sorted([list(b) for b in BASKETS.values()])


@pytest.mark.slow
def test_m_is_inf(run: Run, shop: Path) -> None:
    found = anonymize(run, shop, "--m", "inf", "--release", "inf", "--json")
    assert found.code == 0 and found.json["model"] == {"name": "km", "k": 2, "m": "inf"}
    assert run("verify", shop, "--release", "inf", "--json").json["model"]["m"] == "inf"
    assert anonymize(run, shop, "--m", 1_000_000, "--release", "many", "--json").json["model"]["m"] == 1_000_000
    assert baskets(shop, "release_inf") == baskets(shop, "release_many")


@pytest.mark.parametrize("m", some(["0", "-1", "2.5", "x", "", "nan", "9" * 5000, "1_0"], "0", "2.5"))
def test_m_out_of_range(run: Run, shop: Path, m: str) -> None:
    found = anonymize(run, shop, f"--m={m}", "--json")
    assert (found.code, found.json["error"]["code"]) == (2, "bad_parameter")


@pytest.mark.parametrize("k", ["0", "-1", "2147483648"])
def test_k_out_of_range(run: Run, shop: Path, k: str) -> None:
    found = anonymize(run, shop, f"--k={k}", "--json")
    assert (found.code, found.json["error"]["code"]) == (2, "bad_parameter")


@pytest.mark.slow
def test_algorithms(run: Run, shop: Path) -> None:
    for name in ("hghs", "mhghs", "coat"):
        found = anonymize(run, shop, "--algorithm", name, "--release", name, "--json")
        assert found.code == 0 and found.json["algorithm"] == name
    wrong = anonymize(run, shop, "--algorithm", "mhgsh", "--json")
    assert wrong.code == 2 and wrong.json["error"]["code"] == "unknown_algorithm"
    assert "mhghs" in wrong.err and ", hghs" in wrong.err


def test_models_that_are_not_there(run: Run, shop: Path) -> None:
    for words in (
        ("anonymize", shop, "--transactions", "sales", "--taxonomy", "food"),
        ("verify", shop, "--transactions", "sales"),
        ("verify", shop, "--release", "old"),
    ):
        found = run(*words, "--model", "nonsense", "--json")
        assert found.code == 2 and found.json["error"]["code"] == "unknown_model" and "the models are: km" in found.err


@pytest.mark.slow
def test_missing_pieces(run: Run, shop: Path) -> None:
    before = state_of(shop)
    for words, code in (
        (("anonymize", shop, "--transactions", "sales", "--algorithm", "hghs"), "no_taxonomy"),
        (("anonymize", shop, "--transactions", "no", "--taxonomy", "food"), "no_such_table"),
        (("anonymize", shop, "--transactions", "sales", "--taxonomy", "no"), "no_such_table"),
        (("anonymize", shop, "--transactions", "sales", "--taxonomy", "no.tree"), "no_such_file"),
        (("anonymize", shop, "--transactions", "sales", "--taxonomy", "food", "--id", "x"), "no_such_column"),
        (("anonymize", shop, "--transactions", "sales", "--taxonomy", "food", "--item", "x"), "no_such_column"),
        (("anonymize", shop, "--transactions", "sales", "--taxonomy", "food", "--records", "x"), "no_such_table"),
        (("anonymize", shop, "--transactions", "sales", "--taxonomy", "food", "--workload", "x"), "no_such_table"),
        (("anonymize", shop, "--id", "x", "--taxonomy", "food"), "no_transactions"),
        (("verify", shop, "--release", "no"), "no_such_release"),
        (("publish", shop, "--release", "no", "--to", shop.parent / "x"), "no_such_release"),
        (("accuracy", shop, "--release", "no"), "no_such_release"),
    ):
        found = run(*words, "--json")
        assert (found.code, found.json["error"]["code"]) == (2, code), words
        assert found.err.startswith("anondb: ")
    assert state_of(shop) == before


def test_the_tables_of_a_database_are_listed_where_none_is_named(run: Run, shop: Path) -> None:
    for words, code in ((("anonymize", shop, "--id", "person"), "no_transactions"), (("peek", shop), "bad_usage")):
        found = run(*words, "--json")
        assert (found.code, found.json["error"]["code"]) == (2, code)
        assert "The database has food (node, parent), sales (tid, item)" in found.err and "--transactions" in found.err


@pytest.mark.slow
def test_the_only_table_needs_no_name(run: Run, shop: Path) -> None:
    assert run("anonymize", shop, "--taxonomy", "food", *SMALL, "--json").json["release"] == "sales"
    with duckdb.connect(str(shop)) as connection:
        connection.execute("CREATE VIEW more AS FROM sales")
    assert run("verify", shop, "--json").json["error"]["code"] == "no_transactions"


@pytest.mark.slow
def test_columns_lists_and_records(run: Run, shop: Path) -> None:
    with duckdb.connect(str(shop)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT tid AS who, list(item) AS codes FROM sales GROUP BY ALL")
        connection.execute("CREATE TABLE people AS SELECT unnest(range(1, 9)) AS who, 'x' AS name")
    words = ("--transactions", "visits", "--taxonomy", "food", "--id", "who", "--item", "codes", *SMALL, "--json")
    assert run("anonymize", shop, *words).json["transactions"] == 6
    more = run("anonymize", shop, *words, "--records", "people", "--release", "more")
    assert more.code == 0 and more.json["transactions"] == 8
    assert baskets(shop, "release_more") == [[], [], *RELEASED]


@pytest.mark.slow
def test_engine_options(run: Run, shop: Path) -> None:
    assert anonymize(run, shop, "--threads", 1, "--memory-limit", "500MB").code == 0
    for words in (("--threads", 0), ("--threads", -1), ("--memory-limit", "much")):
        assert anonymize(run, shop, *words, "--release", "x").code == 2


@pytest.mark.slow
def test_too_little_memory(run: Run, shop: Path) -> None:
    with duckdb.connect(str(shop)) as connection:
        connection.execute("CREATE TABLE big AS SELECT t AS tid, md5(t::VARCHAR) AS item FROM range(150000) r(t)")
    before = state_of(shop)
    words = ("--transactions", "big", "--memory-limit", "8MB", "--threads", 1)
    found = run("verify", shop, *words, "--json")
    assert found.code == 5 and found.json["error"]["code"] in ("out_of_memory", "disk_full")
    assert state_of(shop) == before


def test_an_unexpected_exception_shows_no_text(run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("CANARY")

    monkeypatch.setattr(pipeline, "load", broken)
    found = anonymize(run, shop, "--json")
    assert found.code == 5 and found.json["error"]["code"] == "internal"
    assert "CANARY" not in found.out + found.err and "RuntimeError" in found.err and "Traceback" not in found.err


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("as_json", [False, True])
def test_a_full_disk_behind_the_output_is_said(files: Path, as_json: bool) -> None:
    words = ["anonymize", files / "s.dat", "--taxonomy", files / "s.tree", *SMALL, *(["--json"] if as_json else [])]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "anondb", *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 5 and "No disk space left for the output" in done.stderr and "Traceback" not in done.stderr


# ---------------------------------------------------------------------- interrupts and locks


def test_an_interrupt_exits_130(run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    before = state_of(shop)
    monkeypatch.setattr(pipeline, "verify_release", stop)  # the release is frozen by then, but not committed
    found = anonymize(run, shop, "--release", "old", "--replace", "--json")
    assert found.code == 130 and "unfinished work was undone" in found.err and found.json["error"]["code"] == "interrupted"
    monkeypatch.setattr(ledger, "entries", stop)
    found = run("releases", shop)
    assert found.code == 130 and found.err == "anondb: interrupted; nothing was changed\n"
    assert state_of(shop) == before


@pytest.mark.slow
def test_ctrl_c_stops_a_running_query(shop: Path) -> None:
    with duckdb.connect(str(shop)) as connection:
        connection.execute(
            "CREATE VIEW endless AS SELECT a.range AS tid, 'a' AS item FROM range(1000000000) a, range(1000000000) b"
            " WHERE a.range + b.range < 0"
        )
    words = ("verify", str(shop), "--transactions", "endless", "--json", "--show-sql")
    with subprocess.Popen(
        [sys.executable, "-m", "anondb", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stderr is not None
        for line in child.stderr:
            if "endless" in line and "CREATE" in line:
                break
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        try:
            out, err = child.communicate(timeout=30)
        finally:
            child.kill()
    assert child.returncode == 130
    assert "interrupted" in err and "Traceback" not in err and '"error"' in out


@pytest.mark.parametrize("wait", some([0.01, 0.03, 0.05, 0.15, 0.25, 0.4], 0.25))
def test_ctrl_c_while_the_command_starts(wait: float, shop: Path) -> None:
    before = state_of(shop)
    words = ("verify", str(shop), "--transactions", "sales", "--json")
    code = "from anondb.__main__ import console; print('begun', flush=True); console()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == "begun\n"
        time.sleep(wait)
        child.send_signal(signal.SIGINT)
        try:
            out, err = child.communicate(timeout=60)
        finally:
            child.kill()
    assert child.returncode in (130, 4)  # or it was done already
    assert "Traceback" not in err and json.loads(out)
    assert state_of(shop) == before


def test_commands_import_what_they_use(shop: Path) -> None:
    """Imports are most of the time of a command on a small file."""
    sealed = str(shop.with_name("sealed.duckdb"))
    with anondb.connect(shop) as database:
        database.release("old").publish(sealed)
    heavy, engine = {"duckdb", "numpy", "pandas", "pyarrow", "rich", "sqlglot"}, {"duckdb", "numpy", "sqlglot"}
    owners = {"anondb.api", "anondb.ledger.ledger", "anondb.pipeline.anonymize", "anondb.publications.publish"}
    cases: dict[tuple[str, ...], set[str]] = {
        ("--version",): heavy | {"anondb.engine"},
        ("--help",): heavy | {"anondb.engine"},
        ("verify", sealed): (heavy | {"anondb.answers", "anondb.data.constraints", "anondb.warehouse.bounds_sql"})
        - {"duckdb", "numpy"},
        ("query", sealed, "SELECT count(*) FROM sales"): heavy - engine | {"anondb.verify", "anondb.data.sources"},
        ("anonymize", str(shop), "--transactions", "sales", "--k", "2", "--algorithm", "pcta", "--release", "new"): {
            "sqlglot",
            "anondb.answers",
        },
    }
    for words, unused in cases.items():
        owners = owners if words[0] != "anonymize" else set()
        code = (
            "import sys; from anondb.cli import main\ntry: main()\nexcept SystemExit as done: assert not done.code\n"
            f"print(*({unused | owners!r} & sys.modules.keys()))"
        )
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "", (words[0], done.stdout)


def test_ctrl_c_waits_for_the_import_of_duckdb(monkeypatch: pytest.MonkeyPatch) -> None:
    """A KeyboardInterrupt in it aborts the process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)}
    monkeypatch.setitem(sys.modules, "duckdb", SimpleNamespace(__spec__=SimpleNamespace(_initializing=True)))
    try:
        on_interrupt(interrupt)
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.05)  # the alarm repeats it, and waits again
        with pytest.raises(KeyboardInterrupt):
            monkeypatch.undo()
            time.sleep(5)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, action in before.items():
            signal.signal(number, action)


@pytest.mark.slow
def test_what_runs_in_the_background_of_a_shell_ignores_ctrl_c(shop: Path) -> None:
    code = "from anondb.__main__ import console; print('begun', flush=True); console()"
    words = ("verify", str(shop), "--transactions", "sales", "--json")
    command = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-c", code, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "begun\n"
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    assert child.returncode == 4 and json.loads(out)["verified"] is False


def test_a_locked_database(run: Run, shop: Path) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code, str(shop)], text=True, **pipes) as holder:  # type: ignore[call-overload]
        assert holder.stdout.readline() == "open\n"
        for words in (("releases", shop), ("verify", shop, "--release", "old"), ("anonymize", shop)):
            found = run(*words, "--json")
            assert (found.code, found.json["error"]["code"]) == (5, "locked") and "another process" in found.err
        holder.communicate()
    assert run("releases", shop).code == 0


def test_files_that_are_no_database(run: Run, shop: Path) -> None:
    for content in (b"", b"hello\n" * 5000, shop.read_bytes()[:9000]):
        bad = shop.parent / "bad.duckdb"
        bad.write_bytes(content)
        found = run("verify", bad, "--transactions", "sales", "--json")
        assert found.code in (2, 4) and found.json["error"]["code"] != "locked" and "Traceback" not in found.err
        assert bad.read_bytes() == content


def test_a_damaged_database_is_not_called_locked(run: Run, shop: Path) -> None:
    content = bytearray(shop.read_bytes())
    for place in range(12_288, len(content), 64):
        content[place] ^= 255
    shop.write_bytes(content)
    found = run("verify", shop, "--transactions", "sales", "--json")
    assert found.code in (2, 4) and found.json["error"]["code"] != "locked"


def test_a_database_that_may_not_be_written(run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: str, **_: object) -> None:
        raise duckdb.IOException(f'IO Error: Cannot open file "{path}": Read-only file system')

    monkeypatch.setattr(duckdb, "connect", refused)
    found = run("anonymize", shop, "--transactions", "sales", "--json")
    assert (found.code, found.json["error"]["code"]) == (2, "not_writable") and "'shop.duckdb'" in found.err


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_database_in_a_folder_that_may_not_be_written(run: Run, shop: Path) -> None:
    shop.parent.chmod(0o500)
    found = run("anonymize", shop, "--transactions", "sales", *SMALL, "--json")
    shop.parent.chmod(0o700)
    assert (found.code, found.json["error"]["code"]) == (2, "not_writable")


# ---------------------------------------------------------------------- verify


@pytest.mark.slow
def test_verify_a_table(run: Run, shop: Path) -> None:
    words = ("verify", shop, "--transactions", "sales")
    held = run(*words, "--k", 2, "--m", 1)
    assert (held.code, held.err) == (0, "") and "holds" in held.out
    found = run(*words, "--k", 2, "--json")  # ac, bc, ad and bd occur once each
    assert found.code == 4 and found.err == ""
    assert found.json == {"model": {"name": "km", "k": 2, "m": 2}, "verified": False, "violations": 4}
    shown = run(*words, "--k", 2, "--witnesses", 3, "--json").json
    assert shown["violations"] == 4
    assert shown["witnesses"] == [{"items": list(i), "support": 1} for i in ("ac", "ad", "bc")]
    text = run(*words, "--k", 2, "--witnesses", 1)
    assert text.code == 4 and text.out.endswith('does not hold, 4 violations\n  1\t"a"\t"c"\n')


def test_verify_a_data_file(run: Run, files: Path) -> None:
    for suffix in ("dat", "csv", "parquet"):
        found = run("verify", files / f"s.{suffix}", "--k", 2, "--witnesses", 9, "--json")
        assert found.code == 4 and found.json["violations"] == len(found.json["witnesses"]) == 4
        assert run("verify", files / f"s.{suffix}", "--k", 2, "--m", 1).code == 0
    assert run("verify", files / "s.dat", "--transactions", "x").code == 2


@pytest.mark.slow
def test_verify_a_release_and_a_sealed_file(run: Run, shop: Path) -> None:
    sealed = shop.parent / "sealed.duckdb"
    assert run("publish", shop, "--release", "old", "--to", sealed).code == 0
    for source in ((shop, "--release", "old"), (sealed,)):
        found = run("verify", *source, "--json")
        assert found.code == 0
        of_file = {"tables": {"sales": {"tid": "BIGINT", "item": "VARCHAR"}}} if source == (sealed,) else {}
        assert found.json == {"model": {"name": "km", "k": 2, "m": 2}, "verified": True, "violations": 0, **of_file}
        more = run("verify", *source, "--k", 3, "--witnesses", 10, "--json")
        assert more.code == 4 and more.json["violations"] == len(more.json["witnesses"]) == 3
    assert run("verify", shop, "--transactions", "release_old.transactions", "--id", "transaction_id").code == 4


@pytest.mark.slow
def test_verify_takes_what_is_not_said_from_the_release(run: Run, shop: Path) -> None:
    assert anonymize(run, shop, "--m", "inf", "--release", "inf").code == 0
    assert run("verify", shop, "--release", "inf", "--k", 3, "--json").json["model"] == {"name": "km", "k": 3, "m": "inf"}
    assert run("verify", shop, "--release", "inf", "--m", 1, "--json").json["model"] == {"name": "km", "k": 2, "m": 1}


def test_a_release_that_was_tampered_with(run: Run, shop: Path) -> None:
    with duckdb.connect(str(shop)) as connection:
        connection.execute("INSERT INTO release_old.labels VALUES (1001, 'rare')")
        connection.execute("INSERT INTO release_old.transaction_items VALUES (1, 1001, 1)")
    assert run("verify", shop, "--release", "old").code == 4
    sealed = shop.parent / "sealed.duckdb"
    found = run("publish", shop, "--release", "old", "--to", sealed, "--json")
    assert found.code in (4, 5) and not sealed.exists() and left(shop.parent) == {"shop.duckdb"}


@pytest.mark.slow
def test_a_schema_that_is_no_release(run: Run, shop: Path) -> None:
    with duckdb.connect(str(shop)) as connection:
        connection.execute("CREATE SCHEMA release_notes")
        connection.execute("CREATE TABLE release_notes.page AS SELECT 1 AS number")
    before = state_of(shop)
    for words in (
        ("verify", shop, "--release", "notes"),
        ("accuracy", shop, "--release", "notes"),
        ("publish", shop, "--release", "notes", "--to", shop.parent / "x.duckdb"),
    ):
        assert run(*words, "--json").json["error"]["code"] == "not_a_release"
    found = anonymize(run, shop, "--release", "notes", "--replace", "--json")
    assert (found.code, found.json["error"]["code"]) == (2, "not_a_release")
    assert state_of(shop) == before


# ---------------------------------------------------------------------- accuracy, publish, releases


@pytest.mark.slow
def test_accuracy_of_a_random_workload(run: Run, shop: Path) -> None:
    words = ("accuracy", shop, "--release", "old")
    found = run(*words, "--queries", 3, "--size", 2, "--seed", 7, "--json")
    assert found.code == 0 and found.json["release"] == "old"
    assert found.json["accuracy"]["queries"] == 3 and found.json["accuracy"]["size"] == 2
    assert run(*words, "--queries", 3, "--seed", 7, "--json").json == found.json
    drawn = run(*words, "--draw", "generalized", "--size", 1, "--json").json["accuracy"]
    assert drawn["queries"] == 2 and drawn["average_relative_error"] == pytest.approx(1 / 3)  # c and d: 4 * 2/3 for 2
    members = {"a": ["a"], "b": ["b"], "Y": ["c", "d"]}
    holders = expected_holders(RELEASED, members)
    assert drawn["relative_error"]["mean"] == pytest.approx(holders["Y", "c"] / 2 - 1, abs=1e-12)
    text = run(*words)
    shown = " ".join(text.out.split())
    assert text.code == 0 and text.err == "" and "5 of 2 items; the median truth is 1" in shown
    assert "relative error median 0, mean 0 where truth >= 2 (1 query)" in shown
    error = expected_count(RELEASED, members, "ac", holders) - 1  # as of ad, bc and bd; that of ab is 0
    assert error > 0.1 and f"median {error:.4f}, mean {4 / 5 * error:.4f} over all" in shown
    assert "(always answering 0: 1)" in shown and "width of bounds median 2 times the truth" in shown
    none = " ".join(run(*words, "--draw", "generalized", "--size", 5).out.split())
    assert "0 of 5 items" in none and "not measured: no query" in none
    for bad in (("--queries", 0), ("--queries", 2**40), ("--size", 0), ("--seed", -1), ("--draw", "x")):
        assert run(*words, *bad, "--json").json["error"]["code"] == "bad_parameter"


@pytest.mark.slow
def test_accuracy_of_the_owners_queries(run: Run, shop: Path) -> None:
    queries = [("one", "a"), ("one", "b"), ("two", "c"), ("none", "nothing")]
    frame = pd.DataFrame(queries, columns=["query_id", "item"])
    frame.to_csv(shop.parent / "w.csv", index=False)
    with duckdb.connect(str(shop)) as connection:
        connection.execute("CREATE TABLE asked AS SELECT * FROM frame")
    expected = expected_holders(RELEASED, {"a": ["a"], "b": ["b"], "Y": ["c", "d"]})["Y", "c"]
    for workload, called in (("asked", "asked"), (shop.parent / "w.csv", "w")):
        found = run("accuracy", shop, "--release", "old", "--workload", workload, "--json").json["accuracy"]
        assert (found["queries"], found["skipped"]) == (3, 1)
        assert found["average_relative_error"] == pytest.approx((0 + 1 / 3) / 2)
        assert found["relative_error"]["mean"] == pytest.approx((0 + (expected - 2) / 2) / 2, abs=1e-12)
        with duckdb.connect(str(shop), read_only=True) as reader:
            answers = reader.execute(
                "SELECT query_id, truth, estimate, lower_bound, upper_bound FROM anondb.accuracy"
                " WHERE workload = ? ORDER BY 1",
                [f"old: own queries {called}"],
            ).fetchall()
        two = ("two", 2, pytest.approx(expected, abs=1e-12), 0, 4)
        assert answers == [("none", 0, 0, 0, 0), ("one", 2, 2, 2, 2), two]
    made = anonymize(run, shop, "--release", "own", "--workload", shop.parent / "w.csv", "--json").json
    assert made["accuracy"]["queries"] == 3 and made["accuracy"]["size"] is None


def test_a_log_of_sql_is_no_workload_of_anonymize(run: Run, shop: Path) -> None:
    found = anonymize(run, shop, "--workload", "log.sql", "--json")
    assert (found.code, found.json["error"]["code"]) == (2, "bad_usage") and "anondb accuracy measures a log" in found.err


@pytest.mark.slow
def test_accuracy_of_a_release_out_of_a_file(run: Run, shop: Path, files: Path) -> None:
    with anondb.connect(shop) as database:
        model = anondb.KmAnonymity(2, 2)
        database.anonymize(files / "s.csv", model=model, taxonomy=files / "food.csv", name="filed", queries=2)
    found = run("accuracy", shop, "--release", "filed", "--json")
    assert found.code == 0 and "error" not in found.json
    (files / "s.csv").unlink()
    found = run("accuracy", shop, "--release", "filed", "--json")
    assert (found.code, found.json["error"]["code"]) == (2, "no_source")


@pytest.mark.slow
def test_publish(run: Run, shop: Path, files: Path) -> None:
    sealed = shop.parent / "sealed.duckdb"
    words = ("publish", shop, "--release", "old", "--to")
    found = run(*words, sealed, "--json")
    assert found.code == 0 and found.err == ""
    assert found.json == {
        "release": "old",
        "published": str(sealed),
        "transactions": 6,
        "bytes": sealed.stat().st_size,
        "sha256": hashlib.sha256(sealed.read_bytes()).hexdigest(),
        "content_digest": anondb.verify_file(sealed).content_digest,
        "proof": None,
        "intersections": [],
        "remarks": [],
    }
    content, file = sealed.read_bytes(), sealed.stat().st_ino
    again = run(*words, sealed, "--json")
    assert (again.code, again.json["error"]["code"]) == (2, "target_exists") and sealed.read_bytes() == content
    assert run(*words, sealed, "--replace").code == 0 and sealed.stat().st_ino != file
    for target, code in (
        (shop.parent / "no" / "x.duckdb", "no_such_directory"),
        (shop.parent, "bad_path"),
        (shop, "target_in_use"),
        ("", "bad_path"),
    ):
        missed = run(*words, target, "--replace", "--json")
        assert (missed.code, missed.json["error"]["code"]) == (2, code)
    into = run("load", sealed, "--transactions", files / "s.csv", "--as", "raw", "--json")
    assert (into.code, into.json["error"]["code"]) == (2, "read_only"), "raw rows would lie in what is given away"
    assert left(shop.parent) == {"shop.duckdb", "sealed.duckdb", files.name}
    assert baskets(sealed) == RELEASED


def test_a_bad_target_is_refused_before_the_work(run: Run, shop: Path) -> None:
    before = state_of(shop)
    for target in (shop.parent / "no" / "x.duckdb", shop.parent, shop, ""):
        assert anonymize(run, shop, "--release", "spring", "--publish", target).code == 2
    assert state_of(shop) == before


@pytest.mark.slow
def test_releases(run: Run, shop: Path, tmp_path: Path) -> None:
    entry = run("releases", shop, "--json").json["releases"][0]
    assert (entry["name"], entry["source_table"], entry["status"]) == ("old", "sales", "present")
    assert (entry["transactions"], entry["verified"], entry["lm_total"]) == (6, True, "4/3")
    text = run("releases", shop)
    assert text.code == 0 and "old" in text.out and text.err == "" and "published" not in text.out
    assert entry["publications"] == [] and entry["parameters"]["taxonomy"] == "food"
    assert run("publish", shop, "--release", "old", "--to", tmp_path / "sealed.duckdb").code == 0
    (gone,) = run("releases", shop, "--json").json["releases"][0]["publications"]
    assert (gone["file"], gone["transactions"], gone["release_id"]) == ("sealed.duckdb", 6, entry["release_id"])
    assert "published" in run("releases", shop).out
    empty = tmp_path / "empty.duckdb"
    duckdb.connect(str(empty)).close()
    assert run("releases", empty) == Outcome(0, "", "no releases\n")
    assert run("releases", empty, "--json").json == {"releases": []}


def test_a_run_over_files_has_neither_releases_nor_a_ledger(run: Run, files: Path) -> None:
    assert "keeps no ledger" in run("releases", files / "s.dat").err
    refused = run("attack", files / "s.dat", "--release", "s")
    assert refused.code == 2 and "keeps none" in refused.err and "anondb load" in refused.err


# ---------------------------------------------------------------------- load and demo


@pytest.mark.slow
def test_load(run: Run, files: Path) -> None:
    shop = files / "new.duckdb"
    words = ("--transactions", files / "s.dat", "--as", "sales", "--taxonomy", files / "s.tree", "--taxonomy-as", "food")
    records = ("--records", files / "s.csv", "--records-as", "people")
    found = run("load", shop, *words, *records, "--json")
    assert found.code == 0 and found.err == "" and shop.stat().st_mode & 0o777 == 0o600
    assert [(t["table"], t["rows"]) for t in found.json["tables"]] == [("sales", 12), ("food", 7), ("people", 12)]
    before = state_of(shop)
    again = run("load", shop, "--transactions", files / "s.csv", "--as", "SALES", "--json")
    assert (again.code, again.json["error"]["code"]) == (2, "table_exists") and state_of(shop) == before
    assert anonymize(run, shop, "--json").json["released_items"] == 3
    for suffix in ("csv", "parquet"):
        done = run("load", shop, "--transactions", files / f"s.{suffix}", "--as", "sales", "--replace")
        assert done.code == 0 and done.out.startswith(f"sales: 12 rows\n  read s.{suffix}: ") and not done.err
    done = run("load", shop, "--taxonomy", files / "food.csv", "--taxonomy-as", "food", "--replace")
    assert done.code == 0 and "4 leaves" in done.out
    assert anonymize(run, shop, "--release", "b", "--json").json["loss"]["lm_total"] == "4/3"


@pytest.mark.slow
def test_load_a_file_with_empty_lines(run: Run, files: Path) -> None:
    (files / "e.dat").write_text("1 2\n\n1 2 2\r\n \n3 4\n3 4")
    shop = files / "new.duckdb"
    words = ("--transactions", files / "e.dat", "--as", "sales", "--taxonomy", files / "s.tree", "--taxonomy-as", "food")
    found = run("load", shop, *words)
    assert found.code == 0 and "sales: 6 rows (one row with a list" in found.out
    assert anonymize(run, shop, "--json").json["transactions"] == 6
    assert baskets(shop, "release_sales") == [[], [], ["1", "2"], ["1", "2"], ["3", "4"], ["3", "4"]]
    direct = run("anonymize", files / "e.dat", "--taxonomy", files / "s.tree", *SMALL, "--json").json
    assert direct["transactions"] == 6


def test_load_keeps_empty_texts(run: Run, files: Path) -> None:
    (files / "t.csv").write_text('tid,item\n1,""\n2,""\n1,a\n2,a\n')
    shop = files / "new.duckdb"
    assert run("load", shop, "--transactions", files / "t.csv", "--as", "t").code == 0
    with duckdb.connect(str(shop), read_only=True) as reader:
        assert reader.execute("FROM t ORDER BY ALL").fetchall() == [("1", ""), ("1", "a"), ("2", ""), ("2", "a")]


@pytest.mark.slow
def test_load_all_or_nothing(run: Run, files: Path, shop: Path) -> None:
    before, seen = state_of(shop), left(files)
    (files / "bad.tree").write_text("a;b;*\na;c;*\n")
    (files / "bad.parquet").write_bytes(b"PAR1CANARYPAR1")
    (files / "bad.dat").write_bytes(b"1 CANARY\xff\n")
    (files / "bad.csv").write_bytes(b"tid,item\n1,CANARY\xff\n")
    (files / "other.xyz").write_text("1 2\n")
    seen = left(files)
    cases: list[tuple[tuple[object, ...], str]] = [
        (("--transactions", files / "s.dat", "--as", "t", "--taxonomy", files / "bad.tree"), "not_a_tree"),
        (("--transactions", files / "s.dat", "--as", "t", "--records", files / "bad.parquet"), "unreadable"),
        (("--transactions", files / "bad.dat", "--as", "t"), "bad_unicode"),
        (("--transactions", files / "bad.csv", "--as", "t"), "bad_unicode"),
        (("--transactions", files / "no.dat", "--as", "t"), "no_such_file"),
        (("--transactions", files / "s.dat", "--as", ""), "empty_name"),
        (("--transactions", files / "s.dat", "--as", "t", "--taxonomy", files / "s.tree", "--taxonomy-as", "T"),
         "table_exists"),
        (("--taxonomy", files / "s.csv", "--taxonomy-as", "tax", "--transactions", "no.csv"), "no_such_file"),
        ((), "bad_usage"),
    ]  # fmt: skip
    for words, code in cases:
        for database in (shop, files / "new.duckdb"):
            found = run("load", database, *words, "--replace", "--json")
            assert (found.code, found.json["error"]["code"]) == (2, code), words
            assert "CANARY" not in found.out + found.err
    assert state_of(shop) == before and left(files) == seen  # not even a new empty database


def test_load_into_something_else(run: Run, files: Path, shop: Path) -> None:
    content = (files / "s.csv").read_bytes()
    for database in (files / "s.csv", "", ":memory:"):
        found = run("load", database, "--transactions", files / "s.dat", "--json")
        assert (found.code, found.json["error"]["code"]) == (2, "bad_usage")
    found = run("load", files / "no" / "x.duckdb", "--transactions", files / "s.dat", "--json")
    assert (found.code, found.json["error"]["code"]) == (2, "no_such_directory")
    assert (files / "s.csv").read_bytes() == content
    with duckdb.connect(str(shop)) as connection:
        connection.execute("CREATE VIEW seen AS FROM sales")
    before = state_of(shop)
    found = run("load", shop, "--transactions", files / "s.dat", "--as", "seen", "--replace", "--json")
    assert (found.code, found.json["error"]["code"]) == (2, "table_exists") and state_of(shop) == before


@pytest.mark.slow
def test_a_demo_that_fails_leaves_its_directory_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anondb import demo
    from anondb.errors import EngineError

    def fails(*_: Any) -> None:
        raise EngineError("no memory")

    monkeypatch.setattr(demo, "_answers", fails)  # when the first release is published
    with pytest.raises(EngineError):
        demo.run_demo(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_demo(run: Run, tmp_path: Path) -> None:
    found = run("demo", tmp_path / "shop", "--json")
    assert stat.S_IMODE((tmp_path / "shop" / "shop.duckdb").stat().st_mode) == 0o600  # the raw data
    assert found.code == 0
    check_report(found.json["report"])
    assert found.json["report"]["verified"] and len(found.json["answers"]) >= 3
    for answer in found.json["answers"]:
        assert answer["lower_bound"] <= answer["truth"] <= answer["upper_bound"]
    supported = found.json["with_item_supports"]
    assert supported["report"]["verified"] and supported["report"]["loss"] == found.json["report"]["loss"]
    for wide, narrow in zip(found.json["answers"], supported["answers"], strict=True):
        bounds = [answer[name] for answer in (wide, narrow) for name in ("lower_bound", "upper_bound")]
        assert bounds[0] <= bounds[2] <= narrow["truth"] <= bounds[3] <= bounds[1]
    assert left(tmp_path / "shop") == {"shop.duckdb", "spring.duckdb", "spring_supports.duckdb"}
    with duckdb.connect(str(tmp_path / "shop" / "spring.duckdb"), read_only=True) as analyst:
        row = analyst.execute("FROM count_bounds(['milk', 'bread'])").fetchall()[0]
    assert row[0] <= row[1] <= row[2]
    again = run("demo", tmp_path / "shop", "--json")
    assert (again.code, again.json["error"]["code"]) == (2, "target_exists")
    (tmp_path / "file").write_text("")
    assert run("demo", tmp_path / "file", "--json").json["error"]["code"] == "not_writable"


# ---------------------------------------------------------------------- as processes


@pytest.mark.slow
def test_as_a_process(shop: Path) -> None:
    sealed = shop.parent / "sealed.duckdb"
    words = ("--transactions", "sales", "--taxonomy", "food", "--k", 2, "--publish", sealed, "--json")
    done = process("anonymize", shop, *words)
    assert (done.returncode, done.stderr) == (0, "")
    check_report(Outcome(0, done.stdout, "").json)
    assert process("verify", sealed).returncode == 0
    assert process("verify", shop, "--transactions", "sales", "--k", 2).returncode == 4
    missing = process("verify", shop.parent / "no.duckdb")
    assert (missing.returncode, missing.stdout) == (2, "") and missing.stderr.startswith("anondb: ")


@pytest.mark.slow
def test_a_run_over_a_file_leaves_nothing_but_what_it_publishes(files: Path, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    words = ("--taxonomy", files / "s.tree", "--k", 2, "--publish", tmp_path / "sealed.duckdb", "--json")
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    done = process("anonymize", files / "s.dat", *words, env=environment)
    assert (done.returncode, done.stderr) == (0, "") and json.loads(done.stdout)["published"]
    assert not list((tmp_path / "tmp").iterdir()) and not list(tmp_path.glob("*.wal"))
    with duckdb.connect(str(tmp_path / "sealed.duckdb"), read_only=True) as analyst:
        assert analyst.execute("SELECT upper_bound > 0 FROM count_bounds([])").fetchall() == [(True,)]
    for engine in (DuckDBEngine.open(tmp_path / "own.duckdb"), DuckDBEngine.open(one_shot=True)):
        engine.close()
        with pytest.raises(duckdb.ConnectionException):
            engine.connection.execute("SELECT 1")


def test_a_stranger_runs_a_file_beside_other_modules(files: Path) -> None:
    (files / "pandas.py").write_text("raise RuntimeError('not this one')")
    done = process("--version", cwd=files)
    assert done.returncode == 0


# ---------------------------------------------------------------------- real data


@pytest.mark.slow
@needs("bms1.dat", "bms1.f5.tree")
def test_bms1(run: Run, tmp_path: Path) -> None:
    sealed = tmp_path / "bms1.duckdb"
    words = ("--taxonomy", DATA / "bms1.f5.tree", "--release", "spring", "--publish", sealed, "--json")
    report = run("anonymize", DATA / "bms1.dat", *words).json
    check_report(report)
    assert (report["transactions"], report["items"], report["violations"]) == (59602, 497, 0)
    assert (report["released_items"], report["suppressed_items"]) == (63, 5)
    assert report["suppressed_occurrences"] == 278 and report["loss"]["lm_total"] == "1790569/496"
    assert math.isclose(report["loss"]["ncp"], 0.0260, abs_tol=5e-5)
    assert run("verify", sealed, "--json").json == {
        "model": {"name": "km", "k": 5, "m": 2},
        "verified": True,
        "violations": 0,
        "tables": {"bms1": {"tid": "BIGINT", "item": "VARCHAR"}},
    }
    assert left(tmp_path) == {"bms1.duckdb"}


@pytest.mark.nightly
@needs("bms2.dat", "bms2.f5.tree", "t10i4d100k.dat", "t10i4d100k.f5.tree")
@pytest.mark.parametrize(("name", "ncp"), [("bms2", 0.0205), ("t10i4d100k", None)])
def test_other_real_data(run: Run, tmp_path: Path, name: str, ncp: float | None) -> None:
    sealed = tmp_path / "sealed.duckdb"
    words = ("--taxonomy", DATA / f"{name}.f5.tree", "--publish", sealed, "--json")
    report = run("anonymize", DATA / f"{name}.dat", *words).json
    assert report["verified"] and (ncp is None or math.isclose(report["loss"]["ncp"], ncp, abs_tol=5e-5))
    assert run("verify", sealed).code == 0
