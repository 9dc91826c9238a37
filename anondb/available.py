"""Which models and algorithms there are, what each needs, and which options go with it.

A new algorithm is one entry here, one case in ``recode.py`` and its own file; a new model is one entry here, one case in
``checks.py`` and its own file (docs/architecture.md, "Adding a model or an algorithm").
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from anondb.errors import InputError
from anondb.models import Model
from anondb.models.anatomy import Anatomy
from anondb.models.constraints import ConstraintAnonymity
from anondb.models.hkp import HkpCoherence
from anondb.models.km import KmAnonymity
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.models.transactional import TransactionalK

MODELS: Mapping[str, Callable[..., Model]] = {
    "km": KmAnonymity,
    "k": TransactionalK,
    "constraints": ConstraintAnonymity,
    "hkp": HkpCoherence,
    "kkm": KkmAnonymity,
    "klm": KlmDiversity,
    "anatomy": Anatomy,
}


@dataclass(frozen=True, eq=False, repr=False)
class Algorithm:
    """What an algorithm is for.

    Attributes:
        models: the models that it keeps.
        needs: options of the policy without which it cannot run.
        options: further options of the policy that it takes; all others are refused with it.
    """

    models: tuple[str, ...]
    needs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


_RELATIONAL_NEEDS = ("records", "quasi_identifiers")
_RELATIONAL_OPTIONS = (
    *("taxonomy", "hierarchies", "weights", "domains", "sensitive", "infeasible", "values"),
    "max_suppression",
)

# In the order in which they are chosen where the owner names none: the first whose needs are met.
ALGORITHMS: Mapping[str, Algorithm] = {
    "mhghs": Algorithm(("km",), needs=("taxonomy",), options=("max_suppression",)),
    "hghs": Algorithm(("km",), needs=("taxonomy",), options=("max_suppression",)),
    "coat": Algorithm(
        ("km", "constraints"),
        options=(
            *("taxonomy", "max_suppression", "privacy_constraints", "utility_constraints", "weights", "countable"),
            "literal",
        ),
    ),
    **{
        f"{bound}_bound_{order}": Algorithm(
            ("kkm", "klm"), needs=_RELATIONAL_NEEDS, options=(*_RELATIONAL_OPTIONS, "delta")
        )
        for bound in ("rum", "tum")
        for order in ("rt", "r", "t")
    },
    "rfirst": Algorithm(("kkm", "klm"), needs=_RELATIONAL_NEEDS, options=_RELATIONAL_OPTIONS),
    "tfirst": Algorithm(("kkm", "klm"), needs=_RELATIONAL_NEEDS, options=_RELATIONAL_OPTIONS),
    "partition": Algorithm(("k",), needs=("taxonomy",), options=("max_suppression", "empty_transactions")),
    "clump": Algorithm(
        ("k",),
        needs=("taxonomy",),
        options=("max_suppression", "empty_transactions", "candidates", "objective", "bag_input"),
    ),
    "apriori": Algorithm(("km",), needs=("taxonomy",)),
    "lra": Algorithm(("km",), needs=("taxonomy",)),
    "vpa": Algorithm(("km",), needs=("taxonomy",)),
    "pcta": Algorithm(("km", "constraints"), options=("taxonomy", "privacy_constraints", "weights")),
    "mm": Algorithm(("hkp", "km"), options=("taxonomy", "sensitive", "max_suppression")),
    "multi_anatomy": Algorithm(("anatomy",), options=("columns", "empty_values", "correlation", "spread")),
}
# Options that state a model's promise together with its parameters; other models do not take them.
OF_MODEL: Mapping[str, tuple[str, ...]] = {
    "constraints": ("privacy_constraints",),
    "hkp": ("sensitive",),
    "klm": ("sensitive",),
}
TAKEN_TOO = {"sensitive": ("kkm",)}  # by models that can do without it
FOR_ALL = ("id", "item", "records")


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence that offers the nearest known name, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def parse_m(text: str | int | float) -> int | float:
    """m from a flag or an option: an integer, or ``inf``."""
    return _parse("m", text)


def parse_p(text: str | int | float) -> int | float:
    """p of (h,k,p)-coherence, likewise."""
    return _parse("p", text)


def _parse(name: str, text: str | int | float) -> int | float:
    if isinstance(text, str):
        if text.strip().lower() in ("inf", "infinity"):
            return math.inf
        if not re.fullmatch(r"[+-]?\d{1,30}", text.strip()):
            raise InputError(f"{name} must be an integer or inf, not {text[:40]!r}.", code="bad_parameter")
        return int(text)
    return text


def parse_l(text: Any) -> Any:
    """l from a flag or an option: a text of digits is an integer; models say what else they take."""
    return int(text) if isinstance(text, str) and re.fullmatch(r"\s*\d{1,30}\s*", text) else text


# Parameters that flags and options may give as text.
_FROM_TEXT: Mapping[str, Callable[[Any], Any]] = {"l": parse_l, "m": parse_m, "p": parse_p}


def make_model(name: str = "km", **parameters: Any) -> Model:
    """The model of a name with its parameters, from Python, flags or options; those that are not given have their defaults.

    Raises:
        InputError: an unknown model, with those that there are; a parameter that it does not have; or one out of range.
    """
    if name not in MODELS:
        raise InputError(
            f"There is no model {name!r}; there are: {', '.join(MODELS)}.{nearest(name, MODELS)}", code="unknown_model"
        )
    known = parameters_of(name)
    for given in parameters:
        if given not in known:
            raise InputError(
                f"The model {name} has no parameter {given!r}; it has {', '.join(known)}.", code="bad_parameter"
            )
    return MODELS[name](**{n: _FROM_TEXT[n](value) if n in _FROM_TEXT else value for n, value in parameters.items()})


def parameters_of(model: str) -> tuple[str, ...]:
    """The names of a model's parameters."""
    return tuple(inspect.signature(MODELS[model]).parameters)


def all_parameters() -> tuple[str, ...]:
    """The names of the parameters of all models."""
    return tuple(dict.fromkeys(name for model in MODELS for name in parameters_of(model)))


def choose_algorithm(model: Model, wanted: str | None, given: Mapping[str, Any]) -> str:
    """The algorithm for a model: the one asked for, else the first of those that keep it whose needs are met.

    Args:
        model: the promise.
        wanted: the owner's choice, or None.
        given: the options of the policy that the owner gave.

    Raises:
        InputError: ``unknown_algorithm``; ``no_taxonomy`` or ``bad_usage`` where something is missing, or does not go with
            the algorithm.
    """
    fitting = [name for name, algorithm in ALGORITHMS.items() if model.name in algorithm.models]
    ready = [name for name in fitting if all(need in given for need in ALGORITHMS[name].needs)]
    chosen = wanted or (ready[0] if ready else fitting[0])
    if chosen not in fitting:
        raise InputError(
            f"There is no algorithm {chosen!r} for the model {model.name}; there are {', '.join(fitting)}."
            f"{nearest(str(chosen), fitting)}",
            code="unknown_algorithm",
        )
    algorithm = ALGORITHMS[chosen]
    needs = [(f"The algorithm {chosen}", need) for need in algorithm.needs]
    needs += [(f"The model {model.name}", need) for need in OF_MODEL.get(model.name, ())]
    for who, need in needs:
        if need not in given:
            raise InputError(
                f"{who} needs {need}.", code=f"no_{need}", hint=f"Name it with --{need.replace('_', '-')} TABLE|FILE."
            )
    for option in given:
        owners = [other for other, options in OF_MODEL.items() if option in options]
        owners += TAKEN_TOO.get(option, ())
        if owners and model.name not in owners:
            named = f"model{'s' * (len(owners) > 1)} {', '.join(owners)}"
            raise InputError(f"{option} goes with the {named}, not with {model.name}.", code="bad_usage")
    for option in given:
        if option not in (*FOR_ALL, *algorithm.needs, *algorithm.options):
            takers = [name for name, a in ALGORITHMS.items() if option in (*a.needs, *a.options)]
            raise InputError(f"{option} does not go with {chosen}: it goes with {', '.join(takers)}.", code="bad_usage")
    return chosen
