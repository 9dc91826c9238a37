"""The models by name, and how one is made from what users state or a manifest says."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from anondb.errors import InputError
from anondb.models import Model, Parameter, parameter_of
from anondb.models.anatomy import Anatomy
from anondb.models.constraints import ConstraintAnonymity
from anondb.models.hkp import HkpCoherence
from anondb.models.km import KmAnonymity
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.models.transactional import TransactionalK

MODELS: dict[str, type[Model]] = {
    model.name: model
    for model in (
        KmAnonymity,
        TransactionalK,
        ConstraintAnonymity,
        HkpCoherence,
        KkmAnonymity,
        KlmDiversity,
        Anatomy,
    )
}


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence that offers the nearest known name, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def parameters_of(model: str) -> dict[str, Parameter]:
    """The parameters of a model, and how each is set.

    Raises:
        InputError: ``unknown_model``, with those that there are.
    """
    if model not in MODELS:
        raise InputError(
            f"There is no model {model!r}; there are: {', '.join(MODELS)}.{nearest(model, MODELS)}",
            code="unknown_model",
        )
    return {f.name: s for f in fields(MODELS[model]) if (s := parameter_of(f)) is not None}  # type: ignore[arg-type]


def all_parameters() -> dict[str, dict[str, Parameter]]:
    """The parameters of all models by name, and how each model that has one states it."""
    found: dict[str, dict[str, Parameter]] = {}
    for model in MODELS:
        for name, parameter in parameters_of(model).items():
            found.setdefault(name, {})[model] = parameter
    return found


def make_model(name: str = "km", **parameters: Any) -> Model:
    """The model of a name with its parameters, from Python, flags or options; those that are not stated have their defaults.

    Raises:
        InputError: an unknown model, with those that there are; a parameter that it does not have; or one out of range.
    """
    known = parameters_of(name)
    for parameter in parameters:
        if parameter not in known:
            raise InputError(
                f"The model {name} has no parameter {parameter!r}; it has {', '.join(known)}.", code="bad_parameter"
            )
    return MODELS[name](**{n: _read(known[n], value) for n, value in parameters.items()})


def _read(parameter: Parameter, value: Any) -> Any:
    return parameter.read(value) if parameter.read is not None and isinstance(value, str) else value


def model_of(manifest: Mapping[str, str]) -> Model:
    """The model that a release's manifest promises.

    Raises:
        InputError: ``not_a_release``: the manifest lacks its model or a parameter.
    """
    try:
        name = manifest["model"]
        return make_model(name, **{p: manifest[p] for p in parameters_of(name)})
    except KeyError:
        raise InputError("The manifest of the release is incomplete.", code="not_a_release") from None
