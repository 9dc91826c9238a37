"""Section 6 of Poulis et al. (ECML/PKDD 2013) on the INFORMS 2005 slice: losses, errors of COUNT queries, clusters, time.

Writes CSV files and plots into a directory and prints what the paper says beside what is measured. The paper's data (36,553
records) and its workloads are not public; the slice has 26,735 records and other attributes, so shapes are compared, not
numbers. Run it with ``python benchmarks/rt_paper.py [DIR]`` (``--quick`` for few points); plots need matplotlib.
"""

from __future__ import annotations

import csv
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from anondb.algorithms.btd import BtdOrder, TumOrder
from anondb.algorithms.cluster import cluster
from anondb.algorithms.rt import RT_ALGORITHMS, relational
from anondb.algorithms.rt_bounds import BoundViolated, Merging, rum_bound, tum_bound
from anondb.algorithms.rt_items import ItemSets, ul
from anondb.algorithms.rt_sets import set_recoder
from anondb.data.generalization import Generalization
from anondb.data.records import Attribute, Records, load_records
from anondb.data.sources import open_source
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine
from anondb.models.relational import KkmAnonymity
from anondb.utility.relational import Original, RtEstimator, average_relative_error

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
ATTRIBUTES = "DOBMM,DOBYY,EDUCYEAR,income,poverty,RACEX:categorical,SEX:categorical,marry:categorical"
K, M, DELTA = 25, 2, Fraction(65, 100)
KINDS = ((2, 0), (0, 2), (1, 1), (1, 2), (2, 1))  # (relational values, items) of a query
SECONDS, CLUSTER_SECONDS, LARGE_SECONDS, MEMORY = 30, 8, 150, 2048


@dataclass
class Case:
    """A part of the slice, loaded."""

    engine: Engine
    dataset: Dataset
    records: Records


@contextmanager
def loaded(limit: int | None = None) -> Iterator[Case]:
    """The slice, or its first records: smaller sets are contained in all larger ones."""
    engine = Engine.open(threads=2)

    def load() -> None:
        people = engine.connection.read_csv(str(DATA / "informs2005_rt.csv")).order("DUPERSID").limit(limit or 10**9)
        people.project("* EXCLUDE items").create("people")
        people.project("DUPERSID, unnest(string_split(items, ' ')) AS item").create("diagnoses")

    engine.call(load)
    engine.begin()
    with open_source(engine, "diagnoses", "transactions") as rows, open_source(engine, "people", "records") as people:
        dataset = load_transactions(engine, rows, id_column="DUPERSID", more_ids=people)
    yield Case(engine, dataset, load_records(engine, "people", dataset, quasi_identifiers=ATTRIBUTES))
    engine.close()


def measured(case: Case, algorithm: str, delta: Any, k: int = K, queries: dict | None = None) -> dict[str, Any]:
    """One run: CPU seconds, losses, clusters, and the ARE of each kind of query."""
    begun = time.process_time()
    try:
        found = relational(case.engine, case.dataset, case.records, KkmAnonymity(k, M), algorithm, delta=delta)
    except BoundViolated as error:
        return {"algorithm": algorithm, "delta": float(delta), "k": k, "infeasible_below": float(error.smallest)}
    row: dict[str, Any] = {
        "algorithm": algorithm,
        "delta": float(delta),
        "k": k,
        "cpu_seconds": round(time.process_time() - begun, 2),
        "ncp": float(found.rum),
        "ul": found.tum,
        "clusters": found.clusters,
        "largest_cluster": found.largest,
    }
    if queries:
        original, by_kind = queries["original"], queries["kinds"]
        estimator = RtEstimator(case.engine, case.dataset, case.records, found)
        for (x, y), asked in by_kind.items():
            row[f"are_{x}_{y}"] = average_relative_error(original, estimator, asked)
    for name in ("rt_classes", "rt_rows", "rt_incomplete"):
        case.engine.drop(case.engine.work_table(name))
    print(row, flush=True)
    return row


def write(place: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as CSV; columns in the order in which they first occur."""
    columns = list(dict.fromkeys(c for row in rows for c in row))
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def plot(place: Path, rows: list[dict[str, Any]], x: str, y: str) -> None:
    """One line for each algorithm, where matplotlib is installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return
    figure, axes = pyplot.subplots(figsize=(5, 3.5))
    for algorithm in dict.fromkeys(r["algorithm"] for r in rows):
        points = [(r[x], r[y]) for r in rows if r["algorithm"] == algorithm and y in r]
        axes.plot(*zip(*points, strict=True), marker="o", label=algorithm) if points else None
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(place)
    pyplot.close(figure)


def of_delta(case: Case, quick: bool) -> list[dict[str, Any]]:
    """Figs. 4 and 6: losses, errors and largest cluster against delta, from what CLUSTER reaches to 1."""
    original = Original.load(case.engine, case.dataset, case.records)
    queries = {"original": original, "kinds": {kind: original.draw(*kind, 100, seed=1) for kind in KINDS}}
    rows = [measured(case, name, DELTA, queries=queries) for name in ("rfirst", "tfirst")]
    least = rows[0]["ncp"]
    points = [0.65] if quick else [least + 1e-6, 0.35, 0.5, 0.65, 0.8, 1.0]
    for name in RT_ALGORITHMS[:6]:
        for delta in points:
            rows.append(measured(case, name, delta, queries=queries))
    return rows


def of_size(quick: bool) -> list[dict[str, Any]]:
    """Fig. 7a: time against the number of records."""
    rows = []
    for n in (5_000, 10_000) if quick else (5_000, 10_000, 15_000, 20_000, 26_735):
        with loaded(n) as case:
            rows += [{**measured(case, f"rum_bound_{v}", DELTA), "records": n} for v in ("r", "t", "rt")]
            begun = time.process_time()
            cluster(Generalization(case.records), K)
            rows.append({"algorithm": "cluster", "records": n, "cpu_seconds": round(time.process_time() - begun, 2)})
    return rows


def of_k(case: Case, quick: bool) -> list[dict[str, Any]]:
    """Fig. 7b: time against k."""
    return [
        measured(case, f"rum_bound_{v}", DELTA, k=k)
        for k in ((25, 100) if quick else (10, 25, 50, 100))
        for v in ("r", "t", "rt")
    ]


def of_ordering(n: int, merges_delta: Fraction) -> list[dict[str, Any]]:
    """Figs. 7c to 7f: BTD against exact Tum as the order of candidates, time and UL, on a subset."""
    rows = []
    with loaded(n) as case:
        items = ItemSets.load(case.engine, case.dataset, np.zeros(case.dataset.n_items, dtype=np.bool_))
        measure, recode = Generalization(case.records), set_recoder(items, K, M)
        start = cluster(measure, K)
        for name, run in (("rum", rum_bound), ("tum", tum_bound)):
            for order_name in ("btd", "tum"):
                order = BtdOrder(items, start) if order_name == "btd" else TumOrder(recode, start)
                begun = time.process_time()
                arguments = (recode, order) if name == "tum" else (order,)
                found = run(measure, start, merges_delta, "t", *arguments)  # type: ignore[operator]
                seconds = time.process_time() - begun
                loss = sum(ul(recode(c).profile) for c in found) / n
                rows.append(
                    {
                        "algorithm": f"{name}_bound_t by {order_name}",
                        "records": n,
                        "cpu_seconds": round(seconds, 2),
                        "ul": loss,
                        "ncp": float(Merging(measure, found).rum),
                        "clusters": len(found),
                    }
                )
                print(rows[-1], flush=True)
    return rows


def resampled(records: Records, n: int) -> Records:
    """The slice drawn with replacement, numbers with noise of one percent of their domain."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, records.n, n)
    attributes = []
    for a in records.attributes:
        codes = a.codes[drawn]
        if a.is_range:
            width = max(a.length // 100, 0)
            codes = np.clip(codes + rng.integers(-width, width + 1, n), a.codes.min(), a.codes.max())
        attributes.append(
            Attribute(
                a.name, a.kind, codes, a.null[drawn], a.weight, a.length, a.unit, a.values, a.hierarchy, a.sql_type
            )
        )
    return Records(tuple(attributes), n)


def main() -> int:
    """Everything; the exit code says whether the stated figures were reached."""
    quick = "--quick" in sys.argv
    places = [a for a in sys.argv[1:] if not a.startswith("--")]
    place = Path(places[0] if places else "rt_paper")
    place.mkdir(parents=True, exist_ok=True)
    with loaded() as case:
        by_delta = of_delta(case, quick)
        write(place / "by_delta.csv", by_delta)
        by_k = of_k(case, quick)
        write(place / "by_k.csv", by_k)
        begun = time.process_time()
        cluster(Generalization(case.records), K)
        one = time.process_time() - begun
        begun = time.process_time()
        cluster(Generalization(resampled(case.records, 130_000)), K)
        large = time.process_time() - begun
    by_size = of_size(quick)
    write(place / "by_size.csv", by_size)
    by_order = of_ordering(1_000 if quick else 4_000, DELTA)
    write(place / "by_order.csv", by_order)
    bounds = [r for r in by_delta if "bound" in r["algorithm"] and "ul" in r]
    for y in ("ncp", "ul", "largest_cluster", *(f"are_{x}_{n}" for x, n in KINDS)):
        for framework in ("rum", "tum"):
            plot(
                place / f"{framework}_{y}.png", [r for r in bounds if r["algorithm"].startswith(framework)], "delta", y
            )
    plot(place / "time_by_records.png", by_size, "records", "cpu_seconds")
    plot(place / "time_by_k.png", by_k, "k", "cpu_seconds")
    return report(by_delta, by_order, one, large)


def report(by_delta: list[dict], by_order: list[dict], one: float, large: float) -> int:
    """What the paper says, what was measured, and whether the stated figures hold."""
    at = {r["algorithm"]: r for r in by_delta if abs(r["delta"] - 0.65) < 1e-9 and "ul" in r}
    rum, tum = [at[f"rum_bound_{v}"] for v in ("r", "t", "rt")], [at[f"tum_bound_{v}"] for v in ("r", "t", "rt")]
    seconds = {r["algorithm"]: r["cpu_seconds"] for r in by_order}
    gains = [seconds[f"{f}_bound_t by tum"] / max(seconds[f"{f}_bound_t by btd"], 0.01) for f in ("rum", "tum")]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    both, kinds = [*rum, *tum], [f"are_{x}_{y}" for x, y in KINDS if y]
    lower = [r["algorithm"] for r in both if all(r[kind] < at["rfirst"][kind] for kind in kinds)]
    print("\n| paper says | measured (delta = 0.65, k = 25, m = 2) |\n|---|---|")
    for says, found in (
        ("RM_R has the lowest UL, RM_T the highest", ", ".join(f"{r['algorithm']} {r['ul']:.3f}" for r in rum)),
        ("RM_R makes the largest clusters", ", ".join(f"{r['algorithm']} {r['largest_cluster']}" for r in rum)),
        ("BTD at least 10 times faster than Tum", ", ".join(f"{g:.0f} times" for g in gains)),
        ("... with the same UL", ", ".join(f"{r['algorithm']} {r['ul']:.3f}" for r in by_order)),
        ("UL below RFIRST's", f"{at['rfirst']['ul']:.3f} against " + ", ".join(f"{r['ul']:.3f}" for r in both)),
        ("NCP below TFIRST's", f"{at['tfirst']['ncp']:.3f} against " + ", ".join(f"{r['ncp']:.3f}" for r in both)),
        ("ARE of items below RFIRST's", f"for all kinds: {', '.join(lower) or 'none'}"),
    ):
        print(f"| {says} | {found} |")
    checks = {
        f"each of the six under {SECONDS} s": max(r["cpu_seconds"] for r in both) < SECONDS,
        f"CLUSTER under {CLUSTER_SECONDS} s ({one:.1f})": one < CLUSTER_SECONDS,
        f"130,000 records in CLUSTER under {LARGE_SECONDS} s ({large:.1f})": large < LARGE_SECONDS,
        f"memory under {MEMORY} MiB ({memory})": memory < MEMORY,
        "BTD 10 times faster": min(gains) >= 10,
        "UL below RFIRST's": all(r["ul"] < at["rfirst"]["ul"] for r in both),
        "NCP below TFIRST's": all(r["ncp"] < at["tfirst"]["ncp"] for r in both),
        "ARE below RFIRST's": len(lower) == len(both),
    }
    print()
    for name, holds in checks.items():
        print(f"{'met    ' if holds else 'NOT MET'} {name}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
