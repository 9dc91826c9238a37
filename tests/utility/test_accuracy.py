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
from sqlglot import exp

from anondb.data.sources import open_source
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine, Table
from anondb.errors import InputError
from anondb.recoding import GlobalRecoding
from anondb.utility.accuracy import ReleasedData, measure, of_release
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


def release(
    engine: Engine, transactions: Sequence[Sequence[str]], blocks: Sequence[Sequence[str]], dataset: Dataset
) -> tuple[ReleasedData, GlobalRecoding]:
    number = {i: n for n, block in enumerate(blocks) for i in block}
    flat = [(n, i) for n, block in enumerate(blocks) for i in block]
    recoding = GlobalRecoding(
        image=np.array([number.get(i, -1) for i in dataset.labels], dtype=np.int64),
        labels=tuple("+".join(b) for b in blocks),
        member_of=np.array([n for n, _ in flat], dtype=np.int64),
        member_labels=tuple(i for _, i in flat),
    )
    pairs = sorted({(n + 1, number[i]) for n, t in enumerate(transactions) for i in t if i in number})
    rows = engine.put("released", {"tid": ("INTEGER", [n for n, _ in pairs]), "item": ("INTEGER", [i for _, i in pairs])})
    columns = {"released": ("INTEGER", recoding.member_of), "label": ("VARCHAR", list(recoding.member_labels))}
    members = engine.put("members", columns)
    return ReleasedData(rows, members, bool((recoding.image < 0).any())), recoding


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
    estimator: str = "joint",
    brute: bool = False,
) -> tuple[list[dict[str, Any]], Any]:
    """Measure, and compare every answer with the naive references."""
    dataset = load(engine, transactions)
    released, _ = release(engine, transactions, blocks, dataset)
    workload = ask(engine, dataset, queries)
    accuracy = measure(engine, dataset, released, workload, estimator=estimator)
    rows = rows_of(engine, accuracy.answers)
    published = [{"+".join(b) for b in blocks if set(b) & set(t)} for t in transactions]
    members = {g: b for b in blocks if (g := "+".join(b)) in set().union(*published)}
    n, suppressed = len(transactions), any(not any(i in b for b in blocks) for t in transactions for i in t)
    assert [r["query_id"] for r in rows] == [str(i) for i in range(len(queries))]
    for query, row in zip(queries, rows, strict=True):
        truth = ref.support(query, transactions)
        estimate = ref.estimate(published, members, query, estimator == "product")
        error = ref.relative_error(truth, estimate)
        assert row["items"] == sorted(set(query))
        assert row["truth"] == truth
        assert row["estimate"] == pytest.approx(float(estimate), rel=1e-12, abs=1e-12)
        assert (row["relative_error"] is None) == (error is None)
        if error is not None:
            assert row["relative_error"] == pytest.approx(float(error), rel=1e-9, abs=1e-12)
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
    mean, skipped = ref.avg_re(transactions, published, members, queries, estimator == "product")
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


@pytest.mark.parametrize("estimator", ["joint", "product"])
@pytest.mark.parametrize(("inputs", "expected"), goldens.params("avgre"))
def test_golden_avgre(engine: Engine, inputs: Any, expected: Any, estimator: str) -> None:
    transactions = [items for _, items in inputs["original"]]
    blocks = sorted({tuple(b) for t in inputs["generalized"].values() for b in t})
    queries = [entry["query"] for entry in expected["queries"]]
    rows, accuracy = check(engine, transactions, blocks, queries, estimator)
    for row, entry in zip(rows, expected["queries"], strict=True):
        assert row["truth"] == entry["actual"]
        if f"estimate_{estimator}" in entry:
            assert row["estimate"] == pytest.approx(float(Fraction(entry[f"estimate_{estimator}"])))
        if f"re_{estimator}" in entry:
            wanted = entry[f"re_{estimator}"]
            error = row["relative_error"]
            assert (error is None) if wanted is None else error == pytest.approx(float(Fraction(wanted)), abs=1e-12)
    if f"avgre_{estimator}" in expected:
        wanted = expected[f"avgre_{estimator}"]
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
@pytest.mark.parametrize(("seed", "cases"), [(5, 10), pytest.param(6, 30, marks=pytest.mark.slow)])
def test_random_answers_equal_the_naive_ones(engine: Engine, seed: int, cases: int) -> None:
    rng = random.Random(seed)
    for number in range(cases):
        case = random_case(rng, rng.randint(1, 9), rng.randint(1, 12))
        check(engine, *case, "product" if number % 4 == 0 else "joint")
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


def test_an_existing_release_gives_the_same_answers(engine: Engine) -> None:
    rng = random.Random(7)
    transactions, blocks, queries = random_case(rng, 8, 15)
    dataset = load(engine, transactions)
    released, recoding = release(engine, transactions, blocks, dataset)
    workload = ask(engine, dataset, queries)
    first = rows_of(engine, measure(engine, dataset, released, workload).answers)

    published = [(n, "+".join(b)) for n, t in enumerate(transactions) for b in blocks if set(b) & set(t)]
    rng.shuffle(published)
    occurring = {g for _, g in published}
    code = {label: n for n, label in enumerate(sorted(occurring))}
    rows = engine.put(
        "frozen_rows", {"tid": ("INTEGER", [n for n, _ in published]), "item": ("INTEGER", [code[g] for _, g in published])}
    )
    labels = engine.put("frozen_labels", {"item": ("INTEGER", list(code.values())), "label": ("VARCHAR", list(code))})
    stands = [("+".join(b), i) for b in blocks for i in b if "+".join(b) in occurring]
    items = engine.put(
        "frozen_items", {"released_item": ("VARCHAR", [g for g, _ in stands]), "item": ("VARCHAR", [i for _, i in stands])}
    )
    again = of_release(engine, rows, labels, items, suppressed=bool((recoding.image < 0).any()))
    second = rows_of(engine, measure(engine, dataset, again, workload, target="second").answers)
    assert first == second


def test_huge_released_items_do_not_overflow(engine: Engine) -> None:
    block = sorted(f"i{n}" for n in range(3000))
    rows, _ = check(engine, [["i0", "i1"], ["i2"]], [block], [["i0"], ["i0", "i1"], ["i0", "i1", "i2"]])
    assert [r["estimate"] for r in rows] == pytest.approx([1.0, 0.5, 0.25])


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
    dataset = load(engine, [["a"], ["a"]])
    released, _ = release(engine, [["a"], []], [["a"]], dataset)
    assert measure(engine, dataset, released, ask(engine, dataset, [["a"]])).outside == 1


def test_bad_parameters_and_overlapping_items_are_refused(engine: Engine) -> None:
    dataset = load(engine, [["a"], ["b"]])
    released, _ = release(engine, [["a"], ["b"]], [["a"], ["b"]], dataset)
    workload = ask(engine, dataset, [["a"]])
    with pytest.raises(InputError, match="estimator"):
        measure(engine, dataset, released, workload, estimator="sum")
    both = engine.put("both", {"released": ("INTEGER", [0, 1]), "label": ("VARCHAR", ["a", "a"])})
    with pytest.raises(InputError) as error:
        measure(engine, dataset, ReleasedData(released.transactions, both, False), workload, target="other")
    assert error.value.code == "overlap"
