"""The verifier of (h,k,p)-coherence (Xu, Wang, Fu and Yu, KDD 2008; docs/algorithms/models.md#hkp).

The bound on private items is not monotone: a set of public items may keep it while a larger one does not, and conversely.
So every set of 1 to p public items that a transaction holds is checked, size by size, without pruning. If the bound cannot
fail (h = 1, or no private items in the data), the promise is k^p-anonymity of the public items, and ``verify_km`` checks it.
"""

import heapq
from collections.abc import Collection
from math import comb

import numpy as np
import numpy.typing as npt

from anondb.engine import Engine, Table, reads
from anondb.engine.arrays import Ints
from anondb.errors import BudgetExceeded
from anondb.models.transactional import HkpCoherence, KmAnonymity
from anondb.verify import work as limits
from anondb.verify.km import verify_km
from anondb.verify.result import Verification, Witness
from anondb.verify.work import Work, lengths, work


def verify_hkp(
    engine: Engine, transactions: Table, items: Table, model: HkpCoherence, private: Collection[str], *, witnesses: int = 0
) -> Verification:
    """Check (h,k,p)-coherence of published transactions by the definition; a p beyond the longest transaction is that
    length, and labels in ``private`` that are not among ``items`` are ignored. ``violations`` is the number of moles,
    minimal or not. If h bounds nothing, it is that of ``verify_km``."""
    with work(engine) as place:
        labels = place.engine.put("verify_private_labels", {"label": ("VARCHAR", sorted(set(private)))})
        hidden = place.table("private_items", reads.among(items, labels, "label", "item"))
        place.engine.drop(labels)
        public = place.table("public", reads.among(transactions, hidden, "item", "tid, item", absent=True))
        secret = place.table("private", reads.among(transactions, hidden, "item", "tid, item"))
        bounded = model.h < 1 and bool(lengths(engine, secret))
        if not bounded:
            anonymity = verify_km(engine, public, items, KmAnonymity(model.k, model.p), witnesses=witnesses)
            return Verification(model, anonymity.verified, anonymity.violations, anonymity.witnesses)
        violations, first = _all_sizes(place, public, secret, items, model, witnesses)
    return Verification(model, violations == 0, violations, tuple(first))


def _all_sizes(
    place: Work[Engine], public: Table, secret: Table, items: Table, model: HkpCoherence, wanted: int
) -> tuple[int, list[Witness]]:
    engine = place.engine
    held = lengths(engine, public)
    occurrences = place.table("occurrences", reads.rows(public, "tid, CAST(item AS BIGINT) AS itemset, item AS last"))
    levels: list[tuple[Ints, Ints]] = []  # by size from 2: the prefix and the last item of every itemset
    violations = 0
    first: list[Witness] = []
    size = 1
    while True:
        share = {"h_numerator": model.h.numerator, "h_denominator": model.h.denominator}
        moles = engine.query("verify/moles", {"occurrences": occurrences, "private": secret}, k=model.k, **share)
        violations += len(moles["itemset"])
        if len(first) < wanted and len(moles["itemset"]):
            first += _witnesses(engine, items, levels, moles, wanted - len(first))
        size += 1
        rows = sum(comb(length, size) * n for length, n in held)
        if size > model.p or not rows:
            return violations, first
        _check_size(rows, size)
        longer = "one.tid, one.itemset AS prefix, other.item"
        grown = place.table("grown", reads.joined(occurrences, public, "tid", longer, where="other.item > one.last"))
        number = "row_number() OVER (ORDER BY prefix, item) AS itemset, prefix, item"
        numbered = place.table("numbered", reads.rows(reads.rows(grown, "prefix, item", distinct=True), number))
        if wanted:
            columns = engine.select(reads.rows(numbered, "prefix, item", order="itemset"))
            levels.append((columns["prefix"].astype(np.int64), columns["item"].astype(np.int64)))
        place.drop(occurrences)
        next_ones = reads.joined(grown, numbered, "prefix, item", "one.tid, other.itemset, one.item AS last")
        occurrences = place.table(f"occurrences_{size}", next_ones)
        place.drop(grown, numbered)


def _check_size(rows: int, size: int) -> None:
    if rows > limits.MAX_STORED_ROWS:
        raise BudgetExceeded(
            f"Verifying this promise needs {rows} sets of {size} items; the limit is {limits.MAX_STORED_ROWS}.",
            hint="Verify with a smaller p.",
        )


def _witnesses(
    engine: Engine, items: Table, levels: list[tuple[Ints, Ints]], moles: dict[str, npt.NDArray[np.generic]], wanted: int
) -> list[Witness]:
    """The first moles of one size, by labels."""
    names = engine.select(reads.rows(items, "item, label", order="item"))
    label = dict(zip(names["item"].tolist(), names["label"].tolist(), strict=True))

    def labels(itemset: int) -> tuple[str, ...]:
        members = []
        for prefix, item in reversed(levels):
            members.append(label[int(item[itemset - 1])])
            itemset = int(prefix[itemset - 1])
        return tuple(sorted([*members, label[itemset]]))

    pairs = zip(moles["itemset"].tolist(), moles["support"].tolist(), strict=True)
    return [Witness(names, n) for names, n in heapq.nsmallest(wanted, ((labels(int(i)), int(n)) for i, n in pairs))]
