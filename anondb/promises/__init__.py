"""The models with all that anondb derives from them: verifier, proof, claims, options. One ``ModelSpec`` a file.

``models/`` holds plain values; this room lies above the verifiers and the releases and puts them together. A new model is
one more ``ModelSpec`` here.
"""

from __future__ import annotations

from anondb.models.named import MODELS
from anondb.promises.anatomy import ANATOMY
from anondb.promises.constraints import CONSTRAINTS
from anondb.promises.hkp import HKP
from anondb.promises.k import K
from anondb.promises.kkm import KKM
from anondb.promises.klm import KLM
from anondb.promises.km import KM
from anondb.promises.spec import ModelSpec

PROMISES: dict[str, ModelSpec] = {}


def register(spec: ModelSpec) -> None:
    """Make a model known, under its name, to the command line, Python, SQL and every check."""
    MODELS[spec.name] = spec.model
    PROMISES[spec.name] = spec


for _spec in (KM, K, CONSTRAINTS, HKP, KKM, KLM, ANATOMY):
    register(_spec)
