"""Running the SQL of a proof pack."""

from __future__ import annotations

import duckdb
import pytest


def proven(file: duckdb.DuckDBPyConnection, text: str) -> list[tuple[str, list[str], int]]:
    """The violations that a proof lists; it ends with PASS where there is none, and with an error else."""
    make, show, verdict = file.extract_statements(text)
    file.execute(make)
    found = file.execute(show).fetchall()
    if found:
        with pytest.raises(duckdb.InvalidInputException, match=f"FAIL: {len(found)} violations"):
            file.execute(verdict)
    else:
        ((words,),) = file.execute(verdict).fetchall()
        assert words.startswith("PASS")
    return found
