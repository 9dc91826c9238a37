"""``anonymize``: the steps that turn a policy into a verified release, in order."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from anondb import __version__
from anondb.algorithms.method import Task
from anondb.data import preflight
from anondb.data.sources import reading_as
from anondb.data.transactions import Dataset, fingerprint
from anondb.data.types import ROWS
from anondb.engine import DuckDBEngine, Engine
from anondb.errors import InputError, agreeing, quote_list
from anondb.ledger import ledger, loaded_files
from anondb.ledger.stored import asked_records, asked_table, check_writable, current_catalog, reference_of
from anondb.ledger.tables import CONSTRAINTS, RECORDS, SENSITIVE, STATEMENTS
from anondb.ledger.unfinished import Unfinished, key_of_load, key_of_recoding
from anondb.models import Model, json_of
from anondb.pipeline import on_engine, reports
from anondb.pipeline.clock import Clock
from anondb.pipeline.engine_release import broken
from anondb.pipeline.load import Persons, load, sizes
from anondb.pipeline.reports import Report, published
from anondb.policy import Policy
from anondb.promises.check import support_rule, verify_release
from anondb.promises.spec import Knowledge
from anondb.publications import persons
from anondb.publications.history import PublishedFile
from anondb.publications.published_rows import keep as keep_rows
from anondb.reading.options import as_read
from anondb.recode import loss_of, promised, recode, remarks
from anondb.recoding import Recoding
from anondb.release.coded import CodedRelease
from anondb.release.freeze import FrozenRelease, freeze, name_taken
from anondb.release.objects import find_schema, release_schema
from anondb.release.row_sums import RowSums, row_sums
from anondb.risk.accuracy import anatomy_figures, called, measure_on, queries_of, relational_figures
from anondb.risk.constraint_report import check_constraints
from anondb.risk.inversion import inference_warning
from anondb.utility.loss import generalized_items
from anondb.utility.workload import Workload
from anondb.verify import Verification


def anonymize(
    engine: DuckDBEngine,
    policy: Policy,
    *,
    view: ledger.View | None = None,
    task: Task | None = None,
    publish: Callable[[Dataset, RowSums | None], PublishedFile] | None = None,
    sums: bool = False,
    clock: Clock | None = None,
    resume: bool = False,
) -> Report:
    """Load, anonymize, freeze, measure the loss, verify the frozen rows, measure accuracy, write the ledger.

    One transaction covers all steps: any error leaves the database unchanged. With ``resume`` the results of ``load`` and
    of the algorithm are kept in the schema ``anondb_work`` when they are done. Every run that succeeds sweeps it.

    Args:
        policy: the sources, the promise and the algorithm.
        view: the anonymized view of this release, recorded in the ledger.
        task: the result of ``load`` for this policy, made in the caller's transaction, which then covers all steps.
        publish: seals the release as the last step of the transaction: if it fails, no release is made.
        sums: whether the report has ``verified_rows``, with which a sealed file can be compared.
        clock: the clock of the release, with its time limit, which covers all steps but ``publish``.
        resume: go on from the steps that an earlier run with ``resume`` finished, if their inputs are the same.

    Raises:
        InputError: bad data, taxonomy or names; a release of that name exists.
        InfeasibleError: more would be suppressed than allowed, or everything.
        VerificationFailed: the verifier did not accept the frozen rows (a bug; nothing was kept).
        EngineError: memory, disk, a lock, or a budget.
    """
    sums, clock = sums or publish is not None, clock or Clock()
    clock.publishes, recorded = sums, not engine.one_shot or view is not None
    catalog = current_catalog(engine)
    with engine.recording() as statements, reading_as(engine, policy.rows), contextlib.ExitStack() as transaction:
        recoding = None
        if resume:
            task, recoding = _resumed(engine, clock, policy, catalog)
        if task is None or resume:
            transaction.enter_context(engine.transaction())
        with clock.limited(engine):
            if task is None or not resume:
                task = _named_task(engine, clock, policy, catalog, task)
            if recoding is None:
                with clock.step(engine, "anonymize", f"anonymizing with {policy.algorithm}"):
                    recoding = recode(engine, policy, task)
                    task = on_engine.bring(engine, catalog, task, recoding, recorded=recorded)
            report, queries = _release(engine, clock, policy, task, recoding, catalog, sums=sums)
            if recorded:
                report = replace(report, seconds=clock.report())
                _record(engine, catalog, policy, task, report, recoding, statements, view, called(queries))
            _record_needs(engine, catalog, report.frozen.release_id, task)
            Unfinished(engine, catalog).sweep()
        file = None
        if publish is not None:
            with clock.step(engine, "publish", "publishing"):
                file = publish(task.dataset, report.verified_rows)
    report = replace(report, seconds=clock.report())
    return report if file is None else published(report, file)


def _named_task(engine: DuckDBEngine, clock: Clock, policy: Policy, catalog: str, task: Task | None) -> Task:
    """The task, loaded unless the caller has it; its release has a name that is free."""
    if task is not None:
        _check_database(engine, catalog)
        _name(engine, clock, policy, catalog, task)
        return task
    with clock.step(engine, "load", "loading transactions") as counts:
        return _loaded(engine, clock, policy, catalog, counts)


def _loaded(
    engine: DuckDBEngine, clock: Clock, policy: Policy, catalog: str, counts: dict[str, int], persons: Persons | None = None
) -> Task:
    """Check the database, load, check the name of the release, and count the data."""
    _check_database(engine, catalog)
    task = load(engine, policy, persons)
    _name(engine, clock, policy, catalog, task)
    counts |= sizes(task)
    return task


def _check_database(engine: Engine, catalog: str) -> None:
    check_writable(engine, catalog)
    engine.claim()
    ledger.check_names(engine, catalog)


def _name(engine: Engine, clock: Clock, policy: Policy, catalog: str, task: Task) -> None:
    """Name the release, by default after its source, and check before the long work that the name is free."""
    clock.release = policy.name if policy.name is not None else task.dataset.table
    existing = find_schema(engine, release_schema(catalog, clock.release))
    if existing is not None and not policy.replace:
        raise name_taken(existing)


def _resumed(engine: DuckDBEngine, clock: Clock, policy: Policy, catalog: str) -> tuple[Task, Recoding]:
    """Load and recode, each in a transaction of its own that keeps the result; or take what an earlier run has kept."""
    if engine.one_shot or not engine.runs_sql:
        raise InputError(
            "Unfinished work is kept in a DuckDB file.", code="bad_usage", hint="Load the data into one, with anondb load."
        )
    work = Unfinished(engine, catalog)
    clock.kept = "the steps that were finished are kept for --resume"
    with clock.step(engine, "load", "loading transactions") as counts, engine.transaction(), clock.limited(engine):
        check_writable(engine, catalog)
        work.check()
        key = key_of_load(engine, policy)
        persons = work.restore("load", key)
        counts["resumed"] = persons is not None
        task = _loaded(engine, clock, policy, catalog, counts, persons)
        if task.runner is not None:
            raise InputError(
                "Work inside another database is not kept.",
                code="bad_usage",
                hint="Leave --resume out, or add --no-on-engine.",
            )
        if persons is None:
            persons = work.keep("load", key, (task.dataset, task.records_reference))
        task = replace(task, dataset=persons[0])
    with (
        clock.step(engine, "anonymize", f"anonymizing with {policy.algorithm}") as counts,
        engine.transaction(),
        clock.limited(engine),
    ):
        key = key_of_recoding(engine, key, policy, task)
        recoding = work.restore("anonymize", key)
        counts["resumed"] = recoding is not None
        if recoding is None:
            recoding = work.keep("anonymize", key, recode(engine, policy, task))
    return task, recoding


def _release(
    engine: DuckDBEngine, clock: Clock, policy: Policy, task: Task, recoding: Recoding, catalog: str, *, sums: bool
) -> tuple[Report, Workload]:
    """Make, verify and measure the release of a recoding; also return the workload. The report lacks the times."""
    name, dataset, model = str(clock.release), task.dataset, promised(policy.model, recoding)
    schema = release_schema(catalog, name)
    with clock.step(engine, "freeze", "freezing the release") as counts:
        replaced = find_schema(engine, schema) if policy.replace and not engine.one_shot else None
        if replaced is not None:
            keep_rows(engine, catalog, replaced)
        named = replace(dataset, table=asked_table(dataset, name), item_column=dataset.asked_item)
        records = asked_records(dataset, name, task.records_table)
        rule = support_rule(model) if policy.item_supports else None
        write = partial(freeze, replace=policy.replace, supports=rule, records_table=records)
        frozen = write(engine, named, recoding, model, release_schema=schema)
        unconfirmed = preflight.one_released_item(dataset, frozen.released_items) if model.layout != "buckets" else []
        findings = (*task.findings, *preflight.confirmed(unconfirmed, policy.accept, engine.on_finding))
        loss = loss_of(recoding, engine, policy, task, frozen)
        counts |= {n: getattr(frozen, n) for n in ("released_items", "suppressed_items", "suppressed_occurrences")}
    with clock.step(engine, "verify", "verifying the frozen rows") as counts:
        rows = CodedRelease(engine, schema)
        verification = _verified(engine, task, frozen, model, rows)
        counts["violations"] = verification.all_violations
        verified_rows = row_sums(engine, schema, frozen.kind) if sums else None
        constraints = check_constraints(engine, policy, task, recoding, schema)
    with clock.step(engine, "accuracy", "measuring accuracy") as counts:
        queries = queries_of(engine, dataset, policy.workload, partial(generalized_items, recoding.items, frozen.cover))
        accuracy = measure_on(engine, dataset, schema, frozen.kind, frozen.manifest, queries, rows=rows)
        counts["queries"] = accuracy.queries
        rows.drop()
        anatomy = anatomy_figures(recoding, engine, dataset, schema, model, policy.workload.seed)
        relational = relational_figures(engine, policy, task, recoding, schema, frozen.kind)
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
        warnings=(*_warnings(policy, task, recoding, frozen), *inference_warning(engine, policy, task, frozen, model)),
        seconds={},
        anatomy=anatomy,
        constraints=constraints,
        relational=relational,
        verified_rows=verified_rows,
        read=(*loaded_files.accounts_of(engine, dataset.reference), *task.accounts),
        findings=findings,
    )
    return report, queries


def _verified(engine: DuckDBEngine, task: Task, frozen: FrozenRelease, model: Model, rows: CodedRelease) -> Verification:
    """Verify the frozen rows, and raise ``VerificationFailed`` if they break the promise."""
    knowledge = Knowledge(task.requirements.privacy, task.sensitive, task.dataset)
    verification = verify_release(engine, frozen.schema, model, kind=frozen.kind, rows=rows, knowledge=knowledge)
    if not verification.verified:
        raise broken(f"The frozen release has {verification.all_violations} violations of {model.name}")
    return verification


def _warnings(policy: Policy, task: Task, recoding: Recoding, frozen: FrozenRelease) -> tuple[str, ...]:
    """Remarks for the owner."""
    other_table, asked = tuple[str, ...](), frozen.manifest["table"]
    if asked != task.dataset.table and task.dataset.n_items:
        rows = "a row for each item" if task.dataset.layout == ROWS else "a list of the items"
        repeated = task.dataset.duplicates and not task.dataset.bags
        how = "where each transaction has an item once" if repeated else f"which has {rows} of a transaction"
        differ = f"Counts over {task.dataset.table!r} differ from those of the release, {how}"
        other_table = (f"{differ}: analysts query the table {asked!r}.",)
    read = (*task.dataset.warnings, *_left_out(task), *other_table, *task.requirements.warnings)
    return tuple(map(agreeing, (*read, *remarks(policy, task, recoding, frozen))))


def _left_out(task: Task) -> tuple[str, ...]:
    """A remark on the columns of a table that are not released; those of a file are in its account."""
    attributes = () if task.records is None else [attribute.name for attribute in task.records.attributes]
    left = [name for name in task.dataset.left_out if name not in attributes and task.dataset.account is None]
    return (f"Columns of {task.dataset.source} are left out: {quote_list(left)}.",) if left else ()


def _record_needs(engine: Engine, catalog: str, release_id: str, task: Task) -> None:
    """Store what a later verification of the release needs, also in a one-shot run, which verifies the sealed file."""
    constraints = ledger.constraint_rows(task.requirements)
    if constraints or task.sensitive is not None or task.records is not None:
        ledger.ensure(engine, catalog)
    if task.sensitive is not None:
        SENSITIVE.note(engine, catalog, release_id, ((item,) for item in task.sensitive))
    if task.records is not None:
        RECORDS.note(engine, catalog, release_id, [(task.records.fingerprint(),)])
    CONSTRAINTS.note(engine, catalog, release_id, constraints)


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
    STATEMENTS.note(engine, catalog, release_id, enumerate(statements, 1))
    reports.record(engine, catalog, report)
    if task.taxonomy is not None:
        ledger.record_taxonomy(engine, catalog, release_id, task.taxonomy)
    persons.record(engine, catalog, release_id, task.dataset)
    if view is not None:
        ledger.record_view(engine, catalog, release_id, view)
    ledger.record_accuracy(engine, catalog, report.release, release_id, report.accuracy.answers, workload)


def _entry(engine: Engine, policy: Policy, task: Task, report: Report) -> ledger.LedgerEntry:
    dataset, frozen, loss = task.dataset, report.frozen, report.loss
    parameters = policy.ledger_options() | report.model.parameters()
    parameters |= {} if task.runner is None else {"on_engine": True}
    if dataset.account is not None and isinstance(as_read(policy.transactions).data, str | Path):
        parameters["source_file"] = loaded_files.noted(policy.rows, dataset.account)
    if policy.records is not None:  # record the reference that finds the table again, not the name in the policy
        parameters["records"] = reference_of(engine, task.records_reference)
    if task.records is not None:
        parameters["records_digest"] = task.records.digest()
    beside = [account for account in task.accounts if account.role == "records"]
    if beside and isinstance(as_read(policy.records).data, str | Path):
        parameters["records_file"] = loaded_files.noted(policy.people, beside[0])
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
        fingerprint=None if task.runner is not None else fingerprint(engine, dataset),
        transactions=dataset.n_transactions,
        items=dataset.n_items,
        **json_of(frozen, "released_items", "suppressed_items", "suppressed_occurrences"),
        **json_of(loss, "lm_total", "lm", "ncp", "ul", "ul_log2", "ggd"),
        verified=report.verification.verified,
        violations=report.verification.violations,
        version=__version__,
    )
