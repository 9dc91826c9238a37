"""Relative errors with item supports over all supported items and pairs (in brackets: support >= k), and what they cost.

Run it with ``make bench-supports``; a part: ``python benchmarks/item_supports.py bms1 mushroom``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from functools import partial
from itertools import product
from pathlib import Path

import duckdb
from datasets import ABSENT, DATA, load
from main_job import PAIRS, floor
from measuring import least_cpu

import anondb
from anondb.options import policy_of
from anondb.pipeline.load import load as read

# The largest mean errors of pairs, over all supported ones and those with support >= k.
LIMITS = {
    ("bms1", "coat"): (0.10, 0.86, 0.59),
    ("bms1", "mhghs"): (0.10, 0.74, 0.69),
    ("bms2", "coat"): (0.08, 0.84, 0.73),
    ("bms2", "mhghs"): (0.08, 0.76, 0.68),
    ("t10i4d100k", "coat"): (0.01, 0.69, 0.40),
    ("t10i4d100k", "mhghs"): (0.01, 0.81, 0.57),
    ("mushroom", "coat"): (0.02, 0.23, 0.22),
    ("mushroom", "mhghs"): (0.08, 0.42, 0.38),
    ("bms1", "similar"): (0.10, 0.60, 0.55),
    ("bms2", "similar"): (0.10, 0.70, 0.56),
    ("t10i4d100k", "similar"): (0.01, 0.61, 0.35),
    ("mushroom", "similar"): (0.02, 0.04, 0.025),
}
SIMILAR_V = {"bms1": 20, "bms2": 60, "t10i4d100k": 30}  # the largest time of the algorithm, in units of V
SUPPORTED = """
CREATE TABLE workload_1 AS SELECT item AS query_id, item FROM (SELECT DISTINCT item FROM t);
CREATE TABLE workload_2 AS
WITH pairs AS (SELECT DISTINCT a.item AS x, b.item AS y FROM t AS a JOIN t AS b ON a.tid = b.tid AND a.item < b.item)
SELECT row_number() OVER (ORDER BY x, y) AS query_id, unnest([x, y]) AS item FROM pairs ORDER BY query_id
"""


def errors(data: str, algorithm: str, supports: bool, size: int) -> tuple[float, float]:
    """The mean relative errors over all supported itemsets of a size, and over those with support >= 5."""
    with anondb.connect() as database:
        connection = database.engine.connection
        load(connection, data)
        connection.execute(SUPPORTED)
        options = {"taxonomy": DATA / f"{data}.f5.tree"} if algorithm == "mhghs" else {"max_suppression": 100}
        release = database.anonymize(
            "t", model=anondb.KmAnonymity(5, 2), algorithm=algorithm, name="r", workload=f"workload_{size}",
            item_supports=supports, **options,
        )  # fmt: skip
        figures = release.accuracy.relative_error
        return float(figures.mean or 0), float(figures.mean_frequent or 0)


def cost(data: str) -> tuple[float, float]:
    """V, and the seconds that item supports add to freezing, verifying and publishing; each step's best of five."""
    seconds: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as place:
        for n, supports in product(range(5), (False, True)):
            sealed = Path(place) / f"{n}{supports}.duckdb"
            with anondb.connect(Path(place) / f"owner{n}{supports}.duckdb") as database:
                release = database.anonymize(
                    DATA / f"{data}.dat", taxonomy=DATA / f"{data}.f5.tree", name="r", queries=1,
                    item_supports=supports, publish=sealed,
                )  # fmt: skip
                assert release.report is not None
                seconds[supports].append(release.report.seconds)
        steps = ("freeze", "verify", "publish")
        best = {with_it: sum(min(run[s] for run in runs) for s in steps) for with_it, runs in seconds.items()}
        return floor(sealed), best[True] - best[False]


def similar(data: str) -> tuple[float, float]:
    """V of a release of similar and the seconds of the algorithm, both as CPU time, the best of five in turn."""
    floors, spent = [], []
    with tempfile.TemporaryDirectory() as place, anondb.connect() as database, duckdb.connect() as connection:
        sealed = Path(place) / "sealed.duckdb"
        database.anonymize(DATA / f"{data}.dat", algorithm="similar", name="r", queries=1, publish=sealed)
        connection.execute(f"ATTACH '{sealed}' AS s (READ_ONLY)")
        connection.execute("CREATE TABLE t AS SELECT transaction_id AS tid, item_id AS item FROM s.main.transaction_items")
        for _ in range(5):
            floors.append(least_cpu(lambda: connection.execute(PAIRS).fetchall())[0])
            with anondb.connect() as other, other.engine.transaction():
                policy = policy_of(DATA / f"{data}.dat", {"algorithm": "similar"})
                task = read(other.engine, policy)
                spent.append(least_cpu(partial(policy.method.run, other.engine, task))[0])
    return min(floors), min(spent)


def main() -> None:
    if not DATA.is_dir():
        sys.exit(ABSENT)
    chosen = sys.argv[1:] or sorted({data for data, _ in LIMITS})
    missed = 0
    for (data, algorithm), limits in LIMITS.items():
        if data not in chosen:
            continue
        begun = time.perf_counter()
        (q1, _), (q2, frequent) = (errors(data, algorithm, True, size) for size in (1, 2))
        missed += sum(value > limit for value, limit in zip((q1, q2, frequent), limits, strict=True))
        took = time.perf_counter() - begun
        print(
            f"{data} {algorithm}: q1 {q1:.3f} (limit {limits[0]}), q2 {q2:.3f} ({frequent:.3f})"
            f" (limits {limits[1]}, {limits[2]}), {took:.0f} s",
            flush=True,
        )
    for data in [d for d in chosen if d != "mushroom"]:
        v, more = cost(data)
        missed += more > 2 * v
        print(f"{data}: publication and verification {more:.3f} s more, {more / v:.1f} V (limit 2)", flush=True)
    for data in [d for d in chosen if d in SIMILAR_V]:
        v, spent = similar(data)
        missed += spent > SIMILAR_V[data] * v
        print(f"{data}: similar {spent:.2f} s, {spent / v:.0f} V (limit {SIMILAR_V[data]})", flush=True)
    print(f"DuckDB {duckdb.__version__}; figures missed: {missed}")


if __name__ == "__main__":
    main()
