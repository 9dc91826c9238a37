"""What PostgreSQL alone has: snapshots, collations, search paths and open transactions."""

from __future__ import annotations

from typing import Any

import pytest
from properties.trees import taxonomy_of
from warehouse.warehouses import OnPostgres, rows_of, selected

from anondb.data.taxonomy import Taxonomy
from anondb.errors import InputError
from anondb.models.km import KmAnonymity
from anondb.on_engine import anonymize_on
from anondb.warehouse.postgres import PostgresWarehouse

MODEL = KmAnonymity(2, 2)


def tree(*leaves: str) -> Taxonomy:
    return taxonomy_of({"root": list(leaves)}, "root")


def supports(connection: Any, table: str, taxonomy: Taxonomy) -> dict[str, int]:
    report = anonymize_on(PostgresWarehouse(connection), table, taxonomy=taxonomy, model=MODEL)
    return dict(zip(report.dataset.labels, report.dataset.supports.tolist(), strict=True))


def test_a_snapshot_does_not_see_later_rows(postgres: Any, server: str) -> None:
    import psycopg

    place = OnPostgres(postgres)
    table = place.source([(1, "a"), (2, "a")])
    seen = []
    with place.warehouse.snapshot():
        for n in range(2):
            rows = place.warehouse.source(table, "tid", "item")
            seen.append(rows_of(place.warehouse.fetch(selected(rows, "id", "item"), most=9)))
            place.warehouse.drop(rows)
            with psycopg.connect(server, autocommit=True) as other:
                other.execute("INSERT INTO sales.food VALUES (%s, 'b')", [n + 3])
    assert seen[0] == seen[1] == [(1, "a"), (2, "a")]


def test_the_connection_is_left_as_it_was(postgres: Any) -> None:
    place = OnPostgres(postgres)
    path = postgres.execute("SHOW search_path").fetchone()
    for pairs in ([(1, "a"), (2, "a")], [(1, "unknown")]):
        table = place.source(pairs)
        if pairs[0][1] == "a":
            anonymize_on(place.warehouse, table, taxonomy=tree("a"), model=MODEL)
        else:
            with pytest.raises(InputError):
                anonymize_on(place.warehouse, table, taxonomy=tree("a"), model=MODEL)
        assert postgres.execute("SHOW search_path").fetchone() == path
        assert postgres.execute("SHOW transaction_isolation").fetchone() == ("read committed",)
        left = "SELECT count(*) FROM pg_class WHERE relname LIKE '\\_anondb%'"
        assert postgres.execute(left).fetchone() == (0,)
        assert postgres.info.transaction_status.name == "IDLE"


def test_an_open_transaction_is_refused(server: str) -> None:
    import psycopg

    with psycopg.connect(server) as connection:
        connection.execute("CREATE TABLE mine (n int)")
        with pytest.raises(InputError) as caught:
            anonymize_on(PostgresWarehouse(connection), "mine", taxonomy=tree("a"), model=MODEL)
        assert caught.value.code == "transaction_open"
        assert connection.execute("SELECT count(*) FROM mine").fetchone() == (0,)
        connection.rollback()


def test_a_connection_without_autocommit(postgres: Any, server: str) -> None:
    import psycopg

    table = OnPostgres(postgres).source([(1, "a"), (2, "a")])
    with psycopg.connect(server) as connection:
        assert supports(connection, table, tree("a")) == {"a": 2}
        assert connection.info.transaction_status.name == "IDLE"


@pytest.mark.parametrize("kind", ["bigint", "integer", "smallint", "text", "varchar(9)", "uuid", "date", "boolean"])
def test_types_of_items(postgres: Any, kind: str) -> None:
    value = {"uuid": "6b1f0c0e-0000-4000-8000-000000000000", "date": "2026-01-02", "boolean": "true"}.get(kind, "7")
    postgres.execute("DROP TABLE IF EXISTS sales.typed")
    postgres.execute(f"CREATE TABLE sales.typed (tid int, item {kind})")
    postgres.execute("INSERT INTO sales.typed VALUES (1, %s), (2, %s)", [value, value])
    assert supports(postgres, "sales.typed", tree(value)) == {value: 2}


@pytest.mark.parametrize("kind", ["real", "numeric", "timestamptz", "text[]", "jsonb", "interval", "sales.mood"])
@pytest.mark.parametrize("column", ["tid", "item"])
def test_types_without_exact_equality_are_refused(postgres: Any, kind: str, column: str) -> None:
    other = {"tid": "item", "item": "tid"}[column]
    postgres.execute("DROP TABLE IF EXISTS sales.typed")
    postgres.execute("DROP TYPE IF EXISTS sales.mood")
    postgres.execute("CREATE TYPE sales.mood AS ENUM ('a')")
    postgres.execute(f"CREATE TABLE sales.typed ({column} {kind}, {other} text)")
    with pytest.raises(InputError) as caught:
        supports(postgres, "sales.typed", tree("a"))
    assert caught.value.code == "bad_type"


def test_items_that_a_collation_takes_for_equal_stay_distinct(postgres: Any) -> None:
    postgres.execute("DROP TABLE IF EXISTS sales.typed")
    postgres.execute('CREATE TABLE sales.typed (tid varchar(5) COLLATE "C", item text)')
    rows = [("x", "a"), ("X", "a"), ("x", "A"), ("y", "A")]
    postgres.cursor().executemany("INSERT INTO sales.typed VALUES (%s, %s)", rows)
    assert supports(postgres, "sales.typed", tree("a", "A")) == {"A": 2, "a": 2}
    postgres.execute("ALTER TABLE sales.typed ALTER item TYPE char(4)")
    assert supports(postgres, "sales.typed", tree("a", "A")) == {"A": 2, "a": 2}


def test_functions_of_the_user_are_not_called(postgres: Any) -> None:
    """A schema that comes first in the search path has a function of the name of a built-in one."""
    postgres.execute("CREATE FUNCTION sales.length(text) RETURNS integer LANGUAGE sql AS 'SELECT 1/0'")
    postgres.execute("CREATE FUNCTION sales.gen_random_uuid() RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'")
    table = OnPostgres(postgres).source([(1, "a"), (2, "a")])
    postgres.execute("SET search_path = sales, pg_catalog")
    try:
        assert supports(postgres, table, tree("a")) == {"a": 2}
        assert postgres.execute("SHOW search_path").fetchone() == ("sales, pg_catalog",)
    finally:
        postgres.execute("RESET search_path")


def test_numbers_are_drawn_at_random(postgres: Any) -> None:
    place = OnPostgres(postgres)
    table = place.source([(n, "a") for n in range(200)])
    numbered = []
    for _ in range(2):
        with place.warehouse.snapshot():
            ids = place.warehouse.number(place.warehouse.source(table, "tid", "item"))
            numbered.append(rows_of(place.warehouse.fetch(selected(ids, "tid", "id"), most=200)))
    assert all({t for t, _ in found} == set(range(1, 201)) for found in numbered)
    assert all({i for _, i in found} == set(range(200)) for found in numbered)
    assert numbered[0] != numbered[1]


def test_a_release_is_written_whole_or_not_at_all(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place = OnPostgres(postgres)
    table = place.source([(1, "a"), (2, "a"), (2, "b"), (3, "b"), (3, "b")])
    taxonomy = taxonomy_of({"r": ["a", "b"]}, "r")
    postgres.execute("DROP SCHEMA IF EXISTS spring CASCADE")

    def run() -> None:
        anonymize_on(place.warehouse, table, taxonomy=taxonomy, model=MODEL, to="spring")

    monkeypatch.setattr("anondb.warehouse.postgres.view_of", None)  # the last step fails
    with pytest.raises(TypeError):
        run()
    assert postgres.execute("SELECT to_regnamespace('spring') IS NULL").fetchone() == (True,)
    monkeypatch.undo()
    run()
    shown = postgres.execute("SELECT item, copies FROM spring.transactions").fetchall()
    assert shown == [("a", 1)] * 2  # b was suppressed
    numbers = postgres.execute("SELECT transaction_id, complete FROM spring.transaction_ids").fetchall()
    assert numbers == [(n, False) for n in (1, 2, 3)]
    members = postgres.execute("SELECT released_item, item FROM spring.released_items").fetchall()
    assert members == [("a", "a")]
    with pytest.raises(InputError) as caught:
        run()
    assert caught.value.code == "release_exists"
    postgres.execute("DROP SCHEMA spring CASCADE")
