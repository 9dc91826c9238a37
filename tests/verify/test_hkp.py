"""The verifier of (h,k,p)-coherence against the definition, and its model's parameters."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest
from each import each
from portions import portions
from reference import minimal_threats, support
from reference_baselines import moles
from verify.published import verified_hkp

import anondb.verify.work as work
from anondb.engine import Engine
from anondb.errors import BudgetExceeded, InputError
from anondb.models.transactional import HkpCoherence
from anondb.verify import Witness


def check(engine: Engine, seed: int) -> None:
    rnd = random.Random(seed)
    items = ["b", "a", "", "é", "aa", "s", "t"][: rnd.randint(1, 7)]
    rnd.shuffle(items)
    density = rnd.choice([0.2, 0.5, 0.8, 0.95])
    transactions = [[i for i in items if rnd.random() < density] for _ in range(rnd.randint(0, 9))]
    transactions *= rnd.choice([1, 1, 2, 3])
    private = rnd.choice([[], ["s"], ["s", "t"], ["nowhere"], ["a", "s"], items])
    h = rnd.choice([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10), Fraction(1)])
    model = HkpCoherence(h, rnd.randint(1, 5), rnd.choice([1, 2, 3, 4, 99, math.inf]))
    wanted = moles(transactions, private, h, model.k, model.p)
    most = rnd.choice([0, 1, 3, 999])
    found = verified_hkp(engine, transactions, model, private, witnesses=most)
    assert found.verified == (not wanted) and found.model == model
    public = [[i for i in t if i not in private] for t in transactions]
    if h == 1 or not any(i in private for t in transactions for i in t):  # k^p-anonymity, counted as that is
        longest = max((len(t) for t in public), default=0)
        if model.p != math.inf:
            assert found.violations == len(minimal_threats(public, model.k, min(model.p, longest)))
        return
    wanted.sort(key=lambda x: (len(x), x))
    assert found.violations == len(wanted)
    assert found.witnesses == tuple(Witness(x, support(x, transactions)) for x in wanted[:most])


@pytest.mark.slow
@pytest.mark.parametrize("seeds", portions(17, night=2320))
def test_random(engine: Engine, seeds: range) -> None:
    for seed in seeds:
        check(engine, seed)


def test_the_share_is_not_monotone(engine: Engine) -> None:
    """{a} and {b} keep the share, {a, b} does not; and {c} does not, while {a, c} does."""
    transactions = [["a", "b", "s"], ["a", "b", "s"], ["a"], ["a"], ["b"], ["b"]]
    found = [verified_hkp(engine, transactions, HkpCoherence("1/2", 2, p), ["s"], 9) for p in (1, 2)]
    assert [w.items for w in found[0].witnesses] == [] and [w.items for w in found[1].witnesses] == [("a", "b")]
    transactions = [["c", "s"]] * 3 + [["a", "c"]] * 2 + [["a"]] * 2
    assert [w.items for w in verified_hkp(engine, transactions, HkpCoherence("1/2", 2, 2), ["s"], 9).witnesses] == [("c",)]


def test_exact_at_the_bound(engine: Engine) -> None:
    transactions = [["a", "s"]] * 3 + [["a"]] * 7
    for h, holds in (("0.3", True), (0.3, True), ("3/10", True), ("0.29999999999999999", False), (0.29, False)):
        assert verified_hkp(engine, transactions, HkpCoherence(h, 5, 1), ["s"]).verified is holds, h


def test_every_item_private_or_none(engine: Engine) -> None:
    transactions = [["a"], ["b", "a"], []]
    assert verified_hkp(engine, transactions, HkpCoherence(0, 9, 3), ["a", "b"]).verified
    assert verified_hkp(engine, [], HkpCoherence(0, 9, 3), ["a"]).verified
    assert verified_hkp(engine, transactions, HkpCoherence(0, 2, 1), ["nowhere"], 9).witnesses == (Witness(("b",), 1),)


def test_budget(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MAX_STORED_ROWS", 5)
    with pytest.raises(BudgetExceeded, match="needs 6 sets of 2 items; the limit is 5"):
        verified_hkp(engine, [["a", "b", "c", "s"]] * 2, HkpCoherence("1/2", 1, 2), ["s"])


@each("h", [-0.1, 1.1, "5/4", "x", "", "1e-5", "1/0", math.nan, math.inf, None, True, "1" * 50, "½"])
def test_bad_h(h: Any) -> None:
    with pytest.raises(InputError, match="h must be a share from 0 to 1") as caught:
        HkpCoherence(h)
    assert caught.value.code == "bad_parameter" and "1" * 50 not in str(caught.value)


@each("h, exact", [(0, "0"), (1, "1"), ("0.8", "4/5"), (0.1, "1/10"), (" 2/3 ", "2/3"), (Fraction(1, 3), "1/3")])
def test_h(h: Any, exact: str) -> None:
    assert HkpCoherence(h, 5, math.inf).parameters() == {"h": exact, "k": 5, "p": "inf"}
    assert HkpCoherence(h, 5, 2).promise == f"({exact},5,2)-coherence"


@each("parameters", [{"k": 0}, {"k": 2.0}, {"p": 0}, {"p": -1}, {"k": math.inf}])
def test_bad_counts(parameters: Any) -> None:
    with pytest.raises(InputError):
        HkpCoherence(**parameters)
