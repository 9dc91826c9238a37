"""The CPU seconds and peak memory that ``anondb profile`` estimates, beside those that runs take.

    python benchmarks/estimates.py [DIRECTORY] [DATA ...]

runs every algorithm that keeps k^m-anonymity or more on the real data and on five shapes of made baskets, each run a process
as of ``anondb compare``: from reading the source to the verified release and its accuracy. It prints the table of
benchmarks/README.md. Each run is written to estimates/runs.csv (or DIRECTORY) as soon as it is done, and rows that are there are
not measured again. CPU seconds are the least of ``REPEATS`` runs.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from comparing import shown, table
from datasets import ABSENT, DATA, write_taxonomy
from measuring import Measured
from quest import BASKETS, FAN_OUT, Shape, write_data
from scipy.optimize import nnls

import anondb
from anondb.compare.runs import Setting, plan, run_one
from anondb.data.sources import open_source
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import load_transactions
from anondb.demo import make_shop
from anondb.guide.estimates import TERMS as ALL_TERMS
from anondb.guide.estimates import Estimate, Features, estimates, features, terms
from anondb.guide.knowledge import what_attackers_find
from anondb.taxonomies.check import checked
from anondb.taxonomies.writing import write_paths

K, M = 5, 2
SECONDS, MEMORY = 900.0, "8GB"  # limits of a run
REPEATS, REPEATED = 2, 10.0  # runs below so many CPU seconds are repeated
SHOP = "shop"  # of the demo: what little data take
REAL = ("bms1", "bms2", "t10i4d100k", "t40_first10000", "mushroom", "informs")
SHAPES = {  # transactions, and their shape
    "many short": (200_000, Shape(items=300, patterns=1000, mean_length=3)),
    "many items": (20_000, Shape(items=6000, patterns=6000, mean_length=6)),
    "few long": (4_000, Shape(items=400, patterns=800, mean_length=30, drawn=16)),
    "large": (500_000, BASKETS),
    "wide": (60_000, Shape(items=15_000, patterns=12_000, mean_length=8)),
}
# The coefficients are computed from these, not from the shapes "many short" and "few long".
FITTED = (SHOP, *REAL, "many items", "large", "wide")
ALGORITHMS = ("mhghs", "hghs", "apriori", "vpa", "lra", "coat", "pcta", "mm", "similar", "partition", "clump")
TERMS = ("run", "occurrences", "pair_rows", "pairs", "items")
OTHER_TERMS = {"clump": (*TERMS, "clusters"), "similar": ("run", "occurrences", "merges", "item_pairs")}


def write_source(data: str, place: Path) -> tuple[Path, Path]:
    """The transactions and the taxonomy of a data set: of items that have none, a balanced one over the sorted items."""
    source, tree = place / f"{data.replace(' ', '_')}.dat", place / f"{data.replace(' ', '_')}.tree"
    if data in SHAPES:
        n, shape = SHAPES[data]
        write_data(source, n, shape=shape)
        write_taxonomy(tree, shape.items, FAN_OUT)
        return source, tree
    if data == SHOP:
        with anondb.connect() as db:
            make_shop(db)
            db.engine.connection.sql("SELECT tid, item FROM sales").write_csv(str(source.with_suffix(".csv")))
            with db.engine.transaction():
                food = load_taxonomy(db.engine, "food")
            write_paths(food, tree, replace=True)
        return source.with_suffix(".csv"), tree
    if data == "informs":
        people = duckdb.read_csv(str(DATA / "informs2005_rt.csv"), all_varchar=True)
        source.write_text("\n".join(items or "" for (items,) in people.select("items").fetchall()) + "\n", "utf-8")
        return source, DATA / "icd9.tree"
    known = DATA / f"{data}.f5.tree"
    if not known.exists():
        items = sorted({item for line in (DATA / f"{data}.dat").read_text("utf-8").splitlines() for item in line.split()})
        write_tree(tree, items)
    return DATA / f"{data}.dat", known if known.exists() else tree


def write_tree(path: Path, items: list[str]) -> None:
    """A balanced taxonomy over items in their order."""
    write_taxonomy(path, len(items), FAN_OUT)
    lines = path.read_text("ascii").splitlines()
    named = [";".join([item, *line.split(";")[1:]]) for item, line in zip(items, lines, strict=True)]
    path.write_text("\n".join(named) + "\n", "utf-8")


def measured(source: Path, tree: Path, algorithm: str) -> dict[str, Any]:
    """CPU seconds and peak memory of a run, or why there are none."""
    (run,) = plan([algorithm], "km", {"k": [K], "m": [M]}, {"taxonomy": str(tree), "max_suppression": 100})
    asked = {"workload": None, "log": None, "queries": 1000, "size": 2, "seed": 0, "draw": "all"}
    limits = {"threads": None, "memory_limit": MEMORY, "time_limit": SECONDS}
    setting = Setting(str(source), None, "tid", "item", **asked, **limits, fingerprint="")
    done = [run_one(setting, run)]
    while done[0].cpu_seconds < REPEATED and done[0].status == "done" and len(done) < REPEATS:
        done.append(run_one(setting, run))
    cpu, peak = min(r.cpu_seconds for r in done), min(r.peak_mib for r in done)
    return {"status": done[0].status, "cpu_seconds": cpu, "peak_mib": peak}


class Runs(Measured):
    """The measured runs, in a CSV file."""

    def __init__(self, place: Path) -> None:
        super().__init__(place / "runs.csv", "data", "algorithm")

    def measure(self, data: str, source: Path, tree: Path, estimated: Iterable[str]) -> None:
        """Measure the runs that are missing, of the algorithms that have an estimate."""
        for algorithm in estimated:
            if not self.has(data=data, algorithm=algorithm):
                self.add({"data": data, "algorithm": algorithm, "k": K, "m": M, **measured(source, tree, algorithm)})

    def figures(self, data: str, algorithm: str) -> tuple[float, float] | None:
        """CPU seconds and MiB of a run; None if it was stopped at a limit."""
        row = self.get(data=data, algorithm=algorithm)
        if row is None or row["status"] != "done":
            return None
        return row["cpu_seconds"], row["peak_mib"]


def features_of(source: Path, tree: Path) -> tuple[Features, tuple[Estimate, ...]]:
    """What costs depend on, and the estimates, as ``anondb profile`` makes them."""
    with anondb.connect() as db, db.engine.transaction(), open_source(db.engine, source, "transactions") as rows:
        dataset = load_transactions(db.engine, rows)
        figures = features(db.engine, dataset, what_attackers_find(db.engine, dataset, K, most=M))
        return figures, estimates(figures, K, checked(db.engine, tree, dataset.labels, dataset.item_kind))


def fit(rows: list[tuple[Features, float]], names: tuple[str, ...]) -> dict[str, float]:
    """The coefficients of these terms, none below 0, with the least sum of squared relative errors; without those of 0."""
    table = np.array([[terms(figures, K)[name] for name in names] for figures, _ in rows])
    values = np.array([value for _, value in rows])
    coefficients = nnls(table / values[:, None], np.ones(len(rows)))[0]
    return {name: float(f"{c:.3g}") for name, c in zip(names, coefficients, strict=True) if c > 0}


def cells(coefficients: dict[str, float]) -> str:
    """Coefficients in the order of all terms, separated by commas."""
    return ",".join(f"{coefficients[name]:g}" if name in coefficients else "" for name in ALL_TERMS).rstrip(",")


def print_fit(runs: Runs, known_features: dict[str, Features]) -> None:
    """Print the coefficients of every algorithm, from the runs on ``FITTED``, as ``anondb.guide.estimates`` has them."""
    for algorithm in ALGORITHMS:
        of = [(known_features[d], f) for d in FITTED if (f := runs.figures(d, algorithm)) is not None]
        names = OTHER_TERMS.get(algorithm, TERMS)
        print(algorithm, *(cells(fit([(figures, values[i]) for figures, values in of], names)) for i in (0, 1)))


def main() -> None:
    words = sys.argv[1:]
    fitting = "--fit" in words
    words = [w for w in words if w != "--fit"]
    if not DATA.is_dir():
        sys.exit(ABSENT)
    data_sets = (SHOP, *REAL, *SHAPES)
    place = Path(words.pop(0)) if words and words[0] not in data_sets else Path(__file__).with_name("estimates")
    runs, known_features = Runs(place), dict[str, Features]()
    rows: dict[int, list[list[str]]] = {0: [], 1: []}
    for data in words or data_sets:
        with tempfile.TemporaryDirectory() as folder:
            source, tree = write_source(data, Path(folder))
            known_features[data], guesses = features_of(source, tree)
            estimated = {e.algorithm: (e.cpu_seconds, e.peak_mib) for e in guesses}
            runs.measure(data, source, tree, [a for a in ALGORITHMS if estimated[a][0] is not None])
        for i in rows:
            cells = [beside(estimated[a][i], runs.figures(data, a), i) for a in ALGORITHMS]
            rows[i].append([data, *cells])
    if fitting:
        return print_fit(runs, known_features)
    for i, unit in enumerate(("CPU seconds", "Peak memory, MiB")):
        print(f"{unit}: estimate, and estimate / measured:\n")
        table(["data", *ALGORITHMS], rows[i])


def beside(estimate: float | None, run: tuple[float, float] | None, i: int) -> str:
    """A cell: the estimate of CPU seconds (0) or memory (1), and its ratio to the run's figure."""
    if estimate is None:
        return "-"
    text = shown(estimate, (".3g", ",.0f")[i])
    return f"{text} (over {SECONDS:.0f} s)" if run is None else f"{text} ({estimate / run[i]:.2f})"


if __name__ == "__main__":
    main()
