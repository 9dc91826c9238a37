"""Texts of views that an older DuckDB stored are compared as DuckDB 2.0 stores them, and nothing else is changed."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from anondb.engine import DuckDBEngine
from anondb.release.catalog import listed


def stored(engine: DuckDBEngine, select: str) -> str:
    """The text of a view as the catalog's list has it."""
    engine.run(parse_one(f"CREATE OR REPLACE VIEW v AS {select}", dialect="duckdb"), "making a view")
    return listed(engine, "memory")["main", "view", "v"][0]


def test_words_of_older_versions(engine: DuckDBEngine) -> None:
    engine.connection.execute("CREATE VIEW w AS SELECT main.list_value(1) AS a, CAST('t' AS BOOLEAN) AS b")
    old = listed(engine, "memory")["main", "view", "w"][0]
    assert "main.list_value" not in old and "CAST" not in old
    new = stored(engine, "SELECT list_value(1) AS a, TRUE AS b")
    assert old.replace(" w ", " v ") == new


@pytest.mark.parametrize("other", ["'f'::BOOLEAN", "'true'::BOOLEAN", "CAST('t' AS VARCHAR)", "'CAST(''t'' AS BOOLEAN)'"])
def test_other_words_stay_others(engine: DuckDBEngine, other: str) -> None:
    assert stored(engine, f"SELECT {other} AS b") != stored(engine, "SELECT TRUE AS b")
