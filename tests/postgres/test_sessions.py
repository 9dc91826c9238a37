"""What anondb leaves in a session of PostgreSQL, which a pooler gives to others, and what it says where it gets none."""

from __future__ import annotations

from typing import Any

import pytest
from each import each
from postgres import server as servers
from postgres.databases import Databases, make, shop
from sqlglot import exp

import anondb
from anondb.errors import AnondbError, EngineError, InputError
from anondb.warehouse.postgres import server as module
from anondb.warehouse.postgres.place import place_of
from anondb.warehouse.postgres.server import Server

SHOWN = "SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) AS shown FROM pg_settings"


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The settings of each session when it is opened and, as another client of a pooler gets it, when it is closed."""
    seen: list[tuple[str, str]] = []
    begun: dict[int, str] = {}
    opened, closed = Server._check, Server.close

    def shown(server: Server) -> str:
        tables = "SELECT count(*)::text AS shown FROM pg_class WHERE relpersistence = 't'"
        return " ".join(str(server._rows(text, "settings").to_pydict()["shown"]) for text in (SHOWN, tables))

    def check(server: Server, encoding: str) -> None:
        begun[id(server)] = shown(server)
        opened(server, encoding)

    def close(server: Server) -> None:
        if not server.inside and id(server) in begun:
            seen.append((begun.pop(id(server)), shown(server)))
        closed(server)

    monkeypatch.setattr(Server, "_check", check)
    monkeypatch.setattr(Server, "close", close)
    return seen


@pytest.mark.slow
def test_no_setting_stays_in_a_session(databases: Databases, left: list[tuple[str, str]]) -> None:
    asked: dict[str, Any] = {"taxonomy": "shop.food", "model": anondb.KmAnonymity(3, 2), "queries": 1}
    with anondb.connect(databases.raw_url()) as db:
        release = db.anonymize("shop.sales", name="one", **asked)
        release.publish(databases.url("one"))
        db.anonymize("shop.sales", name="two", on_engine=True, **asked)
    with anondb.connect(databases.raw_url()) as db, pytest.raises(AnondbError):
        db.anonymize("shop.sales", name="three", **asked | {"model": anondb.KmAnonymity(1000, 2)})
    with anondb.open(databases.url("one")) as session:
        assert session.sql("SELECT count(DISTINCT tid) FROM shop.sales").fetchall()
    assert len(left) >= 4 and all(before == after for before, after in left)


def test_the_settings_are_those_of_transactions(databases: Databases) -> None:
    server = Server(place_of(databases.raw_url()))
    path = exp.select(exp.func("current_setting", exp.convert("search_path")).as_("shown"))
    usual = server._rows("SELECT current_setting('search_path') AS shown", "the path").to_pydict()["shown"]
    for end in ("kept", "undone", "failed"):
        assert server.rows(path, "the path").to_pydict()["shown"] == ["pg_catalog"]
        with pytest.raises(EngineError) if end == "failed" else server.transaction():
            if end == "failed":
                server.run("SELECT 1 / 0", "a statement")
            assert server.rows(path, "the path").to_pydict()["shown"] == ["pg_catalog"]
        assert server._rows("SELECT current_setting('search_path') AS shown", "the path").to_pydict()["shown"] == usual
    server.close()


def test_where_no_connection_is_made(databases: Databases) -> None:
    databases.sql("DO $$ BEGIN CREATE ROLE nologin NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    good = databases.raw_url()
    cases = {
        good.replace(databases.raw, "nowhere"): ("no_such_database", "There is no such database"),
        databases.raw_url("nobody_of_this_name"): ("login", "The role does not exist"),
        databases.raw_url("nologin"): ("login", "The role does not exist, or may not log in"),
        databases.raw_url("analysts"): ("no_connect", "may not connect to the database.*GRANT CONNECT"),
        good + "&port=5999": ("connection", "No server of PostgreSQL listens"),
        "postgresql://127.0.0.1:1/db": ("connection", "No server of PostgreSQL listens"),
    }
    for url, (code, words) in cases.items():
        with pytest.raises(AnondbError, match=words) as error:
            anondb.connect(url)
        assert error.value.code == code and "nobody_of_this_name" not in str(error.value).partition("connecting to")[0]


@each(
    "words, code",
    [
        ('FATAL:  password authentication failed for user "a"', "login"),
        ("fe_sendauth: no password supplied", "login"),
        ("server does not support SSL, but SSL was required", "ssl"),
        ('root certificate file "/x" does not exist', "ssl"),
        ('FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "a", database "b", no encryption', "login"),
        ('could not translate host name "x" to address: Name or service not known', "connection"),
        ("FATAL:  sorry, too many clients already", "connection"),
        ("timeout expired", "connection"),
        ("what nobody has seen", "connection"),
    ],
)
def test_words_of_libpq(words: str, code: str) -> None:
    error = module._typed(OSError(f'connection to server at "db" failed: {words}'), "connecting", connecting=True)
    assert error.code == code and error.hint and words not in str(error)


def test_forced_row_security_is_named(server: servers.Server) -> None:
    databases = make(server)
    shop(databases)
    databases.sql("CREATE ROLE guarded LOGIN")
    databases.sql(f"GRANT CONNECT, CREATE ON DATABASE {databases.raw} TO guarded", "postgres")
    databases.sql("CREATE SCHEMA guarded AUTHORIZATION guarded")
    databases.sql("CREATE TABLE guarded.sales AS SELECT * FROM shop.sales")
    databases.sql("ALTER TABLE guarded.sales OWNER TO guarded")
    for what in ("ENABLE", "FORCE"):
        databases.sql(f"ALTER TABLE guarded.sales {what} ROW LEVEL SECURITY")
    databases.sql("CREATE POLICY few ON guarded.sales USING (tid < 10)")
    with anondb.connect(databases.raw_url("guarded")) as db, pytest.raises(InputError, match="Row security") as error:
        db.anonymize("guarded.sales", name="some", model=anondb.KmAnonymity(2, 1))
    assert error.value.code == "no_privilege" and "NO FORCE ROW LEVEL SECURITY" in str(error.value.hint)
