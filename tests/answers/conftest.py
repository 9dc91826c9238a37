from __future__ import annotations

import pytest
from answers.shop import Shop


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop of `anondb demo` with its releases, each made once."""
    return Shop(tmp_path_factory.mktemp("shop"))
