"""Information loss of a release: LM, NCP and UL, exact; nothing here reads a tuple."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

import numpy as np
import numpy.typing as npt

from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table
from anondb.recoding import BucketRecoding, GlobalRecoding, LocalRecoding

Ints = npt.NDArray[np.int64]
Number = Fraction | int


@dataclass(frozen=True)
class Loss:
    """What a release cost; a measure that does not exist for its model is None.

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

    def to_json(self) -> dict[str, str | float | None]:
        """Exact totals as the text of a fraction, the others as numbers."""
        return {
            "lm_total": None if self.lm_total is None else str(self.lm_total),
            "lm": self.lm,
            "ncp": self.ncp,
            "ul": self.ul,
            "ul_log2": self.ul_log2,
            "ggd": None if self.ggd is None else str(self.ggd),
        }


def lm_of(size: int, domain: int) -> Fraction:
    """LM of an item that stands for ``size`` of ``domain`` original items: (size - 1) / (domain - 1), 0 for one."""
    return Fraction(size - 1, domain - 1) if domain > 1 else Fraction(0)


def ncp_of(size: int, domain: int) -> Fraction:
    """NCP of an item that stands for ``size`` of ``domain`` original items: size / domain, 0 for a single item."""
    return Fraction(size, domain) if size > 1 else Fraction(0)


def global_loss(
    dataset: Dataset, recoding: GlobalRecoding, taxonomy: Taxonomy | None = None, *, items: int | None = None
) -> Loss:
    """LM and NCP of a global recoding, from the supports of the original items alone.

    The domain holds M items: all leaves of the taxonomy, or without one ``items``, by default those of the data. An
    occurrence costs (size - 1) / (M - 1) in LM and size / M in NCP where its released item stands for several items, 1 in
    both where it is suppressed, 0 where it is untouched (docs/algorithms/metrics.md).
    """
    domain = taxonomy.n_leaves if taxonomy is not None else dataset.n_items if items is None else items
    sizes = recoding.sizes.tolist()
    suppressed = steps = members = 0
    for image, support in zip(recoding.image.tolist(), dataset.supports.tolist(), strict=True):
        if image < 0:
            suppressed += support
        elif sizes[image] > 1:
            steps += support * (sizes[image] - 1)
            members += support * sizes[image]
    lm_total = suppressed + (Fraction(steps, domain - 1) if domain > 1 else Fraction(0))
    ncp_total = suppressed + (Fraction(members, domain) if domain else Fraction(0))
    occurrences = dataset.n_occurrences
    return Loss(
        lm_total=lm_total,
        lm=float(lm_total / occurrences) if occurrences else 0.0,
        ncp=float(ncp_total / occurrences) if occurrences else 0.0,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Cover:
    """What stands for the items in a local recoding.

    Attributes:
        item, released: an item of the data and a released item that has it as a member.
        occurrences: in how many transactions both are.
        copies: how often each released item is published.
    """

    item: Ints
    released: Ints
    occurrences: Ints
    copies: Ints

    @property
    def items(self) -> int:
        """How many items something stands for anywhere."""
        return int(np.count_nonzero(np.bincount(self.item)))

    @classmethod
    def of(cls, engine: Engine, dataset: Dataset, recoding: LocalRecoding) -> Cover:
        """Count them in SQL."""
        members = cls.members(engine, dataset, recoding)
        tables = {"transactions": dataset.transactions, "recoded": recoding.transactions, "members": members}
        found = engine.query("utility/local_cover", tables)
        engine.drop(members)
        shown = engine.query("utility/local_copies", {"recoded": recoding.transactions})
        copies = np.zeros(len(recoding.labels), dtype=np.int64)
        copies[shown["released"]] = shown["copies"]
        item, released, occurrences = (found[c].astype(np.int64) for c in ("item", "released", "occurrences"))
        return cls(item, released, occurrences, copies)

    @staticmethod
    def members(engine: Engine, dataset: Dataset, recoding: LocalRecoding) -> Table:
        """Work table ``(released, item)``: the items of the data that each released item stands for."""
        number = {label: n for n, label in enumerate(dataset.labels)}
        item = np.array([number.get(label, -1) for label in recoding.member_labels], dtype=np.int64)
        of_data = item >= 0
        columns = {"released": ("INTEGER", recoding.member_of[of_data]), "item": ("INTEGER", item[of_data])}
        return engine.put("local_members", columns)


@singledispatch
def suppressed_items(
    recoding: GlobalRecoding | LocalRecoding | BucketRecoding, engine: Engine, dataset: Dataset
) -> int:
    """How many items of the data nothing stands for in any transaction."""
    raise TypeError(f"{type(recoding).__name__} is no recoding of items")


@suppressed_items.register
def _(recoding: GlobalRecoding, engine: Engine, dataset: Dataset) -> int:
    return int((recoding.image < 0).sum())


@suppressed_items.register
def _(recoding: BucketRecoding, engine: Engine, dataset: Dataset) -> int:
    return 0


@suppressed_items.register
def _(recoding: LocalRecoding, engine: Engine, dataset: Dataset) -> int:
    if not len(recoding.incomplete):
        return 0
    return dataset.n_items - Cover.of(engine, dataset, recoding).items


@singledispatch
def generalized_items(recoding: GlobalRecoding | LocalRecoding | BucketRecoding, cover: Cover | None = None) -> Ints:
    """The items that a released item of several members stands for: the pool that papers measure with.

    For a local recoding its ``cover`` says where; one transaction is enough. An anatomy generalizes none.
    """
    return np.zeros(0, dtype=np.int64)


@generalized_items.register
def _(recoding: LocalRecoding, cover: Cover | None = None) -> Ints:
    several = recoding.sizes > 1
    return np.unique(cover.item[several[cover.released]]) if cover is not None else np.zeros(0, dtype=np.int64)


@generalized_items.register
def _(recoding: GlobalRecoding, cover: Cover | None = None) -> Ints:
    kept = np.flatnonzero(recoding.image >= 0)
    return np.asarray(kept[recoding.sizes[recoding.image[kept]] > 1], dtype=np.int64)


def local_loss(
    engine: Engine, dataset: Dataset, recoding: LocalRecoding, cover: Cover, taxonomy: Taxonomy | None = None
) -> Loss:
    """LM, NCP and GGD of a local recoding (docs/algorithms/metrics.md).

    Set semantics: LM and NCP of an occurrence are those of the released item that stands for it, 1 where it is suppressed.
    Atomic semantics: each copy stands for one occurrence, the others are suppressed. GGD counts each copy once under both:
    the LM of a transaction's copies, and 1 for each occurrence more than it has copies (Milani Fard and Wang, Definition
    3); so under atomic semantics it is the LM total. It is defined for nodes of a taxonomy only.

    Args:
        engine: inside the transaction of the recoding.
        dataset, recoding: the data and how they are published.
        cover: what stands for the items.
        taxonomy: of the items; without one M is the number of items of the data.
    """
    domain = taxonomy.n_leaves if taxonomy is not None else dataset.n_items
    sizes = recoding.sizes
    shown = covered = cover.copies
    occurrences = dataset.n_occurrences
    if recoding.semantics == "set":
        covered = np.bincount(cover.released, weights=cover.occurrences, minlength=len(sizes)).astype(np.int64)
    elif dataset.bags is not None:
        occurrences = dataset.n_bag_occurrences
    lm_total = _sum_of(lm_of, covered, sizes, domain) + occurrences - int(covered.sum())
    ncp_total = _sum_of(ncp_of, covered, sizes, domain) + occurrences - int(covered.sum())
    ggd = _sum_of(lm_of, shown, sizes, domain) + occurrences - int(shown.sum())
    return Loss(
        lm_total=lm_total,
        lm=float(lm_total / occurrences) if occurrences else 0.0,
        ncp=float(ncp_total / occurrences) if occurrences else 0.0,
        ggd=ggd if taxonomy is not None else None,
    )


def _sum_of(measure: Callable[[int, int], Fraction], counts: Ints, sizes: Ints, domain: int) -> Fraction:
    """The sum of a measure over counted released items; exact below 2^53 of a size."""
    by_size = np.bincount(sizes, weights=counts).astype(np.int64).tolist()
    return sum((measure(size, domain) * count for size, count in enumerate(by_size) if count), Fraction(0))


def ul_a(
    sizes: Sequence[int],
    supports: Sequence[int],
    transactions: int,
    domain: int,
    *,
    weights: Sequence[Number] | None = None,
    penalties: Iterable[Number] = (),
) -> Fraction:
    """UL version A of a dataset (Loukides et al., COAT, Definitions 3.14 and 3.16), exact.

    Args:
        sizes, supports: of each released item, untouched ones included; supports in the published data.
        transactions, domain: N and M.
        weights: w of each released item; 1 by default.
        penalties: Y of each suppressed item. The paper suggests its support, a count beside sums from 0 to 1.

    Returns:
        The sum of (2^size - 1) / (2^M - 1) x w x support / N, plus the penalties.
    """
    total, scale = _ul_parts(sizes, supports, transactions, domain, weights)
    return (total / scale if scale else Fraction(0)) + sum(penalties, Fraction(0))


def ul_a_log2(
    sizes: Sequence[int],
    supports: Sequence[int],
    transactions: int,
    domain: int,
    *,
    weights: Sequence[Number] | None = None,
) -> float | None:
    """Base-2 logarithm of ``ul_a`` without penalties, None where that is 0; for domains where 1/2^M is no double."""
    total, scale = _ul_parts(sizes, supports, transactions, domain, weights)
    if not total:
        return None
    return math.log2(total.numerator) - math.log2(total.denominator) - math.log2(scale)


def _ul_parts(
    sizes: Sequence[int],
    supports: Sequence[int],
    transactions: int,
    domain: int,
    weights: Sequence[Number] | None,
) -> tuple[Fraction, int]:
    """The sum of (2^size - 1) x w x support, and (2^M - 1) x N: they are big integers, so nothing overflows."""
    by_size: dict[int, Number] = {}
    for size, support, weight in zip(sizes, supports, weights or [1] * len(sizes), strict=True):
        by_size[int(size)] = by_size.get(int(size), 0) + int(support) * weight
    total = sum((((1 << size) - 1) * Fraction(amount) for size, amount in by_size.items()), Fraction(0))
    return total, ((1 << domain) - 1) * transactions
