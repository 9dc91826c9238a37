"""Threats of three nodes from arrays: for each first node, the pairs that follow it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anondb.algorithms.hghs import budget
from anondb.algorithms.hghs.pairs import Triples
from anondb.algorithms.hghs.triangle import Triangle

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]

PIECE = 4_000_000  # nodes that follow a first node, at once


def rare_triples(node: Rows, begin: Ints, length: Ints, frequent: npt.NDArray[np.bool_], k: int) -> Triples:
    """The triples that occur in fewer than k transactions, of which all pairs are frequent.

    Only the counts of one first node are in memory. A pair that follows it is counted in a triangle of its partners.

    Args:
        node: the nodes of the transactions, numbered, ascending in each.
        begin, length: where the nodes of each transaction begin, and how many there are.
        frequent: for the numbers a < b of two nodes, whether they are a frequent pair.
    """
    n = len(frequent)
    by_node = np.argsort(node, kind="stable").astype(np.int32)
    starts = np.searchsorted(node[by_node], np.arange(n + 1))
    end = np.empty(len(node), dtype=np.int32)
    end[by_node] = np.repeat(begin + length, length)[by_node]
    rows, supports = [np.empty((0, 3), dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    exhausted = True
    for a in range(n):
        partners = np.flatnonzero(frequent[a])
        if len(partners) < 2:
            continue
        triangle, places = Triangle(len(partners), len(partners) ** 2), by_node[starts[a] : starts[a + 1]]
        exhausted &= not _add_followers(triangle, places, end, node, partners, n)
        b, c, support = triangle.rare(k)
        b, c = partners[b], partners[c]
        kept = frequent[b, c]
        rows.append(np.column_stack((np.full(int(kept.sum()), a), b[kept], c[kept])))
        supports.append(support[kept])
        budget.check_threats(sum(map(len, supports)), 3)
    return Triples(np.concatenate(rows), np.concatenate(supports), exhausted)


def _add_followers(triangle: Triangle, places: Rows, end: Rows, node: Rows, partners: Ints, n: int) -> bool:
    """Count the pairs of partners that follow the places of one node; returns whether there is any in a transaction."""
    number = np.full(n, -1, dtype=np.int32)
    number[partners] = np.arange(len(partners))
    following = (end[places] - places - 1).astype(np.int64)
    until, any_pair, at = np.cumsum(following), False, 0
    while at < len(places):
        before = int(until[at] - following[at])
        stop = max(at + 1, int(np.searchsorted(until, before + PIECE)))
        tail, first = following[at:stop], until[at:stop] - following[at:stop] - before
        at_node = np.arange(int(tail.sum())) + np.repeat(places[at:stop] + 1 - first, tail)
        numbered = number[node[at_node]]
        kept = np.flatnonzero(numbered >= 0)
        start = np.searchsorted(kept, first)
        number_of = np.diff(start, append=len(kept))
        any_pair |= bool((number_of > 1).any())
        triangle.add(numbered[kept], start, number_of)
        at = stop
    return any_pair
