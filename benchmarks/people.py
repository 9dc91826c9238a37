"""What sessions answer of people with attributes: prevalence by age, comorbidity, diagnoses by sex and race, beside the truth.

    python benchmarks/people.py [DELTA ...]

releases the INFORMS 2005 slice under (5,5^2)-anonymity with each delta (0.2 and 0.65 by default), opens the sealed file with
``anondb.open``, and asks. For each question it prints how many numbers it has, the median of their truths, of the relative errors
of the expected numbers and of the widths of the bounds over the truths, how many have bounds, and how many truths these
exclude; then the first numbers of each question. It fails if a truth is outside of its bounds.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from datasets import ABSENT, DATA, load

import anondb

ATTRIBUTES = "DOBYY,RACEX:categorical,SEX:categorical,EDUCYEAR,income"
DIAGNOSES = ("401", "272", "250", "311", "493", "716")  # hypertension, lipids, diabetes, depression, asthma, joints
SHOWN = 8
_BAND = "(2005 - DOBYY) // 20 * 20"
_ITEMS = "SELECT tid, count(*) AS n FROM diagnoses GROUP BY tid"
QUESTIONS = {
    "prevalence by age": f"SELECT item, {_BAND} AS age, count(DISTINCT tid) AS n FROM diagnoses JOIN people "
    f"USING (tid) WHERE item IN {DIAGNOSES} GROUP BY ALL",
    "people by age": f"SELECT {_BAND} AS age, count(*) AS n FROM people GROUP BY ALL",
    "comorbidity pairs": "SELECT a.item AS a, b.item AS b, count(*) AS n FROM diagnoses a JOIN diagnoses b USING (tid) "
    f"WHERE a.item < b.item AND a.item IN {DIAGNOSES} AND b.item IN {DIAGNOSES} GROUP BY ALL",
    "diagnoses per person": f"SELECT SEX, RACEX, avg(n) AS n FROM ({_ITEMS}) JOIN people USING (tid) GROUP BY ALL",
}
Number = tuple[tuple[str, ...], float, float, float | None, float | None]


def numbers(original: Mapping[tuple[str, ...], float], result: Any) -> Iterator[Number]:
    """Each number of an answer that the original has: its row, truth, expected number and bounds."""
    at = {name: i for i, name in enumerate(result.columns)}
    keys = [name for name in result.columns if name not in ("n", "n_lower", "n_upper", "certain")]
    for row in result.fetchall():
        key = tuple(str(row[at[k]]) for k in keys)
        if key in original:
            expected, low, high = (row[at[name]] for name in ("n", "n_lower", "n_upper"))
            yield key, original[key], expected or 0, low, high  # NULL, where no world has such people, counts as 0


def told(title: str, found: Sequence[Number]) -> int:
    """Print the figures of a question; the number of truths outside of their bounds."""
    bounded = [(t, low, high) for _, t, _, low, high in found if low is not None and high is not None]
    outside = sum(not low - 1e-9 <= t <= high + 1e-9 for t, low, high in bounded)
    widths = [(high - low) / t for t, low, high in bounded]
    cells = [title, len(found), median(t for _, t, *_ in found), median(abs(e - t) / t for _, t, e, *_ in found)]
    cells += [len(bounded), median(widths) if widths else "-", outside]
    print("| " + " | ".join(f"{c:.3g}" if isinstance(c, float) else str(c) for c in cells) + " |", flush=True)
    return outside


def measure(delta: float, folder: Path) -> int:
    """Print the figures of a release, then the numbers; return how many truths are outside of their bounds."""
    file, model = folder / f"{delta}.duckdb", anondb.KkmAnonymity(5, 2)
    with anondb.connect(folder / f"{delta}.db") as db:
        load(db.engine.connection, "informs", "diagnoses")
        asked: dict[str, Any] = {"records": "people", "quasi_identifiers": ATTRIBUTES, "delta": delta}
        db.anonymize("diagnoses", model=model, name="r", queries=1, **asked).publish(file)
    answers: dict[str, list[Number]] = {}
    outside = 0
    print(f"\ndelta = {delta}\n\n| question | numbers | truth | error | with bounds | width / truth | outside |")
    print("|---|---|---|---|---|---|---|")
    with duckdb.connect(str(folder / f"{delta}.db"), read_only=True) as raw, anondb.open(file) as session:
        for title, sql in QUESTIONS.items():
            original = {tuple(map(str, key)): float(n) for *key, n in raw.execute(sql).fetchall()}
            found = sorted(numbers(original, session.sql(sql)), key=lambda number: (-number[1], number[0]))
            outside += told(title, found)
            answers[title] = found
    print("\n| question | row | truth | expected | bounds |\n|---|---|---|---|---|")
    for title, found in answers.items():
        for key, truth, expected, low, high in found[:SHOWN]:
            bounds = "-" if low is None or high is None else f"{low:,.4g} to {high:,.4g}"
            print(f"| {title} | {', '.join(key)} | {truth:,.4g} | {expected:,.4g} | {bounds} |")
    return outside


def main() -> int:
    """Measure each delta."""
    if not (DATA / "informs2005_rt.csv").exists():
        sys.exit(ABSENT)
    deltas = [float(d) for d in sys.argv[1:]] or [0.2, 0.65]
    with tempfile.TemporaryDirectory() as folder:
        return sum(measure(delta, Path(folder)) for delta in deltas) and 1


if __name__ == "__main__":
    sys.exit(main())
