"""The reader of a partition of the items into columns, for Multi-Anatomy."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from anondb.data.constraints import UtilityConstraints, load_sets
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.engine.arrays import Ints
from anondb.errors import InputError


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
