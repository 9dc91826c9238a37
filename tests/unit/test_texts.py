"""Texts of SQL: what is put into a place stays one name or one value, whatever it holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import duckdb
import pytest
from sqlglot import exp
from sqlglot.errors import SqlglotError

from anondb.engine import Query, Table, query_of
from anondb.engine.texts import Sql, creation, literal, quoted, sql, type_text

HERE, THERE = Table("temp", "main", "rows"), Table("shop", "main", "sales")
HOSTILE = ["it's", 'a "b"', "'; DROP TABLE t; --", "{0}", "{name}", "\\'", "", " ", "ä\n--", "$$", "SELECT"]
VALUES = [*HOSTILE, True, False, None, 0, -3, 2**40, 1.5, -1e-9, [], ["a'b", "{}"], [1, 2]]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_a_literal(connection: duckdb.DuckDBPyConnection, value: Any) -> None:
    assert connection.execute(sql("SELECT {0}, {value}", value, value=value)).fetchall() == [(value, value)]
    assert connection.execute(sql("SELECT {}", literal(value))).fetchall() == [(value,)]


@pytest.mark.parametrize("name", [name for name in HOSTILE if name], ids=repr)
def test_a_name_is_an_identifier(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    table = Table("temp", "main", name)
    connection.execute(creation(table, Query(sql("SELECT 1 AS {}", quoted(name)))))
    rows = connection.execute(sql("SELECT {}, {} FROM {}", quoted(name), Query("SELECT 2"), table))
    assert [column[0] for column in rows.description][:1] == [name] and rows.fetchall() == [(1, 2)]
    connection.execute(sql("DROP TABLE {}", table))


def test_values_that_have_no_literal() -> None:
    with pytest.raises(TypeError):
        literal(object())
    assert literal(Sql("now()")) == "now()"


@pytest.mark.parametrize("kind", ["VARCHAR", "DECIMAL(18, 2)", "VARCHAR[]", "TIMESTAMP WITH TIME ZONE", "ENUM('a', 'b')"])
def test_a_type(connection: duckdb.DuckDBPyConnection, kind: str) -> None:
    assert connection.execute(sql("SELECT CAST(NULL AS {})", type_text(kind))).fetchall() == [(None,)]


@pytest.mark.parametrize("kind", ["INTEGER); DROP TABLE t", "x' AS y", "", "INTEGER) AS a, CAST(1 AS INTEGER"])
def test_what_is_no_type_does_not_become_sql(kind: str) -> None:
    """Nothing behind a type is written."""
    with suppress(SqlglotError, TypeError):
        assert type_text(kind) == "INT"


def test_tables_and_trees() -> None:
    tree = exp.select("key", "value").from_("somewhere")
    texts = [query_of("release/manifest", {"manifest": table}).text for table in (HERE, THERE, tree, HERE)]
    assert texts[0] == texts[3] and len(set(texts)) == 3
    assert '"temp"."main"."rows"' in texts[0] and '"shop"."main"."sales"' in texts[1] and "somewhere" in texts[2]
