"""The algorithm inverted by brute force: what it gives away to whoever knows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import pandas as pd
import pytest
import reference_supports as ref
from portions import some
from reference import apriori as naive_apriori
from reference import coat as naive_coat
from reference import generalize, mhghs

import anondb
from anondb.data.taxonomy import from_edges
from anondb.errors import BudgetExceeded, InputError
from anondb.models.transactional import KmAnonymity
from anondb.risk import inversion
from anondb.risk.inversion import ReaderView

CHILDREN = {"R": ["P", "Q"], "P": ["a", "b"], "Q": ["c", "d"]}
EDGES = [("R", None), *((x, node) for node, below in CHILDREN.items() for x in below)]


def brute_force(
    released: list[frozenset[str]], members: dict[str, list[str]], gives: object, possible: Any = lambda _: True
) -> inversion.Inversion:
    """Every original, person by person."""

    def subsets(items: list[str]) -> list[tuple[str, ...]]:
        return list(chain.from_iterable(combinations(items, n) for n in range(1, len(items) + 1)))

    choices = [
        [frozenset(chain.from_iterable(c)) for c in product(*(subsets(members[r]) for r in sorted(t)))] for t in released
    ]
    totals: list[Counter[tuple[int, str]]] = [Counter(), Counter()]
    counts = [0, 0]
    for originals in filter(possible, product(*choices)):
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


CASES = [(["PQ", "P", "Q"], 2), (["PQ", "PQ"], 2), (["PQ", "PQ", "P"], 2), (["PQ", "P", "Q", "P"], 2)]


@pytest.mark.slow
@pytest.mark.parametrize("sets, k", some(CASES, CASES[1], check=()))
def test_mhghs_is_inverted(sets: list[str], k: int) -> None:
    members = {"P": ["a", "b"], "Q": ["c", "d"]}
    released = [frozenset(t) for t in sets]

    def gives(originals: tuple[frozenset[str], ...]) -> bool:
        result = mhghs(CHILDREN, "R", originals, k, 1)[-1]
        published = generalize(CHILDREN, originals, result.cut, result.suppressed)
        return list(published) == released

    wanted = brute_force(released, members, gives)
    found = inversion.invert(ReaderView(released, members), KmAnonymity(k, 1), "mhghs", taxonomy=from_edges(EDGES))
    assert found == wanted and found.posterior >= found.naive


def test_a_release_that_the_algorithm_never_makes() -> None:
    with pytest.raises(InputError) as caught:
        inversion.invert(
            ReaderView([frozenset("P"), frozenset("P"), frozenset("Q")], {"P": ["a", "b"], "Q": ["c", "d"]}),
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

    found = inversion.invert(ReaderView(released, members), KmAnonymity(2, 2), "coat")
    assert found == brute_force(released, members, gives)


@pytest.mark.slow
@pytest.mark.parametrize("sets, k", some(CASES, CASES[0], check=()))
def test_apriori_is_inverted(sets: list[str], k: int) -> None:
    members = {"P": ["a", "b"], "Q": ["c", "d"]}
    released = [frozenset(t) for t in sets]

    def gives(originals: tuple[frozenset[str], ...]) -> bool:
        cut = naive_apriori(CHILDREN, "R", originals, k, 1)
        return [frozenset(t) for t in generalize(CHILDREN, originals, cut)] == released

    wanted = brute_force(released, members, gives)
    found = inversion.invert(ReaderView(released, members), KmAnonymity(k, 1), "apriori", taxonomy=from_edges(EDGES))
    assert found == wanted and found.posterior >= found.naive


def test_large_releases_and_unknown_names_are_refused() -> None:
    with pytest.raises(BudgetExceeded):
        inversion.invert(ReaderView([frozenset("P")] * 4, {"P": list("abcdefghij")}), KmAnonymity(2, 1), "coat")
    with pytest.raises(InputError):
        inversion.invert(ReaderView([frozenset("a")] * 2, {"a": ["a"]}, True), KmAnonymity(2, 1), "coat")


@pytest.mark.slow
def test_item_supports_are_read() -> None:
    """Originals outside of the counts are impossible; those that the algorithm leads to publish the same table."""
    members = {"(a,b)": ["a", "b"], "c": ["c"]}
    released = [frozenset(["(a,b)", "c"]), frozenset(["(a,b)", "c"]), frozenset(["(a,b)"])]
    originals = [frozenset("ac"), frozenset("abc"), frozenset("a")]
    table = ref.published(released, members, originals, 2, 2)

    def possible(baskets: tuple[frozenset[str], ...]) -> bool:
        return all(low <= sum(item in b for b in baskets) <= high for (_, item), (low, high) in table.items())

    def gives(baskets: tuple[frozenset[str], ...]) -> bool:
        if set().union(*baskets) != set("abc") or ref.published(released, members, baskets, 2, 2) != table:
            return False
        result = naive_coat(baskets, 2, m=2)
        return not result.suppressed and sorted(result.blocks) == [("a", "b"), ("c",)]

    found = inversion.invert(ReaderView(released, members, False, table), KmAnonymity(2, 2), "coat")
    assert found == brute_force(released, members, gives, possible)
    assert found.originals <= inversion.invert(ReaderView(released, members), KmAnonymity(2, 2), "coat").originals


@pytest.mark.slow
def test_the_owner_of_a_small_release_is_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[inversion.Inversion] = []

    def settled(*args: Any, **options: Any) -> inversion.Inversion:
        results.append(invert(*args, **options))
        return replace(results[-1], certain=3)

    invert = inversion.invert
    monkeypatch.setattr(inversion, "invert", settled)
    with anondb.connect() as database:
        rows = "(1, 'a'), (1, 'c'), (2, 'a'), (2, 'b'), (2, 'c'), (3, 'c')"
        database.sql(f"CREATE TABLE t AS SELECT * FROM (VALUES {rows}) v(tid, item)")
        options = {"model": KmAnonymity(2, 2), "algorithm": "coat", "queries": 2}
        reports = [database.anonymize("t", name=n, item_supports=n == "with", **options).report for n in ("with", "plain")]
    told = [[w for w in r.warnings if "infer 3 facts on persons" in w] for r in reports if r is not None]
    assert len(told[0]) == 1 and not told[1] and len(results) == 1 and results[0].originals > 1


def test_constraints_in_data_frames_are_not_inverted() -> None:
    """The inversion knows nothing of the owner's constraints; a small release with them is made all the same."""
    groups = pd.DataFrame({"group_id": ["g", "g", "g"], "item": ["a", "b", "c"]})
    rows = pd.DataFrame({"tid": [1, 1, 2, 2, 2, 3], "item": list("acabcc")})
    with anondb.connect() as database:
        release = database.anonymize(
            rows,
            model=KmAnonymity(2, 2),
            algorithm="coat",
            name="r",
            utility_constraints=groups,
            item_supports=True,
            max_suppression=100,
            queries=2,
        )
    assert release.report is not None and release.report.verification.item_supports == 0
