"""The k^m verifier against the definition, spelled out in tests/reference.py."""

from __future__ import annotations

import math
import os
import random

import goldens
import pytest
from each import each
from portions import some
from reference import minimal_threats, rare_transactions, support
from verify.published import verified, verified_together

import anondb.verify.km as km
import anondb.verify.work as work
from anondb.engine import Engine
from anondb.errors import BudgetExceeded
from anondb.models.transactional import KmAnonymity
from anondb.verify import Verification, Witness

ROUNDS = int(os.environ.get("ANONDB_FUZZ", "1"))  # more of the random cases
LABELS = ["b", "a", "Z", "é", "", "aa", "~ "]


def expected(transactions: list[list[str]], k: int, m: int | float) -> list[tuple[str, ...]]:
    """The violations by definition, by size and labels."""
    longest = max((len(set(t)) for t in transactions), default=0)
    found = rare_transactions(transactions, k) if m == math.inf else minimal_threats(transactions, k, min(m, longest))
    return sorted(found, key=lambda x: (len(x), x))


def check(engine: Engine, transactions: list[list[str]], k: int, m: int | float, witnesses: int = 0, **more: object) -> None:
    """One case: the count, the verdict, and the witnesses with their supports."""
    wanted = expected(transactions, k, m)
    found = verified(engine, transactions, k, m, witnesses=witnesses, **more)  # type: ignore[arg-type]
    assert (found.verified, found.violations) == (not wanted, len(wanted)), (transactions, k, m)
    assert found.witnesses == tuple(Witness(x, support(x, transactions)) for x in wanted[:witnesses]), (transactions, k, m)
    assert found.model == KmAnonymity(k, m)


def random_transactions(rnd: random.Random) -> list[list[str]]:
    """Up to twelve transactions over up to seven items, sparse or dense, with repeats and empty ones."""
    items = LABELS[: rnd.randint(1, len(LABELS))]
    density = rnd.choice([0.2, 0.5, 0.8, 0.95])
    found = [[i for i in items if rnd.random() < density] for _ in range(rnd.randint(0, 8))]
    return found + [rnd.choice(found) for _ in range(rnd.randint(0, 4)) if found]


@pytest.mark.slow
def test_many_cases_together(engine: Engine) -> None:
    """Where a call checks 40 cases on average: cases as different as those that have a call each."""
    rnd = random.Random(3000)
    cases: list[tuple[list[list[str]], int, int | float]] = []
    for n in range(600 * ROUNDS):
        m = rnd.choice([2, 3, math.inf] if n % 3 else [1, 2, 4, 5, 10**6])
        cases.append((random_transactions(rnd), rnd.randint(2, 5) if m == math.inf or n % 2 else 3, m))
    for (transactions, k, m), found in zip(cases, verified_together(engine, cases), strict=True):
        wanted = {x: support(x, transactions) for x in expected(transactions, k, m)}
        assert found == wanted, (transactions, k, m)


@pytest.mark.parametrize("seed", some(range(10), 0))
def test_small_sizes(engine: Engine, seed: int) -> None:
    rnd = random.Random(seed)
    for _ in range(35 * ROUNDS):
        check(engine, random_transactions(rnd), rnd.randint(1, 6), rnd.choice([1, 2, 2]))


@pytest.mark.parametrize("seed", some(range(10), 0, 1))
def test_all_sizes(engine: Engine, seed: int) -> None:
    rnd = random.Random(1000 + seed)
    for _ in range(10 * ROUNDS):
        transactions = random_transactions(rnd)
        numbers = dict(zip(LABELS, rnd.sample([-5, 0, 1, 7, 100, 2**31 - 1, -(2**31)], len(LABELS)), strict=True))
        m = rnd.choice([1, 2, 3, 3, 4, 5, 10**6, math.inf, math.inf])
        check(engine, transactions, rnd.randint(2, 5), m, rnd.choice([0, 1, 3, 99]), numbers=numbers)


@pytest.mark.parametrize("seed", some(range(4), 0, 1))
def test_in_chunks(engine: Engine, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of a few rows, and the shortcut through supersets as early as possible, change nothing."""
    monkeypatch.setattr(work, "CHUNK_ROWS", 1 + 2 * seed)
    monkeypatch.setattr(km, "SHORTCUT_ROWS", 1)
    monkeypatch.setattr(km, "SHORTCUT_SIZE", 3)
    rnd = random.Random(2000 + seed)
    for _ in range(6 * ROUNDS):
        check(engine, random_transactions(rnd), rnd.randint(2, 3), rnd.choice([2, 3, 5, math.inf]), rnd.choice([0, 2, 99]))


def test_pairs_in_parts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs are counted in parts of the transactions, however few rows these have."""
    rnd = random.Random(3)
    for rows in (1, 2, 5):
        monkeypatch.setattr(km, "AT_ONCE", rows)
        transactions = random_transactions(rnd) + [[item] for item in LABELS] * 3  # so that no item is rare
        check(engine, transactions, 3, 2)


@pytest.mark.slow
def test_no_threat_of_any_size_if_and_only_if_all_have_k_supersets(engine: Engine) -> None:
    rnd = random.Random(7)
    for _ in range(6 * ROUNDS):
        base = random_transactions(rnd)
        transactions = base * rnd.randint(1, 3) + [t[: rnd.randint(0, 3)] for t in base]
        found = [verified(engine, transactions, 3, m).verified for m in (7, math.inf)]
        assert found[0] == found[1]


@each("m", [1, 2, 3, 10**6, math.inf])
def test_empty(engine: Engine, m: int | float) -> None:
    assert verified(engine, [], 5, m, witnesses=3) == Verification(KmAnonymity(5, m), True, 0)
    assert verified(engine, [[], [], []], 5, m) == Verification(KmAnonymity(5, m), True, 0)


@pytest.mark.parametrize("m", [1, 2, 3, math.inf])
def test_k_1_promises_nothing(engine: Engine, m: int | float) -> None:
    assert verified(engine, [["a"], ["b", "c"]], 1, m).verified


@pytest.mark.slow
def test_m_beyond_the_longest_transaction_counts_minimal_threats(engine: Engine) -> None:
    transactions = [["a", "b", "c"], ["a", "b"], ["a", "b"], ["c"], ["c", "a"], ["b", "c"]]
    counts = {m: verified(engine, transactions, 2, m).violations for m in (2, 3, 4, 10**6, math.inf)}
    assert counts == {2: 0, 3: 1, 4: 1, 10**6: 1, math.inf: 1}
    transactions = [["a", "b"], ["a", "c"], ["b", "c"]]
    assert verified(engine, transactions, 3, 10**6).violations == 3  # the single items
    assert verified(engine, [["a", "b", "c"]], 2, 10**6).violations == 3  # the single items
    assert verified(engine, [["a", "b", "c"]], 2, math.inf).violations == 1  # the transaction


@pytest.mark.slow
def test_long_transactions(engine: Engine) -> None:
    """A large k^inf table of long, equal transactions: sizes in the middle are out of reach, the shortcut is not."""
    transactions = [[f"{i:02d}" for i in range(40)]] * 5 + [[f"{i:02d}" for i in range(30)]] * 2
    assert verified(engine, transactions, 5, 40).verified
    assert verified(engine, transactions, 5, math.inf).verified
    assert verified(engine, transactions, 6, math.inf).violations == 1
    assert verified(engine, transactions, 8, 3).violations == 40


def test_budget(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    transactions = [["a", "b", "c", "d"]] * 3 + [["a", "b"]]
    monkeypatch.setattr(work, "MAX_JOINED_ROWS", 5)
    for m, rows in ((2, 19), (3, 19), (math.inf, 7)):
        with pytest.raises(BudgetExceeded, match=f"about {rows} rows for pairs of items; the limit is 5") as raised:
            verified(engine, transactions, 3, m)
        assert raised.value.exit_code == 5
    assert verified(engine, transactions * 3, 3, math.inf).verified  # enough equal ones: nothing to look up
    monkeypatch.setattr(work, "MAX_JOINED_ROWS", 10**6)
    monkeypatch.setattr(work, "MAX_STORED_ROWS", 5)
    assert verified(engine, transactions, 3, 4).verified  # the shortcut
    with pytest.raises(BudgetExceeded, match="occurrences of frequent itemsets of 2 items"):
        verified(engine, [["a", "b", "c"], ["a", "b", "c", "d"], ["d", "a"], ["d", "b"], ["c", "d"]], 2, 4)


def test_no_work_table_is_left(engine: Engine) -> None:
    before = _tables(engine)
    verified(engine, [["a", "b", "c"], ["a", "b"], ["c"], ["a"], ["a", "b", "c"]], 2, 3, witnesses=9)
    verified(engine, [["a", "b", "c"], ["a", "b"], ["c"], ["a"], ["a", "b", "c"]], 2, math.inf, witnesses=9)
    assert _tables(engine) == before


def _tables(engine: Engine) -> set[str]:
    import sqlglot

    tree = sqlglot.parse_one("SELECT table_name FROM duckdb_tables()", dialect="duckdb")
    return set(engine.select(tree)["table_name"].tolist())  # type: ignore[arg-type]


def test_json() -> None:
    found = Verification(KmAnonymity(3, math.inf), False, 2, (Witness(("a", "b"), 1),))
    assert found.to_json() == {"model": {"name": "km", "k": 3, "m": "inf"}, "verified": False, "violations": 2}
    assert found.to_json(witnesses=True)["witnesses"] == [{"items": ["a", "b"], "support": 1}]
    assert Verification(KmAnonymity(3, 2), True, 0).to_json()["model"] == {"name": "km", "k": 3, "m": 2}


@pytest.mark.parametrize("case", goldens.of_kind("verify"), ids=lambda case: case["id"])
def test_golden(engine: Engine, case: dict) -> None:  # type: ignore[type-arg]
    inputs, wanted = case["inputs"], case["expected"]
    transactions = [items for _, items in inputs["transactions"]]
    ms = inputs.get("ms", [inputs.get("m")])
    verdicts = wanted["km"] if "ms" in inputs else [wanted["km"]]
    for m, verdict in zip(ms, verdicts, strict=True):
        assert verified(engine, transactions, inputs["k"], math.inf if m is None else m).verified is verdict
    if "violations_m2" in wanted:
        found = verified(engine, transactions, inputs["k"], 2, witnesses=99)
        assert [list(w.items) for w in found.witnesses] == wanted["violations_m2"]
