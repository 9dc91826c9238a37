from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import anondb
from anondb.models.km import KmAnonymity

N = 3000


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Started in the background (nohup), this process ignores Ctrl-C, and so would all that it starts."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An owner's database with a release of rare raw items, not published yet, and a second one to publish over it."""
    place = tmp_path_factory.mktemp("faults") / "shop.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute(
            """
            CREATE TABLE sales AS
            SELECT t.range::INTEGER AS tid, format('zq{:04d}raw', (t.range * 7 + i.range * i.range * 13) % 60) AS item
            FROM range(?) t, range(4) i
            """,
            [N],
        )
        connection.execute(
            """
            CREATE TABLE food AS
            SELECT DISTINCT item AS node, 'group' || (substr(item, 3, 4)::INTEGER // 10) AS parent FROM sales
            UNION ALL SELECT 'group' || range, 'all' FROM range(6)
            UNION ALL SELECT 'all', NULL
            """
        )
    with anondb.connect(place) as database:
        for name, k in (("one", 20), ("two", 400)):
            database.anonymize(
                "sales", taxonomy="food", model=KmAnonymity(k, 2), name=name, queries=5, max_suppression=100
            )
    return place
