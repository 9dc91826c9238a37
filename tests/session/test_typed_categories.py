"""Attributes of numbers, truths and dates that are released as categories: queries see them in the original's types."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from session.checker import faults

import anondb

TREE = [("all", None), ("few", "all"), ("many", "all"), ("3", "few"), ("9", "few"), ("10", "many"), ("100", "many")]
KEYS = ("age", "age // 4", "vip", "day", "coalesce(vip, false)")
MET = (
    "age >= 10",
    "age = 9",
    "age = '09'",
    "age BETWEEN 9 AND 21",
    "vip",
    "vip IS NOT TRUE",
    "vip = false",
    "day > '2023-12-31'",
)
SINGLE = ("count_if(vip)", "avg(vip::INT)", "sum(age)", "avg(age)", "sum(age) FILTER (vip)", "count(DISTINCT age)")
GROUPED = (
    "count(*)",
    "sum(count(*)) OVER (ORDER BY {})",
    "avg(age)",
    "rank() OVER (ORDER BY {})",
    "lag(count(*)) OVER (ORDER BY {})",
)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_bounds_hold_and_types_are_those_of_the_original(seed: int, tmp_path: Path) -> None:
    rnd, sealed = random.Random(seed), tmp_path / "r.duckdb"
    with anondb.connect() as db:
        db.sql("CREATE TABLE sales (tid INTEGER, item TEXT); CREATE TABLE tree (attribute TEXT, node TEXT, parent TEXT)")
        db.sql("CREATE TABLE people (tid INTEGER, age INTEGER, vip BOOLEAN, day DATE)")
        for node, parent in TREE:
            db.sql(f"INSERT INTO tree VALUES ('age', '{node}', {'NULL' if parent is None else repr(parent)})")
        for n in range(30):
            day, vip = rnd.choice(["2024-01-01", "2023-12-31", "2023-05-02"]), rnd.choice(["true", "false", "NULL"])
            db.sql(f"INSERT INTO people VALUES ({n}, {rnd.choice([3, 9, 10, 100, 'NULL'])}, {vip}, '{day}')")
            db.sql(f"INSERT INTO sales SELECT {n}, i FROM unnest({rnd.sample('abcd', rnd.randint(1, 3))}) t(i)")
        options = {"records": "people", "quasi_identifiers": "age,vip,day:categorical", "hierarchies": "tree"}
        made = db.anonymize("sales", model=anondb.KkmAnonymity(2, 1), name="r", queries=0, delta="0.4", **options)
        made.publish(sealed)
        queries = [f"SELECT {call} AS s FROM people" for call in SINGLE]
        queries += [f"SELECT count(*) AS n FROM people JOIN sales USING (tid) WHERE item = 'a' AND {met}" for met in MET]
        queries += [f"SELECT {k} AS k, {call.format(k)} AS s FROM people GROUP BY {k}" for k in KEYS for call in GROUPED]
        queries = queries[:: 3 if seed == 1 else 1]  # all of them in make check
        with anondb.open(sealed) as session:
            types = [row[:2] for row in db.sql("DESCRIBE people").fetchall() if row[0] != "tid"]
            assert [row[:2] for row in session.sql("DESCRIBE people").fetchall()[1:]] == [
                (name, kind.replace("INTEGER", "BIGINT")) for name, kind in types
            ]
            for query in queries:
                told, truth = session.sql(query), db.sql(query)
                wrong = faults(told.columns, told.fetchall(), truth.columns, truth.fetchall(), nullable=True)
                assert not wrong, (query, wrong)
                assert not any(note.startswith("No bounds") for note in told.notes), query


def test_texts_of_dates_and_times_are_ranges_of_their_types(tmp_path: Path) -> None:
    """A file holds texts alone: where all of a column are dates, or times of dates, queries see these."""
    items, people, sealed = (tmp_path / name for name in ("items.csv", "people.csv", "r.duckdb"))
    items.write_text("tid,item\n" + "".join(f"{n},{'ab'[n % 2]}\n" for n in range(24)))
    rows = (f"{n},2001-0{1 + n % 8}-03,2024-02-0{1 + n % 3}{'T '[n % 2]}12:3{n % 6},2024-0{n % 9}-01\n" for n in range(24))
    people.write_text("tid,born,admitted,month\n" + "".join(rows))
    query = "SELECT count_if(admitted >= TIMESTAMP '2024-02-02 12:32') AS n FROM people WHERE born > DATE '2001-02-03'"
    with anondb.connect() as db:
        db.load(items, records=people, id="tid", item="item", transactions_as="sales", records_as="people")
        options = {"records": "people", "quasi_identifiers": "born,admitted,month"}
        made = db.anonymize("sales", model=anondb.KkmAnonymity(2, 1), name="r", queries=0, **options)
        made.publish(sealed)
        said = " ".join(made.report.warnings)
        assert (
            "'born' is read as dates" in said and "'admitted' is read as dates" in said and "'month' is categorical" in said
        )
        db.sql("CREATE VIEW typed AS SELECT tid, born::DATE AS born, admitted::TIMESTAMP AS admitted FROM people")
        truth = db.sql(query.replace("people", "typed"))
        with anondb.open(sealed) as session:
            assert [row[1] for row in session.sql("DESCRIBE people").fetchall()] == [
                "VARCHAR",
                "DATE",
                "TIMESTAMP",
                "VARCHAR",
            ]
            told = session.sql(query)
            assert not faults(told.columns, told.fetchall(), truth.columns, truth.fetchall(), nullable=True)
            assert not any(note.startswith("No bounds") for note in told.notes)
