"""The figures of transactional k-anonymity: Partition against the public Python implementation of LG, Clump against both.

Run it with ``make bench``. Times are CPU seconds of the whole command, start-up and accuracy included, medians of RUNS.

Seconds say little on another machine. With ``PUBLIC_LG=PROGRAM`` the public implementation (github.com/qiyuangong,
Partition_for_Transaction) runs in turn with the command, and the limits are shares of its time in the same run: a Python
program that takes the data, the tree and k, does what ``anonymizer.py`` there does, and prints its NCP in percent. It is
written for Python 2. ``RUNS=N`` says how often both run.
"""

from __future__ import annotations

import os
import random
import re
import statistics
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
from datasets import ABSENT, DATA
from measuring import run_command, run_process

LM = {"bms1": Fraction(2972230, 496), "bms2": Fraction(67250461, 3339)}  # exact totals of Partition, k = 5
PUBLIC = {"bms1": (2.3, 0.0413), "bms2": (5.5, 0.0566)}  # public Python LG: CPU seconds (the best seen), NCP
SHARE = {"bms1": 2, "bms2": 5}  # our command may take this part of them
PROGRAM = os.environ.get("PUBLIC_LG")
RUNS = int(os.environ.get("RUNS", "5"))
CLUMP_SECONDS = {"bms1": 60, "bms2": 120}
SAMPLE = 5000


def run(source: Path, taxonomy: Path, *extra: str) -> tuple[dict[str, Any], float, int]:
    """Anonymize with k = 5; returns the report, CPU seconds and peak MiB."""
    about = ("--taxonomy", str(taxonomy), "--model", "k", "--k", "5")
    report, cpu, _, peak = run_command(source, *about, *extra)
    return report, cpu, peak


def public(name: str) -> float:
    """CPU seconds of the public implementation: of a run, or those that are known."""
    if PROGRAM is None:
        return PUBLIC[name][0]
    output, _, cpu, _, _ = run_process(
        sys.executable, PROGRAM, str(DATA / f"{name}.dat"), str(DATA / f"{name}.f5.tree"), "5"
    )
    found = re.search(r"\d+\.\d+", output)
    if found is None or abs(float(found[0]) / 100 - PUBLIC[name][1]) > 0.0001:
        raise SystemExit("the public implementation gives another NCP")
    return cpu


def on(name: str, *extra: str) -> tuple[dict[str, Any], float, int]:
    """Run on one of the real data sets."""
    return run(DATA / f"{name}.dat", DATA / f"{name}.f5.tree", *extra)


def diagnoses(place: Path) -> Path:
    """The diagnosis codes of the INFORMS data, one list for each person."""
    path = place / "diagnoses.parquet"
    with duckdb.connect() as connection:
        rows = connection.read_csv(str(DATA / "informs2005_rt.csv"), all_varchar=True)
        rows.select("DUPERSID AS tid, list_distinct(string_split(items, ' ')) AS item").write_parquet(str(path))
    return path


def ggd(report: dict[str, Any]) -> float:
    return float(Fraction(report["loss"]["ggd"]))


def main() -> int:
    """Print the tables; returns how many figures were missed."""
    if not DATA.is_dir():
        print(ABSENT, file=sys.stderr)
        return 2
    missed = 0
    partition_ggd: dict[str, float] = {}
    print(
        "| data | LM total | as expected | NCP | public LG's NCP | CPU, s | public LG's | limit, s | share | limit | peak, MiB |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, total in LM.items():
        runs = [(public(name), *on(name)) for _ in range(RUNS)]
        report, peak = runs[0][1], max(r[3] for r in runs)
        shares = sorted(r[2] / r[0] for r in runs)
        theirs, cpu, share = (statistics.median(x) for x in ([r[0] for r in runs], [r[2] for r in runs], shares))
        right = Fraction(report["loss"]["lm_total"]) == total
        missed += (not right) + (share > 1 / SHARE[name]) + (peak >= 2048) + (report["loss"]["ncp"] > PUBLIC[name][1])
        partition_ggd[name] = ggd(report)
        print(
            f"| {name} | {report['loss']['lm_total']} | {'yes' if right else 'NO'} | {report['loss']['ncp']:.5f} | "
            f"{PUBLIC[name][1]:.4f} | {cpu:.2f} | {theirs:.2f} | {theirs / SHARE[name]:.2f} | {share:.3f} ({shares[0]:.3f} to {shares[-1]:.3f}) | "
            f"{1 / SHARE[name]:.1f} | {peak} |"
        )
    print("\n| data | algorithm | GGD | of partition's | suppressed occurrences | CPU, s | limit, s | peak, MiB |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        informs = diagnoses(Path(folder))
        report, cpu, peak = run(informs, DATA / "icd9.tree")
        partition_ggd["informs"] = ggd(report)
        missed += not report["verified"]
        for name in ("bms1", "bms2", "informs"):
            for objective in ("total", "increase"):
                options = ("--algorithm", "clump", "--option", f"objective={objective}")
                if name == "informs":
                    report, cpu, peak = run(informs, DATA / "icd9.tree", *options)
                else:
                    report, cpu, peak = on(name, *options)
                limit = CLUMP_SECONDS.get(name)
                missed += (limit is not None and cpu > limit) + (peak >= 2048) + (not report["verified"])
                print(
                    f"| {name} | clump, {objective} | {ggd(report):.0f} | {ggd(report) / partition_ggd[name]:.2f} | "
                    f"{report['suppressed_occurrences']} | {cpu:.1f} | {limit or ''} | {peak} |"
                )
        print(f"\n| {SAMPLE} of bms1 | candidates | GGD | of exact |\n|---|---|---|---|")
        sample = Path(folder) / "sample.dat"
        lines = [line for line in (DATA / "bms1.dat").read_text().splitlines() if line]
        sample.write_text("\n".join(random.Random(1).sample(lines, SAMPLE)) + "\n")
        for objective in ("total", "increase"):
            exact = None
            for candidates in (None, 128):
                few = () if candidates is None else ("--option", f"candidates={candidates}")
                options = ("--algorithm", "clump", "--option", f"objective={objective}", *few)
                report, _, _ = run(sample, DATA / "bms1.f5.tree", *options)
                exact = exact or ggd(report)
                missed += ggd(report) > 1.02 * exact
                print(f"| {objective} | {candidates or 'all'} | {ggd(report):.1f} | {ggd(report) / exact:.4f} |")
    print("\n| data | algorithm | GGD | CPU, s | peak, MiB |\n|---|---|---|---|---|")
    for objective in ("total", "increase"):
        report, cpu, peak = on("t10i4d100k", "--algorithm", "clump", "--option", f"objective={objective}")
        missed += peak >= 2048
        print(f"| t10i4d100k | clump in blocks, {objective} | {ggd(report):.0f} | {cpu:.1f} | {peak} |")
    print(f"\nfigures missed: {missed}")
    return missed


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
