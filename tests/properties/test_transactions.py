"""Loading transactions: where they come from, which types are exact, which labels stay distinct, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from each import each

from anondb.data import transactions as module
from anondb.data.sources import open_source
from anondb.data.transactions import Dataset, fingerprint, load_transactions
from anondb.engine import DuckDBEngine, Engine
from anondb.errors import InputError
from anondb.reading.options import read_as

SECRET = "s3cret"
Baskets = dict[Any, set[str]]


@pytest.fixture
def db() -> Iterator[Engine]:
    engine = DuckDBEngine.open(threads=2)
    yield engine
    engine.close()


def run(db: Engine, text: str) -> list[Any]:
    return db._connection.execute(text).fetchall()


def load(db: Engine, given: Any, **options: Any) -> Dataset:
    more = options.pop("more_ids", None)
    columns = {name: options.pop(name) for name in ("id", "item") if name in options}
    with open_source(db, read_as(given, {}, **columns), "transactions") as source:
        if more is None:
            return load_transactions(db, source, **options)
        with open_source(db, more, "records") as records:
            return load_transactions(db, source, more_ids=records, **options)


def baskets(db: Engine, data: Dataset) -> Baskets:
    """What was loaded, in terms of the original ids and labels."""
    ids = dict(run(db, f"SELECT tid, id FROM {data.ids.sql()}"))
    assert sorted(ids) == list(range(1, data.n_transactions + 1))
    assert run(db, f"SELECT item, label FROM {data.items.sql()} ORDER BY item") == list(enumerate(data.labels))
    assert list(data.labels) == sorted(data.labels)
    found: Baskets = {i: set() for i in ids.values()}
    pairs = run(db, f"SELECT tid, item FROM {data.transactions.sql()}")
    assert len(set(pairs)) == len(pairs) == data.n_occurrences
    for tid, item in pairs:
        found[ids[tid]].add(data.labels[item])
    sizes = [len(items) for items in found.values()]
    assert (data.longest, data.non_empty) == (max(sizes, default=0), sum(bool(n) for n in sizes))
    assert data.supports.tolist() == [sum(x in items for items in found.values()) for x in data.labels]
    return found


def loaded(db: Engine, given: Any, **options: Any) -> Baskets:
    with db.transaction():
        return baskets(db, load(db, given, **options))


def refused(db: Engine, code: str, given: Any, *words: str, **options: Any) -> None:
    """One typed error without a data value; nothing is left behind, and the engine stays usable."""
    with pytest.raises(InputError) as caught, db.transaction():
        load(db, given() if callable(given) else given, **options)
    assert caught.value.code == code
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None
    for word in words:
        assert word in str(caught.value)
    assert run(db, "SELECT count(*) FROM duckdb_tables() WHERE temporary") == [(0,)]


WANTED: Baskets = {1: {"a", "b"}, 2: {"b"}, 3: {"", "c"}}
LONG = [(3, "c"), (1, "a"), (1, "b"), (2, "b"), (3, ""), (1, "a")]
LISTS: list[tuple[int, list[str] | None]] = [(2, ["b"]), (1, ["a", "b", "a"]), (3, ["c", ""]), (4, []), (5, None)]


def test_sources(db: Engine, tmp_path: Path) -> None:
    run(db, "CREATE TABLE sales (tid INTEGER, item VARCHAR)")
    db._connection.executemany("INSERT INTO sales VALUES (?, ?)", LONG)
    run(db, "CREATE VIEW v AS SELECT tid AS who, item AS what FROM sales")
    csv, parquet = tmp_path / "s.csv", tmp_path / "s.parquet"
    csv.write_text('tid,item\n3,c\n1,a\n1,b\n2,b\n3,""\n1,a\n', encoding="utf-8")
    frame = pd.DataFrame(LONG, columns=["tid", "item"])
    frame.to_parquet(parquet)
    arrow = pa.table({"TID": [t for t, _ in LONG], "Item": [i for _, i in LONG]})
    for given in ("sales", "main.sales", "memory.main.sales", parquet, str(parquet), frame, arrow):
        assert loaded(db, given) == WANTED
    assert loaded(db, "v", id="WHO", item="what") == WANTED
    assert loaded(db, csv) == {str(t): items for t, items in WANTED.items()}
    assert loaded(db, frame.astype({"item": "category"})) == WANTED
    assert loaded(db, db._connection.table("sales")) == WANTED
    with db.transaction():
        data = load(db, "sales")
        assert data.duplicates == 1 and any("1 row repeated" in w for w in data.warnings)
        digest = fingerprint(db, data)
        assert fingerprint(db, data) == digest
    run(db, "CREATE TABLE same AS SELECT DISTINCT * FROM sales ORDER BY item")
    run(db, "CREATE TABLE other AS SELECT tid, replace(item, 'a', 'x') AS item FROM sales")
    for name, equal in (("same", True), ("other", False)):
        with db.transaction():
            assert (fingerprint(db, load(db, name)) == digest) == equal


def test_lists_keep_empty_transactions(db: Engine, tmp_path: Path) -> None:
    wanted = {**WANTED, 4: set(), 5: set()}
    frame = pd.DataFrame(LISTS, columns=["tid", "item"])
    arrow = pa.table({"tid": [t for t, _ in LISTS], "item": [i for _, i in LISTS]})
    arrays = pd.DataFrame({"tid": [1, 2], "item": [np.array(["x", "y"], dtype=object), np.array(["x"], dtype=object)]})
    assert loaded(db, frame) == loaded(db, arrow) == wanted
    assert loaded(db, arrays) == {1: {"x", "y"}, 2: {"x"}}
    refused(db, "bad_type", pd.DataFrame({"tid": [1], "item": [np.array([SECRET])]}))
    run(db, "CREATE TABLE n AS SELECT 1 AS tid, [3, 20, 3] AS item UNION ALL SELECT 2, []")
    assert loaded(db, "n") == {1: {"3", "20"}, 2: set()}
    run(db, "CREATE TABLE e (tid INTEGER, item VARCHAR[3])")
    run(db, "INSERT INTO e VALUES (1, ['a', 'b', 'a']), (2, NULL)")
    assert loaded(db, "e") == {1: {"a", "b"}, 2: set()}
    dat = tmp_path / "x.dat"
    dat.write_bytes("\ufeffa b\r\n\r\nb\ta a\n".encode())
    assert loaded(db, dat) == {1: {"a", "b"}, 2: set(), 3: {"a", "b"}}
    for content in (b"", b"\n"):
        dat.write_bytes(content)
        assert loaded(db, dat) == ({} if not content else {1: set()})


def test_ids_that_only_records_have(db: Engine, tmp_path: Path) -> None:
    sales = pd.DataFrame({"tid": [1, 2], "item": ["a", "b"]})
    run(db, "CREATE TABLE r AS SELECT * FROM (VALUES (2::BIGINT, 'x'), (7, 'y'), (7, 'y')) AS t(tid, age)")
    run(db, "CREATE TABLE s AS SELECT * FROM (VALUES (1, ['a']), (2, [])) AS t(tid, item)")
    assert loaded(db, sales, more_ids="r") == {1: {"a"}, 2: {"b"}, 7: set()}
    assert loaded(db, "s", more_ids="r") == {1: {"a"}, 2: set(), 7: set()}
    (tmp_path / "x.dat").write_text("a\n\nb\n")
    run(db, "CREATE TABLE more AS SELECT unnest([0, 2, 7])::BIGINT AS tid")
    assert loaded(db, tmp_path / "x.dat", more_ids="more") == {0: set(), 1: {"a"}, 2: set(), 3: {"b"}, 7: set()}
    run(db, "CREATE TABLE texts AS SELECT '1' AS tid")
    refused(db, "bad_type", "s", "VARCHAR", more_ids="texts")
    run(db, "CREATE TABLE nulls AS SELECT NULL::BIGINT AS tid")
    refused(db, "null_id", "s", "1 row ", more_ids="nulls")
    run(db, "CREATE TABLE floats AS SELECT 1.5::DOUBLE AS tid")
    refused(db, "bad_type", "s", "DOUBLE", more_ids="floats")


IDS = [
    ("BIGINT", ["9223372036854775807", "9223372036854775806", "-9223372036854775808"]),
    ("UBIGINT", ["18446744073709551615", "18446744073709551614", "0"]),
    ("HUGEINT", ["170141183460469231731687303715884105727", "170141183460469231731687303715884105726", "-1"]),
    ("DECIMAL(38,10)", ["1234567890123456789012345678.0000000001", "1234567890123456789012345678.0000000002", "0"]),
    (
        "UUID",
        [
            "0b6a0f3e-0000-0000-0000-000000000001",
            "0b6a0f3e-0000-0000-0000-000000000002",
            "ffffffff-0000-0000-0000-000000000000",
        ],
    ),
    ("VARCHAR", ["1", "01", "1 "]),
    ("DATE", ["2020-01-01", "2020-01-02", "1900-12-31"]),
    ("TIMESTAMP", ["2020-01-01 00:00:00", "2020-01-01 00:00:00.000001", "1900-12-31 12:00:00"]),
    ("TIMESTAMP_NS", ["2020-01-01 00:00:00.000000001", "2020-01-01 00:00:00.000000002", "2020-01-01 00:00:00"]),
    ("BOOLEAN", ["true", "false"]),
    ("ENUM('y', 'x', 'z')", ["x", "y", "z"]),
]


@pytest.mark.slow
@each("kind, values", IDS)
def test_exact_ids(db: Engine, kind: str, values: list[str]) -> None:
    """Ids are compared exactly, never through a float."""
    run(db, f"CREATE OR REPLACE TABLE s (tid {kind}, item VARCHAR)")
    for value in values:
        db._connection.execute(
            f"INSERT INTO s SELECT CAST(? AS {kind}), x FROM (VALUES ('a'), (?)) AS v(x)", [value, f"i{value}"]
        )
    with db.transaction():
        data = load(db, "s")
        assert data.n_transactions == len(values) and set(data.supports.tolist()) == {1, len(values)}
        assert kind == "TIMESTAMP_NS" or len(baskets(db, data)) == len(values)  # Python has no nanoseconds


@each("kind", ["DOUBLE", "FLOAT", "BLOB", "INTEGER[]", "TIMESTAMP[]", "STRUCT(a INTEGER)", "BIT", "INTERVAL"])
def test_ids_that_cannot_be_compared(db: Engine, kind: str) -> None:
    run(db, f"CREATE OR REPLACE TABLE s (tid {kind}, item VARCHAR)")
    refused(db, "bad_type", "s", kind.split("(")[0])


@each(
    "expression, label",
    [
        ("true", "true"),
        ("DATE '2020-02-03'", "2020-02-03"),
        ("'x'::ENUM('y', 'x')", "x"),
        ("9223372036854775807", "9223372036854775807"),
        ("1.50::DECIMAL(5, 2)", "1.50"),
        ("TIMESTAMP '2020-01-01 01:02:03'", "2020-01-01 01:02:03"),
        ("'0b6a0f3e-0000-0000-0000-000000000001'::UUID", "0b6a0f3e-0000-0000-0000-000000000001"),
        ("['y'::ENUM('y', 'x')]", "y"),
        ("[DATE '2020-02-03']", "2020-02-03"),
        ("[true]", "true"),
    ],
)
def test_item_types(db: Engine, expression: str, label: str) -> None:
    run(db, f"CREATE OR REPLACE TABLE s AS SELECT 1 AS tid, {expression} AS item")
    assert loaded(db, "s") == {1: {label}}


@each(
    "expression",
    [
        "1.5::DOUBLE",
        "[1.5::FLOAT]",
        f"{{'{SECRET}': 1}}",
        f"MAP {{'{SECRET}': 1}}",
        f"'{SECRET}'::BLOB",
        f"[['{SECRET}']]",
        "[[TIMESTAMP '2020-01-01']]",
        f"[{{'{SECRET}': 1}}]",
        f"'{{\"{SECRET}\": 1}}'::JSON",
        "CAST('2020-01-01 00:00:00+00' AS TIMESTAMP WITH TIME ZONE)",
        "INTERVAL 1 DAY",
        "'101'::BIT",
    ],
)
def test_items_that_cannot_be_compared(db: Engine, expression: str) -> None:
    run(db, f"CREATE OR REPLACE TABLE s AS SELECT 1 AS tid, {expression} AS item")
    refused(db, "bad_type", "s")


def test_nulls(db: Engine) -> None:
    for rows, code in (
        (f"(1, '{SECRET}'), (NULL, 'b'), (NULL, 'c')", "null_id"),
        (f"(1, '{SECRET}'), (2, NULL), (3, NULL)", "null_item"),
        (f"(1, ['{SECRET}']), (NULL, []), (NULL, NULL)", "null_id"),
        (f"(1, ['{SECRET}', NULL, NULL]), (2, [])", "null_item"),
    ):
        run(db, f"CREATE OR REPLACE TABLE s AS SELECT * FROM (VALUES {rows}) AS v(tid, item)")
        refused(db, code, "s", "2 rows", "'s'")
    refused(db, "bad_type", pd.DataFrame({"tid": [1, np.nan], "item": ["a", "b"]}))


LABELS = [
    "", " ", "a", "A", "a ", " a", "\ta", "é", "e\u0301", "É", "\ufeffa", "a\u200b", "\u202ea", "'", "''", '"', "\\", "\\'",
    ";", "--", "/*", "$$", "?", "{{}}", "%s", "\n", "\r", "\r\n", "\u2028", "\0", "a\0", "a\0b", "NULL", "null", "*", "ANY",
    "=1+1", "+1", "-1", "@SUM(1)", "a,b", "(a,b)", "\U0001f35e", "\U0010ffff", "ß", "ss", "x" * 1_000_000,
]  # fmt: skip


@pytest.mark.parametrize("kind", ["VARCHAR", 'VARCHAR COLLATE "binary"', "VARCHAR COLLATE POSIX"])
def test_labels_stay_distinct(db: Engine, kind: str) -> None:
    """By code points; ids likewise."""
    run(db, f"CREATE TABLE s (tid {kind}, item {kind})")
    for label in LABELS:
        db._connection.execute("INSERT INTO s VALUES (?, ?)", [label[:9], label])
    with db.transaction():
        data = load(db, "s")
        assert data.labels == tuple(sorted(LABELS))
        assert baskets(db, data) == {x[:9]: {x} for x in LABELS}
        assert any("white space" in w for w in data.warnings)


def test_labels_in_frames_and_lists(db: Engine) -> None:
    wanted = {1: set(LABELS)}
    assert loaded(db, pd.DataFrame({"tid": 1, "item": LABELS})) == wanted
    assert loaded(db, pd.DataFrame({"tid": 1, "item": pd.Series(LABELS, dtype=object)})) == wanted
    assert loaded(db, pd.DataFrame({"tid": [1], "item": [LABELS]})) == wanted
    assert loaded(db, pa.table({"tid": [1], "item": [LABELS]})) == wanted


def test_labels_in_csv(db: Engine, tmp_path: Path) -> None:
    """Also where the first quoted field comes late: the quote is never guessed."""
    file = tmp_path / "s.csv"
    plain = "".join(f"{n},i{n}\n" for n in range(40_000))
    file.write_text(f'tid,item\n{plain}x,"a,b"\nx,"q""q"\nx,""\nx,"new\nline"\n', encoding="utf-8")
    with db.transaction():
        data = load(db, file)
        assert data.n_items == 40_004 and {"a,b", 'q"q', "", "new\nline"} <= set(data.labels)


def test_bad_unicode(db: Engine, tmp_path: Path) -> None:
    bad = [SECRET, "x\ud800"]
    for make in (
        lambda: pd.DataFrame({"tid": [1, 2], "item": pd.Series(bad, dtype=object)}),
        lambda: pd.DataFrame({"tid": [1], "item": [bad]}),
    ):
        refused(db, "bad_unicode", make)
    dat, csv = tmp_path / "s.dat", tmp_path / "s.csv"
    dat.write_bytes(SECRET.encode() + b" \xff\n")
    csv.write_bytes(b"tid,item\n1," + SECRET.encode() + b"\n2,\xff\n")
    refused(db, "bad_unicode", dat)
    refused(db, "bad_unicode", csv)


def test_over_long_labels(db: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LABEL_BYTES", 20)
    assert loaded(db, pd.DataFrame({"tid": [1], "item": ["x" * 20]})) == {1: {"x" * 20}}
    refused(db, "item_too_long", pd.DataFrame({"tid": [1], "item": [SECRET + "é" * 8]}), "20")
    refused(db, "item_too_long", pd.DataFrame({"tid": [1], "item": [[SECRET * 20]]}))


def test_default_collation(db: Engine) -> None:
    run(db, "CREATE TABLE s AS SELECT 1 AS tid, 'a' AS item")
    run(db, "SET default_collation = 'NOCASE'")
    refused(db, "collation", "s", "default_collation")
    run(db, "RESET default_collation")
    assert loaded(db, "s") == {1: {"a"}}


@each(
    "values, code",
    [
        ([{SECRET, "b"}, {"c"}], "bad_type"),
        ([frozenset({SECRET}), frozenset()], "bad_type"),
        ([{SECRET: 1}, {}], "bad_type"),
        ([[{SECRET}], []], "bad_type"),
        ([1, "1"], "mixed_types"),
        (["1", 2.5], "mixed_types"),
        ([True, 1], "mixed_types"),
        ([[1, "1"], []], "mixed_types"),
        ([["a"], SECRET], "mixed_types"),
    ],
)
def test_python_values_that_duckdb_would_convert(db: Engine, values: list[Any], code: str) -> None:
    refused(db, code, pd.DataFrame({"tid": [1, 2], "item": pd.Series(values, dtype=object)}), "'item'")
    if code == "mixed_types" and not any(isinstance(v, list) for v in values):
        refused(db, code, pd.DataFrame({"tid": pd.Series(values, dtype=object), "item": ["a", "b"]}), "'tid'")


def test_missing_values_are_no_other_type(db: Engine) -> None:
    for missing in (None, np.nan, pd.NA):
        frame = pd.DataFrame({"tid": [1, 2], "item": pd.Series(["a", missing], dtype=object)})
        refused(db, "null_item", frame, "1 row ")
    numbers = pd.Series([1, np.int64(2)], dtype=object)
    assert len(loaded(db, pd.DataFrame({"tid": numbers, "item": ["a", "b"]}))) == 2


def test_names(db: Engine) -> None:
    """Names are names, never SQL."""
    for name in ('x"; DROP TABLE t; --', "select", "a.b", "\U0001f35e", " ", "n" * 5000, "'"):
        quoted = '"' + name.replace('"', '""') + '"'
        run(db, f"CREATE TABLE {quoted} ({quoted} INTEGER, item VARCHAR)")
        run(db, f"INSERT INTO {quoted} VALUES (1, 'a')")
        assert loaded(db, name, id=name) == {1: {"a"}}
        run(db, f"CREATE SCHEMA {quoted}")
        run(db, f"CREATE VIEW {quoted}.v AS SELECT 1 AS tid, {quoted} AS {quoted} FROM main.{quoted}")
        assert loaded(db, f"{quoted}.v", item=name) == {1: {"1"}}
    refused(db, "empty_name", "")
    refused(db, "no_such_table", "nowhere")
    refused(db, "no_such_table", 'x"; DROP TABLE t')
    refused(db, "no_such_column", "select", "item=", item="nothing", id="select")
    refused(db, "no_such_column", "select", "id=")
    refused(db, "column_clash", pd.DataFrame([[1, "a", 2]], columns=["tid", "item", "TID"]))


def test_what_cannot_be_read(db: Engine, tmp_path: Path) -> None:
    run(db, "CREATE TABLE t AS SELECT 1 AS tid, 'x' AS item")
    run(db, "CREATE VIEW broken AS SELECT * FROM t")
    run(db, "DROP TABLE t")
    refused(db, "unreadable", "broken", "'broken'")
    run(db, f"CREATE VIEW fails AS SELECT 1 AS tid, CAST(CAST('{SECRET}' AS VARCHAR) AS INTEGER) AS item")
    refused(db, "unreadable", "fails", "'fails'")
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("tid,item\n" + "1,a\n" * 50_000 + f"2,{SECRET},c,d\n", encoding="utf-8")
    refused(db, "unreadable", ragged, "ragged.csv")
    fake = tmp_path / "fake.parquet"
    fake.write_bytes(SECRET.encode())
    refused(db, "unreadable", fake)
    for name in ("no.csv", "no.dat", "no.parquet"):
        refused(db, "no_such_file", tmp_path / name)
    refused(db, "bad_source", 3)
    refused(db, "bad_source", None)


def test_many_items(db: Engine) -> None:
    run(db, "CREATE TABLE s AS SELECT i % 1000 AS tid, 'item ' || i AS item FROM range(200000) AS r(i)")
    with db.transaction():
        data = load(db, "s")
        assert (data.n_items, data.n_transactions, data.longest) == (200_000, 1000, 200)


def test_the_empty_table(db: Engine) -> None:
    run(db, "CREATE TABLE s (tid INTEGER, item VARCHAR)")
    with db.transaction():
        data = load(db, "s")
        assert baskets(db, data) == {} and data.labels == () and len(data.supports) == 0
        assert any("empty" in w for w in data.warnings)
        assert fingerprint(db, data)


def test_one_snapshot(db: Engine) -> None:
    """A view that gives different rows each time is read once."""
    run(db, "CREATE VIEW s AS SELECT i AS tid, 'i' || (1e9 * random())::BIGINT AS item FROM range(100) AS r(i)")
    assert all(len(items) == 1 for items in loaded(db, "s").values())
