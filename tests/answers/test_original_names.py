"""A world's tables have the original's names, columns, types and layout, so that SQL for the original runs as it is."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest
from answers.ledger_releases import make
from each import each
from session.random_releases import draw_original, seal_weeks

import anondb
from anondb.answers.files import Column, Description, copied, description_of
from anondb.answers.hashing import seed_of
from anondb.answers.worlds import Worlds, worlds_for
from anondb.engine.untrusted import memory_engine
from anondb.release.reader import sealed_releases

MANIFEST = {"model": "km", "semantics": "set", "transactions": "9", "table": "t", "id_column": "i", "item_column": "x"}


@contextmanager
def worlds_of(files: list[Path], **description: Any) -> Iterator[tuple[Worlds, Any]]:
    """The worlds of files, with other description than the files say."""
    engine = memory_engine(threads=1)
    try:
        with sealed_releases(files) as sealed:
            copies = copied(engine, sealed)
        yield (
            Worlds(engine, [replace(copy, description=replace(copy.description, **description)) for copy in copies]),
            engine.connection,
        )
    finally:
        engine.close()


def of_world(con: Any, world: int, query: str) -> list[Any]:
    """The rows of a query in a world."""
    return list(con.execute(f"SET search_path = 'world_0'; SET VARIABLE anondb_world = {world}; {query}").fetchall())


def types(con: Any, table: str) -> dict[str, str]:
    return {row[0]: row[1] for row in con.execute(f"DESCRIBE {table}").fetchall()}


@pytest.mark.slow
def test_sql_for_the_original_runs_as_it_is(folder: Path) -> None:
    with worlds_of(make("kkm", folder)) as (worlds, con):
        worlds.draw()
        query = "SELECT town, count(DISTINCT s.tid) FROM sales AS s JOIN customers USING (tid) WHERE age > 40 GROUP BY town"
        found = []
        for w in range(worlds.count):
            found.append(sorted(of_world(con, w, query)))
        assert {town for rows in found for town, _ in rows} <= {"Cork", "Delft", "Bergen"} and found[0] != found[1]
        assert types(con, "sales") == {"tid": "BIGINT", "item": "VARCHAR"}
        assert types(con, "customers") == {
            "tid": "BIGINT",
            "age": "BIGINT",
            "sex": "VARCHAR",
            "town": "VARCHAR",
            "since": "DATE",
        }


@pytest.mark.slow
def test_only_the_labels_that_are_asked_are_drawn(folder: Path) -> None:
    """Whatever was drawn before, a label has the same rows."""
    (file,) = make("mhghs_supports", folder)
    query = "SELECT * FROM sales ORDER BY ALL"
    with worlds_of([file]) as (worlds, con):
        items = [
            item
            for (item,) in duckdb.connect(str(file), read_only=True).execute("SELECT item FROM released_items").fetchall()
        ]
        groups = sorted({label for item in items for label in worlds.labels_of(item)})
        sizes = []
        for label in groups:
            worlds.draw([label, "no label"])
            worlds.draw([label])
            sizes.append(len(of_world(con, 3, query)))
        assert sizes == sorted(sizes) and sizes[0] < sizes[-1]
        one_by_one = of_world(con, 3, query)
        worlds.count_holders()
        holders = "SELECT item, anondb_holders FROM anondb_holders ORDER BY item"
        for w in range(worlds.count):
            assert of_world(con, w, holders) == of_world(
                con, w, "SELECT item, count(*) FROM sales GROUP BY item ORDER BY item"
            )
    with worlds_of([file]) as (worlds, con):
        worlds.draw()
        assert of_world(con, 3, query) == one_by_one


@pytest.mark.slow
def test_lists_include_transactions_without_items(tmp_path: Path) -> None:
    file = tmp_path / "r.duckdb"
    with duckdb.connect() as con:
        con.execute(
            "CREATE TABLE sales AS SELECT i AS tid, [(i + j) % 3 FOR j IN range(i % 3)] AS items FROM range(30) r(i)"
        )
        model = anondb.KmAnonymity(3, 1)
        made = anondb.connect(con).anonymize("sales", item="items", model=model, algorithm="coat", name="r")
        made.publish(file)
    with worlds_of([file], lists=True) as (worlds, con):
        worlds.draw()
        rows = of_world(con, 0, "SELECT tid, items FROM sales")
        assert sorted(tid for tid, _ in rows) == [-n for n in range(30, 0, -1)]
        assert sum(items == [] for _, items in rows) == 10 and types(con, "world_0.sales")["items"] == "BIGINT[]"
        assert all(items == sorted(items) for _, items in rows)


@pytest.mark.slow
@each(
    "kind, first",
    [
        ("BIGINT", -1),
        ("DOUBLE", -1.0),
        ("DECIMAL(9,2)", Decimal("-0.01")),
        ("DECIMAL(3,1)", Decimal("-0.1")),
        ("DECIMAL(20,0)", -1),
        ("VARCHAR", "modelled-1"),
        ("BOOLEAN", "modelled-1"),
        ("DATE", date(9999, 12, 30)),
        ("TIMESTAMP", datetime(9999, 12, 30, 23, 59, 59)),
        ("UUID", UUID("ffffffff-ffff-ffff-ffff-000000000001")),
    ],
)
def test_ids_of_modelled_persons_are_no_ids_of_the_original(folder: Path, kind: str, first: Any) -> None:
    with worlds_of(make("similar", folder), id=Column("tid", kind)) as (worlds, con):
        worlds.draw()
        ids = of_world(con, 0, "SELECT DISTINCT tid FROM sales")
        assert len(ids) == 200 and (first,) in ids
        assert types(con, "world_0.sales")["tid"] == ("VARCHAR" if kind == "BOOLEAN" else kind)


@pytest.mark.slow
def test_the_column_that_divides_files_is_constant_and_ids_continue(tmp_path: Path) -> None:
    rnd = random.Random(3)
    original = draw_original(rnd, records=False)
    original = replace(original, weeks={tid: 1 + tid % 2 for tid in original.baskets})
    seal_weeks(original, {"model": anondb.KmAnonymity(2, 1), "algorithm": "apriori", "taxonomy": "food"}, tmp_path / "weeks")
    files = sorted((tmp_path / "weeks").glob("*.duckdb"))
    with worlds_of(files) as (worlds, con):
        worlds.draw()
        weeks = of_world(con, 1, "SELECT tid, list(DISTINCT week) FROM sales GROUP BY tid")
        assert types(con, "world_0.sales") == {"tid": "BIGINT", "item": "VARCHAR", "week": "BIGINT"}
        assert {len(of) for _, of in weeks} == {1} and {of[0] for _, of in weeks} == {1, 2}
        sizes = [len(original.baskets) // 2, len(original.baskets) - len(original.baskets) // 2]
        assert sorted(sum(of == [week] for _, of in weeks) for week in (1, 2)) == sorted(sizes)


def test_the_number_of_worlds_depends_on_the_rows_alone() -> None:
    rows = (0, 5, 1_000_000, 1_000_001, 6_700_000, 20_000_000, 44_000_000)
    assert [worlds_for(n) for n in rows] == [20, 20, 20, 19, 2, 1, 1]


# ---------------------------------------------------------------- description


def description(manifest: dict[str, str], items: list[str]) -> Description:
    return description_of({**MANIFEST, **manifest}, 7, items)


@each(
    "items, kind",
    [
        (["1", "-20", "9223372036854775807"], "BIGINT"),
        (["1", "9223372036854775808"], "VARCHAR"),
        (["1", "02"], "VARCHAR"),
        (["1", "٣"], "VARCHAR"),
        (["1.0"], "VARCHAR"),
        ([], "VARCHAR"),
    ],
)
def test_types_without_those_of_the_manifest(items: list[str], kind: str) -> None:
    assert description({}, items).item == Column("x", kind)
    assert description({"types": json.dumps({"x": "DATE", "i": "UUID"})}, items).item == Column("x", "DATE")


def test_description_of_a_manifest() -> None:
    found = description(
        {"layout": "lists", "types": json.dumps({"i": "UUID"}), "k": "4", "partition": '{"week": "12"}'}, ["a"]
    )
    assert found == Description(
        "t", Column("i", "UUID"), Column("x", "VARCHAR"), True, "sets", 9, 4, 7, partition=(Column("week", "BIGINT"), "12")
    )
    assert not description({"layout": "rows"}, ["a"]).lists


def test_the_seed_is_the_beginning_of_the_content_digest() -> None:
    assert seed_of("content:ed2cfcda76b3") == seed_of("ed2cfcda76b3") == 0xED2CFCDA


@pytest.mark.slow
def test_a_release_without_items(tmp_path: Path) -> None:
    """Where all items were suppressed, a world has no rows."""
    file = tmp_path / "r.duckdb"
    with duckdb.connect() as con:
        con.execute("CREATE TABLE sales AS SELECT i AS tid, 'x' || i AS item FROM range(6) r(i)")
        model = anondb.HkpCoherence("1/2", 3, 1)
        con.execute("CREATE TABLE secret AS SELECT 'x0' AS item WHERE false")
        anondb.connect(con).anonymize("sales", model=model, sensitive="secret", max_suppression=100, name="r").publish(file)
    with worlds_of([file]) as (worlds, con):
        worlds.draw()
        assert worlds.count == 20 and of_world(con, 0, "SELECT * FROM sales") == []
