"""The algorithm inverted by brute force: what it gives away to whoever knows it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import chain, combinations, product

import pytest
from portions import some
from reference import apriori as naive_apriori
from reference import coat as naive_coat
from reference import generalize, mhghs

from anondb.data.taxonomy import from_edges
from anondb.errors import BudgetExceeded, InputError
from anondb.models.km import KmAnonymity
from anondb.owner import inversion

CHILDREN = {"R": ["P", "Q"], "P": ["a", "b"], "Q": ["c", "d"]}
EDGES = [("R", None), *((x, node) for node, below in CHILDREN.items() for x in below)]


def brute_force(released: list[frozenset[str]], members: dict[str, list[str]], gives: object) -> inversion.Inversion:
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
    return inversion.Inversion(
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


@pytest.mark.parametrize("sets, k", some(CASES, CASES[1]))
def test_mhghs_is_inverted(sets: list[str], k: int) -> None:
    members = {"P": ["a", "b"], "Q": ["c", "d"]}
    released = [frozenset(t) for t in sets]

    def gives(originals: tuple[frozenset[str], ...]) -> bool:
        result = mhghs(CHILDREN, "R", originals, k, 1)[-1]
        published = generalize(CHILDREN, originals, result.cut, result.suppressed)
        return list(published) == released

    wanted = brute_force(released, members, gives)
    found = inversion.invert(released, members, KmAnonymity(k, 1), "mhghs", taxonomy=from_edges(EDGES))
    assert found == wanted and found.posterior >= found.naive


def test_a_release_that_the_algorithm_never_makes() -> None:
    with pytest.raises(InputError) as caught:
        inversion.invert(
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

    found = inversion.invert(released, members, KmAnonymity(2, 2), "coat")
    assert found == brute_force(released, members, gives)


@pytest.mark.slow
@pytest.mark.parametrize("sets, k", some(CASES, CASES[0]))
def test_apriori_is_inverted(sets: list[str], k: int) -> None:
    members = {"P": ["a", "b"], "Q": ["c", "d"]}
    released = [frozenset(t) for t in sets]

    def gives(originals: tuple[frozenset[str], ...]) -> bool:
        cut = naive_apriori(CHILDREN, "R", originals, k, 1)
        return [frozenset(t) for t in generalize(CHILDREN, originals, cut)] == released

    wanted = brute_force(released, members, gives)
    found = inversion.invert(released, members, KmAnonymity(k, 1), "apriori", taxonomy=from_edges(EDGES))
    assert found == wanted and found.posterior >= found.naive


def test_large_releases_and_unknown_names_are_refused() -> None:
    with pytest.raises(BudgetExceeded):
        inversion.invert([frozenset("P")] * 4, {"P": list("abcdefghij")}, KmAnonymity(2, 1), "coat")
    with pytest.raises(InputError):
        inversion.invert([frozenset("a")] * 2, {"a": ["a"]}, KmAnonymity(2, 1), "coat", suppressed=True)
