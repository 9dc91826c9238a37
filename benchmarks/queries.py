"""Counts on a sealed release against the same counts on the raw table: ``count_bounds`` and rewritten SQL, on bms2."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from anondb.engine import Engine
from anondb.query import rewrite, run
from anondb.release.objects import SchemaName, read_manifest

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
ANONDB = Path(sys.executable).with_name("anondb")
LIMIT = 5
SHAPES = {
    "one item": "SELECT count(DISTINCT tid) FROM bms2 WHERE item = '55267'",
    "pair by self-join": "SELECT count(DISTINCT a.tid) FROM bms2 a JOIN bms2 b USING (tid) WHERE a.item = '55267' AND b.item = '55283'",
    "pair by HAVING": "SELECT count(*) FROM (SELECT tid FROM bms2 WHERE item IN ('55267', '55283') GROUP BY tid "
    "HAVING count(DISTINCT item) = 2)",
    "not these": "SELECT count(DISTINCT tid) FROM bms2 WHERE tid NOT IN (SELECT tid FROM bms2 WHERE item IN ('55267', '55283'))",
    "by item": "SELECT item, count(*) FROM bms2 GROUP BY item",
}


def median(work: Callable[[], object], times: int = 15) -> float:
    """Median of wall milliseconds, after one call to warm up."""
    work()
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        found.append((time.perf_counter() - begun) * 1000)
    return statistics.median(found)


def main() -> int:
    """Print the table; returns how many ratios are above the limit."""
    missed = 0
    with tempfile.TemporaryDirectory() as place:
        sealed, shop = Path(place) / "sealed.duckdb", Path(place) / "raw.duckdb"
        files = [str(DATA / "bms2.dat"), "--taxonomy", str(DATA / "bms2.f5.tree")]
        subprocess.run(
            [str(ANONDB), "anonymize", *files, "--publish", str(sealed), "--json"], check=True, capture_output=True
        )
        subprocess.run(
            [str(ANONDB), "load", str(shop), "--transactions", files[0], "--as", "bms2"],
            check=True,
            capture_output=True,
        )
        engine = Engine.open(sealed, read_only=True)
        schema = SchemaName("sealed", "main")
        manifest = read_manifest(engine, schema)
        print("| count | raw, ms | released, ms | ratio | rewriting alone, ms | truth in bounds |")
        print("|---|---|---|---|---|---|")
        with duckdb.connect(str(shop), read_only=True) as raw:
            for name, sql in SHAPES.items():
                truth = raw.execute(sql).fetchall()
                before = median(lambda sql=sql: raw.execute(sql).fetchall())  # type: ignore[misc]
                after = median(lambda sql=sql: run(engine, schema, sql))  # type: ignore[misc]
                alone = median(lambda sql=sql: rewrite(sql, manifest))  # type: ignore[misc]
                answer = run(engine, schema, sql)
                known = {str(row[0]): row[1] for row in truth} if answer.columns else {"": truth[0][0]}
                holds = all(r[-3] <= known.get(str(r[0]) if answer.columns else "", 0) <= r[-1] for r in answer.rows)
                missed += (after / before > LIMIT) + (not holds)
                print(
                    f"| {name} | {before:.1f} | {after:.1f} | {after / before:.1f} | {alone:.2f} | {'yes' if holds else 'NO'} |"
                )
        engine.close()
        with duckdb.connect(str(shop), read_only=True) as raw:
            pair = SHAPES["pair by self-join"]
            truth, before = raw.execute(pair).fetchall()[0][0], median(lambda: raw.execute(pair).fetchall())
        with duckdb.connect(str(sealed), read_only=True) as analyst:
            call = "FROM count_bounds(['55267', '55283'])"
            lower, _, upper = analyst.execute(call).fetchall()[0]
            after = median(lambda: analyst.execute(call).fetchall())
        missed += (after / before > LIMIT) + (not lower <= truth <= upper)
        print(
            f"| count_bounds of a pair | {before:.1f} | {after:.1f} | {after / before:.1f} | - | {'yes' if lower <= truth <= upper else 'NO'} |"
        )
    return missed


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
