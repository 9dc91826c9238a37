"""Exact information loss of a release: LM, NCP, UL and GGD, computed from counts without reading tuples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table, reads
from anondb.engine.arrays import Ints
from anondb.models import AsTable
from anondb.recoding import BucketRecoding, GlobalRecoding, LocalRecoding


@dataclass(frozen=True)
class Loss(AsTable):
    """The information loss of a release; a measure that is undefined for its model is None.

    Attributes:
        lm_total: LM (Iyengar 2002; Liu and Wang, PAKDD 2010) summed over the occurrences of the original data, exact.
        lm: ``lm_total`` per occurrence, from 0 (nothing changed) to 1 (all suppressed); 0 without occurrences.
        ncp: NCP of items, averaged over the occurrences of the original data, from 0 to 1.
        ul: UL version B (rectangular clusters of relational and transaction data), mean over the records.
        ul_log2: base-2 logarithm of UL version A (COAT).
        ggd: group generalization distortion (Clump), exact; for local recodings by nodes of a taxonomy.
    """

    lm_total: Fraction | None = None
    lm: float | None = None
    ncp: float | None = None
    ul: float | None = None
    ul_log2: float | None = None
    ggd: Fraction | None = None


def lm_of(size: int, domain: int) -> Fraction:
    """LM of an item that stands for ``size`` of ``domain`` original items: (size - 1) / (domain - 1), 0 for one."""
    return Fraction(size - 1, domain - 1) if domain > 1 else Fraction(0)


def ncp_of(size: int, domain: int) -> Fraction:
    """NCP of an item that stands for ``size`` of ``domain`` original items: size / domain, 0 for a single item."""
    return Fraction(size, domain) if size > 1 else Fraction(0)


def global_loss(
    dataset: Dataset, recoding: GlobalRecoding, taxonomy: Taxonomy | None = None, *, items: int | None = None
) -> Loss:
    """LM and NCP of a global recoding, from the supports of the original items only. The domain has M items: the leaves of
    the taxonomy, or without one ``items``, by default those of the data. An occurrence costs (size - 1) / (M - 1) in LM and
    size / M in NCP if its released item stands for several items, 1 in both if it is suppressed, and 0 if it is unchanged
    (docs/algorithms/metrics.md)."""
    domain = taxonomy.n_leaves if taxonomy is not None else dataset.n_items if items is None else items
    kept, sizes = recoding.image >= 0, recoding.sizes
    weights = dataset.supports[kept]
    covered = np.bincount(recoding.image[kept], weights=weights, minlength=len(sizes)).astype(np.int64)
    return _loss(covered, sizes, domain, dataset.n_occurrences)


@dataclass(frozen=True, eq=False, repr=False)
class Cover:
    """The released items that stand for each item in a local recoding."""

    # item, released: columns of pairs of an item of the data and a released item that has it as a member
    item: Ints
    released: Ints
    occurrences: Ints  # number of transactions that hold the item and publish the released item, for each pair
    copies: Ints  # number of published copies of each released item

    @property
    def items(self) -> int:
        """The number of items that some released item stands for in some transaction."""
        return int(np.count_nonzero(np.bincount(self.item)))

    @classmethod
    def of(cls, engine: Engine, dataset: Dataset, recoding: LocalRecoding) -> Cover:
        """Count the pairs in SQL."""
        members = cls.members(engine, dataset, recoding)
        tables = {"transactions": dataset.transactions, "recoded": recoding.transactions, "members": members}
        rows = engine.query("utility/local_cover", tables)
        engine.drop(members)
        shown = engine.select(reads.summed(recoding.transactions, "released", "copies"))
        copies = np.zeros(len(recoding.labels), dtype=np.int64)
        copies[shown["released"]] = shown["copies"]
        item, released, occurrences = (rows[c].astype(np.int64) for c in ("item", "released", "occurrences"))
        return cls(item, released, occurrences, copies)

    @staticmethod
    def members(engine: Engine, dataset: Dataset, recoding: LocalRecoding) -> Table:
        """Make the work table ``(released, item)`` of the items of the data that each released item stands for."""
        number = {label: n for n, label in enumerate(dataset.labels)}
        item = np.array([number.get(label, -1) for label in recoding.member_labels], dtype=np.int64)
        of_data = item >= 0
        columns = {"released": ("INTEGER", recoding.member_of[of_data]), "item": ("INTEGER", item[of_data])}
        return engine.put("local_members", columns)


def suppressed_items(recoding: GlobalRecoding | LocalRecoding | BucketRecoding, engine: Engine, dataset: Dataset) -> int:
    """Count the items of the data that are suppressed in all transactions."""
    if isinstance(recoding, GlobalRecoding):
        return int((recoding.image < 0).sum())
    if isinstance(recoding, BucketRecoding) or not len(recoding.incomplete):
        return 0
    return dataset.n_items - Cover.of(engine, dataset, recoding).items


def generalized_items(recoding: GlobalRecoding | LocalRecoding | BucketRecoding, cover: Cover | None = None) -> Ints:
    """The items that a released item with several members stands for: the pool of the papers' queries. For a local recoding
    ``cover`` is needed, and one such transaction is enough. An anatomy generalizes no items."""
    if isinstance(recoding, GlobalRecoding):
        kept = np.flatnonzero(recoding.image >= 0)
        return np.asarray(kept[recoding.sizes[recoding.image[kept]] > 1], dtype=np.int64)
    if isinstance(recoding, BucketRecoding) or cover is None:
        return np.zeros(0, dtype=np.int64)
    return np.unique(cover.item[(recoding.sizes > 1)[cover.released]])


def local_loss(dataset: Dataset, recoding: LocalRecoding, cover: Cover, taxonomy: Taxonomy | None) -> Loss:
    """LM, NCP and GGD of a local recoding (docs/algorithms/metrics.md).

    Set semantics: LM and NCP of an occurrence are those of the released item that stands for it, or 1 if it is suppressed.
    Atomic semantics: each copy stands for one occurrence, the others are suppressed. GGD counts each copy once under both:
    the LM of a transaction's copies, and 1 for each occurrence in excess of its copies (Milani Fard and Wang, Definition
    3). So it is the LM total under atomic semantics. It is defined for nodes of a taxonomy only.

    Args:
        dataset, recoding: the data and their recoding.
        cover: the released items that stand for each item.
        taxonomy: the taxonomy of the items; without one M is the number of items of the data.
    """
    domain = taxonomy.n_leaves if taxonomy is not None else dataset.n_items
    sizes = recoding.sizes
    shown = covered = cover.copies
    occurrences = dataset.n_occurrences
    if recoding.semantics == "set":
        covered = np.bincount(cover.released, weights=cover.occurrences, minlength=len(sizes)).astype(np.int64)
    elif dataset.bags is not None:
        occurrences = dataset.n_bag_occurrences
    loss = _loss(covered, sizes, domain, occurrences)
    ggd = _total(lm_of, shown, sizes, domain, occurrences) if taxonomy is not None else None
    return replace(loss, ggd=ggd)


def _loss(covered: Ints, sizes: Ints, domain: int, occurrences: int) -> Loss:
    """LM and NCP of occurrences, of which ``covered`` are published as each released item; the others are suppressed."""
    lm_total = _total(lm_of, covered, sizes, domain, occurrences)
    ncp_total = _total(ncp_of, covered, sizes, domain, occurrences)
    return Loss(
        lm_total=lm_total,
        lm=float(lm_total / occurrences) if occurrences else 0.0,
        ncp=float(ncp_total / occurrences) if occurrences else 0.0,
    )


def _total(measure: Callable[[int, int], Fraction], counts: Ints, sizes: Ints, domain: int, of: int) -> Fraction:
    """The sum of a measure over counted released items, and 1 for each of the other occurrences out of ``of``; exact for
    fewer than 2^53 of one size."""
    by_size = np.bincount(sizes, weights=counts).astype(np.int64).tolist()
    others = Fraction(of - int(counts.sum()))
    return sum((measure(size, domain) * count for size, count in enumerate(by_size) if count), others)


def ul_a_log2(sizes: Sequence[int], supports: Sequence[int], transactions: int, domain: int) -> float | None:
    """Base-2 logarithm of UL version A of a dataset, with weights of 1 and without penalties (Loukides et al., COAT,
    Definitions 3.14 and 3.16): of the sum of (2^size - 1) / (2^M - 1) x support / N over the released items, unchanged ones
    included, where 1/2^M may underflow a double; None if the sum is 0. N and M are ``transactions`` and ``domain``."""
    by_size: dict[int, int] = {}
    for size, support in zip(sizes, supports, strict=True):
        by_size[int(size)] = by_size.get(int(size), 0) + int(support)
    total = sum(((1 << size) - 1) * support for size, support in by_size.items())
    return math.log2(total) - math.log2(((1 << domain) - 1) * transactions) if total else None
