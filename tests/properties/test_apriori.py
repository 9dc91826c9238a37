"""AA against the naive reference: the same cut, by the same raises, on small random taxonomies and transactions."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
import reference as ref
from portions import portions
from properties.trees import coded, random_transactions, random_tree, released, taxonomy_of

import anondb.algorithms.in_memory as in_memory
from anondb.algorithms.apriori.apriori import apriori
from anondb.algorithms.apriori.postings import OCCURRENCE_BYTES
from anondb.engine import Engine
from anondb.errors import BudgetExceeded, InfeasibleError, InputError
from anondb.models.transactional import KmAnonymity
from anondb.recoding import GlobalRecoding


@dataclass
class Case:
    """A random problem; its parts are made from the seed alone."""

    seed: int
    max_leaves: int = 8
    children: dict[str, list[str]] = field(init=False)
    root: str = field(init=False)
    transactions: list[list[str]] = field(init=False)
    model: KmAnonymity = field(init=False)

    def __post_init__(self) -> None:
        rnd = random.Random(self.seed)
        self.children, self.root = random_tree(rnd, self.max_leaves)
        self.transactions = random_transactions(rnd, ref.leaves(self.children, self.root))
        if rnd.random() < 0.5:  # fewer infeasible ones
            self.transactions = self.transactions * 2
        self.model = KmAnonymity(rnd.choice([1, 2, 2, 3, 3, 4, 5]), rnd.choice([1, 2, 2, 2, 3, 4, math.inf]))


def run(engine: Engine, case: Case, algorithm: Any = apriori, **more: Any) -> tuple[GlobalRecoding, list[frozenset[str]]]:
    """The recoding and what it publishes."""
    with engine.transaction():
        data = coded(engine, case.transactions)
        result = algorithm(engine, data, taxonomy_of(case.children, case.root), case.model, **more)
    return result, released(data, result, case.transactions)


def check_members(case: Case, result: GlobalRecoding, cut: list[str]) -> None:
    """The released items are the nodes of the cut, and stand for the leaves below."""
    assert sorted(result.labels) == sorted(cut) and ref.is_cut(case.children, case.root, cut)
    members: dict[str, list[str]] = {label: [] for label in result.labels}
    for number, label in zip(result.member_of.tolist(), result.member_labels, strict=True):
        members[result.labels[number]].append(label)
    assert {x: sorted(y) for x, y in members.items()} == {x: sorted(ref.leaves(case.children, x)) for x in cut}


def check(engine: Engine, case: Case) -> None:
    k, m = case.model.k, case.model.m
    if 0 < sum(bool(t) for t in case.transactions) < k:
        with pytest.raises(InfeasibleError):
            run(engine, case)
        return
    cut = ref.apriori(case.children, case.root, case.transactions, k, m)
    result, published = run(engine, case)
    check_members(case, result, cut)
    assert published == ref.generalize(case.children, case.transactions, cut)
    assert ref.is_km_anonymous(published, k, m)
    below = ref.occurrences_below(case.children, case.root, case.transactions)
    costs = [d.cost for d in result.decisions]
    assert costs == sorted(costs) and all(d.action == "generalize" and 0 < (d.support or 0) < k for d in result.decisions)
    assert (costs or [Fraction(0)])[-1] == sum(below[v] * ref.ncp(case.children, case.root, v) for v in cut)
    assert [d.step for d in result.decisions] == list(range(1, len(costs) + 1))
    assert all(d.round_number <= m for d in result.decisions)


@pytest.mark.parametrize("seeds", portions(21, 71, 2400))
def test_random(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        check(engine, Case(seed, max_leaves=6 + seed % 6))


@pytest.mark.parametrize("m", [1, 2, math.inf])
def test_extremes(engine: Engine, m: float) -> None:
    case = Case(0)
    case.children, case.root, case.transactions, case.model = {"r": ["a", "b"]}, "r", [], KmAnonymity(3, m)
    assert run(engine, case)[1] == []
    case.transactions = [[], []]
    assert run(engine, case)[1] == [frozenset(), frozenset()]
    case.transactions = [["a"], ["b"], ["a", "b"], []]
    assert run(engine, case)[1] == [frozenset({"r"})] * 3 + [frozenset()]
    case.children, case.root, case.transactions = {}, "a", [["a"]] * 3
    assert run(engine, case)[1] == [frozenset({"a"})] * 3
    case.transactions = [["a"]] * 2
    with pytest.raises(InfeasibleError, match="Only 2 transactions hold an item, fewer than k = 3"):
        run(engine, case)


def test_unknown_item(engine: Engine) -> None:
    case = Case(0)
    case.children, case.root, case.transactions = {"r": ["a", "b"]}, "r", [["a", "secret"]]
    with pytest.raises(InputError) as caught:
        run(engine, case)
    assert caught.value.code == "unknown_item" and "secret" not in str(caught.value)


def test_budget(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_memory, "MAX_OCCURRENCES", 1)
    case = Case(0)
    case.children, case.root, case.transactions = {"r": ["a", "b"]}, "r", [["a", "b"]]
    with pytest.raises(BudgetExceeded, match="all 2 occurrences"):
        run(engine, case)


def test_the_memory_limit(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the algorithm holds fits in the limit that the user set, or it is refused before it is read."""
    case = Case(0)
    case.children, case.root, case.transactions = {"r": ["a", "b"]}, "r", [["a", "b"], ["a", "b"]]
    case.model = KmAnonymity(2, 2)
    monkeypatch.setattr(type(engine), "memory_limit", 8 * OCCURRENCE_BYTES)
    run(engine, case)
    monkeypatch.setattr(type(engine), "memory_limit", 8 * OCCURRENCE_BYTES - 1)
    with pytest.raises(BudgetExceeded, match="all 4 occurrences in memory") as caught:
        run(engine, case)
    assert "half of memory_limit" in str(caught.value) and "Raise memory_limit" in str(caught.value.hint)
    monkeypatch.setattr(type(engine), "memory_limit", None)
    run(engine, case)
