from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import anondb
from anondb.models.transactional import KmAnonymity

N = 3000
LETTERS = "ѲѴѪѬѨѮѰѢ"  # of ids, unpublished columns and suppressed items: nothing else in any file has them


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Started in the background (nohup), this process ignores Ctrl-C, and so would all that it starts."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An owner's database with two releases, not published yet. What neither of them holds is written in rare letters: ids,
    two items that are too rare for any k, and a column beside."""
    place = tmp_path_factory.mktemp("faults") / "shop.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute(
            """
            CREATE TABLE sales AS
            SELECT
                translate(format('{:04o}', t.range::INTEGER), '01234567', $letters) || t.range AS tid,
                format('zq{:04d}raw', (t.range * 7 + i.range * i.range * 13) % 60) AS item,
                repeat($letters, 2) AS note
            FROM range($n) t, range(4) i
            """,
            {"n": N, "letters": LETTERS},
        )
        rare = "SELECT DISTINCT tid, $letters || n, note FROM sales, range(2) r(n) WHERE tid LIKE '%999'"
        connection.execute(f"INSERT INTO sales {rare}", {"letters": LETTERS})
        connection.execute(
            """
            CREATE TABLE food AS
            SELECT DISTINCT item AS node, 'group' || (substr(item, 3, 4)::INTEGER // 10) AS parent
            FROM sales WHERE item LIKE 'zq%'
            UNION ALL SELECT DISTINCT item, 'all' FROM sales WHERE item NOT LIKE 'zq%'
            UNION ALL SELECT 'group' || range, 'all' FROM range(6)
            UNION ALL SELECT 'all', NULL
            """
        )
    with anondb.connect(place) as database:
        for name, k in (("one", 20), ("two", 400)):
            database.anonymize("sales", taxonomy="food", model=KmAnonymity(k, 2), name=name, queries=5, max_suppression=100)
    return place
