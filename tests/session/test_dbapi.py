"""DB-API 2.0 on a sealed file, as PEP 249 says, and pandas on top of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import anondb
from anondb import dbapi

ITEMS = "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item"


@pytest.fixture(scope="module")
def connection(shop: Path) -> Iterator[dbapi.Connection]:
    with dbapi.connect(shop / "supports.duckdb") as opened:
        yield opened


def test_what_the_module_states() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 1, "qmark")
    assert issubclass(dbapi.Error, Exception) and issubclass(dbapi.Warning, Exception)
    for name in ("Data", "Operational", "Integrity", "Internal", "Programming", "NotSupported"):
        assert issubclass(getattr(dbapi, f"{name}Error"), dbapi.DatabaseError)
        assert getattr(dbapi.Connection, f"{name}Error") is getattr(dbapi, f"{name}Error")


def test_a_query_and_its_rows(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    assert cursor.description is None and cursor.rowcount == -1
    assert cursor.execute(ITEMS) is cursor
    assert [column[0] for column in cursor.description or ()] == ["item", "n", "n_lower", "n_upper", "certain"]
    kinds = [column[1] for column in cursor.description or ()]
    assert kinds[0] == dbapi.STRING != dbapi.NUMBER and kinds[1] == dbapi.NUMBER != dbapi.DATETIME
    rows = connection.session.sql(ITEMS).fetchall()
    assert cursor.rowcount == len(rows) == 6 and cursor.notes
    assert cursor.fetchone() == rows[0] and cursor.fetchmany() == rows[1:2] and cursor.fetchmany(2) == rows[2:4]
    assert cursor.fetchall() == rows[4:] and cursor.fetchone() is None and cursor.fetchall() == []
    assert list(cursor.execute(ITEMS)) == rows


def test_a_time_with_its_zone(connection: dbapi.Connection) -> None:
    ((moment, one),) = connection.cursor().execute("SELECT now() AS t, 1 AS one").fetchall()
    assert moment.tzinfo is not None and one == 1


def test_parameters(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    asked = "SELECT count(*) AS n FROM sales WHERE item = {}"
    milk = cursor.execute(asked.format("'milk'")).fetchall()
    assert cursor.execute(asked.format("?"), ["milk"]).fetchall() == milk
    assert cursor.execute(asked.format("$name"), {"name": "milk"}).fetchall() == milk
    assert cursor.executemany(asked.format("?"), [("bread",), ("milk",)]).fetchall() == milk


def test_no_transactions(connection: dbapi.Connection) -> None:
    connection.commit()
    connection.rollback()
    assert connection.cursor().execute("BEGIN").fetchall() == []
    assert connection.cursor().execute("ROLLBACK").notes == ["A session has no transactions: what was done stays."]


@pytest.mark.slow
def test_bounds_and_tables_of_a_connection(shop: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("item,price\nmilk,1.5\n", encoding="utf-8")
    with dbapi.connect(shop / "plain.duckdb", bounds="none", tables={"prices": prices}) as connection:
        cursor = connection.cursor().execute(ITEMS)
        assert [column[0] for column in cursor.description or ()] == ["item", "n"]
        assert cursor.execute("SELECT * FROM prices").fetchall() == [("milk", 1.5)]
    for options in ({"bounds": "both"}, {"tables": {"sales": prices}}):
        with pytest.raises(dbapi.ProgrammingError):
            dbapi.connect(shop / "plain.duckdb", **options)


@pytest.mark.parametrize(
    ("sql", "parameters", "kind", "code"),
    [
        ("SELECT abs(tid) FROM sales", None, dbapi.NotSupportedError, "unsupported_query"),
        ("SELECT count(*) FROM", None, dbapi.ProgrammingError, "bad_sql"),
        ("SELECT count(*) FROM sales WHERE item = ?", None, dbapi.ProgrammingError, "bad_parameter"),
    ],
)
def test_errors_have_the_names_of_pep_249(
    connection: dbapi.Connection, sql: str, parameters: list[str] | None, kind: type[dbapi.Error], code: str
) -> None:
    cursor = connection.cursor()
    with pytest.raises(kind) as error:
        cursor.execute(sql, parameters)
    assert error.value.code == code and isinstance(error.value.__cause__, anondb.InputError)
    with pytest.raises(dbapi.InterfaceError):
        cursor.fetchall()


def test_what_is_closed_answers_nothing(shop: Path) -> None:
    connection = dbapi.connect(shop / "plain.duckdb")
    first, second = connection.cursor(), connection.cursor()
    first.execute(ITEMS)
    first.close()
    connection.close()
    connection.close()
    for use in (connection.cursor, connection.commit, connection.rollback, first.fetchall):
        with pytest.raises(dbapi.ProgrammingError):
            use()
    with pytest.raises(dbapi.ProgrammingError):
        second.execute(ITEMS)
    with pytest.raises(dbapi.OperationalError) as error:
        dbapi.connect(shop / "none.duckdb")
    assert error.value.code == "no_such_file"


@pytest.mark.filterwarnings("ignore:pandas only supports SQLAlchemy")
def test_pandas(connection: dbapi.Connection) -> None:
    import pandas as pd

    frame = pd.read_sql(ITEMS, connection)
    assert frame.equals(connection.session.sql(ITEMS).df())
    asked = "SELECT count(*) AS n FROM sales WHERE item IN (?, ?)"
    frame = pd.read_sql(asked, connection, params=("milk", "bread"))
    assert list(frame.columns) == ["n", "n_lower", "n_upper"] and len(frame) == 1


def test_polars(connection: dbapi.Connection) -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    frame = pl.read_database(ITEMS, connection)
    assert frame.columns == ["item", "n", "n_lower", "n_upper", "certain"] and frame["n"].dtype == pl.Float64
    assert frame.rows() == connection.session.sql(ITEMS).fetchall()
    asked = pl.read_database(
        "SELECT count(*) AS n FROM sales WHERE item = ?", connection, execute_options={"parameters": ["milk"]}
    )
    assert asked.columns == ["n", "n_lower", "n_upper"]


@pytest.mark.parametrize("size", [-1, 1.5, "2", True])
def test_fetchmany_needs_a_number_of_rows(connection: dbapi.Connection, size: object) -> None:
    cursor = connection.cursor().execute("SELECT 1")
    with pytest.raises(dbapi.ProgrammingError):
        cursor.fetchmany(size)  # type: ignore[arg-type]
    assert cursor.fetchmany(0) == [] and len(cursor.fetchmany(2)) == 1
