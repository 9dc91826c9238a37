"""The sensitive (or private) items: a list of labels from a table, a view, a file, a data frame or Python."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.data.sources import open_source, reading
from anondb.engine import Engine
from anondb.errors import InputError


def load_sensitive(engine: Engine, given: Any) -> tuple[str, ...]:
    """The distinct labels, sorted: the column ``item`` of what is given, or its only column.

    Args:
        engine: the engine, inside a transaction.
        given: a table, a view, a CSV or Parquet file, a data frame; or a collection of labels.

    Raises:
        InputError: no such source or column; NULL items.
    """
    if isinstance(given, Collection) and not isinstance(given, str) and not hasattr(given, "columns"):
        if not all(isinstance(label, str) for label in given):
            raise InputError("Sensitive items must be texts.", code="bad_type")
        return tuple(sorted(set(given)))
    with open_source(engine, given, "sensitive items") as source:
        only = next(iter(source.columns)) if len(source.columns) == 1 else "item"
        column = exp.cast(exp.column(exp.to_identifier(source.column(only, "item"), quoted=True)), "VARCHAR")
        inner = exp.Subquery(this=source.query.copy(), alias=exp.TableAlias(this=exp.to_identifier("source")))
        with reading(source.name):
            found = engine.select(exp.select(column.as_("label")).distinct().from_(inner), f"reading {source.name}")
    labels = found["label"]
    if isinstance(labels, np.ma.MaskedArray) and np.ma.getmaskarray(labels).any():
        raise InputError(f"A row of {source.name} has a NULL item.", code="null_item", hint="Filter it out.")
    return tuple(sorted(str(label) for label in labels.tolist()))
