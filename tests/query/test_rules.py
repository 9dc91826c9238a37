"""Bounds from item supports on tiny releases, beside all originals that the file permits: sound, and how often attained."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from math import prod

import pytest
import reference_supports as ref
from portions import portions
from query.sealing import Sessions
from query.test_item_supports import opened

from anondb.engine import Engine
from anondb.release.item_supports import SupportRule

Row = frozenset[str]
Holds = Callable[[Row], bool]
ITEMS = ["ka", "kb", "kc", "la", "lb", "lc"]
LOST = ["kx", "lx"]
MOST_WORLDS = 3_000


def condition(draw: random.Random, names: Sequence[str], depth: int) -> tuple[str, Holds]:
    """A condition on up to four items or on a pattern, for HAVING, and what it says of a person."""
    if depth:
        (one, left), (two, right) = (condition(draw, names, depth - 1) for _ in range(2))
        if draw.random() < 0.5:
            return f"({one} AND {two})", lambda row: left(row) and right(row)
        return f"({one} OR {two})", lambda row: left(row) or right(row)
    chosen = draw.sample(names, draw.randint(1, 2))
    listed = ", ".join(f"'{item}'" for item in chosen)
    match draw.randint(0, 5):
        case 0 | 1:
            return f"bool_or(item IN ({listed}))", lambda row: bool(row & set(chosen))
        case 2:
            return f"NOT bool_or(item IN ({listed}))", lambda row: not row & set(chosen)
        case 3:
            text = f"count(*) FILTER (WHERE item IN ({listed})) >= {len(chosen)}"
            return text, lambda row: set(chosen) <= row
        case 4:
            return "bool_or(item LIKE 'k%')", lambda row: any(item.startswith("k") for item in row)
        case _:
            return "count(*) FILTER (WHERE item LIKE 'l%') >= 2", lambda row: sum(i.startswith("l") for i in row) >= 2


def release(draw: random.Random) -> tuple[list[list[str]], dict[str, list[str]]]:
    """A small original, and a recoding that suppresses items in one of three cases."""
    items = draw.sample(ITEMS, draw.randint(3, 4))
    blocks: dict[str, list[str]] = {}
    for item in items:
        blocks.setdefault(f"g{draw.randint(0, 1)}", []).append(item)
    domain = items + (LOST[:1] if draw.random() < 0.3 else [])
    transactions = [draw.sample(domain, draw.randint(1, min(3, len(domain)))) for _ in range(draw.randint(2, 4))]
    return [*transactions, list(domain)], blocks


@pytest.mark.parametrize("seeds", portions(2, 17, 2000))
def test_every_original_is_within_the_bounds(engine: Engine, asked: Sessions, seeds: range) -> None:
    ends: Counter[tuple[str, bool]] = Counter()

    def check(kind: str, bounds: Sequence[float], values: Sequence[int], what: object) -> None:
        low, _, high = bounds
        assert low <= min(values) and max(values) <= high, what
        if not suppressed:
            ends[kind, low == min(values)] += 1
            ends[kind, high == max(values)] += 1

    for seed in seeds:
        draw = random.Random(seed)
        transactions, blocks = release(draw)
        rule = SupportRule(draw.choice([1, 2]), draw.choice([1, 2]))
        image = {item: label for label, members in blocks.items() for item in members}
        originals = [frozenset(t) for t in transactions]
        rows = [frozenset(image[i] for i in t if i in image) for t in originals]
        suppressed = any(item not in image for t in originals for item in t)
        table = ref.published(rows, blocks, originals, rule.k, rule.m or 99)
        free = LOST[:1] if suppressed else []
        if prod(len(ref.originals_of(row, blocks, free)) for row in rows) > MOST_WORLDS:
            continue
        worlds = list(ref.worlds(rows, blocks, table, free))
        session = opened(asked, engine, transactions, blocks, rule)
        for _ in range(6):
            text, holds = condition(draw, sorted(image), draw.randint(0, 1))
            persons = f"SELECT tid FROM t GROUP BY tid HAVING {text}"
            found = session.answer(f"SELECT count(*) AS n FROM ({persons})").bounds
            check("condition", found, [sum(bool(t) and holds(t) for t in w) for w in worlds], (seed, text))
            groups = {
                item: rest
                for item, *rest in session.answer(
                    f"SELECT item, count(*) AS n FROM t WHERE tid IN ({persons}) GROUP BY item"
                ).rows
            }
            for item in image:
                values = [sum(item in t and holds(t) for t in w) for w in worlds]
                check("group", groups.get(item, (0, 0, 0)), values, (seed, text, item))
        for test, of in (("LIKE 'k%'", "k"), ("LIKE 'l%'", "l")):
            rows_of = session.answer(f"SELECT count(*) AS n FROM t WHERE item {test}")
            values = [sum(item.startswith(of) for t in w for item in t) for w in worlds]
            if None not in rows_of.bounds:
                check("rows", rows_of.bounds, values, (seed, test))
    for kind in ("condition", "group", "rows"):
        reached, missed = ends[kind, True], ends[kind, False]
        print(f"{kind}: {reached} of {reached + missed} ends attained")
        assert reached >= 0.9 * (reached + missed)
