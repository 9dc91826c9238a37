"""Runs COAT and Pgen on small transactions of labels, and the naive reference beside them."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import reference as ref

from anondb.algorithms.coat.coat import UtilityViolated, prepare, recode
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table
from anondb.errors import InfeasibleError
from anondb.models.transactional import ConstraintAnonymity, KmAnonymity
from anondb.recoding import GlobalRecoding

Transactions = Sequence[Collection[str]]


def dataset_of(engine: Engine, transactions: Transactions) -> Dataset:
    """The transactions as a coded work table, numbered from 1; COAT reads no other table of a dataset."""
    labels = sorted({i for t in transactions for i in t})
    number = {label: i for i, label in enumerate(labels)}
    rows = [(tid, number[i]) for tid, t in enumerate(transactions, 1) for i in sorted(set(t))]
    coded = engine.put("transactions", {"tid": ("INTEGER", [r[0] for r in rows]), "item": ("INTEGER", [r[1] for r in rows])})
    supports = np.bincount([r[1] for r in rows], minlength=len(labels)).astype(np.int64) if rows else np.empty(0, int)
    return Dataset(
        coded, coded, coded, tuple(labels), supports, len(transactions),
        dict(Counter(len(set(t)) for t in transactions if t)), "t", "tid", "item",
    )  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What a run ended with; ``error`` is a code, and nothing else is set then but the items suppressed so far."""

    blocks: list[tuple[str, ...]]
    suppressed: list[str]
    log: list[Any]
    error: str | None = None
    recoding: GlobalRecoding | None = None


def run(engine: Engine, transactions: Transactions, k: int, m: float = 2, **options: Any) -> Outcome:
    """COAT as the package does it, with the log in the reference's form (constraints by their items)."""
    with engine.transaction():
        dataset = dataset_of(engine, transactions)
        model = KmAnonymity(k, m) if options.get("privacy") is None else ConstraintAnonymity(k)
        prepared = prepare(engine, dataset, model, **options)
        try:
            prepared.run()
        except UtilityViolated as error:
            return Outcome([], sorted(error.suppressed), [], error.code)
        except InfeasibleError as error:
            return Outcome([], [], [], error.code)
        labels, blocks = prepared.labels, prepared.blocks
        log: list[Any] = []
        for step in prepared.steps:
            items = tuple(labels[i] for i in step.items)
            kinds = {"constraint": (items, step.before), "merge": (items, step.after), "suppress": (items,)}
            log.append(({"merge": "generalize"}.get(step.action, step.action), *kinds[step.action]))
        alive = set(blocks.block_of[blocks.block_of >= 0].tolist())
        members = sorted(tuple(sorted(labels[i] for i in blocks.members[b])) for b in alive)
        return Outcome(
            members, sorted(labels[i] for i in blocks.suppressed), log, None, recode(prepared, dataset)
        )  # fmt: skip


def expected(
    transactions: Transactions,
    k: int,
    m: float = 2,
    *,
    privacy: Sequence[Collection[str]] | None = None,
    utility: Sequence[Collection[str]] | None = None,
    max_suppression: Any = 100,
    weights: Mapping[str, Fraction] | None = None,
    literal: bool = False,
) -> Outcome:
    """The same from the naive reference; utility constraints are completed by the group of the rest."""
    named = {i for group in (transactions, privacy or (), utility or ()) for x in group for i in x}
    if utility is not None and (rest := named - {i for u in utility for i in u}):
        utility = [*utility, sorted(rest)]
    weight = (lambda block: max(weights.get(i, Fraction(1)) for i in block)) if weights else (lambda _: 1)
    try:
        found = ref.coat(transactions, k, privacy, utility, max_suppression, m, weight, literal)
    except ref.UtilityViolated as error:
        return Outcome([], error.suppressed, [], "utility_violated")
    except ref.NoProgress:
        return Outcome([], [], [], "no_progress")
    size = int(m) if m != math.inf else max((len(set(t)) for t in transactions), default=0)
    stated = privacy if privacy is not None else ref.implicit_constraints(named, size) if size else []
    log = [("constraint", tuple(sorted(set(stated[e[1]]))), e[2]) if e[0] == "constraint" else e for e in found.log]
    return Outcome(found.blocks, found.suppressed, log)


def same(ours: Outcome, theirs: Outcome) -> bool:
    """Whether result, suppressed items, error and every step agree."""
    return (ours.blocks, ours.suppressed, ours.log, ours.error) == (
        theirs.blocks, theirs.suppressed, theirs.log, theirs.error,
    )  # fmt: skip


def random_case(rng: random.Random) -> tuple[list[list[str]], int, float, dict[str, Any]]:
    """Transactions, k, m and options: implicit, stated or Pgen's constraints, with and without the others."""
    items = "abcdefgh"[: rng.randint(1, 8)]
    longest = min(len(items), rng.choice((2, 3, 5)))
    transactions = [rng.sample(items, rng.randint(0, longest)) for _ in range(rng.randint(1, 12))]
    k, m = rng.randint(1, 5), rng.choice((1, 2, 2, 2, 3, 3, 4, math.inf))
    universe = [*items] + ["z"] * (rng.random() < 0.2)
    options: dict[str, Any] = {"max_suppression": rng.choice((100, 100, 50, 25)), "literal": rng.random() < 0.15}
    if rng.random() < 0.6:
        pool = rng.sample(universe, len(universe))
        groups: list[list[str]] = []
        while pool and (not groups or rng.random() < 0.9):
            size = rng.randint(1, 4)
            groups.append(pool[:size])
            pool = pool[size:]
        options["utility"] = groups
    mode = rng.choice(("implicit", "implicit", "stated", "pgen"))
    if mode == "stated":
        drawn = (
            tuple(sorted(rng.sample(universe, rng.randint(1, min(4, len(universe)))))) for _ in range(rng.randint(1, 5))
        )
        options["privacy"] = [list(p) for p in dict.fromkeys(drawn)]
    if mode == "pgen" and (found := ref.pgen(transactions, k)):
        options["privacy"] = [list(p) for p in found]
    if rng.random() < 0.25:
        options["weights"] = {i: Fraction(rng.randint(0, 4), 4) for i in universe}
    return transactions, k, m, options


def published_tables(
    engine: Engine, transactions: Transactions, image: Mapping[str, str | None]
) -> tuple[Table, Table, Table]:
    """Transactions of released labels, their dictionary, and the image map, as the verifier reads them."""
    labels = sorted({i for t in transactions for i in t} | {r for r in image.values() if r is not None})
    number = {label: i for i, label in enumerate(labels)}
    rows = [(tid, number[i]) for tid, t in enumerate(transactions, 1) for i in sorted(set(t))]
    pairs = sorted((r, i) for i, r in image.items() if r is not None)
    return (
        engine.put("pub", {"tid": ("INTEGER", [r[0] for r in rows]), "item": ("INTEGER", [r[1] for r in rows])}),
        engine.put("pub_items", {"item": ("INTEGER", range(len(labels))), "label": ("VARCHAR", labels)}),
        engine.put(
            "pub_map", {"released_item": ("VARCHAR", [p[0] for p in pairs]), "item": ("VARCHAR", [p[1] for p in pairs])}
        ),
    )


def image_of(recoding: GlobalRecoding) -> dict[str, str | None]:
    """Original label to released label."""
    return {label: recoding.labels[r] for r, label in zip(recoding.member_of.tolist(), recoding.member_labels, strict=True)}


def published(transactions: Transactions, recoding: GlobalRecoding) -> list[list[str]]:
    """Each transaction as it is released."""
    image = image_of(recoding)
    return [sorted({image[i] for i in t if i in image}) for t in transactions]  # type: ignore[type-var]
