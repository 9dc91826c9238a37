from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from report.kinds import owner

import anondb


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The owner's database without releases, made once."""
    return owner(tmp_path_factory.mktemp("owner") / "shop.duckdb")


@pytest.fixture(scope="session")
def with_some(template: Path) -> Path:
    """The owner's database with the release ``some``, which suppresses items, and its sealed file; only to be read."""
    made = Path(shutil.copy(template, template.with_name("some.duckdb")))
    with anondb.connect(made) as database:
        model = anondb.KmAnonymity(3, 2)
        release = database.anonymize("private_place.sales", name="some", model=model, algorithm="mm", queries=5)
        release.publish(made.with_name("sealed.duckdb"))
    return made


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Path:
    """A copy of the owner's database without releases."""
    return Path(shutil.copy(template, tmp_path / "shop.duckdb"))
