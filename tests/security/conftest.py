from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shared import once

import anondb

ABOUT: dict[str, dict[str, Any]] = {
    "supports": {"model": anondb.KmAnonymity(15, 2), "taxonomy": "food", "item_supports": True},
    "kkm": {
        "model": anondb.KkmAnonymity(3, 2),
        "records": "people",
        "quasi_identifiers": "age,colour",
        "max_suppression": 100,
        "delta": 0.5,
    },
    "klm": {
        "model": anondb.KlmDiversity(3, 2, 1),
        "records": "people",
        "quasi_identifiers": "age,colour",
        "sensitive": ["i0"],
        "max_suppression": 100,
        "delta": 0.5,
    },
    "anatomy": {"model": anondb.Anatomy("3/2"), "columns": 2, "empty_values": "ignore"},
}


def fill(db: anondb.Database) -> None:
    """A table of 120 persons with up to three items each, their attributes, and a taxonomy of two departments."""
    db.sql(
        "CREATE TABLE sales AS SELECT t AS tid, 'i' || (t + n * n) % 7 AS item FROM range(120) r(t), range(3) s(n)"
        " WHERE n <= t % 3"
    )
    colours = "['red', 'green'][1 + t % 2] AS colour"
    db.sql(f"CREATE TABLE people AS SELECT t AS tid, 20 + t % 40 AS age, {colours} FROM range(120) r(t)")
    nodes = "SELECT DISTINCT item AS node, CASE WHEN item < 'i3' THEN 'A' ELSE 'B' END AS parent FROM sales"
    db.sql(f"CREATE TABLE food AS {nodes} UNION VALUES ('A', 'all'), ('B', 'all')")


@pytest.fixture(scope="session")
def sealed_kind(of_run: Path) -> Callable[[str], Path]:
    """Makes the sealed file of a kind of ``ABOUT`` once, for files that damage copies of it."""

    def make(file: Path) -> None:
        with anondb.connect(threads=1) as db:
            fill(db)
            db.anonymize("sales", name=file.stem, queries=0, publish=file, **ABOUT[file.stem])

    def made(kind: str) -> Path:
        (of_run / "damaged").mkdir(exist_ok=True)
        return once(of_run / "damaged" / f"{kind}.duckdb", make)

    return made
