"""Checks of a promise: on any transactions, on a release, on a sealed file."""

from __future__ import annotations

from typing import Any

from anondb.available import make_model, parameters_of
from anondb.data.sources import open_source
from anondb.data.transactions import load_transactions
from anondb.engine import Engine, Table
from anondb.errors import InputError, InternalError
from anondb.models import Model
from anondb.models.km import KmAnonymity
from anondb.release.freeze import coded_release
from anondb.release.objects import SchemaName, read_manifest
from anondb.verify import Verification, verify_km


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


def verify_release(engine: Engine, schema: SchemaName, model: Model, witnesses: int = 0) -> Verification:
    """Check the frozen or sealed rows of a release against a model."""
    transactions, items = coded_release(engine, schema)
    found = verify_rows(engine, transactions, items, model, witnesses)
    engine.drop(transactions, items)
    return found


def verify_source(
    engine: Engine, transactions: Any, model: Model, *, id: str = "tid", item: str = "item", witnesses: int = 0
) -> Verification:
    """Check any table, view, file or data frame against a model."""
    with engine.transaction(), open_source(engine, transactions, "transactions") as source:
        dataset = load_transactions(engine, source, id_column=id, item_column=item)
        return verify_rows(engine, dataset.transactions, dataset.items, model, witnesses)


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
