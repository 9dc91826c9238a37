from __future__ import annotations

from collections.abc import Iterator

import pytest

from anondb.engine import DuckDBEngine, Engine


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """An owner's database in memory, for a whole module."""
    engine = DuckDBEngine.open(threads=1)
    yield engine
    engine.close()
