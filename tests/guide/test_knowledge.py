"""Violations, and persons who stand alone, against a naive count."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pandas as pd
import pytest
from portions import portions

from anondb.data.sources import open_source
from anondb.data.transactions import load_transactions
from anondb.engine import DuckDBEngine
from anondb.engine.telling import Progress
from anondb.guide import knowledge
from anondb.guide.knowledge import Threat, what_attackers_find

Baskets = list[frozenset[int]]


def naive(baskets: Baskets, k: int, m: int) -> tuple[int, int]:
    """The minimal itemsets of at most m items with a support from 1 to k - 1, and the persons with one of support 1."""
    supports = Counter(
        frozenset(s) for basket in baskets for size in range(1, m + 1) for s in combinations(sorted(basket), size)
    )
    rare = {s for s, n in supports.items() if n < k}
    minimal = [s for s in rare if not any(s - {x} in rare for x in s)]
    alone = [b for b in baskets if any(n == 1 and s <= b for s, n in supports.items())]
    return len(minimal), len(alone)


def counted(engine: DuckDBEngine, baskets: Baskets, k: int) -> tuple[Threat, ...]:
    rows = [(tid, item) for tid, basket in enumerate(baskets) for item in sorted(basket)]
    frame = pd.DataFrame(rows, columns=["tid", "item"]).astype("int64")
    with engine.transaction(), open_source(engine, frame, "transactions") as source:
        return what_attackers_find(engine, load_transactions(engine, source), k)


def drawn(seed: int) -> tuple[Baskets, int]:
    """Baskets of several shapes: few items or many, alike or not."""
    rng = random.Random(seed)
    items, persons, longest = rng.randint(1, 12), rng.randint(0, 25), rng.randint(1, 7)
    baskets = [frozenset(rng.choices(range(items), k=rng.randint(1, longest))) for _ in range(persons)]
    baskets += baskets[: rng.randint(0, len(baskets))] if rng.random() < 0.5 else []
    return baskets, rng.randint(1, 5)


@pytest.mark.parametrize("seeds", portions(5, 49, 2000))
def test_counts(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, alone = DuckDBEngine.open(), Counter[int]()
    for seed in seeds:
        baskets, k = drawn(seed)
        monkeypatch.setattr(knowledge, "CHUNK_ROWS", random.Random(seed).choice((1, 7, 1000)))
        for row in counted(engine, baskets, k):
            assert (row.violations, row.alone) == naive(baskets, k, row.m), (seed, row)
            assert row.skipped is None
            alone[row.m] += row.alone or 0
    assert 0 < alone[1] < alone[2] < alone[3]
    engine.close()


def test_violations_are_counted_in_small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Progress] = []
    engine = DuckDBEngine.open(on_progress=said.append)  # type: ignore[arg-type]
    monkeypatch.setattr(knowledge, "CHUNK_ROWS", 1)
    counted(engine, [frozenset(range(4))] * 3, 2)
    assert max(words.share or 0 for words in said if words == "counting sets of 3 items") > 0
    engine.close()


def test_too_much_work_is_skipped_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = DuckDBEngine.open()
    baskets = [frozenset(range(6))] * 3
    monkeypatch.setattr(knowledge, "MAX_ROWS", 3 * 15)
    one, two, three = counted(engine, baskets, 4)
    assert (one.violations, one.alone) == naive(baskets, 4, 1) and (two.violations, two.alone) == naive(baskets, 4, 2)
    assert (three.violations, three.alone, three.rows) == (None, None, 60)
    assert three.skipped == "the sets of 3 items of each person are 60 rows, and at most 45 are counted"
    monkeypatch.setattr(knowledge, "MAX_ROWS", 44)
    one, two, three = counted(engine, baskets, 4)
    assert one.skipped is None and two.skipped is not None and three.skipped == two.skipped
    engine.close()


def test_a_refusal_of_the_verifier_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from anondb.verify import work

    engine = DuckDBEngine.open()
    monkeypatch.setattr(work, "MAX_JOINED_ROWS", 1)
    one, two, three = counted(engine, [frozenset({1, 2})] * 2 + [frozenset({1, 2, 3})] * 2, 2)
    assert one.skipped is None
    assert two.skipped is not None and "the limit is 1" in two.skipped and three.skipped == two.skipped
    engine.close()
