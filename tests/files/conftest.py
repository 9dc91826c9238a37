from __future__ import annotations

from collections.abc import Iterator

import pytest
from files.loading import Reader


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    """A database in memory, for all files of a module."""
    made = Reader()
    yield made
    made.database.close()
