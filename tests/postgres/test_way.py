"""The whole way: raw tables in PostgreSQL, a release there, and what each role does with it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from postgres.databases import Databases, command

import anondb
from anondb.errors import InputError

psycopg = pytest.importorskip("psycopg")


@pytest.fixture(scope="module")
def report(databases: Databases) -> dict[str, Any]:
    """The report of a release ``spring``, made and published by the command."""
    done = command(
        *(
            "anonymize",
            databases.raw_url(),
            "--transactions",
            "shop.sales",
            "--taxonomy",
            "shop.food",
            "--k",
            "5",
            "--m",
            "2",
        ),
        *("--release", "spring", "--publish", databases.url("spring"), "--analysts", "analysts", "--counters", "counters"),
        "--json",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_same_release_as_from_duckdb(databases: Databases, report: dict[str, Any]) -> None:
    sales, food = (databases.sql(f"SELECT * FROM shop.{t}") for t in ("sales", "food"))
    import pandas as pd

    with anondb.connect() as db:
        frames = pd.DataFrame(sales, columns=["tid", "item"]), pd.DataFrame(food, columns=["node", "parent"])
        there = db.anonymize(frames[0], taxonomy=frames[1], model=anondb.KmAnonymity(5, 2), name="spring")
        assert Fraction(report["loss"]["lm_total"]) == there.loss.lm_total
        for items in (["milk"], ["milk", "bread"], ["saffron", "soap"], []):
            call = "SELECT * FROM spring.count_bounds(%s::text[])"
            with databases.session(databases.releases) as connection:
                assert connection.execute(call, [items]).fetchone() == pytest.approx(there.count_bounds(items))
    assert report["published"] == f"postgresql:///{databases.releases}/spring" and report["verified"]


@pytest.mark.slow
def test_reports(databases: Databases, report: dict[str, Any], tmp_path: Path) -> None:
    """To the owner from the raw database, and to analysts from the published schema."""
    done = command(
        *("report", databases.raw_url(), "--release", "spring", "--queries", "20", "--json"),
        *("--html", str(tmp_path / "owner.html")),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["source"] == "unchanged" and told["attacks"] and told["infrequent_sets"][0]["after"] == 0
    assert "The promise: 5<sup>2</sup>-anonymity" in (tmp_path / "owner.html").read_text("utf-8")
    shown = command("report", databases.url("spring"), "--json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["released_items"] == told["shows"]["released_items"]
    named = command("report", databases.url("spring")).stdout
    assert report["published"] in named and "user=" not in named


def test_what_each_role_may_do(databases: Databases, report: dict[str, Any]) -> None:
    count = "SELECT upper_bound FROM spring.count_bounds(ARRAY['milk'])"
    for role in ("analysts", "counters"):
        assert databases.sql(count, databases.releases, role)[0][0] >= 5
    objects = ("transactions", "baskets", "item_counts", "transaction_items", "labels", "released_items", "manifest")
    for name in objects:
        assert databases.sql(f"SELECT count(*) FROM spring.{name}", databases.releases, "analysts")[0][0] > 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            databases.sql(f"SELECT count(*) FROM spring.{name}", databases.releases, "counters")
    for role in ("analysts", "counters"):
        for text in ("DELETE FROM spring.labels", "CREATE TABLE spring.x (a integer)", "DROP SCHEMA spring CASCADE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                databases.sql(text, databases.releases, role)


def test_lists_with_nulls_are_refused(databases: Databases, report: dict[str, Any]) -> None:
    for argument in ("NULL", "ARRAY['milk', NULL]"):
        with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="count_bounds: the list of items"):
            databases.sql(f"SELECT * FROM spring.count_bounds({argument})", databases.releases)


def test_nothing_hides_what_count_bounds_reads(databases: Databases, report: dict[str, Any]) -> None:
    with databases.session(databases.releases, "analysts") as connection:
        before = connection.execute("SELECT * FROM spring.count_bounds(ARRAY['milk'])").fetchone()
        for name in ("labels", "transaction_items", "released_items"):
            connection.execute(f"CREATE TEMPORARY TABLE {name} AS SELECT * FROM spring.{name} LIMIT 0")
        connection.execute("CREATE FUNCTION pg_temp.count(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'")
        connection.execute("SET search_path = pg_temp, spring, pg_catalog")
        assert connection.execute("SELECT * FROM spring.count_bounds(ARRAY['milk'])").fetchone() == before


@pytest.mark.slow
def test_verify_inspect_query_and_the_session(databases: Databases, report: dict[str, Any], tmp_path: Path) -> None:
    url = databases.url("spring", "analysts")
    checked = anondb.verify_file(url, expect=report["content_digest"])
    assert checked.holds and checked.expected and checked.sha256 == report["sha256"]
    assert anondb.verify_file(databases.url("spring"), published_in=databases.raw_url()).published_as is not None
    inspected = command("inspect", url, "--json")
    assert json.loads(inspected.stdout)["clean"], inspected.stdout
    with anondb.open(url) as session:
        answer = session.sql("SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk'").fetchall()
    direct = databases.sql("SELECT * FROM spring.count_bounds(ARRAY['milk'])", databases.releases)[0]
    assert answer == [pytest.approx((direct[1], direct[0], direct[2]))]
    asked = command("query", url, "SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk'", "--json")
    assert json.loads(asked.stdout)["rows"][0][0] == direct[0], asked.stdout


@pytest.mark.slow
def test_a_dump_restores_the_same_release(databases: Databases, report: dict[str, Any]) -> None:
    """Digests, catalog, rights and bounds are the same in the other database."""
    restored = databases.restored("spring")
    url = restored.url("spring", "analysts")
    checked = anondb.verify_file(url, expect=report["content_digest"])
    assert checked.holds and checked.sha256 == report["sha256"]
    inspected = command("inspect", url, "--json")
    assert json.loads(inspected.stdout)["clean"], inspected.stdout
    call = "SELECT * FROM spring.count_bounds(ARRAY['milk'])"
    assert databases.sql(call, restored.releases, "counters") == databases.sql(call, databases.releases, "counters")


@pytest.mark.slow
def test_tools_of_analysts(databases: Databases, report: dict[str, Any]) -> None:
    """The DB-API and SQLAlchemy answer as the session does; what reads files only says what does."""
    import sqlalchemy

    from anondb import dbapi

    url, sql = databases.url("spring", "analysts"), "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item"
    with anondb.open(url) as session:
        wanted = session.sql(sql).fetchall()
    assert wanted
    with dbapi.connect(url) as connection:
        cursor = connection.cursor()
        cursor.execute(sql)
        assert cursor.fetchall() == wanted
    engine = sqlalchemy.create_engine(sqlalchemy.URL.create("anondb", database=url))
    with engine.connect() as alchemy:
        assert [tuple(row) for row in alchemy.execute(sqlalchemy.text(sql))] == wanted
    assert "sales" in sqlalchemy.inspect(engine).get_table_names()
    engine.dispose()
    with pytest.raises(InputError, match=r"anondb\.open"):
        anondb.open_release(url)
    proof = ("--to", databases.url("two"), "--proof", "/nowhere")
    done = command("publish", databases.raw_url(), "--release", "spring", *proof)
    assert done.returncode == 2 and "Traceback" not in done.stderr


@pytest.mark.slow
def test_what_the_owner_asks_before(databases: Databases, tmp_path: Path) -> None:
    """Comparisons and advice about people with attributes copy what they read, and do not write into the owner's tables."""
    people = ("--records", "shop.people", "--quasi-identifiers", "age,town")
    told = [databases.raw_url(), "--transactions", "shop.sales", "--taxonomy", "shop.food", *people, "--json"]
    compared = command("compare", *told, "--model", "km,kkm", "--algorithms", "mhghs,rum_bound_rt", "--queries", "5")
    assert compared.returncode == 0, compared.stderr
    runs = json.loads(compared.stdout)["runs"]
    assert len(runs) == 3 and {run["status"] for run in runs} == {"done"}
    advised = command("advise", *told, "--time-limit", "20")
    assert advised.returncode == 0 and "rum_bound" in advised.stdout + advised.stderr, advised.stderr
    with anondb.connect(databases.raw_url(), read_only=True) as db:
        db.copy(tmp_path / "copy.duckdb", "shop.sales", "shop.people")
        with pytest.raises(InputError) as refused:
            db.copy(tmp_path / "copy.duckdb", "shop.food")
    assert refused.value.code == "target_exists"
    with anondb.connect(tmp_path / "copy.duckdb") as copied:
        count = "SELECT count(*), count(DISTINCT tid) FROM shop.sales JOIN shop.people USING (tid)"
        assert copied.sql(count).fetchall() == databases.sql(count)


@pytest.mark.slow
def test_what_the_owner_does_with_it_later(databases: Databases, report: dict[str, Any], tmp_path: Path) -> None:
    with psycopg.connect(databases.raw_url()) as connection, anondb.connect(connection) as db:
        release = db.release("spring")
        assert release.verification.verified and release.loss.lm_total == Fraction(report["loss"]["lm_total"])
        assert release.measure(queries=10).queries == 10
        assert release.attack(individuals=10).individuals == 10
        assert db.verify("shop.sales", model=anondb.KmAnonymity(1, 1)).verified
        assert db.check_view("spring").holds
        assert [p.file for p in db.publications()] == [report["published"]]
        file = release.publish(tmp_path / "spring.duckdb")
        assert anondb.verify_file(file.path).holds
        with pytest.raises(InputError) as refused:  # anondb sees nothing of an open transaction
            connection.execute("SELECT 1")
            anondb.connect(connection)
        assert refused.value.code == "transaction_open"
        connection.rollback()


@pytest.mark.slow
def test_a_second_release_of_the_same_persons(databases: Databases, report: dict[str, Any]) -> None:
    with anondb.connect(databases.raw_url()) as db:
        options: dict[str, Any] = {"taxonomy": "shop.food", "model": anondb.KmAnonymity(6, 2), "name": "autumn"}
        with pytest.raises(InputError) as refused:
            db.anonymize("shop.sales", publish=databases.url("autumn"), **options)
        assert refused.value.code == "overlap"
        made = db.anonymize("shop.sales", publish=databases.url("autumn"), allow_overlap=True, **options)
        assert made.report is not None and len(made.report.intersections) == 1
        db.drop("autumn")
    assert not databases.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'release_autumn'")
    assert databases.sql("SELECT count(*) FROM anondb.kept_rows")[0][0] > 0


@pytest.mark.slow
def test_anonymized_views(databases: Databases, report: dict[str, Any]) -> None:
    url = databases.url("weekly")
    create = f"""CREATE ANONYMIZED VIEW weekly AS SELECT tid, item FROM shop.sales WHERE tid < 40
        WITH (k = 3, m = 1, taxonomy = 'shop.food', publish = '{url}', analysts = 'analysts', allow_overlap = true)"""
    with anondb.connect(databases.raw_url()) as db:
        db.sql(create)
        assert not db.sql("REFRESH ANONYMIZED VIEW weekly").changed  # type: ignore[union-attr]
        databases.sql("INSERT INTO shop.sales VALUES (39, 'pens'), (39, 'soap')")
        before = anondb.verify_file(url).content_digest
        assert db.sql("REFRESH ANONYMIZED VIEW weekly").changed  # type: ignore[union-attr]
        assert anondb.verify_file(url).content_digest != before
        assert len(db.sql("SHOW ANONYMIZED VIEWS WITH (status = true)").fetchall()) == 1  # type: ignore[union-attr]
        with pytest.raises(InputError, match="run other SQL with psql"):
            db.sql("SELECT 1")
        with pytest.raises(InputError) as refused:
            db.sql(create.replace("VIEW weekly", "VIEW other").replace("user=", "password=secret&user="))
        assert refused.value.code == "password_in_statement" and "secret" not in str(refused.value)
    databases.sql("INSERT INTO shop.sales VALUES (38, 'pens'), (38, 'soap')")
    before = anondb.verify_file(url).content_digest
    assert command("run", databases.raw_url()).returncode == 0  # the policy that the database has
    assert anondb.verify_file(url).content_digest != before
    assert databases.sql("SELECT count(*) FROM weekly.transactions", databases.releases, "analysts")[0][0] > 0
