"""Where answering 0 would be nearer than the estimates, the run and the owner's report say so."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
from cli.shop import Run


def test_estimates_that_are_worse_than_0_are_told(run: Run, tmp_path: Path) -> None:
    own, draw = tmp_path / "own.duckdb", random.Random(3)
    weights = [1 / (n + 1) for n in range(30)]
    rows = [(n, f"i{c:02}") for n in range(300) for c in draw.choices(range(30), weights, k=draw.randint(1, 5))]
    edges = [("all", None), *((f"g{n}", "all") for n in range(5))]
    edges += [(f"i{n:02}", "all" if n % 2 else f"g{n % 5}") for n in range(30)]
    with duckdb.connect(str(own)) as connection:
        connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", rows)
        connection.execute("CREATE TABLE tree (node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO tree VALUES (?, ?)", edges)
    for algorithm in ("hghs", "similar"):
        words = ("--transactions", "sales", "--algorithm", algorithm, "--release", algorithm, "--queries", "100")
        made = run("anonymize", own, *words, *(("--taxonomy", "tree") if algorithm == "hghs" else ()), "--json").json
        is_worse = made["accuracy"]["relative_error"]["mean"] > made["accuracy"]["relative_error"]["always_zero"]
        assert is_worse == (algorithm == "hghs")
        page = tmp_path / f"{algorithm}.html"
        shown = run("report", own, "--release", algorithm, "--html", page).out
        assert ("worse than 0" in run("report", own, "--release", algorithm).out) == is_worse, shown
        first = page.read_text().partition("tiles")[0]
        assert ("orse than 0" in page.read_text()) == is_worse and first
    words = (
        "--transactions",
        "sales",
        "--algorithm",
        "hghs",
        "--taxonomy",
        "tree",
        "--release",
        "again",
        "--queries",
        "100",
    )
    shown = run("anonymize", own, *words)
    assert "worse than 0" in shown.out and "anondb advise" in shown.out
