"""Persons compared with a number of all persons: the original is within the bounds of random queries on random releases."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest
from portions import portions

import anondb

SIZES = "(SELECT tid, count(*) AS n FROM sales GROUP BY tid)"
NUMBERS = ("avg(n)", "max(n)", "min(n)", "median(n)", "sum(n) / 3", "stddev_pop(n)", "count(*) / 4", "quantile_cont(n, 0.7)")
QUERIES = (
    "SELECT count(*) AS k FROM {t} WHERE {met}",
    "SELECT coalesce(sum(n), 0) AS k FROM {t} WHERE {met}",
    "SELECT count(*) FILTER (WHERE {met}) AS k FROM {t}",
    "SELECT avg(CASE WHEN {met} THEN 1.0 ELSE 0 END) AS k FROM {t}",
    "SELECT {how} AS k FROM {t} WHERE {met}",
    "SELECT n, count(*) AS k FROM {t} WHERE {met} GROUP BY n",
    "SELECT item, count(*) AS k FROM sales WHERE tid IN (SELECT tid FROM {t} WHERE {met}) GROUP BY item",
    "SELECT count(*) AS k FROM sales WHERE length(item) {sign} (SELECT avg(length(item)) FROM sales)",
)
TO_THE_MEDIAN = (
    f"SELECT n, count(*) AS k FROM {SIZES} WHERE n BETWEEN (SELECT min(n) FROM {SIZES}) AND (SELECT median(n) FROM {SIZES}) "
    "GROUP BY n"
)


def random_query(rnd: random.Random) -> str:
    one, other = (f"(SELECT {rnd.choice(NUMBERS)} FROM {SIZES})" for _ in range(2))
    side = rnd.choice([one, f"{one} + 1", f"2 * {one}", f"{one} - {other}", f"0.5 * {one} + {other}"])
    sign, left = rnd.choice([">", ">=", "<", "<=", "=", "<>"]), rnd.choice(["n", "n + 1", "2 * n"])
    between, simple = f"n BETWEEN {one} AND {other}", f"{left} {sign} {side}"
    met = rnd.choice(
        [simple, f"{side} {sign} {left}", between, f"NOT ({simple})", f"{simple} OR n = 2", f"{simple} AND n > 1"]
    )
    how = rnd.choice(["avg(n)", "max(n)", "min(n)", "median(n)", "quantile_disc(n, 0.3)"])
    return rnd.choice(QUERIES).format(t=SIZES, met=met, sign=sign, how=how)


def random_release(rnd: random.Random, file: Path) -> duckdb.DuckDBPyConnection:
    """Publish a release of random persons; returns a connection to the original."""
    items = ["a", "bb", "ccc", "dddd", "e", "ff"][: rnd.randint(3, 6)]
    baskets = [rnd.sample(items, rnd.randint(1, min(4, len(items)))) for _ in range(rnd.randint(8, 30))]
    values = ", ".join(f"({tid}, '{item}')" for tid, basket in enumerate(baskets) for item in basket)
    table = f"CREATE TABLE sales AS SELECT * FROM (VALUES {values}) t(tid, item)"
    with anondb.connect(threads=1) as database:
        database.sql(table)
        model = anondb.KmAnonymity(rnd.choice([2, 3]), rnd.choice([1, 2]))
        accept = ["rare-items", "one-item", "one-released-item"]
        database.anonymize("sales", algorithm="similar", model=model, publish=file, accept=accept, queries=0)
    original = duckdb.connect()
    original.execute(table)
    return original


def keyed(columns: list[str], rows: list[tuple[Any, ...]]) -> dict[Any, tuple[Any, ...]]:
    """Rows by what is before ``k``, with ``k`` and what follows."""
    at = columns.index("k")
    return {row[:at]: row[at:] for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(2, 2, 200))
def test_the_original_is_within_bounds(seeds: range, tmp_path: Path) -> None:
    bounded = 0
    for seed in dict.fromkeys((*seeds, 144)):
        rnd, file = random.Random(seed), tmp_path / f"{seed}.duckdb"
        original = random_release(rnd, file)
        with anondb.open(file, threads=1) as session:
            for sql in (TO_THE_MEDIAN, *(random_query(rnd) for _ in range(12))):
                asked, answered = original.execute(sql), session.sql(sql)
                truth = keyed([name for name, *_ in asked.description or ()], asked.fetchall())
                rows = keyed(list(answered.columns), answered.fetchall())
                for key, (number,) in ((key, row) for key, row in truth.items() if row != (None,)):
                    _, low, high, *_ = rows[key]
                    bounded += low is not None
                    above, below = low is None or low <= number + 1e-9, high is None or number <= high + 1e-9
                    assert above and below, (seed, sql, key)
                certain = {key for key, row in rows.items() if "certain" in answered.columns and row[-1]}
                assert certain <= set(truth), (seed, sql)
        original.close()
    assert bounded > 20
