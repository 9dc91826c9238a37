"""Sealed files that are cut, changed, or whose rows contradict each other: an error says so, never a KeyError."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pytest
from portions import portions, some
from release.signed import said

import anondb
from anondb.errors import AnondbError, DamagedFile, InternalError

FORGED = {
    "no labels": ("supports", "DELETE FROM labels"),
    "a label less": ("supports", "DELETE FROM labels WHERE item_id = 1"),
    "a label that is NULL": ("supports", "UPDATE labels SET item = NULL WHERE item_id = 1"),
    "a label under no number": ("supports", "UPDATE labels SET item_id = NULL WHERE item_id = 1"),
    "numbers of labels from 0": ("supports", "UPDATE labels SET item_id = item_id - 1"),
    "a far number of a label": ("supports", "UPDATE labels SET item_id = 2147483647 WHERE item_id = 1"),
    "numbers above the transactions": ("supports", "UPDATE transaction_items SET transaction_id = transaction_id + 1000"),
    "a far number": ("supports", "UPDATE transaction_items SET transaction_id = 2147483647 WHERE transaction_id < 9"),
    "numbers below 1": ("supports", "UPDATE transaction_items SET transaction_id = -transaction_id"),
    "numbers that are NULL": ("supports", "UPDATE transaction_items SET transaction_id = NULL WHERE transaction_id < 9"),
    "items that are NULL": ("supports", "UPDATE transaction_items SET item_id = NULL WHERE transaction_id < 9"),
    "items without a label": ("supports", "UPDATE transaction_items SET item_id = 1000 WHERE transaction_id < 9"),
    "negative items": ("supports", "UPDATE transaction_items SET item_id = -1 WHERE transaction_id < 9"),
    "no transactions": ("supports", "DELETE FROM transaction_ids"),
    "twice the transactions": ("supports", "INSERT INTO transaction_ids SELECT transaction_id + 120, complete"
                               " FROM transaction_ids"),
    "fewer transactions than rows": ("supports", "UPDATE manifest SET value = '3' WHERE key = 'transactions'"),
    "no transaction at all": ("supports", "UPDATE manifest SET value = '0' WHERE key = 'transactions'"),
    "too many transactions": ("supports", f"UPDATE manifest SET value = '{'9' * 18}' WHERE key = 'transactions'"),
    "no members": ("supports", "DELETE FROM released_items"),
    "members that are NULL": ("supports", "UPDATE released_items SET item = NULL"),
    "a released item that is NULL": ("supports", "UPDATE released_items SET released_item = NULL"),
    "all members of all": ("supports", "INSERT INTO released_items SELECT a.released_item, b.item FROM released_items a,"
                           " released_items b WHERE a.released_item <> b.released_item"),
    "supports that are NULL": ("supports", "UPDATE item_supports SET at_least = NULL, at_most = NULL, weight = NULL"),
    "endless supports": ("supports", "UPDATE item_supports SET at_least = -1, at_most = 9223372036854775807,"
                         " weight = 'inf'"),
    "supports turned round": ("supports", "UPDATE item_supports SET at_least = 500, at_most = 2, weight = 'nan'"),
    "supports of nobody": ("supports", "INSERT INTO item_supports VALUES ('ghost', 'ghost', 1, 2, 0)"),
    "bags of sets": ("supports", "UPDATE manifest SET value = 'atomic' WHERE key = 'semantics'"),
    "many copies": ("supports", "UPDATE transaction_items SET copies = 2147483647"),
    "k that is no number": ("supports", "UPDATE manifest SET value = 'x' WHERE key = 'k'"),
    "another model": ("supports", "UPDATE manifest SET value = 'klm' WHERE key = 'model'"),
    "no table": ("supports", "UPDATE manifest SET value = '' WHERE key = 'table'"),
    "one name for all": ("supports", "UPDATE manifest SET value = 'x' WHERE key IN ('id_column', 'item_column', 'table')"),
    "no records": ("kkm", "DELETE FROM records"),
    "records of nobody": ("kkm", "UPDATE records SET transaction_id = transaction_id + 1000"),
    "records twice": ("kkm", "INSERT INTO records FROM records"),
    "ends that are NULL": ("kkm", "UPDATE records SET age_lo = NULL WHERE transaction_id < 9"),
    "ends turned round": ("kkm", "UPDATE records SET age_lo = age_hi + 5"),
    "far ends": ("kkm", "UPDATE records SET age_lo = -9223372036854775808, age_hi = 9223372036854775807"),
    "unknown categories": ("kkm", "UPDATE records SET colour = 'ghost' WHERE transaction_id < 9"),
    "no values": ("kkm", "DELETE FROM released_values"),
    "values of no attribute": ("kkm", "UPDATE released_values SET attribute = NULL"),
    "sensitive numbers": ("kkm", "UPDATE manifest SET value = '[1, null]' WHERE key = 'sensitive'"),
    "no buckets": ("anatomy", "DELETE FROM buckets"),
    "values that are NULL": ("anatomy", "UPDATE buckets SET items = [NULL]::VARCHAR[] WHERE bucket_id < 9"),
    "a bucket that is NULL": ("anatomy", "UPDATE buckets SET bucket_id = NULL WHERE bucket_id < 9"),
    "values of nothing": ("anatomy", "UPDATE buckets SET items = ['ghost'] WHERE bucket_id < 9"),
    "a column more": ("anatomy", "UPDATE buckets SET column_id = 99 WHERE bucket_id < 9"),
    "a column less": ("anatomy", "DELETE FROM buckets WHERE column_id = 1 AND bucket_id < 9"),
    "no copies": ("anatomy", "UPDATE buckets SET copies = 0 WHERE bucket_id < 9"),
    "copies that are NULL": ("anatomy", "UPDATE buckets SET copies = NULL WHERE bucket_id < 9"),
    "buckets of bags": ("anatomy", "UPDATE manifest SET value = 'atomic' WHERE key = 'semantics'"),
}  # fmt: skip


QUESTIONS = (
    "SELECT item, count(*) AS n FROM sales GROUP BY item",
    "SELECT count(DISTINCT tid) FROM sales WHERE item IN ('i3', 'i4')",
    "SELECT count(*) FROM (SELECT tid FROM sales WHERE item = 'i3' INTERSECT SELECT tid FROM sales WHERE item = 'i4')",
    "SELECT avg(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)",
    "SELECT * FROM item_counts",
    "SELECT colour, count(*) FROM people GROUP BY colour",
    "SELECT avg(age), max(age) FROM people WHERE age BETWEEN 20 AND 30",
)


def ask(path: Path, questions: Sequence[str] = QUESTIONS) -> None:
    """Ask a session everything; each question may be refused, as may the file, but neither is a bug of anondb."""
    with anondb.open(path) as session:
        for question in questions:
            try:
                session.sql(question).fetchall()
            except InternalError:
                raise
            except AnondbError:
                pass


@pytest.mark.slow
@pytest.mark.parametrize("what", some(FORGED, *list(FORGED)[::18], "buckets of bags", check=list(FORGED)[5::24]))
def test_rows_that_contradict_each_other(sealed_kind: Callable[[str], Path], tmp_path: Path, what: str) -> None:
    kind, sql = FORGED[what]
    place = Path(shutil.copy(sealed_kind(kind), tmp_path / "forged.duckdb"))
    with duckdb.connect(str(place)) as writer:
        writer.execute(sql)
    for call in (lambda: ask(place), lambda: anondb.verify_file(place)):
        try:
            call()
        except AnondbError as error:
            assert error.exit_code in (2, 4), what
    for words in (["inspect", str(place)], ["query", str(place), QUESTIONS[1]]):
        assert said(words) in ((4,) if words[0] == "inspect" else (0, 2, 4)), what


@pytest.mark.slow
def test_forgeries_that_ended_in_bugs_are_told(sealed_kind: Callable[[str], Path], tmp_path: Path) -> None:
    for what, question in (("no labels", QUESTIONS[3]), ("a column more", QUESTIONS[1])):
        kind, sql = FORGED[what]
        place = Path(shutil.copy(sealed_kind(kind), tmp_path / "forged.duckdb"))
        with duckdb.connect(str(place)) as writer:
            writer.execute(sql)
        with pytest.raises(DamagedFile, match=r"'forged\.duckdb' contradict each other"), anondb.open(place) as session:
            session.sql(question).fetchall()


def damaged(content: bytes, rng: random.Random) -> bytes:
    """A file that is cut, or in which bits have changed, behind the first words that say what it is."""
    if rng.random() < 0.4:
        return content[: rng.randrange(12_300, len(content))]
    changed = bytearray(content)
    for _ in range(rng.choice((1, 3, 50))):
        changed[rng.randrange(12_288, len(content))] ^= 1 << rng.randrange(8)
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(3, night=60))
def test_damaged_files_have_exit_code_4(sealed_kind: Callable[[str], Path], tmp_path: Path, seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        place = tmp_path / "damaged.duckdb"
        place.write_bytes(damaged(sealed_kind(rng.choice(("anatomy", "kkm", "supports"))).read_bytes(), rng))
        assert said(["inspect", str(place)]) == 4 and said(["verify", str(place)]) in (0, 4), seed
        try:
            ask(place)
        except AnondbError as error:
            assert error.exit_code == 4, seed


@pytest.mark.slow
def test_a_damaged_file_is_told(sealed_kind: Callable[[str], Path], tmp_path: Path) -> None:
    content = sealed_kind("supports").read_bytes()
    for number, part in enumerate((content[: len(content) // 2], content[:300_000] + b"\xff" * 9 + content[300_009:])):
        place = tmp_path / f"{number}.duckdb"
        place.write_bytes(part)
        with pytest.raises(DamagedFile) as caught:
            anondb.verify_file(place)
        assert caught.value.code == "damaged" and caught.value.exit_code == 4
