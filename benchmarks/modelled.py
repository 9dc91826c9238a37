"""Questions that no rule of bounds reads: how far the modelled numbers are from the truth, and what they cost.

    python benchmarks/modelled.py

Releases (k=5, m=2) of the demo's shop, with and without item supports, of bms1 with item supports, and of INFORMS 2005 with records
answer them in a session. For each release and question it prints the number of modelled numbers, their median absolute and
relative error (of the truth, at least 1), and CPU milliseconds: of the first answer of a session, which draws the worlds, of a
later one, which keeps nothing of its answer, and of DuckDB on the original.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from datasets import ABSENT, DATA, load
from measuring import anew, least_cpu

import anondb
from anondb.demo import make_shop

COUNTS = "SELECT item, count(*) AS n FROM sales GROUP BY item"
BASKETS = "SELECT tid, list(item ORDER BY item) AS items FROM sales GROUP BY tid"
QUESTIONS = {
    "triples of frequent items": "SELECT a.item AS a, b.item AS b, c.item AS c, count(*) AS n FROM sales a JOIN sales b USING (tid) "
    "JOIN sales c USING (tid) WHERE a.item < b.item AND b.item < c.item AND a.item IN {frequent} AND b.item IN {frequent} "
    "AND c.item IN {frequent} GROUP BY ALL",
    "lists with two items": f"SELECT count(*) AS n FROM ({BASKETS}) WHERE list_has_all(items, ['{{0}}', '{{1}}'])",
    "lists by their first item": f"SELECT items[1] AS item, count(*) AS n FROM ({BASKETS}) GROUP BY 1",
    "whole baskets": f"SELECT items, count(*) AS n FROM ({BASKETS}) GROUP BY 1 HAVING count(*) >= 20",
    "the next item": "SELECT next, count(*) AS n FROM (SELECT item, lead(item) OVER (PARTITION BY tid ORDER BY item) AS next "
    "FROM sales) WHERE item = '{0}' GROUP BY next",
    "moments of sizes": "SELECT kurtosis(n) AS k, skewness(n) AS s FROM (SELECT count(*) AS n FROM sales GROUP BY tid)",
    "moments of counts": f"SELECT stddev_pop(n) AS sd, skewness(n) AS s FROM ({COUNTS})",
    "entropy of items": "SELECT entropy(item) AS bits FROM sales",
    "items by initial, LATERAL": "SELECT i, l.n FROM (SELECT DISTINCT left(item, 1) AS i FROM sales) a, "
    "LATERAL (SELECT count(DISTINCT tid) AS n FROM sales WHERE left(item, 1) = a.i) l",
    "size beside initials": "SELECT corr(n, i) AS r, regr_slope(i, n) AS slope FROM (SELECT count(*) AS n, "
    "count(DISTINCT left(item, 1)) AS i FROM sales GROUP BY tid)",
    "bands of counts, ASOF": f"SELECT least, count(*) AS n FROM ({COUNTS}) ASOF JOIN (VALUES (0), (20), (100), (300)) v(least) "
    "ON n >= least GROUP BY least",
}
RECORDS = {
    "age beside size": "SELECT corr(born, n) AS r FROM persons JOIN (SELECT tid, count(*) AS n FROM sales GROUP BY tid) USING (tid)",
    "pairs of the old": "SELECT a.item AS a, b.item AS b, count(DISTINCT a.tid) AS n FROM sales a JOIN sales b USING (tid) "
    "JOIN persons USING (tid) WHERE a.item < b.item AND a.item IN {frequent} AND b.item IN {frequent} AND born < 1950 GROUP BY ALL",
    "older than the mean": "SELECT sex, count(*) AS n FROM persons WHERE born < (SELECT avg(born) FROM persons) GROUP BY sex",
    "commonest year": "SELECT sex, mode(born) AS year FROM persons GROUP BY sex",
}
PERSONS = "CREATE TABLE persons AS SELECT tid, DOBYY AS born, SEX AS sex, RACEX AS race FROM people"


@dataclass(frozen=True)
class Case:
    """A release: how its tables are made, and how it is anonymized."""

    make: Callable[[anondb.Database], None]
    options: dict[str, Any]
    questions: dict[str, str]


def shop(db: anondb.Database) -> None:
    make_shop(db)


def baskets(db: anondb.Database) -> None:
    load(db.engine.connection, "bms1", "sales")


def informs(db: anondb.Database) -> None:
    load(db.engine.connection, "informs", "sales")
    db.engine.connection.execute(PERSONS)


KM: dict[str, Any] = {"model": anondb.KmAnonymity(5, 2)}
KKM: dict[str, Any] = {
    "model": anondb.KkmAnonymity(5, 2),
    "records": "persons",
    "quasi_identifiers": "born:numeric,sex,race",
}
CASES = {
    "demo": Case(shop, {**KM, "taxonomy": "food"}, QUESTIONS),
    "demo, supports": Case(shop, {**KM, "taxonomy": "food", "item_supports": True}, QUESTIONS),
    "bms1, supports": Case(baskets, {**KM, "taxonomy": str(DATA / "bms1.f5.tree"), "item_supports": True}, QUESTIONS),
    "INFORMS, kkm": Case(informs, {**KKM, "taxonomy": str(DATA / "icd9.tree")}, QUESTIONS | RECORDS),
}


def errors(result: Any, original: Any) -> Iterator[tuple[float, float]]:
    """The absolute and the relative error of each modelled number whose row the original has, too."""
    names = [column[0] for column in original.description]
    at = {name: n for n, name in enumerate(result.columns)}
    numbers = [name for name in names if f"{name}_lower" in at]
    keys = [name for name in names if name not in numbers]
    true = {tuple(map(str, (row[names.index(k)] for k in keys))): row for row in original.fetchall()}
    shown = {tuple(map(str, (row[at[k]] for k in keys))): row for row in result.fetchall()}
    for key in true.keys() | shown.keys():
        for name in numbers:
            row = shown.get(key)
            if row is not None and row[at[f"{name}_lower"]] is not None:
                continue
            value = true[key][names.index(name)] if key in true else 0
            estimate = 0 if row is None else row[at[name]]
            if value is not None and estimate is not None:
                error = abs(float(estimate) - float(value))
                yield error, error / max(abs(float(value)), 1.0)


def measure(name: str, case: Case, folder: Path) -> None:
    """Print the rows of a release."""
    original, file = folder / f"{name}.db", folder / f"{name}.duckdb"
    with anondb.connect(original) as db:
        case.make(db)
        db.anonymize("sales", name="r", queries=1, **case.options).publish(file, allow_overlap=True)
    raw = duckdb.connect(str(original), read_only=True)
    raw.execute("SET threads = 1")
    top = [row[0] for row in raw.execute(f"{COUNTS} ORDER BY n DESC, item LIMIT 12").fetchall()]
    every: list[tuple[float, float]] = []
    for title, text in case.questions.items():
        sql = text.format(*top, frequent=tuple(top))
        with anondb.open(file, threads=1) as session:
            cold, _ = least_cpu(lambda s=session, q=sql: anew(s, q))
            warm, result = least_cpu(lambda s=session, q=sql: anew(s, q), 3)
        plain, _ = least_cpu(lambda q=sql: raw.execute(q).fetchall(), 3)
        found = list(errors(result, raw.execute(sql)))
        every += found
        cells = [
            name,
            title,
            f"{len(found)}",
            *_medians(found),
            *(f"{1000 * seconds:.0f}" for seconds in (cold, warm, plain)),
        ]
        print("| " + " | ".join(cells) + " |", flush=True)
    print("| " + " | ".join([name, "all", f"{len(every)}", *_medians(every), "", "", ""]) + " |", flush=True)
    raw.close()


def _medians(found: list[tuple[float, float]]) -> list[str]:
    return [f"{median(column):.3g}" for column in zip(*found, strict=True)] if found else ["", ""]


def main() -> None:
    if not (DATA / "bms1.dat").exists():
        sys.exit(ABSENT)
    print(
        "| release | question | numbers | median error | relative | first answer, CPU ms | later, CPU ms | DuckDB, CPU ms |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, case in CASES.items():
            measure(name, case, Path(folder))


if __name__ == "__main__":
    main()
