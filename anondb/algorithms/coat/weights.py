"""The weights w of COAT's utility loss (Definition 3.14): from a table of items, or from a taxonomy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from anondb.data.taxonomy import Taxonomy
from anondb.engine.arrays import Floats, Ints


class ItemWeights:
    """w of a generalized item is the largest weight, from 0 to 1, of its items; the default weight is 1."""

    def __init__(self, labels: Sequence[str], weights: Mapping[str, Fraction]) -> None:
        of_item = [weights.get(label, Fraction(1)) for label in labels]
        self._weights = sorted(set(of_item))
        rank = {weight: i for i, weight in enumerate(self._weights)}
        self._rank: Ints = np.array([rank[weight] for weight in of_item], dtype=np.int64)
        self._floats = np.array([float(weight) for weight in self._weights], dtype=np.float64)

    def keys(self, block: int, others: Ints) -> Ints:
        """The rank of the larger weight."""
        return np.asarray(np.maximum(self._rank[others], self._rank[block]))

    def merge(self, kept: int, gone: int) -> None:
        """Keep the larger weight."""
        self._rank[kept] = max(self._rank[kept], self._rank[gone])

    def values(self, keys: Ints) -> Floats:
        """The weights of ranks."""
        return np.asarray(self._floats[keys])

    def exact(self, key: int) -> Fraction:
        """The weight of a rank."""
        return self._weights[key]


class TaxonomyWeights:
    """w of a generalized item is the share of all leaves below the lowest common ancestor of its items; 1 if an item is not
    a leaf (-1). It is the normalized distance of Xu et al., KDD 2006, which the paper cites in section 6.1."""

    def __init__(self, leaf: Ints, taxonomy: Taxonomy) -> None:
        self._first, self._last = leaf.copy(), leaf.copy()
        self._taxonomy = taxonomy

    @classmethod
    def of(cls, labels: Sequence[str], taxonomy: Taxonomy) -> TaxonomyWeights:
        """The weights of items by their labels."""
        node = [taxonomy.node_of.get(label, -1) for label in labels]
        leaf = [n if n >= 0 and taxonomy.is_leaf[n] else -1 for n in node]
        return cls(np.array(leaf, dtype=np.int64), taxonomy)

    def keys(self, block: int, others: Ints) -> Ints:
        """The number of leaves below the lowest common ancestor. In preorder that is the lowest node above the first leaf
        whose subtree includes the last leaf."""
        tree = self._taxonomy
        first = np.minimum(self._first[others], self._first[block])
        last = np.maximum(self._last[others], self._last[block])
        node = np.where(first < 0, 0, first)
        while (outside := tree.last[node] < last).any():
            node = np.where(outside, tree.parent[node], node)
        return np.asarray(np.where(first < 0, tree.n_leaves, tree.leaf_count[node]))

    def merge(self, kept: int, gone: int) -> None:
        """Extend the span of leaves."""
        self._first[kept] = min(self._first[kept], self._first[gone])
        self._last[kept] = max(self._last[kept], self._last[gone])

    def values(self, keys: Ints) -> Floats:
        """The shares of these numbers of leaves as floats."""
        return np.asarray(keys / self._taxonomy.n_leaves)

    def exact(self, key: int) -> Fraction:
        """The share of a number of leaves."""
        return Fraction(key, self._taxonomy.n_leaves)
