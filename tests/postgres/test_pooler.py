"""Behind pgbouncer in transaction pooling: what a run leaves in the sessions that other clients get."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest
from postgres import server as servers
from postgres.databases import Databases, command

import anondb

PROGRAM = shutil.which("pgbouncer", path="/usr/bin:/usr/sbin:/usr/local/bin")
SESSIONS = 2  # of the server, which all clients share
SHOWN = (
    "SELECT (SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings"
    " WHERE name <> 'application_name'),"
    " (SELECT count(*) FROM pg_class WHERE relpersistence = 't'), (SELECT count(*) FROM pg_prepared_statements)"
)
CONFIGURED = """[databases]
* = host={place}
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = {place}
auth_type = trust
auth_file = {place}/users
logfile = {place}/pooler.log
pool_mode = transaction
default_pool_size = {sessions}
ignore_startup_parameters = extra_float_digits
"""


@pytest.fixture
def pooled(databases: Databases) -> Iterator[Databases]:
    """The databases behind a pooler, which gives a session of the server to whoever begins a transaction."""
    if PROGRAM is None:
        pytest.skip("pgbouncer is not installed")
    place = databases.server.place
    (place / "pooler.ini").write_text(CONFIGURED.format(place=place, sessions=SESSIONS), "utf-8")
    (place / "users").write_text('"postgres" ""\n', "utf-8")
    user = "nobody" if place.owner() == "nobody" else None
    process = subprocess.Popen([PROGRAM, "-q", str(place / "pooler.ini")], user=user, cwd=place)
    try:
        behind = servers.Server(place, databases.server.programs, port=6432)
        for _ in range(50):
            if (place / ".s.PGSQL.6432").exists():
                break
            time.sleep(0.1)
        yield Databases(behind, databases.raw, databases.releases)
    finally:
        process.terminate()
        process.wait()


def shown(pooled: Databases) -> list[tuple[object, ...]]:
    """What other clients see in each session of the server: settings, temporary tables and prepared statements."""
    with contextlib.ExitStack() as clients:
        sessions = [clients.enter_context(pooled.session()) for _ in range(SESSIONS)]
        for session in sessions:
            session.execute("BEGIN")
        return [session.execute(SHOWN).fetchone() for session in sessions]


@pytest.mark.slow
def test_other_clients_see_nothing_of_a_run(pooled: Databases) -> None:
    before = shown(pooled)
    asked = ["--transactions", "shop.sales", "--taxonomy", "shop.food", "--k", "3", "--m", "2", "--queries", "2"]
    for name, more in {"fetched": [], "inside": ["--on-engine"], "refused": ["--k", "1000"]}.items():
        place = ["--publish", pooled.url(name), "--allow-overlap"]
        done = command("anonymize", pooled.raw_url(), "--release", name, *asked, *more, *place)
        assert done.returncode == (3 if name == "refused" else 0), done.stderr
        assert shown(pooled) == before, name
    with anondb.open(pooled.url("fetched")) as session:
        assert session.sql("SELECT count(DISTINCT tid) FROM shop.sales").fetchall() == [(60.0, 60, 60)]
    assert command("inspect", pooled.url("inside")).returncode == 0
    assert shown(pooled) == before
