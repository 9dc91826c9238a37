"""Quasi-identifiers that are columns of the transactions' own table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cli.shop import Run

import anondb

STORES = ["north", "south"]
ROWS = [(tid, item, STORES[tid % 2], 20 + tid % 4) for tid in range(24) for item in ("milk", "bread", "figs")[: 1 + tid % 3]]
KKM = {"model": anondb.KkmAnonymity(k=3, m=2), "quasi_identifiers": "store,age", "queries": 5}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.sql("CREATE TABLE sales (tid INTEGER, item VARCHAR, store VARCHAR, age INTEGER)")
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?, ?)", ROWS)
        connection.sql("CREATE TABLE people AS SELECT DISTINCT tid, store, age FROM sales")
    return path


def frozen(db: anondb.Database, name: str) -> list[Any]:
    """The images of all transactions, in no order."""
    query = "SELECT items, store, age_lo, age_hi FROM release_{0}.baskets JOIN release_{0}.records USING (transaction_id)"
    return sorted(db.sql(query.format(name)).fetchall())


@pytest.mark.slow
def test_the_release_is_that_of_a_table_of_persons(shop: Path, tmp_path: Path) -> None:
    with anondb.connect(shop) as db:
        inline = db.anonymize("sales", name="inline", **KKM)
        inline.publish(tmp_path / "inline.duckdb")
        db.anonymize("sales", name="beside", records="people", **KKM)
        assert frozen(db, "inline") == frozen(db, "beside")
        checked = {"model": KKM["model"], "quasi_identifiers": "store,age"}
        assert db.verify("sales", **checked).violations == db.verify("sales", records="people", **checked).violations > 0
    with anondb.open(tmp_path / "inline.duckdb") as session:
        assert session.tables["sales"] == ["tid", "item", "store", "age"]
        (row,) = session.sql("SELECT count(DISTINCT tid) AS n FROM sales WHERE store = 'north'").fetchall()
        assert row == (12.0, 12, 12)
        sizes = "SELECT tid, store, count(*) AS n FROM sales GROUP BY tid, store"
        means = session.sql(f"SELECT store, avg(n) AS a FROM ({sizes}) GROUP BY store ORDER BY store").fetchall()
        assert [store for store, *_ in means] == ["north", "south"]
        assert all(lower <= 2.0 <= upper for _, _, lower, upper in means)


@pytest.mark.slow
def test_commands_find_the_source_again(shop: Path, run: Run) -> None:
    with anondb.connect(shop) as db:
        db.anonymize("sales", name="spring", **KKM)
    for name, *options in (["explain", "--item", "milk"], ["attack", "--known", "1"], ["accuracy"]):
        assert run(name, str(shop), "--release", "spring", *options).code == 0


@pytest.mark.nightly
def test_a_file_and_a_view(shop: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "sales.csv"
    with duckdb.connect(str(shop)) as connection:
        connection.sql(f"COPY sales TO '{file}' (HEADER)")
    words = ["--model", "kkm", "--k", "3", "--m", "2", "--quasi-identifiers", "store,age", "--json"]
    assert json.loads(run("anonymize", str(file), *words).out)["verified"]
    options = "model = 'kkm', k = 3, m = 2, quasi_identifiers = 'store,age'"
    with anondb.connect(shop) as db:
        db.sql(f"CREATE ANONYMIZED VIEW w AS SELECT tid, item, store, age FROM sales WITH ({options})")
        assert db.sql("REFRESH ANONYMIZED VIEW w").causes == ()
        db.sql("UPDATE sales SET store = 'south' WHERE tid = 2")
        assert "records" in db.sql("REFRESH ANONYMIZED VIEW w").causes


def test_rows_of_a_person_must_agree(shop: Path) -> None:
    with anondb.connect(shop) as db:
        db.sql("INSERT INTO sales VALUES (5, 'jam', 'east', 21), (7, 'jam', 'south', NULL)")
        with pytest.raises(anondb.InputError, match="2 ids of table 'sales' have different values") as error:
            db.anonymize("sales", name="spring", **KKM)
        assert error.value.code == "varying_record" and "east" not in str(error.value)
        with pytest.raises(anondb.InputError, match="column of items"):
            db.anonymize("sales", name="spring", **{**KKM, "quasi_identifiers": "store,item"})
