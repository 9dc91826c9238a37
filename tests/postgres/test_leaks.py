"""What a role of analysts sees in PostgreSQL: nothing of the raw data, also after writes to it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from portions import some
from postgres.databases import Databases, make
from postgres.server import Server

import anondb
from anondb.warehouse.postgres import server as server_module

psycopg = pytest.importorskip("psycopg")

CANARIES = ("CANARY5501", "canary_table", "canary_column", "918273600")
# Figures of the whole server, which no right hides (docs/postgres.md#channels); a cluster of its own closes them.
OF_THE_CLUSTER = (
    *("pg_stat_activity", "pg_stat_archiver", "pg_stat_bgwriter", "pg_stat_checkpointer", "pg_stat_database", "pg_stat_io"),
    *("pg_stat_wal", "pg_stat_slru", "pg_locks", "pg_stat_database_conflicts", "pg_stat_ssl", "pg_stat_gssapi"),
    *("pg_database", "pg_shmem_allocations", "pg_backend_memory_contexts", "pg_aios", "pg_replication_slots"),
    *("pg_stat_replication_slots", "pg_cursors", "pg_prepared_statements", "pg_timezone_names", "pg_timezone_abbrevs"),
    *("pg_settings", "pg_file_settings", "pg_stat_progress_analyze", "pg_stat_xact_all_tables", "pg_stat_xact_sys_tables"),
    *("pg_stat_all_tables", "pg_stat_sys_tables", "pg_stat_all_indexes", "pg_stat_sys_indexes", "pg_statio_all_tables"),
    *("pg_statio_sys_tables", "pg_statio_all_indexes", "pg_statio_sys_indexes", "pg_statio_all_sequences"),
)


@pytest.fixture(scope="module")
def leaky(server: Server) -> Databases:
    """A raw table with canaries in its names and values, and a release of it."""
    databases = make(server)
    databases.sql("CREATE TABLE canary_table (tid bigint, canary_column text)")
    databases.copy("canary_table", [(918273600 + t, f"CANARY5501 {t % 4}") for t in range(40)] + [(1, "CANARY5501 rare")])
    databases.copy("canary_table", [(918273600 + t, "x" * 3000 + "CANARY5501") for t in range(4)])  # in TOAST
    databases.sql("SELECT lo_from_bytea(0, 'CANARY5501')")
    databases.sql("CREATE VIEW baskets AS SELECT tid, left(md5(canary_column), 3) AS item FROM canary_table")
    with anondb.connect(databases.raw_url()) as db:
        release = db.anonymize("baskets", model=anondb.KmAnonymity(4, 1), name="spring", queries=3, max_suppression=100)
        release.publish(databases.url("spring"), analysts="analysts", counters="counters")
    return databases


def write(databases: Databases) -> None:
    """Change, delete and add rows of the raw table."""
    databases.sql("DELETE FROM canary_table WHERE tid % 3 = 0")
    databases.sql("UPDATE canary_table SET canary_column = canary_column || '!'")
    databases.copy("canary_table", [(918273600 + t, "CANARY5501") for t in range(7)])
    databases.sql("ANALYZE")


def readable(connection: Any) -> dict[str, list[Any]]:
    """The rows of every relation that the role may read, but those of the server as a whole."""
    names = connection.execute(
        "SELECT c.oid::regclass::text, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'v', 'm') AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1"
    ).fetchall()
    rows: dict[str, list[Any]] = {}
    for name, plain in names:
        try:
            rows[name] = [] if plain in OF_THE_CLUSTER else sorted(map(str, connection.execute(f"SELECT * FROM {name}")))
        except psycopg.Error:
            continue
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("role", some(("analysts", "counters"), "analysts", check=()))
def test_nothing_of_the_raw_data_is_in_any_relation(leaky: Databases, role: str) -> None:
    with leaky.session(leaky.releases, role) as connection:
        before = readable(connection)
        write(leaky)
        after = readable(connection)
    assert len(before) > 150
    for name, rows in before.items():
        assert not [c for c in CANARIES if any(c in row for row in rows)], name
        if "_user_" in name:  # these count the readings of the release itself
            assert all("'spring'" in row for row in rows)
        else:
            assert rows == after[name]


def test_the_raw_database_is_closed(leaky: Databases) -> None:
    for role in ("analysts", "counters"):
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            leaky.sql("SELECT 1", leaky.raw, role)
        for text in (
            f"SELECT pg_database_size('{leaky.raw}')",
            "COPY (SELECT 1) TO PROGRAM 'cat'",
            "COPY (SELECT 1) TO '/tmp/x'",
            "SELECT pg_read_file('PG_VERSION')",
            "SELECT pg_ls_waldir()",
            "SELECT * FROM pg_statistic",
            "SELECT * FROM pg_authid",
            "SELECT * FROM pg_toast.pg_toast_2619",
            "SELECT pg_stat_file('PG_VERSION')",
            "SELECT lo_get(oid) FROM pg_largeobject_metadata UNION ALL SELECT lo_get(16384)",
        ):
            with pytest.raises(psycopg.Error):
                leaky.sql(text, leaky.releases, role)


def test_what_stays_open_within_a_server_is_told(leaky: Databases) -> None:
    """The volume of all writes to the server, which no right hides: the page names each figure."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "postgres.md").read_text("utf-8")
    figures = {
        "pg_current_wal_lsn()": "SELECT pg_current_wal_lsn()",
        "pg_stat_wal": "SELECT wal_bytes FROM pg_stat_wal",
        "pg_tablespace_size('pg_default')": "SELECT pg_tablespace_size('pg_default')",
        "pg_stat_database": "SELECT tup_inserted FROM pg_stat_database WHERE datname <> current_database()",
        "pg_control_checkpoint()": "SELECT * FROM pg_control_checkpoint()",
        "pg_current_snapshot()": "SELECT pg_current_snapshot()",
        "pg_stat_activity": "SELECT datname, usename FROM pg_stat_activity",
    }
    for name, text in figures.items():
        assert leaky.sql(text, leaky.releases, "analysts") and name in page
    for name in ("pg_ls_tmpdir()", "pg_ls_dir('base')"):
        with pytest.raises(psycopg.Error):
            leaky.sql(f"SELECT {name}", leaky.releases, "analysts")


def test_rows_tell_nothing_by_their_place_or_time(leaky: Databases) -> None:
    tables = ("transaction_items", "labels", "transaction_ids", "released_items", "manifest")
    order = {"labels": "item_id", "transaction_ids": "transaction_id", "transaction_items": "item_id, transaction_id"}
    with leaky.session(leaky.releases, "analysts") as connection:
        for table in tables:
            facts = f"SELECT count(DISTINCT xmin::text), count(DISTINCT pg_xact_commit_timestamp(xmin)) FROM spring.{table}"
            assert connection.execute(facts).fetchone() == (1, 1)
            if table in order:
                stored = connection.execute(f"SELECT {order[table]} FROM spring.{table} ORDER BY ctid").fetchall()
                assert stored == sorted(stored)
        dead = "SELECT sum(n_dead_tup + n_tup_upd + n_tup_del) FROM pg_stat_user_tables"
        assert connection.execute(dead).fetchone()[0] == 0


def test_counting_is_opaque_and_refusals_take_no_longer_with_more_rows(leaky: Databases) -> None:
    with leaky.session(leaky.releases, "counters") as connection:
        plan = connection.execute("EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM spring.count_bounds(ARRAY['a'])").fetchall()
        assert "transaction_items" not in str(plan) and "labels" not in str(plan)

        def refused() -> float:
            best = 1.0
            for _ in range(30):
                begun = time.perf_counter()
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute("SELECT * FROM spring.transactions WHERE item = 'a'")
                best = min(best, time.perf_counter() - begun)
            return best

        first = refused()
        write(leaky)
        assert refused() < 20 * first + 0.01  # refused by name, before any row is read


@pytest.mark.slow
def test_what_shows_in_the_raw_database_is_said(leaky: Databases) -> None:
    with anondb.connect(leaky.raw_url()) as db:
        place = leaky.server.url(leaky.raw, "spring_here")
        with pytest.raises(anondb.AnondbError) as refused:
            db.release("spring").publish(place)
        assert refused.value.code == "same_database"
        file = db.release("spring").publish(place, same_database=True)
        assert any("pg_stat_user_tables" in remark for remark in file.remarks)
        assert anondb.verify_file(place).holds


@pytest.mark.slow
@pytest.mark.parametrize(
    "grant",
    [
        "ALTER ROLE strong SUPERUSER",
        "ALTER ROLE strong CREATEROLE",
        "GRANT pg_read_all_data TO strong",
        "GRANT postgres TO strong",
        "none",
    ],
)
def test_roles_that_read_anyway_are_refused(leaky: Databases, grant: str) -> None:
    if grant != "none":
        leaky.sql("DROP ROLE IF EXISTS strong")
        leaky.sql("CREATE ROLE strong")
        leaky.sql(grant)
    with anondb.connect(leaky.raw_url()) as db, pytest.raises(anondb.InputError) as refused:
        db.release("spring").publish(leaky.url("other"), analysts="nobody_there" if grant == "none" else "strong")
    assert refused.value.code == ("no_such_role" if grant == "none" else "bad_role")
    assert not leaky.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'other'", leaky.releases)


@pytest.mark.slow
def test_roles_that_read_the_raw_database(leaky: Databases) -> None:
    """Tables of the owner are said; the ledger, frozen releases and the owner's role are refused, whoever publishes."""
    for text in ("CREATE ROLE publisher LOGIN", "CREATE ROLE owner LOGIN", "CREATE ROLE insider", "GRANT owner TO insider"):
        leaky.sql(text)
    leaky.sql(f"GRANT CREATE ON DATABASE {leaky.releases} TO publisher")
    url, options = leaky.url("of_publisher", "publisher"), {"model": anondb.KmAnonymity(2, 1), "replace": True}
    raw = leaky.server.url(f"{leaky.raw}_of_owner", user="owner")
    leaky.sql(f"CREATE DATABASE {leaky.raw}_of_owner OWNER owner", "postgres")
    leaky.sql("CREATE TABLE sales (tid bigint, item text)", f"{leaky.raw}_of_owner", "owner")
    leaky.sql("INSERT INTO sales SELECT n, 'a' FROM generate_series(1, 9) AS n", f"{leaky.raw}_of_owner", "owner")
    with anondb.connect(raw) as db:
        db.anonymize("sales", name="s", **options)
        with pytest.raises(anondb.InputError, match="is a member of the role") as refused:
            db.release("s").publish(url, analysts="insider")
        assert refused.value.code == "bad_role"
        leaky.sql("GRANT SELECT ON sales TO analysts", f"{leaky.raw}_of_owner", "owner")
        file = db.release("s").publish(url, analysts="analysts")
        assert any("may read 1 of the tables" in remark for remark in file.remarks)
        leaky.sql("GRANT USAGE ON SCHEMA anondb TO analysts", f"{leaky.raw}_of_owner", "owner")
        leaky.sql("GRANT SELECT ON anondb.releases TO analysts", f"{leaky.raw}_of_owner", "owner")
        with pytest.raises(anondb.InputError, match="may read the ledger"):
            db.release("s").publish(url, analysts="analysts", replace=True)


@pytest.mark.slow
def test_default_privileges_do_not_open_the_ledger(server: Server) -> None:
    databases = make(server)
    databases.sql("CREATE TABLE sales AS SELECT n AS tid, 'a' AS item FROM generate_series(1, 9) AS n")
    databases.sql("ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO analysts")
    with anondb.connect(databases.raw_url()) as db:
        with pytest.raises(anondb.InputError) as refused:
            db.anonymize("sales", model=anondb.KmAnonymity(2, 1))
        assert refused.value.code == "default_privileges" and "ledger" in str(refused.value)
        assert not databases.sql("SELECT nspname FROM pg_namespace WHERE nspname ~ '^(anondb|release_)'")
        databases.sql("ALTER DEFAULT PRIVILEGES REVOKE USAGE ON SCHEMAS FROM analysts")
        assert db.anonymize("sales", model=anondb.KmAnonymity(2, 1)).verification.verified


@pytest.mark.slow
def test_a_reader_does_not_hold_the_owner_up(leaky: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock on a release that is to be replaced is waited for, but not for ever."""
    monkeypatch.setattr(server_module, "_LOCK_TIMEOUT", "100ms")
    with leaky.session(leaky.releases, "analysts") as reader, reader.transaction():
        reader.execute("SELECT count(*) FROM spring.labels")
        with anondb.connect(leaky.raw_url()) as db, pytest.raises(anondb.EngineError) as refused:
            db.release("spring").publish(leaky.url("spring"), replace=True, analysts="analysts", counters="counters")
        assert refused.value.code == "locked"
        assert reader.execute("SELECT count(*) FROM spring.labels").fetchone() is not None


@pytest.mark.slow
def test_names_with_quotes(leaky: Databases) -> None:
    """Roles and schemas whose names look like SQL."""
    leaky.sql('CREATE ROLE "a""b, public; DROP SCHEMA spring CASCADE" LOGIN')
    role, schema = 'a"b, public; DROP SCHEMA spring CASCADE', "o\"k; 'x'"
    url = leaky.server.url(leaky.releases, quote(schema, safe=""))
    with anondb.connect(leaky.raw_url()) as db:
        db.release("spring").publish(url, analysts=[role], allow_overlap=True)
    assert anondb.verify_file(url).holds
    grantees = "SELECT count(*) FROM pg_namespace, aclexplode(nspacl) a WHERE nspname = 'o\"k; ''x''' AND a.grantee = 0"
    assert leaky.sql(grantees, leaky.releases) == [(0,)]


@pytest.mark.slow
def test_default_privileges_are_noticed(leaky: Databases) -> None:
    leaky.sql("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC", leaky.releases)
    try:
        with anondb.connect(leaky.raw_url()) as db, pytest.raises(anondb.InputError) as refused:
            db.release("spring").publish(leaky.url("other"))
        assert refused.value.code == "default_privileges"
    finally:
        leaky.sql("ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM PUBLIC", leaky.releases)
