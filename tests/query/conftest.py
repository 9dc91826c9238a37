from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from query.sealing import Sessions


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Sessions]:
    """Opens sessions on releases of a schema."""
    sessions = Sessions(tmp_path)
    yield sessions
    sessions.close()
