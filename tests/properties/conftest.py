from __future__ import annotations

from collections.abc import Iterator

import pytest

from anondb.engine import Engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    engine = Engine.open(threads=1)
    yield engine
    engine.close()
