"""count_bounds of local recodings against brute force over every original that a transaction may come from, and the
accuracy of the owner's report beside it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, combinations_with_replacement, product
from typing import Any

import pytest
from portions import some
from reference import Transactions, ancestors, leaves, nonempty_subsets
from reference_expected import expected_count, expected_holders
from release.benches import ReleaseBench

from anondb.release.objects import LOCAL, read_release

Original = Counter[str]


class Bench(ReleaseBench):
    """A release of a local recoding."""

    def __init__(self) -> None:
        super().__init__(LOCAL)

    def fill(self, published: Transactions, complete: Sequence[bool], members: dict[str, list[str]], semantics: str) -> None:
        self.put(
            {
                "transactions": [(n, g, c) for n, t in enumerate(published, 1) for g, c in Counter(t).items()],
                "transaction_ids": list(enumerate(complete, 1)),
                "released_items": [(g, i) for g in sorted({g for t in published for g in t}) for i in members[g]],
                "manifest": [("release_id", "number"), ("semantics", semantics), ("model", "k")],
            }
        )


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.engine.close()


def check_item_counts(bench: Bench) -> None:
    """The view says of each item what the macro says of it alone."""
    found = bench.item_counts()
    for item, answer in found.items():
        assert answer == pytest.approx(bench.ask_one([item])), item
    listed = bench.run("SELECT DISTINCT item FROM release_r.released_items").fetchall()
    assert sorted(found) == sorted(i for (i,) in listed)


TREES = [
    ({"r": ["a", "b"], "a": ["a1", "a2"]}, "r"),
    ({"r": ["a", "b"], "a": ["a1", "a2"], "b": ["b1", "b2"]}, "r"),
    ({"r": ["a", "c"], "a": ["x"], "x": ["x1", "x2"]}, "r"),  # a node with a single child
    ({"r": ["a", "b", "c"], "b": ["b1"]}, "r"),
]


def originals_of_sets(shown: Sequence[str], complete: bool, members: dict[str, list[str]], domain: list[str]) -> Any:
    """Each released item stands for a non-empty set of its members; anything else only where it is not complete."""
    choices = [nonempty_subsets(members[g]) for g in sorted(set(shown))]
    choices.append([frozenset()] if complete else [frozenset(), *nonempty_subsets(domain)])
    return {frozenset().union(*parts) for parts in product(*choices)}


def originals_of_bags(
    shown: Sequence[str], complete: bool, members: dict[str, list[str]], domain: list[str], extra: int, sets: bool
) -> set[frozenset[str]]:
    """Each copy stands for another occurrence; an original may be a set or a bag. Only what it holds matters here."""
    more = [()] if complete else [t for n in range(extra + 1) for t in combinations_with_replacement(domain, n)]
    found = set()
    for chosen in product(*(members[g] for g in shown)):
        for rest in more:
            occurrences = (*chosen, *rest)
            if not sets or len(set(occurrences)) == len(occurrences):
                found.add(frozenset(occurrences))
    return found


def subsets(items: Sequence[str]) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(items, n) for n in range(len(items) + 1)))


def antichain(rnd: random.Random, children: dict[str, list[str]], root: str) -> list[str]:
    """Nodes of which none is above another."""
    nodes = sorted(members_of(children, root), key=lambda _: rnd.random())[: rnd.randint(0, 4)]
    return [v for v in nodes if not set(ancestors(children, v)[1:]) & set(nodes)]


def members_of(children: dict[str, list[str]], root: str) -> dict[str, list[str]]:
    found = {root: leaves(children, root)}
    for below in children.values():
        found.update({v: leaves(children, v) for v in below})
    return found


@pytest.mark.parametrize("seed", some(range(30), 0, check=[1]))
def test_set_semantics_bounds_are_attained(bench: Bench, seed: int) -> None:
    rnd = random.Random(seed)
    children, root = rnd.choice(TREES)
    members, domain = members_of(children, root), [*leaves(children, root), "other"]
    published = [antichain(rnd, children, root) for _ in range(rnd.randint(1, 5))]
    complete = [rnd.random() < 0.6 for _ in published]
    bench.fill(published, complete, members, "set")
    originals = [originals_of_sets(t, c, members, domain) for t, c in zip(published, complete, strict=True)]
    listed = {g: items for g, items in members.items() if any(g in t for t in published)}
    holders = expected_holders(published, listed)
    queries = subsets(domain)
    for query, (lower, estimate, upper) in zip(queries, bench.ask(queries), strict=True):
        verdicts = [{set(query) <= o for o in possible} for possible in originals]
        assert lower == sum(v == {True} for v in verdicts), query
        assert upper == sum(True in v for v in verdicts), query
        assert lower <= estimate <= upper + 1e-9
        assert estimate == pytest.approx(expected_count(published, listed, query, holders), abs=1e-9), query
    check_item_counts(bench)


@pytest.mark.parametrize("seed", some(range(30), 0, check=[1]))
def test_atomic_semantics_bounds_always_hold(bench: Bench, seed: int) -> None:
    rnd = random.Random(1000 + seed)
    children, root = rnd.choice(TREES)
    members, domain = members_of(children, root), [*leaves(children, root), "other"]
    published = [sorted(rnd.choice(list(members)) for _ in range(rnd.randint(0, 3))) for _ in range(rnd.randint(1, 4))]
    complete = [rnd.random() < 0.6 for _ in published]
    bench.fill(published, complete, members, "atomic")
    queries = subsets(domain)
    for sets in (False, True):
        originals = [
            originals_of_bags(t, c, members, domain, len(domain), sets) for t, c in zip(published, complete, strict=True)
        ]
        if not all(originals):
            continue  # more copies than members: no set has them
        for query, (lower, estimate, upper) in zip(queries, bench.ask(queries), strict=True):
            verdicts = [{set(query) <= o for o in possible} for possible in originals]
            least, most = sum(v == {True} for v in verdicts), sum(True in v for v in verdicts)
            assert lower <= least and most <= upper, (query, sets)
            assert lower <= estimate <= upper + 1e-9
            if len(query) <= 2:
                assert upper == most, (query, sets)
            if not sets:
                assert lower == least, query
    check_item_counts(bench)


def test_estimates_of_bags(bench: Bench) -> None:
    """min(1, c/s) for each node, 1 minus the product of what is missing over nested ones, 0 with too few copies."""
    children, root = TREES[1]
    members = members_of(children, root)
    bench.fill([["a", "a", "b", "r"], ["a1"], ["a", "r"]], [True, True, False], members, "atomic")
    answers = bench.ask([["a1"], ["b1"], ["a1", "b1"], ["a1", "a2", "b1"]])
    assert answers[0] == (1, pytest.approx(1 + 1 + (1 - 1 / 2 * 3 / 4)), 3)
    assert answers[1] == (0, pytest.approx((1 - 1 / 2 * 3 / 4) + 1 / 4), 2)
    assert answers[2] == (0, pytest.approx(1 * 5 / 8 + 5 / 8 * 1 / 4), 2)
    assert answers[3] == (0, pytest.approx(5 / 8), 2)


def test_what_is_read_as_local(bench: Bench) -> None:
    members = {"a": ["x", "y"], "x": ["x"]}
    bench.fill([["a"], ["x"]], [True, True], members, "set")
    assert read_release(bench.engine, bench.schema).kind.local
    bench.run("UPDATE release_r.manifest SET value = 'km' WHERE key = 'model'")
    assert read_release(bench.engine, bench.schema).kind.local  # two released items stand for x
    bench.fill([["a"], ["a"]], [True, True], members, "set")
    bench.run("UPDATE release_r.manifest SET value = 'km' WHERE key = 'model'")
    assert not read_release(bench.engine, bench.schema).kind.local
    bench.run("UPDATE release_r.transaction_ids SET complete = false WHERE transaction_id = 1")
    assert read_release(bench.engine, bench.schema).kind.local
    bench.run("UPDATE release_r.transaction_ids SET complete = false")
    assert not read_release(bench.engine, bench.schema).kind.local


def test_baskets_repeat_copies(bench: Bench) -> None:
    bench.fill([["b", "a", "a"], []], [True, True], {"a": ["a"], "b": ["b"]}, "atomic")
    assert bench.run("FROM release_r.baskets ORDER BY 1").fetchall() == [(1, ["a", "a", "b"]), (2, [])]
