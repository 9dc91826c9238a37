"""Bands, floors, months and comparisons of numbers and times of which a range has too many values to list."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from portions import some
from session.checker import faults

import anondb

COLUMNS = {"price": "DECIMAL(9,2)", "score": "DOUBLE", "income": "BIGINT", "born": "DATE", "seen": "TIMESTAMP"}
NUMBERS = (
    "floor({x} / {c})",
    "floor(sqrt({x} + 1) / 4)",
    "trunc({x} / {c})",
    "CAST({x} AS BIGINT) // {c}",
    "round({x} / {c}, 0)",
    "CASE WHEN {x} < {a} THEN 'low' WHEN {x} < {b} THEN 'middle' ELSE 'high' END",
    "({x} - {a}) > {c}",
    "{x} BETWEEN {a} AND {b}",
    "least({x}, {a}) = {a}",
    "ceil(-{x} / {c}) % 2",
    "CASE floor({x} / {c}) WHEN 1 THEN 'one' WHEN 2 THEN 'two' END",
    "floor(coalesce({x}, 0) / {c}) || ''",
)
TIMES = (
    "year({x})",
    "month({x})",
    "date_trunc('month', {x})",
    "quarter({x})",
    "strftime({x}, '%Y-%m')",
    "date_diff('year', {x}, DATE '2024-06-30') // 5",
    "{x} < DATE '2001-05-06'",
    "extract(year FROM {x}) BETWEEN 1999 AND 2001",
    "year({x} + INTERVAL 40 DAY)",
    "date_part('month', {x}) // 4",
    "CASE WHEN month({x}) IN (1, 2, 12) THEN 'winter' WHEN {x} IS NULL THEN 'none' ELSE 'other' END",
)
DAYS = ("date_sub('year', {x}, DATE '2024-06-30')", "year(age(DATE '2024-06-30', {x}))", "julian({x}) // 400")
CLOCKS = ("{x}::DATE > DATE '2001-01-03'", "{x} >= TIMESTAMP '2000-12-31 12:30'", "hour({x}) < 12")


def _make(db: anondb.Database, rnd: random.Random, ids: range) -> None:
    """Persons with random values, some of them NULL, some at the limits of bands, some equal."""
    db.sql(f"CREATE OR REPLACE TABLE people (tid INTEGER, {', '.join(f'{n} {t}' for n, t in COLUMNS.items())})")
    db.sql("CREATE OR REPLACE TABLE sales (tid INTEGER, item TEXT)")
    for n in ids:
        amounts = [rnd.choice([rnd.randint(0, 900), rnd.randrange(0, 900, 100)]) for _ in range(3)]
        seen = f"TIMESTAMP '2000-12-15' + INTERVAL {rnd.randint(0, 35 * 86_400)} SECOND"
        cells = [f"{amounts[0]} / 4", f"{amounts[1]} / 8", f"{amounts[2]} * 10"]
        cells += [f"DATE '1999-01-01' + {rnd.randint(0, 1500)}", seen]
        cells = [rnd.choice([cell] * 6 + ["NULL"]) for cell in cells]
        db.sql(f"INSERT INTO people VALUES ({n}, {', '.join(cells)})")
        db.sql(f"INSERT INTO sales SELECT {n}, i FROM unnest({rnd.sample('abc', rnd.randint(1, 2))}) t(i)")


def _asked(rnd: random.Random) -> str:
    """A question about an expression of a random column."""
    x = rnd.choice(list(COLUMNS))
    shapes = (*TIMES, *CLOCKS) if x == "seen" else (*TIMES, *DAYS) if x == "born" else NUMBERS
    c = rnd.choice([50, 100]) * (10 if x == "income" else 1)
    value = rnd.choice(shapes).format(x=x, a=rnd.randint(1, 4) * c // 2, b=rnd.randint(3, 6) * c, c=c)
    return rnd.choice(
        (
            f"SELECT {value} AS k, count(*) AS n FROM people GROUP BY ALL",
            f"SELECT {value} AS k, count(*) AS n FROM people JOIN sales USING (tid) WHERE item = 'a' GROUP BY ALL",
            f"SELECT {value} AS k, avg(income) AS n FROM people GROUP BY ALL",
            f"SELECT min({x}) AS n, max({x}) AS m FROM people JOIN sales USING (tid) WHERE item <> 'b'",
            f"SELECT count(DISTINCT {x}) AS n, count(DISTINCT {value}) AS m FROM people",
            f"SELECT count_if(({value}) IS NULL) AS n, count(DISTINCT tid) FILTER ({value} IS NOT NULL) AS m FROM people",
        )
    )


@pytest.mark.parametrize(
    ("seed", "queries"), some([(1, 10), *((seed, 30) for seed in range(1, 12))], (1, 10), check=[(2, 30)])
)
def test_bounds_hold(seed: int, queries: int, tmp_path: Path) -> None:
    rnd = random.Random(seed)
    with anondb.connect() as db:
        _make(db, rnd, range(40))
        options = {"records": "people", "quasi_identifiers": ",".join(COLUMNS), "delta": "0.6"}
        made = db.anonymize("sales", model=anondb.KkmAnonymity(2, 1), name="r", queries=0, **options)
        made.publish(tmp_path / "r.duckdb")
        with anondb.open(tmp_path / "r.duckdb") as session:
            for query in [_asked(rnd) for _ in range(queries)]:
                told, truth = session.sql(query), db.sql(query)
                wrong = faults(told.columns, told.fetchall(), truth.columns, truth.fetchall(), nullable=True)
                assert not wrong, (query, wrong)
                assert not any(note.startswith("No bounds") for note in told.notes), (query, told.notes)


ODD = {
    "count(DISTINCT price + t.k)": "people, own t",
    "count(DISTINCT v)": "(SELECT price AS v FROM people UNION ALL SELECT price + 1000000 FROM people)",
    "count_if(TRY_CAST(price - 100000 AS DECIMAL(2,1)) IS NOT NULL)": "people",
    "count_if(ceil(score) || 'x' = '0.0x')": "people",
    "count_if(year(born) > 9000)": "people",
    "count(DISTINCT total // 1000)": "people",
    "count_if(big IN (1e0, 9007199254740993))": "people",
    "count_if(big BETWEEN 1e0 AND 9007199254740992)": "people",
    "count_if(hour(seen - TIMESTAMP '2001-01-01') < 2)": "people",
}


def test_expressions_that_are_not_what_they_look_like(tmp_path: Path) -> None:
    """Several rows of a person, TRY_CAST, two zeros, years that Python does not have, types that manifests do not tell."""
    prices, totals = (0, 1, 100000, 300000, 300001, 300005), (1, 10, 11, 200, 201, 3000)
    with anondb.connect() as db:
        db.sql("CREATE TABLE own AS SELECT unnest([0, 1000000, 2000000]) AS k; CREATE TABLE sales (tid INTEGER, item TEXT)")
        db.sql(
            "CREATE TABLE people (tid INTEGER, price DECIMAL(9,2), score DOUBLE, born DATE, total DECIMAL(20,0), "
            "seen TIMESTAMP, big BIGINT)"
        )
        for n, (price, total) in enumerate(zip(prices, totals, strict=True)):
            day = "'20000-01-01'" if n == 3 else f"'2001-01-0{n + 1}'"
            seen, big = f"TIMESTAMP '2001-01-01' + INTERVAL {n} HOUR", (7, 9007199254740992 + n)[n > 1]
            cells = f"{n}, {price}, {n - 0.4}, {day}, {total}, {seen}, {big}"
            db.sql(f"INSERT INTO people VALUES ({cells}); INSERT INTO sales VALUES ({n}, 'a')")
        columns = "price,score,born,total,seen,big"
        options = {"records": "people", "quasi_identifiers": columns, "accept": ["one-item"]}
        made = db.anonymize("sales", model=anondb.KkmAnonymity(3, 1), name="r", queries=0, **options)
        made.publish(tmp_path / "r.duckdb")
        with anondb.open(tmp_path / "r.duckdb") as session:
            session.sql("CREATE TABLE own AS SELECT unnest([0, 1000000, 2000000]) AS k")
            for value, source in ODD.items():
                query = f"SELECT {value} AS n FROM {source}"
                told, truth = session.sql(query), db.sql(query)
                wrong = faults(told.columns, told.fetchall(), truth.columns, truth.fetchall(), nullable=True)
                assert not wrong, (query, wrong)
                assert not any("Internal error" in note for note in told.notes), (query, told.notes)
