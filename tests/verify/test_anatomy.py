"""The verifier of anatomies against its definition, and against corrupted buckets."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest
import reference_anatomy as ref
from anatomy_cases import Row, occurring, put_buckets, random_table, rows_of, verified
from each import each
from portions import portions

from anondb.engine import Engine
from anondb.errors import InputError
from anondb.models.anatomy import Anatomy
from anondb.verify.anatomy import verify_anatomy

DATA = [["a", "x"], ["b", "y"], ["a", "y"], ["b", "x"], ["c"], []]
COLUMNS = [["a", "b", "c"], ["x", "y"]]
BUCKETS = [[0, 1, 4], [2, 3, 5]]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(7, night=540))
def test_verdicts_are_those_of_the_definition(engine: Engine, seeds: range) -> None:
    """Random partitions into buckets, diverse or not; every violating pair is found, and no other."""
    bad = 0
    for seed in seeds:
        transactions, columns, l, count_empty = random_table(seed)
        columns = occurring(transactions, columns)
        if len(columns) < 2:
            continue
        draw = random.Random(seed)
        order = draw.sample(range(len(transactions)), len(transactions))
        cut = draw.randint(0, len(order))
        buckets = [sorted(b) for b in (order[:cut], order[cut:]) if b]
        model = Anatomy(l, None, "count" if count_empty else "ignore")
        found = verified(engine, rows_of(transactions, columns, buckets), model, transactions, witnesses=99)
        wrong = {
            (str(b), str(j))
            for b, bucket in enumerate(buckets, 1)
            for j, column in enumerate(columns, 1)
            if ref.top(transactions, bucket, column, count_empty) * l > len(bucket)
        }
        assert {(w.bucket_id, w.column_id) for w in found.witnesses} == wrong, seed
        assert found.violations == len(wrong) and found.verified == (not wrong)
        assert found.coverage == "complete" and found.pairs == len(buckets) * len(columns)
        bad += bool(wrong)
    assert len(seeds) // 8 < bad < len(seeds)


def mutants() -> Iterator[tuple[str, list[Row], int]]:
    """Corrupted buckets, and how many violations they have without the original."""
    rows = rows_of(DATA, COLUMNS, BUCKETS)
    yield "a bucket is lost", [r for r in rows if r[0] != 2], 0
    yield "a column of a bucket is lost", [r for r in rows if r[:2] != (2, 2)], 1
    yield "a value is lost", rows[1:], 1
    yield "a value is published twice", [*rows, rows[0]], 2
    yield "copies are wrong", [(b, j, i, n + (k == 0)) for k, (b, j, i, n) in enumerate(rows)], 2
    yield "an item moved to the other column", [(b, j, ["a"] if i == ["x"] else i, n) for b, j, i, n in rows], 4
    yield "another item", [(b, j, ["q"] if i == ["x"] and b == 1 else i, n) for b, j, i, n in rows], 0
    yield "one column only", [r for r in rows if r[1] == 1], 2
    yield "a value without its items", [(b, j, [] if i == ["a"] and b == 1 else i, n) for b, j, i, n in rows], 0


def test_buckets_that_are_not_corrupted_are_accepted(engine: Engine) -> None:
    assert verified(engine, rows_of(DATA, COLUMNS, BUCKETS), Anatomy(3, 2), DATA).verified


@pytest.mark.parametrize(("rows", "violations"), [pytest.param(r, v, id=name) for name, r, v in mutants()])
def test_corrupted_buckets_are_rejected(engine: Engine, rows: list[Row], violations: int) -> None:
    alone = verified(engine, rows, Anatomy(3, None))
    assert alone.violations >= violations and alone.verified == (alone.violations == 0)
    if violations:
        assert not alone.verified
    against = verified(engine, rows, Anatomy(3, None), DATA)
    assert not against.verified and against.coverage == "incomplete"


def test_promised_numbers_are_held_to(engine: Engine) -> None:
    rows = rows_of(DATA, COLUMNS, BUCKETS)
    assert verified(engine, rows, Anatomy(3, 2), number=6).verified
    assert verified(engine, rows, Anatomy(3, 2), number=7).violations == 1
    assert verified(engine, rows, Anatomy(3, 3)).violations == 4
    assert not verified(engine, rows, Anatomy(Fraction(31, 10))).verified
    assert verified(engine, [], Anatomy(3)).verified


def test_lists_are_sets_in_any_order(engine: Engine) -> None:
    rows = [(1, 1, ["b", "a", "b"], 1), (1, 1, ["a", "b"], 1), (1, 2, ["x"], 1), (1, 2, [], 1)]
    found = verified(engine, rows, Anatomy(2), [["a", "b", "x"], ["a", "b"]], witnesses=5)
    assert [(w.items, w.support) for w in found.witnesses] == [(("a", "b"), 2)]
    assert found.coverage == "complete" and found.violations == 1


@each("wrong", [(None, 1, ["a"], 1), (1, None, ["a"], 1), (1, 1, None, 1), (1, 1, ["a", None], 1), (1, 1, ["a"], 0)])
def test_rows_that_are_no_buckets_are_refused(engine: Engine, wrong: tuple[object, ...]) -> None:
    with pytest.raises(InputError, match="1 row of the buckets"), engine.transaction():
        table = put_buckets(engine, [(1, 1, ["a"], 1), wrong])  # type: ignore[list-item]
        verify_anatomy(engine, table, Anatomy(2))
