"""The memory limit in bytes and in DuckDB's words, how much of it arrays may take, and two databases in one limit."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from anondb.engine.failures import wrap
from anondb.engine.locked import setting
from anondb.errors import EngineError

if TYPE_CHECKING:
    from anondb.engine.duckdb_engine import DuckDBEngine

SHARE = 8  # of the memory limit, this part is left to arrays
_UNITS = ("", "K", "M", "G", "T", "P")


def bytes_of(limit: str) -> int | None:
    """The bytes of a memory limit as DuckDB reads and writes it, such as ``2.7 GiB`` or ``2GB``; None if there is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGTP]?)(I?B?|BYTES?)", limit.strip().upper())
    return None if match is None else int(float(match[1]) * (1024 if "I" in match[3] else 1000) ** _UNITS.index(match[2]))


def same_limit(limit: str) -> str | None:
    """A limit that DuckDB shows in the same words; None if it has no limit. DuckDB cuts digits off: a limit that was set to
    its own words would be a little lower each time."""
    match = re.fullmatch(r"(\d+\.\d) ([KMGTP]iB)", limit)
    return None if match is None else f"{match[1]}5 {match[2]}"


def half_of(limit: str | None) -> str | None:
    """Half of a memory limit; one that is not a size stays as it is."""
    most = None if limit is None else bytes_of(limit)
    return limit if most is None else f"{most // 2} B"


def array_bytes(limit: int | None) -> int:
    """The bytes for arrays under a memory limit; 0 if it is not known."""
    return 0 if limit is None else limit // SHARE


@contextlib.contextmanager
def lending_memory(engine: DuckDBEngine) -> Iterator[str | None]:
    """During the block the database keeps to half of its memory limit; the block gets the other half, if there is one. A new
    limit also makes DuckDB return memory that it has freed. A connection that was passed in gets no SET."""
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
    """Set the memory limit; what DuckDB holds above it goes to its spill files. It keeps the old limit if it cannot. Another
    connection to the database does it, on which a failure does not end the transaction."""
    text = setting("memory_limit", memory)
    engine.say(text)

    def work() -> None:
        with engine._connection.cursor() as other:
            other.execute(text)

    with contextlib.suppress(EngineError):
        engine.guarded(work, lambda error: wrap(error, "setting the memory limit"))
