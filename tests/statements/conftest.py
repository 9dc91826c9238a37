from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import anondb
from anondb.demo import make_shop

BASKETS = {1: "ab", 2: "ab", 3: "ac", 4: "bc", 5: "ad", 6: "bd"}
EDGES = [("all", None), ("X", "all"), ("Y", "all"), ("a", "X"), ("b", "X"), ("c", "Y"), ("d", "Y")]


@pytest.fixture(scope="session")
def tiny_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tiny") / "shop.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", [(t, i) for t, b in BASKETS.items() for i in b])
        connection.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO food VALUES (?, ?)", EDGES)
        connection.execute("CREATE TABLE people AS SELECT range AS tid, range % 3 AS town FROM range(1, 9)")
    return place


@pytest.fixture
def db(tiny_template: Path, tmp_path: Path) -> Iterator[anondb.Database]:
    """A tiny shop in a file: ``sales``, ``food`` and ``people``."""
    with anondb.connect(shutil.copy(tiny_template, tmp_path / "shop.duckdb"), threads=1) as database:
        yield database


@pytest.fixture(scope="session")
def demo_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo") / "shop.duckdb"
    with anondb.connect(place) as database:
        make_shop(database)
    return place


@pytest.fixture
def demo_shop(demo_template: Path, tmp_path: Path) -> Path:
    """The demo's shop, without a release."""
    return Path(shutil.copy(demo_template, tmp_path / "demo.duckdb"))
