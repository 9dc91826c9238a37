"""Warehouses that are found by the scheme of a URL: their tables are anonymized there, or read from there."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cli.shop import Run
from pyarrow import parquet

import anondb

ITEMS = ("milk", "Milk", "bread", "tea", "rum", "cola")
TREE = "child,parent\n" + "".join(f"{i},{'food' if n < 3 else 'drinks'}\n" for n, i in enumerate(ITEMS))
TREE += "food,all\ndrinks,all\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The same purchases in a table of SQLite, a Parquet file and a file of DuckDB; and the taxonomy."""
    folder = tmp_path_factory.mktemp("shop")
    rows = [(t, i) for t in range(60) for n, i in enumerate(ITEMS) if (t * (n + 3)) % 7 < 3]
    with contextlib.closing(sqlite3.connect(folder / "shop.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE sales (tid INTEGER, item TEXT COLLATE NOCASE)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", rows)
        connection.execute("CREATE TABLE people AS SELECT DISTINCT tid, 20 + tid % 5 AS age FROM sales")
        connection.execute("CREATE TABLE odd (tid, item)")
        connection.executemany("INSERT INTO odd VALUES (?, ?)", [(1, "secret"), ("2", "b"), (3, 4.5)])
        connection.execute("CREATE TABLE untyped (tid, item)")
    table = pa.table({"tid": [t for t, _ in rows], "item": [i for _, i in rows]})
    parquet.write_table(table, folder / "sales.parquet")
    with anondb.connect(folder / "shop.duckdb") as database:
        database.engine.connection.register("rows", table)
        database.engine.connection.execute("CREATE TABLE sales AS SELECT * FROM rows")
    (folder / "food.csv").write_text(TREE, "utf-8")
    return {
        "sqlite": f"sqlite://{folder}/shop.sqlite#sales",
        "datafusion": f"datafusion://{folder}#sales",
        "duckdb": f"{folder}/shop.duckdb",
        "taxonomy": str(folder / "food.csv"),
    }


def released(database: Any, source: Any, taxonomy: str, **options: Any) -> tuple[Any, list[Any]]:
    """The report, and how many transactions have each released item."""
    made = database.anonymize(source, taxonomy=taxonomy, model=anondb.KmAnonymity(5, 2), name="r", **options)
    counts = "SELECT item, count(*) FROM release_r.transactions GROUP BY ALL ORDER BY ALL"
    return made.report, database.engine.connection.execute(counts).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "datafusion"])
def test_a_release_is_the_same_wherever_it_is_made(shop: dict[str, str], engine: str) -> None:
    results = []
    for place, source, on_engine in (
        (shop["duckdb"], "sales", False),
        (":memory:", shop[engine], False),
        (":memory:", shop[engine], True),
    ):
        with anondb.connect(place) as database:
            report, counts = released(database, source, shop["taxonomy"], on_engine=on_engine, queries=5, replace=True)
        assert report.verification.verified and report.transactions == 60
        results.append((counts, report.loss.lm_total, report.accuracy.to_json()))
    assert results[0] == results[1] == results[2]
    assert len(results[0][0]) > 1 and results[0][2]["queries"] == 5


@pytest.mark.slow
def test_small_tables_are_fetched_unless_the_owner_says_otherwise(shop: dict[str, str]) -> None:
    with anondb.connect() as database:
        report, _ = released(database, shop["sqlite"], shop["taxonomy"], queries=5)
        assert report.accuracy.queries
        with pytest.raises(anondb.InputError) as caught:
            database.anonymize(shop["sqlite"], model=anondb.KmAnonymity(2, 2), algorithm="coat", on_engine=True)
        assert caught.value.code == "not_on_engine"
        made = database.anonymize(shop["sqlite"], model=anondb.KmAnonymity(2, 2), algorithm="coat", name="c", queries=0)
        assert made.report.verification.verified


def test_a_column_without_values_has_texts(shop: dict[str, str]) -> None:
    with anondb.connect() as database:
        for on_engine in (True, False):
            empty = shop["sqlite"].replace("#sales", "#untyped")
            report, counts = released(database, empty, shop["taxonomy"], on_engine=on_engine, replace=True)
            assert report.transactions == 0 and not counts


def test_attributes_are_read_from_there(shop: dict[str, str]) -> None:
    with anondb.connect() as database:
        made = database.anonymize(
            shop["sqlite"],
            records=shop["sqlite"].replace("#sales", "#people"),
            quasi_identifiers="age",
            model=anondb.KkmAnonymity(3, 1),
            queries=0,
        )
        assert made.report.verification.verified


def test_verification_there_and_here(shop: dict[str, str]) -> None:
    for k, holds in ((2, True), (50, False)):
        with anondb.connect() as database:
            here, there = (
                database.verify(shop["sqlite"], model=anondb.KmAnonymity(k, 2), on_engine=on) for on in (False, True)
            )
        assert here.violations == there.violations and there.verified == holds


@pytest.mark.slow
def test_what_is_refused(shop: dict[str, str], tmp_path: Path) -> None:
    """By a typed error without data, and nothing is left."""
    file = shop["sqlite"].partition("#")[0]
    (tmp_path / "text.sqlite").write_text("tid,item\n" * 100)
    for source, code in (
        (f"{file}#nothing", "no_such_table"),
        (f"{file}#odd", "bad_type"),
        ("sqlite:///nowhere.sqlite#sales", "no_such_file"),
        (file, "no_such_table"),
        (f"sqlite://{tmp_path}/text.sqlite#sales", "not_a_database"),
        (shop["datafusion"].replace("#sales", "#nothing"), "no_such_table"),
        (shop["datafusion"].replace("#sales", "#../sales"), "no_such_table"),
    ):
        for on_engine in (True, False):
            with anondb.connect() as database, pytest.raises(anondb.InputError) as caught:
                released(database, source, shop["taxonomy"], on_engine=on_engine)
            assert caught.value.code == code and "secret" not in str(caught.value), (source, on_engine)
            assert caught.value.__context__ is None


@pytest.mark.slow
def test_the_command(shop: dict[str, str], tmp_path: Path, run: Run) -> None:
    """A URL is a SOURCE as a file is; ``--transactions`` names its table, too."""
    file = tmp_path / "sales.duckdb"
    words = ["--taxonomy", shop["taxonomy"], "--k", "5", "--m", "2", "--queries", "0"]
    source = shop["sqlite"].partition("#")[0]
    made = run("anonymize", source, "--transactions", "sales", *words, "--on-engine", "--publish", file, "--json")
    assert made.json["verified"] and "inside SQLite" in str(made.json["warnings"])
    assert run("verify", file).code == 0
    assert run("verify", shop["sqlite"], "--k", "2", "--m", "2", "--on-engine").code == 0
    assert run("profile", shop["sqlite"], "--json").json["persons"] == 60
    own = tmp_path / "own.duckdb"
    for words in (("peek", source), ("peek", shop["sqlite"]), ("load", own, "--transactions", shop["sqlite"])):
        assert run(*words).code == 2 and not own.exists()


@pytest.mark.slow
def test_taxonomies_and_workloads_are_read_from_there(shop: dict[str, str], tmp_path: Path, run: Run) -> None:
    file = tmp_path / "more.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE food (child, parent)")
        connection.executemany("INSERT INTO food VALUES (?, ?)", [row.split(",") for row in TREE.split()[1:]])
        connection.execute("CREATE TABLE asked (query_id, item)")
        connection.executemany("INSERT INTO asked VALUES (?, ?)", [("a", "milk"), ("a", "tea"), ("b", "rum")])
    more = ("--taxonomy", f"sqlite://{file}#food", "--workload", f"sqlite://{file}#asked", "--k", "5", "--m", "2")
    made = run("anonymize", shop["sqlite"], *more, "--json").json
    assert made["verified"] and made["accuracy"]["queries"] == 2
    compared = run("compare", shop["sqlite"], *more, "--algorithms", "mhghs", "--no-item-supports", "--json").json
    assert compared["runs"][0]["queries"] == 2


PLUG_IN = """
from functools import partial
from anondb.warehouse.duckdb import DuckDBWarehouse
from anondb.warehouse.portable import opened as at


class Goose(DuckDBWarehouse):
    name = "Goose"


opened = partial(at, Goose)
"""


@pytest.mark.slow
def test_another_package_adds_an_engine(shop: dict[str, str], tmp_path: Path) -> None:
    """By an entry point; anondb need not know it. The checks of conformance run on it."""
    (tmp_path / "goose.py").write_text(PLUG_IN)
    about = tmp_path / "goose-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: goose\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[anondb.warehouses]\ngoose = goose:opened\n")
    source = f"goose://{shop['duckdb']}#sales"
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")]), os.getcwd()])
    words = [sys.executable, "-m", "anondb.warehouse.conformance", source]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("conforms") == 8, done.stderr
    assert subprocess.run([*words[:3], "nothing://x"], capture_output=True, text=True).returncode == 2
