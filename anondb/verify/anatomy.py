"""The verifier of l-diverse multi-dimensional anatomy (*Privacy Preservation in Transaction Databases based on Anatomy
technique*, ICCSE 2010, Definitions 2 to 5; docs/algorithms/models.md#anatomy), which reads only the published multisets.

With the original data it also checks, as far as multisets allow, that every transaction is in the buckets exactly once:
in each column the values of all buckets together must equal those of the original.
"""

from __future__ import annotations

from dataclasses import dataclass

from anondb.engine import Engine, Rows, Table, reads
from anondb.errors import InputError
from anondb.models.anatomy import Anatomy
from anondb.verify.result import Verification, Witness
from anondb.verify.work import Work, work

_READ = ", ".join(
    f"CAST({name} AS {kind}) AS {name}"
    for name, kind in {"bucket_id": "VARCHAR", "column_id": "VARCHAR", "items": "VARCHAR[]", "copies": "BIGINT"}.items()
)
_FAULT = (
    "bucket_id IS NULL OR column_id IS NULL OR items IS NULL OR copies IS NULL OR copies < 1 "
    "OR len(list_filter(items, lambda item : item IS NULL)) > 0"
)
NOT_CHECKED, COMPLETE, INCOMPLETE = "not checked", "complete", "incomplete"


@dataclass(frozen=True)
class BucketWitness(Witness):
    """A bucket and column that break the promise: the most frequent value, and how many of ``size`` transactions have it."""

    bucket_id: str = ""
    column_id: str = ""
    size: int = 0


@dataclass(frozen=True)
class AnatomyVerification(Verification):
    """Whether an anatomy is l-diverse in all buckets and columns.

    ``violations`` counts the pairs of bucket and column that break a condition and, with the original, the columns whose
    values differ from it (one violation if only the number of transactions differs).

    Attributes:
        pairs: number of pairs of bucket and column.
        transactions: number of transactions in the buckets.
        coverage: ``not checked`` without the original; ``complete`` if each of its transactions is in the buckets once,
            else ``incomplete``.
    """

    pairs: int = 0
    transactions: int = 0
    coverage: str = NOT_CHECKED


@dataclass(frozen=True)
class Original:
    """The original data to compare the buckets with: ``(tid, item)``, ``(item, label)``, and N."""

    transactions: Table
    items: Table
    number: int


def verify_anatomy(
    engine: Engine,
    buckets: Rows,
    model: Anatomy,
    original: Original | None = None,
    *,
    number: int | None = None,
    witnesses: int = 0,
) -> AnatomyVerification:
    """Check published buckets by the definition.

    A pair of bucket and column is a violation if its most frequent value v has count(v) x l > |bucket|; if the column
    does not have one value for each transaction of the bucket; if an item is in two columns; or if the number of columns
    is below two or not that of the model. With ``empty_values = "ignore"`` the empty value may have any frequency.

    Args:
        buckets: ``(bucket_id, column_id, items, copies)`` as texts, lists of texts and integers of any types.
        model: l, the number of columns or None, and how empty values count.
        number: the expected number of transactions, or None; one more violation if the buckets differ from it.
        witnesses: maximal number of violating pairs to return, the worst first.

    Raises:
        InputError: rows without an id, a list of items or a number of copies of at least 1.
    """
    count_empty = model.empty_values == "count"
    with work(engine) as place:
        vals = _values(place, buckets)
        item_columns = place.table(
            "anatomy_item_columns", reads.rows(vals, "unnest(items) AS item, column_id", distinct=True)
        )
        tables = {"vals": vals, "item_columns": item_columns}
        pairs = place.table("anatomy_pairs", "anatomy_pairs", tables, count_empty=count_empty)
        limits = {"over": model.l.numerator, "under": model.l.denominator, "columns": model.columns or 0}
        broken = place.table("anatomy_broken", "anatomy_violations", {"pairs": pairs}, **limits)
        summary = place.row("anatomy_summary", {"pairs": pairs, "violations": broken})
        violations, transactions = summary["violations"], summary["transactions"]
        seen = _witnesses(place, broken, vals, witnesses, count_empty) if violations and witnesses else ()
        lost, coverage = int(number not in (None, transactions)), NOT_CHECKED
        if original is not None:
            data = {"transactions": original.transactions, "items": original.items}
            differing = place.row("anatomy_lost", {**tables, **data}, transactions=original.number)["lost"]
            lost = max(lost, differing, int(transactions != original.number))
            coverage = INCOMPLETE if lost else COMPLETE
    return AnatomyVerification(
        model,
        violations + lost == 0,
        violations + lost,
        seen,
        pairs=summary["pairs"],
        transactions=transactions,
        coverage=coverage,
    )


def _values(place: Work[Engine], buckets: Rows) -> Table:
    """Read the buckets as a work table of the distinct values of each bucket and column."""
    rows = place.table("anatomy_rows", reads.rows(buckets, _READ))
    if faults := place.count(reads.rows(rows, "1 AS fault", where=_FAULT)):
        raise InputError(
            f"{faults} rows of the buckets lack an id, a list of items without NULLs, or a number of copies from 1.",
            code="bad_buckets",
        )
    sets = reads.rows(rows, "bucket_id, column_id, array_sort(array_distinct(items)) AS items, copies")
    vals = place.table("anatomy_vals", reads.summed(sets, "bucket_id, column_id, items", "copies"))
    place.drop(rows)
    return vals


def _witnesses(
    place: Work[Engine], broken: Table, vals: Table, how_many: int, count_empty: bool
) -> tuple[BucketWitness, ...]:
    rows = place.engine.query(
        "verify/anatomy_witnesses", {"violations": broken, "vals": vals}, how_many=how_many, count_empty=count_empty
    )
    columns = (rows[name].tolist() for name in ("items", "support", "bucket_id", "column_id", "size"))
    return tuple(
        BucketWitness(tuple(str(i) for i in items), int(support), str(bucket), str(column), int(size))
        for items, support, bucket, column, size in zip(*columns, strict=True)
    )
