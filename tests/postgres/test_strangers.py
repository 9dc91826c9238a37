"""Schemas of strangers: nothing of theirs runs, and whatever differs from a release is named."""

from __future__ import annotations

import pytest
from portions import some
from postgres.databases import Databases

import anondb
from anondb.errors import InputError
from anondb.warehouse.postgres.local import inspect_release

CHANGES = {  # what a stranger does to a release, and words of the finding
    "view": ("CREATE OR REPLACE VIEW x.transactions AS SELECT transaction_id, item, copies + public.trap() AS copies "
             "FROM x.transaction_items JOIN x.labels USING (item_id)", "text of the view transactions"),
    "view_in_place_of_a_table": ("ALTER TABLE x.labels RENAME TO l;; "
                                 "CREATE VIEW x.labels AS SELECT item_id, item FROM x.l WHERE public.trap() = 0",
                                 "relation l"),
    "manifest_as_view": ("ALTER TABLE x.manifest RENAME TO m;; CREATE VIEW x.manifest AS SELECT key, value FROM x.m "
                         "WHERE public.trap() = 0", "relation manifest"),
    "function": ("CREATE OR REPLACE FUNCTION x.count_bounds(items text[]) RETURNS TABLE (lower_bound bigint,"
                 " estimate float8, upper_bound bigint) LANGUAGE sql STABLE SECURITY DEFINER"
                 " SET search_path = pg_catalog, pg_temp"
                 " BEGIN ATOMIC SELECT 1::bigint, 1::float8, 1::bigint; END", "text of the function count_bounds"),
    "overload": ("CREATE FUNCTION x.count_bounds(items varchar[]) RETURNS integer LANGUAGE sql AS 'SELECT public.trap()'",
                 "function count_bounds"),
    "invoker": ("ALTER FUNCTION x.count_bounds(text[]) SECURITY INVOKER", "function count_bounds"),
    "path": ("ALTER FUNCTION x.count_bounds(text[]) SET search_path = public", "function count_bounds"),
    "hiding_function": ("CREATE FUNCTION x.pg_get_viewdef(oid) RETURNS text LANGUAGE sql AS 'SELECT public.trap()::text'",
                        "function pg_get_viewdef"),
    "operator": ("CREATE OPERATOR x.= (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq)", "pg_operator in the schema"),
    "type": ("CREATE TYPE x.t AS ENUM ('a')", "pg_type in the schema"),
    "table": ("CREATE TABLE x.raw (a integer)", "relation raw"),
    "column": ("ALTER TABLE x.labels ADD COLUMN secret text", "column labels 3 secret"),
    "dropped_column": ("ALTER TABLE x.labels ADD COLUMN s text;; ALTER TABLE x.labels DROP COLUMN s", "pg.dropped"),
    "generated": ("ALTER TABLE x.manifest ADD COLUMN g integer GENERATED ALWAYS AS (public.trap()) STORED", "manifest"),
    "policy": ("CREATE POLICY p ON x.manifest USING (public.trap() = 0);; "
               "ALTER TABLE x.manifest ENABLE ROW LEVEL SECURITY", "pg_policy of manifest"),
    "rule": ("CREATE RULE r AS ON UPDATE TO x.labels DO ALSO SELECT public.trap()", "rule labels r"),
    "trigger": ("CREATE TRIGGER t BEFORE INSERT ON x.labels EXECUTE FUNCTION suppress_redundant_updates_trigger()",
                "labels"),
    "default": ("ALTER TABLE x.labels ALTER COLUMN item SET DEFAULT public.trap()", "pg_attrdef of labels"),
    "check": ("ALTER TABLE x.labels ADD CHECK (public.trap() = 0) NOT VALID", "pg_constraint of labels"),
    "index": ("CREATE INDEX i ON x.labels ((item_id + public.trap()))", "relation i"),
    "child": ("CREATE TABLE public.child_of () INHERITS (x.labels)", "relation labels"),
    "collation": ("DROP VIEW x.transactions, x.baskets, x.item_counts CASCADE;; DROP FUNCTION x.count_bounds;;"
                  " ALTER TABLE x.labels ALTER COLUMN item TYPE text COLLATE \"POSIX\"", "column labels 2 item"),
    "comment": ("COMMENT ON TABLE x.labels IS 'milk: Ada'", "relation labels"),
    "type_comment": ("COMMENT ON TYPE x.labels IS 'milk: Ada'", "comment of the type labels"),
    "rule_comment": ("COMMENT ON RULE \"_RETURN\" ON x.baskets IS 'milk: Ada'", "rule baskets _RETURN"),
    "column_options": ("ALTER TABLE x.labels ALTER COLUMN item SET (n_distinct = 1815)", "column labels 2 item"),
    "statistics_target": ("ALTER TABLE x.labels ALTER COLUMN item SET STATISTICS 1815", "column labels 2 item"),
    "storage": ("ALTER TABLE x.labels ALTER COLUMN item SET STORAGE EXTERNAL", "column labels 2 item"),
    "schema_comment": ("COMMENT ON SCHEMA x IS 'milk: Ada'", "the comment of the schema is not anondb's"),
    "manifest": ("UPDATE x.manifest SET value = 'nothing' WHERE key = 'model'", "the manifest is of no kind"),
    "grants": ("GRANT DELETE ON x.labels TO PUBLIC", "rights of others"),
    "public": ("GRANT SELECT ON x.labels TO PUBLIC", "1 rights of everybody (PUBLIC)"),
    "public_schema": ("GRANT USAGE ON SCHEMA x TO PUBLIC", "1 rights of everybody (PUBLIC)"),
    "public_function": ("GRANT EXECUTE ON FUNCTION x.count_bounds TO PUBLIC", "1 rights of everybody (PUBLIC)"),
    "rows": ("INSERT INTO x.labels VALUES (99, 'nobody')", ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def release(databases: Databases) -> Databases:
    with anondb.connect(databases.raw_url()) as db:
        db.anonymize("shop.sales", taxonomy="shop.food", name="spring", publish=databases.url("spring"), queries=5)
    databases.sql("CREATE ROLE reader LOGIN")
    databases.sql(
        "CREATE FUNCTION public.trap() RETURNS integer LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS"
        " $$ BEGIN RAISE LOG 'TRAPPED'; RETURN 0; END $$",
        databases.releases,
    )
    return databases


def attacked(databases: Databases, change: str) -> str:
    """A copy of the releases' database in which ``x`` is the release after a change; returns its URL."""
    name = f"{databases.releases}_changed"
    databases.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", "postgres")
    databases.sql(f"CREATE DATABASE {name} TEMPLATE {databases.releases}", "postgres")
    databases.sql("ALTER SCHEMA spring RENAME TO x", name)  # as a plain role reads it, to which policies apply
    for statement in change.split(";; "):
        databases.sql(statement, name)
    databases.sql("GRANT USAGE ON SCHEMA x TO reader", name)
    databases.sql("GRANT SELECT ON ALL TABLES IN SCHEMA x TO reader", name)
    return databases.server.url(name, "x", "reader")


@pytest.mark.slow
@pytest.mark.parametrize("change", some(CHANGES, "view", "public"))
def test_a_changed_release(release: Databases, change: str) -> None:
    statement, words = CHANGES[change]
    url, before = attacked(release, statement), trapped(release)
    if change == "view":  # the trap works
        release.sql("SELECT count(copies) FROM x.transactions", f"{release.releases}_changed", "reader")
        assert trapped(release) > before
        before = trapped(release)
    inspection = inspect_release(url)
    assert trapped(release) == before, "code of the schema ran"
    assert not inspection.clean
    assert any(words in finding.what for finding in inspection.findings), inspection.findings
    assert "Ada" not in str(inspection.to_json())
    if change not in ("grants", "rows", "public", "public_schema", "public_function"):
        with pytest.raises(InputError) as refused:
            anondb.verify_file(url)
        assert refused.value.code == "not_a_release" and trapped(release) == before


def trapped(databases: Databases) -> int:
    """How often code of a stranger ran."""
    return databases.server.log().count("LOG:  TRAPPED")


@pytest.mark.slow
def test_an_event_trigger_is_refused(release: Databases) -> None:
    url = attacked(
        release,
        "CREATE FUNCTION public.on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE LOG 'TRAPPED'; END $$",
    )
    release.sql("CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION on_ddl()", f"{release.releases}_changed")
    before = trapped(release)
    with pytest.raises(InputError) as refused:
        anondb.verify_file(url)
    assert refused.value.code == "event_trigger" and trapped(release) == before


def test_what_cannot_be_read(databases: Databases) -> None:
    refusals = {
        databases.url("nothing"): "no_such_release",
        databases.server.url("nowhere", "x"): "no_such_database",
        databases.server.url(databases.releases): "bad_url",
        "postgresql://127.0.0.1:1/a/b": "connection",
        "postgresql://u:secret@h/a/b/c": "bad_url",
        "postgresql://u:secret@h/a/pg_x": "bad_name",
        databases.url("spring") + "&options=-csearch_path%3Dx": "bad_url",
    }
    for url, code in refusals.items():
        with pytest.raises(anondb.AnondbError) as refused:
            anondb.verify_file(url)
        assert refused.value.code == code and "secret" not in str(refused.value), url
