from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from release.cases import frozen, rows

from anondb.engine import DuckDBEngine, Engine
from anondb.errors import InputError
from anondb.ledger.ledger import LedgerEntry, entries, find, mark_dropped, record
from anondb.ledger.tables import DECISIONS
from anondb.publications.published_rows import drop_release
from anondb.recoding import Decision

ENTRY = LedgerEntry(
    name="spring",
    release_id="0f",
    model="km",
    parameters={"k": 5, "m": "inf"},
    algorithm="mhghs",
    source_table="sales",
    source_reference='"main"."sales"',
    id_column="tid",
    item_column="item",
    transactions=59602,
    items=497,
    released_items=63,
    suppressed_items=5,
    suppressed_occurrences=278,
    verified=True,
    violations=0,
    version="0.1.0",
    fingerprint="ab",
    lm_total="1790569/496",
    lm=0.0241,
    ncp=0.026,
)
COLUMNS = [
    "name", "release_id", "model", "parameters", "algorithm", "source_table", "source_reference",
    "id_column", "item_column", "fingerprint",
    "transactions", "items", "released_items", "suppressed_items", "suppressed_occurrences", "lm_total", "lm", "ncp",
    "ul", "ul_log2", "ggd",
    "verified", "violations", "created", "user_name", "version", "status",
]  # fmt: skip


def test_what_is_recorded_comes_back(owner: Engine) -> None:
    assert entries(owner, "shop") == [] and find(owner, "shop", "spring") is None
    bare = dataclasses.replace(
        ENTRY, name="bare", release_id="10", fingerprint=None, lm_total=None, lm=None, ncp=None,
        created=ENTRY.created + timedelta(seconds=1),
    )  # fmt: skip
    with owner.transaction():
        record(owner, "shop", ENTRY)
        record(owner, "shop", bare)
    assert entries(owner, "shop") == [ENTRY, bare]
    assert find(owner, "shop", "SPRING") == ENTRY
    assert abs(ENTRY.created - datetime.now(UTC).replace(tzinfo=None)) < timedelta(hours=1)
    assert ENTRY.user_name
    found = rows(owner, "SELECT column_name FROM duckdb_columns() WHERE schema_name = 'anondb' AND table_name = 'releases'")
    assert [r[0] for r in found] == COLUMNS
    assert rows(owner, "SELECT DISTINCT typeof(created), typeof(verified), typeof(lm) FROM anondb.releases") == [
        ("TIMESTAMP", "BOOLEAN", "DOUBLE")
    ]
    assert rows(owner, "SELECT parameters FROM anondb.releases WHERE name = 'spring'") == [('{"k": 5, "m": "inf"}',)]


def test_decisions(owner: Engine) -> None:
    decisions = [
        Decision(1, "specialize", "Food 'x'\n", None, Fraction(7, 3)),
        Decision(2, "suppress", "", 3, Fraction(2**80, 3), 2),
    ]
    with owner.transaction():
        record(owner, "shop", ENTRY, decisions)
    assert DECISIONS.rows(owner, "shop", "0f") == [
        {"step": 1, "round": 1, "action": "specialize", "subject": "Food 'x'\n", "support": None, "cost": "7/3"},
        {"step": 2, "round": 2, "action": "suppress", "subject": "", "support": 3, "cost": f"{2**80}/3"},
    ]
    assert DECISIONS.rows(owner, "shop", "other") == []


def test_a_name_used_again_drops_the_older_entry(owner: Engine) -> None:
    later = dataclasses.replace(ENTRY, name="Spring", release_id="11", created=ENTRY.created + timedelta(seconds=1))
    with owner.transaction():
        record(owner, "shop", ENTRY)
        record(owner, "shop", later)
    assert [e.status for e in entries(owner, "shop")] == ["dropped", "present"]
    assert find(owner, "shop", "spring") == later
    with owner.transaction():
        mark_dropped(owner, "shop", "spring")
        mark_dropped(owner, "shop", "never was")
    assert [e.status for e in entries(owner, "shop")] == ["dropped", "dropped"]


def test_dropping_a_release(owner: Engine) -> None:
    release = frozen(owner)
    with owner.transaction():
        record(owner, "shop", dataclasses.replace(ENTRY, release_id=release.release_id))
    with owner.transaction():
        drop_release(owner, "shop", "SPRING")
    assert rows(owner, "SELECT count(*) FROM duckdb_schemas() WHERE schema_name ILIKE 'release_%'") == [(0,)]
    assert [e.status for e in entries(owner, "shop")] == ["dropped"]
    with pytest.raises(InputError) as caught, owner.transaction():
        drop_release(owner, "shop", "spring")
    assert caught.value.code == "no_such_release"


def test_an_error_takes_the_ledger_back(owner: Engine) -> None:
    with pytest.raises(ZeroDivisionError), owner.transaction():
        record(owner, "shop", ENTRY, [Decision(1, "merge", "x", 1, Fraction(1))])
        raise ZeroDivisionError
    assert rows(owner, "SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'anondb'") == [(0,)]


def test_a_database_called_like_the_ledger_and_reading_only(tmp_path: Path) -> None:
    engine = DuckDBEngine.open(tmp_path / "anondb.duckdb")
    with engine.transaction():
        record(engine, "anondb", ENTRY)
    with engine.transaction():
        mark_dropped(engine, "anondb", "spring")
    engine.close()
    reader = DuckDBEngine.open(tmp_path / "anondb.duckdb", read_only=True)
    assert [e.status for e in entries(reader, "anondb")] == ["dropped"]
    reader.close()
