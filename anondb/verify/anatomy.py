"""The verifier of l-diverse multi-dimensional anatomy (*Privacy Preservation in Transaction Databases based on Anatomy
technique*, ICCSE 2010, Definitions 2 to 5; docs/algorithms/models.md#anatomy), from the published multisets alone.

The original data, if they are at hand, say besides whether every transaction is in the buckets exactly once, as far as
multisets can say that: the values of all buckets together are those of the original in each column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from anondb.engine import Engine, Table
from anondb.errors import InputError
from anondb.models.anatomy import Anatomy
from anondb.verify.result import Verification, Witness
from anondb.verify.work import Work, work

NOT_CHECKED, COMPLETE, INCOMPLETE = "not checked", "complete", "incomplete"


@dataclass(frozen=True)
class BucketWitness(Witness):
    """A bucket and column that break the promise: the most frequent value there, and how many of the bucket's ``size``
    transactions have it."""

    bucket_id: str = ""
    column_id: str = ""
    size: int = 0


@dataclass(frozen=True)
class AnatomyVerification(Verification):
    """Whether an anatomy is l-diverse in all buckets and columns.

    ``violations`` counts the pairs of bucket and column that break a condition, and, where the original is given, the
    columns whose values are not the original's (one more violation where only the number of transactions is not).

    Attributes:
        pairs: how many pairs of bucket and column were checked.
        transactions: how many transactions the buckets hold.
        coverage: ``not checked`` without the original; ``complete`` if each of its transactions is in the buckets once,
            else ``incomplete``.
    """

    pairs: int = 0
    transactions: int = 0
    coverage: str = NOT_CHECKED

    def to_json(self, *, witnesses: bool = False) -> dict[str, Any]:
        """The verification as JSON values; with the key ``witnesses`` only when they are asked for."""
        found = super().to_json(witnesses=witnesses)
        found |= {"pairs": self.pairs, "transactions": self.transactions, "coverage": self.coverage}
        if witnesses:
            found["witnesses"] = [
                {
                    "items": list(w.items),
                    "support": w.support,
                    "bucket_id": w.bucket_id,
                    "column_id": w.column_id,
                    "size": w.size,
                }
                for w in self.witnesses
                if isinstance(w, BucketWitness)
            ]
        return found


@dataclass(frozen=True)
class Original:
    """The original data that buckets are compared with: ``(tid, item)``, ``(item, label)``, and N."""

    transactions: Table
    items: Table
    number: int


def verify_anatomy(
    engine: Engine,
    buckets: Table | exp.Query,
    model: Anatomy,
    original: Original | None = None,
    *,
    number: int | None = None,
    witnesses: int = 0,
) -> AnatomyVerification:
    """Check published buckets, from the definition.

    A pair of bucket and column is a violation if its most frequent value v has count(v) x l > |bucket|; if the column has
    not one value for each transaction of the bucket; if an item is in two columns; or if there are fewer than two columns,
    or not as many as the model says. With ``empty_values = "ignore"`` the empty value may be as frequent as it likes.

    Args:
        engine: the engine, inside a transaction; work tables are dropped before the return.
        buckets: ``(bucket_id, column_id, items, copies)`` of any types that are text, lists of text and integers.
        model: l, the number of columns if it is promised, and how empty values count.
        original: the data that the buckets were made from, if they are at hand.
        number: how many transactions there are said to be, if that is known; one more violation if the buckets disagree.
        witnesses: how many violating pairs to return at most, the worst first.

    Raises:
        InputError: rows without an id, a list of items or a number of copies of at least 1.
    """
    count_empty = model.empty_values == "count"
    with work(engine) as place:
        rows = place.table("anatomy_rows", "anatomy_read", {"source": buckets})
        faults = place.row("anatomy_faults", {"buckets": rows})["rows_"]
        if faults:
            raise InputError(
                f"{faults} rows of the buckets lack an id, a list of items without NULLs, or a number of copies from 1.",
                code="bad_buckets",
            )
        vals = place.table("anatomy_vals", "anatomy_values", {"buckets": rows})
        place.drop(rows)
        item_columns = place.table("anatomy_item_columns", "anatomy_columns", {"vals": vals})
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


def _witnesses(place: Work, broken: Table, vals: Table, how_many: int, count_empty: bool) -> tuple[BucketWitness, ...]:
    rows = place.engine.query(
        "verify/anatomy_witnesses", {"violations": broken, "vals": vals}, how_many=how_many, count_empty=count_empty
    )
    columns = (rows[name].tolist() for name in ("items", "support", "bucket_id", "column_id", "size"))
    return tuple(
        BucketWitness(tuple(str(i) for i in items), int(support), str(bucket), str(column), int(size))
        for items, support, bucket, column, size in zip(*columns, strict=True)
    )
