"""The models with everything that anondb derives from them: verifier, proof, claims, options. A ``ModelSpec`` for each.
``models/`` holds plain values; this package combines them with the verifiers and the releases. To add a model, add a
``ModelSpec`` here."""

from anondb.models.named import MODELS
from anondb.promises.spec import ModelSpec
from anondb.promises.stated import ANATOMY, CONSTRAINTS, HKP, KKM, KLM, KM, K

PROMISES: dict[str, ModelSpec] = {}


def register(spec: ModelSpec) -> None:
    """Register a model under its name for the command line, Python, SQL and every check."""
    MODELS[spec.name] = spec.model
    PROMISES[spec.name] = spec


for _spec in (KM, K, CONSTRAINTS, HKP, KKM, KLM, ANATOMY):
    register(_spec)
