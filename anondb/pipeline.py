"""``anonymize``: the steps that turn a policy into a verified release, in order."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from anondb import __version__
from anondb.algorithms.method import Task
from anondb.data.requirements import load_requirements
from anondb.data.sensitive import load_sensitive
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import Dataset, fingerprint
from anondb.engine import DuckDBEngine, Engine
from anondb.errors import InputError, VerificationFailed
from anondb.models import Model
from anondb.owner import ledger, publications
from anondb.owner.accuracy import AnatomyFigures, anatomy_figures, called, measure_on, queries_of, relational_figures
from anondb.owner.constraint_report import ConstraintReport, check_constraints
from anondb.owner.publications import Intersection, notes
from anondb.owner.published_rows import keep as keep_rows
from anondb.owner.releases import asked_table, check_writable, current_catalog, read_persons, reference_of
from anondb.policy import Policy
from anondb.promises import PROMISES
from anondb.promises.check import support_rule, verify_release
from anondb.promises.spec import Knowledge
from anondb.recode import loss_of, promised, recode, remarks
from anondb.recoding import Recoding
from anondb.release.coded import CodedRelease
from anondb.release.freeze import FrozenRelease, freeze
from anondb.release.objects import SchemaName, find_schema, release_schema
from anondb.release.row_sums import RowSums, row_sums
from anondb.utility import Accuracy, Loss, Workload, generalized_items
from anondb.verify import Verification

if TYPE_CHECKING:
    from anondb.release.publish import PublishedFile


@dataclass
class Clock:
    """The wall time of each step, in seconds."""

    seconds: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @contextlib.contextmanager
    def step(self, engine: Engine, name: str, words: str) -> Iterator[None]:
        """Report the start of a step, and measure its time."""
        engine.progress(words)
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun

    def report(self) -> dict[str, float]:
        """The seconds of all steps and their total, rounded to milliseconds; 0 for steps that did not run."""
        steps = dict.fromkeys(("load", "anonymize", "freeze", "verify", "accuracy", "publish"), 0.0) | self.seconds
        return {n: round(s, 3) for n, s in steps.items()} | {"total": round(time.perf_counter() - self.started, 3)}


@dataclass(frozen=True)
class Report:
    """The owner's report on a release. It contains true counts: do not give it to analysts."""

    release: str
    model: Model
    algorithm: str
    transactions: int
    items: int
    occurrences: int
    verification: Verification
    frozen: FrozenRelease
    loss: Loss
    accuracy: Accuracy
    warnings: tuple[str, ...]
    seconds: dict[str, float]
    published: str | None = None
    sha256: str | None = None
    content_digest: str | None = None
    anatomy: AnatomyFigures | None = None
    relational: dict[str, Any] | None = None
    constraints: ConstraintReport | None = None
    intersections: tuple[Intersection, ...] = ()
    verified_rows: RowSums | None = None

    def to_json(self) -> dict[str, Any]:
        """The report of ``anonymize --json`` (docs/contract.md#command-line)."""
        return {
            "release": self.release,
            "model": {"name": self.model.name, **self.model.parameters()},
            "algorithm": self.algorithm,
            "transactions": self.transactions,
            "items": self.items,
            "occurrences": self.occurrences,
            "verified": self.verification.verified,
            "violations": self.verification.violations,
            "across_levels": self.verification.across_levels,
            "suppressed_items": self.frozen.suppressed_items,
            "suppressed_occurrences": self.frozen.suppressed_occurrences,
            "all_suppressed": bool(self.items) and not self.frozen.released_items,
            "released_items": self.frozen.released_items,
            "constraints": None if self.constraints is None else self.constraints.to_json(),
            "loss": self.loss.to_json(),
            "relational": self.relational,
            "accuracy": self.accuracy.to_json(),
            "seconds": self.seconds,
            "published": self.published,
            "sha256": self.sha256,
            "content_digest": self.content_digest,
            "intersections": [i.to_json() for i in self.intersections],
            "warnings": list(self.warnings),
            **({} if self.anatomy is None else {"anatomy": self.anatomy.to_json()}),
        }


def anonymize(
    engine: DuckDBEngine,
    policy: Policy,
    *,
    view: ledger.View | None = None,
    task: Task | None = None,
    publish: Callable[[Dataset, RowSums | None], PublishedFile] | None = None,
    sums: bool = False,
) -> Report:
    """Load, anonymize, freeze, measure the loss, verify the frozen rows, measure accuracy, write the ledger.

    One transaction covers all steps: any error leaves the database unchanged.

    Args:
        engine: the engine.
        policy: the sources, the promise and the algorithm.
        view: the anonymized view of this release, recorded in the ledger.
        task: the result of ``load`` for this policy, made in the caller's transaction, which then covers all steps.
        publish: seals the release as the last step of the transaction: if it fails, no release is made.
        sums: whether the report has ``verified_rows``, with which a sealed file can be compared.

    Raises:
        InputError: bad data, taxonomy or names; a release of that name exists.
        InfeasibleError: more would be suppressed than allowed, or everything.
        VerificationFailed: the verifier did not accept the frozen rows (a bug; nothing was kept).
        EngineError: memory, disk, a lock, or a budget.
    """
    clock = Clock()
    catalog = current_catalog(engine)
    with engine.recording() as statements, engine.transaction() if task is None else contextlib.nullcontext():
        check_writable(engine, catalog)
        ledger.check_names(engine, catalog)
        with clock.step(engine, "load", "loading transactions"):
            task = load(engine, policy) if task is None else task
            name = policy.name if policy.name is not None else task.dataset.table
            schema = release_schema(catalog, name)
            _check_name_is_free(engine, schema, policy.replace)
        report, recoding, queries = _release(
            engine, clock, policy, task, name, schema, sums=sums or publish is not None
        )
        if not engine.one_shot or view is not None:
            _record(engine, catalog, policy, task, report, recoding, statements, view, called(queries))
        _record_needs(engine, catalog, report.frozen.release_id, task)
        file = None
        if publish is not None:
            with clock.step(engine, "publish", "publishing"):
                file = publish(task.dataset, report.verified_rows)
    report = replace(report, seconds=clock.report())
    return report if file is None else published(report, file)


def load(engine: Engine, policy: Policy) -> Task:
    """Read the transactions, the taxonomy and the constraints of a policy, each source once."""
    dataset, reference = read_persons(engine, policy)
    taxonomy = None if policy.taxonomy is None else load_taxonomy(engine, policy.taxonomy)
    if taxonomy is not None:
        taxonomy.leaf_nodes(dataset)  # check that each item is a leaf: not every algorithm does
    of_records = PROMISES[policy.model.name].relational  # then ``weights`` are weights of attributes
    requirements = load_requirements(
        engine,
        dataset,
        taxonomy,
        privacy=policy.privacy_constraints,
        utility=policy.utility_constraints,
        weights=None if of_records else policy.weights,
        countable=policy.countable,
    )
    sensitive = None if policy.sensitive is None else load_sensitive(engine, policy.sensitive)
    task = Task(
        model=policy.model,
        dataset=dataset,
        requirements=requirements,
        taxonomy=taxonomy,
        sensitive=sensitive,
        columns=policy.columns,
        delta=policy.delta,
        max_suppression=policy.max_suppression,
        options=policy.method_options,
    )
    if not of_records:
        return replace(task, records_reference=reference)
    from anondb.data.records import load_records

    relational = load_records(
        engine,
        policy.records,
        dataset,
        quasi_identifiers=policy.quasi_identifiers,
        hierarchies=policy.hierarchies,
        weights=policy.weights,
        domains=policy.domains,
    )
    if (policy.values or 1) > max(len(relational.attributes), 1):
        raise InputError(
            f"Queries of {policy.values} values need as many quasi-identifiers, not {len(relational.attributes)}.",
            code="bad_parameter",
            hint="Lower --values.",
        )
    return replace(task, records=relational, records_reference=reference)


# ---------------------------------------------------------------------- parts of the steps


def _release(
    engine: DuckDBEngine, clock: Clock, policy: Policy, task: Task, name: str, schema: SchemaName, *, sums: bool
) -> tuple[Report, Recoding, Workload]:
    """Make, verify and measure the release; also return its recoding and the workload. The report lacks the times."""
    dataset = task.dataset
    with clock.step(engine, "anonymize", f"anonymizing with {policy.algorithm}"):
        recoding = recode(engine, policy, task)
        model = promised(policy.model, recoding)
    with clock.step(engine, "freeze", "freezing the release"):
        old = find_schema(engine, schema) if policy.replace and not engine.one_shot else None
        if old is not None:
            keep_rows(engine, schema.catalog, old)
        rule = support_rule(model) if policy.item_supports else None
        named = replace(dataset, table=asked_table(dataset, name))
        write = partial(freeze, replace=policy.replace, supports=rule, records_table=task.records_table)
        frozen = write(engine, named, recoding, model, release_schema=schema)
        loss = loss_of(recoding, engine, policy, task, frozen)
    with clock.step(engine, "verify", "verifying the frozen rows"):
        rows = CodedRelease(engine, schema)
        verification = _verified(engine, task, frozen, model, rows)
        verified_rows = row_sums(engine, schema, frozen.kind) if sums else None
        constraints = check_constraints(engine, policy, task, recoding, schema)
    with clock.step(engine, "accuracy", "measuring accuracy"):
        queries = queries_of(engine, dataset, policy.workload, partial(generalized_items, recoding.items, frozen.cover))
        accuracy = measure_on(engine, dataset, schema, frozen.kind, frozen.manifest, queries, rows=rows)
        rows.drop()
        anatomy = anatomy_figures(recoding, engine, dataset, schema, model, policy.workload.seed)
        relational = relational_figures(engine, policy, task, recoding)
    report = Report(
        release=name,
        model=model,
        algorithm=str(policy.algorithm),
        transactions=dataset.n_transactions,
        items=dataset.n_items,
        occurrences=dataset.n_occurrences,
        verification=verification,
        frozen=frozen,
        loss=loss,
        accuracy=accuracy,
        warnings=(*_warnings(policy, task, recoding, frozen), *_inferences(engine, policy, task, frozen, model)),
        seconds={},
        anatomy=anatomy,
        constraints=constraints,
        relational=relational,
        verified_rows=verified_rows,
    )
    return report, recoding, queries


def _verified(
    engine: DuckDBEngine, task: Task, frozen: FrozenRelease, model: Model, rows: CodedRelease
) -> Verification:
    """Verify the frozen rows, and raise ``VerificationFailed`` if they break the promise."""
    knowledge = Knowledge(task.requirements.privacy, task.sensitive, task.dataset)
    verification = verify_release(engine, frozen.schema, model, kind=frozen.kind, rows=rows, knowledge=knowledge)
    if not verification.verified:
        raise VerificationFailed(
            f"The frozen release has {verification.all_violations} violations of {model.name}; nothing was kept."
            " This is a bug in anondb: please report it."
        )
    return verification


def _inferences(engine: Engine, policy: Policy, task: Task, frozen: FrozenRelease, model: Model) -> tuple[str, ...]:
    if not frozen.kind.item_supports:
        return ()
    from anondb.owner.inversion import inference_warning

    return inference_warning(engine, policy, task, frozen, model)


def _warnings(policy: Policy, task: Task, recoding: Recoding, frozen: FrozenRelease) -> tuple[str, ...]:
    """Remarks for the owner."""
    other_table, asked = tuple[str, ...](), frozen.manifest["table"]
    if asked != task.dataset.table:
        other_table = (
            f"Counts over {task.dataset.table!r} differ from those of the release, where each transaction has an item once:"
            f" analysts query the table {asked!r}.",
        )
    return (*task.dataset.warnings, *other_table, *task.requirements.warnings, *remarks(policy, task, recoding, frozen))


def _check_name_is_free(engine: Engine, schema: SchemaName, replacing: bool) -> None:
    """Raise an ``InputError`` for a name in use, before the long work."""
    if not replacing and find_schema(engine, schema) is not None:
        raise InputError(
            f"A schema {schema.name!r} exists already (upper and lower case are the same).",
            code="release_exists",
            hint="Choose another name with --release, or --replace it.",
        )


def _record_needs(engine: Engine, catalog: str, release_id: str, task: Task) -> None:
    """Store what a later verification of the release needs, also in a one-shot run, which verifies the sealed file."""
    constraints = bool(ledger.constraint_rows(task.requirements))
    if constraints or task.sensitive is not None or task.records is not None:
        ledger.ensure(engine, catalog)
    if task.sensitive is not None:
        ledger.record_sensitive(engine, catalog, release_id, task.sensitive)
    if task.records is not None:
        ledger.record_records(engine, catalog, release_id, task.records.fingerprint())
    if constraints:
        ledger.record_constraints(engine, catalog, release_id, task.requirements)


def _record(
    engine: Engine,
    catalog: str,
    policy: Policy,
    task: Task,
    report: Report,
    recoding: Recoding,
    statements: list[str],
    view: ledger.View | None,
    workload: str,
) -> None:
    """Write the ledger; ``workload`` is the name of the queries."""
    release_id = report.frozen.release_id
    ledger.record(engine, catalog, _entry(engine, policy, task, report), recoding.decisions)
    publications.record_statements(engine, catalog, release_id, statements)
    if task.taxonomy is not None:
        ledger.record_taxonomy(engine, catalog, release_id, task.taxonomy)
    if view is not None:
        ledger.record_view(engine, catalog, release_id, view)
    ledger.record_accuracy(engine, catalog, report.release, release_id, report.accuracy.answers, workload)


def _entry(engine: Engine, policy: Policy, task: Task, report: Report) -> ledger.LedgerEntry:
    dataset, frozen, loss = task.dataset, report.frozen, report.loss
    parameters = policy.ledger_options() | report.model.parameters()
    if policy.records is not None:  # record the reference that finds the table again, not the name in the policy
        parameters["records"] = reference_of(engine, task.records_reference)
    return ledger.LedgerEntry(
        name=report.release,
        release_id=frozen.release_id,
        model=report.model.name,
        parameters=parameters,
        algorithm=report.algorithm,
        source_table=dataset.table,
        source_reference=reference_of(engine, dataset.reference),
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
        ul=loss.ul,
        ul_log2=loss.ul_log2,
        ggd=None if loss.ggd is None else str(loss.ggd),
        verified=report.verification.verified,
        violations=report.verification.violations,
        version=__version__,
    )


def published(report: Report, file: PublishedFile, seconds: float | None = None, one_shot: bool = False) -> Report:
    """Add a publication to a report; ``seconds`` is its time if the report does not include it yet."""
    unasked = "A run over files has no ledger: earlier publications of these persons are unknown."
    warnings = (*report.warnings, *([unasked] if one_shot else ()), *notes(file.intersections), *file.remarks)
    total = report.seconds["total"]
    more = {} if seconds is None else {"publish": round(seconds, 3), "total": round(total + seconds, 3)}
    return replace(
        report,
        published=str(file.path),
        sha256=file.sha256,
        content_digest=file.content_digest,
        seconds=report.seconds | more,
        warnings=warnings,
        intersections=file.intersections,
    )
