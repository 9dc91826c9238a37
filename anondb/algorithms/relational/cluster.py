"""CLUSTER: k-anonymous groups of records with low NCP (Poulis et al., ECML/PKDD 2013, section 5;
docs/algorithms/rum_tum_bound.md#cluster).

The printed loop adds records to clusters while it iterates over them, and its last step lets a cluster be extended with
itself; here both steps do what the authors intend. The seed is the first remaining record instead of a random one, which
makes the result deterministic.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anondb.data.generalization import Generalization
from anondb.engine.telling import Tell, silent
from anondb.errors import InfeasibleError

Ints = npt.NDArray[np.int64]


def cluster(measure: Generalization, k: int, tell: Tell = silent) -> list[Ints]:
    """Partition records into groups of at least k with low NCP.

    Args:
        measure: the records and their NCP.
        k: the least size.
        tell: is told of the records that are left.

    Returns:
        The records of each cluster, ascending; clusters in the order of their first records.

    Raises:
        InfeasibleError: fewer than k records.
    """
    n = measure.records.n
    if n < k:
        raise InfeasibleError(f"There are {n} records, fewer than k = {k}.", hint="Lower k.")
    left = np.arange(n)
    clusters: list[Ints] = []
    while len(left) >= k:  # steps 2 to 5
        tell("clustering the records", 1 - (len(left) / n) ** 2)  # a step takes as long as there are records left
        seed, others = int(left[0]), left[1:]
        near = _smallest(measure.pair_costs(seed, others), k - 1)
        clusters.append(np.append(seed, others[near]))
        left = others[~near]
    groups = measure.groups(clusters)
    for record in left.tolist():  # steps 6 and 7
        one = measure.groups([np.array([record])])
        united = groups.union(one)
        best = int(np.argmin(measure.costs(united)))
        clusters[best] = np.append(clusters[best], record)
        groups.put(best, united.take([best]))
    return fused(measure, clusters)  # steps 8 to 11


def _smallest(costs: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.bool_]:
    """Mark the ``count`` smallest costs; ties go to the first."""
    chosen = np.zeros(len(costs), dtype=np.bool_)
    if count:
        limit = np.partition(costs, count - 1)[count - 1]
        chosen = np.asarray(costs < limit)
        ties = np.flatnonzero(costs == limit)
        chosen[ties[: count - int(chosen.sum())]] = True
    return chosen


def fused(measure: Generalization, clusters: list[Ints]) -> list[Ints]:
    """Unite clusters with the same generalized values (steps 9 to 11)."""
    same: dict[tuple[object, ...], list[Ints]] = {}
    for key, members in zip(measure.published(measure.groups(clusters)), clusters, strict=True):
        same.setdefault(key, []).append(members)
    return sorted((np.sort(np.concatenate(parts)) for parts in same.values()), key=lambda c: int(c[0]))
