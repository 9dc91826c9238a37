"""A column by which DuckDB takes different texts for equal is refused wherever it is read."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pytest
from portions import some

import anondb
from anondb.errors import InputError

COLLATIONS = ["NOCASE", "NOACCENT", "NFC", "NOCASE.NOACCENT", "NOACCENT.NFC", "de"]
BINARY = ['"binary"', "C", "POSIX"]


def shop(collation: str, column: str = "item") -> duckdb.DuckDBPyConnection:
    """Sales, records and a taxonomy of which one column has a collation."""
    connection = duckdb.connect()

    def kind(name: str) -> str:
        return f"VARCHAR COLLATE {collation}" if name == column else "VARCHAR"

    connection.execute(f"CREATE TABLE sales (tid {kind('tid')}, item {kind('item')}, other VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO sales SELECT tid, item, '' FROM range(4) r(tid), (VALUES ('A'), ('a'), ('b')) v(item)")
    connection.execute(f"CREATE TABLE people (tid VARCHAR, town {kind('town')}, note VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO people SELECT tid, 'T' || tid % 2, '' FROM range(4) r(tid)")
    connection.execute(f"CREATE TABLE food (node {kind('node')}, parent {kind('parent')})")
    connection.execute("INSERT INTO food VALUES ('all', NULL), ('A', 'all'), ('a', 'all'), ('b', 'all')")
    connection.execute("CREATE VIEW bought AS SELECT * FROM sales")
    connection.execute("CREATE VIEW baskets AS SELECT tid, list(item) AS item FROM sales GROUP BY tid")
    return connection


def refused(connection: duckdb.DuckDBPyConnection, source: object, column: str, where: str, **options: object) -> None:
    """One typed error that names column and source, and nothing is left behind."""
    with pytest.raises(InputError) as error:
        anondb.connect(connection).anonymize(source, name="r", **{"model": anondb.KmAnonymity(k=2, m=2), **options})  # type: ignore[arg-type]
    assert error.value.code == "collation" and error.value.exit_code == 2
    assert repr(column) in str(error.value) and where in str(error.value)
    found = connection.execute("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '%anondb%'").fetchall()
    assert not found and "release_r" not in str(connection.execute("SELECT schema_name FROM duckdb_schemas()").fetchall())


@pytest.mark.parametrize("collation", some(COLLATIONS, "NOACCENT.NFC"))
def test_transactions(collation: str) -> None:
    connection = shop(collation)
    refused(connection, "sales", "item", "sales")
    refused(connection, "bought", "item", "bought")
    refused(connection, "baskets", "item", "baskets")
    refused(connection, connection.sql("SELECT tid, upper(item) AS item FROM bought"), "item", "data frame")
    refused(shop(collation, "tid"), "sales", "tid", "sales")
    refused(shop(collation, "tid"), "bought", "tid", "bought")


@pytest.mark.slow
@pytest.mark.parametrize("collation", some(["NOCASE", "NOACCENT.NFC"], "NOCASE"))
def test_records_and_taxonomies(collation: str) -> None:
    relational = {
        "model": anondb.KkmAnonymity(k=2, m=1),
        "records": "people",
        "quasi_identifiers": "town",
        "taxonomy": "food",
    }
    refused(shop(collation, "town"), "sales", "town", "people", **relational)
    for column in ("node", "parent"):
        refused(shop(collation, column), "sales", column, "food", taxonomy="food")


@pytest.mark.slow
@pytest.mark.parametrize("collation", some(COLLATIONS, "de", check=()))
def test_anonymized_views(collation: str) -> None:
    """A collation in the query of a view is found; the hint of the message works."""
    database = anondb.connect(shop("C"))
    make = "CREATE ANONYMIZED VIEW r AS SELECT tid, {item} AS item FROM sales WITH (k = 2, m = 2)"
    with pytest.raises(InputError) as error:
        database.sql(make.format(item=f"item COLLATE {collation}"))
    assert error.value.code == "collation" and "'item'" in str(error.value)
    collated = anondb.connect(shop(collation))
    with pytest.raises(InputError):
        collated.sql(make.format(item="CAST(item AS VARCHAR)"))
    assert error.value.hint is not None and '"item" COLLATE "binary"' in error.value.hint
    collated.sql(make.format(item='"item" COLLATE "binary"'))
    with pytest.raises(InputError) as error:
        collated.sql(make.replace("r AS", "s AS").replace("sales", "baskets").format(item="item"))
    plain = 'list_transform("item", lambda x: decode(encode(x)))'
    assert error.value.hint is not None and plain in error.value.hint
    collated.sql(make.replace("r AS", "s AS").replace("sales", "baskets").format(item=plain))
    listed = "SELECT count(*) FROM s WHERE list_contains(item, 'A')"
    assert collated.release("s").query(listed).bounds == (4, 4.0, 4)
    assert collated.release("r").query("SELECT count(DISTINCT tid) FROM r WHERE item = 'A'").bounds == (4, 4.0, 4)
    with pytest.raises(InputError, match=r"there is no table 'sales'\. The tables are baskets, r\.") as error:
        collated.release("r").query("SELECT count(DISTINCT tid) FROM sales WHERE item = 'A'")
    assert error.value.code == "bad_sql"


@pytest.mark.slow
@pytest.mark.parametrize("collation", some(BINARY, "POSIX", check=()))
def test_binary_collations_are_none(collation: str, tmp_path: Path) -> None:
    """Columns that are not read may have any collation; files and data frames have none."""
    connection = shop(collation)
    release = anondb.connect(connection).anonymize("sales", model=anondb.KmAnonymity(k=2, m=2), name="r")
    assert release.query("SELECT count(DISTINCT tid) FROM sales WHERE item = 'A'").bounds == (4, 4.0, 4)
    frame = pd.DataFrame({"tid": [1, 1, 2, 2], "item": ["A", "a", "A", "a"]})
    anondb.connect().anonymize(frame, model=anondb.KmAnonymity(k=2, m=2), name="r")
