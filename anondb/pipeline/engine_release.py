"""The tables of a release that is made in a warehouse, and the check of its item supports where they were written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anondb.data.transactions import Dataset
from anondb.engine import Query, Table, Tables, load, query_of, reads
from anondb.engine.trees import exp
from anondb.errors import VerificationFailed
from anondb.models.transactional import KmAnonymity
from anondb.recoding import GlobalRecoding
from anondb.release.item_supports import SupportRule, held_by, item_supports, label_counts
from anondb.release.manifest import manifest_of, suppressed_in
from anondb.release.objects import ROW_ORDER, new_release_id, showing
from anondb.verify.item_supports import verify_item_supports
from anondb.warehouse.portable import PortableWarehouse


@dataclass(frozen=True)
class EngineRelease:
    """A release in the making."""

    warehouse: PortableWarehouse  # the database, inside ``snapshot()``
    dataset: Dataset  # the original transactions
    recoding: GlobalRecoding  # the image of each item
    model: KmAnonymity  # the promise, with a finite m
    rows: Table  # ``(tid, item)``, the released items of each transaction
    labels: Mapping[int, str]  # the label of each released item that occurs, by its number

    def tables(self, *, suppression: bool, supports: bool) -> dict[str, exp.Query]:
        """The rows of each table of the release, sorted (docs/contract.md#the-sealed-file), with item supports or without;
        ``suppression`` says whether an item was suppressed."""
        label_of = [self.recoding.labels[r] for r in self.recoding.member_of.tolist()]
        shown = set(self.labels.values())
        members = [pair for pair in zip(label_of, self.recoding.member_labels, strict=True) if pair[0] in shown]
        manifest = manifest_of(self.dataset, self.model, new_release_id(), "some" if suppression else "none")
        rows = query_of("warehouse/release/rows", {"recoded": self.rows}, {})
        holding = int(self.warehouse.fetch(showing(rows), most=1)["n"][0])
        listed = [item for _, item in members]
        manifest |= suppressed_in(self.dataset, listed, manifest, self.dataset.n_transactions - holding)
        if supports:
            manifest["item_supports"] = "true"
        columns: dict[str, dict[str, tuple[str, Any]]] = {
            "labels": {"item_id": ("INTEGER", list(self.labels)), "item": ("VARCHAR", list(self.labels.values()))},
            "released_items": {
                "released_item": ("VARCHAR", [released for released, _ in members]),
                "item": ("VARCHAR", [item for _, item in members]),
            },
            "manifest": {"key": ("VARCHAR", list(manifest)), "value": ("VARCHAR", list(manifest.values()))},
        }
        stored = {name: self.warehouse.put(f"release_{name}", parts) for name, parts in columns.items()}
        if supports:
            columns["item_supports"] = self._supports(rows, stored)
            stored["item_supports"] = self.warehouse.put("release_item_supports", columns["item_supports"])
        ids = {"ids": self.dataset.ids}
        return {
            "transaction_items": rows.tree(),
            "transaction_ids": load("warehouse/release/transaction_ids").bind(ids, {"complete": not suppression}),
            **{
                name: reads.rows(stored[name], ", ".join(parts), order=", ".join(ROW_ORDER[name])).tree()
                for name, parts in columns.items()
            },
        }

    def _supports(self, rows: Query, stored: Mapping[str, Table]) -> dict[str, tuple[str, Any]]:
        """The columns of the table ``item_supports``; only bounds of each member are fetched."""
        held = self.warehouse.put("held", held_by(self.dataset))
        tables: Tables = {
            "held": held,
            "released_items": stored["released_items"],
            "supports": label_counts(rows, stored["labels"]),
        }
        members = query_of("warehouse/release/item_holders", tables, {})
        columns = item_supports(self.warehouse, members, SupportRule(self.model.k, int(self.model.m)))
        self.warehouse.drop(held)
        return columns

    def check_supports(self, coded: Table, written: Mapping[str, Table]) -> None:
        """Verify the item supports of the written tables of the release, whose rows are ``coded`` ``(tid, item)``. Raises
        VerificationFailed: they break the promise (a bug)."""
        items = self.warehouse.create("names", reads.rows(written["labels"], "item_id AS item, item AS label"))
        tables = written["released_items"], written["item_supports"]
        if wrong := verify_item_supports(self.warehouse, coded, items, *tables, self.model.k, int(self.model.m)):
            raise broken(f"The item supports have {wrong} violations of {self.model.name}")


def broken(words: str) -> VerificationFailed:
    """The error for a release that the verifier does not accept."""
    return VerificationFailed(f"{words}; nothing was kept. This is a bug in anondb: please report it.")
