"""MM, greedy total suppression for (h,k,p)-coherence (Xu, Wang, Fu and Yu, KDD 2008; docs/algorithms/mm.md).

The algorithm deletes public items that are moles by themselves from all transactions. Then, while minimal moles are left, it
deletes the public item with the largest ratio of the number of minimal moles that hold it to its support. Deleting an item
changes no other itemset's support, so the minimal moles are mined once, and a deletion removes those that hold the item.
"""

from collections.abc import Collection, Iterator
from fractions import Fraction

import numpy as np

from anondb.algorithms.mm.moles import MoleMiner, Moles
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.engine.arrays import Ints
from anondb.engine.telling import Tell
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
        length = size_of[removed]
        at = np.arange(int(length.sum())) + np.repeat(start[removed] - (np.cumsum(length) - length), length)
        counts -= np.bincount(members[at], minlength=n)
        yield item, int(support_of[removed].min())


def _largest_score(counts: Ints, supports: Ints) -> int:
    """The item with the largest exact ratio of minimal moles to support; ties go by label."""
    score = counts / np.maximum(supports, 1)
    close = np.flatnonzero(score >= score.max() * (1 - 1e-12)).tolist()
    return int(max(close, key=lambda item: (Fraction(int(counts[item]), int(supports[item])), -item)))
