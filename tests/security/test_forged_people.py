"""Rows of people that contradict each other or the manifest are findings, and honest releases near them are not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from security.test_forged_rows import ask

import anondb
from anondb.release.findings import content_findings
from anondb.release.reader import sealed_release

QUESTIONS = (
    "SELECT ward, count(*) FROM people GROUP BY ward",
    "SELECT item, count(*) FROM stays GROUP BY item",
    "SELECT count(*) FROM people WHERE age > 30",
    "SELECT max(age), min(seen) FROM people",
)


def found_in(path: Path) -> list[str]:
    """What the rows of a sealed file contradict."""
    with sealed_release(path) as one:
        return [finding.what for finding in content_findings(one.engine, one.schema, one.kind)]


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People with a ward, an age that some lack, and a day, whose items are whole numbers.

    The trees of wards and items are files, with a leaf that is no number: no item and no ward can be so.
    """
    place = tmp_path_factory.mktemp("people")
    tree = place / "tree.tree"
    tree.write_text("".join(f"{n};{'low' if n < 3 else 'high'};all\n" for n in range(6)) + "other;high;all\n")
    with anondb.connect() as db:
        db.sql("CREATE TABLE stays AS SELECT DISTINCT t AS tid, CAST(t * (n + 1) % 6 AS INTEGER) AS item"
               " FROM range(60) r(t), range(2) s(n)")  # fmt: skip
        db.sql("CREATE TABLE people AS SELECT t AS tid, CAST(t % 6 AS INTEGER) AS ward, DATE '2025-01-01' + CAST(t % 20 AS"
               " INTEGER) AS seen, CASE WHEN t % 11 > 0 THEN 20 + t % 30 END AS age FROM range(60) r(t)")  # fmt: skip
        release = db.anonymize(
            "stays",
            name="spring",
            model=anondb.KkmAnonymity(10, 1),
            taxonomy=tree,
            records="people",
            quasi_identifiers="ward,age,seen",
            delta=1,
            hierarchies={"ward": tree},
            queries=0,
            publish=place / "spring.duckdb",
        )
        assert any("1 leaves of the taxonomy" in words for words in release.report.warnings)
    return place / "spring.duckdb"


@pytest.mark.slow
def test_leaves_that_no_column_holds_are_no_members(sealed: Path) -> None:
    assert found_in(sealed) == []
    with anondb.open(sealed) as session:
        for question in QUESTIONS:
            assert session.sql(question).fetchall()
    with duckdb.connect(str(sealed), read_only=True) as reader:
        listed = "SELECT item FROM released_items UNION ALL SELECT value FROM released_values"
        assert {*map(str, range(6))} == {text for (text,) in reader.sql(listed).fetchall()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "types, sql, what",
    [
        ({"ward": "DATE"}, "", "values of another type"),
        ({"item": "BOOLEAN"}, "", "values of another type"),
        ({"age": "DATE"}, "", "1 ranges of another type"),
        ({"seen": "BIGINT"}, "", "1 ranges of another type"),
        ({"seen": "VARCHAR"}, "", "1 ranges of another type"),
        ({}, "UPDATE released_values SET value = '01' WHERE value = '1'", "values of another type"),
        ({}, "UPDATE records SET age_lo = 50, age_hi = 20, age = '[50:20]'", "60 ranges without a value"),
        ({}, "UPDATE records SET age_lo = NULL, age_hi = NULL, age = NULL, age_null = false", "60 ranges without a value"),
        ({}, "UPDATE records SET age_null = NULL WHERE transaction_id = 1", "1 ranges without a value"),
    ],
)
def test_forged_people_are_found(sealed: Path, tmp_path: Path, types: dict[str, str], sql: str, what: str) -> None:
    forged = Path(shutil.copy(sealed, tmp_path / "forged.duckdb"))
    with duckdb.connect(str(forged)) as writer:
        ((text,),) = writer.sql("SELECT value FROM manifest WHERE key = 'types'").fetchall()
        stated = json.dumps({**json.loads(text), **types}, sort_keys=True)
        writer.execute("UPDATE manifest SET value = ? WHERE key = 'types'", [stated])
        writer.execute(sql or "SELECT 1")
    assert any(what in finding for finding in found_in(forged))
    if not types:
        return
    ask(forged, QUESTIONS[:2])


@pytest.mark.slow
def test_equal_ranges_with_and_without_null_are_two_classes(tmp_path: Path) -> None:
    """One of them has lost an item, the other is complete: the rows do not contradict each other."""
    with anondb.connect() as db:
        db.sql("CREATE TABLE people AS FROM (VALUES (0, 1), (1, 2), (2, 1), (3, 2), (4, NULL)) rows(tid, age)")
        db.sql("CREATE TABLE stays AS FROM (VALUES (1, 'y'), (2, 'x'), (3, 'x'), (4, 'x')) rows(tid, item)")
        db.anonymize(
            "stays",
            name="spring",
            model=anondb.KkmAnonymity(2, 1),
            records="people",
            quasi_identifiers="age",
            algorithm="tfirst",
            max_suppression=100,
            publish=tmp_path / "spring.duckdb",
        )
    with duckdb.connect(str(tmp_path / "spring.duckdb"), read_only=True) as reader:
        classes = "SELECT DISTINCT age, age_null, complete FROM records JOIN transaction_ids USING (transaction_id)"
        assert sorted(reader.sql(classes).fetchall()) == [("[1:2]", False, False), ("[1:2]", True, True)]
    assert found_in(tmp_path / "spring.duckdb") == []
