"""Two owners at once, and connections that are lost when a run commits."""

from __future__ import annotations

from typing import Any

import pytest
from cli.shop import Run
from postgres.databases import Databases, make, shop
from postgres.server import Server

import anondb
from anondb.errors import EngineError

OPTIONS: dict[str, Any] = {"taxonomy": "shop.food", "model": anondb.KmAnonymity(3, 1), "queries": 3}


@pytest.fixture
def fresh(server: Server) -> Databases:
    databases = make(server)
    shop(databases, 30)
    return databases


def schemas(databases: Databases, where: str) -> list[str]:
    return [n for (n,) in databases.sql("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1", where)]


@pytest.mark.slow
@pytest.mark.parametrize("ledger", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_an_owner_at_work_is_noticed_before_the_work(fresh: Databases, ledger: bool) -> None:
    """Also when nobody finds a ledger: who begins, or writes, while another works keeps nothing, and may run again later."""
    if ledger:
        with anondb.connect(fresh.raw_url()) as db:
            db.anonymize("shop.sales", name="zero", **OPTIONS)
    steps: list[str] = []
    with anondb.connect(fresh.raw_url(), on_progress=steps.append) as second:
        refused: list[str] = []

        def meanwhile(words: str) -> None:
            if "freezing" in words and not refused:
                for late in (
                    lambda: second.anonymize("shop.sales", name="second", **OPTIONS),
                    lambda: second.drop("zero") if ledger else second.anonymize("shop.sales", name="third", **OPTIONS),
                ):
                    with pytest.raises(EngineError) as error:
                        late()
                    refused.append(error.value.code)

        with anondb.connect(fresh.raw_url(), on_progress=meanwhile) as first:
            first.anonymize("shop.sales", name="first", **OPTIONS)
            assert refused == ["conflict"] * 2 and not any("anonymizing" in words for words in steps)
            names = {"zero", "first"} if ledger else {"first"}
            assert {entry.name for entry in second.releases()} == names
            second.anonymize("shop.sales", name="second", **OPTIONS)
        assert {entry.name for entry in second.releases()} == {*names, "second"}
        assert second.release("first").verification.verified
    assert fresh.sql("SELECT count(*) FROM anondb.state") == [(1,)]


def test_the_tables_of_a_database(fresh: Databases) -> None:
    with anondb.connect(fresh.raw_url()) as db:
        tables = {table.name: set(table.columns) for table in db.tables()}
        assert tables["shop.sales"] >= {"tid", "item"} and tables["shop.food"] >= {"node", "parent"}
        assert db.peek("shop.sales").counts == db.profile("shop.sales", attackers=False).counts


def test_trees_are_not_written_into_a_database(fresh: Databases, run: Run) -> None:
    built = run("taxonomy", "build", fresh.raw_url(), "--transactions", "shop.sales", "--by", "frequency", "--to", "made")
    assert built.code == 2 and "not written into PostgreSQL" in built.err


def ended(databases: Databases, where: str) -> int:
    """End all connections to a database from the server's side."""
    end = f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{where}'"
    return int(databases.sql(end, "postgres")[0][0])


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["raw", "releases"])
def test_a_connection_is_lost_at_the_commit(fresh: Databases, lost: str) -> None:
    url, ends, seen = fresh.url("spring"), list[int](), set[str]()

    def at_a_commit(text: str) -> None:
        seen.add(text)
        if text == "COMMIT" and not ends and "-- rows into publications by COPY" in seen:
            ends.append(ended(fresh, getattr(fresh, lost)))

    with anondb.connect(fresh.raw_url()) as db:
        db.anonymize("shop.sales", name="spring", **OPTIONS)
    with anondb.connect(fresh.raw_url(), on_statement=at_a_commit) as db:
        with pytest.raises(EngineError) as refused:
            db.release("spring").publish(url, analysts="analysts")
        assert ends == [1] and refused.value.code == "connection"
    assert schemas(fresh, fresh.releases) == ["information_schema", "public"]
    with anondb.connect(fresh.raw_url()) as db:
        known = [p.file for p in db.publications()]
        assert len(known) == (lost == "releases")  # the ledger is committed first, and the error says so
        assert ("The ledger has the publication" in str(refused.value)) == (lost == "releases")
        db.release("spring").publish(url, analysts="analysts", allow_overlap=True)
        assert anondb.verify_file(url, published_in=fresh.raw_url()).published_as is not None
