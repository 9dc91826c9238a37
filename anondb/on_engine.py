"""k^m-anonymity without leaving the database: load, search, recode, verify and release by portable statements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sqlglot import exp

from anondb.algorithms.hghs.hghs import hghs
from anondb.algorithms.hghs.mhghs import mhghs
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import Table, load
from anondb.errors import InputError, VerificationFailed
from anondb.models import Model
from anondb.models.km import KmAnonymity
from anondb.recode import check_suppression
from anondb.recoding import GlobalRecoding
from anondb.release.freeze import check_recoding, manifest_of
from anondb.release.objects import ROW_ORDER, new_release_id
from anondb.utility.loss import Loss, global_loss
from anondb.verify.km import verify_km
from anondb.verify.result import Verification
from anondb.warehouse.interface import Warehouse
from anondb.warehouse.loading import load_from
from anondb.warehouse.statements import sorted_rows

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
        release: the name of the schema of the release; None if none was written.
    """

    dataset: Dataset
    recoding: GlobalRecoding
    verification: Verification
    loss: Loss
    fetched: int
    release: str | None = None


def anonymize_on(
    warehouse: Warehouse,
    reference: Any,
    *,
    taxonomy: Taxonomy,
    model: Model,
    to: str | None = None,
    algorithm: str = "mhghs",
    id_column: str = "tid",
    item_column: str = "item",
    max_suppression: Fraction | None = None,
) -> EngineReport:
    """Make a k^m-anonymous release of a table in its database, and verify its rows there.

    Args:
        warehouse: the database.
        reference: the table, one row for each id and item.
        taxonomy: the taxonomy; every item of the data is a leaf.
        model: ``KmAnonymity`` with a finite m.
        to: the schema of the release, which must not exist; without it the rows are verified and dropped.
        algorithm: ``mhghs`` or ``hghs``.
        id_column, item_column: the columns of the table.
        max_suppression: how many percent of the items may be suppressed; None for any part but all.

    Raises:
        InputError: ``not_on_engine`` for another model or algorithm; bad data; ``release_exists``.
        InfeasibleError: more would be suppressed than allowed, or everything.
        VerificationFailed: the verifier did not accept the rows (a bug; nothing was kept).
        BudgetExceeded: too many rows would be fetched, or a join would take too long.
    """
    promise = _checked(model, algorithm)
    fetched = warehouse.fetched
    with warehouse.snapshot():
        warehouse.progress("loading transactions")
        dataset = load_from(warehouse, reference, id_column=id_column, item_column=item_column)
        warehouse.progress(f"anonymizing with {algorithm}")
        recoding = SEARCHES[algorithm](warehouse, dataset, taxonomy, promise)
        check_recoding(dataset, recoding)
        suppressed = int((recoding.image < 0).sum())
        check_suppression(suppressed, dataset.n_items, dataset.n_items, max_suppression)
        rows, labels = _recoded(warehouse, dataset, recoding)
        checked: list[Verification] = []

        def check(tables: Mapping[str, Table]) -> None:
            """Verify the written rows of a release."""
            coded = warehouse.create("written", "warehouse/release/coded", {t: tables[t] for t in _ROWS})
            checked.append(_verified(warehouse, coded, dataset, promise))

        if to is None:
            checked.append(_verified(warehouse, rows, dataset, promise))
        else:
            tables = _tables(warehouse, dataset, recoding, promise, rows, labels, suppressed > 0)
            warehouse.progress("writing and verifying the release")
            warehouse.release(to, tables, check)
    loss = global_loss(dataset, recoding, taxonomy)
    return EngineReport(dataset, recoding, checked[0], loss, warehouse.fetched - fetched, to)


_ROWS = ("transaction_items",)


def _recoded(warehouse: Warehouse, dataset: Dataset, recoding: GlobalRecoding) -> tuple[Table, dict[int, str]]:
    """The work table ``(tid, item)`` of the released items of each transaction, and the label of each by its number."""
    occurring = np.unique(recoding.image[recoding.image >= 0])
    ordered = sorted(occurring.tolist(), key=recoding.labels.__getitem__)
    number = np.zeros(len(recoding.labels), dtype=np.int64)
    number[ordered] = np.arange(1, len(ordered) + 1)
    kept = np.flatnonzero(recoding.image >= 0)
    image = warehouse.put("image", {"item": ("INTEGER", kept), "released": ("INTEGER", number[recoding.image[kept]])})
    tables = {"transactions": dataset.transactions, "image": image}
    rows = warehouse.create("recoded", "warehouse/release/recoded", tables)
    warehouse.drop(image)
    return rows, {n: recoding.labels[r] for n, r in enumerate(ordered, 1)}


def _verified(warehouse: Warehouse, rows: Table, dataset: Dataset, model: KmAnonymity) -> Verification:
    """Verify rows, and raise ``VerificationFailed`` if they break the promise."""
    verification = verify_km(warehouse, rows, dataset.items, model)
    if not verification.verified:
        raise VerificationFailed(
            f"The rows have {verification.violations} violations of {model.name}; nothing was kept."
            " This is a bug in anondb: please report it."
        )
    return verification


def _tables(
    warehouse: Warehouse,
    dataset: Dataset,
    recoding: GlobalRecoding,
    model: KmAnonymity,
    rows: Table,
    labels: dict[int, str],
    suppression: bool,
) -> dict[str, exp.Query]:
    """The rows of each table of a release, sorted (docs/contract.md#the-sealed-file)."""
    label_of = [recoding.labels[r] for r in recoding.member_of.tolist()]
    shown = set(labels.values())
    members = [pair for pair in zip(label_of, recoding.member_labels, strict=True) if pair[0] in shown]
    manifest = manifest_of(dataset, model, new_release_id(), "some" if suppression else "none")
    small: dict[str, dict[str, tuple[str, list[Any]]]] = {
        "labels": {"item_id": ("INTEGER", list(labels)), "item": ("VARCHAR", list(labels.values()))},
        "released_items": {
            "released_item": ("VARCHAR", [released for released, _ in members]),
            "item": ("VARCHAR", [item for _, item in members]),
        },
        "manifest": {"key": ("VARCHAR", list(manifest)), "value": ("VARCHAR", list(manifest.values()))},
    }
    made = {name: warehouse.put(f"release_{name}", columns) for name, columns in small.items()}
    return {
        "transaction_items": load("warehouse/release/rows").bind({"recoded": rows}, {}),
        "transaction_ids": load("warehouse/release/transaction_ids").bind(
            {"ids": dataset.ids}, {"complete": not suppression}
        ),
        **{name: sorted_rows(made[name], list(small[name]), ROW_ORDER[name]) for name in small},
    }


def _checked(model: Model, algorithm: str) -> KmAnonymity:
    if not isinstance(model, KmAnonymity) or model.m == math.inf or algorithm not in SEARCHES:
        raise InputError(
            "Only k^m-anonymity with a finite m by mhghs or hghs runs inside the database.",
            code="not_on_engine",
            hint="Read the table into DuckDB, where all run: anondb.connect(FILE).anonymize(ARROW_TABLE, ...).",
        )
    return model
