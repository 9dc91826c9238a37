"""Code the transactions of a warehouse as integers, where they lie."""

from dataclasses import replace
from typing import Any

import numpy as np

from anondb.data.transactions import Dataset, lengths_of, remarks_on
from anondb.engine import Table
from anondb.errors import InputError
from anondb.warehouse.portable import PortableWarehouse

MAX_ITEMS = 5_000_000
MAX_LABEL = 2_500_000  # characters of an item


def load_from(warehouse: PortableWarehouse, reference: Any, *, id_column: str, item_column: str) -> Dataset:
    """Copy two columns of a table once, and code them; nothing but the labels and their supports is fetched.

    The transactions are numbered in a random order, so these numbers may be published.

    Args:
        warehouse: the database, inside ``snapshot()``.
        reference: the table, as ``PortableWarehouse.source`` reads it: one row for each id and item.

    Raises:
        InputError: ``null_id``, ``null_item``, ``item_too_long``, or what ``PortableWarehouse.source`` raises.
        BudgetExceeded: more than ``MAX_ITEMS`` different items.
    """
    source = warehouse.source(reference, id_column, item_column)
    return coded(warehouse, source, warehouse.names(reference, id_column, item_column))


def coded(warehouse: PortableWarehouse, source: Table, names: dict[str, Any]) -> Dataset:
    """Code the rows ``(id, item)`` of a work table, which is dropped; ``names`` are those of ``PortableWarehouse.names``."""
    facts = {c: int(v[0]) for c, v in warehouse.fetch("warehouse/load/checks", {"source": source}, most=1).items()}
    _check(facts)
    ids = warehouse.number(source)
    items = warehouse.create("items", "warehouse/load/items", {"source": source})
    tables = {"source": source, "ids": ids, "items": items}
    transactions = warehouse.create("transactions", "warehouse/load/coded", tables)
    warehouse.drop(source)
    tables = {"transactions": transactions, "items": items}
    counts = warehouse.fetch("warehouse/load/item_counts", tables, most=MAX_ITEMS)
    dataset = Dataset(
        transactions=transactions,
        ids=ids,
        items=items,
        labels=tuple(counts["label"].tolist()),
        supports=counts["support"].astype(np.int64),
        n_transactions=facts["persons"],
        lengths=lengths_of(warehouse, transactions),
        **names,
    )
    duplicates = facts["total"] - dataset.n_occurrences
    remarks = remarks_on(dataset, duplicates, 0)
    return replace(dataset, duplicates=duplicates, is_table=not duplicates, warnings=remarks)


def _check(facts: dict[str, int]) -> None:
    """Refuse NULLs and over-long items."""
    if facts["null_ids"]:
        raise InputError(f"{facts['null_ids']} rows of the source have no id.", code="null_id", hint="Give each row an id.")
    if facts["null_items"]:
        raise InputError(
            f"{facts['null_items']} rows of the source have a NULL item.", code="null_item", hint="Filter them out."
        )
    if facts["longest"] > MAX_LABEL:
        raise InputError(f"An item is longer than {MAX_LABEL} characters.", code="item_too_long")
