"""Puts small published tables into an engine and verifies them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from anondb.engine import Engine
from anondb.models.transactional import HkpCoherence, KmAnonymity
from anondb.verify import Verification
from anondb.verify.hkp import verify_hkp
from anondb.verify.km import verify_km


def verified(
    engine: Engine,
    transactions: Sequence[Collection[str]],
    k: int,
    m: int | float,
    *,
    witnesses: int = 0,
    numbers: dict[str, int] | None = None,
) -> Verification:
    """verify_km on transactions of labels; ``numbers`` gives the items any distinct integers."""
    labels = sorted({i for t in transactions for i in t})
    numbers = numbers or {label: i for i, label in enumerate(labels)}
    rows = [(tid, numbers[i]) for tid, t in enumerate(transactions, 1) for i in sorted(set(t))]
    with engine.transaction():
        published = engine.put(
            "case_transactions", {"tid": ("INTEGER", [r[0] for r in rows]), "item": ("INTEGER", [r[1] for r in rows])}
        )
        items = engine.put("case_items", {"item": ("INTEGER", [numbers[x] for x in labels]), "label": ("VARCHAR", labels)})
        return verify_km(engine, published, items, KmAnonymity(k, m), witnesses=witnesses)


Case = tuple[Sequence[Collection[str]], int, int | float]
"""Transactions, k and m."""
APART = "\x1f"  # between the number of a case and a label


def verified_together(engine: Engine, cases: Sequence[Case]) -> list[dict[tuple[str, ...], int]]:
    """The violations of many cases and their supports, those of equal k and m by one call.

    The items of each case have names of their own, so that no itemset and no transaction is in two cases; with m infinite
    a violation is a transaction, and otherwise a minimal threat, so that the violations of all are those of each.
    """
    found: list[dict[tuple[str, ...], int]] = [{} for _ in cases]
    models: dict[tuple[int, int | float], list[int]] = {}
    for number, (_, k, m) in enumerate(cases):
        models.setdefault((k, m), []).append(number)
    for (k, m), numbers in models.items():
        rows = [[f"{number}{APART}{item}" for item in t] for number in numbers for t in cases[number][0]]
        checked = verified(engine, rows, k, m, witnesses=1_000_000)
        assert checked.violations == len(checked.witnesses) and checked.verified == (not checked.witnesses)
        for witness in checked.witnesses:
            parts = [item.split(APART, 1) for item in witness.items]
            (number,) = {int(number) for number, _ in parts}
            found[number][tuple(sorted(item for _, item in parts))] = witness.support
    return found


def verified_hkp(
    engine: Engine,
    transactions: Sequence[Collection[str]],
    model: HkpCoherence,
    private: Collection[str],
    witnesses: int = 0,
) -> Verification:
    """verify_hkp on transactions of labels."""
    labels = sorted({i for t in transactions for i in t})
    rows = [(tid, labels.index(i)) for tid, t in enumerate(transactions, 1) for i in sorted(set(t))]
    with engine.transaction():
        published = engine.put(
            "case_transactions", {"tid": ("INTEGER", [r[0] for r in rows]), "item": ("INTEGER", [r[1] for r in rows])}
        )
        items = engine.put("case_items", {"item": ("INTEGER", range(len(labels))), "label": ("VARCHAR", labels)})
        return verify_hkp(engine, published, items, model, private, witnesses=witnesses)
