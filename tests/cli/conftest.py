from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest
from cli.shop import fill
from shared import once


@pytest.fixture(scope="session")
def template(of_run: Path) -> Path:
    """A shop with the release ``old``, made once."""
    return once(of_run / "template.duckdb", make_template)


def make_template(place: Path) -> None:
    with duckdb.connect(str(place)) as connection:
        fill(connection)
    import anondb

    with anondb.connect(place) as database:
        database.anonymize("sales", model=anondb.KmAnonymity(2, 2), taxonomy="food", name="old", queries=5)


@pytest.fixture
def shop(template: Path, tmp_path: Path) -> Path:
    """The owner's file: tables ``sales`` and ``food``, and the release ``old``."""
    return Path(shutil.copy(template, tmp_path / "shop.duckdb"))
