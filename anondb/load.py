"""``load``: everything that a policy names is read, each source once."""

from __future__ import annotations

from dataclasses import replace

from anondb import on_engine
from anondb.algorithms.method import Task
from anondb.clock import Clock
from anondb.data.requirements import load_requirements
from anondb.data.sensitive import load_sensitive
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import Dataset
from anondb.engine import DuckDBEngine, Table
from anondb.errors import InputError
from anondb.policy import Policy
from anondb.promises import PROMISES

Persons = tuple[Dataset, Table | None]  # what read_persons returns


def load(engine: DuckDBEngine, policy: Policy, persons: Persons | None = None) -> Task:
    """Read the transactions, the taxonomy and the constraints of a policy, each source once; ``persons`` are those of
    ``read_persons`` if the caller has them."""
    dataset, reference, runner = on_engine.read(engine, policy) if persons is None else (*persons, None)
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
        runner=runner,
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
