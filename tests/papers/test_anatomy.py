"""Multi-Anatomy: every golden case of its kinds, and what the paper prints."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import anatomy_cases
import goldens
import numpy as np
import pytest
import reference_anatomy as ref
from release.cases import dataset

from anondb.algorithms.anatomy.item_columns import phi_squared
from anondb.engine import Engine
from anondb.errors import InfeasibleError
from anondb.models.anatomy import Anatomy
from anondb.recoding import BucketRecoding
from anondb.utility.anatomy import figures
from anondb.utility.rules import RuleThresholds, rule_accuracy


def table(inputs: Any, key: str = "transactions") -> tuple[list[str], list[list[str]]]:
    return [tid for tid, _ in inputs[key]], [items for _, items in inputs[key]]


@pytest.mark.parametrize("mode", ["count", "ignore"])
@pytest.mark.parametrize(("inputs", "expected"), goldens.params("anatomy_verify"))
def test_verdicts_of_buckets(engine: Engine, inputs: Any, expected: Any, mode: str) -> None:
    tids, transactions = table(inputs)
    buckets = [[tids.index(t) for t in bucket] for bucket in inputs["buckets"]]
    rows = anatomy_cases.rows_of(transactions, inputs["columns"], buckets)
    model = Anatomy(inputs["l"], len(inputs["columns"]), mode)
    found = anatomy_cases.verified(engine, rows, model, transactions, witnesses=100)
    wrong = {w.bucket_id for w in found.witnesses}
    assert [str(b) not in wrong for b in range(1, len(buckets) + 1)] == expected[f"bucket_ok_{mode}_empty"]
    assert found.verified == all(expected[f"bucket_ok_{mode}_empty"])
    assert found.coverage == "complete" and found.transactions == len(transactions)
    assert [[ref.top(transactions, b, c) for c in inputs["columns"]] for b in buckets] == expected["max_counts"]


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("anatomy_verify"))
def test_faked_records(engine: Engine, inputs: Any, expected: Any) -> None:
    tids, transactions = table(inputs)
    buckets = [[tids.index(t) for t in bucket] for bucket in inputs["buckets"]]
    with engine.transaction():
        data = dataset(engine, transactions)
        rows = anatomy_cases.put_buckets(engine, anatomy_cases.rows_of(transactions, inputs["columns"], buckets))
        column = {i: n for n, c in enumerate(inputs["columns"], 1) for i in c}
        bucket = np.zeros(len(tids), dtype=np.int64)
        for n, of in enumerate(buckets, 1):
            bucket[of] = n
        recoding = BucketRecoding(
            np.array([column[i] for i in data.labels]), bucket, tuple(map(str, range(len(inputs["columns"]))))
        )
        found = figures(engine, data, recoding, rows, count_empty=True)
    assert (found.faked, found.faked_distinct) == (expected["faked_with_multiplicity"], expected["faked_distinct"])
    assert (found.faked, found.faked_distinct) == ref.faked(transactions, buckets, inputs["columns"])
    assert found.largest_posterior == Fraction(max(map(max, expected["max_counts"])), 5)
    assert (found.buckets, found.columns, found.largest_bucket) == (2, len(inputs["columns"]), 5)


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("multi_anatomy"))
def test_buckets(engine: Engine, inputs: Any, expected: Any) -> None:
    tids, transactions = table(inputs)
    l = Fraction(inputs["l"])
    closed, residue, _ = ref.multi_anatomy(transactions, inputs["columns"], l)
    if "paper_closed_buckets" in expected:
        assert [[tids[r] for r in b] for b in closed] == expected["paper_closed_buckets"]
        assert [tids[r] for r in residue] == expected["paper_residue"]
    with engine.transaction():
        given = anatomy_cases.occurring(transactions, inputs["columns"])
        if not expected["feasible"]:
            with pytest.raises(InfeasibleError, match="column '"):
                anatomy_cases.recoded(engine, transactions, given, Anatomy(l))
            return
        _, recoding = anatomy_cases.recoded(engine, transactions, given, Anatomy(l))
    assert [[tids[r] for r in b] for b in anatomy_cases.members(recoding)] == expected["buckets"]


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("phi2"))
def test_phi_squared(engine: Engine, inputs: Any, expected: Any) -> None:
    _, transactions = table(inputs)
    with engine.transaction():
        data = dataset(engine, transactions)
        truncated, full = (phi_squared(engine, data, c) for c in ("truncated", "full"))
    for (a, b), eq4, eq3 in zip(inputs["pairs"], expected["paper_eq4"], expected["full_2x2"], strict=True):
        assert str(ref.phi2(transactions, a, b)) == eq4 and str(ref.phi2(transactions, a, b, full=True)) == eq3
        i, j = data.labels.index(a), data.labels.index(b)
        assert truncated[i, j] == truncated[j, i] == pytest.approx(float(Fraction(eq4)), rel=1e-14)
        assert full[i, j] == full[j, i] == pytest.approx(float(Fraction(eq3)), rel=1e-14)


@pytest.mark.parametrize(("inputs", "expected"), goldens.params("rule_accuracy"))
def test_rule_accuracy(engine: Engine, inputs: Any, expected: Any) -> None:
    sides = [table(inputs, key)[1] for key in ("original", "reconstructed")]
    least, confidence = inputs["min_support_count"], Fraction(inputs["min_confidence"])
    lengths = (inputs["min_len"], inputs["max_len"])
    with engine.transaction():
        data = dataset(engine, sides[0])
        other = engine.put(
            "other_rows",
            {
                "tid": ("INTEGER", [n for n, t in enumerate(sides[1]) for _ in t]),
                "item": ("INTEGER", [data.labels.index(i) for t in sides[1] for i in t]),
            },
        )
        found = rule_accuracy(engine, data.transactions, other, RuleThresholds(least, confidence, *lengths))
    mined = [ref.rules(side, least, confidence, *lengths) for side in sides]
    assert (found.original, found.reconstructed, found.common) == (len(mined[0]), len(mined[1]), len(mined[0] & mined[1]))
    assert found.original == expected["rules_original"] and found.reconstructed == expected["rules_reconstructed"]
    assert found.common == expected["common"] and str(found.accuracy_ratio) == expected["accuracy_ratio"]
    assert found.difference == expected["rules_reconstructed"] - expected["rules_original"]
