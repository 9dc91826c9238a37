"""k^m-anonymity without leaving the database: load, search, recode and verify by portable statements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from anondb.algorithms.hghs.hghs import hghs
from anondb.algorithms.hghs.mhghs import mhghs
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Table
from anondb.errors import InputError, VerificationFailed
from anondb.models import Model
from anondb.models.km import KmAnonymity
from anondb.recoding import GlobalRecoding
from anondb.utility.loss import Loss, global_loss
from anondb.verify.km import verify_km
from anondb.verify.result import Verification
from anondb.warehouse.interface import Warehouse
from anondb.warehouse.loading import load_from

SEARCHES = {"hghs": hghs, "mhghs": mhghs}


@dataclass(frozen=True)
class EngineReport:
    """The owner's report on a run in a warehouse. It contains true counts: do not give it to analysts.

    Attributes:
        dataset: the transactions; its work tables are gone.
        recoding: the image of each item.
        verification: of the released rows.
        loss: LM and NCP of the recoding.
        fetched: the number of rows that reached this process.
    """

    dataset: Dataset
    recoding: GlobalRecoding
    verification: Verification
    loss: Loss
    fetched: int


def anonymize_on(
    warehouse: Warehouse,
    reference: Any,
    *,
    taxonomy: Taxonomy,
    model: Model,
    algorithm: str = "mhghs",
    id_column: str = "tid",
    item_column: str = "item",
) -> EngineReport:
    """Search a k^m-anonymous recoding of a table in its database, and verify the recoded rows there.

    Args:
        warehouse: the database.
        reference: the table, one row for each id and item.
        taxonomy: the taxonomy; every item of the data is a leaf.
        model: ``KmAnonymity`` with a finite m.
        algorithm: ``mhghs`` or ``hghs``.
        id_column, item_column: the columns of the table.

    Raises:
        InputError: ``not_on_engine`` for another model or algorithm; bad data.
        VerificationFailed: the verifier did not accept the rows (a bug; nothing was kept).
        BudgetExceeded: too many rows would be fetched, or a join would take too long.
    """
    promise = _checked(model, algorithm)
    with warehouse.snapshot():
        warehouse.progress("loading transactions")
        dataset = load_from(warehouse, reference, id_column=id_column, item_column=item_column)
        warehouse.progress(f"anonymizing with {algorithm}")
        recoding = SEARCHES[algorithm](warehouse, dataset, taxonomy, promise)
        rows = recoded_rows(warehouse, dataset, recoding)
        warehouse.progress("verifying the released rows")
        verification = verify_km(warehouse, rows, dataset.items, promise)
        if not verification.verified:
            raise VerificationFailed(
                f"The recoded rows have {verification.violations} violations of {model.name}; nothing was kept."
                " This is a bug in anondb: please report it."
            )
    return EngineReport(dataset, recoding, verification, global_loss(dataset, recoding, taxonomy), warehouse.fetched)


def recoded_rows(warehouse: Warehouse, dataset: Dataset, recoding: GlobalRecoding) -> Table:
    """The work table ``(tid, item)`` of the released items of each transaction, by their numbers in the recoding."""
    kept = np.flatnonzero(recoding.image >= 0)
    columns = {"item": ("INTEGER", kept), "released": ("INTEGER", recoding.image[kept])}
    image = warehouse.put("image", columns)
    tables = {"transactions": dataset.transactions, "image": image}
    rows = warehouse.create("recoded", "warehouse/release/recoded", tables)
    warehouse.drop(image)
    return rows


def _checked(model: Model, algorithm: str) -> KmAnonymity:
    if not isinstance(model, KmAnonymity) or model.m == math.inf or algorithm not in SEARCHES:
        raise InputError(
            "Only k^m-anonymity with a finite m by mhghs or hghs runs inside the database.",
            code="not_on_engine",
            hint="Read the table into DuckDB, where every model and algorithm runs.",
        )
    return model
