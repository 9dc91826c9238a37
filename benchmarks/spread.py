"""How many truths lie in the spread of ``bounds="spread"``, and what it costs.

    python benchmarks/spread.py [NAME ...]

For each release: the share of truths inside with the quantiles as they are (factor 1), twice as far (factor 2) and as built, of
items that 5 persons or more hold, of pairs that 5 to 50 and 51 to 500 hold (400 of each at random), and of sizes that 5 or
more have; the CPU seconds of the first answer with bounds alone, of the first with the spread, and of a further one of both.
It prints the table of docs/spread.md.
"""

from __future__ import annotations

import random
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
from comparing import table
from datasets import ABSENT, DATA, load
from measuring import least_cpu

import anondb
from anondb.answers.spread import Spread
from anondb.demo import make_shop

KM, SAMPLE = anondb.KmAnonymity(5, 2), 400
SUPPORTED: dict[str, Any] = {"model": KM, "item_supports": True, "max_suppression": 100}
KKM = {"model": anondb.KkmAnonymity(5, 2), "taxonomy": DATA / "icd9.tree", "records": "people"}
SHOP = {"model": KM, "taxonomy": "food"}
RELEASES: dict[str, tuple[str, dict[str, Any]]] = {
    "demo mhghs": ("demo", {**SUPPORTED, **SHOP}),
    "demo similar": ("demo", {**SUPPORTED, "algorithm": "similar"}),
    "bms1 mhghs": ("bms1", {**SUPPORTED, "taxonomy": DATA / "bms1.f5.tree"}),
    "bms1 coat": ("bms1", {**SUPPORTED, "algorithm": "coat"}),
    "bms1 similar": ("bms1", {**SUPPORTED, "algorithm": "similar"}),
    "bms2 similar": ("bms2", {**SUPPORTED, "algorithm": "similar"}),
    "t10 coat": ("t10i4d100k", {**SUPPORTED, "algorithm": "coat"}),
    "INFORMS kkm": ("informs", {**KKM, "quasi_identifiers": "DOBYY:numeric,SEX,RACEX"}),
    "bms1 lra, no supports": ("bms1", {"model": KM, "algorithm": "lra", "taxonomy": DATA / "bms1.f5.tree"}),
}
SIZES = "SELECT size, count(*) AS n FROM (SELECT tid, count(*) AS size FROM t GROUP BY tid) AS s GROUP BY size"
ITEMS = "SELECT item, count(*) AS n FROM t GROUP BY item"
PAIRS = """
SELECT p.x, p.y, count(*) AS n
FROM pairs AS p JOIN t AS a ON a.item = p.x JOIN t AS b ON b.item = p.y AND a.tid = b.tid GROUP BY p.x, p.y
"""
ALL_PAIRS = """
SELECT a.item AS x, b.item AS y, count(*) AS n FROM t AS a JOIN t AS b ON a.tid = b.tid AND a.item < b.item
GROUP BY ALL HAVING count(*) BETWEEN {least} AND {most} ORDER BY ALL
"""


@dataclass
class Case:
    """A question: its SQL, the true numbers by their keys, and the pairs that it reads."""

    name: str
    sql: str
    truths: dict[Any, int]
    pairs: list[tuple[str, str]] | None = None


def make(database: anondb.Database, data: str) -> None:
    """The table t, and people of INFORMS."""
    if data == "demo":
        make_shop(database)
        database.engine.connection.execute("CREATE TABLE t AS SELECT tid, item FROM sales")
    else:
        load(database.engine.connection, data)


def cases(connection: duckdb.DuckDBPyConnection) -> list[Case]:
    """The questions with their true answers of 5 or more."""
    found = [Case(name, sql, counts(connection, sql, 5)) for name, sql in (("items", ITEMS), ("sizes", SIZES))]
    for name, least, most in (("pairs 5-50", 5, 50), ("pairs 51-500", 51, 500)):
        rows = connection.execute(ALL_PAIRS.format(least=least, most=most)).fetchall()
        some = sorted(random.Random(0).sample(rows, min(SAMPLE, len(rows))))
        found.insert(-1, Case(name, PAIRS, {(x, y): n for x, y, n in some}, [(x, y) for x, y, _ in some]))
    return found


def counts(connection: duckdb.DuckDBPyConnection, sql: str, least: int) -> dict[Any, int]:
    """The rows of a query by their keys, of numbers from ``least`` on."""
    return {tuple(keys): n for *keys, n in connection.execute(sql).fetchall() if n >= least}


def share(session: anondb.Session, case: Case) -> float:
    """The share of the truths in the spread."""
    if case.pairs is not None:
        columns = {"x": [x for x, _ in case.pairs], "y": [y for _, y in case.pairs]}
        session.register("pairs", duckdb.sql("SELECT unnest($x) AS x, unnest($y) AS y", params=columns))
    result = session.sql(case.sql, bounds="spread")
    low, high = result.columns.index("n_low"), result.columns.index("n_high")
    keys = result.columns.index("n")
    ends = {tuple(row[:keys]): (row[low], row[high]) for row in result.fetchall()}
    inside = [ends[key][0] <= n <= ends[key][1] for key, n in case.truths.items() if key in ends]
    return sum(inside) / len(case.truths)


def seconds(session: anondb.Session, bounds: str, size: int) -> float:
    """The CPU seconds of a question about all persons: how many hold more items."""
    sql = f"SELECT count(*) AS n FROM (SELECT tid FROM t GROUP BY tid HAVING count(*) > {size})"
    return least_cpu(lambda: session.sql(sql, bounds=bounds))[0]


def measured(name: str, folder: Path) -> list[str]:
    """A row of the table."""
    data, options = RELEASES[name]
    sealed = folder / f"{name.replace(' ', '_')}.duckdb"
    with anondb.connect(threads=1) as database:
        make(database, data)
        database.anonymize("t", name="r", queries=1, **options).publish(sealed)
        asked = cases(database.engine.connection)
    with anondb.open(sealed, threads=1, max_seconds=3600, memory_limit="6GB") as session:
        cpu = [seconds(session, bounds, n) for n, bounds in enumerate(("columns", "spread", "columns", "spread"))]
        built: Spread = session.worlds.spread
        cells = []
        for case in asked:
            if not case.truths:
                cells.append("-")
                continue
            inside = []
            for factor in (1.0, 2.0, built.factor):
                session.worlds.__dict__["spread"] = replace(built, factor=factor)
                session._results.clear()
                inside.append(share(session, case))
            cells.append(" / ".join(f"{one:.2f}" for one in inside) + f" ({len(case.truths)})")
    return [name, f"{built.factor:.2f}", *cells, *(f"{one:.2f}" for one in cpu)]


def main() -> None:
    if not DATA.is_dir():
        sys.exit(ABSENT)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or RELEASES:
            rows.append(measured(name, Path(folder)))
            print(rows[-1], flush=True)
    table(
        ["release", "factor", "items", "pairs 5-50", "pairs 51-500", "sizes", *("cold", "spread", "warm", "again")],
        rows,
    )


if __name__ == "__main__":
    main()
