"""Modelled rows of releases in PostgreSQL: in a schema of their own, which analysts read and nobody changes unnoticed."""

from __future__ import annotations

from typing import Any

import pytest
from portions import some
from postgres.databases import Databases

import anondb
from anondb.errors import InputError
from anondb.release.modelled import COMMENT
from anondb.warehouse.postgres.local import inspect_release

OPTIONS: dict[str, Any] = {
    "taxonomy": "shop.food",
    "records": "shop.people",
    "quasi_identifiers": "age:numeric,town",
    "model": anondb.KkmAnonymity(3, 1),
    "queries": 0,
    "accept": "modelled-records",
    "analysts": "analysts",
}


@pytest.fixture(scope="module")
def made(databases: Databases) -> Databases:
    with anondb.connect(databases.raw_url()) as db:
        db.anonymize("shop.sales", name="spring", publish=databases.url("spring"), modelled_rows=True, **OPTIONS)
    return databases


def forged(made: Databases, changes: str) -> str:
    """The name of a copy of the database with changes."""
    name = f"{made.releases}_forged"
    made.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", "postgres")
    made.sql(f"CREATE DATABASE {name} TEMPLATE {made.releases}", "postgres")
    made.sql(changes, name)
    return name


@pytest.mark.slow
def test_analysts_read_them_and_others_check_them(made: Databases) -> None:
    url = made.url("spring", "analysts")
    assert inspect_release(url).clean and anondb.verify_file(url).modelled_rows is True
    with made.session(made.releases, "analysts") as connection:
        connection.execute("SET search_path TO spring_modelled")
        shown = connection.execute("SELECT tid, item, age, town FROM sales JOIN people USING (tid)").fetchall()
        assert shown and all(tid < 0 for tid, *_ in shown)
        for object in ("'sales'::regclass, 'pg_class'", "'spring_modelled'::regnamespace, 'pg_namespace'"):
            assert connection.execute(f"SELECT obj_description({object})").fetchall() == [(COMMENT,)]
    with made.session(made.releases, "counters") as connection, pytest.raises(Exception, match="permission denied"):
        connection.execute("SELECT * FROM spring_modelled.sales")
    with anondb.open(url) as session:
        people = session.sql("SELECT count(*) AS n FROM people", bounds="none").fetchall()
        assert people == [(len(made.sql("SELECT * FROM spring_modelled.people", made.releases)),)]


ROWS = {
    "a row more": "INSERT INTO spring_modelled.sales SELECT * FROM spring_modelled.sales LIMIT 1",
    "another value": "UPDATE spring_modelled.people SET age = age + 1 WHERE tid = -7",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", some(ROWS, "a row more", check=()))
def test_changed_rows_are_found(made: Databases, what: str) -> None:
    checked = anondb.verify_file(made.server.url(forged(made, ROWS[what]), "spring"))
    assert checked.modelled_rows is False and not checked.holds


OBJECTS = {
    "a table more": "CREATE TABLE spring_modelled.notes (note text)",
    "a view": "CREATE VIEW spring_modelled.notes AS SELECT 'secret' AS note",
    "another comment": "COMMENT ON TABLE spring_modelled.sales IS 'real rows'",
    "another comment on the schema": "COMMENT ON SCHEMA spring_modelled IS 'real rows'",
    "a comment on a column": "COMMENT ON COLUMN spring_modelled.people.age IS 'secret'",
    "a constraint": "ALTER TABLE spring_modelled.sales ALTER item SET NOT NULL",
    "an index": "CREATE INDEX i ON spring_modelled.sales (item)",
    "a function": "CREATE FUNCTION spring_modelled.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "no schema": "DROP SCHEMA spring_modelled CASCADE",
    "no key": "DELETE FROM spring.manifest WHERE key = 'modelled'",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", some(OBJECTS, "another comment on the schema", "no key", check=()))
def test_other_objects_make_it_no_release(made: Databases, what: str) -> None:
    url = made.server.url(forged(made, OBJECTS[what]), "spring")
    assert "catalog" in {finding.check for finding in inspect_release(url).findings}
    with pytest.raises(InputError) as refused:
        anondb.open(url)
    assert refused.value.code == "not_a_release"


@pytest.mark.slow
def test_everybody_may_not_read_them(made: Databases) -> None:
    url = made.server.url(forged(made, "GRANT SELECT ON spring_modelled.sales TO PUBLIC"), "spring")
    assert "grants" in {finding.check for finding in inspect_release(url).findings}


@pytest.mark.slow
def test_replacing_a_release_replaces_them_and_nothing_else(made: Databases) -> None:
    how: dict[str, Any] = {"replace": True, "allow_overlap": True, "analysts": "analysts"}
    with anondb.connect(made.raw_url()) as db:
        release = db.release("spring")
        release.publish(made.url("spring"), **how)
        assert not made.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'spring_modelled'", made.releases)
        made.sql("CREATE SCHEMA spring_modelled", made.releases)
        with pytest.raises(InputError):
            release.publish(made.url("spring"), modelled_rows=True, accept=["modelled-records"], **how)
        made.sql("DROP SCHEMA spring_modelled", made.releases)
        for _ in range(2):
            release.publish(made.url("spring"), modelled_rows=True, accept=["modelled-records"], **how)
        assert anondb.verify_file(made.url("spring")).modelled_rows is True
        with pytest.raises(InputError, match="63 bytes"):
            release.publish(made.url("s" * 60), modelled_rows=True, accept=["modelled-records"], allow_overlap=True)
    assert not made.sql("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'sss%'", made.releases)


@pytest.mark.slow
def test_no_release_takes_the_schema_of_modelled_rows_of_another(databases: Databases) -> None:
    """In either order, also where neither has modelled rows; and a name that PostgreSQL would cut off is not another's."""
    long = "y" * 63
    with anondb.connect(databases.raw_url()) as db:
        release = db.anonymize("shop.sales", name="summer", taxonomy="shop.food", queries=0)
        for name, other in (("one", "one_modelled"), ("two_modelled", "two"), (long, "")):
            release.publish(databases.url(name), allow_overlap=True)
            if other:
                with pytest.raises(InputError) as refused:
                    release.publish(databases.url(other), allow_overlap=True)
                assert refused.value.code == "target_exists"
            assert anondb.verify_file(databases.url(name)).holds
