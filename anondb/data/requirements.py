"""The owner's inputs beside the transactions: constraints, weights and countable sets for COAT, and sensitive items."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anondb.data.constraints import (
    ItemSets,
    PrivacyConstraints,
    UtilityConstraints,
    load_sets,
    load_weights,
    utility_of_level,
    utility_of_siblings,
)
from anondb.data.sources import open_source, texts_of
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.data.types import element_of
from anondb.engine import Engine, Table
from anondb.errors import InputError
from anondb.reading.options import Dialect

PGEN = "pgen"
_FROM_TAXONOMY = re.compile(r"(level|siblings):(\d{1,9})$")


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
        named: set[str] = set(dataset.labels)
        for sets in (self.privacy, self.utility):
            if isinstance(sets, ItemSets):
                named.update(sets.labels)
        return len(named)

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
    """Read the owner's inputs to COAT.

    Args:
        privacy: see ``read_privacy``.
        utility: a source ``(group_id, item)``, or groups from the taxonomy: ``level:2`` for the items below each node of
            level 2 (the root is level 0), ``siblings:5`` for groups of 5 neighbouring leaves.
        weights: a source ``(item, weight)``, ``taxonomy``, or 1, the default.
        countable: a source ``(set_id, item)``.

    Raises:
        InputError: ``no_taxonomy`` if one is needed and missing; see ``anondb.data.constraints``.
    """
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
    match = _FROM_TAXONOMY.match(constraints) if isinstance(constraints, str) else None
    if match is None:
        return load_sets(engine, constraints, UtilityConstraints, dataset)
    tree = _require(taxonomy, f"utility_constraints = {constraints}")
    number = int(match[2])
    groups = utility_of_level(tree, number) if match[1] == "level" else utility_of_siblings(tree, number)
    return _without_absent(groups, dataset).on(dataset)


def _without_absent(groups: UtilityConstraints, dataset: Dataset) -> UtilityConstraints:
    """Remove leaves that never occur from the groups: generalizing items with them protects nothing."""
    occurring = set(dataset.labels)
    kept = {i: [label for label in items if label in occurring] for i, items in zip(groups.ids, groups.sets(), strict=True)}
    kept = {i: items for i, items in kept.items() if items}
    return UtilityConstraints.of(list(kept.values()), list(kept)) if kept else groups


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
    ids, items = ([pair[n] for pair in pairs] for n in (0, 1))
    return engine.put(target, {id_column: ("VARCHAR", ids), "item": ("VARCHAR", items)})


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
            raise InputError(
                f"The first line of {source.name} is not 'item': it may be the name of its column, or an item.",
                code="no_such_column",
                hint="Name the column item; a list without a header is a file that ends in .txt.",
            )
        name = source.column(only, "item")
        if element_of(source, name) is not None:
            raise InputError(f"{source.name} has lists of sensitive items.", code="bad_type", hint="Give each a row.")
        labels = {label for (label,) in texts_of(engine, source, [name], distinct=True)}
    if None in labels:
        raise InputError(f"A row of {source.name} has a NULL item.", code="null_item", hint="Filter it out.")
    return tuple(sorted(labels))
