"""Item sets of records for the (k,k^m) algorithms: the transactions of a cluster, their recoding, and its loss.

UL is version B (Poulis et al., section 5; docs/algorithms/metrics.md#ul-b): a generalized item of a items costs 2^a - 1, an
unchanged item nothing, and a record the sum of these costs divided by 2^s - 1, with s the total size of its generalized
items. So the loss of a record depends only on pairs (s, a). A profile that counts these pairs gives the loss of any number
of records, as a float or exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.engine.arrays import Flags, Ints, stretches

Profile = Counter[tuple[int, int]]
ALL_LOST = (0, 0)  # counts records that lost all their items; their UL is 1, the maximum


@dataclass(frozen=True)
class ItemSets:
    """The items of every record, split into nonsensitive and sensitive ones."""

    n: int  # number of records, which are numbered from 0 in the order of the transactions
    n_items: int  # number of items, which are numbered in code-point order of their labels
    # start, item: nonsensitive items of record r are ``item[start[r]:start[r + 1]]``, ascending
    start: Ints
    item: Ints
    # sensitive_start, sensitive: the sensitive ones likewise
    sensitive_start: Ints
    sensitive: Ints

    @classmethod
    def of(cls, n: int, n_items: int, record: Ints, item: Ints, is_sensitive: Flags) -> ItemSets:
        """Make item sets from occurrences that are sorted by record and item."""
        parts = []
        for selected in (~is_sensitive[item], is_sensitive[item]):
            counts = np.bincount(record[selected], minlength=n)
            parts += [np.append(0, np.cumsum(counts)), item[selected]]
        return cls(n, n_items, *parts)

    @classmethod
    def load(cls, engine: Engine, dataset: Dataset, is_sensitive: Flags) -> ItemSets:
        """Read the item sets of a dataset, in one query."""
        rows = engine.query("transactions/occurrences", {"transactions": dataset.transactions})
        record, item = (rows[c].astype(np.int64) for c in ("record", "item"))
        return cls.of(dataset.n_transactions, dataset.n_items, record, item, is_sensitive)

    def marks(self, records: Ints) -> tuple[Ints, Flags]:
        """The nonsensitive items of some records, and for each item a row of marks of the records that hold it."""
        return _marks(self.start, self.item, records)

    def sensitive_marks(self, records: Ints) -> tuple[Ints, Flags]:
        """The sensitive items of some records, and for each item a row of marks of the records that hold it."""
        return _marks(self.sensitive_start, self.sensitive, records)


class ItemTree:
    """The taxonomy of the items, with the leaf of each; sensitive items need none."""

    def __init__(self, taxonomy: Taxonomy, leaf: Ints) -> None:
        self.taxonomy, self.leaf = taxonomy, leaf
        node = np.maximum(leaf, 0)
        self._levels = [node]  # the ancestor of each item at each depth, or its leaf if that is higher; the deepest first
        for depth in range(int(taxonomy.depth[node].max(initial=0)) - 1, -1, -1):
            node = np.where(taxonomy.depth[node] > depth, taxonomy.parent[node], node)
            self._levels.append(node)

    def common(self, items: Ints) -> Ints:
        """The number of leaves below the lowest common ancestor of each two of these items."""
        leaves = np.full((len(items), len(items)), self.taxonomy.n_leaves, dtype=np.int64)
        for level in reversed(self._levels):
            node = level[items]
            above = np.broadcast_to(self.taxonomy.leaf_count[node], leaves.shape)
            np.copyto(leaves, above, where=node[:, None] == node)
        return leaves


def slices(start: Ints, records: Ints) -> tuple[Ints, Ints]:
    """The positions of the occurrences of some records, and the position in ``records`` of the record of each."""
    length = start[records + 1] - start[records]
    return stretches(start[records], length), np.repeat(np.arange(len(records)), length)


def _marks(start: Ints, item: Ints, records: Ints) -> tuple[Ints, Flags]:
    place, owner = slices(start, records)
    items, row = np.unique(item[place], return_inverse=True)
    marks = np.zeros((len(items), len(records)), dtype=np.bool_)
    marks[row, owner] = True
    return items, marks


@dataclass(frozen=True)
class ClusterRecoding:
    """The recoding of the items of one cluster."""

    items: Ints  # its nonsensitive items, ascending
    block: Ints  # for each of them, the number of its generalized item in ``keys``; -1 if suppressed
    keys: tuple[tuple[int, ...] | int, ...]  # the generalized items: tuples of item numbers, or nodes of a taxonomy
    sizes: Ints  # number of items that each stands for
    profile: Profile  # the UL of its records
    lost: frozenset[int] = field(default=frozenset())  # sensitive items that are suppressed in this cluster

    @property
    def suppresses(self) -> bool:
        """Whether any item is suppressed."""
        return bool(self.lost) or bool((self.block < 0).any())


Recoder = Callable[[Ints], ClusterRecoding]
"""T: maps the records of a cluster (ascending) to the recoding of their items."""


def recoding(
    items: Ints, marks: Flags, block: Ints, keys: tuple[tuple[int, ...] | int, ...], sizes: Ints, lost: Iterable[int] = ()
) -> ClusterRecoding:
    """Make a cluster's recoding with its UL; ``marks`` has a row for each item."""
    held = np.zeros((len(keys), marks.shape[1]), dtype=np.bool_)
    kept = block >= 0
    np.logical_or.at(held, block[kept], marks[kept])
    total = sizes @ held if len(keys) else np.zeros(marks.shape[1], dtype=np.int64)
    which, record = np.nonzero(held & (sizes > 1)[:, None])
    pairs, counts = np.unique(total[record] * (2**20) + sizes[which], return_counts=True)
    profile: Profile = Counter(
        {(int(p) >> 20, int(p) & (2**20 - 1)): int(c) for p, c in zip(pairs.tolist(), counts.tolist(), strict=True)}
    )
    if len(items) and not kept.all() and (gone := int((marks.any(axis=0) & ~held.any(axis=0)).sum())):
        profile[ALL_LOST] += gone
    return ClusterRecoding(items, block, keys, sizes, profile, frozenset(lost))


def joint_profile(recodings: Iterable[ClusterRecoding]) -> Profile:
    """The profile of the records of several clusters."""
    joint: Profile = Counter()
    for of_cluster in recodings:
        joint.update(of_cluster.profile)
    return joint


def ul(profile: Profile) -> float:
    """The sum of UL over the records of a profile, to about 15 digits."""
    total = 0.0
    for (s, a), count in profile.items():
        total += count if (s, a) == ALL_LOST else count * 2.0 ** (a - s) * (1 - 2.0**-a) / (1 - 2.0**-s)
    return total


def ul_exact(profile: Profile) -> Fraction:
    """The exact sum of UL over the records of a profile."""
    numerators: Counter[int] = Counter()
    for (s, a), count in profile.items():
        numerators[s] += count if (s, a) == ALL_LOST else count * ((1 << a) - 1)
    return sum((Fraction(n, (1 << s) - 1) if s else Fraction(n) for s, n in numerators.items()), Fraction(0))
