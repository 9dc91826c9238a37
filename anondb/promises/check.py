"""Check a promise on any transactions, on a release, or on a sealed file."""

import contextlib
from dataclasses import replace
from typing import Any

from anondb.data.sources import open_source, reading_as
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import DuckDBEngine
from anondb.errors import InputError
from anondb.models import Model
from anondb.models.anatomy import Anatomy
from anondb.promises import PROMISES
from anondb.promises.spec import Knowledge, Subject
from anondb.release.coded import CodedRelease
from anondb.release.item_supports import SupportRule
from anondb.release.objects import ANATOMY, Kind, SchemaName, release_kind
from anondb.verify import Verification
from anondb.verify.anatomy import AnatomyVerification
from anondb.verify.item_supports import verify_item_supports


def verify_subject(subject: Subject, model: Model, witnesses: int = 0) -> Verification:
    """Check published transactions against a model with the model's verifier, inside a transaction of the engine. Raises
    InputError: ``no_privacy_constraints``, ``no_sensitive`` or ``no_records``: an input of the model is missing."""
    return PROMISES[model.name].verify(subject, model, witnesses)


def verify_release(
    engine: DuckDBEngine,
    schema: SchemaName,
    model: Model,
    witnesses: int = 0,
    *,
    knowledge: Knowledge = Knowledge(),
    kind: Kind | None = None,
    rows: CodedRelease | None = None,
) -> Verification:
    """Check the frozen or sealed rows of a release against a model. ``kind`` (the kind of the release) and ``rows`` (its
    coded rows) are read from the release unless the caller has them. Raises InputError: the model does not apply to this
    kind of release."""
    kind = release_kind(engine, schema) if kind is None else kind
    if kind is None or (kind is ANATOMY) != (model.layout == "buckets"):
        raise InputError(
            f"The model {model.name} does not apply to this kind of release.",
            code="bad_parameter",
            hint="Verify it against its own model.",
        )
    released = schema.table("released_items")
    if kind is ANATOMY:
        buckets = Subject(engine, schema.table("buckets"), None, knowledge, released, schema=schema)
        return verify_subject(buckets, model, witnesses)
    coded = CodedRelease(engine, schema) if rows is None else rows
    subject = Subject(engine, coded.transactions, coded.items, knowledge, released, coded, schema=schema, local=kind.local)
    checked = verify_subject(subject, model, witnesses)
    if kind.item_supports:
        rule, table = support_rule(model), schema.table("item_supports")
        n = verify_item_supports(engine, coded.transactions, coded.items, released, table, rule.k, rule.m)
        checked = replace(checked, verified=checked.verified and not n, item_supports=n)
    if rows is None:
        coded.drop()
    return checked


def support_rule(model: Model) -> SupportRule:
    """The rule of the item supports of a release under a model. Raises InputError: ``no_item_supports``: its releases cannot
    have them."""
    spec = PROMISES[model.name]
    spec.check_item_supports()
    return SupportRule(int(model.parameters()["k"]), spec.known_items(model))


def verify_source(
    engine: DuckDBEngine,
    transactions: Any,
    model: Model,
    *,
    bag_input: bool = False,
    witnesses: int = 0,
    privacy_constraints: Any = None,
    sensitive: Any = None,
    records: Any = None,
    quasi_identifiers: Any = None,
) -> Verification:
    """Check any table, view, file or data frame against a model; with ``bag_input`` repeated rows count as copies.

    ``records`` are ``transactions`` by default; ids that occur only there are transactions without items. For kkm and klm,
    records with equal values of all ``quasi_identifiers`` form a class; ``sensitive`` are the items that attackers do not
    know. Raises InputError: the model applies to buckets (see ``verify_buckets``); ``no_records`` or ``no_sensitive``: an
    input of the model is missing.
    """
    if model.layout == "buckets":
        raise InputError(
            "The model anatomy applies to buckets, not to transactions alone.",
            code="bad_usage",
            hint="Name a table (bucket_id, column_id, items, copies) with --buckets.",
        )
    relational = PROMISES[model.name].relational
    if records is None and quasi_identifiers is not None:
        records = transactions
    if quasi_identifiers is not None and not relational:
        names = " and ".join(name for name, spec in PROMISES.items() if spec.relational)
        raise InputError(f"quasi_identifiers applies to the models {names}, not to {model.name}.", code="bad_usage")
    beside = reading_as(engine, transactions)
    with beside, engine.transaction(), open_source(engine, transactions, "transactions") as source:
        knowledge = read_knowledge(engine, model, privacy_constraints, sensitive, of_release=False)
        with contextlib.nullcontext() if records is None else open_source(engine, records, "records") as people:
            dataset = load_transactions(engine, source, bags=bag_input, more_ids=people)
        subject = subject_of(engine, dataset, knowledge)
        if relational and records is not None:
            from anondb.data.records import load_classes

            subject = replace(subject, classes=load_classes(engine, records, dataset, quasi_identifiers))
        return verify_subject(subject, model, witnesses)


def unknown_items(engine: DuckDBEngine, transactions: Any, taxonomy: Any) -> tuple[str, ...]:
    """The labels of items that are not leaves of a taxonomy; sources as in ``pipeline.anonymize``."""
    with reading_as(engine, transactions), engine.transaction():
        with open_source(engine, transactions, "transactions") as source:
            dataset = load_transactions(engine, source)
        return load_taxonomy(engine, taxonomy).not_leaves(dataset)


def subject_of(engine: DuckDBEngine, dataset: Dataset, knowledge: Knowledge = Knowledge()) -> Subject:
    """Coded original transactions as the subject of a check, as if published unchanged."""
    return Subject(engine, dataset.transactions, dataset.items, knowledge, dataset=dataset)


def verify_buckets(
    engine: DuckDBEngine, buckets: Any, model: Anatomy, transactions: Any = None, *, witnesses: int = 0
) -> AnatomyVerification:
    """Check any table ``(bucket_id, column_id, items, copies)`` against l-diversity; ``items`` are lists. With the original
    transactions, also check that the buckets contain each of them once, as far as multisets can tell."""
    with engine.transaction(), open_source(engine, buckets, "buckets") as source:
        for column in ("bucket_id", "column_id", "items", "copies"):
            source.column(column, column)
        if not source.columns[source.column("items", "items")].endswith("[]"):
            raise InputError(
                f"The column 'items' of {source.name} must be a list of items.", code="bad_type", hint="Use VARCHAR[]."
            )
        original = None
        if transactions is not None:
            with open_source(engine, transactions, "transactions") as rows:
                original = load_transactions(engine, rows)
        checked = verify_subject(Subject(engine, source.query, None, Knowledge(original=original)), model, witnesses)
        assert isinstance(checked, AnatomyVerification)
        return checked


def read_knowledge(
    engine: DuckDBEngine, model: Model, privacy_constraints: Any, sensitive: Any, *, of_release: bool = True
) -> Knowledge:
    """Read the inputs of a check other than the rows: tables, files or data frames; None if the user named none. The
    manifest of a release (``of_release``) names the sensitive items itself. Raises InputError: ``bad_usage``: the model does
    not use the input, or the release already names it."""
    if privacy_constraints is None and sensitive is None:
        return Knowledge(None, None)  # without the import
    from anondb.data.constraints import load_sensitive, read_privacy

    privacy = private = None
    if privacy_constraints is not None:
        _check_taken(model, "privacy_constraints")
        privacy = read_privacy(engine, privacy_constraints)
    if sensitive is not None:
        if of_release and PROMISES[model.name].relational:
            raise InputError(
                "The release already names its sensitive items.", code="bad_usage", hint="Leave --sensitive out."
            )
        _check_taken(model, "sensitive")
        private = load_sensitive(engine, sensitive)
    return Knowledge(privacy, private)


def _check_taken(model: Model, option: str) -> None:
    """Raise an ``InputError`` for an option that only other models take."""
    takers = [name for name, spec in PROMISES.items() if option in (*spec.needs, *spec.takes)]
    if model.name not in takers:
        words = f"models {', '.join(takers[:-1])} and {takers[-1]}" if len(takers) > 1 else f"model {takers[0]}"
        raise InputError(f"{option} applies to the {words}, not to {model.name}.", code="bad_usage")
