"""The reader of a partition of the items into columns, for Multi-Anatomy."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.data.constraints import in_order
from anondb.data.sources import Source, open_source, reading
from anondb.data.transactions import Dataset
from anondb.data.types import element_of
from anondb.engine import Engine, reads
from anondb.engine.arrays import Ints
from anondb.errors import InputError


def load_columns(engine: Engine, columns: Any, dataset: Dataset) -> tuple[Ints, tuple[str, ...]]:
    """Read the column of each item of the data, numbered from 1, and the names of the columns.

    Columns from a table are ordered by their ids: as numbers if all are integers, else by code point.

    Args:
        columns: a table, view, file or data frame ``(column_id, item)``, or a list of sets of items, whose columns are
            named 1, 2 and so on. Items that never occur in the data are ignored.

    Raises:
        InputError: fewer than two columns; an item in two columns (``not_a_partition``) or in none (``unknown_item``); a
            column without an item that occurs (``empty_column``).
    """
    if isinstance(columns, list | tuple):
        names = tuple(str(i) for i in range(1, len(columns) + 1))
        groups: Sequence[Collection[str]] = columns
    else:
        with open_source(engine, columns, "columns") as source:
            names, groups = _read(engine, source)
    if len(names) < 2:
        raise InputError(f"There must be at least 2 columns, not {len(names)}.", code="bad_parameter")
    column_of: dict[str, int] = {}
    twice = set()
    for number, group in enumerate(groups, 1):
        for label in group:
            if column_of.setdefault(label, number) != number:
                twice.add(label)
    if twice:
        raise InputError(
            f"{len(twice)} items are in more than one column.", code="not_a_partition", hint="Put each into one column."
        )
    column = np.array([column_of.get(label, 0) for label in dataset.labels], dtype=np.int64)
    missing = int((column == 0).sum())
    if missing:
        raise InputError(
            f"{missing} items of the data are in none of the columns.",
            code="unknown_item",
            hint="Put every item into one column.",
        )
    empty = int((np.bincount(column, minlength=len(names) + 1)[1:] == 0).sum())
    if empty:
        raise InputError(
            f"{empty} of {len(names)} columns hold no item that occurs in the data.",
            code="empty_column",
            hint="Leave them out.",
        )
    return column, names


def _read(engine: Engine, source: Source) -> tuple[tuple[str, ...], list[set[str]]]:
    """Read the columns of a table, in the order of their ids."""
    id_name, item_name = source.column("column_id", "column_id"), source.column("item", "item")
    item: exp.Expr = reads.named(item_name)
    if element_of(source, item_name) is not None:
        item = exp.Explode(this=exp.cast(item, "VARCHAR[]", dialect="duckdb"))
    id_text = exp.cast(reads.named(id_name), "VARCHAR")
    rows = exp.select(id_text.as_("column_id"), item.as_("item")).from_(source.rows).subquery("listed")
    tree = exp.select("column_id", exp.cast(exp.column("item"), "VARCHAR").as_("item")).from_(rows)
    with reading(source.name):
        pairs = engine.select(tree, f"reading {source.name}")
    texts = [np.ma.asarray(pairs[name]) for name in ("column_id", "item")]
    nulls = int(np.logical_or(*(np.ma.getmaskarray(c) for c in texts)).sum())
    if nulls:
        raise InputError(
            f"{nulls} rows of {source.name} have no column_id or no item.", code="null_item", hint="Filter them out."
        )
    groups: dict[str, set[str]] = {}
    for name, label in zip(*(c.data.tolist() for c in texts), strict=True):
        groups.setdefault(name, set()).add(label)
    names = in_order(groups)
    return tuple(names), [groups[name] for name in names]
