"""Persons by the sums of their items: every choice of sums within their ends and their total, written out."""

from __future__ import annotations

import random
from itertools import product
from math import inf

import pytest

from anondb.query.sizes import Sizes


def _case(rnd: random.Random) -> tuple[Sizes, list[tuple[int, ...]], tuple[float, float]]:
    """Sums with some total, all choices of them, and a span."""
    ends = [(low := rnd.randint(0, 3), low + rnd.randint(0, 3)) for _ in range(rnd.randint(1, 5))]
    choices = list(product(*(range(low, high + 1) for low, high in ends)))
    total = sum(rnd.choice(choices))
    limits = (rnd.choice([-inf, total - 1, total]), rnd.choice([inf, total + 1, total]))
    least = rnd.choice([-inf, rnd.randint(0, 4)])
    span = least, rnd.choice([inf, max(least, 0) + rnd.randint(0, 2)])
    return Sizes([(*of, 1) for of in ends], limits), [c for c in choices if limits[0] <= sum(c) <= limits[1]], span


@pytest.mark.parametrize("seed", range(20))
def test_no_choice_lies_outside(seed: int) -> None:
    rnd = random.Random(seed)
    for _ in range(30):
        sizes, choices, (low, high) = _case(rnd)
        numbers = [sum(low <= one <= high for one in choice) for choice in choices]
        least, most = sizes.within(low, high)
        assert least <= min(numbers) and max(numbers) <= most
        if -inf in sizes.total or inf in sizes.total:  # of one limit the steps say all
            assert (least, most) == (min(numbers), max(numbers))
        for place in range(sizes.persons):
            values = [sorted(choice)[place] for choice in choices]
            assert sizes.at(place)[0] <= min(values) and max(values) <= sizes.at(place)[1]


def test_a_total_leaves_few_persons_with_many_items() -> None:
    """Thirty persons with one to six items and at most 54 together: at most 24 have two, and half have at most two."""
    sizes = Sizes([(1.0, 6.0, 30)], (40.0, 54.0))
    assert sizes.within(2, inf) == (2, 24) and sizes.within(1, 1) == (6, 28) and sizes.within(6, 6) == (0, 4)
    assert sizes.at(14) == (1.0, 2.0)


def test_a_total_that_contradicts_the_rows_says_nothing() -> None:
    """A stranger's file may have item supports that its rows make impossible."""
    for total in ((0.0, 3.0), (90.0, 99.0)):
        sizes = Sizes([(1.0, 2.0, 10), (2.0, 2.0, 5)], total)
        for span in ((1, 1), (2, 2), (2, inf), (-inf, 1)):
            low, high = sizes.within(*span)
            assert 0 <= low <= high <= 15
