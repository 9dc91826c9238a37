"""The promise of each model: its verifier, its proof, and what it covers and does not."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from anondb.errors import InputError, InternalError
from anondb.models.anatomy import Anatomy
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.models.transactional import ConstraintAnonymity, HkpCoherence, KmAnonymity, TransactionalK
from anondb.promises.spec import ModelSpec, Subject, missing, proof_named

if TYPE_CHECKING:
    from anondb.verify import Verification


def _verify_km(subject: Subject, model: KmAnonymity, witnesses: int) -> Verification:
    from anondb.verify.km import verify_km, verify_levels

    engine, transactions, items = subject.engine, subject.transactions, subject.items
    checked = verify_km(engine, transactions, items, model, witnesses=witnesses)
    if not subject.local or subject.released_items is None:
        return checked
    across = verify_levels(engine, transactions, items, subject.released_items, model)
    return replace(checked, verified=checked.verified and across.verified, across_levels=across.violations)


KM = ModelSpec(
    model=KmAnonymity,
    verify=_verify_km,
    proof=partial(proof_named, "km"),
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


def _verify_k(subject: Subject, model: TransactionalK, witnesses: int) -> Verification:
    from anondb.verify.classes import classes_of, verify_k

    if subject.release is not None:
        return verify_k(subject.engine, subject.release.classes, subject.items, model, witnesses=witnesses)
    if subject.dataset is None:
        raise InternalError("A check of transactional k-anonymity lacks the transactions without items.")
    from anondb.engine import reads

    dataset = subject.dataset
    ids = reads.rows(dataset.ids, "tid, (true) AS complete")
    sets = reads.rows(dataset.transactions, "tid, item, 1 AS copies")
    classes = classes_of(subject.engine, dataset.bags or sets, ids)
    checked = verify_k(subject.engine, classes, subject.items, model, witnesses=witnesses)
    subject.engine.drop(classes)
    return checked


K = ModelSpec(
    model=TransactionalK,
    verify=_verify_k,
    proof=partial(proof_named, "k"),
    claims="""\
* **Needs only the release**: every published transaction equals at least k - 1 others. `verify_k.sql` compares whole
  transactions, including empty ones and the copies of items, and returns the classes that are too small.
* **Needs the taxonomy**: a released item stands for the right items (`released_items` lists them).
""",
    covered=(
        "Every published transaction is one of at least {k} equal ones, so any number of known items leaves none or at"
        " least {k} candidates."
    ),
    uncovered=(
        "Facts that all candidates share. Levels of the taxonomy are mixed, so the support of an original "
        "item is ambiguous, and a coarse label beside finer ones suggests that it does not stand for those."
    ),
)


def _verify_constraints(subject: Subject, model: ConstraintAnonymity, witnesses: int) -> Verification:
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
    from anondb.data.constraints import put_sets
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
    verify=_verify_constraints,
    proof=partial(proof_named, "constraints"),
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
)


def _verify_hkp(subject: Subject, model: HkpCoherence, witnesses: int) -> Verification:
    from anondb.verify.hkp import verify_hkp

    if (private := subject.knowledge.sensitive) is None:
        raise missing(
            model, "its private items, which no release lists", "no_sensitive", "Name them with --sensitive TABLE|FILE."
        )
    return verify_hkp(subject.engine, subject.transactions, subject.items, model, private, witnesses=witnesses)


HKP = ModelSpec(
    model=HkpCoherence,
    verify=_verify_hkp,
    proof=partial(proof_named, "hkp"),
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


_NEEDS_TREES = """\
* **Needs the taxonomy and the hierarchies**: released items and values stand for the right ones (`released_items` and
  `released_values` list them).
"""
_UNKNOWN = (
    "Sensitive items that an attacker already knows; attributes that are known but were not named as "
    "quasi-identifiers; items that a person does not have; and "
)
KKM = ModelSpec(
    model=KkmAnonymity,
    verify=verify_classes,
    proof=partial(proof_named, "kkm"),
    claims="""\
* **Needs only the release**: an attacker who knows all relational values of a person and up to m nonsensitive items finds
  at least k matching records, or none. `verify_kkm.sql` groups the rows of `records` into classes of equal values, and
  checks the size of each class and every combination of up to m items that occurs in it. The manifest of the release
  names the sensitive items.
* **Needs the list of sensitive items**: the manifest names exactly these. The promise assumes that attackers do not know
  sensitive items.
"""
    + _NEEDS_TREES,
    covered=(
        "An attacker who knows all published values of a person and {known}, none of them sensitive, finds "
        "none or at least {k} records that fit."
    ),
    uncovered=(_UNKNOWN + "facts that all candidates share."),
    takes=("sensitive",),
    relational=True,
    no_item_supports="its classes are small: private items would follow from quasi-identifiers alone",
)


def _verify_klm(subject: Subject, model: KlmDiversity, witnesses: int) -> Verification:
    if subject.classes is not None and subject.knowledge.sensitive is None:
        raise missing(model, "its sensitive items", "no_sensitive", "Name them with --sensitive TABLE|FILE.")
    return verify_classes(subject, model, witnesses)


KLM = ModelSpec(
    model=KlmDiversity,
    verify=_verify_klm,
    proof=partial(proof_named, "klm"),
    claims="""\
* **Needs only the release**: an attacker who knows all relational values of a person and up to m nonsensitive items finds
  at least k matching records, or none; and at most one in l of these holds any one sensitive item. `verify_klm.sql` checks
  the size of each class of equal records and every combination of up to m nonsensitive items that occurs in it, including
  the empty one. The manifest of the release names the sensitive items.
* **Needs the list of sensitive items**: the manifest names exactly these.
"""
    + _NEEDS_TREES,
    covered=(
        "An attacker who knows all published values of a person and {known}, none of them sensitive, finds "
        "none or at least {k} records that fit; and at most one in {l} of these holds any one sensitive item."
    ),
    uncovered=(_UNKNOWN + "attackers with other prior beliefs."),
    needs=("sensitive",),
    relational=True,
    no_item_supports="together with the algorithm's own reasons the counts break the bound 1/l",
)


def _verify_anatomy(subject: Subject, model: Anatomy, witnesses: int) -> Verification:
    from anondb.release.objects import read_manifest
    from anondb.verify.anatomy import Original, verify_anatomy

    data, schema = subject.knowledge.original, subject.schema
    original = None if data is None else Original(data.transactions, data.items, data.n_transactions)
    number = None if schema is None else int(read_manifest(subject.engine, schema)["transactions"])
    return verify_anatomy(subject.engine, subject.transactions, model, original, number=number, witnesses=witnesses)


def _remarks(model: Anatomy) -> tuple[str, ...]:
    nothing = "l = 1 promises nothing: a column of a bucket may hold a single value."
    ignored = "Empty values are ignored: the absence of items of a column may be inferred with a probability above 1/l."
    return (*([nothing] if model.l == 1 else []), *([ignored] if model.empty_values == "ignore" else []))


ANATOMY = ModelSpec(
    model=Anatomy,
    verify=_verify_anatomy,
    proof=partial(proof_named, "anatomy"),
    remarks=_remarks,
    claims="""\
* **Needs only the release**: in each bucket and column at most one in l of the transactions has the same value, which is a
  set of items; each column has one value for each transaction of its bucket, each item is in one column, and the numbers
  of columns and transactions are those of the manifest. `verify_anatomy.sql` returns every exception. With `empty_values`
  = ignore, the frequency of the empty value has no limit: the absence of items of a column is then not protected.
* **Needs the original data**: the values are those of the original, and each transaction's values are in one bucket.
""",
    covered=(
        "An attacker who knows in which bucket a person is links the person to a value of a column with a probability of at "
        "most one in {l}. A value is the set of items that a transaction has in the column."
    ),
    uncovered=(
        "Items are published unchanged: an attacker who knows one rare item may find its bucket and the other items of its "
        "column. Correlation across columns, values that are frequent everywhere, and presence in the data are not covered."
    ),
    no_item_supports="it publishes the original items already",
)
