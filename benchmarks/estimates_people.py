"""The CPU seconds and peak memory that ``anondb profile --records`` estimates, beside those that runs take.

    PYTHONPATH=. python benchmarks/estimates_people.py [SIZES] [ALGORITHMS] [ATTRIBUTES] [K]

runs algorithms for (k,k^m)-anonymity (m = 2, the default delta) on parts of INFORMS, and on more persons than it has by
repeating them, each run a process of ``anondb anonymize``. Runs are written to estimates/people.csv as soon as they are done, and
are not measured again. It prints estimate / measured; with FIT as SIZES, the coefficients of ``guide/estimates.py`` from all runs.
"""

from __future__ import annotations

import csv
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from datasets import DATA
from measuring import Measured, Row, run_process
from scipy.optimize import nnls

import anondb
from anondb.guide.estimates import Features, terms

ATTRIBUTES = ("DOBMM", "DOBYY", "RACEX", "EDUCYEAR", "income", "SEX", "marry", "poverty")
FILE = Path(__file__).parent / "estimates" / "people.csv"
RUN = ("persons", "algorithm", "attributes", "k")


def write_people(persons: int, place: Path) -> tuple[Path, Path]:
    """The items and the records of so many persons of INFORMS, in an order of their own."""
    with (DATA / "informs2005_rt.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    random.Random(1).shuffle(rows)
    chosen = [rows[i % len(rows)] for i in range(persons)]
    items, records = place / "items.csv", place / "records.csv"
    with items.open("w", encoding="utf-8") as file:
        file.write("tid,item\n")
        file.writelines(f"{i},{item}\n" for i, row in enumerate(chosen) for item in sorted(set(row["items"].split())))
    with records.open("w", encoding="utf-8") as file:
        file.write(",".join(("tid", *ATTRIBUTES)) + "\n")
        file.writelines(",".join((str(i), *(row[a] for a in ATTRIBUTES))) + "\n" for i, row in enumerate(chosen))
    return items, records


def measured(items: Path, records: Path, algorithm: str, attributes: str, k: str) -> tuple[float, int]:
    """CPU seconds and peak MiB of a run."""
    words = ["anonymize", str(items), "--records", str(records), "--quasi-identifiers", attributes, "--model", "kkm"]
    words += ["--algorithm", algorithm, "--k", k, "--json"]
    words += [word for name in ("one-item", "rare-items", "one-released-item") for word in ("--accept", name)]
    _, code, cpu, _, peak = run_process(sys.executable, "-m", "anondb", *words)
    if code:
        raise SystemExit(f"{algorithm} ended with {code}")
    return round(cpu, 2), peak


def print_fit(runs: Iterable[Row]) -> None:
    """The coefficients of the cost of each algorithm, as ``anondb.guide.estimates`` has them: none below 0, with the least
    sum of squared relative errors."""
    by_algorithm: dict[str, list[Row]] = defaultdict(list)
    for run in runs:
        by_algorithm[run["algorithm"]].append(run)
    names = ("run", "people", "groups", "cuts")
    for algorithm, of in by_algorithm.items():
        values = [terms(Features(run["persons"], 0, 0, 0, None, run["persons"]), run["k"]) for run in of]
        for what in ("cpu_seconds", "peak_mib"):
            rows = [[v[name] / run[what] for name in names] for v, run in zip(values, of, strict=True)]
            found = nnls(np.array(rows), np.ones(len(rows)))[0]
            print(algorithm, what, ",".join(f"{c:.3g}" if c > 0 else "" for c in found))


def main() -> None:
    """Measure what is missing, and print the table."""
    sizes, algorithms, number, k = (*sys.argv[1:], *("3000,12000,26735", "", "8", "5")[len(sys.argv) - 1 :])
    runs = Measured(FILE, *RUN)
    if sizes == "FIT":
        return print_fit(runs.rows)
    attributes = ",".join(ATTRIBUTES[: int(number)])
    for persons in sizes.split(","):
        with tempfile.TemporaryDirectory() as place, anondb.connect() as db:
            items, records = write_people(int(persons), Path(place))
            profile = db.profile(items, records=records, quasi_identifiers=attributes, k=int(k))
            for estimate in profile.estimates:
                if algorithms and estimate.algorithm not in algorithms.split(","):
                    continue
                key = dict(zip(RUN, (int(persons), estimate.algorithm, int(number), int(k)), strict=True))
                if not runs.has(**key):
                    cpu, peak = measured(items, records, estimate.algorithm, attributes, k)
                    runs.add(key | {"cpu_seconds": cpu, "peak_mib": peak})
                run = runs.get(**key) or {}
                seconds, mib = run["cpu_seconds"], run["peak_mib"]
                ratios = "-" if estimate.cpu_seconds is None else f"{estimate.cpu_seconds / seconds:.2f}"
                ratios += "" if estimate.peak_mib is None else f"  {estimate.peak_mib / mib:.2f}"
                print(f"{persons:>7} {estimate.algorithm:<13} {seconds:8.1f} s {mib:6.0f} MiB  {ratios}", flush=True)


if __name__ == "__main__":
    main()
