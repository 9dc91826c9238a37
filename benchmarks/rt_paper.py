"""Section 6 of Poulis et al. (ECML/PKDD 2013) on the INFORMS 2005 slice: losses, errors of COUNT queries, clusters, time.

    python benchmarks/rt_paper.py [DIRECTORY]    some 20 CPU minutes
    python benchmarks/rt_paper.py --limits       only what has a limit, some 5 CPU minutes

writes CSV files and plots to benchmarks/rt_paper (or DIRECTORY) and prints what the paper says beside what is measured. Each
row is written as soon as it is measured, and rows that are there are not measured again: a run that was stopped goes on where
it was. ``--limits`` measures everything anew and keeps nothing. The paper's data (36,553 records) and its workloads are not public; the slice has
26,735 records and other attributes, so shapes are compared, not numbers. Time is CPU seconds of the algorithm alone.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from datasets import ROOT, load
from measuring import Line, Measured, Row, least_cpu, plot

from anondb.algorithms.relational.bounds import BoundViolated, Merging, rum_bound, tum_bound
from anondb.algorithms.relational.btd import BtdOrder
from anondb.algorithms.relational.cluster import cluster
from anondb.algorithms.relational.items import ItemSets, ul
from anondb.algorithms.relational.rt import relational
from anondb.algorithms.relational.sets import set_recoder
from anondb.data.generalization import Generalization
from anondb.data.records import Attribute, Records, load_records
from anondb.data.sources import open_source
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import DuckDBEngine, Engine, reads
from anondb.models.relational import KkmAnonymity
from anondb.recoding import RelationalRecoding
from anondb.release.freeze import drop_schema, freeze
from anondb.release.item_supports import expected_holders
from anondb.release.objects import release_schema
from anondb.utility.relational import ExpectedEstimator, Original, RtEstimator, average_relative_error

sys.path.insert(0, str(ROOT / "tests"))
from rt_cases import TumOrder

ATTRIBUTES = "DOBMM,DOBYY,EDUCYEAR,income,poverty,RACEX:categorical,SEX:categorical,marry:categorical"
K, M, DELTA = 25, 2, 0.65
VARIANTS = ("r", "t", "rt")
KINDS = ((2, 0), (0, 2), (1, 1), (1, 2), (2, 1))  # (relational values, items) of a query
QUERIES = 100
RARE = 25  # queries with smaller answers are looked at apart
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
    engine = DuckDBEngine.open(threads=2)

    engine.call(lambda: load(engine.connection, "informs", "diagnoses"))
    if limit is not None:
        last = f"(SELECT max(tid) FROM (FROM people ORDER BY tid LIMIT {limit}))"
        for table in ("people", "diagnoses"):
            engine.call(lambda t=table: engine.connection.execute(f"DELETE FROM {t} WHERE tid > {last}"))
    engine.begin()
    with open_source(engine, "diagnoses", "transactions") as rows, open_source(engine, "people", "records") as people:
        dataset = load_transactions(engine, rows, more_ids=people)
    yield Case(engine, dataset, load_records(engine, "people", dataset, quasi_identifiers=ATTRIBUTES))
    engine.close()


class Workload:
    """The queries of each kind, and what recodings make of them."""

    def __init__(self, case: Case) -> None:
        self._case, self._original = case, Original.load(case.engine, case.dataset, case.records)
        self._asked = {kind: self._original.draw(*kind, QUERIES, seed=1) for kind in KINDS}

    def causes(self, found: RelationalRecoding) -> Iterator[Row]:
        """Why queries of one value and an item, and of two items, are answered as they are: for small and other answers.

        An estimate is a product of three: the records of classes in which all the items occur (``reach``), the share of
        these that may satisfy the query (``possible``), and the mean probability there (``chance``).
        """
        estimator = RtEstimator(self._case.engine, self._case.dataset, self._case.records, found)
        of_class = self._case.engine.select(reads.rows(found.classes, "class", order="tid"))["class"].astype(np.int64)
        sizes = np.bincount(of_class)
        for x, y in ((1, 1), (0, 2)):
            facts = []
            for query in self._asked[x, y]:
                truth = self._original.count(query)
                here = set[int].intersection(*(set(of_class[self._original.holders[i]].tolist()) for i in query.items))
                chances = estimator.chances(query)
                estimate, reach = float(chances.sum()), int(sizes[sorted(here)].sum())
                facts.append((abs(truth - estimate) / truth, truth, estimate, reach, int((chances > 0).sum())))
            table = np.array(facts, dtype=np.float64)
            small = table[:, 1] < RARE
            for name, chosen in (("small", small), ("other", ~small)):
                error, truth, estimate, reach, possible = table[chosen].mean(axis=0).tolist()
                yield {
                    "values": x,
                    "items": y,
                    "answers": name,
                    "queries": int(chosen.sum()),
                    "are": error,
                    "truth": truth,
                    "estimate": estimate,
                    "reach": reach,
                    "possible": possible / reach,
                    "chance": estimate / possible,
                }

    def errors(self, found: RelationalRecoding) -> Row:
        """ARE of each kind."""
        return self._errors(RtEstimator(self._case.engine, self._case.dataset, self._case.records, found), "are")

    def expected(self, found: RelationalRecoding, model: KkmAnonymity) -> Row:
        """ARE of each kind by the numbers that a session expects, from the frozen release."""
        case, schema = self._case, release_schema("memory", "papers")
        kind = freeze(case.engine, case.dataset, found, model, release_schema=schema).kind
        holders = expected_holders({name: schema.table(name) for name in kind.tables}, local=kind.local)
        answering = ExpectedEstimator(case.engine, case.dataset, case.records, found, holders)
        drop_schema(case.engine, schema)
        return self._errors(answering, "expected")

    def _errors(self, estimator: RtEstimator, name: str) -> Row:
        return {
            f"{name}_{x}_{y}": average_relative_error(self._original, estimator, asked)
            for (x, y), asked in self._asked.items()
        }


def item_sizes(case: Case, found: RelationalRecoding) -> Row:
    """The mean size of the released items of a record, and their mean number."""
    rows = case.engine.select(reads.rows(found.items.transactions, "released"))
    sizes = found.items.sizes[rows["released"].astype(np.int64)]
    return {"item_size": float(sizes.mean()), "items_per_record": len(sizes) / case.records.n}


def measured(case: Case, algorithm: str, delta: float, k: int = K, workload: Workload | None = None) -> Row:
    """One run: CPU seconds, losses, clusters, and the errors of queries."""
    row: Row = {"algorithm": algorithm, "delta": delta, "k": k}
    begun = time.process_time()
    try:
        found = relational(case.engine, case.dataset, case.records, KkmAnonymity(k, M), algorithm, delta=delta)
    except BoundViolated as error:
        return row | {"infeasible_below": float(error.smallest)}
    row |= {
        "cpu_seconds": round(time.process_time() - begun, 2),
        "ncp": float(found.rum),
        "ul": found.tum,
        "clusters": found.clusters,
        "largest_cluster": found.largest,
    }
    if workload is not None:
        row |= item_sizes(case, found) | workload.errors(found) | workload.expected(found, KkmAnonymity(k, M))
    forget(case)
    return row


def panel(rows: Sequence[Row], x: str, y: str) -> tuple[str, str, list[Line]]:
    """A column of the rows, with a line for each algorithm."""
    names = dict.fromkeys(r["algorithm"] for r in rows)
    return y, x, [(n, sorted((r[x], r[y]) for r in rows if r["algorithm"] == n and x in r and y in r)) for n in names]


def of_delta(case: Case, out: Measured, limits: bool) -> None:
    """Figs. 4 and 6: losses, errors and largest cluster against delta, from the least that can be met to 1.

    The least Rum is what CLUSTER reaches, the least Tum that of one cluster of all records.
    """
    workload: Workload | None = None

    def run(algorithm: str, delta: float) -> Row:
        nonlocal workload
        if not out.has(algorithm=algorithm, delta=delta):
            workload = workload or Workload(case)
            out.add(measured(case, algorithm, delta, workload=workload))
        row = out.get(algorithm=algorithm, delta=delta)
        assert row is not None
        return row

    for name in ("rfirst", "tfirst"):
        run(name, DELTA)
    least_rum = round(run("rfirst", DELTA)["ncp"] + 1e-6, 6)
    for v in VARIANTS:
        for delta in (DELTA,) if limits else (least_rum, 0.25, 0.35, 0.5, DELTA, 0.8, 1.0):
            run(f"rum_bound_{v}", delta)
    for v in VARIANTS:
        for delta in (DELTA,) if limits else (0.2, 0.3, 0.4, 0.5, DELTA, 0.8, 0.9, 1.0):
            run(f"tum_bound_{v}", delta)


def of_answers(case: Case, out: Measured) -> None:
    """Why errors of items go up before they go down as clusters grow."""
    workload: Workload | None = None
    for v in VARIANTS:
        for delta in (0.19, 0.25, 0.35, 0.5, DELTA, 0.8, 0.9, 1.0):
            name = f"rum_bound_{v}"
            if out.has(algorithm=name, delta=delta, items=2, answers="other"):
                continue
            workload = workload or Workload(case)
            found = relational(case.engine, case.dataset, case.records, KkmAnonymity(K, M), name, delta=delta)
            for row in workload.causes(found):
                out.add({"algorithm": name, "delta": delta, "clusters": found.clusters, **row})
            forget(case)


def forget(case: Case) -> None:
    """Drop what a recoding keeps in the database."""
    for name in ("rt_classes", "rt_rows", "rt_incomplete"):
        case.engine.drop(case.engine.work_table(name))


def of_size(out: Measured) -> None:
    """Fig. 7a: time against the number of records."""
    names = [*(f"rum_bound_{v}" for v in VARIANTS), "cluster"]
    for n in (5_000, 10_000, 15_000, 20_000, 26_735):
        missing = [name for name in names if not out.has(algorithm=name, records=n)]
        if not missing:
            continue
        with loaded(n) as case:
            for name in missing:
                if name == "cluster":
                    out.add({"algorithm": name, "records": n, "cpu_seconds": seconds_of_cluster(case.records)})
                else:
                    out.add({**measured(case, name, DELTA), "records": n})


def seconds_of_cluster(records: Records, k: int = K) -> float:
    """CPU seconds of CLUSTER."""
    return round(least_cpu(lambda: cluster(Generalization(records), k))[0], 2)


def of_k(case: Case, out: Measured) -> None:
    """Fig. 7b: time against k."""
    for k in (10, 25, 50, 100):
        for v in VARIANTS:
            if not out.has(algorithm=f"rum_bound_{v}", k=k):
                out.add(measured(case, f"rum_bound_{v}", DELTA, k=k))
        if not out.has(algorithm="cluster", k=k):
            out.add({"algorithm": "cluster", "k": k, "cpu_seconds": seconds_of_cluster(case.records, k)})


def of_ordering(out: Measured, n: int, variants: Sequence[str]) -> None:
    """Figs. 7c to 7f: BTD against exact Tum as the order of candidates, time and UL, on a subset."""
    wanted = [
        (bound, v, order)
        for bound in ("rum", "tum")
        for v in variants
        for order in ("btd", "tum")
        if not out.has(algorithm=f"{bound}_bound_{v} by {order}", records=n)
    ]
    if not wanted:
        return
    with loaded(n) as case:
        items = ItemSets.load(case.engine, case.dataset, np.zeros(case.dataset.n_items, dtype=np.bool_))
        measure, recode = Generalization(case.records), set_recoder(items, K, M)
        start = cluster(measure, K)
        delta = Fraction(str(DELTA))
        for bound, v, by in wanted:
            begun = time.process_time()
            order = BtdOrder(items, start) if by == "btd" else TumOrder(recode, start)
            if bound == "rum":
                found = rum_bound(measure, start, delta, v, order)
            else:
                found = tum_bound(measure, start, delta, v, recode, order)
            out.add(
                {
                    "algorithm": f"{bound}_bound_{v} by {by}",
                    "records": n,
                    "cpu_seconds": round(time.process_time() - begun, 2),
                    "ul": sum(ul(recode(c).profile) for c in found) / n,
                    "ncp": float(Merging(measure, found).rum),
                    "clusters": len(found),
                }
            )


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
            Attribute(a.name, a.kind, codes, a.null[drawn], a.weight, a.length, a.unit, a.values, a.hierarchy, a.sql_type)
        )
    return Records(tuple(attributes), n)


def main() -> int:
    """Everything; the exit code says whether the stated figures were reached."""
    if "--limits" in sys.argv:
        with tempfile.TemporaryDirectory() as directory:
            return measure(Path(directory), limits=True)
    return measure(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "rt_paper", limits=False)


def measure(place: Path, limits: bool) -> int:
    """Measure what is not in the files of a directory yet, draw the plots, and report."""
    by_delta = Measured(place / "by_delta.csv", "algorithm", "delta")
    by_answer = Measured(place / "by_answer.csv", "algorithm", "delta", "items", "answers")
    by_k = Measured(place / "by_k.csv", "algorithm", "k")
    by_size = Measured(place / "by_size.csv", "algorithm", "records")
    by_order = Measured(place / "by_order.csv", "algorithm", "records")
    with loaded() as case:
        of_delta(case, by_delta, limits)
        if not limits:
            of_answers(case, by_answer)
            of_k(case, by_k)
        for n in (case.records.n, 130_000):
            if not by_size.has(algorithm="cluster", records=n):
                some = case.records if n == case.records.n else resampled(case.records, n)
                by_size.add({"algorithm": "cluster", "records": n, "cpu_seconds": seconds_of_cluster(some)})
    if not limits:
        of_size(by_size)
    of_ordering(by_order, 4_000, ("t",) if limits else ("t", "rt"))
    for bound in ("rum", "tum"):
        rows = [r for r in by_delta.rows if r["algorithm"].startswith(bound)]
        plot(place / f"{bound}_are.png", [panel(rows, "delta", f"are_{x}_{y}") for x, y in KINDS])
        plot(place / f"{bound}_losses.png", [panel(rows, "delta", y) for y in ("ncp", "ul", "largest_cluster")])
    small = [r for r in by_size.rows if r["records"] < 130_000]
    plot(place / "seconds_by_records.png", [panel(small, "records", "cpu_seconds")])
    plot(place / "seconds_by_k.png", [panel(by_k.rows, "k", "cpu_seconds")])
    return report(by_delta.rows, by_order.rows, by_size.rows)


def report(by_delta: Sequence[Row], by_order: Sequence[Row], by_size: Sequence[Row]) -> int:
    """What the paper says, what was measured, and whether the stated figures hold."""
    at = {r["algorithm"]: r for r in by_delta if abs(r["delta"] - DELTA) < 1e-9 and "ul" in r}
    rum, tum = ([at[f"{bound}_bound_{v}"] for v in VARIANTS] for bound in ("rum", "tum"))
    seconds = {r["algorithm"]: r["cpu_seconds"] for r in by_order}
    gains = [s / max(seconds[name.replace("by tum", "by btd")], 0.01) for name, s in seconds.items() if "by tum" in name]
    of_cluster = {r["records"]: r["cpu_seconds"] for r in by_size if r["algorithm"] == "cluster"}
    one, large = of_cluster[max(n for n in of_cluster if n < 130_000)], of_cluster[130_000]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    both, kinds = [*rum, *tum], [f"are_{x}_{y}" for x, y in KINDS if y]
    lower = [r["algorithm"] for r in both if all(r[kind] < at["rfirst"][kind] for kind in kinds)]
    print(f"\n| paper says | measured (delta = {DELTA}, k = {K}, m = {M}) |\n|---|---|")
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
