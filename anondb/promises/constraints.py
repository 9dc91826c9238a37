"""Privacy constraints."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from anondb.models.constraints import ConstraintAnonymity
from anondb.models.km import KmAnonymity
from anondb.promises.spec import ModelSpec, Subject, any_number, missing, proof_named

if TYPE_CHECKING:
    from anondb.verify import Verification


def _verify(subject: Subject, model: ConstraintAnonymity, witnesses: int) -> Verification:
    privacy, engine = subject.knowledge.privacy, subject.engine
    if privacy is None:
        raise missing(
            model,
            "its privacy constraints, which no release holds",
            "no_privacy_constraints",
            "Name them with --privacy-constraints TABLE|FILE|pgen.",
        )
    if isinstance(privacy, str):  # the constraints of Pgen hold if and only if k^inf-anonymity does
        from anondb.verify.km import verify_km

        everything = KmAnonymity(model.k, math.inf)
        checked = verify_km(engine, subject.transactions, subject.items, everything, witnesses=witnesses)
        return replace(checked, model=model)
    from anondb.data.requirements import put_sets
    from anondb.engine import reads
    from anondb.verify.constraints import verify_constraints

    named = put_sets(engine, "stated_constraints", privacy, "constraint_id")
    image = subject.released_items or engine.create(
        "own_items", reads.rows(subject.items, "label AS released_item, label AS item")
    )
    checked = verify_constraints(engine, subject.transactions, subject.items, image, named, model, witnesses=witnesses)
    engine.drop(named, *([] if subject.released_items else [image]))
    return checked


CONSTRAINTS = ModelSpec(
    model=ConstraintAnonymity,
    verify=_verify,
    proof=proof_named("constraints"),
    claims="""\
* **Needs only the release**: the constraints of Pgen, which are transactions of the source and are never published. They
  hold if every published transaction is contained in at least k transactions, which `verify_constraints.sql` checks.
* **Needs the constraints**: the constraints that the owner wrote. `verify_constraints.sql` contains them only if the owner
  published them.
""",
    covered=(
        "An attacker who knows a combination of items that the owner named finds none or at least {k} "
        "transactions that hold it."
    ),
    uncovered=(
        "Combinations that the owner did not name; knowledge of items that a person does not have, of "
        "quantities or order; and facts that all candidates share."
    ),
    needs=("privacy_constraints",),
    known_items=any_number,
)
