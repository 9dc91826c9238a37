"""What becomes of each type of PostgreSQL: as an id, an item, an attribute, the column of a partition, in a workload."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from postgres import server as servers
from postgres.databases import Databases, command, make

import anondb
from anondb.data.attributes import check_type
from anondb.data.sources import open_source
from anondb.data.transactions import load_transactions
from anondb.engine import reads
from anondb.errors import InputError
from anondb.ledger.stored import current_catalog
from anondb.ledger.tables import PERSONS
from anondb.models.relational import KkmAnonymity
from anondb.models.transactional import TransactionalK
from anondb.reading.options import read_as
from anondb.warehouse.postgres.tables import Column, SourceTable, declared_types

UUID = "6b1f0c0e-0000-4000-8000-000000000000"
TYPES = """
CREATE TYPE public.mood AS ENUM ('sad', 'o k');;
CREATE TYPE public.pair AS (a integer, b text);;
CREATE TYPE public.text AS (a integer);;
CREATE DOMAIN public.code AS varchar(5);;
CREATE DOMAIN public.short_code AS public.code;;
CREATE DOMAIN public.price AS numeric(6, 2);;
CREATE DOMAIN public.net_price AS public.price;;
CREATE DOMAIN public.tags AS text[];;
CREATE DOMAIN public.codes AS public.short_code[];;
CREATE DOMAIN public.document AS jsonb;;
CREATE DOMAIN public.basket AS public.document
"""
PLAIN = {  # the type in DuckDB, a value, and its text
    "text": ("VARCHAR", "'a '", "a "),
    "varchar(3)": ("VARCHAR", "'a '", "a "),
    "char(4)": ("VARCHAR", "'a'", "a"),
    '"char"': ("VARCHAR", "'a'", "a"),
    "name": ("VARCHAR", "'a'", "a"),
    "uuid": ("VARCHAR", f"'{UUID}'", UUID),
    "time": ("VARCHAR", "'24:00'", "24:00:00"),
    "mood": ("VARCHAR", "'o k'", "o k"),
    "code": ("VARCHAR", "'a'", "a"),
    "short_code": ("VARCHAR", "'a'", "a"),
    "boolean": ("BOOLEAN", "true", "true"),
    "smallint": ("SMALLINT", "7", "7"),
    "integer": ("INTEGER", "7", "7"),
    "bigint": ("BIGINT", "7", "7"),
    "date": ("DATE", "'2026-01-02'", "2026-01-02"),
}
HERE = {  # those that are compared by other texts than PostgreSQL writes
    "timestamp": ("TIMESTAMP", "'2026-01-02 03:04:05.6'", "2026-01-02 03:04:05.6"),
    "timestamptz": ("TIMESTAMP", "'2026-01-02 03:04:05+02'", "2026-01-02 01:04:05"),
    "numeric": ("DECIMAL(38,2)", "1.50", "1.50"),
    "numeric(5,1)": ("DECIMAL(5,1)", "1.5", "1.5"),
    "numeric(50,2)": ("DECIMAL(38,2)", "1.25", "1.25"),
    "numeric(3,5)": ("DECIMAL(38,5)", "0.00123", "0.00123"),
    "net_price": ("DECIMAL(6,2)", "1.5", "1.50"),
}
LISTS = {
    "text[]": ("VARCHAR[]", "array['b', 'a']", "a b"),
    "tags": ("VARCHAR[]", "array['b', 'a']", "a b"),
    "char(4)[]": ("VARCHAR[]", "array['a', 'a ']", "a"),
    "codes": ("VARCHAR[]", "array['a']", "a"),
    "mood[]": ("VARCHAR[]", "array['sad']", "sad"),
    "uuid[]": ("VARCHAR[]", f"array['{UUID}']", UUID),
    "integer[]": ("INTEGER[]", "array[2, 1]", "1 2"),
    "boolean[]": ("BOOLEAN[]", "array[true]", "true"),
    "date[]": ("DATE[]", "array['2026-01-02']", "2026-01-02"),
    "numeric(5,2)[]": ("DECIMAL(5,2)[]", "array[1.5, 1.50]", "1.50"),
    "net_price[]": ("DECIMAL(6,2)[]", "array[1.5]", "1.50"),
}
REFUSED = {  # the type that the error names, and a value
    "json": ("JSON", "'{\"a\":  1}'"),
    "jsonb": ("JSON", "'{\"a\": 1}'"),
    "basket": ("JSON", "'{\"b\": 1}'"),
    "jsonb[]": ("JSON[]", "array['1']"),
    "real": ("FLOAT", "1.5"),
    "double precision": ("DOUBLE", "1.5"),
    "real[]": ("FLOAT[]", "array[1.5]"),
    "double precision[]": ("DOUBLE[]", "array[1.5]"),
    "numeric[]": ("numeric[]", "array[1.5, 1.50]"),
    "integer[][]": ("int4[][]", "array[[1, 2], [3, 4]]"),
    "text[][]": ("text[][]", "array[['a', '2'], ['b', '1']]"),
    "tags[]": ("_text[]", "array[array['a']::tags]"),
    "pair": ("public.pair", "row(1, 'x')"),
    "pair[]": ("public.pair[]", "array[row(1, 'x')]"),
    "public.text": ("public.text", "row(1)"),
    "xml": ("xml", None),
    "int4range": ("int4range", "'[1,2)'"),
    "int4multirange": ("int4multirange", "'{[1,2)}'"),
    "bytea": ("bytea", "'x'"),
    "point": ("point", "'(1,2)'"),
    "box": ("box", "'(1,2),(3,4)'"),
    "polygon": ("polygon", "'((1,2),(3,4))'"),
    "money": ("money", "1"),
    "interval": ("interval", "'24 hours'"),
    "timetz": ("timetz", "'10:00+02'"),
    "bit(3)": ("bit", "b'101'"),
    "bit varying": ("varbit", "b'101'"),
    "tsvector": ("tsvector", "'a b'"),
    "inet": ("inet", "'10.0.0.1'"),
    "macaddr": ("macaddr", "'08:00:2b:01:02:03'"),
    "oid": ("oid", "1"),
    "regclass": ("regclass", "'pg_class'"),
    "int2vector": ("int2vector", "'1 2'"),
}
FETCHED = ("JSON", "JSON[]", "FLOAT[]", "DOUBLE[]")  # the error inside a database names the flag


def made(databases: Databases, table: str, kinds: list[str], values: list[str | None]) -> dict[str, str]:
    """A table ``(tid, item, c0, c1, ...)`` with a row of values and one of NULLs; returns the column of each type."""
    columns = {kind: f"c{n}" for n, kind in enumerate(kinds)}
    databases.sql(f"CREATE TABLE {table} (tid integer, item text, {', '.join(f'{c} {k}' for k, c in columns.items())})")
    row = ", ".join(f"({value or 'NULL'})::{kind}" for kind, value in zip(kinds, values, strict=True))
    databases.sql(f"INSERT INTO {table} SELECT 1, 'a', {row}")
    databases.sql(f"CREATE VIEW {table}_view AS SELECT * FROM {table}")
    return columns


@pytest.fixture(scope="module")
def places(server: servers.Server) -> tuple[Databases, dict[str, dict[str, str]]]:
    databases = make(server)
    for statement in TYPES.split(";;"):
        databases.sql(statement)
    databases.sql("CREATE TABLE one (tid integer, item pg_catalog.text)")
    databases.sql("INSERT INTO one VALUES (1, 'a'), (2, 'a')")
    databases.sql("CREATE TABLE tree (node pg_catalog.text, parent pg_catalog.text)")
    databases.sql("INSERT INTO tree VALUES ('all', NULL), ('a', 'all')")
    columns = {}
    for table, cases in (("plain", PLAIN), ("here", HERE), ("lists", LISTS)):
        columns[table] = made(databases, table, list(cases), [value for _, value, _ in cases.values()])
    columns["refused"] = made(databases, "refused", list(REFUSED), [value for _, value in REFUSED.values()])
    return databases, columns


@pytest.fixture
def databases(places: tuple[Databases, Any]) -> Databases:
    return places[0]


@pytest.fixture
def columns(places: tuple[Any, dict[str, dict[str, str]]]) -> dict[str, dict[str, str]]:
    return places[1]


@pytest.fixture
def db(databases: Databases) -> Iterator[Any]:
    with anondb.connect(databases.raw_url()) as opened:
        yield opened


def refused(call: Any, *arguments: Any, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    return caught.value


def labels(db: Any, source: str, **names: str) -> str:
    """The items that are read from a table."""
    with db.engine.transaction(), open_source(db.engine, read_as(source, {}, **names), "transactions") as opened:
        return " ".join(load_transactions(db.engine, opened).labels)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["plain", "here", "lists"])
def test_types_that_items_have(db: Any, columns: Any, table: str) -> None:
    """Each arrives as the type in DuckDB that says what it is, from tables and views, and its text is the item."""
    cases: dict[str, Any] = {"plain": PLAIN, "here": HERE, "lists": LISTS}[table]
    for source in (table, f"{table}_view"):
        with db.engine.transaction(), open_source(db.engine, source, "transactions") as opened:
            assert [opened.columns[c] for c in columns[table].values()] == [here for here, _, _ in cases.values()]
    for kind, column in columns[table].items():
        assert labels(db, source, item=column) == cases[kind][2], kind
        if table != "lists":
            assert labels(db, source, id=column) == "a", kind
    for kind, column in columns[table].items():
        if table != "lists":
            texts = db.engine.server.rows(db.engine.warehouse().pairs(table, "tid", column), "items").to_pydict()
            assert texts["item"] == [cases[kind][2]], kind
        else:
            error = refused(db.engine.warehouse().pairs, table, "tid", column)
            assert error.code == "bad_type" and "fetch the rows" in str(error), kind


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numeric", "timestamptz"])
def test_ids_are_alike_where_they_are(databases: Databases, db: Any, kind: str) -> None:
    """Of a table outside the search path, with names that need quotes: the same release and persons, fetched and there."""
    times = "'2026-01-02 03:04+02'::timestamptz + (n / 4) * '1 s'::interval"
    value = "(n / 4)::numeric + 0.5" if kind == "numeric" else times
    table = '"Shop.1"."Sales ""of"" it"'
    databases.sql('DROP SCHEMA IF EXISTS "Shop.1" CASCADE')
    databases.sql('CREATE SCHEMA "Shop.1"')
    columns = f'{value} AS "Who is", \'a\'::text AS "What"'
    databases.sql(f"CREATE TABLE {table} AS SELECT {columns} FROM generate_series(0, 39) AS s(n)")
    if kind == "numeric":  # one number, written in two ways
        databases.sql(f'INSERT INTO {table} SELECT "Who is" + 0.00, "What" FROM {table}')
    found = []
    for there in (False, True):
        release = db.anonymize(
            table, id="Who is", item="What", taxonomy="tree", model=anondb.KmAnonymity(2, 1), name="alike", on_engine=there,
            replace=True, queries=1,
        )  # fmt: skip
        with db.engine.transaction():
            persons = sorted(row["person"] for row in PERSONS.rows(db.engine, current_catalog(db.engine)))
        manifest = {key: text for key, text in release.manifest.items() if key != "release_id"}
        found.append((manifest, sorted(release.table("item_counts").fetchall()), persons))
    assert len(found[0][2]) == 10 and found[0] == found[1] and found[0][1][0][1:] == (10, 10.0, 10)
    db.drop("alike")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["refused", "refused_view"])
def test_types_that_nothing_has(db: Any, columns: Any, source: str) -> None:
    """As an item, an id or an attribute, fetched and inside the database, they are refused by their name."""
    with db.engine.transaction(), open_source(db.engine, source, "transactions") as opened:
        for kind, (shown, _) in REFUSED.items():
            column = columns["refused"][kind]
            for names in ({"id_column": "tid", "item_column": column}, {"id_column": column, "item_column": "item"}):
                named = replace(opened, id=names["id_column"], item=names["item_column"])
                error = refused(load_transactions, db.engine, named)
                assert error.code == "bad_type" and f"has the type {shown}." in str(error), kind
                error = refused(db.engine.warehouse().pairs, source, **names)
                assert error.code == "bad_type" and ("fetch the rows" in str(error)) == (shown in FETCHED), kind
            if shown not in ("FLOAT", "DOUBLE"):  # of which ranges are made
                error = refused(check_type, opened, column)
                assert error.code == "bad_type" and f"has the type {shown}," in str(error), kind


@pytest.mark.slow
def test_where_else_they_are_refused(databases: Databases, db: Any, columns: Any) -> None:
    """As the column of a partition, in the owner's queries, and by the commands; nothing of a value is said."""
    for kind in ("jsonb", "pair"):
        column = columns["refused"][kind]
        records = {"records": "refused", "quasi_identifiers": f"{column}:categorical", "model": KkmAnonymity(1, 1)}
        for call, more in ((db.anonymize, {"name": "no"}), (db.verify, {})):
            error = refused(call, "refused", **records, **more)
            assert error.code == "bad_type" and repr(column) in str(error)
        view = f"CREATE ANONYMIZED VIEW v AS SELECT tid, item, {column} FROM refused"
        error = refused(db.sql, f"{view} WITH (model = 'k', k = 1, taxonomy = 'tree', partition_by = '{column}')")
        assert error.code == "bad_type" and repr(column) in str(error)
        databases.sql("DROP VIEW IF EXISTS queries")
        databases.sql(f"CREATE VIEW queries AS SELECT 1 AS query_id, {column} AS item FROM refused")
        error = refused(db.anonymize, "one", model=TransactionalK(1), taxonomy="tree", name="no", workload="queries")
        assert error.code == "bad_type" and "'item'" in str(error)
    source = (databases.raw_url(), "--transactions", "refused", "--item", columns["refused"]["jsonb"])
    rule = ("--model", "k", "--k", "1")
    for words in (("profile", *source), ("anonymize", *source, *rule, "--taxonomy", "tree"), ("verify", *source, *rule)):
        done = command(*words)
        assert done.returncode == 2 and "JSON" in done.stderr and "Traceback" not in done.stderr
        assert '"a"' not in done.stderr + done.stdout
    assert {release.name for release in db.releases()} <= {"alike"}  # of another test


@pytest.mark.slow
def test_their_texts_are_read_whole(databases: Databases, db: Any) -> None:
    """JSON arrives as it is written, NULL stays NULL, and the owner's own casts see what PostgreSQL shows."""
    texts = ['["a",   1, "\\u00e9", "é"]', '{"b": 1.10, "b":2}', "12345678901234567890.50", "null", None]
    databases.sql("CREATE TABLE texts (tid integer, as_json json, as_jsonb jsonb, net inet)")
    with databases.session() as session:
        for n, text in enumerate(texts):
            net = None if text is None else f"10.0.0.{n}"
            session.execute("INSERT INTO texts VALUES (%s, %s, %s, %s)", (n, text, text, net))
    columns = ("as_json", "as_jsonb", "net")
    wanted = databases.sql("SELECT as_json::text, as_jsonb::text, net::text FROM texts ORDER BY tid")
    with db.engine.transaction(), open_source(db.engine, "texts", "transactions") as opened:
        assert [opened.columns[c] for c in columns[:2]] == ["JSON", "JSON"]
        cast = [f"CAST({c} AS VARCHAR) AS {c}" for c in columns]
        found = db.engine.select(reads.rows(opened.query, ", ".join(cast), order="tid"), "texts").values()
        assert list(zip(*(np.ma.asarray(c).tolist() for c in found), strict=True)) == wanted
    error = refused(db.verify, "texts", model=TransactionalK(1), item="net")
    assert error.code == "bad_type"
    databases.sql("CREATE TABLE nets AS SELECT 'all' AS node, NULL AS parent UNION SELECT net::text, 'all' FROM texts")
    databases.sql("DELETE FROM nets WHERE node IS NULL")
    query = "SELECT tid, CAST(net AS VARCHAR) AS item FROM texts WHERE net IS NOT NULL"
    db.sql(f"CREATE ANONYMIZED VIEW by_net AS {query} WITH (model = 'k', k = 2, taxonomy = 'nets', queries = 1)")
    assert db.release("by_net").verification.verified


@pytest.mark.slow
def test_types_of_extensions(debian: servers.Server) -> None:
    """Texts whose case does not count are refused as such, also below domains and in lists; others by their names."""
    databases = make(debian)
    for statement in (
        "CREATE EXTENSION citext",
        "CREATE EXTENSION hstore",
        "CREATE DOMAIN label AS citext",
        "CREATE DOMAIN short_label AS label",
        "CREATE TABLE t (tid integer, item text, c citext, l short_label, h hstore, x xml)",
        "INSERT INTO t VALUES (1, 'a', 'A', 'A', 'a=>1', '<a/>')",
        "CREATE TABLE lists (tid integer, item citext[])",
    ):
        databases.sql(statement)
    with anondb.connect(databases.raw_url()) as db:
        for column, code in (("c", "collation"), ("l", "collation"), ("h", "bad_type"), ("x", "bad_type")):
            for names in ({"item": column}, {"id": column, "item": "item"}):
                for there in (False, True):
                    error = refused(db.verify, "t", model=TransactionalK(1), on_engine=there, **names)
                    assert error.code == code, (column, there)
        assert refused(db.verify, "lists", model=TransactionalK(1)).code == "collation"


def test_json_that_duckdb_does_not_take(databases: Databases, db: Any) -> None:
    """A half of a character, which json stores and DuckDB's JSON has not: refused, not changed."""
    databases.sql("CREATE TABLE halves AS SELECT 1 AS tid, 'a' AS item, '\"\\ud800\"'::json AS cell")
    assert refused(db.verify, "halves", model=TransactionalK(1)).code == "bad_unicode"


def test_types_of_a_strangers_release() -> None:
    """Those that no range of a release has are read as texts: the comparison with a release then finds the difference."""
    kinds = {"int8": "BIGINT", "date": "DATE", "json": "VARCHAR", "money": "VARCHAR", "numeric": "VARCHAR"}
    columns = [Column(name, name, None, -1, False) for name in kinds] + [Column("citext", "x.citext", None, -1, True)]
    assert declared_types(SourceTable("x", "records", "r", tuple(columns))) == kinds | {"citext": "VARCHAR"}


def test_json_arrays_of_single_values_are_lists(databases: Databases, db: Any) -> None:
    """As the layout says: each array is the list of a person."""
    databases.sql("CREATE TABLE baskets (tid integer, items jsonb)")
    databases.sql("INSERT INTO baskets VALUES (1, '[\"a\", \"b, c\"]'), (2, '[\"a\", 7]'), (3, '[]')")
    profiled = db.profile("baskets", item="items")
    assert (profiled.persons, profiled.empty, profiled.items) == (3, 1, 3)
    databases.sql("INSERT INTO baskets VALUES (4, '{\"a\": 1}')")
    assert refused(db.profile, "baskets", item="items").code == "bad_type"


def test_layouts_of_tables(databases: Databases, db: Any) -> None:
    """Columns of items, columns of true and false, and lists with a separator are read as those of files are."""
    tables = {
        "wide": "'milk' AS item_1, CASE WHEN i > 5 THEN 'tea' END AS item_2",
        "held": "true AS milk, i > 5 AS tea",
        "listed": "'milk' || CASE WHEN i > 5 THEN ';tea' ELSE '' END AS item",
    }
    for table, columns in tables.items():
        databases.sql(f"CREATE TABLE {table} AS SELECT i AS tid, {columns} FROM generate_series(1, 9) t(i)")
    how = {"wide": {"item": "item_*"}, "held": {"item": "milk,tea"}, "listed": {"layout": "list"}}
    for table, options in how.items():
        read = db.profile(table, **options)
        assert (read.persons, read.items, read.occurrences) == (9, 2, 13), table
