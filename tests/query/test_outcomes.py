"""The outcome of a transaction is that of the best and the worst choice of what its parts add."""

from __future__ import annotations

import random
from math import prod
from operator import add

import pytest
from portions import portions

from anondb.query.evaluate import MAX_SET, Evaluator, Outcome, Part, Question, part_of, released_part
from anondb.query.item_tests import Labels
from anondb.query.predicates import And, AtLeast, Condition, Constant, Not, Or

TESTS = [Labels(frozenset({name})) for name in "xyz"]


def a_condition(draw: random.Random, least: int, depth: int = 2) -> Condition:
    if depth == 0 or draw.random() < 0.3:
        return AtLeast(draw.randint(1, least), draw.choice(TESTS))
    parts = tuple(a_condition(draw, least, depth - 1) for _ in range(2))
    return draw.choice((Not(parts[0]), And(parts), Or(parts)))


def a_part(draw: random.Random, caps: tuple[int, ...]) -> Part:
    if draw.random() < 0.2:  # one that may add something, as suppressed items do
        return part_of([(0,) * len(caps), tuple(draw.randint(0, cap) for cap in caps)], len(caps))
    passing = [(p, draw.randint(1, 2)) for p in {tuple(draw.random() < 0.6 for _ in caps) for _ in range(2)} if any(p)]
    return released_part(caps, sum(n for _, n in passing) + draw.randint(0, 2) or 1, tuple(passing))


def value(question: Question, counts: tuple[int, ...]) -> int:
    """The value of a person with these counts, by the definition."""

    def holds(condition: Condition) -> bool:
        if isinstance(condition, AtLeast):
            return counts[question.tests.index(condition.test)] >= condition.count
        if isinstance(condition, Not):
            return not holds(condition.part)
        assert isinstance(condition, And | Or | Constant)
        if isinstance(condition, Constant):
            return condition.value
        return (all if isinstance(condition, And) else any)(map(holds, condition.parts))

    return (counts[-1] if question.counted else 1) * holds(question.condition)


@pytest.mark.parametrize("seeds", portions(81, 241, 9000))
def test_an_outcome_is_that_of_the_best_and_the_worst_choice(seeds: range) -> None:
    few = 0
    for seed in seeds:
        draw = random.Random(seed)
        counted = draw.choice([None, TESTS[0]])
        question = Question.of(a_condition(draw, least=draw.choice((3, 30))), counted)
        evaluator, caps = Evaluator(question), question.caps
        few += prod(cap + 1 for cap in caps) <= MAX_SET
        for _ in range(3):
            parts = [a_part(draw, caps) for _ in range(draw.randint(1, 4))]
            sums = {(0,) * len(caps)}
            for part in parts:
                sums = {tuple(map(min, map(add, one, other), caps)) for one in sums for other in part.vectors}
            values = [value(question, counts) for counts in sums]
            assert evaluator.outcome(parts) == Outcome(min(values), max(values))
    assert 0 < few < len(seeds)  # by sets of vectors, and by walks
