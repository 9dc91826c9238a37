"""k^m-anonymity."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from anondb.models.km import KmAnonymity
from anondb.promises.spec import ModelSpec, Subject, proof_named

if TYPE_CHECKING:
    from anondb.verify import Verification


def _verify(subject: Subject, model: KmAnonymity, witnesses: int) -> Verification:
    from anondb.verify.km import verify_km

    engine, transactions, items = subject.engine, subject.transactions, subject.items
    checked = verify_km(engine, transactions, items, model, witnesses=witnesses)
    if not subject.local or subject.released_items is None:
        return checked
    from anondb.verify.levels import verify_levels

    across = verify_levels(engine, transactions, items, subject.released_items, model)
    return replace(checked, verified=checked.verified and across.verified, across_levels=across.violations)


KM = ModelSpec(
    model=KmAnonymity,
    verify=_verify,
    proof=proof_named("km"),
    claims="""\
* **Needs only the release**: an attacker who knows up to m items of a person finds at least k matching transactions, or
  none. `verify_km.sql` checks every combination of up to m released items that occurs, and returns those that occur in
  fewer than k transactions.
* **Needs the taxonomy** (or the owner's groups of items): a released item stands for the right items. `released_items`
  lists them; compare the list with the node of the taxonomy.
""",
    covered=("An attacker who knows {known} of a person finds none or at least {k} transactions that hold them all."),
    uncovered=(
        "Knowledge of items that a person does not have, of quantities or order, or that a person is in the "
        "data at all; and facts that all candidates share: if all have the same diagnosis, it is known. More "
        "known items may single out a person."
    ),
    implied_by=("k",),
    known_items=lambda model: None if math.isinf(model.m) else int(model.m),
)
