"""One statement for a named query on several sets of tables, such as those of many files: each statement has a price."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from sqlglot import exp

from anondb.engine.interface import Columns
from anondb.engine.queries import Tables
from anondb.engine.texts import named_text, text_of

MOST = 64  # sets of tables of one statement: DuckDB nests what is united
_PART = "part of the query"


def together_text(name: str, parts: Sequence[Tables]) -> str:
    """The text of a named query without values on several sets of tables: its rows in no order, with their sets' numbers."""
    if len(parts) == 1:
        return named_text(name, parts[0], {})
    texts = (named_text(name, tables, {}).join(_frame(n)) for n, tables in enumerate(parts))
    return " UNION ALL ".join(texts)


@lru_cache(maxsize=MOST)
def _frame(number: int) -> list[str]:
    """The text before and behind a query, which adds the number of the set to its rows."""
    tree = exp.select(exp.convert(number).as_(_PART, quoted=True), exp.Star()).from_(
        exp.select(exp.null()).subquery("q")
    )
    return text_of(tree).split("SELECT NULL")


def apart(columns: Columns, parts: int) -> list[Columns]:
    """The rows of each set of tables."""
    if parts == 1:
        return [columns]
    part = columns.pop(_PART)
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(1, parts))
    divided = {name: np.split(column[order], ends) for name, column in columns.items()}
    return [{name: pieces[n] for name, pieces in divided.items()} for n in range(parts)]
