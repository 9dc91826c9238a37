"""The comparisons of the papers that public data allow: what the paper says, and what is measured here.

The papers' own data (POS and AOL with hierarchies of their authors') are not public: here are the click streams with balanced
trees of fan-out 5. COAT's own figures are in ``coat_paper.py``.

    python benchmarks/papers.py [bms1] [bms2]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from comparing import Runs, compare, shown, table, there
from datasets import DATA

K, LARGEST_M = 5, 7
SOURCES = tuple(sys.argv[1:]) or ("bms1", "bms2")


def claims(title: str, rows: Sequence[tuple[str, str]]) -> None:
    print(f"## {title}\n")
    table(["the paper says", "we measure"], [list(row) for row in rows])


def _loss(runs: Runs, name: str, k: int, m: int | None) -> float | None:
    run = runs.get((name, k, m)) or runs.get((name, k, None))
    return None if run is None or run["status"] != "done" else run["lm"]


KS = (2, 5, 10, 25, 50)


def _error(run: dict[str, Any], figure: str) -> float | None:
    found = run.get("relative_error")
    return None if found is None else found[figure]


def coat_and_apriori() -> None:
    """Loukides, Gkoulalas-Divanis and Malin, section 6.2: accuracy of COUNT queries, k from 2 to 50."""
    rows = []
    for data in SOURCES:
        words = ("--taxonomy", DATA / f"{data}.f5.tree", "--algorithms", "coat,apriori", "--draw", "generalized")
        runs = compare(DATA / f"{data}.dat", *words, "--k", ",".join(map(str, KS)), "--m", "2")
        said = "COAT's error is up to 9 times smaller than Apriori's; it grows with k"
        for figure in ("mean", "median", "median_frequent", "always_zero", "median_truth"):
            errors = [[_error(runs["coat", k, 2], figure), _error(runs["apriori", k, 2], figure)] for k in KS]
            found = "; ".join(f"k={k}: {shown(c)} and {shown(a)}" for k, (c, a) in zip(KS, errors, strict=True))
            rows.append((said, f"{data}, {figure}, coat and apriori: {found}"))
    claims("COAT against Apriori", rows)


def mhghs_and_others() -> None:
    """Liu and Wang, PAKDD 2010, section 5: information loss (LM) with k = 5, m to 7."""
    rows = []
    for data in SOURCES:
        names = there("mhghs", "apriori", "mm", "partition")
        words = ("--taxonomy", DATA / f"{data}.f5.tree", "--algorithms", names, "--queries", 1)
        ms = ",".join(str(m) for m in range(1, LARGEST_M + 1))
        runs = compare(DATA / f"{data}.dat", *words, "--k", K, "--m", ms, "--time-limit", 300)
        for m in range(1, LARGEST_M + 1):
            losses = {name: _loss(runs, name, K, m) for name in names.split(",")}
            found = ", ".join(f"{name} {shown(loss)}" for name, loss in losses.items())
            others = [loss for name, loss in losses.items() if name != "mhghs" and loss is not None]
            ours = losses["mhghs"]
            least = "" if ours is None else (" (least)" if all(ours <= other for other in others) else " (NOT the least)")
            rows.append(("mHgHs loses least, then LG, then AA; MM loses most", f"{data}, m={m}: {found}{least}"))
    claims("mHgHs against LG (Partition), AA (Apriori) and MM, k = 5", rows)


def clump_and_partition() -> None:
    """Milani Fard and Wang, SECRYPT 2010: information loss of transactional k-anonymity."""
    names = there("clump", "partition")
    if names != "clump,partition":
        return
    rows = []
    for data in SOURCES:
        words = ("--taxonomy", DATA / f"{data}.f5.tree", "--algorithms", names, "--model", "k", "--queries", 1)
        runs = compare(DATA / f"{data}.dat", *words, "--k", "5,10", "--time-limit", 900)
        found = "; ".join(f"{name}, k={k}: {shown(run.get('lm'))}" for (name, k, _), run in runs.items())
        rows.append(("Clump loses less than Partition", f"{data}: {found}"))
    claims("Clump against Partition", rows)


def main() -> None:
    coat_and_apriori()
    mhghs_and_others()
    clump_and_partition()


if __name__ == "__main__":
    main()
