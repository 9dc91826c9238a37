"""Rare pairs of nodes: arrays of occurrences, here and in workers, against SQL, and all against a naive count."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
import reference as ref
from each import each
from portions import portions
from properties.trees import Tree, coded, random_transactions, random_tree, taxonomy_of

from anondb.algorithms.hghs import array_pairs, budget, schedule, spread_pairs, triangle
from anondb.algorithms.hghs.array_pairs import ArrayPairs
from anondb.algorithms.hghs.extended import NO_FAMILY, Extended
from anondb.algorithms.hghs.hghs import Costs, Search
from anondb.algorithms.hghs.mhghs import rounds
from anondb.algorithms.hghs.pairs import Extension, PairCounter, Pairs, SqlPairs, pair_counter
from anondb.algorithms.hghs.spread_pairs import SpreadPairs
from anondb.algorithms.hghs.threats import Growth, ThreatMiner
from anondb.data.taxonomy import Taxonomy
from anondb.engine import Engine, Query, Table
from anondb.engine.memory import array_bytes, bytes_of
from anondb.errors import BudgetExceeded
from anondb.models.transactional import KmAnonymity

Supports = dict[tuple[int, int], int]


class Naive:
    """Counts node by node in Python."""

    def __init__(self, tree: Tree, taxonomy: Taxonomy, transactions: Sequence[Collection[str]], k: int) -> None:
        children, _ = tree
        self.k, self.taxonomy = k, taxonomy
        self.extended = [{taxonomy.node_of[a] for item in t for a in ref.ancestors(children, item)} for t in transactions]
        counted = Counter(node for nodes in self.extended for node in nodes)
        self.supports = [counted[node] for node in range(taxonomy.size)]

    def rare(self, a: int, b: int) -> bool:
        apart = b > int(self.taxonomy.last[a])
        return apart and 0 < sum({a, b} <= nodes for nodes in self.extended) < self.k

    def among(self, nodes: Collection[int]) -> Supports:
        pairs = itertools.combinations(sorted(nodes), 2)
        return {(a, b): sum({a, b} <= t for t in self.extended) for a, b in pairs if self.rare(a, b)}

    def added(self, e: Extension) -> Supports:
        active, entered, passive, missing = (set(x.tolist()) for x in (e.active, e.entered, e.passive, e.missing))
        parent = self.taxonomy.parent.tolist()

        def wanted(a: int, b: int) -> bool:
            if a in entered and b in entered | passive:
                return True
            return a in missing and (b in active | entered or (b in missing and parent[a] == parent[b]))

        found = self.among(active | entered | passive | missing)
        return {(a, b): n for (a, b), n in found.items() if wanted(a, b) or wanted(b, a)}


@dataclass
class Workers:
    """Runs a function over the rows of an engine in parts, as workers would: by the remainders of the first column."""

    engine: Engine
    worker_bytes: int = 10**6
    parts: int = 3
    batch: int = 4

    def spread(
        self, target: str, rows: Query, order: Sequence[str], work: Callable[[Any], Any], columns: Mapping[str, str]
    ) -> Table:
        taken = self.engine.fetch(rows, most=10**6)
        place = np.lexsort([taken[c] for c in reversed(order)])
        found: list[dict[str, list[int]]] = []
        for part in range(self.parts):
            mine = place[taken[order[0]][place] % self.parts == part]
            batches = pa.table({c: taken[c][mine] for c in order}).to_batches(self.batch)
            found += [batch.to_pydict() for batch in work(iter(batches))]
        return self.engine.put(target, {c: (kind, [v for b in found for v in b[c]]) for c, kind in columns.items()})


def spread(extended: Extended, k: int) -> SpreadPairs:
    return SpreadPairs(extended, Workers(extended.engine), k)  # type: ignore[arg-type]


def listed(pairs: Pairs, *, once: bool) -> Supports:
    """The pairs; SQL may list a pair twice, arrays list it once."""
    found = {(int(a), int(b)): int(n) for (a, b), n in zip(pairs.rows, pairs.supports, strict=True)}
    assert all(a < b for a, b in found) and (not once or len(found) == len(pairs.supports))
    return found


def some_nodes(rnd: random.Random, frequent: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    share = rnd.choice([0.0, 0.2, 0.5, 0.9, 1.0])
    return frequent[np.array([rnd.random() < share for _ in frequent], dtype=np.bool_)]


def some_extension(rnd: random.Random, frequent: npt.NDArray[np.int64]) -> Extension:
    """Each node has at most one role, but entered ones may be missing, too."""
    likely = rnd.choice(["AEPM", "AAAAM", "EEEM", "EPPP", "M", "A E P M B", "B", " "])
    roles = [rnd.choice(likely) for _ in frequent]
    chosen = (np.array([r in which for r in roles], dtype=np.bool_) for which in ("A", "EB", "P", "MB"))
    return Extension(*(frequent[mask] for mask in chosen))


def check(engine: Engine, seed: int, workers: Workers | None = None) -> None:
    rnd = random.Random(seed)
    tree = random_tree(rnd, rnd.choice([3, 8, 14]))
    transactions = random_transactions(rnd, ref.leaves(*tree))
    taxonomy, k = taxonomy_of(*tree), rnd.choice([1, 2, 2, 3, 4, 6, 50])
    naive = Naive(tree, taxonomy, transactions, k)
    with engine.transaction():
        extended = Extended(engine, coded(engine, transactions), taxonomy)
        assert ArrayPairs.fits(extended, k)
        beside = SpreadPairs(extended, workers or Workers(engine), k)
        counters: list[PairCounter] = [ArrayPairs(extended, k), beside, SqlPairs(extended, k)]
        assert all(counter.supports.tolist() == naive.supports for counter in counters)
        frequent = np.flatnonzero(counters[0].supports >= k)
        nodes = some_nodes(rnd, frequent[frequent > 0])
        extension = some_extension(rnd, frequent)
        for n, counter in enumerate(counters):
            assert listed(counter.among(nodes), once=n < 2) == naive.among(nodes.tolist())
            assert listed(counter.added(extension), once=n < 2) == naive.added(extension)
        extended.close()


def squeezed(monkeypatch: pytest.MonkeyPatch, engine: Engine, seed: int) -> None:
    """Pieces of a few occurrences, groups of few transactions, triangles counted in ranges, occurrences fetched again."""
    rnd = random.Random(seed)
    monkeypatch.setattr(array_pairs, "FETCHED", rnd.choice([1, 7, 10**6]))
    monkeypatch.setattr(array_pairs, "PIECE", rnd.choice([1, 9, 10**6]))
    monkeypatch.setattr(spread_pairs, "PIECE", rnd.choice([1, 9, 10**6]))
    monkeypatch.setattr(triangle, "PART", rnd.choice([1, 9, 10**6]))
    monkeypatch.setattr(triangle, "GROUP", rnd.choice([1, 9, 10**6]))
    monkeypatch.setattr(array_pairs, "MOST_PASSES", 10**6)
    monkeypatch.setattr(triangle, "PIECE", rnd.choice([1, 5, 10**6]))
    most = rnd.choice([16, 100, 400, 10**6])
    monkeypatch.setattr(type(engine), "array_bytes", most)
    monkeypatch.setattr(array_pairs, "ANCESTORS", 10**6)


@pytest.mark.parametrize("seeds", portions(6, 20, 1000))
def test_arrays_and_sql_and_python_agree(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        check(engine, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(6, night=1000, first=10_000))
def test_in_little_memory(engine: Engine, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in seeds:
        squeezed(monkeypatch, engine, seed)
        rnd = random.Random(seed)
        check(engine, seed, Workers(engine, rnd.choice([8, 80, 10**6]), rnd.randint(1, 4), rnd.choice([1, 3, 9])))


@pytest.mark.parametrize("seeds", portions(3, 12, 600, first=30_000))
def test_triples(engine: Engine, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays find what SQL mines level by level, with the same remark whether larger sets are worth a look."""
    for seed in seeds:
        rnd = random.Random(seed)
        monkeypatch.setattr(triangle, "PIECE", rnd.choice([1, 5, 10**6]))
        tree = random_tree(rnd, 14)
        transactions, taxonomy, k = random_transactions(rnd, ref.leaves(*tree)), taxonomy_of(*tree), rnd.randint(2, 5)
        nodes = some_nodes(rnd, np.arange(taxonomy.size))
        free = np.array([rnd.random() < 0.5 for _ in nodes], dtype=np.bool_)
        family = np.where(free, NO_FAMILY, taxonomy.parent[nodes])
        found = []
        with engine.transaction():
            data = coded(engine, transactions)
            for counter in (ArrayPairs, SqlPairs):
                miner = ThreatMiner(engine, data, taxonomy, k, counter)
                mined = miner.mine(nodes, family, 3)
                rows, supports = mined.rows.get(3, np.empty((0, 3))), mined.supports.get(3, np.empty(0))
                found.append((sorted(zip(rows.tolist(), supports.tolist(), strict=True)), mined.exhausted))
                miner.close()
        assert found[0] == found[1]


@each(
    "nodes, family, exhausted",
    [
        (["a", "y"], [NO_FAMILY, NO_FAMILY], True),
        (["a", "y", "z"], [NO_FAMILY, NO_FAMILY, NO_FAMILY], False),  # a chain extends a, so that a round is spent on it
        (["y", "z", "d"], [NO_FAMILY, NO_FAMILY, NO_FAMILY], True),  # no pair of y and z
        (["a", "b", "d"], [NO_FAMILY, 1, 2], False),  # as do nodes of two families
        (["a", "b", "d"], [1, 1, 2], True),  # but a pair of two families is none
    ],
)
def test_what_ends_the_rounds(engine: Engine, nodes: list[str], family: list[int], exhausted: bool) -> None:
    """Both look at the frequent pairs alone: a further round is run if two of them begin with one node."""
    taxonomy = taxonomy_of({"r": ["a", "b", "y", "d"], "y": ["z"]}, "r")
    numbers = np.array([taxonomy.node_of[node] for node in nodes])
    with engine.transaction():
        data = coded(engine, [["a", "b", "z", "d"]] * 2)
        for counter in (ArrayPairs, SqlPairs):
            miner = ThreatMiner(engine, data, taxonomy, 2, counter)
            assert miner.mine(numbers, np.array(family), 3).exhausted is exhausted
            miner.close()


@pytest.mark.parametrize("seeds", portions(2, 11, 300, first=20_000))
def test_both_lead_to_the_same_decisions(engine: Engine, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in seeds:
        rnd = random.Random(seed)
        tree = random_tree(rnd, 14)
        transactions, taxonomy = random_transactions(rnd, ref.leaves(*tree)), taxonomy_of(*tree)
        model = KmAnonymity(rnd.choice([2, 2, 3, 4]), rnd.choice([2, 2, 3, 4, math.inf]))
        monkeypatch.setattr(schedule, "AT_ONCE", rnd.choice([0, 10, 10**6]))
        monkeypatch.setattr(schedule, "FEW", rnd.choice([0, 0.5, 10**6]))
        found = []
        with engine.transaction():
            data = coded(engine, transactions)
            for counter in (ArrayPairs, spread, SqlPairs):
                miner = ThreatMiner(engine, data, taxonomy, model.k, counter)
                whole = Search(taxonomy, Costs.of(taxonomy, data), miner, int(min(model.m, max(data.longest, 1)))).run()
                found.append([whole, *rounds(engine, data, taxonomy, model, miner)])
                miner.close()
        assert found[0] == found[1] == found[2]


def test_the_choice(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays where they fit the memory that the engine allows, SQL elsewhere."""
    taxonomy = taxonomy_of({"r": ["a", "b"]}, "r")
    with engine.transaction():
        data = coded(engine, [["a", "b"], ["a"]])
        assert isinstance(pair_counter(Extended(engine, data, taxonomy), 1), ArrayPairs)
        monkeypatch.setattr(type(engine), "array_bytes", 0)
        assert isinstance(pair_counter(Extended(engine, data, taxonomy), 1), SqlPairs)


@pytest.mark.parametrize("counter", [ArrayPairs, spread, SqlPairs])
def test_too_many_rare_pairs(
    engine: Engine, counter: Callable[[Extended, int], PairCounter], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MAX_THREATS", 0)
    taxonomy = taxonomy_of({"r": ["a", "b"]}, "r")
    with engine.transaction():
        extended = Extended(engine, coded(engine, [["a", "b"], ["a"], ["b"]]), taxonomy)
        with pytest.raises(BudgetExceeded):
            counter(extended, 2).among(np.array([1, 2]))
        extended.close()


def test_a_long_join_is_refused_before_it_runs(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three transactions of two items are a join of twelve rows; nothing is asked of the pairs."""
    taxonomy, nodes = taxonomy_of({"r": ["a", "b"]}, "r"), np.array([1, 2])
    with engine.transaction():
        counter = SqlPairs(Extended(engine, coded(engine, [["a", "b"]] * 3), taxonomy), 2)
        monkeypatch.setattr(budget, "MAX_PAIR_ROWS", 12)
        assert not len(counter.among(nodes).supports)
        monkeypatch.setattr(budget, "MAX_PAIR_ROWS", 11)
        run = engine.fetch
        asked: list[str] = []
        monkeypatch.setattr(engine, "fetch", lambda name, *a, **v: (asked.append(name), run(name, *a, **v))[1])
        with pytest.raises(BudgetExceeded, match="a join of about 12 rows"):
            counter.among(nodes)
        assert asked == ["warehouse/threats/total_mass"]


def test_too_many_occurrences_are_refused_before_a_join(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number is that of the first join of SQL, which is not run: a pair in each of two families, twice each."""
    monkeypatch.setattr(budget, "MAX_KEPT", 3)
    taxonomy = taxonomy_of({"r": ["u", "v"], "u": ["a", "b"], "v": ["c", "d"]}, "r")
    nodes = np.array([taxonomy.node_of[x] for x in ("a", "b", "c", "d")])
    with engine.transaction():
        data = coded(engine, [["a", "b", "c", "d"]] * 2)
        said = []
        for counter in (ArrayPairs, SqlPairs):
            miner = ThreatMiner(engine, data, taxonomy, 2, counter)
            with monkeypatch.context() as patch, pytest.raises(BudgetExceeded) as caught:
                if counter is ArrayPairs:
                    patch.setattr(Growth, "grow", None)
                miner.mine(nodes, np.array([1, 1, 2, 2]), 4)
            said.append(str(caught.value))
            miner.close()
    assert said[0] == said[1] and "size 2 occur at least 4 times" in said[0]


def test_occurrences_take_the_memory_that_the_triangle_leaves(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few nodes, so that nearly all memory is free: transactions of 8 bytes are kept in 9 bytes each, and read once."""
    taxonomy, transactions = taxonomy_of({"r": ["a", "b"]}, "r"), [["a", "b"]] * 1000
    monkeypatch.setattr(type(engine), "array_bytes", 9000)
    with engine.transaction(), engine.recording() as statements:
        counter = ArrayPairs(Extended(engine, coded(engine, transactions), taxonomy), 2)
        assert listed(counter.among(np.array([1, 2])), once=True) == {}
        assert sum("_anondb_item_leaves" in text and "BETWEEN" in text for text in statements) == 1


@each(
    "limit, expected",
    [("1.0 KiB", 128), ("2 GB", 250_000_000), ("80 bytes", 10), ("16 TiB", 1 << 41), ("unlimited", 0), ("", 0)],
)
def test_the_share_of_arrays(limit: str, expected: int) -> None:
    assert array_bytes(bytes_of(limit)) == expected
