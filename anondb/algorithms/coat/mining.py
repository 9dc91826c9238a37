"""Reads what COAT needs from DuckDB before its first choice: the occurrences, and the itemsets that are too rare."""

from __future__ import annotations

from math import comb

import numpy as np

from anondb.algorithms.coat.blocks import Blocks
from anondb.algorithms.coat.implicit import Mined, check_sets
from anondb.algorithms.hghs.budget import chunks
from anondb.algorithms.in_memory import check_occurrences
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Query, reads
from anondb.engine.arrays import Floats, Ints32
from anondb.engine.texts import sql
from anondb.errors import BudgetExceeded

CHUNK_SETS = 25_000_000  # itemsets that one SQL statement counts: about 1 GB
CHUNK_ROWS = 20_000_000  # occurrences of their first items
CHUNK_READ = 4_000_000  # occurrences that are read at once
MAX_COUNTED = 4_000_000_000  # itemsets in transactions that are counted one by one
MAX_RARE = 150_000_000  # rare itemsets in memory: about 4 GB
OCCURRENCE_BYTES = 16  # at the peak, without what is read and sorted in chunks


def occurrences(engine: Engine, dataset: Dataset, of_item: Ints32) -> tuple[Ints32, Ints32]:
    """The occurrences as (transaction numbered from 0, item), sorted."""
    total = dataset.n_occurrences
    check_occurrences(engine, total, OCCURRENCE_BYTES, "use an algorithm with a taxonomy")
    tid, item = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
    step = max(CHUNK_READ * dataset.n_transactions // max(total, 1), 1)
    at = 0
    for first in range(1, dataset.n_transactions + 1, step):
        chunk = sql("tid BETWEEN {} AND {}", first, first + step - 1)
        rows = engine.select(reads.rows(dataset.transactions, "tid, item", where=chunk))
        packed = rows["tid"].astype(np.int64) * max(dataset.n_items, 1) + rows["item"]
        order = np.argsort(packed) if (packed[1:] <= packed[:-1]).any() else slice(None)
        part = slice(at, at := at + len(packed))
        tid[part], item[part] = rows["tid"][order] - 1, of_item[rows["item"][order]]
    return tid, item


def mine(engine: Engine, dataset: Dataset, blocks: Blocks, of_item: Ints32, k: int, m: int) -> Mined:
    """The itemsets of up to m items that at least one and fewer than k transactions hold, by size, counted in SQL. Raises
    BudgetExceeded: there are too many itemsets to count, or too many rare ones."""
    rare = np.flatnonzero((blocks.support > 0) & (blocks.support < k))
    same = len(of_item) == blocks.n  # all items of the constraints are in the data
    mined: Mined = {1: ([rare], blocks.support[rare])}
    sizes = range(2, m + 1 if k > 1 else 2)
    for size in sizes:  # before the first is counted: a later one may be too large after minutes of work
        check_sets(sum(comb(n, size) * count for n, count in dataset.lengths.items()), size, MAX_COUNTED)
    for size in sizes:
        parts, held = [], 0
        shares = np.trim_zeros(_shares(blocks, size)[of_item], "b")
        for low, high in chunks(np.arange(len(shares)), shares, most=1):
            rows = engine.select(_rare_sets(dataset, size, k, low, high))
            columns = [rows[f"n{i}"] for i in range(1, size + 1)]
            parts.append(([c if same else of_item[c] for c in columns], rows["support"]))
            held += len(rows["support"])
            _check_rare(held, size)
        if parts:
            columns = [np.concatenate([p[0][i] for p in parts]) for i in range(size)]
            mined[size] = columns, np.concatenate([p[1] for p in parts])
    return mined


def _check_rare(held: int, size: int) -> None:
    if held > MAX_RARE:
        raise BudgetExceeded(
            f"At least {held:,} sets of {size} items are too rare; COAT holds {MAX_RARE:,} of them in memory at most.",
            hint="Lower m or k, or protect every transaction by --privacy-constraints=pgen.",
        )


def _shares(blocks: Blocks, size: int) -> Floats:
    """For each first item, its part of what one statement counts: rows, and itemsets, each of which makes one group."""
    sets = np.zeros(blocks.n)
    for low in range(0, len(blocks.slot), CHUNK_READ):
        tids = blocks.tid[low : low + CHUNK_READ]
        later = blocks.start[tids] + blocks.length[tids] - np.arange(low, low + len(tids)) - 1
        behind = np.ones(len(tids))  # itemsets of this transaction that begin with this occurrence
        for i in range(size - 1):
            behind *= np.maximum(later - i, 0) / (i + 1)
        sets += np.bincount(blocks.slot[low : low + CHUNK_READ], weights=behind, minlength=blocks.n)
    groups = np.minimum(sets, [float(comb(blocks.n - 1 - i, size - 1)) for i in range(blocks.n)])
    return groups / CHUNK_SETS + np.where(sets > 0, blocks.support, 0) / CHUNK_ROWS


def _rare_sets(dataset: Dataset, size: int, k: int, low: int, high: int) -> Query:
    """The violated constraints among the sets of a size whose first item lies in a range: sets that at least one and fewer
    than k transactions hold."""
    columns = [f"n{i}" for i in range(1, size + 1)]
    sets = reads.itemsets(dataset.transactions, columns, where=sql("item BETWEEN {} AND {}", low, high))
    shown = ", ".join(columns)
    number = f"{shown}, CAST(count(*) AS INTEGER) AS support"
    return reads.rows(sets, number, group=shown, having=sql("count(*) < {}", k))
