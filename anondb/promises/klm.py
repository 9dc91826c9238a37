"""(k,l^m)-diversity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.models.relational import KlmDiversity
from anondb.promises.kkm import verify_classes
from anondb.promises.spec import ModelSpec, Subject, missing, proof_named

if TYPE_CHECKING:
    from anondb.verify import Verification


def _verify(subject: Subject, model: KlmDiversity, witnesses: int) -> Verification:
    if subject.classes is not None and subject.knowledge.sensitive is None:
        raise missing(model, "its sensitive items", "no_sensitive", "Name them with --sensitive TABLE|FILE.")
    return verify_classes(subject, model, witnesses)


KLM = ModelSpec(
    model=KlmDiversity,
    verify=_verify,
    proof=proof_named("klm"),
    claims="""\
* **Needs only the release**: an attacker who knows all relational values of a person and up to m nonsensitive items finds
  at least k matching records, or none; and at most one in l of these holds any one sensitive item. `verify_klm.sql` checks
  the size of each class of equal records and every combination of up to m nonsensitive items that occurs in it, including
  the empty one. The manifest of the release names the sensitive items.
* **Needs the list of sensitive items**: the manifest names exactly these.
* **Needs the taxonomy and the hierarchies**: released items and values stand for the right ones (`released_items` and
  `released_values` list them).
""",
    covered=(
        "An attacker who knows all published values of a person and {known}, none of them sensitive, finds "
        "none or at least {k} records that fit; and at most one in {l} of these holds any one sensitive item."
    ),
    uncovered=(
        "Sensitive items that an attacker already knows; attributes that are known but were not named as "
        "quasi-identifiers; items that a person does not have; and attackers with other prior beliefs."
    ),
    needs=("sensitive",),
    relational=True,
    no_item_supports="together with the algorithm's own reasons the counts break the bound 1/l",
)
