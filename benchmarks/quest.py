"""Transactions like those of IBM's Quest generator, in any number: mean length 9.3, 935 items, a taxonomy of fan-out 5.

    python benchmarks/quest.py [TRANSACTIONS] [MEMORY_LIMIT]

It prints CPU seconds, wall seconds and peak memory of ``anondb anonymize --publish`` (k=5, m=2) as a whole command. As in
Agrawal and Srikant (VLDB 1994), a transaction consists of itemsets drawn from a table of patterns with exponential weights,
of which some items are lost. Patterns that do not fit are cut off.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from datasets import write_taxonomy
from measuring import run_command

ITEMS, FAN_OUT = 935, 5
MEAN_PATTERN, KEPT = 4, 0.75
BATCH = 100_000
LIMITS = {1_000_000: (40, 1536), 10_000_000: (400, 3576)}  # CPU seconds and MiB: a quarter more than 3 GB


@dataclass(frozen=True)
class Shape:
    """Numbers of items and patterns, the mean length of a transaction, and how many patterns one is drawn from."""

    items: int = ITEMS
    patterns: int = 2000
    mean_length: float = 9.4
    drawn: int = 8


BASKETS = Shape()


def patterns(rng: np.random.Generator, shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The items of all patterns one after the other, where each begins, and its probability."""
    chance, n = rng.exponential(size=shape.items), shape.items
    drawn = [
        rng.choice(n, min(1 + rng.poisson(MEAN_PATTERN - 1), n), replace=False, p=chance / chance.sum())
        for _ in range(shape.patterns)
    ]
    weight = rng.exponential(size=shape.patterns)
    return np.concatenate(drawn), np.cumsum([0, *map(len, drawn)]), weight / weight.sum()


def write_data(path: Path, n: int, seed: int = 1, shape: Shape = BASKETS) -> None:
    """One transaction a line; the same for the same n, seed and shape."""
    rng = np.random.default_rng(seed)
    items, begin, chance = patterns(rng, shape)
    names = [f"i{item:03d}" for item in range(shape.items)]
    most = 8 * shape.drawn
    with path.open("w", encoding="ascii") as file:
        for at in range(0, n, BATCH):
            lengths = np.maximum(rng.poisson(shape.mean_length, min(BATCH, n - at)), 1)
            drawn = rng.choice(shape.patterns, (len(lengths), shape.drawn), p=chance)
            kept = rng.random((len(lengths), most)) < KEPT
            lines = []
            for length, which, keep in zip(lengths.tolist(), drawn.tolist(), kept, strict=True):
                found = np.concatenate([items[begin[p] : begin[p + 1]] for p in which])[:most]
                chosen = set(found[keep[: len(found)]][:length].tolist()) or {int(found[0])}
                lines.append(" ".join([names[item] for item in sorted(chosen)]) + "\n")
            file.write("".join(lines))


def main() -> int:
    """Print the figures of one run; returns whether it missed a limit."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    limit = sys.argv[2] if len(sys.argv) > 2 else "3GB"
    with tempfile.TemporaryDirectory() as place:
        source, tree = Path(place) / "quest.dat", Path(place) / "quest.tree"
        write_data(source, n)
        write_taxonomy(tree, ITEMS, FAN_OUT)
        words = ("--taxonomy", str(tree), "--k", "5", "--m", "2", "--queries", "1", "--memory-limit", limit)
        words += ("--publish", str(Path(place) / "sealed.duckdb"))
        report, cpu, wall, peak = run_command(source, *words)
    print(f"{n:,} transactions, --memory-limit {limit}: CPU {cpu:.1f} s, wall {wall:.1f} s, peak {peak:,} MiB")
    print(report.get("seconds", report))
    most_cpu, most_mib = LIMITS.get(n, (float("inf"), float("inf")))
    return int(cpu > most_cpu or peak > most_mib or "error" in report)


if __name__ == "__main__":
    raise SystemExit(main())
