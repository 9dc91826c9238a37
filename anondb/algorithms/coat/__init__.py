"""COAT with Pgen, and PCTA: recodings under privacy and utility constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anondb.algorithms.method import Method, Task, option

if TYPE_CHECKING:
    from anondb.engine import Engine
    from anondb.recoding import Recoding


@dataclass(frozen=True)
class CoatOptions:
    """The options of COAT."""

    literal: bool = option(False, "Follow the printed algorithm, with its faults.")


def _coat(engine: Engine, task: Task) -> Recoding:
    from anondb.algorithms.coat.coat import coat

    requirements = task.requirements
    return coat(
        engine,
        task.dataset,
        task.model,
        privacy=requirements.privacy,
        utility=requirements.utility,
        weights=requirements.weights,
        max_suppression=task.max_suppression,
        literal=task.options.literal,
    )


def _pcta(engine: Engine, task: Task) -> Recoding:
    """COAT with all items in one utility constraint: the rarest generalized item always has a companion until a single one
    is left (docs/algorithms/pcta.md)."""
    from anondb.algorithms.coat.coat import coat

    requirements = task.requirements
    return coat(engine, task.dataset, task.model, privacy=requirements.privacy, weights=requirements.weights)


COAT = Method(
    name="coat",
    paper="Loukides, Gkoulalas-Divanis and Malin, COAT, Knowledge and Information Systems 2011",
    models=("km", "constraints"),
    run=_coat,
    options=CoatOptions,
    takes=("taxonomy", "max_suppression", "privacy_constraints", "utility_constraints", "weights", "countable"),
    releases="set",
)
PCTA = Method(
    name="pcta",
    paper="Gkoulalas-Divanis and Loukides, PAIS 2011",
    models=("km", "constraints"),
    run=_pcta,
    takes=("taxonomy", "privacy_constraints", "weights"),
    releases="set",
)
