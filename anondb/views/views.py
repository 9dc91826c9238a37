"""Create, refresh, drop and list anonymized views, and check them against the current data."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from anondb.algorithms.method import Task
from anondb.data.constraints import load_columns
from anondb.data.taxonomy import Taxonomy
from anondb.data.transactions import Dataset, fingerprint
from anondb.engine import DuckDBEngine, Engine
from anondb.engine.trees import exp
from anondb.errors import AnondbError, InputError
from anondb.ledger import ledger, stored
from anondb.ledger.stored import of_view
from anondb.ledger.tables import CONSTRAINTS, RECORDS
from anondb.models.named import parameters_of
from anondb.pipeline import reports
from anondb.pipeline.anonymize import anonymize
from anondb.pipeline.clock import Clock
from anondb.pipeline.load import load, load_step
from anondb.pipeline.reports import Report
from anondb.policy import Policy
from anondb.promises.proof_pack import PAGE
from anondb.publications import overlap
from anondb.publications.history import Publication, PublishedFile, publications
from anondb.publications.publish import check_proof, prove, seal
from anondb.publications.targets import anchored, check_target, how, target_of
from anondb.release.objects import find_schema, read_manifest, release_schema
from anondb.release.reader import read_sealed_manifest
from anondb.release.row_sums import RowSums
from anondb.release.signing import ANYBODY
from anondb.statements.statement import CreateView
from anondb.views import partitions
from anondb.views.check import check_release, images_of
from anondb.views.partition_results import Partitioned
from anondb.views.partition_values import survey_of
from anondb.views.parts import parts_of
from anondb.views.results import Created, Dropped, Kept, Refreshed, RefreshedAll, Shown
from anondb.warehouse.at_hand import at_hand
from anondb.warehouse.postgres.place import Place


def create(engine: DuckDBEngine, statement: CreateView) -> Created | Partitioned | Kept:
    """Make the release of a view, publish it if requested, and record the view in the ledger, all or nothing; for a
    partitioned view, see ``partitions.create``. Raises InputError: ``overlap``. AnondbError: see ``pipeline.anonymize``; the
    database and an existing file are unchanged."""
    if statement.if_not_exists and _exists(engine, statement.name):
        return Kept(statement.name)
    table = of_view(engine, statement.name, statement.query)
    view = ledger.View(statement.name, statement.query, anchored(statement.options), table)
    if "partition_by" in view.options:
        stored.view_policy(view)  # checks the options
        how(view.options.get("publish"), view.options)
        if "proof" in view.options:
            hint = "Write that of each with anondb publish --proof."
            raise InputError("A partitioned view has a file for each value, and no proof.", code="bad_usage", hint=hint)
        return partitions.create(engine, view, statement.replace)
    _make_way(engine, statement)
    policy = stored.view_policy(view, replace=statement.replace)
    path = target_of(view.options)
    written = how(path, view.options)
    clock = Clock(path is not None, limit=view.time_limit)
    if path is None:
        return Created(view.name, anonymize(engine, policy, view=view, clock=clock))
    check_target(engine, path, statement.replace, written["format"])
    with engine.transaction():
        with clock.limited(engine):
            task = load_step(engine, clock, policy)
            before = _published_before(engine, view, task.dataset, "Add allow_overlap = true if that is wanted.")
        publish = partial(_sealed, engine, clock, view, path, statement.replace, before)
        report = anonymize(engine, policy, view=view, task=task, publish=publish, clock=clock)
    _prove(engine, view, written["mode"], report)
    return Created(view.name, report)


def refresh(engine: DuckDBEngine, name: str, ignore_late_rows: bool = False) -> Refreshed | Partitioned:
    """Replace the release of a view if an input has changed (``changed_inputs``), and publish it if its file is not
    current, all or nothing; for a partitioned view, see ``partitions.refresh``.

    Args:
        name: the name of the view.
        ignore_late_rows: for a partitioned view, whether rows of published values that have changed since are left out.

    Raises:
        InputError: the view does not exist, or the release is not a view's; ``overlap``.
        AnondbError: see ``pipeline.anonymize``; the old release and its file stay.
    """
    if (partitioned := partitioned_view(engine, name)) is not None:
        return partitions.refresh(engine, partitioned, ignore_late_rows)
    with engine.transaction():
        entry, view = stored_view(engine, name)
        policy = stored.view_policy(view, replace=True)
        path = target_of(view.options)
        old_release = stored.find_whole(engine, name)
        schema = old_release.schema
        clock = Clock(path is not None, limit=view.time_limit)
        check, changed, report, file, begun = None, None, None, None, 0.0
        before: list[overlap.Earlier] = []
        with clock.limited(engine):
            task = load_step(engine, clock, policy)
            causes = changed_inputs(engine, entry, task, policy)
            if path is not None and not causes and sealed_id(path) == entry.release_id:
                path = None
            if path is not None:
                check_target(engine, path, replace=True, format=how(path, view.options)["format"])
                replaced = None if causes else entry.release_id
                hint = f"If that is wanted, {overlap.allowing_anew(view.name)}."
                before = _published_before(engine, view, task.dataset, hint, replaced)
            compared = bool(causes) and not old_release.kind.by_transaction  # else an item has several images
            if compared:
                check = check_release(engine, entry, task.dataset, schema, policy.model, policy.max_suppression)
                old = images_of(engine, task.dataset, schema)
        if causes:
            report = anonymize(engine, policy, view=view, task=task, sums=path is not None, clock=clock)
        if compared:
            changed = int((old != images_of(engine, task.dataset, schema)).sum())
        if path is not None:
            begun = time.perf_counter()
            verified = None if report is None else report.verified_rows
            file = _sealed(engine, clock, view, path, True, before, task.dataset, verified)
    _prove(engine, view, how(target_of(view.options), view.options)["mode"], file or _unproven(engine, view, entry))
    if report is None:
        return Refreshed(view.name, (), file=file)
    if file is not None:
        report = reports.published(report, file, time.perf_counter() - begun)
    return Refreshed(view.name, causes, (entry.lm, entry.ncp), check, changed, report, file)


def drop(engine: Engine, name: str, if_exists: bool) -> Dropped:
    """Drop the release of a view; keep its ledger entry, and its rows if they were published. Raises InputError: the view
    does not exist, or its schema holds other objects."""
    catalog = stored.current_catalog(engine)
    with engine.transaction():
        return Dropped(name, partitions.drop_view(engine, catalog, name, if_exists=if_exists))


def refresh_all(engine: DuckDBEngine) -> RefreshedAll:
    """Refresh all anonymized views, oldest first; one that fails does not keep the others from it. Raises AnondbError: the
    error of the first view that failed, after all were tried."""
    done: list[Refreshed | Partitioned] = []
    failed: list[AnondbError] = []
    for shown in show(engine, status=False).views:
        try:
            done.append(refresh(engine, shown["name"]))
        except AnondbError as error:
            failed.append(error)
    if failed:
        first = failed[0]
        first.args = (f"{len(failed):,} of {len(failed) + len(done):,} views were not refreshed. The first: {first}",)
        raise first
    return RefreshedAll(tuple(done))


def show(engine: DuckDBEngine, status: bool, like: str | None = None) -> Shown:
    """List the anonymized views; with ``status``, read each source to distinguish ``fresh`` from ``stale``. In a pattern
    ``like``, % stands for any text, _ for one character; upper and lower case are the same."""
    catalog = stored.current_catalog(engine)
    views: dict[str, dict[str, Any]] = {}
    for entry in ledger.entries(engine, catalog):
        view = ledger.view_of(engine, catalog, entry.release_id) if entry.status == ledger.PRESENT else None
        if view is None or (like is not None and not _is_like(view.name, like)):
            continue
        if view.partition is not None and view.name in views:
            views[view.name]["transactions"] += entry.transactions
            views[view.name]["partitions"] += 1
            continue
        views[view.name] = {
            "name": view.name,
            "model": entry.model,
            "parameters": ", ".join(
                f"{name}={value}"
                for name in (*parameters_of(entry.model), "max_suppression")
                if (value := entry.parameters.get(name)) is not None
            ),
            "algorithm": entry.algorithm,
            "source": entry.source_table,
            "partitions": None if view.partition is None else 1,
            "transactions": entry.transactions,
            "lm": entry.lm if view.partition is None else None,
            "ncp": entry.ncp if view.partition is None else None,
            "created": entry.created.isoformat(sep=" ", timespec="seconds"),
            "status": _status(engine, entry, view) if status else "unknown",
        }
    return Shown(tuple(views.values()))


def _is_like(name: str, pattern: str) -> bool:
    """Whether a name has the form of a pattern of LIKE."""
    form = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in pattern)
    return re.fullmatch(form, name, re.IGNORECASE | re.DOTALL) is not None


def _status(engine: DuckDBEngine, entry: ledger.LedgerEntry, view: ledger.View) -> str:
    """``fresh``, ``stale``, or ``unknown`` if an input of the view can no longer be read."""
    try:
        with engine.transaction():
            if view.partition is not None:
                catalog = stored.current_catalog(engine)
                parts = parts_of(engine, catalog, view.name)
                return "stale" if survey_of(engine, catalog, view, parts).changed else "fresh"
            policy = stored.view_policy(view)
            task = load(engine, policy)
            return "stale" if changed_inputs(engine, entry, task, policy) else "fresh"
    except InputError as error:
        if error.code == "transaction_open":
            raise
        return "unknown"


def partitioned_view(engine: Engine, name: str) -> ledger.View | None:
    """The view of this name if it is partitioned, else None."""
    catalog = stored.current_catalog(engine)
    with engine.transaction():
        parts = parts_of(engine, catalog, name)
        view = ledger.view_of(engine, catalog, parts[0].release_id) if parts else None
    return None if view is None else replace(view, partition=None)


def _exists(engine: Engine, name: str) -> bool:
    """Whether there is a view or a release of this name."""
    catalog = stored.current_catalog(engine)
    with engine.transaction():
        parts = parts_of(engine, catalog, name)
        return bool(parts) or find_schema(engine, release_schema(catalog, name)) is not None


def _make_way(engine: Engine, statement: CreateView) -> None:
    """Refuse a view of the name of a partitioned one, whose releases have other names."""
    if partitioned_view(engine, statement.name) is not None:
        raise InputError(
            f"There is a partitioned view {statement.name!r}.",
            code="release_exists",
            hint=f"Drop it first: DROP ANONYMIZED VIEW {exp.to_identifier(statement.name, quoted=True).sql('duckdb')}.",
        )


def stored_view(engine: Engine, name: str) -> tuple[ledger.LedgerEntry, ledger.View]:
    """The ledger's entry of a view that is not partitioned, and the view. Raises InputError: ``no_such_release`` or
    ``not_a_view``."""
    catalog = stored.current_catalog(engine)
    entry = ledger.find(engine, catalog, name)
    if entry is None or find_schema(engine, release_schema(catalog, name)) is None:
        raise InputError(
            f"There is no anonymized view {name!r}.", code="no_such_release", hint="List them: SHOW ANONYMIZED VIEWS."
        )
    if (view := ledger.view_of(engine, catalog, entry.release_id)) is None:
        raise InputError(
            f"The release {name!r} was not made as an anonymized view, so its query and options are not stored.",
            code="not_a_view",
            hint="Use CREATE OR REPLACE ANONYMIZED VIEW.",
        )
    return entry, view


def changed_inputs(engine: DuckDBEngine, entry: ledger.LedgerEntry, task: Task, policy: Policy) -> tuple[str, ...]:
    """The inputs that changed since a view's release was made: data, repeated rows, records, taxonomy, sensitive items,
    constraints, columns."""
    catalog = stored.current_catalog(engine)
    was = dict(ledger.taxonomy_of(engine, catalog, entry.release_id))
    same = {
        "data": fingerprint(engine, task.dataset) == entry.fingerprint,
        "repeated rows": (_asked(engine, entry.name) == task.dataset.table) == task.dataset.is_table,
        "records": RECORDS.noted(engine, catalog, entry.release_id)
        == ([] if task.records is None else [(task.records.fingerprint(),)]),
        "sensitive items": sorted(ledger.sensitive_of(engine, catalog, entry.release_id)) == sorted(task.sensitive or ()),
        "taxonomy": was == _parents(task.taxonomy),
        "constraints": CONSTRAINTS.noted(engine, catalog, entry.release_id) == ledger.constraint_rows(task.requirements),
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
        label: None if above < 0 else labels[above] for label, above in zip(labels, taxonomy.parent.tolist(), strict=True)
    }


def _published_before(
    engine: DuckDBEngine, view: ledger.View, dataset: Dataset, hint: str, replaced: str | None = None
) -> list[overlap.Earlier]:
    """The earlier publications that contain persons of a view, including earlier versions of it."""
    if engine.one_shot:
        return []
    population = view.options.get("population")
    before = overlap.earlier(engine, stored.current_catalog(engine), dataset.ids, replaced, population)
    if before and not view.options.get("allow_overlap", False):
        raise overlap.refused(view.name, before, hint)
    return before


def sealed_id(path: str | Place) -> str | None:
    """The number of the release in a sealed file or schema; None if it does not exist or cannot be read."""
    try:
        with at_hand(path) as file:
            return read_sealed_manifest(file, ANYBODY)["release_id"]
    except AnondbError:
        return None


def _sealed(
    engine: DuckDBEngine,
    clock: Clock,
    view: ledger.View,
    path: str | Place,
    replace: bool,
    before: Sequence[overlap.Earlier],
    dataset: Dataset,
    verified: RowSums | None,
) -> PublishedFile:
    """Compare the release of a view with earlier publications, and seal it. Call it inside a transaction."""
    catalog, release = stored.current_catalog(engine), stored.find_whole(engine, view.name)
    if "proof" in view.options:
        check_proof(engine, release, str(view.options["proof"]))
    with clock.limited(engine):
        intersections = overlap.measure(engine, catalog, release.schema, before, dataset, note=engine.runs_sql)
    written = how(path, view.options)
    return seal(engine, view.name, release, path, intersections, verified, replace=replace, **written)


def _unproven(engine: DuckDBEngine, view: ledger.View, entry: ledger.LedgerEntry) -> Publication | None:
    """The publication of a release whose proof is not there, such as after a full disk; None if it is, or has no place."""
    if "proof" not in view.options:
        return None
    with suppress(OSError):
        if entry.release_id in (Path(str(view.options["proof"])) / PAGE).read_text("utf-8"):
            return None
    published = publications(engine, stored.current_catalog(engine))
    return next((made for made in reversed(published) if made.release_id == entry.release_id), None)


def _prove(
    engine: DuckDBEngine, view: ledger.View, mode: int | None, file: PublishedFile | Publication | Report | None
) -> None:
    """Write the proof of a view's release that was published, if the view has one."""
    if file is not None and "proof" in view.options:
        prove(engine, view.name, str(view.options["proof"]), (str(file.sha256), str(file.content_digest)), mode)
