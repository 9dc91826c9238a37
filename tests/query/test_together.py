"""Small tables of several releases, which one statement reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from anondb.engine import DuckDBEngine, together
from anondb.query.reading import ROW_BYTES, Together
from anondb.release.objects import SchemaName

SCHEMAS = [SchemaName("memory", f"of_{n}") for n in range(5)]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def engine(said: list[str]) -> Iterator[DuckDBEngine]:
    engine = DuckDBEngine.open(on_statement=lambda text: said.append(text) if "_items" in text else None)
    for n, schema in enumerate(SCHEMAS):
        engine.connection.execute(f"CREATE SCHEMA {schema.name}")
        rows = f"SELECT 'R' || range % 2 AS released_item, 'i' || range AS item FROM range({n})"
        engine.connection.execute(f"CREATE TABLE {schema.name}.released_items AS {rows}")
    said.clear()
    yield engine
    engine.close()


@pytest.mark.parametrize("most", [1, 2, 64])
def test_the_rows_of_each(engine: DuckDBEngine, said: list[str], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anondb.engine.together.MOST", most)
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
    read = Together(engine, dict.fromkeys(SCHEMAS, 9))
    assert [read.members(schema) is None for schema in SCHEMAS] == [False, False, False, True, False]
    assert read.members(SCHEMAS[0]) == [] and read.members(SCHEMAS[2]) == [("R0", "i0"), ("R1", "i1")]
    assert np.ma.is_masked(read.query("release/members", SCHEMAS[3], "released_items")["item"])


def test_only_those_that_are_asked_are_read_and_once(engine: DuckDBEngine, said: list[str]) -> None:
    read = Together(engine, dict.fromkeys(SCHEMAS, 9))
    read.asked = SCHEMAS[1:2]
    assert read.members(SCHEMAS[1]) and "of_2" not in said[-1]
    read.asked = list(SCHEMAS)
    members = [read.members(schema) for schema in SCHEMAS if schema != SCHEMAS[1]]
    assert [len(one or []) for one in members] == [0, 2, 3, 4]
    assert len(said) == 2 and "of_1" not in said[-1]


def numbered(engine: DuckDBEngine, sizes: Sequence[int]) -> Together:
    """Releases with transactions of two items each, whose sizes begin with the given ones."""
    for n, schema in enumerate(SCHEMAS):
        rows = f"SELECT range // 2 + 1 AS transaction_id, range % 2 + 1 AS item_id FROM range({2 * n})"
        engine.connection.execute(f"CREATE TABLE {schema.name}.transaction_items AS {rows}")
        engine.connection.execute(f"CREATE TABLE {schema.name}.labels AS VALUES (1, 'a'), (2, 'b')")
        engine.connection.execute(f"ALTER TABLE {schema.name}.labels RENAME col0 TO item_id")
        engine.connection.execute(f"ALTER TABLE {schema.name}.labels RENAME col1 TO item")
    return Together(engine, dict(zip(SCHEMAS, (*sizes, *range(len(sizes), 5)), strict=True)))


@pytest.mark.parametrize("most", [1, 2, 16])
def test_all_rows_of_each(engine: DuckDBEngine, said: list[str], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose numbers have as many bytes are read in one statement; NULL, which no release has, makes objects."""
    monkeypatch.setattr("anondb.engine.together.MOST_LONG", most)
    read = numbered(engine, [0, 1 << 16])
    engine.connection.execute("UPDATE of_3.transaction_items SET item_id = NULL WHERE transaction_id = 2")
    for schema in SCHEMAS:
        assert len(read.numbers(schema)["item"]) == 2
    said.clear()
    for n, schema in enumerate(SCHEMAS):
        rows = read.rows(schema)
        assert rows is not None
        assert rows["transaction_id"].tolist() == [m // 2 + 1 for m in range(2 * n)]
        assert rows["item_id"].tolist() == [None if n == 3 and m in (2, 3) else m % 2 + 1 for m in range(2 * n)]
        if n:
            assert rows["transaction_id"].dtype == (np.int64 if n == 1 else np.uint16)
            assert rows["item_id"].dtype == (np.int64 if n == 1 else object if n == 3 else np.uint16)
    assert len(said) == 1 + -(-4 // most)


def test_rows_without_room_are_not_read(engine: DuckDBEngine, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are those of a release without items, whatever its file has."""
    read = numbered(engine, [])
    engine.connection.execute("DELETE FROM of_1.labels")
    monkeypatch.setattr(read, "array_bytes", 6 * ROW_BYTES)
    for schema in SCHEMAS:
        assert len(read.numbers(schema)["item"]) == (0 if schema == SCHEMAS[1] else 2)
    assert [read.rows(schema) is None for schema in SCHEMAS] == [False, True, False, False, True]
    assert "of_4" not in said[-1] and "of_1" not in said[-1]
