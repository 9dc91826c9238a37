"""A year of weekly releases of a growing table, and a session over all of them.

    python benchmarks/over_time.py [TRANSACTIONS] [FOLDER]

Transactions of ``quest.py`` are inserted week by week; after each week REFRESH releases and publishes it (mhghs, k=5, m=2,
partition_by = 'week'). Then sessions over the folder answer queries: CPU seconds of the first answer of a session, of the
same query with other items, and asked again, beside the truth. FOLDER keeps the files for the next run.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import duckdb
from comparing import table
from datasets import write_taxonomy
from measuring import cpu_seconds
from quest import FAN_OUT, ITEMS, write_data

import anondb

WEEKS = 52
LIMIT = 0.5
CREATE = """
CREATE ANONYMIZED VIEW weekly AS SELECT tid, item, week FROM sales
WITH (k = 5, m = 2, taxonomy = '{tree}', queries = 10, partition_by = 'week', publish = '{folder}');
"""
SHAPES = {
    "number of lines": "SELECT count(*) FROM sales",
    "transactions with an item": "SELECT count(DISTINCT tid) FROM sales WHERE item = '{x}'",
    "top 10 products": "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 10",
    "all products": "SELECT item, count(*) AS n FROM sales GROUP BY item",
    "one of two items": "SELECT count(DISTINCT tid) FROM sales WHERE item = '{x}' OR item = '{y}'",
    "baskets of ten or more": "SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 10) AS q",
    "average size": "SELECT avg(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) AS q",
    "beside an item": "SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = '{x}') "
    "GROUP BY item ORDER BY n DESC LIMIT 10",
    "with an item, of one week": "SELECT count(DISTINCT tid) FROM sales WHERE item = '{x}' AND week = 7",
    "both of two items": "SELECT count(*) FROM (SELECT tid FROM sales WHERE item IN ('{x}', '{y}') GROUP BY tid "
    "HAVING count(DISTINCT item) = 2) AS q",
    "one item without another": "SELECT count(DISTINCT tid) FROM sales AS s WHERE item = '{x}' AND NOT EXISTS "
    "(SELECT 1 FROM sales AS t WHERE t.tid = s.tid AND t.item = '{y}')",
}


def make(place: Path, n: int) -> list[float]:
    """Insert and release week by week; returns the CPU seconds of each REFRESH."""
    place.mkdir(exist_ok=True)
    write_data(place / "quest.dat", n)
    write_taxonomy(place / "quest.tree", ITEMS, FAN_OUT)
    lines = f"read_csv('{place / 'quest.dat'}', columns = {{'line': 'VARCHAR'}}, header = false, delim = '\t')"
    with duckdb.connect(str(place / "all.duckdb")) as raw:
        raw.sql(
            f"CREATE TABLE sales AS SELECT tid, item, (tid - 1) * {WEEKS} // {n} AS week FROM (SELECT row_number() OVER () "
            f"AS tid, unnest(string_split(line, ' ')) AS item FROM {lines})"
        )
    seconds = []
    with anondb.connect(place / "owner.duckdb") as db:
        db.sql(f"ATTACH '{place / 'all.duckdb'}' AS source (READ_ONLY); CREATE TABLE sales AS FROM source.sales WHERE false")
        for week in range(WEEKS):
            db.sql(f"INSERT INTO sales FROM source.sales WHERE week = {week}")
            begun = cpu_seconds()
            if week:
                db.sql("REFRESH ANONYMIZED VIEW weekly")
            else:
                db.sql(CREATE.format(tree=place / "quest.tree", folder=place / "weeks"))
            seconds.append(cpu_seconds() - begun)
    return seconds


def asked(session: anondb.Session, text: str) -> tuple[float, list[tuple[object, ...]]]:
    """The CPU seconds of an answer, and its rows."""
    begun = time.process_time()
    rows = session.sql(text).fetchall()
    return time.process_time() - begun, rows


def main() -> int:
    """Print both tables; returns how many limits were missed."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(sys.argv[2] if len(sys.argv) > 2 else temporary)
        if not (place / "weeks").is_dir():
            made = make(place, n)
            rows = [[name, f"{value:.2f}"] for name, value in (
                ("first week", made[0]), ("median week", median(made)), ("last week", made[-1]))]  # fmt: skip
            table(["REFRESH", "CPU s"], rows)
        missed, rows, opening = 0, [], []
        with duckdb.connect(str(place / "all.duckdb"), read_only=True) as raw:
            for name, shape in SHAPES.items():
                text = shape.format(x="i103", y="i210")
                begun = time.process_time()
                with anondb.open(place / "weeks") as session:
                    opening.append(time.process_time() - begun)
                    first, _ = asked(session, shape.format(x="i100", y="i200"))
                    other, found = asked(session, text)
                    again, _ = asked(session, text)
                truth = raw.sql(text).fetchall()
                shown = "-"
                if len(found) == len(truth) == 1:
                    estimate, lower, upper = found[0]
                    value = truth[0][0]
                    assert lower <= value and (upper is None or value <= upper)
                    shown = f"{value:,.10g} in {lower:,.10g} to {'?' if upper is None else f'{upper:,.10g}'}, about {estimate:,.0f}"
                missed += max(first, other, again) > LIMIT
                rows.append([name, *(f"{seconds:.2f}" for seconds in (first, other, again)), shown])
        print(f"opening {WEEKS} files: {opening[0]:.1f} CPU s, then {median(opening):.1f}\n")
        table(["shape", "first, s", "other items, s", "again, s", "truth and answer"], rows)
    return missed


if __name__ == "__main__":
    sys.exit(main())
