"""T with a taxonomy: AA, Apriori anonymization, on the nonsensitive items of one cluster
(docs/algorithms/rum_tum_bound.md#t).

Each cluster has a separate cut, the one that ``apriori`` finds for its records. Whole subtrees are generalized. So if fewer
than k records of the cluster hold some child of the root, or two children together, only the root is left.
"""

import numpy as np

from anondb.algorithms.apriori.apriori import Apriori, label_order
from anondb.algorithms.apriori.postings import Postings
from anondb.algorithms.relational.items import ClusterRecoding, ItemSets, ItemTree, Recoder, recoding
from anondb.algorithms.relational.sets import partition
from anondb.engine.arrays import Ints


def taxonomy_recoder(items: ItemSets, k: int, m: int | float, tree: ItemTree) -> Recoder:
    """Make T for k^m-anonymity by full-subtree generalization.

    If fewer than k records of a cluster hold items, all of its items are suppressed (docs/algorithms/rum_tum_bound.md#r2).
    """
    taxonomy = tree.taxonomy
    order = label_order(taxonomy)
    leaves = np.flatnonzero(taxonomy.is_leaf).tolist()

    def recode(records: Ints) -> ClusterRecoding:
        held, marks = items.marks(records)
        if int(marks.any(axis=0).sum()) < k:
            return partition(held, marks, np.full(len(held), -1))
        node = tree.leaf[held]
        in_order = np.argsort(node)
        record, item = np.nonzero(marks[in_order].T)
        start = np.append(np.flatnonzero(np.diff(record, prepend=-1)), len(record)).astype(np.int64)
        search = Apriori(Postings(taxonomy, node[in_order][item].astype(np.int32), start), k, order, 0, set(leaves))
        search.run(m)
        above = search.image(node)
        nodes, block = np.unique(taxonomy.rank[above], return_inverse=True)  # numbered in the order of ties
        chosen = np.empty(len(nodes), dtype=np.int64)
        chosen[block] = above
        return recoding(held, marks, block, tuple(chosen.tolist()), taxonomy.leaf_count[chosen])

    return recode
