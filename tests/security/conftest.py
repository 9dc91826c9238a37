from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from anondb.engine import DuckDBEngine, Engine


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Engine]:
    """An owner's database in a file."""
    engine = DuckDBEngine.open(tmp_path / "shop.duckdb", threads=2)
    yield engine
    engine.close()
