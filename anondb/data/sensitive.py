"""The reader of sensitive (or private) items: labels from a table, view, file, data frame or Python collection."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.data.sources import open_source, reading
from anondb.data.types import element_of
from anondb.engine import Engine
from anondb.errors import InputError
from anondb.reading.options import Dialect


def load_sensitive(engine: Engine, items: Any) -> tuple[str, ...]:
    """Read the distinct labels, sorted, from the column ``item`` or the only column of a source.

    Args:
        items: a table, view, CSV or Parquet file, ``.txt`` file with an item on each line, data frame, or collection of
            labels.

    Raises:
        InputError: no such source or column; NULL items.
    """
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
        column = exp.cast(exp.column(name, quoted=True), "VARCHAR")
        with reading(source.name):
            rows = engine.select(
                exp.select(column.as_("label")).distinct().from_(source.rows), f"reading {source.name}"
            )
    labels = rows["label"]
    if isinstance(labels, np.ma.MaskedArray) and np.ma.getmaskarray(labels).any():
        raise InputError(f"A row of {source.name} has a NULL item.", code="null_item", hint="Filter it out.")
    return tuple(sorted(str(label) for label in labels.tolist()))
