"""Create, refresh, drop and list anonymized views, and check them against the current data."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from anondb import pipeline
from anondb.algorithms.method import Task
from anondb.data.columns import load_columns
from anondb.data.sources import FILE_SUFFIXES, resolve_table
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset, fingerprint
from anondb.engine import DuckDBEngine, Engine
from anondb.engine.elsewhere import is_url
from anondb.errors import AnondbError, InputError
from anondb.models.named import parameters_of
from anondb.owner import ledger, overlap
from anondb.owner import published_rows as published
from anondb.owner import releases as stored
from anondb.owner.targets import check_target, target_of
from anondb.owner.view_check import by_transaction, check_release, images_of
from anondb.owner.view_results import Created, Dropped, Refreshed, Shown
from anondb.policy import Policy
from anondb.postgres.local import at_hand
from anondb.postgres.place import Place
from anondb.release.objects import find_schema, read_manifest, release_schema
from anondb.release.publish import PublishedFile
from anondb.release.reader import read_sealed_manifest
from anondb.release.row_sums import RowSums
from anondb.statements.parser import plain_table
from anondb.statements.statement import CreateView, Value

SOURCES = (
    *("taxonomy", "records", "hierarchies", "weights", "domains", "sensitive", "privacy_constraints"),
    *("utility_constraints", "countable", "columns", "workload"),
)
SOURCE_SUFFIXES = (*FILE_SUFFIXES, ".tree", ".txt")
_ALLOW_ANEW = "If that is wanted, CREATE OR REPLACE the view with its options and allow_overlap = true in WITH (...)."


# ---------------------------------------------------------------------- the statements


def create(engine: DuckDBEngine, statement: CreateView) -> Created:
    """Make the release of a view, publish it if requested, and record the view in the ledger, all or nothing.

    Raises:
        InputError: ``overlap``.
        AnondbError: see ``pipeline.anonymize``; the database and an existing file are unchanged.
    """
    table = _source_table(engine, statement)
    view = ledger.View(statement.name, statement.query, _anchored(statement.options), table)
    policy = stored.view_policy(engine, view, replace=statement.replace)
    path = target_of(view.options)
    publish = None
    if path is not None:
        check_target(engine, path, statement.replace)
        before = stored.view_published_before(engine, view, policy)
        if before and not view.options.get("allow_overlap", False):
            raise overlap.refused(view.name, before, "Add allow_overlap = true if that is wanted.")
        publish = partial(_sealed, engine, view, path, statement.replace, before)
    return Created(view.name, pipeline.anonymize(engine, policy, view=view, publish=publish))


def refresh(engine: DuckDBEngine, name: str) -> Refreshed:
    """Replace the release of a view if an input has changed (``_causes``), and publish it if its file is not current, all or
    nothing.

    Raises:
        InputError: the view does not exist, or the release is not a view's; ``overlap``.
        AnondbError: see ``pipeline.anonymize``; the old release and its file stay.
    """
    with engine.transaction():
        entry, view = _stored(engine, name)
        policy = stored.view_policy(engine, view, replace=True)
    path = target_of(view.options)
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
        compared = bool(causes) and not by_transaction(engine, schema)  # else an item has several images
        if compared:
            check = check_release(engine, entry, task.dataset, schema, policy.model, policy.max_suppression)
            old = images_of(engine, task.dataset, schema)
        if causes:
            report = pipeline.anonymize(engine, policy, view=view, task=task, sums=path is not None)
        if compared:
            changed = int((old != images_of(engine, task.dataset, schema)).sum())
        if path is not None:
            begun = time.perf_counter()
            verified = None if report is None else report.verified_rows
            file = _sealed(engine, view, path, True, before, task.dataset, verified)
    if report is None:
        return Refreshed(view.name, (), file=file)
    if file is not None:
        report = pipeline.published(report, file, time.perf_counter() - begun)
    return Refreshed(view.name, causes, (entry.lm, entry.ncp), check, changed, report, file)


def drop(engine: Engine, name: str, if_exists: bool) -> Dropped:
    """Drop the release of a view; keep its ledger entry, and its rows if they were published.

    Raises:
        InputError: the view does not exist, or its schema holds other objects.
    """
    catalog = stored.current_catalog(engine)
    with engine.transaction():
        if if_exists and find_schema(engine, release_schema(catalog, name)) is None:
            return Dropped(name, dropped=False)
        published.drop_release(engine, catalog, name)
    return Dropped(name, dropped=True)


def show(engine: DuckDBEngine, status: bool) -> Shown:
    """List the anonymized views; with ``status``, read each source to distinguish ``fresh`` from ``stale``."""
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
    """``fresh``, ``stale``, or ``unknown`` if an input of the view can no longer be read."""
    try:
        with engine.transaction():
            policy = stored.view_policy(engine, view)
            task = pipeline.load(engine, policy)
            return "stale" if _causes(engine, entry, task, policy) else "fresh"
    except InputError as error:
        if error.code == "transaction_open":
            raise
        return "unknown"


# ---------------------------------------------------------------------- parts


def _source_table(engine: Engine, statement: CreateView) -> str:
    """The table name that analysts query: that of the table if the query returns all its rows unchanged, else the view's.

    If a view omits rows or computes columns, its counts are not those of the table.
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
            f"The release {name!r} was not made as an anonymized view, so its query and options are not stored.",
            code="not_a_view",
            hint="Use CREATE OR REPLACE ANONYMIZED VIEW.",
        )
    return entry, view


def _anchored(options: Mapping[str, Value]) -> dict[str, Value]:
    """Make the paths in a view's options absolute: a later REFRESH may run in another directory."""
    anchored = dict(options)
    for name, value in options.items():
        path = Path(str(value))
        if name == "publish" and is_url(value):
            continue
        is_source = name in SOURCES and path.suffix.lower() in SOURCE_SUFFIXES
        if name == "publish" or is_source or (name == "hierarchies" and path.is_dir()):
            anchored[name] = os.path.abspath(path)
    return anchored


def _causes(engine: DuckDBEngine, entry: ledger.LedgerEntry, task: Task, policy: Policy) -> tuple[str, ...]:
    """The inputs that changed since a view's release was made: data, repeated rows, records, taxonomy, sensitive items,
    constraints, columns."""
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
    """The table name that analysts query for a release."""
    return read_manifest(engine, stored.find_release(engine, name))["table"]


def _same_columns(engine: DuckDBEngine, name: str, dataset: Dataset, columns: Any) -> bool:
    """Whether the owner's columns of an anatomy are those of its release."""
    number, _ = load_columns(engine, columns, dataset)
    buckets = stored.find_release(engine, name).table("buckets")
    supports = engine.query("query/bucket_supports", {"buckets": buckets})
    released = dict(zip(supports["item"].tolist(), supports["column_id"].tolist(), strict=True))
    return released == dict(zip(dataset.labels, number.tolist(), strict=True))


def _parents(taxonomy: Taxonomy | None) -> dict[str, str | None]:
    """The parent of each node: taxonomies with equal parents are equal, in any order of rows."""
    if taxonomy is None:
        return {}
    labels = taxonomy.labels
    return {
        label: None if above < 0 else labels[above]
        for label, above in zip(labels, taxonomy.parent.tolist(), strict=True)
    }


def _sealed_id(path: str | Place) -> str | None:
    """The number of the release in a sealed file or schema; None if it does not exist or cannot be read."""
    try:
        with at_hand(path) as file:
            return read_sealed_manifest(file)["release_id"]
    except AnondbError:
        return None


def _sealed(
    engine: DuckDBEngine,
    view: ledger.View,
    path: str | Place,
    replace: bool,
    before: Sequence[overlap.Earlier],
    dataset: Dataset,
    verified: RowSums | None,
) -> PublishedFile:
    """Seal the release of a view, and compare it with earlier publications. Call it inside a transaction."""
    catalog, found = stored.current_catalog(engine), stored.find_whole(engine, view.name)
    intersections = overlap.measure(engine, catalog, found.schema, before, dataset)
    allowed = bool(view.options.get("allow_overlap", False))
    return stored.seal(engine, view.name, found, path, intersections, verified, replace=replace, allow_overlap=allowed)
