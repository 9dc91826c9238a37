"""Reads what COAT needs from DuckDB before its first choice: the occurrences, and the itemsets that are too rare."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlglot import exp

from anondb.algorithms.coat.blocks import Blocks, Slots
from anondb.algorithms.coat.implicit import Mined, check_sets, set_mass
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.errors import BudgetExceeded

CHUNK_SETS = 25_000_000  # sets of items that one SQL statement counts: about 1 GB
MAX_OCCURRENCES = 100_000_000  # occurrences in memory: 16 bytes each, and temporarily as much again


def occurrences(engine: Engine, dataset: Dataset, of_item: Slots) -> tuple[Slots, Slots]:
    """The occurrences as (transaction numbered from 0, item), sorted."""
    if dataset.n_occurrences > MAX_OCCURRENCES:
        raise BudgetExceeded(
            f"COAT holds all {dataset.n_occurrences:,} occurrences in memory; the limit is {MAX_OCCURRENCES:,}.",
            hint="Use an algorithm with a taxonomy.",
        )
    rows = engine.query("coat/occurrences", {"transactions": dataset.transactions})
    tid, item = rows["tid"].astype(np.int32) - np.int32(1), rows["item"]
    packed = tid.astype(np.int64) * max(dataset.n_items, 1) + item
    if (np.diff(packed) <= 0).any():
        order = np.argsort(packed)
        tid, item = tid[order], item[order]
    return tid, of_item[item]


def mine(engine: Engine, dataset: Dataset, blocks: Blocks, of_item: Slots, k: int, m: int) -> Mined:
    """The itemsets of up to m items that at least one and fewer than k transactions hold, by size, counted in SQL."""
    rare = np.flatnonzero((blocks.support > 0) & (blocks.support < k))
    same = len(of_item) == blocks.n  # all items of the constraints are in the data
    mined: Mined = {1: ([rare], blocks.support[rare])}
    last = np.repeat(blocks.start + blocks.length, blocks.length)
    later = (last - np.arange(len(last)) - 1).astype(np.float64)  # occurrences behind each one in its transaction
    for size in range(2, m + 1 if k > 1 else 2):
        check_sets(set_mass(blocks.length, size), size)
        parts = []
        behind = np.ones(len(later))
        for i in range(size - 1):
            behind *= np.maximum(later - i, 0) / (i + 1)
        for low, high in _ranges(np.bincount(blocks.slot, weights=behind, minlength=blocks.n)[of_item]):
            if size == 2:
                tables = {"transactions": dataset.transactions}
                rows = engine.query("coat/rare_pairs", tables, k=k, first_from=low, first_to=high)
            else:
                rows = engine.select(_rare_sets(dataset, size, k, low, high))
            columns = [rows[f"n{i}"] for i in range(1, size + 1)]
            parts.append(([c if same else of_item[c] for c in columns], rows["support"]))
        if parts:
            columns = [np.concatenate([p[0][i] for p in parts]) for i in range(size)]
            mined[size] = columns, np.concatenate([p[1] for p in parts])
    return mined


def _ranges(mass: Any) -> list[tuple[int, int]]:
    """Ranges of the first item with at most ``CHUNK_SETS`` sets each, or of a single item."""
    ranges, start, held = [], 0, 0.0
    for i, weight in enumerate(mass.tolist()):
        if held and held + weight > CHUNK_SETS:
            ranges.append((start, i - 1))
            start, held = i, 0.0
        held += weight
    return [*ranges, (start, len(mass) - 1)] if held else ranges


def _rare_sets(dataset: Dataset, size: int, k: int, low: int, high: int) -> exp.Select:
    """The query ``coat/rare_pairs`` for more items; the number of joins depends on the size."""
    items = [exp.column("item", table=f"t{i}") for i in range(1, size + 1)]
    query = exp.select(*(exp.alias_(item, f"n{i}") for i, item in enumerate(items, 1)))
    query = query.select(exp.cast(exp.func("count", exp.Star()), "INTEGER").as_("support"))
    query = query.from_(dataset.transactions.expression().as_("t1"))
    for i in range(2, size + 1):
        same = f"t{i - 1}.tid = t{i}.tid AND t{i - 1}.item < t{i}.item"
        query = query.join(dataset.transactions.expression().as_(f"t{i}"), on=same)
    bounds = (exp.Literal.number(low), exp.Literal.number(high))
    return (
        query.where(exp.Between(this=items[0].copy(), low=bounds[0], high=bounds[1]))
        .group_by(*(item.copy() for item in items))
        .having(exp.func("count", exp.Star()) < exp.Literal.number(k))
    )
