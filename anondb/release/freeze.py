"""Freeze a release: write the anonymized rows, under fresh random numbers, into a separate schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anondb.data.transactions import Dataset
from anondb.engine import Engine, Table, reads
from anondb.engine.texts import literal, sql
from anondb.errors import InputError, InternalError
from anondb.models import Model
from anondb.recoding import BucketRecoding, GlobalRecoding, LocalRecoding, Recoding
from anondb.release import objects
from anondb.release.catalog import unexpected_objects
from anondb.release.definitions import create_views_and_macros
from anondb.release.item_supports import SupportRule, write_item_supports
from anondb.release.manifest import SUPPRESSED, manifest_of, suppressed_in
from anondb.release.numbering import number_transactions
from anondb.release.relational import shown_attributes, write_records
from anondb.utility.loss import Cover


@dataclass(frozen=True)
class FrozenRelease(objects.StoredRelease):
    """A release that was just made in the owner's database."""

    transactions: int  # N, including suppressed and empty transactions
    rows: int  # the number of (transaction, released item) pairs
    released_items: int  # the number of released items that occur
    # suppressed_items, suppressed_occurrences: how many the recoding suppressed; for the owner only
    suppressed_items: int
    suppressed_occurrences: int
    suppression: str  # ``some`` or ``none``
    cover: Cover | None = None  # for a local recoding, the released items that stand for each item; for the owner only


def check_recoding(dataset: Dataset, recoding: GlobalRecoding) -> None:
    """Raise an ``InternalError`` if a recoding would make the release untruthful (a bug in the algorithm)."""
    image = recoding.image
    if len(image) != dataset.n_items or (len(image) and not -1 <= image.min() <= image.max() < len(recoding.labels)):
        raise InternalError("A recoding does not fit the items of its data.")
    if len(recoding.member_of) != len(recoding.member_labels):
        raise InternalError("A recoding's columns of members differ in length.")
    used = set(image[image >= 0].tolist())
    if len({recoding.labels[r] for r in used}) != len(used):
        raise InternalError("Two released items have the same label.")
    pairs = [p for p in zip(recoding.member_of.tolist(), recoding.member_labels, strict=True) if p[0] in used]
    if len({label for _, label in pairs}) != len(pairs):
        raise InternalError("Two released items stand for the same item.")
    members = set(pairs)
    for released, label in zip(image.tolist(), dataset.labels, strict=True):
        if released >= 0 and (released, label) not in members:
            raise InternalError("A released item does not stand for an item that it replaces.")


def name_taken(existing: objects.SchemaName) -> InputError:
    """The error for the name of a release that is in use."""
    return InputError(
        f"A schema {existing.name!r} exists already (upper and lower case are the same).",
        code="release_exists",
        hint="Choose another name, or replace it with --replace.",
    )


def _make_room(engine: Engine, schema: objects.SchemaName, replace: bool) -> None:
    """Create the schema. With ``replace``, drop a release of the same name; never drop any other schema."""
    if schema.catalog.casefold() == schema.name.casefold():
        raise InputError(
            f"The database and the schema would both be called {schema.name!r}, which DuckDB cannot tell apart.",
            code="ambiguous_name",
            hint="Give the release another name.",
        )
    if (existing := objects.find_schema(engine, schema)) is not None:
        if not replace:
            raise name_taken(existing)
        drop_schema(engine, existing)
    engine.run(schema.creation(), "creating the schema of the release")


def drop_schema(engine: Engine, schema: objects.SchemaName) -> None:
    """Drop the schema of a release with all its objects. Raises InputError: ``not_a_release``: it holds other objects, which
    anondb must not drop."""
    kind = objects.release_kind(engine, schema)
    if kind is None or unexpected_objects(engine, schema, kind):
        raise InputError(
            f"The schema {schema.name!r} holds objects that do not belong to a release.",
            code="not_a_release",
            hint="Move them elsewhere, or drop the schema yourself.",
        )
    engine.drop(*map(schema.table, kind.tables))  # DuckDB cannot commit a dropped schema with rows of this transaction
    engine.run(schema.removal(), "dropping a release")


def freeze(
    engine: Engine,
    dataset: Dataset,
    recoding: Recoding,
    model: Model,
    *,
    release_schema: objects.SchemaName,
    replace: bool = False,
    supports: SupportRule | None = None,
    records_table: str | None = None,
) -> FrozenRelease:
    """Write the release of a recoding: the objects of a sealed file, in ``release_schema``.

    Call it inside ``engine.transaction()``.

    Args:
        recoding: the image of each item or transaction, or the columns and buckets of an anatomy.
        model: the promise; its name and parameters go into the manifest.
        release_schema: the schema to write; see ``objects.release_schema``.
        supports: the rule of the item supports to publish, if the model may have them.
        records_table: the name of the table of relational records, for analysts; ``records`` by default.

    Raises:
        InputError: the schema exists, or DuckDB could not tell it from its database; ``no_item_supports``: bags.
        InternalError: the recoding does not belong to this dataset.
    """
    _make_room(engine, release_schema, replace)
    if isinstance(recoding, BucketRecoding):
        return _freeze_buckets(engine, dataset, recoding, model, release_schema)
    items, values = recoding.items, recoding.values
    numbered = number_transactions(engine, dataset.ids)
    if isinstance(items, LocalRecoding):
        rows = _write_local(items, engine, dataset, release_schema, numbered)
    else:
        rows = _write_global(items, engine, dataset, release_schema, numbered)
    if values is not None:
        places = release_schema.table("records"), release_schema.table("released_values")
        write_records(engine, values, numbered, *places)
    listed = _write_members(engine, items, rows.occurring, release_schema)
    if supports is not None:
        _check_supported(items, rows)
        local = isinstance(items, LocalRecoding)
        write_item_supports(engine, dataset, numbered, release_schema, supports, local=local)
    engine.drop(numbered)
    attributes = () if values is None else values.attributes
    manifest = manifest_of(dataset, model, objects.new_release_id(), rows.suppression, items.semantics, attributes)
    bits = sql("bit_count(bitstring_agg(transaction_id, 1, {})) AS n", max(dataset.n_transactions, 1))
    showing = engine.scalar(reads.rows(release_schema.table("transaction_items"), bits)) or 0
    manifest |= suppressed_in(dataset, listed, manifest, dataset.n_transactions - int(showing))
    if values is not None:
        manifest["sensitive"] = objects.sensitive_text(values.sensitive)
        manifest["records_table"] = records_table or objects.RECORDS
    layout = objects.LAYOUTS[model.layout] if values is None else objects.relational_kind(shown_attributes(values))
    if supports is not None:
        manifest["item_supports"] = "true"
        layout = objects.with_item_supports(layout)
    return _finished(engine, release_schema, layout, manifest, rows, dataset.n_transactions)


def _finished(
    engine: Engine,
    schema: objects.SchemaName,
    layout: objects.Kind,
    manifest: dict[str, str],
    rows: _Rows,
    transactions: int,
) -> FrozenRelease:
    """Add the manifest, the views and the macros to the rows of a release, and count them."""
    _put_texts(engine, schema.table("manifest"), list(manifest), list(manifest.values()))
    kind = objects.as_read(engine, schema, layout)
    create_views_and_macros(engine, schema, manifest["release_id"], kind)
    counts = objects.table_counts(engine, schema, kind)
    if any(counts.get(name, transactions) != transactions for name in ("transaction_ids", "records")):
        raise InternalError("The frozen release lost a transaction.")
    return FrozenRelease(
        schema=schema,
        kind=kind,
        manifest=manifest,
        transactions=transactions,
        rows=counts[kind.rows],
        released_items=len(rows.occurring),
        **{name: figure for name, figure in vars(rows).items() if name != "occurring"},
    )


def _check_supported(items: GlobalRecoding | LocalRecoding, rows: _Rows) -> None:
    """Check that a release of this recoding may have item supports."""
    why = "its nodes overlap within a transaction" if items.semantics == "atomic" else "no item is released"
    if items.semantics == "atomic" or not rows.occurring:
        raise InputError(f"The release cannot have item supports: {why}.", code="no_item_supports", hint="Leave them out.")


def _write_members(
    engine: Engine, items: GlobalRecoding | LocalRecoding, occurring: set[int], schema: objects.SchemaName
) -> list[str]:
    """Write the original items that each occurring released item stands for, both in the order of labels; return them."""
    members: dict[int, list[str]] = {r: [] for r in sorted(occurring, key=items.labels.__getitem__)}
    for r, label in zip(items.member_of.tolist(), items.member_labels, strict=True):
        if r in members:
            members[r].append(label)
    released = [items.labels[r] for r, below in members.items() for _ in below]
    stands_for = [label for below in members.values() for label in sorted(below)]
    _put_texts(engine, schema.table("released_items"), released, stands_for)
    return stands_for


def _put_texts(engine: Engine, table: Table, *columns: list[str]) -> None:
    """Write a table of a release whose columns are all text."""
    engine.put(table, {c: ("VARCHAR", v) for c, v in zip(objects.GLOBAL.tables[table.name], columns, strict=True)})


@dataclass(frozen=True, eq=False, repr=False)
class _Rows:
    """Figures of the written rows: the released items that occur, whether anything may have been suppressed (``some`` or
    ``none``), the numbers of suppressed items and occurrences, and the cover of a local recoding."""

    occurring: set[int]
    suppression: str = "none"
    suppressed_items: int = 0
    suppressed_occurrences: int = 0
    cover: Cover | None = None


def _write_labels(engine: Engine, labels: Sequence[str], occurring: set[int], schema: objects.SchemaName) -> Table:
    """Write the labels that occur, numbered from 1; returns the work table ``(released, item_id)``."""
    ordered = sorted(occurring, key=labels.__getitem__)
    texts = [labels[r] for r in ordered]
    if len(set(texts)) != len(texts):
        raise InternalError("Two released items have the same label.")
    numbers = ("INTEGER", np.arange(1, len(ordered) + 1))
    engine.put(schema.table("labels"), {"item_id": numbers, "item": ("VARCHAR", texts)})
    return engine.put("release_labels", {"released": ("INTEGER", np.asarray(ordered, dtype=np.int64)), "item_id": numbers})


def _write_global(
    recoding: GlobalRecoding, engine: Engine, dataset: Dataset, schema: objects.SchemaName, numbered: Table
) -> _Rows:
    """Write the transactions of a global recoding: every item replaced by its image."""
    check_recoding(dataset, recoding)
    image = engine.put(
        "release_image", {"item": ("INTEGER", np.arange(dataset.n_items)), "released": ("INTEGER", recoding.image)}
    )
    gone = recoding.image < 0
    items, occurrences = int(gone.sum()), int(dataset.supports[gone].sum())
    occurring = set(recoding.image[recoding.image >= 0].tolist())
    labels = _write_labels(engine, recoding.labels, occurring, schema)
    images = reads.joined(dataset.transactions, image, "item", "one.tid, other.released")
    numbers = reads.joined(images, numbered, "tid", "one.released, other.transaction_id")
    coded = reads.joined(numbers, labels, "released", "other.item_id, one.transaction_id")
    rows = reads.once(coded, "item_id, transaction_id")
    shown = reads.rows(rows, "transaction_id, item_id, CAST(1 AS INTEGER) AS copies")
    engine.create(schema.table("transaction_items"), shown)
    ids = reads.rows(numbered, f"transaction_id, {literal(not items)} AS complete", order="transaction_id")
    engine.create(schema.table("transaction_ids"), ids)
    engine.drop(image, labels)
    return _Rows(occurring, "some" if items else "none", items, occurrences)


def _write_local(
    recoding: LocalRecoding, engine: Engine, dataset: Dataset, schema: objects.SchemaName, numbered: Table
) -> _Rows:
    """Write the transactions of a local recoding, and check them against the originals."""
    atomic = recoding.semantics == "atomic"
    cover = Cover.of(engine, dataset, recoding)
    recoded, incomplete = recoding.transactions, engine.put("incomplete", {"tid": ("INTEGER", recoding.incomplete)})
    both = {"recoded": recoded, "incomplete": incomplete}
    if atomic:
        sets = reads.rows(dataset.transactions, "tid, 1 AS copies")
        losses = engine.query("release/local_lost", {"transactions": dataset.bags or sets, **both})
        lost, wrong = int(losses["lost"][0]), int(losses["wrong"][0])
    else:
        lost, wrong = dataset.n_occurrences - int(cover.occurrences.sum()), 0
        if lost:
            members = cover.members(engine, dataset, recoding)
            tables = {"transactions": dataset.transactions, "members": members, **both}
            wrong = int(engine.scalar("release/local_uncovered", tables))
            engine.drop(members)
    if lost < 0 or wrong:
        raise InternalError("A local recoding does not fit the transactions of its data.")
    occurring = set(np.flatnonzero(cover.copies).tolist())
    labels = _write_labels(engine, recoding.labels, occurring, schema)
    numbers = reads.joined(recoded, numbered, "tid", "other.transaction_id, one.released, one.copies")
    columns = "one.transaction_id, other.item_id, CAST(one.copies AS INTEGER) AS copies"
    rows = reads.joined(numbers, labels, "released", columns, order="item_id, transaction_id")
    engine.create(schema.table("transaction_items"), rows)
    complete = "one.transaction_id, (other.tid IS NULL) AS complete"
    gaps = reads.rows(incomplete, "tid", distinct=True)
    ids = reads.joined(numbered, gaps, "tid", complete, side="LEFT", order="one.transaction_id")
    engine.create(schema.table("transaction_ids"), ids)
    gone = dataset.n_items - cover.items
    engine.drop(incomplete, labels)
    return _Rows(occurring, "some" if len(recoding.incomplete) else "none", gone, lost, cover)


def _freeze_buckets(
    engine: Engine, dataset: Dataset, recoding: BucketRecoding, model: Model, schema: objects.SchemaName
) -> FrozenRelease:
    """Write the release of an anatomy, whose released items are the original items."""
    check_buckets(dataset, recoding)
    write_buckets(engine, dataset, recoding, schema)
    labels = list(dataset.labels)
    _put_texts(engine, schema.table("released_items"), labels, labels)
    manifest = manifest_of(dataset, model, objects.new_release_id(), "none", "set") | {SUPPRESSED: "0"}
    return _finished(engine, schema, objects.ANATOMY, manifest, _Rows(set(range(len(labels)))), dataset.n_transactions)


def check_buckets(dataset: Dataset, recoding: BucketRecoding) -> None:
    """Raise an ``InternalError`` if an anatomy omits an item or a transaction (a bug in the algorithm)."""
    if len(recoding.column) != dataset.n_items or len(recoding.bucket) != dataset.n_transactions:
        raise InternalError("An anatomy does not fit the items and transactions of its data.")
    if (recoding.column < 1).any() or (recoding.column > recoding.n_columns).any() or (recoding.sizes < 1).any():
        raise InternalError("An anatomy has items without a column, or buckets without a transaction.")


def write_buckets(engine: Engine, dataset: Dataset, recoding: BucketRecoding, schema: objects.SchemaName) -> None:
    """Write the bucket table of an anatomy; the buckets get fresh random numbers."""
    columns = engine.put(
        "release_columns", {"item": ("INTEGER", np.arange(dataset.n_items)), "column_id": ("INTEGER", recoding.column)}
    )
    buckets = engine.put(
        "release_buckets",
        {"tid": ("INTEGER", np.arange(1, dataset.n_transactions + 1)), "bucket": ("INTEGER", recoding.bucket)},
    )
    numbers = reads.rows(buckets, "bucket AS tid", distinct=True)
    numbered = number_transactions(engine, numbers)
    data = {"transactions": dataset.transactions, "items": dataset.items, "columns": columns}
    engine.create(schema.table("buckets"), "release/frozen_buckets", {**data, "buckets": buckets, "numbered": numbered})
    engine.drop(columns, buckets, numbered)
