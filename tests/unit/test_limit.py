"""A time limit ends statements and Python alike, once, and leaves an engine that works."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import weakref
from random import Random
from typing import Any

import pytest
from each import each
from portions import portions
from sqlglot import exp, parse_one

from anondb.engine import DuckDBEngine, reads
from anondb.engine.limit import check_seconds, limited
from anondb.errors import BudgetExceeded, InputError

LONG = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT max(i) AS last FROM n"


def spin(engine: DuckDBEngine) -> None:
    while True:
        sum(range(1000))


def ask(engine: DuckDBEngine) -> None:
    engine.select(parse_one(LONG, dialect="duckdb"))


def both(engine: DuckDBEngine) -> None:
    while True:
        engine.select(exp.select(exp.convert(1).as_("one")))
        sum(range(300))


def lose(engine: DuckDBEngine) -> None:
    """The time is up in the callback of a weak reference, whose exceptions Python ignores."""

    class Thing:
        pass

    def busy(_: object) -> None:
        end = time.perf_counter() + 0.5
        while time.perf_counter() < end:
            pass

    thing = Thing()
    kept = weakref.ref(thing, busy)
    del thing
    assert kept() is None
    spin(engine)


def ended(engine: DuckDBEngine, work: Any, seconds: float) -> bool:
    """Whether the limit ended the work, in a transaction that leaves nothing."""
    try:
        with engine.transaction(), limited(engine, seconds):
            engine.run(parse_one("CREATE TABLE kept (i INTEGER)"), "making a table")
            work(engine)
    except BudgetExceeded as error:
        assert error.code == "time_limit" and error.exit_code == 5
        return True
    return False


@pytest.mark.parametrize("work", [spin, ask, both, lose])
def test_what_is_ended(work: Any) -> None:
    engine = DuckDBEngine.open()
    begun = time.perf_counter()
    assert ended(engine, work, 0.1) and time.perf_counter() - begun < 5
    assert not ended(engine, lambda engine: None, 60)
    assert engine.select(exp.select("i").from_("kept"))["i"].tolist() == []  # of the second transaction
    engine.close()


@pytest.mark.parametrize("seeds", portions(4, 33, 4000))
def test_ends_at_any_moment(seeds: range) -> None:
    engine = DuckDBEngine.open()
    for seed in seeds:
        draw, seen = Random(seed), 0

        def some(engine: DuckDBEngine, draw: Random = draw) -> None:
            nonlocal seen
            for seen in range(40):
                engine.select(exp.select(exp.convert(seen).as_("one")))
                sum(range(draw.randrange(3000)))

        up = ended(engine, some, draw.uniform(0.001, 0.03))
        assert up or seen == 39
        for _ in range(10):  # no late exception, no statement interrupted, no transaction open
            with engine.transaction():
                assert engine.select(exp.select(exp.convert(1).as_("one")))["one"].tolist() == [1]
        tables = engine.select(reads.rows(reads.system("duckdb_tables"), "table_name"))["table_name"].tolist()
        assert tables == ([] if up else ["kept"])
        if not up:
            engine.run(parse_one("DROP TABLE kept"), "dropping it")
    engine.close()


TRACED = """
import sys
from anondb.engine import DuckDBEngine
from anondb.engine.limit import limited
from anondb.errors import BudgetExceeded
try:
    with limited(DuckDBEngine.open(), 0.05):
        while True:
            pass
except BudgetExceeded:
    sys.settrace(lambda *_: None)
    (lambda: None)()
    print("traced")
"""


@pytest.mark.slow
def test_python_can_be_traced_afterwards() -> None:
    """A signal that is left over makes Python 3.11 hang at the first function that a debugger traces."""
    done = subprocess.run([sys.executable, "-c", TRACED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "traced\n"


def test_in_another_thread() -> None:
    engine = DuckDBEngine.open()
    results: list[bool] = []
    worker = threading.Thread(target=lambda: results.append(ended(engine, spin, 0.05)))
    worker.start()
    worker.join(10)
    assert results == [True]
    engine.close()


@each("seconds", [0, -1, float("nan"), float("inf"), True, "10", [1]])
def test_seconds(seconds: Any) -> None:
    with pytest.raises(InputError, match="time_limit must be a number of seconds above 0"):
        check_seconds(seconds)
    assert check_seconds(None) is None and check_seconds(2) == 2.0
