"""The verifier of transactional k-anonymity against the definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import goldens
import pytest
from portions import some

from anondb.engine import Engine
from anondb.errors import InputError
from anondb.models.transactional import TransactionalK
from anondb.verify import Verification, Witness
from anondb.verify.classes import classes_of, verify_k

LABELS = ["b", "a", "Z", "é", "", "aa", "~ "]


def verified(
    engine: Engine,
    bags: Sequence[Sequence[str]],
    k: int,
    complete: Sequence[bool] | None = None,
    witnesses: int = 0,
    numbers: dict[str, int] | None = None,
) -> Verification:
    """verify_k on bags of labels; repeated labels are copies."""
    labels = sorted({i for t in bags for i in t})
    numbers = numbers or {label: i for i, label in enumerate(labels)}
    rows = [(tid, numbers[i], n) for tid, t in enumerate(bags, 1) for i, n in Counter(t).items()]
    with engine.transaction():
        transactions = engine.put(
            "case_transactions",
            {name: ("INTEGER", [r[c] for r in rows]) for c, name in enumerate(("tid", "item", "copies"))},
        )
        ids = engine.put(
            "case_ids",
            {
                "tid": ("INTEGER", list(range(1, len(bags) + 1))),
                "complete": ("BOOLEAN", list(complete or [True] * len(bags))),
            },
        )
        items = engine.put("case_items", {"item": ("INTEGER", [numbers[x] for x in labels]), "label": ("VARCHAR", labels)})
        return verify_k(engine, classes_of(engine, transactions, ids), items, TransactionalK(k), witnesses=witnesses)


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(5), 0, check=()))
def test_against_the_definition(engine: Engine, seed: int) -> None:
    rnd = random.Random(seed)
    for _ in range(60):
        items = LABELS[: rnd.randint(1, len(LABELS))]
        bags = [[i for i in items for _ in range(rnd.choice([0, 0, 1, 1, 2]))] for _ in range(rnd.randint(0, 6))]
        bags += [rnd.sample(b, len(b)) for b in rnd.choices(bags, k=rnd.randint(0, 8)) if bags] if bags else []
        complete = [rnd.random() < 0.8 for _ in bags]
        k, wanted = rnd.randint(1, 4), rnd.choice([0, 1, 3, 99])
        numbers = dict(zip(LABELS, rnd.sample([-5, 0, 1, 7, 100, 2**31 - 1, -(2**31)], len(LABELS)), strict=True))
        classes = Counter((tuple(sorted(b)), c) for b, c in zip(bags, complete, strict=True))
        small = [(bag, c, n) for (bag, c), n in classes.items() if n < k]
        small.sort(key=lambda x: (len(x[0]), sorted(Counter(x[0]).items()), x[1]))
        found = verified(engine, bags, k, complete, wanted, numbers)
        assert (found.verified, found.violations) == (not small, len(small)), (bags, complete, k)
        assert found.witnesses == tuple(Witness(b, n) for b, _, n in small[:wanted]), (bags, complete, k)


def test_golden_cases(engine: Engine) -> None:
    cases = [c for c in goldens.CASES if "transactional_k" in c["inputs"]]
    assert len(cases) >= 2
    for case in cases:
        bags = [t for _, t in case["inputs"]["transactions"]]
        found = verified(engine, bags, case["inputs"]["transactional_k"])
        assert found.verified == case["expected"]["transactional_k_anonymous"], case["id"]


def test_bags_and_sets_differ(engine: Engine) -> None:
    assert verified(engine, [["a", "a"], ["a"]], 2, witnesses=9).witnesses == (Witness(("a",), 1), Witness(("a", "a"), 1))
    assert verified(engine, [["a"], ["a"]], 2).verified


def test_empty_transactions_are_a_class(engine: Engine) -> None:
    assert verified(engine, [[], []], 2).verified
    assert verified(engine, [[], ["a"], ["a"]], 2, witnesses=5).witnesses == (Witness((), 1),)
    assert verified(engine, [], 5).verified


def test_what_is_said_about_suppression_can_be_seen(engine: Engine) -> None:
    assert verified(engine, [["a"]] * 4, 3, [True, True, False, False]).violations == 2


def test_missing_copies_do_not_hide_the_item(engine: Engine) -> None:
    """A table made by hand may lack copies: they are 0, and different items stay different."""
    with engine.transaction():
        columns = {"tid": ("INTEGER", [1, 2, 3, 3]), "item": ("INTEGER", [0, 1, 0, 1])}
        transactions = engine.put("case_rows", {**columns, "copies": ("INTEGER", [None, None, 1, None])})
        ids = engine.put("case_ids", {"tid": ("INTEGER", [1, 2, 3]), "complete": ("BOOLEAN", [True] * 3)})
        items = engine.put("case_items", {"item": ("INTEGER", [0, 1]), "label": ("VARCHAR", ["a", "b"])})
        found = verify_k(engine, classes_of(engine, transactions, ids), items, TransactionalK(2), witnesses=9)
    assert found.violations == 3
    assert found.witnesses == (Witness((), 1), Witness((), 1), Witness(("a",), 1))


def test_model() -> None:
    assert TransactionalK(3).parameters() == {"k": 3}
    for wrong in (0, -1, True, 2.5, "5", None, 10**30):
        with pytest.raises(InputError):
            TransactionalK(wrong)  # type: ignore[arg-type]
