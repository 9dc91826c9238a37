"""``load``: everything that a policy names is read, each source once."""

from dataclasses import replace
from typing import Any

from anondb.algorithms.method import Task
from anondb.data import preflight
from anondb.data.constraints import load_requirements, load_sensitive
from anondb.data.records import load_records
from anondb.data.sources import reading_as
from anondb.data.taxonomy import load_taxonomy, of_type
from anondb.data.transactions import Dataset
from anondb.engine import DuckDBEngine, Table
from anondb.errors import InputError
from anondb.pipeline import on_engine
from anondb.pipeline.clock import Clock
from anondb.policy import Policy
from anondb.promises import PROMISES
from anondb.reading.account import accounts_of

Persons = tuple[Dataset, Table | None]  # what read_persons returns


def load(engine: DuckDBEngine, policy: Policy, persons: Persons | None = None) -> Task:
    """Read the sources of a policy, each once (or take the ``persons`` of ``read_persons``), and have the owner confirm what
    is found about them. Raises InputError: a source cannot be read; ``unconfirmed``: a finding of ``anondb.data.preflight``
    is not confirmed; ``modelled_ids``."""
    preflight.check_names(policy.accept)
    with reading_as(engine, policy.rows), engine.accounting() as accounts:
        task = _read(engine, policy, persons)
    attributes = [] if task.records is None else [attribute.name for attribute in task.records.attributes]
    how: Any = {"item_domains": policy.reading.item_domains, "attributes": attributes}
    findings = preflight.findings(engine, task.dataset, ids_here=task.runner is None, **how)
    if task.records is not None and task.records.hierarchies is not None:
        findings += preflight.unused_hierarchies(task.records.hierarchies, attributes)
    if policy.modelled_rows:
        findings += preflight.modelled_records(attributes)
        if engine.one_shot and task.runner is None:
            from anondb.publications.modelled import check_ids_of

            check_ids_of(engine, task.dataset)
    confirmed = preflight.confirmed(findings, policy.accept, engine.on_finding)
    return replace(task, accounts=accounts_of(accounts, task.dataset.account), findings=confirmed)


def _read(engine: DuckDBEngine, policy: Policy, persons: Persons | None) -> Task:
    dataset, reference, runner = on_engine.read(engine, policy) if persons is None else (*persons, None)
    taxonomy = None if policy.taxonomy is None else load_taxonomy(engine, policy.taxonomy)
    if taxonomy is not None:
        whole, taxonomy = taxonomy, of_type(engine, taxonomy, dataset.item_type)
        if taxonomy.n_leaves < whole.n_leaves:
            note = f"{whole.n_leaves - taxonomy.n_leaves} leaves of the taxonomy are left out: no {dataset.item_type} is so."
            dataset = replace(dataset, warnings=(*dataset.warnings, note))
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
        runner=runner,
    )
    if not of_records:
        return replace(task, records_reference=reference)
    relational = load_records(
        engine,
        policy.people,
        dataset,
        quasi_identifiers=policy.quasi_identifiers,
        hierarchies=policy.hierarchies,
        weights=policy.weights,
        domains=policy.domains,
    )
    if (policy.values or 1) > max(len(relational.attributes), 1):
        words = f"Queries of {policy.values} values need as many quasi-identifiers, not {len(relational.attributes)}."
        raise InputError(words, code="bad_parameter", hint="Lower --values.")
    return replace(task, records=relational, records_reference=reference)


def load_step(engine: DuckDBEngine, clock: Clock, policy: Policy) -> Task:
    """``load`` as the first step of the clock of a release, for ``task`` of ``anonymize``."""
    clock.release = policy.name
    with clock.step(engine, "load", "loading transactions") as counts:
        task = load(engine, policy)
        counts |= sizes(task)
    return task


def sizes(task: Task) -> dict[str, int]:
    """The size of the data, for the log."""
    return {n: getattr(task.dataset, f"n_{n}") for n in ("transactions", "items", "occurrences")}
