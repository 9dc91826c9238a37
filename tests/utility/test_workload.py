from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from portions import some
from sqlglot import exp

from anondb.data.sources import Source, describe, open_source
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import DuckDBEngine, Engine, reads
from anondb.errors import InputError
from anondb.recoding import GlobalRecoding
from anondb.utility import counting
from anondb.utility import workload as workload_module
from anondb.utility.counting import count_itemsets
from anondb.utility.loss import generalized_items
from anondb.utility.workload import Workload, owner_workload, random_workload

Itemsets = list[tuple[int, ...]]


def load(engine: Engine, transactions: Sequence[Sequence[int]]) -> Dataset:
    """Items are numbers, written so that their code-point order is that of the numbers."""
    items = pa.array([[f"{i:06d}" for i in t] for t in transactions], type=pa.list_(pa.string()))
    given = pa.table({"tid": pa.array(range(len(transactions))), "item": items})
    with open_source(engine, given, "transactions") as source:
        return load_transactions(engine, source)


def itemsets(engine: Engine, drawn: Workload) -> Itemsets:
    found = engine.select(exp.select("query_id", "item").from_(drawn.queries.expression()).order_by("query_id", "item"))
    sets: dict[int, list[int]] = {}
    for number, item in zip(found["query_id"].tolist(), found["item"].tolist(), strict=True):
        sets.setdefault(number, []).append(item)
    assert list(sets) == list(range(1, drawn.n_queries + 1))
    return [tuple(s) for s in sets.values()]


def supported(transactions: Sequence[Sequence[int]], q: int, pool: set[int] | None = None) -> set[tuple[int, ...]]:
    return {x for t in transactions for x in combinations(sorted(i for i in set(t) if pool is None or i in pool), q)}


def random_data(seed: int, n: int = 40, items: int = 9) -> list[list[int]]:
    rng = random.Random(seed)
    data = [rng.sample(range(items), min(items, 1 + int(rng.expovariate(0.4)))) for _ in range(n)]
    return [*data, list(range(items))]


METHODS = {
    "listed": {},
    "pool": {"SMALL_MASS": 0, "MIN_ACCEPTANCE": 0.0},
    "transactions": {"SMALL_MASS": 0, "MIN_ACCEPTANCE": 0.0, "_itemsets_of_pool": None},
    "fallback": {"SMALL_MASS": 0, "MIN_ACCEPTANCE": 2.0},
}


def use(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    for name, value in METHODS[method].items():
        monkeypatch.setattr(workload_module, name, value or 0)
    if method == "transactions":
        nothing = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)
        monkeypatch.setattr(workload_module, "_itemsets_of_pool", lambda *_: nothing)
        monkeypatch.setattr(workload_module, "MIN_ACCEPTANCE", 1e-9)


@pytest.mark.parametrize("q", [1, 2, 3, 4])
@pytest.mark.parametrize("method", METHODS)
def test_distinct_supported_itemsets_are_drawn(engine: Engine, monkeypatch: pytest.MonkeyPatch, method: str, q: int) -> None:
    use(monkeypatch, method)
    data = random_data(q)
    dataset = load(engine, data)
    legal = supported(data, q)
    wanted = 5
    drawn = random_workload(engine, dataset, queries=wanted, size=q, seed=3)
    found = itemsets(engine, drawn)
    assert len(found) == len(set(found)) == drawn.n_queries == wanted
    assert set(found) <= legal
    assert found == sorted(found)
    assert (drawn.size, drawn.seed, drawn.draw) == (q, 3, "all")
    assert drawn.supports is not None
    assert drawn.supports.tolist() == [sum(set(s) <= set(t) for t in data) for s in found]


@pytest.mark.parametrize("method", ["listed", "fallback"])
def test_all_are_taken_where_fewer_exist(engine: Engine, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    use(monkeypatch, method)
    data = [*random_data(9)[:-1], [0, 1]]
    dataset = load(engine, data)
    for q in (1, 2, 3):
        drawn = random_workload(engine, dataset, queries=1000, size=q, target=f"w{q}")
        assert set(itemsets(engine, drawn)) == supported(data, q)
    assert random_workload(engine, dataset, size=20, target="none").n_queries == 0


@pytest.mark.parametrize("method", METHODS)
def test_pool_restricts_the_draw(engine: Engine, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    use(monkeypatch, method)
    data = random_data(11, items=12)
    dataset = load(engine, data)
    pool = np.array([7, 1, 2, 9, 4, 5, 10])
    drawn = random_workload(engine, dataset, queries=6, pool=pool)
    assert set(itemsets(engine, drawn)) <= supported(data, 2, set(pool.tolist()))
    assert (drawn.n_queries, drawn.draw) == (6, "generalized") and drawn.supports is not None
    assert drawn.supports.tolist() == [sum(set(s) <= set(t) for t in data) for s in itemsets(engine, drawn)]
    empty = random_workload(engine, dataset, pool=np.array([], dtype=np.int64), target="empty")
    assert empty.n_queries == 0


def test_generalized_items_have_several_members_and_are_kept() -> None:
    recoding = GlobalRecoding(np.array([0, 0, 1, -1, 2]), ("x", "y", "z"), np.array([0, 0, 1, 2, 2]), tuple("abcef"))
    assert generalized_items(recoding).tolist() == [0, 1, 4]


SKEWED = [[0, 1]] * 20 + [[0, 1, 2, 3]] * 6 + [[2, 4], [0, 5], [5, 6], [1, 3, 4], [7, 8], [8, 9, 0]]


def chi_square_share(counts: Counter[tuple[int, ...]], legal: set[tuple[int, ...]]) -> float:
    """Chi-square statistic of a uniform distribution, as a multiple of its degrees of freedom."""
    assert set(counts) <= legal
    expected = counts.total() / len(legal)
    assert expected >= 5
    return sum((counts[x] - expected) ** 2 / expected for x in legal) / (len(legal) - 1)


@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("method", ["pool", "transactions"])
def test_accepted_draws_are_uniform(engine: Engine, method: str, q: int) -> None:
    """Supports differ by a factor of 26, and no supported itemset is drawn more often for that."""
    dataset = load(engine, SKEWED)
    rng = np.random.default_rng(q)
    rows, number = dataset.transactions, 20_000
    supports_of = partial(count_itemsets, engine, rows)
    if method == "pool":
        accepted, _ = workload_module._itemsets_of_pool(supports_of, np.arange(dataset.n_items), q, rng, number)
    else:
        lengths = Counter(map(len, SKEWED))
        classes = [(n, c, c * math.comb(n, q)) for n, c in sorted(lengths.items()) if n >= q]
        accepted, _ = workload_module._itemsets_of_transactions(engine, rows, supports_of, classes, q, rng, None, number)
    assert chi_square_share(Counter(map(tuple, accepted.tolist())), supported(SKEWED, q)) < 2.5


@pytest.mark.slow
@pytest.mark.parametrize("method", some(METHODS, "pool", "transactions", check=()))
def test_workloads_are_uniform(engine: Engine, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    use(monkeypatch, method)
    dataset = load(engine, SKEWED)
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(30):
        counts.update(itemsets(engine, drawn := random_workload(engine, dataset, queries=4, seed=seed)))
        engine.drop(drawn.queries)
    assert chi_square_share(counts, supported(SKEWED, 2)) < 2.5


@pytest.mark.slow
@pytest.mark.parametrize("method", some(METHODS, "pool", "transactions", check=()))
def test_the_seed_decides_and_the_threads_do_not(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    use(monkeypatch, method)
    data = random_data(21, n=300, items=40)
    seen: dict[tuple[int, int], Itemsets] = {}
    for threads in (1, 2):
        opened = DuckDBEngine.open(threads=threads)
        with opened.transaction():
            dataset = load(opened, data)
            for seed in (0, 1):
                drawn = random_workload(opened, dataset, queries=30, seed=seed, target=f"w{seed}")
                seen[threads, seed] = itemsets(opened, drawn)
        opened.close()
    assert seen[1, 0] == seen[2, 0] != seen[1, 1] == seen[2, 1]


@pytest.mark.parametrize("cells, hits", [(counting.CELLS, counting.HITS), (50, 3)])
def test_supports_of_itemsets_of_all_sizes(engine: Engine, monkeypatch: pytest.MonkeyPatch, cells: int, hits: int) -> None:
    monkeypatch.setattr(counting, "CELLS", cells)
    monkeypatch.setattr(counting, "HITS", hits)
    data = random_data(31, n=60, items=7)
    dataset = load(engine, data)
    for q in (1, 2, 3, 4, 5):
        every = np.array(list(combinations(range(7), q)))
        found = count_itemsets(engine, dataset.transactions, every)
        assert found.tolist() == [sum(set(x) <= set(t) for t in data) for x in every.tolist()]
    mixed = [x for q in (1, 2, 4) for x in combinations(range(7), q)]
    pairs = [(n, i) for n, x in enumerate(mixed) for i in x]
    sets = engine.put("sets", {"set_id": ("INTEGER", [n for n, _ in pairs]), "item": ("INTEGER", [i for _, i in pairs])})
    counted = engine.select(
        reads.rows(counting.count_sets(engine, dataset.transactions, sets), "set_id, support", order="set_id")
    )
    seen = dict(zip(counted["set_id"].tolist(), counted["support"].tolist(), strict=True))
    truths = [sum(set(x) <= set(t) for t in data) for x in mixed]
    assert seen == dict(enumerate(truths))


@pytest.mark.parametrize(
    "name, value",
    [("queries", -1), ("queries", 1.5), ("size", 0), ("size", True), ("seed", -1), ("seed", 0.5), ("seed", True)],
)
def test_bad_parameters_are_refused(engine: Engine, name: str, value: Any) -> None:
    with pytest.raises(InputError, match=name) as error:
        random_workload(engine, load(engine, [[1, 2]]), **{name: value})
    assert error.value.code == "bad_parameter"


# ---------------------------------------------------------------------- the owner's queries


def source(engine: Engine, text: str) -> Source:
    query = sqlglot.parse_one(text, dialect="duckdb")
    assert isinstance(query, exp.Query)
    return describe(engine, query, "the workload")


def named(engine: Engine, workload: Workload) -> dict[str, list[tuple[int, str]]]:
    tables = [(workload.names, "n"), (workload.queries, "q"), (workload.items, "i")]
    names, queries, items = (exp.alias_(t.expression(), a, table=True) for t, a in tables)
    found = engine.select(
        exp.select("n.name", "q.item", "i.label")
        .from_(names)
        .join(queries, on="n.query_id = q.query_id", join_type="left")
        .join(items, on="q.item = i.item", join_type="left")
        .order_by("n.query_id", "q.item")
    )
    result: dict[str, list[tuple[int, str]]] = {}
    for name, item, label in zip(*(np.ma.asarray(found[c]).tolist() for c in ("name", "item", "label")), strict=True):
        result.setdefault(name, []).extend([] if item is None else [(item, label)])
    return result


def test_owner_queries_in_long_form(engine: Engine) -> None:
    dataset = load(engine, [[1, 2], [2, 3]])
    rows = "(10, '000001'), (10, '000003'), (10, '000001'), (9, 'new'), (9, '000002'), (11, 'also new')"
    given = source(engine, f"SELECT * FROM (VALUES {rows}) AS v(Query_ID, Item)")
    workload = owner_workload(engine, dataset, given)
    assert named(engine, workload) == {
        "9": [(1, "000002"), (4, "new")],
        "10": [(0, "000001"), (2, "000003")],
        "11": [(3, "also new")],
    }
    assert (workload.n_queries, workload.size, workload.seed, workload.draw) == (3, None, None, "owner")


def test_owner_queries_as_lists(engine: Engine) -> None:
    dataset = load(engine, [[1, 2], [2, 3]])
    given = source(engine, "SELECT * FROM (VALUES ('b', ['000001', '000002']), ('a', [])) AS v(query_id, items)")
    assert named(engine, owner_workload(engine, dataset, given)) == {"a": [], "b": [(0, "000001"), (1, "000002")]}
    numbers = source(engine, "SELECT * FROM (VALUES (1, [1, 2]), (2, [2, 3])) AS v(query_id, items)")
    assert owner_workload(engine, dataset, numbers, target="numbers").size == 2


def test_equal_queries_under_two_ids_stay_two(engine: Engine) -> None:
    dataset = load(engine, [[1]])
    given = source(engine, "SELECT * FROM (VALUES ('x', '000001'), ('X', '000001')) AS v(query_id, item)")
    assert owner_workload(engine, dataset, given).n_queries == 2


@pytest.mark.parametrize(
    "text, code",
    [
        ("SELECT 1 AS query_id, CAST(NULL AS VARCHAR) AS item", "null_item"),
        ("SELECT CAST(NULL AS INTEGER) AS query_id, 'secret' AS item", "null_id"),
        ("SELECT 1 AS query_id, ['secret', NULL] AS items", "null_item"),
        ("SELECT 1 AS query_id, CAST(NULL AS VARCHAR[]) AS items", "null_item"),
        ("SELECT CAST(NULL AS INTEGER) AS query_id, ['secret'] AS items", "null_id"),
        ("SELECT CAST(NULL AS INTEGER) AS query_id, CAST([] AS VARCHAR[]) AS items", "null_id"),
        ("SELECT 1.5::DOUBLE AS query_id, 'secret' AS item", "bad_type"),
        ("SELECT 1 AS query_id, 2.5::DOUBLE AS item", "bad_type"),
        ("SELECT 1 AS query_id, [['secret']] AS items", "bad_type"),
        ("SELECT 1 AS query_id", "no_such_column"),
        ("SELECT 'secret' AS item", "no_such_column"),
        ("SELECT 1 AS query_id, 'secret' AS item WHERE false", "empty_workload"),
    ],
)
def test_bad_owner_queries_are_refused(engine: Engine, text: str, code: str) -> None:
    dataset = load(engine, [[1]])
    with pytest.raises(InputError) as error:
        owner_workload(engine, dataset, source(engine, text))
    assert error.value.code == code
    assert "secret" not in str(error.value)
