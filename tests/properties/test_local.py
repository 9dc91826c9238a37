"""Partition and Clump against the naive references, and what every local recoding must keep."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import numpy.typing as npt
import pytest
import reference as ref
from local_cases import Bag, Published, generalizes, run
from portions import portions
from properties.trees import random_transactions, random_tree

from anondb.algorithms.transactional import clump as clump_module
from anondb.algorithms.transactional import partition as partition_module
from anondb.algorithms.transactional import shared as local_module
from anondb.engine import Engine
from anondb.errors import InfeasibleError, InputError

Ints = npt.NDArray[np.int64]
Case = tuple[dict[str, list[str]], str, list[list[str]], int]


def case(seed: int, max_leaves: int = 8) -> Case:
    rnd = random.Random(seed)
    children, root = random_tree(rnd, max_leaves)
    return children, root, random_transactions(rnd, ref.leaves(children, root)), rnd.choice([1, 2, 2, 3, 3, 4])


def bags_of(rnd: random.Random, transactions: list[list[str]]) -> list[list[str]]:
    """Some items repeated, in any order."""
    found = [[i for i in t for _ in range(rnd.choice([1, 1, 1, 2, 3]))] for t in transactions]
    return [rnd.sample(t, len(t)) for t in found]


def classes(published: Published) -> Counter[tuple[Bag, bool]]:
    return Counter(zip(published.bags, published.complete, strict=True))


def check_published(
    found: Published, children: dict[str, list[str]], root: str, bags: Sequence[Sequence[str]], k: int, sets: bool
) -> None:
    """The promise, coverage, truthfulness, and what is said about completeness."""
    assert len(found.bags) == len(bags)
    assert all(n >= k for n in classes(found).values())
    for shown, complete, original in zip(found.bags, found.complete, bags, strict=True):
        if sets:
            assert len(set(shown)) == len(shown)
            for item in set(original):
                covers = [v for v in shown if v in ref.ancestors(children, item)]
                assert len(covers) == 1 or (not covers and not complete)
            assert all(any(v in ref.ancestors(children, i) for i in original) for v in shown)
        else:
            assert generalizes(children, root, shown, original)
            assert not complete or len(shown) == len(original)
    by_content: dict[Bag, set[bool]] = {}
    for shown, complete in classes(found):
        by_content.setdefault(shown, set()).add(complete)
    assert all(len(flags) == 1 for flags in by_content.values())


def partition_cases(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        children, root, transactions, k = case(seed)
        if 0 < len(transactions) < k:
            with pytest.raises(InfeasibleError):
                run(engine, children, root, transactions, k)
            continue
        for leftover in ("fill", "whole"):
            wanted = ref.partition(children, root, transactions, k, leftover) if transactions else []
            found = run(engine, children, root, transactions, k, leftover=leftover)
            assert found.bags == [tuple(sorted(t)) for t in wanted], seed
            check_published(found, children, root, transactions, k, sets=True)


@pytest.mark.parametrize("seeds", portions(9, 33, 2250))
def test_partition_is_the_reference(engine: Engine, seeds: range) -> None:
    partition_cases(engine, seeds)


def many(seed: int) -> Case:
    """More transactions: ties between nodes, and nodes that can be split only once a group is smaller."""
    rnd = random.Random(seed)
    children, root = random_tree(rnd, 10)
    items = ref.leaves(children, root)
    weights = [rnd.choice([1, 1, 3]) for _ in items]
    sizes = [rnd.choice([1, 1, 2, 2, 3, 4]) for _ in range(rnd.randint(20, 60))]
    return children, root, [sorted(set(rnd.choices(items, weights, k=n))) for n in sizes], rnd.randint(2, 6)


def test_of_equal_gains_the_smallest_label_is_split_first(engine: Engine) -> None:
    """Not the first node in the order of the tree."""
    children = {"r": ["z", "a"], "z": ["z1", "z2"], "a": ["a1", "a2"]}
    transactions = [["z1", "a1"], ["z1", "a2"], ["z2", "a1"], ["z2", "a2"]]
    wanted = [("a1", "z"), ("a2", "z"), ("a1", "z"), ("a2", "z")]
    assert run(engine, children, "r", transactions, 2).bags == wanted


@pytest.mark.parametrize("seeds", portions(9, 20, 250))
def test_partition_of_many(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        children, root, transactions, k = many(seed)
        for leftover in ("fill", "whole"):
            wanted = ref.partition(children, root, transactions, k, leftover)
            found = run(engine, children, root, transactions, k, leftover=leftover)
            assert found.bags == [tuple(sorted(t)) for t in wanted], seed


@pytest.mark.parametrize("seeds", portions(6, 9, 100, first=300))
def test_partition_on_wide_nodes(engine: Engine, monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """Children that do not fit into the bits of a number, and classes that are sorted instead of put into a table."""
    monkeypatch.setattr(partition_module, "MASK_BITS", 1)
    monkeypatch.setattr(partition_module, "TABLE_SHARE", 0)
    partition_cases(engine, seeds)


@pytest.mark.parametrize("seeds", portions(4, 6, 60))
def test_partition_without_a_table_of_ancestors(engine: Engine, monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """Ancestors are searched where a table of them would be too large."""
    monkeypatch.setattr(local_module, "TABLE_CELLS", 0)
    partition_cases(engine, seeds)


def test_runs_are_numbered_as_they_appear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also empty ones, and where digests of different runs are the same until others are taken."""
    digests, most = local_module._digests, 0

    def weak(values: Ints, place: Ints, starts: Ints, lengths: Ints, attempt: int) -> npt.NDArray[np.uint64]:
        nonlocal most
        most = max(most, attempt)
        found = digests(values, place, starts, lengths, attempt)
        return found if attempt == 2 else found % np.uint64(3)

    for seed in range(300):
        rnd = random.Random(seed)
        runs = [[rnd.randrange(3) for _ in range(rnd.randrange(4))] for _ in range(rnd.randrange(12))]
        values = np.array([v for run in runs for v in run], dtype=np.int64)
        lengths = np.array([len(run) for run in runs], dtype=np.int64)
        known: dict[tuple[int, ...], int] = {}
        wanted = [known.setdefault(tuple(run), len(known)) for run in runs]
        if seed == 150:
            assert most == 0
            monkeypatch.setattr(local_module, "_digests", weak)
        number, first = local_module.numbered(values, lengths)
        assert number.tolist() == wanted
        assert [tuple(runs[i]) for i in first.tolist()] == list(known)
        assert first.tolist() == [wanted.index(n) for n in range(len(known))]
    assert most == 2


def clump_cases(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        children, root, transactions, k = case(seed, max_leaves=7)
        rnd = random.Random(-seed)
        bag_input = rnd.random() < 0.5
        objective = rnd.choice(["total", "total", "increase"])
        bags = bags_of(rnd, transactions) if bag_input else transactions
        if 0 < len(bags) < k:
            with pytest.raises(InfeasibleError):
                run(engine, children, root, bags, k, "clump", bag_input=bag_input)
            continue
        found = run(engine, children, root, bags, k, "clump", bag_input=bag_input, objective=objective)
        if bags:
            result = ref.clump(children, root, bags, k, objective)
            label = {n: c.label for c in result.clusters for n in c.members}
            assert found.bags == [label[n] for n in range(len(bags))], seed
            total = sum((ref.ggd(children, root, [b], t) for b, t in zip(bags, found.bags, strict=True)), start=Fraction(0))
            assert total == result.total_ggd
        check_published(found, children, root, bags, k, sets=False)
        everything = run(engine, children, root, bags, k, "clump", bag_input=bag_input, objective=objective, candidates=1000)
        assert everything.bags == found.bags and len(everything.remarks) == 1


@pytest.mark.parametrize("seeds", portions(5, 10, 1120))
def test_clump_is_the_reference(engine: Engine, seeds: range) -> None:
    clump_cases(engine, seeds)


def common(children: dict[str, list[str]], root: str, bags: list[Bag]) -> list[Bag]:
    """Every bag of nodes that generalizes all of some bags."""
    nodes = ref.breadth_first(children, root)
    shortest = min(len(b) for b in bags)
    candidates = [t for size in range(shortest + 1) for t in combinations_with_replacement(sorted(nodes), size)]
    return [t for t in candidates if all(generalizes(children, root, t, b) for b in bags)]


def lcg_cases(engine: Engine, seeds: range) -> int:
    """Each cluster of a run is one case: what joining one after the other gave is the closed form on all at once, and the
    cheapest of all common generalizations, found by trying them all."""
    cases = 0
    for seed in seeds:
        rnd = random.Random(seed)
        children, root = random_tree(rnd, 5)
        items = ref.leaves(children, root)
        k = rnd.choice([2, 2, 3])
        bags = [[rnd.choice(items) for _ in range(rnd.choice([1, 1, 2, 2, 3]))] for _ in range(rnd.randint(12, 60))]
        found = run(engine, children, root, bags, k, "clump", bag_input=True, objective=rnd.choice(["total", "increase"]))
        by_label: dict[Bag, list[Bag]] = {}
        for shown, bag in zip(found.bags, bags, strict=True):
            by_label.setdefault(shown, []).append(tuple(sorted(bag)))
        for label, members in by_label.items():  # clusters of the same label have it in common as well
            assert label == ref.lcg(children, root, members), (seed, label)
            options = common(children, root, sorted(set(members)))
            assert label in options
            costs = {t: ref.ggd(children, root, members, t) for t in options}
            assert costs[label] == min(costs.values()), (seed, label)
            cases += 1
    return cases


@pytest.mark.parametrize("seeds", portions(4, 9, 440))
def test_lcg_incremental_batch_and_brute_force(engine: Engine, seeds: range) -> None:
    assert lcg_cases(engine, seeds) >= 3 * len(seeds)


@pytest.mark.parametrize("seeds", portions(5, 6, 60))
def test_few_candidates_keep_the_promise(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        children, root, transactions, k = case(seed)
        if len(transactions) >= k:
            found = run(engine, children, root, transactions, k, "clump", candidates=1)
            check_published(found, children, root, transactions, k, sets=False)


@pytest.mark.slow
def test_above_the_limit_blocks_are_clustered_on_their_own(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block of the order by length gets the clusters that it has as data of its own."""
    monkeypatch.setattr(clump_module, "EXACT_PAIRS", 7)
    for seed in range(12):
        children, root, transactions, k = case(seed)
        transactions.sort(key=len, reverse=True)  # the order of processing
        if len(transactions) < k:
            continue
        monkeypatch.setattr(clump_module, "BLOCK_PAIRS", random.Random(seed).choice([1, 4, 9]) * k)
        size, clusters = clump_module.block_of(len(transactions), k), len(transactions) // k
        number = min(-(-len(transactions) // size), clusters)
        ends = [*(n * clusters // number * k for n in range(number)), len(transactions)]
        found = run(engine, children, root, transactions, k, "clump")
        check_published(found, children, root, transactions, k, sets=False)
        label = {}
        for low, high in pairwise(ends):
            for cluster in ref.clump(children, root, transactions[low:high], k).clusters:
                label |= {low + n: cluster.label for n in cluster.members}
        assert found.bags == [label[n] for n in range(len(transactions))]
        assert (f"{number} blocks" in "".join(found.remarks)) == (number > 1)


@pytest.mark.parametrize("seeds", portions(6, 8, 80))
def test_empty_transactions_are_absorbed(engine: Engine, seeds: range) -> None:
    """As many of the shortest others are emptied as are missing; where there are enough, they stay a class of their own."""
    for seed in seeds:
        children, root, transactions, k = case(seed)
        transactions += [[]] * random.Random(seed).randint(0, 3)
        if len(transactions) < k:
            continue
        empty = sum(not t for t in transactions)
        filled = sorted((n for n, t in enumerate(transactions) if t), key=lambda n: len(transactions[n]))
        missing = k - empty if 0 < empty < k else 0
        if 0 < len(filled) - missing < k:
            missing = len(filled)
        for algorithm in ("partition", "clump"):
            found = run(engine, children, root, transactions, k, algorithm, empty_transactions="absorb")
            check_published(found, children, root, transactions, k, sets=algorithm == "partition")
            emptied = [n for n in filled if not found.bags[n]]
            assert emptied == sorted(emptied, key=filled.index) and set(emptied) == set(filled[:missing]), seed
            assert all(found.complete[n] == (not missing) for n, b in enumerate(found.bags) if not b)


def test_what_is_refused(engine: Engine) -> None:
    children, root = {"r": ["a", "b"]}, "r"
    for algorithm in ("partition", "clump"):
        with pytest.raises(InfeasibleError):
            run(engine, children, root, [["a"]], 2, algorithm)
        with pytest.raises(InputError):
            run(engine, children, root, [["c"], ["a"]], 2, algorithm)


def test_edges(engine: Engine) -> None:
    children, root = {"r": ["a", "b"], "a": ["a1", "a2"]}, "r"
    for algorithm in ("partition", "clump"):
        assert run(engine, children, root, [], 3, algorithm).bags == []
        assert run(engine, children, root, [["a1"]] * 3, 3, algorithm).bags == [("a1",)] * 3
        assert run(engine, children, root, [[]] * 3, 3, algorithm).bags == [()] * 3
        assert run(engine, {}, "r", [["r"], ["r"], []], 1, algorithm).bags == [("r",), ("r",), ()]
    assert run(engine, children, root, [["a1"], ["b"]], 1, "partition").bags == [("a1",), ("b",)]
