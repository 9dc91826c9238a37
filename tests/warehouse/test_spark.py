"""What Spark alone has: private folders, tasks that run again, releases of several tables, and the Python interface."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference as ref
from portions import some
from properties.trees import random_tree, taxonomy_of
from sqlglot import exp
from warehouse.test_count_bounds import of_macro
from warehouse.warehouses import OnSpark, selected

import anondb
from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.extended import Extended
from anondb.algorithms.hghs.pairs import Extension, PairCounter, SqlPairs
from anondb.algorithms.hghs.spread_pairs import SpreadPairs, counts
from anondb.engine import DuckDBEngine
from anondb.errors import BudgetExceeded, InputError, VerificationFailed
from anondb.ledger.stored import current_catalog
from anondb.ledger.tables import PERSONS
from anondb.models.transactional import TransactionalK
from anondb.pipeline import engine_release
from anondb.pipeline.on_engine import anonymize_on
from anondb.publications import persons
from anondb.release.numbering import KEY_BYTES
from anondb.release.objects import GLOBAL
from anondb.warehouse.conformance import rows_of
from anondb.warehouse.loading import load_from
from anondb.warehouse.spark import warehouse as spark_room
from anondb.warehouse.spark.release import FINISHED, UNFINISHED
from anondb.warehouse.spark.session import sent_whole

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
TAXONOMY = taxonomy_of({"root": ["x", "d"], "x": ["a", "b", "c"]}, "root")
PAIRS = [(1, "a"), (1, "b"), (2, "a"), (2, "c"), (3, "b"), (4, "c"), (5, "d"), (6, "d"), (6, "d")]
MODEL = anondb.KmAnonymity(2, 2)
GROUPS = {f"group {g}": [f"item {g}{n}" for n in range(4)] for g in range(4)}
GROUPED = taxonomy_of({"root": list(GROUPS), **GROUPS}, "root")


def tables_of(spark: Any) -> Path:
    return Path(str(spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:").replace("//", "/"))


def private(spark: Any) -> list[str]:
    """The private folders beside the catalog's tables."""
    return [n for n in os.listdir(tables_of(spark)) if n.startswith("_anondb_")] if tables_of(spark).exists() else []


def baskets(seed: int) -> list[tuple[int, str]]:
    """Random transactions of which a release shows some items, some groups, and lacks an item or two."""
    rnd, items = random.Random(seed), [item for group in GROUPS.values() for item in group]
    return [(n, item) for n in range(80) for item in rnd.sample(items, rnd.randint(1, 5))]


def schemas(spark: Any) -> set[str]:
    return {row[0] for row in spark.sql("SHOW SCHEMAS").collect()}


@pytest.fixture
def place(spark: Any) -> Any:
    return OnSpark(spark)


def release(place: Any, source: Any, name: str, taxonomy: Any = TAXONOMY) -> None:
    """Make a release in a schema of the catalog."""
    write = partial(place.warehouse.release, name)
    anonymize_on(place.warehouse, source, taxonomy=taxonomy, model=MODEL, write=write)


def test_the_interface(spark: Any, place: Any) -> None:
    """A table and a taxonomy of the catalog become a release, whose function answers as the macro of a sealed file."""
    spark.sql("DROP SCHEMA IF EXISTS spring CASCADE")
    place.source(PAIRS).createOrReplaceTempView("sales")
    edges = [("root", None), ("x", "root"), ("d", "root"), ("a", "x"), ("b", "x"), ("c", "x")]
    spark.createDataFrame(edges, "node string, parent string").createOrReplaceTempView("food")
    texts: list[str] = []
    db = anondb.connect(spark, on_statement=texts.append)
    report = db.anonymize("sales", taxonomy="food", model=MODEL, to="spring")
    assert report.verification.verified and report.release == "spring" and report.dataset.n_transactions == 6
    shown = [tuple(row) for row in spark.sql("SELECT item, copies FROM spring.transactions").collect()]
    assert sorted(shown) == [("d", 1)] * 2 + [("x", 1)] * 4
    members = [tuple(row) for row in spark.sql("SELECT released_item, item FROM spring.released_items").collect()]
    assert members == [("d", "d"), ("x", "a"), ("x", "b"), ("x", "c")]
    manifest = dict(tuple(row) for row in spark.sql("SELECT key, value FROM spring.manifest").collect())
    assert (manifest["model"], manifest["k"], manifest["m"], manifest["transactions"]) == ("km", "2", "2", "6")
    numbers = {row[0] for row in spark.sql("SELECT transaction_id FROM spring.transaction_ids").collect()}
    assert numbers == set(range(1, 7))
    assert not private(spark) and "_anondb" not in str(spark.sql("SHOW TABLES").collect())
    with pytest.raises(InputError) as caught:
        db.anonymize("sales", taxonomy="food", model=MODEL, to="spring")
    assert caught.value.code == "release_exists"
    said: list[str] = []
    with anondb.connect(spark, format="nothing", on_statement=said.append) as other, pytest.raises(InputError) as caught:
        other.anonymize("sales", taxonomy="food", model=MODEL, to="autumn")
    assert caught.value.code == "no_such_format" and not said  # before any work
    assert spark.sql("SELECT count(*) FROM spring.transactions").collect()[0][0] == 6
    with pytest.raises(InputError, match="toArrow"):
        db.anonymize("sales", taxonomy="food", model=TransactionalK(2), to="other")
    with pytest.raises(InputError):
        anondb.connect(spark, threads=2)


def test_an_error_leaves_nothing(spark: Any, place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = schemas(spark)
    monkeypatch.setattr(budget, "MAX_PAIR_ROWS", 1)
    monkeypatch.setattr(place.warehouse, "worker_bytes", 0)
    with pytest.raises(BudgetExceeded):
        release(place, place.source(PAIRS), "failed")
    monkeypatch.undo()
    monkeypatch.setattr(spark_room, "function_of", None)  # the last step of a release fails
    with pytest.raises(TypeError):
        release(place, place.source(PAIRS), "failed")
    assert schemas(spark) == before and not private(spark)


@pytest.mark.parametrize("worker_bytes", [2**20, pytest.param(90, marks=pytest.mark.nightly)])
def test_workers_count_what_sql_counts(place: Any, worker_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rare pairs, with a triangle of all nodes and in ranges of its rows; the supports of all nodes."""
    warehouse = place.warehouse
    monkeypatch.setattr(warehouse, "worker_bytes", worker_bytes)
    rnd = random.Random(worker_bytes)
    tree = random_tree(rnd, 14)
    transactions = [rnd.sample(ref.leaves(*tree), rnd.randint(0, min(5, len(ref.leaves(*tree))))) for _ in range(60)]
    pairs = [(n, item) for n, t in enumerate(transactions) for item in t]
    with warehouse.snapshot():
        dataset = load_from(warehouse, place.source(pairs), id_column="tid", item_column="item")
        extended = Extended(warehouse, dataset, taxonomy_of(*tree))
        counters: list[PairCounter] = [SpreadPairs(extended, warehouse, 3), SqlPairs(extended, 3)]
        assert counters[0].supports.tolist() == counters[1].supports.tolist()
        frequent = np.flatnonzero(counters[0].supports >= 3)[1:]
        half = len(frequent) // 2
        extension = Extension(frequent[:2], frequent[2:half], frequent[half:-3], frequent[-3:])
        for ask in (lambda c: c.among(frequent), lambda c: c.added(extension)):
            found = [
                {(*map(int, row), int(n)) for row, n in zip(p.rows, p.supports, strict=True)} for p in map(ask, counters)
            ]
            assert found[0] == found[1] and found[0]


@pytest.mark.nightly
def test_sql_counts_where_executors_have_no_python(spark: Any, place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert place.warehouse.worker_bytes and not OnSpark(spark, workers=False).warehouse.worker_bytes
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/no/python")
    poor = OnSpark(spark)
    report = anonymize_on(poor.warehouse, poor.source(PAIRS), taxonomy=TAXONOMY, model=MODEL)
    assert report.verification.verified and not poor.warehouse.worker_bytes


def test_executors_without_pyarrow_are_told_of_in_one_line(
    spark: Any, place: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No job fails, so Java logs no error."""
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare))
    poor = OnSpark(spark)
    tracker = spark.sparkContext.statusTracker()
    assert not poor.warehouse.worker_bytes
    assert tracker.getJobInfo(max(tracker.getJobIdsForGroup())).status == "SUCCEEDED"
    report = anonymize_on(poor.warehouse, poor.source(PAIRS), taxonomy=TAXONOMY, model=MODEL)
    (note,) = (words for words in report.dataset.warnings if "pyarrow" in words)
    assert "\n" not in note and "install both" in note


def test_executors_need_not_have_this_package() -> None:
    """What they run is sent with its code."""
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    work = partial(counts, np.arange(1, 3), np.array([1, 2]), np.array([[-1], [0], [1]], dtype=np.int32), 9)
    with sent_whole():
        sent = cloudpickle.dumps(work)
    program = """
import pickle, sys
import pyarrow as pa
sys.modules["anondb"] = None
work = pickle.loads(bytes.fromhex(sys.argv[1]))
rows = pa.RecordBatch.from_pydict({"tid": [1, 1, 2], "node": pa.array([1, 2, 1], pa.int32())})
print(sorted(tuple(row.values()) for batch in work(iter([rows])) for row in batch.to_pylist()))
"""
    ran = subprocess.run([sys.executable, "-c", program, sent.hex()], capture_output=True, text=True, check=True)
    assert ran.stdout == "[(1, 1, 2), (1, 2, 1), (2, 2, 1)]\n"


def test_a_schema_that_a_killed_run_left_is_replaced(spark: Any, place: Any) -> None:
    def run() -> None:
        anondb.connect(spark).anonymize(place.source(PAIRS), taxonomy=TAXONOMY, model=MODEL, to="killed")

    for left in ("killed", "other"):
        spark.sql(f"CREATE SCHEMA {left} COMMENT '{UNFINISHED}{tables_of(spark)}/gone'")
        spark.sql(f"CREATE TABLE {left}.labels USING parquet AS SELECT 1 AS item_id")
    spark.sql(f"CREATE SCHEMA working COMMENT '{UNFINISHED}{tables_of(spark)}'")
    spark.sql(f"CREATE SCHEMA elsewhere COMMENT '{UNFINISHED}nowhere://x/y'")
    run()
    assert spark.sql("SELECT count(*) FROM killed.transactions").collect()[0][0] == 6
    assert spark.catalog.getDatabase("killed").description == FINISHED
    assert {"killed", "working", "elsewhere"} <= schemas(spark) and "other" not in schemas(spark)
    for comment in (FINISHED, "mine", f"{UNFINISHED}{tables_of(spark)}"):
        spark.sql(f"COMMENT ON SCHEMA killed IS '{comment}'")
        with pytest.raises(InputError) as caught:
            run()
        assert caught.value.code == "release_exists"
    spark.sql("DROP SCHEMA working")
    spark.sql("DROP SCHEMA elsewhere")
    spark.sql("DROP SCHEMA killed CASCADE")


def test_an_owner_on_duckdb(spark: Any, place: Any, tmp_path: Path) -> None:
    """A data frame is anonymized inside Spark; the release is that of the same rows in DuckDB."""
    frame = place.source(baskets(11))
    options: dict[str, Any] = {"taxonomy": GROUPED, "model": MODEL, "item_supports": True}
    said: list[dict[str, Any]] = []
    with anondb.connect(tmp_path / "own.duckdb") as db:
        made = db.anonymize(frame, name="there", publish=tmp_path / "there.duckdb", **options)
        here = db.anonymize(frame.toArrow(), name="here", **options)
        for release in (made, here):
            assert release.report is not None
            report = release.report.to_json()
            skipped = ("release", "seconds", "warnings", "published", "sha256", "content_digest")
            tables = ("labels", "released_items", "item_supports")
            said.append({k: v for k, v in report.items() if k not in skipped})
            said[-1] |= {t: sorted(release.table(t).fetchall()) for t in tables}
        assert said[0] == said[1] and said[0]["item_supports"] and said[0]["accuracy"]["queries"]
        assert any("inside Spark" in words for words in made.report.warnings)  # type: ignore[union-attr]
        assert [p.name for p in db.publications()] == ["there"] and not private(spark)
        with pytest.raises(InputError) as caught:
            db.anonymize(frame, name="no", taxonomy=GROUPED, model=TransactionalK(2))
        assert caught.value.code == "not_on_engine"
        with pytest.raises(InputError) as caught:
            db.anonymize(place.source([(1, None)]), name="no", **options)
        assert caught.value.code == "null_item" and not private(spark)
    assert anondb.verify_file(tmp_path / "there.duckdb").holds


def test_no_id_is_fetched(spark: Any, place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark makes the digests of the ledger, which are those of the same rows in DuckDB."""
    arrived: list[Any] = []
    read = spark_room.SparkWarehouse.rows

    def rows(self: Any, query: exp.Query, what: str) -> pa.Table:
        table = read(self, query, what)
        arrived.extend(value for column in table.columns for value in column.to_pylist())
        return table

    monkeypatch.setattr(spark_room.SparkWarehouse, "rows", rows)
    names = ["Zo\u00eb O'Hara", "a\\b\n", "0042.50", "TRUE", "2024-02-28", "6B1F0C0E-0000-4000-8000-00000000000a", "\x00 x"]
    shop = pa.table({"tid": [name for name in names for _ in "ab"], "item": ["item 00", "item 01"] * len(names)})
    with anondb.connect(tmp_path / "own.duckdb") as db:
        kept = []
        for source in (spark.createDataFrame(shop), shop):
            made = db.anonymize(source, name="r", replace=True, taxonomy=GROUPED, model=MODEL, queries=1)
            persons = PERSONS.rows(db.engine, current_catalog(db.engine), made.manifest["release_id"])
            kept.append(sorted(row["person"] for row in persons))
    assert len(set(kept[0])) == len(names) and kept[0] == kept[1]
    assert not set(names) & set(arrived) and "item 00" in arrived


def test_item_supports_in_the_catalog(spark: Any, place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of the same rows in DuckDB, row by row; wrong ones are found where they were written."""
    frame = place.source(baskets(12))
    options: dict[str, Any] = {"taxonomy": GROUPED, "model": MODEL, "item_supports": True}
    spark.sql("DROP SCHEMA IF EXISTS supported CASCADE")
    db = anondb.connect(spark)
    db.anonymize(frame, to="supported", **options)
    with anondb.connect(tmp_path / "own.duckdb") as owner:
        release = owner.anonymize(frame.toArrow(), name="here", **options)
        expected = sorted(release.table("item_supports").fetchall())
    rows = spark.sql("SELECT released_item, item, at_least, at_most, weight FROM supported.item_supports").collect()
    assert sorted(map(tuple, rows)) == expected and expected
    assert ("item_supports", "true") in map(tuple, spark.table("supported.manifest").collect())
    before = schemas(spark)
    made = engine_release.item_supports

    def off(*arguments: Any) -> Any:
        columns = made(*arguments)
        return {**columns, "at_most": ("BIGINT", columns["at_most"][1] - 1)}

    monkeypatch.setattr(engine_release, "item_supports", off)
    with pytest.raises(VerificationFailed, match="item supports"):
        db.anonymize(frame, to="wrong", **options)
    assert schemas(spark) == before and not private(spark)


def test_verification_there(spark: Any, place: Any) -> None:
    db = anondb.connect(spark)
    frame = place.source([(1, "a"), (2, "a"), (2, "b"), (3, "b"), (3, "a")])
    assert db.verify(frame, model=anondb.KmAnonymity(2, 2)).violations == 0
    assert db.verify(frame, model=anondb.KmAnonymity(3, 2)).violations == 1
    assert db.verify(frame, model=TransactionalK(2)).violations == 1
    with pytest.raises(InputError):
        db.verify(frame, model=anondb.KmAnonymity(2, float("inf")))


def test_numbers_do_not_change_when_a_task_runs_again(place: Any) -> None:
    """Tasks fail once. The source is read whole, in buckets of few persons, and each person has one number."""
    warehouse = place.warehouse

    def once(rows: Any) -> Any:
        from pyspark import TaskContext

        for n, batch in enumerate(rows):
            if n == 0 and TaskContext.get().attemptNumber() == 0:
                raise RuntimeError("the first attempt fails")
            yield batch

    pairs = [(n, item) for n in range(300) for item in ("a", "b")]
    frame = place.source(pairs).repartition(4).mapInArrow(once, "tid bigint, item string")
    with warehouse.snapshot():
        source = warehouse.source(frame, "tid", "item")
        numbered = []
        for _ in range(2):
            ids = warehouse.number(source)
            numbered.append(rows_of(warehouse.fetch(selected(ids, "tid", "id"), most=300)))
            assert rows_of(warehouse.fetch(selected(ids, "tid", "id"), most=300)) == numbered[-1]
            warehouse.drop(ids)
        facts = warehouse.fetch("warehouse/load/checks", {"source": source}, most=1)
    assert {c: v[0] for c, v in facts.items()} == {
        "total": 600,
        "null_ids": 0,
        "null_items": 0,
        "longest": 1,
        "persons": 300,
    }
    for rows in numbered:
        assert [t for t, _ in sorted(rows)] == list(range(1, 301)) and {i for _, i in rows} == set(range(300))
    assert numbered[0] != numbered[1]


def test_the_source_is_read_once(spark: Any, place: Any) -> None:
    """A data frame that would give other rows each time."""
    frame = spark.sql("SELECT id AS tid, CASE WHEN rand() < 0.5 THEN 'a' ELSE 'b' END AS item FROM range(200)")
    report = anonymize_on(place.warehouse, frame, taxonomy=taxonomy_of({"r": ["a", "b"]}, "r"), model=MODEL)
    assert report.dataset.lengths == {1: 200} and sum(report.dataset.supports.tolist()) == 200


UNEQUAL = {  # a value of a type
    "double": "1.5D",
    "decimal(2,1)": "1.5BD",
    "timestamp": "current_timestamp()",
    "binary": "X'00'",
    "interval day": "INTERVAL 1 DAY",
    "array": "array('s3cret')",
    "struct": "struct('s3cret' AS a)",
    "map": "map('s3cret', 1)",
    "variant": "parse_json('[\"s3cret\"]')",
    "string collate UTF8_LCASE": "'s3cret' COLLATE UTF8_LCASE",
}


@pytest.mark.parametrize("kind", some(UNEQUAL, "decimal(2,1)", "array", "string collate UTF8_LCASE", check=()))
def test_types_without_exact_equality_are_refused(spark: Any, place: Any, kind: str) -> None:
    """As an item and as an id, of a data frame and of a view, by the name of the type."""
    frame = spark.sql(f"SELECT {UNEQUAL[kind]} AS cell, 'a' AS label")
    spark.sql("DROP VIEW IF EXISTS odd_view")
    spark.sql(f"CREATE VIEW odd_view AS SELECT {UNEQUAL[kind]} AS cell, 'a' AS label")
    for source in (frame, "odd_view"):
        for names in ({"id_column": "label", "item_column": "cell"}, {"id_column": "cell", "item_column": "label"}):
            with pytest.raises(InputError) as caught:
                anonymize_on(place.warehouse, source, taxonomy=TAXONOMY, model=MODEL, **names)
            assert caught.value.code == "bad_type" and f"has the type {kind}." in str(caught.value)
            assert "s3cret" not in str(caught.value)
    spark.sql("DROP VIEW odd_view")


def _kept(drawn: bytes, keys: list[bytes]) -> bytes:
    """Random bytes, of which those of the length of a key are put into a list; names of folders are shorter."""
    keys += [drawn] if len(drawn) == KEY_BYTES else []
    return drawn


def test_events_have_no_data(spark: Any, place: Any, tmp_path: Path) -> None:
    """Neither items nor ids nor keys stand in statements, plans and event logs."""
    keys: list[bytes] = []
    drawn = os.urandom
    try:
        spark_room.os.urandom = lambda n: _kept(drawn(n), keys)  # type: ignore[assignment]
        spark.sql("DROP SCHEMA IF EXISTS logged CASCADE")
        items = ["secret_one", "secret_two"]
        pairs = [(f"person_{n}", item) for n in range(4) for item in items]
        folder = tables_of(spark).parent / "source"
        table = pa.table({"tid": [t for t, _ in pairs], "item": [i for _, i in pairs]})
        pq.write_table(table, folder)
        frame = spark.read.parquet(f"file://{folder}")
        taxonomy = taxonomy_of({"secret_root": items}, "secret_root")
        release(place, frame, "logged", taxonomy)
        with anondb.connect(tmp_path / "own.duckdb") as db:
            db.anonymize(frame, name="r", taxonomy=taxonomy, model=MODEL, queries=1)
            secret = persons.key(db.engine, current_catalog(db.engine))
    finally:
        spark_room.os.urandom = drawn
    logs = [p for p in Path(spark.conf.get("spark.eventLog.dir").removeprefix("file:")).rglob("*") if p.is_file()]
    text = "".join(p.read_text("utf-8", errors="replace") for p in logs) + "".join(place.texts)
    assert "_anondb_transactions" in text and keys
    assert "SparkListenerSQLExecutionStart" in text
    assert not [w for w in ("secret_", "person_", secret, *(k.hex() for k in keys)) if w in text]


def test_bounds_are_those_of_a_sealed_file(spark: Any, place: Any, duck: DuckDBEngine) -> None:
    """The function of Spark on the tables of a release, and DuckDB's macro on the same tables."""
    rnd = random.Random(4)
    tree = random_tree(rnd, 9)
    leaves = ref.leaves(*tree)
    transactions = [rnd.sample(leaves, rnd.randint(1, len(leaves))) for _ in range(25)]
    pairs = [(n, item) for n, t in enumerate(transactions) for item in t]
    spark.sql("DROP SCHEMA IF EXISTS bounds CASCADE")
    release(place, place.source(pairs), "bounds", taxonomy_of(*tree))
    counts = spark.table("bounds.item_counts").collect()
    assert [row[0] for row in counts] == sorted({item for _, item in pairs})
    for item, *bounds in map(tuple, counts[::6]):
        text = f"SELECT * FROM bounds.count_bounds(array('{item}'))"
        assert bounds == pytest.approx(list(spark.sql(text).collect()[0]), rel=1e-9)
    baskets = {row["transaction_id"]: row["items"] for row in spark.table("bounds.baskets").collect()}
    released = spark.table("bounds.transactions").collect()
    assert len(baskets) == len(transactions) and all(list(items) == sorted(items) for items in baskets.values())
    assert sorted((n, i) for n, items in baskets.items() for i in items) == sorted((row[0], row[1]) for row in released)
    with duck.transaction():
        tables: dict[str, Any] = {}
        for name in GLOBAL.tables:
            frame = spark.table(f"bounds.{name}").toArrow()
            with duck.registered(frame) as view:
                tables[name] = duck.create(name, selected(view, *frame.column_names))
        tables["checked"] = duck.put("checked", {"passed": ("BOOLEAN", [True])})
        for size in (3,):
            asked = rnd.sample([*leaves, "nothing"], size)
            items = exp.cast(exp.Array(expressions=[exp.Literal.string(i) for i in asked]), "TEXT[]", dialect="duckdb")
            text = items.sql(dialect="spark")
            (found,) = spark.sql(f"SELECT * FROM bounds.count_bounds({text})").collect()
            expected = duck.select(of_macro(tables, items))
            lower, estimate, upper = (v[0] for v in expected.values())
            assert (found[0], found[2]) == (lower, upper)
            assert found[1] == pytest.approx(float(estimate), rel=1e-9, abs=1e-12)
