"""(k,k^m)-anonymity and (k,l^m)-diversity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.errors import InputError
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.promises.spec import ModelSpec, Subject, missing, proof_named

if TYPE_CHECKING:
    from anondb.verify import Verification


def verify_classes(subject: Subject, model: KkmAnonymity | KlmDiversity, witnesses: int) -> Verification:
    """Verify kkm or klm on the classes of a release, or on the original records of persons. Raises InputError:
    ``no_records``: the relational values are missing."""
    from anondb.release.relational import coded_records, sensitive_codes
    from anondb.verify.relational import verify_kkm

    engine, items = subject.engine, subject.items
    if subject.schema is not None:
        classes, hidden = coded_records(engine, subject.schema, items)
    elif subject.classes is not None:
        classes, hidden = subject.classes, sensitive_codes(engine, items, subject.knowledge.sensitive or ())
    else:
        raise InputError(
            f"The model {model.name} is checked on transactions together with the relational values of their persons.",
            code="no_records",
            hint="Name them with --records TABLE|FILE and --quasi-identifiers A,B; a release has its own.",
        )
    checked = verify_kkm(engine, subject.transactions, classes, items, hidden, model, witnesses=witnesses)
    engine.drop(classes, hidden)
    return checked


KKM = ModelSpec(
    model=KkmAnonymity,
    verify=verify_classes,
    proof=proof_named("kkm"),
    claims="""\
* **Needs only the release**: an attacker who knows all relational values of a person and up to m nonsensitive items finds
  at least k matching records, or none. `verify_kkm.sql` groups the rows of `records` into classes of equal values, and
  checks the size of each class and every combination of up to m items that occurs in it. The manifest of the release
  names the sensitive items.
* **Needs the list of sensitive items**: the manifest names exactly these. The promise assumes that attackers do not know
  sensitive items.
* **Needs the taxonomy and the hierarchies**: released items and values stand for the right ones (`released_items` and
  `released_values` list them).
""",
    covered=(
        "An attacker who knows all published values of a person and {known}, none of them sensitive, finds "
        "none or at least {k} records that fit."
    ),
    uncovered=(
        "Sensitive items that an attacker already knows; attributes that are known but were not named as "
        "quasi-identifiers; items that a person does not have; and facts that all candidates share."
    ),
    takes=("sensitive",),
    relational=True,
    no_item_supports="its classes are small: private items would follow from quasi-identifiers alone",
)


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
