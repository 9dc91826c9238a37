from __future__ import annotations

from pathlib import Path

import pytest
from release.cases import frozen
from shared import once

from anondb.engine import DuckDBEngine
from anondb.release.publish import publish


@pytest.fixture(scope="session")
def made(of_run: Path) -> Path:
    """A sealed file with two categories of items."""

    def make(file: Path) -> None:
        owner = DuckDBEngine.open()
        labels = [[f"only{i}", "apple"] for i in range(40)] + [["apple", "pear"]] * 40
        blocks = {"Fruit": ["apple", "pear"], "Other": [f"only{i}" for i in range(40)]}
        publish(owner, frozen(owner, labels, blocks).schema, file)
        owner.close()

    return once(of_run / "made.duckdb", make)
