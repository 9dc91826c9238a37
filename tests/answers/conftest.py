from __future__ import annotations

from collections.abc import Iterator

import pytest
from answers.shop import Shop

from anondb.answers.files import begin
from anondb.engine import DuckDBEngine
from anondb.engine.untrusted import desk_engine


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop of `anondb demo` with its releases, each made once."""
    return Shop(tmp_path_factory.mktemp("shop"))


@pytest.fixture
def desk() -> Iterator[DuckDBEngine]:
    """A database for the tables of worlds."""
    engine = desk_engine(threads=1)
    begin(engine)
    yield engine
    engine.close()
