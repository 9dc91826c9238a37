"""Rum-BOUND and Tum-BOUND with three merges each (Poulis et al., ECML/PKDD 2013, section 4;
docs/algorithms/rum_tum_bound.md).

Both start from the clusters of CLUSTER and repeatedly unite the cluster C of least Rum with another cluster X: the one with
the least NCP of the union (``r``), the first by transactions (``t``), or the first by the sum of both ranks (``rt``).
Rum-BOUND does so while Rum(D) <= delta, Tum-BOUND until Tum(T(D)) <= delta. The printed algorithms are corrected
(docs/algorithms/rum_tum_bound.md#r3): the merge that is tested is the one that is made; all candidates are considered; Tum
is that of the recoded items; and Tum-BOUND keeps its merges. If a union has the relational values of another cluster, the
two are one class of the release, which keeps both promises, since supports add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, fsum, isqrt

import numpy as np

from anondb.algorithms.relational.btd import Order
from anondb.algorithms.relational.cluster import head, in_order
from anondb.algorithms.relational.items import ClusterRecoding, Recoder, joint_profile, ul, ul_exact
from anondb.data.generalization import Costs, Generalization
from anondb.engine.arrays import Ints
from anondb.engine.telling import Tell, silent
from anondb.errors import InfeasibleError

_FIRST = 4  # of n clusters, 4 sqrt(n) first ones of both orders nearly always have the one of least sum of ranks
_UNSURE = 1e-9  # sums of UL are doubles with errors below 1e-12; closer to delta than this they are compared exactly


class BoundViolated(InfeasibleError):
    """No clustering that the algorithm reaches is within delta."""

    default_code = "bound_violated"

    def __init__(self, what: str, delta: Fraction, smallest: Fraction) -> None:
        shown = ceil(smallest * 10_000) / 10_000
        super().__init__(
            f"{what} cannot be brought to delta = {float(delta):g}; the smallest feasible delta is {shown:.4f}.",
            hint="Raise --delta, or lower k or m.",
        )
        self.smallest = smallest  # the least delta that the algorithm reaches, exact for Rum


class Merging:
    """The current clusters during merging. A union has the smaller of the two numbers."""

    def __init__(self, measure: Generalization, clusters: Sequence[Ints], order: Order | None = None) -> None:
        self.measure = measure
        self.members = list(clusters)  # the records of each cluster
        self._order = order
        self._groups = measure.groups(self.members)
        self._costs = measure.costs(self._groups)
        # a lower bound of the NCP of unions with each cluster: 0, or more than any NCP for clusters that are no more
        self._least = np.zeros_like(self._costs)
        self.n, self.left = int(self._groups.size.sum()), len(clusters)
        # sum of the NCP numerators over all records; ``total / (denominator * n)`` is Rum(D)
        self.total = int((self._costs * self._groups.size).sum())

    @property
    def rum(self) -> Fraction:
        """Rum(D), exact."""
        return Fraction(self.total, self.measure.denominator * self.n)

    def limit(self, delta: Fraction) -> int:
        """The largest ``total`` that Rum(D) <= delta allows."""
        return int(delta * self.measure.denominator * self.n // 1)

    def clusters(self) -> list[Ints]:
        """The records of the current clusters, ascending; clusters in the order of their first records."""
        return in_order(self.members[i] for i in self._alive().tolist())

    def _alive(self) -> Ints:
        return np.flatnonzero(self._least == 0)

    def seed(self) -> int:
        """The cluster of least Rum (of equal ones the first). Numbers may change before, not until the next call."""
        if 4 * self.left < 3 * len(self.members):
            self._keep(self._alive())
        return int(np.argmin(self._costs))

    def _keep(self, clusters: Ints) -> None:
        """Number these clusters from 0; others are no more."""
        self.members = [self.members[i] for i in clusters.tolist()]
        self._groups, self._costs = self._groups.take(clusters), self._costs[clusters]
        self._least = np.zeros_like(self._costs)
        if self._order is not None:
            self._order.keep(clusters)

    def united(self, seed: int) -> Costs:
        """NCP of the union of the seed with each other cluster; for clusters that are no more, more than any."""
        union = self.measure.union_costs(self._groups, self._groups.take(slice(seed, seed + 1)))
        union[seed] = self.measure.beyond
        self._union: Costs = np.maximum(union, self._least)
        return self._union

    def totals(self, seed: int, others: Ints, union: Costs) -> Costs:
        """``total`` after the merge of the seed with each of the others (incremental Rum,
        docs/algorithms/rum_tum_bound.md#rum)."""
        size, costs = self._groups.size, self._costs
        added = (size[others] + size[seed]) * union[others] - size[others] * costs[others] - size[seed] * costs[seed]
        return np.asarray(added + self.total)

    def chosen(self, seed: int, by: str, limit: int | None = None) -> int | None:
        """The cluster with which a variant merges the seed: the first in its order with which ``total`` is at most the
        limit. For ``rt`` only the first clusters of both orders are looked at: the ranks of any other have a larger sum."""
        union = self.united(seed)
        if by == "r":
            return self.first_within(seed, head(union, 1), union, limit)
        assert self._order is not None
        count = min(self.left - 1, _FIRST * isqrt(self.left))
        while True:
            tried, certain = self._order.first(seed, count), count
            if by == "rt":
                tried, sums = self._by_ranks(union, tried)
                certain = int((sums < count).sum())
            if (other := self.first_within(seed, tried[:certain], union, limit)) is not None:
                return other
            if count == self.left - 1:
                return self.first_within(seed, tried, union, limit)
            count = min(self.left - 1, 2 * count)

    def _by_ranks(self, union: Costs, by_items: Ints) -> tuple[Ints, Ints]:
        """The first clusters by NCP, as many as ``by_items`` has, in the order of the sums of their ranks by NCP (``union``)
        and by items; and the sum that a cluster among neither has at least, up to which the order is right."""
        count = len(by_items)
        rank = np.full(len(union), count)
        rank[by_items] = np.arange(count)
        by_ncp = head(union, count)
        sums = rank[by_ncp] + np.arange(count)
        order = np.argsort(sums, kind="stable")
        return by_ncp[order], sums[order]

    def first_within(self, seed: int, tried: Ints, union: Costs, limit: int | None) -> int | None:
        """The first cluster whose merge with the seed makes ``total`` at most the limit."""
        if limit is not None:
            tried = tried[np.asarray(self.totals(seed, tried, union) <= limit, dtype=np.bool_)]
        return int(tried[0]) if len(tried) else None

    def merge(self, seed: int, other: int) -> int:
        """Unite the seed, of which ``united`` was called last, with another cluster and return the number of the union."""
        kept, gone = min(seed, other), max(seed, other)
        self.total -= int(self._costs[kept] * self._groups.size[kept] + self._costs[gone] * self._groups.size[gone])
        self._groups.unite(kept, gone)
        self._costs[kept] = self._union[other]
        self._costs[gone] = self._least[gone] = self.measure.beyond
        self.total += int(self._costs[kept] * self._groups.size[kept])
        self.members[kept] = np.concatenate((self.members[kept], self.members[gone]))
        self.left -= 1
        if self._order is not None:
            self._order.merge(kept, gone)
        return kept


def rum_bound(
    measure: Generalization,
    clusters: Sequence[Ints],
    delta: Fraction,
    by: str,
    order: Order | None = None,
    progress: Tell = silent,
) -> list[Ints]:
    """RMERGE: merge clusters by ``r``, ``t`` or ``rt`` (the last two in an ``order`` by transactions) while Rum(D) <= delta;
    ``progress`` receives the number of clusters that remain, and the share of those merged. Raises BoundViolated: the
    initial clusters exceed delta."""
    state = Merging(measure, clusters, order)
    limit = state.limit(delta)
    if state.total > limit:
        raise BoundViolated("The loss of the relational attributes", delta, state.rum)
    while state.left > 1:
        progress(f"merging {state.left:,} clusters", 1 - state.left / len(clusters))
        seed = state.seed()
        if (other := state.chosen(seed, by, limit)) is None:
            break
        state.merge(seed, other)
    return state.clusters()


@dataclass
class _Losses:
    """The recodings of the current clusters, and their Tum(T(D))."""

    n: int
    recoded: dict[int, ClusterRecoding]  # by the first record of each cluster
    sums: dict[int, float]

    def add(self, first: int, recoding: ClusterRecoding) -> None:
        self.recoded[first], self.sums[first] = recoding, ul(recoding.profile)

    def remove(self, first: int) -> None:
        self.recoded.pop(first)
        self.sums.pop(first)

    @property
    def tum(self) -> float:
        return fsum(self.sums.values()) / self.n

    def within(self, delta: Fraction) -> bool:
        tum = self.tum
        if abs(tum - float(delta)) > _UNSURE:
            return tum < float(delta)
        return ul_exact(joint_profile(self.recoded.values())) <= delta * self.n


def tum_bound(
    measure: Generalization,
    clusters: Sequence[Ints],
    delta: Fraction,
    by: str,
    recode: Recoder,
    order: Order | None = None,
    progress: Tell = silent,
) -> list[Ints]:
    """TMERGE: merge clusters until Tum(T(D)) <= delta; arguments as in ``rum_bound``, with delta for Tum. Raises
    BoundViolated: even a single cluster of all records exceeds delta."""
    state = Merging(measure, clusters, order)
    losses = _Losses(state.n, {}, {})
    for members in clusters:
        losses.add(int(members[0]), recode(members))
    least = losses.tum
    while not losses.within(delta):
        if state.left == 1:
            raise BoundViolated("The loss of the items", delta, Fraction(least))
        progress(f"merging {state.left:,} clusters", 1 - state.left / len(clusters))
        seed = state.seed()
        other = state.chosen(seed, by)
        assert other is not None  # without a limit any will do
        for number in (seed, other):
            losses.remove(int(state.members[number][0]))
        members = state.members[state.merge(seed, other)]
        losses.add(int(members[0]), recode(np.sort(members)))
        least = min(least, losses.tum)
    return state.clusters()


def nearest(measure: Generalization, clusters: list[Ints], at: int, delta: Fraction | None) -> int | None:
    """The cluster whose union with the one at ``at`` has the least NCP among those with Rum(D) <= delta, or None."""
    state = Merging(measure, clusters)
    union = state.united(at)
    others = head(union, len(clusters) - 1)
    return state.first_within(at, others, union, None if delta is None else state.limit(delta))
