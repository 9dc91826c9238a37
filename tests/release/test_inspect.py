"""The leak check: it passes what anondb publishes, and finds whatever was added, changed or left behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest
from portions import some

import anondb
from anondb.engine import DuckDBEngine
from anondb.errors import AnondbError, InputError
from anondb.release import inspect as inspect_module
from anondb.release.inspect import inspect


@pytest.fixture
def sealed(made: Path, tmp_path: Path) -> Path:
    """A sealed file that a test may change."""
    return Path(shutil.copy(made, tmp_path / "spring.duckdb"))


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
    "a macro of the name for scalars": "CREATE MACRO count_bounds(a) AS a + 1",
    "a second macro of the name": "CREATE OR REPLACE MACRO count_bounds(items) AS TABLE (SELECT 1 AS a),"
    " (items, other) AS TABLE (SELECT 2 AS a)",
    "an index": "CREATE INDEX i ON labels (item)",
    "a comment on a table": "COMMENT ON TABLE labels IS 'secret'",
    "no comment on a table": "COMMENT ON TABLE labels IS NULL",
    "a comment on a column": "COMMENT ON COLUMN labels.item IS 'secret'",
    "a comment on a column of a view": "COMMENT ON COLUMN transactions.item IS 'secret'",
    "a comment on a view": "COMMENT ON VIEW baskets IS 'secret'",
    "a comment on the macro": "COMMENT ON MACRO TABLE count_bounds IS 'secret'",
    "a default": "ALTER TABLE transaction_items ALTER copies SET DEFAULT 42",
    "a constraint": "ALTER TABLE labels ALTER item SET NOT NULL",
    "another type": "ALTER TABLE transaction_items ALTER transaction_id TYPE BIGINT",
    "one more column": "ALTER TABLE transaction_items ADD COLUMN secret VARCHAR",
    "another macro of the name": "CREATE OR REPLACE MACRO count_bounds(items) AS TABLE"
    " SELECT 0::BIGINT AS lower_bound, 0::DOUBLE AS estimate, 'zero'::BIGINT AS upper_bound",
    "another view of the name": "CREATE OR REPLACE VIEW baskets AS"
    " SELECT transaction_id, ['secret'] AS items FROM transaction_ids",
    "a view that leaves a row out": "CREATE OR REPLACE VIEW transactions AS SELECT transaction_id, item, copies"
    " FROM transaction_items JOIN labels USING (item_id) WHERE transaction_id > 1",
    "a deleted row": "DELETE FROM transaction_items WHERE transaction_id = 7",
    "a repeated row": "INSERT INTO transaction_items SELECT * FROM transaction_items WHERE transaction_id = 7",
    "a row of nobody": "INSERT INTO transaction_items VALUES (1000, 1, 1)",
    "a row without a label": "INSERT INTO transaction_items VALUES (7, 1000, 1)",
    "a label without a row": "INSERT INTO labels VALUES (3, 'secret')",
    "a label twice": "INSERT INTO labels VALUES (3, 'Fruit'); INSERT INTO transaction_items VALUES (80, 3, 1)",
    "labels that are numbered otherwise": "UPDATE labels SET item_id = 3 - item_id;"
    " UPDATE transaction_items SET item_id = 3 - item_id",
    "a missing id": "DELETE FROM transaction_ids WHERE transaction_id = 7",
    "an item without members": "INSERT INTO labels VALUES (3, 'ghost'); INSERT INTO transaction_items VALUES (80, 3, 1)",
    "members of nothing": "INSERT INTO released_items VALUES ('ghost', 'secret')",
    "a NULL": "INSERT INTO released_items VALUES ('Fruit', NULL)",
    "one more key": "INSERT INTO manifest VALUES ('seed', '42')",
    "a key twice": "INSERT INTO manifest SELECT * FROM manifest WHERE key = 'k'",
    "another N": "UPDATE manifest SET value = '79' WHERE key = 'transactions'",
    "a number with a zero before it": "UPDATE manifest SET value = '02' WHERE key = 'k'",
    "a changed row": "UPDATE transaction_items SET item_id = 2 WHERE transaction_id = 7",
    "two copies in a release of sets": "UPDATE transaction_items SET copies = 2 WHERE transaction_id = 7",
    "transactions that are complete in part": "UPDATE transaction_ids SET complete = false WHERE transaction_id = 7",
    "a dropped table": "CREATE TABLE gone AS SELECT repeat('secret', 100) AS x FROM range(10000); CHECKPOINT;"
    " DROP TABLE gone",
}


BY_BYTES = ("a deleted row", "a dropped table")  # nothing but the bytes shows them


@pytest.mark.parametrize(
    "what",
    some(
        CHANGES,
        *(
            "a second macro of the name",
            "a macro of the name for scalars",
            "a default",
            "a deleted row",
            "labels that are numbered otherwise",
        ),
        "transactions that are complete in part",
    ),
)
def test_changes_are_found(sealed: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if what not in BY_BYTES:
        monkeypatch.setattr(inspect_module, "_rebuild", lambda *_: ("not compared", []))
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
            "CREATE TABLE sales AS SELECT t AS tid, 'i' || (t * (n + 3)) % 7 AS item FROM range(400) r(t), range(3) s(n)"
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
    "a record of nobody": ("records", "INSERT INTO records SELECT * REPLACE (5000 AS transaction_id) FROM records LIMIT 1"),
    "a record twice": ("records", "INSERT INTO records FROM records WHERE transaction_id = 7"),
    "a record too few": ("records", "DELETE FROM records WHERE transaction_id = 7"),
    "another suppression than that of the rows": ("records", FLIPPED),
    "a suppression where there is none": ("anatomy", FLIPPED),
    "another suppression of all": ("long numbers", FLIPPED),
    "a range that is not its ends": ("records", "UPDATE records SET age = '[020:' || age[5:] WHERE transaction_id = 7"),
    "another default of a condition": (
        "records",
        "CREATE OR REPLACE MACRO count_bounds(items, age := [20, 30], colour := NULL) AS TABLE {macro}",
    ),
    "sensitive items in another form": ("records", "UPDATE manifest SET value = '[ ]' WHERE key = 'sensitive'"),
    "a value in two rows": (
        "anatomy",
        "INSERT INTO buckets SELECT bucket_id, column_id, items, 1 FROM buckets WHERE copies > 1 LIMIT 1",
    ),
    "words for a list": ("records", "UPDATE manifest SET value = '{\"secret\": 1}' WHERE key = 'sensitive'"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "what",
    some(
        OTHER_CHANGES, *("no copies", "a value that stands for nothing", "a range that is not its ends", "words for a list")
    ),
)
def test_changes_of_other_kinds_are_found(
    others: dict[str, Path], tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a look at the rows, without the bytes, which show any change that DuckDB makes in place."""
    monkeypatch.setattr(inspect_module, "_rebuild", lambda *_: ("not compared", []))
    kind, text = OTHER_CHANGES[what]
    changed = shutil.copy(others[kind], tmp_path / "changed.duckdb")
    with duckdb.connect(str(changed)) as writer:
        listed = "SELECT macro_definition FROM duckdb_functions() WHERE function_name = 'count_bounds'"
        ((macro,),) = writer.execute(listed).fetchall()
        writer.execute(text.replace("{macro}", macro))
        writer.execute("CHECKPOINT")
    found = inspect(changed)
    assert {"rows", "order", "catalog"} & {f.check for f in found.findings}
    assert not any("secret" in f.what for f in found.findings)


@pytest.mark.slow
def test_other_kinds_are_clean(others: dict[str, Path]) -> None:
    for path in others.values():
        found = inspect(path)
        assert found.clean, found.findings
        assert "0.0000" not in found.figures["order"].partition(",")[0]


def test_an_order_that_is_not_random_is_found(sealed: Path) -> None:
    """The rows of a file in another order, written as anondb writes it."""
    with duckdb.connect(str(sealed)) as writer:
        writer.execute(
            "CREATE TEMP TABLE n AS"
            " SELECT transaction_id, row_number() OVER (ORDER BY items::VARCHAR)::INTEGER AS new FROM baskets"
        )
        writer.execute(
            "UPDATE transaction_items AS t SET transaction_id = new FROM n WHERE n.transaction_id = t.transaction_id"
        )
    assert {"order"} <= {f.check for f in inspect(sealed).findings}


def test_classes_that_are_complete_in_part_are_counted() -> None:
    engine = DuckDBEngine.open(threads=1)
    with engine.transaction():
        classes = engine.put("classes", {"transaction_id": ("INTEGER", [1, 2, 3, 4]), "class": ("INTEGER", [1, 1, 2, 2])})
        ids = engine.put(
            "ids", {"transaction_id": ("INTEGER", [1, 2, 3, 4]), "complete": ("BOOLEAN", [True, False, False, False])}
        )
        assert engine.scalar("release/sealed_classes", {"classes": classes, "transaction_ids": ids}) == 1
    engine.close()


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


@pytest.mark.slow
def test_a_copy_is_clean_too(sealed: Path, tmp_path: Path) -> None:
    assert inspect(shutil.copy(sealed, tmp_path / "elsewhere é'.duckdb")).clean
