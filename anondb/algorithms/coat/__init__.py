"""COAT with Pgen, and PCTA: recodings under privacy and utility constraints."""

from dataclasses import dataclass
from typing import Any

from anondb.algorithms.method import Method, Task, imported, option


@dataclass(frozen=True)
class CoatOptions:
    """The options of COAT."""

    literal: bool = option(False, "Follow the printed algorithm, with its faults.")


def _coat(task: Task) -> dict[str, Any]:
    given = task.requirements
    needed = {"privacy": given.privacy, "utility": given.utility, "weights": given.weights}
    return {**needed, "max_suppression": task.max_suppression, "literal": task.options.literal}


def _pcta(task: Task) -> dict[str, Any]:
    """COAT with all items in one utility constraint: the rarest generalized item always has a companion until a single one
    is left (docs/algorithms/pcta.md)."""
    return {"privacy": task.requirements.privacy, "weights": task.requirements.weights}


COAT = Method(
    name="coat",
    paper="Loukides, Gkoulalas-Divanis and Malin, COAT, Knowledge and Information Systems 2011",
    models=("km", "constraints"),
    run=imported("coat.coat.coat", _coat),
    options=CoatOptions,
    takes=("taxonomy", "max_suppression", "privacy_constraints", "utility_constraints", "weights", "countable"),
    releases="set",
)
PCTA = Method(
    name="pcta",
    paper="Gkoulalas-Divanis and Loukides, PAIS 2011",
    models=("km", "constraints"),
    run=imported("coat.coat.coat", _pcta),
    takes=("taxonomy", "privacy_constraints", "weights"),
    releases="set",
)
