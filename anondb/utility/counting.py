"""Counts the supports of many itemsets at once, in arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anondb.engine import DuckDBEngine, Engine, Rows, Runner, Table, reads
from anondb.engine.arrays import Flags, Ints
from anondb.engine.texts import sql

CELLS = 1 << 25  # bytes of the matrix of one piece: which of its transactions hold which items
HITS = 1 << 17  # transactions of the rarest items of sets that are looked up at once


def count_sets(engine: Engine, transactions: Table, sets: Rows, runner: Runner | None = None) -> Table:
    """Count the support of every set ``(set_id, item)`` in ``(tid, item)``, perhaps of another runner; in both each pair
    once, and ``tid`` in a range without large gaps. Returns the work table ``(set_id, support)``; the empty set is
    missing."""
    rows = engine.select(reads.rows(sets, "set_id, item", order="set_id, item"))
    number, starts, sizes = np.unique(rows["set_id"], return_index=True, return_counts=True)
    supports = np.zeros(len(number), dtype=np.int64)
    chosen = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    groups = [rows["item"][starts[places][:, None] + np.arange(sizes[places[0]])] for places in chosen]
    for places, counted in zip(chosen, count_groups(runner or engine, transactions, groups), strict=True):
        supports[places] = counted
    return engine.put("set_supports", {"set_id": ("INTEGER", number), "support": ("BIGINT", supports)})


def count_itemsets(runner: Runner, transactions: Table, itemsets: Ints) -> Ints:
    """Count the support of each row of ``itemsets``: item numbers of shape (sets, size), each once in a row."""
    (supports,) = count_groups(runner, transactions, [itemsets])
    return supports


def count_groups(runner: Runner, transactions: Table, groups: Sequence[Ints]) -> list[Ints]:
    """The supports of the sets of each group, which have the same size. Each set is searched from the item that is rarest in
    a piece of the transactions, so the cost depends on the rarest items and not on the longest transactions."""
    if not isinstance(runner, DuckDBEngine):
        return [_count_there(runner, transactions, sets) for sets in groups]
    supports = [np.zeros(len(sets), dtype=np.int64) for sets in groups]
    items = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(sets.ravel() for sets in groups)]))
    places = [np.searchsorted(items, sets) for sets in groups]
    for piece in _pieces(runner, transactions, items):
        for total, sets in zip(supports, places, strict=True):
            total += piece.count(sets)
    return supports


def _count_there(runner: Runner, transactions: Table, sets: Ints) -> Ints:
    """The supports of sets of one size, by portable joins from the rarest item of each: only these are fetched."""
    supports = np.zeros(len(sets), dtype=np.int64)
    if len(sets):
        items, place = np.unique(sets, return_inverse=True)
        listed = runner.put("counted_items", {"item": ("INTEGER", items)})
        counted = reads.counted(reads.joined(transactions, listed, "item", "one.item"), "item")
        occurring = runner.fetch(counted, most=len(items))
        number = np.zeros(len(items), dtype=np.int64)
        number[np.searchsorted(items, occurring["item"])] = occurring["n"]
        order = np.argsort(number[place.reshape(sets.shape)], axis=1, kind="stable")
        columns = enumerate(np.take_along_axis(sets, order, axis=1).T)
        kinds = {"set_id": ("INTEGER", range(len(sets))), **{f"item{n}": ("INTEGER", items) for n, items in columns}}
        asked = runner.put("counted_sets", kinds)
        rows = reads.joined(asked, transactions, "item0 = item", "one.*, other.tid")
        for n in range(1, sets.shape[1]):
            rows = reads.joined(rows, transactions, f"tid, item{n} = item", "one.*")
        held = runner.fetch(reads.counted(rows, "set_id"), most=len(sets))
        supports[held["set_id"].astype(np.int64)] = held["n"]
        runner.drop(listed, asked)
    return supports


@dataclass(frozen=True, eq=False)
class _Piece:
    """Which of some transactions hold which items, by the places of both."""

    held: Flags  # a row of truth values for each item
    tids: Ints  # the transactions of the first item, then those of the second, and so on
    counts: Ints  # the number of transactions of each item

    def count(self, sets: Ints) -> Ints:
        """How many of the transactions hold each set."""
        sets = np.take_along_axis(sets, np.argsort(self.counts[sets], axis=1, kind="stable"), axis=1)
        lengths = self.counts[sets[:, 0]]
        ends = np.cumsum(lengths)
        shift = (np.cumsum(self.counts) - self.counts)[sets[:, 0]] - (ends - lengths)  # from places among all hits
        held, others = self.held.ravel(), sets.T[1:] * self.held.shape[1]
        supports = np.zeros(len(sets), dtype=np.int64)
        begin = 0
        while begin < len(sets):
            done = ends[begin] - lengths[begin]
            end = max(begin + 1, int(np.searchsorted(ends, done + HITS, side="right")))
            owner = np.repeat(np.arange(begin, end), lengths[begin:end])
            tid = self.tids.take(shift.take(owner) + np.arange(done, ends[end - 1]))
            for row in others:
                kept = held.take(row.take(owner) + tid)
                owner, tid = owner[kept], tid[kept]
            supports += np.bincount(owner, minlength=len(sets))
            begin = end
        return supports


def _pieces(engine: Engine, transactions: Table, items: Ints) -> Iterator[_Piece]:
    """All transactions with some of the items, in pieces."""
    ends = engine.select(reads.rows(transactions, "min(tid) AS first, max(tid) AS last, count(*) AS number"))
    if not ends["number"][0] or not len(items):
        return
    kind = "SMALLINT" if len(items) < 1 << 15 else "INTEGER"  # NumPy sorts the former in linear time
    columns = {"item": ("BIGINT", items), "place": (kind, np.arange(len(items)))}
    numbered = engine.put("counted_items", columns)
    first, last = int(ends["first"][0]), int(ends["last"][0])
    step = min(max(1, CELLS // len(items)), last - first + 1)
    for least in range(first, last + 1, step):
        part = sql("one.tid BETWEEN {} AND {}", least, least + step - 1)
        rows = engine.select(reads.joined(transactions, numbered, "item", "one.tid, other.place", where=part))
        place, tid = rows["place"], rows["tid"] - least
        held = np.zeros((len(items), step), dtype=np.bool_)
        held[place, tid] = True
        yield _Piece(held, tid[np.argsort(place, kind="stable")], np.bincount(place, minlength=len(items)))
    engine.drop(numbered)
