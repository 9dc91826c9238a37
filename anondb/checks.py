"""Checks of a promise: on any transactions, on a release, on a sealed file."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from anondb.available import make_model, parameters_of
from anondb.data.constraints import PrivacyConstraints
from anondb.data.sensitive import load_sensitive
from anondb.data.sources import open_source
from anondb.data.stated import put_sets, read_privacy
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine, Table
from anondb.errors import InputError, InternalError
from anondb.models import Model
from anondb.models.anatomy import Anatomy
from anondb.models.constraints import ConstraintAnonymity
from anondb.models.hkp import HkpCoherence
from anondb.models.km import KmAnonymity
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.models.transactional import TransactionalK
from anondb.release.coded import CodedRelease
from anondb.release.objects import ANATOMY, Kind, SchemaName, read_manifest, release_kind
from anondb.release.relational import coded_records, sensitive_codes
from anondb.verify import Verification

if TYPE_CHECKING:
    from anondb.verify.anatomy import AnatomyVerification, Original


def verify_rows(
    engine: Engine,
    transactions: Table,
    items: Table,
    model: Model,
    witnesses: int = 0,
    *,
    privacy: PrivacyConstraints | str | None = None,
    released_items: Table | None = None,
    sensitive: Collection[str] | None = None,
) -> Verification:
    """Check published transactions, coded as integers, against a model.

    Args:
        engine: the engine, inside a transaction.
        transactions: ``(tid, item)``, each pair once.
        items: ``(item, label)``.
        model: the promise.
        witnesses: how many violations to return at most.
        privacy: the privacy constraints of the model constraints, or ``pgen``.
        released_items: ``(released_item, item)``, which original items the released ones stand for; None where each
            item stands for itself.
        sensitive: the labels of the private items of the model hkp.

    Raises:
        InputError: ``no_privacy_constraints`` or ``no_sensitive``: what the model is about is missing.
    """
    match model:
        case KmAnonymity():
            from anondb.verify.km import verify_km

            return verify_km(engine, transactions, items, model, witnesses=witnesses)
        case HkpCoherence() if sensitive is None:
            raise InputError(
                "The model hkp is checked against its private items, which no release lists.",
                code="no_sensitive",
                hint="Name them with --sensitive TABLE|FILE.",
            )
        case HkpCoherence():
            from anondb.verify.hkp import verify_hkp

            return verify_hkp(engine, transactions, items, model, sensitive or (), witnesses=witnesses)
        case ConstraintAnonymity() if privacy is None:
            raise InputError(
                "The model constraints is checked against its privacy constraints, which no release holds.",
                code="no_privacy_constraints",
                hint="Name them with --privacy-constraints TABLE|FILE|pgen.",
            )
        case ConstraintAnonymity(k) if isinstance(privacy, str):  # Pgen's hold if and only if k^inf-anonymity does
            from anondb.verify.km import verify_km

            found = verify_km(engine, transactions, items, KmAnonymity(k, math.inf), witnesses=witnesses)
            return replace(found, model=model)
        case ConstraintAnonymity() if isinstance(privacy, PrivacyConstraints):
            from anondb.verify.constraints import verify_constraints

            named = put_sets(engine, "stated_constraints", privacy, "constraint_id")
            image = released_items or engine.create("own_items", "transactions/own_items", {"items": items})
            checked = verify_constraints(engine, transactions, items, image, named, model, witnesses=witnesses)
            engine.drop(named, *([] if released_items else [image]))
            return checked
        case KkmAnonymity() | KlmDiversity():
            raise InputError(
                f"The model {model.name} is checked on transactions together with the relational values of their persons.",
                code="no_records",
                hint="Name them with --records TABLE|FILE and --quasi-identifiers A,B; a release has its own.",
            )
    raise InternalError(f"The model {model.name} has no verifier here.")


def verify_release(
    engine: Engine,
    schema: SchemaName,
    model: Model,
    witnesses: int = 0,
    *,
    privacy: PrivacyConstraints | str | None = None,
    sensitive: Collection[str] | None = None,
    original: Dataset | None = None,
    kind: Kind | None = None,
    rows: CodedRelease | None = None,
) -> Verification:
    """Check the frozen or sealed rows of a release against a model; ``privacy``, ``sensitive`` as in ``verify_rows``.

    ``original`` are the data that it was made from, where they are at hand; only the check of an anatomy looks at them.
    ``kind`` is what the release consists of, where that is known; ``rows`` are its rows, where others look at them, too.

    Raises:
        InputError: the release is not of a kind that the model speaks of.
    """
    kind = release_kind(engine, schema) if kind is None else kind
    if kind is None or (kind is ANATOMY) != isinstance(model, Anatomy):
        raise InputError(
            f"The model {model.name} does not speak of this kind of release.",
            code="bad_parameter",
            hint="Verify it against its own model.",
        )
    if isinstance(model, Anatomy):
        from anondb.verify.anatomy import verify_anatomy

        number = int(read_manifest(engine, schema)["transactions"])
        return verify_anatomy(
            engine, schema.table("buckets"), model, _original(original), number=number, witnesses=witnesses
        )
    coded = CodedRelease(engine, schema) if rows is None else rows
    released = schema.table("released_items")
    if isinstance(model, KkmAnonymity | KlmDiversity):
        from anondb.verify.relational import verify_kkm

        classes, hidden = coded_records(engine, schema, coded.items)
        found = verify_kkm(engine, coded.transactions, classes, coded.items, hidden, model, witnesses=witnesses)
        engine.drop(classes, hidden)
    elif isinstance(model, TransactionalK):
        from anondb.verify.classes import verify_k

        found = verify_k(engine, coded.classes, coded.items, model, witnesses=witnesses)
    else:
        about: dict[str, Any] = {"privacy": privacy, "sensitive": sensitive, "released_items": released}
        found = verify_rows(engine, coded.transactions, coded.items, model, witnesses, **about)
    if isinstance(model, KmAnonymity) and kind.local:
        from anondb.verify.levels import verify_levels

        across = verify_levels(engine, coded.transactions, coded.items, released, model)
        found = replace(found, verified=found.verified and across.verified, across_levels=across.violations)
    if rows is None:
        coded.drop()
    return found


def verify_source(
    engine: Engine,
    transactions: Any,
    model: Model,
    *,
    id: str = "tid",
    item: str = "item",
    bag_input: bool = False,
    witnesses: int = 0,
    privacy_constraints: Any = None,
    sensitive: Any = None,
    records: Any = None,
    quasi_identifiers: Any = None,
) -> Verification:
    """Check any table, view, file or data frame against a model; with ``bag_input`` repeated rows count as copies.

    Ids that only ``records`` have are transactions without items. For kkm and klm the records with equal values of all
    ``quasi_identifiers``, as they are, form a class; ``sensitive`` are the items that attackers do not know.

    Raises:
        InputError: the model is about buckets: see ``verify_buckets``; ``no_records`` or ``no_sensitive``: what the model is
            about is missing.
    """
    if isinstance(model, Anatomy):
        raise InputError(
            "An anatomy is about buckets, not about transactions alone.",
            code="bad_usage",
            hint="Name a table (bucket_id, column_id, items, copies) with --buckets.",
        )
    if quasi_identifiers is not None and not isinstance(model, KkmAnonymity | KlmDiversity):
        raise InputError(
            f"quasi_identifiers goes with the models kkm and klm, not with {model.name}.", code="bad_usage"
        )
    with engine.transaction(), open_source(engine, transactions, "transactions") as source:
        privacy = given_privacy(engine, privacy_constraints, model)
        private = given_sensitive(engine, sensitive, model, plain=True)
        with contextlib.nullcontext() if records is None else open_source(engine, records, "records") as people:
            dataset = load_transactions(engine, source, id_column=id, item_column=item, bags=bag_input, more_ids=people)
        if not isinstance(model, KkmAnonymity | KlmDiversity) or records is None:
            return verify_dataset(engine, dataset, model, witnesses, privacy=privacy, sensitive=private)
        if private is None and isinstance(model, KlmDiversity):
            raise InputError(
                "The model klm is checked against its sensitive items.",
                code="no_sensitive",
                hint="Name them with --sensitive TABLE|FILE.",
            )
        from anondb.data.records import load_classes
        from anondb.verify.relational import verify_kkm

        classes = load_classes(engine, records, dataset, quasi_identifiers)
        hidden = sensitive_codes(engine, dataset.items, private or ())
        found = verify_kkm(engine, dataset.transactions, classes, dataset.items, hidden, model, witnesses=witnesses)
        engine.drop(classes, hidden)
        return found


def unknown_items(engine: Engine, transactions: Any, taxonomy: Any, *, id: str, item: str) -> tuple[str, ...]:
    """The items that are no leaves of a taxonomy, by label; what they are asked from as in ``pipeline.anonymize``."""
    with engine.transaction():
        with open_source(engine, transactions, "transactions") as source:
            dataset = load_transactions(engine, source, id_column=id, item_column=item)
        return load_taxonomy(engine, taxonomy).not_leaves(dataset)


def verify_dataset(engine: Engine, dataset: Dataset, model: Model, witnesses: int = 0, **about: Any) -> Verification:
    """Check coded transactions as if they were published as they are; ``about`` goes to ``verify_rows``."""
    if not isinstance(model, TransactionalK):
        return verify_rows(engine, dataset.transactions, dataset.items, model, witnesses, **about)
    from anondb.verify.classes import classes_of, verify_k

    ids = exp.select("tid", exp.true().as_("complete")).from_(dataset.ids.expression())
    sets = exp.select("tid", "item", exp.convert(1).as_("copies")).from_(dataset.transactions.expression())
    classes = classes_of(engine, dataset.bags or sets, ids)
    found = verify_k(engine, classes, dataset.items, model, witnesses=witnesses)
    engine.drop(classes)
    return found


def verify_buckets(
    engine: Engine,
    buckets: Any,
    model: Anatomy,
    transactions: Any = None,
    *,
    id: str = "tid",
    item: str = "item",
    witnesses: int = 0,
) -> AnatomyVerification:
    """Check any table ``(bucket_id, column_id, items, copies)`` against l-diversity, ``items`` being lists.

    With the original transactions, also whether each of them is in the buckets once, as far as multisets can say that.
    """
    from anondb.verify.anatomy import verify_anatomy

    with engine.transaction(), open_source(engine, buckets, "buckets") as source:
        for column in ("bucket_id", "column_id", "items", "copies"):
            source.column(column, column)
        if not source.columns[source.column("items", "items")].endswith("[]"):
            raise InputError(
                f"The column 'items' of {source.name} must be a list of items.", code="bad_type", hint="Use VARCHAR[]."
            )
        if transactions is None:
            return verify_anatomy(engine, source.query, model, witnesses=witnesses)
        with open_source(engine, transactions, "transactions") as rows:
            dataset = load_transactions(engine, rows, id_column=id, item_column=item)
        return verify_anatomy(engine, source.query, model, _original(dataset), witnesses=witnesses)


def _original(dataset: Dataset | None) -> Original | None:
    if dataset is None:
        return None
    from anondb.verify.anatomy import Original

    return Original(dataset.transactions, dataset.items, dataset.n_transactions)


def verify_sealed(
    engine: Engine,
    schema: SchemaName,
    model: Model | None = None,
    witnesses: int = 0,
    privacy_constraints: Any = None,
    sensitive: Any = None,
) -> Verification:
    """Check the rows of a sealed file against a model, its manifest's by default."""
    with engine.transaction():
        promised = model or model_of(read_manifest(engine, schema))
        privacy = given_privacy(engine, privacy_constraints, promised)
        private = given_sensitive(engine, sensitive, promised)
        return verify_release(engine, schema, promised, witnesses, privacy=privacy, sensitive=private)


def given_privacy(engine: Engine, given: Any, model: Model) -> PrivacyConstraints | str | None:
    """The privacy constraints that a check was given, if any.

    Raises:
        InputError: ``bad_usage``: the model has none.
    """
    if given is not None and not isinstance(model, ConstraintAnonymity):
        raise InputError(
            f"privacy_constraints goes with the model constraints, not with {model.name}.", code="bad_usage"
        )
    return None if given is None else read_privacy(engine, given)


def given_sensitive(engine: Engine, given: Any, model: Model, *, plain: bool = False) -> tuple[str, ...] | None:
    """The private or sensitive items that a check was given, if any; ``plain`` if it is not of a release.

    Raises:
        InputError: ``bad_usage``: the model has none, or the release names its own.
    """
    relational = isinstance(model, KkmAnonymity | KlmDiversity)
    if given is not None and relational and not plain:
        raise InputError("A release names its sensitive items itself.", code="bad_usage", hint="Leave --sensitive out.")
    if given is not None and not relational and not isinstance(model, HkpCoherence):
        raise InputError(f"sensitive goes with the models hkp, kkm and klm, not with {model.name}.", code="bad_usage")
    return None if given is None else load_sensitive(engine, given)


def model_of(manifest: dict[str, str]) -> Model:
    """The model that a release's manifest promises."""
    try:
        name = manifest["model"]
        return make_model(name, **{p: _number(manifest[p]) for p in parameters_of(name)})
    except (KeyError, ValueError):
        raise InputError("The manifest of the release is incomplete.", code="not_a_release") from None


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
