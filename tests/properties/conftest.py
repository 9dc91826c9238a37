from __future__ import annotations

from collections.abc import Iterator

import pytest

from anondb.engine import DuckDBEngine, Engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    engine = DuckDBEngine.open(threads=1)
    yield engine
    engine.close()
