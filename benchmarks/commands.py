"""The CPU time of commands on little data, which is mostly that of starting: the least of five, with what Python and its
packages take alone. Needs no data: the files are those of the demo, and bms1 where it is.

    python benchmarks/commands.py [RUNS]
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from datasets import DATA

COMMAND = (sys.executable, "-m", "anondb")
SQL = "SELECT count(*) FROM sales WHERE item = 'milk'"


def cpu(words: tuple[str, ...], made: Path) -> float:
    """The CPU seconds of a process, user and system, and of those that it starts; what it makes is removed before."""
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        words,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        demo, made = Path(folder) / "demo", Path(folder) / "made"
        subprocess.run([*COMMAND, "demo", demo], check=True, stdout=subprocess.DEVNULL)
        sealed = str(demo / "spring.duckdb")
        jobs: dict[str, tuple[str, ...]] = {
            f"`import {names}`": (sys.executable, "-c", f"import {names}")
            for names in ("duckdb", "numpy", "sqlglot", "typer")
        }
        jobs |= {
            "`anondb --version`": (*COMMAND, "--version"),
            "`anondb --help`": (*COMMAND, "--help"),
            "`anondb verify FILE`": (*COMMAND, "verify", sealed),
            "`anondb query FILE SQL`": (*COMMAND, "query", sealed, SQL),
            "`anondb demo DIR`": (*COMMAND, "demo", str(made / "demo")),
        }
        if (DATA / "bms1.dat").exists():
            source, tree = str(DATA / "bms1.dat"), str(DATA / "bms1.f5.tree")
            published = str(made / "bms1.duckdb")
            jobs["`anondb anonymize` of bms1 with `--publish`"] = (
                *COMMAND,
                *("anonymize", source, "--taxonomy", tree, "--k", "5", "--m", "2", "--publish", published),
            )
        least = dict.fromkeys(jobs, float("inf"))
        for _ in range(runs):
            for name, words in jobs.items():
                least[name] = min(least[name], cpu(words, made))
        print("| process | CPU, s |\n|---|---|")
        for name, seconds in least.items():
            print(f"| {name} | {seconds:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
