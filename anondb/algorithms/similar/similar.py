"""Similar: groups of items whose pair counts are alike, and items shown as themselves where that is safe
(docs/algorithms/similar.md)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from anondb.algorithms.coat.coat import coat, set_labels
from anondb.algorithms.coat.mining import occurrences
from anondb.algorithms.coat.weights import TaxonomyWeights
from anondb.algorithms.in_memory import check_memory, check_occurrences
from anondb.algorithms.similar.labels import Labels
from anondb.algorithms.similar.opening import Cells
from anondb.algorithms.similar.pair_counts import rows_kept
from anondb.algorithms.similar.splitting import Splits
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, put_integers
from anondb.engine.arrays import Ints, Ints32
from anondb.models.transactional import KmAnonymity
from anondb.recoding import GlobalRecoding, LocalRecoding

OCCURRENCE_BYTES = 100  # at the peak, of the arrays of the occurrences
ROW_BYTES = 8  # for each count of the rows that are kept, twice while labels are renumbered
INSTEAD = "use coat, or mhghs with a taxonomy"
OPENED = 2  # the largest m for which groups are split and rows are opened
NodeOf = Callable[[Ints], int | None]


def similar(
    engine: Engine, dataset: Dataset, model: KmAnonymity, *, taxonomy: Taxonomy | None = None, open_rows: bool = True
) -> GlobalRecoding | LocalRecoding:
    """Achieve k^m-anonymity by generalization only, so that pair counts are estimated well from item supports.

    Args:
        model: k and m; m above the longest transaction (or infinity) means the longest. For m of 3 and more, COAT merges
            groups until no set of m is rare; none are split, and no rows opened.
        taxonomy: a taxonomy of the items. Items near in it are preferred in a group, and a group of all items of the data
            below a node has the node's label.
        open_rows: whether to show items as themselves in some of the transactions.

    Returns:
        A global recoding whose released items are sets of items, or a local one if rows were opened. Nothing is suppressed
        unless some, but fewer than k, transactions have items: then all are.

    Raises:
        BudgetExceeded: more items or occurrences than fit in memory; m is too large for the longest transactions.
    """
    n, m = dataset.n_items, min(model.m, dataset.longest)
    if dataset.non_empty < model.k:
        return _recoding(dataset, [], None)
    _check_size(engine, dataset)
    tid, item = occurrences(engine, dataset, np.arange(n, dtype=np.int32))
    pair_k = model.k if m > 1 else 1
    nearness = None if taxonomy is None else TaxonomyWeights.of(dataset.labels, taxonomy)
    labels = Labels(n, dataset.n_transactions, tid, item, model.k, pair_k, nearness)
    while labels.left > 1 and (label := labels.rarest()) is not None:
        engine.progress(f"{labels.left:,} groups of items", 1 - labels.left / n)
        labels.merge(label, labels.partner(label))
    merged = [members for members in labels.members if members]
    if m > OPENED:
        groups = [sorted(members) for members in merged]
        groups = _joined(engine, dataset, model, tid, _group_of_items(groups, n)[item], groups)
        return _recoding(dataset, groups, taxonomy)
    _check_groups(engine, merged, n)
    groups, supports = _split(labels, tid, item, model.k, pair_k, _node_of(dataset, taxonomy))
    if not open_rows:
        return _recoding(dataset, groups, taxonomy)
    _check_groups(engine, groups, n)
    cells = Cells(_group_of_items(groups, n), supports, dataset.n_transactions, tid, item, model.k, pair_k)
    cells.open()
    cells.divide()
    local = cells.shown.max() >= len(groups)
    return _opened(engine, dataset, groups, cells, taxonomy) if local else _recoding(dataset, groups, taxonomy)


def _check_size(engine: Engine, dataset: Dataset) -> None:
    """Refuse more occurrences or items than fit in memory."""
    check_occurrences(engine, dataset.n_occurrences, OCCURRENCE_BYTES, INSTEAD)
    what = f"The algorithm keeps pair counts of {dataset.n_items:,} items in"
    check_memory(engine, rows_kept(dataset.n_items) * dataset.n_items * ROW_BYTES, what, INSTEAD)


def _check_groups(engine: Engine, groups: Sequence[Sequence[int]], n: int) -> None:
    """Refuse more groups of n items than fit in memory: what is counted while they are split, and while rows are opened."""
    split, opened = 32 * max(map(len, groups)) * len(groups), 4 * (2 * len(groups) + n) * len(groups)
    what = f"The algorithm counts the pairs of {len(groups):,} groups of {n:,} items in"
    check_memory(engine, max(split, opened), what, INSTEAD)


def _group_of_items(groups: list[list[int]], n: int) -> Ints:
    of_item = np.zeros(n, dtype=np.int64)
    for number, members in enumerate(groups):
        of_item[members] = number
    return of_item


def _split(
    labels: Labels, tid: Ints32, item: Ints32, k: int, pair_k: int, node_of: NodeOf
) -> tuple[list[list[int]], Ints32]:
    """Split groups where nothing becomes rare, but none that is all of a node (that of all items may be split). Returns them
    in the order of their smallest items, and how many transactions hold each two (and each one)."""
    groups, shown = [members for members in labels.members if members], labels.shown()
    splits = Splits(groups, labels.merges, shown, tid, item, k, pair_k)
    n = len(labels.members)
    changed = splits.split(lambda members: len(members) < n and node_of(members) is not None)
    supports = splits.supports(labels.supports(), changed)
    groups = [sorted(items.tolist()) for items in splits.groups]
    order = sorted(range(len(groups)), key=groups.__getitem__)
    return [groups[number] for number in order], supports[np.ix_(order, order)]


def _joined(
    engine: Engine, dataset: Dataset, model: KmAnonymity, tid: Ints32, group: Ints, groups: list[list[int]]
) -> list[list[int]]:
    """Merge groups by COAT until no set of m is rare."""
    tids, of = np.divmod(np.unique(tid * np.int64(len(groups)) + group), len(groups))
    sizes, numbers = np.unique(np.bincount(tids), return_counts=True)
    grouped = replace(
        dataset,
        transactions=put_integers(engine, "groups", tid=tids + 1, item=of),
        labels=tuple(f"{number:09}" for number in range(len(groups))),
        supports=np.bincount(of, minlength=len(groups)),
        lengths={int(size): int(number) for size, number in zip(sizes, numbers, strict=True) if size},
    )
    recoding = coat(engine, grouped, model)
    engine.drop(grouped.transactions)
    joined: list[list[int]] = [[] for _ in recoding.labels]
    for members, image in zip(groups, recoding.image.tolist(), strict=True):
        if image >= 0:
            joined[image] += members
    return sorted(sorted(members) for members in joined)


def _recoding(dataset: Dataset, groups: list[list[int]], taxonomy: Taxonomy | None) -> GlobalRecoding:
    """The global recoding of items by their groups; items without a group are suppressed."""
    sizes = [len(members) for members in groups]
    members = np.array([item for group in groups for item in group], dtype=np.int64)
    image, number = np.full(dataset.n_items, -1, dtype=np.int64), np.repeat(np.arange(len(groups)), sizes)
    image[members] = number
    names, labels = _names(dataset, groups, taxonomy), dataset.labels
    return GlobalRecoding(image, names, number, tuple(labels[item] for item in members.tolist()))


def _opened(
    engine: Engine, dataset: Dataset, groups: list[list[int]], cells: Cells, taxonomy: Taxonomy | None
) -> LocalRecoding:
    """The local recoding of the cells."""
    sets = [*groups, *([item] for item in range(dataset.n_items)), *groups]
    names = _names(dataset, groups, taxonomy)
    names = (*names, *dataset.labels, *_second(names, dataset))
    used, released = np.unique(cells.shown, return_inverse=True)
    members = [sets[label] for label in used.tolist()]
    return LocalRecoding(
        transactions=put_integers(engine, "recoded", tid=cells.tid + 1, released=released, copies=np.ones_like(released)),
        incomplete=np.empty(0, dtype=np.int64),
        labels=tuple(names[label] for label in used.tolist()),
        member_of=np.repeat(np.arange(len(used)), [len(items) for items in members]),
        member_labels=tuple(dataset.labels[item] for items in members for item in items),
        remarks=(f"{cells.opened:,} of {len(released):,} published items are shown as themselves, not as their group.",),
    )


def _second(names: tuple[str, ...], dataset: Dataset) -> list[str]:
    """Labels of the second released items of groups: that of the group with a number from 2 on, the least that is free."""
    taken, second = {*names, *dataset.labels}, []
    for name in names:
        second.append(next(label for number in count(2) if (label := f"{name} #{number}") not in taken))
        taken.add(second[-1])
    return second


def _names(dataset: Dataset, groups: list[list[int]], taxonomy: Taxonomy | None) -> tuple[str, ...]:
    """The labels of groups: that of the lowest node above just these items of the data, or else a list of the items."""
    names, node_of = list(set_labels(dataset.labels, groups)), _node_of(dataset, taxonomy)
    for number, members in enumerate(groups):
        node = node_of(np.array(members)) if len(members) > 1 else None
        if taxonomy is not None and node is not None and taxonomy.labels[node] not in names:
            names[number] = taxonomy.labels[node]
    return tuple(names)


def _node_of(dataset: Dataset, taxonomy: Taxonomy | None) -> NodeOf:
    """A function that returns the lowest node above just these items of the data, if there is one."""
    if taxonomy is None:
        return lambda _: None
    leaf = taxonomy.leaf_nodes(dataset)
    in_order = np.sort(leaf)
    below = np.searchsorted(in_order, taxonomy.last, side="right") - np.searchsorted(in_order, np.arange(taxonomy.size))

    def node_of(members: Ints) -> int | None:
        node, last = int(leaf[members].min()), int(leaf[members].max())
        while taxonomy.last[node] < last:
            node = int(taxonomy.parent[node])
        return node if below[node] == len(members) else None

    return node_of
