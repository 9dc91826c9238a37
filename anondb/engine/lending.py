"""Two databases in one memory limit: one keeps to half of it while the other has work."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from anondb.engine.failures import wrap
from anondb.engine.memory import bytes_of, same_limit
from anondb.errors import EngineError

if TYPE_CHECKING:
    from anondb.engine.duckdb_engine import DuckDBEngine


@contextlib.contextmanager
def lending_memory(engine: DuckDBEngine) -> Iterator[str | None]:
    """During the block the database keeps to half of its memory limit; the block gets the other half, if there is one.

    A new limit also makes DuckDB return memory that it has freed. A connection that was passed in gets no SET.
    """
    shown = engine.shown_memory_limit
    most, before = bytes_of(shown), same_limit(shown)
    if most is None:
        yield None
        return
    half = f"{most // 2} B"
    if not engine.owned or before is None:
        yield half
        return
    try:
        _limit(engine, half)
        yield half
    finally:
        _limit(engine, before)


def _limit(engine: DuckDBEngine, memory: str) -> None:
    """Set the memory limit; what DuckDB holds above it goes to its spill files. It keeps the old limit if it cannot.

    Another connection to the database does it, on which a failure does not end the transaction.
    """
    value = exp.EQ(this=exp.var("memory_limit"), expression=exp.Literal.string(memory))
    text = exp.Set(expressions=[exp.SetItem(this=value)]).sql(dialect="duckdb")
    engine.say(text)

    def work() -> None:
        with engine.connection.cursor() as other:
            other.execute(text)

    with contextlib.suppress(EngineError):
        engine.guarded(work, lambda error: wrap(error, "setting the memory limit"))
