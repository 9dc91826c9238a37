"""Rum-BOUND and Tum-BOUND with three merges each (Poulis et al., ECML/PKDD 2013, section 4;
docs/algorithms/rum_tum_bound.md).

Both start from the clusters of CLUSTER and repeatedly unite the cluster C of least Rum with another cluster X: the one with
the least NCP of the union (``r``), the first by transactions (``t``), or the first by the sum of both ranks (``rt``).
Rum-BOUND does so while Rum(D) <= delta, Tum-BOUND until Tum(T(D)) <= delta. The printed algorithms are corrected
(docs/algorithms/rum_tum_bound.md#r3): the merge that is tested is the one that is made; all candidates are considered; Tum
is that of the recoded items; and Tum-BOUND keeps its merges. If a union has the relational values of another cluster, the
two are one class of the release, which keeps both promises, since supports add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, fsum
from typing import Any

import numpy as np

from anondb.algorithms.relational.btd import Order
from anondb.algorithms.relational.items import ClusterRecoding, Ints, Profile, Recoder, ul, ul_exact
from anondb.data.generalization import Costs, Generalization
from anondb.engine.telling import Tell, silent
from anondb.errors import InfeasibleError

_UNSURE = 1e-9  # sums of UL are doubles with errors below 1e-12; closer to delta than this they are compared exactly


class BoundViolated(InfeasibleError):
    """No clustering that the algorithm reaches is within delta.

    Attributes:
        smallest: the least delta that the algorithm reaches, exact for Rum.
    """

    default_code = "bound_violated"

    def __init__(self, what: str, delta: Fraction, smallest: Fraction) -> None:
        shown = ceil(smallest * 10_000) / 10_000
        super().__init__(
            f"{what} cannot be brought to delta = {float(delta):g}; the smallest feasible delta is {shown:.4f}.",
            hint="Raise --delta, or lower k or m.",
        )
        self.smallest = smallest


class Merging:
    """The current clusters during merging. A union has the smaller of the two numbers.

    Attributes:
        members: the records of each cluster.
        alive: marks of the current clusters.
        total: sum of the NCP numerators over all records; ``total / (denominator * n)`` is Rum(D).
    """

    def __init__(self, measure: Generalization, clusters: Sequence[Ints]) -> None:
        self.measure = measure
        self.members = list(clusters)
        self.alive = np.ones(len(clusters), dtype=np.bool_)
        self._groups = measure.groups(self.members)
        self._costs = measure.costs(self._groups)
        self.n = int(self._groups.size.sum())
        self.total = int((self._costs * self._groups.size).sum())

    @property
    def rum(self) -> Fraction:
        """Rum(D), exact."""
        return Fraction(self.total, self.measure.denominator * self.n)

    def limit(self, delta: Fraction) -> int:
        """The largest ``total`` that Rum(D) <= delta allows."""
        return int(delta * self.measure.denominator * self.n)

    def clusters(self) -> list[Ints]:
        """The clusters, by number."""
        return [np.sort(self.members[c]) for c in np.flatnonzero(self.alive).tolist()]

    def seed(self) -> tuple[int, Ints]:
        """The cluster of least NCP (ties go to the first), and all other clusters."""
        here = np.flatnonzero(self.alive)
        seed = int(here[np.argmin(self._costs[here])])
        return seed, here[here != seed]

    def united(self, seed: int, others: Ints) -> tuple[Costs, Costs]:
        """NCP of the union of the seed with each other cluster, and ``total`` after that merge (incremental Rum,
        docs/algorithms/rum_tum_bound.md#rum)."""
        size, costs = self._groups.size, self._costs
        union = self.measure.costs(self._groups.take(others).union(self._groups.take([seed])))
        added = (size[others] + size[seed]) * union - size[others] * costs[others] - size[seed] * costs[seed]
        return union, added + self.total

    def merge(self, seed: int, other: int) -> int:
        """Unite two clusters and return the number of the union."""
        kept, gone = min(seed, other), max(seed, other)
        (total,) = self.united(seed, np.array([other]))[1].tolist()
        self._groups.put(kept, self._groups.take([kept]).union(self._groups.take([gone])))
        self._costs[kept] = self.measure.costs(self._groups.take([kept]))[0]
        self.members[kept] = np.concatenate((self.members[kept], self.members[gone]))
        self.alive[gone] = False
        self.total = int(total)
        return kept


def _preferred(by: str, union: Costs, order: Order | None, seed: int, others: Ints) -> Ints:
    """The positions of the candidates in the order in which a variant tries them; ``r`` tries only one."""
    if by == "r":
        return np.array([int(np.argmin(union))])
    assert order is not None
    v = order(seed, others)
    if by == "t":
        return np.argsort(v, kind="stable")
    u = np.empty(len(others), dtype=np.int64)
    u[np.array(sorted(range(len(others)), key=union.tolist().__getitem__), dtype=np.int64)] = np.arange(len(others))
    return np.lexsort((u, u + v))


def rum_bound(
    measure: Generalization,
    clusters: Sequence[Ints],
    delta: Fraction,
    by: str,
    order: Order | None = None,
    progress: Tell = silent,
) -> list[Ints]:
    """RMERGE: merge clusters while Rum(D) <= delta.

    Args:
        measure: the records and their NCP.
        clusters: the clusters of CLUSTER.
        delta: the threshold for Rum, from 0 to 1.
        by: ``r``, ``t`` or ``rt``.
        order: the order by transactions for ``t`` and ``rt``.
        progress: receives the number of remaining clusters, and the share of those merged.

    Raises:
        BoundViolated: the initial clusters exceed delta.
    """
    state = Merging(measure, clusters)
    limit = state.limit(delta)
    if state.total > limit:
        raise BoundViolated("The loss of the relational attributes", delta, state.rum)
    while True:
        seed, others = state.seed()
        if not len(others):
            break
        progress(f"merging {len(others) + 1:,} clusters", 1 - (len(others) + 1) / len(clusters))
        union, totals = state.united(seed, others)
        tried = _preferred(by, union, order, seed, others)
        allowed = tried[np.asarray(totals[tried] <= limit, dtype=np.bool_)]
        if not len(allowed):
            break
        _unite(state, order, seed, int(others[allowed[0]]))
    return state.clusters()


def _unite(state: Merging, order: Order | None, seed: int, other: int) -> int:
    kept = state.merge(seed, other)
    if order is not None:
        order.merge(kept, max(seed, other))
    return kept


@dataclass
class _Losses:
    """The recodings of the current clusters, and their Tum(T(D))."""

    n: int
    recoded: dict[int, ClusterRecoding]
    sums: dict[int, float]

    def add(self, number: int, recoding: ClusterRecoding) -> None:
        self.recoded[number], self.sums[number] = recoding, ul(recoding.profile)

    def remove(self, number: int) -> None:
        self.recoded.pop(number)
        self.sums.pop(number)

    @property
    def tum(self) -> float:
        return fsum(self.sums.values()) / self.n

    def within(self, delta: Fraction) -> bool:
        tum = self.tum
        if abs(tum - float(delta)) > _UNSURE:
            return tum < float(delta)
        whole: Profile = Counter()
        for recoding in self.recoded.values():
            whole.update(recoding.profile)
        return ul_exact(whole) <= delta * self.n


def tum_bound(
    measure: Generalization,
    clusters: Sequence[Ints],
    delta: Fraction,
    by: str,
    recode: Recoder,
    order: Order | None = None,
    progress: Tell = silent,
) -> list[Ints]:
    """TMERGE: merge clusters until Tum(T(D)) <= delta; arguments as in ``rum_bound``, with delta for Tum.

    Raises:
        BoundViolated: even a single cluster of all records exceeds delta.
    """
    state = Merging(measure, clusters)
    losses = _Losses(state.n, {}, {})
    for number, members in enumerate(state.members):
        losses.add(number, recode(members))
    least = losses.tum
    while not losses.within(delta):
        seed, others = state.seed()
        if not len(others):
            raise BoundViolated("The loss of the items", delta, Fraction(least))
        progress(f"merging {len(others) + 1:,} clusters", 1 - (len(others) + 1) / len(clusters))
        union, _ = state.united(seed, others)
        other = int(others[_preferred(by, union, order, seed, others)[0]])
        kept = _unite(state, order, seed, other)
        for number in (seed, other):
            losses.remove(number)
        losses.add(kept, recode(np.sort(state.members[kept])))
        least = min(least, losses.tum)
    return state.clusters()


def nearest(measure: Generalization, clusters: list[Ints], at: int, delta: Fraction | None) -> int | None:
    """The cluster whose union with the one at ``at`` has the least NCP among those with Rum(D) <= delta, or None."""
    state = Merging(measure, clusters)
    others = np.array([i for i in range(len(clusters)) if i != at], dtype=np.int64)
    if not len(others):
        return None
    union, totals = state.united(at, others)
    allowed: Any = np.arange(len(others))
    if delta is not None:
        allowed = allowed[np.asarray(totals <= state.limit(delta), dtype=np.bool_)]
    return int(others[allowed[int(np.argmin(union[allowed]))]]) if len(allowed) else None
