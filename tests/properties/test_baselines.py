"""VPA, MM and PCTA against the naive references, on small random data."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
import reference as ref
import reference_baselines as naive
from portions import portions
from properties.test_apriori import Case, check_members, run
from properties.trees import coded, released, taxonomy_of
from sqlglot import exp
from verify.published import verified_hkp

from anondb.algorithms.apriori.lra import gray_order, lra, recode_chunks
from anondb.algorithms.apriori.postings import load_postings
from anondb.algorithms.apriori.vpa import vpa
from anondb.algorithms.coat.coat import coat
from anondb.algorithms.mm.mm import mm
from anondb.engine import Engine
from anondb.errors import BudgetExceeded, InfeasibleError
from anondb.models.transactional import HkpCoherence, KmAnonymity
from anondb.recoding import LocalRecoding


def check_vpa(engine: Engine, case: Case) -> None:
    k, m = case.model.k, case.model.m
    if 0 < sum(bool(t) for t in case.transactions) < k:
        with pytest.raises(InfeasibleError):
            run(engine, case, vpa)
        return
    _, cut = naive.vpa(case.children, case.root, case.transactions, k, m)
    result, published = run(engine, case, vpa)
    check_members(case, result, cut)
    assert published == ref.generalize(case.children, case.transactions, cut)
    assert ref.is_km_anonymous(published, k, m)
    assert [d.step for d in result.decisions] == list(range(1, len(result.decisions) + 1))


@pytest.mark.parametrize("seeds", portions(9, 41, 2100, first=300_000))
def test_vpa(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        check_vpa(engine, Case(seed, max_leaves=6 + seed % 6))


def check_mm(engine: Engine, seed: int) -> None:
    rnd = random.Random(seed)
    items = [*"abcdef", "s", "t"][: rnd.randint(1, 8)]
    rnd.shuffle(items)
    density = rnd.choice([0.2, 0.5, 0.8])
    transactions = [[i for i in items if rnd.random() < density] for _ in range(rnd.randint(0, 14))]
    transactions += rnd.sample(transactions, len(transactions) // 2)
    private = rnd.choice([[], ["s"], ["s", "t"], ["s", "nowhere"], items])
    h = rnd.choice([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(4, 5), Fraction(1)])
    model = HkpCoherence(h, rnd.randint(1, 4), rnd.choice([1, 2, 2, 3, 4, math.inf]))
    removed, wanted = naive.mm(transactions, private, h, model.k, model.p)
    with engine.transaction():
        data = coded(engine, transactions)
        result = mm(engine, data, model, private=private)
    assert [d.subject for d in result.decisions] == removed
    published = released(data, result, transactions)
    assert published == wanted and not naive.moles(published, private, h, model.k, model.p)
    assert {d.action for d in result.decisions} <= {"suppress"}
    if result.decisions:
        assert result.decisions[-1].cost == sum(len(set(t)) for t in transactions) - sum(map(len, published))
    if seed % 10 == 0:
        assert verified_hkp(engine, published, model, private).verified
        first = naive.moles(transactions, private, h, model.k, model.p)
        assert verified_hkp(engine, transactions, model, private).verified == (not first)


@pytest.mark.parametrize("seeds", portions(11, 49, 2360))
def test_mm(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        check_mm(engine, seed)


@pytest.mark.parametrize("seed", [204, 376])
def test_mm_where_only_two_items_together_tell_too_much(engine: Engine, seed: int) -> None:
    """Few random cases have a minimal mole of two items for the sake of a private one."""
    check_mm(engine, seed)


@pytest.mark.parametrize("seeds", portions(5, 8, 60))
def test_mm_in_chunks(engine: Engine, monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """Joins cut into ranges of a few rows find the same."""
    from anondb.algorithms.hghs import budget

    for n in seeds:
        monkeypatch.setattr(budget, "CHUNK_ROWS", 1 + n % 7)
        check_mm(engine, 200_000 + n)


@pytest.mark.parametrize("limit", ["MAX_ROWS", "MAX_KEPT", "MAX_THREATS"])
def test_mm_budgets(engine: Engine, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from anondb.algorithms.mm import mm as moles

    monkeypatch.setattr(moles, limit, 0)
    transactions = [["a", "b", "c"], ["a", "b"], ["a", "c"], ["b", "c"], ["d"], ["d"]]
    with pytest.raises(BudgetExceeded, match="Lower p, or raise k"), engine.transaction():
        mm(engine, coded(engine, transactions), HkpCoherence(Fraction(1), 2, 3))


def test_mm_for_km(engine: Engine) -> None:
    """k^m-anonymity is (1,k,m)-coherence of public items."""
    transactions = [["a", "b"], ["a", "b"], ["a", "c"], ["c"], ["c", "b"]]
    with engine.transaction():
        data = coded(engine, transactions)
        found = [mm(engine, data, KmAnonymity(2, m), private=["a"]) for m in (1, 2, math.inf)]
    for result, m in zip(found, (1, 2, math.inf), strict=True):
        removed, _ = naive.mm(transactions, [], Fraction(1), 2, m)
        assert [d.subject for d in result.decisions] == removed
    assert len(found[1].decisions) == 1


def check_pcta(engine: Engine, seed: int) -> None:
    rnd = random.Random(seed)
    items = list("abcdefg")[: rnd.randint(1, 7)]
    density = rnd.choice([0.2, 0.5, 0.8])
    transactions = [[i for i in items if rnd.random() < density] for _ in range(rnd.randint(1, 10))]
    k = rnd.randint(1, 5)
    occurring = sorted({i for t in transactions for i in t})
    with engine.transaction():
        data = coded(engine, transactions)
        m = rnd.choice([1, 2, 2, 3])
        result = coat(engine, data, KmAnonymity(k, m))
    privacy = ref.implicit_constraints(occurring, m)
    clusters, suppressed, merges = naive.pcta(transactions, k, privacy, occurring)
    members: dict[int, list[str]] = {}
    for number, label in zip(result.member_of.tolist(), result.member_labels, strict=True):
        members.setdefault(number, []).append(label)
    assert sorted(tuple(sorted(x)) for x in members.values()) == clusters
    assert sorted(x for x, image in zip(data.labels, result.image.tolist(), strict=True) if image < 0) == suppressed
    assert sum(d.action == "merge" for d in result.decisions) == len(merges)
    assert ref.is_km_anonymous(released(data, result, transactions), k, m)


@pytest.mark.parametrize("seeds", portions(7, 39, 2200))
def test_pcta(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        check_pcta(engine, seed)


def check_lra_chunks(engine: Engine, case: Case, parts: int) -> None:
    """The chunks and cuts; transactions without items come first in Gray order, and only count."""
    k, m = case.model.k, case.model.m
    with engine.transaction():
        data = coded(engine, case.transactions)
        taxonomy = taxonomy_of(case.children, case.root)
        postings, tids = load_postings(engine, data, taxonomy)
        empty = data.n_transactions - postings.n
        ranks = [naive.gray_rank(case.children, case.root, case.transactions[tids[n] - 1]) for n in gray_order(postings)]
        assert ranks == sorted(ranks)
        if 0 < data.non_empty < k:
            with pytest.raises(InfeasibleError):
                list(recode_chunks(postings, empty, case.model, parts))
            return
        found = list(recode_chunks(postings, empty, case.model, parts))
    wanted = naive.lra(case.children, case.root, case.transactions, k, m, parts) if case.transactions else []
    assert sum(chunk.size for chunk in found) == len(case.transactions)
    assert [([tids[n] - 1 for n in c.members.tolist()], sorted(taxonomy.labels[n] for n in c.cut)) for c in found][
        : len(wanted)
    ] == [([n for n in members if case.transactions[n]], cut) for members, cut in wanted]
    assert [chunk.size for chunk in found][: len(wanted)] == [len(members) for members, _ in wanted]


@pytest.mark.parametrize("seeds", portions(9, 41, 2050, first=500_000))
def test_lra_chunks(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        check_lra_chunks(engine, Case(seed, max_leaves=6 + seed % 5), 1 + seed % 6)


def published_locally(engine: Engine, result: LocalRecoding, n: int) -> list[set[str]]:
    """The transactions as a local recoding publishes them, by labels."""
    rows = engine.select(exp.select("tid", "released", "copies").from_(result.transactions.expression()))
    published: list[set[str]] = [set() for _ in range(n)]
    for tid, released_item, copies in zip(*(rows[c].tolist() for c in ("tid", "released", "copies")), strict=True):
        assert copies == 1 and result.labels[released_item] not in published[tid - 1]
        published[tid - 1].add(result.labels[released_item])
    return published


def check_lra(engine: Engine, case: Case, parts: int) -> None:
    """What is published, against the chunks of the reference; the promise by labels and across levels."""
    k, m = case.model.k, case.model.m
    if 0 < sum(bool(t) for t in case.transactions) < k or not case.transactions:
        return
    with engine.transaction():
        data = coded(engine, case.transactions)
        result = lra(engine, data, taxonomy_of(case.children, case.root), case.model, parts=parts)
        published = published_locally(engine, result, len(case.transactions))
        assert not len(result.incomplete)
    for members, cut in naive.lra(case.children, case.root, case.transactions, k, m, parts):
        chunk = [case.transactions[n] for n in members]
        assert [published[n] for n in members] == ref.generalize(case.children, chunk, cut)
    assert ref.is_km_anonymous(published, k, m)
    assert not naive.itemsets_across_levels(case.children, case.root, published, k, m)
    assert result.semantics == "set" and [d.step for d in result.decisions] == list(range(1, len(result.decisions) + 1))


@pytest.mark.parametrize("seeds", portions(6, 37, 2160, first=700_000))
def test_lra(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        check_lra(engine, Case(seed, max_leaves=6 + seed % 4), 1 + seed % 5)
