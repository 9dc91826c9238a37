from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from query.sealing import Sessions

from anondb.engine import DuckDBEngine, Engine


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """An owner's database in memory, for a whole module."""
    engine = DuckDBEngine.open(threads=1)
    yield engine
    engine.close()


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Sessions]:
    """Opens sessions on releases of a schema."""
    sessions = Sessions(tmp_path)
    yield sessions
    sessions.close()
