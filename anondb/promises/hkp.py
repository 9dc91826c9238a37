"""(h,k,p)-coherence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.models.hkp import HkpCoherence
from anondb.promises.spec import ModelSpec, Subject, missing, proof_named

if TYPE_CHECKING:
    from anondb.verify import Verification


def _verify(subject: Subject, model: HkpCoherence, witnesses: int) -> Verification:
    from anondb.verify.hkp import verify_hkp

    private = subject.knowledge.sensitive
    if private is None:
        raise missing(
            model, "its private items, which no release lists", "no_sensitive", "Name them with --sensitive TABLE|FILE."
        )
    return verify_hkp(subject.engine, subject.transactions, subject.items, model, private, witnesses=witnesses)


HKP = ModelSpec(
    model=HkpCoherence,
    verify=_verify,
    proof=proof_named("hkp"),
    claims="""\
* **Needs the list of private items**, which is in `verify_hkp.sql`: an attacker who knows up to p public items of a person
  finds at least k matching transactions, and no private item is in more than the share h of them.
""",
    covered=(
        "An attacker who knows {known} of a person, all of them public, finds none or at least {k} transactions that hold "
        "them, and guesses no private item of the person with a confidence above {h}."
    ),
    uncovered=(
        "Attackers who already know a private item, or items that a person does not have; and attackers with "
        "other prior beliefs."
    ),
    needs=("sensitive",),
    no_item_supports="together with the algorithm's own reasons the counts break the bound h",
)
