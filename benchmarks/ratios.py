"""What anondb takes beside plain DuckDB statements for the same job, in the same run; needs no real data, some minutes.

    python benchmarks/ratios.py [--check | --write]

100,000 transactions of ``quest.py``; k = 5, m = 2. A step of a release is compared with the statement that nobody can do it
without, and a question with the same question on the raw table: CPU seconds on one thread, the least of three, taken in turn,
so that a busy machine slows both sides. ``ratios.csv`` has the ratios of this version: ``--check`` fails where one doubled,
``--write`` replaces them.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
from comparing import table
from datasets import write_taxonomy
from latency import SHAPES
from main_job import PAIRS
from measuring import cpu_seconds, least_cpu
from quest import FAN_OUT, ITEMS, write_data

import anondb
from anondb.models import Model

TRANSACTIONS, RUNS = 100_000, 3
KEPT = Path(__file__).with_suffix(".csv")
MOST = 2.0  # times the ratio that is kept
LEAST = 0.01  # seconds; what both sides take is raised to this, since shorter times are noise
LINES = "read_csv('{0}/sales.dat', header = false, delim = '\t', columns = {{'line': 'VARCHAR'}})"
STATEMENTS = {
    "load": "CREATE OR REPLACE TABLE raw AS SELECT row_number() OVER () AS tid, unnest(string_split(line, ' ')) AS item "
    f"FROM {LINES}; CREATE OR REPLACE TABLE items AS SELECT row_number() OVER (ORDER BY item) AS code, item FROM "
    "(SELECT DISTINCT item FROM raw); CREATE OR REPLACE TABLE t AS SELECT CAST(tid AS INTEGER) AS tid, CAST(code AS INTEGER) "
    "AS item FROM raw JOIN items USING (item) ORDER BY tid, item",
    "pairs": PAIRS,
    "sort": "CREATE OR REPLACE TABLE released AS SELECT tid, item // 3 AS item FROM t ORDER BY item, tid",
    "write": "COPY (SELECT * FROM t ORDER BY item, tid) TO '{0}/rows.parquet'",
}
STEPS = {
    "load": "load",
    "anonymize": "pairs",
    "freeze": "sort",
    "verify": "pairs",
    "accuracy": "pairs",
    "publish": "write",
}
ALGORITHMS: dict[str, tuple[Model, dict[str, str]]] = {
    "coat": (anondb.KmAnonymity(5, 2), {}),
    "similar": (anondb.KmAnonymity(5, 2), {}),
    "partition": (anondb.TransactionalK(5), {"taxonomy": "{0}/sales.tree"}),
    "multi_anatomy": (anondb.Anatomy(3), {}),
}
ASKED = ("transactions with an item", "top 10 products", "average size", "both of two items", "confidence")
BESIDE = {f"mhghs {step}": statement for step, statement in STEPS.items()} | dict.fromkeys(ALGORITHMS, "pairs")
BESIDE |= {f"{name} ({which})": name for name in ASKED for which in ("first", "later")}
Seconds = dict[str, float]


def steps(folder: Path, model: Model, **options: Any) -> Seconds:
    """The CPU seconds of each step of a release."""
    ends = [("begin", cpu_seconds())]
    with anondb.connect(one_shot=True, threads=1) as database:
        database.engine.on_step = lambda done: ends.append((done.step, cpu_seconds()))
        database.anonymize(folder / "sales.dat", model=model, **options)
    return {name: end - begun for (_, begun), (name, end) in pairwise(ends)}


def one_round(folder: Path, raw: duckdb.DuckDBPyConnection) -> tuple[Seconds, Seconds]:
    """The seconds of each job of anondb, and of each statement, once."""

    def plain_of(text: str) -> float:
        return least_cpu(lambda: raw.execute(text).fetchall(), RUNS)[0]

    plain = {name: plain_of(text.format(folder)) for name, text in STATEMENTS.items()}
    tree, sealed = f"{folder}/sales.tree", folder / "sealed.duckdb"
    sealed.unlink(missing_ok=True)
    made = steps(folder, anondb.KmAnonymity(5, 2), taxonomy=tree, item_supports=True, publish=sealed)
    ours = {f"mhghs {step}": made[step] for step in STEPS}
    for name, (model, options) in ALGORITHMS.items():
        words = {option: value.format(folder) for option, value in options.items()}
        ours[name] = steps(folder, model, algorithm=name, queries=0, **words)["anonymize"]
    top = "SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC, item LIMIT 4"
    raw.execute("CREATE OR REPLACE VIEW sales AS SELECT tid, item FROM raw")
    x, y, u, v = (item for (item,) in raw.sql(top).fetchall())
    for name in ASKED:
        first, later = SHAPES[name].format(x=x, y=y), SHAPES[name].format(x=u, y=v)
        plain[name] = plain_of(first)
        with anondb.open(sealed) as session:
            for which, sql in (("first", first), ("later", later))[: 1 + (first != later)]:
                ours[f"{name} ({which})"] = least_cpu(partial(session.sql, sql))[0]
    return ours, plain


def kept() -> Seconds:
    """The ratios of this version."""
    with KEPT.open(encoding="utf-8", newline="") as file:
        return {row["job"]: float(row["ratio"]) for row in csv.DictReader(file)}


def measured(check: bool) -> tuple[Seconds, Seconds, list[str]]:
    """The least seconds of each job and statement, and the jobs whose ratio doubled; with ``check`` these are run again."""
    rounds: list[tuple[Seconds, Seconds]] = []
    slower = ["not measured"]
    with tempfile.TemporaryDirectory() as place, duckdb.connect(config={"threads": 1}) as raw:
        write_data(Path(place) / "sales.dat", TRANSACTIONS)
        write_taxonomy(Path(place) / "sales.tree", ITEMS, FAN_OUT)
        while not rounds or (check and slower and len(rounds) < 2 * RUNS):
            rounds += [one_round(Path(place), raw) for _ in range(RUNS)]
            ours, plain = ({n: max(LEAST, min(r[i][n] for r in rounds)) for n in rounds[0][i]} for i in (0, 1))
            slower = [n for n, most in kept().items() if n in ours and ours[n] / plain[BESIDE[n]] > MOST * most]
    return ours, plain, slower


def main() -> int:
    """Print the table; returns whether a ratio is more than ``MOST`` times the one that is kept."""
    ours, plain, slower = measured("--check" in sys.argv)
    ratios = {name: seconds / plain[BESIDE[name]] for name, seconds in ours.items()}
    before = kept()
    if "--write" in sys.argv:
        KEPT.write_text("job,ratio\n" + "".join(f"{n},{r:.2f}\n" for n, r in ratios.items()), encoding="utf-8")
    shown = {n: (BESIDE[n], f"{plain[BESIDE[n]]:.3f}", f"{r:.1f}", f"{before.get(n, r):.1f}") for n, r in ratios.items()}
    rows = [[n, f"{ours[n]:.3f}", *cells, "DOUBLED" if n in slower else ""] for n, cells in shown.items()]
    table(["job", "seconds", "DuckDB", "its seconds", "ratio", "kept", ""], rows)
    return int("--check" in sys.argv and bool(slower))


if __name__ == "__main__":
    raise SystemExit(main())
