"""Which generalized item another is united with: the one for which UL (version A) of the union is least.

UL is (2^size - 1) x support x w. With a taxonomy w is the number of leaves below the lowest common ancestor, so that items
that are near each other are united first (docs/algorithms/rum_tum_bound.md#t); else it is 1.
"""

import numpy as np

from anondb.engine.arrays import Ints

_NEAR = 1e-6  # logarithms closer than this are compared exactly


class Companions:
    """The sizes of the blocks of a cluster, and how near they are to each other."""

    def __init__(self, n: int, leaves: Ints | None = None) -> None:
        self.size = np.ones(n, dtype=np.int64)  # the number of items of each block
        # the number of leaves below the lowest common ancestor of each two blocks; None without a taxonomy
        self.leaves = leaves
        sizes = np.arange(n + 1, dtype=np.float64)
        with np.errstate(divide="ignore"):
            self._subsets_log2 = sizes + np.log2(1.0 - np.exp2(-sizes))  # of 2^size - 1

    def best(self, block: int, others: Ints, supports: Ints) -> int:
        """The one of ``others`` whose union with a block has the least UL; of equal ones the first.

        Args:
            supports: of the union with each of them.
        """
        sizes = self.size[others] + self.size[block]
        weights = supports if self.leaves is None else supports * self.leaves[block, others]
        losses = self._subsets_log2[sizes] + np.log2(weights)
        near = np.flatnonzero(losses <= losses.min() + _NEAR)
        if len(near) == 1:
            return int(others[near[0]])
        first: dict[tuple[int, int], int] = {}
        for i in near.tolist():
            first.setdefault((int(sizes[i]), int(weights[i])), i)
        (_, chosen) = min((((1 << size) - 1) * weight, i) for (size, weight), i in first.items())
        return int(others[chosen])

    def unite(self, kept: int, gone: int) -> None:
        """Add one block to another. Above a common item all common ancestors lie on one path, so that the higher counts."""
        self.size[kept] += self.size[gone]
        if self.leaves is not None:
            row = np.maximum(self.leaves[kept], self.leaves[kept, gone])
            self.leaves[kept] = self.leaves[:, kept] = row
