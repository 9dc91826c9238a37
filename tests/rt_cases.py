"""Records and item sets of the references as the algorithms take them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

import numpy as np
from rt_reference import Itemset, Schema

from anondb.algorithms.relational.items import ItemSets, Recoder, ul_exact
from anondb.data.records import Attribute, Records
from anondb.data.taxonomy import Taxonomy, from_edges
from anondb.engine.arrays import Ints


def taxonomy_of(children: Mapping[str, Sequence[str]], root: str) -> Taxonomy:
    return from_edges([(root, None), *((c, p) for p, below in children.items() for c in below)])


def records_of(schema: Schema, rows: Sequence[Mapping[str, object]]) -> Records:
    attributes = []
    for name, (kind, *how) in schema.attributes.items():
        values = [row[name] for row in rows]
        null = np.array([v is None for v in values])
        weight = schema.weights[name]
        if kind == "numeric":
            low, high = how[0]
            codes = np.array([0 if v is None else v for v in values], dtype=np.int64)
            attributes.append(Attribute(name, "numeric", codes, null, weight, high - low, sql_type="BIGINT"))
            continue
        tree = taxonomy_of(how[0], how[1]) if kind == "tree" else None
        known = [tree.labels[v] for v in tree.leaves(0).tolist()] if tree else sorted(v for v in how[0] if v is not None)
        everything = (*known, *([None] if null.any() else []))
        codes = np.array([everything.index(v) for v in values], dtype=np.int64)  # type: ignore[arg-type]
        attributes.append(
            Attribute(name, "categorical", codes, null, weight, len(everything), Fraction(1), everything, tree)
        )
    return Records(tuple(attributes), len(rows))


def item_sets(transactions: Sequence[Collection[str]], sensitive: Collection[str] = ()) -> tuple[ItemSets, list[str]]:
    labels = sorted({i for t in transactions for i in t})
    pairs = sorted((r, labels.index(i)) for r, t in enumerate(transactions) for i in set(t))
    record, item = (np.array([p[j] for p in pairs], dtype=np.int64) for j in (0, 1))
    marked = np.array([label in sensitive for label in labels], dtype=np.bool_)
    return ItemSets.of(len(transactions), len(labels), record, item, marked), labels


def published(
    recoding: object,
    members: Sequence[int],
    transactions: Sequence[Itemset],
    labels: Sequence[str],
    sensitive: Collection[str],
) -> list[Itemset]:
    """The published item sets of one cluster's records; a block is called by its key."""
    from anondb.algorithms.relational.items import ClusterRecoding

    assert isinstance(recoding, ClusterRecoding)
    block = dict(zip((labels[i] for i in recoding.items.tolist()), recoding.block.tolist(), strict=True))
    lost = {labels[z] for z in recoding.lost}
    found = []
    for r in members:
        kept = {i for i in transactions[r] if i in sensitive and i not in lost}
        found.append(
            frozenset(kept | {str(recoding.keys[block[i]]) for i in transactions[r] - set(sensitive) if block[i] >= 0})
        )
    return found


class TumOrder:
    """By Tum(T(C u X)) itself, exact: what BTD saves."""

    def __init__(self, recode: Recoder, clusters: Sequence[Ints]) -> None:
        self._recode = recode
        self._members = dict(enumerate(clusters))

    def first(self, seed: int, count: int) -> Ints:
        """The first others by the mean UL of the united cluster, of equal ones by number."""
        losses = {}
        for other in sorted(self._members.keys() - {seed}):
            records = np.sort(np.concatenate((self._members[seed], self._members[other])))
            losses[other] = Fraction(ul_exact(self._recode(records).profile), len(records))
        return np.array(sorted(losses, key=losses.__getitem__)[:count], dtype=np.int64)

    def merge(self, kept: int, gone: int) -> None:
        """Two clusters became one."""
        self._members[kept] = np.concatenate((self._members[kept], self._members.pop(gone)))

    def keep(self, clusters: Ints) -> None:
        """These clusters are left, and numbered anew."""
        self._members = {i: self._members[x] for i, x in enumerate(clusters.tolist())}
