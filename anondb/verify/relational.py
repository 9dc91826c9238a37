"""The verifier of (k,k^m)-anonymity and (k,l^m)-diversity on published rows (docs/algorithms/models.md#kkm).

Each pair of an item and a class of equal relational values gets a code. All codes of a record are of one class, so
k^m-anonymity of the coded records is k^m-anonymity of every class, and one check covers all classes. The empty set, that
is, the sizes of the classes, is checked separately.
"""

from __future__ import annotations

from math import comb, inf

from anondb.engine import Engine, Query, Rows, Table, reads
from anondb.engine.texts import sql
from anondb.models.relational import KkmAnonymity, KlmDiversity
from anondb.models.transactional import KmAnonymity
from anondb.verify import work as limits
from anondb.verify.km import verify_km
from anondb.verify.result import SensitiveWitness, Verification, Witness
from anondb.verify.work import Work, check_budget, lengths, work


def verify_kkm(
    engine: Engine,
    transactions: Table,
    classes: Table,
    items: Table,
    sensitive: Table,
    model: KkmAnonymity | KlmDiversity,
    *,
    witnesses: int = 0,
) -> Verification:
    """Check (k,k^m)-anonymity of published records on their nonsensitive items; for ``KlmDiversity`` also l^m-diversity.

    Args:
        classes: ``(tid, class)`` of every record: equal numbers for equal published relational values.
        sensitive: ``(item)``.

    Returns:
        ``violations`` is the number of minimal itemsets that fewer than k records of a class hold, summed over the classes.
        A class with fewer than k records counts once, for the empty set. With m infinite it is the number of distinct
        transactions with fewer than k supersets. (k,l^m) adds each (class, itemset, sensitive item) for which more than one
        in l holders of the itemset hold the sensitive item.
    """
    with work(engine) as place:
        few = reads.counted(classes, "class", count="records", having=sql("count(*) < {}", model.k))
        small = place.table("few_records", few)
        counts = engine.select(reads.rows(small, "records", order="records, class"))["records"]
        seen: list[Witness] = [Witness((), int(n)) for n in counts]
        violations = len(seen)
        codes, coded = _coded(place, "class", transactions, classes, items, sensitive, small)
        labels = place.table("class_labels", reads.rows(codes, "code AS item, label"))
        inner = verify_km(engine, coded, labels, KmAnonymity(model.k, model.m), witnesses=witnesses)
        violations += inner.violations
        seen += inner.witnesses
        if isinstance(model, KlmDiversity):
            secret = reads.among(transactions, sensitive, "item", "tid, item")
            named = reads.joined(secret, items, "item", "one.tid, one.item, other.label")
            holding = place.table(
                "holding", reads.joined(named, classes, "tid", "one.tid, other.class, one.item, one.label")
            )
            none = reads.rows(small, "class", where="false")
            codes, coded = _coded(place, "exposed", transactions, classes, items, sensitive, none)
            labels = place.table("exposed_labels", reads.rows(codes, "code AS item, label"))
            more = _exposed(place, coded, labels, classes, holding, model, witnesses)
            violations += more[0]
            seen += more[1]
    seen.sort(key=lambda w: (len(w.items), w.items, w.sensitive if isinstance(w, SensitiveWitness) else ""))
    return Verification(model, violations == 0, violations, tuple(seen[:witnesses]))


def _coded(
    place: Work[Engine], name: str, transactions: Table, classes: Table, items: Table, sensitive: Table, small: Rows
) -> tuple[Table, Table]:
    """Codes of nonsensitive items by class, and the records in these codes, without the classes in ``small``."""
    public = reads.among(transactions, sensitive, "item", "tid, item", absent=True)
    held = reads.joined(public, classes, "tid", "one.tid, other.class, one.item")
    rows = place.table(f"{name}_rows", reads.among(held, small, "class", "tid, class, item", absent=True))
    number = "CAST(row_number() OVER (ORDER BY one.class, one.item) - 1 AS INTEGER) AS code"
    pairs = reads.rows(rows, "class, item", distinct=True)
    codes = place.table(f"{name}_items", reads.joined(pairs, items, "item", f"{number}, one.class, one.item, other.label"))
    named = reads.joined(rows, codes, "class, item", "one.tid, other.code AS item", order="tid, item")
    coded = place.table(f"{name}_coded", named)
    place.drop(rows)
    return codes, coded


def _exposed(
    place: Work[Engine], coded: Table, labels: Table, classes: Table, holding: Table, model: KlmDiversity, wanted: int
) -> tuple[int, list[Witness]]:
    """Count the sets of at most m nonsensitive items whose holders hold a sensitive item with a share above 1/l. The empty
    set is included. The condition is not monotone, so all sizes are checked."""
    by_class = place.engine.query("verify/exposed_by_class", {"classes": classes, "holding": holding}, ell=model.l)
    columns = (by_class[c].tolist() for c in ("sensitive", "support"))
    exposed: list[Witness] = [SensitiveWitness((), int(n), str(z)) for z, n in zip(*columns, strict=True)]
    count = len(exposed)
    pairs = lengths(place.engine, coded)
    longest = max((n for n, _ in pairs), default=0)
    for size in range(1, longest + 1 if model.m == inf else int(min(model.m, longest)) + 1):
        sets = sum(comb(int(length), size) * int(n) for length, n in pairs)
        check_budget(sets, limits.MAX_JOINED_ROWS, f"itemsets of {size} items")
        table = place.table("exposed", _exposed_sets(coded, labels, holding, size, model.l))
        number = place.count(table)
        if number and len(exposed) < wanted:
            shown = reads.rows(table, "labels, sensitive, support", order="labels, sensitive")
            rows = place.engine.select(shown.first(wanted), "witnesses")
            for items, z, n in zip(rows["labels"], rows["sensitive"], rows["support"], strict=True):
                exposed.append(SensitiveWitness(tuple(sorted(str(i) for i in items)), int(n), str(z)))
        count += number
        place.drop(table)
    return count, exposed[: max(wanted, 0)]


def _exposed_sets(coded: Table, labels: Table, holding: Table, size: int, ell: int) -> Query:
    """A query for the sets of one size that break l^m-diversity; it has one join for each item."""
    columns = [f"item{i}" for i in range(1, size + 1)]
    sets = reads.rows(coded, "tid, item AS item1")
    for n, last in enumerate(columns[:-1], 1):
        held = ", ".join(f"one.{column}" for column in ("tid", *columns[:n]))
        sets = reads.joined(sets, coded, "tid", f"{held}, other.item AS {columns[n]}", where=f"other.item > one.{last}")
    names, ours = ", ".join(columns), ", ".join(f"one.{column}" for column in columns)
    part = reads.joined(
        sets, holding, "tid", f"{ours}, other.label AS sensitive, count(*) AS support", group=f"{ours}, other.label"
    )
    whole = reads.counted(sets, names, count="whole")
    sure = sql("one.support * {} > other.whole", ell)
    shown = "one.sensitive, one.support"
    exposed = reads.joined(part, whole, names, f"{ours}, {shown}, other.whole", where=sure)
    for n, column in enumerate(columns):
        left = ", ".join(f"one.{c}" for c in (*columns[n + 1 :], *(f"label{i}" for i in range(n)), "whole"))
        exposed = reads.joined(exposed, labels, f"{column} = item", f"{shown}, {left}, other.label AS label{n}")
    listed = ", ".join(f"label{n}" for n in range(size))
    return reads.rows(exposed, f"sensitive, support, whole, list_sort([{listed}]) AS labels")
