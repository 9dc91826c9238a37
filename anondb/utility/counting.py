"""Counts the supports of many itemsets at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from anondb.engine import Engine, NamedRows, Table, reads

Ints = npt.NDArray[np.int64]


def count_sets(engine: Engine, target: str, transactions: Table, sets: Table | exp.Query) -> Table:
    """Count the support of every set that some transaction holds.

    Each set is searched from its rarest item; the other items are probed one place at a time. So the cost depends on the
    rarest items and not on the longest transactions. Sets of up to two items take one pass; longer ones
    keep their hits in a work table between places.

    Args:
        engine: the engine.
        target: name of the work table to make.
        transactions: ``(tid, item)``, each pair once.
        sets: ``(set_id, item)``, each pair once.

    Returns:
        Work table ``(set_id, support)``; sets without support and the empty set are missing.
    """
    supports = reads.counted(transactions, "item", count="support", order="item")
    ranked = engine.create(f"{target}_ranked", "utility/ranked", {"sets": sets, "supports": supports})
    sizes = engine.select(reads.rows(ranked, "size", distinct=True, order="size"))["size"].tolist()
    counted = _count_ranked(engine, target, transactions, ranked, sizes)
    engine.drop(ranked)
    return counted


def _count_ranked(engine: Engine, target: str, transactions: Table, ranked: Table, sizes: list[int]) -> Table:
    """Count the supports of ranked sets ``(set_id, item, place, size)``, whose distinct sizes are ``sizes``, ascending."""
    first = exp.column("place", "one").eq(1)
    columns = "one.set_id, other.tid, one.size"
    hits: Table | exp.Query | NamedRows = reads.joined(ranked, transactions, "item", columns, where=first)
    counts = {1: reads.counted(hits, "set_id", count="support", where=exp.column("size").eq(1))}
    kept: list[Table] = []
    for place in range(2, max(sizes, default=1) + 1):
        tables = {"hits": hits, "ranked": ranked, "transactions": transactions}
        hits = NamedRows("utility/next_hits", tables, {"place": place})
        if place < sizes[-1]:
            hits = engine.create(f"{target}_hits_{place}", hits)
            kept.append(hits)
        counts[place] = reads.counted(hits, "set_id", count="support", where=exp.column("size").eq(place))
    wanted = [counts[place] for place in sizes or [1]]
    if len(wanted) == 1:
        result = engine.create(target, wanted[0])
    else:
        result = engine.create(target, exp.union(*wanted, distinct=False))
    engine.drop(*kept)
    return result


def count_itemsets(engine: Engine, transactions: Table, itemsets: Ints, supports: Ints) -> Ints:
    """Count the support of each row of ``itemsets``: item numbers of shape (sets, size), without repeated rows.

    ``supports`` are those of the single items, by item number.
    """
    number, size = itemsets.shape
    result = np.zeros(number, dtype=np.int64)
    rarest_first = np.take_along_axis(itemsets, np.argsort(supports[itemsets], axis=1, kind="stable"), axis=1)
    places = {
        "set_id": np.repeat(np.arange(number), size),
        "item": rarest_first.ravel(),
        "place": np.tile(np.arange(1, size + 1), number),
        "size": np.full(number * size, size),
    }
    ranked = engine.put("candidate_sets", {name: ("INTEGER", values) for name, values in places.items()})
    counted = _count_ranked(engine, "candidate_supports", transactions, ranked, [size])
    columns = engine.select(reads.rows(counted, "set_id, support", order="set_id"))
    result[columns["set_id"]] = columns["support"]
    engine.drop(ranked, counted)
    return result
