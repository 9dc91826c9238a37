"""Worlds are those of the definition, valid, and the same whatever the threads, the order of rows, or what is asked."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence

import numpy as np
import pytest
from answers import naive_worlds
from answers.naive_worlds import Naive
from sqlglot import exp

from anondb.answers import drawing, hashing
from anondb.answers.drawing import Sets
from anondb.answers.expected import Members, expected, rounded
from anondb.answers.files import DRAWN, DRAWN_COLUMNS, ROWS, SETS, Column, Description, File, Numbered, begin, make_empty
from anondb.engine import DuckDBEngine, Table
from anondb.engine.untrusted import memory_engine

Row = tuple[int, int]
NAN = float("nan")


def draw_naive(rnd: random.Random, local: bool) -> Naive:
    """A random tiny file; some of its released items have supports that some original has."""
    n, items = rnd.randint(3, 30), [f"i{x}" for x in range(rnd.randint(2, 9))]
    members: dict[str, list[str]] = {}
    left = items[:]
    while left:
        some = [left.pop(rnd.randrange(len(left))) for _ in range(min(len(left), rnd.choice([1, 1, 2, 3, 5])))]
        members[rnd.choice("abcdefgh") + some[0]] = sorted(some)
    if local:
        members |= {f"z{x}": [x] for x in items if rnd.random() < 0.4}
    rows = {label: sorted(rnd.sample(range(1, n + 1), rnd.randint(1, n))) for label in members}
    if local:  # a transaction shows no item twice
        for label, listed in list(members.items()):
            for other, (item, *_) in members.items():
                if other != label and other.startswith("z") and item in listed:
                    rows[label] = [tid for tid in rows[label] if tid not in rows[other]] or rows[label][:1]
                    rows[other] = [tid for tid in rows[other] if tid not in rows[label]]
        rows = {label: tids for label, tids in rows.items() if tids}
        members = {label: members[label] for label in rows}
    k, supports = rnd.choice([2, 3, 5]), {}
    for label, listed in members.items():
        if len(listed) > 1 and rnd.random() < 0.6:
            held = [rnd.sample(listed, rnd.randint(1, len(listed))) for _ in rows[label]]
            true = {x: sum(x in some for some in held) for x in listed}
            ends = {x: (rnd.randint(0, c), rnd.randint(c, len(held))) for x, c in true.items()}
            supports[label] = ends
    return Naive(members, rows, n, k, rnd.getrandbits(32), supports)


def file_of(naive: Naive) -> File:
    """The same file as worlds take it."""
    names = sorted(naive.members)
    items = sorted({x for members in naive.members.values() for x in members})
    pairs = [(g, x) for g, label in enumerate(names, 1) for x in sorted(naive.members[label])]
    ends = [naive.supports.get(names[g - 1], {}).get(x, (NAN, NAN)) for g, x in pairs]
    members = Members(
        np.array([g for g, _ in pairs]),
        np.array([items.index(x) for _, x in pairs]),
        np.array([len(naive.rows[names[g - 1]]) for g, _ in pairs]),
        *np.array(ends, dtype=float).T,
    )
    description = Description(
        "t", Column("tid", "BIGINT"), Column("item", "VARCHAR"), False, SETS, naive.transactions, naive.k, naive.seed
    )
    return File(description, members, [names[g - 1] for g, _ in pairs], items)


def put(engine: DuckDBEngine, files: Sequence[Naive], rnd: random.Random | None = None) -> None:
    """The rows of files, numbered through; in any order."""
    rows, tids, labels = [], 0, 0
    for naive in files:
        for g, label in enumerate(sorted(naive.members), 1):
            rows += [(labels + g, tids + tid) for tid in naive.rows[label]]
        tids, labels = tids + naive.transactions, labels + len(naive.members)
    if rnd is not None:
        rnd.shuffle(rows)
    engine.drop(ROWS)
    engine.put(ROWS, {name: ("INTEGER", [row[n] for row in rows]) for n, name in enumerate(("label", "tid"))})


def drawn(engine: DuckDBEngine, files: Sequence[File], worlds: int, labels: Sequence[int] | None = None) -> list[set[Row]]:
    """The rows (transaction, member) of each world that are drawn: of all files, numbered through."""
    engine.drop(DRAWN)
    make_empty(engine, DRAWN, DRAWN_COLUMNS)
    sets, label = Sets(engine, files, range(worlds)), Numbered.of(files).label
    for some in [label >= 0] if labels is None else [label == one for one in labels]:
        sets.draw(some)
    return rows_of(engine, worlds)


def rows_of(engine: DuckDBEngine, worlds: int, table: Table = DRAWN, first: int = 0) -> list[set[Row]]:
    """What is in a table of drawn rows, of the worlds from a number on."""
    found: list[set[Row]] = [set() for _ in range(worlds)]
    columns = engine.select(exp.select("world", "tid", "member").from_(table.expression()))
    for world, tid, member in zip(*(column.tolist() for column in columns.values()), strict=True):
        assert (tid, member) not in found[world - first]
        found[world - first].add((tid, member))
    return found


def as_drawn(files: Sequence[Naive], worlds: int) -> list[set[Row]]:
    """The same by the definition."""
    found: list[set[Row]] = [set() for _ in range(worlds)]
    tids = members = 0
    for naive in files:
        pairs = sorted((label, x) for label, listed in naive.members.items() for x in listed)
        shown = {(x, tid): n for n, (label, x) in enumerate(pairs) for tid in naive.rows[label]}
        for rows, world in zip(found, naive_worlds.worlds(naive, worlds), strict=True):
            numbered = ((tid, shown[x, tid]) for tid, x in world)
            rows |= {(tids + t, members + n) for t, n in numbered if len(naive.members[pairs[n][0]]) > 1}
        tids, members = tids + naive.transactions, members + len(pairs)
    return found


@pytest.mark.slow
def test_worlds_are_those_of_the_definition(engine: DuckDBEngine) -> None:
    """300 random files, 30 at a time as the files of one session."""
    rnd = random.Random(43)
    for worlds in (20, 20, 20, 7, 3, 2, 1, 20, 20, 20):
        files = [draw_naive(rnd, local=rnd.random() < 0.5) for _ in range(30)]
        put(engine, files, rnd)
        assert drawn(engine, [*map(file_of, files)], worlds) == as_drawn(files, worlds)


def test_worlds_keep_all_that_a_file_says(engine: DuckDBEngine) -> None:
    rnd = random.Random(44)
    files = [draw_naive(rnd, local=False) for _ in range(40)]
    put(engine, files)
    made = [*map(file_of, files)]
    tids = members = 0
    rows = drawn(engine, made, 20)
    for naive, file in zip(files, made, strict=True):
        for world in rows:
            held = [(tid - tids, n - members) for tid, n in world if 0 <= n - members < len(file.names)]
            for label, listed in naive.members.items():
                if len(listed) == 1:
                    continue
                own = [(tid, file.items[file.members.item[n]]) for tid, n in held if file.names[n] == label]
                assert {tid for tid, _ in own} == set(naive.rows[label])
                for x, (low, high) in naive.supports.get(label, {}).items():
                    assert low <= sum(item == x for _, item in own) <= high
        tids, members = tids + naive.transactions, members + len(file.names)


@pytest.mark.slow
def test_worlds_do_not_depend_on_threads_order_or_what_is_asked() -> None:
    rnd = random.Random(45)
    files = [draw_naive(rnd, local=False) for _ in range(20)]
    made = [*map(file_of, files)]
    found = []
    for threads in (1, 2):
        engine = memory_engine(threads=threads)
        begin(engine)
        put(engine, files, rnd)
        found.append(drawn(engine, made, 20))
        labels = list(range(1, sum(len(naive.members) for naive in files) + 1))
        rnd.shuffle(labels)
        found.append(drawn(engine, made, 20, labels))
        engine.close()
    assert found[0] == found[1] == found[2] == found[3]


def test_a_draw_that_was_interrupted_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    """Released items are drawn in portions; each is there as a whole, or not at all."""
    rnd = random.Random(48)
    files = [draw_naive(rnd, local=False) for _ in range(10)]
    monkeypatch.setattr(drawing, "AT_ONCE", 300)
    stopped: list[str] = []

    def stop(text: str) -> None:
        if text.startswith("INSERT") and len(stopped) in (2, 5, 6):
            stopped.append("")
            raise KeyboardInterrupt
        stopped.extend(["inserted"] * text.startswith("INSERT"))

    engine = memory_engine(threads=1, on_statement=stop)
    begin(engine)
    put(engine, files)
    make_empty(engine, DRAWN, DRAWN_COLUMNS)
    made = [*map(file_of, files)]
    sets = Sets(engine, made, range(20))
    everything = np.ones(len(sets.single), dtype=np.bool_)
    for _ in range(5):
        with contextlib.suppress(KeyboardInterrupt):
            sets.draw(everything)
    assert rows_of(engine, 20) == as_drawn(files, 20)
    assert stopped.count("") == 3
    engine.close()


def test_equal_times_of_a_race_go_by_transaction() -> None:
    rng = np.random.default_rng(49)
    group = np.sort(rng.integers(0, 70_000, 100_000))  # more groups than a narrow integer has values, many rows of few
    group[:50_000] = 0
    key, tid = rng.integers(0, 9, 100_000).astype(float), rng.permutation(100_000)
    assert drawing.in_order(group, key, tid).tolist() == np.lexsort((tid, key, group)).tolist()
    assert not len(drawing.in_order(group[:0], key[:0], tid[:0]))


# ---------------------------------------------------------------- golden cases


def test_hash_in_numpy_and_in_sql(engine: DuckDBEngine) -> None:
    rnd = random.Random(46)
    cases = [(1, 2, 3), (0, 0, 0), (12, 7, 1), *([rnd.getrandbits(32) for _ in range(3)] for _ in range(1000))]
    a, b, c = np.array(cases, dtype=np.int64).T
    found = hashing.h(a, b, c)
    assert found[:3].tolist() == [11148706, 0, 4056382853]
    assert found.tolist() == [naive_worlds.h(*case) for case in cases]
    with engine.registered({"a": a, "b": b, "c": c, "n": np.arange(len(a))}) as table:
        rows = engine.select(hashing.hashed(exp.select("a", "b", "c", "n").from_(table.expression()), ["n"]))
    assert found[rows["n"]].tolist() == rows["h"].tolist()


def test_permutation() -> None:
    assert [naive_worlds.perm(j, 12, 8, 5) for j in range(12)] == [5, 1, 9, 6, 2, 10, 7, 3, 11, 8, 4, 0]
    rnd = random.Random(47)
    for _ in range(300):
        size, a, b = rnd.randint(1, 40), rnd.randint(1, 60), rnd.randint(0, 2**33)
        found = [naive_worlds.perm(j, size, a, b) for j in range(size)]
        assert sorted(found) == list(range(size))
        cycle = int(hashing.cycle(np.array(size), np.array(a)))
        assert found == [(a * j + j // cycle + b) % size for j in range(size)]


def members_of(labels: Sequence[int], items: Sequence[int], support: Sequence[int], ends: object = None) -> Members:
    at_least, at_most = np.full((2, len(labels)), NAN) if ends is None else np.array(ends, dtype=float).T
    return Members(np.array(labels), np.array(items), np.array(support), at_least, at_most)


@pytest.mark.parametrize(("floor", "mean", "chance"), [(0.0, 26.32, 0.2632), (0.5, 26.10, 0.2610)])
def test_expected_numbers_of_equal_members(floor: float, mean: float, chance: float) -> None:
    found = expected(members_of([1] * 3, [0, 1, 2], [60] * 3), 100, 5, floor=floor)
    assert found == pytest.approx([mean] * 3, abs=0.005) and found / 100 == pytest.approx([chance] * 3, abs=0.00005)
    if not floor:
        assert found / 100 == pytest.approx([1 - (1 - 0.6) ** (1 / 3)] * 3)


@pytest.mark.parametrize(("sweeps", "a", "b"), [(1, 4.930, 2.399), (30, 5.471, 1.052)])
def test_expected_numbers_of_members_that_others_show(sweeps: int, a: float, b: float) -> None:
    found = expected(members_of([1, 1, 2], [0, 1, 0], [6, 6, 4]), 10, 5, sweeps=sweeps)
    assert found == pytest.approx([a, b, 4], abs=0.0005)


def test_expected_numbers_with_item_supports() -> None:
    found = expected(members_of([1, 1], [0, 1], [12, 12], [(7, 12), (0, 5)]), 14, 5)
    assert found == pytest.approx([9.625, 2.375], abs=0.001)


def test_expected_numbers_where_only_some_have_item_supports() -> None:
    """A supported label's numbers stand, and count for what the others show."""
    known = expected(members_of([1, 1, 2, 2], [0, 1, 0, 2], [9, 9, 4, 4], [(2, 9), (3, 9), (NAN, NAN), (NAN, NAN)]), 20, 2)
    none = expected(members_of([1, 1, 2, 2], [0, 1, 0, 2], [9, 9, 4, 4]), 20, 2)
    assert known[:2] == pytest.approx([5.5, 6]) and none[0] > known[2] > known[3]


def test_rounding_of_one_number() -> None:
    found = rounded(members_of([1], [0], [12]), np.array([3.5]), np.array([1]), 2, 0)
    assert sorted(found[0].tolist()) == [3, 4]


def test_rounded_members_never_lose_a_holder() -> None:
    """The table 7..12, 0..5 of 12 rows, in which members that are rounded each for itself are 11 holders at times."""
    members = members_of([1, 1], [0, 1], [12, 12], [(7, 12), (0, 5)])
    found = rounded(members, expected(members, 14, 5), np.array([1, 1]), 20, 7)
    assert (found.sum(axis=0) == 12).all()
    assert found.mean(axis=1) == pytest.approx([9.625, 2.375], abs=1 / 20)


def test_the_baskets_of_the_page_on_item_supports(engine: DuckDBEngine) -> None:
    """{a, c} 6 times, {b, c} 3 times, {a} 3 times, {c} twice; A stands for a and b."""
    naive = Naive(
        {"A": ["a", "b"], "c": ["c"]},
        {"A": list(range(1, 13)), "c": [*range(1, 10), 13, 14]},
        14,
        2,
        20261,
        {"A": {"a": (8, 12), "b": (3, 4)}},
    )
    put(engine, [naive])
    file = file_of(naive)
    two = drawn(engine, [file], 2)
    both = [sum((tid, 0) in world and (tid, 1) in world for tid in range(1, 13)) for world in two]
    counts = [[sum(m == n for _, m in world) for n in (0, 1)] for world in two]
    assert sorted(zip(counts, both, strict=True)) == [([10, 3], 1), ([10, 4], 2)]
    twenty = drawn(engine, [file], 20)
    means = [np.mean([len(world & {(tid, n) for tid in range(1, 10)}) for world in twenty]) for n in (0, 1)]
    assert means == pytest.approx([7.5, 2.6], abs=0.2)
