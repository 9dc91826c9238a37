"""Measure the accuracy of a release on the owner's or on random COUNT queries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from anondb.algorithms.method import Task
from anondb.data.sources import open_source
from anondb.data.transactions import Dataset, fingerprint
from anondb.engine import DuckDBEngine, Engine, Query, reads
from anondb.engine.texts import quoted, sql
from anondb.errors import InputError, InternalError
from anondb.ledger import ledger
from anondb.ledger.stored import check_writable, current_catalog, find_whole, load_source
from anondb.policy import Policy, Workload
from anondb.recoding import BucketRecoding, Recoding, RelationalRecoding
from anondb.release.coded import CodedRelease
from anondb.release.item_supports import expected_holders
from anondb.release.objects import ANATOMY, Kind, SchemaName
from anondb.utility.accuracy import Accuracy
from anondb.utility.anatomy import BucketFigures, figures, measure_buckets
from anondb.utility.local_accuracy import measure_global, measure_local
from anondb.utility.relational import accuracy_of
from anondb.utility.rules import RuleAccuracy, RuleThresholds, default_thresholds, has_mlxtend, rule_accuracy
from anondb.utility.workload import Workload as Queries
from anondb.utility.workload import owner_workload, random_workload

RELATIONAL_QUERIES = 100  # queries over relational values and items, as many as in the paper


def queries_of(engine: Engine, dataset: Dataset, workload: Workload, generalized: Callable[[], Any]) -> Queries:
    """The queries of a workload: the owner's, or random ones over all items or over generalized items."""
    if workload.table is not None:
        with open_source(engine, workload.table, "workload") as source:
            return owner_workload(engine, dataset, source)
    return random_workload(
        engine,
        dataset,
        queries=workload.queries,
        size=workload.size,
        seed=workload.seed,
        pool=generalized() if workload.draw == "generalized" else None,
    )


def called(queries: Queries) -> str:
    """The name of a workload in the ledger."""
    if queries.seed is None:
        return f"own queries {queries.table}"
    return f"random size={queries.size} queries={queries.n_queries} seed={queries.seed} draw={queries.draw}"


def generalized_members(engine: Engine, schema: SchemaName, dataset: Dataset) -> Any:
    """The items of the data that share a released item with other items."""
    members = engine.query(
        "risk/generalized_members", {"released_items": schema.table("released_items"), "items": dataset.items}
    )
    return np.asarray(members["item"], dtype=np.int64)


def measure_on(
    engine: Engine,
    dataset: Dataset,
    schema: SchemaName,
    kind: Kind,
    manifest: Mapping[str, str],
    queries: Queries,
    *,
    must_hold: bool = True,
    rows: CodedRelease | None = None,
) -> Accuracy:
    """Measure a frozen release on its data, and drop the work tables of these in another database. If the release was made
    of these data, it ``must_hold`` that each true count is within its bounds; ``rows`` are its coded rows if the caller has
    them. Raises InternalError: one is not (a bug); nothing is kept."""
    if kind is ANATOMY:
        return _held(measure_buckets(engine, dataset, schema.table("buckets"), queries), must_hold)
    coded = CodedRelease(engine, schema) if rows is None else rows
    tables = {name: schema.table(name) for name in kind.tables}
    semantics = manifest["semantics"]
    holders = expected_holders(tables, local=kind.local) if semantics == "set" else None
    how: Any = {"k": k_of(manifest), "holders": holders, "uniform": holders is not None and not kind.item_supports}
    if holders is not None and not kind.local:
        how["suppressed"] = manifest["suppression"] == "some"
        accuracy = measure_global(engine, dataset, coded.transactions, coded.items, workload=queries, **how)
    else:
        members = tables["released_items"]
        accuracy = measure_local(engine, dataset, coded.classes, coded.items, members, semantics, queries, **how)
    if rows is None:
        coded.drop()
    if dataset.origin is not None:
        dataset.origin.sweep()
    return _held(accuracy, must_hold)


def k_of(manifest: Mapping[str, str]) -> int | None:
    """The k of a release's promise; None for a model without k (anatomy)."""
    return int(manifest["k"]) if "k" in manifest else None


def _held(accuracy: Accuracy, must_hold: bool) -> Accuracy:
    if must_hold and accuracy.outside:
        raise InternalError(f"{accuracy.outside} true counts lie outside their bounds; nothing was kept.")
    return accuracy


@dataclass(frozen=True)
class AnatomyFigures:
    """Additional figures of an anatomy: of its buckets, and of the association rules that a reconstruction keeps. ``rules``
    is None if mlxtend is not installed."""

    buckets: BucketFigures
    rules: RuleAccuracy | None

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return {**self.buckets.to_json(), "rules": None if self.rules is None else self.rules.to_json()}


def anatomy_figures(
    recoding: Recoding, engine: Engine, dataset: Dataset, schema: SchemaName, model: Any, seed: int = 0
) -> AnatomyFigures | None:
    """The figures of a frozen anatomy for its owner; None for other releases. ``seed``: of the reconstruction to mine."""
    if not isinstance(recoding, BucketRecoding):
        return None
    of_buckets = figures(engine, dataset, recoding, schema.table("buckets"), count_empty=model.empty_values == "count")
    if not has_mlxtend():
        return AnatomyFigures(of_buckets, None)
    engine.progress("mining rules")
    thresholds = default_thresholds(engine, dataset.transactions)
    return AnatomyFigures(of_buckets, measure_rules(engine, dataset, schema, thresholds, seed))


def measure_rules(
    engine: Engine, dataset: Dataset, schema: SchemaName, thresholds: RuleThresholds, seed: int = 0
) -> RuleAccuracy:
    """Compare the association rules of one reconstruction of an anatomy with those of its data."""
    original = Query(sql("SELECT * FROM {}.reconstruct({})", quoted(schema.name), seed))
    reconstructed = reads.rows(original, "transaction_id AS tid, unnest(items) AS item")
    coded = reads.joined(reconstructed, dataset.items, "item = label", "one.tid, other.item")
    rows = engine.create("reconstructed", coded)
    rules = rule_accuracy(engine, dataset.transactions, rows, thresholds)
    engine.drop(rows)
    return rules


def relational_figures(
    engine: Engine, policy: Policy, task: Task, recoding: Recoding, schema: SchemaName, kind: Kind
) -> dict[str, Any] | None:
    """The figures of the relational values of a frozen release; None for one without them."""
    if task.records is None or not isinstance(recoding, RelationalRecoding):
        return None
    workload = policy.workload
    if not workload.queries and workload.table is None:
        return {**recoding.summary(), "accuracy": None}
    asked: dict[str, Any] = {
        "k": int(policy.model.parameters()["k"]),
        "values": policy.values or 1,
        "items": min(workload.size, task.dataset.longest),
        "queries": RELATIONAL_QUERIES,
        "seed": workload.seed,
        "holders": expected_holders({name: schema.table(name) for name in kind.tables}, local=kind.local),
    }
    return {**recoding.summary(), "accuracy": accuracy_of(engine, task.dataset, task.records, recoding, **asked)}


def measure_release(
    engine: DuckDBEngine,
    name: str,
    workload: Workload,
    load: Callable[[DuckDBEngine, str], tuple[ledger.LedgerEntry, Dataset]] = load_source,
) -> Accuracy:
    """Measure the accuracy of an existing release on its current source, which is loaded by ``load``, and store the answers
    in the ledger."""
    catalog = current_catalog(engine)
    if not workload.queries and workload.table is None:
        raise InputError("There is no query to measure.", code="bad_parameter", hint="Raise --queries.")
    with engine.transaction():
        whole = find_whole(engine, name)
        check_writable(engine, catalog)
        entry, dataset = load(engine, name)
        queries = queries_of(engine, dataset, workload, partial(generalized_members, engine, whole.schema, dataset))
        same = entry.fingerprint is not None and dataset.n_transactions == int(whole.manifest["transactions"])
        unchanged = same and entry.fingerprint == fingerprint(engine, dataset)
        accuracy = measure_on(engine, dataset, whole.schema, whole.kind, whole.manifest, queries, must_hold=unchanged)
        ledger.ensure(engine, catalog)
        ledger.record_accuracy(engine, catalog, entry.name, entry.release_id, accuracy.answers, called(queries))
        return accuracy


def measure_release_rules(engine: DuckDBEngine, name: str, thresholds: RuleThresholds, seed: int = 0) -> RuleAccuracy:
    """Compare the association rules of one reconstruction of an anatomy with those of its current source. Raises InputError:
    the release does not exist or is not an anatomy, or its source or mlxtend is missing."""
    with engine.transaction():
        release = find_whole(engine, name)
        if release.kind is not ANATOMY:
            raise InputError(f"The release {name!r} is not an anatomy: mine its transactions directly.")
        _, dataset = load_source(engine, name)
        return measure_rules(engine, dataset, release.schema, thresholds, seed)
