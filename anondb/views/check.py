"""Check a release against its current source: apply its recoding to the current data, and verify the result."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb.data.sources import open_source, reading_as
from anondb.data.taxonomy import from_edges
from anondb.data.transactions import Dataset, fingerprint
from anondb.engine import DuckDBEngine, Engine, Query, Table, Tables, query_of, reads
from anondb.ledger import ledger, loaded_files, stored
from anondb.models import Model
from anondb.models.named import model_of
from anondb.promises import check as checks
from anondb.recoding import GlobalRecoding
from anondb.release.conditions import ReleasedAttribute
from anondb.release.item_supports import held_by
from anondb.release.objects import SchemaName, read_manifest
from anondb.utility.loss import Loss, global_loss
from anondb.verify import Verification
from anondb.views.results import Check

Images = npt.NDArray[Any]


def check_view(engine: DuckDBEngine, name: str, *, model: Model | None = None, witnesses: int = 0) -> Check:
    """Apply the recoding of a release to its current source, and check the promise (by default the release's), without
    writing, outside a transaction; the database may be read-only. A recoding of single transactions does not apply to other
    data: then the release's rows are checked. Raises InputError: ``no_source``: the source, or a file that it was read
    from, is gone."""
    with engine.transaction():
        release = stored.find_whole(engine, name)
        entry, dataset = stored.load_source(engine, name)
        promised = model or model_of(release.manifest)
        limit = entry.parameters.get("max_suppression")
        asked = None if limit is None else Fraction(limit)
        local = release.kind.by_transaction
        check = check_release(engine, entry, dataset, release.schema, promised, asked, witnesses=witnesses, local=local)
        view = ledger.view_of(engine, stored.current_catalog(engine), entry.release_id)
        with reading_as(engine, stored.rows_of(engine, entry, view)):
            check = replace(check, source_file=loaded_files.again(engine, entry, dataset.reference, "transactions"))
            return _with_records(engine, check, entry, dataset, release.kind.attributes)


def _with_records(
    engine: DuckDBEngine,
    check: Check,
    entry: ledger.LedgerEntry,
    dataset: Dataset,
    attributes: tuple[ReleasedAttribute, ...] | None,
) -> Check:
    """The check, with whether the records and their file are those of which the release was made."""
    if attributes is None:
        return check
    table = None
    if (location := stored.records_of(engine, entry)) is not None:
        with open_source(engine, location, "records") as source:
            table = source.reference
    file = loaded_files.again(engine, entry, table, "records")
    same = check.fresh and attributes != ()
    if same:
        records = stored.released_records(engine, entry, dataset, attributes)
        same = records.digest() == entry.parameters.get("records_digest")
    return replace(check, fresh=same or (check.fresh and not attributes), records_file=file)


def _images(dataset: Dataset, schema: SchemaName) -> Query:
    """``(item, released_item)`` of each item of the data; NULL if it has none, the first of several."""
    columns, members = "one.item, min(other.released_item) AS released_item", schema.table("released_items")
    return reads.joined(dataset.items, members, "label = item", columns, side="LEFT", order="one.item", group="one.item")


def images_of(engine: Engine, dataset: Dataset, schema: SchemaName) -> Images:
    """The released item of each item of the data, by item number; the number 0 (not a text) if it has none."""
    images = engine.select(_images(dataset, schema))
    column = images["released_item"]
    labels = np.asarray(np.ma.getdata(column), dtype=object).copy()
    labels[np.ma.getmaskarray(column)] = 0
    return labels


def check_release(
    engine: DuckDBEngine,
    entry: ledger.LedgerEntry,
    dataset: Dataset,
    schema: SchemaName,
    model: Model,
    limit: Fraction | None,
    *,
    witnesses: int = 0,
    local: bool = False,
) -> Check:
    """Apply a release's recoding to a dataset in SQL, and verify the result. A ``local`` recoding and an anatomy do not
    apply to other data: their rows are verified, buckets also compared with the dataset."""
    if as_it_is := local or model.layout == "buckets":
        knowledge = ledger.knowledge_of(engine, stored.current_catalog(engine), entry.release_id)
        knowledge = knowledge if local else replace(knowledge, original=dataset)
        verification = checks.verify_release(engine, schema, model, witnesses, knowledge=knowledge)
    else:
        verification = _verify_recoded(engine, entry, dataset, schema, model, witnesses)
    published = images_of(engine, dataset, schema)
    missing = published == 0
    return Check(
        release=entry.name,
        verification=verification,
        fresh=fingerprint(engine, dataset) == entry.fingerprint,
        transactions=dataset.n_transactions,
        items=dataset.n_items,
        not_covered_items=int(missing.sum()),
        not_covered_occurrences=int(dataset.supports[missing].sum()),
        not_covered=tuple(dataset.labels[i] for i in np.flatnonzero(missing)[:witnesses].tolist()),
        limit=limit,
        loss=Loss() if as_it_is else _loss(engine, entry, dataset, schema, published),
    )


def _verify_recoded(
    engine: DuckDBEngine, entry: ledger.LedgerEntry, dataset: Dataset, schema: SchemaName, model: Model, witnesses: int
) -> Verification:
    """Verify the promise on a dataset under the image map of a release."""
    images = engine.create("old_images", _images(dataset, schema))
    codes = engine.create("old_codes", "warehouse/load/items", {"source": reads.rows(images, "released_item AS item")})
    shown = reads.joined(dataset.transactions, images, "item", "one.tid, other.released_item")
    recoded = engine.create(
        "recoded",
        reads.joined(shown, codes, "released_item = label", "one.tid, other.item", order="tid, item", distinct=True),
    )
    subject = checks.subject_of(engine, replace(dataset, transactions=recoded, items=codes, bags=None))
    knowledge = ledger.knowledge_of(engine, stored.current_catalog(engine), entry.release_id)
    subject = replace(subject, knowledge=knowledge, released_items=schema.table("released_items"))
    verification = checks.verify_subject(subject, model, witnesses)
    if "item_supports" in read_manifest(engine, schema):
        differing = _differing_supports(engine, dataset, schema, model, recoded, codes)
        verification = replace(verification, item_supports=differing)
    engine.drop(recoded, codes, images)
    return verification


def _differing_supports(
    engine: DuckDBEngine, dataset: Dataset, schema: SchemaName, model: Model, recoded: Table, codes: Table
) -> int:
    """The number of item supports of a release that its rule does not give for the current source."""
    released, rule = schema.table("released_items"), checks.support_rule(model)
    held = engine.put("held", held_by(dataset))
    columns = "any_value(other.label) AS released_item, count(*) AS support"
    tables: Tables = {
        "held": held,
        "released_items": released,
        "supports": reads.joined(recoded, codes, "item", columns, group="one.item"),
    }
    members = {"members": query_of("warehouse/release/item_holders", tables, {})}
    recounted = query_of("warehouse/release/item_supports", members, {"k": rule.k, "m": rule.m})
    published, ends = schema.table("item_supports"), "at_least, at_most"
    differing = int(engine.scalar(reads.differing(recounted, published, "released_item, item", ends)))
    engine.drop(held)
    return differing


def _loss(engine: Engine, entry: ledger.LedgerEntry, dataset: Dataset, schema: SchemaName, published: Images) -> Loss:
    """The loss of a release's recoding on a dataset; items without a released item count as suppressed."""
    members = schema.table("released_items")
    pairs = engine.select(reads.rows(members, "released_item, item", order="released_item, item"))
    labels, member_of = np.unique(np.asarray(pairs["released_item"], dtype=object), return_inverse=True)
    number = {label: n for n, label in enumerate(labels.tolist())}
    recoding = GlobalRecoding(
        image=np.asarray([-1 if label == 0 else number[label] for label in published.tolist()], dtype=np.int64),
        labels=tuple(labels.tolist()),
        member_of=member_of.astype(np.int64),
        member_labels=tuple(pairs["item"].tolist()),
    )
    edges = ledger.taxonomy_of(engine, stored.current_catalog(engine), entry.release_id)
    return global_loss(dataset, recoding, from_edges(edges) if edges else None)
