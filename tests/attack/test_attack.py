"""Simulated attackers against naive ones: candidate sets person by person, and the algorithm inverted by brute force."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import chain, combinations, product
from pathlib import Path

import duckdb
import pytest
from reference import coat as naive_coat
from reference import generalize, mhghs

import anondb
from anondb import attack
from anondb.data.taxonomy import from_edges
from anondb.errors import BudgetExceeded, InputError
from anondb.models.km import KmAnonymity

CHILDREN = {"R": ["P", "Q"], "P": ["a", "b"], "Q": ["c", "d"]}
EDGES = [("R", None), *((x, node) for node, below in CHILDREN.items() for x in below)]


def owner(place: Path, rows: list[set[str]]) -> anondb.Database:
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE sales (tid INTEGER, item VARCHAR)")
        connection.executemany(
            "INSERT INTO sales VALUES (?, ?)", [(n, x) for n, t in enumerate(rows) for x in sorted(t)]
        )
        connection.execute("CREATE TABLE food (node VARCHAR, parent VARCHAR)")
        connection.executemany("INSERT INTO food VALUES (?, ?)", EDGES)
    return anondb.connect(place)


@pytest.mark.parametrize("known", [1, 2, 5])
def test_candidates_are_those_of_a_naive_attacker(tmp_path: Path, known: int) -> None:
    rng = random.Random(known)
    rows = [{x for x in "abcd" if rng.random() < 0.5} or {"a"} for _ in range(30)]
    with owner(tmp_path / "shop.duckdb", rows) as database:
        made = database.anonymize("sales", taxonomy="food", model=KmAnonymity(3, 2), name="one", queries=2)
        found = made.attack(individuals=30, known=known)
        image = {i: r for r, i in made.table("released_items").fetchall()}
    assert found.individuals == 30
    published = [{image[x] for x in t if x in image} for t in rows]

    def sizes(t: set[str]) -> tuple[set[int], set[int]]:
        knowledge = list(combinations(sorted(t), min(known, len(t))))
        before = {sum(set(x) <= u for u in rows) for x in knowledge}
        after = {sum({image[i] for i in x if i in image} <= u for u in published) for x in knowledge}
        return before, after

    for which, candidates in ((0, found.before), (1, found.after)):
        possible = [sizes(t)[which] for t in rows]
        assert min(min(p) for p in possible) <= candidates.smallest <= min(max(p) for p in possible)
        assert candidates.largest <= max(max(p) for p in possible)
        if known == 5:  # everything is known: nothing is left to chance
            exact = sorted(p.pop() for p in possible)
            assert (candidates.smallest, candidates.largest) == (exact[0], exact[-1])
            assert candidates.of_one == exact.count(1) and candidates.below_k == sum(n < 3 for n in exact)
            assert candidates.at_smallest == exact.count(exact[0])
    assert known > 2 or found.after.below_k == 0
    assert found.to_json()["after"]["smallest"] == found.after.smallest


def test_the_same_seed_draws_the_same_persons(tmp_path: Path) -> None:
    rows = [{x, "a"} for x in "bcd" for _ in range(8)]
    with owner(tmp_path / "shop.duckdb", rows) as database:
        made = database.anonymize("sales", taxonomy="food", model=KmAnonymity(2, 2), name="one", queries=2)
        assert made.attack(individuals=5, seed=3) == made.attack(individuals=5, seed=3)
        for wrong in ({"individuals": 0}, {"known": 0}):
            with pytest.raises(InputError):
                made.attack(**wrong)


def brute_force(released: list[frozenset[str]], members: dict[str, list[str]], gives: object) -> attack.Inversion:
    """Every original, person by person."""

    def subsets(items: list[str]) -> list[tuple[str, ...]]:
        return list(chain.from_iterable(combinations(items, n) for n in range(1, len(items) + 1)))

    choices = [
        [frozenset(chain.from_iterable(c)) for c in product(*(subsets(members[r]) for r in sorted(t)))]
        for t in released
    ]
    totals: list[Counter[tuple[int, str]]] = [Counter(), Counter()]
    counts = [0, 0]
    for originals in product(*choices):
        for which in (0, 1) if gives(originals) else (0,):  # type: ignore[operator]
            counts[which] += 1
            totals[which].update((n, x) for n, t in enumerate(originals) for x in t)
    shares = [{p: Fraction(n, counts[w]) for p, n in totals[w].items()} for w in (0, 1)]
    pairs = [p for p, share in shares[0].items() if share < 1]
    return attack.Inversion(
        counts[0],
        counts[1],
        max(shares[0][p] for p in pairs),
        max(shares[1].get(p, Fraction(0)) for p in pairs),
        sum(shares[1].get(p, 0) in (0, 1) for p in pairs),
    )


CASES = [
    (["PQ", "P", "Q"], 2),
    (["PQ", "PQ"], 2),
    (["PQ", "PQ", "P"], 2),
    (["PQ", "P", "Q", "P"], 2),
]


@pytest.mark.parametrize("sets, k", CASES)
def test_mhghs_is_inverted(sets: list[str], k: int) -> None:
    members = {"P": ["a", "b"], "Q": ["c", "d"]}
    released = [frozenset(t) for t in sets]

    def gives(originals: tuple[frozenset[str], ...]) -> bool:
        result = mhghs(CHILDREN, "R", originals, k, 1)[-1]
        published = generalize(CHILDREN, originals, result.cut, result.suppressed)
        return list(published) == released

    wanted = brute_force(released, members, gives)
    found = attack.invert(released, members, KmAnonymity(k, 1), "mhghs", taxonomy=from_edges(EDGES))
    assert found == wanted and found.posterior >= found.naive


def test_a_release_that_the_algorithm_never_makes() -> None:
    with pytest.raises(InputError) as caught:
        attack.invert(
            [frozenset("P"), frozenset("P"), frozenset("Q")],
            {"P": ["a", "b"], "Q": ["c", "d"]},
            KmAnonymity(2, 1),
            "mhghs",
            taxonomy=from_edges(EDGES),
        )
    assert caught.value.code == "not_its_algorithm"


def test_coat_is_inverted() -> None:
    members = {"(a,b)": ["a", "b"], "c": ["c"]}
    released = [frozenset(["(a,b)", "c"]), frozenset(["(a,b)", "c"]), frozenset(["c"])]

    def gives(originals: tuple[frozenset[str], ...]) -> bool:
        if set().union(*originals) != set("abc"):
            return False
        result = naive_coat(originals, 2, m=2)
        return not result.suppressed and sorted(result.blocks) == [("a", "b"), ("c",)]

    found = attack.invert(released, members, KmAnonymity(2, 2), "coat")
    assert found == brute_force(released, members, gives)


def test_large_releases_and_unknown_names_are_refused() -> None:
    with pytest.raises(BudgetExceeded):
        attack.invert([frozenset("P")] * 4, {"P": list("abcdefghij")}, KmAnonymity(2, 1), "coat")
    with pytest.raises(InputError):
        attack.invert([frozenset("a")] * 2, {"a": ["a"]}, KmAnonymity(2, 1), "coat", suppressed=True)
