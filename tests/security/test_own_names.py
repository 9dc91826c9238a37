"""Tables and views of the user's that have the names of anondb's own: a typed refusal, and nothing has changed."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from portions import some

import anondb
from anondb.ledger.tables import TABLES

ROWS = "CREATE TABLE sales AS SELECT i // 3 AS tid, 'i' || (i * 7) % 11 AS item FROM range(90) AS r(i)"
VIEW = "CREATE ANONYMIZED VIEW w AS SELECT tid, item FROM sales WITH (model = 'km', k = 2, algorithm = 'coat')"


def objects(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    return connection.sql(
        "SELECT database_name, schema_name, table_name AS name, estimated_size FROM duckdb_tables() UNION ALL"
        " SELECT database_name, schema_name, view_name, 0 FROM duckdb_views() ORDER BY ALL"
    ).fetchall()


def refused(connection: duckdb.DuckDBPyConnection, code: str, name: str) -> None:
    database = anondb.connect(connection)
    before = objects(connection)
    for call in (
        lambda: database.anonymize("sales", name="spring", model=anondb.KmAnonymity(2, 2), queries=5),
        lambda: database.sql(VIEW),
    ):
        with pytest.raises(anondb.InputError) as error:
            call()
        assert error.value.code == code
        assert f"{name!r}" in str(error.value) and "Rename it" in str(error.value)
    assert objects(connection) == before


_TABLES = {table.name: table.columns for table in TABLES}
KINDS = ["table", "view", "types", "upper case"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "kind"),
    some(
        [(table, kind) for table in _TABLES for kind in KINDS],
        *((table, KINDS[n % len(KINDS)]) for n, table in enumerate(_TABLES) if n % 3 == 0),
        check=(),
    ),
)
def test_what_has_the_name_of_a_table_of_the_ledger(table: str, kind: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"{ROWS}; CREATE SCHEMA anondb")
        if kind == "view":
            columns = ", ".join(f"CAST(NULL AS {t}) AS {c}" for c, t in _TABLES[table].items())
            connection.execute(f"CREATE VIEW anondb.{table} AS SELECT {columns}")
        elif kind == "types":
            columns = ", ".join(f"{c} BLOB" for c in _TABLES[table])
            connection.execute(f"CREATE TABLE anondb.{table} ({columns})")
        else:
            connection.execute(f"CREATE TABLE anondb.{table.upper() if kind == 'upper case' else table} (mine INTEGER)")
        refused(connection, "ledger_name", table)


def test_the_ledger_is_not_read_from_a_table_of_the_users() -> None:
    with duckdb.connect() as connection:
        connection.execute(f"{ROWS}; CREATE SCHEMA anondb; CREATE TABLE anondb.releases (mine INTEGER)")
        database = anondb.connect(connection)
        with pytest.raises(anondb.InputError, match="'releases' in the schema 'anondb'"):
            database.releases()
        connection.execute("ALTER TABLE anondb.releases RENAME TO mine; CREATE TABLE anondb.others (mine INTEGER)")
        assert database.releases() == []
        database.anonymize("sales", name="spring", model=anondb.KmAnonymity(2, 2), queries=5)
        assert [entry.name for entry in database.releases()] == ["spring"]


@pytest.mark.parametrize(
    "name", some(["_anondb_items", "_ANONDB_source", "_anondb_input", "_anondb_mine"], "_ANONDB_source")
)
@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_temporary_names_of_work_tables(name: str, kind: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"{ROWS}; CREATE TEMP {kind} {name} AS SELECT 1 AS a")
        refused(connection, "reserved_name", name)
        assert connection.sql(f"FROM {name}").fetchall() == [(1,)]


@pytest.mark.slow
def test_names_of_work_tables_elsewhere_do_not_matter() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"{ROWS}; CREATE TABLE _anondb_items AS SELECT 1 AS a; CREATE VIEW _anondb_source AS SELECT 1 AS a"
        )
        database = anondb.connect(connection)
        release = database.anonymize("sales", name="spring", model=anondb.TransactionalK(2), taxonomy=tree())
        count = "SELECT count(DISTINCT tid) FROM sales WHERE item = 'i1'"
        before = release.query(count).bounds
        database.verify("sales")
        assert release.query(count).bounds == before
        assert connection.sql("FROM _anondb_items").fetchall() == [(1,)]


def tree() -> Any:
    from anondb.data.taxonomy import from_edges

    return from_edges([(f"i{n}", "ANY") for n in range(11)])
