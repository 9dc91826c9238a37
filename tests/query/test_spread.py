"""The outcomes of many transactions at once, beside the walk through the parts of each."""

from __future__ import annotations

import random

import pytest
from portions import portions

from anondb.query.evaluate import Evaluator, Part, Question, part_of, released_part
from anondb.query.held_sums import FEW, MAX_VECTORS, outcomes
from anondb.query.item_tests import Labels
from anondb.query.predicates import And, AtLeast, Condition, Not, Or

TESTS = [Labels(frozenset({name})) for name in "xyz"]


def a_condition(draw: random.Random, depth: int = 2) -> Condition:
    if depth == 0 or draw.random() < 0.3:
        return AtLeast(draw.randint(1, 3), draw.choice(TESTS))
    parts = tuple(a_condition(draw, depth - 1) for _ in range(2))
    return draw.choice((Not(parts[0]), And(parts), Or(parts)))


def a_part(draw: random.Random, caps: tuple[int, ...]) -> Part:
    if draw.random() < 0.2:  # one that may add something, as suppressed items do
        return part_of([(0,) * len(caps), tuple(draw.randint(0, cap) for cap in caps)], len(caps))
    passing = [(p, draw.randint(1, 2)) for p in {tuple(draw.random() < 0.6 for _ in caps) for _ in range(2)} if any(p)]
    return released_part(caps, sum(n for _, n in passing) + draw.randint(0, 2) or 1, tuple(passing))


@pytest.mark.parametrize("seeds", portions(21, 61, 3000))
def test_many_at_once_are_as_one_by_one(seeds: range) -> None:
    compared = 0
    for seed in seeds:
        draw = random.Random(seed)
        counted = draw.choice([None, TESTS[0]])
        question = Question.of(a_condition(draw), counted)
        parts = [a_part(draw, question.caps) for _ in range(draw.randint(1, 3))]
        rest = [a_part(draw, question.caps) for _ in range(draw.randint(0, 2))]
        numbers = [tuple(draw.randint(0, 3) for _ in parts) for _ in range(FEW + 4)]
        evaluator = Evaluator(question)
        found = outcomes(evaluator, parts, numbers, rest)
        if found is None:
            continue
        compared += 1
        for counts, outcome in zip(numbers, found, strict=True):
            listed = [part for part, n in zip(parts, counts, strict=True) for _ in range(n)]
            assert outcome == Evaluator(question).outcome([*listed, *rest])
    assert compared > len(seeds) / 2


def test_it_leaves_few_transactions_and_large_questions_to_the_walk() -> None:
    small = Evaluator(Question.of(AtLeast(1, TESTS[0])))
    assert outcomes(small, [], [()] * FEW, []) is None and outcomes(small, [], [()] * (FEW + 1), []) is not None
    large = Evaluator(Question.of(AtLeast(MAX_VECTORS, TESTS[0])))
    assert outcomes(large, [], [()] * (FEW + 1), []) is None
