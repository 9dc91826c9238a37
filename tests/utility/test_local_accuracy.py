"""Accuracy on local recodings and anatomies: truths by counting, bounds and estimates as the macro of the release says."""

from __future__ import annotations

import math
import random

import pandas as pd
import pytest
from portions import portions, some

import anondb
from anondb.errors import InfeasibleError

ITEMS = "abcdefgh"
TREE = pd.DataFrame(
    [(item, f"N{n // 2}") for n, item in enumerate(ITEMS)] + [(f"N{n}", f"M{n // 2}") for n in range(4)],
    columns=["node", "parent"],
)
TREE = pd.concat([TREE, pd.DataFrame([("M0", "*"), ("M1", "*")], columns=["node", "parent"])])

ANSWERS = """
SELECT items, truth, estimate, lower_bound, upper_bound
FROM anondb.accuracy JOIN anondb.workloads USING (workload, query_id)
"""
CASES = [
    ("partition", anondb.TransactionalK, {}),
    ("partition", anondb.TransactionalK, {"empty_transactions": "keep"}),
    ("clump", anondb.TransactionalK, {}),
    ("clump", anondb.TransactionalK, {"bag_input": True, "objective": "increase"}),
    ("lra", anondb.KmAnonymity, {}),
    ("similar", anondb.KmAnonymity, {}),
]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(1, night=5))
@pytest.mark.parametrize(
    "algorithm, model, options", some(CASES, *CASES[1::2], ids=lambda case: f"{case[0]}-{len(case[2])}", check=())
)
def test_answers_are_those_of_the_macro(algorithm: str, model: type, options: dict[str, object], seeds: range) -> None:
    """Many queries share items, so whatever one of them leaves behind is seen in the next."""
    made = 0
    for seed in seeds:
        rng = random.Random(seed)
        people = [rng.choices(ITEMS, weights=range(1, 9), k=rng.choice([0, 1, 2, 3, 3, 4])) for _ in range(40)]
        rows = pd.DataFrame([(tid, item) for tid, t in enumerate(people) for item in t], columns=["tid", "item"])
        size = rng.choice([1, 2, 3])
        with anondb.connect() as database:
            try:
                release = database.anonymize(
                    rows,
                    model=model(k=rng.choice([2, 3])),
                    algorithm=algorithm,
                    taxonomy=TREE,
                    name="r",
                    size=size,
                    **options,
                )
            except InfeasibleError:
                continue
            made += 1
            compare(database, release, people)
    assert made


@pytest.mark.slow
def test_answers_of_an_anatomy_are_those_of_the_macro() -> None:
    rng = random.Random(1)
    people = [sorted({*rng.choices(ITEMS, k=rng.choice([1, 2, 3, 4]))}) for _ in range(40)]
    rows = pd.DataFrame([(tid, item) for tid, t in enumerate(people) for item in t], columns=["tid", "item"])
    model, options = anondb.Anatomy("3/2"), {"columns": 2, "empty_values": "ignore"}
    for size in (2, 3):
        with anondb.connect() as database:
            compare(database, database.anonymize(rows, model=model, name="r", size=size, **options), people)


def compare(database: anondb.Database, release: anondb.Release, people: list[list[str]]) -> None:
    """Compare all answers with the macro of the release, their truths with counting, and the error with their mean."""
    answers = database.engine.connection.execute(ANSWERS).fetchall()
    assert len(answers) == len({tuple(a[0]) for a in answers}) > 0
    errors = []
    for items, truth, estimate, lower, upper in answers:
        assert truth == sum(set(items) <= set(t) for t in people), items
        macro = f"SELECT * FROM release_r.count_bounds({list(items)!r})"
        least, expected, most = database.engine.connection.execute(macro).fetchone() or ()
        assert (lower, upper) == (least, most), items
        assert estimate == pytest.approx(expected, rel=1e-12), items
        assert lower <= truth <= upper
        errors.append(abs(truth - estimate) / truth)
    assert release.accuracy.relative_error.mean == pytest.approx(math.fsum(errors) / len(errors), rel=1e-12)
