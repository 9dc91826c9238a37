"""HgHs and mHgHs against the naive references, on thousands of small random taxonomies and transactions."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from properties.trees import Children, coded, random_transactions, random_tree, released, taxonomy_of

from anondb.algorithms import threats
from anondb.algorithms.hghs import Anonymization, Costs, Search, hghs, recode
from anondb.algorithms.mhghs import mhghs, rounds
from anondb.algorithms.threats import ThreatMiner
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.errors import BudgetExceeded, InputError
from anondb.models import KmAnonymity
from anondb.recoding import GlobalRecoding
from anondb.verify import verify_km

Itemsets = dict[tuple[str, ...], int]


@dataclass
class Case:
    """A random problem; its parts are made from the seed alone."""

    seed: int
    sizes: Sequence[float] = (1, 2, 2, 3, 4, math.inf)
    max_leaves: int = 8
    children: dict[str, list[str]] = field(init=False)
    root: str = field(init=False)
    transactions: list[list[str]] = field(init=False)
    model: KmAnonymity = field(init=False)

    def __post_init__(self) -> None:
        rnd = random.Random(self.seed)
        self.children, self.root = random_tree(rnd, self.max_leaves)
        self.transactions = random_transactions(rnd, ref.leaves(self.children, self.root))
        m = rnd.choice(self.sizes)
        self.model = KmAnonymity(rnd.choice([1, 2, 2, 2, 3, 3, 4, 5, 6]), m if m == math.inf else int(m))

    @property
    def m(self) -> int:
        """m, with infinity as the longest transaction."""
        return int(min(self.model.m, max([1, *(len(set(t)) for t in self.transactions)])))


def labelled(taxonomy: Taxonomy, result: Anonymization) -> tuple[list[str], list[str], Fraction]:
    cut, suppressed = (sorted(taxonomy.labels[n] for n in nodes) for nodes in (result.cut, result.suppressed))
    return cut, suppressed, result.cost


def expected(result: ref.HghsResult) -> tuple[list[str], list[str], Fraction]:
    return result.cut, result.suppressed, result.cost


def mined(taxonomy: Taxonomy, miner: ThreatMiner, m: int) -> Itemsets:
    """The minimal threats over all cuts, with their supports."""
    found = [((n,), miner.supports[n]) for n in np.flatnonzero(miner.infrequent)]
    all_sizes = miner.mine_all(m)
    for size, rows in all_sizes.rows.items():
        found += [(tuple(row), n) for row, n in zip(rows.tolist(), all_sizes.supports[size], strict=True)]
    named = {tuple(sorted(taxonomy.labels[n] for n in row)): int(support) for row, support in found}
    assert len(named) == len(found)
    return named


def check_recoding(case: Case, data: Dataset, result: GlobalRecoding, wanted: ref.HghsResult) -> list[frozenset[str]]:
    """Truthful (each item becomes its ancestor in the cut, or nothing), and the members are the leaves below."""
    published = released(data, result, case.transactions)
    assert published == wanted.published
    members: dict[str, list[str]] = {label: [] for label in result.labels}
    for number, label in zip(result.member_of.tolist(), result.member_labels, strict=True):
        members[result.labels[number]].append(label)
    kept = set(wanted.cut) - set(wanted.suppressed)
    assert {x: sorted(below) for x, below in members.items()} == {
        x: sorted(ref.leaves(case.children, x)) for x in kept
    }
    return published


def check_decisions(case: Case, result: Anonymization, wanted: ref.HghsResult) -> None:
    """Specializations lead from the root to the cut, each strictly cheaper; each suppression names a real threat."""
    cut, last = {case.root}, None
    for decision in result.decisions:
        if decision.action == "specialize":
            cut = (cut - {decision.subject}) | set(case.children[decision.subject])
            assert last is None or decision.cost < last
            assert decision.cost == next(e.cost for e in wanted.trace if set(e.cut) == cut)
            last = decision.cost
    assert sorted(cut) == wanted.cut
    forced = {d.subject: d.support for d in result.decisions if d.action == "suppress"}
    assert sorted(forced) == wanted.suppressed
    published = ref.generalize(case.children, case.transactions, wanted.cut)
    for subject, support in forced.items():
        inside = [x for x in wanted.minimal_threats if set(x) <= set(wanted.cut) and subject in x]
        assert support in {ref.support(x, published) for x in inside}


def verified(engine: Engine, published: Sequence[Collection[str]], model: KmAnonymity) -> bool:
    labels = sorted({x for t in published for x in t})
    rows = [(tid, labels.index(x)) for tid, t in enumerate(published, 1) for x in t]
    transactions = engine.put(
        "case_transactions", {"tid": ("INTEGER", [t for t, _ in rows]), "item": ("INTEGER", [i for _, i in rows])}
    )
    items = engine.put("case_items", {"item": ("INTEGER", range(len(labels))), "label": ("VARCHAR", labels)})
    found = verify_km(engine, transactions, items, model)
    engine.drop(transactions, items)
    return found.verified


def check(engine: Engine, case: Case, *, verify: bool = False) -> None:
    """One case: threats, HgHs, every round of mHgHs, what is published, and the promise."""
    taxonomy = taxonomy_of(case.children, case.root)
    k, m = case.model.k, case.m
    wanted = ref.hghs(case.children, case.root, case.transactions, k, m)
    wanted_rounds = ref.mhghs(case.children, case.root, case.transactions, k, m)
    with engine.transaction():
        data = coded(engine, case.transactions)
        miner = ThreatMiner(engine, data, taxonomy, k)
        found_threats = mined(taxonomy, miner, m)
        found = Search(taxonomy, Costs.of(taxonomy, data), miner, m).run()
        found_rounds = list(rounds(engine, data, taxonomy, case.model, miner))
        miner.close()
        results = [recode(taxonomy, data, r) for r in (found, found_rounds[-1])]
        published = [
            check_recoding(case, data, r, w) for r, w in zip(results, (wanted, wanted_rounds[-1]), strict=True)
        ]
        assert not verify or all(verified(engine, p, case.model) for p in published)
    assert sorted(found_threats) == wanted.minimal_threats
    extended = [{a for i in t for a in ref.ancestors(case.children, i)} for t in case.transactions]
    assert all(ref.support(x, extended) == support for x, support in found_threats.items())
    assert labelled(taxonomy, found) == expected(wanted)
    assert ref.is_cut(case.children, case.root, wanted.cut)
    check_decisions(case, found, wanted)
    assert [labelled(taxonomy, r) for r in found_rounds] == [expected(w) for w in wanted_rounds[: len(found_rounds)]]
    rest = wanted_rounds[len(found_rounds) :]  # rounds that would change nothing are not run
    assert all(expected(w) == labelled(taxonomy, found_rounds[-1]) for w in rest)
    check_decisions(case, found_rounds[-1], wanted_rounds[len(found_rounds) - 1])
    for p in published:
        assert ref.is_km_anonymous(p, k, m)
    if m == 1:
        assert expected(wanted) == expected(wanted_rounds[-1])


@pytest.mark.parametrize("batch", range(20))
def test_small_m(engine: Engine, batch: int) -> None:
    for n in range(70):
        check(engine, Case(1000 * batch + n, sizes=(1, 2, 2)), verify=n % 10 == 0)


@pytest.mark.parametrize("batch", range(20))
def test_all_m(engine: Engine, batch: int) -> None:
    for n in range(30):
        check(engine, Case(100_000 + 1000 * batch + n, sizes=(3, 4, math.inf), max_leaves=7), verify=n % 10 == 0)
