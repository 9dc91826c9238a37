"""Checks of a promise: on any transactions, on a release, on a sealed file."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from anondb.available import make_model, parameters_of
from anondb.data.sensitive import load_sensitive
from anondb.data.sources import open_source
from anondb.data.transactions import load_transactions
from anondb.engine import Engine, Table
from anondb.errors import InputError, InternalError
from anondb.models import Model
from anondb.models.hkp import HkpCoherence
from anondb.models.km import KmAnonymity
from anondb.release.freeze import coded_release
from anondb.release.objects import SchemaName, read_manifest
from anondb.verify import Verification, verify_hkp, verify_km

WITH_SENSITIVE = ("hkp",)  # models that are stated about sensitive or private items


def verify_rows(
    engine: Engine,
    transactions: Table,
    items: Table,
    model: Model,
    witnesses: int = 0,
    sensitive: Collection[str] | None = None,
) -> Verification:
    """Check published transactions, coded as integers, against a model.

    Args:
        engine: the engine, inside a transaction.
        transactions: ``(tid, item)``.
        items: ``(item, label)``.
        model: the promise.
        witnesses: how many violations to return at most.
        sensitive: the labels of the sensitive or private items, for models that have them.

    Raises:
        InputError: ``no_sensitive``: the model needs them.
    """
    if model.name in WITH_SENSITIVE and sensitive is None:
        raise InputError(
            f"To check {model.name}, its private items must be known.",
            code="no_sensitive",
            hint="Name them with --sensitive TABLE|FILE.",
        )
    match model:
        case KmAnonymity():
            return verify_km(engine, transactions, items, model, witnesses=witnesses)
        case HkpCoherence():
            return verify_hkp(engine, transactions, items, model, sensitive or (), witnesses=witnesses)
    raise InternalError(f"The model {model.name} has no verifier here.")


def verify_release(
    engine: Engine,
    schema: SchemaName,
    model: Model,
    witnesses: int = 0,
    sensitive: Collection[str] | None = None,
) -> Verification:
    """Check the frozen or sealed rows of a release against a model."""
    transactions, items = coded_release(engine, schema)
    found = verify_rows(engine, transactions, items, model, witnesses, sensitive)
    engine.drop(transactions, items)
    return found


def verify_source(
    engine: Engine,
    transactions: Any,
    model: Model,
    *,
    id: str = "tid",
    item: str = "item",
    witnesses: int = 0,
    sensitive: Any = None,
) -> Verification:
    """Check any table, view, file or data frame against a model."""
    with engine.transaction(), open_source(engine, transactions, "transactions") as source:
        dataset = load_transactions(engine, source, id_column=id, item_column=item)
        private = None if sensitive is None else load_sensitive(engine, sensitive)
        return verify_rows(engine, dataset.transactions, dataset.items, model, witnesses, private)


def verify_sealed(
    engine: Engine, schema: SchemaName, model: Model | None = None, witnesses: int = 0, sensitive: Any = None
) -> Verification:
    """Check the rows of a sealed file against a model, its manifest's by default; the file does not say what is private."""
    with engine.transaction():
        private = None if sensitive is None else load_sensitive(engine, sensitive)
        return verify_release(engine, schema, model or model_of(read_manifest(engine, schema)), witnesses, private)


def model_of(manifest: dict[str, str]) -> Model:
    """The model that a release's manifest promises."""
    try:
        name = manifest["model"]
        return make_model(name, **{p: _number(manifest[p]) for p in parameters_of(name)})
    except (KeyError, ValueError):
        raise InputError("The manifest of the release is incomplete.", code="not_a_release") from None


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text
