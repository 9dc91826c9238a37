"""Counts on sealed releases against the same counts on the raw table: ``count_bounds`` and sessions, on bms2.

Both sides are a Python call in this process on a file opened read-only, until all rows are Python values: the raw count
``connection.execute(sql).fetchall()`` of DuckDB's own API, the released one ``Session.sql(sql)`` with reading, bounds
and estimates, but nothing that the session kept of the answer. Of bags, whose rows are not counted, persons are asked for by item
instead. The two are called in turn, so that other work on the machine meets both alike.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
from datasets import DATA
from measuring import ANONDB, anew

import anondb
from anondb.release.reader import read_sealed_manifest
from anondb.session.output import one_count

LIMIT = 5
RELEASES = {
    "mhghs": [],
    "partition": ["--model", "k", "--algorithm", "partition"],
    "clump": ["--model", "k", "--algorithm", "clump", "--option", "candidates=50"],
}
SHAPES = {
    "one item": "SELECT count(DISTINCT tid) FROM bms2 WHERE item = '55267'",
    "pair by self-join": "SELECT count(DISTINCT a.tid) FROM bms2 a JOIN bms2 b USING (tid) WHERE a.item = '55267' AND b.item = '55283'",
    "pair by HAVING": "SELECT count(*) FROM (SELECT tid FROM bms2 WHERE item IN ('55267', '55283') GROUP BY tid "
    "HAVING count(DISTINCT item) = 2)",
    "not these": "SELECT count(DISTINCT tid) FROM bms2 WHERE tid NOT IN (SELECT tid FROM bms2 WHERE item IN ('55267', '55283'))",
    "like": "SELECT count(DISTINCT tid) FROM bms2 WHERE item LIKE '552%'",
    "by item": "SELECT item, count(*) FROM bms2 GROUP BY item",
    "by item, of some": "SELECT item, count(*) FROM bms2 WHERE tid IN (SELECT tid FROM bms2 WHERE item = '55267') GROUP BY item",
}


def in_turn(*works: Callable[[], object], times: int = 10) -> list[float]:
    """Least wall milliseconds of each, called one after the other, after one call to warm up."""
    found: list[list[float]] = [[] for _ in works]
    for number in range(times + 1):
        for work, taken in zip(works, found, strict=True):
            begun = time.perf_counter()
            work()
            if number:
                taken.append((time.perf_counter() - begun) * 1000)
    return [min(taken) for taken in found]


def first_answer(sealed: Path, sql: str) -> None:
    """Open the file, and answer a query."""
    with anondb.open(sealed) as session:
        session.sql(sql).fetchall()


def measure(sealed: Path, raw: duckdb.DuckDBPyConnection) -> int:
    """Print the table of one release; returns how many ratios are above the limit."""
    missed = 0
    session = anondb.open(sealed)
    manifest = read_sealed_manifest(sealed)
    print("| count | raw, ms | released, ms | ratio | first answer, ms | truth in bounds |")
    print("|---|---|---|---|---|---|")
    for name, sql in SHAPES.items():
        truth = raw.execute(sql).fetchall()
        asked = sql if manifest["semantics"] == "set" else sql.replace("item, count(*)", "item, count(DISTINCT tid)")
        before, after, first = in_turn(
            lambda sql=sql: raw.execute(sql).fetchall(),  # type: ignore[misc]
            lambda sql=asked: anew(session, sql),  # type: ignore[misc]
            lambda sql=asked: first_answer(sealed, sql),  # type: ignore[misc]
        )
        answer = one_count(asked, session.sql(asked))
        assert answer is not None
        known = {str(row[0]): row[1] for row in truth} if answer.columns else {"": truth[0][0]}
        holds = all(r[-3] <= known.get(str(r[0]) if answer.columns else "", 0) <= r[-1] for r in answer.rows)
        missed += (after / before > LIMIT) + (not holds)
        print(f"| {name} | {before:.1f} | {after:.1f} | {after / before:.1f} | {first:.1f} | {'yes' if holds else 'NO'} |")
    session.close()
    with duckdb.connect(str(sealed), read_only=True) as analyst:
        pair, call = SHAPES["pair by self-join"], "FROM count_bounds(['55267', '55283'])"
        truth = raw.execute(pair).fetchall()[0][0]
        lower, _, upper = analyst.execute(call).fetchall()[0]
        before, after = in_turn(lambda: raw.execute(pair).fetchall(), lambda: analyst.execute(call).fetchall())
    print(
        f"| count_bounds of a pair | {before:.1f} | {after:.1f} | {after / before:.1f} | - |"
        f" {'yes' if lower <= truth <= upper else 'NO'} |"
    )
    return missed + (after / before > LIMIT) + (not lower <= truth <= upper)


def main() -> int:
    """Print a table for each kind of release; returns how many ratios are above the limit."""
    missed = 0
    files = [str(DATA / "bms2.dat"), "--taxonomy", str(DATA / "bms2.f5.tree")]
    with tempfile.TemporaryDirectory() as place:
        shop = Path(place) / "raw.duckdb"
        load = [str(ANONDB), "load", str(shop), "--transactions", files[0], "--as", "bms2"]
        subprocess.run(load, check=True, capture_output=True)
        with duckdb.connect(str(shop), read_only=True) as raw:
            for name, options in RELEASES.items():
                sealed = Path(place) / name.replace(" ", "_") / "sealed.duckdb"
                sealed.parent.mkdir()
                made = [str(ANONDB), "anonymize", *files, *options, "--publish", str(sealed), "--json"]
                subprocess.run(made, check=True, capture_output=True)
                print(f"\n### {name}\n")
                missed += measure(sealed, raw)
    return missed


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
