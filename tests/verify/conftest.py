from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from anondb.engine import DuckDBEngine, Engine

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    engine = DuckDBEngine.open(threads=1)
    yield engine
    engine.close()
