"""How many values the items of a person have: every original of small releases, written out."""

from __future__ import annotations

import random
from itertools import chain, combinations, product

import pytest
from portions import some
from query import sealing
from query.small import by_hand

from anondb.engine import Engine

ITEMS = "abcdef"
BLOCKS = {"x": ["a", "b"], "y": ["c", "d"], "z": ["e", "f"]}


def _subsets(members: list[str]) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(members, n) for n in range(1, len(members) + 1)))


def _numbers(transaction: list[str], values: dict[str, int]) -> set[int]:
    """How many different values the originals of a transaction may have."""
    labels = [members for members in BLOCKS.values() if set(members) & set(transaction)]
    return {
        len({values[item] for part in choice for item in part if item in values})
        for choice in product(*map(_subsets, labels))
    }


@pytest.mark.parametrize("seed", some(range(8), 0, 1, 2, check=[3]))
def test_originals_have_so_many_values(engine: Engine, seed: int) -> None:
    """At least two where no value is possible for all; items without a value tell nothing."""
    rnd = random.Random(seed)
    transactions = [rnd.sample(ITEMS, rnd.randint(1, 3)) for _ in range(6)]
    values = {item: rnd.randint(1, 3) for item in ITEMS if rnd.random() < (0.7 if seed % 2 else 1)} or {"a": 1}
    session = sealing.opened(engine, by_hand(engine, transactions, BLOCKS))
    listed = ", ".join(f"('{item}', {value})" for item, value in values.items())
    rows = f"SELECT tid FROM t JOIN (VALUES {listed}) v(item, v) USING (item) GROUP BY tid HAVING"
    having = {
        "count(DISTINCT v) = 1": {1},
        "count(DISTINCT v) > 1": {2, 3},
        "count(DISTINCT v) >= 1": {1, 2, 3},
        "min(v) = max(v)": {1},
        "max(v) > min(v)": {2, 3},
    }
    for condition, wanted in having.items():
        of = [_numbers(one, values) for one in transactions]
        low, _, high = session.answer(f"SELECT count(*) AS n FROM ({rows} {condition})").bounds
        assert low <= sum(numbers <= wanted for numbers in of) and sum(bool(numbers & wanted) for numbers in of) <= high
        if len(values) == len(ITEMS):  # one of two values is told exactly
            assert (low, high) == (sum(numbers <= wanted for numbers in of), sum(bool(numbers & wanted) for numbers in of))
