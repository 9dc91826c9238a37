"""Checks of a promise: on any transactions, on a release, on a sealed file."""

from __future__ import annotations

from typing import Any

from anondb.available import make_model, parameters_of
from anondb.data.sources import open_source
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine, Table
from anondb.errors import InputError, InternalError
from anondb.models import Model
from anondb.models.anatomy import Anatomy
from anondb.models.km import KmAnonymity
from anondb.release.freeze import coded_release
from anondb.release.objects import ANATOMY, SchemaName, read_manifest, release_kind
from anondb.verify import Verification, verify_km
from anondb.verify.anatomy import AnatomyVerification, Original, verify_anatomy


def verify_rows(engine: Engine, transactions: Table, items: Table, model: Model, witnesses: int = 0) -> Verification:
    """Check published transactions, coded as integers, against a model.

    Args:
        engine: the engine, inside a transaction.
        transactions: ``(tid, item)``.
        items: ``(item, label)``.
        model: the promise.
        witnesses: how many violations to return at most.
    """
    match model:
        case KmAnonymity():
            return verify_km(engine, transactions, items, model, witnesses=witnesses)
    raise InternalError(f"The model {model.name} has no verifier here.")


def verify_release(
    engine: Engine, schema: SchemaName, model: Model, witnesses: int = 0, *, original: Dataset | None = None
) -> Verification:
    """Check the frozen or sealed rows of a release against a model.

    ``original`` are the data that it was made from, where they are at hand; only the check of an anatomy looks at them.

    Raises:
        InputError: the release is not of a kind that the model speaks of.
    """
    if (release_kind(engine, schema) is ANATOMY) != isinstance(model, Anatomy):
        raise InputError(
            f"The model {model.name} does not speak of this kind of release.",
            code="bad_parameter",
            hint="Verify it against its own model.",
        )
    if isinstance(model, Anatomy):
        number = int(read_manifest(engine, schema)["transactions"])
        return verify_anatomy(
            engine, schema.table("buckets"), model, _original(original), number=number, witnesses=witnesses
        )
    transactions, items = coded_release(engine, schema)
    found = verify_rows(engine, transactions, items, model, witnesses)
    engine.drop(transactions, items)
    return found


def verify_source(
    engine: Engine, transactions: Any, model: Model, *, id: str = "tid", item: str = "item", witnesses: int = 0
) -> Verification:
    """Check any table, view, file or data frame against a model.

    Raises:
        InputError: the model is about buckets: see ``verify_buckets``.
    """
    if isinstance(model, Anatomy):
        raise InputError(
            "An anatomy is about buckets, not about transactions alone.",
            code="bad_usage",
            hint="Name a table (bucket_id, column_id, items, copies) with --buckets.",
        )
    with engine.transaction(), open_source(engine, transactions, "transactions") as source:
        dataset = load_transactions(engine, source, id_column=id, item_column=item)
        return verify_rows(engine, dataset.transactions, dataset.items, model, witnesses)


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
    return Original(dataset.transactions, dataset.items, dataset.n_transactions)


def verify_sealed(engine: Engine, schema: SchemaName, model: Model | None = None, witnesses: int = 0) -> Verification:
    """Check the rows of a sealed file against a model, its manifest's by default."""
    with engine.transaction():
        return verify_release(engine, schema, model or model_of(read_manifest(engine, schema)), witnesses)


def model_of(manifest: dict[str, str]) -> Model:
    """The model that a release's manifest promises."""
    try:
        name = manifest["model"]
        return make_model(name, **{p: _number(manifest[p]) for p in parameters_of(name)})
    except (KeyError, ValueError):
        raise InputError("The manifest of the release is incomplete.", code="not_a_release") from None


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
