"""Which algorithm serves analysts best without a name: errors of items and pairs, for k = 5, 25, 50 and m = 1, 2, 3.

    python benchmarks/defaults.py [DIRECTORY] [DATA ...]

measures every algorithm of ``ALGORITHMS`` that this version has on the data sets with a taxonomy, without and with item supports,
and prints the tables of benchmarks/README.md. Each run is written to defaults/runs.csv (or DIRECTORY) as soon as it is measured,
and rows that are there are not measured again. A run that takes more than ``SECONDS`` of CPU time is stopped.

The workload is the same for all runs of a data set: items, pairs of items that occur together, and pairs that ``FREQUENT``
transactions hold, each drawn with equal probability. Always answering 0 has the error 1.
"""

from __future__ import annotations

import json
import math
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

from comparing import shown, table, there
from datasets import ABSENT, DATA, load
from measuring import Measured, Row

import anondb
from anondb.algorithms import METHODS

ALGORITHMS = ("mhghs", "apriori", "vpa", "lra", "coat", "similar")
TREES = {
    "informs": "icd9.tree",
    **{name: f"{name}.f5.tree" for name in ("mushroom", "bms1", "bms2", "t10i4d100k")},
}
KS, MS = (5, 25, 50), (1, 2, 3)
SECONDS = 20
FREQUENT = 50
QUERIES = 400  # of each kind
KINDS = ("items", "pairs", "frequent pairs")
WORKLOAD = """
CREATE TABLE workload AS
WITH pairs AS (
    SELECT [a.item, b.item] AS items, count(*) AS support
    FROM t AS a JOIN t AS b ON a.tid = b.tid AND a.item < b.item GROUP BY a.item, b.item
), candidates AS (
    SELECT 'items' AS kind, [item] AS items FROM (SELECT DISTINCT item FROM t)
    UNION ALL SELECT 'pairs', items FROM pairs
    UNION ALL SELECT 'frequent pairs', items FROM pairs WHERE support >= $frequent
)
SELECT kind || ' ' || row_number() OVER (PARTITION BY kind ORDER BY md5(items::VARCHAR)) AS query_id, unnest(items) AS item
FROM (SELECT * FROM candidates QUALIFY row_number() OVER (PARTITION BY kind ORDER BY md5(items::VARCHAR)) <= $queries)
"""
Run = tuple[str, str, int, int, bool]
RUN = ("data", "algorithm", "k", "m", "item_supports")


def measure(runs: list[Run]) -> None:
    """Print the figures of runs on the same data, a line of JSON for each."""
    data = runs[0][0]
    with anondb.connect(threads=1) as database:
        load(database.engine.connection, data)
        database.engine.connection.execute(WORKLOAD, {"frequent": FREQUENT, "queries": QUERIES})
        for run in runs:
            used = resource.getrusage(resource.RUSAGE_SELF)
            resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + SECONDS, resource.RLIM_INFINITY))
            print(json.dumps(figures(database, *run)), flush=True)


def figures(database: Any, data: str, algorithm: str, k: int, m: int, supports: bool) -> dict[str, Any]:
    """The figures of a run: mean relative errors, the median width of bounds over truth of frequent pairs, loss, time."""
    row: Row = dict(zip(RUN, (data, algorithm, k, m, int(supports)), strict=True)) | {"outcome": "done"}
    method = METHODS[algorithm]
    options: dict[str, Any] = {"max_suppression": 100} if "max_suppression" in method.takes else {}
    if "taxonomy" in method.needs:
        options["taxonomy"] = DATA / TREES[data]
    began = time.process_time()
    try:
        release = database.anonymize(
            "t", model=anondb.KmAnonymity(k, m), algorithm=algorithm, name="r", replace=True, workload="workload",
            item_supports=supports, **options,
        )  # fmt: skip
    except anondb.AnondbError as error:
        return row | {"outcome": error.code}
    row |= {"seconds": round(time.process_time() - began, 2), "lm": round(float(release.loss.lm), 6)}
    answers = database.sql(
        "SELECT query_id, truth, estimate, lower_bound, upper_bound FROM anondb.accuracy"
        " WHERE release_id = (SELECT value FROM release_r.manifest WHERE key = 'release_id')"
    ).fetchall()
    errors, widths = defaultdict(list), []
    for query, truth, estimate, low, high in answers:
        kind = query.rsplit(" ", 1)[0]
        errors[kind].append(abs(truth - estimate) / truth)
        if kind == "frequent pairs":
            widths.append((high - low) / truth)
    row |= {kind: round(statistics.fmean(found), 4) for kind, found in errors.items()}
    return row | {"width": round(statistics.median(widths), 3) if widths else None}


class Results(Measured):
    """The runs."""

    def __init__(self, place: Path) -> None:
        super().__init__(place, *RUN)

    def run(self, run: Run) -> Row | None:
        """The row of a run."""
        return self.get(**dict(zip(RUN, run, strict=True)))

    def measure(self, data: str, algorithm: str) -> None:
        """Measure the runs that are missing, in a process that ends if one of them takes too long."""
        runs = [(data, algorithm, k, m, s) for m, k, s in product(MS, KS, (False, True))]
        while missing := [run for run in runs if self.run(run) is None]:
            command = [sys.executable, __file__, "--runs", json.dumps(missing)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
                assert child.stdout is not None
                for line in child.stdout:
                    self.add(json.loads(line))
            if child.returncode == -signal.SIGXCPU:
                stopped = next(run for run in runs if self.run(run) is None)
                self.add(dict(zip(RUN, stopped, strict=True)) | {"outcome": f"over {SECONDS} s"})
            elif child.returncode:
                sys.exit(f"{algorithm} on {data}: the process ended with {child.returncode}")

    def cell(self, run: Run) -> str:
        """The errors of pairs and of frequent pairs, and the width of the bounds of the latter."""
        row = self.run(run)
        if row is None or row["outcome"] != "done":
            return "" if row is None else row["outcome"]
        pairs, frequent, width = (shown(row.get(c)) for c in (*KINDS[1:], "width"))
        return f"{pairs} ({frequent}) {width}"

    def ratio(self, algorithm: str, supports: bool, column: str) -> tuple[float, int]:
        """The geometric mean of an algorithm's figures over those of the first, each plus .01; and the number of runs."""
        logs = []
        for row in self.rows:
            first = self.get(**{**row, "algorithm": ALGORITHMS[0]})
            if row["algorithm"] == algorithm and row["item_supports"] == supports and first and column in row.keys() & first:
                logs.append(math.log((row[column] + 0.01) / (first[column] + 0.01)))
        return math.exp(statistics.fmean(logs)) if logs else math.nan, len(logs)


def report(results: Results, data_sets: list[str], algorithms: list[str]) -> None:
    """Print the tables: geometric means over all runs, and each run."""
    for supports in (False, True):
        print(f"{'With' if supports else 'Without'} item supports, as ratios to {ALGORITHMS[0]}:\n")
        columns = (*KINDS, "width")
        rows = [
            [a, str(results.ratio(a, supports, "lm")[1]), *(shown(results.ratio(a, supports, c)[0]) for c in columns)]
            for a in algorithms
        ]
        table(["algorithm", "runs", *columns], rows)
        rows = [
            [data, f"{k}, {m}", *(results.cell((data, algorithm, k, m, supports)) for algorithm in algorithms)]
            for data, m, k in product(data_sets, MS, KS)
        ]
        table(["data", "k, m", *algorithms], rows)


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == ["--runs"]:
        return measure([(d, a, int(k), int(m), bool(s)) for d, a, k, m, s in json.loads(words[1])])
    if not DATA.is_dir():
        sys.exit(ABSENT)
    place = Path(words.pop(0)) if words and words[0] not in TREES else Path(__file__).with_name("defaults")
    results, algorithms = Results(place / "runs.csv"), there(*ALGORITHMS).split(",")
    for data, algorithm in product(words or TREES, algorithms):
        results.measure(data, algorithm)
    report(results, words or list(TREES), algorithms)


if __name__ == "__main__":
    main()
