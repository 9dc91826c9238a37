"""The steps of the main job, in order."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from sqlglot import exp

from anondb import __version__
from anondb.algorithms.coat import coat
from anondb.algorithms.hghs import hghs
from anondb.algorithms.mhghs import mhghs
from anondb.data.sources import QuerySource, open_source
from anondb.data.taxonomy import Taxonomy, load_taxonomy
from anondb.data.transactions import Dataset, fingerprint, load_transactions
from anondb.engine import Engine, Table
from anondb.errors import InfeasibleError, InputError, InternalError, VerificationFailed
from anondb.models import Model
from anondb.policy import Policy, Workload, from_options, make_model
from anondb.query import Answer
from anondb.query import run as run_query
from anondb.recoding import GlobalRecoding
from anondb.release import ledger
from anondb.release.freeze import FrozenRelease, coded_release, freeze
from anondb.release.objects import (
    SEALED_SCHEMA,
    TABLES,
    SchemaName,
    find_schema,
    read_manifest,
    release_schema,
    unexpected_objects,
)
from anondb.release.publish import PublishedFile, publish
from anondb.utility import (
    Accuracy,
    Loss,
    generalized_items,
    global_loss,
    measure,
    of_release,
    owner_workload,
    random_workload,
    ul_a_log2,
)
from anondb.utility import (
    Workload as Queries,
)
from anondb.verify import Verification, verify_km

BY_TAXONOMY = {"hghs": hghs, "mhghs": mhghs}


@dataclass
class Clock:
    """Seconds of wall time that each step took."""

    seconds: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @contextlib.contextmanager
    def step(self, engine: Engine, name: str, words: str) -> Iterator[None]:
        """Time a step and say that it has begun."""
        engine.progress(words)
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun

    def report(self) -> dict[str, float]:
        """All steps and the total, in milliseconds' precision; steps that did not run took 0."""
        steps = dict.fromkeys(("load", "anonymize", "freeze", "verify", "accuracy", "publish"), 0.0) | self.seconds
        return {n: round(s, 3) for n, s in steps.items()} | {"total": round(time.perf_counter() - self.started, 3)}


@dataclass(frozen=True)
class Report:
    """What the owner learns about a release. It holds true counts: it is not for analysts."""

    release: str
    model: Model
    algorithm: str
    transactions: int
    items: int
    verification: Verification
    frozen: FrozenRelease
    loss: Loss
    accuracy: Accuracy
    warnings: tuple[str, ...]
    seconds: dict[str, float]
    published: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The report of ``anonymize --json`` (design 2.1)."""
        return {
            "release": self.release,
            "model": {"name": self.model.name, **self.model.parameters()},
            "algorithm": self.algorithm,
            "transactions": self.transactions,
            "items": self.items,
            "verified": self.verification.verified,
            "violations": self.verification.violations,
            "suppressed_items": self.frozen.suppressed_items,
            "suppressed_occurrences": self.frozen.suppressed_occurrences,
            "all_suppressed": bool(self.items) and not self.frozen.released_items,
            "released_items": self.frozen.released_items,
            "loss": self.loss.to_json(),
            "accuracy": self.accuracy.to_json(),
            "seconds": self.seconds,
            "published": self.published,
            "warnings": list(self.warnings),
        }


def current_catalog(engine: Engine) -> str:
    """The name of the database that releases are written to."""
    return str(engine.scalar("release/current_catalog"))


def anonymize(
    engine: Engine,
    policy: Policy,
    *,
    view: ledger.View | None = None,
    loaded: tuple[Dataset, Taxonomy | None] | None = None,
) -> Report:
    """Load, anonymize, measure the loss, freeze, verify the frozen rows, measure accuracy, write the ledger.

    All in one transaction: on any error the database is as it was.

    Args:
        engine: the engine.
        policy: what to protect and how.
        view: the anonymized view that this is the release of; it goes into the ledger.
        loaded: what ``load`` gave for this policy, inside a transaction of the caller's, which is then used.

    Raises:
        InputError: bad data, taxonomy or names; a release of that name exists.
        InfeasibleError: more would be suppressed than allowed, or everything.
        VerificationFailed: the verifier did not accept the frozen rows (a bug; nothing was kept).
        EngineError: memory, disk, a lock, or a budget.
    """
    clock = Clock()
    catalog = current_catalog(engine)
    with engine.transaction() if loaded is None else contextlib.nullcontext():
        check_writable(engine, catalog)
        with clock.step(engine, "load", "loading transactions"):
            dataset, taxonomy = load(engine, policy) if loaded is None else loaded
            name = policy.name if policy.name is not None else dataset.table
            schema = release_schema(catalog, name)
            _check_name_is_free(engine, schema, policy.replace)
        with clock.step(engine, "anonymize", f"anonymizing with {policy.algorithm}"):
            recoding = _recode(engine, policy, dataset, taxonomy)
            _check_suppression(dataset, recoding, policy.max_suppression)
            loss = global_loss(dataset, recoding, taxonomy if policy.algorithm in BY_TAXONOMY else None)
        with clock.step(engine, "freeze", "freezing the release"):
            frozen = freeze(engine, dataset, recoding, policy.model, release_schema=schema, replace=policy.replace)
            if policy.algorithm not in BY_TAXONOMY:
                loss = _with_ul(engine, schema, dataset, recoding, loss)
        with clock.step(engine, "verify", "verifying the frozen rows"):
            verification = verify_release(engine, schema, policy.model)
            if not verification.verified:
                raise VerificationFailed(
                    f"The frozen release has {verification.violations} violations of {policy.model.name}; nothing was kept."
                    " This is a bug of anondb's: please report it."
                )
        with clock.step(engine, "accuracy", "measuring accuracy"):
            queries = _queries(engine, dataset, policy.workload, generalized_items(recoding))
            accuracy = _measure(engine, dataset, schema, frozen.suppression, queries)
        if not engine.one_shot or view is not None:
            entry = _entry(engine, policy, name, dataset, frozen, verification, loss)
            ledger.record(engine, catalog, entry, recoding.decisions)
            if taxonomy is not None:
                ledger.record_taxonomy(engine, catalog, frozen.release_id, taxonomy)
            if view is not None:
                ledger.record_view(engine, catalog, frozen.release_id, view)
            ledger.record_accuracy(engine, catalog, name, frozen.release_id, accuracy.answers, _called(queries))
    return Report(
        release=name,
        model=policy.model,
        algorithm=str(policy.algorithm),
        transactions=dataset.n_transactions,
        items=dataset.n_items,
        verification=verification,
        frozen=frozen,
        loss=loss,
        accuracy=accuracy,
        warnings=(*dataset.warnings, *_remarks(dataset, policy, taxonomy, frozen)),
        seconds=clock.report(),
    )


def load(engine: Engine, policy: Policy) -> tuple[Dataset, Taxonomy | None]:
    """Read the transactions and the taxonomy of a policy, each source once."""
    with open_source(engine, policy.transactions, "transactions") as source:
        if policy.records is None:
            dataset = load_transactions(engine, source, id_column=policy.id, item_column=policy.item)
        else:
            with open_source(engine, policy.records, "records") as records:
                dataset = load_transactions(
                    engine, source, id_column=policy.id, item_column=policy.item, more_ids=records
                )
    return dataset, None if policy.taxonomy is None else load_taxonomy(engine, policy.taxonomy)


def verify_release(engine: Engine, schema: SchemaName, model: Model, witnesses: int = 0) -> Verification:
    """Check the frozen or sealed rows of a release against a model."""
    transactions, items = coded_release(engine, schema)
    found = verify_km(engine, transactions, items, model, witnesses=witnesses)
    engine.drop(transactions, items)
    return found


def verify_source(
    engine: Engine, transactions: Any, model: Model, *, id: str = "tid", item: str = "item", witnesses: int = 0
) -> Verification:
    """Check any table, view, file or data frame against a model."""
    with engine.transaction(), open_source(engine, transactions, "transactions") as source:
        dataset = load_transactions(engine, source, id_column=id, item_column=item)
        return verify_km(engine, dataset.transactions, dataset.items, model, witnesses=witnesses)


def model_of(manifest: dict[str, str]) -> Model:
    """The model that a release's manifest promises."""
    try:
        return make_model(manifest["model"], k=int(manifest["k"]), m=manifest["m"])
    except (KeyError, ValueError):
        raise InputError("The manifest of the release is incomplete.", code="not_a_release") from None


def tables_with(engine: Engine, id_column: str, item_column: str) -> list[Table]:
    """The tables and views of the current database that have both columns."""
    found = engine.query("transactions/tables_with", id_column=id_column.lower(), item_column=item_column.lower())
    return [Table(*names) for names in zip(*(column.tolist() for column in found.values()), strict=True)]


def sealed_schema(engine: Engine) -> SchemaName | None:
    """Where the release lies if this database is a sealed file, else None."""
    schema = SchemaName(current_catalog(engine), SEALED_SCHEMA)
    if not all(engine.exists(schema.table(name)) for name in TABLES):
        return None
    if unexpected_objects(engine, schema):
        raise InputError(
            "The file holds other objects than a sealed release.",
            code="not_a_release",
            hint="Get it from its publisher.",
        )
    return schema


def verify_sealed(engine: Engine, schema: SchemaName, model: Model | None = None, witnesses: int = 0) -> Verification:
    """Check the rows of a sealed file against a model, its manifest's by default."""
    with engine.transaction():
        return verify_release(engine, schema, model or model_of(read_manifest(engine, schema)), witnesses)


def answer(engine: Engine, schema: SchemaName, sql: str) -> Answer:
    """Answer a COUNT query, written for the original table, from a release (see ``anondb.query``)."""
    return run_query(engine, schema, sql)


def find_release(engine: Engine, name: str) -> SchemaName:
    """The schema of a release in the owner's database.

    Raises:
        InputError: there is none of this name.
    """
    schema = find_schema(engine, release_schema(current_catalog(engine), name))
    if schema is None:
        raise InputError(f"There is no release {name!r}.", code="no_such_release", hint="List them: anondb releases.")
    if not all(engine.exists(schema.table(table)) for table in TABLES):
        raise InputError(f"The schema {schema.name!r} does not hold a release.", code="not_a_release")
    return schema


def check_writable(engine: Engine, catalog: str) -> None:
    """Refuse a read-only database before the long work, not after it."""
    query = (
        exp.select("readonly")
        .from_(exp.Table(this=exp.Anonymous(this="duckdb_databases")))
        .where(exp.column("database_name").eq(exp.convert(catalog)))
    )
    if bool(engine.select(query, "looking up the database")["readonly"][0]):
        raise InputError(
            "The database is open read-only, so no release can be written into it.",
            code="read_only",
            hint="Open it for writing, or USE another one.",
        )


def measure_release(engine: Engine, name: str, workload: Workload) -> Accuracy:
    """Measure the accuracy of an existing release on its source as it is now, and keep the answers in the ledger.

    Raises:
        InputError: no such release, or its source cannot be found again (files and data frames are not kept).
    """
    catalog = current_catalog(engine)
    with engine.transaction():
        schema = find_release(engine, name)
        check_writable(engine, catalog)
        entry, dataset = load_source(engine, name)
        manifest = read_manifest(engine, schema)
        pool = _generalized(engine, schema, dataset) if workload.draw == "generalized" else None
        queries = _queries(engine, dataset, workload, pool)
        unchanged = dataset.n_transactions == int(manifest["transactions"]) and (
            entry.fingerprint == fingerprint(engine, dataset)
        )
        accuracy = _measure(engine, dataset, schema, manifest["suppression"], queries, must_hold=unchanged)
        ledger.record_accuracy(engine, catalog, entry.name, entry.release_id, accuracy.answers, _called(queries))
        return accuracy


def load_source(engine: Engine, name: str) -> tuple[ledger.LedgerEntry, Dataset]:
    """The source of a release as it is now: the query of a view, else the table that it was made from.

    Raises:
        InputError: no such release, or its source cannot be found again (files and data frames are not kept).
    """
    catalog = current_catalog(engine)
    find_release(engine, name)
    entry = ledger.find(engine, catalog, name)
    view = None if entry is None else ledger.view_of(engine, catalog, entry.release_id)
    if entry is None or (entry.source_reference is None and view is None):
        raise InputError(f"The source of the release {name!r} is not in this database.", code="no_source")
    policy = None if view is None else view_policy(engine, view)
    given = entry.source_reference if policy is None else policy.transactions
    with open_source(engine, given, "transactions") as source:
        if policy is None or policy.records is None:
            return entry, load_transactions(engine, source, id_column=entry.id_column, item_column=entry.item_column)
        with open_source(engine, policy.records, "records") as records:
            return entry, load_transactions(
                engine, source, id_column=entry.id_column, item_column=entry.item_column, more_ids=records
            )


def view_policy(engine: Engine, view: ledger.View, replace: bool = False) -> Policy:
    """The policy of an anonymized view: its query is the source, and it is called like the view."""
    source = QuerySource(view.query, f"the query of the view {view.name!r}", view.table)
    return from_options(view.name, source, view.options, replace=replace)


def publish_release(engine: Engine, name: str, path: str, *, replace: bool = False) -> PublishedFile:
    """Seal a release into a file of its own, and verify the sealed rows before the file gets its name."""
    with engine.transaction():
        schema = find_release(engine, name)
        model = model_of(read_manifest(engine, schema))

        def check(sealed: Engine, sealed_schema: SchemaName) -> None:
            with sealed.transaction():
                if not verify_release(sealed, sealed_schema, model).verified:
                    raise VerificationFailed("The sealed rows do not keep the promise; the file was not published.")

        return publish(engine, schema, path, replace=replace, check=check)


# ---------------------------------------------------------------------- parts of the steps


def _check_name_is_free(engine: Engine, schema: SchemaName, replacing: bool) -> None:
    """Refuse a name that is taken before the long work, not after it."""
    if not replacing and find_schema(engine, schema) is not None:
        raise InputError(
            f"There is a schema {schema.name!r} already (upper and lower case are the same).",
            code="release_exists",
            hint="Choose another name with --release, or --replace it.",
        )


def _recode(engine: Engine, policy: Policy, dataset: Dataset, taxonomy: Taxonomy | None) -> GlobalRecoding:
    """Run the policy's algorithm. For coat a taxonomy gives the weights of generalized items, if there is one."""
    if policy.algorithm in BY_TAXONOMY and taxonomy is not None:
        return BY_TAXONOMY[policy.algorithm](engine, dataset, taxonomy, policy.model)
    return coat(
        engine,
        dataset,
        policy.model,
        utility=policy.utility_constraints,
        weights=taxonomy,
        max_suppression=policy.max_suppression,
        literal=policy.literal,
    )


def _with_ul(engine: Engine, schema: SchemaName, dataset: Dataset, recoding: GlobalRecoding, loss: Loss) -> Loss:
    """The loss with UL (version A, w = 1), which is defined for sets of items."""
    found = engine.query("release/label_supports", {"transactions": schema.table("transactions")})
    size = dict(zip(recoding.labels, recoding.sizes.tolist(), strict=True))
    sizes = [size[label] for label in found["item"].tolist()]
    supports = [int(s) for s in found["support"]]
    if not sizes:
        return loss
    return replace(loss, ul_log2=ul_a_log2(sizes, supports, dataset.n_transactions, dataset.n_items))


def _check_suppression(dataset: Dataset, recoding: GlobalRecoding, limit: Fraction | None) -> None:
    """Refuse what suppresses more than ``limit`` percent of the items, or everything unless 100 percent are allowed."""
    suppressed = int((recoding.image < 0).sum())
    if not dataset.n_items:
        return
    if limit is not None and Fraction(100 * suppressed, dataset.n_items) > limit:
        raise InfeasibleError(
            f"{suppressed} of {dataset.n_items} items would have to be suppressed, more than {float(limit):g} percent.",
            code="too_much_suppression",
            hint="Raise --max-suppression, or lower k or m.",
        )
    if suppressed == dataset.n_items and limit != 100:
        raise InfeasibleError(
            "Every item would have to be suppressed.",
            code="all_suppressed",
            hint="Lower k or m, or say --max-suppression 100 if that is wanted.",
        )


def _queries(engine: Engine, dataset: Dataset, workload: Workload, pool: Any) -> Queries:
    if workload.own is not None:
        with open_source(engine, workload.own, "workload") as source:
            return owner_workload(engine, dataset, source)
    return random_workload(
        engine,
        dataset,
        queries=workload.queries,
        size=workload.size,
        seed=workload.seed,
        pool=pool if workload.draw == "generalized" else None,
    )


def _called(queries: Queries) -> str:
    """What a workload is called in the ledger."""
    if queries.seed is None:
        return "own queries"
    return f"random size={queries.size} queries={queries.n_queries} seed={queries.seed} draw={queries.draw}"


def _generalized(engine: Engine, schema: SchemaName, dataset: Dataset) -> Any:
    """The items of the data that a released item stands for together with others."""
    found = engine.query(
        "release/generalized_members", {"released_items": schema.table("released_items"), "items": dataset.items}
    )
    return np.asarray(found["item"], dtype=np.int64)


def _measure(
    engine: Engine, dataset: Dataset, schema: SchemaName, suppression: str, queries: Queries, must_hold: bool = True
) -> Accuracy:
    released = of_release(
        engine, schema.table("transactions"), schema.table("released_items"), suppressed=suppression == "some"
    )
    accuracy = measure(engine, dataset, released, queries)
    if must_hold and accuracy.outside:
        raise InternalError(f"{accuracy.outside} true counts lie outside their bounds; nothing was kept.")
    return accuracy


def _entry(
    engine: Engine,
    policy: Policy,
    name: str,
    dataset: Dataset,
    frozen: FrozenRelease,
    verification: Verification,
    loss: Loss,
) -> ledger.LedgerEntry:
    return ledger.LedgerEntry(
        name=name,
        release_id=frozen.release_id,
        model=policy.model.name,
        parameters=policy.options(),
        algorithm=str(policy.algorithm),
        source_table=dataset.table,
        source_reference=_reference(engine, dataset.reference),
        id_column=dataset.id_column,
        item_column=dataset.item_column,
        fingerprint=fingerprint(engine, dataset),
        transactions=dataset.n_transactions,
        items=dataset.n_items,
        released_items=frozen.released_items,
        suppressed_items=frozen.suppressed_items,
        suppressed_occurrences=frozen.suppressed_occurrences,
        lm_total=None if loss.lm_total is None else str(loss.lm_total),
        lm=loss.lm,
        ncp=loss.ncp,
        verified=verification.verified,
        violations=verification.violations,
        version=__version__,
    )


def _reference(engine: Engine, table: Table | None) -> str | None:
    """What finds a source again: without the name of the owner's database, since its file may be renamed."""
    if table is None or table.catalog == "temp":
        return None
    name = table.expression()
    if table.catalog == current_catalog(engine):
        name.set("catalog", None)
    return name.sql(dialect="duckdb")


def _remarks(dataset: Dataset, policy: Policy, taxonomy: Taxonomy | None, frozen: FrozenRelease) -> list[str]:
    """What the owner should know about a release beyond its figures."""
    remarks = []
    if policy.model.k == 1:
        remarks.append("k = 1 promises nothing: every item is released as it is.")
    if dataset.n_items and not frozen.released_items:
        remarks.append("Everything was suppressed: the release holds no item.")
    if policy.algorithm == "coat":
        return remarks
    if (
        taxonomy is not None
        and taxonomy.size > 1
        and any(
            len(list(taxonomy.children(node))) == 1 for node in (0, *taxonomy.children(0)) if not taxonomy.is_leaf[node]
        )
    ):
        remarks.append(
            "A node at the top of the taxonomy has a single child: the search stops where one step down does not pay."
        )
    return remarks


def published(report: Report, file: PublishedFile, seconds: float) -> Report:
    """The report of a release that was also published."""
    steps = report.seconds | {"publish": round(seconds, 3), "total": round(report.seconds["total"] + seconds, 3)}
    return replace(report, published=str(file.path), seconds=steps)
