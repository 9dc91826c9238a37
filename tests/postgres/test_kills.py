"""The client is killed at any statement: no schema, role, right or row is half-made; the ledger knows what readers see."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache

import pytest
from portions import portions
from postgres.databases import Databases, make, shop
from postgres.server import Server

import anondb

CHILD = """
import os, signal, sys
import anondb

raw, url, last, there = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "True"
count = 0

def die_at_the_last(text):
    global count
    count += 1
    if count == last:
        os.kill(os.getpid(), signal.SIGKILL)

with anondb.connect(raw, on_statement=die_at_the_last) as db:
    db.anonymize("shop.sales", taxonomy="shop.food", model=anondb.KmAnonymity(2 + last % 3, 1), name="spring", queries=3,
                 replace=True, allow_overlap=True, on_engine=there, publish=url, analysts="analysts", counters="counters")
print(count)
"""


@pytest.fixture(scope="module")
def shop_with_release(server: Server) -> tuple[Databases, Callable[[bool, int], int]]:
    """Databases with a release ``spring``, and how many statements making it takes, if rows are fetched and if not."""
    databases = make(server)
    shop(databases, 30)
    with anondb.connect(databases.raw_url()) as db:
        release = db.anonymize("shop.sales", taxonomy="shop.food", model=anondb.KmAnonymity(2, 1), name="spring", queries=3)
        release.publish(databases.url("spring"), analysts="analysts", counters="counters")
    return databases, cache(lambda there, rest: int(run(databases, rest - 3, there).stdout.split()[-1]))


def run(databases: Databases, last: int, there: bool) -> subprocess.CompletedProcess[str]:
    arguments = [databases.raw_url(), databases.url("spring"), str(last), str(there)]
    return subprocess.run([sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, check=False)


def state(databases: Databases) -> tuple[object, ...]:
    """Everything that a reader could find half-made."""
    deadline = time.monotonic() + 20
    alive = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    while databases.sql(alive)[0][0] and time.monotonic() < deadline:
        time.sleep(0.02)
    schemas = "SELECT nspname, nspacl::text FROM pg_namespace WHERE nspname !~ '^pg_(toast|temp)' ORDER BY 1"
    return (
        databases.sql(schemas),
        databases.sql(schemas, databases.releases),
        databases.sql("SELECT rolname FROM pg_roles ORDER BY 1"),
        databases.sql("SELECT relname, relkind, relacl::text FROM pg_class WHERE relnamespace = 'spring'::regnamespace"
                      " ORDER BY 1", databases.releases),
        databases.sql("SELECT proname, proacl::text FROM pg_proc WHERE pronamespace = 'spring'::regnamespace",
                      databases.releases),
        databases.sql("SELECT relname FROM pg_class WHERE relnamespace = 'release_spring'::regnamespace ORDER BY 1"),
        databases.sql("SELECT relname FROM pg_class WHERE relnamespace = 'anondb'::regnamespace ORDER BY 1"),
        databases.sql("SELECT count(*) FROM anondb.releases WHERE status = 'present'"),
    )  # fmt: skip


@pytest.mark.parametrize("seeds", portions(0, 1, 200))
def test_kills(seeds: range, shop_with_release: tuple[Databases, Callable[[bool, int], int]]) -> None:
    databases, count = shop_with_release
    before = state(databases)
    for seed in seeds:
        there = seed % 4 == 3
        statements = count(there, seed % 3)  # k follows the remainder, and the statements follow k
        # The last statements write and commit in PostgreSQL: two of three kills hit them.
        last = 1 + (seed * 37) % statements if seed % 3 == 1 else statements - (seed * 7) % 160
        last -= (last - seed) % 3
        killed = run(databases, last, there)
        assert killed.returncode == -9, (last, killed.stderr)
        assert state(databases) == before, last
        checked = anondb.verify_file(databases.url("spring", "analysts"), published_in=databases.raw_url())
        assert checked.verification.verified and checked.published_as is not None, last
    with anondb.connect(databases.raw_url()) as db:
        release = db.release("spring")
        assert release.verification.verified and release.measure(queries=3).queries == 3
