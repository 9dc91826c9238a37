"""Privacy bugs seeded into runs of every algorithm: whatever they publish, the verifier judges it by the definition.

A bug changes what the algorithm is told (k-1, m-1, a lost transaction, a lost DISTINCT) or what becomes of its answer (an
item that is not suppressed, one that keeps its name). Each must break the promise on some data, and be caught there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from portions import some
from reference import is_km_anonymous
from verify.published import verified

from anondb.algorithms.coat.coat import coat
from anondb.algorithms.hghs.hghs import hghs
from anondb.algorithms.hghs.mhghs import mhghs
from anondb.data.taxonomy import from_edges
from anondb.engine import Engine
from anondb.models.transactional import KmAnonymity
from anondb.risk.inversion import _dataset

Rows = list[set[str]]
Image = dict[str, str | None]
Run = Callable[[Rows, int, int], Image]
GROUPS = ["ab", "cd", "efg", "hi"]
ITEMS = "".join(GROUPS)
EDGES = [
    ("root", None),
    *(("left", "root"), ("right", "root")),
    *((g.upper(), "left" if n < 2 else "right") for n, g in enumerate(GROUPS)),
    *((x, g.upper()) for g in GROUPS for x in g),
]
TAXONOMY = from_edges(EDGES)
ALGORITHMS = ("hghs", "mhghs", "coat")


def runner(engine: Engine, algorithm: str) -> Run:
    """The algorithm, from transactions to the label of each item's image (None: suppressed)."""

    def run(rows: Rows, k: int, m: int) -> Image:
        with engine.transaction():
            dataset = _dataset(engine, [frozenset(t) for t in rows])
            model = KmAnonymity(k, m)
            if algorithm == "coat":
                found = coat(engine, dataset, model)
            else:
                found = {"hghs": hghs, "mhghs": mhghs}[algorithm](engine, dataset, TAXONOMY, model)
        labels = [None if r < 0 else found.labels[r] for r in found.image.tolist()]
        return dict(zip(dataset.labels, labels, strict=True))

    return run


Bug = Callable[[Run, Rows, int, int], Image]
BUGS: dict[str, Bug] = {}


def bug(function: Bug) -> Bug:
    BUGS[function.__name__] = function
    return function


def told(rows: Callable[[Rows], Rows] = lambda r: r, k: int = 0, m: int = 0) -> Bug:
    """The algorithm is told something else than the truth."""
    return lambda run, true, wanted_k, wanted_m: run(rows(true), max(1, wanted_k + k), max(1, wanted_m + m))


BUGS |= {
    "k_minus_1": told(k=-1),
    "k_minus_2": told(k=-2),
    "m_minus_1": told(m=-1),
    "k_and_m_minus_1": told(k=-1, m=-1),
    "lost_distinct": told(lambda rows: [*rows, *rows]),
    "every_row_three_times": told(lambda rows: [*rows, *rows, *rows]),
    "first_tid_counted_twice": told(lambda rows: [rows[0], *rows]),
    "last_tid_counted_k_times": told(lambda rows: [*rows, *[rows[-1]] * 4]),
    "transactions_merged_in_pairs": told(lambda rows: [a | b for a, b in zip(rows, rows[1:] + rows[:1], strict=True)]),
    "only_first_items_of_each": told(lambda rows: [set(sorted(t)[:2]) for t in rows]),
    "only_last_items_of_each": told(lambda rows: [set(sorted(t)[-2:]) for t in rows]),
    "long_transactions_left_out": told(lambda rows: [t for t in rows if len(t) < 4] or rows),
    "short_transactions_completed": told(lambda rows: [t | {"a"} for t in rows]),
    "two_items_added_everywhere": told(lambda rows: [t | {"e", "h"} for t in rows]),
    "items_shifted_by_one_row": told(
        lambda rows: [
            {x for x in t if x < "e"} | {x for x in u if x >= "e"} for t, u in zip(rows, rows[1:] + rows[:1], strict=True)
        ]
    ),
    "a_frequent_item_for_a_rare_one": told(
        lambda rows: [{"a" if x == min(ITEMS, key=lambda i: sum(i in t for t in rows)) else x for x in t} for t in rows]
    ),
    "empty_transactions_for_rare_ones": told(lambda rows: [t if rows.count(t) > 1 else set() for t in rows]),
}


def _dropped(which: Callable[[Rows], Sequence[int]]) -> Bug:
    return told(lambda rows: [t for n, t in enumerate(rows) if n not in set(which(rows))])


BUGS |= {
    "half_of_the_tids_lost": _dropped(lambda rows: range(len(rows) // 2)),
    "longest_tid_lost": _dropped(lambda rows: [max(range(len(rows)), key=lambda n: len(rows[n]))]),
    "tids_with_rare_items_lost": _dropped(
        lambda rows: [n for n, t in enumerate(rows) if any(sum(x in u for u in rows) < 4 for x in t)]
    ),
}


def _rarest(rows: Rows, items: Sequence[str]) -> str:
    return min(items, key=lambda x: (sum(x in t for t in rows), x))


@bug
def suppressed_items_published(run: Run, rows: Rows, k: int, m: int) -> Image:
    return {x: x if r is None else r for x, r in run(rows, k, m).items()}


@bug
def rarest_item_not_suppressed_and_not_generalized(run: Run, rows: Rows, k: int, m: int) -> Image:
    image = run(rows, k, m)
    rare = _rarest(rows, sorted(image))
    return {**image, rare: rare}


@bug
def one_item_of_every_group_keeps_its_name(run: Run, rows: Rows, k: int, m: int) -> Image:
    image = run(rows, k, m)
    return {x: x if r is not None and x == min(y for y, s in image.items() if s == r) else r for x, r in image.items()}


@bug
def nothing_is_generalized(run: Run, rows: Rows, k: int, m: int) -> Image:
    return {x: None if r is None else x for x, r in run(rows, k, m).items()}


@bug
def only_generalized_items_are_suppressed(run: Run, rows: Rows, k: int, m: int) -> Image:
    image = run(rows, k, m)
    return {x: x if list(image.values()).count(r) == 1 or r is None else r for x, r in image.items()}


@bug
def groups_split_in_two(run: Run, rows: Rows, k: int, m: int) -> Image:
    return {x: None if r is None else f"{r}{ord(x) % 2}" for x, r in run(rows, k, m).items()}


HARMLESS = {(bug, "coat") for bug in ("suppressed_items_published", "only_generalized_items_are_suppressed")}
"""COAT with one group of all items suppresses nothing here."""


def random_rows(seed: int) -> Rows:
    rng = random.Random(seed)
    weights = {x: rng.choice([0.1, 0.2, 0.35, 0.6]) for x in ITEMS}
    return [{x for x in ITEMS if rng.random() < weights[x]} for _ in range(14)]


def test_there_are_enough() -> None:
    assert len(BUGS) * len(ALGORITHMS) - len(HARMLESS) >= 60


@pytest.mark.parametrize(
    ("name", "algorithm"),
    some(
        [(name, algorithm) for name in BUGS for algorithm in ALGORITHMS],
        *((name, ALGORITHMS[n % 3]) for n, name in enumerate(BUGS) if n % 4 == 0),  # of each algorithm several
    ),
)
def test_bugs_are_caught(engine: Engine, algorithm: str, name: str) -> None:
    run = runner(engine, algorithm)
    caught = 0
    for seed in range(40):
        rows, k, m = random_rows(seed), 3 + seed % 2, 2
        image = BUGS[name](run, rows, k, m)
        released = [{image.get(x, x) for x in t} - {None} for t in rows]
        published = [sorted(str(x) for x in t) for t in released]
        holds = is_km_anonymous(published, k, m)
        assert verified(engine, published, k, m).verified == holds
        caught += not holds
        if caught:
            break
    assert bool(caught) != ((name, algorithm) in HARMLESS), "the bug broke nothing"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_without_a_bug_nothing_is_caught(engine: Engine, algorithm: str) -> None:
    for seed in range(6):
        rows = random_rows(seed)
        image = runner(engine, algorithm)(rows, 3, 2)
        assert verified(engine, [[r for r in {image[x] for x in t} if r is not None] for t in rows], 3, 2).verified
