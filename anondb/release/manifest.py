"""The manifest of a release: what it says of the original, and in which form (docs/contract.md#the-manifest)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from anondb.data.types import LISTS, released_type
from anondb.engine import Engine, reads
from anondb.models import Model
from anondb.release.objects import SchemaName, partition_of, showing

if TYPE_CHECKING:
    from anondb.data.transactions import Dataset
    from anondb.recoding import PublishedAttribute

SUPPRESSED = "suppressed_items"  # the key of the number of different items that no released item stands for
_COUNTED = ("km", "k", "constraints")  # models whose releases may state it if something was suppressed


def manifest_of(
    dataset: Dataset,
    model: Model,
    release_id: str,
    suppression: str,
    semantics: str = "set",
    attributes: Sequence[PublishedAttribute] = (),
) -> dict[str, str]:
    """The manifest of a release."""
    from anondb import __version__

    part = dataset.partition
    types = {
        **({} if part is None else {part.column: released_type(part.kind)}),
        dataset.id_column: dataset.id_type,
        **{attribute.name: attribute.type for attribute in attributes},
        dataset.item_column: dataset.item_type,
    }
    return {
        "release_id": release_id,
        "model": model.name,
        **{key: str(value) for key, value in model.parameters().items()},
        "transactions": str(dataset.n_transactions),
        "semantics": semantics,
        "suppression": suppression,
        "table": dataset.table,
        "id_column": dataset.id_column,
        "item_column": dataset.item_column,
        "layout": dataset.layout,
        "types": types_text(types),
        "version": __version__,
        **({} if part is None else {"partition": part.text}),
    }


def empty_transactions(engine: Engine, schema: SchemaName) -> int:
    """The number of transactions without a released item."""
    shown = engine.scalar(showing(schema.table("transaction_items")))
    return int(engine.scalar(reads.counted(schema.table("transaction_ids")))) - int(shown)


def suppressed_in(dataset: Dataset, listed: Iterable[str], manifest: Mapping[str, str], empty: int) -> dict[str, str]:
    """The number of the original's items that no released item stands for (``listed`` are those that some do), as a key of
    the manifest if it may be known; ``empty`` is the number of transactions without a released item."""
    if not tells_suppressed(manifest, empty):
        return {}
    return {SUPPRESSED: str(len(set(dataset.labels).difference(listed)))}


def types_text(types: Mapping[str, str]) -> str:
    """The types of the columns in the form of the manifest: a JSON object with sorted keys."""
    return json.dumps(dict(types), ensure_ascii=False, sort_keys=True)


def types_of(manifest: Mapping[str, str]) -> dict[str, str]:
    """The types of the original's columns, by name; of lists, that of their elements. Raises KeyError, ValueError: the
    manifest does not have the form that anondb writes."""
    types: dict[str, str] = json.loads(manifest["types"])
    return types


def tables_of(manifest: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The original's tables that analysts ask, each with the types of its columns. Errors are those of ``types_of``."""
    types, table, part = types_of(manifest), manifest["table"], partition_of(manifest)
    ids, items = manifest["id_column"], manifest["item_column"]
    of_lists = "[]" if manifest["layout"] == LISTS else ""
    rows = {ids: types[ids], items: types[items] + of_lists, **({} if part is None else {part[0]: types[part[0]]})}
    attributes = {name: kind for name, kind in types.items() if name not in rows}
    records = manifest.get("records_table", table)
    tables = {table: rows, records: {ids: types[ids], **attributes}}
    return tables if records != table else {table: rows | attributes}


def tells_suppressed(manifest: Mapping[str, str], empty: int) -> bool:
    """Whether a manifest has the number of different items that were suppressed (docs/item_supports.md#facts). Where every
    person has an item, the ``empty`` rows without a released item hold suppressed ones. If these are fewer than k, they are
    likelier candidates for such an item than others, the more so the fewer items were suppressed."""
    if manifest["suppression"] == "none":
        return True
    counted = manifest["model"] in _COUNTED and manifest["semantics"] == "set"
    return counted and not (manifest["layout"] == "rows" and 0 < empty < int(manifest["k"]))
