"""Anonymized views: made, refreshed, dropped, listed, and checked against the data as they are now."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb import pipeline
from anondb.algorithms.method import Task
from anondb.data.columns import load_columns
from anondb.data.sources import FILE_SUFFIXES, resolve_table
from anondb.data.taxonomy import Taxonomy, from_edges
from anondb.data.transactions import Dataset, fingerprint
from anondb.engine import DuckDBEngine, Engine
from anondb.errors import AnondbError, InputError
from anondb.models import Model
from anondb.models.named import model_of, parameters_of
from anondb.owner import ledger, overlap
from anondb.owner import published_rows as published
from anondb.owner import releases as stored
from anondb.owner.view_results import Check, Created, Dropped, Refreshed, Shown
from anondb.policy import Policy
from anondb.promises import check as checks
from anondb.promises.spec import Knowledge
from anondb.recoding import GlobalRecoding
from anondb.release.objects import RECORDS, SchemaName, find_schema, is_local, layout_of, read_manifest, release_schema
from anondb.release.paths import check_target
from anondb.release.publish import PublishedFile
from anondb.release.reader import read_sealed_manifest
from anondb.statements.parser import plain_table
from anondb.statements.statement import CreateView, Value
from anondb.utility import Loss, global_loss
from anondb.verify import Verification

SOURCES = (
    *("taxonomy", "records", "hierarchies", "weights", "domains", "sensitive", "privacy_constraints"),
    *("utility_constraints", "countable", "columns", "workload"),
)
SOURCE_SUFFIXES = (*FILE_SUFFIXES, ".tree", ".txt")
Images = npt.NDArray[Any]
_ALLOW_ANEW = "If that is wanted, CREATE OR REPLACE the view, its options and allow_overlap = true in WITH (...)."


# ---------------------------------------------------------------------- the statements


def create(engine: DuckDBEngine, statement: CreateView) -> Created:
    """Make the release of a view, publish it if that is wanted, and note the view in the ledger, all or nothing.

    Raises:
        InputError: ``overlap``.
        AnondbError: see ``pipeline.anonymize``; the database is as it was, and so is a file that was to be replaced.
    """
    table = _source_table(engine, statement)
    view = ledger.View(statement.name, statement.query, _anchored(statement.options), table)
    policy = stored.view_policy(engine, view, replace=statement.replace)
    path = view.options.get("publish")
    publish = None
    if path is not None:
        check_target(engine, path, statement.replace)
        before = stored.view_published_before(engine, view, policy)
        if before and not view.options.get("allow_overlap", False):
            raise overlap.refused(view.name, before, "Add allow_overlap = true if that is wanted.")
        publish = partial(_sealed, engine, view, path, statement.replace, before)
    return Created(view.name, pipeline.anonymize(engine, policy, view=view, publish=publish))


def refresh(engine: DuckDBEngine, name: str) -> Refreshed:
    """Make the release of a view anew if something that it was made from has changed (``_causes``); publish it where its
    file is not current. All or nothing.

    Raises:
        InputError: no such view, or a release that was not made as one; ``overlap``.
        AnondbError: see ``pipeline.anonymize``; the old release stays, and so does its file.
    """
    with engine.transaction():
        entry, view = _stored(engine, name)
        policy = stored.view_policy(engine, view, replace=True)
    path = view.options.get("publish")
    before = [] if path is None else stored.view_published_before(engine, view, policy)
    with engine.transaction():
        schema = stored.find_release(engine, name)
        task = pipeline.load(engine, policy)
        causes = _causes(engine, entry, task, policy)
        if path is not None and not causes and _sealed_id(path) == entry.release_id:
            path = None
        if not causes:
            before = [one for one in before if one.entry.release_id != entry.release_id]
        if path is not None:
            check_target(engine, path, replace=True)
            if before and not view.options.get("allow_overlap", False):
                raise overlap.refused(view.name, before, _ALLOW_ANEW)
        check, changed, report, file, begun = None, None, None, None, 0.0
        compared = bool(causes) and not _by_transaction(engine, schema)  # else an item has no image of its own
        if compared:
            check = _check(engine, entry, task.dataset, schema, policy.model, policy.max_suppression)
            old = _images(engine, task.dataset, schema)
        if causes:
            report = pipeline.anonymize(engine, policy, view=view, task=task)
        if compared:
            changed = int((old != _images(engine, task.dataset, schema)).sum())
        if path is not None:
            begun = time.perf_counter()
            file = _sealed(engine, view, path, True, before, task.dataset)
    if report is None:
        return Refreshed(view.name, (), file=file)
    if file is not None:
        report = pipeline.published(report, file, time.perf_counter() - begun)
    return Refreshed(view.name, causes, (entry.lm, entry.ncp), check, changed, report, file)


def drop(engine: Engine, name: str, if_exists: bool) -> Dropped:
    """Drop the release of a view; its entry in the ledger stays, and so do its rows if they were published.

    Raises:
        InputError: there is none, or its schema holds other objects.
    """
    catalog = stored.current_catalog(engine)
    with engine.transaction():
        if if_exists and find_schema(engine, release_schema(catalog, name)) is None:
            return Dropped(name, dropped=False)
        published.drop_release(engine, catalog, name)
    return Dropped(name, dropped=True)


def show(engine: DuckDBEngine, status: bool) -> Shown:
    """The anonymized views; with ``status`` each source is read to tell ``fresh`` from ``stale``."""
    catalog = stored.current_catalog(engine)
    views = []
    for entry in ledger.entries(engine, catalog):
        view = ledger.view_of(engine, catalog, entry.release_id) if entry.status == ledger.PRESENT else None
        if view is None:
            continue
        views.append(
            {
                "name": entry.name,
                "model": entry.model,
                "parameters": ", ".join(
                    f"{name}={value}"
                    for name in (*parameters_of(entry.model), "max_suppression")
                    if (value := entry.parameters.get(name)) is not None
                ),
                "algorithm": entry.algorithm,
                "source": entry.source_table,
                "transactions": entry.transactions,
                "lm": entry.lm,
                "ncp": entry.ncp,
                "created": entry.created.isoformat(sep=" ", timespec="seconds"),
                "status": _status(engine, entry, view) if status else "unknown",
            }
        )
    return Shown(tuple(views))


def _status(engine: DuckDBEngine, entry: ledger.LedgerEntry, view: ledger.View) -> str:
    """fresh, stale, or unknown where what the view reads cannot be read any more."""
    try:
        with engine.transaction():
            policy = stored.view_policy(engine, view)
            task = pipeline.load(engine, policy)
            return "stale" if _causes(engine, entry, task, policy) else "fresh"
    except InputError as error:
        if error.code == "transaction_open":
            raise
        return "unknown"


def check_view(engine: DuckDBEngine, name: str, *, model: Model | None = None, witnesses: int = 0) -> Check:
    """Apply the recoding of a release to its source as it is now, and check the promise. Nothing is written.

    Args:
        engine: the engine, outside a transaction; the database may be read-only.
        name: of the view or release.
        model: the promise; the release's own by default.
        witnesses: how many violations to return at most.

    Raises:
        InputError: no such release, or its source cannot be found again or is not as it should be.
    """
    with engine.transaction():
        schema = stored.find_release(engine, name)
        if _by_transaction(engine, schema):
            raise InputError(
                f"The release {name!r} is a local recoding: an item has no image that today's data could be given.",
                code="local_recoding",
                hint="Verify its frozen rows, or make it anew.",
            )
        entry, dataset = stored.load_source(engine, name)
        promised = model or model_of(read_manifest(engine, schema))
        limit = entry.parameters.get("max_suppression")
        return _check(
            engine, entry, dataset, schema, promised, None if limit is None else Fraction(limit), witnesses=witnesses
        )


# ---------------------------------------------------------------------- parts


def _source_table(engine: Engine, statement: CreateView) -> str:
    """What analysts call the original: the table, where the query takes all of its rows as they are, else the view.

    Counts over the rows of a view that leaves some out, or computes its columns, are not counts over the table.
    """
    table = plain_table(statement.query)
    if table is not None:
        with contextlib.suppress(InputError):
            return resolve_table(engine, table, "view's").name
    return statement.name


def _stored(engine: Engine, name: str) -> tuple[ledger.LedgerEntry, ledger.View]:
    catalog = stored.current_catalog(engine)
    entry = ledger.find(engine, catalog, name)
    if entry is None or find_schema(engine, release_schema(catalog, name)) is None:
        raise InputError(
            f"There is no anonymized view {name!r}.", code="no_such_release", hint="List them: SHOW ANONYMIZED VIEWS."
        )
    view = ledger.view_of(engine, catalog, entry.release_id)
    if view is None:
        raise InputError(
            f"The release {name!r} was not made as an anonymized view, so how to make it again is not stored.",
            code="not_a_view",
            hint="Use CREATE OR REPLACE ANONYMIZED VIEW.",
        )
    return entry, view


def _anchored(options: Mapping[str, Value]) -> dict[str, Value]:
    """The options of a view with absolute paths: a later REFRESH may run in another directory."""
    found = dict(options)
    for name, value in options.items():
        path = Path(str(value))
        is_source = name in SOURCES and path.suffix.lower() in SOURCE_SUFFIXES
        if name == "publish" or is_source or (name == "hierarchies" and path.is_dir()):
            found[name] = os.path.abspath(path)
    return found


def _causes(engine: DuckDBEngine, entry: ledger.LedgerEntry, task: Task, policy: Policy) -> tuple[str, ...]:
    """What has changed since a view's release was made: its data, whether rows repeat, records, taxonomy, sensitive items,
    constraints or columns."""
    catalog = stored.current_catalog(engine)
    was = dict(ledger.taxonomy_of(engine, catalog, entry.release_id))
    same = {
        "data": fingerprint(engine, task.dataset) == entry.fingerprint,
        "repeated rows": _asked(engine, entry.name) == stored.asked_table(task.dataset, entry.name),
        "records": ledger.records_of(engine, catalog, entry.release_id)
        == (None if task.records is None else task.records.fingerprint()),
        "sensitive items": sorted(ledger.sensitive_of(engine, catalog, entry.release_id))
        == sorted(task.sensitive or ()),
        "taxonomy": was == _parents(task.taxonomy),
        "constraints": ledger.constraints_of(engine, catalog, entry.release_id)
        == ledger.constraint_rows(task.requirements),
    }
    if same["data"] and policy.columns is not None and not isinstance(policy.columns, int):
        same["columns"] = _same_columns(engine, entry.name, task.dataset, policy.columns)
    return tuple(what for what, holds in same.items() if not holds)


def _asked(engine: DuckDBEngine, name: str) -> str:
    """What analysts call the original of a release."""
    return read_manifest(engine, stored.find_release(engine, name))["table"]


def _same_columns(engine: DuckDBEngine, name: str, dataset: Dataset, columns: Any) -> bool:
    """Whether the owner's columns of an anatomy are those of its release."""
    number, _ = load_columns(engine, columns, dataset)
    buckets = stored.find_release(engine, name).table("buckets")
    found = engine.query("query/bucket_supports", {"buckets": buckets})
    released = dict(zip(found["item"].tolist(), found["column_id"].tolist(), strict=True))
    return released == dict(zip(dataset.labels, number.tolist(), strict=True))


def _by_transaction(engine: Engine, schema: SchemaName) -> bool:
    """Whether what becomes of an item depends on the transaction; with relational values it does, though it may not show."""
    return is_local(engine, schema) or layout_of(read_manifest(engine, schema)["model"]) == RECORDS


def _parents(taxonomy: Taxonomy | None) -> dict[str, str | None]:
    """The parent of each node: what makes two taxonomies the same, whatever the order of their rows."""
    if taxonomy is None:
        return {}
    labels = taxonomy.labels
    return {
        label: None if above < 0 else labels[above]
        for label, above in zip(labels, taxonomy.parent.tolist(), strict=True)
    }


def _sealed_id(path: str) -> str | None:
    """Which release a sealed file holds; None where there is none, or that cannot be told."""
    try:
        return read_sealed_manifest(path)["release_id"]
    except AnondbError:
        return None


def _sealed(
    engine: DuckDBEngine,
    view: ledger.View,
    path: str,
    replace: bool,
    before: Sequence[overlap.Earlier],
    dataset: Dataset,
) -> PublishedFile:
    """The release of a view in its file, compared with what was published before. Call it inside a transaction."""
    catalog, schema = stored.current_catalog(engine), stored.find_release(engine, view.name)
    found = overlap.measure(engine, catalog, schema, before, dataset)
    allowed = bool(view.options.get("allow_overlap", False))
    return stored.seal(engine, view.name, path, found, replace=replace, allow_overlap=allowed)


def _images(engine: Engine, dataset: Dataset, schema: SchemaName) -> Images:
    """The released item of each item of the data, by item number; the number 0 (no text) where there is none."""
    found = engine.query(
        "statements/images", {"items": dataset.items, "released_items": schema.table("released_items")}
    )
    column = found["released_item"]
    labels = np.asarray(np.ma.getdata(column), dtype=object).copy()
    labels[np.ma.getmaskarray(column)] = 0
    return labels


def _check(
    engine: DuckDBEngine,
    entry: ledger.LedgerEntry,
    dataset: Dataset,
    schema: SchemaName,
    model: Model,
    limit: Fraction | None,
    *,
    witnesses: int = 0,
) -> Check:
    """Apply a release's recoding to a dataset, in SQL, and verify what comes out.

    An anatomy is no recoding of items: its buckets are verified, and that they are those of the dataset.
    """
    buckets = model.layout == "buckets"
    if buckets:
        known = Knowledge(original=dataset)
        verification = checks.verify_release(engine, schema, model, witnesses, knowledge=known)
    else:
        verification = _verify_recoded(engine, entry, dataset, schema, model, witnesses)
    published = _images(engine, dataset, schema)
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
        loss=Loss() if buckets else _loss(engine, entry, dataset, schema, published),
    )


def _verify_recoded(
    engine: DuckDBEngine,
    entry: ledger.LedgerEntry,
    dataset: Dataset,
    schema: SchemaName,
    model: Model,
    witnesses: int,
) -> Verification:
    """The promise on a dataset under the image map of a release."""
    released = schema.table("released_items")
    images = engine.create("old_images", "statements/images", {"items": dataset.items, "released_items": released})
    codes = engine.create("old_codes", "statements/codes", {"images": images})
    recoded = engine.create(
        "recoded", "statements/recoded", {"transactions": dataset.transactions, "images": images, "codes": codes}
    )
    subject = checks.subject_of(engine, replace(dataset, transactions=recoded, items=codes, bags=None))
    knowledge = stored.knowledge_of(engine, stored.current_catalog(engine), entry.release_id)
    subject = replace(subject, knowledge=knowledge, released_items=released)
    verification = checks.verify_subject(subject, model, witnesses)
    engine.drop(recoded, codes, images)
    return verification


def _loss(engine: Engine, entry: ledger.LedgerEntry, dataset: Dataset, schema: SchemaName, published: Images) -> Loss:
    """What the release's recoding costs on a dataset; items without a released item count as suppressed."""
    found = engine.query("release/members", {"released_items": schema.table("released_items")})
    labels, member_of = np.unique(np.asarray(found["released_item"], dtype=object), return_inverse=True)
    number = {label: n for n, label in enumerate(labels.tolist())}
    recoding = GlobalRecoding(
        image=np.asarray([-1 if label == 0 else number[label] for label in published.tolist()], dtype=np.int64),
        labels=tuple(labels.tolist()),
        member_of=member_of.astype(np.int64),
        member_labels=tuple(found["item"].tolist()),
    )
    edges = ledger.taxonomy_of(engine, stored.current_catalog(engine), entry.release_id)
    return global_loss(dataset, recoding, from_edges(edges) if edges else None)
