"""The ledger of widths, computed anew: what changed beside the file, and the file itself with ``--write``.

    .venv/bin/python benchmarks/ledger.py [RELEASE ...] [--write]

For each release: how many queries are answered, now and in the file, what became worse, and the geometric mean of
(width + 1) / (width before + 1) over all numbers that have finite bounds in both, and that over the queries, each of which
counts once by the mean of its numbers. Some minutes.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from answers.ledger import ANSWERED, FILE, Entry, entries, queries, ratios, read, worse, write
from answers.ledger_releases import KINDS

Ledger = dict[tuple[str, str, int], Entry]


def mean(logs: list[list[float]]) -> str:
    """The geometric means of ratios over numbers and over queries."""
    numbers = [log for query in logs for log in query]
    queries_of = [math.fsum(query) / len(query) for query in logs if query]
    means = (f"{math.exp(math.fsum(of) / len(of)):.4f} of {len(of)}" for of in (numbers, queries_of) if of)
    return " numbers, ".join(means) + " queries" if numbers else "-"


def compare(release: str, before: Ledger, folder: Path) -> tuple[Ledger, list[list[float]]]:
    """Compute the entries of a release, and print how they differ from those before."""
    now: Ledger = {}
    logs: list[list[float]] = []
    lines = []
    for query, entry, faults in entries(folder, release, queries()):
        now[release, query.shape, query.n] = entry
        lines += [f"  unsound: {fault}" for fault in faults]
        if old := before.get((release, query.shape, query.n)):
            logs.append(ratios(old, entry))
            if fault := worse(old, entry):
                lines.append(f"  worse: {query.shape} {query.n}: {fault}")
    was = sum(e.outcome == ANSWERED for (name, _, _), e in before.items() if name == release)
    answered = sum(e.outcome == ANSWERED for e in now.values())
    print(f"{release:20} {len(now):5} queries {answered:5} answered {was:5} before   mean {mean(logs)}")
    print(*lines, sep="\n", end="\n" if lines else "", flush=True)
    return now, logs


def main() -> None:
    parser = argparse.ArgumentParser(description="Compute the ledger of widths anew.")
    parser.add_argument("releases", nargs="*", default=list(KINDS), metavar="RELEASE")
    parser.add_argument("--write", action="store_true", help="write the file, with the releases computed")
    chosen = parser.parse_args()
    before: Ledger = read() if FILE.exists() else {}
    now, logs = dict(before), list[list[float]]()
    with tempfile.TemporaryDirectory() as folder:
        for release in chosen.releases:
            found, more = compare(release, before, Path(folder))
            now |= found
            logs += more
    print(f"all: geometric mean of (width + 1) / (width before + 1): {mean(logs)}")
    if chosen.write:
        order = [(name, q.shape, q.n) for name, kind in KINDS.items() for q in queries() if q.fits(kind)]
        write({key: now[key] for key in order})


if __name__ == "__main__":
    main()
