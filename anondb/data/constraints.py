"""COAT's privacy and utility constraints: sets of items from a table, view, file, data frame or taxonomy
(Loukides, Gkoulalas-Divanis and Malin, Definitions 3.3 and 3.7; section 5.2)."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from anondb.data.sources import open_source, texts_of
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.data.types import element_of
from anondb.engine import Engine
from anondb.engine.arrays import Ints
from anondb.errors import InputError
from anondb.recoding import GlobalRecoding

REST = "(all other items)"
_INTEGER = re.compile(r"-?\d{1,38}$")


@dataclass(frozen=True, eq=False, repr=False)
class ItemSets:
    """Named sets of items, by themselves sets that must stay countable. Sets from a table are ordered by their ids: as
    numbers if all are integers, else by code point. Sets from Python keep their order."""

    ids: tuple[str, ...]  # the name of each set
    labels: tuple[str, ...]  # the distinct items that occur in any set, sorted
    # start, member: set i is ``labels[member[start[i] : start[i + 1]]]``, each item once
    start: Ints
    member: Ints
    warnings: tuple[str, ...] = field(default=())  # remarks for the owner
    noun: ClassVar[str] = "countable set"
    id_column: ClassVar[str] = "set_id"  # the name of its column in a table
    merge_equal: ClassVar[bool] = False  # whether equal sets count once

    @classmethod
    def of(cls, sets: Iterable[Collection[str]], ids: Sequence[str] | None = None) -> Self:
        """Make them from sets in Python, in their order, numbered from 1 unless named. Raises InputError:
        ``empty_constraint``, if a set is empty; ``not_a_partition`` if utility constraints overlap."""
        listed = [list(s) for s in sets]
        names = [str(i) for i in range(1, len(listed) + 1)] if ids is None else list(ids)
        return cls.checked(dict(zip(names, listed, strict=True)))

    @classmethod
    def checked(cls, sets: Mapping[str, Sequence[str]], doubled: int = 0) -> Self:
        """Convert sets to arrays: each item once, and equal sets once if ``merge_equal``; an empty set is an error.
        ``doubled`` rows repeated others."""
        if not sets:
            hint = "Leave the option out if you want none."
            raise InputError(f"There are no {cls.noun}s.", code="empty_constraints", hint=hint)
        if empty := sum(not items for items in sets.values()):
            words = f"{empty} of {len(sets)} {cls.noun}s hold no item."
            raise InputError(words, code="empty_constraint", hint="Drop them.")
        labels = tuple(sorted({label for items in sets.values() for label in items}))
        number = {label: i for i, label in enumerate(labels)}
        kept: dict[str, Sequence[int]] = {}
        seen: set[tuple[int, ...]] = set()
        for i, items in sets.items():
            members = tuple(sorted({number[label] for label in items}))
            if not cls.merge_equal or members not in seen:
                seen.add(members)
                kept[i] = members
        remarks = []
        if doubled:
            remarks.append(f"{doubled} rows of the {cls.noun}s repeated an item of the same one and count once.")
        if len(kept) < len(sets):
            remarks.append(f"{len(sets) - len(kept)} {cls.noun}s repeated another and count once.")
        sizes = np.fromiter((len(members) for members in kept.values()), dtype=np.int64, count=len(kept))
        member = np.fromiter((j for members in kept.values() for j in members), dtype=np.int64)
        return cls(tuple(kept), labels, np.concatenate(([0], np.cumsum(sizes))), member, tuple(remarks))

    def __len__(self) -> int:
        return len(self.ids)

    def items(self, i: int) -> tuple[str, ...]:
        """The items of set i, sorted."""
        return tuple(self.labels[j] for j in sorted(self.member[self.start[i] : self.start[i + 1]].tolist()))

    def sets(self) -> list[tuple[str, ...]]:
        """The items of every set."""
        return [self.items(i) for i in range(len(self))]

    def on(self, dataset: Dataset | None) -> Self:
        """The same sets with a remark on the items that never occur in the data, if there are some."""
        unknown = 0 if dataset is None else len(set(self.labels).difference(dataset.labels))
        return self.remarked(f"{unknown} items of the {self.noun}s never occur in the data.") if unknown else self

    def remarked(self, remark: str) -> Self:
        """The same sets with a further remark for the owner."""
        return replace(self, warnings=(*self.warnings, remark))


@dataclass(frozen=True, eq=False, repr=False)
class PrivacyConstraints(ItemSets):
    """Sets of items that an attacker may link to a person. Items that never occur are allowed: their support is 0."""

    noun, id_column, merge_equal = "privacy constraint", "constraint_id", True


@dataclass(frozen=True, eq=False, repr=False)
class UtilityConstraints(ItemSets):
    """Disjoint groups of items; only items of one group are generalized together. All other items form one more group."""

    noun, id_column = "utility constraint", "group_id"

    def __post_init__(self) -> None:
        if overlapping := int((np.bincount(self.member, minlength=len(self.labels)) > 1).sum()):
            raise InputError(
                f"{overlapping} items are in more than one {self.noun}.", code="not_a_partition", hint="Put each into one."
            )

    def on(self, dataset: Dataset | None) -> Self:
        """The same groups, with a remark on the items of the data that are in none, too."""
        rest = 0 if dataset is None else len(set(dataset.labels).difference(self.labels))
        words = f"{rest} items of the data are in no {self.noun}; they form one more group."
        return super().on(dataset).remarked(words) if rest else super().on(dataset)

    def groups_of(self, labels: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
        """The group number of each label, and the groups' names; the last, ``REST``, holds the items of no group."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.start))
        group = {self.labels[j]: int(i) for i, j in zip(owners.tolist(), self.member.tolist(), strict=True)}
        of_label = np.array([group.get(label, len(self)) for label in labels], dtype=np.int64)
        return of_label, (*self.ids, REST)


Sets = TypeVar("Sets", bound=ItemSets)


def load_sets(engine: Engine, source: Any, kind: type[Sets], dataset: Dataset | None = None) -> Sets:
    """Read sets of a kind from ``(id_column, item)``; the item column may be a LIST, with one row for each set.

    Args:
        source: a table, view, CSV or Parquet file, data frame, Python list of sets of items, or the finished object.
        dataset: the data, for remarks on its items.

    Raises:
        InputError: no such columns, NULLs, an empty set (``empty_constraint``), no set at all; ``not_a_partition`` if an
            item is in two sets that must not overlap.
    """
    if isinstance(source, kind):
        return source
    return (kind.of(source) if isinstance(source, list | tuple) else kind.checked(*_read(engine, source, kind))).on(dataset)


def load_weights(engine: Engine, weights: Any, unit: str = "item") -> dict[str, Fraction]:
    """Read exact weights from 0 to 1 from a source ``(item, weight)`` or a mapping; ``unit`` is what has a weight, ``item``
    or ``attribute``, and the name of its column. Raises InputError: ``bad_weight`` if a weight is missing or outside [0, 1],
    or if an item has two."""
    if isinstance(weights, Mapping):
        pairs = [(label, str(weight)) for label, weight in weights.items()]
        name = "the weights"
    else:
        with open_source(engine, weights, "weights") as source:
            columns = [source.column(name, name) for name in (unit, "weight")]
            pairs, name = texts_of(engine, source, columns), source.name
    result: dict[str, Fraction] = {}
    bad = twice = 0
    for label, text in pairs:
        try:
            weight = Fraction(text)
        except (TypeError, ValueError, ZeroDivisionError):
            weight = Fraction(-1)
        bad += label is None or not 0 <= weight <= 1
        twice += result.setdefault(label, weight) != weight
    if bad or twice:
        raise InputError(
            f"{bad} rows of {name} lack the {unit} or a weight from 0 to 1, {twice} repeat the {unit} with another weight.",
            code="bad_weight",
        )
    return result


def _read(engine: Engine, constraints: Any, kind: type[ItemSets]) -> tuple[dict[str, list[str]], int]:
    """Read the sets by id, in the order of the ids, and count the rows that repeat another."""
    with open_source(engine, constraints, f"{kind.noun}s") as source:
        id_name, item_name = source.column(kind.id_column, kind.id_column), source.column("item", "item")
        element_of(source, item_name)
        rows, name = texts_of(engine, source, [id_name, item_name]), source.name
    if missing := sum(i is None for i, _ in rows):
        raise InputError(f"{missing} rows of {name} have no {id_name}.", code="null_id")
    sets: dict[str, list[str]] = {}
    nulls: Counter[str] = Counter()
    for i, item in rows:
        members = sets.setdefault(i, [])
        if item is None:
            nulls[i] += 1
        elif isinstance(item, str):
            members.append(item)
        else:
            entries = item.tolist()
            nulls[i] += entries.count(None)
            members.extend(e for e in entries if e is not None)
    if null_items := sum(n for i, n in nulls.items() if sets[i]):
        raise InputError(f"{null_items} rows of {name} have a NULL item.", code="null_item", hint="Filter them out.")
    return {i: sets[i] for i in in_order(sets)}, sum(len(s) - len(set(s)) for s in sets.values())


def in_order(ids: Collection[str]) -> list[str]:
    """Ids of sets in their order: as numbers if all are integers, else by code point."""
    numbers = all(map(_INTEGER.match, ids))
    return sorted(ids, key=lambda i: (int(i) if numbers else 0, i))


def utility_of_level(taxonomy: Taxonomy, level: int) -> UtilityConstraints:
    """Make one group of leaves for each node at ``level`` (the root is level 0); a leaf above that level is a group. Raises
    InputError: ``bad_parameter``, if the taxonomy has no such level."""
    deepest = int(taxonomy.depth.max())
    if isinstance(level, bool) or not isinstance(level, int | np.integer) or not 0 <= level <= deepest:
        raise InputError(f"level must be an integer from 0 to {deepest}, not {level!r}.", code="bad_parameter")
    tops = np.flatnonzero((taxonomy.depth == level) | ((taxonomy.depth < level) & taxonomy.is_leaf)).tolist()
    groups = [[taxonomy.labels[leaf] for leaf in taxonomy.leaves(top).tolist()] for top in tops]
    return UtilityConstraints.of(groups, [taxonomy.labels[top] for top in tops])


def utility_of_siblings(taxonomy: Taxonomy, size: int) -> UtilityConstraints:
    """Make groups of ``size`` neighbouring leaves in the order of the tree, numbered from 1; the last may be smaller. These
    are the paper's policies UP1 to UP4 ("sibling items in the hierarchy"). Raises InputError: ``bad_parameter``, if size is
    not an integer of at least 1."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise InputError(f"The size of groups must be an integer of at least 1, not {size!r}.", code="bad_parameter")
    leaves = [taxonomy.labels[leaf] for leaf in taxonomy.leaves(0).tolist()]
    return UtilityConstraints.of([leaves[i : i + size] for i in range(0, len(leaves), size)])


@dataclass(frozen=True, eq=False, repr=False)
class Countable:
    """Whether a release shows exactly how many transactions hold any item of a set."""

    # set_id, items: the set, and its number of items
    set_id: str
    items: int
    exact: bool  # whether the count is exact (Corollary 3.12)
    suppressed: int  # number of items of the set that are suppressed
    mixed: int  # number of items of the set whose released item also stands for items outside the set


def countable(sets: ItemSets, recoding: GlobalRecoding, dataset: Dataset) -> tuple[Countable, ...]:
    """Check for each set of items whether its count stays exact under a recoding (Corollary 3.12). It does if none of the
    items is suppressed and each is generalized with items of the set only. Items that never occur are ignored."""
    image = {label: int(r) for label, r in zip(dataset.labels, recoding.image.tolist(), strict=True)}
    members: list[list[str]] = [[] for _ in recoding.labels]
    for released, label in zip(recoding.member_of.tolist(), recoding.member_labels, strict=True):
        members[released].append(label)
    report = []
    for i, set_id in enumerate(sets.ids):
        items = set(sets.items(i))
        images = [image[label] for label in items if label in image]
        clean = {r: items.issuperset(members[r]) for r in set(images) if r >= 0}
        suppressed = sum(r < 0 for r in images)
        mixed = sum(r >= 0 and not clean[r] for r in images)
        report.append(Countable(set_id, len(items), not suppressed and not mixed, suppressed, mixed))
    return tuple(report)


@dataclass(frozen=True, eq=False, repr=False)
class _Columns(UtilityConstraints):
    """Disjoint sets of items."""

    noun, id_column = "column", "column_id"


def load_columns(engine: Engine, columns: Any, dataset: Dataset) -> tuple[Ints, tuple[str, ...]]:
    """Read the column of each item of the data, numbered from 1, and the names of the columns.

    Args:
        columns: a table, view, file or data frame ``(column_id, item)``, or a list of sets of items, whose columns are
            named 1, 2 and so on. Items that never occur in the data are ignored.

    Raises:
        InputError: fewer than two columns; an item in two columns (``not_a_partition``) or in none (``unknown_item``); a
            column without an item (``empty_constraint``), or without one that occurs (``empty_column``).
    """
    sets = load_sets(engine, columns, _Columns)
    if len(sets) < 2:
        raise InputError(f"There must be at least 2 columns, not {len(sets)}.", code="bad_parameter")
    column, _ = sets.groups_of(dataset.labels)
    items = np.bincount(column, minlength=len(sets) + 1)
    if items[-1]:
        raise InputError(
            f"{items[-1]} items of the data are in none of the columns.",
            code="unknown_item",
            hint="Put every item into one column.",
        )
    if empty := int((items[:-1] == 0).sum()):
        raise InputError(
            f"{empty} of {len(sets)} columns hold no item that occurs in the data.",
            code="empty_column",
            hint="Leave them out.",
        )
    return column + 1, sets.ids
