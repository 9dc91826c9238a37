"""Queries answered from the buckets of an anatomy: sound over every original that it may come from, or refused."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest
import reference_anatomy as ref
from anatomy_cases import members, recoded
from portions import some
from query.sealing import Sessions
from query.test_bounds import random_condition
from release.cases import catalog

from anondb.engine import Engine
from anondb.errors import InputError
from anondb.models.anatomy import Anatomy
from anondb.release.freeze import freeze
from anondb.release.objects import SchemaName, release_schema

Basket = frozenset[str]


def anatomy(
    engine: Engine, transactions: list[list[str]], columns: list[list[str]], l: int = 1
) -> tuple[SchemaName, list[list[list[Basket]]]]:
    """A release, and every original of each of its buckets. With l = 1 a bucket is a single transaction, so the buckets are
    made larger by hand: two of them."""
    schema = release_schema(catalog(engine), "anatomy")
    with engine.transaction():
        data, recoding = recoded(engine, transactions, columns, Anatomy(l, len(columns)))
        if l == 1:
            recoding.bucket[:] = 1
            recoding.bucket[len(transactions) // 2 :] = 2 if len(transactions) > 1 else 1
        data = replace(data, table="t")
        freeze(engine, data, recoding, Anatomy(l, len(columns)), release_schema=schema, replace=True)
    originals = []
    for bucket in members(recoding):
        cells = [[frozenset(transactions[r]) & frozenset(column) for r in bucket] for column in columns]
        originals.append([list(o) for o in ref.reconstructions(cells)])
    return schema, originals


def random_data(draw: random.Random) -> tuple[list[list[str]], list[list[str]]]:
    items = draw.sample("abcdef", draw.randint(2, 5))
    cut = draw.randint(1, len(items) - 1)
    columns = [items[:cut], items[cut:]]
    transactions = [[i for i in items if draw.random() < 0.5] for _ in range(draw.randint(2, 7))]
    for item in items:
        if not any(item in t for t in transactions):
            transactions[0].append(item)
    return transactions, columns


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(40), 0, 11, check=[1]))
def test_bounds_hold_for_every_original(engine: Engine, asked: Sessions, seed: int) -> None:
    draw = random.Random(seed)
    transactions, columns = random_data(draw)
    schema, originals = anatomy(engine, transactions, columns)
    release = asked(engine, schema)
    answered = 0
    for _ in range(8):
        text, predicate = random_condition(draw, "t.tid", draw.randint(0, 2))
        try:
            lower, estimate, upper = release.answer(f"SELECT count(DISTINCT tid) FROM t WHERE {text}").bounds
        except InputError as error:
            assert error.code == "unsupported_query", text
            continue
        answered += 1
        # in the long form, persons without items do not occur
        counts = [{sum(bool(t) and predicate(t) for t in o) for o in choices} for choices in originals]
        assert lower <= sum(map(min, counts)) and sum(map(max, counts)) <= upper, (seed, text)
        assert lower <= estimate <= upper
    assert answered >= 2


@pytest.mark.parametrize("seed", some(range(10), 0))
def test_conjunctions_and_disjunctions_are_tight(engine: Engine, asked: Sessions, seed: int) -> None:
    draw = random.Random(1000 + seed)
    transactions, columns = random_data(draw)
    schema, originals = anatomy(engine, transactions, columns)
    release = asked(engine, schema)
    for one, other in product(*columns):
        has = [f"tid IN (SELECT tid FROM t WHERE item = '{i}')" for i in (one, other)]
        for word, predicate in (("AND", all), ("OR", any)):
            found = release.answer(f"SELECT count(DISTINCT tid) FROM t WHERE {f' {word} '.join(has)}").bounds
            counts = [{sum(predicate(i in t for i in (one, other)) for t in o) for o in c} for c in originals]
            assert (found[0], found[2]) == (sum(map(min, counts)), sum(map(max, counts))), (seed, word)
            assert found[0] <= found[1] <= found[2]


@pytest.mark.slow
def test_single_items_are_exact_and_the_rest_is_refused(engine: Engine, asked: Sessions) -> None:
    transactions = [["a", "b", "x"], ["a", "x"], ["b", "y"], ["y", "z"], ["z"], ["a"]]
    schema, _ = anatomy(engine, transactions, [["a", "b"], ["x", "y", "z"]], l=2)
    release = asked(engine, schema)

    def bounds(sql: str) -> tuple[int, float, int]:
        return release.answer(sql).bounds

    assert bounds("SELECT count(*) FROM t WHERE item = 'a'") == (3, 3.0, 3)
    assert bounds("SELECT count(*) FROM t WHERE item <> 'nothing'") == (11, 11.0, 11)
    assert bounds("SELECT count(DISTINCT tid) FROM t WHERE item IN ('x', 'y')") == (4, 4.0, 4)
    assert bounds("SELECT count(DISTINCT tid) FROM t WHERE item = 'unknown'") == (0, 0.0, 0)
    grouped = release.answer("SELECT item, count(*) FROM t GROUP BY item ORDER BY item")
    assert grouped.rows == tuple((i, n, float(n), n) for i, n in (("a", 3), ("b", 2), ("x", 2), ("y", 2), ("z", 2)))
    lower, _, upper = bounds(
        "SELECT count(*) FROM (SELECT tid FROM t WHERE item IN ('a', 'x') GROUP BY tid HAVING count(DISTINCT item) = 2)"
    )
    assert lower <= 2 <= upper
    both = "SELECT count(*) FROM (SELECT tid FROM t WHERE item IN ({}) GROUP BY tid HAVING count(DISTINCT item) = 2)"
    assert bounds(both.format("'a', 'b'")) == bounds(both.format("'y', 'z'")) == (1, 1.0, 1)  # exact in one column
    for refused in (
        "SELECT count(*) FROM (SELECT tid FROM t GROUP BY tid HAVING count(DISTINCT item) >= 2)",
        "SELECT count(*) FROM t WHERE tid IN (SELECT tid FROM t WHERE item = 'a')",
        "SELECT item, count(*) FROM t WHERE tid IN (SELECT tid FROM t WHERE item = 'a') GROUP BY item",
    ):
        with pytest.raises(InputError) as raised:
            release.answer(refused)
        assert raised.value.code == "unsupported_query", refused
