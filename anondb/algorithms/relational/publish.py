"""Converts recoded clusters of relational and transaction data to the recoding of a release: labels, rows, classes."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from anondb.algorithms.coat.coat import distinct, group_label
from anondb.algorithms.relational.items import ClusterRecoding, ItemSets, slices
from anondb.data.generalization import Generalization, Groups, marked
from anondb.data.records import Attribute
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Engine, put_integers
from anondb.engine.arrays import Flags, Ints
from anondb.recoding import LocalRecoding, PublishedAttribute, RelationalRecoding

Key = tuple[int, ...] | int


def publish(
    engine: Engine,
    dataset: Dataset,
    measure: Generalization,
    items: ItemSets,
    clusters: Sequence[Ints],
    recoded: Sequence[ClusterRecoding],
    taxonomy: Taxonomy | None,
    is_sensitive: Flags,
    tum: float,
) -> RelationalRecoding:
    """Make the recoding of all clusters of records, each ``recoded`` by T: to nodes of the taxonomy, or to sets of items
    without one. ``tum`` is the mean UL of the records."""
    groups = measure.groups(list(clusters))
    same = measure.published(groups)
    number = {key: i for i, key in enumerate(dict.fromkeys(same))}
    class_of = np.empty(items.n, dtype=np.int64)
    first: dict[int, int] = {}
    incomplete: set[int] = set()
    for i, (members, recoding, key) in enumerate(zip(clusters, recoded, same, strict=True)):
        class_of[members] = number[key]
        first.setdefault(number[key], i)
        if recoding.suppresses:
            incomplete.add(number[key])
    classes = engine.put("rt_classes", {"tid": ("INTEGER", np.arange(1, items.n + 1)), "class": ("INTEGER", class_of)})
    hidden = np.flatnonzero(np.isin(class_of, sorted(incomplete)))
    costs = measure.costs(groups)
    published = groups.take([first[c] for c in range(len(number))])
    return RelationalRecoding(
        items=_items(engine, dataset, items, clusters, recoded, taxonomy, hidden + 1),
        classes=classes,
        attributes=tuple(_attribute(measure, i, a, published) for i, a in enumerate(measure.records.attributes)),
        sensitive=tuple(label for label, s in zip(dataset.labels, is_sensitive.tolist(), strict=True) if s),
        rum=Fraction(int((costs * groups.size).sum()), measure.denominator * max(items.n, 1)),
        tum=tum,
        largest=int(groups.size.max(initial=0)),
        clusters=len(clusters),
        suppressed=sum(recoding.suppresses for recoding in recoded),
    )


def _items(
    engine: Engine,
    dataset: Dataset,
    items: ItemSets,
    clusters: Sequence[Ints],
    recoded: Sequence[ClusterRecoding],
    taxonomy: Taxonomy | None,
    incomplete: Ints,
) -> LocalRecoding:
    """Make the recoding of the items. A generalized item that several clusters share has one label."""
    number, pairs = _pairs(items, clusters, recoded, generalizes=taxonomy is not None)
    copies = np.ones(len(pairs), dtype=np.int64)
    transactions = put_integers(engine, "rt_rows", tid=pairs[:, 0] + 1, released=pairs[:, 1], copies=copies)
    members_of = [_members(key, dataset.labels, taxonomy) for key in number]
    names = [_name(key, m, taxonomy) for key, m in zip(number, members_of, strict=True)]
    fixed = [len(m) == 1 or isinstance(key, int) for key, m in zip(number, members_of, strict=True)]
    return LocalRecoding(
        transactions=transactions,
        incomplete=incomplete,
        labels=distinct(names, fixed, dataset.labels),
        member_of=np.repeat(np.arange(len(members_of)), [len(m) for m in members_of] or 0),
        member_labels=tuple(label for m in members_of for label in m),
        remarks=() if taxonomy is None else _remarks(recoded),
    )


def _pairs(
    items: ItemSets, clusters: Sequence[Ints], recoded: Sequence[ClusterRecoding], *, generalizes: bool
) -> tuple[dict[Key, int], Ints]:
    """The numbers of the released items, and the sorted pairs (record, released item)."""
    number: dict[Key, int] = {}
    records, released = [], []
    for members, recoding in zip(clusters, recoded, strict=True):
        of_key = np.array([number.setdefault(key, len(number)) for key in recoding.keys], dtype=np.int64)
        place, owner = slices(items.start, members)
        block = recoding.block[np.searchsorted(recoding.items, items.item[place])]
        kept = block >= 0
        records.append(members[owner[kept]])
        released.append(of_key[block[kept]])
    for members, recoding in zip(clusters, recoded, strict=True):
        place, owner = slices(items.sensitive_start, members)
        item = items.sensitive[place]
        kept = ~np.isin(item, sorted(recoding.lost))
        keys: list[Key] = [-1 - i if generalizes else (i,) for i in item[kept].tolist()]  # negative, unlike nodes
        records.append(members[owner[kept]])
        released.append(np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64))
    return number, np.unique(np.column_stack((np.concatenate(records), np.concatenate(released))), axis=0)


def _remarks(recoded: Sequence[ClusterRecoding]) -> tuple[str, ...]:
    """Tell the owner of clusters in which the taxonomy left only its root."""
    flat = sum(f.keys == (0,) and len(f.items) > 1 for f in recoded)
    if not flat:
        return ()
    return (
        f"In {flat} of {len(recoded)} clusters all items became the root of the taxonomy: whole subtrees are generalized, so"
        " if fewer than k records hold a child of the root, or several of its children together, only the root is left."
        " Sets of items, the default, lose less.",
    )


def _members(key: Key, labels: Sequence[str], taxonomy: Taxonomy | None) -> list[str]:
    if isinstance(key, tuple):
        return [labels[i] for i in key]
    if key < 0 or taxonomy is None:
        return [labels[-1 - key]]
    return [taxonomy.labels[v] for v in taxonomy.leaves(key).tolist()]


def _name(key: Key, members: list[str], taxonomy: Taxonomy | None) -> str:
    if isinstance(key, int) and key >= 0 and taxonomy is not None:
        return taxonomy.labels[key]
    return members[0] if len(members) == 1 else group_label(members)


def _attribute(measure: Generalization, i: int, attribute: Attribute, groups: Groups) -> PublishedAttribute:
    """The published values of one attribute, by class."""
    if attribute.is_range:
        return PublishedAttribute(
            attribute.name,
            low=groups.low(i),
            high=groups.high(i),
            empty=groups.low(i) > groups.high(i),
            null=measure.marks(i, groups)[0].astype(np.bool_),
            has_null=attribute.has_null,
            sql_type=attribute.sql_type,
            type=attribute.type,
            scale=attribute.unit.denominator,
        )
    stands_for: list[tuple[str | None, ...]]
    names: list[str]
    tree = attribute.hierarchy
    if tree is None:
        marks = measure.marks(i, groups).T
        stands_for = [tuple(attribute.values[v] for v in marked(row).tolist()) for row in marks]
        names = [group_label([*(v for v in vs if v is not None), *(["NULL"] if None in vs else [])]) for vs in stands_for]
    else:
        nodes = measure.nodes(i, groups).tolist()
        leaves = {v: tuple(tree.labels[x] for x in tree.leaves(max(v, 0)).tolist()) for v in set(nodes)}
        stands_for = [(None,) if v == -1 else (*leaves[v], None) if v == -2 else leaves[v] for v in nodes]
        names = [f"{tree.labels[0]} or NULL" if v < 0 else tree.labels[v] for v in nodes]
    name_of: dict[tuple[str | None, ...], str] = {}
    for values, name in zip(stands_for, names, strict=True):
        if values != (None,):
            name_of.setdefault(values, str(values[0]) if len(values) == 1 else name)
    of_tree = attribute.hierarchy is not None
    fixed = [len(values) == 1 or (of_tree and None not in values) for values in name_of]
    tree_labels: Sequence[Any] = () if attribute.hierarchy is None else attribute.hierarchy.labels
    taken = [*(v for v in attribute.values if v is not None), *tree_labels]
    shown = dict(zip(name_of, distinct(list(name_of.values()), fixed, taken), strict=True))
    return PublishedAttribute(
        attribute.name,
        has_null=attribute.has_null,
        type=attribute.type,
        label=tuple(shown.get(values) for values in stands_for),
        value_of=tuple(label for values, label in shown.items() for _ in values),
        values=tuple(value for values in shown for value in values),
    )
