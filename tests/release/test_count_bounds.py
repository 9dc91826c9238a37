"""count_bounds against brute force over every original that a release may come from, and wherever it may be called."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, pairwise, product
from pathlib import Path

import duckdb
import pytest
import reference
from each import each
from portions import portions
from reference_expected import expected_count, expected_holders
from release.benches import ReleaseBench
from release.cases import SHOP, SHOP_BLOCKS, frozen, keyed, rows
from sqlglot import exp

from anondb.engine import DuckDBEngine, Engine, Table
from anondb.release.definitions import parts_of_bounds
from anondb.release.objects import GLOBAL
from anondb.release.publish import publish


def subsets(items: Sequence[str]) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(items, n) for n in range(len(items) + 1)))


class Bench(ReleaseBench):
    """A release of a global recoding."""

    def fill(self, published: Sequence[Sequence[str]], members: dict[str, Sequence[str]], suppression: str) -> None:
        occurring = {g for t in published for g in t}
        self.put(
            {
                "transactions": [(n, g, 1) for n, t in enumerate(published, 1) for g in t],
                "transaction_ids": [(n, suppression == "none") for n in range(1, len(published) + 1)],
                "released_items": [(g, i) for g, items in members.items() if g in occurring for i in items],
                "manifest": [("release_id", "number"), ("suppression", suppression)],
            }
        )


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.engine.close()


def random_release(seed: int) -> tuple[list[list[str]], dict[str, list[str]], list[str], str]:
    """A random small release: published transactions, members of released items, domain, suppression."""
    rng = random.Random(seed)
    domain = [chr(ord("a") + i) for i in range(rng.randint(1, 5))]
    covered = domain if rng.random() < 0.4 else domain[: rng.randint(0, len(domain))]
    cuts = sorted(rng.sample(range(1, len(covered)), rng.randint(0, len(covered) - 1))) if len(covered) > 1 else []
    edges = [0, *cuts, len(covered)]
    members = {f"G{i}": covered[a:b] for i, (a, b) in enumerate(pairwise(edges)) if b > a}
    published = [sorted(g for g in members if rng.random() < 0.6) for _ in range(rng.randint(0, 6))]
    members = {g: m for g, m in members.items() if any(g in t for t in published)}
    return published, members, domain, rng.choice(["none", "some"])


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(9, night=110))
def test_bounds_are_right_and_tight_for_random_releases_and_all_queries(bench: Bench, seeds: range) -> None:
    asked = 0
    for seed in seeds:
        published, members, domain, suppression = random_release(seed)
        bench.fill(published, members, suppression)
        holders = expected_holders(published, members)
        queries = subsets(domain)
        for query, (lower, estimate, upper) in zip(queries, bench.ask(queries), strict=True):
            wanted = frozenset(query)
            truth = reference.true_bounds(published, members, domain, suppression, lambda o, w=wanted: w <= o)
            assert (lower, upper) == truth, (seed, query)
            assert estimate == pytest.approx(expected_count(published, members, query, holders), abs=1e-9), (seed, query)
            assert lower <= estimate <= upper, (seed, query)
            asked += 1
        found = bench.item_counts()
        assert set(found) == {i for items in members.values() for i in items}
        assert all(answer == pytest.approx(bench.ask_one([item]), abs=1e-9) for item, answer in found.items()), seed
    assert asked > 9 * len(seeds)


@pytest.mark.parametrize("seeds", portions(4, 5, 25, first=1000))
def test_bounds_are_attained_by_whole_datasets(bench: Bench, seeds: range) -> None:
    """The same with no use of the independence of transactions: every combination of originals is counted."""
    for seed in seeds:
        published, members, domain, suppression = random_release(seed)
        published, domain = published[:3], domain[:3]
        members = {g: [i for i in m if i in domain] for g, m in members.items()}
        members = {g: m for g, m in members.items() if m}
        published = [[g for g in t if g in members] for t in published]
        members = {g: m for g, m in members.items() if any(g in t for t in published)}
        bench.fill(published, members, suppression)
        choices = [reference.consistent_originals(t, members, domain, suppression) for t in published]
        queries = subsets(domain)
        for query, (lower, _, upper) in zip(queries, bench.ask(queries), strict=True):
            counts = {sum(set(query) <= o for o in originals) for originals in product(*choices)}
            assert (lower, upper) == (min(counts), max(counts)), (seed, query)


@pytest.mark.slow
def test_single_calls_agree_with_lateral_ones_and_repeats_count_once(bench: Bench) -> None:
    published, members, domain, suppression = random_release(11)
    bench.fill(published, members, suppression)
    queries = subsets(domain)
    together = bench.ask(queries)
    assert [bench.ask_one(q) for q in queries] == together
    assert [bench.ask_one(q * 3) for q in queries] == together
    assert bench.ask([q * 2 for q in queries]) == together


@pytest.mark.slow
def test_the_estimate_does_not_overflow(bench: Bench) -> None:
    for size in (1, 2, 3, 53, 1024, 3000):
        members = {"G": [f"i{n}" for n in range(size)]}
        bench.fill([["G"]] * 3, members, "none")
        holders = expected_holders([["G"]] * 3, members)
        for queried in sorted({1, min(2, size), size}):
            lower, estimate, upper = bench.ask_one(members["G"][:queried])
            wanted = expected_count([["G"]] * 3, members, members["G"][:queried], holders)
            assert estimate == pytest.approx(wanted, rel=1e-9, abs=1e-12)
            assert not math.isnan(estimate) and lower <= estimate <= upper == 3
            assert lower == (3 if size == 1 else 0)


@pytest.mark.parametrize(("transactions", "shown", "size", "expected"), [(100, 60, 3, 26.10), (100, 60, 1, 60)])
def test_the_expected_holders_of_a_member(bench: Bench, transactions: int, shown: int, size: int, expected: float) -> None:
    """Persons hold each member independently, and show the released item if they hold one; each is held at least half."""
    members = {"G": [f"i{n}" for n in range(size)]}
    bench.fill([["G"]] * shown + [[]] * (transactions - shown), members, "none")
    assert bench.ask_one(["i0"])[1] == bench.item_counts()["i0"][1] == pytest.approx(expected, abs=0.005)


def test_many_blocks(bench: Bench) -> None:
    members = {f"G{i}": [f"{i}a", f"{i}b"] for i in range(40)}
    bench.fill([sorted(members)] * 2, members, "none")
    lower, estimate, upper = bench.ask_one([f"{i}a" for i in range(40)])
    assert (lower, upper) == (0, 2)
    share = bench.item_counts()["0a"][1] / 2
    assert 0.5 < share < 1 and estimate == pytest.approx(2 * share**40)


@pytest.mark.slow
@each("asked", ["NULL", "[NULL]", "['apple', NULL]", "NULL::VARCHAR[]", "[NULL]::VARCHAR[]"])
@each("form", ["FROM {}", "SELECT upper_bound FROM {}", "SELECT count(*) FROM {}", "SELECT EXISTS (FROM {})"])
def test_null_is_refused(bench: Bench, asked: str, form: str) -> None:
    bench.fill([["G"]], {"G": ["apple"]}, "none")
    with pytest.raises(duckdb.InvalidInputException, match="NULL"):
        bench.run(form.format(f"release_r.count_bounds({asked})")).fetchall()


def test_kinds_of_arguments(owner: Engine) -> None:
    frozen(owner, [["1", "2"], ["1"], ["B"]], {"1": ["1"], "2": ["2"], "B": ["B"]})
    ask = "FROM release_spring.count_bounds({})"
    assert rows(owner, ask.format("[1, 2]")) == [(1, 1, 1)]
    assert rows(owner, ask.format("['1']::VARCHAR[1]")) == [(2, 2, 2)]
    assert rows(owner, ask.format("(SELECT ['1'])")) == [(2, 2, 2)]
    assert rows(owner, ask.format("['b' COLLATE NOCASE]")) == [(0, 0, 0)]
    assert rows(owner, ask.format("[]")) == [(3, 3, 3)]
    described = rows(owner, "DESCRIBE FROM release_spring.count_bounds([])")
    assert [row[:2] for row in described] == [("lower_bound", "BIGINT"), ("estimate", "DOUBLE"), ("upper_bound", "BIGINT")]
    rows(owner, "SET default_collation = 'NOCASE'")
    with pytest.raises(duckdb.InvalidInputException, match="default_collation"):
        rows(owner, ask.format("['b']"))


# ------------------------------------------------------------------------------------------------ where it is called

DECOY = """
    CREATE TABLE {0}transaction_items AS SELECT 9 AS transaction_id, 1 AS item_id, 1 AS copies;
    CREATE TABLE {0}labels AS SELECT 1 AS item_id, 'milk' AS item;
    CREATE TABLE {0}transaction_ids AS SELECT 9 AS transaction_id, true AS complete;
    CREATE TABLE {0}released_items AS SELECT 'milk' AS released_item, 'milk' AS item;
    CREATE TABLE {0}manifest AS SELECT 'release_id' AS key, 'mine' AS value;
"""
ASK = "FROM {}count_bounds(['bread'])"
TRUTH = [(2, 2.0, 2)]


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    engine = DuckDBEngine.open()
    place = tmp_path_factory.mktemp("sealed") / "spring.duckdb"
    publish(engine, frozen(engine).schema, place)
    engine.close()
    return place


def test_opened_directly(sealed: Path) -> None:
    with duckdb.connect(str(sealed), read_only=True) as analyst:
        assert analyst.sql(ASK.format("")).fetchall() == TRUTH
        assert analyst.sql(ASK.format("main.")).fetchall() == TRUTH
        assert analyst.sql(ASK.format("spring.main.")).fetchall() == TRUTH
        captured = "WITH transaction_items AS (SELECT 1), labels AS (SELECT 4), manifest AS (SELECT 2) "
        assert analyst.sql(captured + ASK.format("")).fetchall() == TRUTH


def test_attached_with_use(sealed: Path) -> None:
    with duckdb.connect() as analyst:
        analyst.execute(DECOY.format(""))
        analyst.execute(f"ATTACH '{sealed}' AS s (READ_ONLY)")
        analyst.execute("USE s")
        assert analyst.sql(ASK.format("")).fetchall() == TRUTH
        assert analyst.sql(ASK.format("s.")).fetchall() == TRUTH


@each("form", ["{}", "SELECT upper_bound {}", "SELECT count(*) {}", "SELECT 1 {} LIMIT 1", "SELECT EXISTS ({})"])
def test_attached_without_use_raises_and_never_counts_tables_of_the_analyst(sealed: Path, form: str) -> None:
    with duckdb.connect() as analyst:
        analyst.execute(f"ATTACH '{sealed}' AS s (READ_ONLY)")
        with pytest.raises(duckdb.CatalogException):
            analyst.sql(form.format(ASK.format("s."))).fetchall()
        analyst.execute(DECOY.format(""))
        with pytest.raises(duckdb.InvalidInputException, match="USE the release first"):
            analyst.sql(form.format(ASK.format("s."))).fetchall()
        for view, n in (("baskets", 6), ("transactions", 7), ("item_counts", 5)):
            assert len(analyst.sql(f"FROM s.{view}").fetchall()) == n, view


def test_a_search_path_that_puts_other_tables_first_raises(sealed: Path) -> None:
    with duckdb.connect() as analyst:
        analyst.execute("CREATE TABLE labels AS SELECT 9 AS item_id, 'bread' AS item")
        analyst.execute(f"ATTACH '{sealed}' AS s (READ_ONLY)")
        analyst.execute("SET search_path = 'memory.main,s.main'")
        with pytest.raises(duckdb.InvalidInputException, match="USE the release first"):
            analyst.sql(ASK.format("s.")).fetchall()


@pytest.mark.slow
@each("table", ["transaction_items", "labels", "transaction_ids", "released_items", "manifest", "LABELS"])
@each("kind", ["TABLE", "VIEW"])
def test_a_temporary_table_never_takes_the_place_of_the_release(sealed: Path, table: str, kind: str) -> None:
    columns = {"released_items": "released_item, item", "manifest": "key, value"}
    with duckdb.connect(str(sealed), read_only=True) as analyst:
        original = columns.get(table.lower(), "*")
        analyst.execute(f"CREATE TEMP {kind} {table} AS SELECT {original} FROM spring.main.{table} LIMIT 1")
        with pytest.raises(duckdb.InvalidInputException, match="temporary"):
            analyst.sql(ASK.format("")).fetchall()
        for view in ("transactions", "baskets", "item_counts"):
            with pytest.raises(duckdb.InvalidInputException, match="temporary"):
                analyst.sql(f"FROM {view}").fetchall()


@pytest.mark.slow
def test_two_releases_attached(owner: Engine, sealed: Path, tmp_path: Path) -> None:
    other = frozen(owner, SHOP[:3], SHOP_BLOCKS, name="autumn")
    second = publish(owner, other.schema, tmp_path / "autumn.duckdb").path
    with duckdb.connect() as analyst:
        analyst.execute(f"ATTACH '{sealed}' AS s (READ_ONLY)")
        analyst.execute(f"ATTACH '{second}' AS t (READ_ONLY)")
        for current, asked, answer in (("s", "s", TRUTH), ("t", "t", [(1, 1.0, 1)]), ("s", "t", None), ("t", "s", None)):
            analyst.execute(f"USE {current}")
            if answer is None:
                with pytest.raises(duckdb.InvalidInputException, match="USE the release first"):
                    analyst.sql(ASK.format(f"{asked}.")).fetchall()
            else:
                assert analyst.sql(ASK.format("")).fetchall() == answer
                assert analyst.sql(ASK.format(f"{asked}.")).fetchall() == answer


@pytest.mark.slow
def test_in_the_owners_database_under_any_name(owner: Engine, tmp_path: Path) -> None:
    frozen(owner)
    frozen(owner, SHOP[:3], SHOP_BLOCKS, name="autumn")
    rows(owner, DECOY.format(""))
    assert rows(owner, ASK.format("release_spring.")) == TRUTH
    assert rows(owner, ASK.format("release_autumn.")) == [(1, 1.0, 1)]
    rows(owner, "CREATE TEMP TABLE labels AS SELECT 9 AS item_id, 'bread' AS item")
    assert rows(owner, ASK.format("release_spring.")) == TRUTH
    assert len(rows(owner, "FROM release_spring.baskets")) == 6
    owner.close()
    (tmp_path / "shop.duckdb").rename(tmp_path / "renamed.duckdb")
    with duckdb.connect(str(tmp_path / "renamed.duckdb"), read_only=True) as again:
        assert again.sql(ASK.format("release_spring.")).fetchall() == TRUTH
    with duckdb.connect() as analyst:
        analyst.execute(f"ATTACH '{tmp_path / 'renamed.duckdb'}' AS o (READ_ONLY)")
        with pytest.raises(duckdb.Error):
            analyst.sql(ASK.format("o.release_spring.")).fetchall()
        analyst.execute("CREATE SCHEMA release_spring;" + DECOY.format("release_spring."))
        with pytest.raises(duckdb.InvalidInputException, match="USE the release first"):
            analyst.sql(ASK.format("o.release_spring.")).fetchall()
        analyst.execute("USE o")
        assert analyst.sql(ASK.format("release_spring.")).fetchall() == TRUTH


def test_baskets_are_sorted_by_code_point_whatever_the_settings(owner: Engine) -> None:
    labels = ["b", "A", "a", "B", "é", "", "\U0001f34e", "\uffff", "z\n", "Z"]
    with keyed(b"k"):
        frozen(owner, [labels, []], {x: [x] for x in labels})
    wanted = sorted([[], sorted(labels)])
    text = "SELECT items FROM release_spring.baskets"
    assert sorted(r[0] for r in rows(owner, text)) == wanted
    rows(owner, "SET default_order = 'DESC'")
    rows(owner, "SET default_null_order = 'NULLS FIRST'")
    rows(owner, "SET default_collation = 'NOCASE'")
    assert sorted(r[0] for r in rows(owner, text)) == wanted


def test_the_body_is_a_query_that_runs_as_it_stands(bench: Bench) -> None:
    """The .sql file itself, bound to tables in the ordinary way, answers like the macro."""
    from anondb.engine import load

    bench.fill([["G"], ["G", "H"]], {"G": ["a", "b"], "H": ["c"]}, "none")
    tables = {
        t: Table("memory", "release_r", t)
        for t in ("manifest", "transaction_items", "labels", "transaction_ids", "released_items")
    }
    about = {"release_id": "number", "schema_name": "release_r", "macro_name": "count_bounds", "table_names": list(tables)}
    placed = load("release/in_place").bind({"manifest": tables["manifest"]}, about)
    checked = load("release/checked_items").bind({"in_place": placed}, {"items": "[a, c]"})
    parts = parts_of_bounds("release_r", GLOBAL, {"items": exp.convert(["a", "c"])})
    bound = {**tables, "checked": checked, "wanted": parts["wanted"], "blocks": parts["blocks"]}
    tree = load("release/count_bounds").bind(bound, {})
    found = bench.engine.select(tree)
    assert (found["lower_bound"][0], found["upper_bound"][0]) == (0, 1) == bench.ask_one(["a", "c"])[::2]
