"""The transactions of each released item, by what a question distinguishes in them: for GROUP BY item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.engine import Table
from anondb.query.cached_release import Opened
from anondb.query.classes import Classes, Holding
from anondb.query.held_sums import Array
from anondb.query.relational import Cell, with_cells
from anondb.query.values import Attribute

Holdings = dict[str, Counter[Holding]]


def holdings(release: Opened, classes: Classes, attributes: Sequence[Attribute] = ()) -> Holdings:
    """The transactions of each released item, by label, including transactions without a relevant item; with their
    published values of some attributes."""
    none = (0,) * len(classes.parts)
    complete = not release.suppressed
    if not classes.parts and not release.local and not attributes:
        return {r: Counter({Holding((r,), none, complete): n}) for r, n in release.supports.items()}
    counted = None if attributes else transactions_by_item(release, classes)
    if counted is not None and release.numbered is not None:
        signatures, table = counted
        labels = {number: label for label, number in release.numbered.numbers.items()}
        items, which = np.nonzero(table)
        columns = (column.tolist() for column in (items, signatures[which], table[items, which]))
        return _numbered(release, classes, [(labels[item], *rest) for item, *rest in zip(*columns, strict=True)], {})
    held, cells = with_cells(release.engine, release.schema.table("records"), attributes, release.held(classes))
    if release.numbered is not None and not release.local:
        return _numbered(release, classes, release.numbered.by_item(held), cells)
    tables: dict[str, Table | exp.Query] = {**release.tables(), "held": held}
    if release.local:
        tables["transaction_ids"] = release.ids
    if release.bags is not None:
        rows = release.engine.query("query/bag_signatures", {**tables, "chains": release.chains})
    else:
        rows = release.engine.query("query/local_signatures", tables)
    number = len(rows["released_item"])
    completeness = [complete] * number if "complete" not in rows else rows["complete"].tolist()
    items = rows["item" if "item" in rows else "released_item"].tolist()
    above = rows["above"].tolist() if "above" in rows else [None] * number
    columns = (rows[c].tolist() for c in ("released_item", "signature", "transactions"))
    found: Holdings = {}
    for label, signature, transactions, item, over, whole in zip(*columns, items, above, completeness, strict=True):
        shown, counts = _decoded(classes, signature, cells)
        holding = Holding((item, *(() if over is None else over)), counts, whole, shown)
        found.setdefault(label, Counter())[holding] += transactions
    return found


def transactions_by_item(release: Opened, classes: Classes) -> tuple[Array, Array] | None:
    """The number of transactions of each released item with each signature, as ``HeldRows.by_item``; None in a local
    recoding, and where the rows are not in memory."""
    numbered = release.numbered
    if numbered is None or release.local or classes.wide:
        return None
    if not classes.parts:
        supports = np.zeros((len(numbered.numbers) + 1, 1), np.int64)
        supports[[numbered.numbers[label] for label in release.supports], 0] = list(release.supports.values())
        return np.zeros(1, np.int64), supports
    return None if numbered.rows is None else numbered.rows.by_item(classes.all_codes(release.sizes))


def _numbered(
    release: Opened, classes: Classes, rows: Sequence[tuple[str, Any, int]], cells: Mapping[str, tuple[Cell, ...]]
) -> Holdings:
    """The holdings in a global recoding of sets, from the transactions that have a signature: all others have none."""
    found: Holdings = {label: Counter() for label in release.supports}
    complete = not release.suppressed
    decoded = cache(lambda signature: _decoded(classes, signature, cells))
    for label, signature, transactions in rows:
        shown, counts = decoded(signature)
        found[label][Holding((label,), counts, complete, shown)] += transactions
    none = (0,) * len(classes.parts)
    for label, support in release.supports.items():
        rest = support - found[label].total()
        if rest:
            found[label][Holding((label,), none, complete)] += rest
    return found


def _decoded(
    classes: Classes, signature: Any, cells: Mapping[str, tuple[Cell, ...]]
) -> tuple[tuple[Cell, ...], tuple[int, ...]]:
    """The published values in a signature (see ``relational.with_cells``), and its numbers of released items."""
    shown, _, code = str(signature).partition("|") if cells else ("", "", signature)
    return cells.get(shown, ()), (0,) * len(classes.parts) if code in (None, "") else classes.counts(code)
