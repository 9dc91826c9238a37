"""Texts that somebody hides in a release: the leak check finds all of them but those that docs/promise.md names."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from portions import some

from anondb.release import inspect as inspect_module
from anondb.release.findings import content_findings
from anondb.release.inspect import inspect
from anondb.release.reader import sealed_release

SAY = "UPDATE manifest SET value = {} WHERE key = '{}'"
SECRET = "milk-Ada-1815"


def said(key: str, value: str) -> str:
    """The statement that makes a value of the manifest another text, as an expression of the old one."""
    return SAY.format(value, key)


SUPPORTS = {
    "digits behind the ninth": "UPDATE item_supports SET weight = weight * (1 + 3e-12)",
    "the next number": "UPDATE item_supports SET weight = nextafter(weight, 2::DOUBLE)",
    "another ninth digit": "UPDATE item_supports SET weight = weight + 4e-8",
    "a weight that is no number": "UPDATE item_supports SET weight = 'nan'",
    "an endless weight": "UPDATE item_supports SET weight = 'inf'",
    "a weight below zero": "UPDATE item_supports SET weight = -weight - 1",
    "a zero with a sign": "UPDATE item_supports SET weight = '-0.0'",
    "a tiny weight": "UPDATE item_supports SET weight = 5e-324",
    "a weight above one": "UPDATE item_supports SET weight = 1.5",
    "one weight of all": "UPDATE item_supports SET weight = 0.123456789 WHERE item = (SELECT min(item) FROM item_supports)",
    "no weight": "UPDATE item_supports SET weight = NULL",
    "no bound": "UPDATE item_supports SET at_most = NULL",
    "supports of nobody": f"INSERT INTO item_supports VALUES ('{SECRET}', 'x', 1, 2, 0)",
    "supports twice": "INSERT INTO item_supports FROM item_supports LIMIT 1",
    "an item column that is the id": said("item_column", "'TID'")
    + "; "
    + said("types", "replace(value, '\"item\"', '\"TID\"')"),
    "a word behind the version": said("version", f"value || ' {SECRET}'"),
    "a local version": said("version", "value || '+milk.ada'"),
    "a long version": said("version", "value || '.77.105.108.107'"),
    "a large number in the version": said("version", "'0.2.20260131'"),
    "other digits in the version": said("version", "'\u0660.\u0662.\u0660'"),
    "zeros in the version": said("version", "'0.03.0'"),
    "no version": said("version", "''"),
    "a key more": f"INSERT INTO manifest VALUES ('note', '{SECRET}')",
    "a key in capitals": "INSERT INTO manifest VALUES ('K', '5')",
    "no key": f"INSERT INTO manifest VALUES (NULL, '{SECRET}')",
    "a key twice": f"INSERT INTO manifest VALUES ('table', '{SECRET}')",
    "a short number of the release": said("release_id", "'ada1815'"),
    "capitals in k": said("m", "'INF'"),
    "a blank behind k": said("k", "value || ' '"),
    "a sign before k": said("k", "'+' || value"),
    "a point in k": said("k", "value || '.0'"),
    "a zero before m": said("m", "'0' || value"),
    "m as a fraction": said("m", "value || '/1'"),
    "zeros before N": said("transactions", "'000' || value"),
    "capitals in semantics": said("semantics", "upper(value)"),
    "a blank behind suppression": said("suppression", "value || ' '"),
    "another word for item supports": said("item_supports", "'yes'"),
    "a blank behind the model": said("model", "value || ' '"),
    "a long name": said("table", f"repeat('{SECRET}', 20)"),
    "a line feed in a name": said("table", f"'sales' || chr(10) || '{SECRET}'"),
    "letters without width": said("id_column", "'tid' || chr(8203) || chr(8204)"),
    "letters from right to left": said("item_column", "chr(8238) || 'meti'"),
    "a zero byte in a name": said("table", "'sales' || chr(0)"),
    "no name": said("item_column", "''"),
    "blanks in the partition": "INSERT INTO manifest VALUES ('partition', '{ \"week\":  \"1\" }')",
    "two partitions": 'INSERT INTO manifest VALUES (\'partition\', \'{"week": "1", "note": "x"}\')',
    "another model, which has no supports": said("model", "'hkp'") + "; DELETE FROM manifest WHERE key = 'm';"
    " INSERT INTO manifest VALUES ('h', '1/2'), ('p', '2')",
    "a number as the partition": "INSERT INTO manifest VALUES ('partition', '{\"week\": 1}')",
    "a long partition": "INSERT INTO manifest VALUES ('partition', '{\"week\": \"' || repeat('1', 300) || '\"}')",
    "a partition that does not print": "INSERT INTO manifest VALUES ('partition', '{\"week\": \"1' || chr(8203) || '\"}')",
    "words for a signature": f"INSERT INTO manifest VALUES ('signature', '{SECRET}')",
    "a signature of nobody": "INSERT INTO manifest VALUES ('signature', 'ed25519:' || repeat('5a', 32) || ':' ||"
    " repeat('5a', 64))",
    "a signature in capitals": "INSERT INTO manifest VALUES ('signature', upper('ed25519:' || repeat('5a', 32) || ':' ||"
    " repeat('5a', 64)))",
    "a label without rows": f"INSERT INTO labels SELECT max(item_id) + 1, 'zz {SECRET}' FROM labels",
    "members of nothing": f"INSERT INTO released_items VALUES ('{SECRET}', 'x')",
    "copies in a release of sets": "UPDATE transaction_items SET copies = 77 WHERE transaction_id = 7",
    "a number beyond the last": "UPDATE transaction_items SET transaction_id = 1815 WHERE transaction_id = 7",
    "complete is not said": "UPDATE transaction_ids SET complete = NULL",
}
RECORDS = {
    "blanks in the list": said("sensitive", "'[ ]'"),
    "another order of the list": said("sensitive", '\'["i1", "i0"]\''),
    "an item of the list twice": said("sensitive", '\'["i0", "i0"]\''),
    "letters as numbers in the list": said("sensitive", "'[\"\\u0069\"]'"),
    "a list in a list": said("sensitive", "'[[\"i0\"]]'"),
    "a range in other words": "UPDATE records SET age = replace(age, ':', ' to ')",
    "a zero in a range": "UPDATE records SET age = replace(age, '[', '[0')",
    "a category that nothing stands for": f"UPDATE records SET colour = '{SECRET}' WHERE transaction_id = 7",
    "a value of no category": f"INSERT INTO released_values VALUES ('colour', '{SECRET}', 'x')",
    "a value twice": "INSERT INTO released_values FROM released_values LIMIT 1",
    "supports that there are not": "INSERT INTO manifest VALUES ('item_supports', 'true')",
    "a long name of the records": said("records_table", f"repeat('{SECRET}', 20)"),
}
ANATOMY = {
    "l that is not reduced": said("l", "'6/4'"),
    "l as a decimal": said("l", "'1.5'"),
    "other words for empty values": said("empty_values", "'Ignore'"),
    "a bucket number of a year": "UPDATE buckets SET bucket_id = 1815 WHERE bucket_id = 2",
    "a value of another column": "UPDATE buckets SET column_id = 1815 WHERE bucket_id = 2",
    "other numbers of the columns": "UPDATE buckets SET column_id = column_id + 76",
    "more persons than the buckets": said("transactions", "'1815'"),
    "a value that stands for another": f"UPDATE released_items SET item = '{SECRET}' WHERE item = 'i3'",
}
PLANTS = {
    **{what: ("supports", sql) for what, sql in SUPPORTS.items()},
    **{what: ("klm", sql) for what, sql in RECORDS.items()},
    **{what: ("anatomy", sql) for what, sql in ANATOMY.items()},
}
# docs/promise.md names these: what they hold is the owner's to say.
NAMED = {
    "the name of a table": ("supports", said("table", f"'{SECRET}'")),
    "the name of a column": ("supports", said("id_column", f"'{SECRET}'") + "; "
                             + said("types", f"replace(value, '\"tid\"', '\"{SECRET}\"')")),
    "the label of an item": ("supports", "UPDATE released_items SET item = item || ' of Ada' WHERE item <> released_item"
                             " AND item = (SELECT max(item) FROM released_items WHERE item <> released_item);"
                             " UPDATE item_supports SET item = item || ' of Ada' WHERE item = (SELECT max(item) FROM"
                             " item_supports)"),
    "the number of the release": ("supports", said("release_id", "repeat('ada1815f', 4)")),
    "the value of a partition": ("supports", "INSERT INTO manifest VALUES ('partition', '{\"week\": \"of Ada\"}');"
                                 + said("types", "rtrim(value, '}') || ', \"week\": \"VARCHAR\"}'")),
    "a sensitive item": ("klm", said("sensitive", "'[\"of Ada\"]'")),
}  # fmt: skip


def planted(sealed_kind: Callable[[str], Path], to: Path, kind: str, sql: str) -> Path:
    """A copy of a release with something in it."""
    place = Path(shutil.copy(sealed_kind(kind), to / "planted.duckdb"))
    with duckdb.connect(str(place)) as writer:
        before = {t: writer.execute(f"FROM {t}").fetchall() for t in TABLES[kind]}
        writer.execute(sql)
        assert before != {t: writer.execute(f"FROM {t}").fetchall() for t in TABLES[kind]}, "nothing was planted"
        writer.execute("CHECKPOINT")
    return place


_ROWS = ("transaction_items", "transaction_ids", "labels")
TABLES = {
    "supports": ("manifest", "released_items", "item_supports", *_ROWS),
    "klm": ("manifest", "released_items", "records", "released_values", *_ROWS),
    "anatomy": ("manifest", "released_items", "buckets"),
}


@pytest.mark.slow
def test_the_releases_have_room_for_all_of_it(sealed_kind: Callable[[str], Path]) -> None:
    for kind in TABLES:
        with sealed_release(sealed_kind(kind)) as sealed:
            assert not content_findings(sealed.engine, sealed.schema, sealed.kind), kind
            if kind == "supports":
                rows = sealed.engine.connection.execute("SELECT count(*), count(*) FILTER (weight > 0) FROM item_supports")
                assert min(rows.fetchall()[0]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("what", some(PLANTS, *list(PLANTS)[::12]))
def test_what_is_planted_is_found(
    sealed_kind: Callable[[str], Path], tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a look at the rows, not at the bytes, which any change in place shows."""
    monkeypatch.setattr(inspect_module, "_rebuild", lambda *_: ("not compared", []))
    found = inspect(planted(sealed_kind, tmp_path, *PLANTS[what]))
    assert {f.check for f in found.findings} & {"rows", "catalog", "signature"}, what
    assert SECRET not in str([f.what for f in found.findings])


@pytest.mark.parametrize("what", some(NAMED, "the name of a table"))
def test_what_the_docs_name_is_the_owners(sealed_kind: Callable[[str], Path], tmp_path: Path, what: str) -> None:
    kind, sql = NAMED[what]
    place = planted(sealed_kind, tmp_path, kind, sql)
    if what == "the number of the release":  # macros hold it, too
        assert not inspect(place).clean
        return
    with sealed_release(place) as sealed:
        assert not content_findings(sealed.engine, sealed.schema, sealed.kind)


def test_there_are_enough_of_them() -> None:
    assert len(PLANTS) >= 60
