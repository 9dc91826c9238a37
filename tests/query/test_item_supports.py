"""Answers from a release with item supports: sound for the original and for every other that the release may come from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import reference_supports as ref
from portions import portions, some
from query.sealing import Asked, Sessions
from query.test_bounds import KNOWN, LOST, random_condition
from release.cases import catalog, dataset, recoding

import anondb
from anondb.engine import Engine
from anondb.errors import InputError
from anondb.models.transactional import KmAnonymity
from anondb.release.freeze import freeze
from anondb.release.item_supports import SupportRule
from anondb.release.objects import release_schema
from anondb.views.results import Refreshed

COUNT = "SELECT count(DISTINCT tid) FROM t WHERE {}"


def opened(
    asked: Sessions,
    engine: Engine,
    transactions: Sequence[Sequence[str]],
    blocks: dict[str, list[str]],
    rule: SupportRule | None,
) -> Asked:
    """A release with item supports, or without."""
    schema = release_schema(catalog(engine), "plain" if rule is None else "supported")
    with engine.transaction():
        data = replace(dataset(engine, transactions), table="t", id_column="tid", item_column="item")
        model = KmAnonymity(k=2, m=2)
        freeze(engine, data, recoding(data, blocks), model, release_schema=schema, replace=True, supports=rule)
    return asked(engine, schema)


def case(draw: random.Random, rows: int) -> tuple[list[list[str]], dict[str, list[str]]]:
    """Transactions over a few items, and a recoding that suppresses some items in every other case."""
    items = draw.sample(KNOWN, draw.randint(2, 5))
    blocks: dict[str, list[str]] = {}
    for item in items:
        blocks.setdefault(f"g{draw.randint(0, 1)}", []).append(item)
    domain = items + (LOST if draw.random() < 0.5 else [])
    transactions = [draw.sample(domain, draw.randint(0, min(3, len(domain)))) for _ in range(rows)]
    transactions.append(list(domain))  # all of them occur
    return transactions, blocks


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(1, night=1000))
def test_boolean_conditions(engine: Engine, asked: Sessions, seeds: range) -> None:
    """Sound, and never wider than the answers from the rows alone."""
    answered = narrower = 0
    for seed in seeds:
        draw = random.Random(seed)
        transactions, blocks = case(draw, draw.randint(4, 24))
        rule = SupportRule(draw.choice([2, 3, 4]), draw.choice([1, 2, None]))
        plain, supported = (
            opened(asked, engine, transactions, blocks, None),
            opened(asked, engine, transactions, blocks, rule),
        )
        for _ in range(8):
            text, holds = random_condition(draw, "t.tid", draw.randint(0, 2))
            try:
                wide = plain.answer(COUNT.format(text)).bounds
            except InputError:
                continue
            low, estimate, high = supported.answer(COUNT.format(text)).bounds
            truth = sum(bool(t) and holds(frozenset(t)) for t in transactions)
            assert wide[0] <= low <= truth <= high <= wide[2] and low <= estimate <= high, (seed, text)
            answered, narrower = answered + 1, narrower + (high - low < wide[2] - wide[0])
    assert narrower > answered / 20


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(2, night=3000))
def test_all_originals(engine: Engine, asked: Sessions, seeds: range) -> None:
    """Every original that leads to the same rows and the same item supports."""
    checked = 0
    for seed in seeds:
        draw = random.Random(seed)
        transactions, blocks = case(draw, draw.randint(2, 4))
        rule = SupportRule(2, draw.choice([1, 2, None]))
        image = {item: label for label, members in blocks.items() for item in members}
        originals = [frozenset(t) for t in transactions]
        rows = [frozenset(image[i] for i in t if i in image) for t in originals]
        free = LOST if any(i not in image for t in originals for i in t) else []
        table = ref.published(rows, blocks, originals, rule.k, rule.m or 99)
        worlds = list(ref.worlds(rows, blocks, table, free)) if len(free) * len(rows) < 9 else []
        if not 0 < len(worlds) < 3_000:
            continue
        checked += 1
        supported = opened(asked, engine, transactions, blocks, rule)
        for _ in range(4):
            text, holds = random_condition(draw, "t.tid", draw.randint(0, 1))
            try:
                low, _, high = supported.answer(COUNT.format(text)).bounds
            except InputError:
                continue
            counts = {sum(bool(t) and holds(t) for t in world) for world in worlds}
            assert low <= min(counts) and max(counts) <= high, (seed, text)
    assert checked >= len(seeds) / 4


def test_items_rows_and_groups(engine: Engine, asked: Sessions) -> None:
    transactions = [["apple"]] * 8 + [["pear"]] * 3 + [["apple", "beef"]] * 5
    release = opened(asked, engine, transactions, {"Fruit": ["apple", "pear"], "beef": ["beef"]}, SupportRule(2, 2))
    grouped = release.answer("SELECT item, count(*) FROM t GROUP BY item").rows
    assert grouped == (("apple", 12, 14.0, 16), ("beef", 5, 5.0, 5), ("pear", 3, 3.5, 4))
    assert release.answer("SELECT count(*) FROM t WHERE item = 'apple'").bounds == (12, 14.0, 16)
    assert release.answer("SELECT count(*) FROM t WHERE item IN ('apple', 'pear')").bounds == (16, 17.5, 20)
    assert release.answer("SELECT count(*) FROM t WHERE item LIKE 'pea%'").bounds == (3, 3.5, 4)
    assert release.answer("SELECT count(*) FROM t WHERE item = 'unknown'").bounds == (0, 0.0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", some(["mhghs", "lra", "partition", "coat", "similar"], "lra", check=()))
def test_real_algorithms(algorithm: str) -> None:
    """``query``, ``count_bounds``, ``item_counts`` and the accuracy of a release agree, and hold."""
    rng = random.Random(7)
    items = "abcdefgh"
    people = [sorted({*rng.choices(items, weights=range(1, 9), k=rng.choice([1, 2, 3, 4]))}) for _ in range(60)]
    model = anondb.TransactionalK(3) if algorithm == "partition" else anondb.KmAnonymity(4, 2)
    options = {"max_suppression": 100} if algorithm == "coat" else {"taxonomy": "tree"}
    with anondb.connect() as database:
        connection = database.engine.connection
        connection.execute("CREATE TABLE t (tid INTEGER, item VARCHAR); CREATE TABLE tree (node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, i) for n, p in enumerate(people) for i in p])
        edges = [(item, f"N{n // 3}") for n, item in enumerate(items)] + [(f"N{n}", "*") for n in range(3)]
        connection.executemany("INSERT INTO tree VALUES (?, ?)", edges)
        release = database.anonymize(
            "t", model=model, algorithm=algorithm, name="r", queries=20, item_supports=True, **options
        )
        assert release.verification.item_supports == 0 and release.manifest["item_supports"] == "true"
        for item, *alone in connection.execute("FROM release_r.item_counts").fetchall():
            truth = sum(item in p for p in people)
            answers = [
                alone,
                release.count_bounds([item]),
                release.query(f"SELECT count(*) FROM t WHERE item = '{item}'").bounds,
            ]
            assert all(low <= truth <= high for low, _, high in answers), item
            assert len({(low, high) for low, _, high in answers}) == 1, item
        answers = (
            "SELECT items, truth, estimate, lower_bound, upper_bound FROM anondb.accuracy NATURAL JOIN anondb.workloads"
        )
        for listed, truth, estimate, low, high in connection.execute(answers).fetchall():
            least, expected, most = release.count_bounds(listed)
            assert (low, high) == (least, most) and estimate == pytest.approx(expected) and low <= truth <= high, listed


@pytest.mark.slow
@pytest.mark.slow
def test_a_longer_list_of_items_has_no_smaller_lower_bound(tmp_path: Path) -> None:
    """Of seven items, each six are asked for alone; of more, each six of the seven that most have."""
    draw = random.Random(0)
    items = [f"i{n}" for n in range(14)]
    held = [(tid, item) for tid in range(120) for item in draw.sample(items, draw.randint(1, 3))]
    nodes = [*((item, f"g{n % 5}") for n, item in enumerate(items)), *((f"g{n}", "all") for n in range(5))]
    sales, tree = pd.DataFrame(held, columns=["tid", "item"]), pd.DataFrame(nodes, columns=["node", "parent"])
    options: dict[str, Any] = {"algorithm": "similar", "item_supports": True, "name": "r", "queries": 1}
    with anondb.connect() as db:
        db.anonymize(sales, taxonomy=tree, model=KmAnonymity(5, 2), **options).publish(tmp_path / "r.duckdb")
    with anondb.open(tmp_path / "r.duckdb") as session:
        for _ in range(12):
            listed = draw.sample(items, 7)
            tests = [", ".join(f"'{item}'" for item in listed[:n]) for n in (6, 7)]
            asked = [f"SELECT count(DISTINCT tid) AS n FROM transactions WHERE item IN ({test})" for test in tests]
            few, more = (session.sql(sql).bounds[0] for sql in asked)
            assert few <= more, listed


def test_against_the_source() -> None:
    """Counts that are not those of the current source are reported."""
    with anondb.connect() as database:
        database.sql(
            "CREATE TABLE t AS SELECT i AS tid, unnest(['i' || i % 4, 'j' || i % 3]) AS item FROM range(120) r(i);"
            " CREATE TABLE tree AS SELECT DISTINCT item AS node, left(item, 1) AS parent FROM t"
            " UNION ALL SELECT * FROM (VALUES ('i', '*'), ('j', '*')) v(node, parent)"
        )
        model, options = anondb.KmAnonymity(11, 2), {"taxonomy": "tree", "queries": 2}
        release = database.anonymize("t", model=model, name="r", item_supports=True, **options)
        assert database.engine.connection.execute("SELECT count(*) FROM release_r.item_supports").fetchall() != [(0,)]
        assert database.check_view("r").verification.item_supports == 0
        database.sql("UPDATE t SET item = replace(item, '1', '0') WHERE tid < 90")
        changed = database.check_view("r")
        assert changed.verification.item_supports and not changed.holds and release.verification.verified


@pytest.mark.slow
def test_a_refreshed_view_is_told_of_its_recoding_alone() -> None:
    """Counts change with the data; that says nothing of whether the old recoding would still do."""
    with anondb.connect() as database:
        database.sql(
            "CREATE TABLE t AS SELECT i AS tid, unnest(['i' || i % 4, 'j' || i % 3]) AS item FROM range(120) r(i);"
            " CREATE TABLE tree AS SELECT DISTINCT item AS node, left(item, 1) AS parent FROM t"
            " UNION ALL SELECT * FROM (VALUES ('i', '*'), ('j', '*')) v(node, parent);"
            " CREATE ANONYMIZED VIEW v AS FROM t WITH (k = 11, taxonomy = 'tree', item_supports = true, queries = 2)"
        )
        database.sql("INSERT INTO t SELECT 120 + i, unnest(['i0', 'j' || i % 3]) FROM range(40) r(i)")
        refreshed = database.sql("REFRESH ANONYMIZED VIEW v")
        assert isinstance(refreshed, Refreshed) and refreshed.check is not None
        assert refreshed.check.verification.item_supports and refreshed.check.keeps_policy and not refreshed.check.holds
        assert "the old recoding would still hold" in refreshed.words and refreshed.to_json()["old_recoding_holds"]


REFUSED: list[tuple[anondb.models.Model, dict[str, object]]] = [
    (anondb.TransactionalK(2), {"algorithm": "clump", "taxonomy": "tree"}),
    (anondb.HkpCoherence(0.8, 2, 1), {"sensitive": ["i1"], "max_suppression": 100}),
    (anondb.Anatomy(2, columns=2), {}),
    (anondb.KkmAnonymity(2, 1), {"records": "people", "quasi_identifiers": "age"}),
    (anondb.KmAnonymity(100, 2), {"algorithm": "coat", "max_suppression": 100}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "options"), some(REFUSED, REFUSED[3], ids=lambda case: case[0].name, check=()))
def test_releases_that_cannot_have_them(model: anondb.models.Model, options: dict[str, object]) -> None:
    with anondb.connect() as database:
        database.sql(
            "CREATE TABLE t AS SELECT i AS tid, unnest(['i' || i % 4, 'j' || i % 3]) AS item FROM range(24) r(i);"
            " CREATE TABLE people AS SELECT i AS tid, 20 + i % 3 AS age FROM range(24) r(i);"
            " CREATE TABLE tree AS SELECT DISTINCT item AS node, '*' AS parent FROM t"
        )
        with pytest.raises(InputError) as refused:
            database.anonymize("t", model=model, name="r", item_supports=True, queries=2, **options)  # type: ignore[arg-type]
        assert refused.value.code == "no_item_supports"
        assert not database.releases()
        database.sql(
            "CREATE ANONYMIZED VIEW v AS FROM t"
            " WITH (model = 'km', k = 3, taxonomy = 'tree', item_supports = true, queries = 2)"
        )
        assert database.release("v").manifest["item_supports"] == "true"
