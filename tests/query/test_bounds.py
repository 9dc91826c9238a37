"""Bounds against brute force over every original that a small release may come from."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest
from portions import some
from query.sealing import Sessions
from query.small import by_hand
from reference import consistent_originals, true_bounds

from anondb.engine import Engine

Basket = frozenset[str]
Predicate = Callable[[Basket], bool]
KNOWN = ["a", "b", "c", "d", "e", "f"]
LOST = ["x", "y"]
UNSEEN = ["u1", "u2", "u3"]  # never named by a query, so that they stand for all labels that it does not name


def _text(labels: Sequence[str]) -> str:
    return ", ".join(f"'{x}'" for x in labels)


def _leaf(draw: random.Random, ids: str) -> tuple[str, Predicate]:
    """A random condition on the person ``ids``, as SQL and as a function; only in the long form."""
    labels = draw.sample([*KNOWN, *LOST], draw.randint(1, 3))
    chosen = frozenset(labels)
    one = f"SELECT u.tid FROM t u WHERE u.item IN ({_text(labels)})"
    least = draw.randint(1, 3)
    match draw.randint(0, 9):
        case 0 | 1:
            return f"{ids} IN ({one})", lambda s: bool(s & chosen)
        case 2:
            return f"{ids} NOT IN ({one})", lambda s: not s & chosen
        case 3:
            return (f"EXISTS (SELECT 1 FROM t u WHERE u.tid = {ids} AND u.item = '{labels[0]}')", lambda s: labels[0] in s)
        case 4:
            return (
                f"{ids} IN ({one} GROUP BY u.tid HAVING count(DISTINCT u.item) = {least})",
                lambda s: len(s & chosen) == least,
            )
        case 5:
            return (
                f"{ids} NOT IN ({one} GROUP BY 1 HAVING count(DISTINCT u.item) >= {least})",
                lambda s: len(s & chosen) < least,
            )
        case 6:
            return (f"{ids} IN (SELECT u.tid FROM t u WHERE u.item NOT IN ({_text(labels)}))", lambda s: bool(s - chosen))
        case 7:
            return (
                f"{ids} IN (SELECT u.tid FROM t u WHERE u.item <> '{labels[0]}' GROUP BY u.tid HAVING "
                f"count(DISTINCT u.item) >= {least})",
                lambda s: len(s - {labels[0]}) >= least,
            )
        case 8:
            other = draw.choice([*KNOWN, *LOST])
            return (
                f"{ids} IN (SELECT u.tid FROM t u JOIN t v USING (tid) WHERE u.item IN ({_text(labels)}) AND "
                f"(v.item = '{other}' OR u.item = '{labels[0]}'))",
                lambda s: bool(s & chosen) and (other in s or labels[0] in s),
            )
        case _:
            return (
                f"{ids} IN ({one} EXCEPT SELECT u.tid FROM t u WHERE u.item = '{labels[0]}')",
                lambda s: bool(s & chosen) and labels[0] not in s,
            )


def random_condition(draw: random.Random, ids: str, depth: int) -> tuple[str, Predicate]:
    if depth == 0 or draw.random() < 0.25:
        return _leaf(draw, ids)
    (one, left), (two, right) = random_condition(draw, ids, depth - 1), random_condition(draw, ids, depth - 1)
    match draw.randint(0, 3):
        case 0 | 1:
            return f"({one} AND {two})", lambda s: left(s) and right(s)
        case 2:
            return f"({one} OR {two})", lambda s: left(s) or right(s)
        case _:
            return f"NOT ({one} OR {two})", lambda s: not (left(s) or right(s))


def _lists(draw: random.Random) -> tuple[str, Predicate]:
    labels = draw.sample([*KNOWN, *LOST], draw.randint(1, 3))
    chosen = frozenset(labels)
    name, test = draw.choice(
        [
            (f"list_contains(items, '{labels[0]}')", lambda s: labels[0] in s),
            (f"list_has_all(items, [{_text(labels)}])", lambda s: chosen <= s),
            (f"list_has_any(items, [{_text(labels)}])", lambda s: bool(s & chosen)),
            (f"items <@ [{_text(labels)}]", lambda s: s <= chosen),
        ]
    )
    return name, test


def _release(draw: random.Random, suppressed: bool) -> tuple[list[list[str]], dict[str, list[str]]]:
    """A random original and a partition of its items, some in no block."""
    items = draw.sample(KNOWN, draw.randint(2, 5))
    blocks: dict[str, list[str]] = {}
    for item in items:
        blocks.setdefault(f"g{draw.randint(0, 2)}", []).append(item)
    domain = items + (LOST if suppressed else [])
    transactions = [draw.sample(domain, draw.randint(0, min(4, len(domain)))) for _ in range(draw.randint(1, 6))]
    if suppressed:
        transactions[0] = [*transactions[0], *(x for x in LOST if x not in transactions[0])]
    return transactions, blocks


def _published(transactions: list[list[str]], blocks: dict[str, list[str]]) -> list[Basket]:
    return [frozenset(g for g, m in blocks.items() if set(m) & set(t)) for t in transactions]


Choices = list[list[Basket]]


def _originals(published: list[Basket], members: dict[str, list[str]], suppression: str) -> Choices:
    """For each transaction every original that it may come from."""
    domain = [*KNOWN, *LOST, *UNSEEN]
    known = {t: consistent_originals(t, members, domain, suppression) for t in set(published)}
    return [known[t] for t in published]


def _extremes(originals: Choices, value: Callable[[Basket], int]) -> tuple[int, int]:
    """The least and greatest total over all originals: transactions are independent, so the extremes add up."""
    least = most = 0
    for choices in originals:
        values = {value(o) for o in choices}
        least, most = least + min(values), most + max(values)
    return least, most


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(60), 0, check=[1]))
def test_random_queries_on_random_releases(engine: Engine, asked: Sessions, seed: int) -> None:
    """30 queries on each release."""
    draw = random.Random(seed)
    suppressed = seed % 2 == 1
    transactions, blocks = _release(draw, suppressed)
    opened = asked(engine, by_hand(engine, transactions, blocks))
    published = _published(transactions, blocks)
    members = {g: m for g, m in blocks.items() if any(g in t for t in published)}
    suppression = "some" if any(set(t) - {i for m in blocks.values() for i in m} for t in transactions) else "none"
    assert suppression == ("some" if suppressed else "none")
    originals = _originals(published, members, suppression)
    for number in range(30):
        if number % 5 == 0:
            (one, left), (two, right) = _lists(draw), _lists(draw)
            sql = f"SELECT count(*) FROM baskets WHERE {one} AND NOT {two} OR {two} AND NOT {one}"

            def holds(s: Basket, left: Predicate = left, right: Predicate = right) -> bool:
                return left(s) != right(s)

            answer = opened.answer(sql)
        else:
            text, inner = random_condition(draw, "p.tid", draw.randint(0, 2))
            sql = f"SELECT count(DISTINCT p.tid) FROM t p WHERE p.item IS NOT NULL AND {text}"

            def holds(s: Basket, inner: Predicate = inner) -> bool:  # type: ignore[misc]
                return bool(s) and inner(s)

            answer = opened.answer(sql)
        lower, estimate, upper = answer.bounds
        wanted = _extremes(originals, lambda s: int(holds(s)))
        assert (lower, upper) == wanted, (sql, transactions, blocks)
        if number < 3:
            assert wanted == true_bounds(published, members, [*KNOWN, *LOST, *UNSEEN], suppression, holds)
        assert sum(holds(frozenset(t)) for t in transactions) in range(lower, upper + 1)
        assert lower <= estimate <= upper, sql


@pytest.mark.parametrize("seed", some(range(24), 0, check=[1]))
def test_row_counts_and_groups(engine: Engine, asked: Sessions, seed: int) -> None:
    draw = random.Random(1000 + seed)
    transactions, blocks = _release(draw, seed % 2 == 1)
    opened = asked(engine, by_hand(engine, transactions, blocks))
    published = _published(transactions, blocks)
    members = {g: m for g, m in blocks.items() if any(g in t for t in published)}
    suppression = "some" if seed % 2 else "none"
    originals = _originals(published, members, suppression)
    for _ in range(3):
        labels = frozenset(draw.sample([*KNOWN, *LOST], draw.randint(1, 4)))
        text, holds = random_condition(draw, "p.tid", draw.randint(0, 1))
        for condition, test in ((text, holds), ("TRUE", lambda _: True)):
            sql = f"SELECT count(*) FROM t p WHERE p.item IN ({_text(sorted(labels))}) AND {condition}"

            def value(s: Basket, test: Predicate = test, labels: Basket = labels) -> int:
                return len(s & labels) if test(s) else 0

            lower, estimate, upper = opened.answer(sql).bounds
            assert (lower, upper) == _extremes(originals, value), (sql, transactions, blocks)
            assert lower <= estimate <= upper

            rows: dict[Any, tuple[Any, ...]] = {
                row[0]: row[1:]
                for row in opened.answer(f"SELECT item, count(*) FROM t p WHERE {condition} GROUP BY item").rows
            }
            listed = {i for m in members.values() for i in m}
            assert set(rows) <= listed  # what nobody can hold is not listed
            for item in sorted(listed):
                lower, estimate, upper = rows.get(item, (0, 0.0, 0))

                def held(s: Basket, test: Predicate = test, item: str = item) -> int:
                    return int(item in s and test(s))

                assert (lower, upper) == _extremes(originals, held), (item, condition)
                assert lower <= estimate <= upper


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(12), 0, check=[1]))
def test_patterns_never_lie(engine: Engine, asked: Sessions, seed: int) -> None:
    """On suppressed items a pattern may match or not: the bounds hold, and are exact where nothing was suppressed."""
    draw = random.Random(2000 + seed)
    transactions, blocks = _release(draw, seed % 2 == 1)
    opened = asked(engine, by_hand(engine, transactions, blocks))
    published = _published(transactions, blocks)
    members = {g: m for g, m in blocks.items() if any(g in t for t in published)}
    suppression = "some" if seed % 2 else "none"
    originals = _originals(published, members, suppression)
    for first, second in product("abxu", repeat=2):
        sql = (
            f"SELECT count(DISTINCT p.tid) FROM t p WHERE p.item LIKE '{first}%' AND NOT EXISTS (SELECT 1 FROM t q "
            f"WHERE q.tid = p.tid AND (q.item LIKE '{second}_' OR q.item = '{second}'))"
        )

        def holds(s: Basket, first: str = first, second: str = second) -> bool:
            return any(i.startswith(first) for i in s) and not any(
                i == second or (i.startswith(second) and len(i) == 2) for i in s
            )

        lower, _, upper = opened.answer(sql).bounds
        least, most = _extremes(originals, lambda s: int(holds(s)))
        assert lower <= least <= most <= upper
        if suppression == "none":
            assert (lower, upper) == (least, most)


@pytest.mark.slow
def test_a_large_number_of_items_has_bounds(engine: Engine, asked: Sessions) -> None:
    """A released item stands for one to all of its members, so numbers of items lie between the sums of these."""
    blocks = {f"k{n}": [f"k{n}.{i}" for i in range(40)] for n in range(60)}
    sizes = [21 + person % 40 for person in range(60)]
    opened = asked(engine, by_hand(engine, [[f"k{n}.0" for n in range(size)] for size in sizes], blocks))
    for least in (50, 1000):
        sql = f"SELECT count(*) FROM (SELECT tid FROM t GROUP BY tid HAVING count(*) >= {least})"
        lower, _, upper = opened.answer(sql).bounds
        assert (lower, upper) == (sum(n >= least for n in sizes), sum(40 * n >= least for n in sizes))
