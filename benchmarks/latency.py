"""The CPU time of analysts' queries in an open session beside DuckDB on the raw table.

    python benchmarks/latency.py [bms2 | TRANSACTIONS] [NUMBER OF A SHAPE ...]

Data: bms2, or as many transactions of ``quest.py``; the release (mhghs, k=5, m=2) has item supports. ``again`` is a query
that the session answered before, for it keeps its last short answers; ``new`` is the same query without the kept answer.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from datasets import DATA, write_taxonomy
from measuring import anew, least_cpu
from quest import FAN_OUT, ITEMS, write_data

import anondb

LIMIT = 5.0
SHAPES = {
    "number of lines": "SELECT count(*) FROM sales",
    "top 10 products": "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 10",
    "transactions with an item": "SELECT count(DISTINCT tid) FROM sales WHERE item = '{x}'",
    "average size": "SELECT avg(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)",
    "largest size": "SELECT max(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)",
    "transactions of each size": "SELECT n, count(*) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n",
    "transactions of more than 5 items": "SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 5)",
    "all pairs, top 20": "SELECT a.item, b.item, count(*) AS n FROM sales AS a JOIN sales AS b ON a.tid = b.tid "
    "AND a.item < b.item GROUP BY 1, 2 ORDER BY n DESC LIMIT 20",
    "confidence": "WITH m AS (SELECT DISTINCT tid FROM sales WHERE item = '{x}'), b AS (SELECT DISTINCT tid FROM sales "
    "WHERE item = '{y}') SELECT count(b.tid) * 1.0 / count(*) FROM m LEFT JOIN b USING (tid)",
    "one item without another": "SELECT count(DISTINCT tid) FROM sales AS s WHERE item = '{x}' AND NOT EXISTS "
    "(SELECT 1 FROM sales AS t WHERE t.tid = s.tid AND t.item = '{y}')",
    "both of two items": "SELECT count(*) FROM (SELECT tid FROM sales WHERE item IN ('{x}', '{y}') GROUP BY tid "
    "HAVING count(DISTINCT item) = 2) AS q",
    "name search": "SELECT count(DISTINCT tid) FROM sales WHERE item ILIKE '%12%'",
    "two counts by FILTER": "SELECT count(*) FILTER (WHERE item = '{x}') AS m, count(*) FILTER (WHERE item = '{y}') AS b "
    "FROM sales",
    "share of each product": "SELECT item, count(*) * 100.0 / sum(count(*)) OVER () AS pct FROM sales GROUP BY item "
    "ORDER BY pct DESC",
    "products in at least 100": "SELECT count(*) FROM (SELECT item FROM sales GROUP BY item "
    "HAVING count(DISTINCT tid) >= 100)",
    "list of products": "SELECT DISTINCT item FROM sales ORDER BY item",
    "grouping by CASE": "SELECT CASE WHEN item IN ('{x}', '{y}') THEN 'd' ELSE 'other' END AS grp, count(DISTINCT tid) "
    "FROM sales GROUP BY grp",
    "average size with an item": "SELECT avg(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid "
    "HAVING bool_or(item = '{x}'))",
}


def make(folder: Path, data: str) -> None:
    """Write the raw table and a release of it, with labels that are no numbers."""
    if data.isdigit():
        source, tree = folder / "quest.dat", folder / "quest.tree"
        write_data(source, int(data))
        write_taxonomy(tree, ITEMS, FAN_OUT)
    else:
        source, tree = DATA / f"{data}.dat", DATA / f"{data}.f5.tree"
    with duckdb.connect(str(folder / "raw.duckdb")) as raw:
        lines = f"SELECT row_number() OVER () AS tid, unnest(string_split(line, ' ')) AS item FROM read_csv('{source}', "
        raw.sql(f"CREATE TABLE sales AS SELECT tid, 'i' || item AS item FROM ({lines} columns = {{'line': 'VARCHAR'}}, "
                "header = false, delim = '\t'))")  # fmt: skip
        items = {item for (item,) in raw.sql("SELECT DISTINCT item FROM sales").fetchall()}
    paths = (line.split(";") for line in tree.read_text(encoding="utf-8").splitlines())
    named = folder / "named.tree"
    named.write_text("".join(";".join(f"i{n}" if f"i{n}" in items else n for n in p) + "\n" for p in paths), "utf-8")
    with anondb.connect(folder / "raw.duckdb") as db:
        options: dict[str, Any] = {"taxonomy": named, "item_supports": True, "queries": 1, "name": "r"}
        db.anonymize("sales", model=anondb.KmAnonymity(5, 2), **options).publish(folder / "sealed.duckdb")


def main() -> int:
    """Print the table; returns whether a shape that was asked again misses the limit."""
    data, chosen = (sys.argv[1] if len(sys.argv) > 1 else "bms2"), {int(n) for n in sys.argv[2:]}
    missed = 0
    with tempfile.TemporaryDirectory() as place:
        make(Path(place), data)
        raw, session = duckdb.connect(f"{place}/raw.duckdb", read_only=True), anondb.open(f"{place}/sealed.duckdb")
        top = "SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC, item LIMIT 2"
        x, y = (item for (item,) in raw.sql(top).fetchall())
        print("| shape | new, ms | ratio | again, ms | ratio | DuckDB, ms |", "|---" * 6 + "|", sep="\n")
        for number, (name, shape) in enumerate(SHAPES.items()):
            if chosen and number not in chosen:
                continue
            sql = shape.format(x=x, y=y)
            try:
                session.sql(sql)
            except anondb.InputError as error:
                print(f"| {name} | refused: {error.code} | | | | |", flush=True)
                continue
            again = least_cpu(partial(session.sql, sql), 3)[0] * 1000
            new = least_cpu(partial(anew, session, sql), 3)[0] * 1000
            direct = least_cpu(lambda: raw.execute(sql).fetchall(), 5)[0] * 1000  # noqa: B023
            missed += again > LIMIT * direct
            ratios = (f"{took:.1f} | {took / direct:.1f}" for took in (new, again))
            print(f"| {name} | {' | '.join(ratios)} | {direct:.1f} |", flush=True)
        session.close()
        raw.close()
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
