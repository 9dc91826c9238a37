"""Publishing in the process that verified: the sealed rows are compared with the verified ones, else verified themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from portions import some
from release.cases import frozen

import anondb
from anondb.engine import Engine, reads
from anondb.errors import InternalError, VerificationFailed
from anondb.publications import publish as publications
from anondb.publications.sealed import verify_file
from anondb.release import publish as publishing
from anondb.release.objects import GLOBAL
from anondb.release.row_sums import row_sums

SALES = "SELECT t AS tid, 'p' || (t * (n + 3)) % 7 AS item FROM range(140) r(t), range(2) s(n)"
EXPOSED = "INSERT INTO release_r.transaction_items SELECT 1, item_id, 1 FROM release_r.labels WHERE item_id NOT IN \
(SELECT item_id FROM release_r.transaction_items WHERE transaction_id = 1) LIMIT 1"
TIGHTENED = "UPDATE release_r.item_supports SET at_most = 1"
HIDDEN = "DELETE FROM release_r.transaction_items WHERE transaction_id = 1"
OPTIONS: dict[str, dict[str, Any]] = {
    "km": {},
    "supports": {"item_supports": True},
    "anatomy": {"model": anondb.Anatomy("3/2"), "columns": 2, "empty_values": "ignore"},
    "kkm": {"model": anondb.KkmAnonymity(5, 2), "records": "persons", "quasi_identifiers": ["age"], "delta": 0.9},
}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[anondb.Database]:
    with anondb.connect(tmp_path / "shop.duckdb") as database:
        database.sql(f"CREATE TABLE sales AS {SALES}")
        database.sql("CREATE TABLE persons AS SELECT t AS tid, 20 + t % 40 AS age FROM range(140) r(t)")
        yield database


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The schemas that publishing verified."""
    seen: list[str] = []
    verify = publications.verify_release

    def noting(engine: Any, schema: Any, *more: Any, **options: Any) -> Any:
        seen.append(schema.name)
        return verify(engine, schema, *more, **options)

    monkeypatch.setattr(publications, "verify_release", noting)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("options", some(OPTIONS, "supports", "anatomy", check=()))
def test_the_same_rows_are_verified_once(
    database: anondb.Database, tmp_path: Path, verified: list[str], options: str
) -> None:
    file = tmp_path / "r.duckdb"
    release = database.anonymize("sales", name="r", queries=2, publish=file, **OPTIONS[options])
    assert verified == [] and verify_file(file).verification.verified
    assert release.report is not None and release.report.content_digest == verify_file(file).content_digest
    database.release("r").publish(tmp_path / "later.duckdb", allow_overlap=True)
    assert verified == ["main"]  # nobody remembers what the rows were


@pytest.mark.slow
def test_a_view_is_verified_once(database: anondb.Database, tmp_path: Path, verified: list[str]) -> None:
    file = tmp_path / "r.duckdb"
    database.sql(f"CREATE ANONYMIZED VIEW r AS SELECT tid, item FROM sales WITH (publish = '{file}', allow_overlap = true)")
    database.sql("INSERT INTO sales SELECT 1000 + tid, item FROM sales WHERE tid < 70")
    database.sql("REFRESH ANONYMIZED VIEW r")
    assert verified == [] and verify_file(file).verification.verified
    file.unlink()
    database.sql("REFRESH ANONYMIZED VIEW r")
    assert verified == ["main"] and verify_file(file).verification.verified


@pytest.mark.slow
@pytest.mark.parametrize("change", [EXPOSED, TIGHTENED, HIDDEN])
def test_rows_that_were_changed_are_verified_again(
    database: anondb.Database, tmp_path: Path, verified: list[str], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody edits the release between its verification and its publication."""
    file, publish = tmp_path / "r.duckdb", publications.publish_release

    def edited(engine: Any, *more: Any, **options: Any) -> Any:
        engine.connection.execute(change)
        return publish(engine, *more, **options)

    monkeypatch.setattr("anondb.api.release.publish_release", edited)
    options: dict[str, Any] = {"item_supports": True, "model": anondb.KmAnonymity(30, 2), "max_suppression": 100}
    options = options if change == TIGHTENED else {}
    make = partial(database.anonymize, "sales", name="r", queries=2, publish=file, **options)
    if change != HIDDEN:
        with pytest.raises(VerificationFailed):
            make()
        assert not file.exists()
    else:
        make()
        assert verify_file(file).verification.verified
    assert verified == ["main"]


def test_rows_that_were_changed_on_the_way_are_refused(
    database: anondb.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many rows, and one of them differs; the verifier would accept them."""
    whole = publishing.hand_over_table

    def changing(engine: Engine, rows: Any, file: Path) -> None:
        if file.stem == "released_items":
            columns = "released_item, upper(item) AS item"
            rows = reads.rows(rows, columns, order="released_item, item")
        whole(engine, rows, file)

    monkeypatch.setattr(publishing, "hand_over_table", changing)
    with pytest.raises(InternalError, match="differ from the verified ones"):
        database.anonymize("sales", name="r", queries=2, publish=tmp_path / "r.duckdb")
    assert not (tmp_path / "r.duckdb").exists()


def test_sums_tell_rows_apart(owner: Engine) -> None:
    """Whatever the order of the rows, and only under one salt."""
    release = frozen(owner)
    schema, items = release.schema, release.schema.table("transaction_items").expression().sql("duckdb")
    with owner.transaction():
        before = row_sums(owner, schema, GLOBAL)
        assert before.salt != row_sums(owner, schema, GLOBAL).salt and before.salt not in repr(before)
        assert row_sums(owner, schema, GLOBAL, before.salt) == before != row_sums(owner, schema, GLOBAL, "other")
        assert before.counts()["transaction_items"] == release.rows
    connection = owner.connection  # type: ignore[attr-defined]
    found = {tuple(sorted(before.tables.items()))}
    for change in (
        "SET copies = copies + 1 WHERE item_id = 1",
        "SET transaction_id = transaction_id + 1 WHERE item_id = 1",
        "SET item_id = 3 - item_id WHERE item_id < 3",
    ):
        connection.execute(f"UPDATE {items} {change}")
        with owner.transaction():
            found.add(tuple(sorted(row_sums(owner, schema, GLOBAL, before.salt).tables.items())))
    assert len(found) == 4


def test_numbers_that_are_not_one_for_each(owner: Engine) -> None:
    """Two transactions under one number, or one without a number: then the sealed rows are verified."""
    release = frozen(owner)
    with owner.transaction():
        sums, tids = row_sums(owner, release.schema, GLOBAL), list(range(1, release.transactions + 1))
        for numbers, good in ((tids[::-1], True), ([1, *tids[:-1]], False), (tids[:-1], False)):
            columns = {"tid": ("INTEGER", tids[: len(numbers)]), "transaction_id": ("INTEGER", numbers)}
            numbered = owner.put("numbered", columns)
            expected = publishing._expected(owner, release.schema, GLOBAL, numbered, sums)
            assert (expected is not None) is good
            owner.drop(numbered)
