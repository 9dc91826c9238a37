"""SQL of tools: each statement of ``tool_queries.sql`` is answered, and counts among them have bounds that hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from portions import parts
from session.conftest import Named

from anondb.query.scripts import script

QUERIES = [
    "\n".join(line for line in statement.splitlines() if not line.startswith("--"))
    for statement in script((Path(__file__).parent / "tool_queries.sql").read_text("utf-8"))
]


@pytest.mark.parametrize("queries", parts(QUERIES))
def test_it_is_answered(named: Named, queries: list[str]) -> None:
    for sql in queries:
        result = named[1].sql(sql)
        rows = result.fetchall()
        for n, name in enumerate(result.columns):
            if f"{name}_lower" in result.columns:
                for row in rows:
                    lower, estimate, upper = row[n + 1], row[n], row[n + 2]
                    assert estimate is None or (
                        (lower is None or lower <= estimate) and (upper is None or estimate <= upper)
                    ), sql


@pytest.mark.slow
def test_most_counts_have_bounds(named: Named) -> None:
    counts = [sql for sql in QUERIES if "count(" in sql.lower() and "from" in sql.lower()]
    bounded = 0
    for sql in counts:
        frame = named[1].sql(sql).df()
        ends = [column for column in frame.columns if column.endswith("_lower")]
        bounded += bool(ends) and bool(frame[ends].notna().all(axis=None))
    assert bounded >= 0.8 * len(counts)
