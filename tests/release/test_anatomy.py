"""Releases of anatomies: what is published, bounds over every original that they may come from, reconstructions, sealing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import anatomy_cases
import duckdb
import pytest
import reference_anatomy as ref
from portions import portions
from release.benches import ReleaseBench
from release.cases import catalog, keyed, rows

from anondb.engine import Engine
from anondb.errors import InternalError
from anondb.models.anatomy import Anatomy
from anondb.recoding import BucketRecoding
from anondb.release.freeze import FrozenRelease, drop_schema, freeze
from anondb.release.objects import ANATOMY, release_kind, release_schema
from anondb.release.publish import publish

SHOP = [["a", "b", "x"], ["a", "y"], ["b", "x", "y"], [], ["c", "z"], ["c", "x"], ["a", "z"], ["b"]]
COLUMNS = [["a", "b", "c"], ["x", "y", "z"]]
Cells = list[list[list[frozenset[str]]]]  # for each bucket, the values of each column


def frozen(
    engine: Engine,
    transactions: Sequence[Sequence[str]] = SHOP,
    columns: Any = COLUMNS,
    *,
    name: str = "spring",
    **options: Any,
) -> tuple[FrozenRelease, BucketRecoding]:
    with engine.transaction():
        model = Anatomy(2, len(columns))
        data, recoding = anatomy_cases.recoded(engine, transactions, columns, model)
        target = release_schema(catalog(engine), name)
        return freeze(engine, data, recoding, model, release_schema=target, **options), recoding


# ---------------------------------------------------------------------- what is published


def test_the_frozen_rows_are_the_multisets(owner: Engine) -> None:
    release, recoding = frozen(owner)
    published = rows(owner, "SELECT bucket_id, column_id, items, copies FROM release_spring.buckets")
    assert published == sorted(published)
    number = {b: n for n, b in enumerate(sorted({r[0] for r in published}))}
    assert sorted(number.values()) == list(range(len(recoding.sizes))) and min(number) == 1
    wanted = anatomy_cases.rows_of(SHOP, COLUMNS, anatomy_cases.members(recoding))

    def content(found: Any) -> Counter[Any]:
        of: dict[int, list[Any]] = {}
        for bucket, column, items, copies in found:
            of.setdefault(bucket, []).append((column, tuple(items), copies))
        return Counter(tuple(sorted(v)) for v in of.values())

    assert content(published) == content(wanted)
    assert release.rows == len(published) and release.transactions == len(SHOP)
    assert release.suppressed_items == 0 and release.suppression == "none" and release.released_items == 6


def test_nothing_else_is_published(owner: Engine) -> None:
    frozen(owner)
    tables = rows(owner, "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'release_spring' ORDER BY 1")
    assert [t for (t,) in tables] == ["buckets", "manifest", "released_items"]
    views = rows(owner, "SELECT view_name FROM duckdb_views() WHERE schema_name = 'release_spring'")
    assert views == [("item_counts",)]
    counted = rows(
        owner, "SELECT item, c.* FROM release_spring.item_counts AS i, release_spring.count_bounds([i.item]) AS c"
    )
    assert sorted(rows(owner, "FROM release_spring.item_counts")) == sorted(counted) and len(counted) == 6
    columns = rows(
        owner, "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'buckets' ORDER BY column_index"
    )
    assert columns == [("bucket_id", "INTEGER"), ("column_id", "INTEGER"), ("items", "VARCHAR[]"), ("copies", "INTEGER")]
    manifest = dict(rows(owner, "FROM release_spring.manifest"))
    assert manifest.keys() == {
        *("release_id", "model", "l", "columns", "empty_values", "transactions", "semantics", "suppression"),
        *("table", "id_column", "item_column", "layout", "types", "suppressed_items", "version"),
    }
    assert (manifest["model"], manifest["l"], manifest["columns"]) == ("anatomy", "2", "2")
    assert manifest["empty_values"] == "count" and manifest["semantics"] == "set"
    pairs = rows(owner, "FROM release_spring.released_items")
    assert pairs == [(i, i) for i in "abcxyz"]


@pytest.mark.slow
def test_bucket_numbers_are_in_the_order_of_the_key(owner: Engine) -> None:
    order = []
    for n, key in enumerate((b"1" * 32, b"1" * 32, b"2" * 32, b"3" * 32, b"4" * 32, b"5" * 32)):
        with keyed(key):
            frozen(owner, name=f"r{n}")
        order.append(rows(owner, f"FROM release_r{n}.buckets"))
    assert order[0] == order[1]
    assert any(other != order[0] for other in order[2:])


def test_a_recoding_that_does_not_fit_is_our_bug(owner: Engine) -> None:
    with pytest.raises(InternalError), owner.transaction():
        data, recoding = anatomy_cases.recoded(owner, SHOP, COLUMNS, Anatomy(2, 2))
        broken = BucketRecoding(recoding.column, recoding.bucket[:-1], recoding.column_names)
        freeze(owner, data, broken, Anatomy(2, 2), release_schema=release_schema(catalog(owner), "x"))


def test_it_can_be_dropped_and_is_known_by_its_kind(owner: Engine) -> None:
    release, _ = frozen(owner)
    assert release_kind(owner, release.schema) is ANATOMY
    drop_schema(owner, release.schema)
    assert release_kind(owner, release.schema) is None


# ---------------------------------------------------------------------- bounds


class Bench(ReleaseBench):
    """A release of an anatomy."""

    def __init__(self) -> None:
        super().__init__(ANATOMY)
        self.run("INSERT INTO release_r.manifest VALUES ('release_id', 'number')")

    def fill(self, cells: Cells) -> None:
        self.run("TRUNCATE release_r.buckets")
        for b, bucket in enumerate(cells, 1):
            for j, column in enumerate(bucket, 1):
                for value, copies in Counter(column).items():
                    self.run("INSERT INTO release_r.buckets VALUES (?, ?, ?, ?)", [b, j, sorted(value), copies])

    def reconstruct(self, seed: Any) -> list[tuple[int, list[str]]]:
        return self.run("FROM release_r.reconstruct(?)", [seed]).fetchall()


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.engine.close()


def random_cells(seed: int) -> tuple[Cells, list[list[str]]]:
    """Small buckets: up to 3 of up to 4 transactions, 2 or 3 columns of up to 2 items."""
    rng = random.Random(seed)
    columns = [["a", "b"][: rng.randint(1, 2)], ["x", "y"][: rng.randint(1, 2)], ["p"]][: rng.randint(2, 3)]
    cells: Cells = []
    for _ in range(rng.randint(1, 3)):
        size = rng.randint(1, 4 if len(columns) == 2 else 3)
        cells.append([[frozenset(i for i in column if rng.random() < 0.6) for _ in range(size)] for column in columns])
    return cells, columns


@pytest.mark.parametrize("seeds", portions(6, 11, 340))
def test_bounds_are_right_and_tight_over_all_consistent_originals(bench: Bench, seeds: range) -> None:
    """Every way to put the values of a bucket side by side is an original; all are counted, for all queries."""
    asked = 0
    for seed in seeds:
        cells, columns = random_cells(seed)
        bench.fill(cells)
        items = [i for c in columns for i in c]
        known = {i for bucket in cells for column in bucket for value in column for i in value}
        originals = [[list(o) for o in ref.reconstructions(bucket)] for bucket in cells]
        everything = [*items, "unknown"]
        queries = [set(q) for size in range(len(everything) + 1) for q in combinations(everything, size)]
        for query, (lower, estimate, upper) in zip(queries, bench.ask([sorted(q) for q in queries]), strict=True):
            per_bucket = [{sum(query <= t for t in o) for o in choices} for choices in originals]
            counts = {sum(parts) for parts in product(*per_bucket)}
            assert (lower, upper) == (min(counts), max(counts)), (seed, query)
            wanted = ref.estimate(cells, columns, query) if query <= known else 0
            assert estimate == pytest.approx(float(wanted), abs=1e-12), (seed, query)
            assert lower <= estimate <= upper, (seed, query)
            asked += 1
    assert asked > 10 * len(seeds)


def test_the_estimate_is_the_mean_over_all_originals(bench: Bench) -> None:
    for seed in range(600, 608):
        cells, _ = random_cells(seed)
        bench.fill(cells)
        for query in ({"a", "x"}, {"a", "x", "p"}, {"b", "y"}):
            means = []
            for bucket in cells:
                counts = [sum(query <= t for t in o) for o in ref.reconstructions(bucket)]
                means.append(sum(counts) / len(counts))
            assert bench.ask_one(sorted(query))[1] == pytest.approx(sum(means)), seed


def test_estimates_do_not_fall_out_of_their_bounds_by_rounding(bench: Bench) -> None:
    for size in (3, 7, 49, 98, 103, 1_000_003):
        bench.run("TRUNCATE release_r.buckets")
        for j, item in enumerate("abc", 1):
            bench.run("INSERT INTO release_r.buckets VALUES (1, ?, ?, ?)", [j, [item], size - (item == "c")])
        bench.run("INSERT INTO release_r.buckets VALUES (1, 3, [], 1)")
        assert bench.ask_one(["a"]) == (size, size, size)
        assert bench.ask_one(["a", "b"]) == (size, size, size)
        assert bench.ask_one(["a", "b", "c"]) == (size - 1, size - 1, size - 1)


def test_many_columns_do_not_overflow(bench: Bench) -> None:
    bench.run("TRUNCATE release_r.buckets")
    bench.run("INSERT INTO release_r.buckets SELECT 1, i, ['i' || i], 1 FROM range(1, 401) r(i)")
    bench.run("INSERT INTO release_r.buckets SELECT 1, i, [], 999 FROM range(1, 401) r(i)")
    lower, estimate, upper = bench.ask_one([f"i{n}" for n in range(1, 401)])
    assert (lower, upper) == (0, 1) and 0 <= estimate < 1e-300


@pytest.mark.parametrize("wrong", ["NULL", "['a', NULL]"])
def test_bad_questions_are_refused(bench: Bench, wrong: str) -> None:
    with pytest.raises(duckdb.Error, match="count_bounds: the list of items"):
        bench.run(f"FROM release_r.count_bounds({wrong})").fetchall()
    with pytest.raises(duckdb.Error, match="reconstruct: the seed is NULL"):
        bench.run("FROM release_r.reconstruct(NULL)").fetchall()


# ---------------------------------------------------------------------- reconstructions


def test_a_reconstruction_is_a_consistent_original(bench: Bench) -> None:
    for seed in range(12):
        cells, columns = random_cells(seed)
        bench.fill(cells)
        found = bench.reconstruct(seed)
        assert [n for n, _ in found] == list(range(1, sum(len(b[0]) for b in cells) + 1))
        assert all(items == sorted(items) for _, items in found)
        assert found == bench.reconstruct(seed)
        place = 0
        for bucket in cells:
            part = [frozenset(items) for _, items in found[place : place + len(bucket[0])]]
            place += len(bucket[0])
            for column, values in zip(columns, bucket, strict=True):
                assert Counter(t & set(column) for t in part) == Counter(values)


@pytest.mark.slow
def test_seeds_draw_all_reconstructions_evenly(bench: Bench) -> None:
    """Two columns of three different values have six ways; each is drawn about as often."""
    cells = [[[frozenset("a"), frozenset("b"), frozenset()], [frozenset("x"), frozenset("y"), frozenset("z")]]]
    bench.fill(cells)
    ways = Counter(tuple(sorted("".join(items) for _, items in bench.reconstruct(seed))) for seed in range(300))
    assert len(ways) == 6 and min(ways.values()) > 25


def test_the_order_of_stored_rows_does_not_matter(bench: Bench) -> None:
    cells, _ = random_cells(3)
    bench.fill(cells)
    before = bench.reconstruct(5)
    stored = bench.run("FROM release_r.buckets").fetchall()
    bench.run("TRUNCATE release_r.buckets")
    for row in reversed(stored):
        bench.run("INSERT INTO release_r.buckets VALUES (?, ?, ?, ?)", list(row))
    assert bench.reconstruct(5) == before
    bench.run("SET default_order = 'DESC'")
    try:
        assert bench.reconstruct(5) == before
    finally:
        bench.run("RESET default_order")


# ---------------------------------------------------------------------- sealed files


@pytest.mark.slow
def test_a_sealed_file_has_the_same_multisets_under_other_numbers(owner: Engine, tmp_path: Path) -> None:
    hostile = [["a", "it's", "\n"], ["é", "x"], ["a", "x"], ["é", ""], ["it's"], ["", "\n"]]
    release, _ = frozen(owner, hostile, [["a", "it's", "é"], ["\n", "x", ""]])
    place = tmp_path / "sealed.duckdb"
    owner_rows = rows(owner, "SELECT column_id, items, copies FROM release_spring.buckets ORDER BY ALL")
    with owner.transaction():
        file = publish(owner, release.schema, place)
    assert (file.transactions, file.rows) == (6, len(owner_rows))
    with duckdb.connect(str(place), read_only=True) as analyst:
        assert analyst.sql("SELECT column_id, items, copies FROM buckets ORDER BY ALL").fetchall() == owner_rows
        assert analyst.sql("FROM buckets").fetchall() == analyst.sql("FROM buckets ORDER BY ALL").fetchall()
        assert analyst.sql("FROM count_bounds([])").fetchall() == [(6, 6.0, 6)]
        assert analyst.sql("SELECT lower_bound, upper_bound FROM count_bounds(['it''s'])").fetchall() == [(2, 2)]
        assert len(analyst.sql("FROM reconstruct(1)").fetchall()) == 6


@pytest.mark.slow
def test_macros_know_their_release_wherever_it_is_attached(owner: Engine, tmp_path: Path) -> None:
    release, _ = frozen(owner)
    place, other = tmp_path / "one.duckdb", tmp_path / "two.duckdb"
    with owner.transaction():
        publish(owner, release.schema, place)
    second, _ = frozen(owner, SHOP[:-1], name="summer")
    with owner.transaction():
        publish(owner, second.schema, other)
    with duckdb.connect() as analyst:
        analyst.execute(f"ATTACH '{place}' AS one (READ_ONLY); ATTACH '{other}' AS two (READ_ONLY)")
        for call in ("one.count_bounds(['a'])", "one.reconstruct(1)"):
            with pytest.raises(duckdb.Error):
                analyst.sql(f"FROM {call}").fetchall()
        analyst.execute("USE two")
        for call in ("one.count_bounds(['a'])", "one.reconstruct(1)"):
            with pytest.raises(duckdb.Error, match="USE the release first"):
                analyst.sql(f"FROM {call}").fetchall()
        assert len(analyst.sql("FROM reconstruct(1)").fetchall()) == len(SHOP) - 1
        analyst.execute("USE one")
        assert analyst.sql("SELECT upper_bound FROM count_bounds(['a'])").fetchall() == [(3,)]
        analyst.execute("CREATE TEMP TABLE buckets AS SELECT 1 AS bucket_id, 1 AS column_id, ['a'] AS items, 9 AS copies")
        for call in ("count_bounds(['a'])", "reconstruct(1)"):
            with pytest.raises(duckdb.Error, match="hides a table"):
                analyst.sql(f"FROM {call}").fetchall()


def test_the_macros_work_in_the_owners_file(owner: Engine) -> None:
    frozen(owner)
    assert rows(owner, "SELECT upper_bound FROM release_spring.count_bounds(['a'])") == [(3,)]
    assert len(rows(owner, "FROM release_spring.reconstruct(1)")) == len(SHOP)
