"""A number of each person that is a sum of numbers for simple conditions is read as this sum, and no other number is."""

from __future__ import annotations

import random
from itertools import product

import pytest
from portions import portions

from anondb.answers.persons.counts import by_leaves
from anondb.query.item_tests import Labels
from anondb.query.predicates import And, AtLeast, Condition, Not

LEAVES = [AtLeast(1, Labels(frozenset({name}))) for name in "abc"]


@pytest.mark.parametrize("seeds", portions(41, 121, 2000))
def test_a_number_by_conditions_is_the_sum_of_those_of_leaves(seeds: range) -> None:
    for seed in seeds:
        draw = random.Random(seed)
        leaves = LEAVES[: draw.randint(1, 3)]
        factors = [draw.randint(-2, 2) for _ in range(1 + len(leaves))]
        linear = draw.random() < 0.6
        numbers: dict[tuple[bool, ...], float] = {}
        added: list[tuple[float, Condition]] = []
        for truths in product((False, True), repeat=len(leaves)):
            of_leaves = factors[0] + sum(f for f, truth in zip(factors[1:], truths, strict=True) if truth)
            numbers[truths] = of_leaves if linear else draw.randint(-2, 2)
            parts = tuple(leaf if truth else Not(leaf) for leaf, truth in zip(leaves, truths, strict=True))
            added.append((numbers[truths], And(parts) if len(parts) > 1 else parts[0]))
        made = by_leaves(added)
        assert not linear or (made != [] or not any(factors))
        for truths, number in numbers.items() if made else ():
            held = dict(zip(leaves, truths, strict=True))
            assert sum(factor for factor, leaf in made if held.get(leaf, True)) == number
