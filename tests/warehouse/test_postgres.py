"""What PostgreSQL alone has: snapshots, types, collations, search paths, numbers drawn by the server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from portions import some
from postgres.databases import Databases
from properties.trees import taxonomy_of
from warehouse.warehouses import OnPostgres, selected

from anondb.errors import InputError
from anondb.models.transactional import KmAnonymity
from anondb.pipeline.on_engine import anonymize_on
from anondb.warehouse.conformance import rows_of

MODEL = KmAnonymity(2, 2)


@pytest.fixture
def place(sales: Databases) -> Iterator[OnPostgres]:
    made = OnPostgres(sales)
    yield made
    made.server.close()


def supports(place: OnPostgres, table: str, *leaves: str) -> dict[str, int]:
    report = anonymize_on(place.warehouse, table, taxonomy=taxonomy_of({"root": list(leaves)}, "root"), model=MODEL)
    return dict(zip(report.dataset.labels, report.dataset.supports.tolist(), strict=True))


def typed(place: OnPostgres, columns: str, rows: list[tuple[Any, ...]]) -> str:
    place.databases.sql("DROP TABLE IF EXISTS sales.typed")
    place.databases.sql(f"CREATE TABLE sales.typed ({columns})")
    place.databases.copy("sales.typed", rows)
    return "sales.typed"


def test_a_snapshot_does_not_see_later_rows(place: OnPostgres) -> None:
    table = place.source([(1, "a"), (2, "a")])
    seen = []
    with place.warehouse.snapshot():
        for n in range(2):
            rows = place.warehouse.source(table, "tid", "item")
            seen.append(rows_of(place.warehouse.fetch(selected(rows, "id", "item"), most=9)))
            place.warehouse.drop(rows)
            place.databases.copy(table, [(n + 3, "b")])
    assert seen[0] == seen[1] == [(1, "a"), (2, "a")]


def test_a_run_leaves_no_table(place: OnPostgres) -> None:
    left = "SELECT count(*) FROM pg_class WHERE relname LIKE '\\_anondb%'"
    assert supports(place, place.source([(1, "a"), (2, "a")]), "a") == {"a": 2}
    assert place.databases.sql(left) == [(0,)]
    with pytest.raises(InputError):
        supports(place, place.source([(1, "unknown")]), "a")
    assert place.databases.sql(left) == [(0,)] and not place.server.inside
    assert supports(place, place.source([(1, "a"), (2, "a")]), "a") == {"a": 2}  # on the same connection


KINDS = ["bigint", "integer", "smallint", "text", "varchar(9)", "uuid", "date", "boolean", "numeric(3,0)", "sales.mood"]


def with_mood(place: OnPostgres) -> None:
    if not place.databases.sql("SELECT 1 FROM pg_type WHERE typname = 'mood'"):
        place.databases.sql("CREATE TYPE sales.mood AS ENUM ('a', '7')")


@pytest.mark.parametrize("kind", some(KINDS, "smallint", "sales.mood"))
def test_types_of_items(place: OnPostgres, kind: str) -> None:
    value = {"uuid": "6b1f0c0e-0000-4000-8000-000000000000", "date": "2026-01-02", "boolean": "true"}.get(kind, "7")
    with_mood(place)
    table = typed(place, f"tid int, item {kind}", [(1, value), (2, value)])
    assert supports(place, table, value) == {value: 2}


UNEQUAL = ["real", "text[]", "jsonb", "interval", "sales.mood[]"]


@pytest.mark.parametrize("kind", some(UNEQUAL, "real", "jsonb"))
@pytest.mark.parametrize("column", ["tid", "item"])
def test_types_without_exact_equality_are_refused(place: OnPostgres, kind: str, column: str) -> None:
    other = {"tid": "item", "item": "tid"}[column]
    with_mood(place)
    with pytest.raises(InputError) as caught:
        supports(place, typed(place, f"{column} {kind}, {other} text", []), "a")
    assert caught.value.code == "bad_type"


def test_items_that_a_collation_takes_for_equal_stay_distinct(place: OnPostgres) -> None:
    table = typed(place, 'tid varchar(5) COLLATE "C", item text', [("x", "a"), ("X", "a"), ("x", "A"), ("y", "A")])
    assert supports(place, table, "a", "A") == {"A": 2, "a": 2}
    place.databases.sql("ALTER TABLE sales.typed ALTER item TYPE char(4)")
    assert supports(place, table, "a", "A") == {"A": 2, "a": 2}


@pytest.mark.slow
def test_texts_that_are_equal_though_they_differ_are_refused(debian: Any) -> None:
    from postgres.databases import make

    place = OnPostgres(make(debian))
    place.databases.sql("CREATE SCHEMA sales")
    place.databases.sql("CREATE EXTENSION citext")
    place.databases.sql("CREATE COLLATION sales.low (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    for kind in ("citext", "text COLLATE sales.low"):
        for columns in (f"tid int, item {kind}", f"tid {kind}, item text"):
            with pytest.raises(InputError) as caught:
                supports(place, typed(place, columns, []), "a")
            assert caught.value.code == "collation"
    place.server.close()


@pytest.mark.slow
def test_names_are_looked_up_as_in_duckdb(place: OnPostgres) -> None:
    rows = [(1, "a"), (2, "a")]
    place.databases.sql('DROP TABLE IF EXISTS public.basket, sales."Basket", sales.typed')
    place.databases.sql('CREATE TABLE sales."Basket" ("TID" int, "Item" text)')
    place.databases.copy('sales."Basket"', rows)
    assert supports(place, "SALES.basket", "a") == {"a": 2}
    for name in ("basket", "nowhere.basket", "a b c", "other.sales.basket", "", "sales.typed"):
        with pytest.raises(InputError) as caught:
            supports(place, name, "a")
        assert caught.value.code == "no_such_table", name
    place.databases.sql("CREATE TABLE public.basket (tid int, item text)")
    place.databases.copy("public.basket", [*rows, (3, "a")])
    assert supports(place, "basket", "a") == {"a": 3}
    place.databases.sql("CREATE TABLE sales.basket (tid int, item text)")
    with pytest.raises(InputError) as caught:
        supports(place, "sales.BASKET", "a")
    assert caught.value.code == "ambiguous_table"
    assert supports(place, 'sales."Basket"', "a") == {"a": 2}


@pytest.mark.slow
def test_functions_of_the_user_are_not_called(place: OnPostgres) -> None:
    """A schema that comes first in the search path has functions with the names of built-in ones."""
    place.databases.sql("CREATE FUNCTION sales.length(text) RETURNS integer LANGUAGE sql AS 'SELECT 1/0'")
    place.databases.sql("CREATE FUNCTION sales.gen_random_uuid() RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'")
    place.databases.sql(f"ALTER DATABASE {place.databases.raw} SET search_path = sales, pg_catalog")
    try:
        table, fresh = place.source([(1, "a"), (2, "a")]), OnPostgres(place.databases)
        assert supports(fresh, table, "a") == supports(fresh, "food", "a") == {"a": 2}
        fresh.server.close()
    finally:
        place.databases.sql(f"ALTER DATABASE {place.databases.raw} RESET search_path")


@pytest.mark.slow
def test_numbers_are_drawn_at_random(place: OnPostgres) -> None:
    table = place.source([(n, "a") for n in range(200)])
    numbered = []
    for _ in range(2):
        with place.warehouse.snapshot():
            ids = place.warehouse.number(place.warehouse.source(table, "tid", "item"))
            numbered.append(rows_of(place.warehouse.fetch(selected(ids, "tid", "id"), most=200)))
    assert all({t for t, _ in rows} == set(range(1, 201)) for rows in numbered)
    assert all({i for _, i in rows} == set(range(200)) for rows in numbered)
    assert numbered[0] != numbered[1]
