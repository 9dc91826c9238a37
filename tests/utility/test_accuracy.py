from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import goldens
import numpy as np
import pyarrow as pa
import pytest
import reference as ref
from reference_expected import expected_count, expected_holders
from sqlglot import exp

from anondb.data.sources import open_source
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine, Table
from anondb.models.transactional import KmAnonymity
from anondb.recoding import GlobalRecoding
from anondb.release.freeze import FrozenRelease, freeze
from anondb.release.objects import release_schema
from anondb.risk.accuracy import measure_on
from anondb.utility.accuracy import Accuracy
from anondb.utility.workload import Workload, owner_workload


def lists(key: str, column: str, rows: Sequence[Sequence[str]]) -> pa.Table:
    values = pa.array([list(r) for r in rows], type=pa.list_(pa.string()))
    return pa.table({key: pa.array(range(len(rows)), type=pa.int32()), column: values})


def load(engine: Engine, transactions: Sequence[Sequence[str]]) -> Dataset:
    with open_source(engine, lists("tid", "item", transactions), "transactions") as source:
        return load_transactions(engine, source)


def ask(engine: Engine, dataset: Dataset, queries: Sequence[Sequence[str]]) -> Workload:
    with open_source(engine, lists("query_id", "items", queries), "workload") as source:
        return owner_workload(engine, dataset, source)


def release(engine: Engine, dataset: Dataset, blocks: Sequence[Sequence[str]]) -> FrozenRelease:
    """The release in which each block of items is one released item; items of no block are suppressed."""
    number = {i: n for n, block in enumerate(blocks) for i in block}
    flat = [(n, i) for n, block in enumerate(blocks) for i in block]
    recoding = GlobalRecoding(
        image=np.array([number.get(i, -1) for i in dataset.labels], dtype=np.int64),
        labels=tuple("+".join(b) for b in blocks),
        member_of=np.array([n for n, _ in flat], dtype=np.int64),
        member_labels=tuple(i for _, i in flat),
    )
    return freeze(engine, dataset, recoding, KmAnonymity(2, 2), release_schema=release_schema("memory", "r"), replace=True)


def measure(engine: Engine, dataset: Dataset, frozen: FrozenRelease, workload: Workload, k: int | None = 2) -> Accuracy:
    manifest = {name: text for name, text in frozen.manifest.items() if name != "k"} | ({} if k is None else {"k": str(k)})
    return measure_on(engine, dataset, frozen.schema, frozen.kind, manifest, workload, must_hold=False)


def rows_of(engine: Engine, table: Table) -> list[dict[str, Any]]:
    columns = engine.select(exp.select("*").from_(table.expression()))
    data = {k: np.ma.asarray(v).tolist() for k, v in columns.items()}
    data["items"] = [list(v) for v in data["items"]]
    return [dict(zip(data, values, strict=True)) for values in zip(*data.values(), strict=True)]


def check(
    engine: Engine,
    transactions: Sequence[Sequence[str]],
    blocks: Sequence[Sequence[str]],
    queries: Sequence[Sequence[str]],
    brute: bool = False,
) -> tuple[list[dict[str, Any]], Any]:
    """Measure, and compare every answer with the naive references."""
    dataset = load(engine, transactions)
    frozen = release(engine, dataset, blocks)
    workload = ask(engine, dataset, queries)
    accuracy = measure(engine, dataset, frozen, workload)
    rows = rows_of(engine, accuracy.answers)
    published = [{"+".join(b) for b in blocks if set(b) & set(t)} for t in transactions]
    members = {g: b for b in blocks if (g := "+".join(b)) in set().union(*published)}
    holders = expected_holders(published, members)
    n, suppressed = len(transactions), any(not any(i in b for b in blocks) for t in transactions for i in t)
    assert [r["query_id"] for r in rows] == [str(i) for i in range(len(queries))]
    for query, row in zip(queries, rows, strict=True):
        truth = ref.support(query, transactions)
        estimate = expected_count(published, members, query, holders)
        assert row["items"] == sorted(set(query))
        assert row["truth"] == truth
        assert row["estimate"] == pytest.approx(estimate, rel=1e-9, abs=1e-9)
        assert (row["relative_error"] is None) == (truth == 0)
        if truth:
            assert row["relative_error"] == pytest.approx(abs(truth - row["estimate"]) / truth, rel=1e-12, abs=1e-12)
        known = [g for g in members if set(members[g]) & set(query)]
        upper = sum(set(known) <= set(t) for t in published)
        complete = all(any(i in members[g] for g in known) for i in query)
        exact = complete and all(len(members[g]) == 1 for g in known)
        assert row["upper_bound"] == (upper if complete or suppressed else 0)
        assert row["lower_bound"] == (upper if exact else 0)
        assert row["lower_bound"] <= truth <= row["upper_bound"] <= n
        if brute:
            domain = {i for t in transactions for i in t} | {i for b in blocks for i in b} | set(query)
            bounds = ref.true_bounds(
                published, members, domain, "some" if suppressed else "none", lambda o, q=set(query): q <= o
            )
            assert (row["lower_bound"], row["upper_bound"]) == bounds
    mean, skipped = ref.avg_re(transactions, published, members, queries)
    assert accuracy.outside == 0
    assert accuracy.skipped == skipped
    assert accuracy.queries == len(queries)
    assert (accuracy.average_relative_error is None) == (mean is None)
    if mean is not None:
        assert accuracy.average_relative_error == pytest.approx(float(mean), rel=1e-9, abs=1e-12)
    return rows, accuracy


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("p_item"))
def test_golden_p_item(inputs: Any, expected: Any) -> None:
    assert [str(ref.p_item(s)) for s in inputs["sizes"]] == expected["p"]
    assert [str(ref.p_item(s, 2)) if s > 1 else None for s in inputs["sizes"]] == expected["p_two_items_inside"]
    assert ref.p_item(1, 2) == 0


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("avgre"))
def test_golden_avgre(engine: Engine, inputs: Any, expected: Any) -> None:
    transactions = [items for _, items in inputs["original"]]
    blocks = sorted({tuple(b) for t in inputs["generalized"].values() for b in t})
    queries = [entry["query"] for entry in expected["queries"]]
    rows, accuracy = check(engine, transactions, blocks, queries)
    for row, entry in zip(rows, expected["queries"], strict=True):
        assert row["truth"] == entry["actual"]
    wanted = expected.get("avgre_joint")
    mean = accuracy.average_relative_error
    assert (mean is None) if wanted is None else mean == pytest.approx(float(Fraction(wanted)))


def random_case(rng: random.Random, n_items: int, n: int) -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    domain = [f"i{j}" for j in range(n_items)]
    transactions = [rng.sample(domain, rng.randint(0, n_items)) for _ in range(n)]
    pool = [*domain, "never", "beyond"]
    placed = rng.sample(pool, rng.randint(0, len(pool)) if rng.random() < 0.5 else len(pool))
    blocks = []
    while placed:
        cut = rng.randint(1, min(4, len(placed)))
        blocks.append(sorted(placed[:cut]))
        placed = placed[cut:]
    everything = [*pool, "unheard of"]
    queries = [rng.sample(everything, rng.randint(0, min(5, len(everything)))) for _ in range(100)]
    return transactions, blocks, queries


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "cases"), [(5, 10), pytest.param(6, 30, marks=pytest.mark.nightly)])
def test_random_answers_equal_the_naive_ones(engine: Engine, seed: int, cases: int) -> None:
    rng = random.Random(seed)
    for _ in range(cases):
        case = random_case(rng, rng.randint(1, 9), rng.randint(1, 12))
        check(engine, *case)
        drop_all(engine)


@pytest.mark.slow
def test_bounds_are_the_extremes_over_all_consistent_originals(engine: Engine) -> None:
    rng = random.Random(6)
    for _ in range(6):
        transactions, blocks, queries = random_case(rng, rng.randint(1, 3), rng.randint(1, 3))
        check(engine, transactions, blocks, queries[:20], brute=True)
        drop_all(engine)


def drop_all(engine: Engine) -> None:
    engine.drop(*(engine.work_table(n.removeprefix("_anondb_")) for n in sorted(engine._work)))


def test_huge_released_items_do_not_overflow(engine: Engine) -> None:
    block = sorted(f"i{n}" for n in range(3000))
    _, accuracy = check(engine, [["i0", "i1"], ["i2"]], [block], [["i0"], ["i0", "i1"], ["i0", "i1", "i2"]])
    assert accuracy.average_relative_error == pytest.approx((0 + 0.5) / 2)


def test_untouched_items_are_answered_exactly(engine: Engine) -> None:
    rng = random.Random(8)
    transactions = [rng.sample("abcdef", rng.randint(0, 6)) for _ in range(30)]
    queries = [rng.sample("abcdef", rng.randint(1, 4)) for _ in range(40)]
    rows, accuracy = check(engine, transactions, [[i] for i in "abcdef"], queries)
    assert all(r["truth"] == r["estimate"] == r["lower_bound"] == r["upper_bound"] for r in rows)
    assert accuracy.average_relative_error == 0.0


def test_everything_suppressed_and_nothing_there(engine: Engine) -> None:
    rows, accuracy = check(engine, [["a"], ["b"]], [], [["a"], ["a", "b"], []])
    assert [r["upper_bound"] for r in rows] == [2, 2, 2]
    assert accuracy.average_relative_error == pytest.approx(0.5)
    drop_all(engine)
    rows, accuracy = check(engine, [[], []], [["z"]], [["z"], []])
    assert [r["upper_bound"] for r in rows] == [0, 2]


def test_a_release_of_other_data_is_noticed(engine: Engine) -> None:
    frozen = release(engine, load(engine, [["a"], []]), [["a"]])
    drop_all(engine)
    dataset = load(engine, [["a"], ["a"]])
    assert measure(engine, dataset, frozen, ask(engine, dataset, [["a"]])).outside == 1
