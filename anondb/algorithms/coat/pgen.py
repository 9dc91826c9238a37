"""Pgen: privacy constraints against an attacker who may know any part of any transaction (Loukides, Gkoulalas-Divanis and
Malin, Algorithm 4; docs/algorithms/coat.md#pgen).

The constraints are the maximal infrequent itemsets of Definition 5.1: at least one and fewer than k transactions
hold them, and none holds a proper superset. These are the distinct transactions that no other contains and that have fewer
than k copies. The paper compares all pairs of transactions; here SQL compares each with those that hold its two rarest
items.
"""

import numpy as np
from sqlglot import exp

from anondb.data.constraints import PrivacyConstraints
from anondb.data.transactions import Dataset
from anondb.engine import Engine, reads
from anondb.engine.arrays import run_starts


def pgen(engine: Engine, dataset: Dataset, k: int) -> PrivacyConstraints:
    """Compute the constraints that make COAT's result k^inf-anonymous, numbered from 1, the longest first, equally long ones
    in the order of their first transactions; none if every maximal transaction has k copies."""
    sets = engine.create("pgen_sets", "coat/distinct_sets", {"transactions": dataset.transactions})
    items = engine.create("pgen_items", reads.rows(sets, "id, unnest(items) AS item"))
    anchors = engine.create("pgen_anchors", "coat/anchors", {"set_items": items})
    rows = {"sets": sets, "set_items": items}
    candidates = engine.create("pgen_candidates", "coat/candidates", {**rows, "anchors": anchors}, k=k)
    covered = engine.create("pgen_covered", "coat/covered", {**rows, "candidates": candidates})
    rare = reads.rows(sets, "id", where=exp.column("copies") < k)
    largest = reads.among(rare, covered, "id", "id", absent=True)
    maximal = engine.select(reads.joined(items, largest, "id", "one.id, one.item", order="one.id, one.item"))
    engine.drop(sets, items, anchors, candidates, covered)
    ids, member = maximal["id"].astype(np.int64), maximal["item"].astype(np.int64)
    begins = run_starts(ids)
    start = np.append(begins, len(ids)).astype(np.int64)
    return PrivacyConstraints(tuple(str(i) for i in range(1, len(begins) + 1)), dataset.labels, start, member)
