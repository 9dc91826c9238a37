"""How time and memory grow: synthetic transactions of average length 7 over 1,000 items, up to a million of them.

    python benchmarks/scale.py [LARGEST]

Items are drawn by a power law, as in click streams; the taxonomy is balanced with fan-out 10. A run passes if it stays
within 4 GB and its CPU seconds grow no faster than n log n from 100,000 transactions on.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import numpy as np
from comparing import compare, shown, table, there
from datasets import write_taxonomy

SIZES = (100_000, 200_000, 500_000, 1_000_000)
LEAVES, FAN_OUT, MEAN_LENGTH, SKEW = 1000, 10, 7, 0.9
MOST_MIB = 4096


def write_data(path: Path, n: int) -> None:
    """One transaction a line; the same for the same n."""
    rng = np.random.default_rng(n)
    lengths = np.minimum(1 + rng.poisson(MEAN_LENGTH - 1, n), LEAVES // 10)
    chance = np.arange(1, LEAVES + 1) ** -SKEW
    items = rng.permutation(LEAVES)[rng.choice(LEAVES, int(lengths.sum()), p=chance / chance.sum())]
    with path.open("w", encoding="ascii") as file:
        at = 0
        for length in lengths.tolist():
            file.write(" ".join(f"i{item:03d}" for item in sorted(set(items[at : at + length].tolist()))) + "\n")
            at += length


def main() -> int:
    """Print the curve; returns how many limits were missed."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1]
    names = there("mhghs", "coat", "partition")
    first: dict[str, float] = {}
    missed, rows = 0, []
    with tempfile.TemporaryDirectory() as place:
        write_taxonomy(Path(place) / "items.tree", LEAVES, FAN_OUT)
        for n in (size for size in SIZES if size <= largest):
            source = Path(place) / f"n{n}.dat"
            write_data(source, n)
            words = ("--taxonomy", Path(place) / "items.tree", "--k", 5, "--m", 2, "--queries", 100)
            runs = compare(source, *words, "--algorithms", names, "--memory-limit", "4GB", "--time-limit", 3600)
            for (name, _, _), run in runs.items():
                cpu = run["cpu_seconds"]
                allowed = first.setdefault(name, cpu) * n * math.log(n) / (SIZES[0] * math.log(SIZES[0]))
                slow = n > SIZES[0] and cpu > allowed
                good = run["status"] == "done" and run["peak_mib"] <= MOST_MIB and not slow
                missed += not good
                figures = [shown(cpu, ".1f"), shown(allowed, ".1f"), shown(run["seconds"], ".1f")]
                rows.append(
                    [f"{n:,}", name, run["status"], *figures, shown(run["peak_mib"], ".0f"), "yes" if good else "NO"]
                )
                print(f"{n:,} {name}: {run['status']}, {cpu:.1f} s", file=sys.stderr)
            source.unlink()
    head = ["transactions", "algorithm", "outcome", "CPU, s", "n log n from the first, s", "wall, s", "peak, MiB"]
    table([*head, "within the limits"], rows)
    print(f"limits missed: {missed}")
    return missed


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
