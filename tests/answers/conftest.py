from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from answers.shop import Shop

from anondb.answers.files import begin
from anondb.engine import DuckDBEngine
from anondb.engine.untrusted import memory_engine


@pytest.fixture(scope="module", autouse=True)
def few_worlds() -> None:
    """As many worlds as users get: these tests are about estimates."""


@pytest.fixture(scope="session")
def shop(of_run: Path) -> Shop:
    """The shop of `anondb demo` with its releases, each made once."""
    return Shop(of_run)


@pytest.fixture(scope="session")
def folder(of_run: Path) -> Path:
    """The folder of the releases of the ledger's shop."""
    return of_run


@pytest.fixture
def engine() -> Iterator[DuckDBEngine]:
    """A database for the tables of worlds."""
    engine = memory_engine(threads=1)
    begin(engine)
    yield engine
    engine.close()
