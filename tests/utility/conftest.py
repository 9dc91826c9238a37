from __future__ import annotations

from collections.abc import Iterator

import pytest

from anondb.engine import Engine


@pytest.fixture
def engine(engine: Engine) -> Iterator[Engine]:
    """The database of a module, in a transaction: nothing of a test stays."""
    with engine.transaction():
        yield engine
