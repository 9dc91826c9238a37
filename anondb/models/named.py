"""The models by name; makes a model from a user's parameters or from a manifest."""

import difflib
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil
from typing import Any

from anondb.errors import InputError
from anondb.models import Model, Parameter, parameters_in
from anondb.models.anatomy import Anatomy
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.models.transactional import ConstraintAnonymity, HkpCoherence, KmAnonymity, TransactionalK

MODELS: dict[str, type[Model]] = {
    model.name: model
    for model in (KmAnonymity, TransactionalK, ConstraintAnonymity, HkpCoherence, KkmAnonymity, KlmDiversity, Anatomy)
}


def nearest(name: str, names: Iterable[str]) -> str:
    """A sentence that suggests the nearest known name, or an empty text."""
    close = difflib.get_close_matches(name, list(names), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def group_size(parameters: Mapping[str, Any]) -> int:
    """The k of a promise; the l of an anatomy, rounded up."""
    return ceil(Fraction(str(parameters.get("k") or parameters["l"])))


def parameters_of(model: str) -> dict[str, Parameter]:
    """The parameters of a model by name. Raises InputError: ``unknown_model``, with the names of all models."""
    if model not in MODELS:
        raise InputError(
            f"There is no model {model!r}; the models are: {', '.join(MODELS)}.{nearest(model, MODELS)}",
            code="unknown_model",
        )
    return parameters_in(MODELS[model])


def all_parameters() -> dict[str, dict[str, Parameter]]:
    """For each name of a parameter, the models that have it, each with its parameter."""
    result: dict[str, dict[str, Parameter]] = {}
    for model in MODELS:
        for name, parameter in parameters_of(model).items():
            result.setdefault(name, {})[model] = parameter
    return result


def make_model(name: str = "km", **parameters: Any) -> Model:
    """Make a model from its name and parameters from Python, flags or options; missing parameters have their defaults.
    Raises InputError: the model is unknown, or a parameter is unknown or out of range."""
    available = parameters_of(name)
    for parameter in parameters:
        if parameter not in available:
            raise InputError(
                f"The model {name} has no parameter {parameter!r}; it has {', '.join(available)}.", code="bad_parameter"
            )
    return MODELS[name](**{n: _read(available[n], value) for n, value in parameters.items()})


def _read(parameter: Parameter, value: Any) -> Any:
    return parameter.read(value) if parameter.read is not None and isinstance(value, str) else value


def model_of(manifest: Mapping[str, str]) -> Model:
    """Make the model that a release's manifest promises. Raises InputError: ``not_a_release``, if the manifest lacks the
    model or a parameter."""
    try:
        name = manifest["model"]
        return make_model(name, **{p: manifest[p] for p in parameters_of(name)})
    except KeyError:
        raise InputError("The manifest of the release is incomplete.", code="not_a_release") from None
