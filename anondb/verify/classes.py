"""The verifier of transactional k-anonymity (He and Naughton, VLDB 2009; docs/algorithms/models.md#k): classes of equal
transactions."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np

from anondb.engine import Engine, Rows, Runner, Table, reads
from anondb.engine.texts import sql
from anondb.models.transactional import TransactionalK
from anondb.verify.result import Verification, Witness
from anondb.verify.work import Work, bound, work

# what stands for NULL in a witness: a class without items has one row, with 0 copies
_FILLED: dict[str, int | str] = {"place": 0, "support": 0, "label": "", "copies": 0}


def classes_of(engine: Engine, transactions: Rows, ids: Rows) -> Table:
    """Make the classes of equal published transactions: work table ``(content_id, content, complete, support)``, of ``(tid
    INTEGER, item INTEGER, copies INTEGER)``, each pair of transaction and item once (sets have one copy), and of ``(tid
    INTEGER, complete BOOLEAN)``, every transaction. Those without items are equal. Readers see ``complete``, so transactions
    that differ in it are in different classes."""
    return engine.create("verify_classes", "verify/classes", {"transactions": transactions, "ids": ids})


def verify_k(engine: Engine, classes: Table, items: Table, model: TransactionalK, *, witnesses: int = 0) -> Verification:
    """Check transactional k-anonymity of published transactions by the definition.

    Args:
        classes: ``(content, complete, support)``, see ``classes_of``.
        items: ``(item INTEGER, label VARCHAR)``, read for witnesses only.

    Returns:
        ``violations`` is the number of classes with fewer than k members; a witness is such a class: the published
        items of its members, each as often as it has copies, and the number of members.
    """
    small = reads.rows(classes, "content, complete, support", where=sql("support < {}", model.k))
    violations = Work(engine).count(small)
    seen: list[Witness] = []
    if violations and witnesses:
        rows = engine.query("verify/class_witnesses", {"classes": small, "items": items}, most=witnesses)
        columns = (np.ma.filled(np.ma.asarray(rows[c]), f).tolist() for c, f in _FILLED.items())
        for _, members in groupby(zip(*columns, strict=True), key=itemgetter(0)):
            listed = list(members)
            bag = tuple(label for _, _, label, copies in listed for _ in range(copies))
            seen.append(Witness(bag, listed[0][1]))
    return Verification(model, violations == 0, violations, tuple(seen))


def verify_k_on(runner: Runner, transactions: Rows, ids: Rows, k: int) -> int:
    """The number of classes of equal transactions with fewer than k members, by portable statements. Lists are not portable,
    so the items of a transaction are paired until each transaction has one number: as many statements as the longest
    transaction has binary digits. ``classes_of`` describes the tables."""
    with work(runner) as place:
        places = place.table("places_0", "warehouse/verify/places", {"transactions": transactions})
        last = place.row(reads.rows(places, "CAST(coalesce(max(place), 0) AS BIGINT) AS last"))["last"]
        for n in range(last.bit_length()):
            fewer = place.table(f"places_{n + 1}", "warehouse/verify/paired_places", {"places": places}, step=2**n)
            place.drop(places)
            places = fewer
        return place.count(bound("warehouse/verify/small_classes", {"places": places, "ids": ids}, k=k))
