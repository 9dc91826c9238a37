"""Puts small published tables into an engine and verifies them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from anondb.engine import Engine
from anondb.models.hkp import HkpCoherence
from anondb.models.km import KmAnonymity
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
        items = engine.put(
            "case_items", {"item": ("INTEGER", [numbers[x] for x in labels]), "label": ("VARCHAR", labels)}
        )
        return verify_km(engine, published, items, KmAnonymity(k, m), witnesses=witnesses)


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
