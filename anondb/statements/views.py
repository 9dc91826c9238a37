"""Anonymized views: made, refreshed, dropped, listed, and checked against the data as they are now."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anondb import checks, pipeline, stored
from anondb.data.sources import resolve_table
from anondb.data.taxonomy import from_edges
from anondb.data.transactions import Dataset, fingerprint
from anondb.engine import Engine
from anondb.errors import InputError
from anondb.models import Model
from anondb.pipeline import Report
from anondb.recoding import GlobalRecoding
from anondb.release import ledger
from anondb.release.objects import SchemaName, find_schema, read_manifest, release_schema
from anondb.release.publish import check_target
from anondb.statements.parser import base_tables
from anondb.statements.results import Check, Created, Dropped, Refreshed, Shown
from anondb.statements.statement import CreateView
from anondb.utility import Loss, global_loss

Images = npt.NDArray[Any]


# ---------------------------------------------------------------------- the statements


def create(engine: Engine, statement: CreateView) -> Created:
    """Make the release of a view and note the view in the ledger, all or nothing.

    Raises:
        AnondbError: see ``pipeline.anonymize``; the database is as it was.
    """
    table = _base_table(engine, statement.query) or statement.name
    view = ledger.View(statement.name, statement.query, statement.options, table)
    policy = stored.view_policy(engine, view, replace=statement.replace)
    publish = _publish_to(engine, view.options, statement.replace)
    report = pipeline.anonymize(engine, policy, view=view)
    return Created(view.name, _published(engine, report, publish, statement.replace))


def refresh(engine: Engine, name: str) -> Refreshed:
    """Make the release of a view anew if its data have changed.

    The data are compared by their fingerprint, which covers transactions, not the taxonomy: after a change of the taxonomy
    alone, ``CREATE OR REPLACE`` makes the view anew.

    Raises:
        InputError: no such view, or a release that was not made as one.
        AnondbError: see ``pipeline.anonymize``; the old release stays.
    """
    with engine.transaction():
        entry, view = _stored(engine, name)
        policy = stored.view_policy(engine, view, replace=True)
        schema = stored.find_release(engine, name)
        loaded = pipeline.load(engine, policy)
        dataset = loaded.dataset
        if fingerprint(engine, dataset) == entry.fingerprint:
            return Refreshed(view.name, changed=False)
        publish = _publish_to(engine, view.options, replacing=True)
        check = _check(engine, entry, dataset, schema, policy.model, policy.max_suppression)
        old = _images(engine, dataset, schema)
        report = pipeline.anonymize(engine, policy, view=view, loaded=loaded)
        changed = int((old != _images(engine, dataset, schema)).sum())
    return Refreshed(
        view.name,
        changed=True,
        before=(entry.lm, entry.ncp),
        check=check,
        images_changed=changed,
        report=_published(engine, report, publish, replacing=True),
    )


def drop(engine: Engine, name: str, if_exists: bool) -> Dropped:
    """Drop the release of a view; its entry in the ledger stays.

    Raises:
        InputError: there is none, or its schema holds other objects.
    """
    catalog = stored.current_catalog(engine)
    with engine.transaction():
        if if_exists and find_schema(engine, release_schema(catalog, name)) is None:
            return Dropped(name, dropped=False)
        ledger.drop_release(engine, catalog, name)
    return Dropped(name, dropped=True)


def show(engine: Engine, status: bool) -> Shown:
    """The releases that are there; with ``status`` each source is read to tell ``fresh`` from ``stale``."""
    catalog = stored.current_catalog(engine)
    views = []
    for entry in ledger.entries(engine, catalog):
        if entry.status != ledger.PRESENT:
            continue
        views.append(
            {
                "name": entry.name,
                "model": entry.model,
                "parameters": ", ".join(f"{k}={v}" for k, v in entry.parameters.items() if v is not None),
                "algorithm": entry.algorithm,
                "source": entry.source_table,
                "transactions": entry.transactions,
                "lm": entry.lm,
                "ncp": entry.ncp,
                "created": entry.created.isoformat(sep=" ", timespec="seconds"),
                "status": _status(engine, entry) if status else "unknown",
            }
        )
    return Shown(tuple(views))


def _status(engine: Engine, entry: ledger.LedgerEntry) -> str:
    """fresh, stale, or unknown where the source cannot be read any more."""
    try:
        with engine.transaction():
            _, dataset = stored.load_source(engine, entry.name)
            return "fresh" if fingerprint(engine, dataset) == entry.fingerprint else "stale"
    except InputError as error:
        if error.code == "transaction_open":
            raise
        return "unknown"


def check_view(engine: Engine, name: str, *, model: Model | None = None, witnesses: int = 0) -> Check:
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
        entry, dataset = stored.load_source(engine, name)
        promised = model or checks.model_of(read_manifest(engine, schema))
        limit = entry.parameters.get("max_suppression")
        return _check(
            engine, entry, dataset, schema, promised, None if limit is None else Fraction(limit), witnesses=witnesses
        )


# ---------------------------------------------------------------------- parts


def _base_table(engine: Engine, query: str) -> str | None:
    """The name of the one table that a query reads, as DuckDB spells it; None where it reads none, or several."""
    tables = base_tables(query)
    if tables is None or len(tables) != 1:
        return None
    try:
        return resolve_table(engine, tables[0], "view's").name
    except InputError:
        return None


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


def _publish_to(engine: Engine, options: Mapping[str, Any], replacing: bool) -> str | None:
    """Where a view is to be sealed; refused before the long work if that is not possible."""
    path = options.get("publish")
    if path is None:
        return None
    check_target(engine, path, replacing)
    return str(path)


def _published(engine: Engine, report: Report, path: str | None, replacing: bool) -> Report:
    if path is None:
        return report
    file = stored.publish_release(engine, report.release, path, replace=replacing)
    return pipeline.published(report, file, 0.0)


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
    engine: Engine,
    entry: ledger.LedgerEntry,
    dataset: Dataset,
    schema: SchemaName,
    model: Model,
    limit: Fraction | None,
    *,
    witnesses: int = 0,
) -> Check:
    """Apply a release's recoding to a dataset, in SQL, and verify what comes out."""
    released = schema.table("released_items")
    images = engine.create("old_images", "statements/images", {"items": dataset.items, "released_items": released})
    codes = engine.create("old_codes", "statements/codes", {"images": images})
    recoded = engine.create(
        "recoded", "statements/recoded", {"transactions": dataset.transactions, "images": images, "codes": codes}
    )
    verification = checks.verify_rows(engine, recoded, codes, model, witnesses)
    engine.drop(recoded, codes, images)
    missing = _images(engine, dataset, schema) == 0
    return Check(
        release=entry.name,
        verification=verification,
        fresh=fingerprint(engine, dataset) == entry.fingerprint,
        transactions=dataset.n_transactions,
        items=dataset.n_items,
        not_covered_items=int(missing.sum()),
        not_covered_occurrences=int(dataset.supports[missing].sum()),
        limit=limit,
        loss=_loss(engine, entry, dataset, schema),
    )


def _loss(engine: Engine, entry: ledger.LedgerEntry, dataset: Dataset, schema: SchemaName) -> Loss:
    """What the release's recoding costs on a dataset; items without a released item count as suppressed."""
    found = engine.query("release/members", {"released_items": schema.table("released_items")})
    labels, member_of = np.unique(np.asarray(found["released_item"], dtype=object), return_inverse=True)
    number = {label: n for n, label in enumerate(labels.tolist())}
    images = _images(engine, dataset, schema).tolist()
    recoding = GlobalRecoding(
        image=np.asarray([-1 if label == 0 else number[label] for label in images], dtype=np.int64),
        labels=tuple(labels.tolist()),
        member_of=member_of.astype(np.int64),
        member_labels=tuple(found["item"].tolist()),
    )
    edges = ledger.taxonomy_of(engine, stored.current_catalog(engine), entry.release_id)
    return global_loss(dataset, recoding, from_edges(edges) if edges else None)
