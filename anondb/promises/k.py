"""Transactional k-anonymity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.errors import InternalError
from anondb.models.transactional import TransactionalK
from anondb.promises.spec import ModelSpec, Subject, any_number, proof_named

if TYPE_CHECKING:
    from anondb.verify import Verification


def _verify(subject: Subject, model: TransactionalK, witnesses: int) -> Verification:
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
    verify=_verify,
    proof=proof_named("k"),
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
    known_items=any_number,
)
