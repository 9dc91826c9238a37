"""Whatever happens to a table between nights: two published states of its view differ by whole weeks."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path

import duckdb
import pytest
from portions import portions

import anondb
from anondb.errors import AnondbError

WITH = "WITH (k = 2, m = 1, queries = 1, partition_by = 'week', publish = '{}')"
VIEW = "ANONYMIZED VIEW {} AS SELECT tid, item, week FROM sales " + WITH
REFRESH = "REFRESH ANONYMIZED VIEW weekly"
State = dict[str, Counter[str]]
"""The rows that readers see of each file, each with how often it occurs."""


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(1, night=60))
def test_no_difference_of_two_states_shows_a_person(tmp_path: Path, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in seeds:
        place = tmp_path / str(seed)
        place.mkdir()
        monkeypatch.chdir(place)
        with anondb.connect("owner.duckdb", threads=1) as db:
            compared(db, random.Random(seed))


def compared(db: anondb.Database, draw: random.Random) -> None:
    """Release the table for some nights, and compare all pairs of nights as a reader does who kept every file."""
    db.sql("CREATE TABLE sales (tid INTEGER, item VARCHAR, week INTEGER)")
    arrive(db, 0)
    db.sql("CREATE " + VIEW.format("weekly", "weeks"))
    states, weeks = [seen()], 1
    for _ in range(4):
        for _ in range(draw.randint(1, 2)):
            happen(db, draw, weeks)
        if draw.random() < 0.6:
            arrive(db, weeks)
            weeks += 1
        refreshed(db)
        states.append(seen())
        assert set(states[-1]) == {f"week={n}.duckdb" for n in range(weeks)}
    for before, after in combinations(states, 2):
        gained = sum(after.values(), Counter[str]()) - sum(before.values(), Counter[str]())
        lost = sum(before.values(), Counter[str]()) - sum(after.values(), Counter[str]())
        new = [rows for name, rows in after.items() if name not in before]
        assert not lost and gained == sum(new, Counter[str]())  # whole weeks, and nobody of the weeks before
        assert all(rows.total() == 6 for rows in new)
    for statement in ("CREATE OR REPLACE " + VIEW.format("weekly", "weeks"), "CREATE " + VIEW.format("other", "more")):
        assert refused(db, statement) == "overlap"
    db.sql("DROP ANONYMIZED VIEW weekly")
    shutil.rmtree("weeks")
    assert refused(db, "CREATE " + VIEW.format("weekly", "weeks")) == "overlap"


def arrive(db: anondb.Database, week: int) -> None:
    db.sql(f"INSERT INTO sales SELECT {week} * 100 + range, 'abc'[range % 3 + 1], {week} FROM range(6)")


def happen(db: anondb.Database, draw: random.Random, weeks: int) -> None:
    """Something that happens to a table, or to the folder."""
    week, number = draw.randrange(weeks), draw.randrange(1000, 10**6)
    what = draw.randrange(5)
    if what == 0:
        db.sql(f"INSERT INTO sales VALUES ({number}, 'a', {week})")  # a basket that comes late
    elif what == 1:
        db.sql(f"DELETE FROM sales WHERE tid = (SELECT min(tid) FROM sales WHERE week = {week})")
    elif what == 2:
        db.sql(f"UPDATE sales SET item = 'b' WHERE tid = (SELECT max(tid) FROM sales WHERE week = {week})")
    elif what == 3:
        db.sql(f"DELETE FROM sales WHERE week = {week}")
    else:
        Path(f"weeks/week={week}.duckdb").unlink(missing_ok=True)


def refreshed(db: anondb.Database) -> None:
    """REFRESH; without the late rows if there are any."""
    before = seen()
    if refused(db, REFRESH):
        assert seen() == before
        db.sql(f"{REFRESH} WITH (late_rows = 'ignore')")


def refused(db: anondb.Database, statement: str) -> str:
    """The code of the error of a statement; empty if there is none."""
    try:
        db.sql(statement)
    except AnondbError as error:
        assert error.code in ("late_rows", "overlap")
        return error.code
    return ""


def seen() -> State:
    state: State = {}
    for file in sorted(Path("weeks").glob("*")):
        with duckdb.connect(str(file), read_only=True) as reader:
            rows = reader.execute("SELECT items FROM baskets").fetchall()
        state[file.name] = Counter(map(str, rows))
    return state
