"""What item supports promise, proven on tiny releases by all the originals that each may come from.

For each release: the table by the SQL of anondb, all worlds that its bounds leave, and in these the statements of
docs/item_supports.md#the-promise. Equal candidates: who knows some items takes each transaction with the same cover of them for
equally likely. Support: what nobody may hold, nobody may hold, and all else k transactions may hold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import reference_supports as ref
from portions import portions
from supports_cases import Bound, tables_of
from supports_worlds import (
    Ints,
    Release,
    TooManyWorldsError,
    exposed,
    held,
    random_release,
    same_table,
    unequal,
    within,
    worlds,
)

from anondb.engine import Engine


def published(engine: Engine, releases: Sequence[Release]) -> list[ref.Supports]:
    """The tables of all releases by the SQL of the rule, which gives what the naive rule gives."""
    promises: dict[tuple[int, Bound], list[int]] = {}
    for n, release in enumerate(releases):
        promises.setdefault((release.k, release.m), []).append(n)
    found: list[ref.Supports] = [{} for _ in releases]
    for (k, m), numbers in promises.items():
        cases = [(releases[n].rows, releases[n].members, releases[n].originals) for n in numbers]
        with engine.transaction():
            tables = tables_of(engine, cases, k, m)
        for n, table, case in zip(numbers, tables, cases, strict=True):
            assert table == ref.published(*case, k, m), n
            found[n] = table
    return found


def check_promise(release: Release, table: ref.Supports) -> None:
    """Equal candidates and support in all worlds, also for readers who know the rule; the bounds hold in each."""
    found = worlds(release, within(release, table))
    knowing = worlds(release, same_table(release, table))
    assert has_world(release, found, release.originals) and has_world(release, knowing, release.originals)
    for some in (found, knowing):
        assert not unequal(release, some)
        assert not exposed(release, some)
    assert greatest(release, knowing, table)
    check_bounds(release, table, found)


def has_world(release: Release, found: Ints, originals: Sequence[ref.Row]) -> bool:
    """Whether an original is among the worlds."""
    return bool((found == np.array([release.bits(o) for o in originals], dtype=np.uint8)).all(axis=1).any())


def greatest(release: Release, found: Ints, table: ref.Supports) -> bool:
    """Whether in some world every count is at its upper bound."""
    at = np.ones(len(found), dtype=bool)
    for (label, item), (_, high) in table.items():
        at &= (found[:, release.at[label]] & release.bits([item]) != 0).sum(axis=1) == high
    return bool(at.any())


def bounds_of(release: Release, table: ref.Supports, items: Sequence[str]) -> tuple[int, int]:
    """The bounds by their formulas."""
    if not release.local:
        return ref.Global(release.rows, release.members, table, bool(release.others)).bounds(items)
    complete = [not release.others] * len(release.rows)
    return ref.local_bounds(release.rows, release.members, table, complete, items)


def check_bounds(release: Release, table: ref.Supports, found: Ints) -> None:
    """The bounds of every itemset hold in every world, and none of up to m items has an upper bound from 1 to k - 1."""
    for items in release.itemsets():
        low, high = bounds_of(release, table, items)
        counts = held(release, found, items)
        assert low <= counts.least and counts.most <= high, items
        assert len(items) > release.m or high == 0 or high >= release.k, items


def check_seeds(engine: Engine, seeds: range) -> None:
    releases = [random_release(seed) for seed in seeds]
    skipped = 0
    for seed, release, table in zip(seeds, releases, published(engine, releases), strict=True):
        assert not ref.violations(release.rows, release.members, table, release.k, release.m), seed
        try:
            check_promise(release, table)
        except TooManyWorldsError:
            skipped += 1
        except AssertionError as error:
            raise AssertionError((seed, release, table)) from error
    assert skipped < len(seeds) / 4, skipped


@pytest.mark.parametrize("seeds", portions(400, 3000, 20_000))
def test_random_releases_keep_the_promise(engine: Engine, seeds: range) -> None:
    check_seeds(engine, seeds)
