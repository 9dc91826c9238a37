"""What owners say of items: COAT's privacy and utility constraints, which are sets of items (Loukides, Gkoulalas-Divanis
and Malin, Definitions 3.3 and 3.7; section 5.2), weights, columns, and lists of sensitive items."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from anondb.data.sources import open_source, texts_of
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.data.types import element_of
from anondb.engine import Engine, Table
from anondb.engine.arrays import Ints
from anondb.errors import InputError
from anondb.reading.options import Dialect

REST = "(all other items)"
PGEN = "pgen"
_FROM_TAXONOMY = re.compile(r"(level|siblings):(\d{1,9})$")
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
        return cls.checked(dict(zip(map(str, range(1, len(listed) + 1)) if ids is None else ids, listed, strict=True)))

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
        first: dict[tuple[object, ...], tuple[str, list[int]]] = {}
        for i, items in sets.items():
            members = sorted({number[label] for label in items})
            first.setdefault(tuple(members) if cls.merge_equal else (i,), (i, members))
        ids, kept = zip(*first.values(), strict=True)
        repeated = {f"{doubled} rows of the {cls.noun}s repeated an item of the same one and count once.": doubled}
        repeated[f"{len(sets) - len(ids)} {cls.noun}s repeated another and count once."] = len(sets) - len(ids)
        start = np.cumsum([0, *map(len, kept)])
        member = np.array([j for members in kept for j in members], dtype=np.int64)
        return cls(ids, labels, start, member, tuple(remark for remark, number in repeated.items() if number))

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
        return self.remarked(unknown, f"{unknown} items of the {self.noun}s never occur in the data.")

    def remarked(self, number: int, remark: str) -> Self:
        """The same sets with a further remark for the owner, unless its number is 0."""
        return replace(self, warnings=(*self.warnings, remark)) if number else self


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
            hint = "Put each into one."
            raise InputError(f"{overlapping} items are in more than one {self.noun}.", code="not_a_partition", hint=hint)

    def on(self, dataset: Dataset | None) -> Self:
        """The same groups, with a remark on the items of the data that are in none, too."""
        rest = 0 if dataset is None else len(set(dataset.labels).difference(self.labels))
        return (
            super().on(dataset).remarked(rest, f"{rest} items of the data are in no {self.noun}; they form one more group.")
        )

    def groups_of(self, labels: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
        """The group number of each label, and the groups' names; the last, ``REST``, holds the items of no group."""
        group = {label: i for i, items in enumerate(self.sets()) for label in items}
        return np.array([group.get(label, len(self)) for label in labels], dtype=np.int64), (*self.ids, REST)


Sets = TypeVar("Sets", bound=ItemSets)


def load_sets(engine: Engine, source: Any, kind: type[Sets], dataset: Dataset | None = None) -> Sets:
    """Read sets of a kind from a source ``(id_column, item)``, whose item column may be a LIST, or a Python list of sets of
    items, with remarks on items that ``dataset`` has not; the finished object is returned. Raises InputError: no such
    columns, NULLs, an empty set (``empty_constraint``), no set at all; ``not_a_partition``: an item is in two sets that must
    not overlap."""
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
    read: dict[str, list[str | None]] = {}
    for i, item in rows:
        read.setdefault(i, []).extend([item] if item is None or isinstance(item, str) else item.tolist())
    sets = {i: [label for label in read[i] if label is not None] for i in in_order(read)}
    if null_items := sum(len(read[i]) - len(labels) for i, labels in sets.items() if labels):
        raise InputError(f"{null_items} rows of {name} have a NULL item.", code="null_item", hint="Filter them out.")
    return sets, sum(len(labels) - len(set(labels)) for labels in sets.values())


def in_order(ids: Collection[str]) -> list[str]:
    """Ids of sets in their order: as numbers if all are integers, else by code point."""
    numbers = all(map(_INTEGER.match, ids))
    return sorted(ids, key=lambda i: (int(i) if numbers else 0, i))


def utility_of_level(taxonomy: Taxonomy, level: int) -> UtilityConstraints:
    """Make one group of leaves for each node at ``level`` (the root is level 0); a leaf above that level is a group. Raises
    InputError: ``bad_parameter``, if the taxonomy has no such level."""
    deepest = int(taxonomy.depth.max())
    if not 0 <= level <= deepest:
        raise InputError(f"level must be an integer from 0 to {deepest}, not {level}.", code="bad_parameter")
    tops = np.flatnonzero((taxonomy.depth == level) | ((taxonomy.depth < level) & taxonomy.is_leaf)).tolist()
    groups = [[taxonomy.labels[leaf] for leaf in taxonomy.leaves(top).tolist()] for top in tops]
    return UtilityConstraints.of(groups, [taxonomy.labels[top] for top in tops])


def utility_of_siblings(taxonomy: Taxonomy, size: int) -> UtilityConstraints:
    """Make groups of ``size`` neighbouring leaves in the order of the tree, numbered from 1; the last may be smaller. These
    are the paper's policies UP1 to UP4 ("sibling items in the hierarchy"). Raises InputError: ``bad_parameter``."""
    if size < 1:
        raise InputError(f"The size of groups must be an integer of at least 1, not {size}.", code="bad_parameter")
    leaves = [taxonomy.labels[leaf] for leaf in taxonomy.leaves(0).tolist()]
    return UtilityConstraints.of([leaves[i : i + size] for i in range(0, len(leaves), size)])


@dataclass(frozen=True, eq=False, repr=False)
class _Columns(UtilityConstraints):
    """Disjoint sets of items."""

    noun, id_column = "column", "column_id"


def load_columns(engine: Engine, columns: Any, dataset: Dataset) -> tuple[Ints, tuple[str, ...]]:
    """Read the column of each item of the data, numbered from 1, and the names of the columns, from a source ``(column_id,
    item)`` or a list of sets of items, whose columns are named 1, 2 and so on. Raises InputError: fewer than two columns; an
    item in two columns (``not_a_partition``) or in none (``unknown_item``); a column without an item
    (``empty_constraint``), or without one that occurs (``empty_column``)."""
    sets = load_sets(engine, columns, _Columns)
    if len(sets) < 2:
        raise InputError(f"There must be at least 2 columns, not {len(sets)}.", code="bad_parameter")
    column, _ = sets.groups_of(dataset.labels)
    items = np.bincount(column, minlength=len(sets) + 1)
    if items[-1]:
        hint = "Put every item into one column."
        raise InputError(f"{items[-1]} items of the data are in none of the columns.", code="unknown_item", hint=hint)
    if empty := int((items[:-1] == 0).sum()):
        words = f"{empty} of {len(sets)} columns hold no item that occurs in the data."
        raise InputError(words, code="empty_column", hint="Leave them out.")
    return column + 1, sets.ids


@dataclass(frozen=True, eq=False, repr=False)
class Requirements:
    """The owner's inputs to COAT; each source is read once."""

    # privacy constraints, or ``pgen`` for those that Pgen finds; None if the model needs none
    privacy: PrivacyConstraints | str | None = None
    utility: UtilityConstraints | None = None  # utility constraints; None if any items may be generalized together
    # w of generalized items, from the weights of items or from a taxonomy; None for 1
    weights: Taxonomy | Mapping[str, Fraction] | None = None
    countable: ItemSets | None = None  # sets of items that must stay countable, or None

    def items(self, dataset: Dataset) -> int:
        """|I|, the number of distinct items in the data, the privacy constraints and the utility constraints."""
        sources = (sets.labels for sets in (self.privacy, self.utility) if isinstance(sets, ItemSets))
        return len(set(dataset.labels).union(*sources))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Remarks on the sources, for the owner."""
        sources = (self.privacy, self.utility, self.countable)
        return tuple(remark for sets in sources if isinstance(sets, ItemSets) for remark in sets.warnings)


def load_requirements(
    engine: Engine,
    dataset: Dataset,
    taxonomy: Taxonomy | None,
    *,
    privacy: Any = None,
    utility: Any = None,
    weights: Any = None,
    countable: Any = None,
) -> Requirements:
    """Read the owner's inputs to COAT: privacy constraints (``read_privacy``); utility constraints, a source ``(group_id,
    item)`` or groups from the taxonomy, ``level:2`` for the items below each node of level 2 (the root is level 0) or
    ``siblings:5`` for groups of 5 neighbouring leaves; weights, a source ``(item, weight)``, ``taxonomy`` or 1; sets that
    must stay countable, a source ``(set_id, item)``. Raises InputError: ``no_taxonomy`` if one is needed and missing."""
    return Requirements(
        privacy=None if privacy is None else read_privacy(engine, privacy, dataset),
        utility=None if utility is None else _read_utility(engine, utility, dataset, taxonomy),
        weights=_read_weights(engine, weights, taxonomy),
        countable=None if countable is None else load_sets(engine, countable, ItemSets),
    )


def read_privacy(engine: Engine, constraints: Any, dataset: Dataset | None = None) -> PrivacyConstraints | str:
    """Read privacy constraints from a source ``(constraint_id, item)``; the word ``pgen`` is returned unchanged."""
    if isinstance(constraints, str) and constraints == PGEN:
        return PGEN
    return load_sets(engine, constraints, PrivacyConstraints, dataset)


def _read_utility(engine: Engine, constraints: Any, dataset: Dataset, taxonomy: Taxonomy | None) -> UtilityConstraints:
    """Utility constraints; of those from a taxonomy, items that never occur are left out: it protects nothing to generalize
    others with them."""
    match = _FROM_TAXONOMY.match(constraints) if isinstance(constraints, str) else None
    if match is None:
        return load_sets(engine, constraints, UtilityConstraints, dataset)
    tree = _require(taxonomy, f"utility_constraints = {constraints}")
    groups = (utility_of_level if match[1] == "level" else utility_of_siblings)(tree, int(match[2]))
    occurring = frozenset(dataset.labels)
    left = ((i, occurring.intersection(items)) for i, items in zip(groups.ids, groups.sets(), strict=True))
    kept = {i: sorted(items) for i, items in left if items}
    return (UtilityConstraints.checked(kept) if kept else groups).on(dataset)


def _read_weights(engine: Engine, weights: Any, taxonomy: Taxonomy | None) -> Taxonomy | Mapping[str, Fraction] | None:
    if isinstance(weights, str) and weights == "taxonomy":
        return _require(taxonomy, "weights = taxonomy")
    if weights is None or (isinstance(weights, int | str) and not isinstance(weights, bool) and str(weights) == "1"):
        return None
    return load_weights(engine, weights)


def _require(taxonomy: Taxonomy | None, what: str) -> Taxonomy:
    if taxonomy is None:
        raise InputError(f"{what} needs a taxonomy.", code="no_taxonomy", hint="Name it with --taxonomy TABLE|FILE.")
    return taxonomy


def put_sets(engine: Engine, target: str, sets: ItemSets, id_column: str) -> Table:
    """Make a work table ``(id_column, item)`` with the labels of the sets."""
    pairs = [(i, item) for i, items in zip(sets.ids, sets.sets(), strict=True) for item in items]
    return engine.put(target, {name: ("VARCHAR", [pair[n] for pair in pairs]) for n, name in enumerate((id_column, "item"))})


def load_sensitive(engine: Engine, items: Any) -> tuple[str, ...]:
    """Read the distinct labels, sorted, from the column ``item`` or the only column of a source: a table, view, CSV or
    Parquet file, ``.txt`` file with an item on each line, data frame, or collection of labels. Raises InputError: no such
    source or column; NULL items."""
    if isinstance(items, Collection) and not isinstance(items, str) and not hasattr(items, "columns"):
        if not all(isinstance(label, str) for label in items):
            raise InputError("Sensitive items must be texts.", code="bad_type")
        return tuple(sorted(set(items)))
    with open_source(engine, items, "sensitive items") as source:
        only = next(iter(source.columns)) if len(source.columns) == 1 else "item"
        of_text = source.account is not None and source.account.header and isinstance(source.account.dialect, Dialect)
        if of_text and only.lower() != "item":
            words = f"The first line of {source.name} is not 'item': it may be the name of its column, or an item."
            hint = "Name the column item; a list without a header is a file that ends in .txt."
            raise InputError(words, code="no_such_column", hint=hint)
        name = source.column(only, "item")
        if element_of(source, name) is not None:
            raise InputError(f"{source.name} has lists of sensitive items.", code="bad_type", hint="Give each a row.")
        labels = {label for (label,) in texts_of(engine, source, [name], distinct=True)}
    if None in labels:
        raise InputError(f"A row of {source.name} has a NULL item.", code="null_item", hint="Filter it out.")
    return tuple(sorted(labels))
