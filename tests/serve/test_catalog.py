"""What tools ask of PostgreSQL's catalog, by their statements, and the clients psql, SQLAlchemy, Node's pg and JDBC."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from each import each
from serve.conftest import PASSWORD, PSQL, Server

from anondb.query.scripts import script

HERE = Path(__file__).parent
QUERIES = script((HERE / "catalog_queries.sql").read_text("utf-8"))
COUNT = "SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'bread')"


@each("sql", QUERIES)
def test_a_statement_of_a_tool_is_answered(client: Any, sql: str) -> None:
    client.execute(sql).fetchall()


@each(
    "sql, rows",
    [
        ("SELECT current_database(), current_schema(), current_user", [("shop", "main", "analyst")]),
        ("SELECT datname FROM pg_database", [("shop",)]),
        ("SELECT DISTINCT table_catalog FROM information_schema.tables", [("shop",)]),
        ("SELECT nspname FROM pg_namespace ORDER BY 1", [("main",), ("pg_catalog",)]),
        ("SELECT count(*) FROM pg_catalog.pg_roles", [(0,)]),
        ("SELECT relname FROM pg_class c, pg_trigger t WHERE t.tgrelid = c.oid ORDER BY tgname", []),
        (
            "SELECT s.r FROM pg_namespace, pg_catalog.generate_series(1, 2) AS s(r) WHERE nspname = 'main' ORDER BY 1",
            [(1,), (2,)],
        ),
        ("SELECT 'pg_class'::text AS a", [("pg_class",)]),
        ("SHOW server_version", [("14.0",)]),
        ("SELECT pg_catalog.current_setting('server_version_num')::int", [(140000,)]),
        (
            "SELECT datname, datdba FROM pg_database db LEFT JOIN pg_tablespace t ON t.oid = db.dattablespace",
            [("shop", None)],
        ),
        (
            "SELECT typ.relkind FROM (SELECT typ.oid, relkind FROM pg_type typ LEFT JOIN pg_class c ON c.oid = typ.typrelid"
            " WHERE typ.typname = 'int8') AS typ",
            [(None,)],
        ),
        ("SELECT set_config('search_path', 'main', false)", [("main",)]),
        (
            "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), t.typname FROM pg_attribute a"
            " JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid WHERE c.relname = 'sales'"
            " AND c.relname OPERATOR(pg_catalog.~) '^(sales)$' COLLATE pg_catalog.default ORDER BY a.attnum",
            [("tid", "bigint", "int8"), ("item", "character varying", "varchar")],
        ),
    ],
)
def test_the_catalog(client: Any, sql: str, rows: list[Any]) -> None:
    assert client.execute(sql).fetchall() == rows


def test_functions_have_the_names_of_postgresql(client: Any) -> None:
    cursor = client.execute("SELECT version(), current_schema, pg_catalog.pg_is_in_recovery()")
    assert [column.name for column in cursor.description] == ["version", "current_schema", "pg_is_in_recovery"]


def test_queries_of_the_original_are_not_translated(client: Any) -> None:
    client.execute("CREATE MACRO pg_mine(a) AS a + 1; CREATE TABLE pg_numbers AS SELECT 6 / 4 AS a")
    assert client.execute("SELECT a, pg_mine(1) AS b FROM pg_numbers").fetchall() == [(1.5, 2)]
    client.execute("DROP TABLE pg_numbers")
    assert len(client.execute("SELECT current_user, range FROM range(5)").fetchall()) == 5
    for sql in ("SELECT count(*) FROM duckdb_secrets() -- pg_", "SELECT relname FROM pg_class, read_text('/etc/passwd')"):
        with pytest.raises(psycopg.Error):
            client.execute(sql)


def test_the_result_of_a_statement_is_described_before_it_runs(server: Server) -> None:
    """As libpq's PQdescribePrepared does, which psycopg's pq module calls."""
    with server.connect() as connection:
        raw = connection.pgconn
        raw.prepare(b"a", f"{COUNT} AND item > $1".encode())
        described = raw.describe_prepared(b"a")
        assert [described.fname(n) for n in range(described.nfields)] == [b"n", b"n_lower", b"n_upper"]
        assert described.nparams == 1 and described.param_type(0) == 1043
        assert raw.exec_prepared(b"a", [b"a"]).ntuples == 1
        raw.prepare(b"e", b"SELECT item, count(*) AS n FROM sales WHERE item = ANY($1) GROUP BY item")
        raw.describe_prepared(b"e")
        assert raw.exec_prepared(b"e", [b"{milk,bread}"]).ntuples == 2
        raw.prepare(b"c", b"SELECT $1 AS a")  # of the type that its value has
        raw.describe_prepared(b"c")
        assert raw.exec_prepared(b"c", [b"a"]).ntuples == 1
        raw.prepare(b"b", b"CREATE TABLE mine AS SELECT 1 AS a")
        assert raw.describe_prepared(b"b").nfields == 0
        assert raw.exec_(b"SELECT a FROM mine").error_message  # describing made no table
        raw.exec_prepared(b"b", [])
        raw.prepare(b"d", b"WITH two AS (SELECT 2 AS a) INSERT INTO mine SELECT a FROM two")
        assert raw.describe_prepared(b"d").nfields == 0
        assert raw.exec_prepared(b"d", []).command_status == b"INSERT 0 1"
        assert raw.exec_(b"SELECT count(*) FROM mine").get_value(0, 0) == b"2"


def test_statements_that_a_client_deallocates_make_room(server: Server) -> None:
    """As psycopg does with a libpq before 17, which has no message for it."""
    with server.connect() as connection:
        raw = connection.pgconn
        for number in range(220):
            assert not raw.prepare(b"s%d" % number, b"SELECT 1").error_message
            assert raw.exec_(b"DEALLOCATE s%d" % number).command_status == b"DEALLOCATE"
        raw.prepare(b"a", b"SELECT 1")
        raw.exec_(b"PREPARE b AS SELECT 1; DEALLOCATE ALL")
        assert raw.exec_prepared(b"a", []).error_message and raw.exec_(b"EXECUTE b").error_message
        assert raw.exec_(b"DEALLOCATE nothing").error_message


# --------------------------------------------------------------------------------------------------------- clients


@pytest.mark.slow
@pytest.mark.skipif(PSQL is None, reason="psql is not installed")
@each(
    "command, shown",
    [
        (r"\l", "shop"),
        (r"\dt", "sales"),
        (r"\dv", "item_counts"),
        (r"\dn", "main"),
        (r"\d", "item_counts"),
        (r"\d sales", "character varying"),
        (r"\d+ item_counts", "lower_bound"),
        (r"\du", "List of roles"),
        (r"\df", "List of functions"),
        (r"\dp", "sales"),
        (r"\di", "Did not find any"),
        (r"\dx", "List of installed"),
        (COUNT, "n_lower"),
    ],
)
def test_psql(server: Server, command: str, shown: str) -> None:
    words = [str(PSQL), "-X", "-w", "-v", "ON_ERROR_STOP=1", "-c", command, server.url().rpartition(" connect")[0]]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and shown in done.stdout + done.stderr, done.stderr


@pytest.mark.slow
def test_sqlalchemy_with_its_dialect_of_postgresql(server: Server) -> None:
    url = sa.URL.create("postgresql+psycopg", "analyst", PASSWORD, "127.0.0.1", server.port, "shop")
    engine = sa.create_engine(url)
    seen = sa.inspect(engine)
    assert seen.default_schema_name == "main" and {"sales", "baskets"} <= set(seen.get_table_names())
    assert "item_counts" in seen.get_view_names() and seen.get_foreign_keys("sales") == []
    kinds = {column["name"]: str(column["type"]) for column in seen.get_columns("sales")}
    assert kinds == {"tid": "BIGINT", "item": "VARCHAR"}
    sales = sa.Table("sales", sa.MetaData(), autoload_with=engine)
    asked = sa.select(sa.func.count(sales.c.tid.distinct()).label("n")).where(sales.c.item.in_(["milk", "bread"]))
    with engine.connect() as connection, server.connect() as other:
        assert [tuple(row) for row in connection.execute(asked)] == other.execute(COUNT).fetchall()
    engine.dispose()


def _node() -> dict[str, str] | None:
    """The environment in which Node finds the package pg; None if it is not there."""
    environment = {**os.environ, "PGPASSWORD": PASSWORD}
    for place in (environment.get("NODE_PATH", ""), "/usr/share/nodejs", "/usr/local/lib/node_modules"):
        environment["NODE_PATH"] = place
        if (
            shutil.which("node")
            and not subprocess.run(["node", "-e", "require('pg')"], env=environment, capture_output=True, cwd="/").returncode
        ):
            return environment
    return None


@pytest.mark.slow
def test_node(server: Server, client: Any) -> None:
    environment = _node()
    if environment is None:
        pytest.skip("Node's package pg is not installed (set NODE_PATH)")
    done = subprocess.run(
        ["node", str(HERE / "client.js"), str(server.port)], env=environment, capture_output=True, text=True, timeout=60
    )
    ((n, lower, upper),) = client.execute(COUNT).fetchall()
    assert done.stdout.splitlines() == [f"{n:g} {lower} {upper}"] * 3 + ["42601", "1 2"], done.stderr


JAR = Path("/usr/share/java/postgresql.jar")


@pytest.mark.slow
@pytest.mark.skipif(not (JAR.exists() and shutil.which("java")), reason="Java or its driver for PostgreSQL is missing")
def test_jdbc(server: Server) -> None:
    """The driver of DBeaver and Metabase."""
    words = ["java", "-cp", str(JAR), str(HERE / "Client.java"), str(server.port), PASSWORD]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    said = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert {"catalogs 1", "keys 0", "imported 0", "indexes 0", "column tid int8", "column item varchar"} <= set(said)
    assert {"table sales TABLE", "table item_counts VIEW", "valid true", "failed 42601", "cancelled 57014"} <= set(said)
    assert len({line for line in said if line.startswith("row")}) == 1  # before and after the driver turns to binary
