from __future__ import annotations

import hashlib
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from each import each
from portions import some
from release.cases import SHOP, SHOP_BLOCKS, catalog, dataset, frozen, keyed, recoding, rows
from sqlglot import exp

from anondb.engine import DuckDBEngine, Engine, Table
from anondb.errors import InputError, InternalError
from anondb.models.transactional import KmAnonymity
from anondb.publications.published_rows import drop_release
from anondb.recoding import GlobalRecoding
from anondb.release import numbering
from anondb.release.catalog import listed, objects_of, unexpected_objects
from anondb.release.coded import CodedRelease
from anondb.release.freeze import freeze
from anondb.release.objects import GLOBAL, find_schema, read_manifest, release_schema

MANIFEST = {
    "release_id",
    "model",
    "k",
    "m",
    "transactions",
    "semantics",
    "suppression",
    "table",
    "id_column",
    "item_column",
    "layout",
    "types",
    "suppressed_items",
    "version",
}


def test_objects_and_columns_are_exactly_those_of_the_contract(owner: Engine) -> None:
    frozen(owner)
    found = rows(
        owner,
        "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns "
        "WHERE table_schema = 'release_spring' ORDER BY table_name, ordinal_position",
    )
    assert found == [
        ("baskets", "transaction_id", "INTEGER", "YES", None),
        ("baskets", "items", "VARCHAR[]", "YES", None),
        ("item_counts", "item", "VARCHAR", "YES", None),
        ("item_counts", "lower_bound", "BIGINT", "YES", None),
        ("item_counts", "estimate", "DOUBLE", "YES", None),
        ("item_counts", "upper_bound", "BIGINT", "YES", None),
        ("labels", "item_id", "INTEGER", "YES", None),
        ("labels", "item", "VARCHAR", "YES", None),
        ("manifest", "key", "VARCHAR", "YES", None),
        ("manifest", "value", "VARCHAR", "YES", None),
        ("released_items", "released_item", "VARCHAR", "YES", None),
        ("released_items", "item", "VARCHAR", "YES", None),
        ("transaction_ids", "transaction_id", "INTEGER", "YES", None),
        ("transaction_ids", "complete", "BOOLEAN", "YES", None),
        ("transaction_items", "transaction_id", "INTEGER", "YES", None),
        ("transaction_items", "item_id", "INTEGER", "YES", None),
        ("transaction_items", "copies", "INTEGER", "YES", None),
        ("transactions", "transaction_id", "INTEGER", "YES", None),
        ("transactions", "item", "VARCHAR", "YES", None),
        ("transactions", "copies", "INTEGER", "YES", None),
    ]
    kinds = rows(
        owner,
        "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'release_spring' ORDER BY 1",
    )
    assert kinds == [
        ("baskets", "VIEW"),
        ("item_counts", "VIEW"),
        ("labels", "BASE TABLE"),
        ("manifest", "BASE TABLE"),
        ("released_items", "BASE TABLE"),
        ("transaction_ids", "BASE TABLE"),
        ("transaction_items", "BASE TABLE"),
        ("transactions", "VIEW"),
    ]
    macros = rows(owner, "SELECT schema_name, function_name, parameters FROM duckdb_functions() WHERE NOT internal")
    assert macros == [("release_spring", "count_bounds", ["items"])]
    assert set(listed(owner, "shop")) - {("main", "schema", "")} == objects_of("release_spring", GLOBAL)
    uncommented = "SELECT count(*) FROM duckdb_{}s() WHERE schema_name = 'release_spring' AND coalesce(comment, '') = ''"
    assert [rows(owner, uncommented.format(k)) for k in ("table", "view", "column", "function")] == [[(0,)]] * 4


def test_rows_are_the_images_of_the_originals(owner: Engine) -> None:
    release = frozen(owner)
    block_of = {item: label for label, members in SHOP_BLOCKS.items() for item in members}
    wanted = Counter(tuple(sorted({block_of[i] for i in t if i in block_of})) for t in SHOP)
    baskets = rows(owner, "FROM release_spring.baskets ORDER BY transaction_id")
    assert Counter(tuple(items) for _, items in baskets) == wanted
    assert [tid for tid, _ in baskets] == list(range(1, len(SHOP) + 1))
    long_form = rows(owner, "SELECT item, transaction_id, copies FROM release_spring.transactions ORDER BY ALL")
    assert long_form == sorted((item, tid, 1) for tid, items in baskets for item in items)
    stored = rows(owner, "SELECT item_id, transaction_id FROM release_spring.transaction_items")
    assert stored == sorted(stored) and len(stored) == len(long_form)
    assert rows(owner, "FROM release_spring.labels") == [(1, "Fruit"), (2, "bread"), (3, "milk")]
    assert rows(owner, "FROM release_spring.transaction_ids") == [(n, False) for n in range(1, 7)]
    assert rows(owner, "FROM release_spring.released_items") == [
        ("Fruit", "apple"),
        ("Fruit", "pear"),
        ("Fruit", "quince"),
        ("bread", "bread"),
        ("milk", "milk"),
    ]
    assert (release.transactions, release.rows, release.released_items) == (6, len(long_form), 3)
    assert (release.suppressed_items, release.suppressed_occurrences, release.suppression) == (1, 1, "some")


def test_the_order_of_released_items_says_nothing(owner: Engine) -> None:
    """Whatever order the recoding has them in."""
    frozen(owner, [["d", "a"], ["c"], ["b", "d"]], {"y": ["d", "b"], "Z": ["c"], "x": ["a"], "gone": ["e"]})
    found = rows(owner, "FROM release_spring.released_items")
    assert found == [("Z", "c"), ("x", "a"), ("y", "b"), ("y", "d")]


def test_manifest_has_exactly_the_keys_of_the_contract(owner: Engine) -> None:
    release = frozen(owner)
    manifest = dict(rows(owner, "FROM release_spring.manifest"))
    assert set(manifest) == MANIFEST - {"suppressed_items"}  # one row shows nothing, and k is 2
    assert manifest == release.manifest == read_manifest(owner, release.schema)
    assert (manifest["model"], manifest["k"], manifest["m"], manifest["semantics"]) == ("km", "2", "2", "set")
    assert (manifest["transactions"], manifest["suppression"]) == ("6", "some")
    assert (manifest["id_column"], manifest["item_column"]) == ("tid", "item")
    assert manifest["release_id"] == release.release_id and len(release.release_id) == 32


def test_only_released_items_that_occur_are_listed(owner: Engine) -> None:
    frozen(owner, [["a"], ["b"]], {"AB": ["a", "b"], "Unused": ["c", "d"]})
    assert rows(owner, "SELECT DISTINCT released_item FROM release_spring.released_items") == [("AB",)]
    assert dict(rows(owner, "FROM release_spring.manifest"))["suppression"] == "none"
    assert rows(owner, "SELECT DISTINCT complete FROM release_spring.transaction_ids") == [(True,)]


@pytest.mark.parametrize("transactions", some([[], [[]], [[], []], [["x"], []]], [], [["x"], []], ids=str))
def test_empty_and_wholly_suppressed_data(owner: Engine, transactions: list[list[str]]) -> None:
    release = frozen(owner, transactions, {})
    n, some = len(transactions), "some" if any(transactions) else "none"
    assert (release.transactions, release.rows, release.suppression) == (n, 0, some)
    assert rows(owner, "FROM release_spring.baskets ORDER BY 1") == [(i, []) for i in range(1, n + 1)]
    assert rows(owner, "FROM release_spring.count_bounds([])") == [(n, n, n)]
    assert rows(owner, "FROM release_spring.count_bounds(['x'])") == [(0, 0, n if some == "some" else 0)]


def test_numbers_are_a_fresh_permutation_each_time(owner: Engine) -> None:
    n = 400
    transactions = [[f"only{i}"] for i in range(n)]
    blocks = {f"only{i}": [f"only{i}"] for i in range(n)}
    seen = []
    for name, key in (("a", None), ("b", None), ("c", b"k" * 32), ("d", b"k" * 32)):
        with keyed(key):
            frozen(owner, transactions, blocks, name=name)
        found = rows(owner, f"SELECT transaction_id, item FROM release_{name}.transactions ORDER BY 1")
        assert [tid for tid, _ in found] == list(range(1, n + 1))
        seen.append([int(item.removeprefix("only")) for _, item in found])
    assert seen[0] != seen[1] and seen[2] == seen[3] != seen[0]
    for order in seen:
        assert abs(np.corrcoef(order, range(n))[0, 1]) < 0.25  # five standard deviations


def test_the_key_is_in_no_statement_and_nothing_is_left(tmp_path: Any) -> None:
    log: list[str] = []
    engine = DuckDBEngine.open(tmp_path / "shop.duckdb", on_statement=log.append)
    key = bytes(random.Random(7).randbytes(32))
    with keyed(key):
        frozen(engine)
    assert log and not any(key.hex() in text or repr(key)[2:-1] in text for text in log)
    assert rows(engine, "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'temp'") == [(0,)]
    engine.close()


def test_a_coded_release_is_its_frozen_rows(owner: Engine) -> None:
    release = frozen(owner)
    with owner.transaction():
        coded = CodedRelease(owner, release.schema)
        items = coded.items
        decoded = rows(
            owner, f"SELECT tid, label FROM {coded.transactions.sql()} JOIN {items.sql()} USING (item) ORDER BY 1, 2"
        )
        assert decoded == rows(owner, "SELECT transaction_id, item FROM release_spring.transactions ORDER BY 1, 2")
        assert rows(owner, f"SELECT item, label FROM {items.sql()} ORDER BY 1") == [(0, "Fruit"), (1, "bread"), (2, "milk")]


def test_an_error_leaves_nothing(owner: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from anondb.release import freeze as room

    def broken(*_: Any) -> None:
        raise InternalError("on purpose")

    monkeypatch.setattr("anondb.release.freeze.create_views_and_macros", broken)
    with pytest.raises(InternalError):
        frozen(owner)
    assert find_schema(owner, release_schema("shop", "spring")) is None
    assert room is not None and rows(owner, "SELECT count(*) FROM duckdb_tables()") == [(0,)]


@pytest.mark.parametrize("second", some(["spring", "sPring"], "sPring"))
def test_a_name_is_taken_whatever_its_case(owner: Engine, second: str) -> None:
    first = frozen(owner)
    with pytest.raises(InputError, match="already") as caught:
        frozen(owner, name=second)
    assert caught.value.code == "release_exists"
    again = frozen(owner, [["a"], ["a"]], {"a": ["a"]}, name=second, replace=True)
    assert again.release_id != first.release_id
    assert rows(owner, "SELECT count(*) FROM release_spring.transaction_ids") == [(2,)]
    assert len(rows(owner, "SELECT 1 FROM duckdb_schemas() WHERE schema_name ILIKE 'release_%'")) == 1


def test_a_schema_that_is_no_release_is_never_dropped(owner: Engine) -> None:
    rows(owner, "CREATE SCHEMA release_spring")
    rows(owner, "CREATE TABLE release_spring.mine AS SELECT 1 AS a")
    with pytest.raises(InputError) as caught:
        frozen(owner, replace=True)
    assert caught.value.code == "not_a_release"
    with pytest.raises(InputError), owner.transaction():
        drop_release(owner, "shop", "spring")
    assert rows(owner, "FROM release_spring.mine") == [(1,)]


def test_a_schema_called_like_its_database_is_refused(tmp_path: Any) -> None:
    engine = DuckDBEngine.open(tmp_path / "release_x.duckdb")
    with pytest.raises(InputError) as caught:
        frozen(engine, name="x")
    assert caught.value.code == "ambiguous_name"
    engine.close()


@pytest.mark.parametrize("name", ["", None, 7, "\ud800"])
def test_bad_names(name: Any) -> None:
    with pytest.raises(InputError) as caught:
        release_schema("shop", name)
    assert caught.value.code == "bad_name"


def test_a_changed_release_is_no_release(owner: Engine) -> None:
    release = frozen(owner)
    for text in (
        "CREATE TABLE release_spring.more AS SELECT 1 AS a",
        "CREATE INDEX i ON release_spring.manifest (key)",
        "CREATE SEQUENCE release_spring.s",
        "CREATE TYPE release_spring.e AS ENUM ('a')",
        "CREATE MACRO release_spring.f(x) AS x",
        "ALTER TABLE release_spring.manifest ALTER key SET NOT NULL",
        "DROP VIEW release_spring.baskets",
    ):
        rows(owner, "BEGIN")
        rows(owner, text)
        assert unexpected_objects(owner, release.schema, release.kind), text
        rows(owner, "ROLLBACK")
    assert unexpected_objects(owner, release.schema, release.kind) == []


def _recoding(**changes: Any) -> dict[str, Any]:
    right: dict[str, Any] = {
        "image": np.array([0, 0]),
        "labels": ("AB",),
        "member_of": np.array([0, 0]),
        "member_labels": ("a", "b"),
    }
    return {**right, **changes}


@pytest.mark.slow
@each(
    "changes",
    [
        {"image": np.array([0])},
        {"image": np.array([0, 1])},
        {"image": np.array([0, -2])},
        {"member_labels": ("a", "c")},
        {"member_labels": ("a",)},
        {"member_labels": ("a", "a")},
        {"image": np.array([0, 1]), "labels": ("X", "X"), "member_of": np.array([0, 1])},
        {
            "image": np.array([0, 1]),
            "labels": ("X", "Y"),
            "member_of": np.array([0, 1, 1]),
            "member_labels": ("a", "a", "b"),
        },
    ],
)
def test_an_untrue_recoding_is_our_bug(owner: Engine, changes: dict[str, Any]) -> None:
    with pytest.raises(InternalError), owner.transaction():
        data = dataset(owner, [["a", "b"]])
        target = release_schema("shop", "spring")
        freeze(owner, data, GlobalRecoding(**_recoding(**changes)), KmAnonymity(), release_schema=target)


def test_everything_is_one_transaction_of_a_connection_passed_in(tmp_path: Any) -> None:
    import duckdb

    connection = duckdb.connect(str(tmp_path / "mine.duckdb"))
    settings = connection.sql("FROM duckdb_settings()").fetchall()
    engine = DuckDBEngine(connection)
    frozen(engine)
    engine.close()
    assert connection.sql("FROM duckdb_settings()").fetchall() == settings
    assert connection.sql("SELECT database_name FROM duckdb_databases() WHERE NOT internal").fetchall() == [("mine",)]
    assert connection.sql("SELECT count(*) FROM release_spring.baskets").fetchall() == [(6,)]
    assert connection.sql("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
    connection.close()


def test_recoding_helper_suppresses_what_is_in_no_block(owner: Engine) -> None:
    with owner.transaction():
        data = dataset(owner, SHOP)
        image = recoding(data, SHOP_BLOCKS).image
    assert [data.labels[i] for i in np.flatnonzero(image < 0)] == ["caviar"]
    assert catalog(owner) == "shop"


@pytest.mark.slow
def test_numbers_over_several_chunks(owner: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A permutation of any tids, repeated or with gaps, that follows no chunk of them and no order of the source."""
    monkeypatch.setattr(numbering, "CHUNK", 50)
    tids = [t for t in range(7, 1000) if t % 10 and not 300 <= t < 420]
    orders = []
    for key in (None, None, b"k" * 32, b"k" * 32):
        with owner.transaction():
            ids = owner.put("ids", {"tid": ("INTEGER", tids[::-1] + tids[:5])})
            numbered = owner.create("sorted", exp.select("*").from_(number_of(owner, ids, key)).order_by("tid"))
            found = owner.select(exp.select("tid", "transaction_id").from_(numbered.expression()))
            assert not owner.exists(owner.work_table(numbering.DRAWS))
        assert found["tid"].tolist() == tids
        assert sorted(found["transaction_id"].tolist()) == list(range(1, len(tids) + 1))
        assert abs(np.corrcoef(found["tid"], found["transaction_id"])[0, 1]) < 0.2
        orders.append(found["transaction_id"].tolist())
    assert orders[2] == orders[3] and orders[0] != orders[1] != orders[2]


@pytest.mark.slow
def test_numbers_of_tids_far_apart(owner: Engine) -> None:
    """Only what lies near a tid is drawn: a release that somebody changed may hold any number, and NULL."""
    tids = [-(2**31), -(2**20) - 1, -(2**20), -1, 0, 2**20 - 1, 2**20, 2**31 - 1]
    with owner.transaction():
        ids = owner.put("ids", {"tid": ("INTEGER", np.array([*tids, None], dtype=object))})
        found = owner.select(exp.select("tid", "transaction_id").from_(number_of(owner, ids, None)))
    assert sorted(found["tid"].tolist()) == tids
    assert sorted(found["transaction_id"].tolist()) == list(range(1, len(tids) + 1))


def test_the_stream_of_each_chunk(owner: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is that of the bytes at the place of each tid in the stream of its chunk."""
    monkeypatch.setattr(numbering, "CHUNK", 10)
    key, tids = b"k" * 32, [-25, -11, -10, -3, -1, 0, 4, 9, 10, 57]

    def drawn(tid: int) -> int:
        stream = hashlib.shake_256(key + (tid // 10).to_bytes(8, "little", signed=True)).digest(80)
        return int.from_bytes(stream[tid % 10 * 8 :][:8], "little")

    with owner.transaction():
        ids = owner.put("ids", {"tid": ("INTEGER", tids)})
        ordered = exp.select("tid").from_(number_of(owner, ids, key)).order_by("transaction_id")
        assert owner.select(ordered)["tid"].tolist() == sorted(tids, key=drawn)


def test_numbers_of_many(owner: Engine) -> None:
    """More than one row group of DuckDB, in which it inserts differently."""
    n = 300_000
    with owner.transaction():
        ids = owner.put("ids", {"tid": ("INTEGER", np.arange(1, n + 1))})
        numbers = exp.select("transaction_id").from_(number_of(owner, ids, None)).order_by("transaction_id")
        assert np.array_equal(owner.select(numbers)["transaction_id"], np.arange(1, n + 1))


def test_numbers_of_no_transactions(owner: Engine) -> None:
    with owner.transaction():
        ids = owner.put("ids", {"tid": ("INTEGER", np.empty(0, dtype=np.int32))})
        assert owner.select(exp.select("tid").from_(number_of(owner, ids, None)))["tid"].tolist() == []


def number_of(engine: Engine, ids: Table, key: bytes | None) -> exp.Table:
    with keyed(key):
        return numbering.number_transactions(engine, ids).expression()
