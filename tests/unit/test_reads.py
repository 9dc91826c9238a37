"""Plain reads: what their trees return, on tables with NULLs, equal rows and keys of other names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from anondb.engine import DuckDBEngine, Query, Table, reads
from anondb.engine.untrusted import reader_engine

ROWS = {"tid": ("INTEGER", [2, 1, 2, 3, 3]), "item": ("VARCHAR", ["b", "a", "b", None, "c"])}
LABELS = {"item": ("INTEGER", [7, 8, 8]), "label": ("VARCHAR", ["a", "b", "b"])}


@pytest.fixture
def tables(tmp_path: Any) -> Iterator[tuple[DuckDBEngine, Table, Table]]:
    engine = reader_engine([], tmp_path, None)
    with engine.transaction():
        yield engine, engine.put("rows", ROWS), engine.put("labels", LABELS)
    engine.close()


def test_plain_reads(tables: tuple[DuckDBEngine, Table, Table]) -> None:
    engine, table, labels = tables

    def found(query: Query) -> list[tuple[Any, ...]]:
        return list(zip(*(column.tolist() for column in engine.select(query).values()), strict=True))

    all_rows = [(1, "a"), (2, "b"), (2, "b"), (3, "c"), (3, None)]
    assert found(reads.rows(table, "tid, item", order="tid, item")) == all_rows
    once = reads.rows(table, "tid AS n, item", where="tid < 3", order="n", distinct=True)
    assert found(once) == [(1, "a"), (2, "b")]
    named = {"on": "item = label", "columns": "one.tid, other.item AS code", "order": "tid, code"}
    assert found(reads.joined(table, labels, **named)) == [(1, 7)] + 4 * [(2, 8)]  # type: ignore[arg-type]
    assert found(reads.joined(table, labels, side="LEFT", **named))[-2:] == [(3, None), (3, None)]  # type: ignore[arg-type]
    assert found(reads.joined(table, table, "tid, item", "one.tid", distinct=True, order="tid")) == [(1,), (2,), (3,)]
    assert found(reads.among(table, labels, "item = label", "tid", order="tid")) == [(1,), (2,), (2,)]
    assert found(reads.among(table, labels, "item = label", "tid", absent=True)) == [(3,), (3,)]
    assert found(reads.counted(table)) == [(5,)] and engine.scalar(reads.counted(table, where="FALSE")) == 0
    frequent = reads.counted(table, "tid AS t", count="support", having="count(*) > 1", order="t")
    assert found(frequent) == [(2, 2), (3, 2)]
    lists = Query("SELECT 1 AS id, [3, 4] AS items UNION ALL SELECT 2, []")
    assert found(reads.rows(lists, "id, unnest(items) AS item")) == [(1, 3), (1, 4)]
    last = reads.rows(labels, "label, max(item) AS last", where="item > 7", group="label")
    assert found(last) == [("b", 8)]
    number = {"columns": "one.tid, count(other.item) AS n", "side": "LEFT", "group": "one.tid", "order": "tid"}
    assert found(reads.joined(table, labels, "item = label", **number)) == [(1, 1), (2, 4), (3, 0)]  # type: ignore[arg-type]
    assert found(reads.counted(reads.rows(table, "tid", distinct=True))) == [(3,)]
    constant = reads.joined(table, labels, "item = label", "one.tid, 0 AS step", where="one.tid < 2")
    assert found(constant) == [(1, 0)]
    assert found(reads.summed(labels, "label", "item", "total", order="label")) == [("a", 7), ("b", 16)]
    databases = reads.rows(reads.system("duckdb_databases"), "database_name", where="internal")
    assert ("temp",) in found(databases)


@pytest.mark.slow
@pytest.mark.parametrize("kept", ["true", "false"])
def test_rows_once_are_sorted_whatever_the_settings_of_the_connection(kept: str) -> None:
    engine = DuckDBEngine.open()
    engine.connection.execute(f"SET preserve_insertion_order = {kept}")
    tids, items = np.divmod(np.random.default_rng(0).integers(0, 900_000, 600_000), 3)
    with engine.transaction():
        table = engine.put("rows", {"tid": ("INTEGER", tids), "item": ("INTEGER", items)})
        made = engine.create("once", reads.once(reads.rows(table, "item, tid"), "tid, item"))
        found = engine.select(reads.rows(made, "tid, item"))
        assert (np.stack([found["tid"], found["item"]]) == np.unique(np.stack([tids, items]), axis=1)).all()
        assert engine.scalar(reads.counted(reads.once(reads.rows(table, "tid", where="FALSE"), "tid"))) == 0
    engine.close()
