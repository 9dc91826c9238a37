"""CLUSTER: k-anonymous groups of records with low NCP (Poulis et al., ECML/PKDD 2013, section 5;
docs/algorithms/rum_tum_bound.md#cluster).

The printed loop adds records to clusters while it iterates over them, and its last step lets a cluster be extended with
itself; here both steps do what the authors intend. The seed is the first remaining record instead of a random one, which
makes the result deterministic.
"""

import numpy as np

from anondb.algorithms.relational.neighbours import Neighbours
from anondb.data.generalization import Generalization
from anondb.engine.arrays import Ints
from anondb.engine.telling import Tell, silent
from anondb.errors import InfeasibleError


def cluster(measure: Generalization, k: int, tell: Tell = silent) -> list[Ints]:
    """Partition records into groups of at least k with low NCP.

    Returns:
        The records of each cluster, ascending; clusters in the order of their first records.
    """
    n = measure.records.n
    if n < k:
        raise InfeasibleError(f"There are {n} records, fewer than k = {k}.", hint="Lower k.")
    left = Neighbours(measure)
    free = np.ones(n, dtype=np.bool_)
    clusters: list[Ints] = []
    for seed in range(n):  # steps 2 to 5
        if free[seed] and n - k * len(clusters) >= k:
            tell("clustering the records", k * len(clusters) / n)
            left.remove(np.array([seed]))
            near = left.nearest(seed, k - 1)
            left.remove(near)
            clusters.append(np.append(seed, near))
            free[clusters[-1]] = False
    groups = measure.groups(clusters)
    for record in np.flatnonzero(free).tolist():  # steps 6 and 7
        one = measure.record(record)
        best = int(np.argmin(measure.union_costs(groups, one)))
        clusters[best] = np.append(clusters[best], record)
        groups.put(best, groups.take([best]).union(one))
    return fused(measure, clusters)  # steps 8 to 11


def fused(measure: Generalization, clusters: list[Ints]) -> list[Ints]:
    """Unite clusters with the same generalized values (steps 9 to 11)."""
    same: dict[tuple[object, ...], list[Ints]] = {}
    for key, members in zip(measure.published(measure.groups(clusters)), clusters, strict=True):
        same.setdefault(key, []).append(members)
    return sorted((np.sort(np.concatenate(parts)) for parts in same.values()), key=lambda c: int(c[0]))
