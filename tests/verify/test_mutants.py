"""Corrupted releases: whoever breaks a valid k^m release in whatever way must not get past the verifier.

Each mutation yields corrupted copies of a release with the promise that is then claimed for it; not every copy breaks
the promise, so the definition itself (tests/reference.py) says which do, and each mutation must break some.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import pytest
from each import each
from reference import count_rare_transactions, is_km_anonymous, minimal_threats
from verify.published import Case, verified, verified_together

from anondb.engine import Engine

Rows = list[list[str]]


@dataclass(frozen=True)
class Release:
    """Published transactions and the promise that they keep (the random ones keep none for k+1, and none for m+1)."""

    rows: tuple[tuple[str, ...], ...]
    k: int
    m: int | float

    def copy(self) -> Rows:
        return [list(t) for t in self.rows]

    @property
    def items(self) -> list[str]:
        return sorted({i for t in self.rows for i in t})


def _random_release(seed: int, k: int, m: int) -> Release:
    """Random baskets, from which the last item of a minimal threat is suppressed until none is left."""
    rnd = random.Random(seed)
    items = [f"item {i}" for i in range(7)]
    while True:
        rows = [[i for i in items if rnd.random() < 0.45] for _ in range(16)] + [[]]
        while threats := minimal_threats(rows, k, m):
            rows = [[i for i in t if i != threats[0][-1]] for t in rows]
        release = Release(tuple(tuple(t) for t in rows), k, m)
        if len(release.items) > 3 and not is_km_anonymous(rows, k + 1, m) and not is_km_anonymous(rows, k, m + 1):
            return release


RELEASES = {
    "fruit": Release(
        (
            ("Fruit", "bread", "milk"),
            ("Fruit", "bread", "milk"),
            ("Fruit", "bread"),
            ("Fruit", "milk"),
            ("bread", "milk"),
            ("Fruit", "tea"),
            ("Fruit", "tea"),
            ("Fruit", "tea"),
            ("bread",),
            (),
        ),
        3,
        2,
    ),
    "codes": Release(
        (
            *((("(250:259)", "401", "(E1,E2)"),) * 3),
            ("(250:259)", "401", "V70"),
            ("(250:259)", "401", "V70"),
            ("(250:259)", "(E1,E2)", "V70"),
            ("(250:259)", "(E1,E2)", "V70"),
            ("401", "(E1,E2)", "V70"),
            ("401", "(E1,E2)", "V70"),
            ("(250:259)", "401", "(E1,E2)", "V70"),
            (),
        ),
        2,
        3,
    ),
    "random-2-2": _random_release(1, 2, 2),
    "random-3-2": _random_release(2, 3, 2),
    "random-2-3": _random_release(3, 2, 3),
}

Mutant = tuple[Rows, int, int | float]
Mutation = Callable[[Release], Iterator[Mutant]]
MUTATIONS: dict[str, Mutation] = {}


def mutation(function: Callable[[Release], Iterator[Rows | Mutant]]) -> Callable[[Release], Iterator[Mutant]]:
    """Register a mutation; it claims the promise of the original unless it yields another."""

    def mutants(release: Release) -> Iterator[Mutant]:
        for found in function(release):
            yield found if isinstance(found, tuple) else (found, release.k, release.m)

    MUTATIONS[function.__name__] = mutants
    return mutants


def _holders(rows: Rows, *items: str) -> list[int]:
    return [i for i, t in enumerate(rows) if set(items) <= set(t)]


def _drop_until(release: Release, size: int) -> Iterator[Rows]:
    """Take one item of an itemset out of transactions until the itemset has the support k-1."""
    for itemset in combinations(release.items, size):
        for item in itemset:
            rows = release.copy()
            at = _holders(rows, *itemset)
            for i in at[: max(0, len(at) - release.k + 1)]:
                rows[i].remove(item)
            if len(at) >= release.k:
                yield rows


@mutation
def one_occurrence_dropped(release: Release) -> Iterator[Rows]:
    for i, t in enumerate(release.rows):
        for item in t:
            rows = release.copy()
            rows[i].remove(item)
            yield rows


@mutation
def item_support_k_minus_1(release: Release) -> Iterator[Rows]:
    yield from _drop_until(release, 1)


@mutation
def pair_support_k_minus_1(release: Release) -> Iterator[Rows]:
    yield from _drop_until(release, 2)


@mutation
def largest_itemset_support_k_minus_1(release: Release) -> Iterator[Rows]:
    yield from _drop_until(release, int(release.m))


@mutation
def item_left_in_one_transaction(release: Release) -> Iterator[Rows]:
    for item in release.items:
        keep = _holders(release.copy(), item)[0]
        yield [[i for i in t if i != item or n == keep] for n, t in enumerate(release.rows)]


@mutation
def item_suppressed_in_all_but_k_minus_1(release: Release) -> Iterator[Rows]:
    for item in release.items:
        keep = _holders(release.copy(), item)[-(release.k - 1) :]
        yield [[i for i in t if i != item or n in keep] for n, t in enumerate(release.rows)]


@mutation
def rare_item_unsuppressed(release: Release) -> Iterator[Rows]:
    for i in range(len(release.rows)):
        rows = release.copy()
        rows[i].append("rare")
        yield rows


@mutation
def rare_item_unsuppressed_k_minus_1_times(release: Release) -> Iterator[Rows]:
    rows = release.copy()
    for t in rows[: release.k - 1]:
        t.append("rare")
    yield rows


@mutation
def frequent_item_unsuppressed_beside_rare_company(release: Release) -> Iterator[Rows]:
    """The new item is in k transactions, but its pairs are not."""
    for at in combinations(range(len(release.rows)), release.k):
        rows = release.copy()
        for i in at:
            rows[i].append("common")
        yield rows


@mutation
def empty_transaction_filled(release: Release) -> Iterator[Rows]:
    for pair in combinations([*release.items, "new"], 2):
        rows = release.copy()
        rows[_holders(rows)[-1]] = list(pair)
        yield rows


@mutation
def ungeneralized_in_one_transaction(release: Release) -> Iterator[Rows]:
    for item in release.items:
        rows = release.copy()
        at = _holders(rows, item)[0]
        rows[at] = [f"{i}/leaf" if i == item else i for i in rows[at]]
        yield rows


@mutation
def ungeneralized_in_k_minus_1_transactions(release: Release) -> Iterator[Rows]:
    for item in release.items:
        rows = release.copy()
        for at in _holders(rows, item)[: release.k - 1]:
            rows[at] = [f"{i}/leaf" if i == item else i for i in rows[at]]
        yield rows


@mutation
def ungeneralized_in_all_but_k_minus_1_transactions(release: Release) -> Iterator[Rows]:
    for item in release.items:
        rows = release.copy()
        for at in _holders(rows, item)[release.k - 1 :]:
            rows[at] = [f"{i}/leaf" if i == item else i for i in rows[at]]
        yield rows


@mutation
def ungeneralized_into_two_leaves(release: Release) -> Iterator[Rows]:
    for item in release.items:
        yield [[f"{i}/{n % 2}" if i == item else i for i in t] for n, t in enumerate(release.rows)]


@mutation
def ungeneralized_everywhere_by_transaction(release: Release) -> Iterator[Rows]:
    for item in release.items:
        yield [[f"{i}/{n}" if i == item else i for i in t] for n, t in enumerate(release.rows)]


@mutation
def leaf_published_beside_its_generalization(release: Release) -> Iterator[Rows]:
    for item in release.items:
        rows = release.copy()
        rows[_holders(rows, item)[-1]].append(f"{item}/leaf")
        yield rows


@mutation
def k_off_by_one(release: Release) -> Iterator[Mutant]:
    yield release.copy(), release.k + 1, release.m


@mutation
def k_far_too_large(release: Release) -> Iterator[Mutant]:
    yield release.copy(), len(release.rows) + 1, release.m


@mutation
def m_off_by_one(release: Release) -> Iterator[Mutant]:
    yield release.copy(), release.k, release.m + 1


@mutation
def m_beyond_all_lengths(release: Release) -> Iterator[Mutant]:
    yield release.copy(), release.k, 10**6


@mutation
def m_infinite(release: Release) -> Iterator[Mutant]:
    yield release.copy(), release.k, math.inf


@mutation
def two_tids_merged(release: Release) -> Iterator[Rows]:
    for i, j in combinations(range(len(release.rows)), 2):
        rows = release.copy()
        rows[i] = sorted({*rows[i], *rows[j]})
        del rows[j]
        yield rows


@mutation
def equal_transactions_merged(release: Release) -> Iterator[Rows]:
    yield [list(t) for t in sorted(set(release.rows))]


@mutation
def transaction_dropped(release: Release) -> Iterator[Rows]:
    for i in range(len(release.rows)):
        rows = release.copy()
        del rows[i]
        yield rows


@mutation
def transaction_emptied(release: Release) -> Iterator[Rows]:
    for i in range(len(release.rows)):
        rows = release.copy()
        rows[i] = []
        yield rows


@mutation
def first_half_published(release: Release) -> Iterator[Rows]:
    for n in range(len(release.rows) // 2, len(release.rows)):
        yield release.copy()[:n]


@mutation
def items_swapped_between_transactions(release: Release) -> Iterator[Rows]:
    for i, j in combinations(range(len(release.rows)), 2):
        for a in set(release.rows[i]) - set(release.rows[j]):
            for b in sorted(set(release.rows[j]) - set(release.rows[i])):
                rows = release.copy()
                rows[i][rows[i].index(a)], rows[j][rows[j].index(b)] = b, a
                yield rows


@mutation
def item_moved_to_another_transaction(release: Release) -> Iterator[Rows]:
    for i, t in enumerate(release.rows):
        for item in t:
            for j in range(len(release.rows)):
                if item not in release.rows[j]:
                    rows = release.copy()
                    rows[i].remove(item)
                    rows[j].append(item)
                    yield rows


@mutation
def common_item_added_to_another_transaction(release: Release) -> Iterator[Rows]:
    for i, t in enumerate(release.rows):
        for item in release.items:
            if item not in t:
                rows = release.copy()
                rows[i].append(item)
                yield rows


@mutation
def transaction_with_all_items_added(release: Release) -> Iterator[Rows]:
    yield [*release.copy(), [*release.items, "one more"]]


@mutation
def transaction_of_one_new_item_added(release: Release) -> Iterator[Rows]:
    yield [*release.copy(), ["new"]]


@mutation
def item_misspelt_in_one_transaction(release: Release) -> Iterator[Rows]:
    for change in (str.upper, lambda s: s + " ", lambda s: s.replace("i", "\u0456"), lambda s: s + "\u0301"):
        for item in release.items:
            rows = release.copy()
            at = _holders(rows, item)[0]
            rows[at] = [change(i) if i == item else i for i in rows[at]]
            yield rows


@mutation
def item_replaced_by_another(release: Release) -> Iterator[Rows]:
    for i, t in enumerate(release.rows):
        for old in t:
            for new in release.items:
                if new not in t:
                    rows = release.copy()
                    rows[i][rows[i].index(old)] = new
                    yield rows


@mutation
def rows_of_one_item_shifted(release: Release) -> Iterator[Rows]:
    """An item's column is one row off, as after a join by position."""
    for item in release.items:
        shifted = [release.rows[-1], *release.rows[:-1]]
        yield [
            [i for i in t if i != item] + ([item] if item in before else [])
            for t, before in zip(release.rows, shifted, strict=True)
        ]


@mutation
def tid_column_off_by_one(release: Release) -> Iterator[Rows]:
    """The last item of each transaction carries the next tid."""
    rows = release.copy()
    moved = [t.pop() if t else None for t in rows]
    for t, item in zip(rows[1:] + rows[:1], moved, strict=True):
        if item is not None and item not in t:
            t.append(item)
    yield rows


def _holds(rows: Rows, k: int, m: int | float) -> bool:
    return is_km_anonymous(rows, k, m)


@each("name", RELEASES)
def test_originals_are_accepted(engine: Engine, name: str) -> None:
    release = RELEASES[name]
    assert _holds(release.copy(), release.k, release.m)
    for k in range(1, release.k + 1):
        for m in range(1, int(release.m) + 1):
            assert verified(engine, release.rows, k, m).verified


def test_there_are_enough_mutations() -> None:
    assert len(MUTATIONS) >= 25


def breaking(name: str) -> list[Case]:
    """Up to two breaking mutants of each release; the mutation must break some release at all."""
    found: list[Case] = []
    for release in RELEASES.values():
        broken = (mutant for mutant in islice(MUTATIONS[name](release), 60) if not _holds(*mutant))
        found += islice(broken, 2)
    assert len(found) >= 2, name
    return found


@pytest.mark.slow
def test_mutants_are_rejected_together(engine: Engine) -> None:
    """Those of all mutations, by one call for each k and m: each has exactly the violations of the definition."""
    mutants = [mutant for name in MUTATIONS for mutant in breaking(name)]
    for (rows, k, m), found in zip(mutants, verified_together(engine, mutants), strict=True):
        assert found
        if m == math.inf:
            assert len(found) == count_rare_transactions(rows, k)
        else:
            assert set(found) == set(minimal_threats(rows, k, m))


@pytest.mark.slow
@each("name", list(MUTATIONS)[::6])
def test_mutants_are_rejected_alone(engine: Engine, name: str) -> None:
    for rows, k, m in breaking(name):
        found = verified(engine, rows, k, m)
        assert not found.verified
        assert found.violations == (count_rare_transactions(rows, k) if m == math.inf else len(minimal_threats(rows, k, m)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one_occurrence_dropped", "transaction_dropped", "items_swapped_between_transactions"])
def test_harmless_changes_are_accepted(engine: Engine, name: str) -> None:
    """The verifier is not merely strict: changes that leave the promise intact pass."""
    for release in RELEASES.values():
        intact = (found for found in MUTATIONS[name](release) if _holds(*found))
        for rows, k, m in islice(intact, 2):
            assert verified(engine, rows, k, m).verified
