"""The database in which queries are bound: it takes what DuckDB takes, and does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from each import each

from anondb.engine import Binder, Shape
from anondb.engine.untrusted import memory_engine

SHAPES: dict[str, Shape] = {
    "long": [("t", {"tid": "BIGINT", "item": "VARCHAR"})],
    "list BIGINT": [("t", {"tid": "BIGINT", "item": "BIGINT[]"})],
    "broken": [("t", {"tid": "BIGINT", "TID": "VARCHAR"}), ("t", {"a": "BIGINT"})],
}


def accepts(binder: Binder, sql: str, shape: str) -> bool:
    """Whether DuckDB binds the text as one SELECT; also true if the shape cannot be created."""
    return binder.columns(sql, shape) is not None


@pytest.fixture(scope="module")
def binder() -> Binder:
    return Binder(SHAPES, memory_engine())


@each(
    "sql, long, listed",
    [
        ("SELECT count(*) FROM t WHERE item LIKE 'a%'", True, False),
        ("SELECT count(*) FROM t WHERE list_contains(item, 1) -- a comment", False, True),
        ("SELECT count(*) FROM t a CROSS JOIN t b ON a.tid = b.tid", False, False),
        ("SELECT count(*), item FROM t", False, False),
        ("SELECT 1; SELECT 2", False, False),
        ("", False, False),
    ],
)
def test_what_is_taken(binder: Binder, sql: str, long: bool, listed: bool) -> None:
    assert (accepts(binder, sql, "long"), accepts(binder, sql, "list BIGINT")) == (long, listed)


def test_a_shape_that_cannot_be_made_refuses_nothing(binder: Binder) -> None:
    assert accepts(binder, "SELECT count(*) FROM t", "broken")


def test_nothing_is_read_written_or_set(binder: Binder, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    for sql in (
        f"SELECT * FROM read_csv('{secret}')", f"SELECT * FROM '{secret}'", f"SELECT * FROM glob('{tmp_path}/*')",
        f"COPY t TO '{tmp_path / 'x.csv'}'", "SET threads = 3", f"ATTACH '{tmp_path / 'x.db'}'", "DROP TABLE t", "USE main",
        "INSERT INTO t VALUES (1, 'a')", "EXPLAIN ANALYZE SELECT 1",
    ):  # fmt: skip
        assert not accepts(binder, sql, "long"), sql
    assert [p.name for p in tmp_path.iterdir()] == ["secret.csv"]
    assert accepts(binder, "SELECT count(*) FROM t", "long")


def test_a_bug_of_the_optimizer_on_empty_tables(binder: Binder) -> None:
    on = "a.tid = b.tid AND (b.item = ANY(['x', 'y']) OR b.item = 'z')"
    anti = f"SELECT DISTINCT a.tid FROM t a LEFT JOIN t b ON {on} WHERE NOT (a.item = 'w') AND b.tid IS NULL"
    assert accepts(binder, f"SELECT item, count(*) FROM t WHERE tid NOT IN ({anti}) GROUP BY item", "long")


def test_the_tables_of_the_database_beside_are_no_tables_of_the_query() -> None:
    beside = memory_engine()
    beside.connection.execute("CREATE TABLE price (item VARCHAR)")
    first, second = Binder(SHAPES, beside), Binder({"long": [("other", {"a": "BIGINT"})]}, beside)
    assert not accepts(first, "SELECT item FROM price", "long") and not accepts(first, "FROM other", "long")
    first.close()
    assert accepts(second, "SELECT a FROM other", "long") and not accepts(second, "SELECT tid FROM t", "long")
    second.close()
    names = beside.connection.execute("SELECT database_name FROM duckdb_databases() WHERE NOT internal").fetchall()
    assert names == [("memory",)]
