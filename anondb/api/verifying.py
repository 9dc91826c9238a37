"""What ``Database.verify`` checks beside rows and buckets: a table inside PostgreSQL, and the rows of a release."""

from typing import Any

from anondb.engine import DuckDBEngine
from anondb.errors import InputError
from anondb.ledger import ledger, stored
from anondb.models import Model
from anondb.models.anatomy import Anatomy
from anondb.models.named import MODELS, model_of
from anondb.models.transactional import KmAnonymity
from anondb.promises import check as checks
from anondb.promises.spec import Knowledge
from anondb.reading.options import DETECTED, ReadAs
from anondb.release.objects import read_manifest
from anondb.verify import Verification


def check_asked(
    rows: Any, release: str | None, buckets: Any, model: Model | None, bag_input: bool, with_people: bool
) -> None:
    """Refuse arguments of ``Database.verify`` that do not go together.

    Raises:
        InputError: ``bad_usage``; ``bad_parameter``: the model is none.
    """
    if (release is None) == (rows is None and buckets is None):
        raise InputError("Say what to verify: transactions, buckets, or a release.", code="bad_usage")
    if model is not None and (isinstance(model, type) or getattr(model, "name", None) not in MODELS):
        raise InputError(
            f"The model must be one of anondb's, such as KmAnonymity(k=5, m=2), not {type(model).__name__}.",
            code="bad_parameter",
        )
    if bag_input and (release is not None or model is None or model.name != "k"):
        raise InputError("bag_input needs transactions and the model k.", code="bad_usage")
    if with_people and rows is None:
        raise InputError("records and quasi_identifiers need transactions.", code="bad_usage")
    if buckets is not None and not isinstance(model, Anatomy | None):
        raise InputError("Buckets are checked against an Anatomy.", code="bad_usage")


def verify_there(engine: DuckDBEngine, rows: ReadAs, model: Model | None, more: Any) -> Verification:
    """Verify a table in its database."""
    from anondb.pipeline.on_engine import there, verify_on

    if more or not isinstance(rows.data, str) or rows.reading != DETECTED:
        raise InputError(
            "Inside the database a table is verified by its rows alone, without witnesses.",
            code="not_on_engine",
            hint="Leave on_engine out: then the table is fetched.",
        )
    with engine.transaction():
        warehouse, reference = there(engine, rows.data)
        return verify_on(warehouse, reference, model or KmAnonymity(), id_column=rows.id, item_column=rows.item)


def verify_release(
    engine: DuckDBEngine, name: str, model: Model | None, witnesses: int, privacy_constraints: Any, sensitive: Any
) -> Verification:
    """Verify the frozen rows of a release with the named constraints and items or, by default, those that it was made
    with."""
    with engine.transaction():
        schema = stored.find_release(engine, name)
        manifest = read_manifest(engine, schema)
        promised = model or model_of(manifest)
        named = checks.read_knowledge(engine, promised, privacy_constraints, sensitive)
        noted = ledger.knowledge_of(engine, schema.catalog, manifest["release_id"])
        knowledge = Knowledge(
            noted.privacy if named.privacy is None else named.privacy,
            noted.sensitive if named.sensitive is None else named.sensitive,
        )
        return checks.verify_release(engine, schema, promised, witnesses, knowledge=knowledge)
