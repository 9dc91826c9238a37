"""The leak check: it passes what anondb publishes, and finds whatever was added, changed or left behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest
from release.cases import frozen

import anondb
from anondb.engine import Engine
from anondb.errors import AnondbError, InputError
from anondb.release.inspect import inspect
from anondb.release.publish import publish


@pytest.fixture
def sealed(owner: Engine, tmp_path: Path) -> Path:
    labels = [[f"only{i}", "apple"] for i in range(40)] + [["apple", "pear"]] * 40
    blocks = {"Fruit": ["apple", "pear"], "Other": [f"only{i}" for i in range(40)]}
    return publish(owner, frozen(owner, labels, blocks).schema, tmp_path / "spring.duckdb").path


def test_a_published_file_is_clean(sealed: Path) -> None:
    before = sealed.read_bytes()
    found = inspect(sealed)
    assert found.clean and found.findings == () and found.manifest["model"] == "km"
    assert "identical to a rebuilt file" in found.figures["bytes"]
    assert found.to_json()["clean"] and sealed.read_bytes() == before


CHANGES = {
    "a table": "CREATE TABLE extra AS SELECT 1 AS x",
    "a view": "CREATE VIEW extra AS SELECT 1 AS x",
    "a schema": "CREATE SCHEMA extra",
    "a type": "CREATE TYPE colour AS ENUM ('secret one', 'secret two')",
    "a sequence": "CREATE SEQUENCE numbers",
    "a scalar macro": "CREATE MACRO extra(a) AS a + 1",
    "an index": "CREATE INDEX i ON transactions (item)",
    "a comment on a table": "COMMENT ON TABLE transactions IS 'secret'",
    "a comment on a column": "COMMENT ON COLUMN transactions.item IS 'secret'",
    "a comment on the macro": "COMMENT ON MACRO TABLE count_bounds IS 'secret'",
    "a default": "ALTER TABLE transactions ALTER copies SET DEFAULT 42",
    "a constraint": "ALTER TABLE transactions ALTER item SET NOT NULL",
    "another type": "ALTER TABLE transactions ALTER transaction_id TYPE BIGINT",
    "one more column": "ALTER TABLE transactions ADD COLUMN secret VARCHAR",
    "another macro of the name": "CREATE OR REPLACE MACRO count_bounds(items) AS TABLE"
    " SELECT 0::BIGINT AS lower_bound, 0::DOUBLE AS estimate, 'zero'::BIGINT AS upper_bound",
    "another view of the name": "CREATE OR REPLACE VIEW baskets AS"
    " SELECT transaction_id, ['secret'] AS items FROM transaction_ids",
    "a deleted row": "DELETE FROM transactions WHERE transaction_id = 7",
    "a repeated row": "INSERT INTO transactions SELECT * FROM transactions WHERE transaction_id = 7",
    "a row of nobody": "INSERT INTO transactions VALUES (1000, 'Fruit', 1)",
    "a missing id": "DELETE FROM transaction_ids WHERE transaction_id = 7",
    "an item without members": "INSERT INTO transactions VALUES (80, 'ghost', 1)",
    "members of nothing": "INSERT INTO released_items VALUES ('ghost', 'secret')",
    "a NULL": "INSERT INTO released_items VALUES ('Fruit', NULL)",
    "one more key": "INSERT INTO manifest VALUES ('seed', '42')",
    "another N": "UPDATE manifest SET value = '79' WHERE key = 'transactions'",
    "a changed row": "UPDATE transactions SET item = 'Other' WHERE transaction_id = 7",
    "a dropped table": "CREATE TABLE gone AS SELECT repeat('secret', 100) AS x FROM range(10000); CHECKPOINT;"
    " DROP TABLE gone",
}


@pytest.mark.parametrize("what", CHANGES)
def test_changes_are_found(sealed: Path, what: str) -> None:
    with duckdb.connect(str(sealed)) as writer:
        writer.execute(CHANGES[what])
        writer.execute("CHECKPOINT")
    found = inspect(sealed)
    assert not found.clean
    assert not any("secret" in f.what for f in found.findings if "column" not in f.what)


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A sealed anatomy, and a sealed release with records."""
    place = tmp_path_factory.mktemp("others")
    with duckdb.connect(str(place / "shop.duckdb")) as writer:
        writer.execute(
            "CREATE TABLE sales AS"
            " SELECT t AS tid, 'i' || (t * (n + 3)) % 7 AS item FROM range(400) r(t), range(3) s(n)"
        )
        writer.execute(
            "CREATE TABLE people AS SELECT t AS tid, 20 + t % 40 AS age,"
            " ['red', 'green', 'blue', 'grey'][1 + t % 4] AS colour FROM range(400) r(t)"
        )
    made = {}
    about = {
        "anatomy": {"model": anondb.Anatomy("3/2"), "columns": 2, "empty_values": "ignore"},
        "long numbers": {"model": anondb.HkpCoherence(1 / 3, 2, 1), "sensitive": ["i0"]},  # a denominator of 17 digits
        "records": {
            "model": anondb.KkmAnonymity(5, 2),
            "records": "people",
            "quasi_identifiers": "age,colour",
            "delta": 0.5,
        },
    }
    with anondb.connect(place / "shop.duckdb") as database:
        for name, options in about.items():
            made[name] = place / f"{name}.duckdb"
            database.anonymize("sales", name=name, queries=2, publish=made[name], allow_overlap=True, **options)  # type: ignore[arg-type]
    return made


FLIPPED = "UPDATE manifest SET value = CASE value WHEN 'none' THEN 'some' ELSE 'none' END WHERE key = 'suppression'"
OTHER_CHANGES = {
    "a bucket number out of place": ("anatomy", "UPDATE buckets SET bucket_id = 9999 WHERE bucket_id = 2"),
    "members of nothing here": ("anatomy", "INSERT INTO released_items VALUES ('secret', 'secret')"),
    "an item that stands for another": ("anatomy", "UPDATE released_items SET item = 'secret' WHERE item = 'i3'"),
    "no copies": ("anatomy", "UPDATE buckets SET copies = 0 WHERE bucket_id = 2"),
    "a NULL in a value": ("anatomy", "UPDATE buckets SET items = [NULL]::VARCHAR[] WHERE bucket_id = 2"),
    "a parameter of another model": ("anatomy", "INSERT INTO manifest VALUES ('sensitive', '[]')"),
    "words for a number": ("anatomy", "UPDATE manifest SET value = 'secret' WHERE key = 'l'"),
    "buckets in the order of their items": (
        "anatomy",
        "CREATE TEMP TABLE n AS SELECT bucket_id, row_number() OVER (ORDER BY list(items)::VARCHAR)::INTEGER AS new"
        " FROM buckets GROUP BY bucket_id; UPDATE buckets SET bucket_id = new FROM n WHERE n.bucket_id = buckets.bucket_id",
    ),
    "a value that no record has": ("records", "INSERT INTO released_values VALUES ('colour', 'ghost', 'secret')"),
    "a value that stands for nothing": ("records", "UPDATE records SET colour = 'ghost' WHERE transaction_id = 7"),
    "a record of nobody": (
        "records",
        "INSERT INTO records SELECT * REPLACE (5000 AS transaction_id) FROM records LIMIT 1",
    ),
    "a record twice": ("records", "INSERT INTO records FROM records WHERE transaction_id = 7"),
    "a record too few": ("records", "DELETE FROM records WHERE transaction_id = 7"),
    "another suppression than that of the rows": ("records", FLIPPED),
    "a suppression where there is none": ("anatomy", FLIPPED),
    "another suppression of all": ("long numbers", FLIPPED),
    "words for a list": ("records", "UPDATE manifest SET value = '{\"secret\": 1}' WHERE key = 'sensitive'"),
}


@pytest.mark.parametrize("what", OTHER_CHANGES)
def test_changes_of_other_kinds_are_found(others: dict[str, Path], tmp_path: Path, what: str) -> None:
    """By a look at the rows, not only by the bytes, which show any change that DuckDB makes in place."""
    kind, text = OTHER_CHANGES[what]
    changed = shutil.copy(others[kind], tmp_path / "changed.duckdb")
    with duckdb.connect(str(changed)) as writer:
        writer.execute(text)
        writer.execute("CHECKPOINT")
    found = inspect(changed)
    assert {"rows", "order"} & {f.check for f in found.findings}
    assert not any("secret" in f.what for f in found.findings)


def test_other_kinds_are_clean(others: dict[str, Path]) -> None:
    for path in others.values():
        found = inspect(path)
        assert found.clean, found.findings
        assert "0.0000" not in found.figures["order"].partition(",")[0]


def test_an_order_that_is_not_random_is_found(owner: Engine, sealed: Path, tmp_path: Path) -> None:
    """The rows of a file in another order, written as anondb writes it."""
    with duckdb.connect(str(sealed)) as writer:
        writer.execute(
            "CREATE TEMP TABLE n AS"
            " SELECT transaction_id, row_number() OVER (ORDER BY items::VARCHAR)::INTEGER AS new FROM baskets"
        )
        writer.execute(
            "UPDATE transactions SET transaction_id = new FROM n WHERE n.transaction_id = transactions.transaction_id"
        )
    assert {"order"} <= {f.check for f in inspect(sealed).findings}


def test_a_log_beside_the_file_is_found(sealed: Path) -> None:
    Path(f"{sealed}.wal").write_bytes(b"")
    assert "wal" in {f.check for f in inspect(sealed).findings}


def test_texts_in_the_headers_and_after_the_end_are_found(sealed: Path) -> None:
    content = bytearray(sealed.read_bytes())
    content[3000:3012] = b"secret words"
    sealed.write_bytes(content)
    try:
        found = inspect(sealed)
    except AnondbError:
        return  # DuckDB itself noticed
    assert "bytes" in {f.check for f in found.findings}


def test_a_view_in_the_place_of_a_table_is_not_read(sealed: Path, tmp_path: Path) -> None:
    witness = tmp_path / "witness.csv"
    witness.write_text("key,value\nrelease_id,x\n")
    with duckdb.connect(str(tmp_path / "hostile.duckdb")) as writer:
        writer.execute(f"CREATE VIEW manifest AS SELECT * FROM read_csv('{witness}')")
    assert not inspect(tmp_path / "hostile.duckdb").clean


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.duckdb").write_text("no database")
    for name, code in {"none.duckdb": "no_such_file", "text.duckdb": "not_a_database"}.items():
        with pytest.raises(InputError) as caught:
            inspect(tmp_path / name)
        assert caught.value.code == code


def test_a_copy_is_clean_too(sealed: Path, tmp_path: Path) -> None:
    assert inspect(shutil.copy(sealed, tmp_path / "elsewhere é'.duckdb")).clean
