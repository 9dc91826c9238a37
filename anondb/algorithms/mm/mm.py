"""MM, greedy total suppression for (h,k,p)-coherence (Xu, Wang, Fu and Yu, KDD 2008; docs/algorithms/mm.md).

The algorithm deletes public items that are moles by themselves from all transactions. Then, while minimal moles are left, it
deletes the public item with the largest ratio of the number of minimal moles that hold it to its support. Deleting an item
changes no other itemset's support, so the minimal moles are mined once, and a deletion removes those that hold the item.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anondb.algorithms.hghs.budget import MAX_KEPT, MAX_ROWS, MAX_THREATS, ROW_BYTES, chunks
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table, put_integers, reads
from anondb.engine.arrays import Flags, Ints, Ints32, stretches
from anondb.engine.telling import Tell, told
from anondb.errors import BudgetExceeded
from anondb.models.transactional import HkpCoherence, KmAnonymity
from anondb.recoding import Decision, GlobalRecoding


def mm(
    engine: Engine, dataset: Dataset, model: HkpCoherence | KmAnonymity, *, private: Collection[str] = ()
) -> GlobalRecoding:
    """Achieve (h,k,p)-coherence by deleting public items from all transactions; for k^m-anonymity all items are public.

    Args:
        private: labels of the private items, which are published unchanged; those that do not occur are ignored.

    Returns:
        A recoding in which every item is unchanged or suppressed. The support of a decision is that of the rarest
        minimal mole with the item; its cost is the number of occurrences deleted so far.

    Raises:
        InputError: ``all_sensitive``, if every item is private.
    """
    if isinstance(model, KmAnonymity):
        model, private = HkpCoherence(Fraction(1), model.k, model.m), ()
    hidden = set(private)
    is_private = np.array([label in hidden for label in dataset.labels], dtype=np.bool_)
    moles = MoleMiner(engine, dataset, is_private, model).mine()
    kept = np.ones(dataset.n_items, dtype=np.bool_)
    decisions: list[Decision] = []
    deleted = 0
    for item, support in _deletions(moles, dataset.supports, engine.progress):
        kept[item] = False
        deleted += int(dataset.supports[item])
        decisions.append(Decision(len(decisions) + 1, "suppress", dataset.labels[item], support, Fraction(deleted)))
    published = np.flatnonzero(kept)
    image = np.full(dataset.n_items, -1, dtype=np.int64)
    image[published] = np.arange(len(published))
    labels = tuple(dataset.labels[item] for item in published.tolist())
    return GlobalRecoding(image, labels, np.arange(len(labels), dtype=np.int64), labels, tuple(decisions))


@dataclass(frozen=True)
class Moles:
    """The minimal moles."""

    single: Ints  # the public items that are moles by themselves, ascending
    rows: dict[int, Ints32]  # for each size from 2 on, an (n, size) array of items, ascending in each row
    supports: dict[int, Ints32]  # for each size, the n supports


@dataclass
class _Level:
    """The sets of one size without a mole; set i consists of set ``prefix[i]`` of the previous size and ``member[i]``."""

    key: Ints  # ``prefix * n_items + member``, ascending
    items: Ints32  # the items of each set
    without: Ints  # for each position j, the number of the set without its item j, among the sets of the previous size

    def find(self, key: Ints) -> Ints:
        """The numbers of the sets with these keys; -1 for a key without a set."""
        if not len(self.key):
            return np.full(len(key), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[at] == key, at, -1)


class MoleMiner:
    """Mines the minimal moles of a dataset, size by size.

    A mole is a set of at most p public items that fewer than k transactions hold, or among whose transactions a private item
    has a share above h. It is minimal if no proper subset is a mole. The sets that neither are nor contain a mole are closed
    under subsets, although the bound h is not monotone. So candidates of the next size are joined from these sets.

    Args:
        private: marks of the private items, by number.
    """

    def __init__(self, engine: Engine, dataset: Dataset, private: Flags, model: HkpCoherence) -> None:
        self._engine, self._dataset, self._model = engine, dataset, model
        self._public = ~private
        self._private: Table | None = None
        if model.h < 1 and private.any():
            items = put_integers(engine, "private_items", item=np.flatnonzero(private))
            self._private = engine.create("private", reads.among(dataset.transactions, items, "item", "tid, item"))
            engine.drop(items)

    def mine(self) -> Moles:
        """Mine all minimal moles of up to p items."""
        engine, n = self._engine, self._dataset.n_items
        supports = self._dataset.supports
        most = np.zeros(n, dtype=np.int64)
        if self._private is not None:
            tables = {"transactions": self._dataset.transactions, "private": self._private}
            shares = engine.query("itemsets/private_shares", tables)
            most[shares["item"]] = shares["most"]
        mole = self._are_moles(supports, most)
        kept = np.flatnonzero(self._public & ~mole)
        moles = Moles(np.flatnonzero(self._public & mole), {}, {})
        if self._model.p > 1 and len(kept) > 1 and (self._model.k > 1 or self._private is not None):
            self._grow(kept, moles)
        if self._private is not None:
            engine.drop(self._private)
        return moles

    def _are_moles(self, support: Ints, most: Ints) -> Flags:
        h = self._model.h
        shares = np.zeros(len(support), dtype=np.bool_)
        if self._private is not None:  # most / support > h, exactly: h may have any denominator
            sizes, which = np.unique(support, return_inverse=True)
            allowed = np.array([s * h.numerator // h.denominator for s in sizes.tolist()], dtype=np.int64)
            shares = np.asarray(most > allowed[which])
        return np.asarray((support < self._model.k) | shares)

    def _grow(self, kept: Ints, moles: Moles) -> None:
        """Mine the sizes from 2 to p while candidates are left."""
        engine, n = self._engine, self._dataset.n_items
        items = put_integers(engine, "kept_items", item=kept)
        columns = "one.tid, 0 AS prefix, one.item AS member, one.item AS itemset"
        occurrences = engine.create("occurrences_1", reads.joined(self._dataset.transactions, items, "item", columns))
        engine.drop(items)
        everything = np.arange(n, dtype=np.int64)
        level = _Level(everything, everything.astype(np.int32).reshape(-1, 1), np.zeros((n, 1), dtype=np.int64))
        size = 2
        while size <= self._model.p:
            mass = engine.query("itemsets/join_mass", {"occurrences": occurrences})
            total = int(mass["mass"].sum())
            if not total:
                break
            _check_rows(total, MAX_ROWS, f"Itemsets of {size} public items would need a join", ROW_BYTES)
            ranges = told(engine.progress, f"counting sets of {size} items", chunks(mass["itemset"], mass["mass"]))
            parts = [self._size(occurrences, level, low, high) for low, high in ranges]
            minimal, fine = ([np.concatenate(x) for x in zip(*columns, strict=True)] for columns in zip(*parts, strict=True))
            if len(minimal[0]):
                moles.rows[size], moles.supports[size] = minimal[0], minimal[1]
            n_moles = sum(len(rows) for rows in moles.rows.values())
            _check_rows(n_moles, MAX_THREATS, "The minimal moles are a table", 16 * size)
            size += 1
            if size > self._model.p or not len(fine[0]):
                break
            first, second, without, support = fine
            _check_rows(
                int(support.sum()),
                MAX_KEPT,
                f"Itemsets of {size - 1} public items that are not moles have occurrences",
                ROW_BYTES,
            )
            occurrences = self._next(occurrences, first, second, size - 1)
            member = level.items[second, -1]
            level = _Level(
                first * n + member, np.hstack((level.items[first], member.reshape(-1, 1))).astype(np.int32), without
            )
        engine.drop(occurrences)

    def _size(
        self, occurrences: Table, level: _Level, low: int, high: int
    ) -> tuple[tuple[Ints32, Ints32], tuple[Ints, Ints, Ints, Ints]]:
        """The minimal moles of the next size and the sets without a mole, for a range of first joined sets."""
        engine = self._engine
        joined = engine.create("joined", "itemsets/joined", {"occurrences": occurrences}, first_from=low, first_to=high)
        candidates = engine.query("itemsets/candidates", {"joined": joined})
        first, second = candidates["first_set"].astype(np.int64), candidates["second_set"].astype(np.int64)
        support = candidates["support"].astype(np.int64)
        most = np.zeros(len(support), dtype=np.int64)
        if self._private is not None:
            together = engine.query("itemsets/candidate_shares", {"joined": joined, "private": self._private})
            keys, with_share = (
                x["first_set"].astype(np.int64) * len(level.key) + x["second_set"] for x in (candidates, together)
            )
            most[np.searchsorted(keys, with_share)] = together["most"]
        engine.drop(joined)
        without = self._subsets(level, first, second)
        whole = (without >= 0).all(axis=1)  # no subset one item smaller contains a mole
        mole = self._are_moles(support, most)
        minimal, fine = whole & mole, whole & ~mole
        rows = np.hstack((level.items[first[minimal]], level.items[second[minimal], -1:])).astype(np.int32)
        return (rows, candidates["support"][minimal]), (first[fine], second[fine], without[fine], support[fine])

    def _subsets(self, level: _Level, first: Ints, second: Ints) -> Ints:
        """For each candidate and position j, the number of the set without its item j; -1 if that contains a mole. The
        candidate without its last item is the first of the two joined sets, without the last but one the second. For any
        other item, remove it from the first set and add the last item of the candidate."""
        n, last = self._dataset.n_items, level.items[second, -1]
        others = (level.find(level.without[first, j] * n + last) for j in range(level.items.shape[1] - 1))
        return np.column_stack([*others, second, first])

    def _next(self, occurrences: Table, first: Ints, second: Ints, size: int) -> Table:
        engine = self._engine
        kept = put_integers(engine, "kept", first_set=first, second_set=second, itemset=np.arange(len(first)))
        grown = engine.create(f"occurrences_{size}", "itemsets/grown", {"occurrences": occurrences, "kept": kept})
        engine.drop(occurrences, kept)
        return grown


def _check_rows(rows: int, limit: int, what: str, row_bytes: int) -> None:
    if rows > limit:
        raise BudgetExceeded(
            f"{what} of {rows:,} rows, about {rows * row_bytes / 2**30:.1f} GiB; the limit is {limit:,}.",
            hint="Lower p, or raise k.",
        )


def _deletions(moles: Moles, supports: Ints, tell: Tell) -> Iterator[tuple[int, int]]:
    """The deleted items in order, each with the support of the rarest mole that the deletion removes."""
    for item in moles.single.tolist():
        yield item, int(supports[item])
    n = len(supports)
    sizes = sorted(moles.rows)
    members = np.concatenate([moles.rows[s].ravel() for s in sizes]) if sizes else np.empty(0, dtype=np.int32)
    size_of = np.repeat(sizes, [len(moles.rows[s]) for s in sizes]).astype(np.int64)
    support_of = np.concatenate([moles.supports[s] for s in sizes]) if sizes else np.empty(0, dtype=np.int32)
    start = np.concatenate(([0], np.cumsum(size_of))).astype(np.int64)
    owner = np.repeat(np.arange(len(size_of)), size_of)[np.argsort(members, kind="stable")]
    counts = np.bincount(members, minlength=n).astype(np.int64)
    begin = np.concatenate(([0], np.cumsum(counts)))
    alive = np.ones(len(size_of), dtype=np.bool_)
    left = len(alive)
    while counts.any():
        tell("deleting items", 1 - left / len(alive))
        item = _largest_score(counts, supports)
        removed = owner[begin[item] : begin[item + 1]]
        removed = removed[alive[removed]]
        alive[removed] = False
        left -= len(removed)
        counts -= np.bincount(members[stretches(start[removed], size_of[removed])], minlength=n)
        yield item, int(support_of[removed].min())


def _largest_score(counts: Ints, supports: Ints) -> int:
    """The item with the largest exact ratio of minimal moles to support; ties go by label."""
    score = counts / np.maximum(supports, 1)
    close = np.flatnonzero(score >= score.max() * (1 - 1e-12)).tolist()
    return int(max(close, key=lambda item: (Fraction(int(counts[item]), int(supports[item])), -item)))
