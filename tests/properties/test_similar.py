"""Similar against the naive reference: the same groups and the same opened rows, which keep the promise."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
import reference as ref
import reference_similar as naive
from portions import portions
from properties.trees import coded, random_tree, released, taxonomy_of
from sqlglot import exp
from verify.published import verified_together

import anondb.algorithms.similar.labels as labels
import anondb.algorithms.similar.pair_counts as pair_counts
from anondb.algorithms.similar.similar import OCCURRENCE_BYTES, ROW_BYTES, similar
from anondb.engine import Engine
from anondb.errors import BudgetExceeded
from anondb.models.transactional import KmAnonymity
from anondb.recoding import GlobalRecoding, LocalRecoding

Rows = list[frozenset[naive.Shown]]


class Case:
    """A random problem: its transactions, k, m, perhaps a taxonomy, and how many neighbours and candidates are looked at."""

    def __init__(self, seed: int) -> None:
        rnd = random.Random(seed)
        self.children, self.root = random_tree(rnd, rnd.choice([3, 6, 9]))
        leaves = ref.leaves(self.children, self.root)
        self.with_taxonomy = rnd.random() < 0.3
        chance = {x: rnd.choice([0.1, 0.3, 0.6, 0.9]) for x in leaves}
        kinds = [[x for x in leaves if rnd.random() < chance[x]] for _ in range(rnd.randint(1, 9))]
        weights = [rnd.choice([1, 1, 3, 9]) for _ in kinds]
        self.transactions = rnd.choices(kinds, weights, k=rnd.randint(0, rnd.choice([12, 24, 24, 60])))
        self.k, self.m = rnd.choice([1, 2, 2, 3, 3, 4]), rnd.choice([1, 2, 2, 2, 2, 2, 3, math.inf])
        self.neighbours, self.candidates = rnd.choice([(8, 32), (1, 1), (1, 2), (2, 3), (3, 2)])

    def distance(self, items: frozenset[str]) -> float:
        """The share of leaves below the lowest common ancestor."""
        paths = [ref.ancestors(self.children, x) for x in items]
        node = next(v for v in paths[0] if all(v in path for path in paths))
        all_leaves = ref.leaves(self.children, self.root)
        return len(ref.leaves(self.children, node)) / len(all_leaves)

    def whole(self, items: frozenset[str]) -> bool:
        """Whether these are the items of the data that are below a node, but not all items of the data."""
        data = {x for t in self.transactions for x in t}
        paths = [set(ref.ancestors(self.children, x)) for x in items]
        return items != data and any(data & set(ref.leaves(self.children, v)) == items for v in set.intersection(*paths))


def run(engine: Engine, case: Case, **options: Any) -> tuple[GlobalRecoding | LocalRecoding, Rows, list[frozenset[str]]]:
    """The recoding, and each transaction as the sets of items and as the labels that it publishes."""
    with engine.transaction():
        data = coded(engine, case.transactions)
        tree = taxonomy_of(case.children, case.root) if case.with_taxonomy else None
        found = similar(engine, data, KmAnonymity(case.k, case.m), taxonomy=tree, **options)
        members: list[set[str]] = [set() for _ in found.labels]
        for label, item in zip(found.member_of.tolist(), found.member_labels, strict=True):
            members[label].add(item)
        if isinstance(found, GlobalRecoding):
            rows = released(data, found, case.transactions)
        else:
            shown: list[set[str]] = [set() for _ in case.transactions]
            table = engine.select(exp.select("tid", "released").from_(found.transactions.expression()))
            for tid, label in zip(table["tid"].tolist(), table["released"].tolist(), strict=True):
                shown[tid - 1].add(found.labels[label])
            rows = [frozenset(row) for row in shown]
    sets: dict[str, naive.Shown] = {}
    for label, items in zip(found.labels, map(frozenset, members), strict=True):
        sets[label] = items, (items, False) in sets.values()  # the second of a group comes after the first
    return found, [frozenset(sets[label] for label in row) for row in rows], rows


def check(engine: Engine, case: Case, monkeypatch: pytest.MonkeyPatch) -> list[frozenset[str]]:
    """Compare one case with the reference; returns what is published, by labels."""
    monkeypatch.setattr(labels, "NEIGHBOURS", case.neighbours)
    monkeypatch.setattr(labels, "CANDIDATES", case.candidates)
    transactions, k = case.transactions, case.k
    m = min(case.m, max(map(len, transactions), default=0))
    if sum(map(bool, transactions)) < k:
        assert run(engine, case)[1] == [frozenset()] * len(transactions)
        return []
    distance = case.distance if case.with_taxonomy else None
    whole = {"whole": case.whole} if case.with_taxonomy else {}
    groups = naive.groups(transactions, k, m, case.neighbours, case.candidates, distance, **whole)
    of = {x: (group, False) for group in groups for x in group}
    grouped = [frozenset(of[x] for x in t) for t in transactions]
    closed, rows, _ = run(engine, case, open_rows=False)
    assert isinstance(closed, GlobalRecoding)
    _, opened, published = run(engine, case)
    if m > 2:
        assert rows == opened
        assert all(any(g <= x for x, _ in row) for row, t in zip(rows, grouped, strict=True) for g, _ in t)
    else:
        assert rows == grouped
        assert opened == naive.opened(transactions, groups, k, m)
    for row, t in zip(opened, transactions, strict=True):
        assert sorted(x for shown, _ in row for x in shown & set(t)) == sorted(t)
        assert all(shown & set(t) for shown, _ in row)
    check_levels(opened, k, case.m)
    return published


def check_levels(rows: Rows, k: int, m: ref.Bound) -> None:
    """No set of up to m original items has at least one and fewer than k candidates."""
    could_hold = [sorted({x for shown, _ in row for x in shown}) for row in rows]
    assert ref.is_km_anonymous(could_hold, k, m)


def check_all(engine: Engine, seeds: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    cases = {seed: Case(seed) for seed in seeds}
    published = {}
    for seed, case in cases.items():
        try:
            published[seed] = check(engine, case, monkeypatch)
        except AssertionError as error:
            raise AssertionError(seed) from error
    threats = verified_together(engine, [(rows, cases[seed].k, cases[seed].m) for seed, rows in published.items()])
    assert not any(threats)


@pytest.mark.parametrize("seeds", portions(11, 73, 20_000))
def test_random(engine: Engine, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    check_all(engine, seeds, monkeypatch)


@pytest.mark.parametrize("seeds", portions(9, 56, 20_000))
def test_the_order_of_opening(engine: Engine, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many kinds of few items, so that an item that opens takes rows from others: the order matters in a quarter."""
    cases = []
    for seed in seeds:
        rnd, case = random.Random(seed), Case(0)
        case.with_taxonomy, case.k, case.m = False, 2, 2
        kinds = [rnd.sample("abcdefg"[: rnd.randint(4, 7)], rnd.randint(1, 3)) for _ in range(rnd.randint(3, 9))]
        case.transactions = [sorted(rnd.choice(kinds)) for _ in range(rnd.randint(8, 40))]
        cases.append((check(engine, case, monkeypatch), case.k, case.m))
    assert not any(verified_together(engine, cases))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(13, night=20_000))
def test_splits(engine: Engine, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many items in small transactions, and few candidates: groups are split in a quarter of the cases."""
    split, published, items = 0, [], "abcdefghijkl"
    for seed in seeds:
        rnd, case = random.Random(seed), Case(0)
        case.k, case.m, case.with_taxonomy = rnd.choice([2, 3]), rnd.choice([1, 2, 2, 2, 2]), rnd.random() < 0.3
        case.neighbours, case.candidates = rnd.choice([(1, 1), (1, 2), (1, 2), (2, 3)])
        some = rnd.sample(items, 12)
        case.root, case.children = "top", {f"n{n}": some[3 * n : 3 * n + 3] for n in range(4)}
        case.children["top"] = sorted(case.children)
        kinds = [rnd.sample(items, rnd.randint(1, 3)) for _ in range(16)]
        case.transactions = [sorted(rnd.choice(kinds)) for _ in range(30)]
        published.append((check(engine, case, monkeypatch), case.k, case.m))
        looked_at = case.k, case.m, case.neighbours, case.candidates, case.distance if case.with_taxonomy else None
        unsplit = naive.groups(case.transactions, *looked_at, whole=lambda _: True)
        split += naive.groups(case.transactions, *looked_at) != unsplit
    assert split > len(seeds) / 8
    assert not any(verified_together(engine, published))


def test_a_group_of_a_node_is_split_only_if_it_is_of_all_items(engine: Engine) -> None:
    """a and b become one label, which c and then d join."""
    case = Case(0)
    case.k, case.m, case.transactions = 2, 2, [["a"], ["b"], ["c"], ["d"]]
    for case.with_taxonomy, case.root, case.children, wanted in (
        (False, "", {}, {"(a,b)", "(c,d)"}),
        (True, "top", {"top": ["a", "b", "c", "d"]}, {"(a,b)", "(c,d)"}),
        (True, "top", {"top": ["ab", "c", "d"], "ab": ["a", "b"]}, {"ab", "(c,d)"}),
        (True, "top", {"top": ["four", *"xyz"], "four": ["a", "b", "c", "d"]}, {"(a,b)", "(c,d)"}),
    ):
        assert set().union(*run(engine, case)[2]) == wanted
    case.transactions += [["x"]] * 2
    assert set().union(*run(engine, case)[2]) == {"four", "x"}


@pytest.mark.parametrize("m", [1, 2, 3, math.inf])
def test_extremes(engine: Engine, m: float) -> None:
    case = Case(0)
    case.with_taxonomy, case.k, case.m = False, 3, m
    for case.transactions, wanted in (
        ([], []),
        ([[], []], [frozenset()] * 2),
        ([["a"]] * 2 + [[]], [frozenset()] * 3),  # fewer than k: all is suppressed
        ([["a"]] * 3, [frozenset("a")] * 3),
        ([["a"], ["b"], ["a", "b"], []], [frozenset(["(a,b)"])] * 3 + [frozenset()]),
    ):
        assert run(engine, case)[2] == wanted


def test_a_larger_m_joins_more(engine: Engine) -> None:
    """Each pair is in three transactions, all three items in one."""
    case = Case(0)
    case.with_taxonomy, case.k = False, 2
    case.transactions = [["a", "b"]] * 2 + [["a", "c"]] * 2 + [["b", "c"]] * 2 + [["a", "b", "c"]]
    for case.m, left in ((2, 3), (3, 2), (4, 2), (math.inf, 2)):
        assert len({label for row in run(engine, case)[2] for label in row}) == left


def test_the_order_of_transactions_does_not_matter(engine: Engine) -> None:
    for seed in range(10):
        case = Case(seed)
        rows = run(engine, case)[2]
        random.Random(seed).shuffle(case.transactions)
        assert sorted(map(sorted, run(engine, case)[2])) == sorted(map(sorted, rows))


def test_groups_have_the_names_of_nodes(engine: Engine) -> None:
    """The lowest node above just the items of the data, whether or not it has other leaves; never the name of an item."""
    case = Case(0)
    case.with_taxonomy, case.k, case.m = True, 3, 1
    case.root, case.children = "all", {"all": ["top", "tea"], "top": ["soft"], "soft": ["cola", "pepsi", "never"]}
    case.transactions = [["cola"], ["pepsi"], ["pepsi"], *[["tea"]] * 3]
    found, _, rows = run(engine, case)
    assert rows == [frozenset(["soft"])] * 3 + [frozenset(["tea"])] * 3
    assert sorted(zip(found.member_of.tolist(), found.member_labels, strict=True)) == [(0, "cola"), (0, "pepsi"), (1, "tea")]
    case.children["soft"] = ["cola", "never"]
    case.children["all"] = ["top", "tea", "pepsi"]
    assert run(engine, case)[2] == [frozenset(["(cola,pepsi)"])] * 3 + [frozenset(["tea"])] * 3


def test_near_items_are_preferred(engine: Engine) -> None:
    """Cola resembles coffee as much as pepsi."""
    case = Case(0)
    case.k, case.m, case.root = 2, 2, "all"
    case.children = {"all": ["bread", "coffee", "soft"], "soft": ["pepsi", "cola"]}
    others = [[x, *bread] for x in ("coffee", "pepsi") for bread in ([], ["bread"])]
    case.transactions = [["bread", "cola"], *others * 2]
    for case.with_taxonomy, label in ((False, "(coffee,cola)"), (True, "soft")):
        assert label in set().union(*run(engine, case, open_rows=False)[2])


def test_the_memory_limit(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(0)
    case.with_taxonomy, case.k, case.m, case.transactions = False, 2, 2, [list("abcdefghij")] * 2
    monkeypatch.setattr(type(engine), "memory_limit", 2 * 20 * OCCURRENCE_BYTES)
    run(engine, case)
    monkeypatch.setattr(type(engine), "memory_limit", 2 * 20 * OCCURRENCE_BYTES - 1)
    with pytest.raises(BudgetExceeded, match="all 20 occurrences in memory"):
        run(engine, case)
    case.transactions = [[f"{n}", f"{n + 1}"] for n in range(100)]
    monkeypatch.setattr(type(engine), "memory_limit", 2 * 101**2 * ROW_BYTES - 1)
    with pytest.raises(BudgetExceeded, match="pair counts of 101 items") as caught:
        run(engine, case)
    assert "Raise memory_limit" in str(caught.value.hint)
    case.transactions = [[f"{n}"] for n in range(101)] * 2
    monkeypatch.setattr(type(engine), "memory_limit", 2 * 101**2 * 12 - 1)
    with pytest.raises(BudgetExceeded, match="101 groups of 101 items"):
        run(engine, case)


def test_rows_of_pair_counts_are_counted_again(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release does not depend on how many rows are kept."""
    rnd, case = random.Random(2), Case(0)
    case.with_taxonomy, case.k, case.m = False, 3, 2
    case.transactions = [[f"{int(400 * rnd.random() ** 2)}" for _ in range(rnd.randint(1, 6))] for _ in range(900)]
    case.transactions = [sorted(set(transaction)) for transaction in case.transactions]
    rows = run(engine, case)[2]
    monkeypatch.setattr(pair_counts, "ROWS_BYTES", 0)
    assert pair_counts.rows_kept(len({x for row in case.transactions for x in row})) == pair_counts.LEAST_ROWS
    assert run(engine, case)[2] == rows


def test_numbers_are_left_out_as_labels_merge(engine: Engine) -> None:
    """Many items: labels are numbered anew several times, and few of them are candidates."""
    rnd = random.Random(1)
    transactions = [rnd.sample([f"{n:02}" for n in range(48)], rnd.randint(1, 3)) for _ in range(50)]
    case = Case(0)
    case.with_taxonomy, case.k, case.m, case.transactions = False, 3, 2, transactions
    groups = naive.groups(transactions, 3, 2, labels.NEIGHBOURS, labels.CANDIDATES)
    assert 1 < len(groups) < 24
    assert run(engine, case)[1] == naive.opened(transactions, groups, 3, 2)


@pytest.mark.parametrize("seeds", portions(5, 19, 2000))
def test_divided_groups(engine: Engine, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """a and b are often together, in short and in long transactions, and rarely with z."""
    divided, published = 0, []
    for seed in seeds:
        rnd = random.Random(seed)
        case = Case(0)
        case.with_taxonomy, case.k, case.m = False, 2, 2
        kinds = ["ab", "abc", "abcd", "abde", "cd", "e", "a", "b", "z", "az", "bz"]
        numbers = [rnd.randint(4, 20) for _ in range(4)] + [rnd.randint(0, 4) for _ in range(4)] + [90, 1, 1]
        case.transactions = [list(kind) for kind, n in zip(kinds, numbers, strict=True) for _ in range(n)]
        rnd.shuffle(case.transactions)
        check(engine, case, monkeypatch)
        divided += any(second for row in run(engine, case)[1] for _, second in row)
        published.append((run(engine, case)[2], case.k, case.m))
    assert divided > len(seeds) / 4
    assert not any(verified_together(engine, published))
