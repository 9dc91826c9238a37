"""A session's answers through PostgreSQL's protocol: psycopg in both formats, parameters, errors, transactions."""

from __future__ import annotations

import datetime as dt
import time
from decimal import Decimal
from pathlib import Path
from threading import Timer
from typing import Any

import psycopg
import pytest
from each import each
from portions import some
from serve.conftest import Server

import anondb

COUNTS = "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item"
LONG = "SELECT count(*) FROM range(100000) a, range(100000) b, range(100) c WHERE a.range + b.range + c.range = 7"
VALUES: dict[str, Any] = {
    "1::TINYINT": 1,
    "2::SMALLINT": 2,
    "3": 3,
    "5000000000": 5_000_000_000,
    "170141183460469231731687303715884105727": 170141183460469231731687303715884105727,
    "1.50": Decimal("1.50"),
    "1.5::FLOAT": 1.5,
    "2.5::DOUBLE": 2.5,
    "'inf'::DOUBLE": float("inf"),
    "'milk'": "milk",
    "'é'": "é",
    "true": True,
    "false": False,
    "NULL": None,
    "DATE '2020-01-02'": dt.date(2020, 1, 2),
    "TIME '01:02:03'": dt.time(1, 2, 3),
    "TIMESTAMP '2020-01-02 03:04:05.5'": dt.datetime(2020, 1, 2, 3, 4, 5, 500_000),
    "'a'::BLOB": b"a",
    "['a', NULL]": '["a", null]',
    "{'a': 1}": '{"a": 1}',
}


@pytest.mark.parametrize("binary", some([False, True], False))
def test_the_answers_are_those_of_a_session(client: Any, shop: Path, binary: bool) -> None:
    with anondb.open(shop / "supports.duckdb") as session:
        expected = session.sql(COUNTS)
        cursor = client.cursor(binary=binary).execute(COUNTS)
        assert [column.name for column in cursor.description] == expected.columns
        assert cursor.fetchall() == expected.fetchall() != []
        assert cursor.statusmessage == f"SELECT {len(expected)}"


@pytest.mark.parametrize("binary", [False, True])
def test_values_of_all_types(client: Any, binary: bool) -> None:
    (row,) = client.cursor(binary=binary).execute(f"SELECT {', '.join(VALUES)}").fetchall()
    for sql, value, expected in zip(VALUES, row, VALUES.values(), strict=True):
        assert (type(value), value) == (type(expected), expected) or value == Decimal(str(expected)), sql


@each("form", ["%s", "%b", "%t"])
@each("value", [7, 5_000_000_000, 2.5, Decimal("1.25"), "x'$1", True, None, dt.date(2020, 1, 2), dt.datetime(2020, 1, 2)])
def test_parameters(client: Any, form: str, value: Any) -> None:
    (row,) = client.execute(f"SELECT {form} AS a, {form} AS b", [value, value]).fetchall()
    assert [str(cell) for cell in row] == [str(value)] * 2


def test_parameters_in_conditions(client: Any, shop: Path) -> None:
    with anondb.open(shop / "supports.duckdb") as session:
        sql = "SELECT count(*) AS n FROM sales WHERE item IN ('milk', 'bread')"
        expected = session.sql(sql).fetchall()
    asked = "SELECT count(*) AS n FROM sales WHERE item"
    for _ in range(7):  # psycopg prepares a statement after five times
        assert client.execute(f"{asked} IN (%s,%s)", ["milk", "bread"]).fetchall() == expected
    assert client.execute(f"{asked} = ANY(%s)", [["milk", "bread"]]).fetchall() == expected
    assert len(client.execute(f"{COUNTS} LIMIT %s", [2]).fetchall()) == 2


@each(
    "sql, state",
    [
        ("SELECT item FROM nothing", "42601"),
        ("SELECT FROM WHERE", "42601"),
        ("SELECT CAST('milk' AS INTEGER) FROM range(2)", "0A000"),
        ("SELECT tid + 1 AS a FROM sales", "0A000"),
        ("EXECUTE nothing", "42602"),
        ("SELECT 1 " + "+ 1" * 100_000, "54001"),
    ],
)
def test_errors_have_codes_and_tell_no_data(client: Any, sql: str, state: str) -> None:
    with pytest.raises(psycopg.Error) as error:
        client.execute(sql)
    assert error.value.sqlstate == state and "milk" not in str(error.value)
    assert client.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("number", ["1000000000", "1" * 5_000])
def test_a_parameter_of_a_large_number_is_missing(client: Any, number: str) -> None:
    raw = client.pgconn
    assert not raw.prepare(b"large", b"SELECT $" + number.encode()).error_message
    assert b"has no value" in raw.exec_prepared(b"large", []).error_message
    assert client.execute("SELECT 1").fetchall() == [(1,)]


def test_several_statements(client: Any) -> None:
    cursor = client.execute("CREATE TABLE mine AS SELECT 1 AS a; INSERT INTO mine VALUES (2), (3); SELECT a FROM mine")
    tags = [cursor.statusmessage]
    while cursor.nextset():
        tags.append(cursor.statusmessage)
    assert tags == ["CREATE TABLE", "INSERT 0 2", "SELECT 3"] and cursor.fetchall() == [(1,), (2,), (3,)]
    with pytest.raises(psycopg.Error):
        client.execute("SELECT 1; SELECT * FROM nothing; DROP TABLE mine")
    assert client.execute("DROP TABLE mine").statusmessage == "DROP TABLE"
    assert client.execute("-- nothing\n;").statusmessage in ("", None)


def test_a_table_of_one_connection_is_not_in_another(server: Server, client: Any) -> None:
    client.execute("CREATE OR REPLACE TABLE private AS SELECT 1 AS a")
    with server.connect() as other, pytest.raises(psycopg.Error):
        other.execute("SELECT a FROM private")
    client.execute("DROP TABLE private")


def test_transactions_settings_and_pipelines(server: Server) -> None:
    with server.connect() as connection:
        with connection.transaction():
            assert connection.execute("SELECT 1").fetchall() == [(1,)]
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT * FROM nothing")
        connection.rollback()
        connection.execute("SET extra_float_digits TO 3")
        connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        assert connection.execute("SHOW transaction_read_only").fetchall() == [("on",)]
        with connection.pipeline():
            first, second = connection.execute("SELECT 1"), connection.execute("SELECT %s", [2])
            assert (first.fetchall(), second.fetchall()) == ([(1,)], [(2,)])


def test_a_note_is_a_notice(server: Server) -> None:
    said: list[str] = []
    with server.connect() as connection:
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary))
        connection.execute("SELECT * FROM sales LIMIT 2")
    assert any("modelled" in note for note in said)


@pytest.mark.slow
def test_rows_come_in_portions(server: Server) -> None:
    with server.connect(autocommit=True) as connection:
        rows = connection.execute("SELECT * FROM range(120000)").fetchall()
    assert len(rows) == 120_000 and rows[-1] == (119_999,)


def test_a_query_is_cancelled(server: Server) -> None:
    with server.connect(autocommit=True) as connection:
        connection.execute("SELECT 1")
        timer = Timer(0.5, connection.cancel_safe)
        timer.start()
        begun = time.monotonic()
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(LONG)
        timer.join()
        assert time.monotonic() - begun < 10
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_a_cursor_of_the_server_reads_in_portions(server: Server) -> None:
    query = "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item"
    with server.connect() as client:
        whole = client.execute(query).fetchall()
        for binary in (False, True):
            with client.cursor(name="some rows") as cursor:
                cursor.itersize = 1
                cursor.execute(query, binary=binary)
                assert [column.name for column in cursor.description] == ["item", "n", "n_lower", "n_upper", "certain"]
                assert [cursor.fetchone(), *cursor.fetchmany(1), *cursor] == whole
        client.commit()
        for sql, state in (("FETCH 1 FROM gone", "34000"), ("FETCH BACKWARD 1 FROM gone", "0A000")):
            with pytest.raises(psycopg.Error) as refused:
                client.execute(sql)
            assert refused.value.sqlstate == state
            client.rollback()
        client.execute(f"DECLARE kept CURSOR WITH HOLD FOR {query}")
        client.execute(f"DECLARE lost NO SCROLL CURSOR FOR {query}")
        client.commit()
        assert client.execute("FETCH NEXT FROM kept").fetchall() == whole[:1]
        assert client.execute("FETCH ALL IN kept").fetchall() == whole[1:]
        assert client.execute("FETCH kept").fetchall() == []
        client.execute(f"DECLARE other CURSOR FOR {query}")
        client.execute("CLOSE kept")
        assert len(client.execute("FETCH 2 FROM other").fetchall()) == 2
        client.execute("CLOSE ALL")
        with pytest.raises(psycopg.Error):
            client.execute("FETCH 2 FROM other")
        client.rollback()
        with pytest.raises(psycopg.Error):
            client.execute("FETCH ALL FROM lost")
        client.rollback()
        with pytest.raises(psycopg.Error):
            client.execute("DECLARE wrong CURSOR FOR DELETE FROM sales")
