"""Small tables of several releases, which one statement reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from anondb.engine import DuckDBEngine, together
from anondb.query.together import Together
from anondb.release.objects import SchemaName

SCHEMAS = [SchemaName("memory", f"of_{n}") for n in range(5)]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def engine(said: list[str]) -> Iterator[DuckDBEngine]:
    engine = DuckDBEngine.open(on_statement=lambda text: said.append(text) if "released_items" in text else None)
    for n, schema in enumerate(SCHEMAS):
        engine.connection.execute(f"CREATE SCHEMA {schema.name}")
        rows = f"SELECT 'R' || range % 2 AS released_item, 'i' || range AS item FROM range({n})"
        engine.connection.execute(f"CREATE TABLE {schema.name}.released_items AS {rows}")
    said.clear()
    yield engine
    engine.close()


@pytest.mark.parametrize("most", [1, 2, 64])
def test_the_rows_of_each(engine: DuckDBEngine, said: list[str], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anondb.engine.duckdb_engine.MOST", most)
    parts = [{"released_items": schema.table("released_items")} for schema in SCHEMAS]
    each = engine.query_each("release/members", parts)
    assert len(said) == -(-len(SCHEMAS) // most)
    for part, found in zip(parts, each, strict=True):
        one = engine.query("release/members", part)
        assert found.keys() == one.keys()
        assert Counter(zip(*found.values(), strict=True)) == Counter(zip(*one.values(), strict=True))
    assert engine.query_each("release/members", []) == [] and together.apart({}, 1) == [{}]


def test_missing_values_stay_missing(engine: DuckDBEngine) -> None:
    engine.connection.execute("INSERT INTO of_3.released_items VALUES ('R1', NULL)")
    read = Together(engine, SCHEMAS)
    assert [read.members(schema) is None for schema in SCHEMAS] == [False, False, False, True, False]
    assert read.members(SCHEMAS[0]) == [] and read.members(SCHEMAS[2]) == [("R0", "i0"), ("R1", "i1")]
    assert np.ma.is_masked(read.query("release/members", SCHEMAS[3], {"released_items": "released_items"})["item"])


def test_only_those_that_are_asked_are_read_and_once(engine: DuckDBEngine, said: list[str]) -> None:
    read = Together(engine, SCHEMAS)
    read.asked = SCHEMAS[1:2]
    assert read.members(SCHEMAS[1]) and "of_2" not in said[-1]
    read.asked = SCHEMAS
    members = [read.members(schema) for schema in SCHEMAS if schema != SCHEMAS[1]]
    assert [len(one or []) for one in members] == [0, 2, 3, 4]
    assert len(said) == 2 and "of_1" not in said[-1]
