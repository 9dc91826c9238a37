"""Columns whose cells hold several values are no items, ids or attributes, wherever they are named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from portions import some

import anondb
from anondb.data.constraints import load_sensitive
from anondb.errors import InputError
from anondb.models.relational import KkmAnonymity
from anondb.models.transactional import TransactionalK

CELLS = {
    "JSON": "'{\"s3cret\": 1}'::JSON",
    "JSON[]": "['\"s3cret\"'::JSON]",
    "STRUCT": "{'a': 's3cret'}",
    "MAP": "MAP {'s3cret': 1}",
    "VARIANT": "'s3cret'::VARIANT",
    "UNION": "union_value(a := 's3cret')",
    "money": "'s3cret'::UNION(\"PostgreSQL money\" VARCHAR)",  # of another database
    "STRUCT[]": "[{'a': 's3cret'}]",
    "VARCHAR[][]": "[['s3cret']]",
}


@pytest.fixture
def db() -> Iterator[Any]:
    with duckdb.connect() as connection, anondb.connect(connection) as opened:
        connection.execute("CREATE TABLE sales AS SELECT unnest([1, 2]) AS tid, 'a' AS item")
        connection.execute("CREATE TABLE tree AS SELECT 'all' AS node, NULL AS parent UNION ALL SELECT 'a', 'all'")
        yield opened, connection


@pytest.mark.slow
@pytest.mark.parametrize("kind", some(CELLS, "JSON", "money", check=()))
def test_cells_of_several_values(db: Any, kind: str) -> None:
    opened, connection = db
    connection.execute(f"CREATE TABLE t AS SELECT tid, 'a' AS item, {CELLS[kind]} AS cell FROM sales")
    connection.execute("CREATE VIEW cells AS SELECT cell AS item, 1 AS query_id, 1 AS constraint_id, 1 AS column_id FROM t")
    model, plain = TransactionalK(1), {"taxonomy": "tree", "name": "no"}
    people = {"records": "t", "quasi_identifiers": "cell:categorical", "model": KkmAnonymity(1, 1)}

    def sensitive() -> None:
        with opened.engine.transaction():
            load_sensitive(opened.engine, "cells")

    calls: list[Any] = [
        lambda: opened.anonymize("t", item="cell", model=model, **plain),
        lambda: opened.anonymize("t", item="item,cell", model=model, **plain),
        lambda: opened.anonymize("t", id="cell", model=model, **plain),
        lambda: opened.anonymize("sales", workload="cells", model=model, **plain),
        lambda: opened.anonymize("sales", name="no", **people),
        lambda: opened.verify("sales", **people),
        lambda: opened.verify("t", item="cell", model=model),
        sensitive,
    ]
    for call in calls:
        with pytest.raises(InputError) as refused:
            call()
        assert refused.value.code == "bad_type" and "s3cret" not in str(refused.value)
    with pytest.raises(InputError) as refused:
        opened.verify("t", item="cell", model=model)
    assert f"has the type {kind}" in str(refused.value) or kind.startswith("STRUCT")


def test_sensitive_items_are_one_a_row(db: Any) -> None:
    opened, connection = db
    connection.execute("CREATE TABLE lists AS SELECT ['a'] AS item")
    with opened.engine.transaction(), pytest.raises(InputError) as refused:
        load_sensitive(opened.engine, "lists")
    assert refused.value.code == "bad_type"


def test_times_with_a_zone_are_no_items_of_several_columns(db: Any) -> None:
    """Their texts depend on a setting."""
    opened, connection = db
    connection.execute("CREATE TABLE t AS SELECT tid, item, now() AS seen FROM sales")
    for item in ("seen", "item,seen"):
        with pytest.raises(InputError) as refused:
            opened.anonymize("t", item=item, model=TransactionalK(1), taxonomy="tree", name="no")
        assert refused.value.code == "bad_type"
