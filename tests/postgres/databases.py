"""Databases for the tests of PostgreSQL, and a small shop in them."""

from __future__ import annotations

import contextlib
import io
import itertools
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from postgres import server as servers

_numbers = itertools.count()
ITEMS = {"bread": "food", "milk": "food", "eggs": "food", "soap": "home", "pens": "home", "saffron": "food"}
TAXONOMY = [("all", None), ("food", "all"), ("home", "all"), *ITEMS.items()]


@dataclass(frozen=True)
class Databases:
    """A raw database and one for releases on a server, and two roles: ``analysts`` and ``counters``."""

    server: servers.Server
    raw: str
    releases: str

    def raw_url(self, user: str = "postgres") -> str:
        return self.server.url(self.raw, user=user)

    def url(self, schema: str, user: str = "postgres") -> str:
        return self.server.url(self.releases, schema, user)

    def sql(self, text: Any, database: str | None = None, user: str = "postgres") -> list[tuple[Any, ...]]:
        """Run a statement in the raw database, or another, and return its rows."""
        with self.session(database, user) as connection:
            cursor = connection.execute(text)
            return cursor.fetchall() if cursor.description else []

    @contextlib.contextmanager
    def session(self, database: str | None = None, user: str = "postgres") -> Iterator[Any]:
        import psycopg

        with psycopg.connect(self.server.url(database or self.raw, user=user), autocommit=True) as connection:
            yield connection

    def restored(self, *schemas: str) -> Databases:
        """A new database for releases, with the schemas of this one as ``pg_dump`` and ``psql`` move them."""
        there = replace(self, releases=f"restored{next(_numbers)}")
        self.sql(f"CREATE DATABASE {there.releases}", "postgres")
        source, target = (self.server.url(name) for name in (self.releases, there.releases))
        dump = [self.server.programs / "pg_dump", *(f"--schema={name}" for name in schemas), source]
        text = subprocess.run(dump, check=True, capture_output=True).stdout
        load = [self.server.programs / "psql", "--quiet", "--set=ON_ERROR_STOP=1", target]
        subprocess.run(load, check=True, input=text, stdout=subprocess.DEVNULL)
        return there

    def copy(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        """Add rows without a value in a statement."""
        with self.session() as connection, connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


def make(server: servers.Server) -> Databases:
    """New databases on a server."""
    number = next(_numbers)
    made = Databases(server, f"raw{number}", f"releases{number}")
    for name in (made.raw, made.releases):
        made.sql(f"CREATE DATABASE {name}", "postgres")
    for role in ("analysts", "counters"):
        if not made.sql(f"SELECT 1 FROM pg_roles WHERE rolname = '{role}'", "postgres"):
            made.sql(f"CREATE ROLE {role} LOGIN", "postgres")
    made.sql(f"REVOKE CONNECT ON DATABASE {made.raw} FROM PUBLIC", "postgres")
    return made


def shop(databases: Databases, persons: int = 60) -> None:
    """Tables ``shop.sales(tid, item)``, ``shop.food(node, parent)`` and ``shop.people(tid, age, town)``."""
    databases.sql("CREATE SCHEMA shop")
    databases.sql("CREATE TABLE shop.sales (tid integer, item text)")
    databases.sql("CREATE TABLE shop.food (node text, parent text)")
    databases.sql("CREATE TABLE shop.people (tid integer, age integer, town text)")
    names = list(ITEMS)
    baskets = [(t, name) for t in range(persons) for n, name in enumerate(names[:5]) if (t >> n) & 1 or n == t % 5]
    databases.copy("shop.sales", [*baskets, (3, "saffron"), (7, "saffron")])
    databases.copy("shop.food", TAXONOMY)
    databases.copy("shop.people", [(t, 20 + t % 40, ("Delft", "Leiden")[t % 2]) for t in range(persons)])


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Call a command of anondb in this process."""
    from anondb.cli import main

    out, err, code = io.StringIO(), io.StringIO(), None
    argv, sys.argv = sys.argv, ["anondb", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = argv
    assert isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
