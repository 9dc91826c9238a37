"""Multi-Anatomy against its naive reference: columns, feasibility, buckets, and that the work is linear."""

from __future__ import annotations

import random
import sys
from collections import Counter
from fractions import Fraction

import anatomy_cases
import numpy as np
import pytest
import reference_anatomy as ref
from portions import portions
from release.cases import dataset

from anondb.algorithms.anatomy import item_columns, multi_anatomy
from anondb.algorithms.anatomy.multi_anatomy import Records, bucketize
from anondb.engine import Engine
from anondb.errors import BudgetExceeded, InfeasibleError, InputError
from anondb.models.anatomy import Anatomy


def check_case(engine: Engine, seed: int, most: int = 14, through_sql: bool = True) -> bool:
    """One random table; whether it was feasible. ``through_sql`` asks the verifier besides the definitions."""
    transactions, columns, l, count_empty = anatomy_cases.random_table(seed, most=most)
    given = anatomy_cases.occurring(transactions, columns)
    if len(given) < 2:
        return False
    model = Anatomy(l, len(given), "count" if count_empty else "ignore")
    _, _, expected = ref.multi_anatomy(transactions, given, l, count_empty)
    whole = list(range(len(transactions)))
    feasible = ref.is_diverse(transactions, whole, given, l, count_empty)
    assert feasible == (expected is not None)
    with engine.transaction():
        if not feasible:
            with pytest.raises(InfeasibleError) as raised:
                anatomy_cases.recoded(engine, transactions, given, model)
            largest = min(Fraction(len(whole), n) for c in given if (n := ref.top(transactions, whole, c, count_empty)))
            assert f" is {largest} " in f"{raised.value} ".replace(".", " ")
            return False
        data, recoding = anatomy_cases.recoded(engine, transactions, given, model)
        spread = multi_anatomy.multi_anatomy(engine, data, model, given, spread=True)
    assert anatomy_cases.members(recoding) == expected, seed
    for found in (recoding, spread):
        buckets = anatomy_cases.members(found)
        assert sorted(r for b in buckets for r in b) == whole, seed
        assert all(ref.is_diverse(transactions, b, given, l, count_empty) for b in buckets), seed
        if not through_sql:
            continue
        verified = anatomy_cases.verified(engine, anatomy_cases.rows_of(transactions, given, buckets), model, transactions)
        assert verified.verified and verified.coverage == "complete", seed
    return True


@pytest.mark.parametrize("seeds", portions(5, 6, 40))
def test_buckets_agree_with_the_reference(engine: Engine, seeds: range) -> None:
    feasible = [check_case(engine, seed) for seed in seeds]
    assert len(feasible) < 10 or len(feasible) > sum(feasible) > 2


@pytest.mark.parametrize("seeds", portions(0, 9, 2100, first=1000))
def test_buckets_agree_with_the_reference_at_length(engine: Engine, seeds: range) -> None:
    feasible = sum(check_case(engine, seed, most=30, through_sql=seed % 20 == 0) for seed in seeds)
    assert feasible > len(seeds) // 8


def naive_bucketize(records: list[list[int]], l: Fraction) -> list[int]:
    """The reference on records that are given as values: each value is an item of a column of its own."""
    columns = [[v] for v in sorted({v for r in records for v in r})]
    _, _, buckets = ref.multi_anatomy(records, columns, l, count_empty=False)  # type: ignore[arg-type]
    assert buckets is not None
    number = {r: n for n, bucket in enumerate(buckets, 1) for r in bucket}
    return [number[r] for r in range(len(records))]


def random_records(seed: int, most: int) -> tuple[list[list[int]], Fraction]:
    rng = random.Random(seed)
    kinds = rng.randint(2, 12)
    records = [
        sorted({rng.randrange(kinds) if rng.random() < 0.8 else 0 for _ in range(rng.randint(0, 3))})
        for _ in range(rng.randint(1, most))
    ]
    if rng.random() < 0.5:
        records.sort(key=lambda r: 0 in r)
    return records, rng.choice([Fraction(1), Fraction(4, 3), Fraction(2), Fraction(7, 3), Fraction(3), Fraction(4)])


def as_records(records: list[list[int]]) -> Records:
    start = np.concatenate(([0], np.cumsum([len(r) for r in records]))).astype(np.int64)
    return Records(start, np.array([v for r in records for v in r], dtype=np.int32))


@pytest.mark.parametrize("seeds", portions(102, 398, 20_000))
def test_bucketization_on_values_alone(seeds: range) -> None:
    """Many more cases than through the database, with what is left over at the end of sorted records."""
    checked = left_over = 0
    for seed in seeds:
        records, l = random_records(seed, 40)
        counts = Counter(v for r in records for v in r)
        if counts and max(counts.values()) * l > len(records):
            continue
        checked += 1
        found = bucketize(as_records(records), l).tolist()
        left_over += found[-1] != max(found)
        assert found == naive_bucketize(records, l), seed
    assert checked > len(seeds) // 4 and left_over > len(seeds) // 60


def test_what_is_left_is_placed_first_fit_while_buckets_grow() -> None:
    """A value that fills the first bucket is released when that bucket grows, and the search sees it."""
    records = [[1], [2], [3], [4], [5], [6], *([[1]] * 2), [7], [8], [9], [1]]
    for l in (Fraction(2), Fraction(3), Fraction(3, 2)):
        counts = Counter(v for r in records for v in r)
        assert max(counts.values()) * l <= len(records)
        assert bucketize(as_records(records), l).tolist() == naive_bucketize(records, l)


def test_work_on_what_is_left_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the transactions are left over and fit hardly anywhere: the trials are bounded, the outcome stays valid."""
    number = 6_000
    records = [[2 * n + 1, 2 * n + 2] for n in range(number // 2)] + [[0]] * (number // 2)
    trials = 0
    real = multi_anatomy._Bucket.blocking

    def counted(bucket: multi_anatomy._Bucket, values: list[int]) -> list[int]:
        nonlocal trials
        trials += 1
        return real(bucket, values)

    monkeypatch.setattr(multi_anatomy._Bucket, "blocking", counted)
    found = bucketize(as_records(records), Fraction(2))
    assert trials <= 4 * number
    sizes = np.bincount(found)
    zeros = np.bincount(found[number // 2 :], minlength=len(sizes))
    assert (2 * zeros <= sizes).all()


def test_steps_are_linear() -> None:
    """Ten times the records take about ten times the steps, counted as lines that Python runs."""

    def steps(number: int) -> int:
        rng = np.random.default_rng(5)
        records = Records(np.arange(0, 3 * number + 1, 3), (rng.zipf(1.3, 3 * number) % 997).astype(np.int32) * 3)
        records.value[:] += np.tile(np.arange(3, dtype=np.int32), number)
        counts = np.bincount(records.value)
        l = Fraction(number, int(counts.max())) * Fraction(9, 10)
        taken = 0

        def trace(frame: object, event: str, arg: object) -> object:
            nonlocal taken
            taken += event == "line"
            return trace

        sys.settrace(trace)
        try:
            bucketize(records, max(l, Fraction(1)))
        finally:
            sys.settrace(None)
        return taken

    assert steps(20_000) <= 11 * steps(2_000)


# ---------------------------------------------------------------------- columns


@pytest.mark.parametrize("seeds", portions(3, 4, 25))
def test_phi_squared_and_pam_agree_with_their_references(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        items = "abcdefghijk"[: rng.randint(2, 9)]
        transactions = [[i for i in items if rng.random() < 0.5] for _ in range(rng.randint(2, 12))]
        labels = sorted({i for t in transactions for i in t})
        if len(labels) < 2:
            continue
        columns = rng.randint(2, len(labels))
        with engine.transaction():
            data = dataset(engine, transactions)
            phi = item_columns.phi_squared(engine, data)
            column, names = item_columns.item_columns(engine, data, columns)
        for a, left in enumerate(labels):
            for b, right in enumerate(labels):
                if a != b:
                    assert phi[a, b] == pytest.approx(float(ref.phi2(transactions, left, right)), abs=1e-15)
        distance = np.rint((1 - phi) * item_columns.SCALE).astype(np.int64)
        np.fill_diagonal(distance, 0)
        medoids = ref.pam(distance.tolist(), columns)
        nearest = [
            medoids.index(i) if i in medoids else min(range(columns), key=lambda m: (distance[medoids[m]][i], m))
            for i in range(len(labels))
        ]
        groups = sorted([i for i in range(len(labels)) if nearest[i] == m] for m in range(columns))
        assert [np.flatnonzero(column == n + 1).tolist() for n in range(columns)] == groups, seed
        assert names == tuple(str(n) for n in range(1, columns + 1))


@pytest.mark.slow
def test_pam_with_ties_takes_the_first_label(engine: Engine) -> None:
    """All items alike: every medoid is as good as another."""
    distance = np.full((6, 6), 5, dtype=np.int64)
    np.fill_diagonal(distance, 0)
    assert (
        item_columns._swap(distance, item_columns._build(distance, 3)).tolist() == [0, 1, 2] == ref.pam(distance.tolist(), 3)
    )
    assert item_columns._assign(distance, np.array([0, 1, 2])).tolist() == [0, 1, 2, 0, 0, 0]


def test_items_without_a_coefficient_go_into_the_smallest_column(engine: Engine) -> None:
    """With the full coefficient, an item that every transaction holds has none."""
    transactions = [["a", "all", "b"], ["a", "all"], ["all", "c"], ["all", "c", "d"], ["all", "d", "every"]]
    transactions = [[*t, "every"] if "every" not in t else t for t in transactions]
    with engine.transaction():
        data = dataset(engine, transactions)
        assert np.isnan(item_columns.phi_squared(engine, data, "full")[data.labels.index("all")]).all()
        for columns in (2, 5, 6):
            column, _ = item_columns.item_columns(engine, data, columns, "full")
            sizes = np.bincount(column, minlength=columns + 1)[1:]
            assert len(sizes) == columns and sizes.min() >= 1
            assert sizes.sum() == data.n_items


def test_columns_that_are_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    transactions = [["a", "b"], ["b", "c"], ["c"]]
    with engine.transaction():
        data = dataset(engine, transactions)
        bad = [
            ([["a", "b", "c"]], "at least 2 columns"),
            ([["a", "b"], ["b", "c"]], "in more than one column"),
            ([["a"], ["b"]], "1 item of the data is in none"),
            ([["a", "b", "c"], ["x"]], "1 of 2 columns hold no item"),
            (4, "from 2 to the number of items, which is 3, not 4"),
        ]
        for columns, words in bad:
            with pytest.raises(InputError, match=words) as raised:
                item_columns.item_columns(engine, data, columns)
            assert not any(f"'{i}'" in str(raised.value) for i in "abcx")
        monkeypatch.setattr(item_columns, "MAX_ITEMS", 2)
        with pytest.raises(BudgetExceeded, match="columns=FILE"):
            item_columns.item_columns(engine, data, 2)


def test_a_missing_package_is_named(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kmedoids", None)
    with engine.transaction():
        data = dataset(engine, [["a", "b"], ["b", "c"], ["c", "d"]])
        with pytest.raises(InputError, match=r"anondb\[anatomy\]") as raised:
            item_columns.item_columns(engine, data, 2)
    assert raised.value.code == "missing_package"


def test_the_same_columns_and_buckets_every_time(engine: Engine) -> None:
    rng = random.Random(1)
    transactions = [[i for i in "abcdefgh" if rng.random() < 0.3] for _ in range(60)]
    found = []
    for _ in range(2):
        with engine.transaction():
            _, recoding = anatomy_cases.recoded(engine, transactions, None, Anatomy(2, 3, "ignore"))
        found.append((recoding.column.tolist(), recoding.bucket.tolist()))
    assert found[0] == found[1]
